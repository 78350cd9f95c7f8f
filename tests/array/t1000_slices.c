/* TEST ranks=1,2,3,5,8 timeout=90 */
/* Slices of arrays in one file, with and without a header, in both orders, 1 to 5 dimensions, into
 * packed memory and into frames, with every kind of call, compared with a serial reference.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

enum { STEPS = 4 };
static char path[512];

static const char *const ways[] = {
    "",
    "method=two-phase cb_buffer_size=64k",
    "method=two-phase domains=cyclic domain_block=4096 striping_unit=512",
    "method=two-phase exchange=two-sided rmw=1",
    "method=two-phase nodes=2",
    "method=independent",
    "method=sieve rmw=1 sieve_size=4096",
    "method=list",
};

/* ---- one collective write of one slice per rank; where slices overlap, the highest rank wins */
static void write_step(tutti_array *a, picture *p, int way) {
    const int kind = (int)rnd(SLICES), common = !rnd(3), framed = (int)rnd(2);
    const uint64_t key = rnd64();
    tutti_slice first = random_slice(kind, p->spec.ndims, p->spec.shape, 0, ranks);
    for (int r = 0; r < ranks; r++) {
        tutti_count shape[TUTTI_MAX_DIMS] = {0};
        const int empty = !rnd(5);
        tutti_slice s =
            common ? first
                   : random_slice(empty ? EMPTY : kind, p->spec.ndims, p->spec.shape, r, ranks);
        const tutti_count n = tutti_slice_count(p->spec.ndims, &s, shape);
        frame f = random_frame(p, shape, framed);
        frame_fill(&f, key + (uint64_t)r);
        unsigned char *packed = calloc((size_t)(n * p->size) + 1, 1);
        if (n > 0) frame_move(p, &f, shape, packed, 0);
        if (r == rank) {
            tutti_request *q = NULL;
            if (way == 1) {
                CHECK_OK(tutti_array_write_start(a, &s, frame_section(&f), f.memory, &q));
                CHECK_OK(tutti_request_wait(&q, NULL));
            } else {
                CHECK_OK(tutti_array_write(a, &s, frame_section(&f), f.memory));
            }
        }
        picture_move(p, &s, packed, 1);
        free(packed);
        frame_free(&f);
    }
}

static void read_step(tutti_array *a, const picture *p, int way) {
    const int kind = (int)rnd(SLICES), framed = (int)rnd(2), other = (int)rnd(2);
    tutti_request *q = NULL;
    for (int r = 0; r < ranks; r++) {
        tutti_count shape[TUTTI_MAX_DIMS] = {0};
        const tutti_slice s =
            random_slice(rnd(5) ? kind : EMPTY, p->spec.ndims, p->spec.shape, r, ranks);
        const tutti_count n = tutti_slice_count(p->spec.ndims, &s, shape);
        frame got = random_frame(p, shape, framed), want = got;
        if (r == rank) {
            unsigned char *packed = calloc((size_t)(n * p->size) + 1, 1);
            want.memory = malloc(want.bytes + 1);
            frame_fill(&got, 5);
            frame_fill(&want, 5);
            picture_move(p, &s, packed, 0);
            if (n > 0) frame_move(p, &want, shape, packed, 1);
            free(packed);
            const tutti_section *m = frame_section(&got);
            if (way == 0) CHECK_OK(tutti_array_read(a, &s, m, got.memory));
            if (way == 1) {
                CHECK_OK(tutti_array_read_start(a, &s, m, got.memory, &q));
                CHECK_OK(tutti_request_wait(&q, NULL));
            }
            if (way == 2) CHECK_OK(tutti_array_read_independent(a, &s, m, got.memory));
            if (way == 3) {
                const tutti_slice whole = tutti_slice_all(p->spec.ndims, p->spec.shape);
                /* the next call replaces this prefetch */
                if (other) CHECK_OK(tutti_array_prefetch(a, &whole));
                CHECK_OK(tutti_array_prefetch(a, &s));
                CHECK_OK(tutti_array_read(a, &s, m, got.memory));
            }
            CHECK(memcmp(got.memory, want.memory, got.bytes) == 0, "read by way %d differs", way);
            free(want.memory);
        }
        frame_free(&got);
    }
}

