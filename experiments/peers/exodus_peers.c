/* Steps of a finite-element code by Tutti, PnetCDF and parallel netCDF-4, with the same values, in
 * interleaved rounds.  Reported: seconds per step, mean over the steps of a run.
 *
 * A mesh of N^3 nodes and (N - 1)^3 hexahedra in two blocks; V nodal variables, and V of each
 * block.  Each rank has a part of the elements with all their nodes, including border nodes:
 *
 *   boxes   boxes of elements: runs of N / 2 nodes in the order of the file (on 4 ranks)
 *   cubes   cubes of 8^3 elements distributed at random: runs of 8 to 9 nodes
 *
 *   Tutti, by id            begin, put of all variables, commit; the mesh was written before; nodes
 *                           are in the order of the mesh
 *   Tutti, contiguous       the same, with nodes and elements renumbered so that those of a rank are
 *                           contiguous
 *   PnetCDF                 record variables with Exodus' names, CDF-5; every rank writes the nodes it owns:
 *     varn, put             a collective put_varn_all for each variable
 *     varn, iput            iput_varn of all variables, one wait_all
 *     contiguous, put       the file has the nodes of rank 0 first, then those of rank 1 ...: put_vara_all
 *     contiguous, iput      the same with iput_vara, one wait_all
 *   netCDF-4, contiguous    nc_put_vara, collective, and independent: its fastest setting for contiguous data
 *   netCDF-4, runs          nc_put_vara of each run, independent (only with --slow)
 *   limit                   every rank swaps the bytes of one slice of each variable and writes it by
 *                           pwrite in calls of 1 MiB, concurrently, or one rank after the other;
 *                           no data is exchanged
 *
 * With --durable a step is on the device when it ends: durable commits, ncmpi_sync, nc_sync, fsync.
 * Without it, netCDF-4 keeps metadata in memory, and no other process could read the step.  Files
 * are created before the timed part.  In the warm-up round the last step is read again and
 * compared.
 *
 * usage: mpirun -n N exodus_peers DIRECTORY [--nodes N] [--variables V] [--steps S] [--rounds R]
 *            [--durable] [--cubes] [--only TEXT] [--slow]
 *        exodus_peers DIRECTORY --sets N [--rounds R]      node sets, defined, written and read
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exodus_peers.h"

int durable;
long edge = 100, variables = 4, steps = 10;
char path[4096];
space at[SPACES];
static int cubes, slow;

/* Return the rank that has element e. */
static int owner_of(tutti_count e) {
    const tutti_count n = edge - 1, i = e / (n * n), j = e / n % n, k = e % n;
    if (cubes) {
        const tutti_count c = (n + 7) / 8;
        return (int)(measure_hash((uint64_t)((i / 8 * c + j / 8) * c + k / 8) + 1) %
                     (uint64_t)standalone_ranks);
    }
    int grid[3] = {1, 0, 0};
    MPI_Dims_create(standalone_ranks, 3, grid);
    return (int)((j * grid[1] / n) * grid[2] + k * grid[2] / n);
}

tutti_count corner_of(tutti_count e, int c) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const tutti_count n = edge - 1, i = e / (n * n), j = e / n % n, k = e % n;
    return ((i + corner[c][0]) * edge + j + corner[c][1]) * edge + k + corner[c][2];
}

static double value_of(int s, int v, int step, tutti_count position) {
    return (double)(position % 100003) + 1e6 * s + 1e7 * v + 0.5 * step;
}

/* Create a space of `all` positions.  lowest[i]: the lowest rank that has position i; has[i]: whether this
 * rank has it. */
