/* tutti-experiments dataset, parts `visible` and `durable`: steps of 8 variables of float64, appended to an
 * open dataset and read again, compared with the limit of the file system.
 *
 * The limit: every rank writes the same number of bytes contiguously to a new file in calls of 4 MiB, and, if
 * commits are durable, calls fsync; then it reads the bytes again.  The ranks write concurrently, and one
 * after the other, which is faster if concurrent writers of one file slow each other down; ratios are
 * relative to the faster of both.  A step is begin, put of all variables, commit; then one get of all
 * variables.  Before the rounds each variant writes one step separately, which shows the cost of the first
 * step (plans, lists of entries).  Its values are compared one by one, also through another decomposition.
 * After each step its segment is erased, so that the next step needs new pages, too.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITE, READ };
enum { VARIABLES = 8 };

#define LIMIT "limit"
#define TURNS "limit, rank after rank"
#define STAGED "global, blocks, staged"

typedef enum { BLOCKS, LIES, RUNS } dealt;

typedef struct {
    const char *name;
    tutti_count run; /* RUNS: mean length of a run */
    dealt by;
    tutti_layout layout;
    tutti_type type;
    tutti_byte_order order;
    dataset_settings variant; /* the level is set by the part */
    double goal;              /* maximum ratio to the limit; 0: none */
} step_spec;

static const step_spec step_table[] = {
    {.name = LIMIT},
    {.name = TURNS},
    {.name = "ranked", .by = LIES, .layout = TUTTI_RANKED, .goal = 1.3},
    {.name = "ranked, no checksums", .by = LIES, .layout = TUTTI_RANKED, .variant = {.plain = 1}},
    {.name = "ranked, nodes, runs of 64",
     .by = RUNS,
     .run = 64,
     .layout = TUTTI_RANKED,
     .goal = 1.3},
    {.name = "global, blocks"},
    {.name = "global, blocks, no checksums", .variant = {.plain = 1}},
    {.name = STAGED, .variant = {.settings = "method=two-phase"}},
    {.name = "global, blocks, big-endian", .order = TUTTI_BIG_ENDIAN},
    {.name = "global, blocks, float32", .type = TUTTI_FLOAT32},
    {.name = "global, nodes, runs of 64", .by = RUNS, .run = 64, .goal = 1.5},
    {.name = "global, nodes, runs of 64, no checksums",
     .by = RUNS,
     .run = 64,
     .variant = {.plain = 1}},
    {.name = "global, nodes, runs of 8", .by = RUNS, .run = 8, .goal = 1.8},
    {.name = "global, nodes, runs of 1", .by = RUNS, .run = 1},
};
enum { VARIANTS = sizeof step_table / sizeof *step_table, LIMITS = 2 };

static int is_limit(const step_spec *spec) {
    return spec < step_table + LIMITS;
}

typedef struct {
    tutti_dataset *d;
    tutti_decomposition *entries, *blocks;
    tutti_count n;
    int64_t step;
    double first; /* seconds of the first step */
} step_state;

typedef struct {
    field f;
    const char *path;
    int level;
} stage;

/* ---- the limit */

