/* access: lists of irregular runs.  The items are read twice.  The first pass merges adjacent
 * items, computes the size of the code and detects regularity: items of equal length that form a
 * nest of loops (detected by an odometer whose digits are determined during the pass) become VECs
 * of a RUN.  The second pass writes the code (the gap from the previous item and the length, both
 * as variable-length integers) and the marks, and computes bounds and grain.  Code from a
 * serialised side is read once, validated completely, and gets marks, bounds and grain.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

/* ---- the items of the caller, with adjacent items merged */

typedef struct {
    tutti_count n, i; /* number of items; index of the next item */
    const tutti_off *offsets, *lengths;
    tutti_off fixed; /* length of all items if `lengths` is NULL */
    int shift;       /* all distances and lengths are multiples of 1 << shift */
} source;

static inline tutti_off given_length(const source *s, tutti_count i) {
    return s->lengths ? s->lengths[i] : s->fixed;
}

static inline int source_next(source *s, tutti_off *offset, tutti_off *length) {
    while (s->i < s->n && given_length(s, s->i) == 0) s->i++;
    if (s->i == s->n) return 0;
    *offset = s->offsets[s->i];
    *length = given_length(s, s->i);
    for (s->i++; s->i < s->n; s->i++) {
        const tutti_off more = given_length(s, s->i);
        if (more && s->offsets[s->i] != *offset + *length) break;
        *length += more;
    }
    return 1;
}

/* ---- the odometer, which detects whether a sequence of offsets is a nest of loops.  The loops
 * (digits) below `levels` have a known number of copies; the number of copies of the next loop
 * still grows. */

#define NEST_LEVELS 16

typedef struct {
    int ok, levels;     /* whether the offsets are a nest so far; number of complete loops */
    tutti_off base, at; /* first offset; start of the current copy of the innermost loop */
    tutti_count top;    /* copies of the growing loop so far */
    tutti_off top_stride;
    tutti_count count[NEST_LEVELS], digit[NEST_LEVELS];
    tutti_off stride[NEST_LEVELS];
} nest;

/* Add an offset at which all complete loops restart: another copy of the growing loop, or a new
 * loop around it. */
static void nest_grow(nest *t, tutti_off offset) {
    if (t->top == 1) {
        t->top_stride = offset - t->at;
    } else if (offset - t->at != t->top_stride) {
        if (t->levels == NEST_LEVELS) {
            t->ok = 0;
            return;
        }
        t->count[t->levels] = t->top;
        t->stride[t->levels] = t->top_stride;
        t->digit[t->levels++] = 0;
        t->top = 1;
        t->top_stride = offset - t->base;
    }
    t->top++;
    t->at = offset;
}

static void nest_feed(nest *t, tutti_off offset) {
    for (int l = 0; l < t->levels; l++) {
        if (++t->digit[l] < t->count[l]) {
            t->ok = offset - t->at == t->stride[l];
            t->at = offset;
            return;
        }
        t->digit[l] = 0;
        t->at -= (t->count[l] - 1) * t->stride[l];
    }
    nest_grow(t, offset);
}

/* ---- first pass */

typedef struct {
    tutti_count n;
    tutti_off first, length; /* offset of the first item; length of all items, 0: lengths differ */
    int monotone;
    size_t gaps, zigzags, lengths; /* code bytes of unsigned gaps, of signed gaps, of lengths */
    nest nest;
} scan;

/* ---- the node */

/* Allocate node, marks and code in one block. */
static tutti_err list_alloc(tutti_count n, size_t code_size, tutti__node **out) {
    const size_t marks = (size_t)((n - 1) / TUTTI__MARK_EVERY + 1) * sizeof(tutti__mark);
    tutti__node *node = tutti__malloc(sizeof *node + marks + code_size);
    if (!node) return TUTTI_ERR_NOMEM;
    *node = (tutti__node){.kind = TUTTI__LIST, .depth = 1, .runs = n};
    atomic_init(&node->refs, 1);
    node->list.n = n;
    node->list.mark = (tutti__mark *)(node + 1);
    node->list.code = (unsigned char *)(node + 1) + marks;
    node->list.code_size = code_size;
    *out = node;
    return TUTTI_OK;
}

/* Gcd of many numbers, most of which do not change the gcd g: x is a multiple of g if and only if
 * the product of x and the inverse of the odd part of g, rotated right by the number of factors 2
 * of g, is at most 2^64 / g. */
typedef struct {
    /* gcd so far; inverse of its odd part modulo 2^64; UINT64_MAX / g */
    uint64_t g, inverse, limit;
    int twos; /* number of factors 2 of g */
} gcd_sum;

