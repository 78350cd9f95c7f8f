/* tutti-experiments mesh: a mesh as a benchmark.  Rank p has partition p and copies of the nodes
 * around it.  Its memory contains `load` values of 8 bytes for each of these nodes; copies have the
 * values of the file, so that every rank that may write a node writes the same bytes.  Every file
 * is compared with the expected file, which is the same for all rules and configurations.
 *
 * Fresh, as in the paper: create the access from the choice of writers (in the paper: the
 * datatype), plan, write, close.  Reused: write by an existing plan, close.  The inspector, which
 * is created once per partition, is timed separately; files are opened beforehand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/meshes.h"

#include <stdlib.h>

const tutti_replicas_rule mesh_rule[MESH_RULES] = {TUTTI_REPLICAS_OWN, TUTTI_REPLICAS_RANDOM,
                                                   TUTTI_REPLICAS_FIRST, TUTTI_REPLICAS_IDG,
                                                   TUTTI_REPLICAS_IDG2};

/* ---- the scene */

static void free_inspectors(mesh_stage *s) {
    for (int i = 0; i < MESH_RULES; i++) tutti_replicas_free(&s->inspector[i]);
}

void mesh_stage_free(mesh_stage *s) {
    free_inspectors(s);
    tutti_mesh_part_free(&s->part);
    s->source = NULL;
}

/* Read, renumber, partition and distribute the mesh. */
static tutti_err take_part(const mesh_point *p, const cli_world *w, mesh_stage *s) {
    const bench_config *c = p->config;
    tutti_mesh *mesh = NULL;
    tutti_mesh_view slice = {0};
    int *of = NULL;
    tutti_err err = mesh_source_open(p->source, w->comm, &c->options, &mesh);
    if (err == TUTTI_OK) err = tutti_mesh_renumber(mesh, c->order);
    if (err == TUTTI_OK) err = tutti_mesh_view_get(mesh, &slice);
    if (err == TUTTI_OK) of = cli_malloc((size_t)slice.nodes * sizeof *of + 1);
    if (err == TUTTI_OK) err = tutti_mesh_partition(mesh, w->ranks, c->by, NULL, of);
    if (err == TUTTI_OK) err = tutti_mesh_part_make(mesh, of, &s->part);
    if (err == TUTTI_OK) err = tutti_mesh_part_get(s->part, &s->view);
    free(of);
    tutti_mesh_free(&mesh);
    return err;
}

/* Set up the part of this rank, unless it is the same as for the previous point. */
static tutti_err set_stage(const mesh_point *p, const cli_world *w, mesh_stage *s) {
    if (s->source == p->source && s->ranks == w->ranks) return TUTTI_OK;
    mesh_stage_free(s);
    const tutti_err err = take_part(p, w, s);
    if (err != TUTTI_OK) return err;
    s->source = p->source;
    s->ranks = w->ranks;
    return TUTTI_OK;
}

static tutti_err inspect_object(const mesh_point *p, const cli_world *w, mesh_stage *s,
                                tutti_replicas_rule rule) {
    const tutti_replicas_spec spec = {.n = s->view.nodes,
                                      .numbers = s->view.number,
                                      .own = s->view.own,
                                      .load = p->load,
                                      .value_bytes = MESH_VALUE,
                                      .choice = {.rule = rule, .seed = p->config->seed}};
    cli_barrier(w);
    MPI_Barrier(w->comm);
    const double start = cli_now();
    const tutti_err err = tutti_replicas_create(w->comm, &spec, &s->inspector[rule]);
    p->inspecting[rule] = cli_elapsed(w, start, cli_now());
    return err;
}

/* Create the pattern.  The buffer contains all nodes of the rank, with the values of the file. */
static int mesh_make(const bench_cell *cell, const cli_world *w, bench_pattern *out) {
    const mesh_point *p = cell->what;
    mesh_stage *s = p->stage;
    *out = (bench_pattern){.name = cell->pattern,
                           .title = "a mesh",
                           .file_type = MPI_DATATYPE_NULL,
                           .memory_type = MPI_DATATYPE_NULL};
    tutti_err err = set_stage(p, w, s);
    for (int i = 0; i < MESH_RULES && err == TUTTI_OK; i++)
        err = inspect_object(p, w, s, mesh_rule[i]);
    if (err == TUTTI_OK)
        err = tutti_access_copy(tutti_replicas_read_access(s->inspector[0]), &out->access);
    if (err == TUTTI_OK) err = bench_pattern_list(out);
    if (err != TUTTI_OK) return cli_error_tutti();
    out->bytes = tutti_access_bytes(out->access);
    out->memory = s->view.nodes * p->load * MESH_VALUE;
    out->total = tutti_replicas_bytes(s->inspector[0]);
    return 0;
}

