/* tutti array stat: minimum, maximum, mean, standard deviation, and number of NaNs.
 *
 * Every rank reads its part of a box while it processes the previous box.  Mean and sum of squared distances
 * are computed in two passes over blocks of some thousand elements.  The results of blocks and ranks are
 * combined by the rule of Chan, Golub and LeVeque, which avoids cancellation:
 *
 *   n = n1 + n2, d = mean2 - mean1:   mean = mean1 + d n2 / n,  squares = s1 + s2 + d d n1 n2 / n
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

/* ---- combination of results */

static void join_moments(array_moments *a, const array_moments *b) {
    const tutti_count n = a->finite + b->finite;
    if (b->numbers > 0 && (a->numbers == 0 || b->min.value < a->min.value)) a->min = b->min;
    if (b->numbers > 0 && (a->numbers == 0 || b->max.value > a->max.value)) a->max = b->max;
    if (b->finite > 0) {
        a->low = a->finite ? fminl(a->low, b->low) : b->low;
        a->high = a->finite ? fmaxl(a->high, b->high) : b->high;
    }
    for (int p = 0; p < 2 && n > 0; p++) {
        const long double d = b->mean[p] - a->mean[p];
        a->squares[p] += b->squares[p] + d * d * ((long double)a->finite * b->finite / n);
        a->mean[p] += d * ((long double)b->finite / n);
    }
    a->nans += b->nans;
    a->numbers += b->numbers;
    a->finite = n;
}

/* ---- one block */

typedef struct {
    array_moments moments;
    tutti_count least, largest;  /* positions of minimum and maximum in the block */
    long double value[2][BLOCK]; /* real and imaginary parts of the finite elements */
} block;

static void add_number(block *b, tutti_count i, long double re, long double im, long double size) {
    array_moments *m = &b->moments;
    if (m->numbers == 0 || size < m->min.value) {
        m->min.value = size;
        b->least = i;
    }
    if (m->numbers == 0 || size > m->max.value) {
        m->max.value = size;
        b->largest = i;
    }
    m->numbers++;
    if (!isfinite(re) || !isfinite(im)) return;
    m->low = m->finite ? fminl(m->low, size) : size;
    m->high = m->finite ? fmaxl(m->high, size) : size;
    b->value[0][m->finite] = re;
    b->value[1][m->finite++] = im;
}

static void look_at_block(tutti_type type, const char *elements, tutti_count n, block *b) {
    const tutti_off size = tutti_type_size(type);
    const int is_complex = array_type_is_complex(type);
    b->moments = (array_moments){.nans = 0};
    for (tutti_count i = 0; i < n; i++, elements += size) {
        const long double re = array_element_value(type, elements, 0);
        const long double im = is_complex ? array_element_value(type, elements, 1) : 0;
        if (isnan(re) || isnan(im))
            b->moments.nans++;
        else
            add_number(b, i, re, im, is_complex ? hypotl(re, im) : re);
    }
    for (int p = 0; p < 1 + is_complex && b->moments.finite > 0; p++) {
        /* Compute mean and squares of the finite elements.  The second pass also corrects rounding
         * errors of the mean. */
        array_moments *m = &b->moments;
        const long double *value = b->value[p];
        long double sum = 0, off = 0, squares = 0;
        for (tutti_count i = 0; i < m->finite; i++) sum += value[i];
        m->mean[p] = sum / m->finite;
        for (tutti_count i = 0; i < m->finite; i++) {
            const long double d = value[i] - m->mean[p];
            off += d;
            squares += d * d;
        }
        m->squares[p] = squares - off * off / m->finite;
    }
}

/* ---- one part of a box */

/* Compute the array indices of the i-th element of a part, which is packed in the order of the file. */
static void find_index(const array_side *s, const array_box *part, tutti_count i, tutti_count *at) {
    const int n = s->spec.ndims;
    for (int k = 0; k < n; k++) {
        const int d = s->spec.order == TUTTI_ROW_MAJOR ? n - 1 - k : k;
        const tutti_count extent = part->hi[d] - part->lo[d];
        at[d] = s->slice.lo[d] + (part->lo[d] + i % extent) * s->slice.stride[d];
        i /= extent;
    }
}

