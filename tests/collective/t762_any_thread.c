/* TEST ranks=1,2 timeout=60 own=1 tsan=1 */
/* Threads access one file independently while the owner thread makes collective calls on the same file.
 * Only the owner calls MPI; the bytes and the statistics are correct.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include "harness.h"

enum { THREADS = 3, TURNS = 60, PIECES = 20, PIECE = 100, PLACES = 8 };
enum { LANE = PLACES * PIECES * PIECE, MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE };

typedef struct {
    pthread_t thread;
    tutti_file *f;
    int id, wrong;
    unsigned char places[PLACES]; /* 1 for each position that this thread has written */
    tutti_count operations;
} job;

static char path[512];

static void check_expected(job *j, int ok) {
    if (!ok) j->wrong++;
}

/* Make an access to the pieces at position `at` of the lane of this thread and rank. */
static tutti_access *place_items(const job *j, int at) {
    tutti_access *a = NULL;
    const tutti_off lane = (tutti_off)(j->id * ranks + rank) * LANE;
    if (tutti_access_vector(lane + (tutti_off)at * PIECE, PIECES, PIECE, PLACES * PIECE, &a) !=
        TUTTI_OK)
        return NULL;
    return a;
}

static void write_turn(job *j, int turn, int at) {
    unsigned char v[PIECES * PIECE];
    tutti_access *a = place_items(j, at);
    tutti_off count = 0;
    j->places[at] = (unsigned char)(1 + turn);
    memset(v, j->places[at], sizeof v);
    if (turn % 5 == 0) {
        tutti_request *r = NULL;
        check_expected(j, tutti_file_write_independent_start(j->f, a, v, &r) == TUTTI_OK);
        check_expected(j, tutti_request_wait(&r, &count) == TUTTI_OK);
    } else {
        check_expected(j, tutti_file_write_independent(j->f, a, v, &count) == TUTTI_OK);
    }
    check_expected(j, count == (tutti_off)sizeof v);
    tutti_access_free(&a);
}

static void read_turn(job *j, int at) {
    unsigned char v[PIECES * PIECE];
    tutti_access *a = place_items(j, at);
    tutti_off count = 0, size = -1;
    check_expected(j, tutti_file_read_independent(j->f, a, v, &count) == TUTTI_OK);
    for (int i = 0; i < (int)count; i++)
        if (v[i] != j->places[at]) {
            check_expected(j, 0);
            break;
        }
    check_expected(j, tutti_file_size_independent(j->f, &size) == TUTTI_OK && size > 0);
    tutti_access_free(&a);
}

static void *thread_main(void *context) {
    job *j = context;
    for (int turn = 0; turn < TURNS; turn++) {
        const int at = (turn * 5 + j->id) % PLACES;
        if (turn < PLACES || turn % 3)
            write_turn(j, turn, at);
        else
            read_turn(j, at);
        j->operations++;
        /* the last error is kept per thread */
        check_expected(j, tutti_file_read_independent(j->f, NULL, j, NULL) == TUTTI_ERR_ARG);
        check_expected(j, tutti_last_error()->code == TUTTI_ERR_ARG);
    }
    return NULL;
}

