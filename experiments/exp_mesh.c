/* tutti-experiments mesh: Filgueira, Singh, Isaila, Carretero and Garcia Loureiro, Interval Data Grouping.
 *
 *   tables   Tables 3 and 4, figures 9 to 11: counts, on one process (mesh_tables.c)
 *   writes   figures 5, 6 and 8: write times by configuration, load and rule, as many partitions as ranks
 *
 * The configurations of the paper are methods here: sequential is `root` (gather, then write), the parallel
 * configurations are independent, list and two-phase; `auto` is added.  NFS and PVFS of the paper are
 * directories.  Sequential time includes gathering and writing; parallel time includes creating access and
 * plan and writing; with a reused plan, writing only.  `bare` is a loop of system calls, one per interval,
 * without any library: the maximum gain of the rules on this machine.  All variants of a load are
 * interleaved.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT "conforming"
#define BARE "bare"
#define REUSED ", reused plan"

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
    double *inspecting; /* [points * MESH_RULES] seconds of creating each inspector */
    mesh_stage stage;
} mesh_data;

/* By default writes are measured only with more than one rank. */
static int has_part(const experiment *x, const char *part) {
    const bench_config *c = x->results.config;
    if (c->parts.n) return cli_list_has(&c->parts, part);
    return strcmp(part, "tables") == 0 || x->all->ranks > 1 || !c->write;
}

static void way_name(char *out, size_t size, const char *method, const char *rule, int reused) {
    snprintf(out, size, "%s%s%s%s", method, *rule ? " " : "", rule, reused ? REUSED : "");
}

static const tutti_replicas_rule *rule_named(const char *rule) {
    tutti_replicas_rule r = TUTTI_REPLICAS_OWN;
    if (tutti_replicas_rule_parse(rule, &r) != TUTTI_OK)
        return NULL; /* cannot happen: the arguments were checked */
    for (int i = 0; i < MESH_RULES; i++)
        if (mesh_rule[i] == r) return &mesh_rule[i];
    return NULL;
}

static void add_variant(const experiment *x, bench_cell *point, const char *method,
                        const char *rule, int reused) {
    char name[48], settings[64];
    way_name(name, sizeof name, method, rule, reused);
    snprintf(settings, sizeof settings, "method=%s", method);
    bench_entry *e = experiment_variant(x, point, name, settings);
    e->reused = reused;
    if (!point->is_write) { /* reads: all nodes on the rank, independent of the rule */
        e->runner = reused ? &bench_tutti_reused : &bench_tutti;
        return;
    }
    e->runner = reused ? &mesh_reused : &mesh_fresh;
    e->context = rule_named(rule);
}

static void add_variants(const experiment *x, bench_cell *point) {
    const bench_config *c = x->results.config;
    experiment_reference(x, point, ENTRY_LIMIT, LIMIT);
    for (int m = 0; m < c->methods.n; m++)
        for (int r = 0; r < (point->is_write ? c->rules.n : 1); r++)
            for (int reused = 0; reused < 2; reused++)
                if (reused ? c->reused : c->fresh)
                    add_variant(x, point, c->methods.item[m],
                                point->is_write ? c->rules.item[r] : "", reused);
    for (int r = 0; r < c->rules.n && point->is_write; r++) {
        char name[48];
        way_name(name, sizeof name, BARE, c->rules.item[r], 0);
        bench_entry *e = experiment_reference(x, point, ENTRY_PIECES, name);
        e->runner = &mesh_bare;
        e->context = rule_named(c->rules.item[r]);
    }
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
    add_variants(x, point);
}

/* Directories are the innermost loop, since meshes and ranks take time to set up. */
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
    /* points are only on all ranks, unless --procs is given */
    const int first = c->procs.n ? 0 : x->worlds - 1;
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
    if (!has_part(x, "writes")) return;
    for (int i = 0; i < sources; i++)
        for (int k = first; k < x->worlds; k++) {
            if (c->write) add_points(x, &d->source[i], x->world[k].ranks, 0);
            if (c->read) add_points(x, &d->source[i], x->world[k].ranks, 1);
        }
}

static int mesh_begin(experiment *x) {
    const mesh_data *d = x->data;
    double busy = 0;
    FILE *f = experiment_part(x, "before", "");
    if (getloadavg(&busy, 1) != 1) busy = 0;
    if (f)
        fprintf(f, ", \"load\": %.2f, \"metis\": %s}", busy,
                tutti_mesh_has_metis() ? "true" : "false");
    if (!has_part(x, "tables")) return 0;
    return cli_agree(x->all, x->all->rank == 0 && mesh_tables_report(x, d->sources, d->source));
}

static void mesh_end(experiment *x) {
    mesh_data *d = x->data;
    mesh_stage_free(&d->stage);
    free(d->inspecting);
    free(d->point);
    free(d->source);
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
    .end = mesh_end,
};
