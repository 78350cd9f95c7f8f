/* tutti cp of an Exodus file: copy entries by id, optionally with other sizes of numbers or only some of the
 * steps.  Files of a series with the same mesh become one file, or several by --steps-per-file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const cli_world *world;
    const data_config *config;
    tutti_exodus *from, *to;
    exodus_outline outline;
    /* steps of previous input files; steps copied; meshes written */
    tutti_count seen, copied, files;
    tutti_count first, last;
    uint64_t hash; /* hash of the mesh in the current output file */
} copy;

/* ---- comparison with the previous mesh */

static uint64_t hash_bytes(uint64_t h, const void *p, size_t n) {
    const unsigned char *b = p;
    for (size_t i = 0; p && i < n; i++) h = (h ^ b[i]) * 1099511628211u;
    return h;
}

static uint64_t hash_elements(uint64_t h, const exodus_outline *o, const tutti_exodus_mesh *m,
                              int kind) {
    const tutti_exodus_elements *b = exodus_blocks(m, kind);
    for (tutti_count i = 0; b && i < o->of[kind].n; i++) {
        const size_t n = (size_t)b[i].n;
        const size_t nodes =
            b[i].start ? (size_t)b[i].start[n] : n * (size_t)o->of[kind].entity[i].nodes;
        h = hash_bytes(h, b[i].ids, n * sizeof *b[i].ids);
        h = hash_bytes(h, b[i].nodes, nodes * sizeof *b[i].nodes);
        h = hash_bytes(h, b[i].attributes,
                       n * (size_t)o->of[kind].entity[i].attributes * sizeof(double));
    }
    return h;
}

/* ---- copying */

static int mesh_copy(copy *c, const tutti_exodus_mesh *m) {
    /* Hash of the outline and of the mesh of this rank: an unchanged mesh is not written again. */
    const exodus_outline *o = &c->outline;
    size_t n = 0;
    uint64_t hash = 14695981039346656037u;
    const size_t wide = m->type == TUTTI_FLOAT32 ? 4 : 8;
    for (int d = 0; d < o->p.dims; d++)
        hash = hash_bytes(hash, m->coordinates[d], (size_t)m->nodes * wide);
    hash = hash_bytes(hash, m->node_ids, (size_t)m->nodes * sizeof *m->node_ids);
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        for (tutti_count i = 0; i < o->of[kind].n; i++) {
            const tutti_exodus_entity *e = &o->of[kind].entity[i];
            hash = hash_bytes(hash, &e->id, sizeof e->id);
            hash = hash_bytes(hash, e->topology, strlen(e->topology));
            n += (size_t)e->entries;
        }
        hash = hash_bytes(hash_elements(hash, o, m, kind), &n, sizeof n);
        const tutti_exodus_members *s = exodus_sets(m, kind);
        for (tutti_count i = 0; s && i < o->of[kind].n; i++) {
            hash = hash_bytes(hash, s[i].members, (size_t)s[i].n * sizeof *s[i].members);
            hash = hash_bytes(hash, s[i].sides, (size_t)s[i].n * sizeof *s[i].sides);
            hash = hash_bytes(hash, s[i].factors,
                              (size_t)exodus_factors(o, m, kind, i) * sizeof(double));
        }
    }
    int same = c->files > 0 && hash == c->hash;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, c->world->comm);
    c->hash = hash;
    if (same) return 0;
    if (c->files++ > 0 && tutti_exodus_new_topology(c->to) != TUTTI_OK) return cli_error_tutti();
    if (exodus_outline_define(&c->outline, c->to)) return 1;
    exodus_unique unique;
    int failed = cli_agree(c->world, exodus_unique_make(&c->outline, m, c->config->name, &unique));
    if (!failed && tutti_exodus_put_mesh(c->to, &unique.mesh) != TUTTI_OK)
        failed = cli_error_tutti();
    exodus_unique_free(&unique);
    return failed || exodus_maps_copy(c->world, &c->outline, c->from, c->to);
}

