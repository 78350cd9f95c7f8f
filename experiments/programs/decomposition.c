/* Time and memory of creating a decomposition, summed over all ranks.
 *
 * The space has the given number of entries; runs of --run entries are distributed to the ranks at
 * random, every 16th run to two ranks.  The id map is a pseudo-random permutation.
 *
 *   index    by index: positions are known, writers are chosen
 *   value    by value: ids are first converted to positions by the id map
 *   slices   the same number of entries as a block of a grid
 *   plain    a reference implementation of the conversion in `value`: ids and map are sent to rank
 *            (id mod ranks) by MPI_Alltoallv and matched in a hash table; another exchange returns
 *            the positions; no writers are chosen
 *
 *   cpu_seconds   processor time of all ranks, which includes waiting, since a waiting rank polls
 *   peak_bytes    maximum resident memory of a rank beyond that before the call, per entry on the rank
 *   kept_bytes    the same after the call has returned
 *
 * usage: mpirun -n N decomposition [--rounds N] [--run N] [entries ...]   default: 1000000
 * SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "measure/standalone.h"
#include "decomposition/decomposition.h"
#include "decomposition/rules.h"

enum { INDEX, VALUE, SLICES, PLAIN, KINDS };
static const char *const names[KINDS] = {"index", "value", "slices", "plain"};
static tutti__team *team;

/* ---- the space */

/* Return the id of a position.  Ids are unique for positions below 2^31 - 1, which is prime. */
static int64_t id_at(tutti_count position) {
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
    tutti_count *index; /* [n] positions of this rank's entries */
    int64_t *ids;       /* [n] ids of this rank's entries */
    tutti__decomposed list, grid;
} mesh;

static int check_holds(tutti_count run) {
    const uint64_t h = tutti__scramble((uint64_t)run);
    return (int)(h % (uint64_t)standalone_ranks) == standalone_rank ||
           (run % 16 == 0 && (int)((h >> 32) % (uint64_t)standalone_ranks) == standalone_rank);
}

static mesh mesh_of(tutti_count entries, tutti_count run) {
    mesh m = {.entries = entries};
    for (int fill = 0; fill < 2; fill++) {
        m.n = 0;
        for (tutti_count r = 0; r * run < entries; r++)
            for (tutti_count i = r * run; i < entries && i < (r + 1) * run && check_holds(r);
                 i++, m.n++)
                if (fill) {
                    m.index[m.n] = i;
                    m.ids[m.n] = id_at(i);
                }
        if (fill) break;
        m.index = standalone_alloc((size_t)m.n, sizeof *m.index);
        m.ids = standalone_alloc((size_t)m.n, sizeof *m.ids);
    }
    m.list = (tutti__decomposed){
        .name = "nodes",
        .view = {.ndims = 1, .shape = {entries}, .entries = entries, .stamp = 1, .has_ids = 1},
        .ids = ids_of};
    m.grid = m.list;
    m.grid.view.ndims = 2;
    m.grid.view.has_ids = 0;
    m.grid.view.shape[0] = standalone_ranks;
    m.grid.view.shape[1] = entries / standalone_ranks;
    m.grid.view.entries = standalone_ranks * (entries / standalone_ranks);
    return m;
}

/* ---- reference implementation */

typedef struct {
    int64_t id, position; /* -1: position requested */
} id_record;

/* Exchange records: many[r] records for rank r, from[r] records from rank r; *in_out must be freed. */
static int swap_bytes(const id_record *out, const int *many, int *from, id_record **in_out) {
    int *to_at = standalone_alloc((size_t)standalone_ranks, sizeof *to_at),
        *from_at = standalone_alloc((size_t)standalone_ranks, sizeof *from_at), all = 0;
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT64_T, &two);
    MPI_Type_commit(&two);
    MPI_Alltoall(many, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0, at = 0; k < standalone_ranks; k++) {
        to_at[k] = at;
        from_at[k] = all;
        at += many[k];
        all += from[k];
    }
    *in_out = standalone_alloc((size_t)all, sizeof **in_out);
    MPI_Alltoallv(out, many, to_at, two, *in_out, from, from_at, two, MPI_COMM_WORLD);
    MPI_Type_free(&two);
    free(to_at);
    free(from_at);
    return all;
}

