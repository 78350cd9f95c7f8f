/* TEST ranks=1,3 timeout=60 */
/* Replicas without items, or whose items have no load, are written and read at any offset, also beyond the
 * end of the file, without a buffer; unused fields of a spec may have any value.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/held.h"

static char path[512];

/* Write and read at `offset` of an empty file; check that the file stays empty. */
static void comes_and_goes(tutti_replicas *r, tutti_off offset) {
    tutti_off size = -1;
    tutti_file *f = open_with(path, "");
    CHECK_SAME(tutti_file_resize(f, 0), TUTTI_OK);
    CHECK_SAME(tutti_replicas_write(f, offset, r, NULL, TUTTI_REPLICAS_CHECK), TUTTI_OK);
    CHECK_SAME(tutti_replicas_read(f, offset, r, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_size(f, &size), TUTTI_OK);
    CHECK(size == 0, "%lld bytes", (long long)size);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

static void no_items(const tutti_replicas_spec *spec, const char *where) {
    tutti_replicas *r = NULL;
    tutti_replicas_stats s = {.items = -1};
    check_where(where);
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, spec, &r), TUTTI_OK);
    CHECK(tutti_replicas_bytes(r) == 0, "%lld bytes", (long long)tutti_replicas_bytes(r));
    CHECK_SAME(tutti_replicas_stats_get(r, &s), TUTTI_OK);
    CHECK(s.items == 0 && s.intervals == 0 && s.writers == 0 && s.balanced, "%lld items",
          (long long)s.items);
    comes_and_goes(r, 0);
    comes_and_goes(r, 289);
    tutti_replicas_free(&r);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1105);
    const int64_t number[] = {rank + 3, 100};
    const tutti_count zero[] = {0, 0}, two[] = {2, 2};
    const tutti_off apart[] = {64, 128};
    const double v[] = {rank, rank, 5, 6};
    tutti_replicas *r = NULL;
    snprintf(path, sizeof path, "%s/t1105.dat", check_dir());
    no_items(&(tutti_replicas_spec){.value_bytes = 8}, "no items");
    no_items(&(tutti_replicas_spec){.value_bytes = 8, .load = INT64_MAX}, "of whatever load");
    no_items(&(tutti_replicas_spec){.n = 2, .numbers = number, .loads = zero, .value_bytes = 8},
             "no load");
    no_items(
        &(tutti_replicas_spec){
            .n = 2, .numbers = number, .loads = zero, .value_bytes = 8, .memory_offsets = apart},
        "no load, at places in memory");
    /* `load` is ignored if `loads` is set */
    const tutti_replicas_spec spec = {
        .n = 2, .numbers = number, .loads = two, .load = INT64_MAX, .value_bytes = 8};
    check_where("loads");
    CHECK_SAME(tutti_replicas_create(MPI_COMM_WORLD, &spec, &r), TUTTI_OK);
    CHECK_SAME(tutti_replicas_check(r, v), TUTTI_OK);
    tutti_replicas_free(&r);
    file_remove(path);
    return harness_end();
}
