/* tutti export --vtk of an Exodus file: write VTK's unstructured grids (.vtu), one per step, and a collection
 * with their times (.pvd).  Arrays are appended in binary, in the byte order of this machine.  With several
 * ranks each rank writes a piece of every step, and a small file (.pvtu) names the pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/vtk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLYGON = 7, POLYHEDRON = 42, MOST = 27 };

typedef struct {
    const cli_world *world;
    const data_config *config;
    tutti_exodus *x;
    exodus_outline o;
    const tutti_exodus_mesh *m;
    exodus_results results;
    vtk_grid grid;
    char *prefix;
    int files;
} export;

/* ---- cells */

static int topology_is(const tutti_exodus_entity *e, const char *topology) {
    return exodus_topology_is(e->topology, topology);
}

/* Return the nodes of the face with index `place` among all faces of the rank. */
static const tutti_count *face_of(const export *k, tutti_count place, tutti_count *n) {
    const exodus_table *t = &k->o.of[TUTTI_EXODUS_FACE_BLOCK];
    for (tutti_count b = 0; b < t->n; place -= k->m->face_blocks[b++].n) {
        const tutti_exodus_elements *f = &k->m->face_blocks[b];
        if (place >= f->n) continue;
        const tutti_count first = f->start ? f->start[place] : place * t->entity[b].nodes;
        *n = f->start ? f->start[place + 1] - first : t->entity[b].nodes;
        return f->nodes + first;
    }
    *n = 0;
    return NULL;
}

/* Return the VTK cell type of a block; -1 if it has no elements, -2 and a message if it is not
 * supported. */
static int vtk_type_of(const export *k, tutti_count b) {
    const tutti_exodus_entity *e = &k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].entity[b];
    int nodes, order[MOST];
    if (k->m->blocks[b].n == 0) return -1;
    const int type = topology_is(e, "nsided") ? POLYGON
                     : topology_is(e, "nfaced")
                         ? POLYHEDRON
                         : exodus_vtk_cell(e->topology, e->nodes, &nodes, order);
    if (type >= 0) return type;
    cli_error("element block %lld: VTK has no cell type for %s with %d nodes", (long long)e->id,
              e->topology, e->nodes);
    return -2;
}

static void element_add(const export *k, tutti_count number, tutti_count i, vtk_numbers *cell,
                        vtk_numbers *faces) {
    const tutti_exodus_entity *e = &k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].entity[number];
    const tutti_exodus_elements *b = &k->m->blocks[number];
    int nodes = 0, order[MOST];
    if (topology_is(e, "nfaced")) {
        /* A polyhedron: its faces as a stream, and each of its nodes once. */
        const size_t begin = cell->n;
        vtk_number(faces, b->start[i + 1] - b->start[i]);
        for (tutti_count f = b->start[i]; f < b->start[i + 1]; f++) {
            tutti_count n = 0;
            const tutti_count *node = face_of(k, b->nodes[f], &n);
            vtk_number(faces, n);
            for (tutti_count j = 0; j < n; j++) {
                size_t at = begin;
                vtk_number(faces, node[j]);
                while (at < cell->n && cell->v[at] != node[j]) at++;
                if (at == cell->n) vtk_number(cell, node[j]);
            }
        }
    } else if (topology_is(e, "nsided")) {
        for (tutti_count j = b->start[i]; j < b->start[i + 1]; j++) vtk_number(cell, b->nodes[j]);
    } else {
        (void)exodus_vtk_cell(e->topology, e->nodes, &nodes, order);
        for (int j = 0; j < nodes; j++) vtk_number(cell, b->nodes[i * e->nodes + order[j]]);
    }
}

