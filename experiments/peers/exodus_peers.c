/* Steps of a finite-element code by ours, PnetCDF and parallel netCDF-4, with the same numbers, taking turns within a
 * round.  Prints a markdown table: medians and quartiles of a whole run of STEPS steps.
 *
 * A mesh of N^3 nodes and (N - 1)^3 hexahedra in two blocks; V nodal variables, and V of each block.  Each rank has a part of the
 * elements with all their nodes, those at its border too:
 *
 *   boxes   bricks of elements: runs of N / 2 nodes in the file's order (on 4 ranks)
 *   cubes   cubes of 8^3 elements dealt out at random: runs of 8 to 9
 *
 *   ours, by id           begin, put of all variables, commit; the mesh was written before (put_mesh); nodes as the mesh has them
 *   ours, contiguous      the same, nodes and elements renumbered so that a rank's are one after the other
 *   PnetCDF               record variables with Exodus' names, CDF-5; every rank writes the nodes it owns:
 *     varn, put           a collective put_varn_all for each variable
 *     varn, iput          iput_varn of all, one wait_all
 *     contiguous, put     the file has the nodes of rank 0 first, then those of rank 1 ...: put_vara_all
 *     contiguous, iput    and iput_vara, one wait_all
 *   netCDF-4, contiguous  nc_put_vara, collective; it has no lists of runs
 *   netCDF-4, runs        nc_put_vara of each run, independent (only with --slow)
 *   limit                 every rank swaps the bytes of one slice of each variable and writes it to its place by pwrite, in calls of 1 MiB;
 *   limit, rank after rank    the same by turns.  No nodes change ranks.
 *
 * With --durable a step is on the disk when it is over: commits that are durable, ncmpi_sync, nc_sync, fsync.  Without, netCDF-4
 * keeps metadata in memory, and nobody else could read the step yet.  Files are made before the clock starts.  In the first round,
 * which does not count, the last step is read again and compared.
 *
 * usage: mpirun -n N exodus_peers DIR [--nodes N] [--variables V] [--steps S] [--rounds R] [--durable] [--cubes]
 *        [--only TEXT] [--slow]      |  exodus_peers DIR --sets N [--rounds R]: that many node sets, defined, written and read
 * SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_PNETCDF
#include <pnetcdf.h>
#endif
#ifdef HAVE_NETCDF
#include <netcdf.h>
#include <netcdf_par.h>
#endif
#include <tutti/tutti.h>
#include <tutti/exodus.h>
#include "process.h"

enum { MOST_ROUNDS = 101, MOST_VARIABLES = 16, SPACES = 3 /* nodes, two blocks */ };
static int rank, ranks, durable, cubes, slow;
static long edge = 100, variables = 4, steps = 10;
static char path[4096];

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "exodus_peers: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void must(int ok, const char *what) {
    if (!ok) fail(what);
}

static void must_tutti(tutti_err err) {
    if (err != TUTTI_OK) fail(tutti_last_message());
}

static void *room(tutti_count n, size_t size) {
    void *p = calloc((size_t)n + 1, size);
    if (!p) fail("no memory");
    return p;
}

/* ---- the mesh, and this rank's part */

/* Positions of nodes, or of elements of a block, in the file. */
typedef struct space {
    tutti_count all;
    tutti_count n, *position;          /* held here, ascending */
    tutti_count owned;                 /* ones, of each several ranks' only one's */
    tutti_count *own;                  /* [owned] places among those held */
    tutti_count first;                 /* where this rank's begin if they were contiguous */
    tutti_count *renumbered;           /* [n] positions then */
    tutti_count runs, *start, *length; /* of owned ones */
    double *put[MOST_VARIABLES], *got[MOST_VARIABLES]; /* [n] */
    double *packed[MOST_VARIABLES];                    /* [owned] */
} space;
static space at[SPACES];

