/* mpiio: the exported functions that are not data calls.  Each function is defined as PMPI_x, with
 * a weak alias MPI_x, as in an MPI library, since Fortran bindings call either name.  Handles of
 * the MPI library are passed to the MPI library.
 *
 * The MPI library implements c2f, f2c and the error handlers for the native handle of the program
 * (but see fortran.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio.h"

/* Body of a function on an open file. */
#define OURS_OR_REAL(name, ours, ...)                                                      \
    MPIIO_TIMED;                                                                           \
    mpiio_file *f;                                                                         \
    if (!mpiio_is_ours(fh, &f)) return MPIIO_REAL(name)(__VA_ARGS__);                      \
    if (!f) return mpiio_fail(NULL, mpiio_complain(MPI_ERR_FILE, "the file is not open")); \
    MPIIO_VALID(f);                                                                        \
    return ours

#define NAME_1(name, ours, T1)                        \
    int PMPI_File_##name(MPI_File fh, T1 a) {         \
        OURS_OR_REAL(File_##name, ours(f, a), fh, a); \
    }                                                 \
    MPIIO_EXPORT(File_##name)
#define NAME_2(name, ours, T1, T2)                          \
    int PMPI_File_##name(MPI_File fh, T1 a, T2 b) {         \
        OURS_OR_REAL(File_##name, ours(f, a, b), fh, a, b); \
    }                                                       \
    MPIIO_EXPORT(File_##name)

static int is_on(void) {
    mpiio_file *f;
    return mpiio_is_ours(MPI_FILE_NULL, &f);
}

/* ---- open, close and delete */

int PMPI_File_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *fh) {
    MPIIO_TIMED;
    const int code = is_on() ? mpiio_open(comm, path, amode, info, fh)
                             : MPIIO_REAL(File_open)(comm, path, amode, info, fh);
    if (code == MPI_SUCCESS) mpiio_timed_file();
    return code;
}
MPIIO_EXPORT(File_open);

int PMPI_File_close(MPI_File *fh) {
    MPIIO_TIMED;
    mpiio_file *f = NULL;
    if (fh && !mpiio_is_ours(*fh, &f)) return MPIIO_REAL(File_close)(fh);
    if (!f) return mpiio_fail(NULL, mpiio_complain(MPI_ERR_FILE, "the file is not open"));
    return mpiio_close(fh);
}
MPIIO_EXPORT(File_close);

int PMPI_File_delete(const char *path, MPI_Info info) {
    MPIIO_TIMED;
    return is_on() ? mpiio_delete(path, info) : MPIIO_REAL(File_delete)(path, info);
}
MPIIO_EXPORT(File_delete);

/* A library may close its files in MPI_Finalize, by a callback on MPI_COMM_SELF (like HDF5).  That
 * callback must be called before the callback of this library, which must therefore be set first.
 * PMPI_Comm_set_attr is not replaced, since Tutti and the MPI library use that name. */
int MPI_Comm_set_attr(MPI_Comm comm, int key, void *value) {
    if (comm == MPI_COMM_SELF && is_on()) mpiio_watch_early();
    return PMPI_Comm_set_attr(comm, key, value);
}

/* ---- size, group, mode, info, atomicity, sync */

NAME_1(set_size, mpiio_set_size, MPI_Offset);
NAME_1(preallocate, mpiio_preallocate, MPI_Offset);
NAME_1(get_size, mpiio_get_size, MPI_Offset *);
NAME_1(get_group, mpiio_get_group, MPI_Group *);
NAME_1(get_amode, mpiio_get_amode, int *);
NAME_1(set_info, mpiio_set_info, MPI_Info);
NAME_1(get_info, mpiio_get_info, MPI_Info *);
NAME_1(set_atomicity, mpiio_set_atomicity, int);
NAME_1(get_atomicity, mpiio_get_atomicity, int *);

int PMPI_File_sync(MPI_File fh) {
    OURS_OR_REAL(File_sync, mpiio_sync(f), fh);
}
MPIIO_EXPORT(File_sync);

/* ---- views and positions */

int PMPI_File_set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype,
                       MPI_Datatype filetype, const char *name, MPI_Info info) {
    OURS_OR_REAL(File_set_view, mpiio_set_view(f, displacement, etype, filetype, name, info), fh,
                 displacement, etype, filetype, name, info);
}
MPIIO_EXPORT(File_set_view);

int PMPI_File_get_view(MPI_File fh, MPI_Offset *displacement, MPI_Datatype *etype,
                       MPI_Datatype *filetype, char *name) {
    OURS_OR_REAL(File_get_view, mpiio_get_view(f, displacement, etype, filetype, name), fh,
                 displacement, etype, filetype, name);
}
MPIIO_EXPORT(File_get_view);

static int get_type_extent(mpiio_file *f, MPI_Datatype type, MPI_Aint *extent) {
    MPI_Count found = 0;
    const int code = mpiio_get_type_extent(f, type, extent ? &found : NULL);
    if (code == MPI_SUCCESS && extent) *extent = (MPI_Aint)found;
    return code;
}

NAME_2(get_type_extent, get_type_extent, MPI_Datatype, MPI_Aint *);
NAME_2(seek, mpiio_seek, MPI_Offset, int);
NAME_2(seek_shared, mpiio_seek_shared, MPI_Offset, int);
NAME_1(get_position, mpiio_get_position, MPI_Offset *);
NAME_1(get_position_shared, mpiio_get_position_shared, MPI_Offset *);
NAME_2(get_byte_offset, mpiio_get_byte_offset, MPI_Offset, MPI_Offset *);

/* ---- representations */

int PMPI_Register_datarep(const char *name, MPI_Datarep_conversion_function *reads,
                          MPI_Datarep_conversion_function *writes,
                          MPI_Datarep_extent_function *extent, void *state) {
    if (is_on()) return mpiio_register_datarep(name);
    return MPIIO_REAL(Register_datarep)(name, reads, writes, extent, state);
}
MPIIO_EXPORT(Register_datarep);

/* ---- large counts */

#if MPI_VERSION >= 4
NAME_2(get_type_extent_c, mpiio_get_type_extent, MPI_Datatype, MPI_Count *);

int PMPI_Register_datarep_c(const char *name, MPI_Datarep_conversion_function_c *reads,
                            MPI_Datarep_conversion_function_c *writes,
                            MPI_Datarep_extent_function *extent, void *state) {
    if (is_on()) return mpiio_register_datarep(name);
    return MPIIO_REAL(Register_datarep_c)(name, reads, writes, extent, state);
}
MPIIO_EXPORT(Register_datarep_c);
#endif
