/* tutti-experiments mesh: Filgueira, Singh, Isaila, Carretero and Garcia Loureiro, Interval Data Grouping.
 *
 *   tables   Tables 3 and 4, figures 9 to 11: counts, on one process (mesh_tables.c)
 *   writes   figures 5, 6 and 8: write times by configuration, load and rule, as many partitions as ranks
 *
 * The paper's configurations are methods here: sequential is `root` (gather, then write), the parallel ones
 * are independent, list and two-phase; `auto` stands beside them.  Its NFS and PVFS are directories.
 * Sequential time is that of gathering and writing, parallel time that of making access and plan and
 * of writing; with a plan that is reused, of writing alone.  `bare` is a loop of system calls, one for each
 * interval, without any library: what the rules gain on this machine at best.  All ways of a load alternate.
 *
 * Goals, no gates, since disks are noisy: own / idg is at least 1.4 with list and 1.8 with independent in the
 * median of loads up to 50; from 100 on, idg takes at most 1.25 times as long as own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT "conforming"
#define BARE "bare"
#define REUSED ", reused plan"

enum { SMALL_LOAD = 50, LARGE_LOAD = 100 };
#define LARGE_GOAL 1.25

static void mesh_defaults(bench_config *c, int quick) {
    c->write = c->fresh = c->reused = 1;
    c->rounds = quick ? 3 : 7;
    c->nodes = quick ? 3000 : 48000;
    c->order = TUTTI_MESH_CURVE;
    c->by = TUTTI_MESH_METIS;
    c->all_parts = "tables,writes";
    cli_list_split(&c->partitions, quick ? "8,16" : "8,16,32,64");
    cli_list_split(&c->loads, quick ? "1,10" : "1,5,10,25,50,100,500");
    cli_list_split(&c->rules, "own,idg,idg2");
    cli_list_split(&c->methods, "root,independent,list,two-phase,auto");
}

/* ---- points */

typedef struct {
    int sources, points;
    mesh_source *source;
    mesh_point *point;
    double *inspecting; /* [points * MESH_RULES] */
    mesh_stage stage;
    double busy; /* load of the machine before */
} mesh_data;

/* Without a word, writes are measured if there is more than one rank to write. */
static int has_part(const experiment *x, const char *part) {
    const bench_config *c = x->results.config;
    if (c->parts.n) return cli_list_has(&c->parts, part);
    return strcmp(part, "tables") == 0 || x->all->ranks > 1 || !c->write;
}

static void way_name(char *out, size_t size, const char *method, const char *rule, int reused) {
    snprintf(out, size, "%s%s%s%s", method, *rule ? " " : "", rule, reused ? REUSED : "");
}

/* The methods that were asked for, and behind them the bare loop. */
static int methods(const bench_config *c) {
    return c->methods.n + 1;
}

static const char *method_name(const bench_config *c, int i) {
    return i < c->methods.n ? c->methods.item[i] : BARE;
}

static const tutti_replicas_rule *rule_named(const char *rule) {
    tutti_replicas_rule r = TUTTI_REPLICAS_OWN;
    if (tutti_replicas_rule_parse(rule, &r) != TUTTI_OK)
        return NULL; /* the arguments were checked */
    for (int i = 0; i < MESH_RULES; i++)
        if (mesh_rule[i] == r) return &mesh_rule[i];
    return NULL;
}

static void add_way(const experiment *x, bench_cell *point, const char *method, const char *rule,
                    int reused) {
    char name[48], settings[64];
    way_name(name, sizeof name, method, rule, reused);
    snprintf(settings, sizeof settings, "method=%s", method);
    bench_entry *e = experiment_way(x, point, name, settings);
    e->reused = reused;
    if (!point->is_write) { /* all that a rank holds: no rule */
        e->runner = reused ? &bench_tutti_reused : &bench_tutti;
        return;
    }
    e->runner = reused ? &mesh_reused : &mesh_fresh;
    e->context = rule_named(rule);
}

