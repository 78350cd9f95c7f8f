/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Borders of partitions: for each rank, nemesis_get returns the same result as a model that has all
 * elements and compares all sides.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/files.h"

static char path[512];

/* ---- the model: elements belong to the lowest rank that has them */

static int owner_of(int e) {
    return __builtin_ctzll(world.entry[W_ELEMENT][e].holders);
}

static void nodes_of(int element, unsigned char *has) {
    const world_entry *e = &world.entry[W_ELEMENT][element];
    for (int k = 0; k < e->n; k++) {
        const world_entry *f = &world.entry[W_FACE][e->block == W_NFACED ? e->to[k] : 0];
        if (e->block != W_NFACED) has[e->to[k]] = 1;
        for (int q = 0; q < f->n && e->block == W_NFACED; q++) has[f->to[q]] = 1;
    }
}

/* Store the nodes of a side, sorted; return their number. */
static int side_of(int element, int side, int *out) {
    const world_entry *e = &world.entry[W_ELEMENT][element];
    int which[9], n = 0;
    if (e->block == W_NFACED) {
        const world_entry *f = &world.entry[W_FACE][e->to[side - 1]];
        for (n = 0; n < f->n; n++) out[n] = f->to[n];
    } else if (e->block == W_NSIDED) {
        out[n++] = e->to[side - 1];
        out[n++] = e->to[side % e->n];
    } else {
        n = tutti_exodus_side_nodes(world_blocks[W_ELEMENT][e->block].topology, 0, 3, side, which);
        for (int k = 0; k < n; k++) out[k] = e->to[which[k]];
    }
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && out[k - 1] > out[k]; k--) {
            const int keep = out[k];
            out[k] = out[k - 1];
            out[k - 1] = keep;
        }
    return n;
}

/* Return the number of sides of rank r with the nodes of (e, side). */
static int sides_like(int e, int side, int r) {
    int a[9], b[9], count = 0;
    const int n = side_of(e, side, a);
    for (int o = 0; o < world.entries[W_ELEMENT]; o++)
        for (int s = 1; owner_of(o) == r && s <= world_sides(&world.entry[W_ELEMENT][o]); s++)
            count += side_of(o, s, b) == n && !memcmp(a, b, (size_t)n * sizeof a[0]);
    return count;
}

/* Return whether (e, side) is the first side of its owner with these nodes. */
static int is_first(int e, int side) {
    int a[9], b[9];
    const int n = side_of(e, side, a);
    for (int o = 0; o <= e; o++)
        for (int s = 1; owner_of(o) == owner_of(e) && s <= world_sides(&world.entry[W_ELEMENT][o]);
             s++) {
            if (o == e && s == side) return 1;
            if (side_of(o, s, b) == n && !memcmp(a, b, (size_t)n * sizeof a[0])) return 0;
        }
    return 1;
}

/* ---- comparison */

static int node_at(int64_t number) { /* return the node with this number in the file, or -1 */
    for (int i = 0; i < world.nodes; i++)
        if (world_node_position(i) + 1 == number) return i;
    return -1;
}

static int element_at(int64_t number) {
    for (int i = 0; i < world.entries[W_ELEMENT]; i++)
        if (world_position(W_ELEMENT, i) + 1 == number) return i;
    return -1;
}

static void nodes_check(const tutti_exodus_nemesis *n, int me) {
    static unsigned char in[64][W_NODES];
    int all[3] = {0};
    memset(in, 0, sizeof in);
    for (int e = 0; e < world.entries[W_ELEMENT]; e++) nodes_of(e, in[owner_of(e)]);
    for (tutti_count i = 0; i < n->internal_nodes + n->border_nodes + n->external_nodes; i++) {
        const int node = node_at(n->nodes[i]);
        const int said = i < n->internal_nodes                     ? 0
                         : i < n->internal_nodes + n->border_nodes ? 1
                                                                   : 2;
        int users = 0;
        for (int r = 0; r < ranks; r++) users += in[r][node];
        const int lowest = __builtin_ctzll(world.node_holders[node]) == me;
        const int is = in[me][node] ? users > 1 : users == 0 && lowest ? 0 : 2;
        CHECK(said == is, "node %d of rank %d is %d, not %d", node, me, said, is);
        all[said]++;
    }
    int n_local = 0;
    for (int i = 0; i < world.nodes; i++) n_local += (int)(world.node_holders[i] >> me & 1);
    CHECK_EQ(all[0] + all[1] + all[2], n_local);
    /* the maps contain each border node once for every other rank that has the node */
    int pairs = 0;
    for (int i = 0; i < world.nodes; i++)
        for (int r = 0; r < ranks && in[me][i]; r++) pairs += r != me && in[r][i];
    CHECK_EQ(n->node_maps > 0 ? n->node_map_start[n->node_maps] : 0, pairs);
    for (int k = 0; k < n->node_maps; k++)
        for (tutti_count i = n->node_map_start[k]; i < n->node_map_start[k + 1]; i++) {
            const int r = n->node_map_processors[i];
            CHECK_EQ(n->node_map_ids[k], r + 1);
            CHECK(r != me && in[r][node_at(n->node_map_nodes[i])], "shared with rank %d", r);
            CHECK(i == n->node_map_start[k] || n->node_map_nodes[i - 1] < n->node_map_nodes[i],
                  "maps rise");
        }
}