static void make_space(int which, tutti_count all, const unsigned char *has, const int *lowest) {
    space *s = &at[which];
    s->all = all;
    s->position = standalone_alloc((size_t)all, sizeof *s->position);
    s->own = standalone_alloc((size_t)all, sizeof *s->own);
    s->start = standalone_alloc((size_t)all, sizeof *s->start);
    s->length = standalone_alloc((size_t)all, sizeof *s->length);
    tutti_count *before = standalone_alloc((size_t)standalone_ranks, sizeof *before);
    for (tutti_count i = 0; i < all; i++) before[lowest[i]]++;
    for (int r = 0, sum = 0; r < standalone_ranks; r++) {
        const tutti_count n = before[r];
        before[r] = sum;
        sum += (int)n;
    }
    s->first = before[standalone_rank];
    s->renumbered = standalone_alloc((size_t)all, sizeof *s->renumbered);
    for (tutti_count i = 0; i < all; i++) {
        const tutti_count moved = before[lowest[i]]++;
        if (!has[i]) continue;
        s->renumbered[s->n] = moved;
        if (lowest[i] == standalone_rank) {
            s->own[s->owned++] = s->n;
            if (s->runs && s->start[s->runs - 1] + s->length[s->runs - 1] == i)
                s->length[s->runs - 1]++;
            else
                s->start[s->runs] = i, s->length[s->runs++] = 1;
        }
        s->position[s->n++] = i;
    }
    free(before);
    for (int v = 0; v < variables; v++) {
        s->put[v] = standalone_alloc((size_t)s->n, sizeof(double));
        s->got[v] = standalone_alloc((size_t)s->n, sizeof(double));
        s->packed[v] = standalone_alloc((size_t)s->owned, sizeof(double));
    }
}

static void distribute_items(void) {
    const tutti_count n = edge - 1, elements = n * n * n, nodes = edge * edge * edge;
    const tutti_count half = n / 2 * n * n, begin[3] = {0, half, elements};
    int *lowest = standalone_alloc((size_t)nodes, sizeof *lowest),
        *owner = standalone_alloc((size_t)elements, sizeof *owner);
    unsigned char *has = standalone_alloc((size_t)nodes, 1);
    for (tutti_count i = 0; i < nodes; i++) lowest[i] = standalone_ranks;
    for (tutti_count e = 0; e < elements; e++) {
        owner[e] = owner_of(e);
        for (int c = 0; c < 8; c++) {
            const tutti_count i = corner_of(e, c);
            if (owner[e] == standalone_rank) has[i] = 1;
            if (owner[e] < lowest[i]) lowest[i] = owner[e];
        }
    }
    make_space(0, nodes, has, lowest);
    for (int b = 0; b < 2; b++) {
        const tutti_count in = begin[b + 1] - begin[b];
        for (tutti_count e = 0; e < in; e++) has[e] = owner[begin[b] + e] == standalone_rank;
        make_space(1 + b, in, has, owner + begin[b]);
    }
    free(lowest), free(owner), free(has);
}

static void fill_values(int step) {
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++) {
            for (tutti_count i = 0; i < at[s].n; i++)
                at[s].put[v][i] = value_of(s, v, step, at[s].position[i]);
            for (tutti_count i = 0; i < at[s].owned; i++)
                at[s].packed[v][i] = at[s].put[v][at[s].own[i]];
        }
}

