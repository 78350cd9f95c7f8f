/* A space for tests of decompositions without a dataset: its ids are given by a formula, and its
 * decompositions are compared with expected ones.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_DECOMPOSED_H
#define TUTTI_TESTS_DECOMPOSED_H

#include "replicas/held.h"
#include "decomposition/decomposition.h"

static tutti__team *team;

/* Ids of positions below ID_SPAN are distinct and unordered. */
#define ID_SPAN 1000003
typedef struct {
    int64_t times, plus;
    tutti_count twice;    /* position with the id of the next position, or -1 */
    tutti_count negative; /* position with a negative id, or -1 */
    tutti_err fails;      /* error of reading the map on all ranks, or TUTTI_OK */
} id_map;

static inline int64_t id_at(const id_map *m, tutti_count position) {
    if (position == m->twice) position++;
    if (position == m->negative) return -5;
    return (position * m->times + m->plus) % ID_SPAN * 4099;
}

static inline id_map id_map_random(void) {
    return (id_map){
        .times = 1 + rnd(ID_SPAN - 1), .plus = rnd(ID_SPAN), .twice = -1, .negative = -1};
}

static inline tutti_err read_ids(void *from, const tutti__space_view *view, tutti_count lo,
                                 tutti_count hi, int64_t *ids_out) {
    const id_map *m = from;
    CHECK(lo >= 0 && lo <= hi && hi <= view->entries, "ids of [%lld, %lld)", (long long)lo,
          (long long)hi);
    for (tutti_count i = lo; i < hi; i++) ids_out[i - lo] = id_at(m, i);
    if (m->fails != TUTTI_OK) TUTTI_FAIL(m->fails, "the id map cannot be read");
    return TUTTI_OK;
}

/* Return a one-dimensional space of `entries` entries; if map is NULL, the space has no ids. */
static inline tutti__decomposed list_of(tutti_count entries, id_map *map) {
    return (tutti__decomposed){.name = "nodes",
                               .view = {.space = 3,
                                        .ndims = 1,
                                        .shape = {entries},
                                        .entries = entries,
                                        .stamp = 77,
                                        .has_ids = map != NULL},
                               .ids = map ? read_ids : NULL,
                               .from = map};
}

static inline tutti_err make_decomposition(const tutti__decomposed *space,
                                           const tutti_decomposition_spec *spec,
                                           tutti_decomposition **out) {
    return tutti__decomposition_make(team, space, spec, TUTTI_OK, out);
}

/* Check that all ranks refuse the decomposition with this code and text. */
static inline void check_refused(const tutti__decomposed *space,
                                 const tutti_decomposition_spec *spec, tutti_err code,
                                 const char *words) {
    tutti_decomposition *p = NULL;
    CHECK_SAME(make_decomposition(space, spec, &p), code);
    CHECK(strstr(tutti_last_message(), words), "'%s', not '%s'", tutti_last_message(), words);
    CHECK(p == NULL, "there is a decomposition");
    tutti_decomposition_free(&p);
}

/* The expected properties of a decomposition on this rank. */
typedef struct {
    tutti_count n, entries; /* entries of this rank; entries of the space */
    const tutti_count *position, *memory;
    const unsigned char *writes;
    int whole;
} ought;