static void join_plainly(const mesh *m) {
    const tutti_count lo = m->entries * standalone_rank / standalone_ranks,
                      hi = m->entries * (standalone_rank + 1) / standalone_ranks;
    const tutti_count all = m->n + hi - lo;
    id_record *out = standalone_alloc((size_t)all, sizeof *out), *in = NULL, *back = NULL;
    int *many = standalone_alloc((size_t)standalone_ranks, sizeof *many);
    int *from = standalone_alloc((size_t)standalone_ranks, sizeof *from);
    tutti_count *at = standalone_alloc((size_t)standalone_ranks, sizeof *at), slots = 1;
    for (int pass = 0; pass < 2; pass++) { /* pass 0: count; pass 1: fill */
        for (tutti_count i = 0; i < all; i++) {
            const int64_t id = i < m->n ? m->ids[i] : id_at(lo + i - m->n);
            const int to = (int)(id % standalone_ranks);
            if (pass == 0)
                many[to]++;
            else
                out[at[to]++] = (id_record){id, i < m->n ? -1 : lo + i - m->n};
        }
        for (int k = 0, sum = 0; k < standalone_ranks && pass == 0; sum += many[k++]) at[k] = sum;
    }
    const int got = swap_bytes(out, many, from, &in);
    while (slots < 2 * (tutti_count)got + 1) slots *= 2;
    id_record *table = standalone_alloc((size_t)slots, sizeof *table);
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
    const int came = swap_bytes(in, from, many, &back);
    for (int i = 0; i < came; i++)
        if (id_at(back[i].position) != back[i].id)
            standalone_fail("the reference join gives a wrong result");
    free(table);
    free(out);
    free(in);
    free(back);
    free(many);
    free(from);
    free(at);
}

/* ---- measuring */

static void run_case(measure *mm, measure_variant *v, double *value) {
    const mesh *m = mm->data;
    const int kind = (int)((const char *const *)v->what - names);
    tutti_decomposition_spec spec = {.kind = kind == INDEX ? TUTTI_BY_INDEX : TUTTI_BY_VALUE,
                                     .n = m->n,
                                     .index = kind == INDEX ? m->index : NULL,
                                     .ids = kind == VALUE ? m->ids : NULL,
                                     .whole = 1};
    tutti_decomposition *p = NULL;
    if (kind == SLICES) {
        spec.kind = TUTTI_BY_SLICE;
        spec.n = 0;
        spec.slice = tutti_slice_all(2, m->grid.view.shape);
        spec.slice.lo[0] = standalone_rank;
        spec.slice.hi[0] = standalone_rank + 1;
    }
    malloc_trim(0);
    measure_reset_peak();
    const double before = measure_status("VmRSS"), n = (double)(m->n > 0 ? m->n : 1);
    const double start = standalone_together(), cpu = measure_cpu();
    if (kind == PLAIN)
        join_plainly(m);
    else if (tutti__decomposition_make(team, kind == SLICES ? &m->grid : &m->list, &spec, TUTTI_OK,
                                       &p))
        standalone_fail("%s", tutti_last_message());
    value[1] = standalone_sum(measure_cpu() - cpu);
    value[0] = standalone_slowest(measure_now() - start);
    value[2] = standalone_slowest((measure_status("VmHWM") - before) / n);
    malloc_trim(0);
    value[3] = standalone_slowest((measure_status("VmRSS") - before) / n);
    tutti_decomposition_free(&p);
}

static void measure_entries(tutti_count entries, tutti_count run_length, int rounds) {
    static const char *const values[] = {"seconds", "cpu_seconds", "peak_bytes", "kept_bytes",
                                         NULL};
    mesh m = mesh_of(entries, run_length);
    char title[48];
    snprintf(title, sizeof title, "%lld entries, runs of %lld", (long long)entries,
             (long long)run_length);
    measure mm = {.title = title,
                  .values = values,
                  .rounds = rounds,
                  .warmup = 1,
                  .data = &m,
                  .run = run_case};
    for (int i = 0; i < KINDS; i++) measure_add(&mm, names[i], &names[i]);
    measure_rounds(&mm);
    standalone_report(&mm, "");
    free(m.index);
    free(m.ids);
}

int main(int argc, char **argv) {
    long rounds = 7, run_length = 8;
    const standalone_option options[] = {{"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--run", OPTION_NUMBER, &run_length, 1, 0},
                                         {0}};
    const standalone program = {"decomposition", "[entries ...]", options, 0};
    const int n = standalone_start_mpi(&program, &argc, &argv);
    if (tutti__team_take(MPI_COMM_WORLD, "", &team)) standalone_fail("%s", tutti_last_message());
    if (n == 0) measure_entries(1000000, run_length, (int)rounds);
    for (int i = 0; i < n; i++) measure_entries(atoll(argv[i]), run_length, (int)rounds);
    tutti__team_give(&team);
    return standalone_end_mpi();
}
