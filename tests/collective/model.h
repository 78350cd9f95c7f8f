/* The serial model of collective tests: every rank computes the requests of all ranks from the seed
 * and applies them in rank order to an array, which then has the expected contents of the file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_MODEL_H
#define TUTTI_TESTS_MODEL_H

#include <mpi.h>
#include <tutti/tutti.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"

/* ---- the expected file */
typedef struct {
    unsigned char *v;
    int64_t size, capacity;
} model;

static inline void model_reach(model *m, int64_t size) {
    if (size > m->capacity) {
        m->v = realloc(m->v, (size_t)(2 * size + 64));
        memset(m->v + m->capacity, 0, (size_t)(2 * size + 64 - m->capacity));
        m->capacity = 2 * size + 64;
    }
    if (size > m->size) m->size = size;
}

static inline unsigned char mix(uint64_t a, uint64_t b) {
    uint64_t z = (a + 1) * 0x9e3779b97f4a7c15u + b * 0xc2b2ae3d27d4eb4fu;
    z ^= z >> 29;
    return (unsigned char)(z * 0xbf58476d1ce4e5b9u >> 56);
}

/* ---- the request of a rank: an access and its memory (base is memory offset 0) */
typedef struct {
    tutti_access *access;
    unsigned char *memory, *base;
    size_t capacity;
} request;

static inline void request_memory(request *r) {
    tutti_off lo, hi;
    tutti_access_memory_bounds(r->access, &lo, &hi);
    r->capacity = (size_t)(hi - lo);
    r->memory = malloc(r->capacity + 1);
    r->base = r->memory - lo;
}

static inline void request_fill(request *r, uint64_t key) {
    for (size_t i = 0; i < r->capacity; i++) r->memory[i] = mix(key, i);
}

static inline void request_free(request *r) {
    tutti_access_free(&r->access);
    free(r->memory);
    memset(r, 0, sizeof *r);
}

/* Write a request into the model at a displacement. */
static inline void model_write(model *m, const request *r, tutti_off displacement) {
    tutti_access_iter *it = NULL;
    tutti_piece p;
    CHECK_OK(tutti_access_iter_start(r->access, 0, &it));
    while (it && tutti_access_iter_next(it, &p)) {
        model_reach(m, displacement + p.file + p.bytes);
        memcpy(m->v + displacement + p.file, r->base + p.memory, (size_t)p.bytes);
    }
    tutti_access_iter_free(&it);
}

/* Unpack the first `count` stream bytes (those before file offset `end`) again, so that the memory of
 * repeats is filled; return the number of repeated bytes before `end`. */
static inline tutti_off model_repeat(request *r, tutti_off count, tutti_off end) {
    tutti_access *there = NULL;
    if (tutti_access_repeated(r->access) == 0) return 0;
    unsigned char *packed = malloc((size_t)count + 1);
    tutti_access_pack(r->access, r->base, 0, count, packed);
    tutti_access_unpack(r->access, r->base, 0, count, packed);
    free(packed);
    CHECK_OK(tutti_access_clip(r->access, 0, end, &there));
    count = tutti_access_repeated(there);
    tutti_access_free(&there);
    return count;
}

/* Compute the memory after a read into memory filled from `key`; return the bytes read. */
static inline tutti_off model_read(const model *m, request *r, tutti_off displacement,
                                   uint64_t key) {
    tutti_access_iter *it = NULL;
    tutti_piece p;
    tutti_off count = 0;
    request_fill(r, key);
    CHECK_OK(tutti_access_iter_start(r->access, 0, &it));
    while (it && tutti_access_iter_next(it, &p)) {
        int64_t n = m->size - (displacement + p.file);
        if (n > p.bytes) n = p.bytes;
        if (n <= 0) break;
        memcpy(r->base + p.memory, m->v + displacement + p.file, (size_t)n);
        count += n;
    }
    tutti_access_iter_free(&it);
    return count + model_repeat(r, count, m->size - displacement);
}

/* ---- shapes of requests.  All ranks use the same random numbers; `rank` selects the part of a rank. */
enum { BLOCKS, COLUMNS, CYCLIC, SCATTER, SPARSE, WILD, FEW, SHAPES };

static inline tutti_access *scatter_access(int rank, int ranks, uint64_t salt, int items, int size,
                                           int gaps) {
    tutti_count *index = malloc((size_t)(items + 1) * sizeof *index);
    tutti_access *a = NULL;
    int n = 0;
    for (int i = 0; i < items; i++) {
        const unsigned who = mix(salt, (uint64_t)i) % (unsigned)(ranks + gaps);
        if ((int)who == rank) index[n++] = i;
    }
    CHECK_OK(tutti_access_indices(7 * (tutti_off)(salt % 3), size, n, index, &a));
    free(index);
    return a;
}

