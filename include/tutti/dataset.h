/* Tutti: datasets: results and checkpoints that describe themselves, survive a crash, and are read
 * on any number of processes.
 *
 * A dataset is a directory with a file of metadata and one or more files of data.  It has
 *
 *   spaces      what variables live on: grids (n-d), and lists of entries (nodes, elements) with an
 *               id for each
 *   variables   a name, a space, an item (scalar, vector ...) and a number type
 *   segments    appended in time: a *topology* sets the sizes and ids of spaces, a *state* refers to
 *               the topology before it; both consist of sections, one for each variable that was put
 *   infos       (name, value) on dataset, variable or segment
 *
 *     tutti_dataset_open(comm, "run.tutti", TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, NULL, &d);
 *     tutti_dataset_grid(d, "grid", 2, (tutti_count[]){N, N});
 *     tutti_dataset_variable(d, "temperature", &(tutti_variable_spec){.space = "grid",
 *                                                     .type = TUTTI_FLOAT64, .units = "K"});
 *     tutti_decomposition_create(d, "grid", &mine, &rows);
 *     for (int step = 0; step < steps; step++) {
 *         tutti_dataset_begin(d, TUTTI_STATE, step, step * dt);
 *         tutti_dataset_put(d, 1, &(tutti_put){"temperature", rows, TUTTI_FLOAT64, t});
 *         tutti_dataset_commit(d);            all of the step is there, or nothing of it
 *     }
 *     tutti_dataset_close(&d);
 *
 * All calls are Collective and all arguments agree unless it is said otherwise; what agrees is
 * compared.  After an error all ranks have the same code and message, and the dataset is as before.
 * One thread at a time per dataset; different datasets may be used by different threads.
 *
 * Errors.  A collective call fails with one code and one message on all ranks, those of the lowest
 * rank that fails.  A rank that passes a NULL or stale dataset handle has no communicator: only
 * that rank gets the error, and the others, which cannot detect it, wait.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DATASET_H
#define TUTTI_DATASET_H

#include <mpi.h>
#include <tutti/types.h>
#include <tutti/error.h>
#include <tutti/decomposition.h>
#include <tutti/file.h>
#include <tutti/numbers.h>

TUTTI_BEGIN_DECLS

/** @name Opening and closing */
/**@{*/
enum { TUTTI_DURABLE, TUTTI_VISIBLE };
enum { TUTTI_CONTAINER_NATIVE, TUTTI_CONTAINER_NETCDF };

/** Always start from tutti_dataset_options_init. */
typedef struct tutti_dataset_options {
    size_t struct_size;
    /* commits: TUTTI_DURABLE is on the device when commit returns; TUTTI_VISIBLE survives a killed
     * program, not a power cut */
    int level;
    /* new data files: 0, all segments in one; n, a new one for every n time indices */
    int indices_per_file;
    int checksums;     /* 1 (default): of every section */
    int check_reads;   /* 1: the first get of a section compares them */
    double busy;       /* seconds to wait for another program that has the metadata (5) */
    int without_locks; /* 1: go on where the file system has no locks: nobody else may write */
    const tutti_options *io; /* of the data files; NULL: defaults and environment */
    int ieee; /* 1: finite values too large for a floating-point type become infinities in put and get,
               * where otherwise they are TUTTI_ERR_VALUE */
    /* data files of a dataset that is made: TUTTI_CONTAINER_NATIVE (default), or TUTTI_CONTAINER_NETCDF:
     * each is a netCDF file (CDF-5) that ncdump and xarray read; docs/reference/datasets.md says what it cannot have.
     * One that is there keeps what it has */
    int container;
} tutti_dataset_options;

TUTTI_API void tutti_dataset_options_init_sized(tutti_dataset_options *opt, size_t struct_size);
static inline void tutti_dataset_options_init(tutti_dataset_options *opt) {
    tutti_dataset_options_init_sized(opt, sizeof *opt);
}

/** Open a dataset.
 *  @param[in] mode  TUTTI_READ, | TUTTI_WRITE, | TUTTI_CREATE if it is to be made where it is not
 *      there, | TUTTI_TRUNCATE for an empty one, | TUTTI_EXCLUSIVE
 *  @return TUTTI_ERR_STATE if another program has it open for writing; TUTTI_ERR_FORMAT if it is no
 *      dataset or damaged; the message says what */
