/* TEST ranks=1,2 timeout=120 own=1 tsan=1 */
/* Concurrent threads of one process, each with its own communicator and dataset, write,
 * commit with and without waiting, read, archive, restore and verify.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include "dataset/datasets.h"

enum { THREADS = 3, STATES = 6, ENTRIES = 9000 };

typedef struct {
    pthread_t thread;
    MPI_Comm comm;
    int id, wrong;
    char path[512], away[600], said[400];
} job;

static int check_values(job *j, tutti_err err) {
    if (err == TUTTI_OK) return 1;
    if (j->wrong++ == 0) snprintf(j->said, sizeof j->said, "%s", tutti_last_message());
    return 0;
}

static double value(const job *j, int64_t index, tutti_count at) {
    return number_at(j->id, index, at, 0);
}

static void states_write(job *j, tutti_dataset *d, tutti_decomposition *p, tutti_count lo,
                         tutti_count n) {
    double *v = malloc((size_t)n * sizeof *v);
    for (int s = 0; s < STATES && !j->wrong; s++) {
        tutti_request *r = NULL, *q = NULL;
        for (tutti_count i = 0; i < n; i++) v[i] = value(j, s, lo + i);
        const tutti_put puts[] = {{"a", p, TUTTI_FLOAT64, v}, {"b", p, TUTTI_FLOAT64, v}};
        check_values(j, tutti_dataset_begin(d, TUTTI_STATE, s, s));
        check_values(j, tutti_dataset_put(d, 1, &puts[0]));
        if (check_values(j, tutti_dataset_put_start(d, 1, &puts[1], &q)))
            check_values(j, tutti_request_wait(&q, NULL));
        if (s % 2)
            check_values(j, tutti_dataset_commit(d));
        else if (check_values(j, tutti_dataset_commit_start(d, &r)))
            check_values(j, tutti_request_wait(&r, NULL));
    }
    free(v);
}

static void states_read(job *j, tutti_dataset *d, tutti_decomposition *p, tutti_count lo,
                        tutti_count n) {
    double *v = malloc((size_t)n * 2 * sizeof *v);
    for (int s = 0; s < STATES && !j->wrong; s++) {
        const tutti_get gets[] = {{"a", p, TUTTI_FLOAT64, v}, {"b", p, TUTTI_FLOAT64, v + n}};
        if (!check_values(j, tutti_dataset_get(d, s, 2, gets))) break;
        for (tutti_count i = 0; i < n; i++)
            if (v[i] != value(j, s, lo + i) || v[n + i] != v[i]) {
                snprintf(j->said, sizeof j->said, "state %d is wrong", s);
                j->wrong++;
                break;
            }
    }
    free(v);
}

static void *thread_main(void *context) {
    job *j = context;
    tutti_dataset *d = NULL;
    tutti_decomposition *p = NULL;
    tutti_dataset_options opt = visible();
    const tutti_variable_spec a = {.space = "line", .type = TUTTI_FLOAT32};
    const tutti_variable_spec b = {.space = "line", .type = TUTTI_INT16, .layout = TUTTI_RANKED};
    const tutti_count lo = ENTRIES * rank / ranks, n = ENTRIES * (rank + 1) / ranks - lo;
    const tutti_decomposition_spec part_spec = {.kind = TUTTI_BY_RANK_ORDER, .n = n};
    opt.level = j->id == 0 ? TUTTI_DURABLE : TUTTI_VISIBLE;
    opt.indices_per_file = j->id == 1 ? 2 : 0;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    if (!check_values(j, tutti_dataset_open(j->comm, j->path, mode, &opt, &d))) return NULL;
    check_values(j, tutti_dataset_grid(d, "line", 1, (tutti_count[]){ENTRIES}));
    check_values(j, tutti_dataset_variable(d, "a", &a));
    check_values(j, tutti_dataset_variable(d, "b", &b));
    if (check_values(j, tutti_decomposition_create(d, "line", &part_spec, &p))) {
        states_write(j, d, p, lo, n);
        states_read(j, d, p, lo, n);
        if (!j->wrong) check_values(j, tutti_dataset_archive(d, 0, STATES - 1, j->away, NULL));
        if (!j->wrong) check_values(j, tutti_dataset_restore(d, 0, STATES - 1, j->away));
        states_read(j, d, p, lo, n);
    }
    check_values(j, tutti_dataset_verify(d, NULL));
    /* errors belong to the thread that had them */
    if (tutti_dataset_commit(d) != TUTTI_ERR_STATE || tutti_last_error()->code != TUTTI_ERR_STATE)
        j->wrong++;
    tutti_decomposition_free(&p);
    check_values(j, tutti_dataset_close(&d));
    return NULL;
}

int main(int argc, char **argv) {
    int level = 0;
    job jobs[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1277);
    if (level != MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    for (int round = 0; round < 2; round++) {
        memset(jobs, 0, sizeof jobs);
        for (int i = 0; i < THREADS; i++) {
            jobs[i].id = i;
            snprintf(jobs[i].path, sizeof jobs[i].path, "%s/t1277.%d", check_dir(), i);
            snprintf(jobs[i].away, sizeof jobs[i].away, "%s/t1277.%d.away", check_dir(), i);
            dataset_remove(jobs[i].path);
            dataset_remove(jobs[i].away);
            MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm);
        }
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&jobs[i].thread, NULL, thread_main, &jobs[i]) == 0, "no thread");
        for (int i = 0; i < THREADS; i++) {
            pthread_join(jobs[i].thread, NULL);
            CHECK(jobs[i].wrong == 0, "thread %d: %d errors: %s", i, jobs[i].wrong, jobs[i].said);
        }
        for (int i = 0; i < THREADS; i++) {
            MPI_Comm_free(&jobs[i].comm);
            dataset_remove(jobs[i].path);
            dataset_remove(jobs[i].away);
        }
    }
    return harness_end();
}
