/* exodus_mesh: entries of blocks by their positions.
 *
 * The start of the list of an nsided or nfaced entry is the sum of all earlier counts: every rank
 * reads and sums the counts of its slice, and answers the requests of other ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/distribute.h"
#include "exodus_mesh/position_index.h"

tutti_count *tutti__starts_of(const tutti__exodus_model *m, tutti_exodus_kind kind) {
    const tutti__exodus_table *table = &m->of[kind];
    tutti_count *v = tutti__calloc((size_t)table->n + 1, sizeof *v);
    for (tutti_count c = 0; c < table->n && v; c++) v[c + 1] = v[c] + table->row[c].entries;
    return v;
}

/* ---- lists */

/* Start and length of the list of an entry within its block. */
typedef struct {
    tutti_count at, n;
} extent;

/* The entries of blocks with lists, one block after the other. */
typedef struct {
    tutti_count blocks;
    tutti_count *start; /* [blocks + 1] number of entries in the preceding blocks with lists */
    tutti_count first, n;
    extent *own; /* [n] lists of the entries in this rank's slice */
    tutti__share_values values;
} lists;

static tutti_err lists_make(tutti_exodus *x, tutti_exodus_kind kind, lists *l) {
    const tutti__exodus_table *table = &x->model.of[kind];
    l->blocks = table->n;
    l->start = tutti__calloc((size_t)table->n + 1, sizeof *l->start);
    if (!l->start) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0; c < table->n; c++)
        l->start[c + 1] =
            l->start[c] +
            (tutti__shape_list_of(table->row[c].topology) ? table->row[c].entries : 0);
    l->first = tutti_size_share(l->start[table->n], x->team->size, x->team->rank);
    l->n = tutti_size_share(l->start[table->n], x->team->size, x->team->rank + 1) - l->first;
    l->own = tutti__calloc((size_t)l->n + 1, sizeof *l->own);
    return l->own ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Get the part of block c in this rank's slice, entries [*lo, *hi) of the block. */
static void slice_of(const lists *l, tutti_count c, tutti_count *lo, tutti_count *hi) {
    *lo = tutti__max(l->start[c], l->first) - l->start[c];
    *hi = tutti__min(l->start[c + 1], l->first + l->n) - l->start[c];
}

/* Check that the nodes, faces or counts of a block are integers. */
static tutti_err integers_check(const tutti__exodus_place *at, tutti_exodus_kind kind, int64_t id) {
    TUTTI_CHECK(at->type != TUTTI_FLOAT32 && at->type != TUTTI_FLOAT64, TUTTI_ERR_FORMAT,
                "%s %lld: the connectivity has a floating-point type: must be an integer type",
                tutti_exodus_kind_name((int)kind), (long long)id);
    return TUTTI_OK;
}

static tutti_err counts_read(tutti_exodus *x, tutti_exodus_kind kind, lists *l) {
    const tutti__exodus_table *table = &x->model.of[kind];
    tutti__values b = {.n = 0};
    tutti_err local_err = TUTTI_OK;
    tutti_count lo, hi, index = 0;
    tutti__exodus_place at;
    for (tutti_count c = 0; c < l->blocks && local_err == TUTTI_OK; c++) {
        slice_of(l, c, &lo, &hi);
        if (lo >= hi) continue;
        const tutti_exodus_array a = {
            .array_kind = TUTTI_EXODUS_COUNTS, .kind = kind, .id = table->row[c].id};
        local_err = tutti__exodus_place_of(x, &a, &at);
        if (local_err == TUTTI_OK) local_err = integers_check(&at, kind, table->row[c].id);
        if (local_err == TUTTI_OK)
            local_err = tutti__values_add(&b, &at, lo, hi - lo, &index, NULL);
        for (tutti_count i = lo; i < hi && local_err == TUTTI_OK; i++)
            l->own[l->start[c] + i - l->first] = (extent){(tutti_count)at.type, index + i - lo};
    }
    tutti_err err = tutti__values_move(x, &b, 0, 0, NULL, local_err);
    for (tutti_count i = 0; i < l->n && err == TUTTI_OK; i++)
        l->own[i].n = tutti__values_ints(&b, (tutti_type)l->own[i].at)[l->own[i].n];
    tutti__values_free(&b);
    return err;
}

