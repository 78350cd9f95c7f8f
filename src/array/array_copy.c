/* array: partitions, and copies between arrays of any placement and order.
 *
 * A copy goes piece by piece: a rank's piece is a box that fits into its budget, read from one
 * array and written to the other.  In global placement all pieces of the array are dealt out to the
 * ranks in turn; in local placement each rank has those of its own part, wherever they are in the
 * other array.  Where the orders differ a box is about as long in one array's order as in the
 * other's.  From local to local placement by another distribution the way is through a file for
 * all.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- partitions */

static tutti_off bytes_per_index(const tutti_array *a) {
    tutti_off bytes = a->spec.element_size;
    for (int k = 1; k < a->spec.ndims; k++) bytes *= a->spec.shape[tutti__spec_dim(&a->spec, k)];
    return bytes;
}

tutti_count tutti_array_partitions(const tutti_array *a, int ranks, tutti_off budget) {
    tutti_off room;
    if (!a || !tutti__handle_alive(&a->handle, &tutti__array_class) || ranks < 1 || budget < 1)
        return 0;
    const tutti_count n = a->spec.shape[tutti__spec_dim(&a->spec, 0)];
    const tutti_off each = bytes_per_index(a);
    if (!tutti__mul_ok(ranks, budget, &room)) room = INT64_MAX;
    if (n == 0 || each == 0) return 1;
    const tutti_count most = tutti__min(room / each, n);
    return most == 0 ? 0 : n / most + (n % most != 0);
}

tutti_slice tutti_array_partition(const tutti_array *a, tutti_count n, tutti_count k) {
    tutti_slice s;
    memset(&s, 0, sizeof s);
    if (!a || !tutti__handle_alive(&a->handle, &tutti__array_class)) return s;
    const int d = tutti__spec_dim(&a->spec, 0);
    s = tutti_slice_all(a->spec.ndims, a->spec.shape);
    const tutti_count all = a->spec.shape[d], each = n > 0 ? all / n : 0,
                      more = n > 0 ? all % n : 0;
    if (n < 1 || k < 0 || k >= n) {
        s.hi[d] = 0;
        return s;
    }
    s.lo[d] = k * each + tutti__min(k, more);
    s.hi[d] = s.lo[d] + each + (k < more);
    return s;
}

/* ---- boxes */

/* The pieces of an array, or of a part of it. */
typedef struct {
    int ndims;
    tutti_order order; /* in which they are numbered */
    tutti_count shape[TUTTI_MAX_DIMS], box[TUTTI_MAX_DIMS];
    tutti_count n;
} boxes;

/* Length of a box that is contiguous in `order`; *grow_out: the dimension that ends it, -1:
 * none. */
static tutti_off run_of(const boxes *b, tutti_order order, int *grow_out) {
    tutti_off run = 1;
    *grow_out = -1;
    for (int k = 0; k < b->ndims; k++) {
        const int d = order == TUTTI_ROW_MAJOR ? b->ndims - 1 - k : k;
        run *= b->box[d];
        if (b->box[d] == b->shape[d]) continue;
        *grow_out = d;
        break;
    }
    return run;
}

/* Grow the box along the order in which it is shorter, as long as it has at most `most`
 * elements. */
static void boxes_cut(boxes *b, tutti_order from, tutti_order to, tutti_count most) {
    tutti_count all = 1;
    for (int d = 0; d < b->ndims; d++) b->box[d] = tutti__min(b->shape[d], 1);
    for (;;) {
        int d, other;
        const tutti_off first = run_of(b, from, &d), second = run_of(b, to, &other);
        if (second < first) d = other;
        if (d < 0) break;
        const tutti_count rest = all / b->box[d];
        const tutti_count now = tutti__min(tutti__min(2 * b->box[d], b->shape[d]), most / rest);
        if (now <= b->box[d]) break;
        all = rest * now;
        b->box[d] = now;
    }
    b->n = 1;
    b->order = from;
    for (int d = 0; d < b->ndims; d++) b->n *= b->shape[d] ? (b->shape[d] - 1) / b->box[d] + 1 : 0;
}

