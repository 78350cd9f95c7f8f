/* comm: the receiving half of a sparse exchange by the "NBX" scheme: receive all arriving messages, and
 * once its own synchronous sends have been received enter a barrier that does not block; when it
 * ends, all messages have arrived.  Cost: the messages themselves and one barrier.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/mailbox.h"
#include "comm/wait.h"

tutti_err tutti__mailbox_fill(tutti__mailbox *m, tutti__team *t, int tag, tutti__sent *sent) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    int in_barrier = 0, done = 0;
    while (!done) {
        MPI_Status found;
        int flag = 0;
        TUTTI_MPI(MPI_Iprobe(MPI_ANY_SOURCE, tag, t->comm, &flag, &found));
        if (flag) {
            TUTTI_TRY(tutti__mailbox_receive(m, t, &found, tag));
            continue;
        }
        if (in_barrier) {
            TUTTI_MPI(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
        } else {
            flag = 1; /* all have been sent */
            for (int i = 0; i < sent->n && flag; i++)
                if (sent->requests[i] != MPI_REQUEST_NULL)
                    TUTTI_MPI(MPI_Test(&sent->requests[i], &flag, MPI_STATUS_IGNORE));
            if (flag) {
                TUTTI_MPI(MPI_Ibarrier(t->comm, &barrier));
                in_barrier = 1;
            }
        }
        if (!done) tutti__yield();
    }
    return TUTTI_OK;
}
