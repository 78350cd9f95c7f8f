/* The patterns: the bytes of the file of each rank, and their positions in memory.
 *
 *   block2d      2-D array of 4-byte elements, one block per rank      | 0 | 1 |
 *                                                                    | 2 | 3 |
 *   columns      the same array, one block of columns per rank         | 0 | 1 | 2 | 3 |
 *   block3d      3-D array of doubles, one block per rank
 *   cyclic4k     cyclic rows of 4 KiB                                0 1 2 3 0 1 2 3 ...
 *   pieces512    interleaved pieces of 512 bytes
 *   strided      a strided section of an array of 256-byte records
 *   irregular64  items of 64 bytes distributed at random, the same number to every rank
 *   square2d     a square array of integers, the same for any number of ranks, one block per rank
 *   ior          one contiguous piece per rank (IOR with one segment)
 *   tile256      a tile of 256-byte elements per rank, of a 2-D array (MPI-Tile-IO), twice as wide as
 *   tile1m       high; the same with elements of 1 MiB
 *   flash        blocks of 8^3 doubles of several variables, in memory with 4 ghost cells around
 *                them; the file has one variable after the other
 *   s3d          16 components of 3-D arrays of doubles (combustion), one block per rank
 *   wrf          1010 levels of 2-D arrays of 4-byte values (weather: 24 variables of 40 levels,
 *                50 of one), one tile per rank, in memory with 3 ghost cells around it
 *   e3sm-f, e3sm-g, e3sm-i, btio    kernels.c
 *
 * Each is described twice: as an access, and as MPI datatypes for the MPI library.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks of an n-dimensional array */

static void block_coordinates(const cli_world *w, int ndims, int *grid, int *at) {
    int dims[3] = {0, 0, 0}, rest = w->rank;
    MPI_Dims_create(w->ranks, ndims, dims);
    for (int d = 0; d < ndims; d++)
        grid[d] = dims[ndims - 1 - d]; /* most divisions along the first dimension */
    for (int d = ndims - 1; d >= 0; d--) {
        at[d] = rest % grid[d];
        rest /= grid[d];
    }
}

static tutti_count at_least_one(double n) {
    return n < 1 ? 1 : (tutti_count)n;
}

static tutti_err make_block2d(const cli_world *w, const bench_config *c, bench_pattern *p) {
    bench_block b = {.ndims = 2, .element = 4};
    block_coordinates(w, 2, b.grid, b.at);
    b.side[0] = b.side[1] = at_least_one(sqrt((double)c->size / 4));
    return bench_block_make(&b, p);
}

static tutti_err make_square2d(const cli_world *w, const bench_config *c, bench_pattern *p) {
    bench_block b = {.ndims = 2, .element = 4};
    const tutti_count side = at_least_one(sqrt((double)c->size * w->ranks / 4));
    block_coordinates(w, 2, b.grid, b.at);
    for (int d = 0; d < 2; d++) b.side[d] = side < b.grid[d] ? 1 : side / b.grid[d];
    return bench_block_make(&b, p);
}

tutti_off bench_tile_element(tutti_off size, tutti_off element) {
    while (element > 1 && element > size / 8) element /= 2;
    return element;
}

static tutti_err make_tile(const cli_world *w, tutti_off size, tutti_off wanted, bench_pattern *p) {
    const tutti_off element = bench_tile_element(size, wanted);
    const tutti_count whole = size / element;
    const double elements = (double)whole;
    bench_block b = {.ndims = 2, .element = (int)element};
    block_coordinates(w, 2, b.grid, b.at);
    b.side[0] = at_least_one(sqrt(elements / 2));
    b.side[1] = at_least_one(elements / (double)b.side[0]);
    return bench_block_make(&b, p);
}

static tutti_err make_tile256(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return make_tile(w, c->size, 256, p);
}

static tutti_err make_tile1m(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return make_tile(w, c->size, 1 << 20, p);
}

static tutti_err make_ior(const cli_world *w, const bench_config *c, bench_pattern *p) {
    MPI_Aint at = (MPI_Aint)(w->rank * c->size);
    int bytes = (int)c->size;
    MPI_Type_create_hindexed(1, &bytes, &at, MPI_BYTE, &p->file_type);
    return tutti_access_contiguous(w->rank * c->size, c->size, &p->access);
}