static void add_bare(const experiment *x, bench_cell *point, const char *rule) {
    char name[48];
    way_name(name, sizeof name, BARE, rule, 0);
    bench_entry *e = experiment_reference(x, point, ENTRY_PIECES, name);
    e->runner = &mesh_bare;
    e->context = rule_named(rule);
}

static void add_ways(const experiment *x, bench_cell *point) {
    const bench_config *c = x->results.config;
    experiment_reference(x, point, ENTRY_LIMIT, LIMIT);
    for (int m = 0; m < c->methods.n; m++)
        for (int r = 0; r < (point->is_write ? c->rules.n : 1); r++)
            for (int reused = 0; reused < 2; reused++)
                if (reused ? c->reused : c->fresh)
                    add_way(x, point, c->methods.item[m], point->is_write ? c->rules.item[r] : "",
                            reused);
    for (int r = 0; r < c->rules.n && point->is_write; r++) add_bare(x, point, c->rules.item[r]);
}

static void add_point(experiment *x, const point_spec *where, const mesh_source *source,
                      const char *load) {
    mesh_data *d = x->data;
    mesh_point *p = &d->point[d->points];
    *p = (mesh_point){.source = source,
                      .stage = &d->stage,
                      .config = x->results.config,
                      .load = strtol(load, NULL, 10),
                      .inspecting = d->inspecting + (ptrdiff_t)MESH_RULES * d->points++};
    snprintf(p->name, sizeof p->name, "%s, load %s", source->name, load);
    point_spec spec = *where;
    spec.pattern = p->name;
    bench_cell *point = experiment_point(x, &spec);
    point->scene = &mesh_scene;
    point->what = p;
    add_ways(x, point);
}

/* Directories are within meshes and ranks: these take time to set up. */
static void add_points(experiment *x, const mesh_source *source, int ranks, int is_read) {
    const bench_config *c = x->results.config;
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = 0; i < c->loads.n; i++)
            add_point(x,
                      &(point_spec){.figure = is_read ? "reads" : "writes",
                                    .dir = c->dirs.item[d],
                                    .is_read = is_read,
                                    .ranks = ranks,
                                    .size = 4096},
                      source, c->loads.item[i]);
}

static void mesh_plan(experiment *x) {
    const bench_config *c = x->results.config;
    const int first = c->procs.n ? 0 : x->worlds - 1; /* all ranks, unless numbers were given */
    const int sources = c->operands ? c->operands : 1;
    const size_t most = (size_t)sources * (size_t)(2 * x->worlds * c->dirs.n * c->loads.n);
    mesh_data *d = cli_malloc(sizeof *d);
    *d = (mesh_data){.sources = sources};
    d->source = cli_malloc((size_t)sources * sizeof *d->source);
    d->point = cli_malloc(most * sizeof *d->point);
    d->inspecting = cli_malloc(most * MESH_RULES * sizeof *d->inspecting);
    x->data = d;
    for (int i = 0; i < sources; i++)
        mesh_source_name(&d->source[i], c->operands ? c->operand[i] : NULL, c->nodes);
    if (getloadavg(&d->busy, 1) != 1) d->busy = 0;
    if (!has_part(x, "writes")) return;
    for (int i = 0; i < sources; i++)
        for (int k = first; k < x->worlds; k++) {
            if (c->write) add_points(x, &d->source[i], x->world[k].ranks, 0);
            if (c->read) add_points(x, &d->source[i], x->world[k].ranks, 1);
        }
}

static int mesh_begin(experiment *x) {
    const mesh_data *d = x->data;
    if (!has_part(x, "tables")) return 0;
    return cli_agree(x->all, x->all->rank == 0 && mesh_tables_show(x, d->sources, d->source));
}

static void mesh_end(experiment *x) {
    mesh_data *d = x->data;
    mesh_stage_free(&d->stage);
    free(d->inspecting);
    free(d->point);
    free(d->source);
}

/* ---- exhibits of one mesh in one directory on so many ranks */

typedef struct {
    const mesh_source *source;
    const char *dir;
    int ranks, is_write;
} scene_of;

