/* access: one side of an access, a compact ordered sequence of byte runs.
 *
 *   side = displacement + tree of nodes
 *   RUN   bytes [0, bytes) at the node's origin
 *   VEC   count copies of a child, copy i at i * stride
 *   LIST  irregular runs, delta-encoded, with a mark every TUTTI__MARK_EVERY items for seeking
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
    tutti_off disp;  /* displacement of the part's origin from that of the CAT */
    tutti_off start; /* stream position of the first byte of the part */
    tutti__node *node;
} tutti__part;

typedef struct {
    tutti_off offset; /* offset of the item, relative to the node's origin */
    tutti_off start;  /* stream position of the item */
    size_t code;      /* index of the item's code in list.code */
} tutti__mark;

struct tutti__node {
    atomic_int refs;
    tutti__node_kind kind;
    int depth; /* 1 for RUN and LIST */
    int monotone;
    tutti_off bytes; /* number of bytes, > 0 */
    /* bounds relative to the origin, which is the offset of the first stream byte: lo is 0 if
     * monotone */
    tutti_off lo, hi;
    /* number of contiguous runs; runs that are adjacent across copies or parts may count as one */
    tutti_count runs;
    tutti_off grain; /* gcd of all run starts (relative to the origin), lengths and strides; > 0 */
    uint64_t hash;   /* hash of the structure */
    union {
        struct {
            tutti_count count; /* >= 2 */
            tutti_off stride;
            tutti__node *child;
        } vec;
        struct {
            tutti_count n;     /* items, >= 2 */
            tutti_off fixed;   /* length of every item, or 0: lengths are in the code */
            int shift;         /* numbers in the code are in units of 1 << shift bytes */
            tutti__mark *mark; /* [(n + TUTTI__MARK_EVERY - 1) / TUTTI__MARK_EVERY] */
            /* [code_size] per item: gap from the end of the previous item (LEB128; zigzag if
             * !monotone), then the length (LEB128) unless fixed */
            unsigned char *code;
            size_t code_size;
        } list;
        struct {
            tutti_count n;     /* number of parts, >= 2 */
            tutti__part *part; /* [n] */
        } cat;
    };
};

typedef struct tutti__side {
    tutti_off disp;
    tutti__node *node; /* NULL: empty */
} tutti__side;

/* Bytes of the file and the corresponding bytes of memory, in any order. */
typedef struct tutti__mapping {
    tutti__side file, memory; /* sides with the same number of bytes */
} tutti__mapping;

struct tutti_access {
    tutti__side file;   /* monotone */
    tutti__side memory; /* in any order, with the same number of bytes as `file` */
    /* Further occurrences of bytes of `file`, each of which is replaced by a later occurrence in
     * the stream: writes ignore them, reads copy the received bytes to their memory
     * (access_repeat.c).  Empty in nearly all accesses. */
    tutti__mapping repeats;
    tutti__handle handle;
};
extern const tutti__class tutti__access_class;

/* ---- constructors of nodes (node_make.c).  They take ownership of the passed references, also on
 * failure, and simplify the result (VEC of adjacent copies -> RUN, VEC of VEC with matching stride
 * -> VEC, CAT of one part -> the part, nested CATs -> one CAT, equally spaced equal parts ->
 * VEC). */
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

/* Combine two sides into an access.  The file side is sorted if necessary; of several occurrences
 * of a byte the last is kept, and the others become repeats.  Takes ownership of both sides, also
 * on failure. */
tutti_err tutti__access_make(tutti__side file, tutti__side memory,
                             tutti_access **out) TUTTI_MUST_USE;
/* Like tutti__access_make, for sides with existing repeats.  Takes ownership of all sides, also on
 * failure. */
tutti_err tutti__access_make_all(tutti_access sides, tutti_access **out) TUTTI_MUST_USE;
/* Return a copy of the sides of an access with new references, and release the sides of such a
 * copy. */
tutti_access tutti__access_share(const tutti_access *a);
void tutti__access_drop(tutti_access *a);

/* ---- validity checks for TUTTI_ASSERT and tests (side_valid.c).  They return whether all derived
 * fields are correct, except for the items of lists, which are not read, in time proportional to
 * the number of nodes.  For an access they also check that both sides have the same number of
 * bytes, the file side is monotone, and repeats are within the bounds of the access. */
int tutti__side_is_valid(tutti__side s);
int tutti__access_is_valid(const tutti_access *a);

