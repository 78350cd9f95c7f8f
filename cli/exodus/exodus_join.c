/* tutti exodus join: join the files of many processes, NAME.e.N.R.  Each rank opens a share of the pieces and
 * joins them by ids; then all ranks write the result.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces */

static int pieces_open(exodus_whole *w, char **paths, int n) {
    const int first = (int)((int64_t)n * w->world->rank / w->world->ranks);
    const int end = (int)((int64_t)n * (w->world->rank + 1) / w->world->ranks);
    int failed = 0;
    w->piece = cli_malloc((size_t)(end - first) * sizeof *w->piece);
    for (int i = first; i < end && !failed; i++) {
        w->piece[w->pieces] = (exodus_piece){.path = paths[i], .position = i};
        exodus_piece *q = &w->piece[w->pieces++];
        tutti_exodus_options opt;
        tutti_exodus_options_init(&opt);
        opt.sidecar = 0;
        failed = ((tutti_exodus_open(MPI_COMM_SELF, q->path, TUTTI_READ, &opt, &q->x) != TUTTI_OK ||
                   tutti_exodus_get_mesh(
                       q->x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_ORDER},
                       &q->mesh) != TUTTI_OK) &&
                  cli_error_tutti()) ||
                 exodus_outline_read(q->x, &q->o);
    }
    return cli_agree(w->world, failed);
}

/* ---- results */

/* Results of this rank and of its pieces; `index` is the number of this rank's field for each kind, entity
 * and variable. */
typedef struct {
    exodus_results all; /* results of this rank */
    exodus_results *of; /* [pieces] results of the pieces */
    tutti_count **to;   /* [pieces][fields] number of this rank's field */
    /* [entities * variables] number of the field in `all` */
    tutti_count *index[TUTTI_EXODUS_KINDS];
    int differ; /* whether pieces have different values of global variables */
} results;

static tutti_count target_of(exodus_whole *w, const results *r, int p, tutti_count i) {
    const exodus_results *f = &r->of[p];
    const int kind = f->field[i].kind;
    if (kind == TUTTI_EXODUS_GLOBAL) return r->index[kind][0];
    const int v = exodus_find_variable(&w->o, (tutti_exodus_kind)kind, f->field[i].variable);
    return r->index[kind][w->piece[p].number[kind][f->entry[i]] * w->o.of[kind].variables + v];
}

static int read_piece_step(const exodus_whole *w, results *r, int p, tutti_count step) {
    const exodus_results *f = &r->of[p];
    if (f->n > 0 && tutti_exodus_get(w->piece[p].x, step, f->n, f->field) != TUTTI_OK)
        return cli_error_tutti();
    for (tutti_count i = 0; i < f->n; i++) {
        const int kind = f->field[i].kind;
        if (kind == TUTTI_EXODUS_GLOBAL) {
            /* Global variables are those of the first piece; other pieces should have the same values. */
            const exodus_outline *o = &w->piece[p].o;
            const double *from = r->of[p].field[i].buf;
            double *to = r->all.field[r->to[p][i]].buf;
            for (int v = 0; v < o->of[TUTTI_EXODUS_GLOBAL].variables; v++) {
                int u = 0;
                while (strcmp(w->o.of[TUTTI_EXODUS_GLOBAL].variable[u],
                              o->of[TUTTI_EXODUS_GLOBAL].variable[v]) != 0)
                    u++;
                if (p > 0 && to[u] != from[v] && !(isnan(to[u]) && isnan(from[v]))) r->differ = 1;
                if (p == 0) to[u] = from[v];
            }
            continue;
        }
        const tutti_count *place = w->piece[p].place[kind][f->entry[i]];
        const double *from = f->field[i].buf;
        double *to = r->all.field[r->to[p][i]].buf;
        for (tutti_count k = 0; k < f->count[i]; k++) to[place[k]] = from[k];
    }
    return 0;
}

