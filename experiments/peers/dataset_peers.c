/* A step of 8 variables by datasets, parallel HDF5 and PnetCDF, with the same values, in
 * interleaved rounds.
 *
 *   dataset   open dataset, decomposition and plan of the previous step: begin, put, commit
 *   HDF5      open file, selections created before: H5Dcreate and H5Dwrite for each variable,
 *             contiguous or in chunks of a rank's share (1-D: 1 MiB), collective; contiguous also
 *             independent, with variables aligned to 1 MiB, which is the fastest setting if each
 *             rank has one contiguous part
 *   PnetCDF   open file (CDF-5, which is big-endian) with defined variables: iput, one wait_all
 *
 * With --durable: durable commits, H5Fflush (which calls fsync, as MPI_File_sync), ncmpi_sync.
 * Without it, HDF5 keeps its metadata in memory: no other process could read the step.  Files are
 * created for each round before the timed part; datasets erase the step afterwards.  In the warm-up
 * round all data is read again and compared.
 *
 * Cases: blocks; 2d: blocks of a matrix; nodes: runs of 64 (mean) distributed at random, in HDF5 a
 * union of hyperslabs, in PnetCDF varn; float32: from float64 in memory; big: big-endian.
 *
 * usage: mpirun -n N dataset_peers DIRECTORY [--size BYTES] [--rounds N] [--durable] [--cases a,b]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_PNETCDF
#include <pnetcdf.h>
#endif
#include <tutti/tutti.h>
#include "measure/standalone.h"

enum { VARIABLES = 8, RUN = 64 };
static int durable;
static char path[4096];

static void must_tutti(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

/* ---- cases */

typedef struct {
    const char *name;
    int dims, runs, narrow, big;
} job;

static const job jobs[] = {{"blocks", 1, 0, 0, 0},
                           {"2d", 2, 0, 0, 0},
                           {"nodes", 1, 1, 0, 0},
                           {"float32", 1, 0, 1, 0},
                           {"big", 1, 0, 0, 1}};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* The entries of this rank: a block, or runs. */
static struct {
    const job *of;
    tutti_count shape[2], lo[2], hi[2];
    tutti_count n; /* number of entries */
    tutti_count runs, *start, *length;
    tutti_count *position; /* [n] positions of the entries in the space */
    double *put[VARIABLES], *got[VARIABLES];
} local;

static double value_at(tutti_count position, int v) {
    /* float32 represents the value exactly */
    return (double)((position * VARIABLES + v) & 0xffffff);
}

static void distribute_runs(tutti_count each) {
    const tutti_count all = each * standalone_ranks, most = each + each / 4 + 4096;
    uint64_t state = 1;
    local.start = standalone_alloc((size_t)all / RUN * 4, sizeof *local.start);
    local.length = standalone_alloc((size_t)all / RUN * 4, sizeof *local.length);
    local.position = standalone_alloc((size_t)most, sizeof *local.position);
    local.n = local.runs = 0;
    for (tutti_count at = 0; at < all;) {
        state = measure_hash(state + 0x9e3779b97f4a7c15u);
        const int owner = (int)(state % (uint64_t)standalone_ranks);
        tutti_count length = 1 + (tutti_count)((state >> 32) % (2 * RUN - 1));
        if (length > all - at) length = all - at;
        if (owner == standalone_rank) {
            const tutti_count k = local.runs;
            const int joins = k > 0 && local.start[k - 1] + local.length[k - 1] == at;
            if (joins) local.length[k - 1] += length;
            if (!joins) local.start[k] = at, local.length[k] = length, local.runs++;
            for (tutti_count i = 0; i < length; i++) local.position[local.n++] = at + i;
        }
        at += length;
    }
    standalone_check(local.n <= most, "runs");
}