TUTTI_API tutti_err tutti_dataset_open(MPI_Comm comm, const char *path, int mode,
                                       const tutti_dataset_options *opt,
                                       tutti_dataset **d_out) TUTTI_MUST_USE;

/** Close it and null the handle; a segment that was not committed is discarded. */
TUTTI_API tutti_err tutti_dataset_close(tutti_dataset **d);

/** What its data files are: TUTTI_CONTAINER_NATIVE or TUTTI_CONTAINER_NETCDF.   Local. */
TUTTI_API int tutti_dataset_container(const tutti_dataset *d);

/** A reader sees the segments that were there when it opened.  Look again.
 *  @param[out] changed_out  NULL, or 1: there are other segments now */
TUTTI_API tutti_err tutti_dataset_refresh(tutti_dataset *d, int *changed_out) TUTTI_MUST_USE;

/** tutti_dataset_stats for bindings of other languages, which say how many bytes they have for the struct.   Local. */
TUTTI_API void tutti_dataset_stats_sized(const tutti_dataset *d, tutti_stats *all_out,
                                         size_t struct_size);

/** Statistics of all operations on the data files since the dataset was opened, on this rank.   Local.
 *  Exodus files have tutti_exodus_stats, which returns the same. */
static inline void tutti_dataset_stats(const tutti_dataset *d, tutti_stats *all_out) {
    tutti_dataset_stats_sized(d, all_out, sizeof(tutti_stats));
}

/** Install a progress callback for all operations on the data files (see tutti_file_on_progress), or remove it with NULL.
 *  Local.   Exodus files have tutti_exodus_on_progress. */
TUTTI_API void tutti_dataset_on_progress(tutti_dataset *d, tutti_progress_fn *fn, void *context);
/**@}*/

/** @name Spaces and variables
 *  Saying again what is so already is fine; another size, type or space is TUTTI_ERR_EXISTS.  They
 *  become part of the dataset with the next commit. */
/**@{*/
/** A grid of 1 to TUTTI_MAX_DIMS dimensions, row-major.  Its shape holds until a topology sets
 *  another. */
TUTTI_API tutti_err tutti_dataset_grid(tutti_dataset *d, const char *name, int ndims,
                                       const tutti_count *shape) TUTTI_MUST_USE;

/** A list of entries; each topology says how many and which. */
TUTTI_API tutti_err tutti_dataset_list(tutti_dataset *d, const char *name) TUTTI_MUST_USE;

/** In a topology segment, before anything on the space is put there: its size from now on.  ndims is 1
 *  for lists. */
TUTTI_API tutti_err tutti_dataset_resize(tutti_dataset *d, const char *space, int ndims,
                                         const tutti_count *shape) TUTTI_MUST_USE;

/** In a topology segment: the ids of a list, position by position: this rank's are behind those of
 *  the ranks before it, all together as many as the list has entries (it is resized to that).  Ids are
 *  >= 0 and different; without this call the id of position i is i.   n and ids are each rank's own. */
TUTTI_API tutti_err tutti_dataset_ids(tutti_dataset *d, const char *space, tutti_count n,
                                      const int64_t *ids) TUTTI_MUST_USE;

/** What an item is: so many numbers, one after the other. */
typedef enum tutti_item {
    TUTTI_SCALAR,     /* 1 */
    TUTTI_VECTOR,     /* components */
    TUTTI_SYM_TENSOR, /* components * (components + 1) / 2: xx yy zz xy yz zx in 3-D */
    TUTTI_TENSOR,     /* components * components */
    TUTTI_VALUES      /* components, of no particular meaning */
} tutti_item;

typedef enum tutti_layout {
    TUTTI_GLOBAL, /* in the order of the space: read anywhere, the same for any number of ranks */
    TUTTI_RANKED  /* rank after rank, as memory has it: the fastest to write */
} tutti_layout;

