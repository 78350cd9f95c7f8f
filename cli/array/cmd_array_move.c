/* tutti array: transfer of a section of one array to a section of another, whose dimensions may be in another
 * order, box by box:
 *
 *   all ranks   read their parts of a box of `from`, collectively, packed in the order of `from`
 *   each rank   permutes its part in memory, unless both arrays have the same order
 *   all ranks   write their parts into `to`, collectively
 *
 * If the files have the same order, a box is as contiguous as possible.  Otherwise a box is about square in
 * the fastest dimension of `from` and the fastest of `to`, so that neither file is accessed in small pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <stdlib.h>
#include <string.h>

enum { TILE = 16 }; /* side of a square tile, in elements */

/* ---- permutation in memory */

/* Permutation of the elements of a box between two packed orders.  All arrays are indexed by the dimensions
 * of `from`. */
typedef struct {
    int ndims;
    size_t size; /* bytes of an element */
    tutti_count shape[TUTTI_MAX_DIMS];
    /* distance of adjacent indices, in bytes */
    tutti_count from[TUTTI_MAX_DIMS], to[TUTTI_MAX_DIMS];
    int fast[2]; /* fastest dimension of `from`, and of `to` */
} turn;

/* Return the i-th dimension in storage order, the fastest first. */
static int nth_dimension(const tutti_array_spec *s, int i) {
    return s->order == TUTTI_ROW_MAJOR ? s->ndims - 1 - i : i;
}

static turn make_turn(const array_move *m, const array_box *part) {
    const tutti_array_spec *from = &m->from->spec, *to = &m->to->spec;
    turn t = {.ndims = from->ndims, .size = (size_t)from->element_size};
    tutti_count step = from->element_size;
    array_box_shape(t.ndims, part, t.shape);
    for (int i = 0; i < t.ndims; i++) {
        const int d = nth_dimension(from, i);
        t.from[d] = step;
        step *= t.shape[d];
    }
    step = from->element_size;
    for (int i = 0; i < t.ndims; i++) {
        const int d = m->axes[nth_dimension(to, i)];
        t.to[d] = step;
        step *= t.shape[d];
    }
    t.fast[0] = nth_dimension(from, 0);
    t.fast[1] = m->axes[nth_dimension(to, 0)];
    return t;
}

#define COPY_LINE(bytes) \
    for (tutti_count i = 0; i < n; i++) memcpy(out + i * to, in + i * from, (size_t)(bytes))

/* Copy n elements along one dimension; from, to: distance of adjacent elements in bytes. */
static void copy_line(size_t size, tutti_count n, const char *in, tutti_count from, char *out,
                      tutti_count to) {
    switch (size) {
    case 1:
        COPY_LINE(1);
        break;
    case 2:
        COPY_LINE(2);
        break;
    case 4:
        COPY_LINE(4);
        break;
    case 8:
        COPY_LINE(8);
        break;
    case 16:
        COPY_LINE(16);
        break;
    default:
        COPY_LINE(size);
    }
}

/* Permute the plane of the two fastest dimensions, tile by tile, so that both tiles fit into the cache. */
static void turn_plane(const turn *t, const char *in, char *out) {
    const int a = t->fast[0], b = t->fast[1];
    const tutti_count rows = a == b ? 1 : t->shape[b], columns = t->shape[a];
    for (tutti_count r = 0; r < rows; r += TILE)
        for (tutti_count k = 0; k < columns; k += TILE)
            for (tutti_count i = r; i < rows && i < r + TILE; i++) {
                const tutti_count n = columns - k < TILE ? columns - k : TILE;
                copy_line(t->size, n, in + i * t->from[b] + k * t->from[a], t->from[a],
                          out + i * t->to[b] + k * t->to[a], t->to[a]);
            }
}

/* ---- transfer, box by box */

typedef struct {
    const cli_world *world;
    const array_move *move;
    int alike;      /* both arrays have the same order: no permutation is needed */
    char *in, *out; /* buffers for this rank's part of a box; in == out if `alike` */
    array_walk walk;
} mover;

static int move_box(const mover *v, const array_box *box) {
    const array_move *m = v->move;
    const array_box part = array_box_part(&v->walk, box, v->world->rank, v->world->ranks);
    array_box target = {{0}, {0}};
    for (int d = 0; d < m->to->spec.ndims; d++) {
        target.lo[d] = part.lo[m->axes[d]];
        target.hi[d] = part.hi[m->axes[d]];
    }
    const tutti_slice from = array_box_slice(m->from, &part), to = array_box_slice(m->to, &target);
    const tutti_count n = array_box_shape(m->from->spec.ndims, &part, NULL);
    if (tutti_array_read(m->from->array, &from, NULL, v->in) != TUTTI_OK) return cli_error_tutti();
    if (m->convert) m->convert(m->context, v->in, n);
    if (!v->alike && n > 0) {
        const turn t = make_turn(m, &part);
        /* Iterate over all planes: `at` are the indices of the other dimensions. */
        const char *in = v->in;
        char *out = v->out;
        tutti_count at[TUTTI_MAX_DIMS] = {0};
        for (int d = 0; d < t.ndims;) {
            turn_plane(&t, in, out);
            for (d = 0; d < t.ndims; d++) {
                if (d == t.fast[0] || d == t.fast[1]) continue;
                in += t.from[d];
                out += t.to[d];
                if (++at[d] < t.shape[d]) break;
                in -= t.from[d] * at[d];
                out -= t.to[d] * at[d];
                at[d] = 0;
            }
        }
    }
    return tutti_array_write(m->to->array, &to, NULL, v->out) == TUTTI_OK ? 0 : cli_error_tutti();
}

int array_move_run(const cli_world *w, const array_move *m) {
    const array_side *from = m->from;
    const tutti_off size = from->spec.element_size;
    mover v = {.world = w, .move = m, .alike = 1};
    for (int i = 0; i < from->spec.ndims; i++)
        v.alike &= nth_dimension(&from->spec, i) == m->axes[nth_dimension(&m->to->spec, i)];
    const tutti_count most = m->budget / size / (v.alike ? 1 : 2);
    const int other =
        v.alike ? nth_dimension(&from->spec, 0) : m->axes[nth_dimension(&m->to->spec, 0)];
    const tutti_count n = array_walk_share(&v.walk, from, other, w->ranks, most > 0 ? most : 1);
    v.in = cli_malloc((size_t)(n * size));
    v.out = v.alike ? v.in : cli_malloc((size_t)(n * size));
    cli_progress progress;
    array_box box;
    tutti_count done = 0;
    int failed = 0;
    progress_start(&progress, v.world, 0);
    while (!failed && array_walk_next(&v.walk, &box)) {
        failed = move_box(&v, &box);
        done += array_box_shape(from->spec.ndims, &box, NULL);
        progress_work(&progress, v.move->what, done, from->count);
    }
    progress_end(&progress);
    if (v.out != v.in) free(v.out);
    free(v.in);
    return failed;
}
