/* array: reading ahead.  A prefetch is a non-blocking read of a slice into memory of ours; a read
 * of the same slice copies it out.  Ranks start prefetches together, so that their lists are alike;
 * whether a read is the one that was prefetched is for each rank to say and for all to agree on.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

struct tutti__ahead {
    tutti_slice slice;
    tutti_request *request;
    void *buf;
    int64_t written; /* the array's when it was started; more now: it is no longer true */
    int dropped;     /* all ranks have written since: nobody will take it */
    tutti_err told;  /* it could not be started here, which the others learn when they wait */
    tutti_error_info trouble;
    tutti__ahead *next;
};

static void ahead_free(tutti__ahead *p) {
    tutti__free(p->buf);
    tutti__free(p);
}

/* The outcome is the same on all ranks, in local placement this rank's own. */
static tutti_err ahead_wait(tutti__ahead *p) {
    if (p->request) return tutti_request_wait(&p->request, NULL);
    if (p->told != TUTTI_OK) tutti__error_assign(&p->trouble);
    return p->told;
}

/* Wait for those that nobody will take, or for all, and free them.  Collective. */
static void ahead_forget(tutti_array *a, int all) {
    TUTTI_KEEP_LAST_ERROR;
    for (tutti__ahead **at = &a->ahead; *at;) {
        tutti__ahead *p = *at;
        if (!all && !p->dropped) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        (void)ahead_wait(p);
        ahead_free(p);
    }
}

void tutti__ahead_drop(tutti_array *a) {
    ahead_forget(a, 1);
}

void tutti__ahead_drop_later(tutti_array *a) {
    for (tutti__ahead *p = a->ahead; p; p = p->next) p->dropped = 1;
}

/* ---- starting */

static tutti_err ahead_prepare(const tutti_array *a, const tutti_slice *s, tutti__ahead *p,
                               tutti_access **out) {
    TUTTI_TRY(tutti__array_usable(a, 0));
    TUTTI_TRY(tutti__slice_access(&a->mine, s, NULL, out));
    p->slice = *s;
    p->buf = tutti__malloc((size_t)tutti_access_bytes(*out));
    return p->buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static void ahead_start(tutti_array *a, const tutti_access *access, tutti__ahead *p) {
    const tutti__transfer read = {.name = "prefetch",
                                  .file = a->file,
                                  .access = access,
                                  .buf = p->buf,
                                  .how = TUTTI__STARTED,
                                  .least = a->mine.offset + a->bytes,
                                  .ahead = 1};
    p->told = tutti__transfer_run(&read, &p->request);
    if (p->told != TUTTI_OK) p->trouble = *tutti_last_error();
    if (tutti__file_options(a->file)->background != TUTTI_BACKGROUND_ALL)
        tutti__requests_settle(a->file); /* file access goes on while the caller computes */
}

tutti_err tutti_array_prefetch(tutti_array *a, const tutti_slice *s) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    ahead_forget(a, 0);
    tutti__ahead *p = tutti__calloc(1, sizeof *p), **at = &a->ahead;
    tutti_err err = p ? ahead_prepare(a, s, p, &access) : TUTTI_ERR_NOMEM;
    err = tutti__array_call(a, &(tutti__call){.name = "prefetch"}, err);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(p);
        tutti__array_catch_up(a);
        ahead_start(a, access, p);
        while (*at) at = &(*at)->next;
        p->written = a->written;
        *at = p;
    } else if (p) {
        ahead_free(p);
    }
    tutti_access_free(&access);
    return tutti__object_error(&a->object, "prefetch", err);
}

tutti_err tutti_array_prefetch_drop(tutti_array *a) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    tutti__ahead_drop(a);
    return TUTTI_OK;
}

/* ---- taking */

static int same_slice(int ndims, const tutti_slice *a, const tutti_slice *b) {
    const size_t bytes = (size_t)ndims * sizeof a->lo[0];
    if (tutti_slice_count(ndims, a, NULL) == 0) return tutti_slice_count(ndims, b, NULL) == 0;
    for (int d = 0; d < ndims; d++)
        if (tutti__max(a->stride[d], 1) != tutti__max(b->stride[d], 1)) return 0;
    return memcmp(a->lo, b->lo, bytes) == 0 && memcmp(a->hi, b->hi, bytes) == 0;
}

/* The number of the first one that fits, -1: none. */
static int ahead_find(const tutti_array *a, const tutti_slice *s) {
    int i = 0;
    for (const tutti__ahead *p = a->ahead; p; p = p->next, i++)
        if (!p->dropped && p->written == a->written && same_slice(a->mine.ndims, &p->slice, s))
            return i;
    return -1;
}

/* All ranks found the same one, otherwise -1. */
static tutti_err ahead_agree(tutti_array *a, int mine, int *found_out) {
    tutti__range r = tutti__range_of(mine);
    const tutti__call call = {.name = "read", .ranges = 1, .range = &r};
    TUTTI_TRY(tutti__array_call(a, &call, TUTTI_OK));
    *found_out = r.min == r.max ? mine : -1;
    return TUTTI_OK;
}

tutti_err tutti__ahead_take(tutti_array *a, const tutti_slice *s, const tutti_access *access,
                            void *buf, int *taken_out) {
    ahead_forget(a, 0);
    tutti__ahead **at = &a->ahead;
    int found = access ? ahead_find(a, s) : -1;
    TUTTI_TRY(ahead_agree(a, found, &found));
    if (found < 0) return TUTTI_OK;
    while (found-- > 0) at = &(*at)->next;
    tutti__ahead *p = *at;
    *at = p->next;
    tutti_err err = ahead_wait(p);
    if (a->head) err = tutti__array_vote(a, err);
    if (err > TUTTI_OK) { /* refused, for want of memory: the read itself may have it */
        ahead_free(p);
        return TUTTI_OK;
    }
    if (err == TUTTI_OK) {
        tutti_access_unpack(access, buf, 0, tutti_access_bytes(access), p->buf);
        *taken_out = 1;
    }
    ahead_free(p);
    return err;
}
