/* exchange: shared memory of a node.  The first rank of a node creates a segment (shared_memory.h)
 * and sends its description to the other ranks, which open and map the segment.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/segment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/shared_memory.h"
#include "comm/node_messages.h"

typedef struct {
    tutti__shared_memory memory;
    int64_t error; /* errno of the creating rank; 0: the memory exists */
} announcement;

static tutti_err broadcast_announcement(const tutti__team *t, announcement *a) {
    return tutti__node_broadcast(t, a, (int)sizeof *a);
}

/* Map a segment; returns NULL if that fails or fd < 0. */
static char *map_segment(int fd, size_t bytes) {
    if (fd < 0) return NULL;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Open and map the segment on a rank that has not created it; NULL and errno if that fails. */
static char *open_segment(const announcement *a, int linked, size_t bytes) {
    const int fd = tutti__shared_memory_open(&a->memory, linked);
    char *base = map_segment(fd, bytes);
    const int why = errno;
    if (fd >= 0) close(fd);
    errno = why;
    return base;
}

/* Map the segment on all ranks of the node; `fd` is the creator's descriptor, open until all have
 * mapped. */
static tutti_err map_on_all(tutti__team *t, announcement *a, int fd, tutti__segment *s) {
    int all = 0;
    errno = 0;
    s->base = t->nodes.me == 0 ? map_segment(fd, s->bytes) : open_segment(a, 0, s->bytes);
    const int why = s->base ? 0 : errno;
    TUTTI_TRY(tutti__node_all(t, s->base != NULL, &all));
    /* If some ranks cannot open the memory through /proc, it has a name until they have opened
     * it. */
    if (!all) {
        const int creates = t->nodes.me == 0;
        if (creates && tutti__shared_memory_link(&a->memory) != 0) a->error = errno;
        tutti_err err = broadcast_announcement(t, a);
        if (err == TUTTI_OK && a->error == 0) {
            if (!s->base && !creates) s->base = open_segment(a, 1, s->bytes);
            err = tutti__node_all(t, s->base != NULL, &all);
        }
        if (creates && a->error == 0) tutti__shared_memory_unlink(&a->memory);
        TUTTI_TRY(err);
    }
    if (all) return TUTTI_OK;
    return tutti__error_set(TUTTI_ERR_NOMEM, why, -1,
                            "cannot map %zu bytes of shared memory for staging", s->bytes);
}

tutti_err tutti__segment_make(tutti__team *t, int shared, size_t bytes, tutti__segment *out) {
    if (shared && t->nodes.size > 1) {
        announcement a = {.error = 0};
        tutti__segment s = {NULL, bytes, 1};
        const int fd = t->nodes.me == 0 ? tutti__shared_memory_create(bytes, &a.memory) : -1;
        if (t->nodes.me == 0 && fd < 0) a.error = errno;
        tutti_err err = broadcast_announcement(t, &a);
        if (err == TUTTI_OK && a.error != 0)
            err = tutti__error_set(TUTTI_ERR_NOMEM, (int)a.error, -1,
                                   "cannot allocate %zu bytes of shared memory for staging: %s",
                                   bytes, strerror((int)a.error));
        if (err == TUTTI_OK) err = map_on_all(t, &a, fd, &s);
        if (fd >= 0) close(fd);
        if (err == TUTTI_OK)
            *out = s;
        else if (s.base)
            munmap(s.base, bytes);
        return err;
    }
    char *base = tutti__malloc_aligned(4096, bytes);
    if (!base) return TUTTI_ERR_NOMEM;
    *out = (tutti__segment){base, bytes, 0};
    return TUTTI_OK;
}

void tutti__segment_drop(tutti__segment *s) {
    if (s->base && s->shared) munmap(s->base, s->bytes);
    if (s->base && !s->shared) tutti__free(s->base);
    memset(s, 0, sizeof *s);
}