static int cells_make(export *k) {
    const exodus_table *t = &k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK];
    int *type = cli_malloc((size_t)t->n * sizeof *type), polyhedra = 0, failed = 0;
    for (tutti_count b = 0; b < t->n && !failed; b++) {
        type[b] = vtk_type_of(k, b);
        failed = type[b] == -2;
        k->grid.cells += k->m->blocks[b].n;
        polyhedra |= type[b] == POLYHEDRON;
    }
    if (!failed) {
        vtk_grid *g = &k->grid;
        vtk_numbers cell = {.n = 0}, faces = {.n = 0}, offset = {.n = 0}, face_offset = {.n = 0};
        unsigned char *types = vtk_add(g, "Cells", "types", "UInt8", 1, g->cells);
        int32_t *block = vtk_add(g, "CellData", "ObjectId", "Int32", 1, g->cells);
        int64_t *id = vtk_add(g, "CellData", "GlobalElementId", "Int64", 1, g->cells);
        for (tutti_count b = 0, c = 0; b < t->n; b++)
            for (tutti_count i = 0; i < k->m->blocks[b].n; i++, c++) {
                element_add(k, b, i, &cell, &faces);
                vtk_number(&offset, (int64_t)cell.n);
                vtk_number(&face_offset, type[b] == POLYHEDRON ? (int64_t)faces.n : -1);
                types[c] = (unsigned char)type[b];
                block[c] = (int32_t)t->entity[b].id;
                id[c] = k->m->blocks[b].ids ? k->m->blocks[b].ids[i] : c + 1;
            }
        vtk_add_numbers(g, "connectivity", &cell);
        vtk_add_numbers(g, "offsets", &offset);
        if (polyhedra) {
            vtk_add_numbers(g, "faces", &faces);
            vtk_add_numbers(g, "faceoffsets", &face_offset);
        }
        free(faces.v);
        free(face_offset.v);
    }
    free(type);
    return failed;
}

/* ---- results: missing values are NaN */

static void variables_add(export *k, int kind, const char *section, tutti_count n) {
    const exodus_table *t = &k->o.of[kind];
    for (int v = 0; v < t->variables; v++)
        if (data_wanted(k->config, t->variable[v])) {
            (void)vtk_add(&k->grid, section, t->variable[v], "Float64", 1, n);
            k->grid.array[k->grid.arrays - 1].variable = v;
        }
}

/* Return the values of a variable of an entity; NULL: the entity does not have the variable. */
static const double *result_of(const export *k, int kind, tutti_count number, int variable) {
    for (tutti_count i = 0; i < k->results.n; i++)
        if ((int)k->results.field[i].kind == kind && k->results.entry[i] == number &&
            k->results.variable[i] == variable)
            return k->results.field[i].buf;
    return NULL;
}

/* ---- files */

static void report_output(export *k, const char *path) {
    if (k->world->rank == 0) cli_output_print(path, k->config->json, k->files++);
}

/* Write a grid: one file, or with several ranks one file per rank and a file that names them.  *path_out must
 * be freed. */
static int write_vtu(export *k, const vtk_grid *g, const char *stem, char **path_out) {
    const int several = k->world->ranks > 1;
    char *path = cli_format(several ? "%s.pvtu" : "%s.vtu", stem);
    char *own_path = several ? cli_format("%s-p%d.vtu", stem, k->world->rank) : cli_strdup(path);
    int failed = vtk_write(g, own_path);
    if (!failed && several && k->world->rank == 0)
        failed = vtk_write_pieces(g, path, stem, k->world->ranks);
    failed = cli_agree(k->world, failed);
    if (!failed) report_output(k, path);
    free(own_path);
    *path_out = path;
    return failed;
}

static int write_vtk_step(export *k, tutti_count step, char **path_out) {
    *path_out = NULL;
    if (k->results.n > 0 &&
        tutti_exodus_get(k->x, step, k->results.n, k->results.field) != TUTTI_OK)
        return cli_error_tutti();
    for (int a = 0; a < k->grid.arrays; a++) {
        vtk_array *x = &k->grid.array[a];
        double *to = x->data;
        if (x->variable < 0) continue;
        if (strcmp(x->section, "PointData") == 0) {
            const double *from = result_of(k, TUTTI_EXODUS_NODAL, 0, x->variable);
            if (x->bytes > 0) memcpy(to, from, x->bytes);
            continue;
        }
        tutti_count c = 0;
        for (tutti_count b = 0; b < k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].n; b++) {
            const double *from = result_of(k, TUTTI_EXODUS_ELEMENT_BLOCK, b, x->variable);
            for (tutti_count i = 0; i < k->m->blocks[b].n; i++)
                to[c++] = from ? from[i] : (double)NAN;
        }
    }
    char *stem = cli_format("%s-%04lld", k->prefix, (long long)step);
    const int failed = write_vtu(k, &k->grid, stem, path_out);
    free(stem);
    return failed;
}

