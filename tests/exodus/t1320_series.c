/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Series of files: series with the file names of IOSS, libMesh and earlier versions of Tutti are read and continued
 * with the same scheme of names; another mesh or a replaced file is not mistaken for the original; a second mesh
 * needs no second init.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "exodus/corpus.h"

#include <sys/stat.h>
#include <unistd.h>

static char dir[600];

static const char *path_of(const char *name) {
    static char path[4][1300];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", dir, name);
    return path[next];
}

/* Copy a file on rank 0; collective. */
static void copy_file(const char *from, const char *to) {
    int64_t n = 0;
    if (rank == 0) {
        unsigned char *v = file_bytes(from, &n);
        FILE *f = fopen(to, "wb");
        CHECK(v && f && fwrite(v, 1, (size_t)n, f) == (size_t)n, "cannot copy %s", from);
        if (f) fclose(f);
        free(v);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int file_exists(const char *path) {
    int there = access(path, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return there;
}

static tutti_exodus *open_file(const char *path, int mode, int steps_per_file) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.steps_per_file = steps_per_file;
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, mode, &opt, &x), TUTTI_OK);
    if (!x) exit(1);
    return x;
}

/* Node ids of the mesh, which is on rank 0 alone: two quadrilaterals, and another mesh with the same counts. */
static const int64_t ids[2][6] = {{2, 4, 6, 8, 10, 12}, {1, 3, 5, 7, 9, 11}};
static const double X[] = {0, 1, 2, 0, 1, 2}, Y[] = {0, 0, 0, 1, 1, 1};
static const tutti_count quads[] = {0, 1, 4, 3, 1, 2, 5, 4};

static tutti_err put_plate(tutti_exodus *x, int other) {
    static const int64_t element_ids[] = {5, 7};
    const tutti_exodus_elements some = {.n = 2, .ids = element_ids, .nodes = quads}, none = {0};
    const tutti_exodus_mesh local = {.nodes = rank == 0 ? 6 : 0,
                                     .node_ids = ids[other],
                                     .coordinates = {X, Y},
                                     .blocks = rank == 0 ? &some : &none};
    return tutti_exodus_put_mesh(x, &local);
}

static tutti_err put_step(tutti_exodus *x, double time) {
    double t[6];
    for (int i = 0; i < 6; i++) t[i] = 20 * time + i;
    const tutti_exodus_field field = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "temperature", .type = TUTTI_FLOAT64, .buf = t};
    TUTTI_TRY(tutti_exodus_begin(x, time));
    TUTTI_TRY(tutti_exodus_put(x, 1, &field));
    return tutti_exodus_commit(x);
}

/* Check that the nodes of this rank have the values that put_step and the writer of the golden
 * files write. */
static void check_step(tutti_exodus *x, tutti_count step, double time) {
    double t[6] = {0}, at = 0;
    const tutti_exodus_mesh *m = NULL;
    const tutti_exodus_field field = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "temperature", .type = TUTTI_FLOAT64, .buf = t};
    CHECK_SAME(tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){0}, &m), TUTTI_OK);
    CHECK_SAME(tutti_exodus_get(x, step, 1, &field), TUTTI_OK);
    CHECK_SAME(tutti_exodus_times(x, step, 1, &at), TUTTI_OK);
    CHECK(at == time, "time %g, not %g", at, time);
    for (tutti_count i = 0; m && i < m->nodes; i++) {
        const int64_t p = (m->node_ids[i] + 1) / 2 - 1;
        CHECK(t[i] == 20 * time + (double)p, "node %lld: %g", (long long)m->node_ids[i], t[i]);
    }
}

static tutti_exodus *create_plate(const char *path, int other, int steps_per_file) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    opt.overwrite = 1;
    opt.steps_per_file = steps_per_file;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), TUTTI_OK);
    if (!x) exit(1);
    CHECK_SAME(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "plate", .dims = 2}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_define(x, 1,
                                   &(tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                                          .id = 10,
                                                          .topology = "QUAD4"}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"temperature"}),
               TUTTI_OK);
    CHECK_SAME(put_plate(x, other), TUTTI_OK);
    return x;
}

/* ---- file names */

