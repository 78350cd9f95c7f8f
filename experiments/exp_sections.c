/* tutti-experiments sections: Thakur and Choudhary, Table 1, Table 2 and figure 2.
 *
 *   common          all ranks want the same section of an array of doubles, column-major
 *   overlapping     each rank's section is shifted against the one before
 *   distinct        no element is wanted by two ranks
 *   distributions   a whole array, of half the extents, by several distributions
 *
 * each read and written: directly (every rank its own pieces; reads also with data sieving), by the
 * Extended Two-Phase Method, which reads column by column, by the same with one request where columns follow each
 * other closely, and by the library's defaults; writes also with rmw.  Beside the times stand what hardly depends on
 * the machine: requests and bytes, of all ranks together.  Gates, which the exit status tells:
 *
 *   - a common section is moved once: requests and bytes fall at least by the number of ranks
 *   - no section is read beyond the smallest section that holds what all ranks want
 *   - with --iops and O_DIRECT, on a device that takes so many operations a second: times fall at least 0.8 times as
 *     much as requests
 *
 * With --cold the page cache is emptied of the file before each run; the default then stands beside the
 * ways among which it chooses, and the report says how far it is from the best of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIRECT "direct"
#define SIEVED "direct, sieved"
#define EXTENDED "extended two-phase"
#define ENGINE "same bytes, no array"
#define PEER "MPI library"
#define LIMIT "conforming"

#define HOLES "extended, all holes"
#define DEFAULT "default"
#define WITH_RMW ", rmw"

/* With --cold, on a device that is not throttled: the ways among which the default, auto, chooses, and some more. */
static const struct {
    const char *name, *settings;
} fixed_table[] = {
    {"list", "method=list"},
    {"sieve", "method=sieve"},
    {"two-phase", "method=two-phase"},
    {"no holes", "method=two-phase sieve_gap=1"},
    {"all holes", "method=two-phase sieve_gap=1g"},
    {"one aggregator", "method=two-phase cb_nodes=1"},
    {"large windows", "method=two-phase window_size=2m"},
    {"domains in turn", "method=two-phase domains=cyclic domain_block=512k"},
};
enum { FIXED = sizeof fixed_table / sizeof *fixed_table };

#define PATIENCE 20.0 /* times as slow as the fastest */
#define TIME_GOAL 0.8 /* of the ratio of requests */
#define ENGINE_GOAL 1.1
#define COLD_GOAL 1.1
#define ENOUGH 0.5 /* seconds of operations that a way must have to be judged by its time */

static void sections_defaults(bench_config *c, int quick) {
    c->array = (tutti_off)(quick ? 2 : 128) << 20;
    c->rounds = quick ? 3 : 7;
    c->write = c->read = 1; /* with --cold, odd rounds judge */
    c->all_parts = "common,overlapping,distinct,distributions";
    cli_list_split(&c->parts, c->all_parts);
}

/* ---- points */

typedef struct {
    section_what section;
    distribution_what distribution;
    char name[80];
} point_data;

/* Extents of a square array of doubles of so many bytes, or a little less: columns are whole blocks. */
static tutti_count extent_of(const bench_config *c) {
    const tutti_count n = (tutti_count)sqrt((double)c->array / sizeof(double));
    const tutti_count least = 2 * SECTION_BLOCK; /* of O_DIRECT: a column has parts */
    if (c->options.direct_io && n < least) return least;
    return n >= SECTION_BLOCK ? n - n % SECTION_BLOCK : n;
}

static bench_cell *add_cell(experiment *x, const char *dir, const char *figure, int is_read,
                            const point_data *data, tutti_count n) {
    const int ranks = experiment_most_ranks(x);
    bench_cell *point =
        experiment_point(x, &(point_spec){.figure = figure,
                                          .dir = dir,
                                          .pattern = data->name,
                                          .is_read = is_read,
                                          .ranks = ranks,
                                          .size = n * n * (tutti_off)sizeof(double) / ranks});
    point->patience = PATIENCE;
    return point;
}

