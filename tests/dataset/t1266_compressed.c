/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Compressed variables, written on N ranks and read on M ranks, equal a serial model: all types, grids of one to
 * four dimensions and lists, sizes around multiples of the chunk size, empty spaces.  The data file is
 * the same for any number of ranks and any decomposition.  Invalid calls; damaged files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "compression/chunks.h"
#include "segments/dataset_impl.h"
#include "dataset/datasets.h"

enum { SPACES = 7, VARIABLES = 15, SEGMENTS = 3 };

static char path[512];
static const tutti_type types[] = {TUTTI_INT8,      TUTTI_INT16,   TUTTI_INT32,   TUTTI_INT64,
                                   TUTTI_UINT8,     TUTTI_UINT16,  TUTTI_UINT32,  TUTTI_UINT64,
                                   TUTTI_FLOAT32,   TUTTI_FLOAT64, TUTTI_FLOAT16, TUTTI_COMPLEX64,
                                   TUTTI_COMPLEX128};
enum { TYPES = sizeof types / sizeof types[0], REAL = 10 };

/* ---- the variables */

static struct {
    char name[16];
    int ndims, is_list;
    tutti_count shape[TUTTI_MAX_DIMS], entries;
} space[SPACES];

static struct {
    char name[16];
    int on; /* index in `space` */
    tutti_variable_spec spec;
    int numbers;
} v[VARIABLES];

static tutti_off chunk_bytes;

static void spaces_random(void) {
    for (int i = 0; i < SPACES; i++) {
        space[i].is_list = i == SPACES - 1;
        space[i].ndims = i < 4 ? i + 1 : i == 4 ? 2 : 1;
        space[i].entries = 1;
        snprintf(space[i].name, sizeof space[i].name, "s%d", i);
        for (int k = 0; k < space[i].ndims; k++) {
            const tutti_count few = (tutti_count)(400 >> (3 * (space[i].ndims - 1)));
            space[i].shape[k] = 1 + (tutti_count)rnd(few + 7);
            if (i == 4 && k == 1) space[i].shape[k] = 0;
            space[i].entries *= space[i].shape[k];
        }
    }
    /* the number of entries is a multiple of the chunk size, or one more or less */
    chunk_bytes = (tutti_off[]){64, 100, 256, 1000, TUTTI__CHUNK_BYTES}[rnd(5)];
    space[5].entries = space[5].shape[0] = (chunk_bytes < 2000 ? chunk_bytes : 64) * 2 - 1 + rnd(3);
}

static void variables_random(void) {
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_item items[] = {TUTTI_SCALAR, TUTTI_SCALAR, TUTTI_VECTOR, TUTTI_SYM_TENSOR};
        const tutti_item item = i == 0 ? TUTTI_SCALAR : items[rnd(4)];
        snprintf(v[i].name, sizeof v[i].name, "v%d", i);
        v[i].on = i == 0 ? 5 : (i + (int)rnd(2)) % SPACES;
        v[i].spec =
            (tutti_variable_spec){.space = space[v[i].on].name,
                                  .item = item,
                                  .components = item == TUTTI_VECTOR ? 2 : 0,
                                  .type = types[i % TYPES],
                                  .order = rnd(2) ? TUTTI_BIG_ENDIAN : TUTTI_LITTLE_ENDIAN,
                                  .fill = rnd(2) ? 77 : 0,
                                  .compress = i == 0 || i == VARIABLES - 1 ? 0 : 1 + (int)rnd(4)};
        v[i].numbers = item == TUTTI_VECTOR ? 2 : item == TUTTI_SYM_TENSOR ? 6 : 1;
    }
}

static tutti_type memory_type(int i, int salt) {
    const tutti_type t = types[mix((uint64_t)i, (uint64_t)salt) % REAL];
    if (halves_of(v[i].spec.type) == 2) return salt % 2 ? TUTTI_COMPLEX64 : TUTTI_COMPLEX128;
    return t;
}

/* ---- decompositions */

