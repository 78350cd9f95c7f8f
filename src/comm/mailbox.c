/* comm: adding messages to a mailbox, and receiving messages that MPI_Iprobe has found.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/mailbox.h"

#include "comm/collective_count.h"
#include "comm/wait.h"

void tutti__mailbox_put(tutti__mailbox *m, int rank, size_t bytes, void *data) {
    if (tutti__grow(&m->v, (size_t)m->n + 1, &m->capacity, sizeof *m->v) != TUTTI_OK) {
        m->err = TUTTI_ERR_NOMEM;
        tutti__free(data);
        return;
    }
    m->v[m->n++] = (tutti__sparse_message){rank, bytes, data};
}

tutti_err tutti__mailbox_receive(tutti__mailbox *m, tutti__team *t, const MPI_Status *found,
                                 int tag) {
    int n = 0;
    TUTTI_MPI(MPI_Get_count(found, MPI_BYTE, &n));
    char *data = tutti__malloc((size_t)n + 1);
    if (!data) {
        /* receive it by a blocking call: the truncation error is passed to the error handler and
         * ignored */
        m->err = TUTTI_ERR_NOMEM;
        (void)MPI_Recv(NULL, 0, MPI_BYTE, found->MPI_SOURCE, tag, t->comm, MPI_STATUS_IGNORE);
        return TUTTI_OK;
    }
    MPI_Request r;
    const int code = MPI_Irecv(data, n, MPI_BYTE, found->MPI_SOURCE, tag, t->comm, &r);
    const tutti_err err =
        code == MPI_SUCCESS ? tutti__team_finish(1, &r) : tutti__error_mpi(code, "MPI_Irecv");
    if (err != TUTTI_OK) {
        tutti__free(data);
        return err;
    }
    tutti__received_add((size_t)n);
    tutti__mailbox_put(m, found->MPI_SOURCE, (size_t)n, data);
    return TUTTI_OK;
}
