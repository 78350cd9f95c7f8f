/* array: agreement of the ranks of an array.
 *
 * The first agreement of a collective call includes the error of this rank and a hash of all
 * arguments that must be the same on all ranks.  If ranks disagree, all return the same error and
 * nothing is changed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>

tutti_err tutti__array_agree(MPI_Comm comm, const char *operation, const char *path,
                             tutti_err local_err, uint64_t hash) {
    const tutti__call call = {.name = operation, .what = "the array", .hash = hash};
    tutti__team *team = NULL;
    TUTTI_TRY(tutti__object_begin(comm, &tutti__array_class, &call, path, local_err, &team));
    tutti__team_give(&team);
    return TUTTI_OK;
}

/* Settle the requests of the file before an agreement on an open array; set the rank of
 * `local_err`. */
static void settle_requests(tutti_array *a, tutti_err local_err) {
    TUTTI_ASSERT(a->head || a->file);
    if (a->file) { /* queued requests are executed first */
        TUTTI_KEEP_LAST_ERROR_IF(local_err != TUTTI_OK);
        tutti__requests_settle(a->file);
    }
    if (local_err == TUTTI_OK || !a->head) return;
    tutti_error_info info = *tutti_last_error();
    info.rank = tutti__file_team(a->head)->rank; /* in the file of its part every rank is rank 0 */
    tutti__error_assign(&info);
}

tutti_err tutti__array_max(tutti_array *a, tutti_err local_err, int64_t *io) {
    settle_requests(a, local_err);
    return tutti__team_max(tutti__array_team(a), local_err, io);
}

tutti_err tutti__array_vote(tutti_array *a, tutti_err local_err) {
    settle_requests(a, local_err);
    return tutti__team_reduce(tutti__array_team(a), local_err, 0, NULL);
}

tutti_err tutti__array_call(tutti_array *a, const tutti__call *c, tutti_err local_err) {
    settle_requests(a, local_err);
    return tutti__object_call(&a->object, c, local_err);
}

/* The hash includes the id of the team, since two handles of one file have different teams. */
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

static tutti_err delete_file(void *context) {
    const tutti_file *f = context;
    return tutti_file_delete(tutti__file_path(f), tutti__file_options(f));
}

tutti_err tutti__file_delete_on_root(tutti_file *f) {
    return tutti__on_root(tutti__file_team(f), delete_file, f);
}
