/* TEST ranks=1,2,3,5,8 timeout=90 */
/* Every distribution, in every placement and order: parts are written and read whole, local arrays
 * by slices, and arrays are copied between all placements; compared with a serial reference.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

static char path[512], second[520], third[520];

/* Copy the elements of `within` that are in the part of rank `who` between the picture and `packed`,
 * in the order of the array. */
static void part_move(const picture *p, const tutti_distribution *d, int who,
                      const tutti_slice *within, unsigned char *packed, int is_write) {
    tutti_count shape[TUTTI_MAX_DIMS] = {0}, at[TUTTI_MAX_DIMS] = {0}, g[TUTTI_MAX_DIMS];
    const int nd = p->spec.ndims;
    if (tutti_distribution_part(d, who, shape) == 0) return;
    do {
        CHECK_OK(tutti_distribution_global(d, who, at, g));
        for (int i = 0; i < nd; i++) g[i] = within->lo[i] + g[i] * within->stride[i];
        unsigned char *v = packed + place_of(nd, p->spec.order, shape, at) * p->size;
        memcpy(is_write ? picture_at(p, g) : v, is_write ? v : picture_at(p, g), (size_t)p->size);
    } while (index_next(nd, shape, at));
}

static tutti_distribution *random_distribution(int nd, const tutti_count *shape, int many) {
    tutti_distribution *d = NULL;
    scheme s;
    random_scheme(&s, nd, shape, many);
    CHECK_OK(tutti_distribution_make(nd, shape, s.dim, &d));
    return d;
}

static void write_parts(tutti_array *a, picture *p, const tutti_distribution *d,
                        const tutti_slice *within) {
    const tutti_slice all = tutti_slice_all(p->spec.ndims, p->spec.shape);
    const uint64_t key = rnd64();
    const int framed = (int)rnd(2);
    for (int r = 0; r < ranks; r++) {
        tutti_count shape[TUTTI_MAX_DIMS] = {0};
        const tutti_count n = tutti_distribution_part(d, r, shape);
        unsigned char *packed = calloc((size_t)(n * p->size) + 1, 1);
        frame f = random_frame(p, shape, framed);
        frame_fill(&f, key + (uint64_t)r);
        if (n > 0) frame_move(p, &f, shape, packed, 0);
        if (r == rank)
            CHECK_SAME(tutti_array_write_part(a, d, within, frame_section(&f), f.memory), TUTTI_OK);
        part_move(p, d, r, within ? within : &all, packed, 1);
        frame_free(&f);
        free(packed);
    }
}

static void read_parts(tutti_array *a, const picture *p, const tutti_distribution *d,
                       const tutti_slice *within) {
    const tutti_slice all = tutti_slice_all(p->spec.ndims, p->spec.shape);
    tutti_count shape[TUTTI_MAX_DIMS] = {0};
    const tutti_count n = tutti_distribution_part(d, rank, shape);
    unsigned char *packed = calloc((size_t)(n * p->size) + 1, 1);
    const uint64_t keep = check_state_;
    frame got = random_frame(p, shape, (int)(keep % 2));
    frame want = got;
    check_state_ = keep; /* each rank has drawn numbers for its own frame */
    want.memory = malloc(want.bytes + 1);
    frame_fill(&got, 9);
    frame_fill(&want, 9);
    part_move(p, d, rank, within ? within : &all, packed, 0);
    if (n > 0) frame_move(p, &want, shape, packed, 1);
    CHECK_SAME(tutti_array_read_part(a, d, within, frame_section(&got), got.memory), TUTTI_OK);
    CHECK(memcmp(got.memory, want.memory, got.bytes) == 0, "parts differ");
    free(packed);
    frame_free(&got);
    frame_free(&want);
}

/* Read and write parts of the whole array and of a slice, also for fewer ranks than the communicator has. */
static void global_round(tutti_array *a, picture *p) {
    const int nd = p->spec.ndims;
    for (int i = 0; i < 2; i++) {
        const tutti_slice s = random_slice(i ? STRIDED : WHOLE, nd, p->spec.shape, 0, 1);
        tutti_count shape[TUTTI_MAX_DIMS] = {0};
        (void)tutti_slice_count(nd, &s, shape);
        tutti_distribution *d =
            random_distribution(nd, shape, rnd(3) ? ranks : 1 + (int)rnd(ranks));
        write_parts(a, p, d, i ? &s : NULL);
        read_parts(a, p, d, i ? &s : NULL);
        tutti_distribution_free(&d);
    }
}