/* Read a series of the corpus from its first file to its last. */
static void follow_steps(const char *first, const char *const *rest) {
    tutti_exodus *x = open_file(path_of(first), TUTTI_READ, 0);
    check_where(first);
    for (; *rest; rest++) {
        tutti_exodus_parameters p;
        CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
        CHECK_OK(tutti_exodus_parameters_get(x, &p));
        CHECK(strcmp(p.title, *rest) == 0, "%s, not %s", p.title, *rest);
        CHECK(strcmp(tutti_exodus_path(x), path_of(*rest)) == 0, "%s", tutti_exodus_path(x));
    }
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* Files of commit 789ec43 are read, appended to and continued under their old names. */
static void continue_golden(void) {
    static const char *const names[] = {"plate.e", "plate.e-s.0002", "plate.e.tutti"};
    tutti_off bytes = 0;
    int32_t note[2] = {0};
    tutti_type type = TUTTI_BYTES;
    tutti_count n = 2;
    tutti_exodus_entity e;
    char from[700];
    check_where("golden");
    for (int i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s/tests/exodus/golden/%s", TUTTI_SOURCE_DIR, names[i]);
        copy_file(from, path_of(names[i]));
    }
    tutti_exodus *x = open_file(path_of("plate.e"), TUTTI_READ, 0);
    CHECK(tutti_exodus_warning(x)[0] == 0, "%s", tutti_exodus_warning(x));
    CHECK_EQ(tutti_exodus_steps(x), 2);
    check_step(x, 1, 0.5);
    check_step(x, 2, 1);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK(bytes > 0, "the sidecar has no checksums");
    CHECK_SAME(tutti_exodus_note_get(x, "solver", &type, &n, note), TUTTI_OK);
    CHECK(n == 2 && type == TUTTI_INT32 && note[0] == 7 && note[1] == 8, "note %d", note[0]);
    CHECK_OK(tutti_exodus_entity_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, &e));
    CHECK(strcmp(e.topology, "TRI3") == 0, "topology %s", e.topology);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    check_step(x, 1, 1.5);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);

    x = open_file(path_of("plate.e"), TUTTI_READ | TUTTI_WRITE, 2);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    /* write the last step of this file and the first step of the next file */
    for (int i = 0; i < 2; i++) {
        const tutti_exodus_mesh *m = NULL;
        CHECK_SAME(tutti_exodus_get_mesh(
                       x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_ON_ROOT}, &m),
                   TUTTI_OK);
        CHECK_SAME(put_step(x, 2 + 0.5 * i), TUTTI_OK);
    }
    CHECK(strcmp(tutti_exodus_path(x), path_of("plate.e-s.0003")) == 0, "%s", tutti_exodus_path(x));
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK(!file_exists(path_of("plate.e-s0003")), "two namings");

    /* append to the first file, whose sidecar has an old version */
    x = open_file(path_of("plate.e"), TUTTI_READ | TUTTI_WRITE, 0);
    const tutti_exodus_mesh *m = NULL;
    CHECK_SAME(tutti_exodus_get_mesh(
                   x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_ON_ROOT}, &m),
               TUTTI_OK);
    CHECK_SAME(put_step(x, 1.25), TUTTI_OK);
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    check_step(x, 3, 1.25);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    check_step(x, 2, 2);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    check_step(x, 1, 2.5);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* New series have file names like those of IOSS; overwriting the first file removes all further files of the series,
 * with any scheme of names. */
static void new_series(void) {
    check_where("new series");
    copy_file(path_of("plate.e"), path_of("new.e-s002"));
    copy_file(path_of("plate.e"), path_of("new.e-s.0002"));
    copy_file(path_of("plate.e"), path_of("new.e-s0002"));
    tutti_exodus *x = create_plate(path_of("new.e"), 0, 1);
    CHECK(!file_exists(path_of("new.e-s002")) && !file_exists(path_of("new.e-s.0002")),
          "not removed");
    for (int s = 1; s <= 3; s++) CHECK_SAME(put_step(x, s), TUTTI_OK);
    CHECK(strcmp(tutti_exodus_path(x), path_of("new.e-s0003")) == 0, "%s", tutti_exodus_path(x));
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    x = open_file(path_of("new.e"), TUTTI_READ, 0);
    for (int s = 1; s <= 3; s++) {
        check_step(x, 1, s);
        CHECK_SAME(tutti_exodus_next_file(x), s < 3 ? TUTTI_OK : TUTTI_ERR_NOT_FOUND);
    }
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);

    copy_file(path_of("new.e-s0002"), path_of("new.e-s002")); /* two files could be the next file */
    x = open_file(path_of("new.e"), TUTTI_READ, 0);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_ERR_STATE);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* ---- another mesh */

