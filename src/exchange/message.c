/* exchange: two-sided messages by MPI requests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/message.h"

#include "base/fiber.h"
#include "comm/wait.h"

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

tutti_err tutti__message_pass(tutti__team *t, const tutti__pass *p) {
    const int out = (int)p->out_bytes, in = (int)p->in_bytes;
    if (tutti__fiber_inside()) {
        MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (p->from >= 0)
            TUTTI_MPI(
                MPI_Irecv(p->in, (int)p->in_bytes, MPI_BYTE, p->from, p->tag, t->comm, &r[0]));
        if (p->to >= 0)
            TUTTI_MPI(
                MPI_Isend(p->out, (int)p->out_bytes, MPI_BYTE, p->to, p->tag, t->comm, &r[1]));
        return tutti__team_finish(2, r);
    }
    if (p->to >= 0 && p->from >= 0)
        TUTTI_MPI(MPI_Sendrecv(p->out, out, MPI_BYTE, p->to, p->tag, p->in, in, MPI_BYTE, p->from,
                               p->tag, t->comm, MPI_STATUS_IGNORE));
    else if (p->to >= 0)
        TUTTI_MPI(MPI_Send(p->out, out, MPI_BYTE, p->to, p->tag, t->comm));
    else if (p->from >= 0)
        TUTTI_MPI(MPI_Recv(p->in, in, MPI_BYTE, p->from, p->tag, t->comm, MPI_STATUS_IGNORE));
    return TUTTI_OK;
}
