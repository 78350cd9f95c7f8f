/* TEST ranks=1,2,3,5,8 timeout=240 */
/* Several parts in one operation, with type conversion, by every method, exchange, store and pipeline;
 * blocking, split, non-blocking, planned, cached and independent: the file and the memory are equal to
 * the result of a loop over single elements.
 *
 * A variable consists of elements of some type in the file: separate from the others, or
 * interleaved with them in records.  A rank's part is some of its elements, in any order in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/parts.h>
#include "collective/combinations.h"
#include "harness.h"

static const char *const methods[] = {"two-phase", "independent", "list", "sieve", "root", "auto"};
static const char *const ways[] = {"shm", "two-sided", "1", "4", "5", "fence", "lock"};
static const char *const pipelines[] = {"none", "comm", "write", "write-comm", "write-comm-2"};
static const char *const stores[] = {"posix", "uring", "threads", "aio", "mem"};
static const char *const nodes[] = {"", "2", "rr:2"};
static const char *const windows[] = {"4k", "64k"};
static const char *const hows[] = {"at once", "split", "started", "background", "plan", "flight"};
static const char *const forms[] = {"apart", "records", "overlap", "all alike", "bytes"};
static const char *const atomics[] = {"0", "1"};
static const pairs_axis axes[] = {
    {"method", methods, 6}, {"way", ways, 7},    {"pipeline", pipelines, 5},
    {"store", stores, 5},   {"nodes", nodes, 3}, {"window_size", windows, 2},
    {"how", hows, 6},       {"form", forms, 5},  {"atomic", atomics, 2},
};
enum { AXES = sizeof axes / sizeof *axes, HOW = 6, FORM, ATOMIC, OPTIONS = HOW, VARIABLES = 5 };
enum { APART, RECORDS, OVERLAP, ALIKE, BYTES };
enum { AT_ONCE, SPLIT, STARTED, BACKGROUND, PLAN, FLIGHT };

static char path[512];

/* ---- elements: small integers, which every type can represent */

static int size_of(tutti_type t) {
    return t == TUTTI_BYTES ? 1 : (int)tutti_type_size(t);
}

static uint16_t half_of(int v) {
    int exponent = 15;
    if (v == 0) return 0;
    double f = v;
    while (f >= 2) f /= 2, exponent++;
    return (uint16_t)(exponent << 10 | (int)((f - 1) * 1024));
}

static void native(tutti_type t, int v, unsigned char *out) {
    const double d[2] = {v, v + 1};
    const float f[2] = {(float)v, (float)(v + 1)};
    const int64_t i = v; /* memcpy of its first bytes below requires a little-endian machine */
    const uint16_t h = half_of(v);
    switch (t) {
    case TUTTI_FLOAT64:
        memcpy(out, d, 8);
        break;
    case TUTTI_COMPLEX128:
        memcpy(out, d, 16);
        break;
    case TUTTI_FLOAT32:
        memcpy(out, f, 4);
        break;
    case TUTTI_COMPLEX64:
        memcpy(out, f, 8);
        break;
    case TUTTI_FLOAT16:
        memcpy(out, &h, 2);
        break;
    default:
        memcpy(out, &i, (size_t)size_of(t));
    }
}

static void image(tutti_type t, int big, int v, unsigned char *out) {
    unsigned char n[16];
    const int size = size_of(t);
    const int part = t == TUTTI_COMPLEX64 || t == TUTTI_COMPLEX128 ? size / 2 : size;
    native(t, v, n);
    for (int i = 0; i < size; i++) out[i] = n[big ? i / part * part + part - 1 - i % part : i];
}

static tutti_type any_type(int is_complex) {
    static const tutti_type real[] = {TUTTI_INT8,    TUTTI_INT16,   TUTTI_INT32,  TUTTI_INT64,
                                      TUTTI_UINT8,   TUTTI_UINT16,  TUTTI_UINT32, TUTTI_UINT64,
                                      TUTTI_FLOAT32, TUTTI_FLOAT64, TUTTI_FLOAT16};
    if (is_complex) return rnd(2) ? TUTTI_COMPLEX64 : TUTTI_COMPLEX128;
    return real[rnd(sizeof real / sizeof *real)];
}

