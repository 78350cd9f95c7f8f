/* TEST ranks=1,2,3,5 timeout=120 tsan=1 */
/* Nonblocking commits.  A lock by another program delays the transaction of the database: start and test return,
 * another dataset is written at the same time, calls on the dataset being committed are refused on all
 * ranks, and the result equals that of a blocking commit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

enum { ENTRIES = 30000 }; /* more than one block of checksums */

typedef struct {
    char path[512];
    tutti_dataset *d;
    tutti_decomposition *even, *odd;
    int64_t index;
} set;

static tutti_count own_positions(int odd, tutti_count *index) {
    tutti_count n = 0;
    for (tutti_count i = odd; i < ENTRIES; i += 2)
        if (i / 1000 % ranks == rank) index[n++] = i;
    return n;
}

static void set_open(set *s, const char *name, int level, double busy) {
    tutti_dataset_options opt = visible();
    tutti_count *index = malloc(ENTRIES * sizeof *index);
    const tutti_variable_spec spec = {.space = "line", .type = TUTTI_FLOAT32};
    const tutti_variable_spec by_rank = {
        .space = "line", .type = TUTTI_INT32, .layout = TUTTI_RANKED};
    opt.level = level;
    opt.lock_timeout = busy;
    snprintf(s->path, sizeof s->path, "%s/%s", check_dir(), name);
    dataset_remove(s->path);
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, s->path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE,
                                  &opt, &s->d),
               TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(s->d, "line", 1, (tutti_count[]){ENTRIES}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(s->d, "v", &spec), TUTTI_OK);
    CHECK_SAME(tutti_dataset_variable(s->d, "w", &by_rank), TUTTI_OK);
    for (int odd = 0; odd < 2; odd++) {
        const tutti_decomposition_spec p = {
            .kind = TUTTI_BY_INDEX, .n = own_positions(odd, index), .index = index};
        CHECK_SAME(tutti_decomposition_create(s->d, "line", &p, odd ? &s->odd : &s->even),
                   TUTTI_OK);
    }
    free(index);
    s->index = 0;
}

static void set_close(set *s) {
    CHECK_SAME(tutti_dataset_verify(s->d, NULL), TUTTI_OK);
    tutti_decomposition_free(&s->even);
    tutti_decomposition_free(&s->odd);
    CHECK_SAME(tutti_dataset_close(&s->d), TUTTI_OK);
    dataset_remove(s->path);
}

/* Write a segment in two interleaved halves, so that the checksum blocks must be read back. */
static void write_segment(set *s) {
    tutti_count *index = malloc(ENTRIES * sizeof *index);
    double *v = malloc(ENTRIES * sizeof *v);
    CHECK_SAME(tutti_dataset_begin(s->d, TUTTI_STATE, s->index, 0), TUTTI_OK);
    for (int odd = 0; odd < 2; odd++) {
        const tutti_count n = own_positions(odd, index);
        for (tutti_count i = 0; i < n; i++) v[i] = number_at(0, s->index, index[i], 0);
        const tutti_put p[] = {{"v", odd ? s->odd : s->even, TUTTI_FLOAT64, v},
                               {"w", s->even, TUTTI_FLOAT64, v}};
        CHECK_SAME(tutti_dataset_put(s->d, odd ? 1 : 2, p), TUTTI_OK);
    }
    s->index++;
    free(index);
    free(v);
}

static void check_values(set *s, tutti_count segment) {
    tutti_count *index = malloc(ENTRIES * sizeof *index);
    double *v = malloc(ENTRIES * sizeof *v);
    tutti_segment g;
    CHECK_OK(tutti_dataset_segment(s->d, segment, &g));
    for (int odd = 0; odd < 2; odd++) {
        const tutti_count n = own_positions(odd, index);
        const tutti_get get = {"v", odd ? s->odd : s->even, TUTTI_FLOAT64, v};
        CHECK_SAME(tutti_dataset_get(s->d, segment, 1, &get), TUTTI_OK);
        for (tutti_count i = 0; i < n; i++)
            if (v[i] != number_at(0, g.index, index[i], 0)) {
                CHECK(0, "entry %lld of segment %lld is %g", (long long)index[i],
                      (long long)segment, v[i]);
                break;
            }
    }
    free(index);
    free(v);
}

/* ---- a read lock on the database, which delays the end of transactions */

static int lock_fd = -1; /* closing it would release the locks of SQLite in this process */

static void lock_set(const set *s, int type) {
    char path[600];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET};
        l.l_start = 0x40000002; /* SQLite: SHARED_FIRST, SHARED_SIZE */
        l.l_len = 510;
        snprintf(path, sizeof path, "%s/metadata.sqlite", s->path);
        if (lock_fd < 0) lock_fd = open(path, O_RDWR | O_CLOEXEC);
        CHECK(lock_fd >= 0 && fcntl(lock_fd, F_OFD_SETLK, &l) == 0, "no lock");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void lock_forget(void) {
    if (lock_fd >= 0) close(lock_fd);
    lock_fd = -1;
}

