/* tutti-experiments exodus: Table 3 of Sandia's report on PDS/PIO as finite-element output, and its
 * references.
 *
 * The mesh of ALEGRA, 9138 nodes and 7599 elements, with six nodal and six element variables, is written to
 * an Exodus file whose metadata is complete after each step.  Aggregators correspond to I/O servers: there is
 * one, or fourteen (fewer if there are fewer ranks); the buffer is cb_buffer_size.  Elements are distributed
 * in runs of sixteen, with their nodes; border nodes are on several ranks.  The references of the paper are
 * netCDF and HDF5 written directly by one process, which has all data.
 *
 * Values are compared after the steps of the first round.  All measurements are parts
 * (experiment.h): the experiment has no points, and no results are compared with a goal.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/exodus.h>
#include <unistd.h>

#include "experiments/datasets.h"
#include "experiments/exodus_direct.h"

enum { WRITE, READ }; /* indices of the samples */
enum { NODES = 9138, ELEMENTS = 7599, EACH = 6, RUN = 16, SERVERS = 14, CORNERS = 8 };

static const int buffer_table[] = {1, 2, 4}; /* buffer sizes in MB */
enum { BUFFERS = sizeof buffer_table / sizeof *buffer_table, LEVELS = 2 };

typedef struct variant {
    int megabytes, servers; /* buffer size, number of aggregators; 0: written directly */
    direct_kind direct;
    int level;
} variant;

/* The part of the mesh on this rank. */
typedef struct share {
    tutti_count nodes, elements;
    int64_t *node_ids, *element_ids;
    tutti_count *connectivity;
    double *x;
    double *values[2 * EACH], *got; /* [nodes] or [elements] values per variable; those read */
    double *all[2 * EACH];          /* on rank 0: values of all ranks, for direct writes */
    char *path;
} share;

static int steps_of(const experiment *x) {
    return x->results.config->quick ? 2 : 10;
}

static double value_of(int variable, tutti_count i) {
    return (double)i + 0.25 * variable;
}

/* ---- the mesh */

static tutti_count corner_of(tutti_count element, int c) {
    /* the numbering is similar to that of a structured grid */
    static const int offset[CORNERS] = {0, 1, 20, 19, 400, 401, 420, 419};
    return (element + offset[c]) % NODES;
}

static void share_make(share *s, const cli_world *w) {
    tutti_count *place = cli_malloc(NODES * sizeof *place), most = ELEMENTS;
    s->element_ids = cli_malloc((size_t)most * sizeof *s->element_ids);
    s->connectivity = cli_malloc((size_t)most * CORNERS * sizeof *s->connectivity);
    s->node_ids = cli_malloc(NODES * sizeof *s->node_ids);
    for (tutti_count i = 0; i < NODES; i++) place[i] = -1;
    for (tutti_count e = 0; e < ELEMENTS; e++) {
        if ((int)(e / RUN % w->ranks) != w->rank) continue;
        for (int c = 0; c < CORNERS; c++) place[corner_of(e, c)] = 0;
        s->element_ids[s->elements++] = e + 1;
    }
    /* Nodes without elements are assigned to rank 0. */
    for (tutti_count i = ELEMENTS + 420; i < NODES && w->rank == 0; i++) place[i] = 0;
    for (tutti_count i = 0; i < NODES; i++) {
        if (place[i] < 0) continue;
        place[i] = s->nodes;
        s->node_ids[s->nodes++] = i + 1;
    }
    for (tutti_count e = 0; e < s->elements; e++)
        for (int c = 0; c < CORNERS; c++)
            s->connectivity[e * CORNERS + c] = place[corner_of(s->element_ids[e] - 1, c)];
    s->x = cli_malloc((size_t)(s->nodes + 1) * sizeof *s->x);
    for (tutti_count i = 0; i < s->nodes; i++) s->x[i] = (double)s->node_ids[i];
    s->got = cli_malloc(NODES * sizeof *s->got);
    for (int v = 0; v < 2 * EACH; v++) {
        const int64_t *ids = v < EACH ? s->node_ids : s->element_ids;
        const tutti_count n = v < EACH ? s->nodes : s->elements;
        s->values[v] = cli_malloc((size_t)(n + 1) * sizeof(double));
        s->all[v] = cli_malloc(NODES * sizeof(double));
        for (tutti_count i = 0; i < n; i++) s->values[v][i] = value_of(v, ids[i] - 1);
        for (tutti_count i = 0; i < NODES; i++) s->all[v][i] = value_of(v, i);
    }
    free(place);
}

static void share_free(share *s) {
    for (int v = 0; v < 2 * EACH; v++) free(s->values[v]), free(s->all[v]);
    free(s->node_ids), free(s->element_ids), free(s->connectivity);
    free(s->x), free(s->got), free(s->path);
}

/* ---- Tutti */

static const char *const names[EACH] = {"v1", "v2", "v3", "v4", "v5", "v6"};

