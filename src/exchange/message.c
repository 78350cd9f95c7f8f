/* exchange: two-sided messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/message.h"

tutti_err tutti__message_send(tutti__team *t, int peer, int tag, const void *buf, tutti_off bytes,
                              tutti__message *m) {
    TUTTI_ASSERT(bytes <= TUTTI__MESSAGE_MAX);
    TUTTI_MPI(MPI_Isend(buf, (int)bytes, MPI_BYTE, peer, tag, t->comm, &m->request));
    m->active = 1;
    return TUTTI_OK;
}

tutti_err tutti__message_receive(tutti__team *t, int peer, int tag, void *buf, tutti_off bytes,
                                 tutti__message *m) {
    TUTTI_ASSERT(bytes <= TUTTI__MESSAGE_MAX);
    TUTTI_MPI(MPI_Irecv(buf, (int)bytes, MPI_BYTE, peer, tag, t->comm, &m->request));
    m->active = 1;
    return TUTTI_OK;
}

tutti_err tutti__message_test(tutti__message *m, int *done_out) {
    *done_out = 1;
    if (!m->active) return TUTTI_OK;
    const int code = MPI_Test(&m->request, done_out, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        m->active = 0;
        *done_out = 1;
        return tutti__error_mpi(code, "MPI_Test");
    }
    if (*done_out) m->active = 0;
    return TUTTI_OK;
}
