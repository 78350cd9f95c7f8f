/* A two-phase write without agreements and files: implementation of bare.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bare.h"

#include <mpi.h>
#include <stdlib.h>

/* Number of runs and bytes sent to, or received from, each rank, and their offsets. */
typedef struct {
    int *runs, *bytes, *at;
} parts;

static parts parts_make(int ranks) {
    const size_t n = (size_t)ranks;
    return (parts){calloc(n, sizeof(int)), calloc(n, sizeof(int)), calloc(n, sizeof(int))};
}

static void parts_free(parts *p) {
    free(p->runs);
    free(p->bytes);
    free(p->at);
}

void bare_bounds(const bare_runs *runs) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t first = runs->offset[0], last = runs->offset[runs->n - 1] + runs->length - 1;
    int64_t *all = malloc((size_t)ranks * sizeof *all);
    MPI_Allgather(&first, 1, MPI_INT64_T, all, 1, MPI_INT64_T, MPI_COMM_WORLD);
    MPI_Allgather(&last, 1, MPI_INT64_T, all, 1, MPI_INT64_T, MPI_COMM_WORLD);
    free(all);
}

/* Count the runs per aggregator.  A run is in one domain, because the sizes of domains are multiples of its
 * length. */
static void count_runs(const bare_runs *runs, int ranks, parts *to) {
    const int64_t domain = (runs->file + ranks - 1) / ranks;
    for (int i = 0; i < runs->n; i++) {
        const int64_t owner = runs->offset[i] / domain;
        to->runs[owner]++;
        to->bytes[owner] += (int)runs->length;
    }
    for (int r = 1; r < ranks; r++) to->at[r] = to->at[r - 1] + to->bytes[r - 1];
}

/* Send the offsets of the runs to their aggregators. */
static void send_runs(const bare_runs *runs, int ranks, const parts *to, const parts *from) {
    MPI_Request *request = malloc(2 * (size_t)ranks * sizeof *request);
    int64_t **list = calloc((size_t)ranks, sizeof *list);
    int n = 0, sent = 0;
    for (int r = 0; r < ranks; r++) {
        if (!from->runs[r]) continue;
        list[r] = malloc((size_t)from->runs[r] * sizeof **list);
        MPI_Irecv(list[r], from->runs[r], MPI_INT64_T, r, 1, MPI_COMM_WORLD, &request[n++]);
    }
    for (int r = 0; r < ranks; r++) {
        if (!to->runs[r]) continue;
        MPI_Isend(runs->offset + sent, to->runs[r], MPI_INT64_T, r, 1, MPI_COMM_WORLD,
                  &request[n++]);
        sent += to->runs[r];
    }
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    for (int r = 0; r < ranks; r++) free(list[r]);
    free(list);
    free(request);
}

/* Exchange the data by a message to each aggregator that gets some. */
static void send_data(const char *data, char *stage, int ranks, const parts *to,
                      const parts *from) {
    MPI_Request *request = malloc(2 * (size_t)ranks * sizeof *request);
    int n = 0;
    for (int r = 0; r < ranks; r++)
        if (from->bytes[r] > 0)
            MPI_Irecv(stage + from->at[r], from->bytes[r], MPI_BYTE, r, 2, MPI_COMM_WORLD,
                      &request[n++]);
    for (int r = 0; r < ranks; r++)
        if (to->bytes[r] > 0)
            MPI_Isend(data + to->at[r], to->bytes[r], MPI_BYTE, r, 2, MPI_COMM_WORLD,
                      &request[n++]);
    MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    free(request);
}

void bare_write(const bare_runs *runs, const char *data, bare_exchange exchange) {
    int ranks, in = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    parts to = parts_make(ranks), from = parts_make(ranks);
    count_runs(runs, ranks, &to);
    MPI_Alltoall(to.runs, 1, MPI_INT, from.runs, 1, MPI_INT, MPI_COMM_WORLD);
    send_runs(runs, ranks, &to, &from);
    for (int r = 0; r < ranks; r++) {
        from.bytes[r] = from.runs[r] * (int)runs->length;
        from.at[r] = in;
        in += from.bytes[r];
    }
    char *stage = malloc((size_t)in + 1);
    if (exchange == BARE_MESSAGES)
        send_data(data, stage, ranks, &to, &from);
    else
        MPI_Alltoallv(data, to.bytes, to.at, MPI_BYTE, stage, from.bytes, from.at, MPI_BYTE,
                      MPI_COMM_WORLD);
    free(stage);
    parts_free(&to);
    parts_free(&from);
}