static uint64_t mix(uint64_t v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

/* Whose an element is. */
static int owner_of(tutti_count e) {
    const tutti_count n = edge - 1, i = e / (n * n), j = e / n % n, k = e % n;
    if (cubes) {
        const tutti_count c = (n + 7) / 8;
        return (int)(mix((uint64_t)((i / 8 * c + j / 8) * c + k / 8) + 1) % (uint64_t)ranks);
    }
    int grid[3] = {1, 0, 0};
    MPI_Dims_create(ranks, 3, grid);
    return (int)((j * grid[1] / n) * grid[2] + k * grid[2] / n);
}

static tutti_count corner_of(tutti_count e, int c) {
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    const tutti_count n = edge - 1, i = e / (n * n), j = e / n % n, k = e % n;
    return ((i + corner[c][0]) * edge + j + corner[c][1]) * edge + k + corner[c][2];
}

static double value_of(int s, int v, int step, tutti_count position) {
    return (double)(position % 100003) + 1e6 * s + 1e7 * v + 0.5 * step;
}

/* From who[position], the lowest rank that has it, and held[position]. */
static void make_space(int which, tutti_count all, const unsigned char *held, const int *who) {
    space *s = &at[which];
    s->all = all;
    s->position = room(all, sizeof *s->position);
    s->own = room(all, sizeof *s->own);
    s->start = room(all, sizeof *s->start);
    s->length = room(all, sizeof *s->length);
    tutti_count *before = room(ranks, sizeof *before);
    for (tutti_count i = 0; i < all; i++) before[who[i]]++;
    for (int r = 0, sum = 0; r < ranks; r++) {
        const tutti_count n = before[r];
        before[r] = sum;
        sum += (int)n;
    }
    s->first = before[rank];
    s->renumbered = room(all, sizeof *s->renumbered);
    for (tutti_count i = 0; i < all; i++) {
        const tutti_count moved = before[who[i]]++;
        if (!held[i]) continue;
        s->renumbered[s->n] = moved;
        if (who[i] == rank) {
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
        s->put[v] = room(s->n, sizeof(double));
        s->got[v] = room(s->n, sizeof(double));
        s->packed[v] = room(s->owned, sizeof(double));
    }
}

static void deal(void) {
    const tutti_count n = edge - 1, elements = n * n * n, nodes = edge * edge * edge;
    const tutti_count half = n / 2 * n * n, begin[3] = {0, half, elements};
    int *who = room(nodes, sizeof *who), *owner = room(elements, sizeof *owner);
    unsigned char *held = room(nodes, 1);
    for (tutti_count i = 0; i < nodes; i++) who[i] = ranks;
    for (tutti_count e = 0; e < elements; e++) {
        owner[e] = owner_of(e);
        for (int c = 0; c < 8; c++) {
            const tutti_count i = corner_of(e, c);
            if (owner[e] == rank) held[i] = 1;
            if (owner[e] < who[i]) who[i] = owner[e];
        }
    }
    make_space(0, nodes, held, who);
    for (int b = 0; b < 2; b++) {
        const tutti_count in = begin[b + 1] - begin[b];
        for (tutti_count e = 0; e < in; e++) held[e] = owner[begin[b] + e] == rank;
        make_space(1 + b, in, held, owner + begin[b]);
    }
    free(who), free(owner), free(held);
}

static void fill(int step) {
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++) {
            for (tutti_count i = 0; i < at[s].n; i++)
                at[s].put[v][i] = value_of(s, v, step, at[s].position[i]);
            for (tutti_count i = 0; i < at[s].owned; i++)
                at[s].packed[v][i] = at[s].put[v][at[s].own[i]];
        }
}

static void remove_file(void) {
    char name[4200];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(path);
        snprintf(name, sizeof name, "%s.tutti", path);
        unlink(name);
        snprintf(name, sizeof name, "%s.tutti-journal", path);
        unlink(name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- ours */

static tutti_exodus *ours;

static void ours_open(int contiguous) {
    tutti_exodus_options opt;
    tutti_exodus_options_init(&opt);
    opt.level = durable ? TUTTI_DURABLE : TUTTI_VISIBLE;
    opt.overwrite = 1;
    char names[MOST_VARIABLES][16];
    const char *list[MOST_VARIABLES];
    for (int v = 0; v < variables; v++) {
        snprintf(names[v], sizeof names[v], "v%d", v);
        list[v] = names[v];
    }
    must_tutti(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &ours));
    must_tutti(tutti_exodus_init(ours, &(tutti_exodus_parameters){.title = "bench", .dims = 3}));
    must_tutti(tutti_exodus_define(
        ours, 2,
        (tutti_exodus_entity[]){
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8"},
            {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 2, .topology = "HEX8"}}));
    must_tutti(tutti_exodus_variables(ours, TUTTI_EXODUS_NODAL, (int)variables, list));
    must_tutti(tutti_exodus_variables(ours, TUTTI_EXODUS_ELEMENT_BLOCK, (int)variables, list));
    const tutti_count n = edge - 1, half = n / 2 * n * n;
    tutti_count *place = room(at[0].all, sizeof *place);
    int64_t *ids = room(at[0].n, sizeof *ids);
    double *x = room(at[0].n, sizeof *x);
    for (tutti_count i = 0; i < at[0].n; i++) {
        place[at[0].position[i]] = i;
        ids[i] = 1 + (contiguous ? at[0].renumbered[i] : at[0].position[i]);
        x[i] = (double)i;
    }
    tutti_exodus_elements blocks[2];
    for (int b = 0; b < 2; b++) {
        const space *s = &at[1 + b];
        int64_t *own = room(s->n, sizeof *own);
        tutti_count *nodes = room(8 * s->n, sizeof *nodes);
        for (tutti_count e = 0; e < s->n; e++) {
            own[e] = 1 + b * half + (contiguous ? s->renumbered[e] : s->position[e]);
            for (int c = 0; c < 8; c++)
                nodes[8 * e + c] = place[corner_of(b * half + s->position[e], c)];
        }
        blocks[b] = (tutti_exodus_elements){.n = s->n, .ids = own, .nodes = nodes};
    }
    must_tutti(tutti_exodus_put_mesh(
        ours, &(tutti_exodus_mesh){
                  .nodes = at[0].n, .node_ids = ids, .coordinates = {x, x, x}, .blocks = blocks}));
    for (int b = 0; b < 2; b++) free((void *)blocks[b].ids), free((void *)blocks[b].nodes);
    free(place), free(ids), free(x);
}

static int ours_fields(int got, tutti_exodus_field *out) {
    static char names[MOST_VARIABLES][16];
    int n = 0;
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++) {
            snprintf(names[v], sizeof names[v], "v%d", v);
            out[n++] =
                (tutti_exodus_field){.kind = s ? TUTTI_EXODUS_ELEMENT_BLOCK : TUTTI_EXODUS_NODAL,
                                     .id = s,
                                     .variable = names[v],
                                     .type = TUTTI_FLOAT64,
                                     .buf = got ? at[s].got[v] : at[s].put[v]};
        }
    return n;
}

static void ours_write(int contiguous, int step) {
    (void)contiguous;
    tutti_exodus_field fields[SPACES * MOST_VARIABLES];
    const int n = ours_fields(0, fields);
    must_tutti(tutti_exodus_begin(ours, 0.5 * step));
    must_tutti(tutti_exodus_put(ours, n, fields));
    must_tutti(tutti_exodus_commit(ours));
}

static void ours_check(int contiguous) {
    (void)contiguous;
    tutti_exodus_field fields[SPACES * MOST_VARIABLES];
    const int n = ours_fields(1, fields);
    must_tutti(tutti_exodus_get(ours, steps, n, fields));
}

static void ours_close(int contiguous) {
    (void)contiguous;
    must_tutti(tutti_exodus_close(&ours));
    remove_file();
}

/* ---- PnetCDF */

#if defined HAVE_PNETCDF || defined HAVE_NETCDF
static const char *variable_name(int s, int v) {
    static char name[32];
    if (s == 0)
        snprintf(name, sizeof name, "vals_nod_var%d", v + 1);
    else
        snprintf(name, sizeof name, "vals_elem_var%deb%d", v + 1, s);
    return name;
}
#endif

#ifdef HAVE_PNETCDF
static struct {
    int file, time, id[SPACES][MOST_VARIABLES];
    MPI_Offset **start[SPACES], **count[SPACES]; /* of runs */
} pn;

static void must_pn(int code) {
    if (code != NC_NOERR) fail(ncmpi_strerror(code));
}

/* Records have two dimensions: the step comes first, and changes. */
static void pn_runs(int s) {
    pn.start[s] = room(at[s].runs, sizeof **pn.start);
    pn.count[s] = room(at[s].runs, sizeof **pn.count);
    MPI_Offset *all = room(4 * at[s].runs, sizeof *all);
    for (tutti_count k = 0; k < at[s].runs; k++) {
        pn.start[s][k] = &all[4 * k];
        pn.count[s][k] = &all[4 * k + 2];
        pn.start[s][k][1] = at[s].start[k];
        pn.count[s][k][0] = 1;
        pn.count[s][k][1] = at[s].length[k];
    }
}

static void pn_open(int how) {
    int time, dim[2];
    for (int s = 0; s < SPACES && !pn.start[s]; s++) pn_runs(s);
    (void)how;
    must_pn(
        ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &pn.file));
    must_pn(ncmpi_def_dim(pn.file, "time_step", NC_UNLIMITED, &time));
    must_pn(ncmpi_def_var(pn.file, "time_whole", NC_DOUBLE, 1, &time, &pn.time));
    static const char *const names[] = {"num_nodes", "num_el_in_blk1", "num_el_in_blk2"};
    dim[0] = time;
    for (int s = 0; s < SPACES; s++) {
        must_pn(ncmpi_def_dim(pn.file, names[s], at[s].all, &dim[1]));
        for (int v = 0; v < variables; v++)
            must_pn(ncmpi_def_var(pn.file, variable_name(s, v), NC_DOUBLE, 2, dim, &pn.id[s][v]));
    }
    must_pn(ncmpi_enddef(pn.file));
}