static tutti_err make_columns(const cli_world *w, const bench_config *c, bench_pattern *p) {
    bench_block b = {.ndims = 2, .element = 4, .grid = {1, w->ranks}, .at = {0, w->rank}};
    /* the array of all ranks is about square */
    b.side[0] = at_least_one(sqrt((double)c->size / 4 * w->ranks));
    b.side[1] = at_least_one((double)b.side[0] / w->ranks);
    return bench_block_make(&b, p);
}

static tutti_err make_block3d(const cli_world *w, const bench_config *c, bench_pattern *p) {
    bench_block b = {.ndims = 3, .element = 8};
    block_coordinates(w, 3, b.grid, b.at);
    b.side[0] = b.side[1] = b.side[2] = at_least_one(cbrt((double)c->size / 8));
    return bench_block_make(&b, p);
}

static tutti_err make_s3d(const cli_world *w, const bench_config *c, bench_pattern *p) {
    enum { COMPONENTS = 16 }; /* 11 mass fractions, 3 velocities, pressure, temperature */
    bench_block b = {.ndims = 4, .element = 8, .grid = {1}, .side = {COMPONENTS}};
    block_coordinates(w, 3, b.grid + 1, b.at + 1);
    b.side[1] = b.side[2] = at_least_one(cbrt((double)c->size / 8 / COMPONENTS));
    b.side[3] = at_least_one((double)c->size / 8 / COMPONENTS / (double)(b.side[1] * b.side[2]));
    return bench_block_make(&b, p);
}

static tutti_err make_wrf(const cli_world *w, const bench_config *c, bench_pattern *p) {
    enum { LEVELS = 24 * 40 + 50, LEAST = 8 * 8 };
    const double levels = (double)c->size / 4 / LEAST;
    bench_block b = {.ndims = 3, .element = 4, .grid = {1}, .ghost = {0, 3, 3}};
    block_coordinates(w, 2, b.grid + 1, b.at + 1);
    b.side[0] = levels < LEVELS ? at_least_one(levels) : LEVELS;
    b.side[1] = at_least_one(sqrt((double)c->size / 4 / (double)b.side[0]));
    b.side[2] = at_least_one((double)c->size / 4 / (double)(b.side[0] * b.side[1]));
    return bench_block_make(&b, p);
}

static tutti_err make_btio(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return kernel_btio(w, c->size, p);
}

static tutti_err make_e3sm_f(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return kernel_e3sm(w, c->size, 'f', p);
}

static tutti_err make_e3sm_g(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return kernel_e3sm(w, c->size, 'g', p);
}

static tutti_err make_e3sm_i(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return kernel_e3sm(w, c->size, 'i', p);
}

/* ---- interleaved pieces */

static tutti_err make_interleaved(const cli_world *w, tutti_off size, tutti_off piece,
                                  bench_pattern *p) {
    const tutti_count count = size < piece ? 1 : size / piece;
    MPI_Datatype vector;
    MPI_Aint at = (MPI_Aint)(w->rank * piece);
    int one = 1;
    MPI_Type_vector((int)count, (int)piece, (int)(piece * w->ranks), MPI_BYTE, &vector);
    MPI_Type_create_hindexed(1, &one, &at, vector, &p->file_type);
    MPI_Type_free(&vector);
    return tutti_access_vector(w->rank * piece, count, piece, piece * w->ranks, &p->access);
}

static tutti_err make_cyclic4k(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return make_interleaved(w, c->size, 4096, p);
}

static tutti_err make_pieces512(const cli_world *w, const bench_config *c, bench_pattern *p) {
    return make_interleaved(w, c->size, 512, p);
}

/* Create the pattern of make_interleaved with pieces of 256 bytes, described as a section lo : hi :
 * stride. */
static tutti_err make_strided(const cli_world *w, const bench_config *c, bench_pattern *p) {
    const tutti_count count = c->size < 256 ? 1 : c->size / 256;
    const tutti_section s = {.ndims = 1,
                             .order = TUTTI_ROW_MAJOR,
                             .element_size = 256,
                             .shape = {count * w->ranks},
                             .lo = {w->rank},
                             .hi = {count * w->ranks},
                             .stride = {w->ranks}};
    const tutti_err err = make_interleaved(w, c->size, 256, p);
    if (err != TUTTI_OK) return err;
    tutti_access_free(&p->access);
    return tutti_access_section(&s, NULL, &p->access);
}

/* ---- items distributed at random: in every group of 32 items per rank, the owners are shuffled */

#define HAND 32