static void mesh_done(const bench_cell *cell) {
    free_inspectors(((const mesh_point *)cell->what)->stage);
}

static void mesh_json(FILE *f, const bench_cell *cell) {
    const mesh_point *p = cell->what;
    report_json_pair(f, "mesh", p->source->name);
    fprintf(f, "\"load\": %lld, \"inspecting\": {", (long long)p->load);
    for (int i = 0; i < MESH_RULES; i++)
        fprintf(f, "%s\"%s\": %.9f", i ? ", " : "", tutti_replicas_rule_name(mesh_rule[i]),
                p->inspecting[mesh_rule[i]]);
    fputs("}, ", f);
}

const bench_scene mesh_scene = {.make = mesh_make, .done = mesh_done, .json = mesh_json};

/* ---- variants */

const tutti_replicas *mesh_inspector(const bench_job *job, const bench_entry *e) {
    const mesh_point *p = job->cell->what;
    return p->stage->inspector[*(const tutti_replicas_rule *)e->context];
}

/* Create the access to the nodes that this rank writes; nodes that are contiguous in file and memory form one
 * piece. */
static tutti_err make_access(const bench_job *job, const tutti_replicas *r, tutti_access **out) {
    const mesh_point *p = job->cell->what;
    const tutti_off *position = tutti_replicas_positions(r), each = p->load * MESH_VALUE;
    const int *writer = tutti_replicas_writers(r);
    const tutti_count local_nodes = p->stage->view.nodes;
    tutti_off *v = cli_malloc((size_t)(3 * local_nodes) * sizeof *v + 1);
    tutti_off *file = v, *memory = v + local_nodes, *length = v + 2 * local_nodes;
    tutti_count n = 0;
    for (tutti_count i = 0; i < local_nodes; i++) {
        if (writer[i] != job->world->rank) continue;
        if (n > 0 && file[n - 1] + length[n - 1] == position[i] &&
            memory[n - 1] + length[n - 1] == i * each) {
            length[n - 1] += each;
            continue;
        }
        file[n] = position[i];
        memory[n] = i * each;
        length[n++] = each;
    }
    const tutti_err err = tutti_access_pieces(n, file, memory, length, out);
    free(v);
    return err;
}

static int check_count(const bench_job *job, const bench_entry *e, tutti_off count) {
    const tutti_off all = tutti_access_bytes(tutti_replicas_write_access(mesh_inspector(job, e)));
    if (count == all || !e->checkable) return 0;
    return cli_error("write of '%s' transferred %lld bytes instead of %lld", job->path,
                     (long long)count, (long long)all);
}

static int close_file(bench_job *job, bench_entry *e, tutti_off count) {
    variant_stats(job, e);
    if (tutti_file_close(&job->file) != TUTTI_OK) return variant_failed(e);
    return check_count(job, e, count);
}

static int prepare_fresh(bench_job *job, bench_entry *e) {
    return variant_open(job, e) == TUTTI_OK ? 0 : variant_failed(e);
}

static int run_fresh(bench_job *job, bench_entry *e) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    const double start = cli_now();
    tutti_err err = make_access(job, mesh_inspector(job, e), &access);
    e->now.begin += cli_now() - start;
    /* If `access` could not be created, the write fails on all ranks, so that no rank waits. */
    const tutti_err written = tutti_file_write(job->file, access, job->user, &count);
    if (err == TUTTI_OK) err = written;
    tutti_access_free(&access);
    if (err != TUTTI_OK) return variant_failed(e);
    const int failed = close_file(job, e, count);
    e->now.begin += e->stats.seconds_plan;
    return failed;
}

static int prepare_reused(bench_job *job, bench_entry *e) {
    if (prepare_fresh(job, e)) return 1;
    const tutti_access *access = tutti_replicas_write_access(mesh_inspector(job, e));
    const tutti_err err = tutti_plan_write(job->file, access, &job->plan);
    return err == TUTTI_OK ? 0 : variant_failed(e);
}

static int run_reused(bench_job *job, bench_entry *e) {
    tutti_off count = 0;
    if (tutti_plan_run(job->plan, job->user, 0, &count) != TUTTI_OK) return variant_failed(e);
    tutti_plan_free(&job->plan);
    return close_file(job, e, count);
}

const bench_runner mesh_fresh = {.prepare = prepare_fresh, .run = run_fresh, .end = variant_end};
const bench_runner mesh_reused = {.prepare = prepare_reused, .run = run_reused, .end = variant_end};
