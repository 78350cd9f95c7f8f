/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Datasets written on N ranks and read on M: all types and conversions, both layouts, both byte orders,
 * three topologies of different sizes, partial writes and entries that no rank writes, compared with a serial model.
 * On 8 ranks, N and M are 1 to 8 (quick tier: some combinations).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/datasets.h"

enum { VARIABLES = 14, SEGMENTS = 7 };

static char path[512];
static const tutti_type types[] = {TUTTI_INT8,      TUTTI_INT16,   TUTTI_INT32,   TUTTI_INT64,
                                   TUTTI_UINT8,     TUTTI_UINT16,  TUTTI_UINT32,  TUTTI_UINT64,
                                   TUTTI_FLOAT32,   TUTTI_FLOAT64, TUTTI_FLOAT16, TUTTI_COMPLEX64,
                                   TUTTI_COMPLEX128};
enum { TYPES = sizeof types / sizeof types[0] };

typedef struct {
    char name[16];
    tutti_variable_spec spec;
    int numbers;
} variable;
static variable v[VARIABLES];

/* Segments in the order in which they are written. */
static const struct {
    tutti_segment_kind kind;
    int64_t index;
    tutti_count nodes; /* new size of the list "nodes"; 0: unchanged */
    int ids;           /* whether the nodes have ids */
} plan[SEGMENTS] = {{TUTTI_TOPOLOGY, 0, 1000, 1}, {TUTTI_STATE, 0, 0, 0},
                    {TUTTI_STATE, 1, 0, 0},       {TUTTI_TOPOLOGY, 2, 3000, 1},
                    {TUTTI_STATE, 2, 0, 0},       {TUTTI_TOPOLOGY, 4, 17, 0},
                    {TUTTI_STATE, 4, 0, 0}};
static const tutti_count grid[2] = {37, 53};

static int topology_of(int segment) {
    while (plan[segment].kind != TUTTI_TOPOLOGY) segment--;
    return segment;
}

static tutti_count size_of(int segment, int i) {
    return strcmp(v[i].spec.space, "grid") == 0 ? grid[0] * grid[1]
                                                : plan[topology_of(segment)].nodes;
}

static int64_t ids_of(int segment, int i) {
    const int t = topology_of(segment);
    return strcmp(v[i].spec.space, "grid") != 0 && plan[t].ids ? t : -1;
}

static void variables_random(void) {
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_item items[] = {TUTTI_SCALAR, TUTTI_SCALAR, TUTTI_VECTOR, TUTTI_SYM_TENSOR};
        const tutti_item item = items[rnd(4)];
        snprintf(v[i].name, sizeof v[i].name, "v%d", i);
        v[i].spec = (tutti_variable_spec){.space = rnd(2) ? "grid" : "nodes",
                                          .item = item,
                                          .components = item == TUTTI_VECTOR ? 2 : 0,
                                          .type = types[i % TYPES],
                                          .layout = i % 3 == 2 ? TUTTI_RANKED : TUTTI_GLOBAL,
                                          .order = rnd(2) ? TUTTI_BIG_ENDIAN : TUTTI_LITTLE_ENDIAN,
                                          .fill = rnd(2) ? 77 : 0};
        v[i].numbers = item == TUTTI_VECTOR ? 2 : item == TUTTI_SYM_TENSOR ? 6 : 1;
    }
}

/* Return whether the segment has the variable. */
static int is_there(int segment, int i) {
    return mix((uint64_t)segment, (uint64_t)i) % 4 != 0;
}

/* Return the distribution of the entries of the first or second put of a variable. */
static distribution distribution_of(int segment, int i, int second) {
    const int several = v[i].spec.layout == TUTTI_GLOBAL;
    const uint64_t seed = mix((uint64_t)segment, 7) * 100 + (uint64_t)several;
    return (distribution){.kind = (tutti_decomposition_kind)(TUTTI_BY_INDEX + seed % 3),
                          .seed = seed + (second ? 10000 : 0),
                          .holes = !several && i % 2 ? 3
                                   : several         ? 8
                                                     : 0,
                          .copies = 4};
}

/* Return which put (1 or 2) writes the entry at `position` last; 0: no put writes it. */
static int put_by(int segment, int i, tutti_count position, int writers) {
    const distribution first = distribution_of(segment, i, 0),
                       second = distribution_of(segment, i, 1);
    if (v[i].spec.layout == TUTTI_GLOBAL && is_on_any_rank(&second, position, writers)) return 2;
    return is_on_any_rank(&first, position, writers) ? 1 : 0;
}

