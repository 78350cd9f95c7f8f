/* comm: agreement.  One reduction with an operation of our own carries minima, maxima, sums and the
 * lowest failing rank; only if there is one is its error sent round.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/team.h"

#include <pthread.h>
#include <string.h>

enum { VOTE_WORDS = sizeof(tutti__vote) / sizeof(int64_t) };

static pthread_once_t vote_once = PTHREAD_ONCE_INIT;
static MPI_Op vote_op = MPI_OP_NULL;
static MPI_Datatype vote_type = MPI_DATATYPE_NULL;
static int vote_made = MPI_ERR_OTHER;

static void vote_reduce(void *in, void *inout, int *n, MPI_Datatype *type) {
    const tutti__vote *a = in;
    tutti__vote *b = inout;
    (void)type;
    for (int k = 0; k < *n; k++, a++, b++) {
        if (a->fail < b->fail) b->fail = a->fail;
        for (int i = 0; i < TUTTI__VOTES; i++) {
            if (a->min[i] < b->min[i]) b->min[i] = a->min[i];
            if (a->max[i] > b->max[i]) b->max[i] = a->max[i];
            if (!tutti__add_ok(a->sum[i], b->sum[i], &b->sum[i])) b->sum[i] = INT64_MAX;
        }
    }
}

static int vote_free(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    MPI_Op_free(&vote_op);
    MPI_Type_free(&vote_type);
    return MPI_SUCCESS;
}

static void vote_make(void) {
    int key = MPI_KEYVAL_INVALID;
    vote_made = MPI_Op_create(vote_reduce, 1, &vote_op);
    if (vote_made != MPI_SUCCESS) return;
    vote_made = MPI_Type_contiguous(VOTE_WORDS, MPI_INT64_T, &vote_type);
    if (vote_made == MPI_SUCCESS) vote_made = MPI_Type_commit(&vote_type);
    if (vote_made != MPI_SUCCESS) return;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, vote_free, &key, NULL) == MPI_SUCCESS) {
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        MPI_Comm_free_keyval(&key);
    }
}

void tutti__vote_init(tutti__vote *v) {
    memset(v, 0, sizeof *v);
    for (int i = 0; i < TUTTI__VOTES; i++) {
        v->min[i] = INT64_MAX;
        v->max[i] = INT64_MIN;
    }
}

/* Everybody gets the error of rank `who`. */
static tutti_err vote_spread(tutti__team *t, int who) {
    tutti_error_info info;
    memset(&info, 0, sizeof info);
    if (t->rank == who) {
        tutti__error_context(NULL, NULL, who);
        info = *tutti_last_error();
    }
    TUTTI_MPI(MPI_Bcast(&info, (int)sizeof info, MPI_BYTE, who, t->comm));
    tutti__error_assign(&info);
    return info.code;
}

tutti_err tutti__team_vote(tutti__team *t, tutti_err mine, tutti__vote *io) {
    tutti__vote out;
    pthread_once(&vote_once, vote_make);
    if (vote_made != MPI_SUCCESS) return tutti__error_mpi(vote_made, "MPI_Op_create");
    io->fail = mine == TUTTI_OK ? INT64_MAX : t->rank;
    if (mine != TUTTI_OK && tutti_last_error()->code != mine)
        (void)tutti__error_set(mine, 0, -1, "%s", tutti_strerror(mine));
    TUTTI_MPI(MPI_Allreduce(io, &out, 1, vote_type, vote_op, t->comm));
    *io = out;
    return out.fail == INT64_MAX ? TUTTI_OK : vote_spread(t, (int)out.fail);
}

tutti_err tutti__team_agree(tutti__team *t, tutti_err mine) {
    int64_t in = mine == TUTTI_OK ? INT64_MAX : t->rank, out;
    if (mine != TUTTI_OK && tutti_last_error()->code != mine)
        (void)tutti__error_set(mine, 0, -1, "%s", tutti_strerror(mine));
    TUTTI_MPI(MPI_Allreduce(&in, &out, 1, MPI_INT64_T, MPI_MIN, t->comm));
    return out == INT64_MAX ? TUTTI_OK : vote_spread(t, (int)out);
}

tutti_err tutti__team_broadcast(tutti__team *t, void *buf, size_t bytes) {
    int n = 0;
    TUTTI_TRY(tutti__narrow_int((tutti_off)bytes, &n));
    TUTTI_MPI(MPI_Bcast(buf, n, MPI_BYTE, 0, t->comm));
    return TUTTI_OK;
}

tutti_err tutti__team_sum(tutti__team *t, int64_t *v, int n) {
    TUTTI_MPI(MPI_Allreduce(MPI_IN_PLACE, v, n, MPI_INT64_T, MPI_SUM, t->comm));
    return TUTTI_OK;
}