/* Box number i; an empty one if there is none. */
static tutti_slice boxes_get(const boxes *b, tutti_count i) {
    tutti_slice s = tutti_slice_all(b->ndims, b->shape);
    const int none = i >= b->n;
    for (int k = 0; k < b->ndims; k++) {
        const int d = b->order == TUTTI_ROW_MAJOR ? b->ndims - 1 - k : k;
        if (none) {
            s.hi[d] = 0;
            continue;
        }
        const tutti_count along = (b->shape[d] - 1) / b->box[d] + 1;
        s.lo[d] = i % along * b->box[d];
        s.hi[d] = tutti__min(s.lo[d] + b->box[d], b->shape[d]);
        i /= along;
    }
    return s;
}

/* ---- copy */

typedef struct {
    tutti_array *from, *to;
    boxes b;
    tutti_count first, step, turns; /* this rank's pieces */
    char *buf;
    tutti_off done, total; /* bytes of this rank */
    tutti_progress_fn *progress;
    void *context;
} copier;

static tutti_err copy_check(const tutti_array *from, const tutti_array *to, tutti_off budget) {
    TUTTI_TRY(tutti__array_live(from));
    TUTTI_TRY(tutti__array_live(to));
    TUTTI_TRY(tutti__array_usable(from, 0));
    TUTTI_TRY(tutti__array_usable(to, 1));
    TUTTI_CHECK(from != to, TUTTI_ERR_ARG, "an array cannot be copied into itself");
    TUTTI_CHECK(from->spec.type == to->spec.type &&
                    from->spec.element_size == to->spec.element_size,
                TUTTI_ERR_ARG, "elements of different types");
    TUTTI_CHECK(from->spec.ndims == to->spec.ndims &&
                    memcmp(from->spec.shape, to->spec.shape, sizeof from->spec.shape) == 0,
                TUTTI_ERR_ARG, "arrays of different shapes");
    TUTTI_CHECK(budget >= from->spec.element_size, TUTTI_ERR_ARG,
                "a budget of %lld bytes for elements of %lld", (long long)budget,
                (long long)from->spec.element_size);
    return tutti__array_pair_check(from, to);
}

/* May all begin, with the same arrays?  Pieces are cut by the least budget: everybody cuts
 * alike. */
static tutti_err copy_agree(tutti_array *from, tutti_array *to, tutti_err mine, tutti_off *budget) {
    tutti__range least = tutti__range_of(*budget);
    tutti__call same = {
        .name = "copy", .what = "the array to copy into", .ranges = 1, .range = &least};
    if (mine == TUTTI_OK) same.hash = tutti__array_hash(TUTTI__HASH_START, to);
    TUTTI_TRY(tutti__arrays_call(from, to, &same, mine));
    *budget = least.min;
    return TUTTI_OK;
}