/* The entries of this rank and their positions in the space.  In memory they are contiguous, or in reverse
 * order with gaps (`turned`). */
typedef struct {
    tutti_decomposition *p;
    tutti_count n, *position;
    int turned;
} decomposed;

/* Create a decomposition of space `s`.  kind 0: scattered entries in any order; 1: overlapping blocks of
 * rows; 2: every some_n-th index of the last dimension; 3: consecutive entries.  part: some entries of the
 * space belong to no rank. */
static decomposed decompose(tutti_dataset *d, tutti_count segment, int s, int kind, int part) {
    decomposed h = {.turned = kind == 0 && mix((uint64_t)s, 3) % 2};
    tutti_decomposition_spec spec = {.kind = kind == 3 ? TUTTI_BY_RANK_ORDER : TUTTI_BY_SLICE};
    const tutti_count all = space[s].entries, last = space[s].ndims - 1;
    tutti_count *index = malloc((size_t)(2 * all + 1) * sizeof *index);
    for (int k = 0; k < space[s].ndims && (kind == 1 || kind == 2); k++)
        spec.slice.hi[k] = space[s].shape[k];
    const tutti_count first = space[s].shape[0];
    if (kind == 0) {
        const distribution l = {.seed = (uint64_t)(900 + s), .holes = part ? 5 : 0, .copies = 4};
        spec.kind = TUTTI_BY_INDEX;
        for (tutti_count i = 0; i < all; i++) {
            /* each position occurs once, because 7919 is prime */
            const tutti_count position = i * 7919 % all;
            if (is_on_rank(&l, position, some_rank, some_n)) index[spec.n++] = position;
        }
        for (tutti_count i = 0; i < spec.n; i++) index[all + i] = 2 * (spec.n - i) - 1;
        spec.index = index;
        spec.memory = h.turned ? index + all : NULL;
    } else if (kind == 1) {
        spec.slice.lo[0] = first * some_rank / some_n;
        spec.slice.hi[0] = first * (some_rank + 1) / some_n;
        if (spec.slice.hi[0] < first && spec.slice.hi[0] > spec.slice.lo[0]) spec.slice.hi[0]++;
        if (part) spec.slice.hi[0] = spec.slice.lo[0] + (spec.slice.hi[0] - spec.slice.lo[0]) / 2;
    } else if (kind == 2) {
        spec.slice.lo[last] = some_rank < space[s].shape[last] ? some_rank : space[s].shape[last];
        spec.slice.stride[last] = some_n + part;
    } else {
        spec.n = all * (some_rank + 1) / some_n - all * some_rank / some_n;
    }
    CHECK_OK(tutti_decomposition_create_at(d, space[s].name, segment, &spec, &h.p));
    h.n = tutti_decomposition_entries(h.p);
    h.position = malloc((size_t)(h.n + 1) * sizeof *h.position);
    CHECK_OK(tutti_decomposition_positions(h.p, h.position));
    free(index);
    return h;
}

static void decomposed_free(decomposed *h) {
    tutti_decomposition_free(&h->p);
    free(h->position);
}

/* Return the index in memory of value `k` of entry `e`, which has `numbers` values. */
static tutti_count memory_index(const decomposed *h, int numbers, tutti_count e, int k) {
    return (h->turned ? 2 * (h->n - e) - 1 : e) * numbers + k;
}

static void *numbers_of(const decomposed *h, int i, int segment, tutti_type t) {
    const int n = v[i].numbers * halves_of(t);
    void *buf = calloc((size_t)(2 * h->n * n) + 1, 16);
    for (tutti_count e = 0; e < h->n; e++)
        for (int k = 0; k < n; k++)
            number_set(t, buf, memory_index(h, n, e, k), number_at(i, segment, h->position[e], k));
    return buf;
}

