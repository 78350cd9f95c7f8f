/* tutti exodus split: split a file into NAME.e.N.R, for programs that need one file per process.  The pieces
 * are distributed over the ranks of this command; each rank reads and writes its own pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/split.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of open pieces per rank; with more pieces, the steps are read several times. */
enum { OPEN_AT_ONCE = 200 };

typedef struct {
    cli_staged staged;
    exodus_subset subset;
    tutti_exodus *x;
    exodus_results results;
} piece;

typedef struct {
    const cli_world *world;
    const data_config *config;
    tutti_exodus *from;
    exodus_outline o;
    const tutti_exodus_mesh *mesh;
    exodus_unique unique;
    int *part;      /* [elements of this rank] number of the piece */
    int first, end; /* pieces of this rank: first ... end - 1 */
    exodus_results results;
    piece *open;
    int opens;
} division;

/* Return the first piece of a rank: piece p belongs to rank p * ranks / pieces. */
static int first_of(const division *d, int rank) {
    const int64_t n = d->config->parts, r = d->world->ranks;
    return (int)((rank * n + r - 1) / r);
}

static char *piece_path(const data_config *c, int r) {
    const char *base = c->out ? c->out : c->path[0];
    int digits = 1;
    for (int n = c->parts; n >= 10; n /= 10) digits++;
    return cli_format("%s%s.%d.%0*d", base, exodus_is_name(base) ? "" : ".e", c->parts, digits, r);
}

/* ---- pieces of the elements of this rank */

static int assign_ranks(division *d, const exodus_parts *p) {
    int *rank = cli_malloc((size_t)p->n * sizeof *rank);
    for (tutti_count i = 0; i < p->n; i++)
        rank[i] = (int)((int64_t)p->part[i] * d->world->ranks / d->config->parts);
    const tutti_exodus_distribution how = {
        .partitioner = TUTTI_EXODUS_BY_LIST, .first = p->first, .n = p->n, .rank = rank};
    const tutti_err err = tutti_exodus_get_mesh(d->from, &how, &d->mesh);
    free(rank);
    if (err != TUTTI_OK) return cli_error_tutti();
    exodus_mesh_warn(d->world, d->from, d->config->name);
    return 0;
}

static int parts_know(division *d, const exodus_parts *p) {
    const exodus_table *t = &d->o.of[TUTTI_EXODUS_ELEMENT_BLOCK];
    /* Gather the pieces of all elements in the order of the file, on every rank. */
    int total;
    int *all = cli_gather(d->world, p->part, (int)p->n, sizeof *all, &total);
    tutti_count n = 0, before = 0;
    tutti_err err = TUTTI_OK;
    for (tutti_count b = 0; b < t->n; b++) n += d->mesh->blocks[b].n;
    d->part = cli_malloc((size_t)n * sizeof *d->part);
    n = 0;
    for (tutti_count b = 0; b < t->n && err == TUTTI_OK; before += t->entity[b++].entries) {
        const tutti_exodus_elements *e = &d->mesh->blocks[b];
        const tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = e->n, .ids = e->ids};
        tutti_count *at = cli_malloc((size_t)e->n * sizeof *at);
        tutti_decomposition *entries = NULL;
        err = tutti_exodus_decomposition(d->from, TUTTI_EXODUS_ELEMENT_BLOCK, t->entity[b].id,
                                         &spec, &entries);
        if (err == TUTTI_OK) err = tutti_decomposition_positions(entries, at);
        for (tutti_count i = 0; i < e->n && err == TUTTI_OK; i++)
            d->part[n++] = all[before + at[i]];
        tutti_decomposition_free(&entries);
        free(at);
    }
    free(all);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- pieces */