/* The paper's method as settings.  A file domain is a block of the array's columns, and windows never cut a
 * column.  From a domain, columns of the smallest section that holds all requests are read one by one: holes
 * inside are read along, what lies between the end of one and the start of the next is not. */
static void method_of(const experiment *x, const section_what *what, char *out, size_t size) {
    const tutti_options *user = &x->results.config->options;
    const tutti_off column = what->n * (tutti_off)sizeof(double), usual = 32 << 10;
    const tutti_count some = (512 << 10) / column, wanted = 16 * what->n / 4096;
    const tutti_off window = (some > wanted ? some : wanted) * column;
    const tutti_off room = 4 * what->ranks * window;
    const tutti_off between = column - section_bounding_rows(what) * (tutti_off)sizeof(double);
    const tutti_off gap = between > 0 && between < 2 * usual ? between / 2 : usual;
    int n = snprintf(out, size, "method=two-phase");
    if (user->domains == TUTTI_DOMAINS_AUTO)
        n += snprintf(out + n, size - (size_t)n, " domains=array");
    if (user->window_size == 0)
        n += snprintf(out + n, size - (size_t)n, " window_size=%lld", (long long)window);
    if (user->cb_buffer_size < room && user->cb_buffer_size == 16 << 20)
        n += snprintf(out + n, size - (size_t)n, " cb_buffer_size=%lld", (long long)room);
    if (user->sieve_gap == 0)
        snprintf(out + n, size - (size_t)n, " sieve_gap=%lld", (long long)gap);
}

static void add_array_way(const experiment *x, bench_cell *point, const char *name,
                          const char *settings) {
    bench_entry *e = experiment_way(x, point, name, settings);
    e->runner = &section_extended;
    e->stays = strcmp(name, EXTENDED) == 0 || strcmp(name, DEFAULT) == 0;
}

static void add_section(experiment *x, const char *dir, int is_read, point_data *data) {
    const bench_config *c = x->results.config;
    const section_what *what = &data->section;
    char settings[200], more[240];
    section_name(what, data->name, sizeof data->name);
    bench_cell *point = add_cell(x, dir, section_part_name(what->part), is_read, data, what->n);
    point->scene = &section_scene;
    point->what = what;
    bench_entry *direct = experiment_way(x, point, DIRECT, "method=independent");
    direct->runner = &section_direct;
    direct->stays = 1;
    if (is_read) experiment_way(x, point, SIEVED, "method=sieve")->runner = &section_direct;
    method_of(x, what, settings, sizeof settings);
    add_array_way(x, point, EXTENDED, settings);
    snprintf(more, sizeof more, "%s %s", settings, is_read ? "sieve_gap=1g" : "rmw=1");
    add_array_way(x, point, is_read ? HOLES : EXTENDED WITH_RMW, more);
    for (int i = 0; i < FIXED && is_read && c->cold && c->iops <= 0; i++)
        add_array_way(x, point, fixed_table[i].name, fixed_table[i].settings);
    add_array_way(x, point, DEFAULT, "method=auto");
    if (!is_read) add_array_way(x, point, DEFAULT WITH_RMW, "method=auto rmw=1");
}

static void add_distribution(experiment *x, const char *dir, int is_read, point_data *data) {
    const distribution_what *what = &data->distribution;
    snprintf(data->name, sizeof data->name, "%s", distribution_name(what->row));
    bench_cell *point = add_cell(x, dir, "distributions", is_read, data, what->n);
    point->scene = &distribution_scene;
    point->what = what;
    experiment_reference(x, point, ENTRY_LIMIT, LIMIT);
    experiment_way(x, point, DIRECT, "method=independent")->runner = &distribution_runner;
    experiment_way(x, point, EXTENDED, "method=two-phase")->runner = &distribution_runner;
    experiment_way(x, point, ENGINE, "method=two-phase");
    if (what->row + 1 < distribution_rows()) /* row-cyclic: each element by itself, half a minute */
        experiment_reference(x, point, ENTRY_PEER, PEER);
}