static int is_of(const bench_cell *point, const scene_of *s) {
    return ((const mesh_point *)point->what)->source == s->source &&
           strcmp(point->dir, s->dir) == 0 && point->ranks == s->ranks &&
           point->is_write == s->is_write;
}

static exhibit *add_exhibit(experiment *x, exhibit_kind kind, const scene_of *s, const char *what) {
    char id[40], title[120];
    snprintf(id, sizeof id, "%.14s %d %.18s", s->source->name, s->ranks, what);
    snprintf(title, sizeof title, "%s on %d ranks: %s", s->source->name, s->ranks, what);
    exhibit *e = experiment_exhibit(x, kind, id, title);
    e->axis = "load";
    return e;
}

static void load_name(const bench_cell *point, char out[24]) {
    snprintf(out, 24, "%lld", (long long)((const mesh_point *)point->what)->load);
}

static void put_time(const bench_cell *point, const char *name, const char *column, exhibit *e) {
    const bench_entry *w = point_entry(point, name);
    char row[24];
    load_name(point, row);
    if (w) exhibit_put(e, row, column, point_milliseconds(w));
}

/* Only the root writes: what is left of its time is gathering. */
static void put_gather(const bench_cell *point, const char *name, int reused, exhibit *e) {
    const bench_entry *w = point_entry(point, name);
    char row[24];
    if (!w) return;
    load_name(point, row);
    const double file = point_phase(w, offsetof(bench_phases, file));
    exhibit_put_number(e, row, reused ? "root: gathering" REUSED : "root: gathering",
                       1e3 * fmax(0, w->time.median - file));
}

/* Figures 5 and 6: configurations, by one rule. */
static void show_rule(experiment *x, const scene_of *s, const char *rule) {
    const bench_config *c = x->results.config;
    char what[80], name[48], column[48];
    snprintf(what, sizeof what, "%s%s%s", s->is_write ? "written" : "read", *rule ? " by " : "",
             rule);
    exhibit *e = add_exhibit(x, EXHIBIT_LINES, s, what);
    e->unit = "milliseconds";
    e->decimals = 2;
    exhibit_note(e,
                 "Figures 5 and 6.  Making access and plan, and %s, to close; root: that is "
                 "gathering, too.  With a reused plan: from its start.  bare: one system call for "
                 "each interval, no library.  The file is open.  Medians.",
                 s->is_write ? "writing" : "reading");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (!is_of(point, s)) continue;
        put_time(point, LIMIT, LIMIT, e);
        for (int k = 0; k < 2 * methods(c); k++) {
            const char *method = method_name(c, k % methods(c));
            const int reused = k >= methods(c);
            way_name(name, sizeof name, method, rule, reused);
            way_name(column, sizeof column, method, "", reused);
            put_time(point, name, column, e);
            if (s->is_write && strcmp(method, "root") == 0) put_gather(point, name, reused, e);
        }
    }
}

/* Figure 8: rules, with list. */
static void show_list(experiment *x, const scene_of *s) {
    const bench_config *c = x->results.config;
    char name[48], column[48];
    exhibit *e = add_exhibit(x, EXHIBIT_LINES, s, "rules with list");
    e->unit = "milliseconds";
    e->decimals = 2;
    exhibit_note(e, "Figure 8.");
    for (int i = 0; i < x->results.cells; i++)
        for (int k = 0; k < 2 * c->rules.n && is_of(&x->results.cell[i], s); k++) {
            const char *rule = c->rules.item[k % c->rules.n];
            way_name(name, sizeof name, "list", rule, k >= c->rules.n);
            way_name(column, sizeof column, rule, "", k >= c->rules.n);
            put_time(&x->results.cell[i], name, column, e);
        }
}

static void show_scene(experiment *x, const scene_of *s) {
    const bench_config *c = x->results.config;
    for (int r = 0; r < (s->is_write ? c->rules.n : 1); r++)
        show_rule(x, s, s->is_write ? c->rules.item[r] : "");
    if (s->is_write && cli_list_has(&c->methods, "list")) show_list(x, s);
}

/* ---- own over another rule */

/* Of both times: their ratios round by round; or the ratio of the least, which a busy machine spoils
 * less. */
