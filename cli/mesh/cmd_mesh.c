/* tutti mesh: inspect and partition meshes, and print the choice of writers.  Runs on one process.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/cmd_mesh.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- a mesh and its partitions */

const char *mesh_order_name(int order) {
    static const char *const names[] = {"file", "curve", "rcm"};
    return names[order];
}

const char *mesh_by_name(int by) {
    static const char *const names[] = {"metis", "curve", "rcb"};
    return names[by];
}

void mesh_case_free(mesh_case *m) {
    free(m->of);
    tutti_mesh_lists_free(&m->start, &m->holder);
    tutti_mesh_free(&m->mesh);
}

int mesh_case_open(const mesh_config *c, mesh_case *m) {
    *m = (mesh_case){.by = c->by};
    cli_input_add(c->path);
    if (tutti_mesh_open(MPI_COMM_SELF, c->path, &c->options, &m->mesh) != TUTTI_OK)
        return cli_error_open(c->path, "mesh");
    if (tutti_mesh_renumber(m->mesh, (tutti_mesh_order)c->order) != TUTTI_OK ||
        tutti_mesh_view_get(m->mesh, &m->v) != TUTTI_OK)
        return cli_error_tutti();
    return 0;
}

int mesh_case_divide(const mesh_config *c, mesh_case *m) {
    if (mesh_case_open(c, m)) return 1;
    m->of = cli_malloc((size_t)m->v.nodes * sizeof *m->of + 1);
    if (tutti_mesh_partition(m->mesh, c->parts, (tutti_mesh_partitioner)c->by, NULL, m->of) !=
            TUTTI_OK ||
        tutti_mesh_cut_get(m->mesh, c->parts, m->of, NULL, &m->cut) != TUTTI_OK ||
        tutti_mesh_classify(m->mesh, m->of, &m->start, &m->holder) != TUTTI_OK)
        return cli_error_tutti();
    m->by = tutti_mesh_partitioned_by(m->mesh);
    if (m->by != c->by)
        fprintf(stderr, "tutti mesh: %s: partitions by %s\n",
                tutti_mesh_has_metis() ? "METIS does not support this mesh or number of partitions"
                                       : "METIS is not built in (Debian: libmetis-dev)",
                mesh_by_name(m->by));
    return 0;
}