static void gcd_set(gcd_sum *s, uint64_t g) {
    s->g = g;
    s->twos = __builtin_ctzll(g);
    const uint64_t odd = g >> s->twos;
    s->inverse = odd;
    for (int i = 0; i < 5; i++) s->inverse *= 2 - odd * s->inverse;
    s->limit = UINT64_MAX / g;
}

static inline void gcd_add(gcd_sum *s, tutti_off value) {
    const uint64_t x = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const uint64_t q = x * s->inverse;
    const uint64_t turned = s->twos ? q >> s->twos | q << (64 - s->twos) : q;
    if (turned > s->limit) gcd_set(s, (uint64_t)tutti__gcd((tutti_off)s->g, (tutti_off)x));
}

/* State of the validation of the code of a LIST. */
typedef struct {
    tutti_off item, end, bytes, lo, hi; /* start and end of the last item; total bytes; bounds */
    size_t at;                          /* index of the next code byte */
    int disorder;                       /* whether any gap is negative */
    gcd_sum grain;
} walk;

/* Decode the next number of code that may be invalid; returns 0 if it is. */
static inline int read_leb(const tutti__node *n, size_t *at, uint64_t *v) {
    const unsigned char *p = n->list.code + *at;
    const size_t left = n->list.code_size - *at;
    if (left && p[0] < 0x80) {
        *v = p[0];
        *at += 1;
        return 1;
    }
    if (left > 1 && p[1] && p[1] < 0x80) {
        *v = (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
        *at += 2;
        return 1;
    }
    return tutti__leb_try(n->list.code, n->list.code_size, at, v);
}

/* Decode and check the next item; returns 0 if the code is invalid. */
static inline int walk_item(walk *w, const tutti__node *n, int first) {
    uint64_t v, length = (uint64_t)n->list.fixed;
    if (!read_leb(n, &w->at, &v)) return 0;
    if (v >> 1 > (uint64_t)TUTTI__OFF_LIMIT >> n->list.shift) return 0;
    const tutti_off step = n->monotone ? (tutti_off)v : tutti__unzigzag(v);
    const tutti_off gap = (tutti_off)((uint64_t)step << n->list.shift);
    if (n->monotone && v > (uint64_t)TUTTI__OFF_LIMIT >> n->list.shift) return 0;
    if (!length) {
        if (!read_leb(n, &w->at, &length)) return 0;
        if (length > (uint64_t)TUTTI__OFF_LIMIT >> n->list.shift) return 0;
        length <<= n->list.shift;
    }
    if ((gap == 0) != first || length == 0 || length > TUTTI__OFF_LIMIT) return 0;
    if (!tutti__add_ok(w->end, gap, &w->item) || !tutti__off_ok(w->item)) return 0;
    w->end = w->item + (tutti_off)length;
    w->bytes += (tutti_off)length;
    if (!tutti__off_ok(w->end) || !tutti__off_ok(w->bytes)) return 0;
    w->disorder |= gap < 0;
    if (w->item < w->lo) w->lo = w->item;
    if (w->end > w->hi) w->hi = w->end;
    if (first) gcd_set(&w->grain, length);
    gcd_add(&w->grain, w->item);
    if (!n->list.fixed) gcd_add(&w->grain, (tutti_off)length);
    return 1;
}

static uint64_t list_hash(const tutti__node *n) {
    uint64_t h =
        tutti__mix(tutti__mix(TUTTI__LIST + 1, (uint64_t)n->list.n), (uint64_t)n->list.fixed);
    h = tutti__mix(h, (uint64_t)n->list.shift);
    size_t i = 0;
    for (uint64_t v; i + sizeof v <= n->list.code_size; i += sizeof v) {
        memcpy(&v, n->list.code + i, sizeof v);
        h = tutti__mix(h, v);
    }
    for (; i < n->list.code_size; i++) h = tutti__mix(h, n->list.code[i]);
    return tutti__mix(h, (uint64_t)n->monotone);
}

/* Set the marks and derived fields of a LIST whose n, fixed, shift, monotone and code are set;
 * returns 0 if the code is invalid. */
static int index_list(tutti__node *n) {
    walk w = {0};
    for (tutti_count i = 0; i < n->list.n; i++) {
        const size_t code = w.at;
        const tutti_off start = w.bytes;
        if (!walk_item(&w, n, i == 0)) return 0;
        if (i % TUTTI__MARK_EVERY == 0)
            n->list.mark[i / TUTTI__MARK_EVERY] = (tutti__mark){w.item, start, code};
    }
    n->bytes = w.bytes;
    n->lo = w.lo;
    n->hi = w.hi;
    n->grain = (tutti_off)w.grain.g;
    n->hash = list_hash(n);
    return w.at == n->list.code_size && w.disorder == !n->monotone;
}

/* Make the node in the second pass: code, marks and derived fields. */
static tutti_err list_node(source *s, const scan *k, tutti__node **out) {
    tutti__node *n = NULL;
    const size_t size = (k->monotone ? k->gaps : k->zigzags) + (k->length ? 0 : k->lengths);
    TUTTI_TRY(list_alloc(k->n, size, &n));
    n->monotone = k->monotone;
    n->list.fixed = k->length;
    n->list.shift = s->shift;
    tutti_off offset, length, end = k->first;
    unsigned char *p = n->list.code;
    gcd_sum grain = {0};
    int fits = 1;
    s->i = 0;
    for (tutti_count i = 0; source_next(s, &offset, &length); i++, end = offset + length) {
        const tutti_off gap = (offset - end) >> s->shift; /* exact: a multiple of 1 << shift */
        const tutti_off item = offset - k->first;
        if (i == 0) gcd_set(&grain, (uint64_t)length);
        if (i % TUTTI__MARK_EVERY == 0)
            n->list.mark[i / TUTTI__MARK_EVERY] =
                (tutti__mark){item, n->bytes, (size_t)(p - n->list.code)};
        p += tutti__leb_put(p, k->monotone ? (uint64_t)gap : tutti__zigzag(gap));
        if (!k->length) {
            p += tutti__leb_put(p, (uint64_t)length >> s->shift);
            gcd_add(&grain, length);
        }
        gcd_add(&grain, item);
        fits &= tutti__off_ok(item) && tutti__add_ok(n->bytes, length, &n->bytes) &&
                tutti__off_ok(n->bytes) && tutti__off_ok(item + length);
        n->lo = tutti__min(n->lo, item);
        n->hi = tutti__max(n->hi, item + length);
    }
    n->grain = (tutti_off)grain.g;
    if (!fits) {
        tutti__free(n);
        TUTTI_FAIL(TUTTI_ERR_OVERFLOW, "size or offsets of a list of %lld runs exceed 2^62",
                   (long long)k->n);
    }
    n->hash = list_hash(n);
    TUTTI_ASSERT(tutti__node_is_valid(n));
    *out = n;
    return TUTTI_OK;
}

tutti_err tutti__side_list(tutti_count n, const tutti_off *offsets, const tutti_off *lengths,
                           tutti_off fixed_length, tutti__side *out) {
    source s = {n, 0, offsets, lengths, fixed_length, 0};
    scan k;
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "number of runs is %lld: must be >= 0", (long long)n);
    uint64_t all = (uint64_t)1 << TUTTI__MAX_SHIFT;
    for (tutti_count i = 0; i < s.n; i++) {
        const tutti_off offset = s.offsets[i], length = given_length(&s, i);
        TUTTI_CHECK(length >= 0, TUTTI_ERR_ARG, "run %lld has length %lld: must be >= 0",
                    (long long)i, (long long)length);
        TUTTI_CHECK(tutti__off_ok(offset) && length <= TUTTI__OFF_LIMIT - offset,
                    TUTTI_ERR_OVERFLOW,
                    "run %lld of %lld bytes at offset %lld exceeds the range (-2^62, 2^62)",
                    (long long)i, (long long)length, (long long)offset);
        if (length > 0) all |= (uint64_t)(offset - s.offsets[0]) | (uint64_t)length;
    }
    s.shift = __builtin_ctzll(all);
    tutti_off item_offset, item_length, end = 0;
    k = (scan){.monotone = 1};
    while (source_next(&s, &item_offset, &item_length)) {
        if (k.n++ == 0) {
            k.nest = (nest){.ok = 1, .base = item_offset, .at = item_offset, .top = 1};
            k.first = end = item_offset;
            k.length = item_length;
        } else {
            if (item_length != k.length) k.length = k.nest.ok = 0;
            if (k.nest.ok) nest_feed(&k.nest, item_offset);
            k.monotone &= item_offset > end;
        }
        k.gaps += tutti__leb_size((uint64_t)(item_offset - end) >> s.shift);
        k.zigzags += tutti__leb_size(tutti__zigzag((item_offset - end) >> s.shift));
        k.lengths += tutti__leb_size((uint64_t)item_length >> s.shift);
        end = item_offset + item_length;
    }
    if (k.n == 0) {
        *out = (tutti__side){0, NULL};
        return TUTTI_OK;
    }
    int regular = k.nest.ok; /* all loops must be complete after the last offset */
    for (int l = 0; l < k.nest.levels; l++)
        if (k.nest.digit[l] != k.nest.count[l] - 1) regular = 0;
    if (regular) {
        tutti__side nested = {0, NULL};
        TUTTI_TRY(tutti__side_run(k.nest.base, k.length, &nested));
        for (int l = 0; l < k.nest.levels; l++)
            TUTTI_TRY(tutti__side_nest(nested, k.nest.count[l], k.nest.stride[l], &nested));
        if (k.nest.top > 1)
            TUTTI_TRY(tutti__side_nest(nested, k.nest.top, k.nest.top_stride, &nested));
        *out = nested;
        return TUTTI_OK;
    }
    tutti__node *node = NULL;
    TUTTI_TRY(list_node(&s, &k, &node));
    *out = (tutti__side){k.first, node};
    return TUTTI_OK;
}

