/* tutti-experiments mesh: counts without writing, on one process for any number of partitions.
 *
 *   Table 3     the meshes, and the distance of neighbours in each order
 *   Table 4     intervals by every rule: of all partitions, per partition, and their length, by both
 *               interpretations of the mean in the paper: nodes / intervals, and the mean over partitions
 *   figure 9    percentage of nodes in several partitions
 *   figure 10   formula (1), by nodes and by bytes, also with uneven loads
 *   figure 11   seconds of classification and of choosing the writers
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <math.h>
#include <stdlib.h>

static const struct {
    tutti_mesh_order order;
    const char *name;
} order_table[] = {{TUTTI_MESH_CURVE, "curve"}, {TUTTI_MESH_RCM, "rcm"}, {TUTTI_MESH_FILE, "file"}};
enum { ORDERS = sizeof order_table / sizeof *order_table };

/* ---- state: a mesh in one order, with a number of partitions */

typedef struct {
    experiment *x;
    const mesh_source *source;
    tutti_mesh *mesh;
    tutti_mesh_view v;
    int o, parts;
    int *of;
    tutti_count *load; /* [nodes] values per node; NULL: one per node */
    tutti_count *start;
    int *holder, *writers;
} counting;

static tutti_err choose_values(const counting *c, tutti_replicas_rule rule,
                               tutti_replicas_stats *out) {
    const tutti_replicas_lists lists = {.n = c->v.nodes,
                                        .parts = c->parts,
                                        .start = c->start,
                                        .holders = c->holder,
                                        .loads = c->load,
                                        .load = 1,
                                        .value_bytes = MESH_VALUE};
    const tutti_replicas_choice choice = {.rule = rule, .seed = c->x->results.config->seed};
    return tutti_replicas_choose(&lists, &choice, c->writers, NULL, out);
}

static tutti_err divide_mesh(counting *c) {
    tutti_mesh_lists_free(&c->start, &c->holder);
    const tutti_mesh_partitioner by = c->x->results.config->by;
    const tutti_err err = tutti_mesh_partition(c->mesh, c->parts, by, c->load, c->of);
    if (err != TUTTI_OK) return err;
    return tutti_mesh_classify(c->mesh, c->of, &c->start, &c->holder);
}

static const char *rule_name(int i) {
    return tutti_replicas_rule_name(mesh_rule[i]);
}

static void report_rules(FILE *f, const char *key, const tutti_replicas_stats *s) {
    fprintf(f, ", \"%s\": {", key);
    for (int i = 0; i < MESH_RULES; i++)
        fprintf(f,
                "%s\"%s\": {\"intervals\": %lld, \"mean_interval\": %.6g, "
                "\"mean_of_means\": %.6g, \"balance_items\": %.6g, \"balance_bytes\": %.6g}",
                i ? ", " : "", rule_name(i), (long long)s[i].intervals, s[i].mean_interval,
                s[i].mean_of_means, s[i].balance_items, s[i].balance_bytes);
    fputs("}", f);
}

static tutti_err count_all(counting *c, tutti_replicas_stats *s) {
    tutti_err err = divide_mesh(c);
    for (int i = 0; i < MESH_RULES && err == TUTTI_OK; i++)
        err = choose_values(c, mesh_rule[i], &s[i]);
    return err;
}

/* ---- figures 10 and 11, along the curve */

static tutti_err report_times(counting *c, FILE *f) {
    const int rounds = c->x->results.config->rounds;
    double *seconds = cli_malloc((size_t)(rounds * (MESH_RULES + 1)) * sizeof *seconds);
    tutti_err err = TUTTI_OK;
    tutti_replicas_stats s;
    for (int k = 0; k < rounds && err == TUTTI_OK; k++) {
        double start = cli_now();
        tutti_mesh_lists_free(&c->start, &c->holder);
        err = tutti_mesh_classify(c->mesh, c->of, &c->start, &c->holder);
        seconds[k] = cli_now() - start;
        for (int i = 0; i < MESH_RULES && err == TUTTI_OK; i++) {
            start = cli_now();
            err = choose_values(c, mesh_rule[i], &s);
            seconds[(i + 1) * rounds + k] = cli_now() - start;
        }
    }
    for (int i = 0; i <= MESH_RULES && err == TUTTI_OK; i++)
        experiment_json_seconds(f, i ? rule_name(i - 1) : "classification", rounds,
                                seconds + i * rounds);
    free(seconds);
    return err;
}

