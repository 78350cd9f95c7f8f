/* tutti mesh: common declarations of its parts.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CMD_MESH_H
#define TUTTI_CMD_MESH_H

#include "common/command.h"
#include "common/file_kind.h"

enum {
    MESH_INFO = 1,
    MESH_PARTITION = 2,
    MESH_OWNERS = 4,
    MESH_TREE = 8,
    MESH_PLOT = 16,
    MESH_CONVERT = 32
};

enum { MESH_RULES = 16 };

typedef struct mesh_config {
    cli_call call; /* bits: MESH_... */
    const char *path, *to;
    int parts;
    int by, order,
        format; /* tutti_mesh_partitioner, tutti_mesh_order; tutti_mesh_format, -1: not specified */
    tutti_replicas_rule rule[MESH_RULES];
    int rules;
    tutti_off seed;
    double balance; /* 0: not given */
    int load;
    tutti_off value_bytes;
    int json, force;
    const char *out, *dir;
    int hosts;
    tutti_options options;
} mesh_config;

extern const cli_group mesh_group;
const char *mesh_order_name(int order); /* tutti_mesh_order */
const char *mesh_by_name(int by);       /* tutti_mesh_partitioner */

/* A mesh on this process, in the requested order, and partitioned. */
typedef struct mesh_case {
    tutti_mesh *mesh;
    tutti_mesh_view v;
    int by; /* the partitioner that was used */
    int *of;
    tutti_mesh_cut cut;
    tutti_count *start; /* the partitions that hold each node: tutti_mesh_classify */
    int *holder;
} mesh_case;

/* Each returns 1 and has a message if it fails. */
int mesh_case_open(const mesh_config *c, mesh_case *m);   /* read, and renumbered */
int mesh_case_divide(const mesh_config *c, mesh_case *m); /* also divided and classified */
void mesh_case_free(mesh_case *m);
/* Choose the writer of each node by a rule: [nodes]; either may be NULL. */
int mesh_case_choose(const mesh_config *c, const mesh_case *m, tutti_replicas_rule rule,
                     int *writers, tutti_replicas_stats *stats);

/* Commands; config: mesh_config.  0, or 1 and a message.  Rank 0 only */
int mesh_info(const cli_world *w, const void *config);
int mesh_partition(const cli_world *w, const void *config);
int mesh_owners(const cli_world *w, const void *config);
int mesh_tree(const cli_world *w, const void *config);
int mesh_plot(const cli_world *w, const void *config);
int mesh_convert(const cli_world *w, const void *config);

#endif