/* Indices in slices of a local array are relative to the part. */
static void local_slices(tutti_array *a, picture *p) {
    const tutti_distribution *d = tutti_array_distribution(a);
    const tutti_slice all = tutti_slice_all(p->spec.ndims, p->spec.shape);
    for (int r = 0; r < ranks; r++) {
        picture part = {.spec = p->spec};
        const tutti_count n = tutti_distribution_part(d, r, part.spec.shape);
        part = picture_make(&part.spec);
        unsigned char *bytes = calloc((size_t)(n * p->size) + 1, 1);
        const tutti_slice whole = tutti_slice_all(part.spec.ndims, part.spec.shape);
        part_move(p, d, r, &all, bytes, 0);
        picture_move(&part, &whole, bytes, 1);
        const tutti_slice s =
            random_slice(n ? STRIDED : EMPTY, part.spec.ndims, part.spec.shape, 0, 1);
        const tutti_count k = tutti_slice_count(part.spec.ndims, &s, NULL);
        unsigned char *v = malloc((size_t)(k * p->size) + 1);
        for (tutti_count i = 0; i < k * p->size; i++) v[i] = mix((uint64_t)i, (uint64_t)r);
        if (r == rank) {
            unsigned char *got = malloc((size_t)(k * p->size) + 1);
            CHECK_SAME(tutti_array_write(a, &s, NULL, v), TUTTI_OK);
            CHECK_SAME(tutti_array_prefetch(a, &s), TUTTI_OK);
            CHECK_SAME(tutti_array_read(a, &s, NULL, got), TUTTI_OK);
            CHECK(memcmp(got, v, (size_t)(k * p->size)) == 0, "prefetched");
            CHECK_OK(tutti_array_read_independent(a, &s, NULL, got));
            CHECK(memcmp(got, v, (size_t)(k * p->size)) == 0, "read alone");
            free(got);
        }
        picture_move(&part, &s, v, 1);
        picture_move(&part, &whole, bytes, 0);
        part_move(p, d, r, &all, bytes, 1);
        picture_free(&part);
        free(bytes);
        free(v);
    }
    read_parts(a, p, d, NULL);
}

static tutti_array *local_array(const char *name, const picture *p, const tutti_options *opt) {
    tutti_array *a = NULL;
    tutti_distribution *d = random_distribution(p->spec.ndims, p->spec.shape, ranks);
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, name, &p->spec, d, opt, &a), TUTTI_OK);
    tutti_distribution_free(&d);
    return a;
}

static void local_remove(const char *name) {
    char own_path[600];
    snprintf(own_path, sizeof own_path, "%s.%d", name, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    (void)unlink(own_path);
    file_remove(name);
}

static void copied(tutti_array *from, tutti_array *to, const picture *p) {
    tutti_count shape[TUTTI_MAX_DIMS] = {0};
    CHECK_SAME(tutti_array_copy(from, to, p->size * (100 + rnd(400)), NULL, NULL), TUTTI_OK);
    const tutti_distribution *d = tutti_array_distribution(to);
    if (!d) return;
    tutti_array_spec spec;
    tutti_array_describe(to, &spec);
    picture other = *p; /* `other` has the order of the copy */
    other.spec.order = spec.order;
    (void)tutti_distribution_part(d, rank, shape);
    read_parts(to, &other, d, NULL);
}

/* Open a local array again; its parts can also be opened separately. */
static void found_again(tutti_array **a, const picture *p, const tutti_options *opt) {
    char own_path[600];
    tutti_array_spec seen;
    tutti_array *part = NULL;
    CHECK_SAME(tutti_array_close(a), TUTTI_OK);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, second, TUTTI_READ | TUTTI_WRITE, NULL, opt, a),
               TUTTI_OK);
    if (!*a) return;
    tutti_array_describe(*a, &seen);
    CHECK(memcmp(seen.shape, p->spec.shape, sizeof seen.shape) == 0, "another shape");
    read_parts(*a, p, tutti_array_distribution(*a), NULL);
    snprintf(own_path, sizeof own_path, "%s.%d", second, rank);
    CHECK_OK(tutti_array_open(MPI_COMM_SELF, own_path, TUTTI_READ, NULL, opt, &part));
    tutti_count shape[TUTTI_MAX_DIMS] = {0};
    (void)tutti_distribution_part(tutti_array_distribution(*a), rank, shape);
    tutti_array_describe(part, &seen);
    CHECK(memcmp(seen.shape, shape, (size_t)p->spec.ndims * sizeof shape[0]) == 0, "part's shape");
    CHECK_OK(tutti_array_close(&part));
}

