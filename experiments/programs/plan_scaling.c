/* Time and memory of planning at 10^3, 10^4 and 10^5 virtual ranks, in one process and without MPI.
 *
 *   rank         summarise its side, divide the domains, find its route, serialise a descriptor for every
 *                aggregator that it reaches
 *   aggregator   parse the descriptors of the ranks that reach it, prove them disjoint, and iterate over its
 *                windows: the bytes of all senders must fill each window exactly
 *
 * Every rank is also an aggregator.  The data per rank is constant (weak scaling), so that only the number of
 * partners grows, which depends on the pattern and is shown in the columns per partner.  A sample of ranks,
 * spread over all ranks, is measured; results are means over the sample.
 *
 * usage: plan_scaling [--rounds N] [ranks ...]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <stdlib.h>
#include <tutti/options.h>
#include "measure/standalone.h"
#include "plan/domains.h"

enum { SAMPLE = 12, ALIGN = 4096, WINDOW = 1 << 20 };

static void check_call(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

static void *need_argument(void *p) {
    standalone_check(p != NULL, "out of memory");
    return p;
}

/* ---- memory: malloc and free are replaced; every block is counted with its usable size */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);

static size_t heap, heap_peak;

static void *count_in(void *p) {
    if (p) heap += malloc_usable_size(p);
    if (heap > heap_peak) heap_peak = heap;
    return p;
}