static tutti_err describe_case(tutti_exodus *x, const share *s) {
    const tutti_exodus_elements block = {
        .n = s->elements, .ids = s->element_ids, .nodes = s->connectivity};
    tutti_err err = tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "ALEGRA", .dims = 3});
    if (err == TUTTI_OK)
        err = tutti_exodus_define(x, 1,
                                  &(tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                                         .id = 1,
                                                         .topology = "HEX8"});
    if (err == TUTTI_OK) err = tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, EACH, names);
    if (err == TUTTI_OK) err = tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, EACH, names);
    if (err == TUTTI_OK)
        err = tutti_exodus_put_mesh(x, &(tutti_exodus_mesh){.nodes = s->nodes,
                                                            .node_ids = s->node_ids,
                                                            .coordinates = {s->x, s->x, s->x},
                                                            .blocks = &block});
    return err;
}

static void fields_of(const share *s, tutti_exodus_field out[2 * EACH]) {
    for (int v = 0; v < 2 * EACH; v++)
        out[v] =
            (tutti_exodus_field){.kind = v < EACH ? TUTTI_EXODUS_NODAL : TUTTI_EXODUS_ELEMENT_BLOCK,
                                 .id = v < EACH ? 0 : 1,
                                 .variable = names[v % EACH],
                                 .type = TUTTI_FLOAT64,
                                 .buf = s->values[v]};
}

/* Compare all values of the last step. */
static int compare_values(tutti_exodus *x, const share *s, int steps) {
    for (int v = 0; v < 2 * EACH; v++) {
        tutti_exodus_field fields[2 * EACH];
        fields_of(s, fields);
        fields[v].buf = s->got;
        if (tutti_exodus_get(x, steps, 1, &fields[v]) != TUTTI_OK) return cli_error_tutti();
        const tutti_count n = v < EACH ? s->nodes : s->elements;
        for (tutti_count i = 0; i < n; i++)
            if (s->got[i] != s->values[v][i])
                return cli_error("variable %d: entry %lld is %g, expected %g", v + 1, (long long)i,
                                 s->got[i], s->values[v][i]);
    }
    return 0;
}