static void check_values(const decomposed *h, int i, int segment, tutti_type t, const void *buf) {
    const int n = v[i].numbers * halves_of(t);
    int wrong = 0;
    for (tutti_count e = 0; e < h->n; e++)
        for (int k = 0; k < n; k++) {
            const double want = number_at(i, segment, h->position[e], k);
            const double got = number_get(t, buf, memory_index(h, n, e, k));
            if (want != got && wrong++ < 3)
                CHECK(0, "segment %d, %s (%s on %s), entry %lld, number %d: %g, not %g", segment,
                      v[i].name, tutti_type_name(v[i].spec.type), space[v[i].on].name,
                      (long long)h->position[e], k, got, want);
        }
}

/* ---- writing and reading */

static tutti_dataset *open_file(MPI_Comm comm, int checksums) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    opt.checksums = checksums;
    CHECK_OK(tutti_dataset_open(
        comm, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &d));
    d->chunk_bytes = chunk_bytes;
    for (int i = 0; i < SPACES; i++)
        if (space[i].is_list)
            CHECK_OK(tutti_dataset_list(d, space[i].name));
        else
            CHECK_OK(tutti_dataset_grid(d, space[i].name, space[i].ndims, space[i].shape));
    for (int i = 0; i < VARIABLES; i++) CHECK_OK(tutti_dataset_variable(d, v[i].name, &v[i].spec));
    return d;
}

static void put_all(tutti_dataset *d, int segment) {
    tutti_put puts[VARIABLES];
    decomposed h[VARIABLES];
    void *buf[VARIABLES];
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_type t = memory_type(i, segment);
        h[i] = decompose(d, -1, v[i].on, (i + segment + some_n) % 4, 0);
        buf[i] = numbers_of(&h[i], i, segment, t);
        puts[i] = (tutti_put){v[i].name, h[i].p, t, buf[i]};
    }
    CHECK_OK(tutti_dataset_put(d, VARIABLES, puts));
    for (int i = 0; i < VARIABLES; i++) {
        decomposed_free(&h[i]);
        free(buf[i]);
    }
}

static void write_on(int n) {
    char where[64];
    snprintf(where, sizeof where, "written on %d, chunks of %d", n, (int)chunk_bytes);
    check_where(where);
    some_take(n);
    if (some != MPI_COMM_NULL) {
        tutti_dataset *d = open_file(some, 1);
        for (int g = 0; g < SEGMENTS; g++) {
            CHECK_OK(tutti_dataset_begin(d, g ? TUTTI_STATE : TUTTI_TOPOLOGY, g, g));
            if (g == 0)
                CHECK_OK(
                    tutti_dataset_resize(d, space[SPACES - 1].name, 1, space[SPACES - 1].shape));
            put_all(d, g);
            CHECK_OK(tutti_dataset_commit(d));
        }
        CHECK_OK(tutti_dataset_close(&d));
    }
    some_give();
}

static void get_all(tutti_dataset *d, int segment, int starts) {
    tutti_get gets[VARIABLES];
    decomposed h[VARIABLES];
    tutti_request *r = NULL;
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_type t = memory_type(i, segment + 20);
        h[i] = decompose(d, segment, v[i].on, (i + segment) % 4, i % 2 && (i + segment) % 4 != 3);
        gets[i] =
            (tutti_get){v[i].name, h[i].p, t, calloc((size_t)(2 * h[i].n * v[i].numbers) + 1, 32)};
    }
    if (starts) {
        CHECK_OK(tutti_dataset_get_start(d, segment, VARIABLES, gets, &r));
        CHECK_OK(tutti_request_wait(&r, NULL));
    } else {
        CHECK_OK(tutti_dataset_get(d, segment, VARIABLES, gets));
    }
    for (int i = 0; i < VARIABLES; i++) {
        check_values(&h[i], i, segment, gets[i].type, gets[i].buf);
        free(gets[i].buf);
        decomposed_free(&h[i]);
    }
}