static void add_part(experiment *x, const char *dir, section_part part, point_data **next) {
    const bench_config *c = x->results.config;
    for (int is_read = 1; is_read >= 0; is_read--)
        for (int row = 0; row < section_rows(part); row++) {
            if (!(is_read ? c->read : c->write)) continue;
            point_data *data = (*next)++;
            data->section = (section_what){.part = part,
                                           .row = row,
                                           .ranks = experiment_most_ranks(x),
                                           .n = extent_of(c),
                                           .whole_blocks = c->options.direct_io};
            add_section(x, dir, is_read, data);
        }
}

static void add_distributions(experiment *x, const char *dir, point_data **next) {
    const bench_config *c = x->results.config;
    const tutti_count n = extent_of(c) / 2 > 0 ? extent_of(c) / 2 : 1;
    for (int is_read = 1; is_read >= 0; is_read--)
        for (int row = 0; row < distribution_rows(); row++) {
            if (!(is_read ? c->read : c->write)) continue;
            point_data *data = (*next)++;
            data->distribution = (distribution_what){row, experiment_most_ranks(x), n};
            add_distribution(x, dir, is_read, data);
        }
}

static void sections_plan(experiment *x) {
    const bench_config *c = x->results.config;
    int rows = distribution_rows();
    for (int part = 0; part < PARTS_OF_SECTIONS; part++) rows += section_rows(part);
    point_data *next = cli_malloc((size_t)(2 * rows * c->dirs.n) * sizeof *next);
    x->data = next;
    for (int d = 0; d < c->dirs.n; d++) {
        for (int part = 0; part < PARTS_OF_SECTIONS; part++)
            if (cli_list_has(&c->parts, section_part_name(part)))
                add_part(x, c->dirs.item[d], part, &next);
        if (cli_list_has(&c->parts, "distributions")) add_distributions(x, c->dirs.item[d], &next);
    }
}

/* ---- counts */

typedef struct {
    double requests, bytes;
} counts;

static counts counts_of(const bench_cell *point, const bench_entry *e) {
    const tutti_stats *s = &e->stats;
    return point->is_write ? (counts){(double)s->file_writes, (double)s->file_write_bytes}
                           : (counts){(double)s->file_reads, (double)s->file_read_bytes};
}

/* What both ways have in common, if both were measured. */
typedef struct {
    const bench_entry *direct, *extended;
    counts d, e;
    double requests, bytes, time; /* Direct over Extended */
} comparison;

static int compare(const bench_cell *point, comparison *out) {
    out->direct = point_entry(point, DIRECT);
    out->extended = point_entry(point, EXTENDED);
    if (!out->direct || !out->extended) return 0;
    out->d = counts_of(point, out->direct);
    out->e = counts_of(point, out->extended);
    out->requests = out->d.requests / fmax(out->e.requests, 1);
    out->bytes = out->d.bytes / fmax(out->e.bytes, 1);
    out->time = out->direct->time.median / fmax(out->extended->time.median, 1e-9);
    return 1;
}

static int is_of(const bench_cell *point, const char *dir, const char *figure, int is_write) {
    return strcmp(point->dir, dir) == 0 && strcmp(point->figure, figure) == 0 &&
           point->is_write == is_write;
}

/* ---- exhibits */

static void put_times(const bench_cell *point, exhibit *e) {
    for (int k = 0; k < point->entries; k++)
        if (point_counts(&point->entry[k]))
            exhibit_put(e, point->pattern, point->entry[k].name,
                        point_milliseconds(&point->entry[k]));
}

