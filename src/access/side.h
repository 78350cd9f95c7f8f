/* access: one side of an access, a compact ordered sequence of byte runs.
 *
 *   side = displacement + tree of nodes
 *   RUN   bytes [0, bytes) at the node's origin
 *   VEC   count copies of a child, copy i at i * stride
 *   LIST  irregular runs, delta-encoded, with a mark every TUTTI__MARK_EVERY items to seek by
 *   CAT   parts, each at its own displacement
 *
 * The stream visits VEC copies, LIST items and CAT parts in order.  A side is *monotone* when its
 * offsets strictly increase along the stream; file sides always are.  Nodes are immutable and
 * shared by reference count.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIDE_H
#define TUTTI_SIDE_H

#include <stdatomic.h>
#include <tutti/access.h>
#include "base/handle.h"
#include "base/memory.h"

#define TUTTI__MARK_EVERY 64
#define TUTTI__MAX_DEPTH 24 /* deeper trees are flattened into a LIST on creation */
#define TUTTI__OFF_END INT64_MAX
/* Offsets are in [-limit, limit]: then the difference of any two fits in 64 bits. */
#define TUTTI__OFF_LIMIT (((tutti_off)1 << 62) - 1)

typedef enum { TUTTI__RUN, TUTTI__VEC, TUTTI__LIST, TUTTI__CAT } tutti__node_kind;
typedef struct tutti__node tutti__node;

typedef struct {
    tutti_off disp;  /* of the part's origin */
    tutti_off start; /* stream position of its first byte */
    tutti__node *node;
} tutti__part;

typedef struct {
    tutti_off offset; /* where the item starts, relative to the node's origin */
    tutti_off start;  /* its stream position */
    size_t code;      /* where its code starts */
} tutti__mark;

struct tutti__node {
    atomic_int refs;
    tutti__node_kind kind;
    int depth; /* 1 for RUN and LIST */
    int monotone;
    tutti_off bytes;  /* > 0 */
    tutti_off lo, hi; /* bounds relative to the origin, which is the position of the first stream
                          byte: lo is 0 if monotone */
    tutti_count runs; /* contiguous ones; adjacent ones across VEC copies or CAT parts count once
                         where that is known */
    tutti_off grain;  /* gcd of all run starts (relative to the origin), lengths and strides; > 0 */
    uint64_t hash;    /* of the structure */
    union {
        struct {
            tutti_count count; /* >= 2 */
            tutti_off stride;
            tutti__node *child;
        } vec;
        struct {
            tutti_count n;       /* items, >= 2 */
            tutti_off fixed;     /* length of every item, or 0: lengths are in the code */
            int shift;           /* numbers in the code are in units of 1 << shift bytes */
            tutti__mark *mark;   /* (n + TUTTI__MARK_EVERY - 1) / TUTTI__MARK_EVERY of them */
            unsigned char *code; /* per item: gap from the end of the item before (LEB128; zigzag if
                                    !monotone), then the length (LEB128) unless fixed */
            size_t code_size;
        } list;
        struct {
            tutti_count n; /* >= 2 */
            tutti__part *part;
        } cat;
    };
};

typedef struct tutti__side {
    tutti_off disp;
    tutti__node *node; /* NULL: empty */
} tutti__side;

/* Bytes of the file and the corresponding bytes of memory, in any order. */
typedef struct tutti__mapping {
    tutti__side file, memory; /* the same number of bytes */
} tutti__mapping;

struct tutti_access {
    tutti__side file;   /* monotone */
    tutti__side memory; /* any order, same number of bytes */
    /* Mentions of bytes of `file` that a later one replaces: writes skip them,
     * reads finally copy the bytes received by the stream to their memory
     * (access_repeat.c).  Empty in nearly all accesses. */
    tutti__mapping repeats;
    tutti__handle handle;
};
extern const tutti__class tutti__access_class;

/* ---- constructors of nodes (node_make.c).  They take over the passed references, also on failure;
 * merge where possible (VEC of adjacent copies -> RUN, VEC of VEC with matching stride -> VEC,
 * CAT of one part -> the part, nested CATs -> one, equally spaced equal parts -> VEC). */
tutti__node *tutti__node_ref(tutti__node *n);
void tutti__node_unref(tutti__node *n);
tutti_err tutti__node_run(tutti_off bytes, tutti__node **out) TUTTI_MUST_USE;
tutti_err tutti__side_vec(tutti__side child, tutti_count count, tutti_off stride,
                          tutti__side *out) TUTTI_MUST_USE;
tutti_err tutti__side_cat(tutti_count n, const tutti__side *parts, tutti__side *out) TUTTI_MUST_USE;
tutti_err tutti__side_list(tutti_count n, const tutti_off *offsets, const tutti_off *lengths,
                           tutti_off fixed_length, tutti__side *out) TUTTI_MUST_USE;
tutti_err tutti__side_run(tutti_off offset, tutti_off bytes, tutti__side *out) TUTTI_MUST_USE;
void tutti__side_free(tutti__side *s);
static inline tutti__side tutti__side_ref(tutti__side s) {
    if (s.node) (void)tutti__node_ref(s.node);
    return s;
}