static int collection_write(export *k, FILE *f, tutti_count first, tutti_count last) {
    int failed = 0;
    if (f) vtk_head(f, "Collection");
    if (f) fputs("  <Collection>\n", f);
    for (tutti_count s = first; s <= last && !failed; s++) {
        double time = 0;
        char *path = NULL;
        if (tutti_exodus_times(k->x, s, 1, &time) != TUTTI_OK) return cli_error_tutti();
        failed = write_vtk_step(k, s, &path);
        if (f && path) {
            fprintf(f, "    <DataSet timestep=\"%.17g\" part=\"0\" file=\"", time);
            cli_xml_text(f, cli_base_name(path));
            fputs("\"/>\n", f);
        }
        free(path);
    }
    if (f) fputs("  </Collection>\n</VTKFile>\n", f);
    return failed;
}

static int write_vtk_steps(export *k) {
    tutti_count first = 1, last = 0;
    char *path = NULL;
    if (exodus_steps_chosen(k->config, tutti_exodus_steps(k->x), &first, &last)) return 1;
    if (last < first) { /* there are no steps: write the mesh only */
        const int failed = write_vtu(k, &k->grid, k->prefix, &path);
        free(path);
        return failed;
    }
    path = cli_format("%s.pvd", k->prefix);
    FILE *f = k->world->rank == 0 ? cli_output_open(path) : NULL;
    int failed = cli_agree(k->world, k->world->rank == 0 && !f);
    if (!failed) failed = collection_write(k, f, first, last);
    if (f) failed = cli_output_close(f, path, failed);
    failed = cli_agree(k->world, failed);
    if (!failed) report_output(k, path);
    free(path);
    return failed;
}

int exodus_export(const cli_world *w, const data_config *config) {
    export k = {.world = w, .config = config};
    const char *path = config->path[0];
    if (!config->vtk) return w->rank == 0 ? exodus_export_xdmf(config) : CLI_OK;
    const int n = (int)strlen(path) - (cli_ends_in(path, ".e") ? 2 : 0);
    if (tutti_exodus_open(w->comm, path, TUTTI_READ, NULL, &k.x) != TUTTI_OK)
        return cli_error_open(path, "Exodus file");
    k.prefix = config->out ? cli_strdup(config->out) : cli_format("%.*s", n, path);
    const int talks = w->rank == 0 && config->json;
    const tutti_exodus_distribution deal = {.partitioner = TUTTI_EXODUS_BY_ORDER};
    int failed = exodus_outline_read(k.x, &k.o) || exodus_variables_known(k.config, 1, &k.o);
    if (!failed) {
        failed = tutti_exodus_get_mesh(k.x, &deal, &k.m) != TUTTI_OK && cli_error_tutti();
        if (!failed) {
            vtk_points(&k.o, k.m, &k.grid);
            int64_t *id = vtk_add(&k.grid, "PointData", "GlobalNodeId", "Int64", 1, k.m->nodes);
            for (tutti_count i = 0; i < k.m->nodes; i++)
                id[i] = k.m->node_ids ? k.m->node_ids[i] : i + 1;
            failed = cli_agree(k.world, cells_make(&k));
            if (!failed) {
                exodus_results_make(&k.o, k.m, &k.results);
                variables_add(&k, TUTTI_EXODUS_NODAL, "PointData", k.m->nodes);
                variables_add(&k, TUTTI_EXODUS_ELEMENT_BLOCK, "CellData", k.grid.cells);
            }
        }
    }
    if (talks && !failed) printf("{\"files\": [");
    if (!failed) failed = write_vtk_steps(&k);
    if (!failed && config->sets) {
        vtk_grid g;
        char *stem = cli_format("%s-sets", k.prefix), *written = NULL;
        failed = vtk_sets(&k.o, k.m, &g);
        if (!failed) failed = write_vtu(&k, &g, stem, &written);
        vtk_free(&g);
        free(written);
        free(stem);
    }
    if (talks && !failed) printf("]}\n");
    vtk_free(&k.grid);
    free(k.prefix);
    exodus_results_free(&k.results);
    exodus_outline_free(&k.o);
    (void)tutti_exodus_close(&k.x);
    return failed;
}
