/* TEST ranks=1,3 timeout=60 */
/* Series of files: n steps per file, each file with the mesh; a new mesh in a new file; reading the files one after
 * the other. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

static char path[600];
static tutti_exodus_options opt;

/* Check that a file of the series is complete without the other files. */
static void check_alone(const char *file, tutti_count first, tutti_count steps) {
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_exodus *x = NULL;
    tutti_off bytes = 0;
    double time = -1;
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, file, TUTTI_READ, &opt, &x), TUTTI_OK);
    if (!x) return;
    CHECK(tutti_exodus_warning(x)[0] == 0, "%s", tutti_exodus_warning(x));
    sample_look(x, 1);
    sample_get_arrays(MPI_COMM_WORLD, x);
    CHECK_EQ(tutti_exodus_steps(x), steps);
    sample_decompose(MPI_COMM_WORLD, x, p);
    for (tutti_count s = 1; s <= steps; s++) {
        tutti_exodus_field v[SAMPLE_FIELDS], want[SAMPLE_FIELDS];
        sample_step_fields(p, 0, v);
        sample_step_fields(p, first + s - 1, want);
        CHECK_SAME(tutti_exodus_get(x, s, SAMPLE_FIELDS, v), TUTTI_OK);
        for (int f = 0; f < SAMPLE_FIELDS; f++) {
            const size_t n = (size_t)tutti_decomposition_entries(p[f]);
            CHECK(memcmp(v[f].buf, want[f].buf, n * sizeof(double)) == 0, "%s: field %d", file, f);
            free(v[f].buf);
            free(want[f].buf);
        }
        CHECK_SAME(tutti_exodus_times(x, s, 1, &time), TUTTI_OK);
        CHECK(time == sample_time(first + s - 1), "%g", time);
    }
    CHECK_SAME(tutti_exodus_verify(x, &bytes), TUTTI_OK);
    CHECK(bytes > 0, "nothing was compared");
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

static void write_by_steps(void) {
    char second[700], third[700];
    tutti_decomposition *p[SAMPLE_FIELDS];
    tutti_exodus *x = NULL;
    check_where("steps per file");
    snprintf(second, sizeof second, "%s-s0002", path);
    snprintf(third, sizeof third, "%s-s0003", path);
    opt.steps_per_file = 2;
    sample_write(MPI_COMM_WORLD, path, &opt, 5);
    opt.steps_per_file = 0;
    check_alone(path, 1, 2);
    check_alone(second, 3, 2);
    check_alone(third, 5, 1);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &x), TUTTI_OK);
    /* the decompositions are valid for all files, because their meshes are equal */
    sample_decompose(MPI_COMM_WORLD, x, p);
    for (int i = 1; i <= 3; i++) {
        tutti_exodus_field v[SAMPLE_FIELDS];
        sample_step_fields(p, 0, v);
        CHECK_SAME(tutti_exodus_get(x, 1, SAMPLE_FIELDS, v), TUTTI_OK);
        tutti_count at[SAMPLE_NODES];
        CHECK_OK(tutti_decomposition_positions(p[1], at));
        CHECK(((double *)v[1].buf)[4] == sample_result(1, 2 * i - 1, at[4]), "file %d", i);
        for (int f = 0; f < SAMPLE_FIELDS; f++) free(v[f].buf);
        CHECK_SAME(tutti_exodus_next_file(x), i < 3 ? TUTTI_OK : TUTTI_ERR_NOT_FOUND);
    }
    CHECK(strcmp(tutti_exodus_path(x), third) == 0, "%s", tutti_exodus_path(x));
    for (int f = 0; f < SAMPLE_FIELDS; f++) tutti_decomposition_free(&p[f]);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* Write a mesh with this number of nodes, one part per rank, and a step whose values are the node numbers. */
static void write_small_mesh(tutti_exodus *x, tutti_count nodes, double time) {
    tutti_count first, n;
    double v[100];
    tutti_decomposition *p = NULL;
    sample_piece(MPI_COMM_WORLD, nodes, &first, &n);
    for (tutti_count i = 0; i < n; i++) v[i] = (double)(first + i) + time;
    CHECK_SAME(tutti_exodus_end_definitions(x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_arrays(x, 1,
                                       &(tutti_exodus_array){.array_kind = TUTTI_EXODUS_COORDINATES,
                                                             .kind = TUTTI_EXODUS_NODAL,
                                                             .first = first,
                                                             .n = n,
                                                             .type = TUTTI_FLOAT64,
                                                             .buf = v}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &p),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(x, time), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put(x, 1,
                                &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                      .variable = "u",
                                                      .type = TUTTI_FLOAT64,
                                                      .buf = v,
                                                      .entries = p}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_new_topology(x), TUTTI_ERR_STATE); /* a step has begun */
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    tutti_decomposition_free(&p);
}

static void write_by_topologies(void) {
    char other[700];
    tutti_exodus *x = NULL;
    tutti_exodus_parameters now;
    tutti_decomposition *p = NULL;
    double v[100];
    check_where("topologies");
    snprintf(other, sizeof other, "%s.grows", path);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, other, &opt, &x), TUTTI_OK);
    CHECK_SAME(
        tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "t", .dims = 1, .nodes = 9}),
        TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"u"}), TUTTI_OK);
    write_small_mesh(x, 9, 1);
    CHECK_SAME(tutti_exodus_new_topology(x), TUTTI_OK);
    CHECK_SAME(
        tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "t", .dims = 1, .nodes = 30}),
        TUTTI_OK);
    write_small_mesh(x, 30, 2);
    CHECK_SAME(tutti_exodus_begin(x, 2), TUTTI_ERR_ARG); /* times must increase across all files */
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, other, TUTTI_READ, &opt, &x), TUTTI_OK);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){
                       .kind = TUTTI_BY_INDEX, .n = 2, .index = (tutti_count[]){8, 3}},
                   &p),
               TUTTI_OK);
    const tutti_exodus_field u = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "u", .type = TUTTI_FLOAT64, .buf = v, .entries = p};
    CHECK_SAME(tutti_exodus_get(x, 1, 1, &u), TUTTI_OK);
    CHECK(v[0] == 9 && v[1] == 4, "%g %g", v[0], v[1]);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_OK);
    CHECK_OK(tutti_exodus_parameters_get(x, &now));
    CHECK_EQ(now.nodes, 30);
    /* the decomposition belongs to another topology */
    CHECK_SAME(tutti_exodus_get(x, 1, 1, &u), TUTTI_ERR_STATE);
    tutti_decomposition_free(&p);
    CHECK_SAME(tutti_exodus_next_file(x), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    snprintf(path, sizeof path, "%s/many.e", dir);
    tutti_exodus_options_init(&opt);
    opt.level = TUTTI_VISIBLE;
    write_by_steps();
    write_by_topologies();
    MPI_Finalize();
    return check_done();
}