/* Compare the global variables of each rank's first piece with those of rank 0. */
static void globals_check(const exodus_whole *w, results *r) {
    const int n = w->o.of[TUTTI_EXODUS_GLOBAL].variables;
    if (n == 0) return;
    const double *local = r->all.field[r->index[TUTTI_EXODUS_GLOBAL][0]].buf;
    double *first = cli_malloc((size_t)n * sizeof *first);
    memcpy(first, local, (size_t)n * sizeof *first);
    MPI_Bcast(first, n, MPI_DOUBLE, 0, w->world->comm);
    for (int v = 0; v < n && w->pieces > 0; v++)
        r->differ |= first[v] != local[v] && !(isnan(first[v]) && isnan(local[v]));
    free(first);
}

static int steps_join(exodus_whole *w, tutti_exodus *to, tutti_count *count) {
    results r;
    tutti_count first = 1, last = 0;
    int failed = exodus_steps_chosen(w->config, w->steps, &first, &last);
    r = (results){.differ = 0};
    exodus_results_make(&w->o, &w->mesh, &r.all);
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        const exodus_table *t = &w->o.of[kind];
        r.index[kind] = cli_array(t->n + 1, t->variables, sizeof(tutti_count));
    }
    for (tutti_count i = 0; i < r.all.n; i++) {
        const int kind = r.all.field[i].kind, v = r.all.variable[i];
        r.index[kind]
               [kind == TUTTI_EXODUS_GLOBAL ? 0 : r.all.entry[i] * w->o.of[kind].variables + v] = i;
    }
    r.of = cli_malloc((size_t)w->pieces * sizeof *r.of);
    r.to = cli_malloc((size_t)w->pieces * sizeof *r.to);
    for (int p = 0; p < w->pieces; p++) {
        exodus_results_make(&w->piece[p].o, w->piece[p].mesh, &r.of[p]);
        r.to[p] = cli_malloc((size_t)r.of[p].n * sizeof *r.to[p]);
        for (tutti_count i = 0; i < r.of[p].n; i++) r.to[p][i] = target_of(w, &r, p, i);
    }
    for (tutti_count s = first; s <= last && !failed; s++) {
        failed = cli_interrupted(w->world);
        for (int p = 0; p < w->pieces && !failed; p++) failed = read_piece_step(w, &r, p, s);
        if ((failed = cli_agree(w->world, failed))) break;
        globals_check(w, &r);
        tutti_err err = tutti_exodus_begin(to, w->time[s - 1]);
        if (err == TUTTI_OK && r.all.n > 0) err = tutti_exodus_put(to, r.all.n, r.all.field);
        if (err == TUTTI_OK) err = tutti_exodus_commit(to);
        if (err != TUTTI_OK) failed = cli_error_tutti();
        ++*count;
    }
    if (cli_max(w->world, r.differ) > 0 && w->world->rank == 0)
        fprintf(stderr,
                "tutti exodus join: global variables differ: values of the first piece are used\n");
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) free(r.index[kind]);
    for (int p = 0; p < w->pieces; p++) {
        exodus_results_free(&r.of[p]);
        free(r.to[p]);
    }
    free(r.of);
    free(r.to);
    exodus_results_free(&r.all);
    return failed;
}

/* ---- join */

