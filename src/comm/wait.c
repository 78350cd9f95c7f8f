/* comm: waiting.  Every wait of the library ends up in tutti__yield.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/wait.h"

#include <sched.h>

#include "base/fiber.h"

static _Thread_local tutti__idle_fn *idle;

void tutti__on_idle(tutti__idle_fn *fn) {
    idle = fn;
}

void tutti__yield(void) {
    if (tutti__fiber_leave()) return;
    if (idle) idle();
    sched_yield();
}

tutti_err tutti__team_finish(int n, MPI_Request *requests) {
    for (int i = 0; i < n;) {
        int done = 0;
        TUTTI_MPI(MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE));
        if (done)
            i++;
        else
            tutti__yield();
    }
    return TUTTI_OK;
}

void tutti__mpi_progress(const tutti__team *t) {
    int found = 0;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, 0, t->comm, &found, MPI_STATUS_IGNORE);
}
