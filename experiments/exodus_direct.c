/* tutti-experiments exodus: netCDF and HDF5 written directly, by libraries loaded at run time.
 *
 * netCDF: record variables with the names of Exodus in a CDF-2 file, as libexodusii writes them; nc_sync
 * after each step.  HDF5: the same variables as extendible datasets of one chunk per step; H5Fflush after
 * each step.  Types and constants are those of the libraries' interfaces, which do not change within a
 * soname.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/exodus_direct.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cli.h"

enum { MOST = 16, SPACES = 2 };

struct direct {
    direct_kind kind;
    direct_shape shape;
    /* netCDF: ids of the file, of the time and of the variables */
    int file, time, id[SPACES][MOST];
    int64_t h_file, h_set[SPACES][MOST]; /* HDF5: ids of the file and of the datasets */
};

/* ---- functions loaded from the libraries */

typedef int64_t h5id;
typedef unsigned long long h5size;

static struct {
    void *library;
    int (*create)(const char *, int, int *), (*def_dim)(int, const char *, size_t, int *);
    int (*def_var)(int, const char *, int, int, const int *, int *), (*enddef)(int);
    int (*put_vara_double)(int, int, const size_t *, const size_t *, const double *);
    int (*sync)(int), (*close)(int), (*set_fill)(int, int, int *);
    const char *(*strerror)(int);
} nc;

static struct {
    void *library;
    int (*open)(void), (*extend)(h5id, const h5size *), (*flush)(h5id, int);
    h5id (*create)(const char *, unsigned, h5id, h5id);
    h5id (*space)(int, const h5size *, const h5size *), (*list)(h5id);
    h5id (*set)(h5id, const char *, h5id, h5id, h5id, h5id, h5id), (*space_of)(h5id);
    int (*chunk)(h5id, int, const h5size *), (*fill_time)(h5id, int);
    int (*select)(h5id, int, const h5size *, const h5size *, const h5size *, const h5size *);
    int (*write)(h5id, h5id, h5id, h5id, h5id, const void *);
    int (*close_set)(h5id), (*close_space)(h5id), (*close_list)(h5id), (*close)(h5id);
    h5id *type, *list_class;
} h5;

typedef struct symbol {
    void *to;
    const char *name;
} symbol;

static int load_file(void **library, const char *const *names, const symbol *symbols, int n) {
    if (*library) return 1;
    for (int i = 0; names[i] && !*library; i++) *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < n && *library; i++) {
        *(void **)symbols[i].to = dlsym(*library, symbols[i].name);
        if (*(void **)symbols[i].to) continue;
        dlclose(*library);
        *library = NULL;
    }
    return *library != NULL;
}

static int load_netcdf(void) {
    static const char *const names[] = {"libnetcdf.so.19", "libnetcdf.so", NULL};
    const symbol symbols[] = {{&nc.create, "nc_create"},
                              {&nc.def_dim, "nc_def_dim"},
                              {&nc.def_var, "nc_def_var"},
                              {&nc.enddef, "nc_enddef"},
                              {&nc.put_vara_double, "nc_put_vara_double"},
                              {&nc.sync, "nc_sync"},
                              {&nc.close, "nc_close"},
                              {&nc.set_fill, "nc_set_fill"},
                              {&nc.strerror, "nc_strerror"}};
    return load_file(&nc.library, names, symbols, sizeof symbols / sizeof *symbols);
}

static int load_hdf5(void) {
    static const char *const names[] = {"libhdf5_serial.so.103", "libhdf5.so", NULL};
    const symbol symbols[] = {{&h5.open, "H5open"},
                              {&h5.create, "H5Fcreate"},
                              {&h5.flush, "H5Fflush"},
                              {&h5.close, "H5Fclose"},
                              {&h5.space, "H5Screate_simple"},
                              {&h5.select, "H5Sselect_hyperslab"},
                              {&h5.close_space, "H5Sclose"},
                              {&h5.list, "H5Pcreate"},
                              {&h5.chunk, "H5Pset_chunk"},
                              {&h5.fill_time, "H5Pset_fill_time"},
                              {&h5.close_list, "H5Pclose"},
                              {&h5.set, "H5Dcreate2"},
                              {&h5.extend, "H5Dset_extent"},
                              {&h5.space_of, "H5Dget_space"},
                              {&h5.write, "H5Dwrite"},
                              {&h5.close_set, "H5Dclose"},
                              {&h5.type, "H5T_NATIVE_DOUBLE_g"},
                              {&h5.list_class, "H5P_CLS_DATASET_CREATE_ID_g"}};
    return load_file(&h5.library, names, symbols, sizeof symbols / sizeof *symbols) &&
           h5.open() >= 0;
}

int direct_there(direct_kind kind, const char **package_out) {
    *package_out = kind == DIRECT_NETCDF ? "libnetcdf19" : "libhdf5-103-1";
    return kind == DIRECT_NETCDF ? load_netcdf() : load_hdf5();
}

static void name_of(int space, int variable, char out[40]) {
    if (space == 0)
        snprintf(out, 40, "vals_nod_var%d", variable + 1);
    else
        snprintf(out, 40, "vals_elem_var%deb1", variable + 1);
}

/* ---- netCDF */

static int nc_failed(int code, const char *what) {
    return code == 0 ? 0 : cli_error("netCDF: %s failed: %s", what, nc.strerror(code));
}