/* Convert counts to offsets, block by block. */
static tutti_err counts_sum(tutti_exodus *x, tutti_exodus_kind kind, lists *l) {
    const tutti__exodus_table *table = &x->model.of[kind];
    int64_t *sum = tutti__calloc(2 * (size_t)l->blocks + 1, sizeof *sum), *before = sum + l->blocks;
    tutti_err err = tutti__team_agree(x->team, sum ? TUTTI_OK : TUTTI_ERR_NOMEM);
    tutti_count lo, hi;
    if (err != TUTTI_OK) {
        tutti__free(sum);
        return err;
    }
    TUTTI_ASSERT(sum);
    for (tutti_count c = 0; c < l->blocks; c++)
        for (slice_of(l, c, &lo, &hi); lo < hi; lo++) {
            const tutti_count n = l->own[l->start[c] + lo - l->first].n;
            if (n < 0 || n > table->row[c].list_length - sum[c])
                err = tutti__error_set(
                    TUTTI_ERR_FORMAT, 0, -1,
                    "%s %lld: entry %lld has %lld nodes (faces), but %lld remain in the list",
                    tutti_exodus_kind_name((int)kind), (long long)table->row[c].id, (long long)lo,
                    (long long)n, (long long)(table->row[c].list_length - sum[c]));
            else
                sum[c] += n;
        }
    err = tutti__checksums_before(x->team, err, l->blocks, sum, before);
    for (tutti_count c = 0; c < l->blocks && err == TUTTI_OK; c++) {
        if (l->start[c + 1] > l->start[c] && sum[c] != table->row[c].list_length)
            err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, -1,
                "%s %lld: the sum of entry counts is %lld, but the list has %lld nodes (faces)",
                tutti_exodus_kind_name((int)kind), (long long)table->row[c].id, (long long)sum[c],
                (long long)table->row[c].list_length);
        for (slice_of(l, c, &lo, &hi); lo < hi; lo++) {
            extent *e = &l->own[l->start[c] + lo - l->first];
            e->at = before[c];
            before[c] += e->n;
        }
    }
    tutti__free(sum);
    return err;
}

/* Request start and length of the lists of the entries of this rank; `l` must exist on all ranks.
 * Collective. */
static tutti_err lists_ask(tutti_exodus *x, tutti_exodus_kind kind, const tutti_count *starts,
                           const tutti__entries *e, lists *l) {
    tutti_count *number = NULL, n = 0;
    TUTTI_TRY(counts_read(x, kind, l));
    TUTTI_TRY(counts_sum(x, kind, l));
    number = tutti__malloc((size_t)(e->n + 1) * sizeof *number);
    TUTTI_ASSERT(starts);
    for (tutti_count i = 0; i < e->n && number; i++) {
        const tutti_count c = tutti__interval_of(starts, l->blocks, e->position[i]);
        if (l->start[c + 1] > l->start[c]) number[n++] = l->start[c] + e->position[i] - starts[c];
    }
    const tutti__share_request q = {.all = l->start[l->blocks],
                                    .item = sizeof *l->own,
                                    .own = l->own,
                                    .n = n,
                                    .number = number};
    const tutti_err err =
        tutti__share_fetch(x->team, number ? TUTTI_OK : TUTTI_ERR_NOMEM, &q, &l->values);
    tutti__free(number);
    return err;
}

/* ---- entries */

/* Entries that are being read. */
typedef struct {
    tutti_exodus *x;
    tutti_exodus_kind kind;
    tutti_count *starts; /* [blocks + 1] number of entries of the preceding blocks */
    lists l;
    tutti__entries e;
    tutti__values b;
    tutti_type *type; /* [blocks] type of the block's values in the file */
    /* [blocks] index of the block's first value among the values of this type */
    tutti_count *index;
} reading;

