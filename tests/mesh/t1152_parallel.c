/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Results on several ranks equal the results on one rank: order, partitions, classification.  The space-filling
 * curve is continuous; parts agree with their definition; copies of nodes get the values of their owners.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include "mesh/meshes.h"
#include "mesh/mesh_impl.h"

/* ---- the space-filling curve: consecutive cells are neighbours */
static void check_curve(int dims, int bits) {
    const int side = 1 << bits, n = 1 << (dims * bits);
    uint32_t(*at)[3] = calloc((size_t)n, sizeof *at);
    char *seen = calloc((size_t)n, 1);
    for (int i = 0; i < n; i++) {
        uint32_t x[3] = {0, 0, 0};
        for (int k = 0, rest = i; k < dims; k++, rest /= side) x[k] = (uint32_t)(rest % side);
        const uint64_t key = tutti__hilbert(dims, bits, x);
        CHECK(key < (uint64_t)n && !seen[key], "key %llu", (unsigned long long)key);
        if (key >= (uint64_t)n) continue;
        seen[key] = 1;
        memcpy(at[key], x, sizeof x);
    }
    for (int i = 1; i < n; i++) {
        int apart = 0;
        for (int k = 0; k < 3; k++) apart += abs((int)at[i][k] - (int)at[i - 1][k]);
        CHECK(apart == 1, "%d dimensions: cells %d and %d are %d apart", dims, i - 1, i, apart);
    }
    free(at);
    free(seen);
}

/* ---- orders */
static void check_orders(const whole *w) {
    for (int order = TUTTI_MESH_FILE; order <= TUTTI_MESH_RCM; order++) {
        tutti_mesh *m = whole_mesh(w, MPI_COMM_WORLD), *alone = whole_mesh(w, MPI_COMM_SELF);
        tutti_mesh_info a, b, before;
        CHECK_SAME(tutti_mesh_describe(m, &before), TUTTI_OK);
        CHECK_SAME(tutti_mesh_renumber(m, (tutti_mesh_order)order), TUTTI_OK);
        CHECK_OK(tutti_mesh_renumber(alone, (tutti_mesh_order)order));
        slice_is(m, alone, 1, "renumbered");
        CHECK_SAME(tutti_mesh_describe(m, &a), TUTTI_OK);
        CHECK_OK(tutti_mesh_describe(alone, &b));
        CHECK(memcmp(&a, &b, sizeof a) == 0, "order %d: described differently", order);
        CHECK_EQ(a.edges, before.edges);
        if (order == TUTTI_MESH_RCM)
            CHECK(a.bandwidth < before.bandwidth || w->nodes < 30, "bandwidth %lld, before %lld",
                  (long long)a.bandwidth, (long long)before.bandwidth);
        if (order == TUTTI_MESH_CURVE)
            CHECK(a.mean_distance < before.mean_distance || w->nodes < 30, "distance %g, before %g",
                  a.mean_distance, before.mean_distance);
        tutti_mesh_free(&m);
        tutti_mesh_free(&alone);
    }
}

/* ---- partitions */
static void handler(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info, (void)context;
}