void remove_file(void) {
    char name[4200];
    MPI_Barrier(MPI_COMM_WORLD);
    if (standalone_rank == 0) {
        unlink(path);
        snprintf(name, sizeof name, "%s.tutti", path);
        unlink(name);
        snprintf(name, sizeof name, "%s.tutti-journal", path);
        unlink(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- the limit */

static int limit_fd;

static void limit_open(int turns) {
    (void)turns;
    limit_fd = open(path, O_RDWR | O_CREAT, 0666);
    standalone_check(limit_fd >= 0, "open");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void limit_share(int step) {
    enum { CALL = 1 << 17 }; /* values per call */
    static uint64_t swapped[CALL];
    off_t before = 4096;
    tutti_count record = 0;
    for (int s = 0; s < SPACES; s++) record += variables * at[s].all;
    before += (off_t)(step - 1) * record * 8;
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++, before += at[s].all * 8) {
            const tutti_count lo = at[s].all * standalone_rank / standalone_ranks,
                              hi = at[s].all * (standalone_rank + 1) / standalone_ranks;
            for (tutti_count i = lo, n; i < hi; i += n) {
                n = hi - i < CALL ? hi - i : CALL;
                /* The slice may have more values than this rank: its own values are repeated. */
                for (tutti_count j = 0; j < n; j++) {
                    uint64_t bits;
                    memcpy(&bits, &at[s].put[v][at[s].n ? (i - lo + j) % at[s].n : 0], 8);
                    swapped[j] = __builtin_bswap64(bits);
                }
                standalone_check(pwrite(limit_fd, swapped, (size_t)n * 8, before + i * 8) == n * 8,
                                 "pwrite");
            }
        }
}

static void limit_write(int turns, int step) {
    if (!turns) limit_share(step);
    for (int r = 0; r < standalone_ranks && turns; r++) {
        if (r == standalone_rank) limit_share(step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (durable) standalone_check(fsync(limit_fd) == 0, "fsync");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void limit_close(int turns) {
    (void)turns;
    close(limit_fd);
    remove_file();
}

static const method limit_methods[2] = {
    {"limit", 0, limit_open, limit_write, NULL, limit_close},
    {"limit, rank after rank", 1, limit_open, limit_write, NULL, limit_close},
};

/* ---- rounds */

static void check_step(const method *w) {
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++)
            memset(at[s].got[v], 0, (size_t)at[s].n * sizeof(double));
    w->check(w->which);
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++)
            standalone_check(memcmp(at[s].put[v], at[s].got[v], (size_t)at[s].n * 8) == 0, w->name);
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const method *w = v->what;
    w->open(w->which);
    for (int step = 1; step <= steps; step++) {
        if (m->round < 0) fill_values(step);
        const double start = standalone_together();
        w->write(w->which, step);
        value[0] += standalone_slowest(measure_now() - start) / (double)steps;
    }
    if (m->round < 0 && w->check) check_step(w);
    w->close(w->which);
}

static void add_methods(measure *m, const method *w, int n, const char *only) {
    for (int i = 0; i < n && w[i].name; i++)
        if ((!only || strstr(only, w[i].name) || strstr(w[i].name, only) || m->n == 0) &&
            (slow || strcmp(w[i].name, "netCDF-4, runs") != 0))
            measure_add(m, w[i].name, &w[i]);
}

int main(int argc, char **argv) {
    static const char *const values[] = {"seconds", NULL};
    long rounds = 5, sets = 0;
    const char *only = NULL;
    const standalone_option options[] = {
        {"--nodes", OPTION_NUMBER, &edge, 10, 1000},
        {"--variables", OPTION_NUMBER, &variables, 1, MOST_VARIABLES},
        {"--steps", OPTION_NUMBER, &steps, 1, 0},
        {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
        {"--sets", OPTION_NUMBER, &sets, 1, 1 << 24},
        {"--only", OPTION_TEXT, &only, 0, 0},
        {"--durable", OPTION_FLAG, &durable, 0, 0},
        {"--cubes", OPTION_FLAG, &cubes, 0, 0},
        {"--slow", OPTION_FLAG, &slow, 0, 0},
        {0}};
    const standalone program = {"exodus_peers", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    snprintf(path, sizeof path, "%s/exodus_peers.e", argv[0]);
    if (sets > 0) {
        measure_sets(sets, (int)rounds);
        return standalone_end_mpi();
    }
    distribute_items();
    fill_values(1);
    char title[64], more[48];
    double bytes = 0;
    snprintf(title, sizeof title, "%s, %s", cubes ? "cubes" : "boxes",
             durable ? "durable" : "visible");
    measure m = {
        .title = title, .values = values, .rounds = (int)rounds, .warmup = 1, .run = run_case};
    add_methods(&m, tutti_methods, 2, only);
    add_methods(&m, limit_methods, 2, only);
    add_methods(&m, netcdf_methods, 99, only);
    measure_rounds(&m);
    for (int s = 0; s < SPACES; s++) bytes += 8.0 * (double)(variables * at[s].all);
    snprintf(more, sizeof more, ", \"bytes\": %.0f", bytes);
    standalone_report(&m, more);
    return standalone_end_mpi();
}