static tutti_err make_irregular64(const cli_world *w, const bench_config *c, bench_pattern *p) {
    const tutti_off item = 64;
    const tutti_count hands = c->size < HAND * item ? 1 : c->size / (HAND * item), n = hands * HAND;
    tutti_count *index = cli_malloc((size_t)(hands * HAND) * sizeof *index);
    int *owner = cli_malloc((size_t)(HAND * w->ranks) * sizeof *owner);
    uint64_t state = c->seed * 2654435769u + 88172645463325252u;
    const int items = HAND * w->ranks;
    for (tutti_count h = 0, local = 0; h < hands; h++) { /* all ranks compute the same shuffle */
        for (int i = 0; i < items; i++) owner[i] = i % w->ranks;
        for (int i = items - 1; i > 0; i--) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            const int j = (int)(state % (uint64_t)(i + 1)), o = owner[i];
            owner[i] = owner[j];
            owner[j] = o;
        }
        for (int i = 0; i < items; i++)
            if (owner[i] == w->rank) index[local++] = h * items + i;
    }
    free(owner);
    MPI_Aint *at = cli_malloc((size_t)n * sizeof *at);
    for (tutti_count i = 0; i < n; i++) at[i] = (MPI_Aint)(index[i] * item);
    MPI_Type_create_hindexed_block((int)n, (int)item, at, MPI_BYTE, &p->file_type);
    const tutti_err err = tutti_access_indices(0, item, n, index, &p->access);
    free(at);
    free(index);
    return err;
}

/* ---- FLASH: file[variable][block of all ranks][8][8][8], memory[block][variable][16][16][16] */

enum { FLASH_SIDE = 8, FLASH_GUARD = 4, FLASH_PADDED = FLASH_SIDE + 2 * FLASH_GUARD };
static const tutti_off flash_block = FLASH_SIDE * FLASH_SIDE * FLASH_SIDE * 8;
static const tutti_off flash_padded = FLASH_PADDED * FLASH_PADDED * FLASH_PADDED * 8;

static tutti_err make_flash(const cli_world *w, const bench_config *c, bench_pattern *p) {
    const int vars = c->size >= 24 * flash_block ? 24 : (int)at_least_one((double)c->size / 4096);
    const tutti_count blocks = at_least_one((double)c->size / (double)(vars * flash_block));
    tutti_section file = {.ndims = 5,
                          .order = TUTTI_ROW_MAJOR,
                          .element_size = 8,
                          .shape = {blocks * w->ranks, 1, 8, 8, 8},
                          .lo = {blocks * w->rank},
                          .hi = {blocks * (w->rank + 1), 1, 8, 8, 8}};
    tutti_section memory = {.ndims = 5,
                            .order = TUTTI_ROW_MAJOR,
                            .element_size = 8,
                            .shape = {blocks, vars, FLASH_PADDED, FLASH_PADDED, FLASH_PADDED},
                            .lo = {0, 0, FLASH_GUARD, FLASH_GUARD, FLASH_GUARD},
                            .hi = {blocks, 1, 12, 12, 12}};
    tutti_access *variable;
    const tutti_err err = tutti_access_section(&file, &memory, &variable);
    if (err != TUTTI_OK) return err;
    const int shape[] = {FLASH_PADDED, FLASH_PADDED, FLASH_PADDED};
    const int part[] = {FLASH_SIDE, FLASH_SIDE, FLASH_SIDE};
    const int start[] = {FLASH_GUARD, FLASH_GUARD, FLASH_GUARD};
    MPI_Datatype cube, column, vector;
    MPI_Type_create_subarray(3, shape, part, start, MPI_ORDER_C, MPI_DOUBLE, &cube);
    MPI_Type_create_hvector((int)blocks, 1, (MPI_Aint)(vars * flash_padded), cube, &column);
    MPI_Type_create_hvector(vars, 1, (MPI_Aint)flash_padded, column, &p->memory_type);
    MPI_Type_create_hvector(vars, (int)(blocks * flash_block),
                            (MPI_Aint)(blocks * w->ranks * flash_block), MPI_BYTE, &vector);
    MPI_Aint at = (MPI_Aint)(w->rank * blocks * flash_block);
    int one = 1;
    MPI_Type_create_hindexed(1, &one, &at, vector, &p->file_type);
    MPI_Type_free(&cube);
    MPI_Type_free(&column);
    MPI_Type_free(&vector);
    const tutti_err tiled = tutti_access_tile(variable, vars, blocks * w->ranks * flash_block,
                                              flash_padded, &p->access);
    tutti_access_free(&variable);
    p->memory = blocks * vars * flash_padded;
    return tiled;
}

