/* tutti-experiments mesh: what can be counted without writing, on one process for any number of partitions.
 *
 *   Table 3     the meshes, and how far apart neighbours lie in each order
 *   Table 4     intervals by every rule: of all partitions, of one, and their length, in both readings of
 *               the paper's mean: nodes / intervals, and the mean of the partitions' means
 *   figure 9    per cent of the nodes that several partitions hold
 *   figure 10   formula (1), by nodes and by bytes, also with uneven loads
 *   figure 11   seconds of classification and of choosing the writers
 *
 * Gate: idg2 has never more intervals than idg.  Goal, divided by METIS along the curve: own has at least four
 * times as many as idg.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTERVALS_GOAL 4.0

static const struct {
    tutti_mesh_order order;
    const char *name, *title;
} order_table[] = {{TUTTI_MESH_CURVE, "curve", "Hilbert's curve"},
                   {TUTTI_MESH_RCM, "rcm", "reverse Cuthill-McKee"},
                   {TUTTI_MESH_FILE, "file", "the order of the file"}};
enum { ORDERS = sizeof order_table / sizeof *order_table };

/* ---- exhibits of all meshes */

typedef struct {
    exhibit *meshes, *replication;
    exhibit *intervals[ORDERS], *of_part[ORDERS], *length[ORDERS], *by_part[ORDERS];
    exhibit *balance, *balance_bytes, *balance_nodes, *times;
} tables;

static exhibit *add_table(experiment *x, exhibit_kind kind, const char *id, const char *title,
                          const char *unit) {
    exhibit *e = experiment_exhibit(x, kind, id, title);
    e->axis = "mesh, partitions";
    e->unit = unit;
    return e;
}

static void add_intervals(experiment *x, tables *t, int o) {
    const char *name = order_table[o].name, *title = order_table[o].title;
    char id[40], text[120];
    snprintf(id, sizeof id, "intervals, %s", name);
    snprintf(text, sizeof text, "Intervals of all partitions, %s", title);
    t->intervals[o] = add_table(x, EXHIBIT_TABLE, id, text, "");
    exhibit_note(t->intervals[o], "Runs of nodes with one writer.  In the paper own (Metis) has "
                                  "2.92 to 7.66 times as many as IDG.");
    snprintf(id, sizeof id, "of a partition, %s", name);
    snprintf(text, sizeof text, "Table 4: intervals of a partition, %s", title);
    t->of_part[o] = add_table(x, EXHIBIT_TABLE, id, text, "their number by that of partitions");
    snprintf(id, sizeof id, "length, %s", name);
    snprintf(text, sizeof text, "Mean length of an interval, %s", title);
    t->length[o] = add_table(x, EXHIBIT_TABLE, id, text, "nodes by intervals");
    snprintf(id, sizeof id, "length by partition, %s", name);
    snprintf(text, sizeof text, "Table 4: average length of an interval, %s", title);
    t->by_part[o] = add_table(x, EXHIBIT_TABLE, id, text, "mean of the partitions' means, nodes");
}

static void add_tables(experiment *x, tables *t) {
    t->meshes = add_table(x, EXHIBIT_TABLE, "meshes", "Table 3: the meshes", "");
    t->meshes->axis = "mesh";
    exhibit_note(t->meshes, "Edges are pairs of neighbours, which the paper's \"Vertices\" seem to "
                            "be.  How far apart neighbours lie in each order: mean.");
    for (int o = 0; o < ORDERS; o++) add_intervals(x, t, o);
    t->replication = add_table(x, EXHIBIT_LINES, "replication", "Figure 9: replication",
                               "% of the nodes are on several partitions");
    t->replication->axis = "partitions";
    t->balance = add_table(x, EXHIBIT_TABLE, "balance", "Figure 10: balance",
                           "% (most - least) / mean of the nodes that partitions write");
    exhibit_note(t->balance, "Formula (1), along the curve.  All nodes have the same load, so that "
                             "it is the balance of bytes, too.");
    t->balance_bytes =
        add_table(x, EXHIBIT_TABLE, "balance, bytes", "Figure 10 with uneven loads, by bytes",
                  "% (most - least) / mean of the bytes that partitions write");
    exhibit_note(t->balance_bytes,
                 "Nodes of the lower half, along the longest edge of the bounding "
                 "box, have five values, others one; partitions are weighted so.");
    t->balance_nodes =
        add_table(x, EXHIBIT_TABLE, "balance, nodes", "Figure 10 with uneven loads, by nodes",
                  "% (most - least) / mean of the nodes that partitions write");
    t->times = add_table(x, EXHIBIT_TABLE, "inspector", "Figure 11: time of the inspector",
                         "milliseconds on one process");
    t->times->decimals = 2;
    exhibit_note(t->times, "Classification: which partitions hold each node, the paper's \"time "
                           "red\".  The others: who writes each node, by rule.  Medians.");
}

