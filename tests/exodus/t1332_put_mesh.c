/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Random meshes with copies of entries on several ranks: the file is the same, byte for byte, as a file written by a
 * single process, and it agrees with a model: nodes and elements sorted by id, members in ascending order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/world.h"
#include "exodus/files.h"

static char path[2][512];

/* ---- contents of the file, checked by rank 0 array by array */

static tutti_exodus *x;

static int64_t ints[W_ENTRIES * W_LIST * 2];
static double reals[W_ENTRIES * 32];

static tutti_count get_values(tutti_exodus_array a, int real) {
    tutti_count n = 0, k = 0;
    const tutti_err err = tutti_exodus_array_size(x, &a, &n, &k, NULL);
    if (err != TUTTI_OK) return -1;
    a.n = n;
    a.type = real ? TUTTI_FLOAT64 : TUTTI_INT64;
    a.buf = real ? (void *)reals : ints;
    CHECK_OK(tutti_exodus_get_arrays(x, 1, &a));
    return n * k;
}

static void nodes_check(void) {
    for (int d = 0; d < 3; d++) {
        CHECK_EQ(get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_COORDINATES,
                                                 .kind = TUTTI_EXODUS_NODAL,
                                                 .component = d},
                            1),
                 world.nodes);
        for (int i = 0; i < world.nodes; i++)
            CHECK(reals[world_node_position(i)] == world_x(i, d), "coordinate %d of node %d", d, i);
    }
    CHECK_EQ(get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES,
                                             .kind = TUTTI_EXODUS_NODAL},
                        1),
             world.nodes);
    for (int i = 0; i < world.nodes; i++)
        CHECK(reals[world_node_position(i)] == world_value(9, 0, i, 0), "attribute of node %d", i);
    tutti_exodus_parameters p;
    CHECK_OK(tutti_exodus_parameters_get(x, &p));
    CHECK_EQ(p.nodes, world.nodes);
    CHECK_EQ(p.elements, world.entries[W_ELEMENT]);
    int plain = 1;
    for (int i = 0; i < world.nodes; i++) plain &= world.node_id[i] == world_node_position(i) + 1;
    CHECK_EQ(p.has_node_ids, !plain);
    if (plain) return;
    get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_IDS, .kind = TUTTI_EXODUS_NODAL}, 0);
    for (int i = 0; i < world.nodes; i++) CHECK_EQ(ints[world_node_position(i)], world.node_id[i]);
}

static int entries_before(int kind, int block) {
    int n = 0;
    for (int i = 0; i < world.entries[kind]; i++) n += world.entry[kind][i].block < block;
    return n;
}

/* Return the index of the first node of an entry in the list of its block. */
static int list_start(int kind, int item) {
    const world_entry *e = &world.entry[kind][item];
    int n = 0;
    for (int i = 0; i < world.entries[kind]; i++) {
        const world_entry *o = &world.entry[kind][i];
        if (o->block == e->block && o->id < e->id) n += o->n;
    }
    return n;
}

static void block_check(int kind, int c) {
    const int64_t id = world_blocks[kind][c].id;
    const tutti_exodus_kind k = world_kinds[kind];
    const int first = entries_before(kind, c), attributes = world_blocks[kind][c].attributes;
    get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_CONNECTIVITY, .kind = k, .id = id},
               0);
    for (int i = 0; i < world.entries[kind]; i++) {
        const world_entry *e = &world.entry[kind][i];
        if (e->block != c) continue;
        for (int q = 0; q < e->n; q++)
            CHECK_EQ(ints[list_start(kind, i) + q],
                     1 + (kind == W_ELEMENT && c == W_NFACED ? world_position(W_FACE, e->to[q])
                                                             : world_node_position(e->to[q])));
    }
    if (attributes)
        get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES, .kind = k, .id = id},
                   1);
    if (world_blocks[kind][c].nodes == 0)
        get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_COUNTS, .kind = k, .id = id}, 0);
    else if (world_blocks[kind][c].edges)
        get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_EDGES, .kind = k, .id = id}, 0);
    for (int i = 0; i < world.entries[kind]; i++) {
        const world_entry *e = &world.entry[kind][i];
        const int at = world_position(kind, i) - first;
        if (e->block != c) continue;
        for (int q = 0; q < attributes; q++)
            CHECK(reals[at * attributes + q] == world_value(kind, c, i, q), "attribute");
        if (world_blocks[kind][c].nodes == 0) CHECK_EQ(ints[at], e->n);
        for (int q = 0; q < world_blocks[kind][c].edges; q++)
            CHECK_EQ(ints[2 * at + q], 1 + world_position(W_EDGE, e->edge[q]));
    }
}