static void put_count(exhibit *e, const char *row, const char *column, double value, int decimals) {
    exhibit_value v = {.mid = value, .lo = value, .hi = value};
    snprintf(v.text, sizeof v.text, "%.*f", decimals, value);
    exhibit_put(e, row, column, v);
}

static void put_counts(const bench_cell *point, exhibit *e) {
    const section_what *what = point->what;
    const char *row = point->pattern;
    const double paper = section_paper_ratio(what);
    comparison c;
    if (!compare(point, &c)) return;
    put_count(e, row, "requests, direct", c.d.requests, 0);
    put_count(e, row, "extended", c.e.requests, 0);
    put_count(e, row, "fall by", c.requests, 1);
    put_count(e, row, "KiB, direct", c.d.bytes / 1024, 0);
    put_count(e, row, "KiB, extended", c.e.bytes / 1024, 0);
    put_count(e, row, "KiB fall by", c.bytes, 1);
    put_count(e, row, "time falls by", c.time, 2);
    if (paper > 0 && !point->is_write) put_count(e, row, "in the paper", paper, 2);
}

static void note_times(section_part part, const bench_config *c, exhibit *e) {
    static const char *const notes[] = {
        "All ranks want the same section: Thakur and Choudhary's Table 1, there on 16 processors.",
        "Each rank's section is shifted, p being the rank; row I is from Table 2 of that paper.",
        "No element is wanted by two ranks."};
    exhibit_note(
        e,
        "%s An array of %lld x %lld doubles, column-major, open beforehand: the call "
        "alone. Medians, 95 %% bounds. %s reads one request for each column, as the paper's "
        "method does; %s reads what lies between columns along.%s%s",
        notes[part], (long long)extent_of(c), (long long)extent_of(c), EXTENDED, HOLES,
        c->cold ? " Cold: fsync and posix_fadvise(DONTNEED) before each run." : "",
        c->options.direct_io && part != PART_DISTINCT
            ? " Rows are rounded to the blocks of O_DIRECT."
            : "");
}

/* A cell without bounds: a ratio of medians. */
static void put_ratio_row(const bench_cell *point, const char *slow, exhibit *e) {
    const bench_entry *a = point_entry(point, slow), *b = point_entry(point, EXTENDED);
    char column[64];
    snprintf(column, sizeof column, "%s / extended", slow);
    if (a && b) put_count(e, point->pattern, column, a->time.median / b->time.median, 2);
}

/* Direct over extended beside the paper's: Table 1. */
static void show_ratios(experiment *x, const char *dir) {
    exhibit *e = experiment_exhibit(x, EXHIBIT_TABLE, "table 1",
                                    "Table 1: times of direct over those of extended two-phase");
    e->axis = "section";
    exhibit_note(e, "Common sections, reads; ratios of medians, the paper's of its seconds on 16 "
                    "processors of an Intel Touchstone Delta.");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (!point_is(point, "common", dir, 1)) continue;
        put_ratio_row(point, DIRECT, e);
        put_count(e, point->pattern, "in the paper", section_paper_ratio(point->what), 2);
        put_ratio_row(point, SIEVED, e);
        put_ratio_row(point, HOLES, e);
        put_ratio_row(point, DEFAULT, e);
    }
}

static void show_part(experiment *x, const char *dir, section_part part, int is_write) {
    const char *figure = section_part_name(part), *op = is_write ? "writes" : "reads";
    char id[40], title[120];
    snprintf(id, sizeof id, "%s %s", figure, op);
    snprintf(title, sizeof title, "%c%s sections, %s", figure[0] - 'a' + 'A', figure + 1, op);
    exhibit *times = experiment_exhibit(x, EXHIBIT_BARS, id, title);
    times->axis = "section";
    times->unit = "milliseconds";
    note_times(part, x->results.config, times);
    snprintf(id, sizeof id, "%s %s, counts", figure, op);
    snprintf(title, sizeof title, "Requests and bytes of %s sections, %s", figure, op);
    exhibit *table = experiment_exhibit(x, EXHIBIT_TABLE, id, title);
    table->axis = "section";
    exhibit_note(table,
                 "Of all ranks together, to the file system. \"Fall by\" is direct over "
                 "extended%s.",
                 part == PART_COMMON && !is_write
                     ? "; in the paper: seconds of Direct over those of Extended Two-Phase"
                     : "");
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (!is_of(point, dir, figure, is_write)) continue;
        put_times(point, times);
        put_counts(point, table);
    }
}