void *malloc(size_t bytes) {
    return count_in(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes) {
    return count_in(__libc_calloc(n, bytes));
}

void *realloc(void *p, size_t bytes) {
    const size_t old = p ? malloc_usable_size(p) : 0;
    void *q = __libc_realloc(p, bytes);
    if (q) heap -= old;
    return count_in(q);
}

void free(void *p) {
    if (p) heap -= malloc_usable_size(p);
    __libc_free(p);
}

/* ---- the patterns: the side of one rank in a grid of ranks */

typedef struct {
    const char *name;
    int dims;
    tutti__side (*side)(const int grid[3], int rank);
} pattern;

static int divisor_below(int n, double most) {
    int d = 1;
    for (int i = 1; i <= most; i++)
        if (n % i == 0) d = i;
    return d;
}

/* Divide ranks into grid[0] * grid[1] * grid[2], as square as possible in the last `dims` dimensions. */
static void make_grid(int dims, int ranks, int grid[3]) {
    double root = 1;
    while (dims == 3 && (root + 1) * (root + 1) * (root + 1) <= ranks) root++;
    grid[0] = divisor_below(ranks, root);
    ranks /= grid[0];
    for (root = 1; dims > 1 && (root + 1) * (root + 1) <= ranks;) root++;
    grid[1] = divisor_below(ranks, root);
    grid[2] = ranks / grid[1];
}

/* Create a side of `count` runs of `bytes` bytes. */
static tutti__side make_strided_side(tutti_off offset, tutti_count count, tutti_off bytes,
                                     tutti_off stride) {
    tutti__side s;
    check_call(tutti__side_run(offset, bytes, &s));
    check_call(tutti__side_vec(s, count, stride, &s));
    return s;
}

/* Return the block of a rank: 1024 x 1024 doubles. */
static tutti__side block_2d(const int grid[3], int rank) {
    const tutti_off n = 1024, row = grid[2] * n * 8;
    const tutti_off y = rank / grid[2] * n, x = rank % grid[2] * n;
    return make_strided_side(y * row + x * 8, n, n * 8, row);
}

/* Return the block of a rank: 64 x 64 x 64 doubles. */
static tutti__side block_3d(const int grid[3], int rank) {
    const tutti_off n = 64, row = grid[2] * n * 8, plane = grid[1] * n * row;
    const tutti_off z = rank / (grid[1] * grid[2]) * n, y = rank / grid[2] % grid[1] * n;
    tutti__side s = make_strided_side(z * plane + y * row + rank % grid[2] * n * 8, n, n * 8, row);
    check_call(tutti__side_vec(s, n, plane, &s));
    return s;
}

/* Return the rows of a rank: rows of 64 KiB, distributed cyclically, 64 per rank. */
static tutti__side cyclic_rows(const int grid[3], int rank) {
    const tutti_off row = 65536, ranks = (tutti_off)grid[0] * grid[1] * grid[2];
    return make_strided_side(rank * row, 64, row, ranks * row);
}

/* ---- a job: a pattern on a number of ranks */

/* Descriptors that an aggregator receives. */
typedef struct {
    int n, capacity;
    void **descriptor;
    size_t *size;
} inbox;

typedef struct {
    const pattern *p;
    int ranks, grid[3];
    tutti__summary all;
    tutti__domains domains;
    inbox in[SAMPLE]; /* descriptors for each sampled aggregator */
} job;

static int sampled_rank(const job *j, int k) {
    return (int)((2 * k + 1) * (tutti_off)j->ranks / (2 * SAMPLE));
}

static void job_make(job *j, const pattern *p, int ranks) {
    *j = (job){.p = p, .ranks = ranks, .all = tutti__summary_empty()};
    make_grid(p->dims, ranks, j->grid);
    for (int r = 0; r < ranks; r++) {
        tutti__side s = p->side(j->grid, r);
        j->all = tutti__summary_merge(j->all, tutti__summary_of(s, 0));
        tutti__side_free(&s);
    }
    const tutti__domain_rule rule = {TUTTI_DOMAINS_AUTO, ranks, ALIGN, WINDOW, NULL, NULL};
    tutti__domains_make(&j->all, &rule, &j->domains);
}

typedef struct {
    double seconds, partners;
    double wire, memory; /* bytes of its descriptors; peak memory including descriptors */
} cost;

/* ---- a rank */

static size_t serialise_for(const tutti__domains *d, tutti__side s, int a, void *buf, size_t size) {
    tutti_off lo, hi;
    tutti__domains_extent(d, a, &lo, &hi);
    return tutti__side_serialise(s, lo, hi, buf, size);
}

/* Serialise all descriptors of a rank into *buf_out; return their total size. */
static size_t serialise_all(const tutti__domains *d, tutti__side s, const tutti__route *r,
                            char **buf_out) {
    size_t size = 0, used = 0;
    for (int i = 0; i < r->n; i++) size += serialise_for(d, s, r->stop[i].aggregator, NULL, 0);
    char *buf = need_argument(tutti__malloc(size));
    for (int i = 0; i < r->n; i++)
        used += serialise_for(d, s, r->stop[i].aggregator, buf + used, size - used);
    *buf_out = buf;
    return used;
}

static cost measure_rank(const job *j, int k) {
    const size_t heap_before = heap_peak = heap;
    tutti__side s = j->p->side(j->grid, sampled_rank(j, k));
    tutti__domains d;
    tutti__route route;
    char *buf;
    const double start = measure_now();
    const tutti__summary all = tutti__summary_merge(j->all, tutti__summary_of(s, 0));
    const tutti__domain_rule rule = {TUTTI_DOMAINS_AUTO, j->ranks, ALIGN, WINDOW, NULL, NULL};
    tutti__domains_make(&all, &rule, &d);
    check_call(tutti__route_make(&d, s, &route));
    const size_t wire = serialise_all(&d, s, &route, &buf);
    const cost c = {measure_now() - start, route.n, (double)wire,
                    (double)(heap_peak - heap_before + sizeof d)};
    tutti__free(buf);
    tutti__route_free(&route);
    tutti__side_free(&s);
    return c;
}

/* ---- an aggregator */

static void inbox_add(inbox *in, const tutti__domains *d, tutti__side s, int a) {
    if (in->n == in->capacity) {
        in->capacity = 2 * in->capacity + 8;
        in->descriptor =
            need_argument(realloc(in->descriptor, (size_t)in->capacity * sizeof *in->descriptor));
        in->size = need_argument(realloc(in->size, (size_t)in->capacity * sizeof *in->size));
    }
    const size_t size = serialise_for(d, s, a, NULL, 0);
    void *buf = need_argument(malloc(size));
    in->size[in->n] = serialise_for(d, s, a, buf, size);
    in->descriptor[in->n++] = buf;
}

static void inbox_free(inbox *in) {
    for (int i = 0; i < in->n; i++) free(in->descriptor[i]);
    free(in->descriptor);
    free(in->size);
}

/* Store the descriptors that all ranks send to the sampled aggregators. */
static void inboxes_fill(job *j) {
    for (int r = 0; r < j->ranks; r++) {
        tutti__side s = j->p->side(j->grid, r);
        for (int k = 0; k < SAMPLE; k++) {
            const int a = sampled_rank(j, k);
            if (tutti__route_next(&j->domains, s, a, 0) >= 0)
                inbox_add(&j->in[k], &j->domains, s, a);
        }
        tutti__side_free(&s);
    }
}

static void prove_disjoint(int n, const tutti__side *side, tutti_off lo, tutti_off hi) {
    int disjoint;
    tutti_off where;
    check_call(tutti__sides_disjoint(n, side, lo, hi, &disjoint, &where));
    if (!disjoint) standalone_fail("two ranks share offset %lld", (long long)where);
}

static void walk_windows(const tutti__domains *d, int a, int n, const tutti__side *side) {
    for (tutti_count c = 0; c < tutti__domains_cycles(d, a); c++) {
        tutti_off lo, hi, sum = 0;
        tutti__domains_window(d, a, c, &lo, &hi);
        for (int i = 0; i < n; i++) sum += tutti__side_bytes_in(side[i], lo, hi);
        if (sum == hi - lo) continue;
        standalone_fail("aggregator %d, cycle %lld: window has %lld bytes, expected %lld", a,
                        (long long)c, (long long)sum, (long long)(hi - lo));
    }
}

static cost measure_aggregator(const job *j, int k) {
    const int a = sampled_rank(j, k);
    const inbox *in = &j->in[k];
    const size_t heap_before = heap_peak = heap;
    cost c = {.partners = in->n};
    tutti_off lo, hi;
    const double start = measure_now();
    tutti__domains_extent(&j->domains, a, &lo, &hi);
    tutti__side *side = need_argument(tutti__calloc((size_t)in->n, sizeof *side));
    for (int i = 0; i < in->n; i++) {
        check_call(tutti__side_parse(in->descriptor[i], in->size[i], 1, NULL, &side[i]));
        c.wire += (double)in->size[i];
    }
    prove_disjoint(in->n, side, lo, hi);
    walk_windows(&j->domains, a, in->n, side);
    c.seconds = measure_now() - start;
    c.memory = (double)(heap_peak - heap_before) + c.wire + sizeof j->domains;
    for (int i = 0; i < in->n; i++) tutti__side_free(&side[i]);
    tutti__free(side);
    return c;
}

/* ---- the report */

/* Measure all sampled ranks; value: means over the sample. */
static void run_case(measure *m, measure_variant *v, double *value) {
    const job *j = m->data;
    const double fixed = sizeof(tutti__domains); /* independent of the number of ranks */
    cost sum = {0};
    for (int k = 0; k < SAMPLE; k++) {
        const cost c = v->what ? measure_aggregator(j, k) : measure_rank(j, k);
        sum.seconds += c.seconds / SAMPLE;
        sum.partners += c.partners / SAMPLE;
        sum.wire += c.wire / SAMPLE;
        sum.memory += c.memory / SAMPLE;
    }
    value[0] = sum.seconds;
    value[1] = sum.partners;
    value[2] = sum.wire;
    value[3] = sum.memory;
    value[4] = sum.partners > 0 ? (sum.memory - fixed) / sum.partners : 0;
}

static void measure_pattern(const pattern *p, int ranks, int rounds) {
    static const char *const values[] = {"seconds",    "partners",      "descriptor_bytes",
                                         "peak_bytes", "partner_bytes", NULL};
    char title[64];
    job j;
    job_make(&j, p, ranks);
    inboxes_fill(&j);
    snprintf(title, sizeof title, "%s, %d ranks", p->name, ranks);
    measure m = {.title = title, .values = values, .rounds = rounds, .data = &j, .run = run_case};
    measure_add(&m, "rank", NULL);
    measure_add(&m, "aggregator", &j);
    measure_rounds(&m);
    standalone_report(&m, "");
    for (int k = 0; k < SAMPLE; k++) inbox_free(&j.in[k]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const pattern patterns[] = {
        {"2-D blocks", 2, block_2d}, {"3-D blocks", 3, block_3d}, {"cyclic rows", 1, cyclic_rows}};
    static const int usual[] = {1000, 10000, 100000};
    long rounds = 5;
    const standalone_option options[] = {{"--rounds", OPTION_NUMBER, &rounds, 1, 0}, {0}};
    const standalone program = {"plan_scaling", "[ranks ...]", options, 0};
    const int n = standalone_start(&program, argc, argv);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < (n ? n : 3); i++) {
            const long ranks = n ? strtol(argv[i], NULL, 10) : usual[i];
            if (ranks > 0 && ranks <= 10000000)
                measure_pattern(&patterns[p], (int)ranks, (int)rounds);
        }
    return standalone_end();
}
