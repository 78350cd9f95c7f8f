/* TEST ranks=1,3 timeout=120 */
/* Untrusted headers: every byte damaged, headers with a correct checksum and inconsistent values,
 * files truncated anywhere, foreign files, parts of other arrays, an interrupted resize.  The
 * original array is opened, or open fails.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"
#include "array/arrays.h"

static char path[512];
static const tutti_array_spec good = {
    .ndims = 3, .shape = {5, 2, 4}, .type = TUTTI_FLOAT32, .element_size = 4, .offset = 4096};
enum { HALF = 2048, FILE_BYTES = 4096 + 5 * 2 * 4 * 4 };
static unsigned char whole[FILE_BYTES + 64];

static int same_array(const tutti_array_spec *s) {
    return s->ndims == good.ndims && s->order == good.order && s->type == good.type &&
           s->element_size == good.element_size && s->offset == good.offset &&
           memcmp(s->shape, good.shape, sizeof s->shape) == 0;
}

/* ---- headers in memory */

static tutti__header header_good(void) {
    return (tutti__header){.version = 1, .spec = good, .bytes = FILE_BYTES - 4096};
}

/* Damage to one slot leaves the other one valid; damage to both is reported. */
static void damage_bytes(void) {
    unsigned char block[TUTTI__HEADER_BYTES];
    tutti__header h = header_good(), back;
    tutti__header_write(&h, block);
    CHECK_OK(tutti__header_read(block, &back));
    CHECK(same_array(&back.spec) && back.version == 1 && back.bytes == h.bytes, "not the same");
    for (int i = 0; i < HALF; i++)
        for (int bit = 0; bit < 9; bit++) {
            const unsigned char flip = bit < 8 ? (unsigned char)(1 << bit) : 0xff;
            block[i] ^= flip;
            CHECK(tutti__header_read(block, &back) == TUTTI_OK && same_array(&back.spec),
                  "byte %d of the first slot", i);
            block[HALF + i] ^= flip;
            CHECK_ERR(tutti__header_read(block, &back), TUTTI_ERR_FORMAT);
            block[i] ^= flip;
            CHECK(tutti__header_read(block, &back) == TUTTI_OK && same_array(&back.spec),
                  "byte %d of the second slot", i);
            block[HALF + i] ^= flip;
        }
    for (int i = 0; i < 20000; i++) { /* both slots have random bytes */
        for (int k = 0; k < 6; k++) block[rnd(HALF)] = (unsigned char)rnd(256);
        memcpy(block + HALF, block, HALF);
        CHECK(tutti__header_read(block, &back) != TUTTI_OK, "soup");
    }
}

/* Set the checksum of a slot, regardless of its contents. */
static void set_checksum(unsigned char *slot) {
    tutti__store_le64(slot + HALF - 8, tutti__hash(TUTTI__HASH_START, slot, HALF - 8));
}

static void put_values(unsigned char *at, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(v >> (8 * i));
}

static void check_inconsistent(int at, int bytes, uint64_t v, const char *words) {
    unsigned char block[TUTTI__HEADER_BYTES];
    tutti__header h = header_good(), back;
    tutti__header_write(&h, block);
    put_values(block + at, v, bytes);
    set_checksum(block);
    memcpy(block + HALF, block, HALF);
    CHECK_ERR(tutti__header_read(block, &back), TUTTI_ERR_FORMAT);
    CHECK(strstr(tutti_last_message(), words), "'%s' not in: %s", words, tutti_last_message());
}

static void test_lies(void) {
    check_inconsistent(0, 1, 0x88, "wrong signature");
    check_inconsistent(8, 4, 2, "array format 2");
    check_inconsistent(8, 4, 0, "format is 0");
    check_inconsistent(12, 4, 3, "placement");
    check_inconsistent(12, 4, 1, "number of parts is 0");
    check_inconsistent(12, 4, 2, "number of parts is 0");
    check_inconsistent(24, 4, TUTTI_FLOAT16 + 1, "type");
    check_inconsistent(24, 4, UINT32_MAX, "type");
    check_inconsistent(24, 4, TUTTI_INT64, "element_size is");
    check_inconsistent(28, 4, 2, "order");
    check_inconsistent(32, 4, 0, "byte order");
    check_inconsistent(32, 4, 2, "endian");
    check_inconsistent(32, 4, 3, "byte order");
    check_inconsistent(36, 4, 0, "ndims");
    check_inconsistent(36, 4, 17, "ndims");
    check_inconsistent(36, 4, 2, "bytes");
    check_inconsistent(40, 8, 0, "");
    check_inconsistent(40, 8, 5, "element_size is");
    check_inconsistent(40, 8, UINT64_MAX, "element size");
    check_inconsistent(48, 8, 100, "header");
    check_inconsistent(48, 8, (uint64_t)1 << 62, "offset");
    check_inconsistent(48, 8, ((uint64_t)1 << 62) - 10, "2^62");
    check_inconsistent(56, 8, 159, "bytes");
    check_inconsistent(56, 8, UINT64_MAX, "bytes");
    check_inconsistent(72, 4, UINT32_MAX, "ranks");
    check_inconsistent(76, 4, UINT32_MAX, "rank");
    check_inconsistent(80, 8, 6, "bytes");
    check_inconsistent(80, 8, UINT64_MAX, "extent");
    check_inconsistent(88, 8, (uint64_t)1 << 61, "2^62");
    check_inconsistent(208, 4, 5, "distribution");
    check_inconsistent(212, 4, UINT32_MAX, "ranks");
    check_inconsistent(216, 8, UINT64_MAX, "block");
}

