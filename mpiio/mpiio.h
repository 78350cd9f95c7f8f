/* mpiio: implementation of MPI_File_* for existing programs by the public interface of Tutti.
 *
 * The handle of the program is a handle of the MPI library, opened on MPI_COMM_SELF and /dev/null,
 * so that error handlers and Fortran indices work as usual.  A table maps the handle to the data of
 * the file.  Handles that are not in the table are passed to the MPI library.
 *
 *   names.c, data_names.c   the exported functions, generated from tables
 *   real.c      the functions of the MPI library
 *   handle.c    table of files by handle
 *   ranks.c     private communicators
 *   agree.c     agreement of ranks
 *   errors.c    errors of Tutti as MPI error classes
 *   handlers.c  error handlers of the program
 *   open.c      open, close, delete
 *   manage.c    size, group, info, sync, atomicity
 *   hints.c     MPI_Info <-> options
 *   types.c     datatypes of the program
 *   view.c      views
 *   position.c  file pointers, byte offsets
 *   transfer.c  data calls (mpiio_call): blocking, non-blocking, split
 *   job.c       conversion of a data call to an access of Tutti
 *   repeat.c    views with repeated bytes
 *   shared.c    the shared file pointer
 *   external.c  the representation external32
 *   signature.c conversion between memory and external32, value by value
 *   fortran.c   files in error handlers of Fortran programs
 *   summary.c   TUTTI_STATS=1: statistics printed at close
 *   valid.c     invariants of objects, for assertions
 *   request.c   MPI requests for operations of Tutti
 *   request_table.c   table of pending requests
 *   progress.c  progress of requests in calls of the MPI library
 *   waits.c     MPI_Wait, MPI_Test and similar calls, which report errors of these requests
 *
 * Errors: a function that returns int returns an error class of MPI.  The code that detects an
 * error records it by mpiio_complain; exported functions end with mpiio_fail, which calls the error
 * handler of the program.  Threads: f->lock is held around calls of Tutti (mpiio_enter), except for
 * calls that any thread may make at any time.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_H
#define TUTTI_MPIIO_H

#include <pthread.h>
#include <tutti/tutti.h>

typedef struct mpiio_view {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype; /* as passed by the program (duplicates, unless predefined) */
    MPI_Offset etype_size;        /* size in the file; 1 if the etype has no bytes */
    MPI_Offset tile_size, tile_extent; /* bytes and extent of the filetype in the file */
    MPI_Offset tile_begin, tile_end;   /* bounds of the bytes of the filetype in the file */
    tutti_view *tiles; /* view in Tutti; NULL: a tile has repeated bytes, see repeat.c */
    /* filetype in the file, if bytes are repeated or tiles overlap; otherwise MPI_DATATYPE_NULL */
    MPI_Datatype tile;
    int plain;     /* no holes: byte p of the view is byte displacement + p of the file */
    int external;  /* the representation is external32 */
    char name[16]; /* name of the representation */
} mpiio_view;

/* A private communicator with the same ranks as a communicator of the program, see ranks.c. */
typedef struct mpiio_ranks {
    MPI_Comm comm;
    int rank, size;
    int64_t id;
    int busy, orphan;
    int64_t *words, settings; /* shared file pointers, see shared.c */
    struct mpiio_ranks *next;
} mpiio_ranks;

/* Kinds of calls, for the summary. */
enum { MPIIO_INDEPENDENT, MPIIO_COLLECTIVE, MPIIO_NONBLOCKING, MPIIO_SPLIT, MPIIO_FAMILIES };

typedef struct mpiio_account {
    tutti_count calls;
    tutti_off bytes;
    int64_t nanoseconds; /* time in calls */
} mpiio_account;

typedef struct mpiio_file {
    MPI_File native;
    tutti_file *file; /* NULL: closed at MPI_Finalize */
    mpiio_ranks *ranks;
    int amode;
    int explain;
    int summary;    /* statistics are printed at close; the same on all ranks */
    MPI_Info hints; /* hints without effect, reported by get_info */
    char *path;
    mpiio_view view;
    MPI_Offset position; /* individual file pointer in bytes of the view; accessed atomically */
    int atomic;
    struct mpiio_shared *shared; /* the shared file pointer */
    struct mpiio_job *split;     /* pending split collective operation; NULL: none */
    int requests;                /* number of pending requests of the file */
    /* [is_write][kind of call] numbers for the summary */
    mpiio_account accounts[2][MPIIO_FAMILIES];
    double opened;
    pthread_mutex_t lock; /* held between mpiio_enter and mpiio_leave */
    struct mpiio_file *next;
} mpiio_file;