/* ---- iteration: one box is read while the previous one is processed */

typedef struct {
    const cli_world *world;
    const array_side *side;
    array_walk walk;
    char *buffer[2];
    array_box part[2];
    tutti_request *request[2];
    block *block;
    array_moments moments;
    tutti_count done;
    cli_progress progress;
} looker;

/* Start to read the next box into buffer k.  Returns 1, 0 if there is no further box, or -1 after
 * an error. */
static int start_read(looker *l, int k) {
    array_box box;
    if (!array_walk_next(&l->walk, &box)) return 0;
    l->part[k] = array_box_part(&l->walk, &box, l->world->rank, l->world->ranks);
    l->done += array_box_shape(l->side->spec.ndims, &box, NULL);
    const tutti_slice slice = array_box_slice(l->side, &l->part[k]);
    if (tutti_array_read_start(l->side->array, &slice, NULL, l->buffer[k], &l->request[k]) ==
        TUTTI_OK)
        return 1;
    cli_error_tutti();
    return -1;
}

static int read_moments(looker *l) {
    int more = start_read(l, 0), failed = more < 0;
    for (int k = 0; more > 0 && !failed; k = !k) {
        const int next = start_read(l, !k);
        failed = tutti_request_wait(&l->request[k], NULL) != TUTTI_OK && cli_error_tutti();
        if (!failed) {
            const array_side *s = l->side;
            const array_box *part = &l->part[k];
            const char *elements = l->buffer[k];
            block *b = l->block;
            array_moments *m = &l->moments;
            const tutti_count n = array_box_shape(s->spec.ndims, part, NULL);
            for (tutti_count i = 0; i < n; i += BLOCK) {
                look_at_block(s->spec.type, elements + i * s->spec.element_size,
                              n - i < BLOCK ? n - i : BLOCK, b);
                find_index(s, part, i + b->least, b->moments.min.at);
                find_index(s, part, i + b->largest, b->moments.max.at);
                join_moments(m, &b->moments);
            }
        }
        failed |= next < 0;
        progress_work(&l->progress, "looking at elements", l->done, l->side->count);
        more = next;
    }
    for (int k = 0; k < 2; k++)
        if (l->request[k] && tutti_request_wait(&l->request[k], NULL) != TUTTI_OK) failed = 1;
    return cli_agree(l->world, failed);
}

int array_moments_find(const cli_world *w, const array_config *c, const array_side *s,
                       array_moments *out) {
    looker l = {.world = w, .side = s, .block = cli_malloc(sizeof *l.block)};
    const tutti_off size = s->spec.element_size;
    const int fast = s->spec.order == TUTTI_ROW_MAJOR ? s->spec.ndims - 1 : 0;
    const tutti_count most = c->budget / size / 2;
    const tutti_count n = array_walk_share(&l.walk, s, fast, w->ranks, most > 0 ? most : 1);
    for (int k = 0; k < 2; k++) l.buffer[k] = cli_malloc((size_t)(n * size));
    progress_start(&l.progress, w, 0);
    const int failed = read_moments(&l);
    progress_end(&l.progress);
    if (!failed) {
        /* All ranks combine the results in rank order, so that all get identical values. */
        array_moments *m = &l.moments;
        array_moments *all = cli_malloc((size_t)w->ranks * sizeof *all);
        MPI_Allgather(m, (int)sizeof *m, MPI_BYTE, all, (int)sizeof *m, MPI_BYTE, w->comm);
        *m = all[0];
        for (int r = 1; r < w->ranks; r++) join_moments(m, &all[r]);
        free(all);
    }
    *out = l.moments;
    for (int k = 0; k < 2; k++) free(l.buffer[k]);
    free(l.block);
    return failed;
}

/* ---- the command */