/* ---- the table */

static const struct {
    const char *name, *title;
    tutti_err (*make)(const cli_world *w, const bench_config *c, bench_pattern *p);
} pattern_table[] = {
    {"block2d", "2-D blocks of 4-byte elements", make_block2d},
    {"columns", "blocks of columns", make_columns},
    {"block3d", "3-D blocks of doubles", make_block3d},
    {"cyclic4k", "cyclic rows of 4 KiB", make_cyclic4k},
    {"pieces512", "interleaved pieces of 512 bytes", make_pieces512},
    {"irregular64", "irregular items of 64 bytes", make_irregular64},
    {"flash", "FLASH-like blocks with ghost cells", make_flash},
    {"strided", "strided records of 256 bytes", make_strided},
    {"square2d", "2-D blocks of a square array of integers", make_square2d},
    {"ior", "one contiguous block per rank", make_ior},
    {"tile256", "2-D tiles of 256-byte elements", make_tile256},
    {"tile1m", "2-D tiles of 1 MiB elements", make_tile1m},
    {"e3sm-f", "E3SM atmosphere: 388 variables on a cubed sphere", make_e3sm_f},
    {"e3sm-g", "E3SM ocean: 52 variables on a cubed sphere", make_e3sm_g},
    {"e3sm-i", "E3SM land: 560 variables on a cubed sphere", make_e3sm_i},
    {"btio", "NAS BT: cells on diagonals, with ghost cells", make_btio},
    {"s3d", "S3D: 16 components of 3-D blocks of doubles", make_s3d},
    {"wrf", "WRF: 1010 levels of 2-D tiles, with ghost cells", make_wrf},
};
enum { PATTERNS = sizeof pattern_table / sizeof *pattern_table };

const char *bench_pattern_name(int i) {
    return i < PATTERNS ? pattern_table[i].name : NULL;
}

static int find_pattern(const char *name) {
    for (int i = 0; i < PATTERNS; i++)
        if (strcmp(pattern_table[i].name, name) == 0) return i;
    return -1;
}

const char *bench_pattern_title(const char *name) {
    const int i = find_pattern(name);
    return i < 0 ? name : pattern_table[i].title;
}

const char *bench_pattern_kept_name(const char *name) {
    const int i = find_pattern(name);
    return i < 0 ? "" : pattern_table[i].name;
}

tutti_err bench_pattern_list(bench_pattern *p) {
    tutti_access_iter *it;
    tutti_piece piece;
    size_t capacity = 1024;
    const tutti_err err = tutti_access_iter_start(p->access, 0, &it);
    if (err != TUTTI_OK) return err;
    p->piece = cli_malloc(capacity * sizeof *p->piece);
    while (tutti_access_iter_next(it, &piece)) {
        if ((size_t)p->pieces == capacity) {
            capacity *= 2;
            p->piece = cli_realloc(p->piece, capacity * sizeof *p->piece);
        }
        p->piece[p->pieces++] = piece;
    }
    tutti_access_iter_free(&it);
    return TUTTI_OK;
}

int bench_pattern_make(const char *name, const cli_world *w, const bench_config *c,
                       bench_pattern *out) {
    const int i = find_pattern(name);
    *out = (bench_pattern){.name = pattern_table[i].name,
                           .title = pattern_table[i].title,
                           .file_type = MPI_DATATYPE_NULL,
                           .memory_type = MPI_DATATYPE_NULL};
    tutti_err err = pattern_table[i].make(w, c, out);
    if (err == TUTTI_OK) {
        out->bytes = tutti_access_bytes(out->access);
        if (out->total == 0)
            out->total = out->bytes * w->ranks; /* the default: all ranks have equal parts */
        if (out->memory == 0) out->memory = out->bytes;
        if (out->memory_type == MPI_DATATYPE_NULL)
            MPI_Type_contiguous((int)out->bytes, MPI_BYTE, &out->memory_type);
        MPI_Type_commit(&out->file_type);
        MPI_Type_commit(&out->memory_type);
        err = bench_pattern_list(out);
    }
    if (err == TUTTI_OK) return 0;
    bench_pattern_free(out);
    return cli_error_tutti();
}
