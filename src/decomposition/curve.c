/* decomposition: points in the order of Hilbert's curve, by all ranks.
 *
 * The key of a point is the position on the curve of its cell in a grid over the bounding box.
 * Points with equal keys are ordered by number, so that the order is the same for any number of
 * ranks.  Sample sort: ranks sort their own points, choose splitters from samples of all ranks,
 * send each point to the rank of its piece of the curve, and sort the received points.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/partition.h"

#include <stdlib.h>
#include <string.h>

#include "comm/wait.h"

/* ---- the curve: at each level a cell is divided into 2^dims cells, which the curve visits in the
 * order of Gray's code, rotated (by `turn` bits) and reflected (by `entry`) */

static uint32_t rotate_bits(uint32_t v, int by, int dims) {
    const uint32_t mask = (1u << dims) - 1;
    by %= dims;
    return ((v >> by) | (v << (dims - by))) & mask;
}

uint64_t tutti__hilbert(int dims, int bits, const uint32_t *x) {
    uint64_t key = 0;
    uint32_t entry = 0;
    int turn = 0;
    for (int b = bits - 1; b >= 0; b--) {
        uint32_t cell = 0;
        for (int k = 0; k < dims; k++) cell |= ((x[k] >> b) & 1u) << k;
        uint32_t w = rotate_bits(cell ^ entry, turn + 1, dims);
        for (uint32_t shift = 1; shift < 32; shift *= 2) w ^= w >> shift; /* inverse Gray code */
        const uint32_t even = w == 0 ? 0 : 2 * ((w - 1) / 2), in = even ^ even >> 1;
        key = key << dims | w;
        entry ^= rotate_bits(in, dims - (turn + 1) % dims, dims);
        /* The axis along which the curve leaves cell w, in the orientation of the cell. */
        const int axis = w == 0 ? 0 : __builtin_ctz(~(w % 2 ? w : w - 1)) % dims;
        turn = (turn + axis + 1) % dims;
    }
    return key;
}

/* ---- keys */

/* The grid has the axes of the bounding box with an extent above 0, all to the same scale. */
typedef struct {
    int dims, bits, axis[3];
    double low[3], extent;
} grid;

static tutti_err make_point_grid(tutti__team *t, const tutti__points *p, grid *g) {
    static const int bits_of[] = {1, 31, 31, 21};
    /* half of the minima, then half of the negated maxima; half, to avoid overflow */
    double box[6];
    MPI_Request r;
    for (int k = 0; k < 6; k++) box[k] = 1e308;
    for (tutti_count i = 0; i < 3 * p->n; i++) {
        const double x = p->coordinates[i] / 2;
        const int k = (int)(i % 3);
        if (x < box[k]) box[k] = x;
        if (-x < box[3 + k]) box[3 + k] = -x;
    }
    TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, box, 6, MPI_DOUBLE, MPI_MIN, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    memset(g, 0, sizeof *g);
    for (int k = 0; k < 3; k++) {
        const double extent = -box[3 + k] - box[k];
        if (!(extent > 0)) continue;
        g->low[g->dims] = box[k];
        g->axis[g->dims++] = k;
        if (extent > g->extent) g->extent = extent;
    }
    g->bits = bits_of[g->dims];
    return TUTTI_OK;
}

/* ---- sorting */

static int compare_keys(const void *a, const void *b) {
    const tutti__curve_point *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

enum { SAMPLES = 64 }; /* samples per rank */

/* Choose the splitters out[ranks - 1] from samples of all ranks.   all: memory for the samples */
static tutti_err choose_splitters(tutti__team *t, tutti_count n, const tutti__curve_point *v,
                                  tutti__curve_point *out, tutti__curve_point *all) {
    tutti__curve_point own[SAMPLES];
    MPI_Request r;
    size_t kept = 0;
    memset(own, -1, sizeof own); /* weight -1: no sample */
    for (int i = 0; i < SAMPLES && n > 0; i++) {
        own[i] = v[tutti_size_share(n, SAMPLES, i)];
        own[i].weight = 0;
    }
    TUTTI_MPI(MPI_Iallgather(own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE,
                             t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    for (size_t i = 0; i < (size_t)t->size * SAMPLES; i++)
        if (all[i].weight == 0) all[kept++] = all[i];
    qsort(all, kept, sizeof *all, compare_keys);
    for (int i = 1; i < t->size; i++)
        out[i - 1] = kept > 0 ? all[tutti_size_share((tutti_count)kept, t->size, i)]
                              : (tutti__curve_point){0, 0, 0};
    return TUTTI_OK;
}

tutti_err tutti__curve_sort(tutti__team *t, const tutti__points *p, tutti_count *n_out,
                            tutti__curve_point **out) {
    tutti__curve_point *v = NULL;
    grid g;
    TUTTI_TRY(make_point_grid(t, p, &g));
    v = tutti__malloc(((size_t)p->n + 1) * sizeof *v);
    tutti_err err = tutti__team_agree(t, v ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err != TUTTI_OK) {
        tutti__free(v);
        return err;
    }
    TUTTI_ASSERT(v != NULL);
    const double cells = (double)((1u << g.bits) - 1);
    for (tutti_count i = 0; i < p->n; i++) {
        const double *x = p->coordinates + 3 * i;
        uint32_t at[3] = {0, 0, 0};
        for (int k = 0; k < g.dims; k++)
            at[k] = (uint32_t)((x[g.axis[k]] / 2 - g.low[k]) / g.extent * cells);
        v[i] = (tutti__curve_point){.key = g.dims > 0 ? tutti__hilbert(g.dims, g.bits, at) : 0,
                                    .number = p->first + i,
                                    .weight = p->weight ? p->weight[i] : 1};
    }
    qsort(v, (size_t)p->n, sizeof *v, compare_keys);
    if (t->size == 1) {
        *n_out = p->n;
        *out = v;
        return TUTTI_OK;
    }
    const size_t ranks = (size_t)t->size;
    tutti__curve_point *cut = tutti__malloc(ranks * sizeof *cut);
    tutti__curve_point *all = tutti__malloc(ranks * SAMPLES * sizeof *all);
    tutti_count *bound = tutti__malloc((ranks + 1) * sizeof *bound);
    err = tutti__team_agree(t, cut && all && bound ? TUTTI_OK : TUTTI_ERR_NOMEM);
    TUTTI_ASSERT(err != TUTTI_OK || (cut && all && bound));
    if (err == TUTTI_OK) err = choose_splitters(t, p->n, v, cut, all);
    if (err == TUTTI_OK) {
        /* bound[r]: index of the first point for rank r or a higher rank */
        tutti_count at = 0;
        bound[0] = 0;
        for (int r = 1; r < t->size; r++) {
            while (at < p->n && compare_keys(&v[at], &cut[r - 1]) < 0) at++;
            bound[r] = at;
        }
        bound[t->size] = p->n;
        const tutti__outgoing o = {.item = sizeof *v, .data = v, .bound = bound};
        err = tutti__ranges_send(t, TUTTI_OK, &o, n_out, (void **)out);
    }
    tutti__free(cut);
    tutti__free(all);
    tutti__free(bound);
    if (err == TUTTI_OK) qsort(*out, (size_t)*n_out, sizeof **out, compare_keys);
    tutti__free(v);
    return err;
}