/* The arguments of a data call. */
typedef enum mpiio_where { MPIIO_AT, MPIIO_POINTER, MPIIO_SHARED, MPIIO_ORDERED } mpiio_where;
typedef struct mpiio_call {
    mpiio_where where;
    int is_write, collective;
    MPI_Offset offset; /* MPIIO_AT: offset in etypes */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
} mpiio_call;

/* ---- real.c */
/* Return whether TUTTI_MPIIO=off disables this library. */
int mpiio_off(void);
void *mpiio_real(const char *name);
double mpiio_now(void);

/* ---- times.c: MPIIO_TIMED measures the time of an MPI_File_ call until the end of its function */
double mpiio_timed_begin(void);
void mpiio_timed_end(const double *since);
#define MPIIO_TIMED \
    __attribute__((cleanup(mpiio_timed_end), unused)) const double since = mpiio_timed_begin()
void mpiio_timed_file(void); /* count an opened file */
/* The function PMPI_name of the MPI library. */
#define MPIIO_REAL(name)                                          \
    ((__typeof__(&PMPI_##name))({                                 \
        static void *real_;                                       \
        void *found_ = __atomic_load_n(&real_, __ATOMIC_ACQUIRE); \
        if (!found_) {                                            \
            found_ = mpiio_real("PMPI_" #name);                   \
            __atomic_store_n(&real_, found_, __ATOMIC_RELEASE);   \
        }                                                         \
        found_;                                                   \
    }))
/* Export a function that is defined as PMPI_name also as MPI_name. */
#define MPIIO_EXPORT(name)                    \
    extern __typeof__(PMPI_##name) MPI_##name \
        __attribute__((weak, alias("PMPI_" #name), visibility("default")))

/* ---- handle.c */
/* Return 1 if the handle belongs to this library; *out is the file, or NULL if the handle is
 * MPI_FILE_NULL or has been closed.  Return 0 for a handle of the MPI library. */
int mpiio_is_ours(MPI_File fh, mpiio_file **out);
mpiio_file *mpiio_find(MPI_File fh); /* NULL: handle of the MPI library, or closed */
/* mpiio_handle_take gets a native handle with the error handler of MPI_FILE_NULL; mpiio_handle_give
 * returns it for reuse. */
int mpiio_handle_take(MPI_File *out);
void mpiio_handle_give(MPI_File native);
void mpiio_handles_close(void); /* close spare handles, at MPI_Finalize */
/* Call MPI_File_open of the MPI library; the handle does not belong to this library. */
int mpiio_pass_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out);
void mpiio_table_add(mpiio_file *f);
void mpiio_table_remove(mpiio_file *f);
/* Call `fn` for all open files. */
void mpiio_table_each(void (*fn)(mpiio_file *f));

/* ---- ranks.c */
/* Return an unused private communicator for comm, or NULL.  Copies of one communicator have the
 * same id on all ranks.   Local. */
mpiio_ranks *mpiio_ranks_offer(MPI_Comm comm);
/* Create a private communicator; `id` must be unique and the same on all ranks.   Collective on
 * comm. */
int mpiio_ranks_make(MPI_Comm comm, int64_t id, mpiio_ranks **out);
void mpiio_ranks_give(mpiio_ranks **ranks);
void mpiio_ranks_finalize(void);

/* ---- agree.c */
/* Compute the maximum over all ranks of each of n <= MPIIO_NUMBERS numbers, in place.
 * Collective. */
enum { MPIIO_NUMBERS = 16 };
int mpiio_agree(const mpiio_ranks *ranks, int n, int64_t *numbers);
int mpiio_agree_on(MPI_Comm comm, int n, int64_t *numbers); /* used before an mpiio_ranks exists */
/* Return the largest error class of all ranks; `what` is the message if it is the class of another
 * rank.   Collective. */
int mpiio_agree_outcome(const mpiio_ranks *ranks, int local_class, const char *what);
/* Complete a request of this library, while requests of the program progress. */
int mpiio_finish(MPI_Request *request);

/* ---- errors.c */
/* Record the error of this thread, and return the class. */
int mpiio_complain(int mpi_class, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Like mpiio_complain, for the last error of Tutti. */
int mpiio_complain_tutti(tutti_err err);
int mpiio_class_of(tutti_err err, const tutti_error_info *info);
/* Set the error that the next collective call of Tutti, made without an access, reports on all
 * ranks. */
void mpiio_refuse(int complaint);
/* Return the last message of this thread if it belongs to this code, otherwise "". */
const char *mpiio_message(int code);

/* ---- handlers.c */
/* Call the error handler of the file (NULL: of MPI_FILE_NULL), unless mpi_class is MPI_SUCCESS, and
 * return the code for the program: the class, or the code set by the handler. */
int mpiio_fail(mpiio_file *f, int mpi_class);

/* ---- open.c */
int mpiio_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out);
int mpiio_close(MPI_File *fh);
int mpiio_delete(const char *path, MPI_Info info);
void mpiio_watch(void);       /* register the callback for MPI_Finalize */
void mpiio_watch_early(void); /* register it before the callbacks of the program */

/* ---- manage.c */
int mpiio_set_size(mpiio_file *f, MPI_Offset size);
int mpiio_preallocate(mpiio_file *f, MPI_Offset size);
int mpiio_get_size(mpiio_file *f, MPI_Offset *size);
int mpiio_get_group(mpiio_file *f, MPI_Group *group);
int mpiio_get_amode(mpiio_file *f, int *amode);
int mpiio_set_info(mpiio_file *f, MPI_Info info);
int mpiio_get_info(mpiio_file *f, MPI_Info *info);
int mpiio_set_atomicity(mpiio_file *f, int flag);
int mpiio_get_atomicity(mpiio_file *f, int *flag);
int mpiio_sync(mpiio_file *f);
int mpiio_register_datarep(const char *name);

/* ---- hints.c */
/* Set *opt to the options of the environment, then apply supported hints with valid values. */
int mpiio_hints_read(MPI_Info info, tutti_options *opt);
/* mpiio_hints_apply computes the options after later hints, and returns 1 if they differ from the
 * options in use; mpiio_hints_change sets these options, on all ranks. */
int mpiio_hints_apply(const mpiio_file *f, MPI_Info info, tutti_options *opt);
void mpiio_hints_change(mpiio_file *f, const tutti_options *opt);
/* Store hints that are only reported: at open, and later. */
int mpiio_hints_open(mpiio_file *f, MPI_Info info);
void mpiio_hints_keep(mpiio_file *f, MPI_Info info);
int mpiio_hints_get(const mpiio_file *f, MPI_Info *out);
/* Return whether the hints file of the system has a hint that is too long for MPI_Info_set. */
int mpiio_hints_too_long(void);
void mpiio_hints_end(void); /* free the system hints, at MPI_Finalize */

/* ---- types.c */
/* Return MPI_ERR_TYPE unless the datatype is committed. */
int mpiio_type_check(const mpiio_file *f, MPI_Datatype type);
int mpiio_type_is_named(MPI_Datatype type);

/* ---- view.c */
int mpiio_set_view(mpiio_file *f, MPI_Offset displacement, MPI_Datatype etype,
                   MPI_Datatype filetype, const char *name, MPI_Info info);
int mpiio_get_view(mpiio_file *f, MPI_Offset *displacement, MPI_Datatype *etype,
                   MPI_Datatype *filetype, char *name);
int mpiio_get_type_extent(mpiio_file *f, MPI_Datatype type, MPI_Count *extent);
int mpiio_view_init(mpiio_view *v); /* set the default view: bytes, starting at offset 0 */
void mpiio_view_drop(mpiio_view *v);

/* ---- position.c */
int mpiio_seek(mpiio_file *f, MPI_Offset offset, int whence);
int mpiio_seek_shared(mpiio_file *f, MPI_Offset offset, int whence);
int mpiio_get_position(mpiio_file *f, MPI_Offset *offset);
int mpiio_get_position_shared(mpiio_file *f, MPI_Offset *offset);
int mpiio_get_byte_offset(mpiio_file *f, MPI_Offset offset, MPI_Offset *bytes);
/* Convert byte `at` of the view to an offset in the file. */
int mpiio_byte_offset(const mpiio_file *f, MPI_Offset at, MPI_Offset *out);

/* ---- transfer.c */
int mpiio_move(mpiio_file *f, const mpiio_call *call, MPI_Status *status);
int mpiio_start(mpiio_file *f, const mpiio_call *call, MPI_Request *request);
int mpiio_begin(mpiio_file *f, const mpiio_call *call);
int mpiio_end(mpiio_file *f, mpiio_where where, int is_write, MPI_Status *status);
/* End a split operation that the program has not ended.  Collective. */
void mpiio_split_drop(mpiio_file *f);

/* ---- repeat.c: views with a `tile` */
/* Return whether displacements never decrease, and none is negative. */
int mpiio_repeat_legal(const mpiio_view *v);
/* Compute the bounds of the bytes of a tile. */
int mpiio_repeat_bounds(const mpiio_view *v, MPI_Offset *lo, MPI_Offset *hi);
/* Convert byte `at` of the view to an offset in the file. */
int mpiio_repeat_offset(const mpiio_view *v, MPI_Offset at, MPI_Offset *out);
/* Compute the number of bytes of one tile before offset `end` of the tile. */
int mpiio_repeat_before(const mpiio_view *v, MPI_Offset end, MPI_Offset *out);

/* ---- shared.c */
int mpiio_shared_make(mpiio_file *f);
/* Initialize the pointer at open.  token: random number of rank 0; in_memory: use the words of the
 * communicator. */
void mpiio_shared_begin(mpiio_file *f, int64_t token, int in_memory);
void mpiio_shared_drop(mpiio_file *f); /* also remove the file of the pointer */
/* Create words in memory that all ranks of a communicator share; successive files use different
 * words.  Without shared memory ranks->words is NULL on all ranks.   Collective. */
void mpiio_words_make(mpiio_ranks *ranks);
void mpiio_words_free(mpiio_ranks *ranks);
/* Add `bytes` to the pointer; *before is its previous value. */
int mpiio_shared_add(mpiio_file *f, MPI_Offset bytes, MPI_Offset *before);
/* Set the pointer to `at`; all ranks must call this after an agreement, without communication. */
void mpiio_shared_set(mpiio_file *f, MPI_Offset at);
/* Get in *at the position of this rank in an ordered access, in which the bytes of the ranks follow
 * one another in rank order, starting at the pointer; advance the pointer by the bytes of all
 * ranks.   Collective. */
int mpiio_shared_ordered(mpiio_file *f, MPI_Offset bytes, MPI_Offset *at);
int64_t mpiio_shared_token(void);

/* ---- external.c */
/* Compute the size of an element in the file; make a datatype of bytes with the layout in the
 * file. */
int mpiio_external_size(MPI_Datatype type, MPI_Offset *size);
int mpiio_external_type(MPI_Datatype type, MPI_Datatype *out);

/* ---- signature.c */
/* Conversion of `count` elements between memory and external32.  All memory is allocated at
 * creation. */
typedef struct mpiio_converter mpiio_converter;
int mpiio_converter_make(void *buf, MPI_Count count, MPI_Datatype type, mpiio_converter **out);
void mpiio_converter_free(mpiio_converter **c);
int mpiio_converter_pack(const mpiio_converter *c, char *external);
/* Convert the values that are complete in these bytes; return their number of bytes in memory. */
MPI_Offset mpiio_converter_unpack(const mpiio_converter *c, const char *external, MPI_Offset bytes);

/* ---- valid.c: invariants of objects, for assertions of debug builds. */
int mpiio_view_is_valid(const mpiio_view *v);
int mpiio_file_is_valid(const mpiio_file *f); /* f must be open */
void mpiio_assert(int holds, const char *what);
#ifdef TUTTI_DEBUG
#define MPIIO_ASSERT(holds, what) mpiio_assert((holds), (what))
static inline void mpiio_valid_end(mpiio_file *const *f) {
    mpiio_assert(mpiio_file_is_valid(*f), "file");
}
/* Check f here and at the end of the block. */
#define MPIIO_VALID(f)                                                                  \
    __attribute__((cleanup(mpiio_valid_end), unused)) mpiio_file *const checked_ = (f); \
    mpiio_valid_end(&checked_)
#else
#define MPIIO_ASSERT(holds, what) ((void)sizeof(holds))
#define MPIIO_VALID(f) ((void)0)
#endif

/* ---- summary.c */
int mpiio_summary_wanted(void);
/* Print the statistics of a file before it is closed.   Collective. */
void mpiio_summary(mpiio_file *f);

#endif
