/* tutti-experiments mesh: common declarations of its files.
 *
 *   mesh_source.c   the meshes: files, or a generated mesh
 *   mesh_tables.c   the choice of writers by each rule, counted on one process
 *   mesh_run.c      a mesh on as many ranks as partitions, as a benchmark of bench.h, and its variants
 *   mesh_bare.c     the same without a library
 *   exp_mesh.c      points, figures of write times, goals
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_MESHES_H
#define TUTTI_CLI_MESHES_H

#include <sys/uio.h>
#include "experiments/experiment.h"

enum { MESH_VALUE = 8, MESH_RULES = 5 }; /* bytes of a value; number of rules */

/* ---- meshes */
typedef struct mesh_source {
    const char *path; /* NULL: a box of tetrahedra with about `nodes` nodes */
    tutti_count nodes;
    char name[40];
} mesh_source;

void mesh_source_name(mesh_source *s, const char *path, tutti_count nodes);
tutti_err mesh_source_open(const mesh_source *s, MPI_Comm comm, const tutti_options *opt,
                           tutti_mesh **out);

/* ---- counts, on one process: Tables 3 and 4, figures 9, 10, 11; returns 0, or 1 after printing a message */
int mesh_tables_report(experiment *x, int n, const mesh_source *source);

/* ---- meshes on ranks */

/* Prepared system calls that write the nodes assigned to a rank by a rule. */
typedef struct mesh_calls {
    int fd; /* <= 0: not open */
    tutti_count n;
    tutti_off *offset;    /* [n] offset of each call in the file */
    tutti_count *first;   /* [n + 1] index of the first piece of each call in `vector` */
    struct iovec *vector; /* pieces of memory */
} mesh_calls;

/* The state of this rank: the part of the mesh that was requested last, and its inspectors. */
typedef struct mesh_stage {
    const mesh_source *source; /* NULL: no mesh was read */
    int ranks;
    tutti_mesh_part *part;
    tutti_mesh_part_view view;
    tutti_replicas *inspector[MESH_RULES]; /* inspector of each rule; NULL: not created */
    mesh_calls calls;                      /* calls of the variant that is running */
} mesh_stage;

typedef struct mesh_point {
    const mesh_source *source;
    mesh_stage *stage;
    const bench_config *config;
    tutti_count load;
    double *inspecting; /* [MESH_RULES] seconds of creating each inspector */
    char name[80];
} mesh_point;

extern const bench_scene mesh_scene;
/* Variants that write a mesh; the context of an entry is its rule.  mesh_fresh: create access and
 * plan, and write; mesh_reused: write by an existing plan; mesh_bare: system calls only
 * (mesh_bare.c). */
extern const bench_runner mesh_fresh, mesh_reused, mesh_bare;
/* Return the inspector of an entry's rule. */
const tutti_replicas *mesh_inspector(const bench_job *job, const bench_entry *e);
extern const tutti_replicas_rule mesh_rule[MESH_RULES]; /* rules, in the order of the paper */
void mesh_stage_free(mesh_stage *s);

#endif