static void distribute_block(tutti_count each, int dims) {
    int grid[2] = {0, dims == 1 ? 1 : 0};
    MPI_Dims_create(standalone_ranks, 2, grid);
    const tutti_count rows = dims == 1 ? each : 1024, columns = each / rows;
    const tutti_count at[2] = {standalone_rank / grid[1], standalone_rank % grid[1]},
                      part[2] = {rows, columns};
    local.n = rows * columns;
    local.position = standalone_alloc((size_t)local.n, sizeof *local.position);
    for (int d = 0; d < 2; d++) {
        local.shape[d] = part[d] * grid[d];
        local.lo[d] = part[d] * at[d];
        local.hi[d] = local.lo[d] + part[d];
    }
    for (tutti_count i = 0; i < local.n; i++)
        local.position[i] =
            (local.lo[0] + i / columns) * local.shape[1] + local.lo[1] + i % columns;
}

static void distribute_items(const job *of, tutti_count each) {
    local.of = of;
    local.shape[0] = each * standalone_ranks;
    local.shape[1] = 1;
    if (of->runs)
        distribute_runs(each);
    else
        distribute_block(each, of->dims);
    for (int v = 0; v < VARIABLES; v++) {
        local.put[v] = standalone_alloc((size_t)local.n, sizeof(double));
        local.got[v] = standalone_alloc((size_t)local.n, sizeof(double));
        for (tutti_count i = 0; i < local.n; i++) local.put[v][i] = value_at(local.position[i], v);
    }
}

static void free_share(void) {
    for (int v = 0; v < VARIABLES; v++) free(local.put[v]), free(local.got[v]);
    free(local.position), free(local.start), free(local.length);
    local.start = local.length = NULL;
}

static const char *variable_name(int v) {
    static char name[16];
    snprintf(name, sizeof name, "v%d", v);
    return name;
}

/* ---- datasets */

static struct ours {
    tutti_dataset *d;
    tutti_decomposition *p;
    int64_t step;
} ours[3];

static void ours_put(struct ours *o, int n) {
    tutti_put puts[VARIABLES];
    char names[VARIABLES][16];
    for (int v = 0; v < n; v++) {
        snprintf(names[v], sizeof names[v], "v%d", v);
        puts[v] = (tutti_put){names[v], o->p, TUTTI_FLOAT64, local.put[v]};
    }
    must_tutti(tutti_dataset_begin(o->d, TUTTI_STATE, o->step, (double)o->step));
    must_tutti(tutti_dataset_put(o->d, n, puts));
    must_tutti(tutti_dataset_commit(o->d));
    o->step++;
}

static void ours_open(int which) {
    struct ours *o = &ours[which];
    char name[4200];
    tutti_dataset_options opt;
    if (o->d) return;
    snprintf(name, sizeof name, "%s.%d", path, which);
    tutti_dataset_options_init(&opt);
    opt.level = durable ? TUTTI_DURABLE : TUTTI_VISIBLE;
    opt.checksums = which != 1;
    must_tutti(tutti_dataset_open(MPI_COMM_WORLD, name,
                                  TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                                  &o->d));
    must_tutti(tutti_dataset_grid(o->d, "space", local.of->dims, local.shape));
    for (int v = 0; v < VARIABLES; v++)
        must_tutti(tutti_dataset_variable(
            o->d, variable_name(v),
            &(tutti_variable_spec){.space = "space",
                                   .type = local.of->narrow ? TUTTI_FLOAT32 : TUTTI_FLOAT64,
                                   .layout = which == 2 ? TUTTI_RANKED : TUTTI_GLOBAL,
                                   .order = local.of->big ? TUTTI_BIG_ENDIAN : 0}));
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE, .whole = 1};
    if (local.of->runs) {
        spec.kind = TUTTI_BY_INDEX;
        spec.n = local.n;
        spec.index = local.position;
    }
    for (int d = 0; d < local.of->dims && !local.of->runs; d++) {
        spec.slice.lo[d] = local.lo[d];
        spec.slice.hi[d] = local.hi[d];
    }
    must_tutti(tutti_decomposition_create(o->d, "space", &spec, &o->p));
    ours_put(o, 1); /* this segment also gets the lists of entries */
}