tutti_err tutti__list_from_code(const tutti__list_code *c, tutti__node **out) {
    unsigned char head[2 * TUTTI__LEB_MAX];
    tutti__node *n = NULL;
    size_t head_size = tutti__leb_put(head, 0);
    TUTTI_CHECK(c->first_length % ((tutti_off)1 << c->shift) == 0, TUTTI_ERR_FORMAT,
                "invalid list: an item has %lld bytes: must be a multiple of %lld",
                (long long)c->first_length, 1LL << c->shift);
    TUTTI_CHECK(c->n >= 2 && (uint64_t)c->n - 1 <= c->code_size, TUTTI_ERR_FORMAT,
                "invalid list: it has %lld items in %zu bytes of code: must be 2 to %zu",
                (long long)c->n, c->code_size, c->code_size + 1);
    TUTTI_CHECK(c->fixed >= 0, TUTTI_ERR_FORMAT,
                "invalid list: length of items is %lld: must be >= 0", (long long)c->fixed);
    if (!c->fixed)
        head_size += tutti__leb_put(head + head_size, (uint64_t)c->first_length >> c->shift);
    TUTTI_TRY(list_alloc(c->n, head_size + c->code_size, &n));
    n->monotone = c->monotone;
    n->list.fixed = c->fixed;
    n->list.shift = c->shift;
    memcpy(n->list.code, head, head_size);
    memcpy(n->list.code + head_size, c->code, c->code_size);
    if (!index_list(n)) {
        tutti__free(n);
        TUTTI_FAIL(TUTTI_ERR_FORMAT, "invalid list: %zu bytes of code do not encode %lld items",
                   c->code_size, (long long)c->n);
    }
    TUTTI_ASSERT(tutti__node_is_valid(n));
    *out = n;
    return TUTTI_OK;
}