static void follow_one(tutti_dataset *d, int i) {
    decomposed h = decompose(d, 0, v[i].on, 2, 1);
    const tutti_type t = memory_type(i, 1);
    const tutti_off step = h.n * v[i].numbers * tutti_type_size(t);
    char *buf = calloc((size_t)(SEGMENTS * step) + 1, 1);
    tutti_count n = 0;
    CHECK_OK(tutti_dataset_follow(d, 0, SEGMENTS - 1, &(tutti_get){v[i].name, h.p, t, buf}, &n));
    CHECK_EQ(n, SEGMENTS);
    for (int g = 0; g < SEGMENTS; g++) check_values(&h, i, g, t, buf + g * step);
    free(buf);
    decomposed_free(&h);
}

/* Check the sizes and the chunk bounds of variable i in segment 1. */
static void check_contents(tutti_dataset *d, int i) {
    tutti_section_row row;
    tutti_chunks c;
    const int s = v[i].on;
    tutti_count chunks = 1, entries = 1;
    CHECK_OK(tutti_dataset_section_row(d, 1, v[i].name, &row));
    CHECK_EQ(row.raw_bytes, space[s].entries * v[i].numbers * tutti_type_size(v[i].spec.type));
    if (v[i].spec.compress == 0) {
        CHECK_SAME(tutti_dataset_chunks(d, 1, v[i].name, &c), TUTTI_ERR_ARG);
        return;
    }
    CHECK_OK(tutti_dataset_chunks(d, 1, v[i].name, &c));
    CHECK_EQ(c.value_bytes, tutti_type_size(v[i].spec.type));
    if (space[s].entries == 0) {
        CHECK_EQ(c.count, 0);
        return;
    }
    for (int k = 0; k < c.ndims; k++) {
        chunks *= (space[s].shape[k] + c.shape[k] - 1) / c.shape[k];
        entries *= c.shape[k];
    }
    CHECK_EQ(c.count, chunks);
    CHECK_EQ(c.raw_bytes, entries * v[i].numbers * c.value_bytes);
    tutti_off *bounds = malloc((size_t)(chunks + 1) * sizeof *bounds);
    CHECK_OK(tutti_dataset_chunk_bounds(d, 1, v[i].name, 0, chunks, bounds));
    CHECK_EQ(bounds[chunks], row.start + row.bytes);
    CHECK_EQ(bounds[0], row.start + TUTTI__CHUNKS_HEADER + 8 * chunks);
    free(bounds);
}

static void read_on(int n) {
    char where[64];
    snprintf(where, sizeof where, "read on %d, chunks of %d", n, (int)chunk_bytes);
    check_where(where);
    some_take(n);
    if (some != MPI_COMM_NULL) {
        tutti_dataset *d = NULL;
        tutti_dataset_options opt = visible();
        opt.check_reads = n % 2;
        CHECK_OK(tutti_dataset_open(some, path, TUTTI_READ, &opt, &d));
        for (int g = 0; g < SEGMENTS; g++) get_all(d, g, g == 1);
        for (int i = 0; i < VARIABLES; i++) {
            follow_one(d, i);
            if (n == ranks) check_contents(d, i);
        }
        CHECK_OK(tutti_dataset_verify(d, NULL));
        CHECK_OK(tutti_dataset_close(&d));
    }
    some_give();
}

/* ---- the same bytes for any number of ranks */

static unsigned char *data_read(int64_t *n_out) {
    char name[600];
    snprintf(name, sizeof name, "%s/data-000001.tutti", path);
    FILE *f = fopen(name, "rb");
    CHECK(f != NULL, "no %s", name);
    fseek(f, 0, SEEK_END);
    *n_out = ftell(f);
    rewind(f);
    unsigned char *bytes = malloc((size_t)*n_out + 1);
    CHECK_EQ(fread(bytes, 1, (size_t)*n_out, f), *n_out);
    fclose(f);
    return bytes;
}