static void ours_write(int which) {
    ours_put(&ours[which], VARIABLES);
}

static void ours_check(int which) {
    struct ours *o = &ours[which];
    for (int v = 0; v < VARIABLES; v++) {
        const tutti_get get = {variable_name(v), o->p, TUTTI_FLOAT64, local.got[v]};
        must_tutti(tutti_dataset_get(o->d, tutti_dataset_segments(o->d) - 1, 1, &get));
    }
}

static void ours_close(int which) {
    must_tutti(tutti_dataset_erase_after(ours[which].d, 0));
}

static void ours_end(void) {
    for (int i = 0; i < 3; i++) {
        char name[4300];
        if (!ours[i].d) continue;
        tutti_decomposition_free(&ours[i].p);
        must_tutti(tutti_dataset_close(&ours[i].d));
        ours[i] = (struct ours){0};
        MPI_Barrier(MPI_COMM_WORLD);
        static const char *const files[] = {"metadata.sqlite", "data-000001.tutti", "writer.lock",
                                            "metadata.sqlite-journal"};
        for (size_t k = 0; k < sizeof files / sizeof files[0] && standalone_rank == 0; k++) {
            snprintf(name, sizeof name, "%s.%d/%s", path, i, files[k]);
            unlink(name);
        }
        snprintf(name, sizeof name, "%s.%d", path, i);
        if (standalone_rank == 0) rmdir(name);
    }
}

/* ---- HDF5 */

enum { H5_CONTIGUOUS, H5_CHUNKED, H5_INDEPENDENT };
static struct { hid_t file, space, memory, create, how, set[VARIABLES]; } h5 = {.space = -1};

/* Create the selection once per case: with this many runs, creating it takes longer than writing. */
static void h5_select(void) {
    const hsize_t shape[2] = {(hsize_t)local.shape[0], (hsize_t)local.shape[1]};
    const hsize_t n = (hsize_t)local.n;
    h5.space = H5Screate_simple(local.of->dims, shape, NULL);
    h5.memory = H5Screate_simple(1, &n, NULL);
    if (!local.of->runs) {
        hsize_t start[2], count[2];
        for (int d = 0; d < 2; d++) {
            start[d] = (hsize_t)local.lo[d];
            count[d] = (hsize_t)(local.hi[d] - local.lo[d]);
        }
        H5Sselect_hyperslab(h5.space, H5S_SELECT_SET, start, NULL, count, NULL);
        return;
    }
    H5Sselect_none(h5.space);
    for (tutti_count k = 0; k < local.runs; k++) {
        const hsize_t start = (hsize_t)local.start[k], count = (hsize_t)local.length[k];
        H5Sselect_hyperslab(h5.space, H5S_SELECT_OR, &start, NULL, &count, NULL);
    }
}

static void h5_open(int which) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (h5.space < 0) h5_select();
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    if (which == H5_INDEPENDENT) H5Pset_alignment(access, 65536, 1 << 20);
    h5.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    standalone_check(h5.file >= 0, "H5Fcreate");
    H5Pclose(access);
    h5.create = H5Pcreate(H5P_DATASET_CREATE);
    h5.how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fill_time(h5.create, H5D_FILL_TIME_NEVER);
    H5Pset_dxpl_mpio(h5.how,
                     which == H5_INDEPENDENT ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    hsize_t chunk[2] = {131072, 0};
    if (local.of->dims == 2)
        for (int d = 0; d < 2; d++) chunk[d] = (hsize_t)(local.hi[d] - local.lo[d]);
    if (local.of->dims == 1 && chunk[0] > (hsize_t)local.shape[0])
        chunk[0] = (hsize_t)local.shape[0];
    if (which == H5_CHUNKED) H5Pset_chunk(h5.create, local.of->dims, chunk);
}

