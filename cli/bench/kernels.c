/* The patterns of application kernels.
 *
 *   e3sm-f   atmosphere: 388 variables (321 of one level, 67 of 72) of 4-byte values on the cells of a cubed
 *            sphere, level by level.  Cells are distributed along a space-filling curve, and every second
 *            cell to the rank of its antipode, as physics balances day and night: most pieces are single
 *            values.
 *   e3sm-g   ocean: 52 variables (22 of one level, 30 of 80) of doubles, all levels of a cell together; cells
 *            are distributed along the curve.
 *   e3sm-i   land: 560 variables (546 of one level, 14 of 15) of 4-byte values on the cells that are land;
 *            cells are distributed cyclically along the curve.
 *   btio     NAS BT: u[z][y][x][5] of doubles; each rank has cells on the diagonals of a grid of cells, one
 *            in each slab, in memory with two ghost cells on each side.
 *
 * Small sizes have fewer levels and variables.  s3d and wrf are blocks: patterns.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

/* ---- the cells of a cubed sphere; in the file they are stored face by face, row by row */

typedef struct {
    uint64_t key; /* position along the curve */
    int cell;
} curve_cell;

static int compare_cells(const void *a, const void *b) {
    const curve_cell *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static uint64_t spread_bits(uint64_t x) {
    uint64_t out = 0;
    for (int bit = 0; bit < 16; bit++) out |= (x >> bit & 1) << (2 * bit);
    return out;
}

typedef struct {
    tutti_count cells, n; /* number of cells in the file, and on this rank */
    tutti_count *index;   /* [n] positions in the file, ascending */
} cell_list;

/* ---- variables: each row has one value, or all levels, of each cell */

typedef struct {
    tutti_count rows;
    tutti_off item; /* bytes per cell */
} row_group;

static tutti_err make_rows(const cell_list *c, int groups, const row_group *g, bench_pattern *p) {
    tutti_access *part[2] = {NULL, NULL};
    MPI_Datatype type[2] = {MPI_BYTE, MPI_BYTE};
    tutti_off base = 0;
    tutti_err err = TUTTI_OK;
    int made = 0;
    for (; made < groups && err == TUTTI_OK; made++) {
        tutti_access *row = NULL;
        MPI_Datatype one;
        MPI_Aint *at = cli_array(c->n, 1, sizeof *at);
        for (tutti_count i = 0; i < c->n; i++)
            at[i] = (MPI_Aint)(base + c->index[i] * g[made].item);
        MPI_Type_create_hindexed_block((int)c->n, (int)g[made].item, at, MPI_BYTE, &one);
        MPI_Type_create_hvector((int)g[made].rows, 1, (MPI_Aint)(c->cells * g[made].item), one,
                                &type[made]);
        MPI_Type_free(&one);
        free(at);
        err = tutti_access_indices(base, g[made].item, c->n, c->index, &row);
        if (err == TUTTI_OK)
            err = tutti_access_tile(row, g[made].rows, c->cells * g[made].item, c->n * g[made].item,
                                    &part[made]);
        tutti_access_free(&row);
        base += g[made].rows * g[made].item * c->cells;
    }
    p->total = base;
    if (err == TUTTI_OK)
        err = tutti_access_concat(groups, (const tutti_access *const *)part, NULL, &p->access);
    MPI_Type_create_struct(made, (int[]){1, 1}, (MPI_Aint[]){0, 0}, type, &p->file_type);
    for (int i = 0; i < made; i++) {
        tutti_access_free(&part[i]);
        MPI_Type_free(&type[i]);
    }
    return err;
}

/* Return the side of a face of the sphere for about `total` bytes, with at least four cells per rank;
 * *each_out: bytes per cell, at most `full`; share: fraction of the cells that are in the file. */
static int choose_side(const cli_world *w, double total, double full, double share,
                       double *each_out) {
    const double least = 4.0 * w->ranks > 54 ? 4.0 * w->ranks : 54;
    const double each = total / least < full ? total / least : full;
    *each_out = each;
    const int side = (int)sqrt(total / each / share / 6);
    return side < 3 ? 3 : side;
}

tutti_err kernel_e3sm(const cli_world *w, tutti_off size, char kind, bench_pattern *p) {
    const double total = (double)size * w->ranks, full = kind == 'f'   ? 4 * (321 + 67 * 72)
                                                         : kind == 'g' ? 8 * (22 + 30 * 80)
                                                                       : 4 * (546 + 14 * 15);
    row_group g[2] = {{1, kind == 'g' ? 8 : 4}, {1, 8}};
    cell_list c = {.cells = 0};
    double each;
    const int side = choose_side(w, total, full, kind == 'i' ? 1.0 / 3 : 1, &each);
    const int all = 6 * side * side;
    /* Sort the cells of each face along a Morton curve. */
    curve_cell *curve = cli_array(all, 1, sizeof *curve);
    for (int i = 0; i < all; i++) {
        const uint64_t face = (uint64_t)(i / (side * side)), y = (uint64_t)(i / side % side),
                       x = (uint64_t)(i % side);
        curve[i] = (curve_cell){face << 40 | spread_bits(y) << 1 | spread_bits(x), i};
    }
    qsort(curve, (size_t)all, sizeof *curve, compare_cells);
    int *owner = cli_array(all, 1, sizeof *owner), land = 0; /* [all] rank; -1: not in the file */
    for (int i = 0; i < all; i++) {
        /* curve position of the cell or, for every second cell of kind f, of its antipode */
        const int at = kind == 'f' && i % 2 ? (i + all / 2) % all : i;
        owner[curve[i].cell] = (int)((int64_t)at * w->ranks / all);
        if (kind == 'i') {
            /* About a third of the sphere is land, in patches of 4 x 4 cells. */
            const int face = curve[i].cell / (side * side), y = curve[i].cell / side % side,
                      x = curve[i].cell % side;
            owner[curve[i].cell] =
                (measure_hash((uint64_t)((face * 64 + y / 4) * 64 + x / 4) + 1) % 3 == 0)
                    ? land++ % w->ranks
                    : -1;
        }
    }
    c.index = cli_array(all, 1, sizeof *c.index);
    for (int i = 0; i < all; i++) {
        if (owner[i] == w->rank) c.index[c.n++] = c.cells;
        c.cells += owner[i] >= 0;
    }
    free(owner);
    free(curve);
    each = fmin(full, total / (double)c.cells);
    if (kind == 'g') {
        const double part = each / full;
        g[0].rows = part * 22 < 1 ? 1 : (tutti_count)(part * 22);
        g[1].rows = part * 30 < 1 ? 1 : (tutti_count)(part * 30);
        const double levels = (each / 8 - (double)g[0].rows) / (double)g[1].rows;
        g[1].item = 8 * (tutti_off)fmax(1, fmin(80, levels));
    } else {
        g[0].rows = each < 4 ? 1 : (tutti_count)(each / 4);
    }
    const tutti_err err = make_rows(&c, kind == 'g' ? 2 : 1, g, p);
    free(c.index);
    return err;
}

/* ---- BT */

/* With q * q ranks, each rank has q cells, one in each slab of z, along diagonals of y and x.  Any other
 * number P of ranks has P cells per rank, along the diagonal of y. */
tutti_err kernel_btio(const cli_world *w, tutti_off size, bench_pattern *p) {
    enum { POINT = 5 * 8 }; /* bytes per point */
    const int root = (int)(sqrt((double)w->ranks) + 0.5), square = root * root == w->ranks;
    const int q = square ? root : w->ranks, y = square ? w->rank / q : w->rank;
    const double points = (double)size * w->ranks / POINT;
    const tutti_count s = (tutti_count)fmax(1, floor(cbrt(points) / q));
    const tutti_count x = (tutti_count)fmax(1, points / (double)(q * s * q * s) / (square ? q : 1));
    bench_block b = {.ndims = 3,
                     .element = POINT,
                     .grid = {q, q, square ? q : 1},
                     .side = {s, s, x},
                     .ghost = {2, 2, 2}};
    bench_pattern *cell = cli_array(q, 1, sizeof *cell);
    const tutti_access **part = cli_array(q, 1, sizeof *part);
    MPI_Datatype *type = cli_array(q, 2, sizeof *type);
    MPI_Aint *place = cli_array(q, 2, sizeof *place);
    tutti_off *offset = cli_array(q, 1, sizeof *offset);
    int *ones = cli_array(q, 1, sizeof *ones), made = 0;
    tutti_err err = TUTTI_OK;
    for (; made < q && err == TUTTI_OK; made++) {
        cell[made] = (bench_pattern){.file_type = MPI_DATATYPE_NULL};
        b.at[0] = made;
        b.at[1] = (y + made) % q;
        b.at[2] = square ? (w->rank % q + made) % q : 0;
        err = bench_block_make(&b, &cell[made]);
        part[made] = cell[made].access;
        type[made] = cell[made].file_type;
        type[q + made] = cell[made].memory_type;
        offset[made] = made * cell[0].memory;
        place[made] = 0;
        place[q + made] = (MPI_Aint)offset[made];
        ones[made] = 1;
    }
    if (err == TUTTI_OK) err = tutti_access_concat(q, part, offset, &p->access);
    MPI_Type_create_struct(made, ones, place, type, &p->file_type);
    MPI_Type_create_struct(made, ones, place + q, type + q, &p->memory_type);
    p->memory = q * cell[0].memory;
    for (int i = 0; i < made; i++) bench_pattern_free(&cell[i]);
    free(cell), free(part), free(type), free(place), free(offset), free(ones);
    return err;
}