/* ---- queries, in time proportional to depth times the logarithm of the number of parts or
 * marks */
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
/* Return the gcd of all run starts and lengths; 0 for an empty side. */
tutti_off tutti__side_grain(tutti__side s);
int tutti__side_monotone(tutti__side s);
size_t tutti__side_size(tutti__side s);
uint64_t tutti__side_hash(tutti__side s);
int tutti__side_equal(tutti__side a, tutti__side b);

/* Return the number of bytes of a monotone side before an offset. */
tutti_off tutti__side_tell(tutti__side s, tutti_off offset);
/* Return the offset of the first byte of a monotone side at or after an offset, or
 * TUTTI__OFF_END. */
tutti_off tutti__side_next(tutti__side s, tutti_off offset);
/* Return the offset of a stream position of any side; TUTTI__OFF_END at and after its end. */
tutti_off tutti__side_offset(tutti__side s, tutti_off stream);
static inline tutti_off tutti__side_bytes_in(tutti__side s, tutti_off lo, tutti_off hi) {
    return lo < hi ? tutti__side_tell(s, hi) - tutti__side_tell(s, lo) : 0;
}

/* ---- iteration.  A burst is `count` runs of `bytes` bytes with distance `stride`, which are the
 * next count * bytes stream bytes of the cursor.  Cursors do not allocate memory; the side must
 * outlive the cursor. */
typedef struct {
    tutti_off offset, bytes, stride;
    tutti_count count;
} tutti__burst;

typedef struct {
    const tutti__node *node;
    tutti_off origin;
    tutti_count index;    /* index of the current copy (VEC), part (CAT) or item (LIST) */
    tutti_off item;       /* LIST: offset of the current item relative to the origin */
    tutti_off item_bytes; /* LIST: length of the current item */
    size_t code;          /* LIST: index in list.code of the next item's code */
} tutti__frame;

typedef struct {
    int depth;        /* number of frames in use; 0: at the end */
    tutti_off inside; /* bytes of the current run that have been passed */
    tutti__frame frame[TUTTI__MAX_DEPTH + 1];
} tutti__cursor;

/* Set the cursor to a stream position of a side. */
void tutti__cursor_seek(tutti__cursor *c, tutti__side s, tutti_off stream);
/* Get the burst at the cursor; returns 0 at the end.  If the innermost loop is a VEC of RUNs and
 * the cursor is at the start of a run, the burst is the rest of that loop; otherwise it is the rest
 * of the current run. */
int tutti__cursor_peek(const tutti__cursor *c, tutti__burst *b);
/* Skip the burst that the last call returned, which has `shown` bytes, and get the next burst;
 * returns 0 at the end. */
int tutti__cursor_next(tutti__cursor *c, tutti_off shown, tutti__burst *b);
/* Advance by `bytes` bytes, at most those of the burst at the cursor. */
void tutti__cursor_skip(tutti__cursor *c, tutti_off bytes);

/* ---- serialisation in a portable, versioned format.  Serialise the bytes of a side in [lo, hi)
 * (all bytes if the side is not monotone); offsets remain absolute.  Returns the size of the
 * description, which is written if buf is not NULL and `size` is sufficient. */
size_t tutti__side_serialise(tutti__side s, tutti_off lo, tutti_off hi, void *buf, size_t size);
/* Parse and validate a description; *used_out (may be NULL) is the number of bytes read.  Fails
 * with TUTTI_ERR_FORMAT if it is invalid, or if `monotone` is set and the side is not monotone. */
tutti_err tutti__side_parse(const void *buf, size_t size, int monotone, size_t *used_out,
                            tutti__side *out) TUTTI_MUST_USE;
/* Serialise and parse for messages between ranks, which are trusted (side_message.c); faster for
 * lists.  The result may have some bytes outside [lo, hi). */
size_t tutti__side_to_message(tutti__side s, tutti_off lo, tutti_off hi, void *buf, size_t size);
tutti_err tutti__side_from_message(const void *buf, size_t size, tutti__side *out) TUTTI_MUST_USE;
/* Return the part of a side with stream positions [from, to). */
tutti_err tutti__side_slice(tutti__side s, tutti_off from, tutti_off to,
                            tutti__side *out) TUTTI_MUST_USE;

/* Return a monotone side in which holes of at most max_gap bytes are filled (side_coarse.c); lists
 * are unchanged. */
tutti_err tutti__side_coarse(tutti__side s, tutti_off max_gap, tutti__side *out) TUTTI_MUST_USE;
/* Return whether the side has a LIST. */
int tutti__side_irregular(tutti__side s);
/* Return the bytes of the largest hole; TUTTI__OFF_END if the side is irregular. */
tutti_off tutti__side_hole(tutti__side s);