static int compare_rules(const bench_cell *point, const char *method, int reused, const char *rule,
                         exhibit_value *rounds_out, double *least_out) {
    char own_name[48], name[48];
    way_name(own_name, sizeof own_name, method, "own", reused);
    way_name(name, sizeof name, method, rule, reused);
    const bench_entry *own = point_entry(point, own_name), *other = point_entry(point, name);
    if (!own || !other) return 0;
    const int n = own->rounds < other->rounds ? own->rounds : other->rounds;
    double *ratio = cli_malloc((size_t)(n + 1) * sizeof *ratio);
    for (int i = 0; i < n; i++) ratio[i] = own->seconds[i] / fmax(other->seconds[i], 1e-9);
    *rounds_out = claim_value(ratio, n, 1);
    *least_out = own->time.min / fmax(other->time.min, 1e-9);
    free(ratio);
    return 1;
}

static void put_gains(const bench_cell *point, const char *rule, int by_least, exhibit *e) {
    const bench_config *c = ((const mesh_point *)point->what)->config;
    char row[80], column[48];
    snprintf(row, sizeof row, "%s, %d ranks", point->pattern, point->ranks);
    for (int k = 0; k < 2 * methods(c); k++) {
        const char *method = method_name(c, k / 2);
        exhibit_value v;
        double least;
        way_name(column, sizeof column, method, "", k % 2);
        if (!compare_rules(point, method, k % 2, rule, &v, &least)) continue;
        if (by_least) v.mid = v.lo = v.hi = least;
        exhibit_put(e, row, column, v);
    }
}

static void show_gain(experiment *x, const char *dir, const char *rule, int by_least) {
    char id[40], title[120];
    snprintf(id, sizeof id, "gain of %s%s", rule, by_least ? ", least" : "");
    snprintf(title, sizeof title, "Write times of own over those of %s%s", rule,
             by_least ? ", least times" : "");
    exhibit *e = experiment_exhibit(x, EXHIBIT_TABLE, id, title);
    e->axis = "mesh";
    e->decimals = 2;
    exhibit_note(e, by_least ? "The least times of all rounds, which a busy machine spoils less."
                             : "Medians of the ratios of both times, round by round.");
    for (int i = 0; i < x->results.cells; i++)
        if (x->results.cell[i].is_write && strcmp(x->results.cell[i].dir, dir) == 0)
            put_gains(&x->results.cell[i], rule, by_least, e);
}

static void show_gains(experiment *x, const char *dir) {
    const bench_config *c = x->results.config;
    if (!c->write || !cli_list_has(&c->rules, "own")) return;
    for (int r = 0; r < c->rules.n; r++)
        for (int by_least = 0; by_least < 2; by_least++)
            if (strcmp(c->rules.item[r], "own") != 0) show_gain(x, dir, c->rules.item[r], by_least);
}

/* What the inspectors took, all ranks together at work; the median of all loads. */
static void show_inspectors(experiment *x) {
    const mesh_data *d = x->data;
    exhibit *e = experiment_exhibit(x, EXHIBIT_TABLE, "inspectors", "Inspectors on the ranks");
    double *seconds = cli_malloc((size_t)(d->points + 1) * sizeof *seconds);
    e->axis = "mesh, ranks";
    e->unit = "milliseconds";
    exhibit_note(e, "Once for a partition, by all ranks: positions, writers and both accesses.");
    for (int i = 0; i < x->results.cells; i++)
        for (int r = 0; r < MESH_RULES; r++) {
            const bench_cell *point = &x->results.cell[i];
            const mesh_source *source = ((const mesh_point *)point->what)->source;
            char row[80];
            int n = 0;
            snprintf(row, sizeof row, "%s, %d", source->name, point->ranks);
            for (int k = 0; k < x->results.cells; k++) {
                const mesh_point *p = x->results.cell[k].what;
                if (p->source == source && x->results.cell[k].ranks == point->ranks)
                    seconds[n++] = p->inspecting[mesh_rule[r]];
            }
            exhibit_put_number(e, row, tutti_replicas_rule_name(mesh_rule[r]),
                               1e3 * cli_quantile(seconds, n, 0.5));
        }
    free(seconds);
}