/* ---- variables and parts: the same on every rank, from the seed */

typedef struct {
    tutti_type type;
    int big;
    tutti_off base, stride;
    int elements;
} variable;

typedef struct {
    int variable;
    tutti_type memory;
    int n;
    int *element; /* [n], numbers of the elements in the order of memory */
    int spread;   /* distance of consecutive elements in memory, in elements */
} part;

typedef struct {
    int form, n;
    variable v[VARIABLES];
    uint64_t salt;
} scene;

static scene scene_make(int form) {
    scene s = {.form = form, .n = 1 + (int)rnd(VARIABLES), .salt = rnd64() >> 8};
    tutti_off at = rnd(40), record = 0;
    const tutti_type alike = any_type(rnd(4) == 0);
    for (int i = 0; i < s.n; i++) {
        variable *v = &s.v[i];
        v->type = form == BYTES ? TUTTI_BYTES : form == ALIKE ? alike : any_type(rnd(5) == 0);
        v->big = form != BYTES && rnd(2);
        v->elements = rnd(6) ? 1 + (int)rnd(1500) : 0;
        v->base = at;
        v->stride = size_of(v->type);
        if (form == RECORDS) {
            v->elements = s.v[0].elements;
            v->base = s.v[0].base + record;
            record += v->stride + rnd(3);
        } else {
            at += v->elements * v->stride + rnd(2) * rnd(700);
        }
    }
    for (int i = 0; form == RECORDS && i < s.n; i++) s.v[i].stride = record;
    return s;
}

/* Return whether element e of variable v is in the k-th part of rank `who` for this variable. */
static int has(const scene *s, int v, int who, int k, int e) {
    const int n = s->v[v].elements, shape = mix(s->salt, (uint64_t)v) % 4;
    if (s->form == OVERLAP && mix(s->salt + 9, (uint64_t)(e + 7919 * (who + 31 * k))) % 4 == 0)
        return 1;
    if (k > 0) return 0;
    if (shape == 0) return e >= (int64_t)n * who / ranks && e < (int64_t)n * (who + 1) / ranks;
    if (shape == 1) return e % ranks == who;
    if (shape == 2) return mix(s->salt + 1, (uint64_t)(e / 3)) % ranks == who;
    return who == ranks - 1;
}

static int parts_of(const scene *s, int who) {
    return s->form == OVERLAP ? s->n + 1 : who == 1 ? s->n - 1 : s->n; /* rank 1 lacks one part */
}

static part part_make(const scene *s, int who, int i, uint64_t memory_salt) {
    const int k = i == s->n, v = k ? 0 : i;
    const variable *x = &s->v[v];
    part p = {.variable = v, .element = malloc(((size_t)x->elements + 1) * sizeof(int))};
    p.memory = x->type;
    if (s->form != BYTES) {
        uint64_t keep = check_state_;
        check_state_ = memory_salt + (uint64_t)(i + 100 * who);
        const int is_complex = x->type == TUTTI_COMPLEX64 || x->type == TUTTI_COMPLEX128;
        p.memory = any_type(is_complex);
        check_state_ = keep;
    }
    for (int e = 0; e < x->elements; e++)
        if (has(s, v, who, k, e)) p.element[p.n++] = e;
    const int order = (int)(((memory_salt >> 5) + (uint64_t)i) % 3);
    /* the order is reversed or random */
    for (int e = 0; order && e < p.n / (order == 1 ? 2 : 1); e++) {
        const int other = order == 1 ? p.n - 1 - e : (int)(mix(memory_salt, (uint64_t)e) % p.n);
        const int keep = p.element[e];
        p.element[e] = p.element[other];
        p.element[other] = keep;
    }
    p.spread = 1 + (int)(((memory_salt >> 9) + (uint64_t)i) % 2);
    return p;
}

