/* comm: messages along the binomial tree of a node.  The parent of position p is p minus its lowest
 * set bit b; its children are p plus each power of two less than b.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/node_messages.h"

#include "comm/wait.h"

/* Tag of these messages: operations and votes use smaller tags (team.c), arrays a larger one
 * (array_pair.c). */
enum { NODE_TAG = 32766 };

static int rank_at(const tutti__team *t, int position) {
    return t->nodes.member[t->nodes.start[t->nodes.own] + position];
}

static tutti_err send_to(const tutti__team *t, int position, const void *data, int bytes) {
    MPI_Request r;
    TUTTI_MPI(MPI_Isend(data, bytes, MPI_BYTE, rank_at(t, position), NODE_TAG, t->comm, &r));
    return tutti__team_finish(1, &r);
}

static tutti_err receive_from(const tutti__team *t, int position, void *data, int bytes) {
    MPI_Request r;
    TUTTI_MPI(MPI_Irecv(data, bytes, MPI_BYTE, rank_at(t, position), NODE_TAG, t->comm, &r));
    return tutti__team_finish(1, &r);
}

/* Return the lowest set bit of this rank's position; for position 0, the first power of two that is
 * not less than the number of positions. */
static int own_bit(const tutti__team *t) {
    int bit = 1;
    while (bit < t->nodes.size && !(t->nodes.me & bit)) bit *= 2;
    return bit;
}

tutti_err tutti__node_broadcast(const tutti__team *t, void *data, int bytes) {
    const int me = t->nodes.me, bit = own_bit(t);
    if (me > 0) TUTTI_TRY(receive_from(t, me - bit, data, bytes));
    for (int b = bit / 2; b > 0; b /= 2)
        if (me + b < t->nodes.size) TUTTI_TRY(send_to(t, me + b, data, bytes));
    return TUTTI_OK;
}

tutti_err tutti__node_all(const tutti__team *t, int answer, int *all_out) {
    const int me = t->nodes.me, bit = own_bit(t);
    int all = answer != 0, part = 0;
    for (int b = 1; b < bit; b *= 2) {
        if (me + b >= t->nodes.size) continue;
        TUTTI_TRY(receive_from(t, me + b, &part, (int)sizeof part));
        all &= part;
    }
    if (me > 0) TUTTI_TRY(send_to(t, me - bit, &all, (int)sizeof all));
    TUTTI_TRY(tutti__node_broadcast(t, &all, (int)sizeof all));
    *all_out = all;
    return TUTTI_OK;
}
