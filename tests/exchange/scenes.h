/* Operations for the threads of crew.h, and their expected results: a few operations in sequence on one
 * staging memory, each with its own shape, number of sub-buffers, window and kind of domain; a serial
 * model defines the resulting file and the memory of all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_SCENES_H
#define TUTTI_TESTS_SCENES_H

#include <tutti/options.h>
#include "exchange/crew.h"

enum { SCENE_BLOCK, SCENE_INTERLEAVED, SCENE_IRREGULAR, SCENE_HOLES, SCENE_SAME, SCENE_SHAPES };
enum { SCENE_BYTES = 24000, SCENE_ROOM = 2 * SCENE_BYTES, SCENE_WINDOW = 1536 };

static inline unsigned scene_mix(uint64_t a, uint64_t b) {
    uint64_t z = (a + 1) * 0x9e3779b97f4a7c15u + b * 0xc2b2ae3d27d4eb4fu;
    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    return (unsigned)(z >> 40);
}

/* Create columns of a matrix; the memory array has ghost cells, and in half of the cases the other
 * order. */
static inline tutti_access *scene_block(int rank, int ranks, uint64_t salt) {
    const tutti_count cols = 60 + (tutti_count)(salt % 40), rows = SCENE_BYTES / 4 / cols;
    tutti_section f = {.ndims = 2, .element_size = 4, .offset = (tutti_off)(salt % 50)};
    tutti_section m = {.ndims = 2, .element_size = 4};
    tutti_access *a = NULL;
    if (salt & 1) m.order = TUTTI_COL_MAJOR;
    f.shape[0] = f.hi[0] = rows;
    f.shape[1] = cols;
    f.lo[1] = cols * rank / ranks;
    f.hi[1] = cols * (rank + 1) / ranks;
    for (int d = 0; d < 2; d++) {
        m.lo[d] = 1;
        m.hi[d] = 1 + f.hi[d] - f.lo[d];
        m.shape[d] = m.hi[d] + 1;
    }
    CHECK_OK(tutti_access_section(&f, &m, &a));
    return a;
}

/* Create randomly distributed items, listed in descending order in half of the cases; if `holes`,
 * about half of the items belong to no rank. */
static inline tutti_access *scene_items(int rank, int ranks, uint64_t salt, int holes) {
    static tutti_count index[SCENE_BYTES];
    const int size = 1 + (int)(salt % 61), all = SCENE_BYTES / size;
    tutti_count n = 0;
    tutti_access *a = NULL;
    for (int i = 0; i < all; i++) {
        const int item = salt & 1 ? all - 1 - i : i;
        if ((int)(scene_mix(salt, (uint64_t)item) % (unsigned)(holes ? 2 * ranks : ranks)) == rank)
            index[n++] = item;
    }
    CHECK_OK(tutti_access_indices((tutti_off)(salt % 7), size, n, index, &a));
    return a;
}

static inline tutti_access *scene_access(int shape, int rank, int ranks, uint64_t salt) {
    const tutti_off size = 1 + (tutti_off)(salt % 61);
    tutti_access *a = NULL;
    switch (shape) {
    case SCENE_BLOCK:
        return scene_block(rank, ranks, salt);
    case SCENE_INTERLEAVED:
        CHECK_OK(
            tutti_access_vector(rank * size, SCENE_BYTES / (size * ranks), size, size * ranks, &a));
        return a;
    case SCENE_IRREGULAR:
        return scene_items(rank, ranks, salt, 0);
    case SCENE_HOLES:
        return scene_items(rank, ranks, salt, 1);
    default: /* the same bytes for all ranks: for reads */
        CHECK_OK(tutti_access_contiguous((tutti_off)(salt % 100), SCENE_BYTES - 100, &a));
        return a;
    }
}

/* ---- an operation */

static inline void scene_fill(crew_request *q, uint64_t key) {
    for (size_t i = 0; i < q->capacity; i++) q->memory[i] = (unsigned char)scene_mix(key, i);
}