typedef struct tutti_variable_spec {
    const char *space;
    tutti_item item;
    int components;  /* of a vector, tensor or values; 0: 1, for tensors 3 */
    tutti_type type; /* in the file */
    tutti_layout layout;
    tutti_byte_order order;
    const char *units, *long_name; /* UTF-8, or NULL */
    double fill; /* what entries that nobody has put read as, and have in the file */
    /* 0: not; 1 ... 19: bytes shuffled, then zstd of that level.  TUTTI_GLOBAL only; put whole (by a
     * decomposition that covers the space) and by tutti_dataset_put; got in any way */
    int compress;
    int64_t reserved[8]; /* 0: for later versions */
} tutti_variable_spec;

TUTTI_API tutti_err tutti_dataset_variable(tutti_dataset *d, const char *name,
                                           const tutti_variable_spec *spec) TUTTI_MUST_USE;

/** The type in the file of sections that are put from now on. */
TUTTI_API tutti_err tutti_dataset_put_type(tutti_dataset *d, const char *variable,
                                           tutti_type type) TUTTI_MUST_USE;
/**@}*/

/** @name Writing: begin, put, commit */
/**@{*/
typedef enum tutti_segment_kind { TUTTI_TOPOLOGY, TUTTI_STATE } tutti_segment_kind;

/** Begin a segment.   Time indices rise; at an equal one topology comes before state, and there is at
 *  most one of each. */
TUTTI_API tutti_err tutti_dataset_begin(tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                                        double time) TUTTI_MUST_USE;

/** Begin another segment behind the one that has begun, which is put aside: the next commit makes both
 *  (or all) of them part of the dataset, or none.  An adapted mesh and the first state on it belong
 *  together like that.
 *  @return TUTTI_ERR_STATE: none has begun; otherwise as begin and commit, and the one before is still
 *      being written */
TUTTI_API tutti_err tutti_dataset_begin_also(tutti_dataset *d, tutti_segment_kind kind,
                                             int64_t index, double time) TUTTI_MUST_USE;

/** One variable to put; buf is each rank's own. */
typedef struct tutti_put {
    const char *variable;
    tutti_decomposition *entries; /* of its space */
    tutti_type type;              /* of the numbers in memory; TUTTI_BYTES: as in the file */
    const void *buf;              /* the items of the decomposition's entries */
} tutti_put;

/** Write n different variables to the segment, all in one operation.   A variable may be written several
 *  times, each time other entries of it or the same again (TUTTI_RANKED: with the same decomposition;
 *  compressed: all of it).
 *  After an error (a full disk, a value that does not fit) the variables of the call are incomplete, and
 *  tutti_dataset_commit fails until each of them has been written again: with the same decomposition, or with one that
 *  covers the space.  Entries that other calls have written stay.
 *  @return TUTTI_ERR_VALUE: a value does not fit its type in the file; the message names rank, variable, position and
 *      value */
TUTTI_API tutti_err tutti_dataset_put(tutti_dataset *d, int n,
                                      const tutti_put *puts) TUTTI_MUST_USE;

/** The same without waiting for other ranks; complete it by tutti_request_test or tutti_request_wait before the
 *  commit.  Several may be under way: they are carried out in the order of their starts, which must be the same on all
 *  ranks for one dataset.  All errors, also those of arguments, are returned by test and wait, except TUTTI_ERR_ARG if `r_out`
 *  is NULL.  Buffers and decompositions must stay until then; `puts` may be reused at once.   If the request is abandoned, the
 *  outcome is unknown: the variables must be written again, as after an error.   Compressed variables fail with
 *  TUTTI_ERR_UNSUPPORTED. */
TUTTI_API tutti_err tutti_dataset_put_start(tutti_dataset *d, int n, const tutti_put *puts,
                                            tutti_request **r_out) TUTTI_MUST_USE;

/** All that has begun becomes part of the dataset, or, after an error, nothing: then it is still being
 *  written, and may be committed again or discarded.
 *  If the data could not be synced (level TUTTI_DURABLE), the operating system may have dropped it: the commit returns the
 *  error of the sync, and further commits fail with TUTTI_ERR_STATE until every variable of the segment has been written
 *  again (with all the decompositions that it was written with, or with one that covers the space; ids by
 *  tutti_dataset_ids), or the segment is discarded.  Segments before a tutti_dataset_begin_also cannot be written again:
 *  discard.  Segments that other programs committed to the same data file with TUTTI_VISIBLE may be damaged, too: the
 *  message of the failed commit names them, and they stay; tutti_dataset_verify checks them.
 *  @return TUTTI_ERR_STATE: a variable is incomplete (the message names it and what to do), or a put has been started and
 *      not completed */