static void elements_check(const tutti_exodus_nemesis *n, int me) {
    unsigned char border[W_ENTRIES] = {0};
    int owned = 0, sides = 0;
    for (int e = 0; e < world.entries[W_ELEMENT]; e++) {
        if (owner_of(e) != me) continue;
        owned++;
        for (int s = 1; s <= world_sides(&world.entry[W_ELEMENT][e]); s++)
            for (int r = 0; r < ranks; r++) {
                const int theirs = r == me ? 0 : sides_like(e, s, r);
                if (theirs == 0) continue;
                border[e] = 1;
                /* equal sides are counted once: the larger count of the two ranks */
                if (is_first(e, s)) {
                    const int ours = sides_like(e, s, me);
                    sides += ours > theirs ? ours : theirs;
                }
            }
    }
    CHECK_EQ(n->internal_elements + n->border_elements, owned);
    for (tutti_count i = 0; i < n->internal_elements + n->border_elements; i++) {
        const int e = element_at(n->elements[i]);
        CHECK(e >= 0 && owner_of(e) == me, "element %d", e);
        CHECK_EQ(border[e], i >= n->internal_elements);
    }
    CHECK_EQ(n->element_maps > 0 ? n->element_map_start[n->element_maps] : 0, sides);
    for (int k = 0; k < n->element_maps; k++)
        for (tutti_count i = n->element_map_start[k]; i < n->element_map_start[k + 1]; i++) {
            const int r = n->element_map_processors[i];
            CHECK_EQ(n->element_map_ids[k], r + 1);
            CHECK(sides_like(element_at(n->element_map_elements[i]), n->element_map_sides[i], r),
                  "side %d is no border to rank %d", n->element_map_sides[i], r);
        }
}

/* Store the range [*lo, *hi) of the entries of the map for processor `q`; the range is empty if there is no map. */
static void map_of(const tutti_exodus_nemesis *n, int q, tutti_count *lo, tutti_count *hi) {
    *lo = *hi = 0;
    for (int k = 0; k < n->element_maps; k++)
        if (n->element_map_ids[k] == q + 1) {
            *lo = n->element_map_start[k];
            *hi = n->element_map_start[k + 1];
        }
}

/* Check that entry k of the map of p for q and entry k of the map of q for p are the same side. */
static void order_check(tutti_exodus *x, int p, int q) {
    enum { MOST = 1000 };
    static int64_t element[MOST];
    static int side[MOST];
    tutti_exodus_nemesis n;
    tutti_count lo = 0, hi = 0;
    CHECK_OK(same_everywhere(tutti_exodus_nemesis_get(x, p, &n)));
    map_of(&n, q, &lo, &hi);
    const tutti_count count = hi - lo;
    CHECK(count <= MOST, "%lld entries", (long long)count);
    for (tutti_count i = 0; i < count; i++) {
        element[i] = n.element_map_elements[lo + i];
        side[i] = n.element_map_sides[lo + i];
    }
    CHECK_OK(same_everywhere(tutti_exodus_nemesis_get(x, q, &n)));
    map_of(&n, p, &lo, &hi);
    CHECK_EQ(hi - lo, count);
    for (tutti_count i = 0; i < count && hi - lo == count; i++) {
        int a[9], b[9];
        const int na = side_of(element_at(element[i]), side[i], a);
        const int nb =
            side_of(element_at(n.element_map_elements[lo + i]), n.element_map_sides[lo + i], b);
        CHECK(na == nb && !memcmp(a, b, (size_t)na * sizeof a[0]),
              "entry %lld of the maps of processors %d and %d is not the same side", (long long)i,
              p, q);
    }
}

static void run_trial(int k) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_nemesis n;
    tutti_exodus_options_init(&opt);
    opt.overwrite = opt.nemesis = 1;
    opt.level = TUTTI_VISIBLE;
    opt.sidecar = opt.checksums = 0;
    if (k % 2)
        world_random(1, 0);
    else
        world_grid(k % 4 == 0);
    world_arguments *local = world_arguments_of(1ull << rank);
    CHECK_OK(same_everywhere(world_write(MPI_COMM_WORLD, path, &opt, &local->mesh)));
    free(local);
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    const int other = (rank + 1) % ranks;
    CHECK_OK(same_everywhere(tutti_exodus_nemesis_get(x, other, &n)));
    CHECK_EQ(n.processors, ranks);
    nodes_check(&n, other);
    elements_check(&n, other);
    order_check(x, other, (other + 1) % ranks);
    CHECK_OK(same_everywhere(tutti_exodus_nemesis_get(x, rank == 0 ? 0 : -1, &n)));
    CHECK(rank == 0 || (n.internal_nodes == 0 && n.node_maps == 0), "nothing was asked for");
    CHECK_SAME(tutti_exodus_nemesis_get(x, rank == 0 ? ranks : 0, &n), TUTTI_ERR_ARG);
    CHECK_OK(tutti_exodus_close(&x));
    opt.nemesis = 0;
    local = world_arguments_of(1ull << rank);
    CHECK_OK(same_everywhere(world_write(MPI_COMM_WORLD, path, &opt, &local->mesh)));
    free(local);
    CHECK_OK(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x));
    CHECK_SAME(tutti_exodus_nemesis_get(x, 0, &n), TUTTI_ERR_NOT_FOUND);
    CHECK_OK(tutti_exodus_close(&x));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(1336);
    account start = account_now();
    snprintf(path, sizeof path, "%s/t1336.e", check_dir());
    for (int k = 0; k < (ranks < 5 ? 3 : 1); k++) {
        check_state_ = check_seed_ + (uint64_t)k * 1000003;
        run_trial(k);
        if (k == 0) start = account_now(); /* after the first trial, because teams are cached */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    account_check(start);
    MPI_Finalize();
    return check_done();
}
