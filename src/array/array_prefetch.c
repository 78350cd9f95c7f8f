/* array: prefetch.  A prefetch is a non-blocking read of a slice into memory of the library; a read
 * of the same slice copies from this memory.  Ranks start prefetches together, so their lists
 * correspond.  Each rank determines whether a read matches a prefetch, and all ranks agree on the
 * result.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

struct tutti__prefetch {
    tutti_slice slice;
    tutti_request *request;
    void *buf;
    int64_t written; /* array->written at the start; if it is larger now, the data is out of date */
    int dropped;     /* all ranks have written since the start; the data will not be used */
    /* error of the start on this rank, reported when the prefetch is waited for */
    tutti_err start_err;
    tutti_error_info error;
    tutti__prefetch *next;
};

static void prefetch_free(tutti__prefetch *p) {
    tutti__free(p->buf);
    tutti__free(p);
}

/* Wait for a prefetch and return its outcome, which is the same on all ranks, except in local
 * placement. */
static tutti_err wait_for_prefetch(tutti__prefetch *p) {
    if (p->request) return tutti_request_wait(&p->request, NULL);
    if (p->start_err != TUTTI_OK) tutti__error_assign(&p->error);
    return p->start_err;
}

/* Wait for the dropped prefetches, or for `all` prefetches, and free them.   Collective. */
static void drop_prefetches(tutti_array *a, int all) {
    TUTTI_KEEP_LAST_ERROR;
    for (tutti__prefetch **at = &a->prefetched; *at;) {
        tutti__prefetch *p = *at;
        if (!all && !p->dropped) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        (void)wait_for_prefetch(p);
        prefetch_free(p);
    }
}

void tutti__prefetch_drop(tutti_array *a) {
    drop_prefetches(a, 1);
}

void tutti__prefetch_drop_later(tutti_array *a) {
    for (tutti__prefetch *p = a->prefetched; p; p = p->next) p->dropped = 1;
}

/* ---- starting */

tutti_err tutti_array_prefetch(tutti_array *a, const tutti_slice *s) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    drop_prefetches(a, 0);
    tutti__prefetch *p = tutti__calloc(1, sizeof *p), **at = &a->prefetched;
    tutti_err err = p ? tutti__array_usable(a, 0) : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__slice_access(&a->local, s, NULL, &access);
    if (err == TUTTI_OK) {
        p->slice = *s;
        p->buf = tutti__malloc((size_t)tutti_access_bytes(access));
        if (!p->buf) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__array_call(a, &(tutti__call){.name = "prefetch"}, err);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(p);
        tutti__array_finish_tile_writes(a);
        const tutti__transfer read = {.name = "prefetch",
                                      .file = a->file,
                                      .access = access,
                                      .buf = p->buf,
                                      .how = TUTTI__STARTED,
                                      .least = a->local.offset + a->bytes,
                                      .ahead = 1};
        p->start_err = tutti__transfer_run(&read, &p->request);
        if (p->start_err != TUTTI_OK) p->error = *tutti_last_error();
        if (tutti__file_options(a->file)->background != TUTTI_BACKGROUND_ALL)
            tutti__requests_settle(a->file); /* file access continues while the caller computes */
        while (*at) at = &(*at)->next;
        p->written = a->written;
        *at = p;
    } else if (p) {
        prefetch_free(p);
    }
    tutti_access_free(&access);
    return tutti__array_named(a, "prefetch", err);
}

tutti_err tutti_array_prefetch_drop(tutti_array *a) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    tutti__prefetch_drop(a);
    return TUTTI_OK;
}

/* ---- use of a prefetched slice */

static int slices_are_equal(int ndims, const tutti_slice *a, const tutti_slice *b) {
    const size_t bytes = (size_t)ndims * sizeof a->lo[0];
    if (tutti_slice_count(ndims, a, NULL) == 0) return tutti_slice_count(ndims, b, NULL) == 0;
    for (int d = 0; d < ndims; d++)
        if (tutti__max(a->stride[d], 1) != tutti__max(b->stride[d], 1)) return 0;
    return memcmp(a->lo, b->lo, bytes) == 0 && memcmp(a->hi, b->hi, bytes) == 0;
}

tutti_err tutti__prefetch_take(tutti_array *a, const tutti_slice *s, const tutti_access *access,
                               void *buf, int *taken_out) {
    drop_prefetches(a, 0);
    tutti__prefetch **at = &a->prefetched;
    int found = -1, i = 0;
    for (const tutti__prefetch *p = access ? a->prefetched : NULL; p && found < 0; p = p->next, i++)
        if (!p->dropped && p->written == a->written &&
            slices_are_equal(a->local.ndims, &p->slice, s))
            found = i;
    /* The prefetch is used only if all ranks found the same one. */
    tutti__range r = tutti__range_of(found);
    const tutti__call call = {.name = "read", .ranges = 1, .range = &r};
    TUTTI_TRY(tutti__array_call(a, &call, TUTTI_OK));
    if (r.min != r.max || found < 0) return TUTTI_OK;
    while (found-- > 0) at = &(*at)->next;
    tutti__prefetch *p = *at;
    *at = p->next;
    tutti_err err = wait_for_prefetch(p);
    if (a->head) err = tutti__array_vote(a, err);
    if (err > TUTTI_OK) { /* the prefetch was refused, e.g. out of memory; read the file instead */
        prefetch_free(p);
        return TUTTI_OK;
    }
    if (err == TUTTI_OK) {
        tutti_access_unpack(access, buf, 0, tutti_access_bytes(access), p->buf);
        *taken_out = 1;
    }
    prefetch_free(p);
    return err;
}
