/* tutti-experiments sections: Thakur and Choudhary, Table 1, Table 2 and figure 2.
 *
 *   common          all ranks request the same section of an array of doubles, column-major
 *   overlapping     the section of each rank is shifted relative to the previous rank
 *   distinct        no element is requested by two ranks
 *   distributions   a complete array, of half the extents, by several distributions
 *
 * Each section is read and written directly (every rank accesses its own pieces; reads also with data
 * sieving), by the Extended Two-Phase Method, which reads column by column, by the same method with one
 * request for adjacent columns, and by the defaults of the library; writes also with rmw.  The report has
 * times, and requests and bytes summed over all ranks, which hardly depend on the machine.  Gates determine
 * the exit status:
 *
 *   - a common section is transferred once: requests and bytes decrease at least by the number of ranks
 *   - nothing is read outside the smallest section that contains the requests of all ranks
 *   - with --iops and O_DIRECT, on a device with limited operations per second: times decrease at least 0.8
 *     times as much as requests
 *
 * With --cold the file is dropped from the page cache before each run.  The default is then compared with the
 * variants among which it chooses, and the report gives its distance from the best of them.
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

/* Variants for --cold on a device that is not throttled: those among which the default, auto, chooses, and
 * some more. */
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

#define PATIENCE 20.0 /* limit for slow variants, relative to the fastest */

static void sections_defaults(bench_config *c, int quick) {
    c->array = (tutti_off)(quick ? 2 : 128) << 20;
    c->rounds = quick ? 3 : 7; /* --cold: odd rounds choose the best variant, even rounds compare */
    c->write = c->read = 1;
    c->all_parts = "common,overlapping,distinct,distributions";
    cli_list_split(&c->parts, c->all_parts);
}

/* ---- points */

typedef struct {
    section_what section;
    distribution_what distribution;
    char name[80];
} point_data;

/* Return the extent of a square array of doubles of at most c->array bytes, or the minimum for
 * O_DIRECT; columns of at least one block are complete blocks. */
static tutti_count extent_of(const bench_config *c) {
    const tutti_count n = (tutti_count)sqrt((double)c->array / sizeof(double));
    /* with O_DIRECT a column has at least two blocks */
    const tutti_count least = 2 * SECTION_BLOCK;
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

/* Format the settings for the method of the paper.  A file domain is a block of columns of the
 * array, and windows never divide a column.  In a domain, the columns of the smallest section that
 * contains all requests are read one by one: holes within a column are read, too, but not the bytes
 * between two columns. */
static void method_of(const experiment *x, const section_what *what, char *out, size_t size) {
    const tutti_options *user = &x->results.config->options;
    const tutti_off column = what->n * (tutti_off)sizeof(double), usual = 32 << 10;
    const tutti_count some = (512 << 10) / column, wanted = 16 * what->n / 4096;
    const tutti_off window = (some > wanted ? some : wanted) * column;
    const tutti_off staging = 4 * what->ranks * window;
    const tutti_off between = column - section_bounding_rows(what) * (tutti_off)sizeof(double);
    const tutti_off gap = between > 0 && between < 2 * usual ? between / 2 : usual;
    int n = snprintf(out, size, "method=two-phase");
    if (user->domains == TUTTI_DOMAINS_AUTO)
        n += snprintf(out + n, size - (size_t)n, " domains=array");
    if (user->window_size == 0)
        n += snprintf(out + n, size - (size_t)n, " window_size=%lld", (long long)window);
    if (user->cb_buffer_size < staging && user->cb_buffer_size == 16 << 20)
        n += snprintf(out + n, size - (size_t)n, " cb_buffer_size=%lld", (long long)staging);
    if (user->sieve_gap == 0)
        snprintf(out + n, size - (size_t)n, " sieve_gap=%lld", (long long)gap);
}

static void add_array_way(const experiment *x, bench_cell *point, const char *name,
                          const char *settings) {
    bench_entry *e = experiment_variant(x, point, name, settings);
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
    bench_entry *direct = experiment_variant(x, point, DIRECT, "method=independent");
    direct->runner = &section_direct;
    direct->stays = 1;
    if (is_read) experiment_variant(x, point, SIEVED, "method=sieve")->runner = &section_direct;
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
    experiment_variant(x, point, DIRECT, "method=independent")->runner = &distribution_runner;
    experiment_variant(x, point, EXTENDED, "method=two-phase")->runner = &distribution_runner;
    experiment_variant(x, point, ENGINE, "method=two-phase");
    /* the MPI library does not run the last row (row-cyclic), which it accesses element by element
     * in half a minute */
    if (what->row + 1 < distribution_rows()) experiment_reference(x, point, ENTRY_PEER, PEER);
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

const experiment_kind experiment_sections = {
    .name = "sections",
    .also = "paper3",
    .title = "Sections of arrays",
    .source = "After Thakur and Choudhary, Tables 1 and 2, figure 2.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,array,op,part,iops,cold", .defaults = sections_defaults},
    .plan = sections_plan,
};