static void put_ratios(const bench_cell *point, exhibit *e) {
    for (int k = 1; k < point->entries; k++)
        if (point_counts(&point->entry[k]) && point->entry[k].to_limit > 0)
            put_count(e, point->pattern, point->entry[k].name, point->entry[k].to_limit, 2);
}

static void show_distributions(experiment *x, const char *dir, int is_write) {
    const char *op = is_write ? "writes" : "reads";
    const long long n = (long long)extent_of(x->results.config) / 2;
    char id[40], title[120];
    snprintf(id, sizeof id, "distributions %s", op);
    snprintf(title, sizeof title, "A whole array by distribution, %s", op);
    exhibit *times = experiment_exhibit(x, EXHIBIT_BARS, id, title);
    times->axis = "distribution";
    times->unit = "milliseconds";
    exhibit_note(times,
                 "Thakur and Choudhary's figure 2: %lld x %lld doubles, column-major, from open to "
                 "close. Column-block is the conforming distribution: there both methods took "
                 "the same time, and for all others two-phase took about as long, direct much "
                 "longer, longest row-cyclic.",
                 n, n);
    snprintf(id, sizeof id, "distributions %s, ratios", op);
    snprintf(title, sizeof title, "Times of %s over the conforming limit's", op);
    exhibit *ratios = experiment_exhibit(x, EXHIBIT_TABLE, id, title);
    ratios->axis = "distribution";
    exhibit_note(ratios,
                 "The limit: every rank has one contiguous share, in calls of 4 MiB. \"%s\" "
                 "is the engine below arrays, asked for the same bytes.",
                 ENGINE);
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (!is_of(point, dir, "distributions", is_write)) continue;
        put_times(point, times);
        put_ratios(point, ratios);
    }
}

/* ---- gates */

/* A finding that the exit status tells, too. */
static finding_grade gate(experiment *x, int holds) {
    x->broken += !holds;
    return holds ? FINDING_MET : FINDING_MISSED;
}

/* Common sections are moved once. */
static void judge_common(experiment *x, const char *dir, int is_write) {
    const int ranks = experiment_most_ranks(x);
    double requests = INFINITY, bytes = INFINITY;
    for (int i = 0; i < x->results.cells; i++) {
        comparison c;
        if (!is_of(&x->results.cell[i], dir, "common", is_write) ||
            !compare(&x->results.cell[i], &c))
            continue;
        requests = fmin(requests, c.requests);
        bytes = fmin(bytes, c.bytes);
    }
    if (isinf(requests)) return;
    experiment_finding(x, gate(x, requests >= ranks && bytes >= ranks),
                       "%s: common sections are %s once: requests fall at least by %.1f, bytes by "
                       "%.1f (gate: %d, the number of ranks).",
                       dir, is_write ? "written" : "read", requests, bytes, ranks);
}

/* Nothing is read that lies outside of the smallest section that holds all. */
static void judge_bounds(experiment *x, const char *dir) {
    double most = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        comparison c;
        if (strcmp(point->dir, dir) != 0 || point->is_write || point->scene != &section_scene ||
            !compare(point, &c))
            continue;
        most = fmax(most, c.e.bytes / (double)section_bounding_bytes(point->what));
    }
    if (most > 0)
        experiment_finding(x, gate(x, most <= 1),
                           "%s: extended two-phase reads at most %.3f of the bytes of the smallest "
                           "section that holds what all ranks want (gate: 1).",
                           dir, most);
}

