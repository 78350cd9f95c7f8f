/* TEST ranks=1,2,3 timeout=120 own=1 */
/* Two threads per rank, each with its own file and communicator, perform collective operations at the
 * same time; a thread that progresses operations of a file excludes others.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "collective/find.h"
#include "collective/model.h"

enum { THREADS = 2, ROUNDS = 12, BYTES = 200000, PIECE = 100 };

typedef struct {
    MPI_Comm comm;
    char path[600];
    int id, wrong;
} job;

static void check_expected(job *j, int ok) {
    if (!ok) j->wrong++;
}

static void one_round(job *j, int round, int rank, int ranks) {
    tutti_options opt;
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_off count = 0;
    char *out = malloc(BYTES), *in = calloc(1, BYTES);
    memset(out, 'a' + rank + 3 * j->id + round % 5, BYTES);
    tutti_options_defaults(&opt);
    opt.cb_buffer_size = 256 << 10;
    opt.store = round % 2 ? TUTTI_STORE_THREADS : TUTTI_STORE_POSIX;
    check_expected(
        j, !tutti_access_vector(PIECE * rank, BYTES / PIECE, PIECE, (tutti_off)PIECE * ranks, &a));
    check_expected(
        j, !tutti_file_open(j->comm, j->path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    if (f) {
        opt.method = TUTTI_METHOD_TWO_PHASE;
        check_expected(j, !tutti_file_write(f, a, out, &count) && count == BYTES);
        check_expected(j, !tutti_file_read(f, a, in, &count) && count == BYTES);
        check_expected(j, memcmp(in, out, BYTES) == 0);
        /* the last error is kept per thread */
        check_expected(j, tutti_file_resize(f, -1 - j->id) == TUTTI_ERR_ARG);
        check_expected(j, strstr(tutti_last_message(), j->id ? "-2" : "-1") != NULL);
        check_expected(j, !tutti_file_close(&f));
    }
    tutti_access_free(&a);
    free(out);
    free(in);
}

static void *do_work(void *p) {
    job *j = p;
    int rank, ranks;
    MPI_Comm_rank(j->comm, &rank);
    MPI_Comm_size(j->comm, &ranks);
    for (int i = 0; i < ROUNDS; i++) one_round(j, i, rank, ranks);
    return NULL;
}

/* ---- a thread that progresses operations of a file excludes others, also in calls of higher layers */

typedef struct {
    tutti_file *f;
    atomic_int has, leaves;
} holder;

static void *hold_store(void *p) {
    holder *h = p;
    pthread_mutex_lock(&h->f->use);
    h->has = 1;
    usleep(20000);
    h->leaves = 1;
    pthread_mutex_unlock(&h->f->use);
    return NULL;
}

static void one_at_a_time(void) {
    enum { START, SETTLE, WAIT, COLLECT, CALLS };
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_request *r = NULL;
    tutti_options opt;
    char bytes[8] = {0};
    tutti_options_defaults(&opt);
    opt.store = TUTTI_STORE_NULL;
    CHECK_OK(tutti_file_open(MPI_COMM_SELF, "null", TUTTI_WRITE, &opt, &f));
    CHECK_OK(tutti_access_contiguous(0, 8, &a));
    const tutti_request asked = {.asked.name = "write",
                                 .op = {.file = f, .access = a, .is_write = 1, .buf = bytes},
                                 .asked.how = TUTTI__STARTED};
    for (int call = 0; call < CALLS; call++) {
        holder h = {.f = f};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, hold_store, &h) == 0, "no thread");
        while (!h.has) sched_yield();
        if (call == START) CHECK_OK(tutti__request_start(&asked, &r));
        if (call == SETTLE) tutti__requests_settle(f);
        if (call == WAIT) tutti__request_wait(r);
        if (call == COLLECT) CHECK_OK(tutti__request_collect(&r, NULL));
        CHECK(h.leaves, "call %d did not wait", call);
        pthread_join(thread, NULL);
    }
    tutti_access_free(&a);
    CHECK_OK(tutti_file_close(&f));
}

int main(int argc, char **argv) {
    int level;
    pthread_t thread[THREADS];
    job jobs[THREADS] = {{0}};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < THREADS; i++) {
        jobs[i].id = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm);
        snprintf(jobs[i].path, sizeof jobs[i].path, "%s.%d", scratch_path("threads"), i);
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, do_work, &jobs[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK_EQ(jobs[i].wrong, 0);
        MPI_Comm_free(&jobs[i].comm);
        unlink(jobs[i].path);
    }
    one_at_a_time();
    const int rc = check_done_all();
    MPI_Finalize();
    return rc;
}
