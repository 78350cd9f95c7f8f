/* simulated: the receiving half of a sparse exchange for SimGrid's SMPI only, instead of
 * comm/sparse_nbx.c.  There a probe that finds nothing takes simulated time, so that the cost of polling
 * would be measured instead of that of messages.  A reduction tells each rank the number of its
 * messages; then it blocks in MPI_Probe for each of them.  Cost: that of a barrier, and 4 bytes
 * per rank, which NBX does not send.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/mailbox.h"

static tutti_err count_arrivals(tutti__team *t, const tutti__sent *sent, int *n_out) {
    int *to = tutti__calloc((size_t)t->size, sizeof *to);
    if (!to) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < sent->messages; i++)
        if (sent->message[i].rank != t->rank) to[sent->message[i].rank]++;
    const int code = MPI_Reduce_scatter_block(to, n_out, 1, MPI_INT, MPI_SUM, t->comm);
    tutti__free(to);
    TUTTI_MPI(code);
    return TUTTI_OK;
}

tutti_err tutti__mailbox_fill(tutti__mailbox *m, tutti__team *t, int tag, tutti__sent *sent) {
    int n = 0;
    TUTTI_TRY(count_arrivals(t, sent, &n));
    for (int i = 0; i < n; i++) {
        MPI_Status found;
        TUTTI_MPI(MPI_Probe(MPI_ANY_SOURCE, tag, t->comm, &found));
        TUTTI_TRY(tutti__mailbox_receive(m, t, &found, tag));
    }
    TUTTI_MPI(MPI_Waitall(sent->n, sent->requests, MPI_STATUSES_IGNORE));
    return TUTTI_OK;
}
