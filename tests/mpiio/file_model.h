/* The file expected according to the MPI standard: its bytes, its size, and the accesses of each rank since the last
 * synchronisation of all ranks.  Every rank has the complete model.
 *
 * Two accesses conflict if they access the same byte, one of them writes, and their order is not
 * defined (MPI: sequential consistency without atomic mode).  An earlier access is ordered before another if the same
 * rank has completed it, or if a sync-barrier-sync follows it.  The end of the file counts as a byte: a read
 * beyond the end conflicts with a write that moves the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FILE_MODEL_H
#define TUTTI_TESTS_FILE_MODEL_H

#include "mpiio/memory_side.h"
#include "mpiio/views.h"

enum { MODEL_BYTES = 96 * 1024, MODEL_OPS = 1 << 16, MIXED = -1 };

typedef struct {
    unsigned char data[MODEL_BYTES];
    int64_t size;
    /* last operation on each byte; 0: none, MIXED: several */
    int writer[MODEL_BYTES], reader[MODEL_BYTES];
    int64_t lowest_end; /* file size at the last synchronisation */
    /* since the last synchronisation: a write has moved the end; a read has gone beyond the end */
    int grown, end_read;
    int rank_of[MODEL_OPS];             /* rank of each operation */
    unsigned char completed[MODEL_OPS]; /* whether each operation is complete */
    int ops;                            /* number of operations; they are numbered from 1 */
} file_model;

/* The bytes that a rank accesses in a call. */
typedef struct {
    int64_t first, bytes; /* position of the first byte in the view; number of bytes */
    int op;               /* number of the operation in the model */
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

/* Apply an access to the model.  Returns the number of bytes accessed, for reads only up to the end of the file. */
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