static void same_bytes(void) {
    unsigned char *first = NULL;
    int64_t n = 0, m = 0;
    for (int k = 1; k <= ranks; k += k < 3 ? 1 : 2) {
        dataset_remove(path); /* otherwise segments of the new dataset would have other ids */
        write_on(k);
        if (rank == 0) {
            unsigned char *now = data_read(&m);
            if (!first) n = m;
            int64_t at = 0;
            while (first && at < n && at < m && first[at] == now[at]) at++;
            CHECK(!first || (m == n && at == n),
                  "the data file of %d ranks is another one than that of 1 from %lld of %lld on", k,
                  (long long)at, (long long)n);
            if (first) free(now);
            if (!first) first = now;
        }
        read_on(1 + (k + 1) % ranks);
    }
    free(first);
}

/* ---- refused calls, and calls after them */

static void test_refused(void) {
    tutti_dataset *d = NULL;
    tutti_request *r = NULL;
    tutti_variable_spec s = {.space = space[1].name, .type = TUTTI_INT8, .compress = 20};
    check_where("refused");
    some_take(ranks);
    d = open_file(MPI_COMM_WORLD, 1);
    CHECK_SAME(tutti_dataset_variable(d, "x", &s), TUTTI_ERR_ARG);
    s.compress = 1;
    s.layout = TUTTI_RANKED;
    CHECK_SAME(tutti_dataset_variable(d, "x", &s), TUTTI_ERR_ARG);
    s.layout = TUTTI_GLOBAL;
    CHECK_SAME(tutti_dataset_variable(d, "x", &s), TUTTI_OK);
    CHECK_SAME(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0), TUTTI_OK);
    CHECK_SAME(tutti_dataset_resize(d, space[SPACES - 1].name, 1, space[SPACES - 1].shape),
               TUTTI_OK);
    decomposed h = decompose(d, -1, 1, 1, 0), some_of = decompose(d, -1, 1, 0, 1);
    int16_t *buf = calloc((size_t)(4 * space[1].entries) + 4, sizeof *buf);
    const tutti_put put = {"x", h.p, TUTTI_INT16, buf};
    const tutti_put part = {"x", some_of.p, TUTTI_INT16, buf};
    CHECK_SAME(tutti_dataset_put_start(d, 1, &put, &r), TUTTI_OK);
    CHECK_SAME(tutti_request_wait(&r, NULL), TUTTI_ERR_UNSUPPORTED);
    if (space[1].entries > 20) CHECK_SAME(tutti_dataset_put(d, 1, &part), TUTTI_ERR_UNSUPPORTED);
    /* one rank has a value that does not fit into int8 */
    if (h.n > 0 && h.position[h.n - 1] == space[1].entries - 1) buf[h.n - 1] = 1000;
    CHECK_SAME(tutti_dataset_put(d, 1, &put), TUTTI_ERR_VALUE);
    CHECK(strstr(tutti_last_message(), "1000 does not fit") && strstr(tutti_last_message(), "'x'"),
          "%s", tutti_last_message());
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_ERR_STATE);
    for (tutti_count e = 0; e < h.n; e++) buf[e] = 1;
    CHECK_SAME(tutti_dataset_put(d, 1, &put), TUTTI_OK);
    put_all(d, 0); /* writes sections after the section of "x" */
    for (tutti_count e = 0; e < h.n; e++) buf[e] = (int16_t)(h.position[e] % 100);
    CHECK_SAME(tutti_dataset_put(d, 1, &put), TUTTI_OK); /* write everything again */
    put_all(d, 0);
    CHECK_SAME(tutti_dataset_commit(d), TUTTI_OK);
    for (tutti_count e = 0; e < h.n; e++) buf[e] = -1;
    CHECK_SAME(tutti_dataset_get(d, 0, 1, &(tutti_get){"x", h.p, TUTTI_INT16, buf}), TUTTI_OK);
    for (tutti_count e = 0; e < h.n; e++)
        if (buf[e] != h.position[e] % 100) CHECK_EQ(buf[e], h.position[e] % 100);
    get_all(d, 0, 0);
    CHECK_SAME(tutti_dataset_verify(d, NULL), TUTTI_OK);
    free(buf);
    decomposed_free(&h);
    decomposed_free(&some_of);
    CHECK_SAME(tutti_dataset_close(&d), TUTTI_OK);
    some_give();
}

