/* A buffer with a random datatype: contiguous, with holes, out of order, in several pieces, or relative to
 * MPI_BOTTOM; filled with a pattern, so that changed bytes can be detected afterwards.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MEMORY_SIDE_H
#define TUTTI_TESTS_MEMORY_SIDE_H

#include "mpiio/views.h"

enum { MEMORY_SPAN = 2 << 20, MEMORY_GUARD = 32 };

typedef struct {
    mapped_type type;     /* type of one element */
    MPI_Datatype bottom;  /* type of all elements relative to MPI_BOTTOM; or MPI_DATATYPE_NULL */
    int64_t count, bytes; /* number of elements; bytes of data */
    int64_t lo;           /* offset of the first byte of `base` from the address of the buffer */
    int64_t size;         /* bytes in `base`, including a guard at both ends */
    unsigned char *base, *before; /* memory, and a copy of its expected contents */
    MPI_Datatype leaf;            /* basic type of all data; or MPI_DATATYPE_NULL */
} memory_side;

/* Return byte `i` of the data of operation `op`. */
static inline unsigned char data_byte(int64_t op, int64_t i) {
    uint64_t z = (uint64_t)op * 0x9e3779b97f4a7c15u + (uint64_t)(i / 8) * 0xd1342543de82ef95u;
    z = (z ^ (z >> 32)) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 29;
    return (unsigned char)(z >> (8 * (i % 8)));
}

static inline int64_t memory_at(const memory_side *m, int64_t i) {
    return i / m->type.n * m->type.extent + m->type.at[i % m->type.n] - m->lo;
}

/* Create a type of `copies` elements of `t`, followed by `rest` bytes at offset `end`. */
static inline mapped_type with_rest(const mapped_type *t, int copies, int rest, int64_t end) {
    const int length[2] = {copies, rest};
    const MPI_Aint address[2] = {0, (MPI_Aint)end};
    const MPI_Datatype types[2] = {t->type, MPI_BYTE};
    mapped_type byte, m = {.type = MPI_DATATYPE_NULL};
    map_named(&byte, MPI_BYTE);
    map_add(&m, t, copies, 0);
    map_add(&m, &byte, rest, end);
    free_mapped(&byte);
    MPI_OK(MPI_Type_create_struct(2, length, address, types, &m.type));
    map_close(&m);
    return m;
}

/* Compute the bounds of `count` elements; return 0 if they span too much memory. */
static inline int memory_bounds(const mapped_type *t, int64_t count, int64_t *lo, int64_t *hi) {
    *lo = *hi = 0;
    for (int64_t i = 0; i<count; i += count> 1 ? count - 1 : 1)
        for (int64_t k = 0; k < t->n; k++) {
            const int64_t at = i * t->extent + t->at[k];
            if (at < *lo) *lo = at;
            if (at + 1 > *hi) *hi = at + 1;
        }
    return *hi - *lo <= MEMORY_SPAN;
}

static inline int names_a_byte_twice(const memory_side *m) {
    unsigned char *seen = calloc((size_t)m->size, 1);
    int twice = 0;
    for (int64_t i = 0; i < m->bytes && !twice; i++) twice = seen[memory_at(m, i)]++;
    free(seen);
    return twice;
}

static inline void memory_plain(memory_side *m, MPI_Datatype leaf) {
    map_named(&m->type, leaf);
    m->leaf = leaf;
    m->count = m->bytes / m->type.n;
}

static inline mapped_type nested_type(void) {
    const MPI_Datatype plain[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    mapped_type leaf;
    if (!types_tame) return random_type(1 + (int)rnd(3), rnd(3) != 0);
    map_named(&leaf, plain[rnd(4)]);
    mapped_type t = over_etype(&leaf, 1);
    free_mapped(&leaf);
    return t;
}

/* Choose a nested type for the buffer; return 0 if no type fits. */
static inline int memory_nested(memory_side *m) {
    int64_t lo, hi;
    mapped_type t = nested_type();
    int fits = t.n > 0;
    if (fits && m->bytes % t.n == 0 && rnd(2)) {
        m->count = m->bytes / t.n;
        m->type = t;
        return memory_bounds(&t, m->count, &lo, &hi);
    }
    if (types_tame || (t.n > m->bytes && rnd(4))) fits = 0;
    const int copies = fits ? (int)(m->bytes / t.n) : 0;
    fits = fits && memory_bounds(&t, copies, &lo, &hi);
    m->count = 1;
    m->type = fits ? with_rest(&t, copies, (int)(m->bytes - copies * t.n), hi + (int64_t)rnd(20))
                   : (mapped_type){.type = MPI_DATATYPE_NULL};
    free_mapped(&t);
    return fits;
}

static inline void memory_choose(memory_side *m) {
    const MPI_Datatype plain[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    int64_t lo = 0, hi = 0;
    m->leaf = MPI_DATATYPE_NULL;
    if (rnd(3) && m->bytes && memory_nested(m)) {
        memory_bounds(&m->type, m->count, &lo, &hi);
        m->lo = lo - MEMORY_GUARD;
        m->size = hi - lo + 2 * MEMORY_GUARD;
        if (!names_a_byte_twice(m)) return;
    }
    if (m->type.type != MPI_DATATYPE_NULL) free_mapped(&m->type);
    int size = 1;
    MPI_Datatype leaf = plain[rnd(4)];
    MPI_OK(MPI_Type_size(leaf, &size));
    memory_plain(m, m->bytes % size ? MPI_BYTE : leaf);
    m->lo = -MEMORY_GUARD;
    m->size = m->bytes + 2 * MEMORY_GUARD;
}

/* Create a buffer of `bytes` bytes whose type contains no byte twice; for writes it contains the data of
 * operation `op`.  Does not change the random numbers that all ranks share. */
static inline memory_side memory_make(int64_t bytes, int for_read, int64_t op) {
    memory_side m = {.bytes = bytes, .type.type = MPI_DATATYPE_NULL, .bottom = MPI_DATATYPE_NULL};
    const uint64_t kept = check_state_;
    check_state_ ^= (uint64_t)op * 0x2545f4914f6cdd1du;
    memory_choose(&m);
    m.base = malloc((size_t)m.size);
    m.before = malloc((size_t)m.size);
    for (int64_t i = 0; i < m.size; i++) m.base[i] = (unsigned char)(i * 7 + op);
    for (int64_t i = 0; i < bytes && !for_read; i++) m.base[memory_at(&m, i)] = data_byte(op, i);
    memcpy(m.before, m.base, (size_t)m.size);
    if (!is_predefined(m.type.type)) MPI_OK(MPI_Type_commit(&m.type.type));
    if (rnd(10) == 0 && (!types_tame || (bytes && m.leaf != MPI_DATATYPE_NULL))) {
        const int one = (int)m.count;
        MPI_Aint address;
        MPI_OK(MPI_Get_address(m.base - m.lo, &address));
        MPI_OK(MPI_Type_create_hindexed(1, &one, &address, m.type.type, &m.bottom));
        MPI_OK(MPI_Type_commit(&m.bottom));
    }
    check_state_ = kept;
    return m;
}

static inline void memory_free(memory_side *m) {
    if (m->bottom != MPI_DATATYPE_NULL) MPI_OK(MPI_Type_free(&m->bottom));
    free_mapped(&m->type);
    free(m->base);
    free(m->before);
    *m = (memory_side){0};
}

#endif
