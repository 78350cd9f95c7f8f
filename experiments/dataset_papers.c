/* tutti-experiments dataset: the tables of Sandia's report on PDS/PIO.
 *
 *   buffers   Table 1: one large variable by blocks, through one aggregator (the I/O server of the paper) and
 *             through one aggregator per rank; the buffer is cb_buffer_size
 *   meshes    Table 2: the meshes of GILA, Table 3: that of ALEGRA: nodal and element variables, several
 *             steps, each with its own commit.  Nodes and elements are distributed in short runs; where runs
 *             of nodes meet, both ranks have the node.
 *
 * All tables use the method of the paper, which collects data before writing: method=two-phase.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <stdlib.h>

enum { WRITE, READ }; /* indices of the samples */

/* ---- Table 1 */

static const int buffer_table[] = {1, 2, 4, 8, 12, 16, 28}; /* buffer sizes in MB */
enum { BUFFERS = sizeof buffer_table / sizeof *buffer_table };

typedef struct {
    char settings[120];
    int megabytes, many;
} buffer_variant;

typedef struct {
    field f;
    const char *path;
} buffer_stage;

static void settings_make(const experiment *x, int megabytes, int many, char *out, size_t size) {
    snprintf(out, size, "method=two-phase cb_nodes=%d cb_buffer_size=%d", many ? x->all->ranks : 1,
             megabytes * 1000000);
}

static tutti_err buffer_step(const buffer_stage *s, tutti_dataset *d, tutti_decomposition *local,
                             int64_t step, double *out) {
    const double start = comparison_start(s->f.w);
    tutti_err err = tutti_dataset_begin(d, TUTTI_STATE, step, 0);
    if (err == TUTTI_OK)
        err = tutti_dataset_put(d, 1, &(tutti_put){"v", local, TUTTI_FLOAT64, s->f.put});
    if (err == TUTTI_OK) err = tutti_dataset_commit(d);
    *out = cli_elapsed(s->f.w, start, cli_now());
    return err;
}

static int run_buffer(comparison *r, measure_variant *of, double *seconds_out) {
    const buffer_stage *s = r->data;
    const buffer_variant *b = of->what;
    const dataset_settings variant = {.settings = b->settings, .level = TUTTI_VISIBLE};
    const tutti_count lo = s->f.each * s->f.w->rank;
    const tutti_decomposition_spec block = {
        .kind = TUTTI_BY_SLICE, .slice = {.lo = {lo}, .hi = {lo + s->f.each}}, .whole = 1};
    tutti_dataset *d = NULL;
    tutti_decomposition *local = NULL;
    double first = 0;
    tutti_err err = datasets_open(r->x, s->path, &variant, &d);
    if (err == TUTTI_OK) err = tutti_dataset_grid(d, "space", 1, &s->f.entries);
    if (err == TUTTI_OK)
        err = tutti_dataset_variable(
            d, "v", &(tutti_variable_spec){.space = "space", .type = TUTTI_FLOAT64});
    if (err == TUTTI_OK) err = tutti_decomposition_create(d, "space", &block, &local);
    if (err == TUTTI_OK) err = buffer_step(s, d, local, 0, &first);
    if (err == TUTTI_OK) err = buffer_step(s, d, local, 1, &seconds_out[WRITE]);
    if (err == TUTTI_OK && r->x->results.config->read) {
        const double start = comparison_start(s->f.w);
        err = tutti_dataset_get(d, tutti_dataset_segments(d) - 1, 1,
                                &(tutti_get){"v", local, TUTTI_FLOAT64, s->f.got});
        seconds_out[READ] = cli_elapsed(s->f.w, start, cli_now());
    }
    const int failed = err == TUTTI_OK ? 0 : cli_error_tutti();
    tutti_decomposition_free(&local);
    if (d && tutti_dataset_close(&d) != TUTTI_OK) d = NULL;
    datasets_remove(r->x, s->path);
    return failed;
}