static void one_round(int round) {
    char where[100];
    const tutti_options opt = options_of(round % 3 ? "" : "method=two-phase cb_buffer_size=64k");
    tutti_array *global = NULL, *turned = NULL;
    tutti_array_spec spec = random_spec(1 + round % DIMS, 1 + rnd(3000)), other = spec;
    const unsigned char element[32] = {7, 3};
    snprintf(where, sizeof where, "round %d", round);
    check_where(where);
    picture p = picture_make(&spec);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &opt, &global), TUTTI_OK);
    global_round(global, &p);

    tutti_array *a = local_array(second, &p, &opt), *b = NULL;
    copied(global, a, &p);
    local_slices(a, &p);
    found_again(&a, &p, &opt);
    picture q = p; /* q has the same elements in the other order, by another distribution */
    q.spec.order = other.order = (tutti_order)(1 - (int)spec.order);
    b = local_array(third, &q, &opt);
    copied(a, b, &p);
    CHECK_SAME(tutti_array_fill(a, element), TUTTI_OK); /* later reads of the original would fail */
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    local_remove(second);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, second, &other, &opt, &turned), TUTTI_OK);
    copied(b, turned, &p);
    CHECK_SAME(tutti_array_close(&turned), TUTTI_OK);
    picture_is_in(&q, second, 4096);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, second, TUTTI_READ, &other, &opt, &turned),
               TUTTI_OK);
    const unsigned char zero[32] = {0};
    CHECK_SAME(tutti_array_fill(global, zero), TUTTI_OK);
    copied(turned, global, &p); /* converts the element order */
    CHECK_SAME(tutti_array_close(&turned), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&b), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&global), TUTTI_OK);
    picture_is_in(&p, path, 4096);
    local_remove(third);
    file_remove(second);
    file_remove(path);
    picture_free(&p);
}

/* ---- partitions in the file: each is distributed over all ranks and read whole */
static void test_partitions(void) {
    const tutti_array_spec spec = {
        .ndims = 2, .shape = {37, 11}, .order = TUTTI_COL_MAJOR, .type = TUTTI_INT32};
    tutti_array *a = NULL;
    picture p = picture_make(&spec);
    check_where("partitions");
    for (tutti_count i = 0; i < p.n * p.size; i++) p.v[i] = mix((uint64_t)i, 5);
    CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, NULL, &a), TUTTI_OK);
    const tutti_dist_dim dims[] = {{TUTTI_DIST_BLOCK, ranks, 0, NULL},
                                   {TUTTI_DIST_NONE, 1, 0, NULL}};
    CHECK_EQ(tutti_array_partitions(a, 1, 36 * 4), 0);
    CHECK_EQ(tutti_array_partitions(a, 1, 37 * 4), 11);
    CHECK_EQ(tutti_array_partitions(a, 2, 37 * 4), 6);
    CHECK_EQ(tutti_array_partitions(a, 1, INT64_MAX), 1);
    CHECK_EQ(tutti_array_partitions(a, 0, 100), 0);
    const tutti_count n = tutti_array_partitions(a, ranks, 37 * 4 * 3 / ranks + 1);
    tutti_count seen = 0;
    for (tutti_count k = 0; k < n; k++) {
        tutti_distribution *d = NULL;
        tutti_count shape[2];
        const tutti_slice s = tutti_array_partition(a, n, k);
        CHECK_EQ(s.lo[1], seen);
        seen = s.hi[1];
        (void)tutti_slice_count(2, &s, shape);
        CHECK_OK(tutti_distribution_make(2, shape, dims, &d));
        write_parts(a, &p, d, &s);
        read_parts(a, &p, d, &s);
        tutti_distribution_free(&d);
    }
    CHECK_EQ(seen, 11);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    picture_is_in(&p, path, 4096);
    picture_free(&p);
    file_remove(path);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 852);
    snprintf(path, sizeof path, "%s", scratch_path("parts"));
    snprintf(second, sizeof second, "%s.b", path);
    snprintf(third, sizeof third, "%s.c", path);
    const int rounds = ranks > 3 ? 10 : 15;
    for (int i = 0; i < rounds && check_failures_ == 0; i++) one_round(i);
    test_partitions();
    return harness_end();
}