static inline void scene_op(crew *c, int is_write, int shape, int slots, uint64_t salt) {
    crew_op *op = &c->op[c->ops++];
    tutti__summary sum = tutti__summary_empty();
    memset(op, 0, sizeof *op);
    op->is_write = is_write;
    op->slots = slots;
    op->eof = is_write ? TUTTI__OFF_END : salt % 3 ? SCENE_ROOM : SCENE_BYTES / 3;
    for (int r = 0; r < c->ranks; r++) {
        crew_request *q = &op->request[r];
        tutti_off lo, hi;
        q->access = scene_access(shape, r, c->ranks, salt);
        tutti_access_memory_bounds(q->access, &lo, &hi);
        q->capacity = (size_t)(hi - lo);
        q->memory = malloc(q->capacity + 1);
        q->base = q->memory - lo;
        scene_fill(q, salt + (uint64_t)r);
        sum = tutti__summary_merge(sum, tutti__summary_of(q->access->file, 0));
    }
    const int kind = salt & 4 ? TUTTI_DOMAINS_CYCLIC : TUTTI_DOMAINS_EVEN;
    const int aggregators = salt & 24 ? c->ranks : 1 + (int)(salt >> 5) % c->ranks;
    const tutti_off window = 64 * (1 + (tutti_off)(salt >> 9) % (SCENE_WINDOW / 64));
    const tutti__domain_rule rule = {kind, aggregators, 64, window, NULL, NULL};
    tutti__domains_make(&sum, &rule, &op->domains);
}

/* Execute an operation serially in `file`; compare the memory and the counts of all ranks. */
static inline void scene_check_op(const crew_op *op, int ranks, uint64_t salt,
                                  unsigned char *file) {
    for (int r = 0; r < ranks; r++) {
        crew_request want = op->request[r];
        tutti_access_iter *it = NULL;
        tutti_piece p;
        tutti_off count = 0;
        want.memory = malloc(want.capacity + 1);
        want.base = want.memory + (op->request[r].base - op->request[r].memory);
        scene_fill(&want, salt + (uint64_t)r);
        CHECK_OK(tutti_access_iter_start(want.access, 0, &it));
        while (tutti_access_iter_next(it, &p)) {
            const tutti_off n = tutti__min(p.bytes, op->eof - p.file);
            if (n <= 0) break;
            if (op->is_write)
                memcpy(file + p.file, want.base + p.memory, (size_t)n);
            else
                memcpy(want.base + p.memory, file + p.file, (size_t)n);
            count += n;
        }
        tutti_access_iter_free(&it);
        CHECK_EQ(op->done[r], count);
        CHECK(memcmp(want.memory, op->request[r].memory, want.capacity) == 0,
              "rank %d: memory differs", r);
        free(want.memory);
    }
}

/* ---- a scene: write, read, overwrite with another access, read */

static inline void scene_free(crew *c) {
    for (int i = 0; i < c->ops; i++)
        for (int r = 0; r < c->ranks; r++) {
            tutti_access_free(&c->op[i].request[r].access);
            free(c->op[i].request[r].memory);
        }
    tutti__free(c->staging);
    free(c->file);
}

static inline void scene_play(int ranks, int shape, int slots, int restless) {
    static crew c;
    uint64_t salt[CREW_OPS];
    unsigned char *file = malloc(SCENE_ROOM);
    memset(&c, 0, sizeof c);
    c.ranks = ranks;
    c.restless = restless;
    c.staging = tutti__malloc_aligned(4096, tutti__stage_bytes(ranks, CREW_SLOTS, SCENE_WINDOW));
    c.file = malloc(SCENE_ROOM);
    for (int i = 0; i < SCENE_ROOM; i++)
        file[i] = c.file[i] = (unsigned char)scene_mix(5, (uint64_t)i);
    for (int i = 0; i < 6; i++) {
        const int is_write = i % 2 == 0;
        const int other = (int)rnd(is_write ? SCENE_SAME : SCENE_SHAPES);
        salt[i] = rnd64() >> 20;
        scene_op(&c, is_write, i < 2 ? shape : other, i < 2 ? slots : 1 + (int)rnd(CREW_SLOTS),
                 salt[i]);
    }
    crew_run(&c, rnd64());
    for (int i = 0; i < c.ops; i++) scene_check_op(&c.op[i], ranks, salt[i], file);
    CHECK(memcmp(file, c.file, SCENE_ROOM) == 0, "files differ");
    scene_free(&c);
    free(file);
}

#endif