static double value(int segment, int i, tutti_count position, int k, int put) {
    return put ? number_at(i + 50 * put, segment, position, k) : -1;
}

static tutti_type memory_type(int i, int salt) {
    const int complex_ = halves_of(v[i].spec.type) == 2;
    const tutti_type t = types[mix((uint64_t)i, (uint64_t)salt) % 10];
    return complex_ ? (salt % 2 ? TUTTI_COMPLEX64 : TUTTI_COMPLEX128) : t;
}

static void *values(int segment, int i, const local_entries *l, tutti_type t, int put) {
    const int n = v[i].numbers * halves_of(t);
    void *buf = calloc((size_t)(l->n * n) + 1, 16);
    for (tutti_count e = 0; e < l->n; e++)
        for (int k = 0; k < n; k++)
            number_set(t, buf, e * n + k, value(segment, i, l->position[e], k, put));
    return buf;
}

/* ---- writing */

/* Decompositions that exist so far: variables with the same entries share one. */
typedef struct {
    int n;
    distribution how[VARIABLES];
    const char *space[VARIABLES];
    local_entries made[VARIABLES];
} shared;

static const local_entries *share(shared *s, tutti_dataset *d, tutti_count at,
                                  const distribution *how, int segment, int i) {
    const char *space = v[i].spec.space;
    for (int k = 0; k < s->n; k++)
        if (s->how[k].seed == how->seed && s->how[k].holes == how->holes &&
            s->how[k].kind == how->kind && strcmp(s->space[k], space) == 0)
            return &s->made[k];
    s->how[s->n] = *how;
    s->space[s->n] = space;
    s->made[s->n] = distribute_entries(d, space, at, how, size_of(segment, i), ids_of(segment, i));
    return &s->made[s->n++];
}

static void shared_free(shared *s) {
    for (int k = 0; k < s->n; k++) local_entries_free(&s->made[k]);
}

/* Write all variables of a segment in one call; `second`: write some entries again by the second put. */
static void put_all(tutti_dataset *d, int segment, int second) {
    tutti_put puts[VARIABLES];
    const local_entries *l[VARIABLES];
    shared all = {0};
    void *buf[VARIABLES];
    int n = 0;
    for (int i = 0; i < VARIABLES; i++) {
        if (!is_there(segment, i) || (second && v[i].spec.layout == TUTTI_RANKED)) continue;
        const distribution how = distribution_of(segment, i, second);
        const tutti_type t = memory_type(i, segment + second);
        l[n] = share(&all, d, -1, &how, segment, i);
        buf[n] = values(segment, i, l[n], t, 1 + second);
        puts[n] = (tutti_put){v[i].name, l[n]->p, t, buf[n]};
        n++;
    }
    if (second) {
        tutti_request *r = NULL;
        CHECK_OK(tutti_dataset_put_start(d, n, puts, &r));
        CHECK_OK(tutti_request_wait(&r, NULL));
    } else {
        CHECK_OK(tutti_dataset_put(d, n, puts));
    }
    for (int i = 0; i < n; i++) free(buf[i]);
    shared_free(&all);
}

static void topology_set(tutti_dataset *d, int segment) {
    const tutti_count n = plan[segment].nodes;
    const tutti_count lo = n * some_rank / some_n, hi = n * (some_rank + 1) / some_n;
    int64_t *ids = malloc((size_t)(hi - lo) * sizeof *ids + 8);
    for (tutti_count i = lo; i < hi; i++) ids[i - lo] = id_of(segment, i);
    if (plan[segment].ids)
        CHECK_OK(tutti_dataset_ids(d, "nodes", hi - lo, ids));
    else
        CHECK_OK(tutti_dataset_resize(d, "nodes", 1, &n));
    free(ids);
}

static void write_on(int n, int indices_per_file) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    opt.indices_per_file = indices_per_file;
    some_take(n);
    if (some != MPI_COMM_NULL) {
        CHECK_OK(tutti_dataset_open(
            some, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt, &d));
        CHECK_OK(tutti_dataset_grid(d, "grid", 2, grid));
        CHECK_OK(tutti_dataset_list(d, "nodes"));
        for (int i = 0; i < VARIABLES; i++)
            CHECK_OK(tutti_dataset_variable(d, v[i].name, &v[i].spec));
        for (int g = 0; g < SEGMENTS; g++) {
            CHECK_OK(tutti_dataset_begin(d, plan[g].kind, plan[g].index, 0.5 * g));
            if (plan[g].kind == TUTTI_TOPOLOGY) topology_set(d, g);
            put_all(d, g, 0);
            put_all(d, g, 1);
            CHECK_OK(tutti_dataset_commit(d));
        }
        CHECK_OK(tutti_dataset_close(&d));
    }
    some_give();
}