static void check_partitions(const whole *w, int parts, int loaded) {
    tutti_mesh *m = whole_mesh(w, MPI_COMM_WORLD), *alone = whole_mesh(w, MPI_COMM_SELF);
    tutti_mesh_view v;
    CHECK_OK(tutti_mesh_view_get(m, &v));
    const size_t n = (size_t)w->nodes + 1;
    tutti_count *load = calloc(n, sizeof *load), *start[2], *loads = loaded ? load : NULL;
    int *of = calloc(n, sizeof *of), *all = calloc(n, sizeof *all), *holder[2];
    for (tutti_count i = 0; i < w->nodes; i++)
        load[i] = i % 5 == 0 ? 0 : (i % 3) << (loaded == 2 ? 33 : 0);
    for (int by = TUTTI_MESH_METIS; by <= TUTTI_MESH_BY_RCB; by++) {
        tutti_mesh_cut a, b;
        struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART},
                         now, old;
        sigaction(SIGTERM, &action, &old);
        CHECK_SAME(tutti_mesh_partition(m, parts, (tutti_mesh_partitioner)by,
                                        loads ? load + v.first_node : NULL, of),
                   TUTTI_OK);
        sigaction(SIGTERM, &old, &now);
        CHECK(now.sa_sigaction == handler && (now.sa_flags & SA_RESTART) &&
                  (now.sa_flags & SA_SIGINFO),
              "the program's handler of SIGTERM is not what it was");
        CHECK_OK(tutti_mesh_partition(alone, parts, (tutti_mesh_partitioner)by, loads, all));
        CHECK(memcmp(of, all + v.first_node, (size_t)v.nodes * sizeof *of) == 0,
              "%d parts by %d: other partitions than alone", parts, by);
        CHECK_SAME(tutti_mesh_cut_get(m, parts, of, loads ? load + v.first_node : NULL, &a),
                   TUTTI_OK);
        CHECK_OK(tutti_mesh_cut_get(alone, parts, all, loads, &b));
        CHECK(memcmp(&a, &b, sizeof a) == 0, "%d parts by %d: another cut", parts, by);
        CHECK(tutti_mesh_partitioned_by(m) == tutti_mesh_partitioned_by(alone), "by %d and %d",
              tutti_mesh_partitioned_by(m), tutti_mesh_partitioned_by(alone));
        const int may = parts > w->nodes ||
                        (by == TUTTI_MESH_BY_CURVE && (parts > w->nodes / 8 || loaded == 2));
        CHECK(a.empty == 0 || may, "%d parts of %d are empty by %d", a.empty, parts, by);
        if (parts > w->nodes) CHECK(a.empty >= parts - w->nodes, "%d empty", a.empty);
        CHECK_SAME(tutti_mesh_classify(m, of, &start[0], &holder[0]), TUTTI_OK);
        CHECK_OK(tutti_mesh_classify(alone, all, &start[1], &holder[1]));
        for (tutti_count i = 0; i < v.nodes; i++) {
            const tutti_count k = start[0][i + 1] - start[0][i], j = v.first_node + i;
            CHECK(k == start[1][j + 1] - start[1][j] &&
                      memcmp(holder[0] + start[0][i], holder[1] + start[1][j],
                             (size_t)k * sizeof(int)) == 0,
                  "node %lld has other holders", (long long)j);
        }
        for (int i = 0; i < 2; i++) tutti_mesh_lists_free(&start[i], &holder[i]);
    }
    free(load);
    free(of);
    free(all);
    tutti_mesh_free(&m);
    tutti_mesh_free(&alone);
}

/* ---- parts */
static int contains(const int *list, tutti_count from, tutti_count to, int x) {
    for (tutti_count i = from; i < to; i++)
        if (list[i] == x) return 1;
    return 0;
}

/* Check a part by its definition: a rank has its own nodes, and all nodes that share an element with them. */
static void part_is(const whole *w, const int *of, const tutti_mesh_part_view *p) {
    char *want = calloc((size_t)w->nodes + 1, 1), *cell = calloc((size_t)w->elements + 1, 1);
    tutti_count expected_nodes = 0, cells = 0, own = 0;
    for (tutti_count i = 0; i < w->nodes; i++) want[i] = of[i] == rank;
    for (tutti_count e = 0; e < w->elements; e++)
        for (tutti_count i = w->start[e]; i < w->start[e + 1]; i++)
            cell[e] |= of[w->node[i]] == rank;
    for (tutti_count e = 0; e < w->elements; e++) {
        cells += cell[e];
        for (tutti_count i = w->start[e]; i < w->start[e + 1] && cell[e]; i++) want[w->node[i]] = 1;
    }
    for (tutti_count i = 0; i < w->nodes; i++) {
        expected_nodes += want[i];
        own += of[i] == rank;
    }
    CHECK_EQ(p->nodes, expected_nodes);
    CHECK_EQ(p->own_nodes, own);
    CHECK_EQ(p->elements, cells);
    for (tutti_count i = 0; i < p->nodes; i++) {
        const tutti_count g = p->number[i];
        CHECK(g >= 0 && g < w->nodes && want[g], "node %lld is not to be held", (long long)g);
        want[g] = 0;
        CHECK(p->own[i] == (i < p->own_nodes) && p->owner[i] == of[g], "owner of %lld",
              (long long)g);
        CHECK(memcmp(p->coordinates + 3 * i, w->x + 3 * g, 24) == 0 && p->tag[i] == w->tag[g],
              "coordinates or tag of %lld", (long long)g);
        CHECK(p->holder[p->holder_start[i]] == of[g] &&
                  contains(p->holder, p->holder_start[i], p->holder_start[i + 1], rank),
              "holders of %lld", (long long)g);
    }
    for (tutti_count i = 0; i < p->elements; i++) {
        const tutti_count e = p->element[i];
        CHECK(cell[e] && p->type[i] == w->type[e] && p->physical[i] == w->physical[e] &&
                  p->entity[i] == w->entity[e],
              "element %lld", (long long)e);
        cell[e] = 0;
        for (tutti_count j = 0; j < p->start[i + 1] - p->start[i]; j++)
            CHECK(p->number[p->node[p->start[i] + j]] == w->node[w->start[e] + j], "a node of %lld",
                  (long long)e);
    }
    CHECK_EQ(sum_all(p->own_nodes), w->nodes);
    CHECK_EQ(sum_all(p->own_elements), w->elements);
    free(want);
    free(cell);
}