static int open_ours(const experiment *x, const share *s, const variant *of, tutti_exodus **out) {
    tutti_options io = x->results.config->options;
    tutti_exodus_options opt;
    char number[32];
    tutti_exodus_options_init(&opt);
    opt.level = of->level;
    opt.overwrite = 1;
    opt.io = &io;
    tutti_err err = tutti_options_set(&io, "method", "two-phase");
    snprintf(number, sizeof number, "%d", of->servers);
    if (err == TUTTI_OK) err = tutti_options_set(&io, "cb_nodes", number);
    snprintf(number, sizeof number, "%d", of->megabytes * 1000000);
    if (err == TUTTI_OK) err = tutti_options_set(&io, "cb_buffer_size", number);
    if (err == TUTTI_OK) err = tutti_exodus_create(x->all->comm, s->path, &opt, out);
    if (err == TUTTI_OK) err = describe_case(*out, s);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* Read all steps, one call per step; the values of the share are then those of the last step. */
static tutti_err get_steps(tutti_exodus *x, const share *s, int steps) {
    tutti_exodus_field fields[2 * EACH];
    tutti_err err = TUTTI_OK;
    fields_of(s, fields);
    for (int step = 0; step < steps && err == TUTTI_OK; step++)
        err = tutti_exodus_get(x, step + 1, 2 * EACH, fields);
    return err;
}

static int run_ours(comparison *r, const measure_variant *me, double *seconds_out) {
    const variant *of = me->what;
    const share *s = r->data;
    const cli_world *w = r->x->all;
    const int steps = steps_of(r->x);
    tutti_exodus *x = NULL;
    tutti_exodus_field fields[2 * EACH];
    int failed = open_ours(r->x, s, of, &x);
    fields_of(s, fields);
    const double start = comparison_start(w);
    for (int step = 0; step < steps && !failed; step++) {
        tutti_err err = tutti_exodus_begin(x, step);
        if (err == TUTTI_OK) err = tutti_exodus_put(x, 2 * EACH, fields);
        if (err == TUTTI_OK) err = tutti_exodus_commit(x);
        if (err != TUTTI_OK) failed = cli_error_tutti();
    }
    seconds_out[WRITE] = cli_elapsed(w, start, cli_now()) / steps;
    if (!failed && me->rounds == 0) failed = compare_values(x, s, steps);
    if (!failed && r->x->results.config->read) {
        const double again = comparison_start(w);
        if (get_steps(x, s, steps) != TUTTI_OK) failed = cli_error_tutti();
        seconds_out[READ] = cli_elapsed(w, again, cli_now()) / steps;
    }
    if (x && tutti_exodus_close(&x) != TUTTI_OK && !failed) failed = cli_error_tutti();
    return failed;
}

/* ---- netCDF and HDF5 written directly */

static int sync_file(const char *path) {
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return cli_error_errno("open", path);
    const int failed = fsync(fd) != 0 ? cli_error_errno("cannot sync", path) : 0;
    close(fd);
    return failed;
}

static int run_direct(comparison *r, const variant *of, double *seconds_out) {
    const share *s = r->data;
    const cli_world *w = r->x->all;
    const int steps = steps_of(r->x);
    direct *d = NULL;
    int failed = 0;
    if (w->rank == 0) {
        d = direct_open(of->direct, s->path, &(direct_shape){EACH, {NODES, ELEMENTS}});
        failed = d == NULL;
    }
    cli_barrier(w);
    const double start = cli_now();
    for (int step = 0; step < steps && !failed && w->rank == 0; step++) {
        failed = direct_step(d, step, (const double *const *)s->all);
        if (!failed && of->level == TUTTI_DURABLE) failed = sync_file(s->path);
    }
    seconds_out[WRITE] = cli_elapsed(w, start, cli_now()) / steps;
    if (d && direct_close(d)) failed = 1;
    return cli_agree(w, failed);
}

static int run_step(comparison *r, measure_variant *of, double *seconds_out) {
    const variant *to = of->what;
    const share *s = r->data;
    const int failed = to->servers ? run_ours(r, of, seconds_out) : run_direct(r, to, seconds_out);
    cli_barrier(r->x->all);
    if (r->x->all->rank == 0) {
        static const char *const beside[] = {"", ".tutti", ".tutti-journal"};
        for (int i = 0; i < 3; i++) {
            char *name = cli_format("%s%s", s->path, beside[i]);
            unlink(name);
            free(name);
        }
    }
    cli_barrier(r->x->all);
    return failed;
}

/* ---- Table 3 */

static void row_of(const variant *of, char out[48]) {
    if (of->servers)
        snprintf(out, 48, "Exodus, %d MB", of->megabytes);
    else
        snprintf(out, 48, "%s directly, one process",
                 of->direct == DIRECT_NETCDF ? "netCDF" : "HDF5");
}

static int table_3(experiment *x, const char *dir) {
    share s = {.path = cli_format("%s.e", cli_scratch(x->all, dir, "exodus"))};
    variant variants[2 * LEVELS * BUFFERS + 2 * LEVELS];
    comparison r = {.x = x, .m.title = "exodus", .run = run_step, .data = &s};
    const int many = x->all->ranks < SERVERS ? x->all->ranks : SERVERS;
    int n = 0;
    share_make(&s, x->all);
    for (int level = 0; level < LEVELS; level++) {
        const int to = level ? TUTTI_DURABLE : TUTTI_VISIBLE;
        for (int i = 0; i < 2 * BUFFERS; i++)
            if (i % 2 == 0 || many > 1)
                variants[n++] = (variant){buffer_table[i / 2], i % 2 ? many : 1, 0, to};
        for (int kind = 0; kind < 2; kind++) {
            const char *package = "";
            int there = x->all->rank != 0 || direct_there((direct_kind)kind, &package);
            MPI_Bcast(&there, 1, MPI_INT, 0, x->all->comm);
            if (there) variants[n++] = (variant){0, 0, (direct_kind)kind, to};
            FILE *f = there || level > 0 ? NULL : experiment_part(x, "missing", dir);
            if (f)
                fprintf(f, ", \"library\": \"%s\", \"package\": \"%s\"}", kind ? "HDF5" : "netCDF",
                        package);
        }
    }
    for (int i = 0; i < n; i++) {
        char row[48], name[64];
        row_of(&variants[i], row);
        snprintf(name, sizeof name, "%s, %d, %d", row, variants[i].servers, variants[i].level);
        measure_variant *of = measure_add(&r.m, name, &variants[i]);
        snprintf(of->more, sizeof of->more,
                 ", \"row\": \"%s\", \"megabytes\": %d, \"servers\": %d, \"level\": \"%s\"", row,
                 variants[i].megabytes, variants[i].servers,
                 variants[i].level == TUTTI_DURABLE ? "durable" : "visible");
    }
    comparison_run(&r);
    char more[128];
    snprintf(more, sizeof more,
             ", \"nodes\": %d, \"elements\": %d, \"variables\": %d, \"steps\": %d, \"many\": %d",
             NODES, ELEMENTS, EACH, steps_of(x), many);
    comparison_report(&r, dir, more);
    measure_free(&r.m);
    share_free(&s);
    return 0;
}

/* ---- the experiment */

static void exodus_defaults(bench_config *c, int quick) {
    c->rounds = quick ? 2 : 9;
    c->write = c->read = 1;
}

static void exodus_plan(experiment *x) {
    (void)x;
}

static int exodus_begin(experiment *x) {
    const bench_config *c = x->results.config;
    int failed = 0;
    for (int i = 0; i < c->dirs.n && !failed; i++) {
        failed = table_3(x, c->dirs.item[i]);
        cli_scratch_remove(x->all);
    }
    return cli_agree(x->all, failed);
}

const experiment_kind experiment_exodus = {
    .name = "exodus",
    .also = "table3",
    .title = "Exodus",
    .source = "After Sturtevant, Chen, Heermann, Christon and Greenberg, PDS/PIO, Table 3.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "op", .defaults = exodus_defaults},
    .plan = exodus_plan,
    .begin = exodus_begin,
};