enum { CONTIGUOUS = 1, IPUT = 2 };

static void pn_move(int how, int step, int write) {
    const MPI_Offset when = step;
    for (int s = 0; s < SPACES; s++) {
        const MPI_Offset start[2] = {when, at[s].first}, count[2] = {1, at[s].owned};
        const int runs = (int)at[s].runs;
        for (int k = 0; k < runs; k++) pn.start[s][k][0] = when;
        for (int v = 0; v < variables; v++) {
            const int id = pn.id[s][v];
            double *buf = write ? at[s].packed[v] : at[s].got[v];
            if (!write && how & CONTIGUOUS)
                must_pn(ncmpi_get_vara_double_all(pn.file, id, start, count, buf));
            else if (!write)
                must_pn(
                    ncmpi_get_varn_double_all(pn.file, id, runs, pn.start[s], pn.count[s], buf));
            else if (how == (CONTIGUOUS | IPUT))
                must_pn(ncmpi_iput_vara_double(pn.file, id, start, count, buf, NULL));
            else if (how == CONTIGUOUS)
                must_pn(ncmpi_put_vara_double_all(pn.file, id, start, count, buf));
            else if (how == IPUT)
                must_pn(
                    ncmpi_iput_varn_double(pn.file, id, runs, pn.start[s], pn.count[s], buf, NULL));
            else
                must_pn(
                    ncmpi_put_varn_double_all(pn.file, id, runs, pn.start[s], pn.count[s], buf));
        }
    }
}