/* Add the entries of block c, starting with entry *i; consecutive entries are one piece. */
static tutti_err block_add(reading *r, tutti_count c, const tutti__exodus_place *at,
                           tutti_count *i) {
    const tutti_exodus_entity *row = &r->x->model.of[r->kind].row[c];
    const int listed = tutti__shape_list_of(row->topology) != TUTTI__LISTED_NOT;
    const tutti_count nodes = tutti__nodes_of(row), end = r->starts[c + 1];
    tutti__entries *e = &r->e;
    for (int first = 1; *i < e->n && e->position[*i] < end; first = 0) {
        tutti_count n = 1, where = 0;
        extent here = {(e->position[*i] - r->starts[c]) * nodes, nodes};
        if (listed)
            here = *(const extent *)tutti__share_value(
                &r->l.values, r->l.start[c] + e->position[*i] - r->starts[c]);
        if (!listed)
            n = tutti__run_length(e->position, *i, tutti__min(e->n, *i + end - e->position[*i]));
        TUTTI_TRY(tutti__values_add(&r->b, at, here.at, n * here.n, &where, NULL));
        if (first) r->index[c] = where;
        for (; n > 0; n--, ++*i) e->start[*i + 1] = e->start[*i] + here.n;
    }
    return TUTTI_OK;
}

/* Add the entries to read, block by block. */
static tutti_err entries_add(reading *r) {
    const tutti__exodus_table *table = &r->x->model.of[r->kind];
    tutti__entries *e = &r->e;
    r->index = tutti__calloc((size_t)table->n + 1, sizeof *r->index);
    r->type = tutti__calloc((size_t)table->n + 1, sizeof *r->type);
    if (!r->index || !r->type) return TUTTI_ERR_NOMEM;
    for (tutti_count c = 0, i = 0; c < table->n; c++) {
        const tutti_exodus_entity *row = &table->row[c];
        const tutti_exodus_array a = {
            .array_kind = TUTTI_EXODUS_CONNECTIVITY, .kind = r->kind, .id = row->id};
        tutti__exodus_place at;
        if (i == e->n || e->position[i] >= r->starts[c + 1]) continue;
        TUTTI_TRY(tutti__exodus_place_of(r->x, &a, &at));
        TUTTI_TRY(integers_check(&at, r->kind, row->id));
        r->type[c] = at.type;
        TUTTI_TRY(block_add(r, c, &at, &i));
    }
    return TUTTI_OK;
}

/* Convert n numbers of the file, which start at 1, to positions below `most`; `to` may be the same
 * memory as `from`.  Return the index of the first invalid number, or n. */
static tutti_count numbers_to_positions(tutti_count n, const int64_t *from, tutti_count most,
                                        tutti_count *to) {
    enum { WORDS = 8 };
    typedef uint64_t words __attribute__((vector_size(8 * WORDS)));
    tutti_count i = 0, bad = 0;
    words outside = {0}; /* the sign bit is set if a position is negative or not below `most` */
    for (; i + WORDS <= n; i += WORDS) {
        words v;
        memcpy(&v, from + i, sizeof v);
        v -= 1;
        outside |= v | ((uint64_t)most - 1 - v);
        memcpy(to + i, &v, sizeof v);
    }
    for (; i < n; i++) to[i] = (tutti_count)((uint64_t)from[i] - 1);
    for (i = 0; i < WORDS; i++) bad |= outside[i] >> 63;
    for (i = bad ? 0 : n / WORDS * WORDS; i < n; i++)
        if (to[i] < 0 || to[i] >= most) return i;
    return n;
}