int datasets_buffers(experiment *x, const char *dir) {
    const bench_config *c = x->results.config;
    buffer_stage s = {.path = datasets_path(x, dir)};
    buffer_variant variant[2 * BUFFERS];
    comparison r = {.x = x, .m.title = "buffers", .run = run_buffer, .data = &s};
    if (field_make(&s.f, x->all, c, 1)) {
        field_free(&s.f);
        return 1;
    }
    for (int i = 0; i < 2 * BUFFERS; i++) {
        char name[64];
        variant[i] = (buffer_variant){.megabytes = buffer_table[i / 2], .many = i % 2};
        settings_make(x, variant[i].megabytes, variant[i].many, variant[i].settings,
                      sizeof variant[i].settings);
        snprintf(name, sizeof name, "%d MB, %s", variant[i].megabytes,
                 variant[i].many ? "many" : "one");
        measure_variant *of = measure_add(&r.m, name, &variant[i]);
        snprintf(of->more, sizeof of->more, ", \"megabytes\": %d, \"many\": %d",
                 variant[i].megabytes, variant[i].many);
    }
    comparison_run(&r);
    char more[64];
    snprintf(more, sizeof more, ", \"bytes\": %.0f", (double)s.f.entries * sizeof(double));
    comparison_report(&r, dir, more);
    measure_free(&r.m);
    field_free(&s.f);
    return 0;
}

/* ---- Tables 2 and 3 */

static const struct {
    const char *name;
    tutti_count elements, nodes;
    int megabytes;
} mesh_table[] = {{"GILA 2-D, 1760 / 1852", 1760, 1852, 1},
                  {"GILA 2-D, 31320 / 31791", 31320, 31791, 1},
                  {"GILA 3-D, 44250 / 49584", 44250, 49584, 1},
                  {"ALEGRA 3-D, 7599 / 9138, 1 MB", 7599, 9138, 1},
                  {"ALEGRA 3-D, 7599 / 9138, 2 MB", 7599, 9138, 2},
                  {"ALEGRA 3-D, 7599 / 9138, 4 MB", 7599, 9138, 4}};
enum { MESHES = sizeof mesh_table / sizeof *mesh_table, RUN = 16, EACH = 6 };

static int steps_of(const experiment *x) {
    return x->results.config->quick ? 2 : 10;
}

typedef struct {
    char settings[120];
    int row, many, level;
} mesh_variant;

/* Determine the entries of this rank in a list: runs distributed cyclically; with `shared`, also the first
 * entry of the next run. */
static tutti_count assign_runs(const cli_world *w, tutti_count entries, int shared, int64_t *ids) {
    tutti_count n = 0;
    for (tutti_count i = 0; i < entries; i++) {
        const int local = (int)(i / RUN % w->ranks) == w->rank;
        const int before = i > 0 && (int)((i - 1) / RUN % w->ranks) == w->rank;
        if (local || (shared && before)) ids[n++] = i;
    }
    return n;
}

typedef struct {
    tutti_dataset *d;
    tutti_decomposition *on[2]; /* decompositions of nodes and of elements */
    double *buf;
} mesh_state;

static const char *const space_names[] = {"nodes", "elements"};

static tutti_err mesh_describe(const mesh_variant *m, const cli_world *w, mesh_state *k) {
    const tutti_count entries[] = {mesh_table[m->row].nodes, mesh_table[m->row].elements};
    tutti_err err = TUTTI_OK;
    for (int i = 0; i < 2 && err == TUTTI_OK; i++) {
        err = tutti_dataset_list(k->d, space_names[i]);
        for (int v = 0; v < EACH && err == TUTTI_OK; v++) {
            char name[24];
            snprintf(name, sizeof name, "%s%d", space_names[i], v);
            err = tutti_dataset_variable(
                k->d, name, &(tutti_variable_spec){.space = space_names[i], .type = TUTTI_FLOAT64});
        }
    }
    if (err == TUTTI_OK) err = tutti_dataset_begin(k->d, TUTTI_TOPOLOGY, 0, 0);
    for (int i = 0; i < 2 && err == TUTTI_OK; i++)
        err = tutti_dataset_resize(k->d, space_names[i], 1, &entries[i]);
    if (err == TUTTI_OK) err = tutti_dataset_commit(k->d);
    for (int i = 0; i < 2 && err == TUTTI_OK; i++) {
        int64_t *ids = cli_malloc((size_t)(entries[i] + 1) * sizeof *ids);
        const tutti_count n = assign_runs(w, entries[i], i == 0, ids);
        err = tutti_decomposition_create(
            k->d, space_names[i],
            &(tutti_decomposition_spec){.kind = TUTTI_BY_VALUE, .n = n, .ids = ids, .whole = 1},
            &k->on[i]);
        free(ids);
    }
    return err;
}