static int move_bytes(int is_write, int fd, const char *path, char *at, size_t bytes,
                      off_t offset) {
    while (bytes > 0) {
        const size_t some = bytes < BENCH_CALL ? bytes : BENCH_CALL;
        const ssize_t n = is_write ? pwrite(fd, at, some, offset) : pread(fd, at, some, offset);
        if (n <= 0) return cli_error_errno(is_write ? "cannot write" : "cannot read", path);
        at += n;
        offset += n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* Transfer this rank's share of the limit's file: all variables in sequence. */
static int limit_share(const stage *s, const char *path, int is_write) {
    const field *f = &s->f;
    const size_t bytes = (size_t)f->each * sizeof(double);
    const int how = is_write ? O_WRONLY | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC;
    const int fd = open(path, how, 0666);
    int failed = fd < 0 ? cli_error_errno("cannot open", path) : 0;
    for (int v = 0; v < VARIABLES && !failed; v++) {
        const off_t at = (off_t)bytes * (f->w->rank * VARIABLES + v);
        double *memory = (is_write ? f->put : f->got) + v * f->capacity;
        failed = move_bytes(is_write, fd, path, (char *)memory, bytes, at);
    }
    if (!failed && is_write && s->level == TUTTI_DURABLE && fsync(fd) != 0)
        failed = cli_error_errno("cannot sync", path);
    if (fd >= 0 && close(fd) != 0 && !failed) failed = cli_error_errno("cannot close", path);
    return failed;
}

static int limit_lap(const stage *s, const char *path, int turns, int is_write, double *out) {
    const cli_world *w = s->f.w;
    int failed = 0;
    const double start = comparison_start(w);
    if (!turns) failed = limit_share(s, path, is_write);
    for (int r = 0; r < w->ranks && turns; r++) {
        if (r == w->rank) failed = limit_share(s, path, is_write);
        cli_barrier(w);
    }
    *out = cli_elapsed(w, start, cli_now());
    return cli_agree(w, failed);
}

/* ---- a dataset */

static const char *variable_name(int v, char out[16]) {
    snprintf(out, 16, "v%d", v);
    return out;
}

static tutti_err put_all(const stage *s, const step_state *k, int n) {
    tutti_put puts[VARIABLES];
    char names[VARIABLES][16];
    for (int v = 0; v < n; v++)
        puts[v] = (tutti_put){variable_name(v, names[v]), k->entries, TUTTI_FLOAT64,
                              s->f.put + v * s->f.capacity};
    return tutti_dataset_put(k->d, n, puts);
}

static tutti_err get_some(const stage *s, const step_state *k, tutti_decomposition *entries,
                          int n) {
    tutti_get gets[VARIABLES];
    char names[VARIABLES][16];
    for (int v = 0; v < n; v++)
        gets[v] = (tutti_get){variable_name(v, names[v]), entries, TUTTI_FLOAT64,
                              s->f.got + v * s->f.capacity};
    return tutti_dataset_get(k->d, tutti_dataset_segments(k->d) - 1, n, gets);
}

static tutti_err write_step(const stage *s, step_state *k, double *out) {
    const double start = comparison_start(s->f.w);
    k->step++;
    tutti_err err = tutti_dataset_begin(k->d, TUTTI_STATE, k->step, (double)k->step);
    if (err == TUTTI_OK) err = put_all(s, k, VARIABLES);
    if (err == TUTTI_OK) err = tutti_dataset_commit(k->d);
    *out = cli_elapsed(s->f.w, start, cli_now());
    return err;
}

static tutti_err read_step(const stage *s, const step_state *k, double *out) {
    const double start = comparison_start(s->f.w);
    const tutti_err err = get_some(s, k, k->entries, VARIABLES);
    *out = cli_elapsed(s->f.w, start, cli_now());
    return err;
}

static tutti_err create_decompositions(const stage *s, const step_spec *spec, step_state *k,
                                       tutti_count n, const tutti_count *position) {
    const tutti_count lo = s->f.each * s->f.w->rank;
    const tutti_decomposition_spec block = {
        .kind = TUTTI_BY_SLICE, .slice = {.lo = {lo}, .hi = {lo + s->f.each}}, .whole = 1};
    const tutti_decomposition_spec lies = {.kind = TUTTI_BY_RANK_ORDER, .n = n, .whole = 1};
    const tutti_decomposition_spec runs = {
        .kind = TUTTI_BY_INDEX, .n = n, .index = position, .whole = 1};
    const tutti_err err = tutti_decomposition_create(k->d, "space", &block, &k->blocks);
    if (err != TUTTI_OK) return err;
    return tutti_decomposition_create(k->d, "space",
                                      spec->by == RUNS   ? &runs
                                      : spec->by == LIES ? &lies
                                                         : &block,
                                      &k->entries);
}

/* Write the first steps: one variable, then all; read and compare both. */
static int first_step(const stage *s, const step_spec *spec, step_state *k, tutti_count *position) {
    tutti_count n = 0;
    double seconds = 0;
    field_fill(&s->f, k->n, position);
    tutti_err err = tutti_dataset_begin(k->d, TUTTI_STATE, k->step, 0);
    if (err == TUTTI_OK) err = put_all(s, k, 1); /* this segment also gets the lists of entries */
    if (err == TUTTI_OK) err = tutti_dataset_commit(k->d);
    if (err == TUTTI_OK) err = write_step(s, k, &k->first);
    if (err == TUTTI_OK) err = read_step(s, k, &seconds);
    if (err != TUTTI_OK) return cli_error_tutti();
    if (cli_agree(s->f.w, field_check(&s->f, k->n, position, VARIABLES))) return 1;
    tutti_count *block = field_deal(&s->f, 0, &n);
    err = get_some(s, k, k->blocks, 1);
    const int failed = err != TUTTI_OK ? cli_error_tutti() : field_check(&s->f, n, block, 1);
    free(block);
    if (cli_agree(s->f.w, failed)) return 1;
    if (!spec->variant.plain && tutti_dataset_verify(k->d, NULL) != TUTTI_OK)
        return cli_error_tutti();
    return tutti_dataset_erase_after(k->d, 0) == TUTTI_OK ? 0 : cli_error_tutti();
}

static int begin_variant(const comparison *r, measure_variant *of) {
    const stage *s = r->data;
    const step_spec *spec = of->what;
    step_state *k = cli_malloc(sizeof *k);
    *k = (step_state){0};
    of->state = k;
    dataset_settings variant = spec->variant;
    variant.level = s->level;
    char *path = cli_format("%s.%d", s->path, (int)((const step_spec *)of->what - step_table));
    tutti_count *position = field_deal(&s->f, spec->by == RUNS ? spec->run : 0, &k->n);
    tutti_err err = datasets_open(r->x, path, &variant, &k->d);
    if (err == TUTTI_OK) {
        char name[16];
        err = tutti_dataset_grid(k->d, "space", 1, &s->f.entries);
        for (int v = 0; v < VARIABLES && err == TUTTI_OK; v++)
            err = tutti_dataset_variable(
                k->d, variable_name(v, name),
                &(tutti_variable_spec){.space = "space",
                                       .type = spec->type ? spec->type : TUTTI_FLOAT64,
                                       .layout = spec->layout,
                                       .order = spec->order});
    }
    if (err == TUTTI_OK) err = create_decompositions(s, spec, k, k->n, position);
    const int failed = err != TUTTI_OK ? cli_error_tutti() : first_step(s, spec, k, position);
    free(position);
    free(path);
    return failed;
}

static int run_step(comparison *r, measure_variant *of, double *seconds_out) {
    const stage *s = r->data;
    if (is_limit(of->what)) {
        const int turns = of->what == &step_table[1];
        char *path = cli_format("%s.limit", s->path);
        const int failed = limit_lap(s, path, turns, 1, &seconds_out[WRITE]) ||
                           limit_lap(s, path, turns, 0, &seconds_out[READ]);
        cli_barrier(s->f.w);
        if (s->f.w->rank == 0) unlink(path);
        free(path);
        cli_barrier(s->f.w);
        return failed;
    }
    if (!of->state && begin_variant(r, of)) return 1;
    step_state *k = of->state;
    tutti_err err = write_step(s, k, &seconds_out[WRITE]);
    if (err == TUTTI_OK && r->x->results.config->read) err = read_step(s, k, &seconds_out[READ]);
    if (err == TUTTI_OK) err = tutti_dataset_erase_after(k->d, 0);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static void end_variant(const comparison *r, measure_variant *of) {
    const stage *s = r->data;
    step_state *k = of->state;
    if (!k) return;
    char *path = cli_format("%s.%d", s->path, (int)((const step_spec *)of->what - step_table));
    tutti_decomposition_free(&k->entries);
    tutti_decomposition_free(&k->blocks);
    if (k->d && tutti_dataset_close(&k->d) != TUTTI_OK) k->d = NULL;
    datasets_remove(r->x, path);
    free(path);
    free(k);
}

/* Apply --ways: variants whose name contains one of these words. */
static int is_wanted(const bench_config *c, const step_spec *spec) {
    if (!c->ways.n || is_limit(spec)) return 1;
    for (int i = 0; i < c->ways.n; i++)
        if (strstr(spec->name, c->ways.item[i])) return 1;
    return 0;
}

int datasets_steps(experiment *x, const char *dir, int level) {
    const bench_config *c = x->results.config;
    const char *part = level == TUTTI_DURABLE ? "durable" : "visible";
    stage s = {.path = datasets_path(x, dir), .level = level};
    comparison r = {.x = x, .m.title = part, .run = run_step, .data = &s};
    if (field_make(&s.f, x->all, c, VARIABLES)) {
        field_free(&s.f);
        return 1;
    }
    for (int i = 0; i < VARIANTS; i++)
        if (is_wanted(c, &step_table[i])) measure_add(&r.m, step_table[i].name, &step_table[i]);
    comparison_run(&r);
    char more[64];
    snprintf(more, sizeof more, ", \"bytes\": %.0f",
             (double)s.f.entries * VARIABLES * sizeof(double));
    for (int i = 0; i < r.m.n; i++) {
        measure_variant *v = r.m.variant[i];
        const step_state *k = v->state;
        snprintf(v->more, sizeof v->more, ", \"goal\": %g, \"first\": %.9f",
                 ((const step_spec *)v->what)->goal, k ? k->first : 0);
    }
    comparison_report(&r, dir, more);
    for (int i = 0; i < r.m.n; i++) end_variant(&r, r.m.variant[i]);
    measure_free(&r.m);
    field_free(&s.f);
    return 0;
}
