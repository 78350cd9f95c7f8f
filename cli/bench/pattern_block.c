/* The pattern of one block of an array, and the release of patterns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stdlib.h>

/* Describe elements [lo, lo + side) of an array as a section and as a datatype. */
static void make_section(const bench_block *b, const tutti_count *shape, const tutti_count *lo,
                         tutti_section *out, MPI_Datatype *type) {
    int all[BENCH_DIMS + 1], part[BENCH_DIMS + 1], start[BENCH_DIMS + 1];
    *out = (tutti_section){.ndims = b->ndims, .order = TUTTI_ROW_MAJOR, .element_size = b->element};
    for (int d = 0; d < b->ndims; d++) {
        out->shape[d] = shape[d];
        out->lo[d] = lo[d];
        out->hi[d] = lo[d] + b->side[d];
        all[d] = (int)shape[d];
        part[d] = (int)b->side[d];
        start[d] = (int)lo[d];
    }
    all[b->ndims] = part[b->ndims] = b->element;
    start[b->ndims] = 0;
    MPI_Type_create_subarray(b->ndims + 1, all, part, start, MPI_ORDER_C, MPI_BYTE, type);
}

tutti_err bench_block_make(const bench_block *b, bench_pattern *p) {
    tutti_section file, memory;
    tutti_count shape[BENCH_DIMS] = {0}, lo[BENCH_DIMS] = {0};
    tutti_count padded[BENCH_DIMS] = {0}, inner[BENCH_DIMS] = {0};
    tutti_off bytes = b->element;
    int has_ghosts = 0;
    for (int d = 0; d < b->ndims; d++) {
        shape[d] = b->side[d] * b->grid[d];
        lo[d] = b->side[d] * b->at[d];
        padded[d] = b->side[d] + 2 * b->ghost[d];
        inner[d] = b->ghost[d];
        bytes *= padded[d];
        has_ghosts |= b->ghost[d];
    }
    make_section(b, shape, lo, &file, &p->file_type);
    if (!has_ghosts) return tutti_access_section(&file, NULL, &p->access);
    make_section(b, padded, inner, &memory, &p->memory_type);
    p->memory = bytes;
    return tutti_access_section(&file, &memory, &p->access);
}

void bench_pattern_free(bench_pattern *p) {
    tutti_access_free(&p->access);
    if (p->file_type != MPI_DATATYPE_NULL) MPI_Type_free(&p->file_type);
    if (p->memory_type != MPI_DATATYPE_NULL) MPI_Type_free(&p->memory_type);
    free(p->piece);
    *p = (bench_pattern){.file_type = MPI_DATATYPE_NULL, .memory_type = MPI_DATATYPE_NULL};
}
