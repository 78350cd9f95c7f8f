/* killed_writer FILE MICROSECONDS [create]   appends steps to an Exodus file until all ranks are killed after
 * MICROSECONDS (0: the program is not killed and ends after two more steps; -1: it opens, checks and closes the file).
 * The checksums of all existing steps must match, and the last steps must have the values that were written.  A
 * missing file is created; with `create`, the time includes the creation.
 *
 * Rank 0 writes the number of each committed step to standard output, one write per step.  Value i of variable v in
 * step s is 100000 s + 10000 v + i.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <tutti/exodus.h>
#include <tutti/tutti.h>
#include <unistd.h>

enum { NODES = 1000, SHOWN = 3 };
static int rank, ranks;
/* this rank has the nodes [lo, lo + n); elements connect consecutive nodes */
static tutti_count lo, n;
static double *u, *w, *e;

static void kill_process(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void check_expected(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "wrong: rank %d, %s: %s\n", rank, what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void start_clock(long after) {
    const struct itimerval when = {.it_value = {after / 1000000, after % 1000000}};
    MPI_Barrier(MPI_COMM_WORLD);
    if (after <= 0) return;
    signal(SIGALRM, kill_process);
    setitimer(ITIMER_REAL, &when, NULL);
}

static double value(tutti_count step, int variable, tutti_count i) {
    return 100000.0 * (double)step + 10000.0 * variable + (double)i;
}

static void create_objects(const char *path, int level) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = level;
    int64_t *ids = calloc((size_t)n + 1, sizeof *ids);
    double *at = calloc((size_t)n + 1, sizeof *at);
    tutti_count *nodes = calloc(2 * (size_t)n + 2, sizeof *nodes);
    int64_t *elements = calloc((size_t)n + 1, sizeof *elements);
    for (tutti_count i = 0; i < n; i++) ids[i] = 1 + lo + i, at[i] = (double)(lo + i);
    for (tutti_count i = 0; i + 1 < n; i++) {
        nodes[2 * i] = i;
        nodes[2 * i + 1] = i + 1;
        elements[i] = 1 + lo + i;
    }
    const tutti_exodus_elements block = {.n = n - 1, .ids = elements, .nodes = nodes};
    check_expected(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &x), "create");
    check_expected(tutti_exodus_init(x, &(tutti_exodus_parameters){.title = "killed", .dims = 1}),
                   "init");
    check_expected(tutti_exodus_define(x, 1,
                                       &(tutti_exodus_entity){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                                              .id = 1,
                                                              .topology = "BAR2"}),
                   "define");
    check_expected(tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, 2, (const char *[]){"u", "w"}),
                   "variables");
    check_expected(tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1, (const char *[]){"e"}),
                   "variables");
    check_expected(tutti_exodus_put_mesh(x, &(tutti_exodus_mesh){.nodes = n,
                                                                 .node_ids = ids,
                                                                 .coordinates = {at},
                                                                 .blocks = &block}),
                   "put_mesh");
    check_expected(tutti_exodus_close(&x), "close");
    free(ids), free(at), free(nodes), free(elements);
}

static void fields_of(tutti_exodus_field out[3]) {
    out[0] = (tutti_exodus_field){
        .kind = TUTTI_EXODUS_NODAL, .variable = "u", .type = TUTTI_FLOAT64, .buf = u};
    out[1] = (tutti_exodus_field){
        .kind = TUTTI_EXODUS_NODAL, .variable = "w", .type = TUTTI_FLOAT64, .buf = w};
    out[2] = (tutti_exodus_field){.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                  .id = 1,
                                  .variable = "e",
                                  .type = TUTTI_FLOAT64,
                                  .buf = e};
}

/* Check the checksums of all steps, and each value of the last steps. */
static void check_values(tutti_exodus *x, const tutti_exodus_mesh *mesh) {
    const tutti_count steps = tutti_exodus_steps(x);
    tutti_exodus_field fields[3];
    fields_of(fields);
    check_expected(tutti_exodus_verify(x, NULL), "verify");
    for (tutti_count s = steps > SHOWN ? steps - SHOWN + 1 : 1; s <= steps; s++) {
        check_expected(tutti_exodus_get(x, s, 3, fields), "get");
        int bad = 0;
        for (tutti_count i = 0; i < mesh->nodes; i++)
            bad += u[i] != value(s, 1, mesh->node_ids[i] - 1) ||
                   w[i] != value(s, 2, mesh->node_ids[i] - 1);
        for (tutti_count i = 0; i < mesh->blocks[0].n; i++)
            bad += e[i] != value(s, 3, mesh->blocks[0].ids[i] - 1);
        if (!bad) continue;
        fprintf(stderr, "wrong: step %lld of %lld has %d wrong numbers\n", (long long)s,
                (long long)steps, bad);
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
}

static void append_step(tutti_exodus *x, const tutti_exodus_mesh *mesh) {
    const tutti_count s = tutti_exodus_steps(x) + 1;
    tutti_exodus_field fields[3];
    fields_of(fields);
    for (tutti_count i = 0; i < mesh->nodes; i++) {
        u[i] = value(s, 1, mesh->node_ids[i] - 1);
        w[i] = value(s, 2, mesh->node_ids[i] - 1);
    }
    for (tutti_count i = 0; i < mesh->blocks[0].n; i++)
        e[i] = value(s, 3, mesh->blocks[0].ids[i] - 1);
    check_expected(tutti_exodus_begin(x, (double)s), "begin");
    check_expected(tutti_exodus_put(x, 2, fields), "put");
    check_expected(tutti_exodus_put(x, 1, fields + 2), "put");
    check_expected(tutti_exodus_commit(x), "commit");
    char line[32];
    snprintf(line, sizeof line, "committed %lld\n", (long long)s);
    if (rank == 0 && write(STDOUT_FILENO, line, strlen(line)) < 0) exit(4);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) return 2;
    const long after = atol(argv[2]);
    const int level = after % 2 ? TUTTI_DURABLE : TUTTI_VISIBLE;
    lo = (tutti_count)(NODES - 1) * rank / ranks;
    /* the last node is also the first node of the next rank */
    n = (tutti_count)(NODES - 1) * (rank + 1) / ranks - lo + 1;
    u = malloc(2 * NODES * sizeof *u);
    w = malloc(2 * NODES * sizeof *w);
    e = malloc(2 * NODES * sizeof *e);
    int there = access(argv[1], F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (argc > 3) start_clock(after);
    if (!there) create_objects(argv[1], level);
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    const tutti_exodus_mesh *mesh = NULL;
    tutti_exodus_options_init(&opt);
    opt.level = level;
    check_expected(tutti_exodus_open(MPI_COMM_WORLD, argv[1], TUTTI_READ | TUTTI_WRITE, &opt, &x),
                   "open");
    check_expected(
        tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_ORDER},
                              &mesh),
        "get_mesh");
    check_values(x, mesh);
    if (argc <= 3) start_clock(after);
    for (int k = 0; after > 0 || k < 2 + 2 * (int)after; k++) append_step(x, mesh);
    check_expected(tutti_exodus_close(&x), "close");
    free(u), free(w), free(e);
    MPI_Finalize();
    return 0;
}