static tutti_err entries_take(reading *r) {
    const tutti__exodus_table *table = &r->x->model.of[r->kind];
    const tutti_exodus_parameters *p = &r->x->model.p;
    tutti__entries *e = &r->e;
    /* values of one type are already in this order */
    const int in_place = r->b.n == 1 && r->b.of[0].data;
    e->to =
        in_place ? r->b.of[0].data : tutti__malloc((size_t)(e->start[e->n] + 1) * sizeof *e->to);
    if (!e->to) return TUTTI_ERR_NOMEM;
    if (in_place) r->b.of[0].data = NULL;
    for (tutti_count c = 0, i = 0; c < table->n; c++) {
        const int faced = tutti__shape_list_of(table->row[c].topology) == TUTTI__NFACED;
        const tutti_count most = faced ? p->faces : p->nodes, begin = i;
        if (i == e->n || e->position[i] >= r->starts[c + 1]) continue;
        while (i < e->n && e->position[i] < r->starts[c + 1]) i++;
        const int64_t *from = in_place ? e->to + e->start[begin]
                                       : tutti__values_ints(&r->b, r->type[c]) + r->index[c];
        const tutti_count n = e->start[i] - e->start[begin];
        tutti_count *to = e->to + e->start[begin];
        const tutti_count valid = numbers_to_positions(n, from, most, to);
        const char *what = faced ? "face" : "node";
        TUTTI_CHECK(valid == n, TUTTI_ERR_FORMAT,
                    "%s %lld: an entry refers to %s %lld, but the file has %lld %ss",
                    tutti_exodus_kind_name((int)r->kind), (long long)table->row[c].id, what,
                    (long long)((uint64_t)to[valid] + 1), (long long)most, what);
    }
    return TUTTI_OK;
}

static void reading_free(reading *r) {
    tutti__free(r->starts);
    tutti__free(r->index);
    tutti__free(r->type);
    tutti__free(r->l.start);
    tutti__free(r->l.own);
    tutti__share_values_free(&r->l.values);
    tutti__values_free(&r->b);
    tutti__entries_free(&r->e);
}

tutti_err tutti__entries_read(tutti_exodus *x, tutti_exodus_kind kind, tutti_count n,
                              const tutti_count *position, tutti_err local_err,
                              tutti__entries *out) {
    reading r = {.x = x, .kind = kind};
    int has_lists = 0;
    for (tutti_count c = 0; c < x->model.of[kind].n; c++)
        has_lists |= tutti__shape_list_of(x->model.of[kind].row[c].topology) != 0;
    if (local_err == TUTTI_OK) {
        r.starts = tutti__starts_of(&x->model, kind);
        r.e.n = n;
        r.e.position = tutti__malloc_large((size_t)(n + 1) * sizeof *r.e.position);
        r.e.start = tutti__malloc_large((size_t)(n + 1) * sizeof *r.e.start);
        if (!r.starts || !r.e.position || !r.e.start)
            local_err = TUTTI_ERR_NOMEM;
        else
            r.e.start[0] = 0;
        if (local_err == TUTTI_OK && n > 0)
            memcpy(r.e.position, position, (size_t)n * sizeof *r.e.position);
    }
    if (has_lists) {
        if (local_err == TUTTI_OK) local_err = lists_make(x, kind, &r.l);
        local_err = tutti__team_agree(x->team, local_err);
        if (local_err == TUTTI_OK && r.l.start[r.l.blocks] > 0)
            local_err = lists_ask(x, kind, r.starts, &r.e, &r.l);
        if (local_err != TUTTI_OK) { /* the error is the same on all ranks */
            reading_free(&r);
            return local_err;
        }
    }
    if (local_err == TUTTI_OK) local_err = entries_add(&r);
    local_err = tutti__values_move(x, &r.b, 0, 0, NULL, local_err);
    if (local_err == TUTTI_OK) local_err = entries_take(&r);
    if (local_err == TUTTI_OK) {
        *out = r.e;
        r.e = (tutti__entries){.n = 0};
    }
    reading_free(&r);
    return local_err;
}

/* ---- nodes of entries with faces */

/* Return whether an entry is a list of faces.   starts: see tutti__starts_of, of the element
 * blocks. */