static void format_value(tutti_type type, const char *json, long double value, char *out,
                         size_t size) {
    if (json && !isfinite(value))
        snprintf(out, size, "%s", json);
    else if (array_type_is_integer(type))
        snprintf(out, size, "%.0Lf", value);
    else
        snprintf(out, size, "%.*Lg", json ? 17 : 10, value);
}

static void print_extreme(const array_config *c, const array_side *s, const char *name,
                          const array_extreme *e) {
    char value[64];
    format_value(s->spec.type, NULL, e->value, value, sizeof value);
    printf("  %-9s %s at (", name, value);
    for (int d = 0; d < s->spec.ndims; d++)
        printf("%s%lld", d ? ", " : "", (long long)e->at[d] + c->fortran);
    printf("%s)\n", s->spec.ndims == 1 ? "," : "");
}

static long double standard_deviation(const array_moments *m) {
    return sqrtl(fmaxl(m->squares[0] + m->squares[1], 0) / (long double)m->finite);
}

static void print_stat(const array_config *c, const array_side *s, const array_moments *m) {
    const int is_complex = array_type_is_complex(s->spec.type);
    printf("%s%s%s\n", c->path, c->section ? " " : "", c->section ? c->section : "");
    printf("  elements  %lld\n", (long long)m->numbers + m->nans);
    printf("  NaN       %lld\n", (long long)m->nans);
    printf("  infinite  %lld\n", (long long)m->numbers - m->finite);
    if (m->numbers > 0) {
        print_extreme(c, s, is_complex ? "min |z|" : "min", &m->min);
        print_extreme(c, s, is_complex ? "max |z|" : "max", &m->max);
    }
    if (m->finite == 0) return;
    printf("  mean      %.10Lg", m->mean[0]);
    printf(is_complex ? "%+.10Lgj\n" : "\n", m->mean[1]);
    printf("  std       %.10Lg\n", standard_deviation(m));
}

static void json_extreme(const array_side *s, const char *name, const array_extreme *e, int there) {
    char value[64];
    format_value(s->spec.type, "null", there ? e->value : NAN, value, sizeof value);
    printf(", \"%s\": %s", name, there ? value : "null");
    if (!there) return;
    printf(", \"%s_at\": [", name);
    for (int d = 0; d < s->spec.ndims; d++) printf("%s%lld", d ? ", " : "", (long long)e->at[d]);
    printf("]");
}

static int look_at_array(const cli_world *w, const array_config *c, array_side *s) {
    array_moments m;
    if (!array_side_is_global(s, c->path) || array_side_select(s, c)) return 1;
    if (s->spec.type == TUTTI_BYTES)
        return cli_error("cannot compute statistics of element type bytes: it must be numeric");
    if (array_moments_find(w, c, s, &m)) return 1;
    if (w->rank == 0 && c->json) {
        char mean[2][64], std[64];
        const int is_complex = array_type_is_complex(s->spec.type);
        for (int p = 0; p < 2; p++)
            format_value(TUTTI_FLOAT64, "null", m.finite ? m.mean[p] : NAN, mean[p],
                         sizeof mean[p]);
        format_value(TUTTI_FLOAT64, "null", m.finite ? standard_deviation(&m) : NAN, std,
                     sizeof std);
        printf("{\"elements\": %lld, \"nan\": %lld, \"infinite\": %lld",
               (long long)m.numbers + m.nans, (long long)m.nans, (long long)m.numbers - m.finite);
        json_extreme(s, "min", &m.min, m.numbers > 0);
        json_extreme(s, "max", &m.max, m.numbers > 0);
        if (is_complex)
            printf(", \"mean\": [%s, %s], \"std\": %s}\n", mean[0], mean[1], std);
        else
            printf(", \"mean\": %s, \"std\": %s}\n", mean[0], std);
    }
    if (w->rank == 0 && !c->json) print_stat(c, s, &m);
    return 0;
}

int array_stat(const cli_world *w, const void *config) {
    const array_config *c = config;
    array_side s = {.array = NULL};
    if (array_side_open(w, c, TUTTI_READ, &s)) return 1;
    return array_side_close(&s, look_at_array(w, c, &s));
}
