/* exodus_peers: steps by PnetCDF and parallel netCDF-4, with the names of Exodus.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_PNETCDF
#include <pnetcdf.h>
#endif
#ifdef HAVE_NETCDF
#include <netcdf.h>
#include <netcdf_par.h>
#endif
#include "exodus_peers.h"

#if defined HAVE_PNETCDF || defined HAVE_NETCDF
/* Copy the owned values that were read to all entries; entries owned by other ranks keep the written values. */
static void spread_items(void) {
    for (int s = 0; s < SPACES; s++)
        for (int v = 0; v < variables; v++) {
            double *all = standalone_alloc((size_t)at[s].n, sizeof *all);
            /* entries of other ranks keep the written values */
            memcpy(all, at[s].put[v], (size_t)at[s].n * sizeof *all);
            for (tutti_count i = 0; i < at[s].owned; i++) all[at[s].own[i]] = at[s].got[v][i];
            memcpy(at[s].got[v], all, (size_t)at[s].n * sizeof *all);
            free(all);
        }
}

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
    MPI_Offset **start[SPACES], **count[SPACES]; /* start and count of each run */
} pn;

static void must_pn(int code) {
    standalone_check(code == NC_NOERR, ncmpi_strerror(code));
}

/* Create start and count of each run; the first dimension of a record variable is the step. */
static void pn_runs(int s) {
    pn.start[s] = standalone_alloc((size_t)at[s].runs, sizeof **pn.start);
    pn.count[s] = standalone_alloc((size_t)at[s].runs, sizeof **pn.count);
    MPI_Offset *all = standalone_alloc((size_t)4 * at[s].runs, sizeof *all);
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
    const MPI_Offset start = step - 1, count = standalone_rank == 0;
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

static void pn_check(int how) {
    pn_move(how, (int)steps - 1, 0);
    spread_items();
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
    standalone_check(code == NC_NOERR, nc_strerror(code));
}

/* Kinds of access: values of the argument `which`. */
enum { N4_COLLECTIVE, N4_RUNS, N4_INDEPENDENT };

static void n4_open(int which) {
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
            must_n4(
                nc_var_par_access(n4.file, n4.id[s][v], which ? NC_INDEPENDENT : NC_COLLECTIVE));
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

static void n4_move(int which, size_t step, int write) {
    for (int s = 0; s < SPACES; s++) {
        const size_t start[2] = {step, (size_t)at[s].first}, count[2] = {1, (size_t)at[s].owned};
        for (int v = 0; v < variables; v++) {
            double *buf = write ? at[s].packed[v] : at[s].got[v];
            /* Extending the record dimension requires a collective call: the first access of a step. */
            if (which && write) {
                must_n4(nc_var_par_access(n4.file, n4.id[s][v], NC_COLLECTIVE));
                const tutti_count from = which == N4_RUNS ? at[s].start[0] : at[s].first;
                const size_t one[2] = {1, at[s].owned > 0}, here[2] = {step, (size_t)from};
                must_n4(nc_put_vara_double(n4.file, n4.id[s][v], here, one, buf));
                must_n4(nc_var_par_access(n4.file, n4.id[s][v], NC_INDEPENDENT));
            }
            if (which == N4_RUNS)
                n4_runs(s, v, step, buf, write);
            else
                must_n4(write ? nc_put_vara_double(n4.file, n4.id[s][v], start, count, buf)
                              : nc_get_vara_double(n4.file, n4.id[s][v], start, count, buf));
        }
    }
}

static void n4_write(int which, int step) {
    const size_t start = (size_t)step - 1, count = standalone_rank == 0;
    const double time = 0.5 * step;
    must_n4(nc_put_vara_double(n4.file, n4.time, &start, &count, &time));
    n4_move(which, (size_t)step - 1, 1);
    if (durable) must_n4(nc_sync(n4.file));
}

static void n4_check(int which) {
    n4_move(which, (size_t)steps - 1, 0);
    spread_items();
}

static void n4_close(int which) {
    (void)which;
    must_n4(nc_close(n4.file));
    remove_file();
}
#endif

const method netcdf_methods[] = {
#ifdef HAVE_PNETCDF
    {"PnetCDF, varn, put", 0, pn_open, pn_write, pn_check, pn_finish},
    {"PnetCDF, varn, iput", IPUT, pn_open, pn_write, pn_check, pn_finish},
    {"PnetCDF, contiguous, put", CONTIGUOUS, pn_open, pn_write, pn_check, pn_finish},
    {"PnetCDF, contiguous, iput", CONTIGUOUS | IPUT, pn_open, pn_write, pn_check, pn_finish},
#endif
#ifdef HAVE_NETCDF
    {"netCDF-4, contiguous", N4_COLLECTIVE, n4_open, n4_write, n4_check, n4_close},
    {"netCDF-4, contiguous, independent", N4_INDEPENDENT, n4_open, n4_write, n4_check, n4_close},
    {"netCDF-4, runs", N4_RUNS, n4_open, n4_write, n4_check, n4_close},
#endif
    {0},
};
