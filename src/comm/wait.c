/* comm: waiting.  Every wait of the library ends up in tutti__yield.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/team.h"

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

void tutti__error_record_mpi(int mpi_code, const char *what) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(mpi_code, text, &length) != MPI_SUCCESS) text[0] = '\0';
    tutti__error_record(TUTTI_ERR_MPI, 0, -1, "%.60s: %.300s", what, text);
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
