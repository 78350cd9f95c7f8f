/* TEST ranks=1,2,3,5,8 timeout=60 */
/* slice_memory: blocks of a grid are written from, and read into, larger arrays in memory, with random extents,
 * origins, strides and orders; ghost cells do not change.  All layouts, compression and conversion.  In
 * overlapping blocks, the values of the highest rank are stored.  A section that does not contain the slice fails on
 * all ranks with TUTTI_ERR_ARG.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

enum { NDIMS = 3, ITEM = 2, CASES = 12, GHOST = -7 };
static const tutti_count shape[NDIMS] = {9, 8, 7};
static const char *const variables[] = {"global", "ranked", "packed", "converted"};
static tutti_dataset *d;

/* The slice of this rank, and the larger array that contains it in memory. */
typedef struct {
    tutti_slice slice;
    tutti_section memory;
    tutti_count count[NDIMS], elements;
    double *v;
} block;

/* Create the block of this rank.  The blocks of all ranks cover the grid if stride_x is 1; with `wide` > 0 they
 * overlap in the first dimension. */
static block block_make(int wide, int stride_x, int is_random) {
    block b = {.elements = 1};
    for (int k = 0; k < NDIMS; k++) {
        const tutti_count n = shape[k];
        b.slice.lo[k] = k == 0 ? n * rank / ranks : 0;
        b.slice.hi[k] = k == 0 ? n * (rank + 1) / ranks : n;
        if (k == 0 && b.slice.hi[k] + wide <= n) b.slice.hi[k] += wide;
        b.slice.stride[k] = k == 2 ? stride_x : 1;
    }
    tutti_slice_count(NDIMS, &b.slice, b.count);
    b.memory.order = is_random && rnd(2) ? TUTTI_COL_MAJOR : TUTTI_ROW_MAJOR;
    for (int k = 0; k < NDIMS; k++) {
        const tutti_count step = is_random ? 1 + rnd(3) : 1;
        b.memory.stride[k] = step;
        b.memory.lo[k] = is_random ? rnd(4) : 2;
        const tutti_count end = b.memory.lo[k] + (b.count[k] - 1) * step + 1;
        b.memory.shape[k] = end + (is_random ? rnd(4) : 2);
        if (b.memory.shape[k] < 1) b.memory.shape[k] = 1;
        b.elements *= b.memory.shape[k];
    }
    b.v = malloc((size_t)(b.elements * ITEM) * sizeof *b.v);
    for (tutti_count i = 0; i < b.elements * ITEM; i++) b.v[i] = GHOST;
    return b;
}

static double value_of(int variable, int owner, const tutti_count *x, int item) {
    return (double)(((variable * 16 + owner) * 16 + x[0]) * 512 + x[1] * 64 + x[2] * 8 + item);
}

/* Return the index in the array `v` of element `at` of the slice. */
static tutti_count place_of(const block *b, const tutti_count *at) {
    tutti_count place = 0;
    for (int i = 0; i < NDIMS; i++) {
        const int k = b->memory.order == TUTTI_ROW_MAJOR ? i : NDIMS - 1 - i;
        place = place * b->memory.shape[k] + b->memory.lo[k] + at[k] * b->memory.stride[k];
    }
    return place;
}

/* Return the highest rank whose block contains row x0. */
static int writer_of(tutti_count x0, int wide) {
    for (int r = ranks - 1; r >= 0; r--) {
        const tutti_count lo = shape[0] * r / ranks;
        tutti_count hi = shape[0] * (r + 1) / ranks;
        if (hi + wide <= shape[0]) hi += wide;
        if (lo <= x0 && x0 < hi) return r;
    }
    return -1;
}

/* Fill the slice with values, or compare the slice and the ghost cells around it. */
static void visit_entry(const block *b, int variable, int wide, int compare) {
    tutti_count at[NDIMS], inside = 0, ghosts = 0;
    for (at[0] = 0; at[0] < b->count[0]; at[0]++)
        for (at[1] = 0; at[1] < b->count[1]; at[1]++)
            for (at[2] = 0; at[2] < b->count[2]; at[2]++, inside++)
                for (int item = 0; item < ITEM; item++) {
                    tutti_count x[NDIMS];
                    for (int k = 0; k < NDIMS; k++)
                        x[k] = b->slice.lo[k] + at[k] * b->slice.stride[k];
                    double *v = &b->v[place_of(b, at) * ITEM + item];
                    const int owner = compare ? writer_of(x[0], wide) : rank;
                    const double value = value_of(variable, owner, x, item);
                    if (compare)
                        CHECK(*v == value, "variable %d, element (%d, %d, %d) is %g, not %g",
                              variable, (int)x[0], (int)x[1], (int)x[2], *v, value);
                    else
                        *v = value;
                }
    for (tutti_count i = 0; i < b->elements * ITEM; i++) ghosts += b->v[i] == GHOST;
    CHECK_EQ(ghosts, (b->elements - inside) * ITEM);
}