TUTTI_API tutti_err tutti_dataset_commit(tutti_dataset *d) TUTTI_MUST_USE;

/** The same without waiting; complete it by tutti_request_test or tutti_request_wait.  Until then the
 *  other collective calls of the dataset are refused (TUTTI_ERR_STATE), Local ones work; the segment
 *  is there when its request is complete.  Reading back, syncing and the transaction of the database go on
 *  in a thread that does not call MPI; the rest moves on in calls of the library.   @return TUTTI_ERR_STATE as
 *  for tutti_dataset_commit; what fails later is told by test and wait */
TUTTI_API tutti_err tutti_dataset_commit_start(tutti_dataset *d,
                                               tutti_request **r_out) TUTTI_MUST_USE;

/** Give up what has begun. */
TUTTI_API tutti_err tutti_dataset_discard(tutti_dataset *d) TUTTI_MUST_USE;

/** Remove all segments behind this one (-1: all there are). */
TUTTI_API tutti_err tutti_dataset_erase_after(tutti_dataset *d, tutti_count segment) TUTTI_MUST_USE;

/** Remove the oldest data files, all but `keep` of them, with their segments.  Segments that a remaining
 *  segment needs stay, with their files: its topology, the topologies that set the sizes of its spaces,
 *  and segments with the lists of entries of its ranked sections.  The shapes and values of all remaining
 *  segments are unchanged. */
TUTTI_API tutti_err tutti_dataset_drop_oldest(tutti_dataset *d, int keep) TUTTI_MUST_USE;
/**@}*/

/** @name Reading */
/**@{*/
typedef struct tutti_segment {
    tutti_count number; /* 0 ... tutti_dataset_segments - 1 */
    tutti_segment_kind kind;
    int64_t index;
    double time;
    tutti_count topology; /* number of the topology that it refers to (or is), -1: none */
    int sections;
    tutti_off bytes;
    const char *archived; /* where its bytes are, as tutti_dataset_archive was told; NULL: here */
} tutti_segment;

/** How many there are.   Local. */
TUTTI_API tutti_count tutti_dataset_segments(const tutti_dataset *d);
TUTTI_API tutti_err tutti_dataset_segment_sized(const tutti_dataset *d, tutti_count number,
                                                tutti_segment *out,
                                                size_t struct_size) TUTTI_MUST_USE;
/** One of them.   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_segment(const tutti_dataset *d,
                                                             tutti_count number,
                                                             tutti_segment *out) {
    return tutti_dataset_segment_sized(d, number, out, sizeof *out);
}
/** The number of the state (or topology) with a time index; the last one with time <= `time`; the
 *  latest.   Local.   @return TUTTI_ERR_NOT_FOUND */
