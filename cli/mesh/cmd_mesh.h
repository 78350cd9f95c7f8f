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
    cli_call call; /* call.bits: one of MESH_... */
    const char *path, *to;
    int parts;
    /* tutti_mesh_partitioner; tutti_mesh_order; tutti_mesh_format, -1: not specified */
    int by, order, format;
    tutti_replicas_rule rule[MESH_RULES];
    int rules;
    tutti_off seed;
    double balance; /* 0: not specified */
    int load;
    tutti_off value_bytes;
    int json, force;
    const char *out, *dir;
    int hosts;
    tutti_options options;
} mesh_config;

extern const cli_group mesh_group;
const char *mesh_order_name(int order); /* order: tutti_mesh_order */
const char *mesh_by_name(int by);       /* by: tutti_mesh_partitioner */

/* A mesh on this process, in the requested order, with its partitions. */
typedef struct mesh_case {
    tutti_mesh *mesh;
    tutti_mesh_view v;
    int by; /* the partitioner used */
    int *of;
    tutti_mesh_cut cut;
    /* partitions with a copy of each node, as tutti_mesh_classify returns them */
    tutti_count *start;
    int *holder;
} mesh_case;

/* These functions return 0, or 1 and a message. */
int mesh_case_open(const mesh_config *c, mesh_case *m); /* read and renumber the mesh */
/* also partition the mesh and classify its nodes */
int mesh_case_divide(const mesh_config *c, mesh_case *m);
void mesh_case_free(mesh_case *m);
/* Choose the writer of each node by a rule.  writers: [nodes]; writers or stats may be NULL. */
int mesh_case_choose(const mesh_config *c, const mesh_case *m, tutti_replicas_rule rule,
                     int *writers, tutti_replicas_stats *stats);

/* Commands; config: mesh_config.  Returns 0, or 1 and a message.  Rank 0 only. */
int mesh_info(const cli_world *w, const void *config);
int mesh_partition(const cli_world *w, const void *config);
int mesh_owners(const cli_world *w, const void *config);
int mesh_tree(const cli_world *w, const void *config);
int mesh_plot(const cli_world *w, const void *config);
int mesh_convert(const cli_world *w, const void *config);

#endif
