/* mpiio: the names of the data calls.  There are seven shapes of calls (with or without an offset;
 * blocking, with a request, begin, end), for reading and for writing.  The tables at the end list
 * the calls of each shape; they are expanded twice if the MPI library has large counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio.h"

/* First statements of an exported function: set f to the file of handle fh; pass handles of the MPI
 * library to the MPI library. */
#define OURS_OR_REAL(name, ...)                                                            \
    MPIIO_TIMED;                                                                           \
    mpiio_file *f;                                                                         \
    if (!mpiio_is_ours(fh, &f)) return MPIIO_REAL(name)(__VA_ARGS__);                      \
    if (!f) return mpiio_fail(NULL, mpiio_complain(MPI_ERR_FILE, "the file is not open")); \
    MPIIO_VALID(f)

#define CALL(place, writes, all, at, C)            \
    const mpiio_call call = {.where = (place),     \
                             .is_write = (writes), \
                             .collective = (all),  \
                             .offset = (at),       \
                             .buf = (void *)buf,   \
                             .count = (C)count,    \
                             .type = type}

/* B: type of the buffer elements; C: type of the count. */
#define AT(name, B, C, writes, all)                                                          \
    int PMPI_File_##name(MPI_File fh, MPI_Offset offset, B *buf, C count, MPI_Datatype type, \
                         MPI_Status *status) {                                               \
        OURS_OR_REAL(File_##name, fh, offset, buf, count, type, status);                     \
        CALL(MPIIO_AT, writes, all, offset, C);                                              \
        return mpiio_move(f, &call, status);                                                 \
    }                                                                                        \
    MPIIO_EXPORT(File_##name);
#define HERE(name, B, C, place, writes, all)                                                    \
    int PMPI_File_##name(MPI_File fh, B *buf, C count, MPI_Datatype type, MPI_Status *status) { \
        OURS_OR_REAL(File_##name, fh, buf, count, type, status);                                \
        CALL(place, writes, all, 0, C);                                                         \
        return mpiio_move(f, &call, status);                                                    \
    }                                                                                           \
    MPIIO_EXPORT(File_##name);
#define START_AT(name, B, C, writes, all)                                                    \
    int PMPI_File_##name(MPI_File fh, MPI_Offset offset, B *buf, C count, MPI_Datatype type, \
                         MPI_Request *request) {                                             \
        OURS_OR_REAL(File_##name, fh, offset, buf, count, type, request);                    \
        CALL(MPIIO_AT, writes, all, offset, C);                                              \
        return mpiio_start(f, &call, request);                                               \
    }                                                                                        \
    MPIIO_EXPORT(File_##name);
#define START(name, B, C, place, writes, all)                                                     \
    int PMPI_File_##name(MPI_File fh, B *buf, C count, MPI_Datatype type, MPI_Request *request) { \
        OURS_OR_REAL(File_##name, fh, buf, count, type, request);                                 \
        CALL(place, writes, all, 0, C);                                                           \
        return mpiio_start(f, &call, request);                                                    \
    }                                                                                             \
    MPIIO_EXPORT(File_##name);
#define BEGIN_AT(name, B, C, writes)                                                           \
    int PMPI_File_##name(MPI_File fh, MPI_Offset offset, B *buf, C count, MPI_Datatype type) { \
        OURS_OR_REAL(File_##name, fh, offset, buf, count, type);                               \
        CALL(MPIIO_AT, writes, 1, offset, C);                                                  \
        return mpiio_begin(f, &call);                                                          \
    }                                                                                          \
    MPIIO_EXPORT(File_##name);
#define BEGIN(name, B, C, place, writes)                                    \
    int PMPI_File_##name(MPI_File fh, B *buf, C count, MPI_Datatype type) { \
        OURS_OR_REAL(File_##name, fh, buf, count, type);                    \
        CALL(place, writes, 1, 0, C);                                       \
        return mpiio_begin(f, &call);                                       \
    }                                                                       \
    MPIIO_EXPORT(File_##name);
#define END(name, B, place, writes)                                 \
    int PMPI_File_##name(MPI_File fh, B *buf, MPI_Status *status) { \
        OURS_OR_REAL(File_##name, fh, buf, status);                 \
        return mpiio_end(f, place, writes, status);                 \
    }                                                               \
    MPIIO_EXPORT(File_##name);

/* All calls with a count: `c` is the suffix of the names (empty or _c), C the type of the count. */
#define COUNTED(c, C)                                          \
    AT(read_at##c, void, C, 0, 0)                              \
    AT(write_at##c, const void, C, 1, 0)                       \
    AT(read_at_all##c, void, C, 0, 1)                          \
    AT(write_at_all##c, const void, C, 1, 1)                   \
    HERE(read##c, void, C, MPIIO_POINTER, 0, 0)                \
    HERE(write##c, const void, C, MPIIO_POINTER, 1, 0)         \
    HERE(read_all##c, void, C, MPIIO_POINTER, 0, 1)            \
    HERE(write_all##c, const void, C, MPIIO_POINTER, 1, 1)     \
    HERE(read_shared##c, void, C, MPIIO_SHARED, 0, 0)          \
    HERE(write_shared##c, const void, C, MPIIO_SHARED, 1, 0)   \
    HERE(read_ordered##c, void, C, MPIIO_ORDERED, 0, 1)        \
    HERE(write_ordered##c, const void, C, MPIIO_ORDERED, 1, 1) \
    START_AT(iread_at##c, void, C, 0, 0)                       \
    START_AT(iwrite_at##c, const void, C, 1, 0)                \
    START_AT(iread_at_all##c, void, C, 0, 1)                   \
    START_AT(iwrite_at_all##c, const void, C, 1, 1)            \
    START(iread##c, void, C, MPIIO_POINTER, 0, 0)              \
    START(iwrite##c, const void, C, MPIIO_POINTER, 1, 0)       \
    START(iread_all##c, void, C, MPIIO_POINTER, 0, 1)          \
    START(iwrite_all##c, const void, C, MPIIO_POINTER, 1, 1)   \
    START(iread_shared##c, void, C, MPIIO_SHARED, 0, 0)        \
    START(iwrite_shared##c, const void, C, MPIIO_SHARED, 1, 0) \
    BEGIN_AT(read_at_all_begin##c, void, C, 0)                 \
    BEGIN_AT(write_at_all_begin##c, const void, C, 1)          \
    BEGIN(read_all_begin##c, void, C, MPIIO_POINTER, 0)        \
    BEGIN(write_all_begin##c, const void, C, MPIIO_POINTER, 1) \
    BEGIN(read_ordered_begin##c, void, C, MPIIO_ORDERED, 0)    \
    BEGIN(write_ordered_begin##c, const void, C, MPIIO_ORDERED, 1)

COUNTED(, int)
#if MPI_VERSION >= 4
COUNTED(_c, MPI_Count)
#endif

END(read_at_all_end, void, MPIIO_AT, 0)
END(write_at_all_end, const void, MPIIO_AT, 1)
END(read_all_end, void, MPIIO_POINTER, 0)
END(write_all_end, const void, MPIIO_POINTER, 1)
END(read_ordered_end, void, MPIIO_ORDERED, 0)
END(write_ordered_end, const void, MPIIO_ORDERED, 1)