/* ---- goals */

/* own / idg at all points with loads in a range, by the rounds and by the least times. */
typedef struct {
    int n;
    double *rounds, *least;
} gains;

static void gather_gains(const experiment *x, const char *method, int reused,
                         const tutti_count range[2], gains *out) {
    out->n = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        const tutti_count load = ((const mesh_point *)point->what)->load;
        exhibit_value v;
        if (!point->is_write || point->ranks == 1 || load < range[0] || load > range[1] ||
            !compare_rules(point, method, reused, "idg", &v, &out->least[out->n]))
            continue;
        out->rounds[out->n++] = v.mid;
    }
}

/* Goals are for the configurations in which each rank writes by itself, along the curve. */
static double goal_of(const experiment *x, const char *method) {
    const bench_config *c = x->results.config;
    if (c->order != TUTTI_MESH_CURVE || c->by != TUTTI_MESH_METIS || !tutti_mesh_has_metis())
        return 0;
    return strcmp(method, "list") == 0 ? 1.4 : strcmp(method, "independent") == 0 ? 1.8 : 0;
}

static finding_grade grade(double goal, int met) {
    return goal <= 0 ? FINDING_PLAIN : met ? FINDING_MET : FINDING_MISSED;
}

static void judge_method(experiment *x, const char *method, int reused, gains *g) {
    const double goal = goal_of(x, method);
    const char *how = reused ? REUSED : "";
    char text[64] = "";
    gather_gains(x, method, reused, (tutti_count[]){1, SMALL_LOAD}, g);
    const double median = cli_quantile(g->rounds, g->n, 0.5);
    if (goal > 0) snprintf(text, sizeof text, " (goal: %.1f)", goal);
    if (g->n)
        experiment_finding(x, grade(goal, median >= goal),
                           "%s%s, loads up to %d: own takes %.2f times as long as idg, median of "
                           "%d points%s; from %.2f to %.2f; by the least times %.2f.",
                           method, how, SMALL_LOAD, median, g->n, text,
                           cli_quantile(g->rounds, g->n, 0), cli_quantile(g->rounds, g->n, 1),
                           cli_quantile(g->least, g->n, 0.5));
    gather_gains(x, method, reused, (tutti_count[]){LARGE_LOAD, INT64_MAX}, g);
    const double worst = 1 / fmax(cli_quantile(g->rounds, g->n, 0), 1e-9);
    if (goal > 0) snprintf(text, sizeof text, " (goal: %.2f)", LARGE_GOAL);
    if (g->n)
        experiment_finding(x, grade(goal, worst <= LARGE_GOAL),
                           "%s%s, loads from %d: idg takes at most %.2f times as long as own%s, "
                           "median of %d points %.2f; by the least times at most %.2f.",
                           method, how, LARGE_LOAD, worst, text, g->n,
                           1 / fmax(cli_quantile(g->rounds, g->n, 0.5), 1e-9),
                           1 / fmax(cli_quantile(g->least, g->n, 0), 1e-9));
}

/* Over all points of one operation with loads in a range: by rounds, the median over the points. */
static void claim_ways(experiment *x, const char *const way[2], int is_read,
                       const tutti_count range[2]) {
    const bench_cell **point =
        cli_malloc((size_t)(x->results.cells + 1) * sizeof(const bench_cell *));
    for (int d = 0; d < x->results.config->dirs.n; d++) {
        const char *dir = x->results.config->dirs.item[d];
        char where[120];
        int n = 0;
        for (int i = 0; i < x->results.cells; i++) {
            const bench_cell *p = &x->results.cell[i];
            const tutti_count load = ((const mesh_point *)p->what)->load;
            if (point_is(p, NULL, dir, is_read) && p->ranks > 1 && load >= range[0] &&
                load <= range[1])
                point[n++] = p;
        }
        snprintf(where, sizeof where, "%.60s, %s, up to %d ranks, loads %s", dir,
                 is_read ? "reads" : "writes", experiment_most_ranks(x),
                 range[1] <= SMALL_LOAD ? "up to 50" : "from 100");
        if (n > 0) claim_faster_all(x, where, n, point, way[0], way[1]);
    }
    free(point);
}

