/* array: what the ranks of an array agree on.
 *
 * The first agreement of a collective call carries what a rank has against it and a hash of all
 * that the call says agrees: where ranks mean different things, all of them return the same error
 * and nothing has been done.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

tutti_err tutti__array_agree(MPI_Comm comm, const char *operation, const char *path, tutti_err mine,
                             uint64_t same) {
    tutti__team *team = NULL;
    const tutti__call call = {
        .kind = TUTTI__CALL_ARRAY, .agrees = (int64_t)(same >> 1), .what = "the array"};
    const tutti_error_info trouble = *tutti_last_error();
    TUTTI_TRY(tutti__team_take(comm, "", &team));
    if (mine != TUTTI_OK) {
        tutti__error_assign(&trouble);
        tutti__error_context(operation, path, -1);
    }
    const uint64_t hash = tutti__hash(TUTTI__HASH_START, path ? path : "", path ? strlen(path) : 0);
    tutti__range paths = tutti__range_of((int64_t)(hash >> 1));
    const tutti_err err = tutti__team_call(team, &call, mine, 1, &paths);
    tutti__team_give(&team);
    /* ranks that disagree on something else have the same path */
    if (err != TUTTI_OK) tutti__error_context(operation, paths.min == paths.max ? path : NULL, -1);
    return err;
}

/* What comes before an agreement on an open array. */
static void settle(tutti_array *a, tutti_err mine) {
    tutti_error_info trouble = *tutti_last_error();
    TUTTI_ASSERT(a->head || a->file);
    if (a->head)
        trouble.rank = tutti__file_team(a->head)->rank; /* in its own file every rank is rank 0 */
    if (a->file) tutti__requests_settle(a->file);       /* what is queued there comes first */
    if (mine != TUTTI_OK) tutti__error_assign(&trouble);
}

tutti_err tutti__array_max(tutti_array *a, tutti_err mine, int64_t *io) {
    settle(a, mine);
    return tutti__team_max(tutti__array_team(a), mine, io);
}

tutti_err tutti__array_vote(tutti_array *a, tutti_err mine) {
    settle(a, mine);
    return tutti__team_reduce(tutti__array_team(a), mine, 0, NULL);
}

/* Which call it is counts first: ranks in different ones say the same of it. */
tutti_err tutti__array_call_settled(tutti_array *a, const tutti__same *same, tutti_err mine, int n,
                                    tutti__range *range) {
    enum { SAME, NUMBERS };
    tutti__range all[NUMBERS + TUTTI__CALL_NUMBERS];
    const uint64_t name = tutti__hash(TUTTI__HASH_START, same->name, strlen(same->name));
    const tutti__call call = {.kind = same->kind ? same->kind : TUTTI__CALL_ARRAY,
                              .agrees = (int64_t)(name >> 1),
                              .what = "which call it is that they make for the array",
                              .names = 1};
    TUTTI_ASSERT(n <= TUTTI__CALL_NUMBERS);
    all[SAME] = tutti__range_of((int64_t)(same->hash >> 1));
    for (int i = 0; i < n; i++) all[NUMBERS + i] = range[i];
    TUTTI_TRY(tutti__team_call(tutti__array_team(a), &call, mine, NUMBERS + n, all));
    TUTTI_CHECK(all[SAME].min == all[SAME].max, TUTTI_ERR_MISMATCH, "ranks disagree on %s",
                same->what);
    for (int i = 0; i < n; i++) range[i] = all[NUMBERS + i];
    return TUTTI_OK;
}

tutti_err tutti__array_call(tutti_array *a, const tutti__same *same, tutti_err mine, int n,
                            tutti__range *range) {
    settle(a, mine);
    return tutti__array_call_settled(a, same, mine, n, range);
}

/* Two handles of one file have teams of their own. */
uint64_t tutti__array_hash(uint64_t h, const tutti_array *a) {
    const int id = a ? tutti__array_team(a)->id : -1;
    if (!a) return tutti__hash(h, &id, sizeof id);
    const char *path = tutti__file_path(a->head ? a->head : a->file);
    h = tutti__hash(h, path, strlen(path));
    return tutti__hash(h, &id, sizeof id);
}

uint64_t tutti__slice_hash(uint64_t h, int ndims, const tutti_slice *s) {
    const size_t bytes = (size_t)ndims * sizeof s->lo[0];
    h = tutti__hash(h, &ndims, sizeof ndims);
    if (!s) return h;
    h = tutti__hash(h, s->lo, bytes);
    h = tutti__hash(h, s->hi, bytes);
    for (int d = 0; d < ndims; d++) {
        const tutti_count stride = tutti__max(s->stride[d], 1);
        h = tutti__hash(h, &stride, sizeof stride);
    }
    return h;
}

/* ---- what one rank does for all */

tutti_err tutti__root_does(tutti__team *t, tutti__root_fn *fn, void *context) {
    return tutti__team_agree(t, t->rank == 0 ? fn(context) : TUTTI_OK);
}

tutti_err tutti__root_tells(tutti__team *t, tutti__root_fn *fn, void *context, void *data,
                            int bytes) {
    TUTTI_TRY(tutti__root_does(t, fn, context));
    return tutti__team_tell(t, data, bytes);
}

static tutti_err delete (void *context) {
    const tutti_file *f = context;
    return tutti_file_delete(tutti__file_path(f), tutti__file_options(f));
}

tutti_err tutti__root_deletes(tutti_file *f) {
    return tutti__root_does(tutti__file_team(f), delete, f);
}
