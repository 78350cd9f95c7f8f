/* tutti-experiments sections: whole arrays, distributed over all ranks.  The variants read and write an array
 * by the call for arrays.  The pattern describes the same elements by sections, which are computed here
 * independently, so that the two check each other.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/sections.h"

#include <stdlib.h>

enum { SEVERAL = 16 }; /* block size of block-cyclic distributions, in elements */

/* Distribution of each dimension; if both are distributed, the ranks form a grid. */
static const struct {
    const char *name;
    tutti_dist_kind kind[2];
} distribution_table[] = {
    {"column-block", {TUTTI_DIST_NONE, TUTTI_DIST_BLOCK}}, /* conforming: contiguous in the file */
    {"row-block", {TUTTI_DIST_BLOCK, TUTTI_DIST_NONE}},
    {"block-block", {TUTTI_DIST_BLOCK, TUTTI_DIST_BLOCK}},
    {"column-cyclic", {TUTTI_DIST_NONE, TUTTI_DIST_CYCLIC}},
    {"row-block-cyclic(16)", {TUTTI_DIST_BLOCK_CYCLIC, TUTTI_DIST_NONE}},
    {"block-cyclic(16), both", {TUTTI_DIST_BLOCK_CYCLIC, TUTTI_DIST_BLOCK_CYCLIC}},
    {"row-cyclic", {TUTTI_DIST_CYCLIC, TUTTI_DIST_NONE}},
};

int distribution_rows(void) {
    return sizeof distribution_table / sizeof *distribution_table;
}

const char *distribution_name(int row) {
    return distribution_table[row].name;
}

/* Compute the number of ranks in each dimension. */
static void make_grid(const distribution_what *what, int grid[2]) {
    const tutti_dist_kind *kind = distribution_table[what->row].kind;
    for (int d = 0; d < 2; d++) grid[d] = kind[d] == TUTTI_DIST_NONE ? 1 : 0;
    MPI_Dims_create(what->ranks, 2, grid);
}

static tutti_err make_distribution(const distribution_what *what, tutti_distribution **out) {
    const tutti_count shape[2] = {what->n, what->n};
    tutti_dist_dim dims[2] = {{.procs = 1}, {.procs = 1}};
    int grid[2];
    make_grid(what, grid);
    for (int d = 0; d < 2; d++) {
        dims[d].kind = distribution_table[what->row].kind[d];
        dims[d].procs = grid[d];
        dims[d].block = SEVERAL;
    }
    return tutti_distribution_make(2, shape, dims, out);
}

/* ---- the same distribution as sections */

/* The index ranges [lo, hi) of one coordinate of the grid; local: position of each range in the part. */
typedef struct {
    int n;
    tutti_count *lo, *hi, stride, *local, extent;
} series;

static void series_add(series *s, tutti_count lo, tutti_count hi) {
    s->lo[s->n] = lo;
    s->hi[s->n] = hi;
    s->local[s->n++] = s->extent;
    s->extent += (hi - lo + s->stride - 1) / s->stride;
}

static void series_make(tutti_dist_kind kind, tutti_count n, int procs, int me, series *out) {
    const tutti_count block = kind == TUTTI_DIST_BLOCK_CYCLIC ? SEVERAL
                              : kind == TUTTI_DIST_BLOCK      ? (n + procs - 1) / procs
                                                              : n;
    const size_t most = (size_t)(n / block + 2);
    *out = (series){.stride = kind == TUTTI_DIST_CYCLIC ? procs : 1};
    out->lo = cli_malloc(most * sizeof *out->lo);
    out->hi = cli_malloc(most * sizeof *out->hi);
    out->local = cli_malloc(most * sizeof *out->local);
    if (kind == TUTTI_DIST_CYCLIC) {
        if (me < n) series_add(out, me, n);
        return;
    }
    for (tutti_count lo = block * me; lo < n; lo += block * procs)
        series_add(out, lo, n - lo < block ? n : lo + block);
}

static void series_free(series *s) {
    free(s->lo);
    free(s->hi);
    free(s->local);
}

static tutti_err add_section(const distribution_what *what, const series s[2], const int k[2],
                             tutti_access **out) {
    tutti_section file = {.ndims = 2,
                          .order = TUTTI_COL_MAJOR,
                          .element_size = sizeof(double),
                          .shape = {what->n, what->n}};
    tutti_section memory = file;
    for (int d = 0; d < 2; d++) {
        const int i = k[d];
        file.lo[d] = s[d].lo[i];
        file.hi[d] = s[d].hi[i];
        file.stride[d] = s[d].stride;
        memory.shape[d] = s[d].extent;
        memory.lo[d] = s[d].local[i];
        memory.hi[d] = i + 1 < s[d].n ? s[d].local[i + 1] : s[d].extent;
    }
    return tutti_access_section(&file, &memory, out);
}