/* ---- calls that are refused during the commit */

static void check_refused(set *s) {
    tutti_dataset *d = s->d, *again = d;
    tutti_decomposition *p = NULL;
    tutti_request *r = NULL;
    double v = 0;
    const tutti_decomposition_spec none = {.kind = TUTTI_BY_INDEX};
    const tutti_count before = tutti_dataset_segments(d);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, 99, 0), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "a commit has been started"), "%s", tutti_last_message());
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_commit_start(d, &r), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_discard(d), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){"v", s->even, TUTTI_FLOAT64, &v}),
               TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"v", s->even, TUTTI_FLOAT64, &v}),
               TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_grid(d, "more", 1, (tutti_count[]){3}), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_erase_after(d, -1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_drop_oldest(d, 1), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_refresh(d, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_info_set(d, NULL, "x", TUTTI_FLOAT64, 1, &v), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_decomposition_create(d, "line", &none, &p), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_dataset_close(&again), TUTTI_ERR_STATE);
    CHECK(again == d && !p && !r, "something was made or closed");
    CHECK_EQ(tutti_dataset_segments(d), before); /* local calls work */
}

static void commit_during_lock(set *s, set *other, int level) {
    tutti_request *r = NULL;
    int done = 0;
    set_open(s, "t1275.a", level, 60);
    set_open(other, "t1275.b", TUTTI_VISIBLE, 60);
    write_segment(s);
    CHECK_SAME(tutti_dataset_commit(s->d), TUTTI_OK);
    write_segment(s);
    lock_set(s, F_RDLCK);
    CHECK_SAME(tutti_dataset_commit_start(s->d, &r), TUTTI_OK);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(tutti_request_test(&r, &done, NULL));
        CHECK(!done && r, "it ended under somebody's lock");
    }
    write_segment(other); /* another dataset is written completely */
    CHECK_SAME(tutti_dataset_commit(other->d), TUTTI_OK);
    check_values(other, 0);
    check_refused(s);
    CHECK_OK(tutti_request_test(&r, &done, NULL));
    CHECK(!done, "it ended under somebody's lock");
    lock_set(s, F_UNLCK);
    if (rank % 2) {
        while (!done) CHECK_OK(tutti_request_test(&r, &done, NULL));
    } else {
        CHECK_OK(tutti_request_wait(&r, NULL));
    }
    CHECK(!r, "the request is still there");
    CHECK_EQ(tutti_dataset_segments(s->d), 2);
    check_values(s, 1);
    write_segment(s);
    CHECK_SAME(tutti_dataset_commit(s->d), TUTTI_OK);
    check_values(s, 2);
    set_close(s);
    set_close(other);
    lock_forget();
}

/* Test a commit that fails because the database is locked, the same commit without the lock, and
 * abandoned commits. */
static void commit_again(set *s) {
    tutti_request *r = NULL;
    set_open(s, "t1275.c", TUTTI_VISIBLE, 0);
    CHECK_SAME(tutti_dataset_commit_start(s->d, &r), TUTTI_ERR_STATE);
    write_segment(s);
    CHECK_SAME(tutti_dataset_commit_start(s->d, rank == ranks - 1 ? NULL : &r), TUTTI_ERR_ARG);
    CHECK(!r, "a request after an error");
    if (ranks > 1)
        CHECK_ERR(rank ? tutti_dataset_commit_start(s->d, &r) : tutti_dataset_commit(s->d),
                  TUTTI_ERR_MISMATCH);
    lock_set(s, F_RDLCK);
    CHECK_SAME(tutti_dataset_commit_start(s->d, &r), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_STATE);
    CHECK_EQ(tutti_dataset_segments(s->d), 0);
    lock_set(s, F_UNLCK);
    CHECK_SAME(tutti_dataset_commit_start(s->d, &r), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_OK);
    write_segment(s);
    CHECK_SAME(tutti_dataset_commit_start(s->d, &r), TUTTI_OK);
    tutti_request_abandon(&r);
    write_segment(s); /* the next call completes it */
    CHECK_EQ(tutti_dataset_segments(s->d), 2);
    CHECK_SAME(tutti_dataset_commit_start(s->d, &r), TUTTI_OK);
    tutti_request_abandon(&r);
    for (tutti_count i = 0; i < 2; i++) check_values(s, i);
    CHECK_EQ(tutti_dataset_segments(s->d), 3);
    set_close(s);
    lock_forget();
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1275);
    set a, b;
    commit_during_lock(&a, &b, TUTTI_VISIBLE);
    commit_during_lock(&a, &b, TUTTI_DURABLE);
    commit_again(&a);
    return harness_end();
}