/* Make collective calls in the owner thread, in the part of the file after the lanes. */
static void collective_turns(tutti_file *f, tutti_count *operations) {
    const tutti_off start = (tutti_off)THREADS * ranks * LANE;
    tutti_access *a = NULL;
    unsigned char out[PIECES * PIECE], in[PIECES * PIECE];
    CHECK_OK(tutti_access_vector(start + (tutti_off)rank * PIECE, PIECES, PIECE,
                                 (tutti_off)PIECE * ranks, &a));
    for (int turn = 0; turn < TURNS / 4; turn++) {
        tutti_off count = -7;
        tutti_request *r = NULL;
        memset(out, 'a' + turn, sizeof out);
        CHECK_SAME(tutti_file_write(f, a, out, &count), TUTTI_OK);
        CHECK_SAME(tutti_file_read(f, a, in, &count), TUTTI_OK);
        CHECK(memcmp(in, out, sizeof in) == 0, "collective read differs");
        CHECK_OK(tutti_file_read_start(f, a, in, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
        CHECK_SAME(tutti_file_sync(f), TUTTI_OK);
        if (turn % 8 == 3) CHECK_SAME(tutti_file_atomic(f, turn % 16 == 3), TUTTI_OK);
        *operations += 3;
    }
    tutti_access_free(&a);
}

static void combination(const char *text) {
    const tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    job jobs[THREADS];
    tutti_stats all;
    tutti_count operations = 0;
    check_where(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, &opt, &f), TUTTI_OK);
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].f = f;
        jobs[i].id = i;
        CHECK(pthread_create(&jobs[i].thread, NULL, thread_main, &jobs[i]) == 0, "no thread");
    }
    collective_turns(f, &operations);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        CHECK(jobs[i].wrong == 0, "thread %d: %d errors", i, jobs[i].wrong);
        operations += jobs[i].operations;
    }
    for (int i = 0; i < THREADS; i++)
        for (int at = 0; at < PLACES; at++) read_turn(&jobs[i], at);
    for (int i = 0; i < THREADS; i++) CHECK_EQ(jobs[i].wrong, 0);
    tutti_file_stats(f, NULL, &all);
    CHECK_EQ(all.operations, operations + THREADS * PLACES);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK_OK(tutti_file_delete(path, &opt));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- waiting for an independent access makes no MPI calls, even if a collective operation could progress */

static pthread_t owner;
static atomic_int strangers;

int MPI_Test(MPI_Request *r, int *flag, MPI_Status *status) {
    if (!pthread_equal(owner, pthread_self())) strangers++;
    return PMPI_Test(r, flag, status);
}

int MPI_Irecv(void *v, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *r) {
    if (!pthread_equal(owner, pthread_self())) strangers++;
    return PMPI_Irecv(v, n, type, from, tag, comm, r);
}

static void *stranger_main(void *context) {
    job *j = context;
    tutti_access *a = place_items(j, 0);
    for (int turn = 0; turn < 20; turn++) {
        unsigned char v[PIECES * PIECE] = {0};
        tutti_request *r = NULL;
        check_expected(j, tutti_file_write_independent_start(j->f, a, v, &r) == TUTTI_OK);
        for (int done = 0; turn % 2 && r && !done;)
            check_expected(j, tutti_request_test(&r, &done, NULL) == TUTTI_OK);
        if (r) check_expected(j, tutti_request_wait(&r, NULL) == TUTTI_OK);
    }
    tutti_access_free(&a);
    return NULL;
}

static void only_the_owner(void) {
    tutti_access *a = NULL;
    tutti_request *r = NULL;
    unsigned char v[PIECES * PIECE] = {0};
    job j = {.f = open_with(path, "")};
    CHECK_OK(tutti_access_vector(rank * PIECE, PIECES, PIECE, (tutti_off)PIECE * ranks, &a));
    CHECK_OK(tutti_file_write_start(j.f, a, v, &r));
    CHECK(pthread_create(&j.thread, NULL, stranger_main, &j) == 0, "no thread");
    pthread_join(j.thread, NULL);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    CHECK_EQ(j.wrong, 0);
    CHECK_EQ(strangers, 0);
    tutti_access_free(&a);
    CHECK_SAME(tutti_file_close(&j.f), TUTTI_OK);
    file_remove(path);
}

int main(int argc, char **argv) {
    owner = pthread_self();
    harness_begin(&argc, &argv, 762);
    snprintf(path, sizeof path, "%s", scratch_path("any_thread"));
    combination("store=posix method=two-phase");
    combination("store=threads background=io-only method=two-phase");
#ifndef __SANITIZE_THREAD__ /* it cannot see synchronization in the kernel or in a library */
    combination("store=uring");
    combination("store=aio");
#endif
    combination("store=mem");
    only_the_owner();
    return harness_end();
}