/* Join two sides into an access whose file side is monotone: sorts if needed, the later mention
 * wins, and replaced mentions become repeats.  Takes over both sides, also on failure. */
tutti_err tutti__access_make(tutti__side file, tutti__side memory,
                             tutti_access **out) TUTTI_MUST_USE;
/* The same with existing repeats.  Takes over all sides. */
tutti_err tutti__access_make_all(tutti_access sides, tutti_access **out) TUTTI_MUST_USE;
/* The sides of an access with references of their own; and giving them back. */
tutti_access tutti__access_share(const tutti_access *a);
void tutti__access_drop(tutti_access *a);

/* ---- for TUTTI_ASSERT and tests (side_valid.c): whether all derived fields are correct, as far
 * as this can be checked without reading the items of lists.  Takes time in proportion to the
 * nodes.  An access: the same bytes on both sides, the file side monotone, repeats of bytes that
 * are within it. */
int tutti__side_is_valid(tutti__side s);
int tutti__access_is_valid(const tutti_access *a);

/* ---- queries; cost: depth of the nesting, times log of the parts or marks */
static inline tutti_off tutti__side_bytes(tutti__side s) {
    return s.node ? s.node->bytes : 0;
}
static inline tutti_off tutti__side_lo(tutti__side s) {
    return s.node ? s.disp + s.node->lo : 0;
}
static inline tutti_off tutti__side_hi(tutti__side s) {
    return s.node ? s.disp + s.node->hi : 0;
}
static inline tutti_count tutti__side_runs(tutti__side s) {
    return s.node ? s.node->runs : 0;
}
/* gcd of all run starts and lengths; 0 for an empty side */
tutti_off tutti__side_grain(tutti__side s);
int tutti__side_monotone(tutti__side s);
size_t tutti__side_size(tutti__side s);
uint64_t tutti__side_hash(tutti__side s);
int tutti__side_equal(tutti__side a, tutti__side b);

/* Monotone sides: bytes before a file offset; the first byte of the side at or after it, or
 * TUTTI__OFF_END. */
tutti_off tutti__side_tell(tutti__side s, tutti_off offset);
tutti_off tutti__side_next(tutti__side s, tutti_off offset);
/* The offset of a stream position, of any side; TUTTI__OFF_END from its end on. */
tutti_off tutti__side_offset(tutti__side s, tutti_off stream);
static inline tutti_off tutti__side_bytes_in(tutti__side s, tutti_off lo, tutti_off hi) {
    return lo < hi ? tutti__side_tell(s, hi) - tutti__side_tell(s, lo) : 0;
}

/* ---- walking.  A burst is `count` runs of `bytes` bytes, each `stride` after the one before: the
 * cursor's next count * bytes stream bytes.  No allocation; the side must outlive the cursor. */
typedef struct {
    tutti_off offset, bytes, stride;
    tutti_count count;
} tutti__burst;

typedef struct {
    const tutti__node *node;
    tutti_off origin;
    tutti_count index;    /* VEC: copy; CAT: part; LIST: item */
    tutti_off item;       /* LIST: offset of the item relative to the origin */
    tutti_off item_bytes; /* LIST: its length */
    size_t code;          /* LIST: where the next item's code starts */
} tutti__frame;

typedef struct {
    int depth;        /* frames in use; 0: at the end */
    tutti_off inside; /* bytes already consumed of the current run */
    tutti__frame frame[TUTTI__MAX_DEPTH + 1];
} tutti__cursor;

void tutti__cursor_seek(tutti__cursor *c, tutti__side s, tutti_off stream);
/* 0 at the end.  If the innermost loop is a VEC of RUNs and the cursor is at the start of a run the
 * burst is the rest of that loop; otherwise it is the rest of the current run, count 1. */
int tutti__cursor_peek(const tutti__cursor *c, tutti__burst *b);
/* The burst after the one that the last call returned, all `shown` bytes of it; 0 at the end. */
int tutti__cursor_next(tutti__cursor *c, tutti_off shown, tutti__burst *b);
/* Advance by `bytes`, at most the bytes of the last peek. */
void tutti__cursor_skip(tutti__cursor *c, tutti_off bytes);

/* ---- serialization.  Self-contained, portable, versioned; parsing validates all input.  Clipped to [lo, hi)
 * (LIST items and CAT parts outside are omitted, VEC copies too); offsets remain absolute.  Returns
 * the size; writes if buf is not NULL and size suffices. */
size_t tutti__side_serialise(tutti__side s, tutti_off lo, tutti_off hi, void *buf, size_t size);
/* `used_out` (may be NULL): bytes read.  Fails with TUTTI_ERR_FORMAT for sides that are not monotone if
 * `monotone`. */
tutti_err tutti__side_parse(const void *buf, size_t size, int monotone, size_t *used_out,
                            tutti__side *out) TUTTI_MUST_USE;
/* The same for other ranks of this job, which are trusted: quicker for lists (side_message.c).  It
 * may hold a few bytes outside [lo, hi). */
