/* TEST ranks=2,3 timeout=60 */
/* Some ranks call tutti_tiles_next or tutti_tiles_end while others make another call for the array:
 * all ranks return the same error, nothing is changed, and the iteration continues: each tile is
 * returned once, and all tiles are written.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

enum { ROWS = 24, WIDTH = 10, TILE = 3 };

static char path[512], other[520];
static const tutti_array_spec spec = {.ndims = 2, .shape = {ROWS, WIDTH}, .type = TUTTI_INT32};

static tutti_array *create_objects(const char *name, const char *options) {
    const tutti_options opt = options_of(options);
    tutti_array *a = NULL;
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, name, &spec, &opt, &a), TUTTI_OK);
    return a;
}

/* The call that the last rank makes for `a` while the others call tutti_tiles_next. */
enum { READ, FILL, SYNC, FILE_SYNC, CLOSE, BEGIN, COPY, END };

static tutti_err another(tutti_array *a, tutti_array *b, tutti_tiles *t, int what) {
    const tutti_slice all = tutti_slice_all(2, spec.shape);
    const tutti_tiles_spec s = {.budget = 100000};
    static int32_t v[ROWS * WIDTH];
    tutti_tiles *second = NULL;
    tutti_array *same = a;
    tutti_err err = TUTTI_OK;
    switch (what) {
    case READ:
        err = tutti_array_read(a, &all, NULL, v);
        break;
    case FILL:
        err = tutti_array_fill(a, v);
        break;
    case SYNC:
        err = tutti_array_sync(a);
        break;
    case FILE_SYNC:
        err = tutti_file_sync(tutti_array_file(a));
        break;
    case CLOSE:
        err = tutti_array_close(&same);
        break;
    case BEGIN:
        err = tutti_tiles_begin(a, NULL, &s, &second);
        break;
    case COPY:
        err = tutti_array_copy(a, b, 1000, NULL, NULL);
        break;
    default:
        err = tutti_tiles_end(&t);
        break; /* END: this rank ends the iteration while others get the next tile */
    }
    CHECK(same == a && second == NULL, "call %d has been done", what);
    return err;
}

static void check_tile(const tutti_tile *tile, int32_t more) {
    const int32_t first = (int32_t)(tile->core.lo[0] * WIDTH);
    const tutti_count n = tutti_slice_count(2, &tile->core, NULL);
    for (tutti_count i = 0; i < n; i++) {
        CHECK_EQ(((const int32_t *)tile->in)[i], first + (int32_t)i);
        ((int32_t *)tile->out)[i] = first + (int32_t)i + more;
    }
}

static void walk_tiles(const char *options, int sequential, int32_t more) {
    tutti_array *a = create_objects(path, options), *b = create_objects(other, options);
    tutti_slice local = tutti_slice_all(2, spec.shape);
    tutti_tiles_stats stats;
    tutti_tiles *t = NULL;
    tutti_tile tile;
    int32_t v[ROWS * WIDTH];
    check_where(options);
    local.lo[0] = ROWS * rank / ranks;
    local.hi[0] = ROWS * (rank + 1) / ranks;
    const tutti_tiles_spec s = {
        .budget = 100000, .region = &local, .tile = {TILE, WIDTH}, .sequential = sequential};
    for (int i = 0; i < ROWS * WIDTH; i++) v[i] = i;
    tutti_slice whole = tutti_slice_all(2, spec.shape);
    if (rank > 0) whole.hi[0] = 0;
    CHECK_SAME(tutti_array_write(a, &whole, NULL, v), TUTTI_OK);
    CHECK_SAME(tutti_tiles_begin(a, b, &s, &t), TUTTI_OK);
    const tutti_count rows = local.hi[0] - local.lo[0];
    for (int i = 0; !check_failures_; i++) {
        const int what = i % END; /* test each kind of call, during the first tiles and later */
        const int last = rank == ranks - 1;
        CHECK_ERR(last ? another(a, b, t, what) : tutti_tiles_next(t, &tile), TUTTI_ERR_MISMATCH);
        CHECK_ERR(last ? tutti_tiles_next(t, &tile) : another(a, b, t, what), TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_tiles_next(t, &tile), TUTTI_OK);
        if (!tile.more) break;
        if (tile.core.hi[0] > tile.core.lo[0]) check_tile(&tile, more);
    }
    tutti_tiles *same = t;
    CHECK_ERR(rank == 0 ? another(a, b, t, SYNC) : tutti_tiles_end(&t), TUTTI_ERR_MISMATCH);
    CHECK(t == same, "the walk has ended");
    tutti_tiles_stats_get(t, &stats);
    CHECK_EQ(stats.tiles, (rows + TILE - 1) / TILE);
    CHECK_EQ(stats.read_bytes, rows * WIDTH * 4);
    CHECK_EQ(stats.written_bytes, rows * WIDTH * 4);
    CHECK_SAME(tutti_tiles_end(&t), TUTTI_OK);
    CHECK_SAME(tutti_array_read(b, &whole, NULL, v), TUTTI_OK);
    for (int i = 0; i < ROWS * WIDTH && rank == 0; i++) CHECK_EQ(v[i], i + more);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1030);
    snprintf(path, sizeof path, "%s", scratch_path("calls"));
    snprintf(other, sizeof other, "%s.to", path);
    for (int sequential = 0; sequential < 2; sequential++) {
        walk_tiles("", sequential, 1);
        walk_tiles("background=io-only", sequential, 2);
        walk_tiles("background=none method=list nodes=single", sequential, 3);
    }
    file_remove(path);
    file_remove(other);
    return harness_end();
}
