/* TEST ranks=1,3 timeout=60 */
/* Files in old layouts of other programs are read, and steps are appended: CDF-1, CDF-2 and CDF-5; all coordinates in
 * one array, all nodal variables in one array; no ids, names or truth tables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "sample.h"

#include "cdf/cdf.h"

enum { NODES = 11, VARS = 3, ELEMENTS = 4, RECORDS = 2 };

static double coordinate(int c, int i) {
    return c * 100 + i;
}
static double nodal(int64_t step, int v, int i) {
    return (double)(step * 1000 + v * 50 + i);
}

static void put_float(unsigned char *to, double value) {
    float f = (float)value;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    for (int i = 3; i >= 0; i--, word >>= 8) to[i] = (unsigned char)word;
}

static void put_int(unsigned char *to, uint32_t word) {
    for (int i = 3; i >= 0; i--, word >>= 8) to[i] = (unsigned char)word;
}

/* Return the bytes of a file in the old layout. */
static unsigned char *make_objects(int version, int64_t *n_out) {
    tutti__cdf c;
    tutti_count name, time, dims, nodes, elements, blocks, per, in, vars, v, w, coord;
    void *header = NULL;
    tutti__cdf_init(&c, version);
    CHECK_OK(tutti__cdf_add_dim(&c, "len_string", 33, &name));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_dim", 3, &dims));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_nodes", NODES, &nodes));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_elem", ELEMENTS, &elements));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_el_blk", 1, &blocks));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_el_in_blk1", ELEMENTS, &in));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_nod_per_el1", 2, &per));
    CHECK_OK(tutti__cdf_add_dim(&c, "num_nod_var", VARS, &vars));
    CHECK_OK(tutti__cdf_add_dim(&c, "time_step", 0, &time));
    CHECK_OK(tutti__cdf_put_text(&c, -1, "title", "old"));
    CHECK_OK(
        tutti__cdf_add_var(&c, "coord", TUTTI__CDF_FLOAT, 2, (tutti_count[]){dims, nodes}, &coord));
    CHECK_OK(tutti__cdf_add_var(&c, "connect1", TUTTI__CDF_INT, 2, (tutti_count[]){in, per}, &w));
    CHECK_OK(tutti__cdf_put_text(&c, w, "elem_type", "BAR"));
    CHECK_OK(tutti__cdf_add_var(&c, "name_nod_var", TUTTI__CDF_CHAR, 2, (tutti_count[]){vars, name},
                                &v));
    tutti_count t, r;
    CHECK_OK(tutti__cdf_add_var(&c, "time_whole", TUTTI__CDF_FLOAT, 1, &time, &t));
    CHECK_OK(tutti__cdf_add_var(&c, "vals_nod_var", TUTTI__CDF_FLOAT, 3,
                                (tutti_count[]){time, vars, nodes}, &r));
    c.records = RECORDS;
    CHECK_OK(tutti__cdf_layout(&c, NULL));
    CHECK_OK(tutti__cdf_encode(&c, &header));
    *n_out = c.record_begin + RECORDS * c.record_bytes;
    unsigned char *file = calloc(1, (size_t)*n_out);
    memcpy(file, header, (size_t)c.header_bytes);
    for (int i = 0; i < 3 * NODES; i++)
        put_float(file + c.vars[coord].begin + 4 * i, coordinate(i / NODES, i % NODES));
    for (int i = 0; i < 2 * ELEMENTS; i++)
        put_int(file + c.vars[w].begin + 4 * i, (uint32_t)(i / 2 + i % 2 + 1));
    for (int i = 0; i < VARS; i++) { /* pad names with blanks, as Fortran programs do */
        unsigned char *at = file + c.vars[v].begin + 33 * i;
        memset(at, ' ', 33);
        at[0] = (unsigned char)('u' + i);
    }
    for (int s = 0; s < RECORDS; s++) {
        put_float(file + tutti__cdf_place(&c, &c.vars[t], s), s + 1);
        for (int i = 0; i < VARS * NODES; i++)
            put_float(file + tutti__cdf_place(&c, &c.vars[r], s) + 4 * i,
                      nodal(s + 1, i / NODES, i % NODES));
    }
    tutti__free(header);
    tutti__cdf_free(&c);
    return file;
}