/* ---- one mesh, one order, one number of partitions */

typedef struct {
    experiment *x;
    tables *t;
    const mesh_source *source;
    tutti_mesh *mesh;
    tutti_mesh_view v;
    int o, parts;
    int *of;
    tutti_count *load; /* NULL: one for all */
    tutti_count *start;
    int *holder, *writers;
    double *least; /* of all meshes: own / idg along the curve */
    char row[80];
} counting;

static tutti_err choose(const counting *c, tutti_replicas_rule rule, tutti_replicas_stats *out) {
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

static tutti_err divide(counting *c) {
    tutti_mesh_lists_free(&c->start, &c->holder);
    const tutti_mesh_by by = c->x->results.config->by;
    const tutti_err err = tutti_mesh_partition(c->mesh, c->parts, by, c->load, c->of);
    if (err != TUTTI_OK) return err;
    return tutti_mesh_classify(c->mesh, c->of, &c->start, &c->holder);
}

static void put_count(exhibit *e, const char *row, const char *column, double value, int decimals) {
    exhibit_value v = {.mid = value, .lo = value, .hi = value};
    snprintf(v.text, sizeof v.text, "%.*f", decimals, value);
    exhibit_put(e, row, column, v);
}

static const char *rule_name(int i) {
    return tutti_replicas_rule_name(mesh_rule[i]);
}

/* Intervals by each rule, and how they compare. */
static void put_intervals(const counting *c, const tutti_replicas_stats *s) {
    const tables *t = c->t;
    double by_rule[MESH_RULES];
    for (int i = 0; i < MESH_RULES; i++) {
        by_rule[mesh_rule[i]] = (double)s[i].intervals;
        put_count(t->intervals[c->o], c->row, rule_name(i), (double)s[i].intervals, 0);
        exhibit_put_number(t->of_part[c->o], c->row, rule_name(i),
                           (double)s[i].intervals / c->parts);
        exhibit_put_number(t->length[c->o], c->row, rule_name(i), s[i].mean_interval);
        exhibit_put_number(t->by_part[c->o], c->row, rule_name(i), s[i].mean_of_means);
    }
    const double own = by_rule[TUTTI_REPLICAS_OWN], idg = fmax(by_rule[TUTTI_REPLICAS_IDG], 1);
    put_count(t->intervals[c->o], c->row, "own/idg", own / idg, 2);
    put_count(t->intervals[c->o], c->row, "idg2 saves %",
              100 * (1 - by_rule[TUTTI_REPLICAS_IDG2] / idg), 1);
    if (order_table[c->o].order == TUTTI_MESH_CURVE) *c->least = fmin(*c->least, own / idg);
    if (by_rule[TUTTI_REPLICAS_IDG2] <= idg) return;
    c->x->broken++;
    experiment_finding(c->x, FINDING_FAILED, "%s, %s: idg2 has more intervals than idg (gate).",
                       c->row, order_table[c->o].title);
}

static tutti_err count_all(counting *c, tutti_replicas_stats *s) {
    tutti_err err = divide(c);
    for (int i = 0; i < MESH_RULES && err == TUTTI_OK; i++) err = choose(c, mesh_rule[i], &s[i]);
    return err;
}

/* ---- figures 10 and 11, along the curve */

static tutti_err show_times(counting *c) {
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
            err = choose(c, mesh_rule[i], &s);
            seconds[(i + 1) * rounds + k] = cli_now() - start;
        }
    }
    for (int i = 0; i <= MESH_RULES && err == TUTTI_OK; i++)
        exhibit_put_number(c->t->times, c->row, i ? rule_name(i - 1) : "classification",
                           1e3 * cli_quantile(seconds + i * rounds, rounds, 0.5));
    free(seconds);
    return err;
}

/* Loads that are uneven in space. */
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