/* Random headers of every placement are read back unchanged. */
static void round_trips(void) {
    unsigned char block[TUTTI__HEADER_BYTES];
    for (int i = 0; i < 300; i++) {
        tutti__header h = {.version = rnd64(), .id = rnd64()}, back;
        const tutti_array_spec s = random_spec(1 + (int)rnd(DIMS), 1000);
        CHECK_OK(tutti__spec_check(&s, &h.spec, &h.bytes));
        h.spec.offset = 4096;
        h.placement = rnd(2) ? TUTTI__PART : TUTTI__GLOBAL;
        h.ranks = 1 + (int)rnd(1000);
        h.rank = (int)rnd(h.ranks);
        tutti__header_write(&h, block);
        CHECK_OK(tutti__header_read(block, &back));
        CHECK(memcmp(&h.spec, &back.spec, sizeof h.spec) == 0 && h.version == back.version &&
                  h.id == back.id && h.rank == back.rank && h.ranks == back.ranks &&
                  h.placement == back.placement && h.bytes == back.bytes,
              "not the same");
    }
}

/* ---- files */

static tutti_err try_open(const char *name) {
    tutti_array *a = NULL;
    const tutti_err err =
        same_everywhere(tutti_array_open(MPI_COMM_WORLD, name, TUTTI_READ, NULL, NULL, &a));
    if (err == TUTTI_OK) {
        tutti_array_spec s;
        tutti_array_describe(a, &s);
        CHECK(same_array(&s), "another array");
        CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    }
    CHECK(a == NULL, "an array after an error");
    return err;
}

static void cut_off(void) {
    check_where("cut off");
    static const int lengths[] = {0, 1, 8, 2047, 4095, 4096, 4100, FILE_BYTES - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        file_put(path, whole, lengths[i]);
        CHECK_ERR(try_open(path), TUTTI_ERR_FORMAT);
        CHECK(strstr(tutti_last_message(), path), "%s", tutti_last_message());
    }
    file_put(path, whole, FILE_BYTES);
    CHECK_OK(try_open(path));
    file_put(path, whole, FILE_BYTES + 64); /* the file is longer, as after an interrupted resize */
    CHECK_OK(try_open(path));
}

static void test_foreign(void) {
    check_where("foreign");
    unsigned char other[8000];
    for (size_t i = 0; i < sizeof other; i++) other[i] = mix(3, i);
    file_put(path, other, sizeof other);
    CHECK_ERR(try_open(path), TUTTI_ERR_FORMAT);
    memcpy(other, "\x93NUMPY", 6);
    file_put(path, other, sizeof other);
    CHECK_ERR(try_open(path), TUTTI_ERR_FORMAT);
    memset(other, 0, sizeof other);
    file_put(path, other, sizeof other);
    CHECK_ERR(try_open(path), TUTTI_ERR_FORMAT);
}

/* If the file is truncated while open, the next read fails on all ranks. */
static void test_shrinks(void) {
    tutti_array *a = NULL;
    float v[40];
    tutti_request *q = NULL;
    const tutti_slice all = tutti_slice_all(3, good.shape);
    check_where("shrinks");
    file_put(path, whole, FILE_BYTES);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_read(a, &all, NULL, v), TUTTI_OK);
    file_put(path, whole, FILE_BYTES - 5);
    CHECK_SAME(tutti_array_read(a, &all, NULL, v), TUTTI_ERR_TRUNCATED);
    CHECK_OK(tutti_array_read_start(a, &all, NULL, v, &q));
    CHECK_SAME(tutti_request_wait(&q, NULL), TUTTI_ERR_TRUNCATED);
    CHECK_ERR(tutti_array_read_independent(a, &all, NULL, v), TUTTI_ERR_TRUNCATED);
    CHECK_SAME(tutti_array_prefetch(a, &all), TUTTI_OK);
    CHECK_SAME(tutti_array_read(a, &all, NULL, v), TUTTI_ERR_TRUNCATED);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
}

/* A resize that is interrupted after any step leaves the old or the new array. */
static void resize_cut_off(void) {
    unsigned char after[FILE_BYTES + 64], mixed[FILE_BYTES + 64];
    tutti_array *a = NULL;
    tutti_array_spec s;
    check_where("resize cut off");
    file_put(path, whole, FILE_BYTES);
    CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_WRITE, NULL, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_resize(a, 6), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    int64_t n = 0;
    unsigned char *v = file_get(path, &n);
    CHECK_EQ(n, FILE_BYTES + 32);
    memcpy(after, v, (size_t)n);
    free(v);
    for (int cut = 0; cut <= 4096; cut += cut == 2047 || cut == 4095 ? 1 : 89) {
        memcpy(mixed, after, (size_t)n);
        memcpy(mixed, whole, 4096);
        memcpy(mixed, after, (size_t)cut); /* the new header up to `cut` */
        file_put(path, mixed, n);
        CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, NULL, &a), TUTTI_OK);
        tutti_array_describe(a, &s);
        CHECK(s.shape[0] == (cut < HALF - 8 ? 5 : 6) || (cut < HALF && s.shape[0] >= 5), "%lld",
              (long long)s.shape[0]);
        CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    }
}

