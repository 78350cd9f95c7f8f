/* tutti mesh tree: print the method by which the library would write the nodes of such a mesh, by network,
 * number of nodes and load: the decision tree of Filgueira et al. (their Figure 7), computed from the profile
 * of this machine.
 *
 * The intervals are counted on the mesh, with its partitions and rule.  For larger and smaller meshes of the
 * same shape, the number of intervals is proportional to the surface of the partitions, that is to the number
 * of nodes to the power of 2/3.  Times are predicted by the model that `auto` uses (tutti_profile_predict).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/cmd_mesh.h"

#include <math.h>
#include <string.h>

enum { SIZES = 7, LOAD_MOST = 1000, STEPS = 16 };

static const char *const method_names[] = {"auto",  "independent", "list",
                                           "sieve", "root",        "two-phase"};

/* A network, and a profile of the machine with this network. */
typedef struct {
    char name[96];
    int nodes;
    tutti_profile profile;
} network;

/* Limit the file rates in a profile to the bandwidth of the network, per node; rates of all ranks are sums
 * over nodes. */
static void limit_rates(tutti_profile *p, double bandwidth, int hosts) {
    for (int i = 0;; i++) {
        const tutti_profile_info *row = tutti_profile_row(i);
        if (!row) return;
        if (strcmp(row->section, "FILES") != 0 && strcmp(row->section, "files") != 0) continue;
        const int one = strstr(row->name, "_one_") != NULL;
        const int all =
            strstr(row->name, "_all_") || strstr(row->name, "staged") || strstr(row->name, "_own_");
        const double most = one ? bandwidth : bandwidth * hosts;
        double v = 0;
        memcpy(&v, (char *)p + row->field, sizeof v);
        if ((one || all) && v > most) memcpy((char *)p + row->field, &most, sizeof most);
    }
}

static int networks_make(const mesh_config *c, network *n, tutti_filesystem *place) {
    tutti_profile measured_profile = {.measured = 0};
    if (tutti_profile_filesystem(c->dir, place) != TUTTI_OK ||
        tutti_profile_load(c->options.profile, place, &measured_profile) != TUTTI_OK)
        return cli_error_tutti();
    static const double gbit[] = {2, 0.1};
    const int hosts = c->hosts < c->parts ? c->hosts : c->parts;
    n[0] = (network){.nodes = 1, .profile = measured_profile};
    snprintf(n[0].name, sizeof n[0].name, "one machine (%s)", place->type);
    n[1] = (network){.nodes = hosts, .profile = measured_profile};
    snprintf(n[1].name, sizeof n[1].name, "%d machines, the profile's network: %.3g Gbit/s", hosts,
             measured_profile.net_bandwidth * 8e-9);
    for (int i = 0; i < 2; i++) {
        network *x = &n[2 + i];
        *x = (network){.nodes = hosts, .profile = measured_profile};
        if (!measured_profile.remote) { /* assume that the file system is behind the network */
            tutti_profile_defaults(&x->profile, "nfs");
            x->profile.copy_64 = measured_profile.copy_64;
            x->profile.copy_512 = measured_profile.copy_512;
            x->profile.copy_4k = measured_profile.copy_4k;
        }
        x->profile.remote = 1;
        x->profile.net_bandwidth = gbit[i] * 1.25e8;
        if (x->profile.net_latency < 6e-5 && gbit[i] < 1) x->profile.net_latency = 6e-5;
        limit_rates(&x->profile, x->profile.net_bandwidth, hosts);
        snprintf(x->name, sizeof x->name, "%d machines, %.3g Gbit/s, files behind it", hosts,
                 gbit[i]);
    }
    return 0;
}

/* Numbers of nodes and intervals of the mesh. */
typedef struct {
    double nodes, intervals;
} shape;

/* Methods by load: method[i] is used for loads of at least from[i], up to from[i + 1] - 1. */
typedef struct {
    int n, method[STEPS], from[STEPS];
} branch;

static void print_branch(const branch *b, const char *indent) {
    for (int i = 0; i < b->n; i++) {
        printf("%s%s", indent, i + 1 < b->n ? "|-- " : "`-- ");
        if (b->n == 1)
            printf("any load: %s\n", method_names[b->method[i]]);
        else if (i + 1 < b->n)
            printf("load < %d: %s\n", b->from[i + 1], method_names[b->method[i]]);
        else
            printf("load >= %d: %s\n", b->from[i], method_names[b->method[i]]);
    }
}

static void json_branch(double from, double below, const branch *b, int first) {
    printf("%s{\"nodes_from\": %.0f, \"nodes_below\": ", first ? "" : ", ", from);
    if (below > 0)
        printf("%.0f", below);
    else
        printf("null");
    printf(", \"loads\": [");
    for (int i = 0; i < b->n; i++)
        printf("%s{\"from\": %d, \"method\": \"%s\"}", i ? ", " : "", b->from[i],
               method_names[b->method[i]]);
    printf("]}");
}