typedef char mesh_name[24];

static const char *mesh_name_make(mesh_name name, int v) {
    snprintf(name, sizeof(mesh_name), "%s%d", space_names[v / EACH], v % EACH);
    return name;
}

static tutti_err mesh_get(const mesh_state *k, int step) {
    tutti_get gets[2 * EACH];
    mesh_name name[2 * EACH];
    for (int v = 0; v < 2 * EACH; v++)
        gets[v] = (tutti_get){mesh_name_make(name[v], v), k->on[v / EACH], TUTTI_FLOAT64, k->buf};
    return tutti_dataset_get(k->d, 1 + step, 2 * EACH, gets); /* segment 0 is the topology */
}

static int run_mesh(comparison *r, measure_variant *of, double *seconds_out) {
    const mesh_variant *m = of->what;
    const char *path = r->data;
    const cli_world *w = r->x->all;
    const dataset_settings variant = {.settings = m->settings, .level = m->level};
    mesh_state k = {.buf = cli_malloc((size_t)mesh_table[m->row].nodes * sizeof(double))};
    for (tutti_count i = 0; i < mesh_table[m->row].nodes; i++) k.buf[i] = (double)i;
    tutti_err err = datasets_open(r->x, path, &variant, &k.d);
    if (err == TUTTI_OK) err = mesh_describe(m, w, &k);
    const int steps = steps_of(r->x), reads = r->x->results.config->read ? steps : 0;
    double start = comparison_start(w);
    for (int step = 0; step < steps && err == TUTTI_OK; step++) {
        tutti_put puts[2 * EACH];
        mesh_name name[2 * EACH];
        for (int v = 0; v < 2 * EACH; v++)
            puts[v] = (tutti_put){mesh_name_make(name[v], v), k.on[v / EACH], TUTTI_FLOAT64, k.buf};
        err = tutti_dataset_begin(k.d, TUTTI_STATE, step, step);
        if (err == TUTTI_OK) err = tutti_dataset_put(k.d, 2 * EACH, puts);
        if (err == TUTTI_OK) err = tutti_dataset_commit(k.d);
    }
    seconds_out[WRITE] = cli_elapsed(w, start, cli_now()) / steps;
    start = comparison_start(w);
    for (int step = 0; step < reads && err == TUTTI_OK; step++) err = mesh_get(&k, step);
    seconds_out[READ] = cli_elapsed(w, start, cli_now()) / steps;
    int failed = err == TUTTI_OK ? 0 : cli_error_tutti();
    if (!failed && tutti_dataset_verify(k.d, NULL) != TUTTI_OK) failed = cli_error_tutti();
    for (int i = 0; i < 2; i++) tutti_decomposition_free(&k.on[i]);
    if (k.d && tutti_dataset_close(&k.d) != TUTTI_OK) k.d = NULL;
    datasets_remove(r->x, path);
    free(k.buf);
    return failed;
}

int datasets_meshes(experiment *x, const char *dir) {
    const char *path = datasets_path(x, dir);
    mesh_variant variant[4 * MESHES];
    comparison r = {.x = x, .m.title = "meshes", .run = run_mesh, .data = path};
    for (int i = 0; i < 4 * MESHES; i++) {
        char name[64];
        variant[i] = (mesh_variant){
            .row = i / 4, .many = i % 2, .level = i % 4 < 2 ? TUTTI_VISIBLE : TUTTI_DURABLE};
        settings_make(x, mesh_table[i / 4].megabytes, variant[i].many, variant[i].settings,
                      sizeof variant[i].settings);
        snprintf(name, sizeof name, "%s, %d", mesh_table[i / 4].name, i % 4);
        measure_variant *of = measure_add(&r.m, name, &variant[i]);
        const double entries = (double)(mesh_table[i / 4].nodes + mesh_table[i / 4].elements);
        snprintf(of->more, sizeof of->more,
                 ", \"mesh\": \"%s\", \"bytes\": %.0f, \"many\": %d, \"level\": \"%s\"",
                 mesh_table[i / 4].name, 8.0 * EACH * entries, variant[i].many,
                 variant[i].level == TUTTI_DURABLE ? "durable" : "visible");
    }
    comparison_run(&r);
    char more[64];
    snprintf(more, sizeof more, ", \"steps\": %d", steps_of(x));
    comparison_report(&r, dir, more);
    measure_free(&r.m);
    return 0;
}