static void check_contents(const char *path, int64_t steps) {
    tutti_exodus *x = NULL;
    tutti_exodus_parameters p;
    tutti_exodus_entity e;
    tutti_decomposition *nodes = NULL;
    double v[NODES], times[8];
    int32_t connect[2 * ELEMENTS];
    int64_t ids[ELEMENTS];
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x), TUTTI_OK);
    if (!x) return;
    CHECK_OK(tutti_exodus_parameters_get(x, &p));
    CHECK(p.dims == 3 && p.nodes == NODES && p.elements == ELEMENTS && !p.has_node_ids, "counts");
    CHECK_OK(tutti_exodus_entity_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, 0, &e));
    CHECK(e.id == 1 && e.entries == ELEMENTS && e.nodes == 2 && strcmp(e.topology, "BAR") == 0,
          "%lld %s", (long long)e.id, e.topology);
    CHECK(strcmp(tutti_exodus_variable_name(x, TUTTI_EXODUS_NODAL, 1), "v") == 0, "'%s'",
          tutti_exodus_variable_name(x, TUTTI_EXODUS_NODAL, 1));
    for (int c = 0; c < 3; c++) {
        CHECK_SAME(
            tutti_exodus_get_arrays(x, 1,
                                    &(tutti_exodus_array){.array_kind = TUTTI_EXODUS_COORDINATES,
                                                          .kind = TUTTI_EXODUS_NODAL,
                                                          .component = c,
                                                          .n = NODES,
                                                          .type = TUTTI_FLOAT64,
                                                          .buf = v}),
            TUTTI_OK);
        for (int i = 0; i < NODES; i++) CHECK(v[i] == coordinate(c, i), "%d %d: %g", c, i, v[i]);
    }
    const tutti_exodus_array both[] = {{.array_kind = TUTTI_EXODUS_CONNECTIVITY,
                                        .kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                        .id = 1,
                                        .n = ELEMENTS,
                                        .type = TUTTI_INT32,
                                        .buf = connect},
                                       {.array_kind = TUTTI_EXODUS_IDS,
                                        .kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                        .n = ELEMENTS,
                                        .type = TUTTI_INT64,
                                        .buf = ids}};
    CHECK_SAME(tutti_exodus_get_arrays(x, 2, both), TUTTI_OK);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK(connect[2 * i + 1] == i + 2 && ids[i] == i + 1, "%d", i);
    CHECK_EQ(tutti_exodus_steps(x), steps);
    CHECK_SAME(tutti_exodus_times(x, 1, steps, times), TUTTI_OK);
    CHECK_SAME(
        tutti_exodus_decomposition(
            x, TUTTI_EXODUS_NODAL, 0,
            &(tutti_decomposition_spec){.kind = TUTTI_BY_INDEX,
                                        .n = NODES,
                                        .index = (tutti_count[]){10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
            &nodes),
        TUTTI_OK);
    for (int64_t s = 1; s <= steps; s++)
        for (int k = 0; k < VARS; k++) {
            const char name[] = {(char)('u' + k), 0};
            CHECK(times[s - 1] == (double)s, "%g", times[s - 1]);
            CHECK_SAME(tutti_exodus_get(x, s, 1,
                                        &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                              .variable = name,
                                                              .type = TUTTI_FLOAT64,
                                                              .buf = v,
                                                              .entries = nodes}),
                       TUTTI_OK);
            for (int i = 0; i < NODES; i++)
                CHECK(v[i] == nodal(s, k, NODES - 1 - i), "step %lld, %s, %d: %g", (long long)s,
                      name, i, v[i]);
        }
    tutti_decomposition_free(&nodes);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

static void append_values(const char *path) {
    tutti_exodus *x = NULL;
    tutti_decomposition *local = NULL;
    tutti_count first, n;
    double v[NODES];
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, &x),
               TUTTI_OK);
    sample_piece(MPI_COMM_WORLD, NODES, &first, &n);
    CHECK_SAME(tutti_exodus_decomposition(
                   x, TUTTI_EXODUS_NODAL, 0,
                   &(tutti_decomposition_spec){.kind = TUTTI_BY_RANK_ORDER, .n = n}, &local),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_begin(x, 3), TUTTI_OK);
    for (int k = 0; k < VARS; k++) {
        const char name[] = {(char)('u' + k), 0};
        for (tutti_count i = 0; i < n; i++) v[i] = nodal(3, k, (int)(first + i));
        CHECK_SAME(tutti_exodus_put(x, 1,
                                    &(tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL,
                                                          .variable = name,
                                                          .type = TUTTI_FLOAT64,
                                                          .buf = v,
                                                          .entries = local}),
                   TUTTI_OK);
    }
    CHECK_SAME(tutti_exodus_commit(x), TUTTI_OK);
    tutti_decomposition_free(&local);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

int main(int argc, char **argv) {
    char path[600], command[800];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *dir =
        getenv("TUTTI_TEST_SHM") ? getenv("TUTTI_TEST_SHM") : getenv("TUTTI_TEST_DIR");
    const int versions[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        int64_t n = 0;
        snprintf(path, sizeof path, "%s/old%d.exo", dir, versions[i]);
        unsigned char *file = make_objects(versions[i], &n);
        file_put(path, file, n);
        check_contents(path, RECORDS);
        append_values(path);
        check_contents(path, RECORDS + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && system("command -v ncvalidator >/dev/null") == 0) {
            snprintf(command, sizeof command, "ncvalidator -q '%s'", path);
            CHECK(system(command) == 0, "ncvalidator");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        free(file);
    }
    MPI_Finalize();
    return check_done();
}