static int nc_begin(direct *d, const char *path) {
    enum { CLOBBER = 0, OFFSET_64BIT = 0x0200, NOFILL = 0x100, NUMBER = 6 };
    int dim[2] = {0, 0}, old;
    if (nc_failed(nc.create(path, CLOBBER | OFFSET_64BIT, &d->file), "nc_create")) return 1;
    int bad = nc.set_fill(d->file, NOFILL, &old);
    bad = bad ? bad : nc.def_dim(d->file, "time_step", 0, &dim[0]);
    bad = bad ? bad : nc.def_var(d->file, "time_whole", NUMBER, 1, dim, &d->time);
    for (int s = 0; s < SPACES && !bad; s++) {
        bad = nc.def_dim(d->file, s ? "num_el_in_blk1" : "num_nodes", d->shape.entries[s], &dim[1]);
        for (int v = 0; v < d->shape.each && !bad; v++) {
            char name[40];
            name_of(s, v, name);
            bad = nc.def_var(d->file, name, NUMBER, 2, dim, &d->id[s][v]);
        }
    }
    bad = bad ? bad : nc.enddef(d->file);
    return nc_failed(bad, "definition of the variables");
}

static int nc_step(direct *d, int step, const double *const *values) {
    const size_t at[2] = {(size_t)step, 0}, one = 1;
    const double time = step;
    int bad = nc.put_vara_double(d->file, d->time, at, &one, &time);
    for (int s = 0; s < SPACES; s++) {
        const size_t count[2] = {1, d->shape.entries[s]};
        for (int v = 0; v < d->shape.each && !bad; v++)
            bad =
                nc.put_vara_double(d->file, d->id[s][v], at, count, values[s * d->shape.each + v]);
    }
    bad = bad ? bad : nc.sync(d->file);
    return nc_failed(bad, "write of a step");
}

/* ---- HDF5 */

static int h5_failed(int64_t code, const char *what) {
    return code >= 0 ? 0 : cli_error("HDF5: %s failed", what);
}

static int h5_begin(direct *d, const char *path) {
    enum { TRUNCATE = 2, NEVER = 1 };
    d->h_file = h5.create(path, TRUNCATE, 0, 0);
    if (h5_failed(d->h_file, "H5Fcreate")) return 1;
    for (int s = 0; s < SPACES; s++) {
        const h5size none[2] = {0, d->shape.entries[s]}, most[2] = {~0ULL, d->shape.entries[s]};
        const h5size chunk[2] = {1, d->shape.entries[s]};
        const h5id space = h5.space(2, none, most), list = h5.list(*h5.list_class);
        int bad = h5.chunk(list, 2, chunk) < 0 || h5.fill_time(list, NEVER) < 0;
        for (int v = 0; v < d->shape.each && !bad; v++) {
            char name[40];
            name_of(s, v, name);
            d->h_set[s][v] = h5.set(d->h_file, name, *h5.type, space, 0, list, 0);
            bad = d->h_set[s][v] < 0;
        }
        h5.close_space(space);
        h5.close_list(list);
        if (bad) return h5_failed(-1, "H5Dcreate2");
    }
    return 0;
}

static int h5_put(direct *d, int s, int v, int step, const double *values) {
    const h5size size[2] = {(h5size)step + 1, d->shape.entries[s]};
    const h5size start[2] = {(h5size)step, 0}, count[2] = {1, d->shape.entries[s]};
    if (h5_failed(h5.extend(d->h_set[s][v], size), "H5Dset_extent")) return 1;
    const h5id file = h5.space_of(d->h_set[s][v]), memory = h5.space(2, count, NULL);
    int code = h5.select(file, 0, start, NULL, count, NULL);
    if (code >= 0) code = h5.write(d->h_set[s][v], *h5.type, memory, file, 0, values);
    h5.close_space(file);
    h5.close_space(memory);
    return h5_failed(code, "H5Dwrite");
}

static int h5_step(direct *d, int step, const double *const *values) {
    int failed = 0;
    for (int i = 0; i < SPACES * d->shape.each && !failed; i++)
        failed = h5_put(d, i / d->shape.each, i % d->shape.each, step, values[i]);
    return failed ? 1 : h5_failed(h5.flush(d->h_file, 1), "H5Fflush");
}

/* ---- both libraries */

direct *direct_open(direct_kind kind, const char *path, const direct_shape *shape) {
    direct *d = cli_malloc(sizeof *d);
    *d = (direct){.kind = kind, .shape = *shape};
    if (shape->each <= MOST && !(kind == DIRECT_NETCDF ? nc_begin(d, path) : h5_begin(d, path)))
        return d;
    free(d);
    return NULL;
}

int direct_step(direct *d, int step, const double *const *values) {
    return d->kind == DIRECT_NETCDF ? nc_step(d, step, values) : h5_step(d, step, values);
}

int direct_close(direct *d) {
    int failed = 0;
    if (d->kind == DIRECT_NETCDF) failed = nc_failed(nc.close(d->file), "nc_close");
    if (d->kind == DIRECT_HDF5) {
        for (int i = 0; i < SPACES * d->shape.each; i++)
            h5.close_set(d->h_set[i / d->shape.each][i % d->shape.each]);
        failed = h5_failed(h5.close(d->h_file), "H5Fclose");
    }
    free(d);
    return failed;
}
