/* tutti mesh: what its parts share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CMD_MESH_H
#define TUTTI_CMD_MESH_H

#include "common/cli.h"

enum {
    MESH_INFO = 1,
    MESH_PARTITION = 2,
    MESH_OWNERS = 4,
    MESH_TREE = 8,
    MESH_PLOT = 16,
    MESH_CONVERT = 32
};

enum { MESH_RULES = 16, MESH_HOSTS = 8 };

typedef struct mesh_config {
    int command;
    const char *name; /* of the command */
    const char *path, *to;
    int parts;
    tutti_mesh_by by;
    tutti_mesh_order order;
    tutti_replicas_rule rule[MESH_RULES]; /* in the order of the table, or as said */
    int rules;
    uint64_t seed;
    double balance;
    tutti_count load;
    tutti_off value_bytes;
    tutti_mesh_format format;
    int has_format, json, force;
    const char *out, *dir;
    int hosts;
    tutti_options options;
} mesh_config;

enum { MESH_ARGS_OK, MESH_ARGS_HELP, MESH_ARGS_WRONG };
int mesh_config_parse(int argc, char **argv, mesh_config *c);
const char *mesh_order_name(tutti_mesh_order o);
const char *mesh_by_name(int by);

/* A mesh on this process alone, in the order that is asked for, and divided. */
typedef struct mesh_case {
    tutti_mesh *mesh;
    tutti_mesh_view v;
    int by; /* the partitioner that was used */
    int *of;
    tutti_mesh_cut cut;
    tutti_count *start; /* who holds each node: tutti_mesh_classify */
    int *holder;
} mesh_case;

/* Each returns 1 and has a message if it fails. */
int mesh_case_open(const mesh_config *c, mesh_case *m);   /* read, and renumbered */
int mesh_case_divide(const mesh_config *c, mesh_case *m); /* and divided, and classified */
void mesh_case_free(mesh_case *m);
/* Who writes each node by a rule: [nodes]; either may be NULL. */
int mesh_case_choose(const mesh_config *c, const mesh_case *m, tutti_replicas_rule rule,
                     int *writers, tutti_replicas_stats *stats);

int mesh_owners(const mesh_config *c);
int mesh_tree(const mesh_config *c);
int mesh_plot(const mesh_config *c);

#endif
