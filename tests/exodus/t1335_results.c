/* TEST ranks=1,2,3,5 timeout=60 */
/* Results by what put_mesh and get_mesh have left: written by ranks with copies, read by others with
 * halos, and a step that is appended after get_mesh.  Nodes, blocks, sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

static char path[512];
static double v[3 * W_NODES + 8 * W_ENTRIES];

static double value(int step, int kind, int which, int item) {
    return world_value(40 + kind, which, item, step) + 100 * step;
}

static int node_of(int64_t id) {
    for (int i = 0; i < world.nodes; i++)
        if (world.node_id[i] == id) return i;
    return -1;
}

static int entry_of(int kind, int64_t id) {
    for (int i = 0; i < world.entries[kind]; i++)
        if (world.entry[kind][i].id == id) return i;
    return -1;
}

static int element_at(const tutti_exodus_mesh *m, tutti_count place) {
    int c = 0;
    for (; place >= m->blocks[c].n; c++) place -= m->blocks[c].n;
    return entry_of(W_ELEMENT, m->blocks[c].ids[place]);
}

/* All fields of a mesh, in its order: filled, or compared. */
static int fields_of(const tutti_exodus_mesh *m, int step, int compare, tutti_exodus_field *f) {
    int n = 0, at = 0;
#define EACH(expected)                                                             \
    do {                                                                           \
        const double e_ = (expected);                                              \
        if (compare) CHECK(v[at] == e_, "field %d: %g, not %g", n - 1, v[at], e_); \
        v[at++] = e_;                                                              \
    } while (0)
    f[n++] = (tutti_exodus_field){.kind = TUTTI_EXODUS_NODAL, .variable = "t", .buf = v};
    for (tutti_count i = 0; i < m->nodes; i++) EACH(value(step, 0, 0, node_of(m->node_ids[i])));
    for (int c = 0; c < W_BLOCKS - 1; c++) {
        f[n++] = (tutti_exodus_field){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                      .id = world_blocks[W_ELEMENT][c].id,
                                      .variable = "e",
                                      .buf = v + at};
        for (tutti_count i = 0; i < m->blocks[c].n; i++)
            EACH(value(step, 1, c, entry_of(W_ELEMENT, m->blocks[c].ids[i])));
    }
    for (int c = 0; c < W_SETS; c++) {
        if (world.set[0][c].n == 0) continue;
        f[n++] = (tutti_exodus_field){
            .kind = TUTTI_EXODUS_NODE_SET, .id = 11 * (c + 1), .variable = "n", .buf = v + at};
        for (tutti_count i = 0; i < m->node_sets[c].n; i++)
            EACH(value(step, 2, c, node_of(m->node_ids[m->node_sets[c].members[i]])));
    }
    for (int c = 0; c < W_SETS; c++) {
        if (world.set[1][c].n == 0) continue;
        f[n++] = (tutti_exodus_field){
            .kind = TUTTI_EXODUS_SIDE_SET, .id = 11 * (c + 1), .variable = "s", .buf = v + at};
        for (tutti_count i = 0; i < m->side_sets[c].n; i++)
            EACH(value(step, 3, c,
                       element_at(m, m->side_sets[c].members[i]) * 8 + m->side_sets[c].sides[i]));
    }
    for (int i = 0; i < n; i++) f[i].type = TUTTI_FLOAT64;
    return n;
}

static void put_step(tutti_exodus *x, const tutti_exodus_mesh *m, int step) {
    tutti_exodus_field f[4 * W_SETS + W_BLOCKS];
    const int n = fields_of(m, step, 0, f);
    CHECK_OK(same_everywhere(tutti_exodus_begin(x, step)));
    CHECK_OK(same_everywhere(tutti_exodus_put(x, n, f)));
    CHECK_OK(same_everywhere(tutti_exodus_commit(x)));
}

static void get_step(tutti_exodus *x, const tutti_exodus_mesh *m, int step) {
    tutti_exodus_field f[4 * W_SETS + W_BLOCKS];
    const int n = fields_of(m, 0, 0, f);
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) v[i] = -7;
    CHECK_OK(same_everywhere(tutti_exodus_get(x, step, n, f)));
    fields_of(m, step, 1, f);
}

static void trial(int k) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *m = NULL;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    if (k % 2)
        world_grid(1);
    else
        world_random(1, 0);
    if (world.entries[W_ELEMENT] == 0) return;
    world_mine *mine = world_take(1ull << rank);
    CHECK_OK(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x));
    CHECK_OK(world_define(x));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 1, (const char *[]){"t"}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, (const char *[]){"e"}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_NODE_SET, 1, (const char *[]){"n"}));
    CHECK_OK(tutti_exodus_variables(x, TUTTI_EXODUS_SIDE_SET, 1, (const char *[]){"s"}));
    CHECK_OK(same_everywhere(tutti_exodus_put_mesh(x, &mine->mesh)));
    put_step(x, &mine->mesh, 1);
    get_step(x, &mine->mesh, 1);
    CHECK_OK(tutti_exodus_close(&x));
    free(mine);
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, &opt, &x));
    CHECK_OK(tutti_exodus_get_mesh(
        x,
        &(tutti_exodus_deal){.by = k % 2 ? TUTTI_EXODUS_BY_METIS : TUTTI_EXODUS_BY_CURVE,
                             .halo = 1},
        &m));
    get_step(x, m, 1);
    put_step(x, m, 2); /* with copies: the halo */
    get_step(x, m, 2);
    CHECK_OK(tutti_exodus_close(&x));
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    CHECK_OK(tutti_exodus_get_mesh(x, &(tutti_exodus_deal){.by = TUTTI_EXODUS_ON_ROOT}, &m));
    for (int step = 1; step <= 2; step++) get_step(x, m, step);
    CHECK_OK(tutti_exodus_close(&x));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1335);
    snprintf(path, sizeof path, "%s/t1335.e", check_dir());
    for (int k = 0; k < 2; k++) {
        check_state_ = check_seed_ + (uint64_t)k * 1000003;
        trial(k);
    }
    MPI_Finalize();
    return check_done();
}