/* ---- queries about sets of monotone sides (side_set.c), used by aggregators for received
 * descriptions */

/* Determine whether the sides are pairwise disjoint within [lo, hi), by comparing intervals, else
 * by stride arithmetic (sides with a common period are compared in one period), else by marking
 * grains in a bitmap.  If they are not, *where_out is an offset that two sides share. */
tutti_err tutti__sides_disjoint(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                                int *disjoint_out, tutti_off *where_out) TUTTI_MUST_USE;

typedef struct {
    tutti_off offset, bytes;
} tutti__extent;
typedef struct {
    tutti__extent *v;
    size_t n, capacity;
    /* whether the sides share no byte; set by a caller of tutti__sides_union that knows it */
    int disjoint;
} tutti__extents;
/* Append the union of the sides within [lo, hi) to *io as ascending runs; runs with a gap of at
 * most max_gap bytes are merged (0: only adjacent or overlapping runs). */
tutti_err tutti__sides_union(int n, const tutti__side *sides, tutti_off lo, tutti_off hi,
                             tutti_off max_gap, tutti__extents *io) TUTTI_MUST_USE;
/* Append to shared[i] the bytes of side i within [lo, hi) that an earlier side also has.  *done_out
 * is 0 if bitmaps would be slow, because the range is large compared with the number of runs; then
 * nothing is appended. */
tutti_err tutti__sides_shared(int n, const tutti__side *const *sides, tutti_off lo, tutti_off hi,
                              tutti__extents *const *shared, int *done_out) TUTTI_MUST_USE;
void tutti__extents_free(tutti__extents *e);

/* ---- copying between user memory and a stage (copy.c) */

/* Copy the bytes of `a` with file offsets in [lo, hi) between user memory (`user` is the address of
 * memory offset 0) and a stage whose byte 0 is file offset `stage_lo`.  Returns the number of bytes
 * copied. */
tutti_off tutti__access_to_stage(const tutti_access *a, const void *user, tutti_off lo,
                                 tutti_off hi, void *stage, tutti_off stage_lo);
tutti_off tutti__access_from_stage(const tutti_access *a, void *user, tutti_off lo, tutti_off hi,
                                   const void *stage, tutti_off stage_lo);
/* Copy the bytes of side `s` in [lo, hi) between a stage and consecutive memory, in stream order.
 * Returns the number of bytes copied. */
tutti_off tutti__side_pack(tutti__side s, tutti_off lo, tutti_off hi, const void *stage,
                           tutti_off stage_lo, void *packed);
tutti_off tutti__side_unpack(tutti__side s, tutti_off lo, tutti_off hi, void *stage,
                             tutti_off stage_lo, const void *packed);

/* Copy stream bytes [from, to) from consecutive memory to user memory, without repeats. */
void tutti__access_unpack(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                          const void *packed);

/* ---- repeats (access_repeat.c) */

/* Scale of memory offsets: `file` bytes in the file correspond to `memory` bytes in memory. */
typedef struct tutti__scale {
    tutti_off file, memory;
} tutti__scale;
static inline tutti_off tutti__scaled(tutti__scale s, tutti_off offset) {
    return offset / s.file * s.memory;
}

/* At the end of a read, when stream bytes [from, to) are in user memory, copy them to the memory of
 * their repeats.  Returns the number of bytes copied, as counted in the file. */
tutti_off tutti__repeats_copy(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                              tutti__scale scale);
static inline tutti_off tutti__access_repeat(const tutti_access *a, void *user, tutti_off from,
                                             tutti_off to) {
    const tutti__scale bytes = {1, 1};
    return a->repeats.file.node ? tutti__repeats_copy(a, user, from, to, bytes) : 0;
}
/* Return whether the repeats of two accesses are the same, relative to the displacements of the
 * accesses. */
int tutti__repeats_alike(const tutti_access *a, const tutti_access *b);
/* Return the repeats with file offsets in [lo, hi). */
tutti_err tutti__repeats_clip(const tutti__mapping *r, tutti_off lo, tutti_off hi,
                              tutti__mapping *out) TUTTI_MUST_USE;
/* Concatenate two mappings; takes ownership of both, also on failure. */
tutti_err tutti__mapping_cat(tutti__mapping a, tutti__mapping b,
                             tutti__mapping *out) TUTTI_MUST_USE;
static inline void tutti__mapping_free(tutti__mapping *m) {
    tutti__side_free(&m->file);
    tutti__side_free(&m->memory);
}

#endif