/* Print the decisions for one network; consecutive mesh sizes with the same decisions are combined. */
static int tree_network(const mesh_config *c, const network *n, const shape *s) {
    static const double sizes[SIZES] = {1e4, 3e4, 7e4, 2e5, 6e5, 2e6, 1e7};
    branch b[SIZES];
    memset(b, 0, sizeof b);
    for (int i = 0; i < SIZES; i++) {
        /* Try every load from 1 to LOAD_MOST, so that crossovers are exact. */
        const double nodes = sizes[i];
        for (int load = 1; load <= LOAD_MOST; load++) {
            int method = 0;
            double seconds = 0;
            double pieces = s->intervals * pow(nodes / s->nodes, 2.0 / 3);
            if (pieces < c->parts) pieces = c->parts;
            if (pieces > nodes) pieces = nodes;
            const tutti_forecast f = {.is_write = 1,
                                      .ranks = c->parts,
                                      .nodes = n->nodes,
                                      .bytes = (tutti_off)nodes * load * c->value_bytes,
                                      .pieces = (tutti_count)pieces};
            if (tutti_profile_predict(&n->profile, &c->options, &f, &method, &seconds) != TUTTI_OK)
                return cli_error_tutti();
            if (b[i].n > 0 && b[i].method[b[i].n - 1] == method) continue;
            if (b[i].n == STEPS) break;
            b[i].method[b[i].n] = method;
            b[i].from[b[i].n++] = load;
        }
    }
    if (c->json) {
        cli_json_pair(stdout, "{", "network", n->name);
        printf(", \"machines\": %d, \"sizes\": [", n->nodes);
    } else {
        printf("%s\n", n->name);
    }
    for (int i = 0; i < SIZES;) {
        int end = i + 1;
        while (end < SIZES && memcmp(&b[i], &b[end], sizeof b[i]) == 0) end++;
        const double from = i ? sizes[i] : 0, below = end < SIZES ? sizes[end] : 0;
        if (c->json) {
            json_branch(from, below, &b[i], i == 0);
        } else {
            const int last = end == SIZES;
            printf("%s ", last ? "`--" : "|--");
            if (i == 0 && last)
                printf("any number of nodes\n");
            else if (last)
                printf("%.0f nodes and more\n", from);
            else
                printf("fewer than %.0f nodes\n", below);
            print_branch(&b[i], last ? "    " : "|   ");
        }
        i = end;
    }
    printf(c->json ? "]}" : "\n");
    return 0;
}

int mesh_tree(const cli_world *w, const void *config) {
    const mesh_config *c = config;
    (void)w;
    network n[4] = {{.nodes = 0}};
    mesh_case m;
    tutti_filesystem place;
    tutti_replicas_stats stats;
    int failed = mesh_case_divide(c, &m);
    /* the last rule given; idg2 by default */
    const tutti_replicas_rule rule = c->rule[c->rules - 1];
    if (!failed) failed = mesh_case_choose(c, &m, rule, NULL, &stats);
    if (!failed && m.v.nodes == 0) failed = cli_error("'%s' has no nodes", c->path);
    if (!failed) failed = networks_make(c, n, &place);
    if (!failed) {
        const shape s = {(double)m.v.nodes, (double)stats.intervals};
        if (c->json) {
            cli_json_pair(stdout, "{", "file", c->path);
            printf(", \"nodes\": %lld, \"parts\": %d, \"rule\": \"%s\", \"intervals\": %lld, "
                   "\"measured\": %d, \"networks\": [",
                   (long long)m.v.nodes, c->parts, tutti_replicas_rule_name(rule),
                   (long long)stats.intervals, n[0].profile.measured > 0);
        } else {
            printf("%s: %lld nodes, order %s, %d partitions by %s, rule %s: %lld intervals\n"
                   "values of %lld bytes; numbers of %s: %s\n\n",
                   c->path, (long long)m.v.nodes, mesh_order_name(c->order), c->parts,
                   mesh_by_name(m.by), tutti_replicas_rule_name(rule), (long long)stats.intervals,
                   (long long)c->value_bytes, place.mount,
                   n[0].profile.measured > 0 ? "measured by tutti tune"
                                             : "defaults, since tutti tune has not measured it");
        }
        for (int i = 0; i < 4 && !failed; i++) {
            if (c->json && i) printf(", ");
            failed = tree_network(c, &n[i], &s);
        }
        if (c->json) printf("]}\n");
    }
    mesh_case_free(&m);
    return failed;
}