static inline void lists_are(tutti_decomposition *p, const ought *o) {
    const size_t n = (size_t)o->n + 1;
    tutti_count *position = calloc(n, sizeof *position), *memory = calloc(n, sizeof *memory);
    unsigned char *writes = calloc(n, 1);
    tutti__decomposition_facts facts;
    tutti_count written = 0;
    CHECK_EQ(tutti_decomposition_entries(p), o->n);
    CHECK_OK(tutti__decomposition_list(p, position, memory, writes));
    for (tutti_count i = 0; i < o->n; i++) {
        CHECK(position[i] == o->position[i], "entry %lld at %lld, not %lld", (long long)i,
              (long long)position[i], (long long)o->position[i]);
        CHECK(memory[i] == o->memory[i], "entry %lld in memory at %lld, not %lld", (long long)i,
              (long long)memory[i], (long long)o->memory[i]);
        CHECK(writes[i] == o->writes[i], "entry %lld, position %lld: %d, not %d", (long long)i,
              (long long)position[i], writes[i], o->writes[i]);
        written += o->writes[i];
        position[i] = -1;
    }
    CHECK_OK(tutti_decomposition_positions(p, position));
    CHECK(o->n == 0 || memcmp(position, o->position, (size_t)o->n * sizeof *position) == 0,
          "positions");
    tutti__decomposition_facts_of(p, &facts);
    CHECK_EQ(facts.space, 3);
    CHECK_EQ(facts.stamp, 77);
    CHECK_EQ(facts.entries, o->n);
    CHECK_EQ(facts.written, written);
    CHECK_EQ(facts.whole, o->whole);
    free(position);
    free(memory);
    free(writes);
}

/* Return byte b of rank who's copy of the item at a position; the copies of ranks differ. */
static inline unsigned char item_byte(tutti_count position, tutti_off b, int who) {
    return (unsigned char)(held_byte(position, b) + 31 * who);
}

/* Write items collectively and read them back; writer[i] is the rank that writes position i, or -1. */
static inline void check_transfers(const char *path, tutti_decomposition *p, const ought *o,
                                   tutti_off item, const int *writer) {
    tutti_count lo = 0, hi = 0;
    const tutti_access *w = NULL, *r = NULL, *again = NULL;
    for (tutti_count i = 0; i < o->n; i++) {
        lo = o->memory[i] < lo ? o->memory[i] : lo;
        hi = o->memory[i] >= hi ? o->memory[i] + 1 : hi;
    }
    const tutti_off memory_bytes = (hi - lo) * item, size = o->entries * item;
    unsigned char *memory = malloc((size_t)memory_bytes + 1), *file = malloc((size_t)size + 1);
    memset(memory, 0x5a, (size_t)memory_bytes + 1);
    memset(file, 0x77, (size_t)size + 1);
    for (tutti_count i = 0; i < o->n; i++)
        for (tutti_off b = 0; b < item; b++)
            memory[(o->memory[i] - lo) * item + b] = item_byte(o->position[i], b, rank);
    file_put(path, file, size);
    CHECK_OK(tutti__decomposition_access(p, item, 1, &w));
    CHECK_OK(tutti__decomposition_access(p, item, 0, &r));
    CHECK_OK(tutti__decomposition_access(p, item, 1, &again));
    CHECK(w == again, "made twice");
    CHECK_EQ(tutti_access_bytes(r), o->n * item);
    tutti_file *f = NULL;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, &f), TUTTI_OK);
    CHECK_SAME(tutti_file_write(f, w, memory - lo * item, NULL), TUTTI_OK);
    for (tutti_count i = 0; i < o->entries; i++)
        for (tutti_off b = 0; b < item && writer[i] >= 0; b++)
            file[i * item + b] = item_byte(i, b, writer[i]);
    file_is(path, file, size, "written");
    memset(memory, 0x5a, (size_t)memory_bytes + 1);
    CHECK_SAME(tutti_file_read(f, r, memory - lo * item, NULL), TUTTI_OK);
    unsigned char *want = malloc((size_t)memory_bytes + 1);
    memset(want, 0x5a, (size_t)memory_bytes + 1);
    for (tutti_count i = 0; i < o->n; i++)
        memcpy(want + (o->memory[i] - lo) * item, file + o->position[i] * item, (size_t)item);
    CHECK(memcmp(memory, want, (size_t)memory_bytes + 1) == 0, "read back");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    free(memory);
    free(file);
    free(want);
}

static inline void decomposed_begin(int *argc, char ***argv, uint64_t seed) {
    harness_begin(argc, argv, seed);
    CHECK_OK(tutti__team_take(MPI_COMM_WORLD, "", &team));
}

static inline int decomposed_end(void) {
    tutti__team_give(&team);
    return harness_end();
}

#endif