static void pn_write(int how, int step) {
    const MPI_Offset start = step - 1, count = rank == 0;
    const double time = 0.5 * step;
    if (how & IPUT) {
        must_pn(ncmpi_iput_vara_double(pn.file, pn.time, &start, &count, &time, NULL));
        pn_move(how, step - 1, 1);
        must_pn(ncmpi_wait_all(pn.file, NC_REQ_ALL, NULL, NULL));
    } else {
        must_pn(ncmpi_put_vara_double_all(pn.file, pn.time, &start, &count, &time));
        pn_move(how, step - 1, 1);
    }
    if (durable) must_pn(ncmpi_sync(pn.file));
}

/* What was read, to its places. */
static void spread(void) {
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++) {
            double *all = room(at[s].n, sizeof *all);
            memcpy(all, at[s].put[v], (size_t)at[s].n * sizeof *all); /* others' nodes */
            for (tutti_count i = 0; i < at[s].owned; i++) all[at[s].own[i]] = at[s].got[v][i];
            memcpy(at[s].got[v], all, (size_t)at[s].n * sizeof *all);
            free(all);
        }
}

static void pn_check(int how) {
    pn_move(how, (int)steps - 1, 0);
    spread();
}

static void pn_finish(int how) {
    (void)how;
    must_pn(ncmpi_close(pn.file));
    remove_file();
}
#endif