static void parts_of(const whole *w, int how) {
    tutti_mesh *m = whole_mesh(w, MPI_COMM_WORLD);
    tutti_mesh_part *part = NULL;
    tutti_mesh_view v;
    tutti_mesh_part_view p;
    int *of = calloc((size_t)w->nodes + 1, sizeof *of);
    /* nodes are partitioned by x, scattered, or all on the last rank */
    for (tutti_count i = 0; i < w->nodes; i++)
        of[i] = how == 0   ? (int)(w->x[3 * i] * ranks / 8) % ranks
                : how == 1 ? (int)((uint64_t)i * 2654435761u % (uint64_t)ranks)
                           : ranks - 1;
    CHECK_OK(tutti_mesh_view_get(m, &v));
    CHECK_SAME(tutti_mesh_part_make(m, of + v.first_node, &part), TUTTI_OK);
    tutti_mesh_free(&m); /* the part does not need the mesh */
    CHECK_OK(tutti_mesh_part_get(part, &p));
    part_is(w, of, &p);
    for (int per = 1; per <= 3; per++) {
        double *u = calloc((size_t)(p.nodes * per) + 1, sizeof *u);
        for (tutti_count i = 0; i < p.nodes * per; i++)
            u[i] = i < p.own_nodes * per ? (double)(p.number[i / per] * 10 + i % per) : -1;
        CHECK_SAME(tutti_mesh_part_exchange(part, u, per), TUTTI_OK);
        for (tutti_count i = 0; i < p.nodes * per; i++)
            CHECK(u[i] == (double)(p.number[i / per] * 10 + i % per), "value %lld is %g",
                  (long long)i, u[i]);
        free(u);
    }
    double *u = calloc((size_t)p.nodes * 9 + 1, sizeof *u);
    CHECK_SAME(tutti_mesh_part_exchange(part, rank == 0 ? u : u, rank == 0 ? 0 : 1), TUTTI_ERR_ARG);
    if (ranks > 1) CHECK_SAME(tutti_mesh_part_exchange(part, u, 1 + rank % 2), TUTTI_ERR_MISMATCH);
    free(u);
    free(of);
    tutti_mesh_part_free(&part);
    CHECK(part == NULL, "not nulled");
}