TUTTI_API tutti_err tutti_dataset_find_index(const tutti_dataset *d, tutti_segment_kind kind,
                                             int64_t index, tutti_count *out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_dataset_find_time(const tutti_dataset *d, tutti_segment_kind kind,
                                            double time, tutti_count *out) TUTTI_MUST_USE;
TUTTI_API tutti_err tutti_dataset_latest(const tutti_dataset *d, tutti_segment_kind kind,
                                         tutti_count *out) TUTTI_MUST_USE;

/** One variable to get; buf is each rank's own. */
typedef struct tutti_get {
    const char *variable;
    tutti_decomposition *entries;
    tutti_type type; /* of the numbers in memory; TUTTI_BYTES: as in the file */
    void *buf;
} tutti_get;

/** Get n variables of a segment in one operation.   Entries that nobody has put are filled.
 *  @return TUTTI_ERR_NOT_FOUND if the segment has no such section; TUTTI_ERR_STATE if a writer has
 *      removed or archived segments, or replaced the dataset, since it was opened or refreshed: refresh */
TUTTI_API tutti_err tutti_dataset_get(tutti_dataset *d, tutti_count segment, int n,
                                      const tutti_get *gets) TUTTI_MUST_USE;

/** The same without waiting for other ranks, as tutti_dataset_put_start; compressed variables included. */
TUTTI_API tutti_err tutti_dataset_get_start(tutti_dataset *d, tutti_count segment, int n,
                                            const tutti_get *gets,
                                            tutti_request **r_out) TUTTI_MUST_USE;

/** One variable through segments: those of `first` ... `last` that have it, one after the other in
 *  buf, with one operation per data file.  All must have the topology of the decomposition.   @param[out] count_out  how many they were */
TUTTI_API tutti_err tutti_dataset_follow(tutti_dataset *d, tutti_count first, tutti_count last,
                                         const tutti_get *get,
                                         tutti_count *count_out) TUTTI_MUST_USE;

/** The current size of a space, or as of a segment (-1: now).   Local.
 *  @param[out] shape_out  [TUTTI_MAX_DIMS] */
TUTTI_API tutti_err tutti_dataset_shape(const tutti_dataset *d, const char *space,
                                        tutti_count segment, int *ndims_out,
                                        tutti_count *shape_out) TUTTI_MUST_USE;
/**@}*/

/** @name Infos: names and values, set at once, with the next commit, or with none under way */
/**@{*/
/** What an info belongs to: NULL variable and segment -1, or no owner at all: the dataset.  The segment
 *  being written has the number tutti_dataset_segments, behind those that were put aside. */
typedef struct tutti_info_owner {
    const char *variable;
    tutti_count segment;
} tutti_info_owner;

/** Set it; count 0 and value NULL remove it.  Text is TUTTI_BYTES of UTF-8; other bytes are stored as they
 *  are.   @return TUTTI_ERR_ARG if the name is not valid UTF-8 */
TUTTI_API tutti_err tutti_dataset_info_set(tutti_dataset *d, const tutti_info_owner *owner,
                                           const char *name, tutti_type type, tutti_count count,
                                           const void *value) TUTTI_MUST_USE;
/** Get it; one that was set for the segment being written is found too.
 *  @param[in,out] count_out  in, where value_out is not NULL: its capacity in elements, on each rank
 *  @param[out] value_out  NULL on all ranks: only type and count are returned
 *  @return TUTTI_ERR_NOT_FOUND; TUTTI_ERR_ARG, on all ranks, if the capacity of any rank is too small */
TUTTI_API tutti_err tutti_dataset_info_get(tutti_dataset *d, const tutti_info_owner *owner,
                                           const char *name, tutti_type *type_out,
                                           tutti_count *count_out, void *value_out) TUTTI_MUST_USE;
/**@}*/

/** @name Looking at a dataset that one does not know
 *  Texts of rows belong to the dataset; they are good until it is refreshed or something is registered. */
/**@{*/
typedef struct tutti_space_row {
    const char *name;
    int is_list;                       /* 0: a grid */
    int has_ids;                       /* 0: the id of position i is i */
    int ndims;                         /* 0: it has no size yet */
    tutti_count shape[TUTTI_MAX_DIMS]; /* now; tutti_dataset_shape tells others */
} tutti_space_row;

typedef struct tutti_variable_row {
    const char *name;
    tutti_count numbers;      /* of an item */
    tutti_variable_spec spec; /* units and long_name: "" if there are none */
} tutti_variable_row;

typedef struct tutti_section_row {
    tutti_type type;  /* in the file */
    tutti_off bytes;  /* in the file */
    tutti_off start;  /* where they begin in it */
    const char *file; /* its name within the directory */
    int has_sum;
    tutti_off raw_bytes; /* of all entries of the space, as numbers of that type */
} tutti_section_row;

/** How many spaces there are.   Local. */
TUTTI_API tutti_count tutti_dataset_spaces(const tutti_dataset *d);
TUTTI_API tutti_err tutti_dataset_space_row_sized(const tutti_dataset *d, tutti_count number,
                                                  tutti_space_row *out,
                                                  size_t struct_size) TUTTI_MUST_USE;
/** One of them.   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_space_row(const tutti_dataset *d,
                                                               tutti_count number,
                                                               tutti_space_row *out) {
    return tutti_dataset_space_row_sized(d, number, out, sizeof *out);
}

/** How many variables there are.   Local. */
TUTTI_API tutti_count tutti_dataset_variables(const tutti_dataset *d);
TUTTI_API tutti_err tutti_dataset_variable_row_sized(const tutti_dataset *d, tutti_count number,
                                                     tutti_variable_row *out,
                                                     size_t struct_size) TUTTI_MUST_USE;
/** One of them.   Local. */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_variable_row(const tutti_dataset *d,
                                                                  tutti_count number,
                                                                  tutti_variable_row *out) {
    return tutti_dataset_variable_row_sized(d, number, out, sizeof *out);
}

TUTTI_API tutti_err tutti_dataset_section_row_sized(tutti_dataset *d, tutti_count segment,
                                                    const char *variable, tutti_section_row *out,
                                                    size_t struct_size) TUTTI_MUST_USE;
/** Where a variable lies in a segment.   @return TUTTI_ERR_NOT_FOUND if the segment has no such section */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_section_row(tutti_dataset *d,
                                                                 tutti_count segment,
                                                                 const char *variable,
                                                                 tutti_section_row *out) {
    return tutti_dataset_section_row_sized(d, segment, variable, out, sizeof *out);
}

/** How a compressed section is cut: a grid of chunks in row-major order, those at the border padded with
 *  the fill value; each is shuffled and compressed by itself. */
typedef struct tutti_chunks {
    int ndims;                         /* of the space */
    tutti_count shape[TUTTI_MAX_DIMS]; /* of a chunk, in entries */
    tutti_count count;                 /* how many there are */
    tutti_off raw_bytes;               /* of one before it was compressed */
    int number_bytes;                  /* bytes of numbers, over which they were shuffled */
} tutti_chunks;

TUTTI_API tutti_err tutti_dataset_chunks_sized(tutti_dataset *d, tutti_count segment,
                                               const char *variable, tutti_chunks *out,
                                               size_t struct_size) TUTTI_MUST_USE;
/** That of a variable in a segment.   @return TUTTI_ERR_ARG if it is not compressed; TUTTI_ERR_NOT_FOUND */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_chunks(tutti_dataset *d, tutti_count segment,
                                                            const char *variable,
                                                            tutti_chunks *out) {
    return tutti_dataset_chunks_sized(d, segment, variable, out, sizeof *out);
}
/** Where n chunks from `first` on lie in the data file: one after the other, each a frame of zstd.
 *  @param[out] bounds_out  [n + 1] chunk first + i is [bounds_out[i], bounds_out[i + 1]) */
TUTTI_API tutti_err tutti_dataset_chunk_bounds(tutti_dataset *d, tutti_count segment,
                                               const char *variable, tutti_count first,
                                               tutti_count n, tutti_off *bounds_out) TUTTI_MUST_USE;

/** The names of the infos of an owner, in the order of the alphabet: this one of them.
 *  @param[out] name_out  [128]
 *  @return TUTTI_ERR_NOT_FOUND behind the last */
TUTTI_API tutti_err tutti_dataset_info_name(tutti_dataset *d, const tutti_info_owner *owner,
                                            tutti_count number, char *name_out) TUTTI_MUST_USE;
/**@}*/

/** @name Checking */
/**@{*/
/** Read everything and compare checksums.
 *  @param[out] bytes_out  NULL, or how much was read
 *  @return TUTTI_ERR_FORMAT with the first place that is wrong: variable, segment, block */
TUTTI_API tutti_err tutti_dataset_verify(tutti_dataset *d, tutti_off *bytes_out) TUTTI_MUST_USE;

/** The same of one segment; -1: of the metadata alone.
 *  @param[out] bytes_out  NULL, or how much was read; 0 if it was written without checksums */
TUTTI_API tutti_err tutti_dataset_verify_segment(tutti_dataset *d, tutti_count segment,
                                                 tutti_off *bytes_out) TUTTI_MUST_USE;

/** What came of a repair. */
typedef struct tutti_repair_report {
    tutti_count segments; /* that the dataset has now */
    tutti_count lost;     /* that it had, as far as is known, and has not any more */
    /* segments that stay, though their checksums cannot be read: tutti_dataset_verify names them */
    tutti_count damaged;
    int files;            /* data files that were looked at */
    int rebuilt;          /* 1: the metadata were made anew from the data files */
    char kept[64];        /* "", or the name of the old metadata in the directory */
    char first_lost[256]; /* "", or what was lost first */
} tutti_repair_report;

TUTTI_API tutti_err tutti_dataset_repair_sized(MPI_Comm comm, const char *path,
                                               const tutti_dataset_options *opt,
                                               tutti_repair_report *report_out,
                                               size_t struct_size) TUTTI_MUST_USE;
/** Bring a dataset back whose metadata are damaged or gone, or that has lost data files.   Metadata
 *  that agree with the data files are left alone, but for segments whose data are gone; others are
 *  made anew from the copies in the data files.  Old metadata are kept under another name, and no data
 *  file is changed.  Nobody else may have the dataset open for writing.
 *  @param[in] opt  NULL, or `level`, `busy` and `without_locks`
 *  @param[out] report_out  NULL, or what was done
 *  @return TUTTI_ERR_NOT_FOUND if there is nothing of a dataset; TUTTI_ERR_STATE if another program
 *      has it open for writing */
TUTTI_MUST_USE static inline tutti_err tutti_dataset_repair(MPI_Comm comm, const char *path,
                                                            const tutti_dataset_options *opt,
                                                            tutti_repair_report *report_out) {
    return tutti_dataset_repair_sized(comm, path, opt, report_out,
                                      report_out ? sizeof *report_out : 0);
}
/**@}*/

/** @name Archives: whole states kept somewhere else
 *  Topologies, and segments with lists of entries that others need, stay.  A state is archived once it has been
 *  copied there, read back, compared and synced; only then are its bytes here freed: at no instant is
 *  it neither here nor there.  Its place is told (tutti_segment), never opened by itself: getting an archived
 *  segment is TUTTI_ERR_STATE until it is restored.  It can be erased and dropped like any other. */
/**@{*/
/** Copy states `first` ... `last` to a directory, one file each (docs/reference/format.md), and free their bytes.  What
 *  an earlier call that was killed has left is used.
 *  @param[in] to  a directory, made if it is not there; less than 512 bytes
 *  @param[out] freed_out  NULL, or bytes freed here: 0 where the file system cannot make holes in files
 *  @return TUTTI_ERR_FORMAT if a segment is damaged; nothing is archived then */
TUTTI_API tutti_err tutti_dataset_archive(tutti_dataset *d, tutti_count first, tutti_count last,
                                          const char *to, tutti_off *freed_out) TUTTI_MUST_USE;

/** Those of `first` ... `last` that are archived come back, compared with what they were.
 *  @return TUTTI_ERR_FORMAT if a file is not what was archived, TUTTI_ERR_NOT_FOUND if it is not there;
 *      they are archived as before then */
TUTTI_API tutti_err tutti_dataset_restore(tutti_dataset *d, tutti_count first, tutti_count last,
                                          const char *from) TUTTI_MUST_USE;

/** Bytes to or from somewhere; rank 0's are used.  Both return 0 or an errno. */
typedef struct tutti_stream {
    int (*write)(void *context, const void *bytes,
                 size_t n); /* n 0: the end; all must be safe now */
    int (*read)(void *context, void *bytes, size_t n, size_t *got_out); /* *got_out 0: no more */
    void *context;
    const char *place; /* what is told of archived segments; NULL: they are copied, not archived */
} tutti_stream;

/** The same as a tar archive (ustar, pax where a file has 8 GiB or more) on a stream, which tar(1) reads. */
TUTTI_API tutti_err tutti_dataset_archive_stream(tutti_dataset *d, tutti_count first,
                                                 tutti_count last, const tutti_stream *to,
                                                 tutti_off *freed_out) TUTTI_MUST_USE;
/** From a tar archive with the files of tutti_dataset_archive, in any order; others in it are skipped. */
TUTTI_API tutti_err tutti_dataset_restore_stream(tutti_dataset *d, tutti_count first,
                                                 tutti_count last,
                                                 const tutti_stream *from) TUTTI_MUST_USE;
/**@}*/

TUTTI_END_DECLS
#endif