static void ids_check(int kind) {
    const tutti_count n = get_values(
        (tutti_exodus_array){.array_kind = TUTTI_EXODUS_IDS, .kind = world_kinds[kind]}, 0);
    for (int i = 0; i < world.entries[kind]; i++) {
        const int at = world_position(kind, i);
        /* without an id map, ids are 1, 2, 3, ... */
        CHECK_EQ(n < 0 ? at + 1 : ints[at], world.entry[kind][i].id);
    }
}

static int member_position(int s, int item) {
    return world_members[s] < 0 ? world_node_position(item)
                                : world_position(world_members[s], item);
}

/* Return the position of member `i` in the set in the file, and its number of distribution factors in *factors. */
static int member_at(int s, const world_set *w, int i, int *factors) {
    const int p = member_position(s, w->member[i]);
    int n = 0;
    *factors = 0;
    for (int q = 0; q < w->n; q++) {
        const int o = member_position(s, w->member[q]);
        if (o > p || (o == p && w->side[q] >= w->side[i])) continue;
        n++;
        *factors += s == 1 ? world_side_nodes(&world.entry[0][w->member[q]], w->side[q]) : 1;
    }
    return n;
}

static void set_check(int s, int c) {
    const world_set *w = &world.set[s][c];
    const tutti_exodus_kind k = world_set_kinds[s];
    const int64_t id = 11 * (c + 1);
    int f = 0;
    tutti_exodus_entity e;
    CHECK_OK(tutti_exodus_entity_get(x, k, c, &e));
    CHECK_EQ(e.entries, w->n);
    if (w->n == 0) return;
    CHECK_EQ(e.factors > 0, w->factors);
    get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_MEMBERS, .kind = k, .id = id}, 0);
    for (int i = 0; i < w->n; i++)
        CHECK_EQ(ints[member_at(s, w, i, &f)], 1 + member_position(s, w->member[i]));
    if (s == 1 || s >= 3) {
        get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_SIDES, .kind = k, .id = id}, 0);
        for (int i = 0; i < w->n; i++) CHECK_EQ(ints[member_at(s, w, i, &f)], w->side[i]);
    }
    if (w->factors)
        get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_FACTORS, .kind = k, .id = id},
                   1);
    for (int i = 0; i < w->n && w->factors; i++) {
        const int many = s == 1 ? world_side_nodes(&world.entry[0][w->member[i]], w->side[i]) : 1;
        member_at(s, w, i, &f);
        for (int q = 0; q < many; q++)
            CHECK(reals[f + q] == world_value(20 + s, c, w->member[i] * 8 + w->side[i], q),
                  "factor %d of member %d of set %d %d", q, i, s, c);
    }
    if (w->attributes)
        get_values((tutti_exodus_array){.array_kind = TUTTI_EXODUS_ATTRIBUTES, .kind = k, .id = id},
                   1);
    for (int i = 0; i < w->n; i++)
        for (int q = 0; q < w->attributes; q++)
            CHECK(reals[member_at(s, w, i, &f) * w->attributes + q] ==
                      world_value(30 + s, c, w->member[i], q),
                  "attribute of member");
}

static void contents_check(void) {
    CHECK_OK(tutti_exodus_open(MPI_COMM_SELF, path[0], TUTTI_READ, NULL, &x));
    nodes_check();
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < world_blocks_n[k]; c++) block_check(k, c);
        if (world.entries[k] > 0) ids_check(k);
    }
    for (int s = 0; s < 5; s++)
        for (int c = 0; c < W_SETS; c++) set_check(s, c);
    CHECK_OK(tutti_exodus_close(&x));
}

/* ---- writing the files */

static void run_trial(int k) {
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    opt.sidecar = opt.checksums = k % 4 == 0;
    opt.real_bytes = k % 3 == 2 ? 4 : 8;
    opt.integer_bytes = k % 5 == 4 ? 8 : 0;
    opt.choice.rule =
        (tutti_replicas_rule)(k % 4 == 3 ? TUTTI_REPLICAS_FIRST : TUTTI_REPLICAS_IDG2);
    world_random(k % 3 != 1, k % 4 == 2);
    if (rank == 0) {
        world_arguments *all = world_arguments_of(~0ull);
        CHECK_OK(world_write(MPI_COMM_SELF, path[0], &opt, &all->mesh));
        free(all);
        contents_check();
    }
    world_arguments *local = world_arguments_of(1ull << rank);
    CHECK_OK(same_everywhere(world_write(MPI_COMM_WORLD, path[1], &opt, &local->mesh)));
    free(local);
    files_same(path[0], path[1]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1332);
    account start = account_now();
    for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/t1332-%d.e", check_dir(), i);
    for (int k = 0; k < (ranks < 5 ? 6 : 3); k++) {
        /* rank 0 has used more random numbers than other ranks */
        check_state_ = check_seed_ + (uint64_t)k * 1000003;
        run_trial(k);
        if (k <= 1) /* after two trials, because teams and their buffers are cached */
            start = account_now();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    account_check(start);
    return harness_end(); /* all cached memory is released */
}
