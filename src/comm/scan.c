/* comm: prefix and suffix reductions by recursive doubling.  Before the round of distance d, rank r
 * has the reductions over ranks r-d+1 ... r and over ranks r ... r+d-1, and sends them to ranks r+d
 * and r-d.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/scan.h"

#include <string.h>

#include "comm/collective_count.h"
#include "comm/consensus.h"
#include "comm/wait.h"

typedef struct {
    _Alignas(16) char up_to[TUTTI__SCAN_BYTES]; /* reduction over the ranks up to this one */
    _Alignas(16) char from[TUTTI__SCAN_BYTES];  /* reduction over the ranks from this one on */
    /* reductions received from the lower and from the higher rank */
    _Alignas(16) char lower[TUTTI__SCAN_BYTES], higher[TUTTI__SCAN_BYTES];
} scan_state;

/* Replace *left by the combination of *first and *left. */
static void prepend(const tutti__scan_operation *s, const void *first, void *left) {
    _Alignas(16) char both[TUTTI__SCAN_BYTES];
    memcpy(both, first, s->bytes);
    s->append(both, left);
    memcpy(left, both, s->bytes);
}

static tutti_err exchange_values(tutti__team *t, const tutti__scan_operation *s, int tag,
                                 int distance, scan_state *x) {
    const int lower = t->rank - distance, bytes = (int)s->bytes;
    const int higher = distance < t->size - t->rank ? t->rank + distance : -1;
    MPI_Request r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (lower >= 0) {
        TUTTI_MPI(MPI_Irecv(x->lower, bytes, MPI_BYTE, lower, tag, t->comm, &r[0]));
        TUTTI_MPI(MPI_Isend(x->from, bytes, MPI_BYTE, lower, tag, t->comm, &r[1]));
        tutti__received_add(s->bytes);
    }
    if (higher >= 0) {
        TUTTI_MPI(MPI_Irecv(x->higher, bytes, MPI_BYTE, higher, tag, t->comm, &r[2]));
        TUTTI_MPI(MPI_Isend(x->up_to, bytes, MPI_BYTE, higher, tag, t->comm, &r[3]));
        tutti__received_add(s->bytes);
    }
    return tutti__team_finish(4, r);
}

tutti_err tutti__team_scan(tutti__team *t, const tutti__scan_operation *s, const void *own,
                           void *before_out, void *behind_out) {
    scan_state x;
    TUTTI_ASSERT(s->bytes <= TUTTI__SCAN_BYTES);
    tutti__collective_add();
    memcpy(before_out, s->none, s->bytes);
    memcpy(behind_out, s->none, s->bytes);
    /* use shared memory, in which the positions of ranks in the node are their ranks */
    if (t->nodes.n == 1 && t->consensus.base) {
        tutti__consensus_post(t, own, s->bytes);
        for (int r = 0; r < t->size; r++)
            if (r != t->rank)
                s->append(r < t->rank ? before_out : behind_out, tutti__consensus_posted(t, r));
        return TUTTI_OK;
    }
    const int tag = tutti__team_tag(t);
    memcpy(x.up_to, own, s->bytes);
    memcpy(x.from, own, s->bytes);
    for (int64_t distance = 1; distance < t->size; distance *= 2) {
        TUTTI_TRY(exchange_values(t, s, tag, (int)distance, &x));
        if (t->rank >= distance) {
            prepend(s, x.lower, before_out);
            prepend(s, x.lower, x.up_to);
        }
        if (distance < t->size - t->rank) {
            s->append(behind_out, x.higher);
            s->append(x.from, x.higher);
        }
    }
    return TUTTI_OK;
}
