/* Tutti: datasets: results and checkpoints with metadata, committed atomically and readable on
 * any number of ranks.
 *
 * A dataset is a directory with a metadata file and one or more data files.  It contains
 *
 *     spaces     index spaces of variables: grids (n-d), and lists of
 *                entries (nodes, elements) with an id each
 *     variables  a name, a space, an item (scalar, vector ...) and a type
 *     segments   appended in time: a topology sets the sizes and ids of
 *                spaces, a state refers to the topology before it; both
 *                consist of sections, one for each variable written
 *     infos      named values (attributes) of the dataset, a variable or
 *                a segment
 *
 * A program writes steps like this:
 *
 *     tutti_dataset_open(comm, "run.tutti", TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL, &d);
 *     tutti_dataset_grid(d, "grid", 2, (tutti_count[]){N, N});
 *     tutti_dataset_variable(d, "temperature", &(tutti_variable_spec){
 *             .space = "grid", .type = TUTTI_FLOAT64, .units = "K"});
 *     tutti_decomposition_create(d, "grid", &mine, &rows);
 *     for (int step = 0; step < steps; step++) {
 *         tutti_dataset_begin(d, TUTTI_STATE, step, step * dt);
 *         tutti_dataset_put(d, 1, &(tutti_put){"temperature", rows, TUTTI_FLOAT64, t});
 *         tutti_dataset_commit(d); // the step is committed atomically
 *     }
 *     tutti_dataset_close(&d);
 *
 * Collective calls.  Arguments that must be the same on all ranks are compared first.  After an
 * error all ranks have the same code and message.  If the code is positive, the call was refused
 * and the dataset has not changed; if it is negative, the call failed while it was running, and
 * the variables that it names are incomplete.  One thread at a time may use a dataset; different
 * threads may use different datasets.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the
 * lowest rank that fails.  A rank that passes a NULL or stale dataset handle has no
 * communicator: only that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DATASET_H
#define TUTTI_DATASET_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/decomposition.h>
#include <tutti/file.h>
#include <tutti/element_types.h>

TUTTI_BEGIN_DECLS

/** @name Opening and closing */
/**@{*/
/* Values of `level` in tutti_dataset_options and tutti_exodus_options. */
enum { TUTTI_DURABLE, TUTTI_VISIBLE };
/* Values of `container` in tutti_dataset_options. */
enum { TUTTI_CONTAINER_NATIVE, TUTTI_CONTAINER_NETCDF };

/** Options of a dataset.  Initialize them with tutti_dataset_options_init. */
typedef struct tutti_dataset_options {
    size_t struct_size;
    /* TUTTI_DURABLE (default): data is on the device when commit returns; TUTTI_VISIBLE: data
     * survives a crash of the program, but not of the machine */
    int level;
    /* time indices per data file; 0: one data file */
    int indices_per_file;
    int checksums;       /* 1 (default): checksums of every section */
    int check_reads;     /* 1: the first read of a section compares its checksums */
    double lock_timeout; /* seconds to wait for a program that locks the metadata; default: 5 */
    int without_locks; /* 1: continue if the file system has no locks; no other program may write */
    const tutti_options *io; /* options of the data files; NULL: defaults and environment */
    /* 1: finite values too large for a floating-point type become infinities when they are
     * written or read; 0: they fail with TUTTI_ERR_VALUE */
    int ieee;
    /* format of the data files of a new dataset: TUTTI_CONTAINER_NATIVE (default) or
     * TUTTI_CONTAINER_NETCDF (CDF-5, read by ncdump and xarray; see docs/reference/datasets.md
     * for its limits).  An existing dataset keeps its format */
    int container;
} tutti_dataset_options;

/** Set the options to their defaults.
 *  Not collective. */
TUTTI_API void tutti_dataset_options_init_sized(tutti_dataset_options *opt, size_t struct_size);
static inline void tutti_dataset_options_init(tutti_dataset_options *opt) {
    tutti_dataset_options_init_sized(opt, sizeof *opt);
}

