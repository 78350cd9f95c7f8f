/* simulated: tests of requests, and waiting for any of those that have not completed.
 *
 * In SMPI the test of an incomplete request takes no simulated time, so that a loop of tests never
 * ends.  Therefore incomplete requests are recorded when they are tested.  When the rank yields or
 * sleeps, which every wait of Tutti does, it waits until one of them has completed: simulated time
 * continues exactly at the completion, without polling.  A rank that waits for messages waits for
 * nothing else, since threads, background accesses and memory shared by ranks do not exist in a
 * simulation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "pending.h"

#include <mpi.h>
#include <stdlib.h>

/* A request that was incomplete when it was tested; is_done: simulated_wait_any has completed
 * it. */
typedef struct {
    MPI_Request *at; /* address of the handle in the program */
    int is_done;
    MPI_Status status;
} tested;

static tested *list;
static MPI_Request *waited; /* [capacity] requests that are not done, for MPI_Waitany */
static int *waited_in_list; /* [capacity] */
static int n, capacity;

static int find(const MPI_Request *request) {
    for (int i = 0; i < n; i++)
        if (list[i].at == request) return i;
    return -1;
}

static void add(MPI_Request *request) {
    if (n == capacity) {
        capacity = 2 * capacity + 16;
        list = realloc(list, (size_t)capacity * sizeof *list);
        waited = realloc(waited, (size_t)capacity * sizeof *waited);
        waited_in_list = realloc(waited_in_list, (size_t)capacity * sizeof *waited_in_list);
        if (!list || !waited || !waited_in_list) abort();
    }
    list[n++] = (tested){.at = request};
}

int simulated_wait_any(void) {
    int waits = 0, index = 0;
    for (int i = 0; i < n; i++) {
        if (list[i].is_done) continue;
        if (*list[i].at == MPI_REQUEST_NULL) { /* completed by another call */
            list[i--] = list[--n];
            continue;
        }
        waited[waits] = *list[i].at;
        waited_in_list[waits++] = i;
    }
    if (waits == 0) return 0;
    tested found = {.is_done = 1};
    if (PMPI_Waitany(waits, waited, &index, &found.status) != MPI_SUCCESS) abort();
    found.at = list[waited_in_list[index]].at;
    *found.at = MPI_REQUEST_NULL;
    /* remove the incomplete ones, which are recorded again when they are tested */
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (list[i].is_done) list[kept++] = list[i];
    n = kept;
    add(found.at);
    list[n - 1] = found;
    return 1;
}

int MPI_Test(MPI_Request *request, int *done_out, MPI_Status *status) {
    const int i = find(request);
    if (i >= 0 && list[i].is_done && *request == MPI_REQUEST_NULL) {
        if (status != MPI_STATUS_IGNORE) *status = list[i].status;
        list[i] = list[--n];
        *done_out = 1;
        return MPI_SUCCESS;
    }
    /* remove the record of this request, or of an earlier one at this address */
    if (i >= 0) list[i] = list[--n];
    *done_out = 1;
    if (*request == MPI_REQUEST_NULL) return PMPI_Wait(request, status); /* PMPI_Test fails */
    const int code = PMPI_Test(request, done_out, status);
    if (code == MPI_SUCCESS && !*done_out) add(request);
    return code;
}
