/* mpiio: agreement of ranks on numbers; requests of the program progress in the meantime.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

int mpiio_finish(MPI_Request *request) {
    int done = 0;
    for (double since = 0;;) {
        const int code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done) return code;
        mpiio_requests_progress();
        mpiio_pause(&since);
    }
}

int mpiio_agree_on(MPI_Comm comm, int n, int64_t *numbers) {
    int64_t local[MPIIO_NUMBERS];
    MPI_Request request;
    for (int i = 0; i < n; i++) local[i] = numbers[i];
    const int code = PMPI_Iallreduce(local, numbers, n, MPI_INT64_T, MPI_MAX, comm, &request);
    return code == MPI_SUCCESS ? mpiio_finish(&request) : code;
}

/* Send `numbers` to rank `to`, and replace them by the maxima of them and the numbers received from
 * rank `from`; -1: no rank. */
static int exchange_numbers(const mpiio_ranks *r, int to, int from, int n, int64_t *numbers) {
    int64_t in[MPIIO_NUMBERS];
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    if (from >= 0) code = PMPI_Irecv(in, n, MPI_INT64_T, from, 0, r->comm, &receive);
    if (code == MPI_SUCCESS && to >= 0)
        code = PMPI_Isend(numbers, n, MPI_INT64_T, to, 0, r->comm, &send);
    if (code == MPI_SUCCESS && to >= 0) code = mpiio_finish(&send);
    if (code == MPI_SUCCESS && from >= 0) code = mpiio_finish(&receive);
    for (int i = 0; from >= 0 && code == MPI_SUCCESS && i < n; i++)
        if (in[i] > numbers[i]) numbers[i] = in[i];
    return code;
}

/* Recursive doubling takes half the time of MPI's non-blocking reductions.  Ranks beyond the
 * largest power of two first send their numbers to a partner, and finally receive the result from
 * this partner. */
int mpiio_agree(const mpiio_ranks *r, int n, int64_t *numbers) {
    int whole = 1, code = MPI_SUCCESS;
    while (whole <= r->size / 2) whole *= 2;
    const int beyond = r->rank >= whole;
    const int partner = beyond ? r->rank - whole : r->rank + whole < r->size ? r->rank + whole : -1;
    if (partner >= 0)
        code = beyond ? exchange_numbers(r, partner, -1, n, numbers)
                      : exchange_numbers(r, -1, partner, n, numbers);
    for (int bit = 1; bit < whole && !beyond && code == MPI_SUCCESS; bit *= 2)
        code = exchange_numbers(r, r->rank ^ bit, r->rank ^ bit, n, numbers);
    if (partner >= 0 && code == MPI_SUCCESS)
        code = beyond ? exchange_numbers(r, -1, partner, n, numbers)
                      : exchange_numbers(r, partner, -1, n, numbers);
    return code;
}

int mpiio_agree_outcome(const mpiio_ranks *r, int local_class, const char *what) {
    int64_t worst = local_class;
    const int code = mpiio_agree(r, 1, &worst);
    if (code != MPI_SUCCESS) return code;
    return worst == local_class ? local_class : mpiio_complain((int)worst, "%s", what);
}