/* On a throttled device times follow the requests. */
static void judge_times(experiment *x, const char *dir) {
    const double iops = x->results.config->iops;
    double worst = INFINITY;
    int n = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        comparison c;
        if (strcmp(point->dir, dir) != 0 || point->scene != &section_scene || !compare(point, &c) ||
            c.d.requests < ENOUGH * iops)
            continue;
        worst = fmin(worst, c.time / c.requests);
        n++;
    }
    if (n == 0)
        experiment_finding(x, FINDING_PLAIN,
                           "%s: no section makes enough requests for %g operations a second.", dir,
                           iops);
    else
        experiment_finding(
            x, gate(x, worst >= TIME_GOAL),
            "%s: at %g operations a second, times fall at least %.2f times as much "
            "as requests (gate: %.1f; %d points with half a second of direct requests).",
            dir, iops, worst, TIME_GOAL, n);
}

/* ---- claims */

/* Of the rounds that are `odd`, or not. */
static double half_median(const bench_entry *e, int odd) {
    double *half = cli_malloc((size_t)(e->rounds + 1) * sizeof *half);
    int n = 0;
    for (int i = odd; i < e->rounds; i += 2) half[n++] = e->seconds[i];
    const double median = cli_quantile(half, n, 0.5);
    free(half);
    return median;
}

/* By the even rounds: the others judge, otherwise the luckiest would be the best. */
static const bench_entry *best_of(const bench_cell *point, const bench_entry *but) {
    const bench_entry *best = NULL;
    for (int k = 0; k < point->entries; k++) {
        const bench_entry *e = &point->entry[k];
        if (e == but || !point_counts(e) || e->sits_out) continue;
        if (!best || half_median(e, 0) < half_median(best, 0)) best = e;
    }
    return best;
}

/* How far the default is from the best of all ways, which is another one in each row. */
static void claim_default(experiment *x, const bench_cell *point, const char *where) {
    const bench_entry *ours = point_entry(point, DEFAULT), *best = best_of(point, ours);
    if (!ours || !best) return;
    const int rounds = ours->rounds < best->rounds ? ours->rounds : best->rounds;
    double *ratio = cli_malloc((size_t)(rounds + 1) * sizeof *ratio);
    int n = 0;
    for (int i = 1; i < rounds; i += 2)
        ratio[n++] = ours->seconds[i] / fmax(best->seconds[i], 1e-9);
    experiment_claim(x,
                     &(claim_spec){"time of the default over that of the best way", where, "times",
                                   "goal missed: more than 10 % above the best",
                                   "goal met: within 10 % of the best", COLD_GOAL},
                     ratio, n);
    experiment_finding(x, FINDING_PLAIN, "%s: the best way by the even rounds is %s.", where,
                       best->name);
    free(ratio);
}

static void claim_part(experiment *x, const char *dir, const char *figure, int is_write) {
    const bench_cell **point =
        cli_malloc((size_t)(x->results.cells + 1) * sizeof(const bench_cell *));
    const int each = strcmp(figure, "common") == 0 && !is_write;
    const int cold = x->results.config->cold;
    char where[120];
    int n = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *c = &x->results.cell[i];
        if (!is_of(c, dir, figure, is_write)) continue;
        point[n++] = c;
        snprintf(where, sizeof where, "%.40s%s, %s section %s", dir, cold ? ", cold" : "", figure,
                 c->pattern);
        if (each) claim_faster(x, where, c, DIRECT, EXTENDED);
        if (each && cold) claim_default(x, c, where);
    }
    snprintf(where, sizeof where, "%.40s%s, %s sections, %s", dir, cold ? ", cold" : "", figure,
             is_write ? "writes" : "reads");
    if (n > 0 && !each) claim_faster_all(x, where, n, point, DIRECT, EXTENDED);
    if (n > 0) claim_faster_all(x, where, n, point, EXTENDED, DEFAULT);
    if (n > 0 && is_write) claim_faster_all(x, where, n, point, DEFAULT, DEFAULT WITH_RMW);
    free(point);
}