/* ---- invalid calls */
static void check_refused(const whole *w) {
    tutti_mesh *m = whole_mesh(w, MPI_COMM_WORLD), *none = NULL;
    tutti_mesh_part *part = NULL;
    tutti_mesh_view v;
    int *of = calloc((size_t)w->nodes + 1, sizeof *of);
    tutti_count *load = calloc((size_t)w->nodes + 1, sizeof *load), *start = NULL;
    tutti_mesh_cut c;
    const int last = rank == ranks - 1;
    CHECK_OK(tutti_mesh_view_get(m, &v));
    CHECK_SAME(tutti_mesh_partition(m, last ? 0 : 2, TUTTI_MESH_METIS, NULL, of), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_mesh_partition(m, 2, last ? 7 : TUTTI_MESH_METIS, NULL, of), TUTTI_ERR_ARG);
    if (v.nodes > 0) load[0] = -1;
    CHECK_SAME(tutti_mesh_partition(m, 2, TUTTI_MESH_BY_CURVE, load, of), TUTTI_ERR_ARG);
    of[0] = last && v.nodes > 0 ? ranks : 0;
    CHECK_SAME(tutti_mesh_part_make(m, of, &part), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_mesh_cut_get(m, ranks, of, NULL, &c), TUTTI_ERR_ARG);
    of[0] = last ? -1 : 0;
    int *holder = NULL;
    CHECK_SAME(tutti_mesh_classify(m, of, &start, &holder), TUTTI_ERR_ARG);
    of[0] = 0;
    CHECK_SAME(tutti_mesh_renumber(m, last ? 9 : TUTTI_MESH_CURVE), TUTTI_ERR_ARG);
    if (ranks > 1) {
        CHECK_SAME(tutti_mesh_partition(m, 2 + last, TUTTI_MESH_METIS, NULL, of),
                   TUTTI_ERR_MISMATCH);
        CHECK_SAME(tutti_mesh_renumber(m, last ? TUTTI_MESH_RCM : TUTTI_MESH_CURVE),
                   TUTTI_ERR_MISMATCH);
        /* one rank calls renumber while all others call classify */
        CHECK_SAME(last ? tutti_mesh_renumber(m, TUTTI_MESH_CURVE)
                        : tutti_mesh_classify(m, of, &start, &holder),
                   TUTTI_ERR_MISMATCH);
    }
    /* on one rank, an element refers to a node that does not exist */
    const uint8_t type = TUTTI_MESH_LINE;
    const tutti_count lists[] = {0, 2}, nodes[] = {0, last ? ranks : 0};
    const double x[3] = {rank, 0, 0};
    const tutti_mesh_view bad = {
        .nodes = 1, .coordinates = x, .elements = 1, .type = &type, .start = lists, .node = nodes};
    CHECK_SAME(tutti_mesh_make(MPI_COMM_WORLD, &bad, &none), TUTTI_ERR_ARG);
    CHECK_SAME(tutti_mesh_make(MPI_COMM_WORLD, NULL, &none), TUTTI_ERR_ARG);
    CHECK(!none && !part && !start && !holder, "something was made");
    tutti_mesh *stale = m;
    tutti_mesh_free(&m);
    CHECK_ERR(tutti_mesh_view_get(stale, &v), TUTTI_ERR_STATE);
    CHECK_ERR(tutti_mesh_renumber(NULL, TUTTI_MESH_CURVE), TUTTI_ERR_ARG);
    tutti_mesh_free(&stale);
    free(of);
    free(load);
}

/* Each allocation of one rank fails once: all ranks return the same error, and no memory leaks. */
static void short_of_memory(const whole *w) {
    char path[512], other[520];
    snprintf(path, sizeof path, "%s", scratch_path("short"));
    snprintf(other, sizeof other, "%s.other", path);
    tutti_mesh *m = whole_mesh(w, MPI_COMM_WORLD);
    CHECK_SAME(tutti_mesh_write(m, path, TUTTI_MESH_GMSH_41, NULL), TUTTI_OK);
    tutti_mesh_free(&m);
    int failed = 1;
    for (long n = 1; failed && n < 4000; n += 1 + n / 7) {
        tutti_mesh_part *part = NULL;
        tutti_mesh_view v;
        int *of = NULL;
        if (rank == (int)(n % ranks)) tutti__memory_fail_after(n);
        tutti_err err = same_everywhere(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m));
        if (err == TUTTI_OK) err = same_everywhere(tutti_mesh_renumber(m, TUTTI_MESH_CURVE));
        if (err == TUTTI_OK) {
            CHECK_OK(tutti_mesh_view_get(m, &v));
            of = calloc((size_t)v.nodes + 1, sizeof *of);
            err = same_everywhere(tutti_mesh_partition(m, ranks, TUTTI_MESH_METIS, NULL, of));
        }
        if (err == TUTTI_OK) err = same_everywhere(tutti_mesh_part_make(m, of, &part));
        if (err == TUTTI_OK)
            err = same_everywhere(tutti_mesh_write(m, other, TUTTI_MESH_NATIVE, NULL));
        if (err == TUTTI_OK)
            err = same_everywhere(tutti_mesh_write(m, other, TUTTI_MESH_GMSH_22, NULL));
        tutti__memory_fail_after(0);
        /* TUTTI_ERR_IO: the allocation failed within a write */
        CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM ||
                  (err == TUTTI_ERR_IO && strstr(tutti_last_message(), "cannot allocate")),
              "allocation %ld: %s", n, tutti_last_message());
        failed = err != TUTTI_OK;
        tutti_mesh_part_free(&part);
        tutti_mesh_free(&m);
        free(of);
    }
    CHECK(!failed, "it never ended well");
    file_remove(path);
    file_remove(other);
}

