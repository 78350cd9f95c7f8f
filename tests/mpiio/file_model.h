/* The expected file by the MPI standard: its bytes, its size, and the accesses of each rank since all
 * ranks last synchronised.  Every rank has the complete model.
 *
 * Two accesses are in conflict if they have a byte in common, one of them writes, and neither is known to
 * come first (MPI: sequential consistency without atomic mode).  An access is first if the same rank has
 * completed it, or if a sync-barrier-sync follows it.  The end of the file counts as a byte:
 * a read beyond it conflicts with a write that moves it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FILE_MODEL_H
#define TUTTI_TESTS_FILE_MODEL_H

#include "mpiio/memory_side.h"
#include "mpiio/views.h"

enum { MODEL_ROOM = 96 * 1024, MODEL_OPS = 1 << 16, MIXED = -1 };

typedef struct {
    unsigned char data[MODEL_ROOM];
    int64_t size;
    int writer[MODEL_ROOM], reader[MODEL_ROOM]; /* operation, 0: none, MIXED: several */
    int64_t lowest_end;                         /* the size when all synchronised */
    int grown, end_read;    /* since then: by writes; a read went over the end */
    int rank_of[MODEL_OPS]; /* of an operation */
    unsigned char completed[MODEL_OPS];
    int ops;
} file_model;

/* The request of a rank. */
typedef struct {
    int64_t first, bytes; /* positions in the view */
    int op;
} file_ask;

static inline int model_is_before(const file_model *m, int op, int rank) {
    return op == 0 || (op > 0 && m->rank_of[op] == rank && m->completed[op]);
}

static inline int64_t ask_end(const view *v, const file_ask *a) {
    return a->bytes ? view_at(v, a->first + a->bytes - 1) + 1 : 0;
}

static inline int model_conflict(const file_model *m, const view *v, const file_ask *a, int rank,
                                 int is_write) {
    const int64_t end = ask_end(v, a);
    if (is_write && end > m->lowest_end && m->end_read) return 1;
    if (!is_write && end > m->lowest_end && m->grown) return 1;
    for (int64_t i = 0; i < a->bytes; i++) {
        const int64_t at = view_at(v, a->first + i);
        if (!model_is_before(m, m->writer[at], rank)) return 1;
        if (is_write && !model_is_before(m, m->reader[at], rank)) return 1;
    }
    return 0;
}

/* Apply an access; a write changes the bytes.  Returns the number of bytes (reads: up to the end
 * of the file). */
static inline int64_t model_access(file_model *m, const view *v, file_ask *a, int rank,
                                   int is_write) {
    const int64_t end = ask_end(v, a), before = m->size;
    int64_t there = 0;
    a->op = ++m->ops;
    m->rank_of[a->op] = rank;
    for (int64_t i = 0; i < a->bytes; i++) {
        const int64_t at = view_at(v, a->first + i);
        int *const reader = &m->reader[at];
        if (is_write) {
            m->data[at] = data_byte(a->op, i);
            m->writer[at] = a->op;
        } else {
            there += at < m->size;
            *reader = model_is_before(m, *reader, rank) ? a->op : MIXED;
        }
    }
    if (!is_write && there < a->bytes) m->end_read = 1;
    if (is_write && end > before) m->grown = 1, m->size = end;
    return is_write ? a->bytes : there;
}

static inline void model_synchronise(file_model *m) {
    memset(m->writer, 0, sizeof m->writer);
    memset(m->reader, 0, sizeof m->reader);
    m->grown = m->end_read = 0;
    m->lowest_end = m->size;
}

static inline void model_set_size(file_model *m, int64_t size) {
    if (size < m->size) memset(m->data + size, 0, (size_t)(m->size - size));
    m->size = size;
    model_synchronise(m);
}

#endif