static tutti_err copier_make(copier *c, tutti_off budget) {
    const tutti_array *own = c->from->dist ? c->from : c->to;
    const tutti__team *t = tutti__array_team(c->from);
    c->b.ndims = own->mine.ndims;
    memcpy(c->b.shape, own->mine.shape, sizeof c->b.shape);
    boxes_cut(&c->b, c->from->spec.order, c->to->spec.order, budget / own->spec.element_size);
    c->first = own->dist ? 0 : t->rank;
    c->step = own->dist ? 1 : t->size;
    c->turns = c->b.n / c->step + (c->b.n % c->step != 0);
    c->buf = tutti__malloc((size_t)tutti__min(budget, own->bytes));
    return c->buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* A piece in one of the arrays.  `own`: it counts in the other one's part, which is stored
 * elsewhere. */
static tutti_err piece_access(const tutti_array *a, const tutti_array *other, const tutti_slice *s,
                              const tutti_section *memory, tutti_access **out) {
    if (a->dist || !other->dist) return tutti__slice_access(&a->mine, s, memory, out);
    const tutti__array_part part = {
        .d = other->dist, .rank = tutti__array_team(other)->rank, .from = s->lo, .to = s->hi};
    if (tutti_slice_count(a->spec.ndims, s, NULL) == 0) return tutti_access_contiguous(0, 0, out);
    return tutti__part_access(&a->spec, &part, memory, out);
}

static tutti_err piece_move(copier *c, const tutti_slice *s, int is_write) {
    tutti_array *a = is_write ? c->to : c->from;
    const tutti_array *other = is_write ? c->from : c->to;
    tutti_access *access = NULL;
    tutti_section m = {.order = c->from->spec.order};
    (void)tutti_slice_count(c->b.ndims, s, m.shape);
    memcpy(m.hi, m.shape, sizeof m.hi);
    tutti_err err = piece_access(a, other, s, &m, &access);
    err = tutti__array_transfer(a, access, c->buf, is_write, err, 0);
    tutti_access_free(&access);
    return err;
}

static tutti_err copy_pieces(copier *c) {
    for (tutti_count i = 0; i < c->turns; i++) {
        const tutti_slice s = boxes_get(&c->b, c->first + i * c->step);
        if (c->progress) c->progress(c->context, c->done, c->total, "copy");
        TUTTI_TRY(piece_move(c, &s, 0));
        TUTTI_TRY(piece_move(c, &s, 1));
        c->done += tutti_slice_count(c->b.ndims, &s, NULL) * c->from->spec.element_size;
    }
    if (c->progress) c->progress(c->context, c->done, c->total, "copy");
    return TUTTI_OK;
}

static tutti_err copy_straight(tutti_array *from, tutti_array *to, tutti_off budget,
                               tutti_progress_fn *progress, void *context) {
    copier c = {.from = from, .to = to, .progress = progress, .context = context};
    /* as many turns as the rank with the most has */
    tutti_err err = tutti__array_max(from, copier_make(&c, budget), &c.turns);
    for (tutti_count i = 0; err == TUTTI_OK && i < c.turns; i++) {
        const tutti_slice s = boxes_get(&c.b, c.first + i * c.step);
        c.total += tutti_slice_count(c.b.ndims, &s, NULL) * from->spec.element_size;
    }
    if (err == TUTTI_OK) err = copy_pieces(&c);
    tutti__free(c.buf);
    return err;
}

/* ---- from one distribution to another */

/* Path number i of a file in between; free it. */
static char *between_path(const tutti_array *to, int i) {
    const size_t room = strlen(tutti__file_path(to->head)) + 20;
    char *p = tutti__malloc(room);
    if (p && i == 0) snprintf(p, room, "%s.copy", tutti__file_path(to->head));
    if (p && i > 0) snprintf(p, room, "%s.copy.%d", tutti__file_path(to->head), i);
    return p;
}

/* A new one, by a name that no file has.  Collective. */
static tutti_err between_make(tutti_array *to, tutti_array **out) {
    enum { TRIES = 1000 };
    const tutti_error_info before = *tutti_last_error();
    tutti_err err = TUTTI_ERR_EXISTS;
    for (int i = 0; i < TRIES && err == TUTTI_ERR_EXISTS; i++) {
        char *path = between_path(to, i);
        err = tutti__array_vote(to, path ? TUTTI_OK : TUTTI_ERR_NOMEM);
        if (err == TUTTI_OK)
            err = tutti__array_create(tutti__file_team(to->head)->comm, path, TUTTI_EXCLUSIVE,
                                      &to->spec, tutti__file_options(to->head), out);
        tutti__free(path);
    }
    if (err == TUTTI_OK) tutti__error_assign(&before); /* names that were taken are no error */
    return err;
}

/* Its name goes first, since only an open array knows it. */
static tutti_err between_end(tutti_array **between) {
    tutti_file *f = (*between)->file;
    const tutti_err gone = tutti__array_named(f, "copy", tutti__root_deletes(f));
    return TUTTI_ALSO(gone, tutti_array_close(between));
}

static tutti_err copy_through(tutti_array *from, tutti_array *to, tutti_off budget,
                              tutti_progress_fn *progress, void *context) {
    tutti_array *between = NULL;
    TUTTI_TRY(between_make(to, &between));
    tutti_err err = copy_straight(from, between, budget, progress, context);
    if (err == TUTTI_OK) err = copy_straight(between, to, budget, progress, context);
    return TUTTI_ALSO(err, between_end(&between));
}

tutti_err tutti_array_copy(tutti_array *from, tutti_array *to, tutti_off budget,
                           tutti_progress_fn *progress, void *context) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(copy_agree(from, to, copy_check(from, to, budget), &budget));
    TUTTI_ASSERT(from && to);
    tutti__ahead_drop(to);
    const tutti_err err = from->dist && to->dist && !tutti__distribution_equal(from->dist, to->dist)
                              ? copy_through(from, to, budget, progress, context)
                              : copy_straight(from, to, budget, progress, context);
    return tutti__object_error(&to->object, "copy", err);
}