/* ---- predicted cost of writes, as used by `tutti mesh tree` */
static void test_forecasts(void) {
    tutti_profile profile;
    tutti_options opt = options_of("");
    tutti_forecast f = {.is_write = 1, .ranks = 8, .nodes = 8, .bytes = 8 << 20, .pieces = 4096};
    int method = 0, fixed = 0;
    double best = 0, seconds = 0;
    tutti_profile_defaults(&profile, "nfs");
    CHECK_OK(tutti_profile_predict(&profile, &opt, &f, &method, &best));
    CHECK(method != TUTTI_METHOD_AUTO && best > 0, "method %d, %g s", method, best);
    opt.method = TUTTI_METHOD_LIST;
    CHECK_OK(tutti_profile_predict(&profile, &opt, &f, &fixed, &seconds));
    CHECK(fixed == TUTTI_METHOD_LIST && seconds >= 0.9 * best, "list takes %g s, auto %g", seconds,
          best);
    f.pieces = 8; /* with long runs, exchanging data between ranks is not faster */
    opt.method = TUTTI_METHOD_AUTO;
    CHECK_OK(tutti_profile_predict(&profile, &opt, &f, &method, &best));
    CHECK_EQ(method, TUTTI_METHOD_LIST);
    f.pieces = 0;
    CHECK_ERR(tutti_profile_predict(&profile, &opt, &f, &method, &best), TUTTI_ERR_ARG);
    f.pieces = 1;
    f.nodes = 9;
    CHECK_ERR(tutti_profile_predict(&profile, &opt, &f, &method, &best), TUTTI_ERR_ARG);
    f.nodes = 1;
    f.reserved[0] = 1;
    CHECK_ERR(tutti_profile_predict(&profile, &opt, &f, &method, &best), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_profile_predict(&profile, &opt, NULL, &method, &best), TUTTI_ERR_ARG);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1152);
    check_curve(1, 5);
    check_curve(2, 4);
    check_curve(3, 3);
    whole box = whole_box(5, 0), mixed = whole_box(4, 1), tiny = whole_box(1, 0);
    whole none = whole_make(0, 0);
    check_orders(&box);
    check_orders(&mixed);
    check_orders(&tiny);
    check_orders(&none);
    check_partitions(&box, 1, 0);
    check_partitions(&box, 7, 0);
    check_partitions(&box, 8, 1);
    check_partitions(&box, 4, 2); /* loads have more than 32 bits */
    check_partitions(&mixed, 3, 0);
    check_partitions(&tiny, 5, 0);
    check_partitions(&tiny, 50, 0);
    check_partitions(&none, 3, 0);
    for (int how = 0; how < 3; how++) {
        parts_of(&box, how);
        parts_of(&mixed, how);
        parts_of(&tiny, how);
        parts_of(&none, how);
    }
    check_refused(&box);
    if (ranks <= 3) short_of_memory(&box);
    whole_free(&box);
    whole_free(&mixed);
    whole_free(&tiny);
    whole_free(&none);
    if (rank == 0) test_forecasts();
    return harness_end();
}
