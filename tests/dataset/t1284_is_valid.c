/* TEST ranks=1,2 timeout=60 */
/* tutti__dataset_is_valid() detects each damaged relation between fields of a dataset, and accepts an undamaged
 * dataset: between segments, in a segment, and in a second segment of the same commit.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"
#include "dataset/datasets.h"

static tutti_dataset *d;

/* Change a field, check the predicate, and restore the field. */
#define DAMAGED(field, value)                                                    \
    do {                                                                         \
        const __typeof__(field) kept_ = (field);                                 \
        CHECK(tutti__dataset_is_valid(d), "before " #field);                     \
        (field) = (__typeof__(field))(value);                                    \
        CHECK(!tutti__dataset_is_valid(d), "a damaged " #field " is not found"); \
        (field) = kept_;                                                         \
        CHECK(tutti__dataset_is_valid(d), "after " #field);                      \
    } while (0)

static void test_object(void) {
    DAMAGED(d->handle.class, NULL);
    DAMAGED(d->team, NULL);
    DAMAGED(d->path, NULL);
    DAMAGED(d->container, NULL);
    DAMAGED(d->meta, rank == 0 ? (uintptr_t)0 : (uintptr_t)d);
    DAMAGED(d->mode, 0);
    DAMAGED(d->commit, (uintptr_t)d);
    DAMAGED(d->message, (uintptr_t)d);
}

static void test_tables(void) {
    DAMAGED(d->model.segments[1].id, d->model.segments[0].id);
    DAMAGED(d->model.segments[0].file, 999);
    DAMAGED(d->model.serial, 0);
    DAMAGED(d->model.variables[0].space, 999);
    DAMAGED(d->files[0].file, NULL);
    DAMAGED(d->files[0].used, d->clock + 1);
}

static void test_between(void) {
    tutti__put_record *none = NULL;
    tutti__put_record **list = &none;
    CHECK(tutti__dataset_is_valid(d), "between segments");
    DAMAGED(d->waiting_n, 1);
    DAMAGED(d->now.sections_n, 1);
    d->now.puts.v = list;
    DAMAGED(d->now.puts.n, 1);
    d->now.puts.v = NULL;
}

static void test_segment(void) {
    tutti__section *s = d->now.sections;
    DAMAGED(d->mode, TUTTI_READ);
    DAMAGED(d->now.under_way, 0);
    DAMAGED(d->now.file, NULL);
    DAMAGED(d->now.segment.id, d->model.serial + 1);
    DAMAGED(d->now.segment.file, 999);
    DAMAGED(d->now.end, d->now.segment.start - 1);
    DAMAGED(d->now.end, s[1].start);
    DAMAGED(d->now.tail, -1);
    DAMAGED(d->now.progress_n, 1);
    DAMAGED(d->now.puts.step, NULL);
    DAMAGED(s[0].start, d->now.segment.start - 1);
    DAMAGED(s[1].start, s[0].start);
    DAMAGED(s[0].bytes, -1);
    DAMAGED(s[1].segment, 999);
    DAMAGED(d->now.progress[0].record, NULL);
    DAMAGED(d->now.progress[1].puts, 0);
}

static void starts(const tutti_put *put) {
    tutti_request *r = NULL;
    CHECK_OK(tutti_dataset_put_start(d, 1, put, &r));
    DAMAGED(d->starts.first->queue, NULL);
    DAMAGED(d->starts.first->request, NULL);
    CHECK_OK(tutti_request_wait(&r, NULL));
}

int main(int argc, char **argv) {
    char path[512];
    const tutti_count n = 100;
    const tutti_dataset_options opt = visible();
    const tutti_variable_spec spec = {.space = "x", .type = TUTTI_FLOAT64};
    static double buf[100];
    tutti_decomposition *p = NULL;
    harness_begin(&argc, &argv, 1284);
    snprintf(path, sizeof path, "%s/t1284.tutti", check_dir());
    dataset_remove(path);
    CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt,
                                &d));
    CHECK_OK(tutti_dataset_grid(d, "x", 1, &n));
    CHECK_OK(tutti_dataset_variable(d, "u", &spec));
    CHECK_OK(tutti_dataset_variable(d, "w", &spec));
    const tutti_decomposition_spec all = {.kind = TUTTI_BY_SLICE,
                                          .slice = {.lo = {rank * 50}, .hi = {rank * 50 + 50}}};
    CHECK_OK(tutti_decomposition_create(d, "x", &all, &p));
    const tutti_put puts[] = {{"u", p, TUTTI_FLOAT64, buf}, {"w", p, TUTTI_FLOAT64, buf}};
    for (int64_t step = 0; step < 2; step++) {
        CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, step, 0));
        CHECK_OK(tutti_dataset_put(d, 2, puts));
        CHECK_OK(tutti_dataset_commit(d));
    }
    test_object();
    test_tables();
    test_between();
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 2, 0));
    CHECK_OK(tutti_dataset_put(d, 2, puts));
    test_segment();
    starts(&puts[0]);
    CHECK_OK(tutti_dataset_begin_also(d, TUTTI_STATE, 3, 0));
    CHECK_OK(tutti_dataset_put(d, 2, puts));
    test_segment();
    DAMAGED(d->waiting[0].sections[0].segment, 999);
    CHECK_OK(tutti_dataset_commit(d));
    CHECK(tutti__dataset_is_valid(d), "at the end");
    tutti_decomposition_free(&p);
    CHECK_OK(tutti_dataset_close(&d));
    dataset_remove(path);
    return harness_end();
}