/* Every allocation of one rank fails once: all ranks return the same error, and the next attempt succeeds. */
static void without_memory(void) {
    const int i = 1, g = 0;
    const tutti_type t = memory_type(i, 0);
    check_where("without memory");
    some_take(ranks);
    tutti_dataset *d = open_file(MPI_COMM_WORLD, 1);
    decomposed h = decompose(d, -1, v[i].on, 0, 0);
    void *buf = numbers_of(&h, i, g, t);
    CHECK_OK(tutti_dataset_begin(d, TUTTI_STATE, 0, 0));
    for (int reads = 0; reads < 2; reads++) {
        int went_well = 0, failed = 0;
        for (int at = 1; at < 200 && !went_well; at++) {
            if (rank == at % ranks) tutti__memory_fail_after(at / ranks + 1);
            const tutti_err err =
                reads ? tutti_dataset_get(d, 0, 1, &(tutti_get){v[i].name, h.p, t, buf})
                      : tutti_dataset_put(d, 1, &(tutti_put){v[i].name, h.p, t, buf});
            /* 1: the call has succeeded, because it makes fewer allocations */
            int left = 0;
            tutti__memory_fail_after(0);
            const tutti_err all = same_everywhere(err);
            CHECK(all == TUTTI_OK || all == TUTTI_ERR_NOMEM || all == TUTTI_ERR_IO, "%s: %s",
                  tutti_error_name(all), tutti_last_message());
            failed += all != TUTTI_OK;
            left = all == TUTTI_OK;
            MPI_Allreduce(&left, &went_well, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
            if (at < 2 * ranks) went_well = 0;
        }
        CHECK(failed > 3 && went_well, "%d of %s failed", failed, reads ? "gets" : "puts");
        if (!reads) CHECK_OK(tutti_dataset_put(d, 1, &(tutti_put){v[i].name, h.p, t, buf}));
        if (!reads) CHECK_OK(tutti_dataset_commit(d));
    }
    CHECK_OK(tutti_dataset_get(d, 0, 1, &(tutti_get){v[i].name, h.p, t, buf}));
    check_values(&h, i, g, t, buf);
    free(buf);
    decomposed_free(&h);
    CHECK_OK(tutti_dataset_close(&d));
    some_give();
}

/* ---- damaged data */

/* Flip a bit of a section whose checksums are not checked: the get fails, or all values are correct. */
static void test_damaged(void) {
    char name[600];
    tutti_section_row row = {.bytes = 0};
    int found = 0, refused_by_get = 0;
    snprintf(name, sizeof name, "%s/data-000001.tutti", path);
    some_take(ranks);
    tutti_dataset *d = open_file(MPI_COMM_WORLD, 0);
    const int i = 1, s = v[i].on;
    CHECK_OK(tutti_dataset_begin(d, TUTTI_TOPOLOGY, 0, 0));
    CHECK_OK(tutti_dataset_resize(d, space[SPACES - 1].name, 1, space[SPACES - 1].shape));
    put_all(d, 0);
    CHECK_OK(tutti_dataset_commit(d));
    decomposed h = decompose(d, -1, s, 3, 0);
    const tutti_type t = memory_type(i, 0);
    void *buf = numbers_of(&h, i, 0, t);
    CHECK_OK(tutti_dataset_section_row(d, 0, v[i].name, &row));
    CHECK_OK(tutti_dataset_close(&d));
    decomposed_free(&h);
    for (int k = 0; k < 60; k++) {
        const tutti_off at = row.start + (k < 30 ? k % 8 * 8 + k / 8 : (tutti_off)rnd(row.bytes));
        const int bit = (int)rnd(8);
        char where[64];
        snprintf(where, sizeof where, "byte %lld of %lld, bit %d", (long long)(at - row.start),
                 (long long)row.bytes, bit);
        check_where(where);
        for (int back = 0; back < 2; back++) {
            if (rank == 0) {
                const int fd = open(name, O_RDWR);
                unsigned char byte = 0;
                CHECK_EQ(pread(fd, &byte, 1, at), 1);
                byte = (unsigned char)(byte ^ 1 << bit);
                CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
                close(fd);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            if (back) break;
            CHECK_OK(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &d));
            h = decompose(d, 0, s, 3, 0);
            const tutti_err got =
                same_everywhere(tutti_dataset_get(d, 0, 1, &(tutti_get){v[i].name, h.p, t, buf}));
            CHECK(got == TUTTI_OK || got == TUTTI_ERR_FORMAT, "%s", tutti_last_message());
            CHECK(got == TUTTI_OK || (strstr(tutti_last_message(), v[i].name) &&
                                      strstr(tutti_last_message(), "segment 0")),
                  "%s", tutti_last_message());
            if (got == TUTTI_OK) check_values(&h, i, 0, t, buf);
            refused_by_get += got != TUTTI_OK;
            found += same_everywhere(tutti_dataset_verify(d, NULL)) == TUTTI_ERR_FORMAT;
            CHECK_OK(tutti_dataset_close(&d));
            decomposed_free(&h);
        }
    }
    check_where("damaged");
    CHECK(found >= 50 && refused_by_get == found, "of 60 turned bits verify found %d, get %d",
          found, refused_by_get);
    free(buf);
    some_give();
}

/* ---- division of a space into chunks, entry by entry */

static void test_cutting(void) {
    for (int round = 0; round < 50; round++) {
        tutti_count shape[4] = {0}, all = 1, *seen;
        const int ndims = 1 + (int)rnd(4);
        for (int k = 0; k < ndims; k++) all *= shape[k] = 1 + (tutti_count)rnd(9);
        const tutti__chunked of = {.ndims = ndims, .shape = shape, .item = 8, .number = 8};
        tutti__chunk_grid g, again;
        tutti__chunks_cut(&of, 8 * (1 + (tutti_off)rnd(40)), &g);
        seen = calloc((size_t)(g.chunks * g.entries), sizeof *seen);
        for (tutti_count p = 0; p < all; p++) {
            tutti_count chunk = 0, first = 0, inner = 1, rest = p, index[4];
            for (int k = ndims - 1; k >= 0; k--) {
                index[k] = rest % shape[k];
                rest /= shape[k];
            }
            for (int k = 0; k < ndims; k++) { /* the chunk and the position in it, per dimension */
                const tutti_count c = k < g.cut ? 1 : k == g.cut ? g.extent : shape[k];
                chunk = chunk * ((shape[k] + c - 1) / c) + index[k] / c;
                first = first * c + index[k] % c;
                inner *= c;
            }
            const tutti__chunk_place at = tutti__chunk_find(&g, p);
            CHECK(at.chunk == chunk && at.first == first && inner == g.entries && at.left >= 1 &&
                      at.first + at.left == tutti__chunk_filled(&g, chunk),
                  "entry %lld of %lld is in chunk %lld", (long long)p, (long long)all,
                  (long long)at.chunk);
            seen[chunk * g.entries + first]++;
        }
        tutti_count once = 0;
        for (tutti_count k = 0; k < g.chunks * g.entries; k++) once += seen[k] == 1;
        CHECK_EQ(once, all);
        free(seen);
        unsigned char head[TUTTI__CHUNKS_HEADER];
        tutti__chunks_head(&g, head);
        CHECK_OK(tutti__chunks_head_read(head, &of, 1 << 20, &again));
        CHECK(memcmp(&g, &again, sizeof g) == 0, "the header tells another grid");
    }
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1266);
    snprintf(path, sizeof path, "%s/t1266.tutti", check_dir());
    if (ranks == 1) test_cutting();
    spaces_random();
    variables_random();
    same_bytes();
    if (ranks <= 3) test_refused();
    if (ranks == 1 || ranks == 3) test_damaged();
    if (ranks == 1 || ranks == 3) without_memory();
    dataset_remove(path);
    return harness_end();
}