/* O_DIRECT is not what the limit is measured by. */
static finding_grade goal_of(const experiment *x, double ratio) {
    if (x->results.config->options.direct_io) return FINDING_PLAIN;
    return ratio <= ENGINE_GOAL ? FINDING_MET : FINDING_MISSED;
}

/* Arrays cost no more than the engine below them.  A goal, not a gate: noise is possible. */
static void judge_ratios(experiment *x, const char *dir, int is_write) {
    double *ratio = cli_malloc((size_t)(x->results.cells + 1) * sizeof *ratio);
    double *added = cli_malloc((size_t)(x->results.cells + 1) * sizeof *added);
    const bench_cell **point =
        cli_malloc((size_t)(x->results.cells + 1) * sizeof(const bench_cell *));
    char where[120];
    int n = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point_at = &x->results.cell[i];
        const bench_entry *e = point_entry(point_at, EXTENDED),
                          *engine = point_entry(point_at, ENGINE);
        if (!is_of(point_at, dir, "distributions", is_write) || !e || !engine) continue;
        point[n] = point_at;
        ratio[n] = e->to_limit;
        added[n++] = e->time.median / engine->time.median;
    }
    snprintf(where, sizeof where, "%.60s, whole arrays by distribution, %s", dir,
             is_write ? "writes" : "reads");
    claim_faster_all(x, where, n, point, DIRECT, EXTENDED);
    claim_faster_all(x, where, n, point, PEER, EXTENDED);
    free(point);
    if (n > 0)
        experiment_finding(x, goal_of(x, cli_quantile(added, n, 0.5)),
                           "%s: %s of whole arrays take %.2f times as long as the conforming "
                           "limit, %.2f times as long as the engine asked for the same bytes "
                           "(medians of %d distributions; goal: %.1f times the engine's).",
                           dir, is_write ? "writes" : "reads", cli_quantile(ratio, n, 0.5),
                           cli_quantile(added, n, 0.5), n, ENGINE_GOAL);
    free(added);
    free(ratio);
}

static void sections_judge(experiment *x) {
    const bench_config *c = x->results.config;
    for (int d = 0; d < c->dirs.n; d++) {
        const char *dir = c->dirs.item[d];
        x->group = dir;
        for (int part = 0; part < PARTS_OF_SECTIONS; part++)
            for (int is_write = 0; is_write < 2; is_write++)
                if (cli_list_has(&c->parts, section_part_name(part)) &&
                    (is_write ? c->write : c->read))
                    show_part(x, dir, part, is_write);
        for (int is_write = 0; is_write < 2; is_write++)
            if (cli_list_has(&c->parts, "distributions") && (is_write ? c->write : c->read)) {
                show_distributions(x, dir, is_write);
                judge_ratios(x, dir, is_write);
            }
        for (int is_write = 0; is_write < 2; is_write++) judge_common(x, dir, is_write);
        judge_bounds(x, dir);
        if (c->iops > 0 && c->options.direct_io) judge_times(x, dir);
        if (c->read && cli_list_has(&c->parts, "common")) show_ratios(x, dir);
        for (int k = 0; k < 2 * PARTS_OF_SECTIONS; k++)
            claim_part(x, dir, section_part_name(k / 2), k % 2);
    }
}

const experiment_kind experiment_sections = {
    .name = "sections",
    .also = "paper3",
    .title = "Sections of arrays",
    .source = "After Thakur and Choudhary, Tables 1 and 2, figure 2.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,array,op,part,iops,cold", .defaults = sections_defaults},
    .plan = sections_plan,
    .judge = sections_judge,
};