static int write_piece_step(const division *d, piece *p, double time) {
    for (tutti_count i = 0; i < d->results.n; i++) {
        const tutti_exodus_field *f = &d->results.field[i];
        const double *from = f->buf;
        double *to = p->results.field[i].buf;
        const tutti_count n = p->results.count[i];
        if (f->kind == TUTTI_EXODUS_GLOBAL)
            memcpy(to, from, (size_t)n * sizeof *to);
        else
            for (tutti_count k = 0; k < n; k++)
                to[k] = from[p->subset.entry[f->kind][d->results.entry[i]][k]];
    }
    tutti_err err = tutti_exodus_begin(p->x, time);
    if (err == TUTTI_OK && p->results.n > 0)
        err = tutti_exodus_put(p->x, p->results.n, p->results.field);
    if (err == TUTTI_OK) err = tutti_exodus_commit(p->x);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* Write pieces from ... to - 1 of this rank, which may be none, with all steps. */
static int batch_write(division *d, int from, int to, tutti_count first, tutti_count last) {
    const cli_world alone = {.comm = MPI_COMM_SELF, .ranks = 1, .one_node = 1};
    int failed = 0;
    d->opens = 0;
    for (int r = from; r < to && !failed; r++) {
        piece *p = &d->open[d->opens++];
        tutti_exodus_options opt;
        char *path = piece_path(d->config, r);
        exodus_options_of(d->config, &opt);
        opt.sidecar = 0;
        opt.level = TUTTI_VISIBLE;
        opt.name_length = exodus_name_length(&d->o);
        *p = (piece){.x = NULL};
        exodus_subset_make(&d->o, d->mesh, d->part, r, r == d->first, &p->subset);
        exodus_results_make(&d->o, &p->subset.mesh, &p->results);
        failed = cli_stage_begin(&alone, path, d->config->force, &p->staged);
        if (!failed)
            failed = exodus_file_make(MPI_COMM_SELF, p->staged.write_to, &opt, &d->o,
                                      &p->subset.mesh, &p->x);
        free(path);
    }
    failed = cli_agree(d->world, failed);
    for (tutti_count s = first; s <= last && !failed; s++) {
        double time = 0;
        if ((failed = cli_interrupted(d->world))) break;
        tutti_err err = tutti_exodus_times(d->from, s, 1, &time);
        if (err == TUTTI_OK && d->results.n > 0)
            err = tutti_exodus_get(d->from, s, d->results.n, d->results.field);
        if (err != TUTTI_OK) failed = cli_error_tutti();
        for (int i = 0; i < d->opens && !failed; i++)
            failed = write_piece_step(d, &d->open[i], time);
        failed = cli_agree(d->world, failed);
    }
    for (int i = 0; i < d->opens; i++) {
        piece *p = &d->open[i];
        if (p->x && tutti_exodus_close(&p->x) != TUTTI_OK) failed = cli_error_tutti();
        exodus_subset_free(&p->subset);
        exodus_results_free(&p->results);
    }
    failed = cli_agree(d->world, failed);
    int ended = failed;
    for (int i = 0; i < d->opens; i++) {
        if (d->open[i].staged.path ? cli_stage_end(&alone, &d->open[i].staged, failed) : failed)
            ended = 1;
    }
    return failed ? failed : cli_agree(d->world, ended);
}

static int pieces_write(division *d) {
    const int most = (d->config->parts + d->world->ranks - 1) / d->world->ranks;
    tutti_count first = 1, last = 0;
    int failed = exodus_steps_chosen(d->config, tutti_exodus_steps(d->from), &first, &last);
    d->open = cli_malloc((size_t)(most < OPEN_AT_ONCE ? most : OPEN_AT_ONCE) * sizeof *d->open);
    exodus_results_make(&d->o, d->mesh, &d->results);
    for (int at = 0; at < most && !failed; at += OPEN_AT_ONCE) {
        int from = d->first + at, to = from + OPEN_AT_ONCE;
        if (from > d->end) from = d->end;
        if (to > d->end) to = d->end;
        failed = batch_write(d, from, to, first, last);
    }
    return failed;
}

/* ---- split */

static int split_file(const cli_world *w, const data_config *config) {
    division d = {.world = w, .config = config};
    exodus_parts p = {.n = 0};
    if (tutti_exodus_open(w->comm, config->path[0], TUTTI_READ, NULL, &d.from) != TUTTI_OK)
        return cli_error_open(config->path[0], "Exodus file");
    d.first = first_of(&d, w->rank);
    d.end = first_of(&d, w->rank + 1);
    int failed = exodus_outline_read(d.from, &d.o) ||
                 exodus_parts_find(w, config, d.from, &d.o, &p) || assign_ranks(&d, &p) ||
                 parts_know(&d, &p);
    if (!failed) {
        failed = cli_agree(w, exodus_unique_make(&d.o, d.mesh, config->name, &d.unique));
        d.mesh = &d.unique.mesh;
    }
    const tutti_count maps[4] = {d.o.of[TUTTI_EXODUS_NODE_MAP].n,
                                 d.o.of[TUTTI_EXODUS_ELEMENT_MAP].n,
                                 d.o.of[TUTTI_EXODUS_EDGE_MAP].n, d.o.of[TUTTI_EXODUS_FACE_MAP].n};
    if (!failed) {
        int left = d.o.p.has_order;
        for (int i = 0; i < 4; i++) {
            left |= maps[i] > 0;
            d.o.of[TUTTI_EXODUS_NODE_MAP + i].n = 0;
        }
        d.o.p.has_order = 0;
        d.o.with_id_maps = 1; /* so that join knows the ids of a piece */
        if (left && w->rank == 0)
            fprintf(stderr, "tutti exodus split: additional maps are omitted\n");
        failed = pieces_write(&d);
        for (int i = 0; i < 4; i++) d.o.of[TUTTI_EXODUS_NODE_MAP + i].n = maps[i];
    }
    if (!failed) {
        char *path = piece_path(d.config, 0);
        if (d.world->rank == 0 && d.config->json) {
            cli_json_pair(stdout, "{", "first", path);
            printf(", \"pieces\": %d}\n", d.config->parts);
        } else if (d.world->rank == 0) {
            printf("%s: the first of %d pieces\n", path, d.config->parts);
        }
        free(path);
    }
    free(p.part);
    free(d.part);
    free(d.open);
    exodus_results_free(&d.results);
    exodus_unique_free(&d.unique);
    exodus_outline_free(&d.o);
    (void)tutti_exodus_close(&d.from);
    return failed;
}

/* Only as many ranks as there are pieces are used; other ranks are idle. */
int exodus_split(const cli_world *w, const data_config *config) {
    cli_world some;
    cli_world_first(w, config->parts < w->ranks ? config->parts : w->ranks, &some);
    const int failed = cli_agree(w, some.comm != MPI_COMM_NULL && split_file(&some, config));
    cli_world_free(&some);
    return failed;
}
