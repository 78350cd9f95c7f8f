/* exchange: shared memory.  A node's segment is a file in /dev/shm that its lowest rank makes,
 * everybody maps and nobody keeps: its name is removed as soon as all have mapped it, so that
 * nothing stays behind whatever happens.  posix_fallocate takes the pages at once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "comm/wait.h"

typedef struct {
    char name[64];
    int error; /* errno of the rank that made it, 0: it is there */
} announcement;

enum { TRIES = 64, NAMES = 16 };

/* Names that are there now: at most one for each thread that makes a segment. */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static char names[NAMES][sizeof(((announcement *)0)->name)];

static void name_keep(const char *name) {
    pthread_mutex_lock(&names_lock);
    for (int i = 0; i < NAMES; i++)
        if (!names[i][0]) {
            snprintf(names[i], sizeof names[i], "%s", name);
            break;
        }
    pthread_mutex_unlock(&names_lock);
}

static void name_unlink(const char *name) {
    pthread_mutex_lock(&names_lock);
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0) names[i][0] = '\0';
    pthread_mutex_unlock(&names_lock);
    shm_unlink(name);
}

void tutti__segments_unlink(void) {
    for (int i = 0; i < NAMES; i++)
        if (names[i][0]) name_unlink(names[i]);
}

static int shm_make(announcement *a, size_t bytes) {
    static atomic_int made;
    struct rlimit limit;
    int fd = -1;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
        a->error = EFBIG; /* an allocation would end in a signal */
        return -1;
    }
    /* a name may be taken: by a process of another container with the same number, or left by one
     * that was killed */
    for (int i = 0; i < TRIES && (i == 0 || (fd < 0 && errno == EEXIST)); i++) {
        snprintf(a->name, sizeof a->name, "/tutti-%ld-%d", (long)getpid(),
                 atomic_fetch_add(&made, 1));
        fd = shm_open(a->name, O_RDWR | O_CREAT | O_EXCL, 0600);
    }
    if (fd < 0) {
        a->error = errno;
        return -1;
    }
    for (int i = 0; i < TRIES; i++) { /* a profiler's signals may interrupt it */
        a->error = posix_fallocate(fd, 0, (off_t)bytes);
        if (a->error != EINTR) break;
    }
    if (a->error == 0) {
        name_keep(a->name);
        return fd;
    }
    close(fd);
    shm_unlink(a->name);
    return -1;
}

static tutti_err all_have(tutti__team *t, int have, int *all_out) {
    MPI_Request r;
    TUTTI_MPI(MPI_Iallreduce(&have, all_out, 1, MPI_INT, MPI_MIN, t->node, &r));
    return tutti__team_finish(1, &r);
}

static tutti_err segment_share(tutti__team *t, size_t bytes, tutti__segment *out) {
    announcement a = {"", 0};
    int fd = t->nodes.me == 0 ? shm_make(&a, bytes) : -1;
    MPI_Request r;
    TUTTI_MPI(MPI_Ibcast(&a, (int)sizeof a, MPI_BYTE, 0, t->node, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    if (a.error != 0)
        return tutti__error_set(TUTTI_ERR_NOMEM, a.error, -1,
                                "no shared memory of %zu bytes for staging: %s", bytes,
                                strerror(a.error));
    if (fd < 0) fd = shm_open(a.name, O_RDWR, 0600);
    char *base = fd < 0
                     ? MAP_FAILED
                     : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    const int why = errno;
    if (base == MAP_FAILED) base = NULL;
    if (fd >= 0) close(fd);
    int have = base != NULL, all = 0;
    const tutti_err told = all_have(t, have, &all);
    if (t->nodes.me == 0) name_unlink(a.name);
    if (told == TUTTI_OK && all) {
        *out = (tutti__segment){base, bytes, 1};
        return TUTTI_OK;
    }
    if (base) munmap(base, bytes);
    TUTTI_TRY(told);
    return tutti__error_set(TUTTI_ERR_NOMEM, have ? 0 : why, -1,
                            "shared memory of %zu bytes for staging cannot be mapped", bytes);
}

tutti_err tutti__segment_make(tutti__team *t, int shared, size_t bytes, tutti__segment *out) {
    if (shared && t->nodes.size > 1) return segment_share(t, bytes, out);
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