static tutti_decomposition *decompose_space(const block *b) {
    tutti_decomposition *p = NULL;
    tutti_section memory = b->memory;
    if (rnd(2)) /* the upper bound may be given or be 0 */
        for (int k = 0; k < NDIMS; k++)
            memory.hi[k] = memory.lo[k] + (b->count[k] - 1) * memory.stride[k] + 1;
    const tutti_decomposition_spec spec = {
        .kind = TUTTI_BY_SLICE, .slice = b->slice, .slice_memory = &memory};
    CHECK_SAME(tutti_decomposition_create(d, "grid", &spec, &p), TUTTI_OK);
    return p;
}

/* Read two segments with tutti_dataset_follow() into two consecutive arrays. */
static void follow_steps(const block *b, tutti_decomposition *p, int number) {
    const tutti_count values = b->elements * ITEM;
    double *v = malloc((size_t)values * 2 * sizeof *v);
    tutti_count count = 0;
    for (tutti_count i = 0; i < 2 * values; i++) v[i] = GHOST;
    CHECK_SAME(tutti_dataset_follow(d, number - 1, number,
                                    &(tutti_get){variables[0], p, TUTTI_FLOAT64, v}, &count),
               TUTTI_OK);
    CHECK_EQ(count, 2);
    for (int k = 0; k < 2; k++) {
        block one = *b;
        one.v = v + k * values;
        visit_entry(&one, 0, 0, 1);
    }
    free(v);
}

static void round_trip(int number) {
    const int wide = number % 3 == 2 ? 2 : 0;
    tutti_decomposition *p = NULL, *q = NULL;
    block out = block_make(wide, 1, number > 0), in = block_make(0, 1 + number % 2, number > 0);
    p = decompose_space(&out);
    q = decompose_space(&in);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_STATE, number, number), TUTTI_OK);
    for (int v = 0; v < 4; v++) {
        visit_entry(&out, v, wide, 0);
        CHECK_SAME(tutti_dataset_put(d, 1, &(tutti_put){variables[v], p, TUTTI_FLOAT64, out.v}),
                   TUTTI_OK);
    }
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    for (int v = 0; v < 4; v++) {
        for (tutti_count i = 0; i < in.elements * ITEM; i++) in.v[i] = GHOST;
        CHECK_SAME(
            tutti_dataset_get(d, number, 1, &(tutti_get){variables[v], q, TUTTI_FLOAT64, in.v}),
            TUTTI_OK);
        visit_entry(&in, v, wide, 1);
    }
    if (number % 3 == 1) follow_steps(&in, q, number);
    tutti_decomposition_free(&p);
    tutti_decomposition_free(&q);
    free(out.v);
    free(in.v);
}

/* Rank `who` passes a section that does not contain the slice, or whose number of dimensions is wrong. */
static void check_refused(int who) {
    block b = block_make(0, 1, 0);
    for (int fault = 0; fault < 7; fault++) {
        tutti_section memory = b.memory;
        tutti_decomposition_spec spec = {
            .kind = TUTTI_BY_SLICE, .slice = b.slice, .slice_memory = &memory};
        tutti_decomposition *p = NULL;
        if (rank == who) {
            if (fault == 0) memory.lo[1] = -1;
            if (fault == 1) memory.lo[2] += 3; /* the section ends beyond the extent */
            if (fault == 2) memory.shape[0] = memory.lo[0] + b.count[0] - 1;
            if (fault == 3) memory.stride[1] = -1;
            if (fault == 4) memory.ndims = 2;
            if (fault == 5) memory.hi[0] = memory.lo[0] + b.count[0] + 1;
            if (fault == 6) memory.lo[0] = INT64_MAX;
        }
        CHECK_SAME(tutti_decomposition_create(d, "grid", &spec, &p), TUTTI_ERR_ARG);
        CHECK(strstr(tutti_last_message(), "slice_memory"), "%s", tutti_last_message());
        CHECK(!p, "a decomposition was made");
    }
    const tutti_decomposition_spec other = {.kind = TUTTI_BY_INDEX,
                                            .slice_memory = rank == who ? &b.memory : NULL};
    tutti_decomposition *p = NULL;
    CHECK_SAME(tutti_decomposition_create(d, "grid", &other, &p), TUTTI_ERR_ARG);
    free(b.v);
}

int main(int argc, char **argv) {
    char path[512];
    const tutti_dataset_options opt = visible();
    harness_begin(&argc, &argv, 1285);
    snprintf(path, sizeof path, "%s/t1285.tutti", check_dir());
    dataset_remove(path);
    CHECK_SAME(
        tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &d),
        TUTTI_OK);
    CHECK_SAME(tutti_dataset_grid(d, "grid", NDIMS, shape), TUTTI_OK);
    for (int v = 0; v < 4; v++)
        CHECK_SAME(tutti_dataset_variable(
                       d, variables[v],
                       &(tutti_variable_spec){.space = "grid",
                                              .item = TUTTI_VECTOR,
                                              .components = ITEM,
                                              .type = v == 3 ? TUTTI_INT32 : TUTTI_FLOAT64,
                                              .order = v == 3 ? TUTTI_BIG_ENDIAN : 0,
                                              .layout = v == 1 ? TUTTI_RANKED : TUTTI_GLOBAL,
                                              .compress = v == 2}),
                   TUTTI_OK);
    for (int number = 0; number < CASES; number++) round_trip(number);
    for (int who = 0; who < ranks; who++) check_refused(who);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    dataset_remove(path);
    return harness_end();
}