size_t tutti__side_to_message(tutti__side s, tutti_off lo, tutti_off hi, void *buf, size_t size);
tutti_err tutti__side_from_message(const void *buf, size_t size, tutti__side *out) TUTTI_MUST_USE;
/* The part of a side with stream positions [from, to). */
tutti_err tutti__side_slice(tutti__side s, tutti_off from, tutti_off to,
                            tutti__side *out) TUTTI_MUST_USE;

/* A monotone side with all holes of at most max_gap closed, as far as loops are (side_coarse.c):
 * lists are unchanged, and may have small holes. */
tutti_err tutti__side_coarse(tutti__side s, tutti_off max_gap, tutti__side *out) TUTTI_MUST_USE;
int tutti__side_irregular(tutti__side s);
/* The largest hole between two bytes; TUTTI__OFF_END if the side is irregular. */
tutti_off tutti__side_hole(tutti__side s);

/* ---- sets of monotone sides (side_set.c): queries of aggregators about the received descriptions */

/* Return whether the sides are pairwise disjoint within [lo, hi); exact.  By interval order, then by
 * stride arithmetic (sides with a common period are compared in one period), else by marking
 * grains in a bitmap, window by window.  If not, *where_out is an offset that two of them share. */
tutti_err tutti__sides_disjoint(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                                int *disjoint_out, tutti_off *where_out) TUTTI_MUST_USE;

/* The union of the sides within [lo, hi) as runs in order; neighbours whose gap is <= max_gap are
 * joined (0: only adjacent or overlapping ones).  The array grows as needed (tutti__realloc). */
typedef struct {
    tutti_off offset, bytes;
} tutti__extent;
typedef struct {
    tutti__extent *v;
    size_t n, room;
} tutti__extents;
tutti_err tutti__sides_union(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                             tutti_off max_gap, tutti__extents *io) TUTTI_MUST_USE;
/* The bytes of each side within [lo, hi) that an earlier one also has, appended to shared[i].
 * *done_out: 0 if that would examine more gaps than runs, and nothing has been done. */
tutti_err tutti__sides_shared(int n, const tutti__side *const *sides, tutti_off lo, tutti_off hi,
                              tutti__extents *const *shared, int *done_out) TUTTI_MUST_USE;
void tutti__extents_free(tutti__extents *e);

/* ---- copying (copy.c): the one kernel between user memory and staging */

/* Copy the bytes of `a` whose file offsets are in [lo, hi) between user memory (address of memory
 * offset 0) and a stage whose byte 0 is file offset `stage_lo`.  Returns the bytes copied. */
tutti_off tutti__access_to_stage(const tutti_access *a, const void *user, tutti_off lo,
                                 tutti_off hi, void *stage, tutti_off stage_lo);
tutti_off tutti__access_from_stage(const tutti_access *a, void *user, tutti_off lo, tutti_off hi,
                                   const void *stage, tutti_off stage_lo);
/* The same between a packed stream (bytes of side `s` in [lo, hi), in order) and a stage. */
tutti_off tutti__side_pack(tutti__side s, tutti_off lo, tutti_off hi, const void *stage,
                           tutti_off stage_lo, void *packed);
tutti_off tutti__side_unpack(tutti__side s, tutti_off lo, tutti_off hi, void *stage,
                             tutti_off stage_lo, const void *packed);

/* Stream bytes [from, to) out of consecutive memory, but not to where they are mentioned again. */
void tutti__access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                          const void *packed);

/* ---- repeats (access_repeat.c) */

/* Scale memory offsets: `file` bytes in the file correspond to `memory` bytes in memory. */
typedef struct tutti__scale {
    tutti_off file, memory;
} tutti__scale;
static inline tutti_off tutti__scaled(tutti__scale s, tutti_off offset) {
    return offset / s.file * s.memory;
}

/* The end of every read: stream bytes [from, to) are in user memory; copy them to all other locations where
 * they are mentioned.  Returns the bytes copied, as they are in the file. */
tutti_off tutti__repeats_copy(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                              tutti__scale scale);
static inline tutti_off tutti__access_repeat(const tutti_access *a, void *user, tutti_off from,
                                             tutti_off to) {
    const tutti__scale bytes = {1, 1};
    return a->repeats.file.node ? tutti__repeats_copy(a, user, from, to, bytes) : 0;
}
/* Return whether the repeats of two accesses are the same, relative to the begin of each access. */
int tutti__repeats_alike(const tutti_access *a, const tutti_access *b);
/* Those with file offsets in [lo, hi). */
tutti_err tutti__repeats_clip(const tutti__mapping *r, tutti_off lo, tutti_off hi,
                              tutti__mapping *out) TUTTI_MUST_USE;
/* Concatenate both; takes them over, also on failure. */
tutti_err tutti__mapping_cat(tutti__mapping a, tutti__mapping b,
                             tutti__mapping *out) TUTTI_MUST_USE;
static inline void tutti__mapping_free(tutti__mapping *m) {
    tutti__side_free(&m->file);
    tutti__side_free(&m->memory);
}

#endif