/* ---- netCDF-4 */

#ifdef HAVE_NETCDF
static struct { int file, time, id[SPACES][MOST_VARIABLES]; } n4;

static void must_n4(int code) {
    if (code != NC_NOERR) fail(nc_strerror(code));
}

static void n4_open(int runs) {
    int time, dim[2], old;
    must_n4(nc_create_par(path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &n4.file));
    must_n4(nc_set_fill(n4.file, NC_NOFILL, &old));
    must_n4(nc_def_dim(n4.file, "time_step", NC_UNLIMITED, &time));
    must_n4(nc_def_var(n4.file, "time_whole", NC_DOUBLE, 1, &time, &n4.time));
    must_n4(nc_var_par_access(n4.file, n4.time, NC_COLLECTIVE));
    static const char *const names[] = {"num_nodes", "num_el_in_blk1", "num_el_in_blk2"};
    dim[0] = time;
    for (int s = 0; s < SPACES; s++) {
        must_n4(nc_def_dim(n4.file, names[s], (size_t)at[s].all, &dim[1]));
        for (int v = 0; v < variables; v++) {
            must_n4(nc_def_var(n4.file, variable_name(s, v), NC_DOUBLE, 2, dim, &n4.id[s][v]));
            must_n4(nc_var_par_access(n4.file, n4.id[s][v], runs ? NC_INDEPENDENT : NC_COLLECTIVE));
        }
    }
    must_n4(nc_enddef(n4.file));
}

static void n4_runs(int s, int v, size_t step, double *buf, int write) {
    for (tutti_count k = 0; k < at[s].runs; k++) {
        const size_t start[2] = {step, (size_t)at[s].start[k]};
        const size_t count[2] = {1, (size_t)at[s].length[k]};
        must_n4(write ? nc_put_vara_double(n4.file, n4.id[s][v], start, count, buf)
                      : nc_get_vara_double(n4.file, n4.id[s][v], start, count, buf));
        buf += at[s].length[k];
    }
}

static void n4_move(int runs, size_t step, int write) {
    for (int s = 0; s < SPACES; s++) {
        const size_t start[2] = {step, (size_t)at[s].first}, count[2] = {1, (size_t)at[s].owned};
        for (int v = 0; v < variables; v++) {
            double *buf = write ? at[s].packed[v] : at[s].got[v];
            /* Extending the record dimension is collective: the first access of a step. */
            if (runs && write) {
                must_n4(nc_var_par_access(n4.file, n4.id[s][v], NC_COLLECTIVE));
                const size_t one[2] = {1, at[s].runs > 0}, here[2] = {step, (size_t)at[s].start[0]};
                must_n4(nc_put_vara_double(n4.file, n4.id[s][v], here, one, buf));
                must_n4(nc_var_par_access(n4.file, n4.id[s][v], NC_INDEPENDENT));
            }
            if (runs)
                n4_runs(s, v, step, buf, write);
            else
                must_n4(write ? nc_put_vara_double(n4.file, n4.id[s][v], start, count, buf)
                              : nc_get_vara_double(n4.file, n4.id[s][v], start, count, buf));
        }
    }
}