/* One rank writes and reads independently. */
static void alone_step(tutti_array *a, picture *p) {
    const int who = (int)rnd(ranks);
    const tutti_slice s = random_slice(STRIDED, p->spec.ndims, p->spec.shape, 0, 1);
    const tutti_count n = tutti_slice_count(p->spec.ndims, &s, NULL);
    unsigned char *v = malloc((size_t)(n * p->size) + 1);
    for (tutti_count i = 0; i < n * p->size; i++) v[i] = mix((uint64_t)i, 99);
    if (rank == who) CHECK_OK(tutti_array_write_independent(a, &s, NULL, v));
    picture_move(p, &s, v, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    free(v);
}

static void fill_step(tutti_array *a, picture *p) {
    unsigned char element[32];
    for (int i = 0; i < 32; i++) element[i] = (unsigned char)rnd(256);
    CHECK_OK(tutti_array_fill(a, element));
    for (tutti_count i = 0; i < p->n; i++) memcpy(p->v + i * p->size, element, (size_t)p->size);
}

/* Change the extent of the slowest dimension; new elements are zero. */
static void resize_step(tutti_array *a, picture *p) {
    const int slow = p->spec.order == TUTTI_ROW_MAJOR ? 0 : p->spec.ndims - 1;
    const tutti_count n = rnd(2 * p->spec.shape[slow] + 1);
    CHECK_OK(tutti_array_resize(a, n));
    unsigned char *old = picture_bytes(p);
    picture next = *p;
    next.spec.shape[slow] = n;
    next = picture_make(&next.spec);
    const tutti_count keep = (n < p->spec.shape[slow] ? next.n : p->n) * p->size;
    unsigned char *v = calloc((size_t)(next.n * next.size) + 1, 1);
    memcpy(v, old, (size_t)keep);
    const tutti_slice all = tutti_slice_all(next.spec.ndims, next.spec.shape);
    picture_move(&next, &all, v, 1);
    picture_free(p);
    free(old);
    free(v);
    *p = next;
}

static void one_round(int round) {
    char where[200];
    tutti_array *a = NULL;
    tutti_array_spec seen;
    const int ndims = 1 + round % DIMS, raw = !rnd(3);
    tutti_array_spec spec = random_spec(ndims, 1 + rnd(6000));
    const tutti_options opt = options_of(ways[rnd(sizeof ways / sizeof ways[0])]);
    spec.offset = raw ? rnd(300) : 0;
    snprintf(where, sizeof where, "round %d, %d dimensions, %s, method %d", round, ndims,
             raw ? "raw" : "header", opt.method);
    check_where(where);
    if (raw)
        CHECK_SAME(tutti_array_open_raw(MPI_COMM_WORLD, path,
                                        TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &spec, &opt, &a),
                   TUTTI_OK);
    else
        CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &opt, &a), TUTTI_OK);
    if (!a) return;
    tutti_array_describe(a, &seen);
    const tutti_off offset = seen.offset;
    CHECK_EQ(offset, raw ? spec.offset : 4096);
    picture p = picture_make(&spec);
    CHECK_EQ(seen.element_size, p.size);
    if (!rnd(3)) fill_step(a, &p);
    for (int i = 0; i < STEPS && check_failures_ == 0; i++) {
        if (!rnd(4)) resize_step(a, &p);
        if (p.n == 0) break;
        write_step(a, &p, (int)rnd(2));
        if (i % 2) alone_step(a, &p);
        read_step(a, &p, (int)rnd(4));
    }
    if (rnd(2)) CHECK_OK(tutti_array_sync(a));
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    picture_is_in(&p, path, offset);
    if (!raw) { /* existing elements are unchanged */
        seen = p.spec;
        seen.offset = 0;
        CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, &seen, &opt, &a), TUTTI_OK);
        if (a && p.n > 0) read_step(a, &p, 0);
        if (a) CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    }
    picture_free(&p);
    file_remove(path);
}

/* Starting a write does not wait for other ranks, even after a prefetch; the prefetched data is discarded. */
static void start_step(const char *options) {
    const tutti_options opt = options_of(options);
    const tutti_array_spec spec = {.ndims = 1, .shape = {1000}, .type = TUTTI_UINT8};
    const tutti_slice all = tutti_slice_all(1, spec.shape);
    unsigned char v[1000], w[1000];
    tutti_array *a = NULL;
    tutti_request *q = NULL;
    check_where(options);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &opt, &a), TUTTI_OK);
    for (int i = 1; i < 3; i++) {
        memset(v, i, sizeof v);
        CHECK_SAME(tutti_array_prefetch(a, &all), TUTTI_OK);
        if (rank > 0) MPI_Recv(w, 0, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_OK(tutti_array_write_start(a, &all, NULL, v, &q));
        if (rank + 1 < ranks) MPI_Send(w, 0, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
        CHECK_SAME(tutti_request_wait(&q, NULL), TUTTI_OK);
        CHECK_SAME(tutti_array_read(a, &all, NULL, w), TUTTI_OK);
        CHECK(memcmp(v, w, sizeof v) == 0, "what was prefetched is old");
    }
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    file_remove(path);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 850);
    snprintf(path, sizeof path, "%s", scratch_path("slices"));
    const int rounds = ranks > 3 ? 20 : 40;
    for (int i = 0; i < rounds && check_failures_ == 0; i++) one_round(i);
    start_step("method=two-phase");
    start_step("method=two-phase background=none");
    return harness_end();
}
