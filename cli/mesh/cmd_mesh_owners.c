/* tutti mesh owners: print the writers that each rule chooses, and statistics.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/cmd_mesh.h"

static void print_head(const mesh_config *c, const mesh_case *m) {
    const double n = m->v.nodes ? (double)m->v.nodes : 1;
    printf("%s: %lld nodes, order %s, %d partitions by %s; %.1f %% shared\n", c->path,
           (long long)m->v.nodes, mesh_order_name(c->order), c->parts, mesh_by_name(m->by),
           100 * (double)m->cut.shared / n);
    if (m->cut.empty) printf("%d partitions have no node\n", m->cut.empty);
    printf("\n%-8s %11s %11s %9s %9s %9s %9s\n", "rule", "intervals", "of a part", "length",
           "by part", "balance", "bytes");
}

static void print_rule(const mesh_config *c, tutti_replicas_rule rule,
                       const tutti_replicas_stats *s) {
    printf("%-8s %11lld %11.1f %9.1f %9.1f %8.1f%% %8.1f%%%s\n", tutti_replicas_rule_name(rule),
           (long long)s->intervals, (double)s->intervals / c->parts, s->mean_interval,
           s->mean_of_means, 100 * s->balance_items, 100 * s->balance_bytes,
           s->balanced ? "" : "  the limit is not reached");
}

static void json_row(const mesh_config *c, tutti_replicas_rule rule,
                     const tutti_replicas_stats *s) {
    printf("\"%s\": {\"intervals\": %lld, \"intervals_per_part\": %.6g, \"mean_interval\": %.6g, "
           "\"mean_of_means\": %.6g, \"balance_items\": %.6g, \"balance_bytes\": %.6g, "
           "\"writers\": %d, \"least_bytes\": %lld, \"most_bytes\": %lld, \"balanced\": %d}",
           tutti_replicas_rule_name(rule), (long long)s->intervals, (double)s->intervals / c->parts,
           s->mean_interval, s->mean_of_means, s->balance_items, s->balance_bytes, s->writers,
           (long long)s->min_bytes, (long long)s->max_bytes, s->balanced);
}

static void json_head(const mesh_config *c, const mesh_case *m) {
    const double n = m->v.nodes ? (double)m->v.nodes : 1;
    cli_json_pair(stdout, "{", "file", c->path);
    printf(", \"nodes\": %lld, \"order\": \"%s\", \"parts\": %d, \"by\": \"%s\", \"empty\": %d, "
           "\"shared\": %lld, \"replication\": %.6g, \"cut\": %lld, \"load\": %lld, "
           "\"value_bytes\": %lld, \"rules\": {",
           (long long)m->v.nodes, mesh_order_name(c->order), c->parts, mesh_by_name(m->by),
           m->cut.empty, (long long)m->cut.shared, 100 * (double)m->cut.shared / n,
           (long long)m->cut.cut, (long long)c->load, (long long)c->value_bytes);
}

int mesh_owners(const cli_world *w, const void *config) {
    const mesh_config *c = config;
    (void)w;
    mesh_case m;
    int failed = mesh_case_divide(c, &m);
    if (!failed) (c->json ? json_head : print_head)(c, &m);
    for (int i = 0; i < c->rules && !failed; i++) {
        tutti_replicas_stats s;
        failed = mesh_case_choose(c, &m, c->rule[i], NULL, &s);
        if (failed) break;
        if (c->json && i) printf(", ");
        (c->json ? json_row : print_rule)(c, c->rule[i], &s);
    }
    if (!failed && c->json) printf("}}\n");
    mesh_case_free(&m);
    return failed;
}
