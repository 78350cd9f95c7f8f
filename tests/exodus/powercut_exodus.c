/* powercut_exodus write DIRECTORY durable|visible   creates DIRECTORY/run.e, makes every change that a writer can
 * make (a mesh, steps, further files of the series, a new topology, removed steps), and reports
 * the state after each change to powercut_record.so.
 *
 * powercut_exodus replay LOG DIRECTORY EVERY SEED all|each|none   replays the log with power cuts
 * (powercut_disk.h).  After each cut the files can be opened, are in the state before or after the cut, have
 * all values and checksums, and a step can be appended.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "powercut_disk.h"

#include <dlfcn.h>
#include <tutti/exodus.h>
#include <tutti/tutti.h>

enum { NODES = 600 };

/* States are texts: the numbers of steps of the files, without empty files at the end.  Prefix "shifted ":
 * coordinates are increased by 0.5.  NONE: the file has no mesh.  "?": any state. */
static const char *const NONE = "none";

static tutti_exodus_options opt;
static char path[700];

static double value(double time, int variable, int64_t id) {
    return 100000.0 * time + 10000.0 * variable + (double)id;
}

/* ---- a step */

/* The values of this rank in a step: a nodal variable and an element variable. */
typedef struct {
    double u[NODES], e[NODES];
} values;

static void fields_of(values *v, tutti_exodus_field out[2]) {
    out[0] = (tutti_exodus_field){
        .kind = TUTTI_EXODUS_NODAL, .variable = "u", .type = TUTTI_FLOAT64, .buf = v->u};
    out[1] = (tutti_exodus_field){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                  .id = 1,
                                  .variable = "e",
                                  .type = TUTTI_FLOAT64,
                                  .buf = v->e};
}

static tutti_err step_put(tutti_exodus *x, const tutti_exodus_mesh *mesh, double time) {
    static values v;
    tutti_exodus_field fields[2];
    fields_of(&v, fields);
    for (tutti_count i = 0; i < mesh->nodes; i++) v.u[i] = value(time, 1, mesh->node_ids[i]);
    for (tutti_count i = 0; i < mesh->blocks[0].n; i++)
        v.e[i] = value(time, 2, mesh->blocks[0].ids[i]);
    tutti_err err = tutti_exodus_begin(x, time);
    if (!err) err = tutti_exodus_put(x, 2, fields);
    return err ? err : tutti_exodus_commit(x);
}

static tutti_err mesh_get(tutti_exodus *x, const tutti_exodus_mesh **out) {
    return tutti_exodus_get_mesh(
        x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_ORDER}, out);
}

/* ---- write */

static tutti_exodus *file;
static const tutti_exodus_mesh *mesh;
static void (*mark)(const char *);
static int rank, ranks;
static int64_t mesh_ids[NODES], element_ids[NODES];
static double coordinates[NODES];
static tutti_count connectivity[2 * NODES];
static tutti_exodus_elements block;
static tutti_exodus_mesh own;

static void check_expected(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "rank %d, %s: %s\n", rank, what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Record that readers must find `state` from now on. */
static void report_result(const char *state) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && mark) mark(state);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void make_step(double time, const char *state) {
    check_expected(step_put(file, mesh, time), "step");
    report_result(state);
}

/* Write a mesh of bars between consecutive nodes; the last node of a rank is the first node of the next. */
static void mesh_put(int nodes) {
    const int lo = (nodes - 1) * rank / ranks, n = (nodes - 1) * (rank + 1) / ranks - lo + 1;
    for (int i = 0; i < n; i++) {
        mesh_ids[i] = 1 + lo + i;
        coordinates[i] = lo + i;
        element_ids[i] = 1 + lo + i;
        connectivity[2 * i] = i;
        connectivity[2 * i + 1] = i + 1;
    }
    const tutti_exodus_entity bars = {
        .kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "BAR2"};
    block = (tutti_exodus_elements){.n = n - 1, .ids = element_ids, .nodes = connectivity};
    own = (tutti_exodus_mesh){
        .nodes = n, .node_ids = mesh_ids, .coordinates = {coordinates}, .blocks = &block};
    mesh = &own;
    check_expected(tutti_exodus_init(file, &(tutti_exodus_parameters){.title = "cut", .dims = 1}),
                   "init");
    check_expected(tutti_exodus_define(file, 1, &bars), "define");
    check_expected(tutti_exodus_put_mesh(file, &own), "put_mesh");
}

/* Overwrite the coordinates with values increased by `shift`. */
static void coordinates_put(double shift) {
    double at[NODES];
    const int lo = NODES * rank / ranks, n = NODES * (rank + 1) / ranks - lo;
    for (int i = 0; i < n; i++) at[i] = lo + i + shift;
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                  .kind = TUTTI_EXODUS_NODAL,
                                  .first = lo,
                                  .n = n,
                                  .type = TUTTI_FLOAT64,
                                  .buf = at};
    check_expected(tutti_exodus_put_arrays(file, 1, &a), "put_arrays");
}

static void file_create(void) {
    check_expected(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &file), "create");
    check_expected(tutti_exodus_variables(file, TUTTI_EXODUS_NODAL, 1, (const char *[]){"u"}),
                   "variables");
    check_expected(
        tutti_exodus_variables(file, TUTTI_EXODUS_ELEMENT_BLOCK, 1, (const char *[]){"e"}),
        "variables");
}

