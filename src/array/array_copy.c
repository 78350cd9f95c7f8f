/* array: partitions, and copies between arrays of any placement and order.
 *
 * A copy transfers pieces: boxes that fit into the budget of a rank, read from one array and
 * written to the other.  In global placement the pieces of the array are assigned to ranks
 * round-robin; in local placement each rank copies its own part.  If the orders differ, the
 * contiguous runs of a box have about the same length in both arrays.  A copy between two local
 * placements with different distributions uses a temporary array in global placement.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- partitions */

tutti_count tutti_array_partitions(const tutti_array *a, int ranks, tutti_off budget) {
    tutti_off capacity;
    if (!a || !tutti__handle_alive(&a->handle, &tutti__array_class) || ranks < 1 || budget < 1)
        return 0;
    const tutti_count n = a->spec.shape[tutti__spec_dim(&a->spec, 0)];
    tutti_off each = a->spec.element_size;
    for (int k = 1; k < a->spec.ndims; k++) each *= a->spec.shape[tutti__spec_dim(&a->spec, k)];
    if (!tutti__mul_ok(ranks, budget, &capacity)) capacity = INT64_MAX;
    if (n == 0 || each == 0) return 1;
    const tutti_count most = tutti__min(capacity / each, n);
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

/* The pieces into which an array (or the part of this rank) is divided. */
typedef struct {
    int ndims;
    tutti_order order; /* order of the piece numbers */
    tutti_count shape[TUTTI_MAX_DIMS], box[TUTTI_MAX_DIMS];
    tutti_count n;
} piece_grid;

/* Return the length of the contiguous runs of a box in `order`.  *grow_out: the dimension that ends
 * the runs; -1: none. */
static tutti_off contiguous_length(const piece_grid *b, tutti_order order, int *grow_out) {
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

/* Return piece number i; empty if it does not exist. */
static tutti_slice piece_slice(const piece_grid *b, tutti_count i) {
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
    piece_grid b;
    tutti_count first, step, turns; /* pieces of this rank: number of the first, distance, count */
    char *buf;
    tutti_off done, total; /* bytes that this rank has copied, and will copy */
    tutti_progress_fn *progress;
    void *context;
} copy_state;

static tutti_err check_copy_arguments(const tutti_array *from, const tutti_array *to,
                                      tutti_off budget) {
    TUTTI_TRY(tutti__array_live(from));
    TUTTI_TRY(tutti__array_live(to));
    TUTTI_TRY(tutti__array_usable(from, 0));
    TUTTI_TRY(tutti__array_usable(to, 1));
    TUTTI_CHECK(from != to, TUTTI_ERR_ARG, "an array cannot be copied into itself");
    TUTTI_CHECK(
        from->spec.type == to->spec.type && from->spec.element_size == to->spec.element_size,
        TUTTI_ERR_ARG,
        "source has elements of type %s (%lld bytes), target %s (%lld bytes): must be equal",
        tutti_type_name(from->spec.type), (long long)from->spec.element_size,
        tutti_type_name(to->spec.type), (long long)to->spec.element_size);
    TUTTI_CHECK(from->spec.ndims == to->spec.ndims, TUTTI_ERR_ARG,
                "source has %d dimensions, target %d: must be equal", from->spec.ndims,
                to->spec.ndims);
    for (int d = 0; d < to->spec.ndims; d++)
        TUTTI_CHECK(from->spec.shape[d] == to->spec.shape[d], TUTTI_ERR_ARG,
                    "dimension %d: source has %lld elements, target %lld: must be equal", d,
                    (long long)from->spec.shape[d], (long long)to->spec.shape[d]);
    TUTTI_CHECK(budget >= from->spec.element_size, TUTTI_ERR_ARG,
                "budget is %lld bytes: must hold one element (%lld bytes)", (long long)budget,
                (long long)from->spec.element_size);
    return tutti__array_pair_check(from, to);
}

static tutti_err transfer_piece(copy_state *c, const tutti_slice *s, int is_write) {
    tutti_array *a = is_write ? c->to : c->from;
    const tutti_array *other = is_write ? c->from : c->to;
    tutti_access *access = NULL;
    tutti_section m = {.order = c->from->spec.order};
    (void)tutti_slice_count(c->b.ndims, s, m.shape);
    memcpy(m.hi, m.shape, sizeof m.hi);
    /* If only the other array is distributed, the indices of the piece refer to its part. */
    const tutti__array_part part = {
        .d = other->dist, .rank = tutti__array_team(other)->rank, .from = s->lo, .to = s->hi};
    tutti_err err = a->dist || !other->dist ? tutti__slice_access(&a->local, s, &m, &access)
                    : tutti_slice_count(a->spec.ndims, s, NULL) == 0
                        ? tutti_access_contiguous(0, 0, &access)
                        : tutti__part_access(&a->spec, &part, &m, &access);
    err = tutti__array_transfer(a, access, c->buf, is_write, err, 0);
    tutti_access_free(&access);
    return err;
}

static tutti_err copy_all_pieces(copy_state *c) {
    for (tutti_count i = 0; i < c->turns; i++) {
        const tutti_slice s = piece_slice(&c->b, c->first + i * c->step);
        if (c->progress) c->progress(c->context, c->done, c->total, "copy");
        TUTTI_TRY(transfer_piece(c, &s, 0));
        TUTTI_TRY(transfer_piece(c, &s, 1));
        c->done += tutti_slice_count(c->b.ndims, &s, NULL) * c->from->spec.element_size;
    }
    if (c->progress) c->progress(c->context, c->done, c->total, "copy");
    return TUTTI_OK;
}

static tutti_err copy_directly(tutti_array *from, tutti_array *to, tutti_off budget,
                               tutti_progress_fn *progress, void *context) {
    copy_state c = {.from = from, .to = to, .progress = progress, .context = context};
    /* `own`: the array whose local elements are copied */
    const tutti_array *own = c.from->dist ? c.from : c.to;
    const tutti__team *t = tutti__array_team(c.from);
    c.b.ndims = own->local.ndims;
    memcpy(c.b.shape, own->local.shape, sizeof c.b.shape);
    /* Extend the box in the order in which its runs are shorter, as long as it fits into the
     * budget. */
    tutti_count all = 1;
    for (int d = 0; d < c.b.ndims; d++) c.b.box[d] = tutti__min(c.b.shape[d], 1);
    for (;;) {
        int d, other;
        const tutti_off first = contiguous_length(&c.b, c.from->spec.order, &d),
                        second = contiguous_length(&c.b, c.to->spec.order, &other);
        if (second < first) d = other;
        if (d < 0) break;
        const tutti_count rest = all / c.b.box[d];
        const tutti_count now = tutti__min(tutti__min(2 * c.b.box[d], c.b.shape[d]),
                                           (budget / own->spec.element_size) / rest);
        if (now <= c.b.box[d]) break;
        all = rest * now;
        c.b.box[d] = now;
    }
    c.b.n = 1;
    c.b.order = c.from->spec.order;
    for (int d = 0; d < c.b.ndims; d++)
        c.b.n *= c.b.shape[d] ? (c.b.shape[d] - 1) / c.b.box[d] + 1 : 0;
    c.first = own->dist ? 0 : t->rank;
    c.step = own->dist ? 1 : t->size;
    c.turns = c.b.n / c.step + (c.b.n % c.step != 0);
    c.buf = tutti__malloc((size_t)tutti__min(budget, own->bytes));
    tutti_err err = tutti__array_max(from, (c.buf ? TUTTI_OK : TUTTI_ERR_NOMEM), &c.turns);
    for (tutti_count i = 0; err == TUTTI_OK && i < c.turns; i++) {
        const tutti_slice s = piece_slice(&c.b, c.first + i * c.step);
        c.total += tutti_slice_count(c.b.ndims, &s, NULL) * from->spec.element_size;
    }
    if (err == TUTTI_OK) err = copy_all_pieces(&c);
    tutti__free(c.buf);
    return err;
}

/* ---- from one distribution to another */

/* Create an array under an unused name.   Collective. */
static tutti_err create_temporary(tutti_array *to, tutti_array **out) {
    enum { TRIES = 1000 };
    const tutti_error_info before = *tutti_last_error();
    tutti_err err = TUTTI_ERR_EXISTS;
    for (int i = 0; i < TRIES && err == TUTTI_ERR_EXISTS; i++) {
        const size_t size = strlen(tutti__file_path(to->head)) + 20;
        char *path = tutti__malloc(size);
        if (path && i == 0) snprintf(path, size, "%s.copy", tutti__file_path(to->head));
        if (path && i > 0) snprintf(path, size, "%s.copy.%d", tutti__file_path(to->head), i);
        err = tutti__array_vote(to, path ? TUTTI_OK : TUTTI_ERR_NOMEM);
        if (err == TUTTI_OK)
            err = tutti__array_create(tutti__file_team(to->head)->comm, path, TUTTI_EXCLUSIVE,
                                      &to->spec, tutti__file_options(to->head), out);
        tutti__free(path);
    }
    if (err == TUTTI_OK) tutti__error_assign(&before); /* existing names are not an error */
    return err;
}

static tutti_err copy_by_temporary(tutti_array *from, tutti_array *to, tutti_off budget,
                                   tutti_progress_fn *progress, void *context) {
    tutti_array *temporary = NULL;
    TUTTI_TRY(create_temporary(to, &temporary));
    tutti_err err = copy_directly(from, temporary, budget, progress, context);
    if (err == TUTTI_OK) err = copy_directly(temporary, to, budget, progress, context);
    /* The file is deleted while the array is open, since the path is stored in an open array. */
    tutti_file *f = temporary->file;
    err = TUTTI_ALSO(err, tutti__array_error(f, "copy", tutti__file_delete_on_root(f)));
    return TUTTI_ALSO(err, tutti_array_close(&temporary));
}

tutti_err tutti_array_copy(tutti_array *from, tutti_array *to, tutti_off budget,
                           tutti_progress_fn *progress, void *context) {
    TUTTI_KEEP_ERRNO;
    /* All ranks use the smallest budget, so that all divide the array into the same pieces. */
    const tutti_err local_err = check_copy_arguments(from, to, budget);
    tutti__range least = tutti__range_of(budget);
    tutti__call call = {
        .name = "copy", .what = "the array to copy into", .ranges = 1, .range = &least};
    if (local_err == TUTTI_OK) call.hash = tutti__array_hash(TUTTI__HASH_START, to);
    TUTTI_TRY(tutti__arrays_call(from, to, &call, local_err));
    budget = least.min;
    TUTTI_ASSERT(from && to);
    tutti__prefetch_drop(to);
    const tutti_err err = from->dist && to->dist && !tutti__distribution_equal(from->dist, to->dist)
                              ? copy_by_temporary(from, to, budget, progress, context)
                              : copy_directly(from, to, budget, progress, context);
    return tutti__array_named(to, "copy", err);
}