static void n4_write(int runs, int step) {
    const size_t start = (size_t)step - 1, count = rank == 0;
    const double time = 0.5 * step;
    must_n4(nc_put_vara_double(n4.file, n4.time, &start, &count, &time));
    n4_move(runs, (size_t)step - 1, 1);
    if (durable) must_n4(nc_sync(n4.file));
}

static void n4_check(int runs) {
    n4_move(runs, (size_t)steps - 1, 0);
    spread();
}

static void n4_close(int runs) {
    (void)runs;
    must_n4(nc_close(n4.file));
    remove_file();
}
#endif

/* ---- the limit */

static int limit_fd;

static void limit_open(int turns) {
    (void)turns;
    limit_fd = open(path, O_RDWR | O_CREAT, 0666);
    must(limit_fd >= 0, "open");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void limit_share(int step) {
    enum { CALL = 1 << 17 }; /* numbers */
    static uint64_t swapped[CALL];
    off_t before = 4096;
    tutti_count record = 0;
    for (int s = 0; s < SPACES; s++) record += variables * at[s].all;
    before += (off_t)(step - 1) * record * 8;
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++, before += at[s].all * 8) {
            const tutti_count lo = at[s].all * rank / ranks, hi = at[s].all * (rank + 1) / ranks;
            for (tutti_count i = lo, n; i < hi; i += n) {
                n = hi - i < CALL ? hi - i : CALL;
                /* As many numbers as it has, from its own memory. */
                for (tutti_count j = 0; j < n; j++) {
                    uint64_t bits;
                    memcpy(&bits, &at[s].put[v][at[s].n ? (i - lo + j) % at[s].n : 0], 8);
                    swapped[j] = __builtin_bswap64(bits);
                }
                must(pwrite(limit_fd, swapped, (size_t)n * 8, before + i * 8) == n * 8, "pwrite");
            }
        }
}