/* Create loads that are uneven in space. */
static void make_loads(counting *c) {
    const double *xyz = c->v.coordinates;
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    int longest = 0;
    for (tutti_count i = 0; i < 3 * c->v.nodes; i++) {
        lo[i % 3] = fmin(lo[i % 3], xyz[i]);
        hi[i % 3] = fmax(hi[i % 3], xyz[i]);
    }
    for (int d = 1; d < 3; d++)
        if (hi[d] - lo[d] > hi[longest] - lo[longest]) longest = d;
    c->load = cli_malloc((size_t)c->v.nodes * sizeof *c->load + 1);
    for (tutti_count i = 0; i < c->v.nodes; i++)
        c->load[i] = 2 * xyz[3 * i + longest] < lo[longest] + hi[longest] ? 5 : 1;
}

static tutti_err report_uneven(counting *c, FILE *f) {
    tutti_replicas_stats s[MESH_RULES];
    make_loads(c);
    const tutti_err err = count_all(c, s);
    if (err == TUTTI_OK) report_rules(f, "uneven", s);
    free(c->load);
    c->load = NULL;
    return err;
}

/* ---- all orders, rules and partitions */

static tutti_err report_mesh(counting *c) {
    tutti_mesh_info info;
    const tutti_err err = tutti_mesh_describe(c->mesh, &info);
    FILE *f = err == TUTTI_OK ? experiment_part(c->x, "mesh", "") : NULL;
    if (f)
        fprintf(f,
                ", \"mesh\": \"%s\", \"order\": \"%s\", \"nodes\": %lld, \"edges\": %lld, "
                "\"elements\": %lld, \"distance\": %.6g}",
                c->source->name, order_table[c->o].name, (long long)info.nodes,
                (long long)info.edges, (long long)info.elements, info.mean_distance);
    return err;
}

static tutti_err report_division(counting *c, const char *parts) {
    tutti_replicas_stats s[MESH_RULES];
    c->parts = (int)strtol(parts, NULL, 10);
    tutti_err err = count_all(c, s);
    FILE *f = err == TUTTI_OK ? experiment_part(c->x, "division", "") : NULL;
    if (!f) return err;
    fprintf(f, ", \"mesh\": \"%s\", \"order\": \"%s\", \"partitions\": %d, \"replication\": %.6g",
            c->source->name, order_table[c->o].name, c->parts, s[0].replication);
    report_rules(f, "rules", s);
    if (order_table[c->o].order == TUTTI_MESH_CURVE) {
        err = report_times(c, f);
        if (err == TUTTI_OK) err = report_uneven(c, f);
    }
    fputs("}", f);
    return err;
}

/* Report one order of the original mesh. */
static tutti_err report_order(counting *c) {
    const bench_config *config = c->x->results.config;
    tutti_err err = mesh_source_open(c->source, MPI_COMM_SELF, &config->options, &c->mesh);
    if (err == TUTTI_OK) err = tutti_mesh_renumber(c->mesh, order_table[c->o].order);
    if (err == TUTTI_OK) err = tutti_mesh_view_get(c->mesh, &c->v);
    if (err == TUTTI_OK) err = report_mesh(c);
    c->of = cli_malloc((size_t)c->v.nodes * sizeof *c->of + 1);
    c->writers = cli_malloc((size_t)c->v.nodes * sizeof *c->writers + 1);
    for (int i = 0; i < config->partitions.n && err == TUTTI_OK; i++)
        err = report_division(c, config->partitions.item[i]);
    return err;
}

static void free_counting(counting *c) {
    tutti_mesh_lists_free(&c->start, &c->holder);
    tutti_mesh_free(&c->mesh);
    free(c->of);
    free(c->writers);
    free(c->load);
}

int mesh_tables_report(experiment *x, int n, const mesh_source *source) {
    tutti_err err = TUTTI_OK;
    for (int i = 0; i < n && err == TUTTI_OK; i++)
        for (int o = 0; o < ORDERS && err == TUTTI_OK; o++) {
            counting c = {.x = x, .source = &source[i], .o = o};
            err = report_order(&c);
            free_counting(&c);
        }
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}
