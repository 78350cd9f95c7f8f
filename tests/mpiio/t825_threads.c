/* TEST ranks=3 timeout=100 own=1 preload=mpiio tsan=1 */
/* MPI_THREAD_MULTIPLE: several threads per rank use different files at the same time, with pending
 * requests of all kinds.  Also, one thread starts requests and another thread completes them, after
 * the first thread has ended or while it is in a blocking MPI-IO call on another file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include "mpiio/requests.h"

enum { THREADS = 3, LENGTH = 5000, ROUNDS = 12, OPS = 4 };

typedef struct {
    pthread_t thread;
    int number;
    MPI_File file;
    unsigned seed;
    int data[OPS][LENGTH], back[LENGTH];
    MPI_Request requests[OPS];
} worker;

static worker workers[THREADS];
static atomic_int failures;

/* Like CHECK, but thread-safe. */
#define EXPECT(cond, ...)                                              \
    do {                                                               \
        if (!(cond) && atomic_fetch_add(&failures, 1) < 10) {          \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__);                              \
            fprintf(stderr, "\n");                                     \
        }                                                              \
    } while (0)
#define EXPECT_MPI(call)                                           \
    do {                                                           \
        const int code_ = (call);                                  \
        EXPECT(code_ == MPI_SUCCESS, "class %d", class_of(code_)); \
    } while (0)

static unsigned own_rnd(worker *w, unsigned n) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % n;
}

static MPI_Offset place_items(int op) {
    return ((MPI_Offset)op * ranks + rank) * LENGTH * (MPI_Offset)sizeof(int);
}

static void start_writes(worker *w, int turn) {
    for (int op = 0; op < OPS; op++) {
        for (int i = 0; i < LENGTH; i++) w->data[op][i] = mark(op + 10 * w->number, rank, turn, i);
        if (op == OPS - 1)
            EXPECT_MPI(MPI_File_iwrite_at(w->file, place_items(op), w->data[op], LENGTH, MPI_INT,
                                          &w->requests[op]));
        else
            EXPECT_MPI(MPI_File_iwrite_at_all(w->file, place_items(op), w->data[op], LENGTH,
                                              MPI_INT, &w->requests[op]));
    }
}

static void complete_request(worker *w) {
    MPI_Status s[OPS];
    int flag = 0, at = (int)own_rnd(w, OPS);
    if (own_rnd(w, 2)) {
        while (!flag) EXPECT_MPI(MPI_Test(&w->requests[at], &flag, &s[0]));
        EXPECT(bytes_of(&s[0]) == LENGTH * (int)sizeof(int), "count %d", bytes_of(&s[0]));
    }
    if (own_rnd(w, 2)) EXPECT_MPI(MPI_Waitany(OPS, w->requests, &at, &s[0]));
    EXPECT_MPI(MPI_Waitall(OPS, w->requests, s));
}

static void read_back(worker *w, int turn) {
    const int op = (int)own_rnd(w, OPS);
    EXPECT_MPI(
        MPI_File_read_at(w->file, place_items(op), w->back, LENGTH, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < LENGTH; i++)
        if (w->back[i] != mark(op + 10 * w->number, rank, turn, i)) {
            EXPECT(0, "thread %d, turn %d, operation %d, int %d", w->number, turn, op, i);
            break;
        }
}

static void *run_rounds(void *context) {
    worker *w = context;
    for (int turn = 0; turn < ROUNDS; turn++) {
        start_writes(w, turn);
        complete_request(w);
        read_back(w, turn);
        EXPECT_MPI(MPI_File_write_at_all(w->file, place_items(OPS), w->data[0], LENGTH, MPI_INT,
                                         MPI_STATUS_IGNORE));
    }
    return NULL;
}

static void all_at_once(void) {
    for (int t = 0; t < THREADS; t++)
        pthread_create(&workers[t].thread, NULL, run_rounds, &workers[t]);
    for (int t = 0; t < THREADS; t++) pthread_join(workers[t].thread, NULL);
}

/* ---- requests started by one thread and completed by another */

static void *start_only(void *context) {
    start_writes(context, 77);
    return NULL;
}

static void *complete_only(void *context) {
    complete_request(context);
    read_back(context, 77);
    return NULL;
}

/* Complete requests after the thread that started them has ended. */
static void test_orphans(void) {
    for (int t = 0; t < THREADS; t++) {
        pthread_create(&workers[t].thread, NULL, start_only, &workers[t]);
        pthread_join(workers[t].thread, NULL);
    }
    for (int t = THREADS - 1; t >= 0; t--) complete_only(&workers[t]);
}

/* A thread completes requests while the main thread is in a collective call on another file, which some ranks make
 * only after their requests are complete. */
static void busy_elsewhere(void) {
    worker *w = &workers[0];
    start_writes(w, 77);
    pthread_create(&w->thread, NULL, complete_only, w);
    if (rank != 0) pthread_join(w->thread, NULL);
    EXPECT_MPI(MPI_File_write_at_all(workers[1].file, place_items(0), workers[1].data[0], LENGTH,
                                     MPI_INT, MPI_STATUS_IGNORE));
    if (rank == 0) pthread_join(w->thread, NULL);
}

/* Make a collective call on a file with pending requests of another thread. */
static void same_file(void) {
    worker *w = &workers[2];
    pthread_create(&w->thread, NULL, start_only, w);
    pthread_join(w->thread, NULL);
    EXPECT_MPI(MPI_File_write_at_all(w->file, place_items(OPS), workers[1].data[0], LENGTH, MPI_INT,
                                     MPI_STATUS_IGNORE));
    complete_only(w);
}

int main(int argc, char **argv) {
    char name[32];
    int level;
    requests_begin(&argc, &argv, MPI_THREAD_MULTIPLE, 825);
    MPI_Query_thread(&level);
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        *w = (worker){.number = t, .seed = (unsigned)(rank * 31 + t)};
        snprintf(name, sizeof name, "threads%d", t);
        w->file = open_with(scratch(name), t == 1 ? "tutti_background=io-only" : "");
    }
    if (level == MPI_THREAD_MULTIPLE) {
        all_at_once();
        test_orphans();
        busy_elsewhere();
        same_file();
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK_MPI(MPI_File_close(&workers[t].file));
        snprintf(name, sizeof name, "threads%d", t);
        remove_file(scratch(name));
    }
    CHECK_EQ(atomic_load(&failures), 0);
    return requests_end();
}