static int value_of(const scene *s, int who, int i, int e, int round) {
    return mix(s->salt + (uint64_t)(who * 50 + i), (uint64_t)(e + 100000 * round)) % 100;
}

static void model_put(model *m, const scene *s, int round, tutti_off by) {
    for (int who = 0; who < ranks; who++)
        for (int i = 0; i < parts_of(s, who); i++) {
            part p = part_make(s, who, i, 0);
            const variable *x = &s->v[p.variable];
            for (int e = 0; e < p.n; e++) {
                const tutti_off at = by + x->base + p.element[e] * x->stride;
                model_reach(m, at + size_of(x->type));
                image(x->type, x->big, value_of(s, who, i, p.element[e], round), m->v + at);
            }
            free(p.element);
        }
}

/* The arguments of the *_parts calls, and the parts from which they were made. */
typedef struct {
    int n;
    part part[VARIABLES + 1];
    tutti_part asked[VARIABLES + 1];
    void *bufs[VARIABLES + 1];
    unsigned char *memory[VARIABLES + 1];
    size_t capacity[VARIABLES + 1];
    tutti_off bytes;
} request_parts;

static request_parts ask_store(const scene *s, int who, uint64_t memory_salt, tutti_off by) {
    request_parts q = {.n = parts_of(s, who)};
    for (int i = 0; i < q.n; i++) {
        const part p = q.part[i] = part_make(s, who, i, memory_salt);
        const variable *x = &s->v[p.variable];
        const int size = size_of(x->type), in_memory = size_of(p.memory);
        tutti_off *v = malloc((3 * (size_t)p.n + 1) * sizeof *v);
        tutti_access *a = NULL;
        for (int e = 0; e < p.n; e++) {
            v[e] = by + x->base + p.element[e] * x->stride;
            v[p.n + e] = (tutti_off)e * p.spread * size;
            v[2 * p.n + e] = size;
        }
        CHECK_OK(tutti_access_pieces(p.n, v, v + p.n, v + 2 * p.n, &a));
        free(v);
        q.capacity[i] = (size_t)p.n * (size_t)p.spread * (size_t)in_memory;
        q.memory[i] = malloc(q.capacity[i] + 1);
        memset(q.memory[i], 0xA5, q.capacity[i]);
        q.bufs[i] = q.memory[i];
        q.asked[i] = (tutti_part){.access = a, .buf = q.memory[i]};
        if (x->type != TUTTI_BYTES)
            q.asked[i].convert =
                (tutti_conversion){.file_type = x->type,
                                   .memory_type = p.memory,
                                   .file_order = x->big ? TUTTI_BIG_ENDIAN : TUTTI_LITTLE_ENDIAN};
        q.bytes += (tutti_off)p.n * size;
    }
    return q;
}

static void ask_fill(request_parts *q, const scene *s, int round) {
    for (int i = 0; i < q->n; i++)
        for (int e = 0; e < q->part[i].n; e++)
            native(q->part[i].memory, value_of(s, rank, i, q->part[i].element[e], round),
                   q->memory[i] +
                       (size_t)e * (size_t)q->part[i].spread * (size_t)size_of(q->part[i].memory));
}

static void ask_free(request_parts *q) {
    for (int i = 0; i < q->n; i++) {
        tutti_access *a = (tutti_access *)(uintptr_t)q->asked[i].access;
        tutti_access_free(&a);
        free(q->memory[i]);
        free(q->part[i].element);
    }
}

/* ---- the operation, by any kind of call */