/** Open a dataset.
 *  Collective; all arguments must be the same on all ranks (options: those of rank 0 are used).
 *  @param[in] mode  TUTTI_READ, TUTTI_WRITE or both; with TUTTI_WRITE optionally | TUTTI_CREATE to
 *      create the dataset if it does not exist, | TUTTI_TRUNCATE to empty it, | TUTTI_EXCLUSIVE
 *      to fail with TUTTI_ERR_EXISTS if it exists.
 *  @param[in] opt   NULL: the defaults of tutti_dataset_options_init.
 *  @return TUTTI_ERR_NOT_FOUND if it does not exist and `mode` does not contain TUTTI_CREATE;
 *      TUTTI_ERR_STATE if `mode` contains TUTTI_WRITE and another program has opened it for
 *      writing (readers can always open it); TUTTI_ERR_FORMAT if it is not a dataset or is
 *      damaged. */
TUTTI_API tutti_err tutti_dataset_open(MPI_Comm comm, const char *path, int mode,
                                       const tutti_dataset_options *opt,
                                       tutti_dataset **d_out) TUTTI_MUST_USE;

/** Close a dataset and set the handle to NULL.
 *  Collective.
 *  A segment that has not been committed is discarded. */
TUTTI_API tutti_err tutti_dataset_close(tutti_dataset **d);

/** Return the format of the data files: TUTTI_CONTAINER_NATIVE or TUTTI_CONTAINER_NETCDF.
 *  Not collective. */
TUTTI_API int tutti_dataset_container(const tutti_dataset *d);

/** Look for segments that were committed since the dataset was opened or refreshed.
 *  Collective.
 *  A reader sees the segments that existed when it opened the dataset.
 *  @param[out] changed_out  NULL, or 1 if the segments have changed. */
TUTTI_API tutti_err tutti_dataset_refresh(tutti_dataset *d, int *changed_out) TUTTI_MUST_USE;

/** Variant of tutti_dataset_stats for bindings of other languages, with the size of their struct.
 *  Not collective. */
TUTTI_API void tutti_dataset_stats_sized(const tutti_dataset *d, tutti_stats *all_out,
                                         size_t struct_size);

/** Return the statistics of this rank for all operations on the data files since the dataset was
 *  opened.
 *  Not collective. */
static inline void tutti_dataset_stats(const tutti_dataset *d, tutti_stats *all_out) {
    tutti_dataset_stats_sized(d, all_out, sizeof(tutti_stats));
}

/** Install a progress callback for all operations on the data files, or remove it with NULL.
 *  Not collective.
 *  See tutti_file_on_progress. */
TUTTI_API void tutti_dataset_on_progress(tutti_dataset *d, tutti_progress_fn *fn, void *context);
/**@}*/

/** @name Spaces and variables
 *  Repeating an identical definition is allowed; a different size, type or space fails with
 *  TUTTI_ERR_EXISTS.  Definitions become part of the dataset with the next commit. */
/**@{*/
/** Define a grid of 1 to 16 (TUTTI_MAX_DIMS) dimensions, row-major.
 *  Collective; all arguments must be the same on all ranks.
 *  The shape is valid until a topology sets another one. */
TUTTI_API tutti_err tutti_dataset_grid(tutti_dataset *d, const char *name, int ndims,
                                       const tutti_count *shape) TUTTI_MUST_USE;

/** Define a list of entries.
 *  Collective; all arguments must be the same on all ranks.
 *  Each topology sets the number and ids of its entries. */
TUTTI_API tutti_err tutti_dataset_list(tutti_dataset *d, const char *name) TUTTI_MUST_USE;

/** Set the size of a space, in a topology segment, before a variable on it is written there.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[in] ndims  1 for lists. */
TUTTI_API tutti_err tutti_dataset_resize(tutti_dataset *d, const char *space, int ndims,
                                         const tutti_count *shape) TUTTI_MUST_USE;

/** Set the ids of a list, in a topology segment.
 *  Collective; `space` must be the same on all ranks.
 *  The ids of this rank follow those of the lower ranks; the list is resized to the total.  Ids
 *  must be >= 0 and unique.  Without this call the id of position i is i. */
TUTTI_API tutti_err tutti_dataset_ids(tutti_dataset *d, const char *space, tutti_count n,
                                      const int64_t *ids) TUTTI_MUST_USE;

/** The item of a variable: how many values an entry has. */
typedef enum tutti_item {
    TUTTI_SCALAR,     /* one value */
    TUTTI_VECTOR,     /* `components` values */
    TUTTI_SYM_TENSOR, /* components * (components + 1) / 2 values: xx yy zz xy yz zx in 3-D */
    TUTTI_TENSOR,     /* components * components values */
    TUTTI_VALUES      /* `components` values without a particular meaning */
} tutti_item;