static int file_copy(copy *c) {
    const tutti_exodus_distribution deal = {
        .partitioner = c->config->nemesis ? TUTTI_EXODUS_BY_METIS : TUTTI_EXODUS_BY_ORDER};
    const tutti_exodus_mesh *m = NULL;
    exodus_results r;
    exodus_outline_free(&c->outline);
    if (exodus_outline_read(c->from, &c->outline)) return 1;
    if (tutti_exodus_get_mesh(c->from, &deal, &m) != TUTTI_OK) return cli_error_tutti();
    exodus_mesh_warn(c->world, c->from, c->config->name);
    if (mesh_copy(c, m)) return 1;
    exodus_results_make(&c->outline, m, &r);
    int failed = 0;
    const tutti_count steps = tutti_exodus_steps(c->from);
    for (tutti_count k = 1; k <= steps && !failed; k++)
        if (c->seen + k >= c->first && c->seen + k <= c->last) {
            failed = cli_interrupted(c->world);
            if (!failed) {
                double time = 0;
                tutti_err err = tutti_exodus_times(c->from, k, 1, &time);
                if (err == TUTTI_OK) err = tutti_exodus_begin(c->to, time);
                if (err == TUTTI_OK && r.n > 0) err = tutti_exodus_get(c->from, k, r.n, r.field);
                if (err == TUTTI_OK && r.n > 0) err = tutti_exodus_put(c->to, r.n, r.field);
                if (err == TUTTI_OK) err = tutti_exodus_commit(c->to);
                failed = err != TUTTI_OK && cli_error_tutti();
                if (!failed) c->copied++;
            }
        }
    c->seen += steps;
    exodus_results_free(&r);
    return failed;
}

static int open_next_mesh(copy *c, int *more) {
    const tutti_err err = tutti_exodus_next_file(c->from);
    *more = err == TUTTI_OK;
    return err == TUTTI_OK || err == TUTTI_ERR_NOT_FOUND ? 0 : cli_error_tutti();
}

/* Count the steps of all files; afterwards the handle is on the first file again. */
static int steps_count(copy *c, const char *path) {
    tutti_count n = 0;
    int more = 1, failed = 0;
    while (more && !failed) {
        n += tutti_exodus_steps(c->from);
        failed = open_next_mesh(c, &more);
    }
    if (failed || exodus_steps_chosen(c->config, n, &c->first, &c->last)) return 1;
    if (tutti_exodus_close(&c->from) != TUTTI_OK ||
        tutti_exodus_open(c->world->comm, path, TUTTI_READ, NULL, &c->from) != TUTTI_OK)
        return cli_error_open(path, "Exodus file");
    return 0;
}

int exodus_cp(const cli_world *w, const data_config *config) {
    copy c = {.world = w, .config = config};
    cli_staged staged = {.path = NULL};
    tutti_exodus_options opt;
    int more = 1, failed = 0;
    const char *path = config->path[0];
    exodus_options_of(config, &opt);
    if (tutti_exodus_open(w->comm, path, TUTTI_READ, NULL, &c.from) != TUTTI_OK)
        return cli_error_open(path, "Exodus file");
    failed = steps_count(&c, path);
    if (!failed) failed = exodus_outline_read(c.from, &c.outline);
    if (!failed) {
        /* By default the sizes of numbers are those of the input. */
        const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                      .kind = TUTTI_EXODUS_NODAL};
        tutti_count entries, numbers;
        tutti_type type;
        if (config->real < 0 &&
            tutti_exodus_array_size(c.from, &a, &entries, &numbers, &type) == TUTTI_OK &&
            type == TUTTI_FLOAT32)
            opt.real_bytes = 4;
    }
    if (!failed) opt.name_length = exodus_name_length(&c.outline);
    if (!failed) failed = cli_stage_begin(w, config->path[1], config->force, &staged);
    if (!failed && tutti_exodus_create(w->comm, staged.write_to, &opt, &c.to) != TUTTI_OK)
        failed = cli_error_tutti();
    while (more && !failed) {
        failed = file_copy(&c);
        if (!failed) failed = open_next_mesh(&c, &more);
    }
    exodus_outline left = c.outline;
    if (c.to && tutti_exodus_close(&c.to) != TUTTI_OK && !failed) failed = cli_error_tutti();
    if (staged.path) failed = cli_stage_end(w, &staged, failed);
    if (!failed && w->rank == 0 && config->json) {
        cli_json_pair(stdout, "{", "path", config->path[1]);
        printf(", \"steps\": %lld, \"nodes\": %lld, \"elements\": %lld}\n", (long long)c.copied,
               (long long)left.p.nodes, (long long)left.p.elements);
    }
    (void)tutti_exodus_close(&c.from);
    exodus_outline_free(&left);
    return failed;
}
