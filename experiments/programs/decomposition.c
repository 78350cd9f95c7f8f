/* Time and memory of making a decomposition, all ranks together.  Prints a markdown table.
 *
 * The space has so many entries; runs of `-l` of them are dealt out to the ranks at random, every
 * 16th run to two ranks.  The id map is a permutation that looks like none.
 *
 *   index    by index: positions are known, writers are chosen
 *   value    by value: ids are joined with the id map first
 *   slices   the same number of entries as a block of a grid
 *   plain    what a program would do by hand for `value`: ids and map to rank id mod ranks by
 *            MPI_Alltoallv, a hash table there, positions back by another; no writers are chosen
 *
 *   cpu      processor time of all ranks, least of the rounds: waiting is work here, since a rank
 *            that waits asks again and again
 *   peak     the most memory that was resident on a rank beyond what it had before, per entry that
 *            it holds: the largest of all ranks
 *   kept     the same when the call has returned
 *
 * The ways take turns within a round.
 *
 * usage: mpirun -n N decomposition [-r rounds] [-l run] [entries ...]      default: 1000000
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "process.h"
#include "decomposition/decomposition.h"
#include "decomposition/rules.h"

enum { INDEX, VALUE, SLICES, PLAIN, WAYS };
static const char *const names[WAYS] = {"index", "value", "slices", "plain"};
static int rank, ranks;
static tutti__team *team;

static void stop(const char *why) {
    fprintf(stderr, "decomposition: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(tutti_count n, size_t size) {
    void *p = malloc((size_t)n * size + 1);
    if (!p) stop("no memory");
    return p;
}

/* ---- the space */

static int64_t id_at(tutti_count position) { /* different below 2^31 - 1, which is prime */
    return (int64_t)(((uint64_t)position * 1103515245u + 12345) % 2147483647u);
}

static tutti_err ids_of(void *from, const tutti__space_view *view, tutti_count lo, tutti_count hi,
                        int64_t *out) {
    (void)from, (void)view;
    for (tutti_count i = lo; i < hi; i++) out[i - lo] = id_at(i);
    return TUTTI_OK;
}

typedef struct {
    tutti_count entries, n;
    tutti_count *index; /* [n] */
    int64_t *ids;       /* [n] */
    tutti__decomposed list, grid;
} mesh;

static int holds(tutti_count run) {
    const uint64_t h = tutti__scramble((uint64_t)run);
    return (int)(h % (uint64_t)ranks) == rank ||
           (run % 16 == 0 && (int)((h >> 32) % (uint64_t)ranks) == rank);
}

static mesh mesh_of(tutti_count entries, tutti_count run) {
    mesh m = {.entries = entries};
    for (int fill = 0; fill < 2; fill++) {
        m.n = 0;
        for (tutti_count r = 0; r * run < entries; r++)
            for (tutti_count i = r * run; i < entries && i < (r + 1) * run && holds(r); i++, m.n++)
                if (fill) {
                    m.index[m.n] = i;
                    m.ids[m.n] = id_at(i);
                }
        if (fill) break;
        m.index = room(m.n, sizeof *m.index);
        m.ids = room(m.n, sizeof *m.ids);
    }
    m.list = (tutti__decomposed){
        .name = "nodes",
        .view = {.ndims = 1, .shape = {entries}, .entries = entries, .stamp = 1, .has_ids = 1},
        .ids = ids_of};
    m.grid = m.list;
    m.grid.view.ndims = 2;
    m.grid.view.has_ids = 0;
    m.grid.view.shape[0] = ranks;
    m.grid.view.shape[1] = entries / ranks;
    m.grid.view.entries = ranks * (entries / ranks);
    return m;
}

/* ---- by hand */

typedef struct {
    int64_t id, position; /* -1: it is asked for */
} said;

/* Records for each rank and from each; *in_out is to be freed. */
static int swap(const said *out, const int *many, int *from, said **in_out) {
    int *to_at = room(ranks, sizeof *to_at), *from_at = room(ranks, sizeof *from_at), all = 0;
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT64_T, &two);
    MPI_Type_commit(&two);
    MPI_Alltoall(many, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0, at = 0; k < ranks; k++) {
        to_at[k] = at;
        from_at[k] = all;
        at += many[k];
        all += from[k];
    }
    *in_out = room(all, sizeof **in_out);
    MPI_Alltoallv(out, many, to_at, two, *in_out, from, from_at, two, MPI_COMM_WORLD);
    MPI_Type_free(&two);
    free(to_at);
    free(from_at);
    return all;
}