/* ---- reading */

static void check_values(int segment, int i, const local_entries *l, tutti_type t, const void *buf,
                         int writers) {
    const int n = v[i].numbers * halves_of(t);
    int wrong = 0;
    for (tutti_count e = 0; e < l->n; e++)
        for (int k = 0; k < n; k++) {
            const int put = put_by(segment, i, l->position[e], writers);
            const double want = put ? value(segment, i, l->position[e], k, put)
                                : halves_of(t) == 2 && k % 2 ? 0
                                                             : v[i].spec.fill;
            const double got = number_get(t, buf, e * n + k);
            if (want != got && wrong++ < 3)
                CHECK(0, "segment %d, %s (%s), entry %lld, number %d: %g, not %g", segment,
                      v[i].name, tutti_type_name(v[i].spec.type), (long long)l->position[e], k, got,
                      want);
        }
}

static void get_all(tutti_dataset *d, int segment, int writers) {
    tutti_get gets[VARIABLES];
    const local_entries *l[VARIABLES];
    shared all = {0};
    void *buf[VARIABLES];
    int which[VARIABLES], n = 0;
    for (int i = 0; i < VARIABLES; i++) {
        if (!is_there(segment, i)) continue;
        const distribution how = {
            .kind = (tutti_decomposition_kind)(TUTTI_BY_INDEX + (i % 2 + segment) % 3),
            .seed = (uint64_t)(900 + i % 2),
            .holes = i % 2 ? 5 : 0,
            .copies = 5};
        const tutti_type t = memory_type(i, segment + 20);
        which[n] = i;
        l[n] = share(&all, d, segment, &how, segment, i);
        buf[n] = calloc((size_t)(l[n]->n * v[i].numbers * 2) + 1, 16);
        gets[n] = (tutti_get){v[i].name, l[n]->p, t, buf[n]};
        n++;
    }
    if (segment % 2) {
        tutti_request *r = NULL;
        CHECK_OK(tutti_dataset_get_start(d, segment, n, gets, &r));
        CHECK_OK(tutti_request_wait(&r, NULL));
    } else {
        CHECK_OK(tutti_dataset_get(d, segment, n, gets));
    }
    for (int i = 0; i < n; i++) {
        check_values(segment, which[i], l[i], gets[i].type, buf[i], writers);
        free(buf[i]);
    }
    shared_free(&all);
}

static void read_on(int n, int writers) {
    tutti_dataset *d = NULL;
    tutti_dataset_options opt = visible();
    char where[64];
    opt.check_reads = n % 2;
    snprintf(where, sizeof where, "written on %d, read on %d", writers, n);
    check_where(where);
    some_take(n);
    if (some != MPI_COMM_NULL) {
        tutti_off bytes = 0;
        CHECK_OK(tutti_dataset_open(some, path, TUTTI_READ, &opt, &d));
        CHECK_EQ(tutti_dataset_segments(d), SEGMENTS);
        for (int g = 0; g < SEGMENTS; g++) {
            tutti_segment s;
            CHECK_OK(tutti_dataset_segment(d, g, &s));
            CHECK(s.kind == plan[g].kind && s.index == plan[g].index && s.time == 0.5 * g &&
                      s.topology == topology_of(g),
                  "segment %d", g);
            get_all(d, g, writers);
        }
        CHECK_OK(tutti_dataset_verify(d, &bytes));
        CHECK(bytes > 0, "nothing was verified");
        CHECK_OK(tutti_dataset_close(&d));
    }
    some_give();
}

int main(int argc, char **argv) {
    const char *tier = getenv("TUTTI_TEST_TIER");
    const int full = tier && strcmp(tier, "full") == 0;
    harness_begin(&argc, &argv, 1260);
    snprintf(path, sizeof path, "%s/t1260.tutti", check_dir());
    variables_random();
    const int n = (int)(1 + rnd(ranks));
    write_on(ranks, (int)rnd(3));
    read_on(n, ranks);
    if (ranks > 1 && ranks != 5) {
        write_on(n, (int)rnd(3));
        read_on(ranks, n);
    }
    for (int w = 1; w <= ranks && ranks == 8; w++) { /* run all pairs of 1 to 8; quick tier: some */
        write_on(w, (int)rnd(3));
        for (int r = 1; r <= ranks; r++)
            if (full || (w * 5 + r * 3) % 8 == 0) read_on(r, w);
    }
    dataset_remove(path);
    return harness_end();
}