static tutti_err make_access(const distribution_what *what, const series s[2], tutti_access **out) {
    const int most = s[0].n * s[1].n;
    tutti_access **part = cli_malloc((size_t)most * sizeof *part);
    tutti_off *zero = cli_malloc((size_t)most * sizeof *zero);
    tutti_err err = TUTTI_OK;
    int n = 0;
    for (int k[2] = {0, 0}; err == TUTTI_OK && n < most; n += err == TUTTI_OK) {
        k[0] = n % s[0].n;
        k[1] = n / s[0].n;
        zero[n] = 0;
        err = add_section(what, s, k, &part[n]);
    }
    if (err == TUTTI_OK) err = tutti_access_concat(n, (const tutti_access *const *)part, zero, out);
    for (int i = 0; i < n; i++) tutti_access_free(&part[i]);
    free(zero);
    free(part);
    return err;
}

/* Create the datatypes for the MPI library. */
static void make_types(const distribution_what *what, const int grid[2], const cli_world *w,
                       bench_pattern *p) {
    int size[2] = {(int)what->n, (int)what->n}, how[2], block[2];
    for (int d = 0; d < 2; d++) {
        const tutti_dist_kind kind = distribution_table[what->row].kind[d];
        how[d] = kind == TUTTI_DIST_NONE    ? MPI_DISTRIBUTE_NONE
                 : kind == TUTTI_DIST_BLOCK ? MPI_DISTRIBUTE_BLOCK
                                            : MPI_DISTRIBUTE_CYCLIC;
        block[d] = kind == TUTTI_DIST_BLOCK_CYCLIC ? SEVERAL : MPI_DISTRIBUTE_DFLT_DARG;
    }
    MPI_Type_create_darray(w->ranks, w->rank, 2, size, how, block, (int *)grid, MPI_ORDER_FORTRAN,
                           MPI_DOUBLE, &p->file_type);
    MPI_Type_contiguous((int)(p->bytes / (tutti_off)sizeof(double)), MPI_DOUBLE, &p->memory_type);
    MPI_Type_commit(&p->file_type);
    MPI_Type_commit(&p->memory_type);
}

static int distribution_make(const bench_cell *cell, const cli_world *w, bench_pattern *out) {
    const distribution_what *what = cell->what;
    const tutti_dist_kind *kind = distribution_table[what->row].kind;
    series s[2];
    int grid[2];
    *out = (bench_pattern){.name = cell->pattern,
                           .title = "a distributed array",
                           .file_type = MPI_DATATYPE_NULL,
                           .memory_type = MPI_DATATYPE_NULL};
    make_grid(what, grid);
    series_make(kind[0], what->n, grid[0], w->rank / grid[1], &s[0]);
    series_make(kind[1], what->n, grid[1], w->rank % grid[1], &s[1]);
    tutti_err err = make_access(what, s, &out->access);
    if (err == TUTTI_OK) err = bench_pattern_list(out);
    for (int d = 0; d < 2; d++) series_free(&s[d]);
    if (err != TUTTI_OK) return cli_error_tutti();
    out->bytes = out->memory = tutti_access_bytes(out->access);
    out->total = what->n * what->n * (tutti_off)sizeof(double);
    make_types(what, grid, w, out);
    return 0;
}

static void distribution_json(FILE *f, const bench_cell *cell) {
    fprintf(f, "\"extent\": %lld, ", (long long)((const distribution_what *)cell->what)->n);
}

const bench_scene distribution_scene = {.make = distribution_make, .json = distribution_json};

/* ---- the variants */

static tutti_err move_part(const bench_job *job, const tutti_distribution *d) {
    return job->is_write ? tutti_array_write_part(job->array, d, NULL, NULL, job->user)
                         : tutti_array_read_part(job->array, d, NULL, NULL, job->user);
}

static int run_part(bench_job *job, bench_entry *e) {
    const distribution_what *what = job->cell->what;
    const tutti_array_spec spec = section_spec(what->n);
    const int mode = job->is_write ? TUTTI_WRITE | TUTTI_CREATE : TUTTI_READ;
    tutti_distribution *d;
    if (make_distribution(what, &d) != TUTTI_OK) return variant_failed(e);
    tutti_err err =
        tutti_array_open_raw(job->world->comm, job->path, mode, &spec, &e->options, &job->array);
    if (err == TUTTI_OK) err = move_part(job, d);
    tutti_distribution_free(&d);
    if (err != TUTTI_OK) return variant_failed(e);
    array_way_stats(job, e);
    return tutti_array_close(&job->array) == TUTTI_OK ? 0 : variant_failed(e);
}

const bench_runner distribution_runner = {.run = run_part, .end = array_way_end};