static void limit_write(int turns, int step) {
    if (!turns) limit_share(step);
    for (int r = 0; r < ranks && turns; r++) {
        if (r == rank) limit_share(step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (durable) must(fsync(limit_fd) == 0, "fsync");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void limit_close(int turns) {
    (void)turns;
    close(limit_fd);
    remove_file();
}

/* ---- taking turns */

static const struct way {
    const char *name;
    int which;
    void (*open)(int), (*write)(int, int), (*check)(int), (*close)(int);
} ways[] = {
    {"ours, by id", 0, ours_open, ours_write, ours_check, ours_close},
    {"ours, contiguous", 1, ours_open, ours_write, ours_check, ours_close},
    {"limit", 0, limit_open, limit_write, NULL, limit_close},
    {"limit, rank after rank", 1, limit_open, limit_write, NULL, limit_close},
#ifdef HAVE_PNETCDF
    {"PnetCDF, varn, put", 0, pn_open, pn_write, pn_check, pn_finish},
    {"PnetCDF, varn, iput", IPUT, pn_open, pn_write, pn_check, pn_finish},
    {"PnetCDF, contiguous, put", CONTIGUOUS, pn_open, pn_write, pn_check, pn_finish},
    {"PnetCDF, contiguous, iput", CONTIGUOUS | IPUT, pn_open, pn_write, pn_check, pn_finish},
#endif
#ifdef HAVE_NETCDF
    {"netCDF-4, contiguous", 0, n4_open, n4_write, n4_check, n4_close},
    {"netCDF-4, runs", 1, n4_open, n4_write, n4_check, n4_close},
#endif
};
enum { WAYS = sizeof ways / sizeof ways[0] };
static double seconds[WAYS][MOST_ROUNDS];
static int chosen[WAYS];

static void compare(const char *who) {
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++)
            must(memcmp(at[s].put[v], at[s].got[v], (size_t)at[s].n * sizeof(double)) == 0, who);
}

static void run(int w, int round) {
    double took = 0;
    ways[w].open(ways[w].which);
    for (int step = 1; step <= steps; step++) {
        if (round == 0) fill(step);
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = clock_of(CLOCK_MONOTONIC);
        ways[w].write(ways[w].which, step);
        took += reduce(clock_of(CLOCK_MONOTONIC) - start, MPI_MAX);
    }
    if (round > 0) seconds[w][round - 1] = took;
    if (round == 0 && ways[w].check) {
        for (int s = 0; s < SPACES; s++)
            for (int v = 0; v < variables; v++)
                memset(at[s].got[v], 0, (size_t)at[s].n * sizeof(double));
        ways[w].check(ways[w].which);
        compare(ways[w].name);
    }
    ways[w].close(ways[w].which);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(int rounds) {
    double bytes = 0;
    for (int s = 0; s < SPACES; s++) bytes += 8.0 * (double)(variables * at[s].all);
    for (int w = 0; w < WAYS && rank == 0; w++) {
        double *s = seconds[w];
        if (!chosen[w]) continue;
        qsort(s, (size_t)rounds, sizeof *s, by_size);
        printf("| %s | %s | %s | %.1f | %.1f to %.1f | %.0f | %.2f |\n", cubes ? "cubes" : "boxes",
               durable ? "durable" : "visible", ways[w].name, 1e3 * s[rounds / 2] / (double)steps,
               1e3 * s[rounds / 4] / (double)steps,
               1e3 * s[rounds - 1 - rounds / 4] / (double)steps,
               bytes * (double)steps / s[rounds / 2] / 1e6, s[rounds / 2] / seconds[0][rounds / 2]);
    }
}

/* ---- many node sets */

static void sets(long n, int rounds) {
    enum { MEMBERS = 8 };
    const tutti_count nodes = 4 * n, mine = nodes / ranks + (rank < nodes % ranks);
    const tutti_count first = nodes / ranks * rank + (rank < nodes % ranks ? rank : nodes % ranks);
    int64_t *ids = room(mine, sizeof *ids);
    double *x = room(mine, sizeof *x);
    for (tutti_count i = 0; i < mine; i++) ids[i] = 1 + first + i, x[i] = (double)(first + i);
    tutti_exodus_entity *entity = room(n, sizeof *entity);
    tutti_exodus_members *members = room(n, sizeof *members);
    char(*names)[32] = room(n, sizeof *names);
    tutti_count *places = room(n * MEMBERS, sizeof *places), m = 0;
    for (long k = 0; k < n; k++) { /* members 4 k + 0 ... 7, of those this rank has */
        snprintf(names[k], sizeof names[k], "set_%ld", k);
        entity[k] = (tutti_exodus_entity){
            .kind = TUTTI_EXODUS_NODE_SET, .id = 10 + 3 * k, .name = names[k]};
        members[k].members = places + m;
        for (int i = 0; i < MEMBERS; i++) {
            const tutti_count node = (4 * k + i) % nodes;
            if (node < first || node >= first + mine) continue;
            places[m++] = node - first;
            members[k].n++;
        }
    }
    double put[MOST_ROUNDS], got[MOST_ROUNDS];
    for (int r = 0; r < rounds; r++) {
        tutti_exodus_options opt;
        tutti_exodus_options_init(&opt);
        opt.overwrite = 1;
        opt.level = durable ? TUTTI_DURABLE : TUTTI_VISIBLE;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = clock_of(CLOCK_MONOTONIC);
        must_tutti(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &ours));
        must_tutti(tutti_exodus_init(ours, &(tutti_exodus_parameters){.title = "sets", .dims = 1}));
        must_tutti(tutti_exodus_define(ours, n, entity));
        must_tutti(tutti_exodus_put_mesh(
            ours, &(tutti_exodus_mesh){
                      .nodes = mine, .node_ids = ids, .coordinates = {x}, .node_sets = members}));
        must_tutti(tutti_exodus_close(&ours));
        put[r] = reduce(clock_of(CLOCK_MONOTONIC) - start, MPI_MAX);
        start = clock_of(CLOCK_MONOTONIC);
        must_tutti(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &ours));
        tutti_exodus_array *arrays = room(n, sizeof *arrays);
        int64_t *list = room(n * MEMBERS, sizeof *list);
        for (long k = 0; k < n; k++) /* all of them on rank 0, as the serial program has them */
            arrays[k] = (tutti_exodus_array){.what = TUTTI_EXODUS_MEMBERS,
                                             .kind = TUTTI_EXODUS_NODE_SET,
                                             .id = entity[k].id,
                                             .n = rank == 0 ? MEMBERS : 0,
                                             .type = TUTTI_INT64,
                                             .buf = list + k * MEMBERS};
        must_tutti(tutti_exodus_get_arrays(ours, n, arrays));
        must_tutti(tutti_exodus_close(&ours));
        got[r] = reduce(clock_of(CLOCK_MONOTONIC) - start, MPI_MAX);
        for (long k = 0; k < n && rank == 0; k++)
            for (int i = 0; i < MEMBERS && 4 * k + i < nodes; i++)
                must(k == n - 1 || list[k * MEMBERS + i] == 4 * k + i + 1, "a member is wrong");
        free(arrays), free(list);
        remove_file();
    }
    qsort(put, (size_t)rounds, sizeof *put, by_size);
    qsort(got, (size_t)rounds, sizeof *got, by_size);
    if (rank == 0)
        printf("%ld node sets of %d, %d ranks, %d rounds: defined and written in %.3f s (%.3f to "
               "%.3f), "
               "read in %.3f s (%.3f to %.3f)\n",
               n, MEMBERS, ranks, rounds, put[rounds / 2], put[0], put[rounds - 1], got[rounds / 2],
               got[0], got[rounds - 1]);
    free(ids), free(x), free(entity), free(members), free(names), free(places);
}

int main(int argc, char **argv) {
    long rounds = 5, many = 0;
    const char *only = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2)
        fail("usage: exodus_peers DIR [--nodes N] [--rounds N] [--durable] [--cubes] ...");
    snprintf(path, sizeof path, "%s/exodus_peers.e", argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--durable") == 0) durable = 1;
        if (strcmp(argv[i], "--cubes") == 0) cubes = 1;
        if (strcmp(argv[i], "--slow") == 0) slow = 1;
        if (strcmp(argv[i], "--nodes") == 0) edge = strtol(value, NULL, 10);
        if (strcmp(argv[i], "--variables") == 0) variables = strtol(value, NULL, 10);
        if (strcmp(argv[i], "--steps") == 0) steps = strtol(value, NULL, 10);
        if (strcmp(argv[i], "--rounds") == 0) rounds = strtol(value, NULL, 10);
        if (strcmp(argv[i], "--sets") == 0) many = strtol(value, NULL, 10);
        if (strcmp(argv[i], "--only") == 0) only = value;
    }
    must(edge >= 10 && edge <= 1000, "--nodes: 10 to 1000 along an edge");
    must(variables >= 1 && variables <= MOST_VARIABLES, "--variables: 1 to 16");
    must(rounds >= 1 && rounds < MOST_ROUNDS, "--rounds: 1 to 100");
    must(steps >= 1, "--steps: 1 or more");
    if (many > 0) {
        sets(many, (int)rounds);
        MPI_Finalize();
        return 0;
    }
    deal();
    fill(1);
    if (rank == 0)
        printf("%d ranks, %ld^3 nodes, %ld variables of nodes and of elements, %ld steps, %ld "
               "rounds\n\n"
               "| parts | | way | ms a step | quartiles | MB/s | of ours "
               "|\n|---|---|---|--:|--:|--:|--:|\n",
               ranks, edge, variables, steps, rounds);
    for (int w = 0; w < WAYS; w++)
        chosen[w] = (!only || w == 0 || strstr(only, ways[w].name) || strstr(ways[w].name, only)) &&
                    (slow || strcmp(ways[w].name, "netCDF-4, runs") != 0);
    for (int round = 0; round <= rounds; round++)
        for (int i = 0; i < WAYS; i++)
            if (chosen[(i + round) % WAYS]) run((i + round) % WAYS, round);
    report((int)rounds);
    MPI_Finalize();
    return 0;
}