/* ---- local placement: descriptor and parts */

static char name[560], own_path[600];

/* Test descriptors whose distribution is inconsistent. */
static void descriptors(const unsigned char *v, int64_t n, unsigned char *x) {
    static const struct {
        int at, bytes;
        uint64_t v;
    } tries[] = {{208, 4, TUTTI_DIST_BLOCK_CYCLIC},
                 {212, 4, 0},
                 {212, 4, 4096},
                 {72, 4, 0},
                 {208, 4, 1},
                 {56, 8, 0},
                 {56, 8, 1 << 20},
                 {80, 8, 6}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        memcpy(x, v, (size_t)n);
        put_values(x + tries[i].at, tries[i].v, tries[i].bytes);
        set_checksum(x);
        memcpy(x + HALF, x, HALF);
        file_put(name, x, n);
        const tutti_err err = try_open(name);
        CHECK(err == TUTTI_ERR_FORMAT, "try %zu: %s", i, tutti_error_name(err));
    }
    for (int i = 0; i <= ranks; i++) { /* bounds of irregular blocks are wrong */
        memcpy(x, v, (size_t)n);
        put_values(x + 4096 + 8 * i, i % 2 ? UINT64_MAX : 77, 8);
        file_put(name, x, n);
        CHECK_ERR(try_open(name), TUTTI_ERR_FORMAT);
    }
    file_put(name, v, n - 1);
    CHECK_ERR(try_open(name), TUTTI_ERR_FORMAT);
    file_put(name, v, n);
    CHECK_OK(try_open(name));
}

static void part_put(const unsigned char *v, int64_t n) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) {
        FILE *f = fopen(own_path, "wb");
        CHECK(f && fwrite(v, 1, (size_t)n, f) == (size_t)n && fclose(f) == 0, "cannot write");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The part of the last rank belongs to another array or another rank, is damaged, or is truncated. */
static void bad_parts(const unsigned char *w, int64_t n) {
    unsigned char *x = malloc((size_t)n);
    for (int i = 0; i < 4; i++) {
        memcpy(x, w, (size_t)n);
        if (i == 0) x[64] ^= 1;
        if (i == 1) put_values(x + 72, 1000, 4), put_values(x + 76, 999, 4);
        if (i == 2) x[100] ^= 1;
        if (i != 2) set_checksum(x);
        memcpy(x + HALF, x, HALF);
        part_put(x, i == 3 ? n - 1 : n);
        const tutti_err err = try_open(name);
        CHECK(err == TUTTI_ERR_FORMAT, "part %d: %s", i, tutti_error_name(err));
        CHECK_EQ(tutti_last_error()->rank, ranks - 1);
        part_put(w, n);
        CHECK_OK(try_open(name));
    }
    free(x);
}

static void test_locals(void) {
    tutti_array *a = NULL;
    tutti_distribution *d = NULL;
    tutti_count bounds[MOST_RANKS + 1] = {0};
    check_where("parts");
    for (int p = 1; p <= ranks; p++) bounds[p] = p == ranks ? 5 : 1;
    const tutti_dist_dim dims[3] = {{TUTTI_DIST_RAGGED, ranks, 0, bounds},
                                    {TUTTI_DIST_NONE, 1, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    CHECK_OK(tutti_distribution_make(3, good.shape, dims, &d));
    snprintf(name, sizeof name, "%s.l", path);
    snprintf(own_path, sizeof own_path, "%s.%d", name, rank);
    CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, name, &good, d, NULL, &a), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
    CHECK_OK(try_open(name));
    int64_t n = 0, part = 0;
    unsigned char *v = file_get(name, &n), *w = file_bytes(own_path, &part), *x = malloc((size_t)n);
    CHECK_EQ(n, 4096 + 8 * (ranks + 1));
    descriptors(v, n, x);
    bad_parts(w, part);
    free(v);
    free(w);
    free(x);
    tutti_distribution_free(&d);
    MPI_Barrier(MPI_COMM_WORLD);
    (void)unlink(own_path);
    file_remove(name);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 855);
    snprintf(path, sizeof path, "%s", scratch_path("headers"));
    tutti__header h = header_good();
    tutti__header_write(&h, whole);
    if (rank == 0) {
        damage_bytes();
        test_lies();
        round_trips();
    }
    check_seed(856); /* only rank 0 has drawn random numbers */
    cut_off();
    test_foreign();
    test_shrinks();
    resize_cut_off();
    test_locals();
    file_remove(path);
    return harness_end();
}