static void claim_times(experiment *x) {
    const bench_config *c = x->results.config;
    const tutti_count ranges[2][2] = {{1, SMALL_LOAD}, {LARGE_LOAD, INT64_MAX}};
    char slow[48], fast[48];
    for (int k = 0; k < 2 * methods(c); k++) {
        const char *method = method_name(c, k / 2);
        if (goal_of(x, method) <= 0 && strcmp(method, BARE) != 0) continue;
        way_name(slow, sizeof slow, method, "own", k % 2);
        way_name(fast, sizeof fast, method, "idg", k % 2);
        for (int r = 0; r < 2 && c->write; r++)
            claim_ways(x, (const char *const[]){slow, fast}, 0, ranges[r]);
    }
    for (int m = 0; m < c->methods.n && c->read; m++)
        if (strcmp(c->methods.item[m], "two-phase") != 0)
            claim_ways(x, (const char *const[]){c->methods.item[m], "two-phase"}, 1, ranges[0]);
}

static void judge_busy(experiment *x) {
    const mesh_data *d = x->data;
    double after = 0;
    if (getloadavg(&after, 1) != 1) return;
    experiment_finding(x, FINDING_PLAIN,
                       "The machine has %ld cores; its load was %.1f before, %.1f afterwards, this "
                       "program included.",
                       sysconf(_SC_NPROCESSORS_ONLN), d->busy, after);
}

static void judge_times(experiment *x) {
    const bench_config *c = x->results.config;
    const size_t most = (size_t)(x->results.cells + 1) * sizeof(double);
    gains g = {.rounds = cli_malloc(most), .least = cli_malloc(most)};
    for (int m = 0; m < methods(c); m++)
        for (int reused = 0; reused < 2; reused++) judge_method(x, method_name(c, m), reused, &g);
    free(g.rounds);
    free(g.least);
}

static int has_points(const experiment *x, const scene_of *s) {
    for (int i = 0; i < x->results.cells; i++)
        if (is_of(&x->results.cell[i], s)) return 1;
    return 0;
}

static void show_directory(experiment *x, const char *dir) {
    const mesh_data *d = x->data;
    x->group = dir;
    for (int m = 0; m < d->sources; m++)
        for (int k = 0; k < x->worlds; k++)
            for (int is_write = 1; is_write >= 0; is_write--) {
                const scene_of s = {&d->source[m], dir, x->world[k].ranks, is_write};
                if (has_points(x, &s)) show_scene(x, &s);
            }
    show_gains(x, dir);
}

static void mesh_judge(experiment *x) {
    if (has_part(x, "tables") && !tutti_mesh_has_metis())
        experiment_finding(x, FINDING_PLAIN,
                           "METIS is not built in (Debian: libmetis-dev): "
                           "partitions are by coordinate bisection.");
    if (x->results.cells) {
        show_inspectors(x);
        for (int i = 0; i < x->results.config->dirs.n; i++)
            show_directory(x, x->results.config->dirs.item[i]);
        judge_times(x);
        claim_times(x);
    } else if (x->all->ranks == 1) {
        experiment_finding(x, FINDING_PLAIN,
                           "Write times need as many ranks as partitions: mpirun "
                           "-np 4 tutti-experiments mesh, or --part writes.");
    }
    judge_busy(x);
}

const experiment_kind experiment_mesh = {
    .name = "mesh",
    .also = "paper4",
    .title = "Irregular meshes",
    .source = "After Filgueira, Singh, Isaila, Carretero and Garcia Loureiro, Tables 3 and 4, "
              "figures 5, 6 and 8 to 11.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,op,method,plan,part,partitions,loads,nodes,rule,order,by",
              .defaults = mesh_defaults,
              .operands = 1},
    .plan = mesh_plan,
    .begin = mesh_begin,
    .judge = mesh_judge,
    .end = mesh_end,
};
