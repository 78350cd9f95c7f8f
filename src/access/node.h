/* access: internal declarations of this module: variable-length integers of LIST codes and
 * serialised sides, arithmetic, internal constructors.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NODE_H
#define TUTTI_NODE_H

#include <string.h>
#include "access/side.h"

/* ---- LEB128: seven bits per byte, the lowest first; the top bit is set in all bytes but the
 * last */
#define TUTTI__LEB_MAX 10

static inline size_t tutti__leb_size(uint64_t v) {
    return (size_t)(70 - __builtin_clzll(v | 1)) / 7;
}

static inline size_t tutti__leb_put(unsigned char *p, uint64_t v) {
    size_t n = 0;
    while (v >= 0x80) {
        p[n++] = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    p[n++] = (unsigned char)v;
    return n;
}

/* Decode a valid number and advance *at.  Branching on the size, short sizes first, is faster than
 * finding the end in eight bytes without branches, because most numbers have the same short size,
 * and the branchless variant is a chain of dependent instructions from number to number. */
static inline uint64_t tutti__leb_next(const unsigned char **at) {
    const unsigned char *p = *at;
    uint64_t v = p[0];
    if (v < 0x80) {
        *at = p + 1;
        return v;
    }
    v = (v & 0x7f) | (uint64_t)p[1] << 7;
    if (p[1] < 0x80) {
        *at = p + 2;
        return v;
    }
    v &= 0x3fff;
    size_t n = 2;
    for (int shift = 14; p[n] >= 0x80; shift += 7, n++) v |= (uint64_t)(p[n] & 0x7f) << shift;
    *at = p + n + 1;
    return v | (uint64_t)p[n] << (7 * n);
}
static inline uint64_t tutti__leb_get(const unsigned char *code, size_t *at) {
    const unsigned char *p = code + *at;
    const uint64_t v = tutti__leb_next(&p);
    *at = (size_t)(p - code);
    return v;
}

/* Decode an untrusted number; returns 0 if the code ends early, is too long or is not the shortest
 * form. */
static inline int tutti__leb_try(const unsigned char *code, size_t size, size_t *at,
                                 uint64_t *v_out) {
    uint64_t v = 0;
    for (size_t n = 0; n < TUTTI__LEB_MAX && *at + n < size; n++) {
        const uint64_t byte = code[*at + n];
        if (n == TUTTI__LEB_MAX - 1 && byte > 1) return 0;
        v |= (byte & 0x7f) << (7 * n);
        if (byte >= 0x80) continue;
        if (n > 0 && byte == 0) return 0;
        *at += n + 1;
        *v_out = v;
        return 1;
    }
    return 0;
}

static inline uint64_t tutti__zigzag(tutti_off v) {
    return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}
static inline tutti_off tutti__unzigzag(uint64_t v) {
    return (tutti_off)((v >> 1) ^ (0 - (v & 1)));
}

/* Decode the gap before the item of a LIST whose code starts at *at, and advance *at. */
static inline tutti_off tutti__list_gap(const tutti__node *n, size_t *at) {
    const uint64_t v = tutti__leb_get(n->list.code, at);
    return (tutti_off)((uint64_t)(n->monotone ? (tutti_off)v : tutti__unzigzag(v))
                       << n->list.shift);
}
static inline tutti_off tutti__list_length(const tutti__node *n, size_t *at) {
    if (n->list.fixed) return n->list.fixed;
    return (tutti_off)(tutti__leb_get(n->list.code, at) << n->list.shift);
}

/* Return the index of the last mark of a LIST at or before stream position p, 0 <= p < bytes. */
static inline tutti_count tutti__list_mark(const tutti__node *n, tutti_off p) {
    if (n->list.fixed) return p / n->list.fixed / TUTTI__MARK_EVERY;
    tutti_count a = 0, b = (n->list.n - 1) / TUTTI__MARK_EVERY;
    while (a < b) {
        const tutti_count mid = b - (b - a) / 2;
        if (n->list.mark[mid].start <= p)
            a = mid;
        else
            b = mid - 1;
    }
    return a;
}

/* Return the index of the part of a CAT that contains stream position p, 0 <= p < bytes. */
static inline tutti_count tutti__cat_part(const tutti__node *n, tutti_off p) {
    tutti_count a = 0, b = n->cat.n - 1;
    while (a < b) {
        const tutti_count mid = b - (b - a) / 2;
        if (n->cat.part[mid].start <= p)
            a = mid;
        else
            b = mid - 1;
    }
    return a;
}

/* ---- arithmetic */
static inline int tutti__off_ok(tutti_off v) {
    return v >= -TUTTI__OFF_LIMIT && v <= TUTTI__OFF_LIMIT;
}

/* Return whether all offsets of a side are within [-TUTTI__OFF_LIMIT, TUTTI__OFF_LIMIT]. */
static inline int tutti__side_fits(tutti__side s) {
    return !s.node || (tutti__off_ok(s.disp) && tutti__off_ok(s.disp + s.node->lo) &&
                       tutti__off_ok(s.disp + s.node->hi));
}

static inline tutti_off tutti__gcd(tutti_off a, tutti_off b) {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b) {
        const tutti_off r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static inline uint64_t tutti__mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* ---- functions used by several files of the module */

/* The largest unit of the code of a LIST is 1 << TUTTI__MAX_SHIFT bytes. */
#define TUTTI__MAX_SHIFT 20

/* Maximum number of runs to which an irregular side is expanded. */
#define TUTTI__MAX_RUNS ((tutti_count)1 << 31)

/* Return whether the derived fields of a node are correct, given that its children are valid
 * (side_valid.c). */
int tutti__node_is_valid(const tutti__node *n);

/* Return whether two nodes have the same structure.  The hashes are compared first. */
int tutti__node_equal(const tutti__node *a, const tutti__node *b);

/* Make a loop around a side, like tutti__side_vec but without a limit on the depth. */
tutti_err tutti__side_nest(tutti__side child, tutti_count count, tutti_off stride,
                           tutti__side *out) TUTTI_MUST_USE;
/* Convert a side to the result of tutti__side_list for its runs, usually a LIST; takes ownership of
 * `s`.  Takes time proportional to the number of runs. */
tutti_err tutti__side_flatten(tutti__side s, tutti__side *out) TUTTI_MUST_USE;

/* Sort the file side of a mapping, and the memory side with it.  On success *io is replaced, and
 * *lost_out contains the occurrences of bytes that are replaced by a later occurrence.
 * tutti__loops_sort has an effect only if both sides are nests of loops that can be transposed,
 * which *done_out reports. */
tutti_err tutti__loops_sort(tutti__mapping *io, tutti__mapping *lost_out,
                            int *done_out) TUTTI_MUST_USE;
tutti_err tutti__pieces_sort(tutti__mapping *io, tutti__mapping *lost_out) TUTTI_MUST_USE;
/* Make a mapping of n pieces, lengths[i] bytes at file[i] and memory[i], in this order. */
tutti_err tutti__mapping_list(tutti_count n, const tutti_off *file, const tutti_off *memory,
                              const tutti_off *lengths, tutti__mapping *out) TUTTI_MUST_USE;

/* Untrusted description of a LIST. */
typedef struct {
    tutti_count n; /* number of items */
    int monotone;
    int shift;                 /* numbers in the code are in units of 1 << shift bytes */
    tutti_off fixed;           /* length of all items; 0: lengths are in the code */
    tutti_off first_length;    /* bytes of the first item, which is at the origin */
    const unsigned char *code; /* [code_size] code of the items after the first */
    size_t code_size;
} tutti__list_code;
/* Make a LIST node; fails with TUTTI_ERR_FORMAT if the description is invalid. */
tutti_err tutti__list_from_code(const tutti__list_code *c, tutti__node **out) TUTTI_MUST_USE;

/* Set the frame of a cursor to the item of a LIST that contains stream position p, 0 <= p < bytes;
 * *inside_out is the offset of p in the item. */
void tutti__list_seek(const tutti__node *n, tutti_off p, tutti__frame *f, tutti_off *inside_out);

#endif