static void transfer_bytes(tutti_file *f, int how, int is_write, request_parts *q, tutti_off by,
                           tutti_off expected) {
    tutti_off count = -1;
    tutti_request *r = NULL;
    tutti_plan *p = NULL;
    switch (how) {
    case SPLIT:
        CHECK_SAME(is_write ? tutti_file_write_parts_begin(f, q->n, q->asked)
                            : tutti_file_read_parts_begin(f, q->n, q->asked),
                   TUTTI_OK);
        CHECK_SAME(is_write ? tutti_file_write_end(f, &count) : tutti_file_read_end(f, &count),
                   TUTTI_OK);
        break;
    case STARTED:
    case BACKGROUND:
        CHECK_OK(is_write ? tutti_file_write_parts_start(f, q->n, q->asked, &r)
                          : tutti_file_read_parts_start(f, q->n, q->asked, &r));
        CHECK_SAME(tutti_request_wait(&r, &count), TUTTI_OK);
        break;
    case PLAN:
    case FLIGHT:
        CHECK_SAME(is_write ? tutti_plan_write_parts(f, q->n, q->asked, &p)
                            : tutti_plan_read_parts(f, q->n, q->asked, &p),
                   TUTTI_OK);
        if (how == PLAN)
            CHECK_SAME(tutti_plan_run_parts(p, q->n, q->bufs, by, &count), TUTTI_OK);
        else {
            CHECK_SAME(tutti_plan_start_parts(p, q->n, q->bufs, by), TUTTI_OK);
            CHECK_SAME(tutti_plan_wait(p, &count), TUTTI_OK);
        }
        tutti_plan_free(&p);
        break;
    default:
        CHECK_SAME(is_write ? tutti_file_write_parts(f, q->n, q->asked, &count)
                            : tutti_file_read_parts(f, q->n, q->asked, &count),
                   TUTTI_OK);
    }
    CHECK_EQ(count, expected);
}

static void whole_compare(tutti_file *f, const model *m, const char *what) {
    tutti_access *a = NULL;
    tutti_off size = -1, count = -1;
    CHECK_OK(tutti_file_size(f, &size));
    CHECK_EQ(size, m->size);
    unsigned char *v = calloc(1, (size_t)m->size + 16);
    CHECK_OK(tutti_access_contiguous(0, m->size, &a));
    CHECK_SAME(tutti_file_read(f, a, v, &count), TUTTI_OK);
    for (int64_t i = 0; i < count; i++)
        if (v[i] != m->v[i]) {
            CHECK(0, "%s: byte %lld is %d, not %d", what, (long long)i, v[i], m->v[i]);
            break;
        }
    tutti_access_free(&a);
    free(v);
}

/* Return the value of element e of variable v in the model; -1: beyond the end of the file; -2: partly
 * beyond the end, or not written by this test. */
static int model_value(const model *m, const scene *s, int v, int e, tutti_off by) {
    const variable *x = &s->v[v];
    const tutti_off at = by + x->base + e * x->stride;
    unsigned char want[16];
    if (at + size_of(x->type) > m->size) return at < m->size ? -2 : -1;
    for (int k = 0; k < 100; k++) {
        image(x->type, x->big, k, want);
        if (!memcmp(want, m->v + at, (size_t)size_of(x->type))) return k;
    }
    return -2;
}

static void read_compare(const model *m, const scene *s, const request_parts *q, tutti_off by) {
    int wrong = 0;
    for (int i = 0; i < q->n; i++) {
        const part *p = &q->part[i];
        const size_t size = (size_t)size_of(p->memory);
        for (int e = 0; e < p->n; e++) {
            unsigned char want[16];
            const int v = model_value(m, s, p->variable, p->element[e], by);
            memset(want, 0xA5, sizeof want);
            if (v >= 0) native(p->memory, v, want);
            const unsigned char *got = q->memory[i] + (size_t)e * (size_t)p->spread * size;
            if (v == -2 || memcmp(got, want, size) == 0) continue;
            if (wrong++ == 0)
                CHECK(0, "part %d of type %s as %s, element %d: not %d", i,
                      tutti_type_name(s->v[p->variable].type), tutti_type_name(p->memory),
                      p->element[e], v);
        }
    }
}