/* ---- conversion of any side to a list */

tutti_err tutti__side_flatten(tutti__side s, tutti__side *out) {
    const tutti_count runs = tutti__side_runs(s);
    tutti_err err = TUTTI_ERR_NOMEM;
    size_t bytes;
    tutti_off *offsets = NULL;
    if (__builtin_mul_overflow((size_t)runs, 2 * sizeof *offsets, &bytes) || runs > TUTTI__MAX_RUNS)
        err = tutti__error_set(TUTTI_ERR_UNSUPPORTED, 0, -1,
                               "access has more than %d levels of nesting and %lld runs: at most "
                               "%lld runs are supported",
                               TUTTI__MAX_DEPTH, (long long)runs, (long long)TUTTI__MAX_RUNS);
    else if ((offsets = tutti__malloc(bytes)) != NULL) {
        tutti_off *lengths = offsets + runs;
        tutti__cursor c;
        tutti__burst b;
        tutti_count k = 0;
        tutti__cursor_seek(&c, s, 0);
        while (tutti__cursor_peek(&c, &b)) {
            for (tutti_count i = 0; i < b.count; i++) {
                const tutti_off offset = b.offset + i * b.stride;
                if (k && offsets[k - 1] + lengths[k - 1] == offset) {
                    lengths[k - 1] += b.bytes;
                    continue;
                }
                offsets[k] = offset;
                lengths[k++] = b.bytes;
            }
            tutti__cursor_skip(&c, b.count * b.bytes);
        }
        err = tutti__side_list(k, offsets, lengths, 0, out);
    }
    tutti__free(offsets);
    tutti__node_unref(s.node);
    return err;
}

tutti_err tutti__side_vec(tutti__side child, tutti_count count, tutti_off stride,
                          tutti__side *out) {
    tutti__side made;
    TUTTI_TRY(tutti__side_nest(child, count, stride, &made));
    if (made.node && made.node->depth >= TUTTI__MAX_DEPTH && made.node->kind == TUTTI__VEC)
        return tutti__side_flatten(made, out);
    *out = made;
    return TUTTI_OK;
}