static int is_faced(const tutti__exodus_model *m, const tutti_count *starts, tutti_count p) {
    const tutti__exodus_table *table = &m->of[TUTTI_EXODUS_ELEMENT_BLOCK];
    const tutti_count c = tutti__interval_of(starts, table->n, p);
    return tutti__shape_list_of(table->row[c].topology) == TUTTI__NFACED;
}

/* Get the nodes of the faces of an entry and return their number; if v is NULL, return an upper
 * bound of it. */
static tutti_count entry_nodes(const tutti__entries *e, tutti_count i, const tutti__entries *faces,
                               tutti_count *v) {
    tutti_count n = 0;
    for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) {
        const tutti_count f = tutti__sorted_find(faces->position, faces->n, e->to[k]);
        for (tutti_count q = faces->start[f]; q < faces->start[f + 1]; q++, n++)
            if (v) v[n] = faces->to[q];
    }
    return v ? tutti__sort_unique(v, n) : n;
}

static tutti_err expand_faces(const tutti__exodus_model *m, const tutti_count *starts,
                              const tutti__entries *faces, tutti__entries *e) {
    /* each face may be in two elements, and lists may repeat faces */
    enum { REPEATS = 64, FREE = 1 << 16 };
    tutti_count most = 0, at = 0;
    for (tutti_count i = 0; i < e->n; i++) {
        most += is_faced(m, starts, e->position[i]) ? entry_nodes(e, i, faces, NULL)
                                                    : e->start[i + 1] - e->start[i];
        TUTTI_CHECK(most <= FREE + REPEATS * (e->start[e->n] + faces->start[faces->n]),
                    TUTTI_ERR_FORMAT,
                    "elements repeat their faces: they have at least %lld nodes, but the lists of "
                    "the faces only %lld",
                    (long long)most, (long long)faces->start[faces->n]);
    }
    tutti_count *to = tutti__malloc((size_t)(most + 1) * sizeof *to);
    tutti_count *start = tutti__calloc((size_t)e->n + 1, sizeof *start);
    if (!to || !start) {
        tutti__free(to);
        tutti__free(start);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < e->n; i++) {
        if (is_faced(m, starts, e->position[i]))
            at += entry_nodes(e, i, faces, to + at);
        else
            for (tutti_count k = e->start[i]; k < e->start[i + 1]; k++) to[at++] = e->to[k];
        start[i + 1] = at;
    }
    tutti__free(e->to);
    tutti__free(e->start);
    e->to = to;
    e->start = start;
    return TUTTI_OK;
}

tutti_err tutti__entries_to_nodes(tutti_exodus *x, tutti_err local_err, tutti__entries *e) {
    tutti_count n = 0, *wanted = NULL, *starts = NULL;
    tutti__entries faces = {.n = 0};
    int has_faced = 0;
    for (tutti_count c = 0; c < x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK].n; c++)
        has_faced |= tutti__shape_list_of(
                         x->model.of[TUTTI_EXODUS_ELEMENT_BLOCK].row[c].topology) == TUTTI__NFACED;
    if (!has_faced) return local_err;
    if (local_err == TUTTI_OK) {
        starts = tutti__starts_of(&x->model, TUTTI_EXODUS_ELEMENT_BLOCK);
        wanted = tutti__malloc((size_t)(e->start[e->n] + 1) * sizeof *wanted);
        if (!starts || !wanted) local_err = TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < e->n && local_err == TUTTI_OK; i++)
            for (tutti_count k = e->start[i];
                 k < e->start[i + 1] && is_faced(&x->model, starts, e->position[i]); k++)
                wanted[n++] = e->to[k];
        n = tutti__sort_unique(wanted, n);
    }
    local_err = tutti__entries_read(x, TUTTI_EXODUS_FACE_BLOCK, n, wanted, local_err, &faces);
    if (local_err == TUTTI_OK) local_err = expand_faces(&x->model, starts, &faces, e);
    tutti__entries_free(&faces);
    tutti__free(wanted);
    tutti__free(starts);
    return local_err;
}