static void plain(const mesh *m) {
    const tutti_count lo = m->entries * rank / ranks, hi = m->entries * (rank + 1) / ranks;
    const tutti_count all = m->n + hi - lo;
    said *out = room(all, sizeof *out), *in = NULL, *back = NULL;
    int *many = calloc((size_t)ranks, sizeof *many), *from = calloc((size_t)ranks, sizeof *from);
    tutti_count *at = calloc((size_t)ranks + 1, sizeof *at), slots = 1;
    if (!many || !from || !at) stop("no memory");
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (tutti_count i = 0; i < all; i++) {
            const int64_t id = i < m->n ? m->ids[i] : id_at(lo + i - m->n);
            const int to = (int)(id % ranks);
            if (pass == 0)
                many[to]++;
            else
                out[at[to]++] = (said){id, i < m->n ? -1 : lo + i - m->n};
        }
        for (int k = 0, sum = 0; k < ranks && pass == 0; sum += many[k++]) at[k] = sum;
    }
    const int got = swap(out, many, from, &in);
    while (slots < 2 * (tutti_count)got + 1) slots *= 2;
    said *table = room(slots, sizeof *table);
    memset(table, 0xff, (size_t)slots * sizeof *table);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < got; i++) {
            tutti_count s =
                (tutti_count)(tutti__scramble((uint64_t)in[i].id) & (uint64_t)(slots - 1));
            if ((in[i].position >= 0) != (pass == 0)) continue;
            while (table[s].id >= 0 && table[s].id != in[i].id) s = (s + 1) & (slots - 1);
            if (pass == 0)
                table[s] = in[i];
            else
                in[i].position = table[s].position;
        }
    const int came = swap(in, from, many, &back);
    for (int i = 0; i < came; i++)
        if (id_at(back[i].position) != back[i].id) stop("the plain join is wrong");
    free(table);
    free(out);
    free(in);
    free(back);
    free(many);
    free(from);
    free(at);
}

/* ---- measuring */

typedef struct {
    double cpu, wall, peak, kept;
} cost;

static void once(const mesh *m, int way, int first, cost *c) {
    tutti_decomposition_spec spec = {.kind = way == INDEX ? TUTTI_BY_INDEX : TUTTI_BY_VALUE,
                                     .n = m->n,
                                     .index = m->index,
                                     .ids = m->ids,
                                     .whole = 1};
    tutti_decomposition *p = NULL;
    if (way == SLICES) {
        spec.kind = TUTTI_BY_SLICE;
        spec.slice = tutti_slice_all(2, m->grid.view.shape);
        spec.slice.lo[0] = rank;
        spec.slice.hi[0] = rank + 1;
    }
    malloc_trim(0);
    forget_peak();
    const double before = status("VmRSS");
    MPI_Barrier(MPI_COMM_WORLD);
    const double wall = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    if (way == PLAIN)
        plain(m);
    else if (tutti__decomposition_make(team, way == SLICES ? &m->grid : &m->list, &spec, TUTTI_OK,
                                       &p))
        stop(tutti_last_message());
    const double used = reduce(clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu, MPI_SUM);
    const double time = reduce(clock_of(CLOCK_MONOTONIC) - wall, MPI_MAX);
    const double peak = status("VmHWM") - before;
    malloc_trim(0);
    const double kept = status("VmRSS") - before;
    const double n = (double)(m->n > 0 ? m->n : 1);
    if (first || used < c->cpu) c->cpu = used;
    if (first || time < c->wall) c->wall = time;
    if (first) c->peak = reduce(peak / n, MPI_MAX);
    if (first) c->kept = reduce(kept / n, MPI_MAX);
    tutti_decomposition_free(&p);
}

static void measure(tutti_count entries, tutti_count run, int rounds) {
    mesh m = mesh_of(entries, run);
    cost c[WAYS] = {{0, 0, 0, 0}};
    for (int round = -1; round < rounds; round++) /* the first one warms up */
        for (int k = 0; k < WAYS; k++) {
            const int way = (k + round + 1) % WAYS;
            once(&m, way, round <= 0, &c[way]);
        }
    for (int way = 0; way < WAYS && rank == 0; way++)
        printf("| %lld | %lld | %s | %.3f | %.3f | %.0f | %.0f |\n", (long long)entries,
               (long long)run, names[way], c[way].cpu, c[way].wall, c[way].peak, c[way].kept);
    free(m.index);
    free(m.ids);
}

int main(int argc, char **argv) {
    int rounds = 7, run = 8, option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((option = getopt(argc, argv, "r:l:")) != -1) {
        const int bad = option == 'r'   ? (rounds = atoi(optarg)) < 1
                        : option == 'l' ? (run = atoi(optarg)) < 1
                                        : 1;
        if (bad) {
            if (rank == 0) fprintf(stderr, "usage: %s [-r rounds] [-l run] [entries ...]\n", *argv);
            MPI_Finalize();
            return 2;
        }
    }
    if (tutti__team_take(MPI_COMM_WORLD, "", &team)) stop(tutti_last_message());
    if (rank == 0)
        printf("%d ranks, %d rounds\n\n"
               "| entries | run | way | cpu s | wall s | peak B / entry | kept B / entry |\n"
               "| ---: | ---: | --- | ---: | ---: | ---: | ---: |\n",
               ranks, rounds);
    if (optind == argc) measure(1000000, run, rounds);
    for (int i = optind; i < argc; i++) measure(atoll(argv[i]), run, rounds);
    tutti__team_give(&team);
    MPI_Finalize();
    return 0;
}