int mesh_case_choose(const mesh_config *c, const mesh_case *m, tutti_replicas_rule rule,
                     int *writers, tutti_replicas_stats *stats) {
    const tutti_replicas_lists lists = {.n = m->v.nodes,
                                        .parts = c->parts,
                                        .start = m->start,
                                        .holders = m->holder,
                                        .load = c->load,
                                        .value_bytes = c->value_bytes};
    const tutti_replicas_choice choice = {
        .rule = rule, .seed = (uint64_t)c->seed, .balance = c->balance};
    int *chosen = writers ? writers : cli_malloc((size_t)m->v.nodes * sizeof *chosen + 1);
    const tutti_err err = tutti_replicas_choose(&lists, &choice, chosen, NULL, stats);
    if (!writers) free(chosen);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- info */

static void print_mesh_info(const mesh_config *c, const tutti_mesh_info *i, int groups,
                            const tutti_mesh_group *g) {
    printf("%s\n", c->path);
    printf("  nodes         %lld%s", (long long)i->nodes, i->isolated_nodes ? "" : "\n");
    if (i->isolated_nodes) printf(", %lld of them in no element\n", (long long)i->isolated_nodes);
    printf("  elements      %lld\n", (long long)i->elements);
    for (int t = 0; t < TUTTI_MESH_TYPES; t++)
        if (i->of_type[t])
            printf("    %-14s%lld\n", tutti_mesh_type_name(t), (long long)i->of_type[t]);
    printf("  extent        x %g ... %g  y %g ... %g  z %g ... %g\n", i->low[0], i->high[0],
           i->low[1], i->high[1], i->low[2], i->high[2]);
    printf("  neighbours    %lld pairs, %.1f of a node, at most %lld\n", (long long)i->edges,
           i->nodes ? 2.0 * (double)i->edges / (double)i->nodes : 0, (long long)i->max_neighbours);
    printf("  numbering     order %s: neighbours are %.0f apart, at most %lld; %.1f %% follow each "
           "other\n",
           mesh_order_name(c->order), i->mean_distance, (long long)i->bandwidth,
           100 * i->adjacent_share);
    for (int k = 0; k < groups; k++)
        printf("  group         %d-dimensional, tag %d: %s\n", g[k].dim, g[k].tag,
               cli_shown(g[k].name));
}

static void print_mesh_info_json(const mesh_config *c, const tutti_mesh_info *i, int groups,
                                 const tutti_mesh_group *g) {
    cli_json_pair(stdout, "{", "file", c->path);
    printf(", \"order\": \"%s\", \"nodes\": %lld, \"elements\": %lld, \"dim\": %d, \"types\": {",
           mesh_order_name(c->order), (long long)i->nodes, (long long)i->elements, i->dim);
    for (int t = 0, n = 0; t < TUTTI_MESH_TYPES; t++)
        if (i->of_type[t])
            printf("%s\"%s\": %lld", n++ ? ", " : "", tutti_mesh_type_name(t),
                   (long long)i->of_type[t]);
    printf("}, \"low\": [%.17g, %.17g, %.17g], \"high\": [%.17g, %.17g, %.17g]", i->low[0],
           i->low[1], i->low[2], i->high[0], i->high[1], i->high[2]);
    printf(", \"edges\": %lld, \"alone\": %lld, \"most_neighbours\": %lld, \"distance\": %.6g, "
           "\"bandwidth\": %lld, \"steps\": %.6g, \"groups\": [",
           (long long)i->edges, (long long)i->isolated_nodes, (long long)i->max_neighbours,
           i->mean_distance, (long long)i->bandwidth, i->adjacent_share);
    for (int k = 0; k < groups; k++) {
        printf("%s{\"dim\": %d, \"tag\": %d, \"name\": ", k ? ", " : "", g[k].dim, g[k].tag);
        cli_json_string(stdout, g[k].name);
        putchar('}');
    }
    printf("]}\n");
}

int mesh_info(const cli_world *w, const void *config) {
    const mesh_config *c = config;
    (void)w;
    mesh_case m;
    tutti_mesh_info i;
    const tutti_mesh_group *g = NULL;
    int failed = mesh_case_open(c, &m);
    if (!failed && tutti_mesh_describe(m.mesh, &i) != TUTTI_OK) failed = cli_error_tutti();
    if (!failed) {
        const int n = tutti_mesh_groups(m.mesh, &g);
        (c->json ? print_mesh_info_json : print_mesh_info)(c, &i, n, g);
    }
    mesh_case_free(&m);
    return failed;
}

/* ---- partition */

int mesh_partition(const cli_world *w, const void *config) {
    const mesh_config *c = config;
    (void)w;
    mesh_case m;
    int failed = mesh_case_divide(c, &m);
    const tutti_mesh_cut *k = &m.cut;
    const double n = m.v.nodes ? (double)m.v.nodes : 1;
    if (!failed && c->json) {
        cli_json_pair(stdout, "{", "file", c->path);
        printf(", \"order\": \"%s\", \"by\": \"%s\", \"parts\": %d, \"empty\": %d, \"nodes\": "
               "%lld, \"least\": %lld, \"most\": %lld, \"cut\": %lld, \"shared\": %lld, "
               "\"replication\": %.6g, \"held\": %lld}\n",
               mesh_order_name(c->order), mesh_by_name(m.by), c->parts, k->empty,
               (long long)m.v.nodes, (long long)k->min_nodes, (long long)k->max_nodes,
               (long long)k->cut, (long long)k->shared, 100 * (double)k->shared / n,
               (long long)k->total_nodes);
    } else if (!failed && !(c->out && strcmp(c->out, "-") == 0)) {
        printf("%s: %lld nodes in %d partitions by %s\n", c->path, (long long)m.v.nodes, c->parts,
               mesh_by_name(m.by));
        printf("  nodes of a partition   %lld to %lld\n", (long long)k->min_nodes,
               (long long)k->max_nodes);
        if (k->empty) printf("  without a node         %d\n", k->empty);
        printf("  parted neighbours      %lld pairs\n", (long long)k->cut);
        printf("  shared nodes           %lld (%.1f %%), %lld copies of them\n",
               (long long)k->shared, 100 * (double)k->shared / n,
               (long long)(k->total_nodes - m.v.nodes));
    }
    if (!failed && c->out) {
        FILE *f = cli_output_open(c->out);
        failed = !f;
        if (!failed) {
            for (tutti_count i = 0; i < m.v.nodes; i++) fprintf(f, "%d\n", m.of[i]);
            failed = cli_output_close(f, c->out, 0);
        }
    }
    mesh_case_free(&m);
    return failed;
}

/* ---- convert */

int mesh_convert(const cli_world *w, const void *config) {
    const mesh_config *c = config;
    (void)w;
    mesh_case m;
    struct stat st;
    const tutti_mesh_format format = c->format >= 0               ? (tutti_mesh_format)c->format
                                     : cli_ends_in(c->to, ".msh") ? TUTTI_MESH_GMSH_41_BINARY
                                                                  : TUTTI_MESH_NATIVE;
    if (cli_output_refuse(c->to)) return 1;
    if (!c->force && (lstat(c->to, &st) == 0 || errno != ENOENT))
        return cli_error("'%s' exists; --force replaces it", c->to);
    int failed = mesh_case_open(c, &m);
    if (!failed && tutti_mesh_write(m.mesh, c->to, format, &c->options) != TUTTI_OK)
        failed = cli_error_tutti();
    mesh_case_free(&m);
    return failed;
}