static inline tutti_access *block_access(int rank, int ranks, int rows, int cols, int elem,
                                         int ghost, int by_cols) {
    int pr = 1;
    for (int d = 1; d * d <= ranks; d++)
        if (ranks % d == 0) pr = d;
    if (by_cols) pr = 1;
    const int pc = ranks / pr, r = rank / pc, c = rank % pc;
    tutti_section f = {2,
                       TUTTI_ROW_MAJOR,
                       elem,
                       13 * (rows % 2),
                       {rows, cols},
                       {(tutti_count)rows * r / pr, (tutti_count)cols * c / pc},
                       {(tutti_count)rows * (r + 1) / pr, (tutti_count)cols * (c + 1) / pc},
                       {1, 1},
                       .reserved = {0}};
    tutti_section m = {.ndims = 2,
                       .order = (rows + cols) % 3 ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR,
                       .element_size = elem};
    tutti_access *a = NULL;
    for (int d = 0; d < 2; d++) {
        m.lo[d] = ghost;
        m.hi[d] = ghost + f.hi[d] - f.lo[d];
        m.shape[d] = m.hi[d] + ghost;
        m.stride[d] = 1;
    }
    CHECK_OK(tutti_access_section(&f, &m, &a));
    return a;
}

/* Make a random access that probably overlaps the accesses of other ranks. */
static inline tutti_access *wild_access(int64_t extent) {
    tutti_access *a = NULL;
    const int64_t at = rnd(extent);
    switch (rnd(4)) {
    case 0:
        CHECK_OK(tutti_access_contiguous(at, rnd(extent / 2), &a));
        break;
    case 1:
        CHECK_OK(tutti_access_vector(at, rnd(50), 1 + rnd(90), 100 + rnd(300), &a));
        break;
    case 2: {
        tutti_off off[40], len[40];
        const int n = (int)rnd(40);
        for (int i = 0; i < n; i++) off[i] = rnd(extent), len[i] = rnd(400);
        CHECK_OK(tutti_access_runs(n, off, len, &a));
        break;
    }
    default:
        CHECK_OK(tutti_access_contiguous(0, 0, &a));
    }
    return a;
}

/* Make the request of `rank` of the given shape; `salt` selects its random numbers. */
static inline request request_make(int shape, int rank, int ranks, uint64_t salt, int64_t scale) {
    request r = {NULL, NULL, NULL, 0};
    const int size = 1 + (int)(salt % 97), rows = 20 + (int)(salt % 50);
    switch (shape) {
    case BLOCKS:
        r.access =
            block_access(rank, ranks, rows, (int)(scale / rows / 4) + ranks, 4, (int)(salt % 3), 0);
        break;
    case COLUMNS:
        r.access = block_access(rank, ranks, rows, (int)(scale / rows / 8) + ranks, 8, 0, 1);
        break;
    case CYCLIC:
        CHECK_OK(tutti_access_vector((tutti_off)rank * size, scale / (size * ranks) + 1, size,
                                     (tutti_off)size * ranks, &r.access));
        break;
    case SCATTER:
        r.access = scatter_access(rank, ranks, salt, (int)(scale / size), size, 0);
        break;
    case SPARSE:
        r.access = scatter_access(rank, ranks, salt, (int)(scale / size), size, ranks);
        break;
    case FEW: /* one rank accesses everything, the others nothing */
        CHECK_OK(tutti_access_contiguous(5, rank == (int)(salt % (unsigned)ranks) ? scale : 0,
                                         &r.access));
        break;
    default: {
        const uint64_t keep = check_state_;
        check_state_ = salt * 1000 + (uint64_t)rank;
        r.access = wild_access(scale);
        check_state_ = keep;
    }
    }
    request_memory(&r);
    return r;
}

/* ---- the actual file */
static inline void file_compare(const char *path, const model *m, const char *what) {
    struct stat st;
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0, "%s: no file %s", what, path);
    if (fd < 0) return;
    CHECK(fstat(fd, &st) == 0 && st.st_size == m->size, "%s: size %lld, not %lld", what,
          (long long)st.st_size, (long long)m->size);
    unsigned char *v = malloc((size_t)m->size + 1);
    const ssize_t n = pread(fd, v, (size_t)m->size, 0);
    CHECK(n == m->size, "%s: short", what);
    for (int64_t i = 0; i < m->size && i < n; i++)
        if (v[i] != m->v[i]) {
            CHECK(0, "%s: byte %lld is %d, not %d", what, (long long)i, v[i], m->v[i]);
            break;
        }
    free(v);
    close(fd);
}

static inline const char *scratch_path(const char *name) {
    static char path[512];
    int rank;
    long id = (long)getpid();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/tutti-%s.%ld", check_dir(), name, id);
    return path;
}

/* Return the exit status of check_done, nonzero if any rank has failed. */
static inline int check_done_all(void) {
    int all = 0;
    MPI_Allreduce(&check_failures_, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int local = check_done();
    return local || all ? 1 : 0;
}

#endif
