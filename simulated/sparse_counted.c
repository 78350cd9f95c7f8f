/* simulated: the receiving part of a sparse exchange for SimGrid's SMPI, instead of
 * comm/sparse_nbx.c.  In SMPI a probe that finds no message takes simulated time, so polling would
 * distort the measured time.  Here a reduction computes the number of messages for each rank, which
 * then receives each with a blocking MPI_Probe.  Compared with NBX, 4 bytes per rank are sent in
 * addition.
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
