/* TEST ranks=2 timeout=60 own=1 preload=mpiio */
/* Several threads use one file at the same time: independent calls, the individual pointer (each call gets
 * a different offset), the shared pointer; and threads open and close private files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "mpi_check.h"

enum { THREADS = 4, CALLS = 200 };

static MPI_File file, own_files[THREADS];
static int bad[THREADS];

static void *do_work(void *context) {
    const int t = (int)(intptr_t)context;
    for (int i = 0; i < CALLS; i++) {
        int out = 1 + t * CALLS + i, in = 0, count = 0;
        MPI_Status status;
        const MPI_Offset at = (rank * THREADS + t) * CALLS + i;
        bad[t] |= MPI_File_write_at(file, at, &out, 1, MPI_INT, &status) != MPI_SUCCESS;
        bad[t] |= MPI_File_read_at(file, at, &in, 1, MPI_INT, &status) != MPI_SUCCESS;
        MPI_Get_count(&status, MPI_INT, &count);
        bad[t] |= (in != out) | (count != 1);
        bad[t] |= MPI_File_write(own_files[0], &out, 1, MPI_INT, &status) != MPI_SUCCESS;
        bad[t] |= MPI_File_write_shared(own_files[1], &out, 1, MPI_INT, &status) != MPI_SUCCESS;
    }
    return NULL;
}

static void *open_and_close(void *context) {
    const int t = (int)(intptr_t)context;
    char path[4096];
    snprintf(path, sizeof path, "%s/own-%d-%d", getenv("TUTTI_TEST_DIR"), rank, t);
    for (int i = 0; i < 20; i++) {
        MPI_File fh;
        int out = i, in = -1;
        bad[t] |= MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                                &fh) != MPI_SUCCESS;
        bad[t] |= MPI_File_write_at(fh, i, &out, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        bad[t] |= MPI_File_read_at(fh, i, &in, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        bad[t] |= in != i;
        bad[t] |= MPI_File_close(&fh) != MPI_SUCCESS;
    }
    return NULL;
}

static void run_case(void *(*fn)(void *)) {
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, fn, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) CHECK(!bad[t], "thread %d", t);
}

/* Check that the file contains every number of this rank once. */
static void all_there(MPI_File fh) {
    static int in[THREADS * CALLS], seen[THREADS * CALLS + 1];
    MPI_Status status;
    memset(seen, 0, sizeof seen);
    CHECK_MPI(MPI_File_read_at(fh, 0, in, THREADS * CALLS, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), THREADS * CALLS);
    for (int i = 0; i < THREADS * CALLS; i++)
        if (in[i] > 0 && in[i] <= THREADS * CALLS) seen[in[i]]++;
    for (int i = 1; i <= THREADS * CALLS; i++) CHECK_EQ(seen[i], 1);
}

int main(int argc, char **argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    file = test_open("threads", MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int k = 0; k < 2; k++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/mine-%d-%d", getenv("TUTTI_TEST_DIR"), rank, k);
        CHECK_MPI(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                                &own_files[k]));
    }
    run_case(do_work);
    for (int k = 0; k < 2; k++) {
        all_there(own_files[k]);
        CHECK_MPI(MPI_File_close(&own_files[k]));
    }
    CHECK_MPI(MPI_File_close(&file));
    run_case(open_and_close);
    return test_end();
}