static void write_everything(void) {
    report_result(NONE);
    opt.steps_per_file = 3;
    file_create();
    mesh_put(NODES);
    report_result("0 ");
    report_result("?"); /* while a part of the mesh is overwritten, any state is allowed */
    coordinates_put(0.5);
    check_expected(tutti_exodus_close(&file), "close");
    report_result("shifted 0 ");
    report_result("?");
    check_expected(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &file),
                   "open");
    coordinates_put(0);
    check_expected(mesh_get(file, &mesh), "get_mesh");
    make_step(1, "1 ");
    make_step(2, "2 ");
    check_expected(tutti_exodus_begin(file, 3), "begin");
    check_expected(tutti_exodus_discard(file), "discard");
    check_expected(tutti_exodus_erase_after(file, 1), "erase_after");
    report_result("1 ");
    make_step(2.5, "2 ");
    make_step(3, "3 ");
    check_expected(tutti_exodus_close(&file), "close");
    opt.overwrite = 1; /* replaces the whole series */
    report_result("?");
    file_create();
    mesh_put(NODES);
    make_step(1, "1 ");
    make_step(2, "2 ");
    make_step(3, "3 ");
    make_step(4, "3 1 ");
    make_step(5, "3 2 ");
    check_expected(tutti_exodus_new_topology(file), "new_topology");
    mesh_put(NODES / 2);
    make_step(6, "3 2 1 ");
    make_step(7, "3 2 2 ");
    check_expected(tutti_exodus_close(&file), "close");
}

/* ---- replay */

static char why[700];

static const char *set_error(const char *what) {
    snprintf(why, sizeof why, "%s: %.600s", what, tutti_last_message());
    return why;
}

static const char *values_check(tutti_exodus *x, double shift) {
    static values v;
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus_field fields[2];
    fields_of(&v, fields);
    if (tutti_exodus_warning(x)[0]) return set_error(tutti_exodus_warning(x));
    if (tutti_exodus_verify(x, NULL)) return set_error("verify");
    if (mesh_get(x, &m)) return set_error("get_mesh");
    const double *at = m->coordinates[0];
    for (tutti_count i = 0; i < m->nodes; i++)
        if (at[i] != (double)(m->node_ids[i] - 1) + shift) return set_error("a coordinate");
    for (tutti_count s = 1; s <= tutti_exodus_steps(x); s++) {
        double time = 0;
        if (tutti_exodus_times(x, s, 1, &time)) return set_error("times");
        if (tutti_exodus_get(x, s, 2, fields)) return set_error("get");
        for (tutti_count i = 0; i < m->nodes; i++)
            if (v.u[i] != value(time, 1, m->node_ids[i])) return set_error("a nodal value");
        for (tutti_count i = 0; i < m->blocks[0].n; i++)
            if (v.e[i] != value(time, 2, m->blocks[0].ids[i])) return set_error("an element value");
    }
    return NULL;
}

/* Check all files of the series in order; store the state as text, and the path of the last file in `last`. */
static const char *files_check(tutti_exodus *x, double shift, char *state, size_t size,
                               char *last) {
    const char *wrong = NULL;
    size_t n = 0, end = 0;
    tutti_err err = TUTTI_OK;
    for (; err == TUTTI_OK; err = tutti_exodus_next_file(x)) {
        wrong = values_check(x, shift);
        if (wrong) return wrong;
        const long long steps = (long long)tutti_exodus_steps(x);
        n += (size_t)snprintf(state + n, size - n, "%lld ", steps);
        if (steps > 0 || end == 0) end = n;
        snprintf(last, 800, "%s", tutti_exodus_path(x));
    }
    state[end] = 0;
    return err == TUTTI_ERR_NOT_FOUND ? NULL : set_error("next_file");
}

static const char *append_step(const char *last, double shift) {
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus *x = NULL;
    const char *wrong = NULL;
    if (tutti_exodus_open(MPI_COMM_WORLD, last, TUTTI_READ | TUTTI_WRITE, &opt, &x))
        return set_error("open to append");
    if (mesh_get(x, &m) || step_put(x, m, 1000)) wrong = set_error("append");
    if (!wrong) wrong = values_check(x, shift);
    if (tutti_exodus_close(&x) && !wrong) wrong = set_error("close after append");
    return wrong;
}

static const char *look(const char *where, const char *was, const char *will) {
    char state[200] = "", last[800];
    tutti_exodus *x = NULL;
    snprintf(path, sizeof path, "%s/run.e", where);
    if (strcmp(was, "?") == 0) return NULL;
    if (tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &x))
        return strcmp(was, NONE) == 0 ? NULL : set_error("open");
    const double shift = strncmp(was, "shifted ", 8) == 0 ? 0.5 : 0;
    if (shift > 0) was += 8;
    const char *wrong = files_check(x, shift, state, sizeof state, last);
    if (tutti_exodus_close(&x) && !wrong) wrong = set_error("close");
    if (wrong) return wrong;
    if (strcmp(state, was) != 0 && strcmp(state, will) != 0 && strcmp(will, "?") != 0) {
        snprintf(why, sizeof why, "the state is '%s', not '%s' or '%s'", state, was, will);
        return why;
    }
    return append_step(last, shift);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    tutti_exodus_options_init(&opt);
    if (strcmp(argv[1], "replay") == 0) {
        opt.level = TUTTI_VISIBLE;
        code = powercut_replay(argv + 2, NONE, look);
    } else {
        mark = (void (*)(const char *))dlsym(RTLD_DEFAULT, "powercut_mark");
        opt.level = strcmp(argv[3], "durable") == 0 ? TUTTI_DURABLE : TUTTI_VISIBLE;
        snprintf(path, sizeof path, "%s/run.e", argv[2]);
        write_everything();
    }
    fflush(NULL);
    MPI_Finalize();
    return code;
}