static void h5_write(int chunked) {
    (void)chunked;
    const hid_t type = local.of->narrow ? H5T_IEEE_F32LE
                       : local.of->big  ? H5T_IEEE_F64BE
                                        : H5T_IEEE_F64LE;
    for (int v = 0; v < VARIABLES; v++) {
        h5.set[v] = H5Dcreate2(h5.file, variable_name(v), type, h5.space, H5P_DEFAULT, h5.create,
                               H5P_DEFAULT);
        standalone_check(h5.set[v] >= 0, "H5Dcreate");
        standalone_check(
            H5Dwrite(h5.set[v], H5T_NATIVE_DOUBLE, h5.memory, h5.space, h5.how, local.put[v]) >= 0,
            "H5Dwrite");
    }
    if (durable) standalone_check(H5Fflush(h5.file, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush");
}

static void h5_check(int chunked) {
    (void)chunked;
    for (int v = 0; v < VARIABLES; v++)
        standalone_check(
            H5Dread(h5.set[v], H5T_NATIVE_DOUBLE, h5.memory, h5.space, h5.how, local.got[v]) >= 0,
            "H5Dread");
}

static void h5_close(int chunked) {
    (void)chunked;
    for (int v = 0; v < VARIABLES; v++) H5Dclose(h5.set[v]);
    H5Pclose(h5.create);
    H5Pclose(h5.how);
    H5Fclose(h5.file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (standalone_rank == 0) unlink(path);
}

static void h5_end(void) {
    if (h5.space < 0) return;
    H5Sclose(h5.space);
    H5Sclose(h5.memory);
    h5.space = -1;
}

/* ---- PnetCDF */

#ifdef HAVE_PNETCDF
static struct {
    int file, variable[VARIABLES];
    MPI_Offset **start, **count; /* [runs] start and length of each run */
} nc;

static void must_nc(int code) {
    standalone_check(code == NC_NOERR, ncmpi_strerror(code));
}

static void nc_runs(void) {
    nc.start = standalone_alloc((size_t)local.runs, sizeof *nc.start);
    nc.count = standalone_alloc((size_t)local.runs, sizeof *nc.count);
    MPI_Offset *all = standalone_alloc(2 * (size_t)local.runs, sizeof *all);
    for (tutti_count k = 0; k < local.runs; k++) {
        nc.start[k] = &all[2 * k];
        nc.count[k] = &all[2 * k + 1];
        *nc.start[k] = local.start[k];
        *nc.count[k] = local.length[k];
    }
    if (local.runs == 0) free(all);
}

static void nc_open(int unused) {
    int dims[2];
    (void)unused;
    if (local.of->runs && !nc.start) nc_runs();
    must_nc(
        ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &nc.file));
    for (int d = 0; d < local.of->dims; d++)
        must_nc(ncmpi_def_dim(nc.file, d ? "x" : "y", local.shape[d], &dims[d]));
    for (int v = 0; v < VARIABLES; v++)
        must_nc(ncmpi_def_var(nc.file, variable_name(v), local.of->narrow ? NC_FLOAT : NC_DOUBLE,
                              local.of->dims, dims, &nc.variable[v]));
    must_nc(ncmpi_enddef(nc.file));
}

static void nc_move(int write) {
    const MPI_Offset start[2] = {local.lo[0], local.lo[1]};
    const MPI_Offset count[2] = {local.hi[0] - local.lo[0], local.hi[1] - local.lo[1]};
    for (int v = 0; v < VARIABLES; v++) {
        const int id = nc.variable[v];
        if (local.of->runs && write)
            must_nc(ncmpi_iput_varn_double(nc.file, id, (int)local.runs, nc.start, nc.count,
                                           local.put[v], NULL));
        else if (local.of->runs)
            must_nc(ncmpi_iget_varn_double(nc.file, id, (int)local.runs, nc.start, nc.count,
                                           local.got[v], NULL));
        else
            must_nc(write ? ncmpi_iput_vara_double(nc.file, id, start, count, local.put[v], NULL)
                          : ncmpi_iget_vara_double(nc.file, id, start, count, local.got[v], NULL));
    }
    must_nc(ncmpi_wait_all(nc.file, NC_REQ_ALL, NULL, NULL));
}

static void nc_write(int unused) {
    (void)unused;
    nc_move(1);
    if (durable) must_nc(ncmpi_sync(nc.file));
}

static void nc_check(int unused) {
    (void)unused;
    nc_move(0);
}

static void nc_close(int unused) {
    (void)unused;
    must_nc(ncmpi_close(nc.file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (standalone_rank == 0) unlink(path);
}

static void nc_end(void) {
    if (nc.start && local.runs > 0) free(nc.start[0]);
    free(nc.start), free(nc.count);
    nc.start = nc.count = NULL;
}
#endif

/* ---- rounds */

typedef struct {
    const char *name;
    int which;
    void (*open)(int), (*write)(int), (*check)(int), (*close)(int);
} method;

static const method methods[] = {
    {"dataset", 0, ours_open, ours_write, ours_check, ours_close},
    {"dataset, no checksums", 1, ours_open, ours_write, ours_check, ours_close},
    {"dataset, ranked", 2, ours_open, ours_write, ours_check, ours_close},
    {"HDF5, contiguous", H5_CONTIGUOUS, h5_open, h5_write, h5_check, h5_close},
    {"HDF5, chunked", H5_CHUNKED, h5_open, h5_write, h5_check, h5_close},
    {"HDF5, independent, aligned", H5_INDEPENDENT, h5_open, h5_write, h5_check, h5_close},
#ifdef HAVE_PNETCDF
    {"PnetCDF, iput", 0, nc_open, nc_write, nc_check, nc_close},
#endif
};
enum { METHODS = sizeof methods / sizeof methods[0] };

static void check_step(const method *w) {
    for (int v = 0; v < VARIABLES; v++) memset(local.got[v], 0, (size_t)local.n * sizeof(double));
    w->check(w->which);
    for (int v = 0; v < VARIABLES; v++)
        standalone_check(memcmp(local.put[v], local.got[v], (size_t)local.n * 8) == 0, w->name);
}

static void run_case(measure *m, measure_variant *v, double *value) {
    const method *w = v->what;
    w->open(w->which);
    const double start = standalone_together();
    w->write(w->which);
    value[0] = standalone_slowest(measure_now() - start);
    if (m->round < 0) check_step(w);
    w->close(w->which);
    standalone_together();
}

static void measure_job(const job *of, tutti_count each, int rounds) {
    static const char *const values[] = {"seconds", NULL};
    char title[64], more[48];
    snprintf(title, sizeof title, "%s, %s", of->name, durable ? "durable" : "visible");
    measure m = {.title = title, .values = values, .rounds = rounds, .warmup = 1, .run = run_case};
    distribute_items(of, each);
    for (int i = 0; i < METHODS; i++)
        if (methods[i].which != H5_INDEPENDENT || methods[i].open != h5_open || !of->runs)
            measure_add(&m, methods[i].name, &methods[i]);
    measure_rounds(&m);
    snprintf(more, sizeof more, ", \"bytes\": %.0f",
             8.0 * VARIABLES * (double)each * standalone_ranks);
    standalone_report(&m, more);
    fflush(stdout);
    ours_end();
    h5_end();
#ifdef HAVE_PNETCDF
    nc_end();
#endif
    free_share();
}

int main(int argc, char **argv) {
    long size = 8 << 20, rounds = 5;
    const char *cases = NULL;
    const standalone_option options[] = {{"--size", OPTION_NUMBER, &size, 65536, 1 << 30},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--durable", OPTION_FLAG, &durable, 0, 0},
                                         {"--cases", OPTION_TEXT, &cases, 0, 0},
                                         {0}};
    const standalone program = {"dataset_peers", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    snprintf(path, sizeof path, "%s/dataset_peers.tmp", argv[0]);
    for (int i = 0; i < JOBS; i++)
        if (!cases || strstr(cases, jobs[i].name))
            measure_job(&jobs[i], size / (long)sizeof(double), (int)rounds);
    return standalone_end_mpi();
}