static tutti_decomposition *first_node(tutti_exodus *x) {
    static const int64_t id = 2;
    tutti_decomposition *p = NULL;
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_VALUE, .n = 1, .ids = &id};
    CHECK_SAME(tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, 0, &spec, &p), TUTTI_OK);
    return p;
}

/* Two files with equal headers but different nodes do not have the same mesh. */
static void other_mesh_follows(void) {
    double t = 0;
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus_field field = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "temperature", .type = TUTTI_FLOAT64, .buf = &t};
    check_where("another mesh follows");
    tutti_exodus *x = create_plate(path_of("two.e"), 0, 0);
    CHECK_SAME(put_step(x, 1), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    x = create_plate(path_of("other.e"), 1, 0);
    CHECK_SAME(put_step(x, 2), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    copy_file(path_of("other.e"), path_of("two.e-s0002"));
    x = open_file(path_of("two.e"), TUTTI_READ, 0);
    field.entries = first_node(x);
    CHECK_SAME(tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){0}, &m), TUTTI_OK);
    CHECK_SAME(tutti_exodus_get(x, 1, 1, &field), TUTTI_OK);
    CHECK(t == 20, "%g", t);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_get(x, 1, 1, &field), TUTTI_ERR_STATE);
    tutti_decomposition_free(&field.entries);
    CHECK_EQ(tutti_exodus_entries(x, TUTTI_EXODUS_NODAL, 0), -1);
    check_step(x, 1, 2);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* A writer replaces the file of a reader by a new file, or overwrites it in place. */
static void file_is_replaced(int in_place) {
    check_where(in_place ? "rewritten in place" : "replaced");
    copy_file(path_of("two.e"), path_of("read.e"));
    tutti_exodus *x = open_file(path_of("read.e"), TUTTI_READ, 0);
    int changed = -1;
    CHECK_SAME(tutti_exodus_refresh(x, &changed), TUTTI_OK);
    CHECK_EQ(changed, 0);
    if (in_place) {
        copy_file(path_of("other.e"), path_of("read.e"));
    } else {
        copy_file(path_of("two.e"), path_of("copy.e"));
        if (rank == 0) CHECK_EQ(rename(path_of("copy.e"), path_of("read.e")), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_SAME(tutti_exodus_refresh(x, &changed), TUTTI_ERR_STATE);
    CHECK(strstr(tutti_last_message(), "replaced"), "%s", tutti_last_message());
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* ---- new_topology without a second init */

static void topology_without_init(void) {
    check_where("new_topology without init");
    tutti_exodus *x = create_plate(path_of("grow.e"), 0, 0);
    CHECK_SAME(put_step(x, 1), TUTTI_OK);
    CHECK_SAME(tutti_exodus_new_topology(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_define(x, 1,
                                   &(tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                                          .id = 20,
                                                          .topology = "QUAD4"}),
               TUTTI_OK);
    CHECK_SAME(put_plate(x, 1), TUTTI_OK);
    CHECK_SAME(put_step(x, 2), TUTTI_OK);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    x = open_file(path_of("grow.e"), TUTTI_READ, 0);
    check_step(x, 1, 1);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    check_step(x, 1, 2);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1320);
    snprintf(dir, sizeof dir, "%s", check_dir());
    if (rank == 0) corpus_write(dir);
    MPI_Barrier(MPI_COMM_WORLD);
    follow_steps("libmesh.e", (const char *const[]){"libmesh.e-s002", "libmesh.e-s003", NULL});
    follow_steps("ioss.e", (const char *const[]){"ioss.e-s0002", NULL});
    continue_golden();
    const int fds = fd_count();
    new_series();
    other_mesh_follows();
    file_is_replaced(0);
    file_is_replaced(1);
    topology_without_init();
    CHECK_EQ(fd_count(), fds);
    return harness_end();
}