static tutti_off bytes_before(const scene *s, const request_parts *q, tutti_off end, tutti_off by) {
    tutti_off n = 0;
    for (int i = 0; i < q->n; i++) {
        const variable *x = &s->v[q->part[i].variable];
        for (int e = 0; e < q->part[i].n; e++) {
            const tutti_off left = end - (by + x->base + q->part[i].element[e] * x->stride);
            n += tutti__max(0, tutti__min(left, size_of(x->type)));
        }
    }
    return n;
}

static void write_once(tutti_file *f, const scene *s, int how, int round, tutti_off by, model *m) {
    const tutti_off planned = how == PLAN || how == FLIGHT ? by : 0;
    request_parts q = ask_store(s, rank, 0, by - planned);
    ask_fill(&q, s, round);
    transfer_bytes(f, how, 1, &q, planned, q.bytes);
    model_put(m, s, round, by);
    ask_free(&q);
}

/* Read the parts in another order and with other types than those of the write. */
static void read_once(tutti_file *f, const scene *s, int how, tutti_off by, const model *m) {
    const tutti_off planned = how == PLAN || how == FLIGHT ? by : 0;
    request_parts q = ask_store(s, (rank + 1) % ranks, s->salt, by - planned);
    transfer_bytes(f, how, 0, &q, planned, bytes_before(s, &q, m->size, by));
    read_compare(m, s, &q, by);
    ask_free(&q);
}

static void independently(tutti_file *f, const scene *s, model *m) {
    tutti_off count = -1;
    request_parts q = ask_store(s, rank, 0, 0), back = ask_store(s, rank, s->salt, 0);
    ask_fill(&q, s, 7);
    for (int turn = 0; turn < ranks; turn++) { /* ranks write in rank order, as in the model */
        if (turn == rank) CHECK_OK(tutti_file_write_parts_independent(f, q.n, q.asked, &count));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(count, q.bytes);
    CHECK_OK(tutti_file_read_parts_independent(f, back.n, back.asked, &count));
    model_put(m, s, 7, 0);
    CHECK_EQ(count, bytes_before(s, &back, m->size, 0));
    read_compare(m, s, &back, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    ask_free(&q);
    ask_free(&back);
}

static void combination(const int *choice) {
    tutti_options opt = options_of("striping_unit=512");
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    const int how = choice[HOW], background = how == BACKGROUND || (how == SPLIT && rnd(2));
    combination_set(&opt, axes, OPTIONS, choice);
    CHECK_OK(tutti_options_set(&opt, "background", background ? "io-only" : "none"));
    const scene s = scene_make(choice[FORM]);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &f),
               TUTTI_OK);
    if (!f) return;
    if (choice[ATOMIC] && tutti_file_atomic(f, 1) != TUTTI_OK) CHECK(choice[3] == 4, "no locks");
    write_once(f, &s, how, 0, 0, &m);
    whole_compare(f, &m, "new");
    for (int round = 1; round < 3; round++) write_once(f, &s, how, round, 0, &m);
    const tutti_off by = 512 * (m.size / 512 + 1 + rnd(3));
    write_once(f, &s, how, 3, by, &m); /* write the same shape at other offsets */
    whole_compare(f, &m, "again");
    for (int round = 0; round < 3; round++) read_once(f, &s, how, round == 1 ? by : 0, &m);
    /* the file ends inside elements */
    m.size -= rnd(tutti__min(m.size, 300) + 1);
    CHECK_SAME(tutti_file_resize(f, m.size), TUTTI_OK);
    read_once(f, &s, how, by, &m);
    read_once(f, &s, how, by, &m);
    independently(f, &s, &m);
    whole_compare(f, &m, "alone");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK_OK(rank == 0 ? tutti_file_delete(path, &opt) : TUTTI_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    free(m.v);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 787);
    snprintf(path, sizeof path, "%s", scratch_path("parts"));
    combinations_run(axes, AXES, combination, 5);
    file_remove(path);
    return harness_end();
}