static int write_joined_file(exodus_whole *w, int pieces) {
    tutti_exodus_options opt;
    tutti_exodus_parameters p = {.nodes = 0};
    tutti_exodus *to = NULL;
    tutti_count steps = 0;
    cli_staged staged;
    exodus_options_of(w->config, &opt);
    opt.name_length = exodus_name_length(&w->o);
    for (int i = 0; i < pieces; i++) cli_input_add(w->paths[i]);
    if (cli_stage_begin(w->world, w->config->out, w->config->force, &staged)) return 1;
    int failed = exodus_file_make(w->world->comm, staged.write_to, &opt, &w->o, &w->mesh, &to);
    if (!failed) failed = steps_join(w, to, &steps);
    if (!failed && tutti_exodus_parameters_get(to, &p) != TUTTI_OK) failed = cli_error_tutti();
    if (to && tutti_exodus_close(&to) != TUTTI_OK && !failed) failed = cli_error_tutti();
    failed = cli_stage_end(w->world, &staged, failed);
    if (failed || w->world->rank != 0) return failed;
    if (w->config->json) {
        cli_json_pair(stdout, "{", "path", w->config->out);
        printf(", \"pieces\": %d, \"nodes\": %lld, \"elements\": %lld, \"steps\": %lld}\n", pieces,
               (long long)p.nodes, (long long)p.elements, (long long)steps);
    } else {
        printf("%s: %d pieces, %lld nodes, %lld elements, %lld steps\n", w->config->out, pieces,
               (long long)p.nodes, (long long)p.elements, (long long)steps);
    }
    return 0;
}

static int join_files(const cli_world *world, const data_config *config, char **paths, int n) {
    exodus_whole w = {.world = world, .config = config, .paths = paths};
    int failed = pieces_open(&w, paths, n) || exodus_join_agree(&w);
    /* Without id maps, nodes of different pieces would have the same ids. */
    if (!failed && n > 1 && !w.o.p.has_node_ids && w.o.p.dims > 0)
        failed = cli_error("no piece has an id map of its nodes (node_num_map): cannot determine "
                           "shared nodes");
    if (!failed) failed = exodus_join_check_ids(&w, n);
    if (!failed) {
        /* Without an id map, ids count from 1 in each piece. */
        for (int i = 0; i < w.pieces && n > 1; i++) {
            const tutti_exodus_parameters *p = &w.piece[i].o.p;
            if (p->nodes > 0 && !p->has_node_ids)
                fprintf(stderr,
                        "tutti exodus join: %s has no node_num_map: its node ids are 1, 2, 3 ...\n",
                        w.piece[i].path);
            if (p->elements > 0 && !p->has_element_ids)
                fprintf(
                    stderr,
                    "tutti exodus join: %s has no elem_num_map: its element ids are 1, 2, 3 ...\n",
                    w.piece[i].path);
        }
        int maps = 0;
        for (int i = 0; i < w.pieces; i++)
            for (int kind = TUTTI_EXODUS_NODE_MAP; kind <= TUTTI_EXODUS_FACE_MAP; kind++)
                maps |= w.piece[i].o.of[kind].n > 0;
        if (cli_max(w.world, maps) > 0 && w.world->rank == 0)
            fprintf(stderr, "tutti exodus join: additional maps are omitted\n");
        exodus_join_mesh(&w);
        failed = write_joined_file(&w, n);
    }
    for (int p = 0; p < w.pieces; p++) {
        exodus_piece *q = &w.piece[p];
        for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
            const tutti_count entities = kind == TUTTI_EXODUS_NODAL ? 1 : q->o.of[kind].n;
            for (tutti_count i = 0; q->place[kind] && i < entities; i++) free(q->place[kind][i]);
            free(q->place[kind]);
            free(q->number[kind]);
            free(q->entity[kind]);
        }
        exodus_outline_free(&q->o);
        if (q->x) (void)tutti_exodus_close(&q->x);
    }
    for (int i = 0; i < w.keeps; i++) free(w.kept[i]);
    free(w.kept);
    free(w.piece);
    free(w.time);
    exodus_outline_free(&w.o);
    return failed;
}

/* Only as many ranks as there are pieces are used; other ranks are idle. */
int exodus_join(const cli_world *w, const data_config *config) {
    cli_world some;
    char **paths = NULL;
    int n = 0;
    if (exodus_join_names(config, &paths, &n)) return CLI_FAILED;
    cli_world_first(w, n < w->ranks ? n : w->ranks, &some);
    const int failed =
        cli_agree(w, some.comm != MPI_COMM_NULL && join_files(&some, config, paths, n));
    cli_world_free(&some);
    for (int i = 0; i < n; i++) free(paths[i]);
    free(paths);
    return failed;
}