/** The order of the entries in the file. */
typedef enum tutti_layout {
    TUTTI_GLOBAL, /* in the order of the space; the same for any number of ranks */
    TUTTI_RANKED  /* in rank order, as in memory; the fastest to write */
} tutti_layout;

/** The definition of a variable.  Initialize it with designated initializers. */
typedef struct tutti_variable_spec {
    const char *space;
    tutti_item item;
    int components;  /* components of a vector, tensor or values; 0 means 1, for tensors 3 */
    tutti_type type; /* type in the file */
    tutti_layout layout;
    tutti_byte_order order;
    const char *units, *long_name; /* UTF-8, or NULL */
    double fill;                   /* value of entries that have not been written; default: 0 */
    /* 0: no compression; 1 ... 19: byte shuffle, then zstd of that level.  TUTTI_GLOBAL only;
     * must be written completely by tutti_dataset_put, with a decomposition that covers the
     * space; can be read with any decomposition */
    int compress;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_variable_spec;

/** Define a variable on a space.
 *  Collective; all arguments must be the same on all ranks.
 *  @return TUTTI_ERR_NOT_FOUND if the space is not defined; TUTTI_ERR_UNSUPPORTED for combinations
 *      that the container does not have. */
TUTTI_API tutti_err tutti_dataset_variable(tutti_dataset *d, const char *name,
                                           const tutti_variable_spec *spec) TUTTI_MUST_USE;

/** Set the element type of a variable in the file, for segments written later.
 *  Collective; all arguments must be the same on all ranks.
 *  @return TUTTI_ERR_NOT_FOUND if there is no such variable; TUTTI_ERR_ARG if `type` or the type of
 *      the variable is not numeric; TUTTI_ERR_UNSUPPORTED if the container does not have the
 *      type. */
TUTTI_API tutti_err tutti_dataset_put_type(tutti_dataset *d, const char *variable,
                                           tutti_type type) TUTTI_MUST_USE;
/**@}*/

/** @name Writing */
/**@{*/
typedef enum tutti_segment_kind { TUTTI_TOPOLOGY, TUTTI_STATE } tutti_segment_kind;

/** Begin a segment.
 *  Collective; all arguments must be the same on all ranks.
 *  The index must be greater than that of the last segment, or equal to it if that one is a
 *  topology and this one is a state.  `time` must not be NaN and need not increase.
 *  @return TUTTI_ERR_STATE if a segment has begun already or a commit is pending; TUTTI_ERR_ARG
 *      if the index is too small or the time is NaN. */
TUTTI_API tutti_err tutti_dataset_begin(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                                        double time) TUTTI_MUST_USE;

/** Begin another segment of the same commit; the segment that has begun is finished first.
 *  Collective; all arguments must be the same on all ranks.
 *  The next commit adds all of them or none, for example an adapted mesh and its first state.
 *  @return TUTTI_ERR_STATE if no segment has begun; otherwise the errors of tutti_dataset_begin
 *      and tutti_dataset_commit.  After an error the previous segment is still being written. */
TUTTI_API tutti_err tutti_dataset_begin_also(tutti_dataset *d, tutti_segment_kind kind,
                                             int64_t index, double time) TUTTI_MUST_USE;

/** A variable to write; buf is local. */
typedef struct tutti_put {
    const char *variable;
    tutti_decomposition *entries; /* decomposition of its space */
    tutti_type type;              /* type in memory; TUTTI_BYTES: as in the file */
    /* the address of entry 0 in the memory layout of the decomposition (fields memory and
     * slice_memory; NULL: the packed items); may be NULL on a rank without entries */
    const void *buf;
} tutti_put;

/** Write n different variables to the segment in one operation.
 *  Collective; n, and variable, type and decomposition of each row, must be the same on all ranks.
 *  A variable may be written by several calls, with different or the same entries.  With layout
 *  TUTTI_RANKED each call of a segment must use the same decomposition.  Compressed variables must
 *  be written completely in each call, with a decomposition that covers the space.
 *
 *  After an error with a negative code, such as a full disk or a value that does not fit, the
 *  variables of the call are incomplete.  tutti_dataset_commit then fails until each has been
 *  written again, with the same decomposition or with one that covers the space.  Entries that
 *  other calls have written are kept.
 *  @return TUTTI_ERR_VALUE if a value does not fit its type in the file (the message names rank,
 *      variable, position and value); TUTTI_ERR_STATE if no segment has begun, a commit is
 *      pending, the space has another topology than the decomposition, or a ranked variable was
 *      written with another decomposition; TUTTI_ERR_NOT_FOUND if there is no such variable;
 *      TUTTI_ERR_UNSUPPORTED if a variable is compressed and the decomposition omits entries;
 *      TUTTI_ERR_ARG if a variable is a duplicate, or a decomposition belongs to another dataset or
 *      space. */
TUTTI_API tutti_err tutti_dataset_put(tutti_dataset *d, int n,
                                      const tutti_put *puts) TUTTI_MUST_USE;

/** Start to write n variables; complete the request with tutti_request_test or
 *  tutti_request_wait before the commit.
 *  Collective, non-blocking; n, and variable, type and decomposition of each row, must be the same
 *  on all ranks.
 *  The call does not wait for other ranks.  Several requests may be pending; they are carried out
 *  in the order of their starts, which must be the same on all ranks for one dataset.  Buffers and
 *  decompositions must not be changed until the request is complete; the array `puts` may be reused
 *  immediately.  If a request is released with tutti_request_abandon, its outcome is unknown and
 *  the variables must be written again.
 *  @return TUTTI_ERR_ARG if `r_out` is NULL.  tutti_request_test and tutti_request_wait return all
 *      other errors, including errors in arguments: those of tutti_dataset_put, and
 *      TUTTI_ERR_UNSUPPORTED for compressed variables. */
TUTTI_API tutti_err tutti_dataset_put_start(tutti_dataset *d, int n, const tutti_put *puts,
                                            tutti_request **r_out) TUTTI_MUST_USE;

/** Commit all segments that have begun.
 *  Collective.
 *  After an error the segments remain open: commit again, or discard them.
 *
 *  If the data could not be synced (level TUTTI_DURABLE), the operating system may have dropped
 *  it.  The commit returns the error of the sync, and further commits fail with TUTTI_ERR_STATE
 *  until every variable of the segment has been written again (with all decompositions that it
 *  was written with, or with one that covers the space; ids by tutti_dataset_ids), or the segment
 *  is discarded.  Segments before a tutti_dataset_begin_also cannot be written again: discard
 *  them.  Segments that other programs committed to the same data file with TUTTI_VISIBLE may be
 *  damaged too: the message names them, and tutti_dataset_verify checks them.
 *  @return TUTTI_ERR_STATE if a variable is incomplete (the message names it), or a request of
 *      tutti_dataset_put_start has not been completed. */
TUTTI_API tutti_err tutti_dataset_commit(tutti_dataset *d) TUTTI_MUST_USE;

/** Start a commit; complete the request with tutti_request_test or tutti_request_wait.
 *  Collective, non-blocking.
 *  Until the request is complete other collective calls of the dataset fail with TUTTI_ERR_STATE;
 *  calls that are not collective work.  A thread that does not call MPI reads data back, syncs,
 *  and runs the database transaction; the rest progresses in calls of the library.
 *  @return TUTTI_ERR_STATE as tutti_dataset_commit; later errors are returned by test and wait. */
TUTTI_API tutti_err tutti_dataset_commit_start(tutti_dataset *d,
                                               tutti_request **r_out) TUTTI_MUST_USE;

/** Discard all segments that have begun.
 *  Collective. */
TUTTI_API tutti_err tutti_dataset_discard(tutti_dataset *d) TUTTI_MUST_USE;

/** Remove all segments after this one.
 *  Collective; `segment` must be the same on all ranks.
 *  @param[in] segment  -1: remove all segments. */
TUTTI_API tutti_err tutti_dataset_erase_after(tutti_dataset *d, tutti_count segment) TUTTI_MUST_USE;

/** Remove the oldest data files and their segments, except the newest `keep` files and files with
 *  segments that remaining segments need.
 *  Collective; `keep` must be the same on all ranks.
 *  A segment needs its topology, the topologies that set the sizes of its spaces, and segments
 *  with the entry lists of its ranked sections.  Therefore more than `keep` files may remain.
 *  Shapes and values of all remaining segments do not change. */
TUTTI_API tutti_err tutti_dataset_drop_oldest(tutti_dataset *d, int keep) TUTTI_MUST_USE;
/**@}*/

/** @name Reading */
/**@{*/
typedef struct tutti_segment {
    tutti_count number; /* number of the segment: 0 ... tutti_dataset_segments - 1 */
    tutti_segment_kind kind;
    int64_t index; /* time index */
    double time;
    /* number of the topology to which it refers (a topology: its own number); -1: none */
    tutti_count topology;
    int sections;    /* number of sections */
    tutti_off bytes; /* extent in the data file */
    /* location of its bytes, as passed to tutti_dataset_archive; NULL: in the dataset */
    const char *archived;
} tutti_segment;

/** Return the number of segments.
 *  Not collective. */
TUTTI_API tutti_count tutti_dataset_segments(const tutti_dataset *d);
TUTTI_API tutti_err tutti_dataset_segment_sized(const tutti_dataset *d, tutti_count number,
                                                tutti_segment *out,
                                                size_t struct_size) TUTTI_MUST_USE;
/** Return a segment.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if there is no segment of that number. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_segment(const tutti_dataset *d,
                                                             tutti_count number,
                                                             tutti_segment *out) {
    return tutti_dataset_segment_sized(d, number, out, sizeof *out);
}
/** Find the number of a segment: by time index, the last one with time <= `time`, or the
 *  latest.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if there is none. */
TUTTI_API tutti_err tutti_dataset_find_index(const tutti_dataset *d, tutti_segment_kind kind,
                                             int64_t index, tutti_count *out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_dataset_find_time(const tutti_dataset *d, tutti_segment_kind kind,
                                            double time, tutti_count *out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_dataset_latest(const tutti_dataset *d, tutti_segment_kind kind,
                                         tutti_count *out) TUTTI_MUST_USE;

/** A variable to read; buf is local. */
typedef struct tutti_get {
    const char *variable;
    tutti_decomposition *entries;
    tutti_type type; /* type in memory; TUTTI_BYTES: as in the file */
    void *buf;       /* as in tutti_put */
} tutti_get;

/** Read n variables of a segment in one operation.
 *  Collective; `segment`, n, and variable, type and decomposition of each row, must be the same on
 *  all ranks.
 *  Entries that have not been written get the fill value.
 *  @return TUTTI_ERR_NOT_FOUND if the segment has no such variable; TUTTI_ERR_STATE if the segment
 *      is archived, if it has another topology than the decomposition, or if a writer has removed
 *      or archived segments, or replaced the dataset, since it was opened or refreshed (call
 *      tutti_dataset_refresh). */
TUTTI_API tutti_err tutti_dataset_get(tutti_dataset *d, tutti_count segment, int n,
                                      const tutti_get *gets) TUTTI_MUST_USE;

/** Start to read n variables of a segment; complete the request with tutti_request_test or
 *  tutti_request_wait.
 *  Collective, non-blocking; `segment`, n, and variable, type and decomposition of each row, must
 *  be the same on all ranks.
 *  The call does not wait for other ranks, as tutti_dataset_put_start; compressed variables are
 *  allowed.
 *  @return TUTTI_ERR_ARG if `r_out` is NULL.  tutti_request_test and tutti_request_wait return all
 *      other errors, as tutti_dataset_get. */
TUTTI_API tutti_err tutti_dataset_get_start(tutti_dataset *d, tutti_count segment, int n,
                                            const tutti_get *gets,
                                            tutti_request **r_out) TUTTI_MUST_USE;

/** Read a variable of all segments from `first` to `last` that have it, consecutively into buf.
 *  Collective; `first`, `last`, and variable, type and decomposition must be the same on all ranks.
 *  The buffer must have room for count_out times the memory of the decomposition, that is at most
 *  last - first + 1 times.  There is one operation per data file.  The type in memory must not be
 *  TUTTI_BYTES.
 *  @param[out] count_out  NULL, or the number of segments read.
 *  @return TUTTI_ERR_STATE if a segment has another topology than the decomposition, or is
 *      archived; otherwise as tutti_dataset_get. */
TUTTI_API tutti_err tutti_dataset_follow(tutti_dataset *d, tutti_count first, tutti_count last,
                                         const tutti_get *get,
                                         tutti_count *count_out) TUTTI_MUST_USE;

/** Return the size of a space, the current one or that in a segment.
 *  Not collective.
 *  @param[in] segment     -1: the current size.
 *  @param[out] shape_out  [TUTTI_MAX_DIMS]. */
TUTTI_API tutti_err tutti_dataset_shape(const tutti_dataset *d, const char *space,
                                        tutti_count segment, int *ndims_out,
                                        tutti_count *shape_out) TUTTI_MUST_USE;
/**@}*/

/** @name Infos
 *  An info that is set while a segment is being written is committed with it, otherwise at once. */
/**@{*/
/** The owner of an info.  NULL, or variable NULL and segment -1: the dataset.  The segment
 *  being written has the number tutti_dataset_segments plus the number of segments before it in
 *  the same commit. */
typedef struct tutti_info_owner {
    const char *variable;
    tutti_count segment;
} tutti_info_owner;

/** Set an info; count 0 and value NULL remove it.
 *  Collective; all arguments must be the same on all ranks.
 *  Text is TUTTI_BYTES in UTF-8; other bytes are stored unchanged.
 *  @return TUTTI_ERR_ARG if the name is not valid UTF-8. */
TUTTI_API tutti_err tutti_dataset_info_set(tutti_dataset *d, const tutti_info_owner *owner,
                                           const char *name, tutti_type type, tutti_count count,
                                           const void *value) TUTTI_MUST_USE;
/** Get an info, including one that was set for the segment being written.
 *  Collective; owner and name must be the same on all ranks.
 *  @param[in,out] count_out  in, if value_out is not NULL: its capacity in elements; out: the
 *      number of elements.
 *  @param[out] value_out     NULL on all ranks: only type and count are returned.
 *  @return TUTTI_ERR_NOT_FOUND if there is no such info; TUTTI_ERR_ARG, on all ranks, if the
 *      capacity of any rank is too small. */
TUTTI_API tutti_err tutti_dataset_info_get(tutti_dataset *d, const tutti_info_owner *owner,
                                           const char *name, tutti_type *type_out,
                                           tutti_count *count_out, void *value_out) TUTTI_MUST_USE;
/**@}*/

/** @name Inspecting
 *  Strings belong to the dataset; they are valid until it is refreshed, or a space or variable is
 *  defined. */
/**@{*/
typedef struct tutti_space_row {
    const char *name;
    int is_list;                       /* 1: a list, 0: a grid */
    int has_ids;                       /* 0: the id of position i is i */
    int ndims;                         /* 0: no size yet */
    tutti_count shape[TUTTI_MAX_DIMS]; /* current shape; tutti_dataset_shape returns others */
} tutti_space_row;

typedef struct tutti_variable_row {
    const char *name;
    tutti_count values_per_item; /* values per item */
    tutti_variable_spec spec;    /* units and long_name: "" if not set */
} tutti_variable_row;

typedef struct tutti_section_row {
    tutti_type type;  /* type in the file */
    tutti_off bytes;  /* bytes in the file */
    tutti_off start;  /* position in the data file */
    const char *file; /* name of the data file in the directory */
    int has_checksums;
    tutti_off raw_bytes; /* bytes of all entries of the space, uncompressed */
} tutti_section_row;

/** Return the number of spaces.
 *  Not collective. */
TUTTI_API tutti_count tutti_dataset_spaces(const tutti_dataset *d);
TUTTI_API tutti_err tutti_dataset_space_row_sized(const tutti_dataset *d, tutti_count number,
                                                  tutti_space_row *out,
                                                  size_t struct_size) TUTTI_MUST_USE;
/** Return a space.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if there is no space of that number. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_space_row(const tutti_dataset *d,
                                                               tutti_count number,
                                                               tutti_space_row *out) {
    return tutti_dataset_space_row_sized(d, number, out, sizeof *out);
}

/** Return the number of variables.
 *  Not collective. */
TUTTI_API tutti_count tutti_dataset_variables(const tutti_dataset *d);
TUTTI_API tutti_err tutti_dataset_variable_row_sized(const tutti_dataset *d, tutti_count number,
                                                     tutti_variable_row *out,
                                                     size_t struct_size) TUTTI_MUST_USE;
/** Return a variable.
 *  Not collective.
 *  @return TUTTI_ERR_NOT_FOUND if there is no variable of that number. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_variable_row(const tutti_dataset *d,
                                                                  tutti_count number,
                                                                  tutti_variable_row *out) {
    return tutti_dataset_variable_row_sized(d, number, out, sizeof *out);
}

TUTTI_API tutti_err tutti_dataset_section_row_sized(tutti_dataset *d, tutti_count segment,
                                                    const char *variable, tutti_section_row *out,
                                                    size_t struct_size) TUTTI_MUST_USE;
/** Return the location of a variable in a segment.
 *  Collective; `segment` and `variable` must be the same on all ranks.
 *  @return TUTTI_ERR_NOT_FOUND if the segment has no such section. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_section_row(tutti_dataset *d,
                                                                 tutti_count segment,
                                                                 const char *variable,
                                                                 tutti_section_row *out) {
    return tutti_dataset_section_row_sized(d, segment, variable, out, sizeof *out);
}

/** The chunks of a compressed section: a grid of chunks in row-major order.  Chunks at the
 *  border are padded with the fill value; each is shuffled and compressed by itself. */
typedef struct tutti_chunks {
    int ndims;                         /* dimensions of the space */
    tutti_count shape[TUTTI_MAX_DIMS]; /* shape of a chunk, in entries */
    tutti_count count;                 /* number of chunks */
    tutti_off raw_bytes;               /* bytes of one chunk, uncompressed */
    int value_bytes;                   /* bytes per value, for the shuffle */
} tutti_chunks;

TUTTI_API tutti_err tutti_dataset_chunks_sized(tutti_dataset *d, tutti_count segment,
                                               const char *variable, tutti_chunks *out,
                                               size_t struct_size) TUTTI_MUST_USE;
/** Return the chunks of a compressed variable in a segment.
 *  Collective; `segment` and `variable` must be the same on all ranks.
 *  @return TUTTI_ERR_ARG if the variable is not compressed; TUTTI_ERR_NOT_FOUND if the segment
 *      has no such section. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_chunks(tutti_dataset *d, tutti_count segment,
                                                            const char *variable,
                                                            tutti_chunks *out) {
    return tutti_dataset_chunks_sized(d, segment, variable, out, sizeof *out);
}
/** Return the positions of n chunks, beginning with chunk `first`, in the data file; each is a
 *  zstd frame.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[out] bounds_out  [n + 1]: chunk first + i is [bounds_out[i], bounds_out[i + 1]). */
TUTTI_API tutti_err tutti_dataset_chunk_bounds(tutti_dataset *d, tutti_count segment,
                                               const char *variable, tutti_count first,
                                               tutti_count n, tutti_off *bounds_out) TUTTI_MUST_USE;

/** Return the name of an info of an owner, by its number in alphabetical order.
 *  Collective; all arguments must be the same on all ranks.
 *  @param[out] name_out  [128].
 *  @return TUTTI_ERR_NOT_FOUND after the last name. */
TUTTI_API tutti_err tutti_dataset_info_name(tutti_dataset *d, const tutti_info_owner *owner,
                                            tutti_count number, char *name_out) TUTTI_MUST_USE;
/**@}*/

/** @name Verification and repair */
/**@{*/
/** Read all data and compare checksums.
 *  Collective.
 *  @param[out] bytes_out  NULL, or the number of bytes read.
 *  @return TUTTI_ERR_FORMAT at the first damage; the message names variable, segment and block. */
TUTTI_API tutti_err tutti_dataset_verify(tutti_dataset *d, tutti_off *bytes_out) TUTTI_MUST_USE;

/** Read the data of one segment and compare checksums.
 *  Collective; `segment` must be the same on all ranks.
 *  @param[in] segment     -1: the metadata only.
 *  @param[out] bytes_out  NULL, or the number of bytes read; 0 if the segment has no checksums.
 *  @return TUTTI_ERR_FORMAT at the first damage. */
TUTTI_API tutti_err tutti_dataset_verify_segment(tutti_dataset *d, tutti_count segment,
                                                 tutti_off *bytes_out) TUTTI_MUST_USE;

/** The result of a repair. */
typedef struct tutti_repair_report {
    tutti_count segments; /* segments of the repaired dataset */
    tutti_count lost;     /* number of lost segments that could be detected */
    /* segments that stay although their checksums cannot be read: tutti_dataset_verify names
     * them */
    tutti_count damaged;
    int files;            /* data files that were examined */
    int rebuilt;          /* 1: the metadata was rebuilt from the data files */
    char backup[64];      /* "", or the name of the old metadata file */
    char first_lost[256]; /* "", or the first loss */
} tutti_repair_report;

TUTTI_API tutti_err tutti_dataset_repair_sized(MPI_Comm comm, const char *path,
                                               const tutti_dataset_options *opt,
                                               tutti_repair_report *report_out,
                                               size_t struct_size) TUTTI_MUST_USE;
/** Repair a dataset whose metadata is damaged or missing, or that has lost data files.
 *  Collective; all arguments must be the same on all ranks.
 *  Metadata that agrees with the data files stays, except for segments whose data is missing;
 *  otherwise it is rebuilt from the copies in the data files.  Old metadata is kept under another
 *  name, and no data file is changed.  No other program may have the dataset open for writing.
 *  @param[in] opt          NULL, or `level`, `lock_timeout` and `without_locks`.
 *  @param[out] report_out  NULL, or the result.
 *  @return TUTTI_ERR_NOT_FOUND if the directory has no data of a dataset; TUTTI_ERR_STATE if
 *      another program has it open for writing. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_repair(MPI_Comm comm, const char *path,
                                                            const tutti_dataset_options *opt,
                                                            tutti_repair_report *report_out) {
    return tutti_dataset_repair_sized(comm, path, opt, report_out,
                                      report_out ? sizeof *report_out : 0);
}
/**@}*/

/** @name Archives
 *  A state is archived after it has been copied, read back, compared and synced; only then are its
 *  bytes in the dataset freed.  Topologies, and segments with entry lists that others need, are not
 *  archived.  The location is recorded in `archived` of tutti_segment; the library never opens it
 *  automatically.  Reading an archived segment fails with TUTTI_ERR_STATE until it is restored.  It
 *  can be erased and dropped. */
/**@{*/
/** Copy states `first` ... `last` to a directory, one file per state
 *  (docs/reference/format.md), and free their bytes.
 *  Collective; all arguments must be the same on all ranks.
 *  Files of an earlier call that was interrupted are used.
 *  @param[in] to          path of a directory, shorter than 512 bytes; it is created if necessary.
 *  @param[out] freed_out  NULL, or the bytes freed; 0 if the file system cannot punch holes.
 *  @return TUTTI_ERR_FORMAT if a segment is damaged; nothing is archived then. */
TUTTI_API tutti_err tutti_dataset_archive(tutti_dataset *d, tutti_count first, tutti_count last,
                                          const char *to, tutti_off *freed_out) TUTTI_MUST_USE;

/** Restore the archived states among `first` ... `last`, and compare them with their checksums.
 *  Collective; all arguments must be the same on all ranks.
 *  @return TUTTI_ERR_FORMAT if a file is not what was archived; TUTTI_ERR_NOT_FOUND if it is
 *      missing.  The states then stay archived. */
TUTTI_API tutti_err tutti_dataset_restore(tutti_dataset *d, tutti_count first, tutti_count last,
                                          const char *from) TUTTI_MUST_USE;

/** A byte stream, used by rank 0.  Both functions return 0 or an errno. */
typedef struct tutti_stream {
    /* n = 0: end of the stream; the function must return only when all data is durable */
    int (*write)(void *context, const void *bytes, size_t n);
    /* *got_out = 0: end of the stream */
    int (*read)(void *context, void *bytes, size_t n, size_t *got_out);
    void *context;
    /* location recorded for archived segments; NULL: they are copied, not archived */
    const char *location;
} tutti_stream;

/** Archive states as a tar archive (ustar; pax for files of 8 GiB or more) to a stream.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_dataset_archive_stream(tutti_dataset *d, tutti_count first,
                                                 tutti_count last, const tutti_stream *to,
                                                 tutti_off *freed_out) TUTTI_MUST_USE;
/** Restore states from a tar archive with files of tutti_dataset_archive, in any order; other
 *  files are skipped.
 *  Collective; all arguments must be the same on all ranks. */
TUTTI_API tutti_err tutti_dataset_restore_stream(tutti_dataset *d, tutti_count first,
                                                 tutti_count last,
                                                 const tutti_stream *from) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