static tutti_err show_uneven(counting *c) {
    tutti_replicas_stats s[MESH_RULES];
    make_loads(c);
    const tutti_err err = count_all(c, s);
    for (int i = 0; i < MESH_RULES && err == TUTTI_OK; i++) {
        exhibit_put_number(c->t->balance_bytes, c->row, rule_name(i), 100 * s[i].balance_bytes);
        exhibit_put_number(c->t->balance_nodes, c->row, rule_name(i), 100 * s[i].balance_items);
    }
    free(c->load);
    c->load = NULL;
    return err;
}

static tutti_err show_figures(counting *c, const tutti_replicas_stats *s) {
    char parts[24];
    snprintf(parts, sizeof parts, "%d", c->parts);
    exhibit_put_number(c->t->replication, parts, c->source->name, s[0].replication);
    for (int i = 0; i < MESH_RULES; i++)
        exhibit_put_number(c->t->balance, c->row, rule_name(i), 100 * s[i].balance_items);
    const tutti_err err = show_times(c);
    return err == TUTTI_OK ? show_uneven(c) : err;
}

/* ---- walking over everything */

static tutti_err show_mesh(counting *c) {
    tutti_mesh_info info;
    char column[40];
    const tutti_err err = tutti_mesh_describe(c->mesh, &info);
    if (err != TUTTI_OK) return err;
    snprintf(column, sizeof column, "apart, %s", order_table[c->o].name);
    if (c->o == 0) {
        put_count(c->t->meshes, c->source->name, "nodes", (double)info.nodes, 0);
        put_count(c->t->meshes, c->source->name, "edges", (double)info.edges, 0);
        put_count(c->t->meshes, c->source->name, "elements", (double)info.elements, 0);
    }
    put_count(c->t->meshes, c->source->name, column, info.distance, 0);
    return TUTTI_OK;
}

static tutti_err show_division(counting *c, const char *parts) {
    tutti_replicas_stats s[MESH_RULES];
    c->parts = (int)strtol(parts, NULL, 10);
    snprintf(c->row, sizeof c->row, "%s, %d", c->source->name, c->parts);
    const tutti_err err = count_all(c, s);
    if (err != TUTTI_OK) return err;
    put_intervals(c, s);
    return order_table[c->o].order == TUTTI_MESH_CURVE ? show_figures(c, s) : TUTTI_OK;
}

/* One order: the mesh as it comes, renumbered. */
static tutti_err show_order(counting *c) {
    const bench_config *config = c->x->results.config;
    tutti_err err = mesh_source_open(c->source, MPI_COMM_SELF, &config->options, &c->mesh);
    if (err == TUTTI_OK) err = tutti_mesh_renumber(c->mesh, order_table[c->o].order);
    if (err == TUTTI_OK) err = tutti_mesh_view_get(c->mesh, &c->v);
    if (err == TUTTI_OK) err = show_mesh(c);
    c->of = cli_malloc((size_t)c->v.nodes * sizeof *c->of + 1);
    c->writers = cli_malloc((size_t)c->v.nodes * sizeof *c->writers + 1);
    for (int i = 0; i < config->partitions.n && err == TUTTI_OK; i++)
        err = show_division(c, config->partitions.item[i]);
    return err;
}

static void free_counting(counting *c) {
    tutti_mesh_lists_free(&c->start, &c->holder);
    tutti_mesh_free(&c->mesh);
    free(c->of);
    free(c->writers);
    free(c->load);
}

static void judge_intervals(experiment *x, double least) {
    const int metis = x->results.config->by == TUTTI_MESH_METIS && tutti_mesh_has_metis();
    if (!isinf(least))
        experiment_finding(
            x,
            !metis                    ? FINDING_PLAIN
            : least >= INTERVALS_GOAL ? FINDING_MET
                                      : FINDING_MISSED,
            "Along the curve own has at least %.2f times as many intervals as idg (goal: %.1f, "
            "divided by METIS)%s.",
            least, INTERVALS_GOAL, metis ? "" : "; here without METIS");
}

int mesh_tables_show(experiment *x, int n, const mesh_source *source) {
    tables t;
    double least = INFINITY;
    tutti_err err = TUTTI_OK;
    add_tables(x, &t);
    for (int i = 0; i < n && err == TUTTI_OK; i++)
        for (int o = 0; o < ORDERS && err == TUTTI_OK; o++) {
            counting c = {.x = x, .t = &t, .source = &source[i], .o = o, .least = &least};
            err = show_order(&c);
            free_counting(&c);
        }
    if (err != TUTTI_OK) return cli_error_tutti();
    judge_intervals(x, least);
    return 0;
}
