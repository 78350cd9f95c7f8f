/* comm: the receiving part of a sparse exchange by the NBX algorithm (Hoefler, Siebert and
 * Lumsdaine, 2010).  A rank receives arriving messages; when its synchronous sends have completed,
 * it enters a non-blocking barrier; when the barrier completes, all messages have arrived.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/mailbox.h"
#include "comm/wait.h"

tutti_err tutti__mailbox_fill(tutti__mailbox *m, tutti__team *t, int tag, tutti__sent *sent) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    int in_barrier = 0, done = 0;
    tutti__wait w = tutti__wait_begin(t, NULL);
    while (!done) {
        MPI_Status found;
        int flag = 0;
        TUTTI_MPI(MPI_Iprobe(MPI_ANY_SOURCE, tag, t->comm, &flag, &found));
        if (flag) {
            TUTTI_TRY(tutti__mailbox_receive(m, t, &found, tag));
            w = tutti__wait_begin(t, NULL);
            continue;
        }
        if (in_barrier) {
            TUTTI_MPI(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
        } else {
            flag = 1; /* whether all sends have completed */
            for (int i = 0; i < sent->n && flag; i++)
                if (sent->requests[i] != MPI_REQUEST_NULL)
                    TUTTI_MPI(MPI_Test(&sent->requests[i], &flag, MPI_STATUS_IGNORE));
            if (flag) {
                TUTTI_MPI(MPI_Ibarrier(t->comm, &barrier));
                in_barrier = 1;
            }
        }
        if (!done) tutti__wait_turn(&w);
    }
    return TUTTI_OK;
}
