/* mpiio: MPI_File_* of programs that already exist, on the public interface of Tutti.
 *
 * The handle that the program sees is a genuine one of the MPI library, opened on MPI_COMM_SELF and
 * /dev/null: it carries error handlers and Fortran indices, which then work as ever.  What we know
 * of the file hangs on it in a table.  Handles that are not in the table are passed through to the
 * MPI library.
 *
 *   names.c, data_names.c   the exported names: thin, generated from one table per family
 *   real.c      the MPI library's own functions
 *   handle.c    handle -> file
 *   ranks.c     communicators of our own
 *   agree.c     agreement of their ranks
 *   errors.c    Tutti's errors as MPI's classes
 *   handlers.c  the program's error handlers
 *   open.c      open, close, delete
 *   manage.c    size, group, info, sync, atomicity
 *   hints.c     MPI_Info <-> options
 *   types.c     datatypes of the program
 *   view.c      views
 *   position.c  file pointers, byte offsets
 *   transfer.c  all data calls: one description (mpiio_call), three ways to carry it out
 *   job.c       from a call to Tutti's terms: checks, position, access
 *   repeat.c    views that name bytes twice
 *   shared.c    the shared file pointer
 *   external.c  the representation external32
 *   signature.c ... of the program's memory, number by number
 *   fortran.c   files in error handlers of Fortran programs
 *   summary.c   TUTTI_STATS=1: the table at close
 *   valid.c     relations between the fields of objects
 *   request.c   MPI requests that complete when Tutti's do
 *   request_table.c   the existing requests
 *   progress.c  how the MPI library progresses them
 *   waits.c     MPI_Wait, MPI_Test and the like: they report errors of such requests
 *
 * Errors: a function that returns int returns an error class of MPI.  The code that finds an error
 * records it by mpiio_complain; the exported name ends with mpiio_fail, which calls the program's error
 * handler.  Threads: f->lock is held around uses of Tutti (mpiio_enter), but for those that any
 * thread may make.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MPIIO_H
#define TUTTI_MPIIO_H

#include <pthread.h>
#include <tutti/tutti.h>

typedef struct mpiio_view {
    MPI_Offset displacement;
    MPI_Datatype etype, filetype; /* as the program gave them (duplicates, unless predefined) */
    MPI_Offset etype_size;        /* in the file; 1 where the etype has no bytes */
    MPI_Offset tile_size, tile_extent; /* of the filetype, as stored in the file ... */
    MPI_Offset tile_begin, tile_end;   /* ... and the bounds of its bytes */
    tutti_view *tiles;                 /* NULL: a tile names bytes twice, which Tutti cannot */
    MPI_Datatype tile; /* then, or where tiles overlap and are only read; or MPI_DATATYPE_NULL */
    int plain;         /* no gaps: byte p of the view is byte displacement + p of the file */
    int external;      /* external32 */
    char name[16];     /* of the representation */
} mpiio_view;

/* A communicator of our own over the ranks of one of the program's, see ranks.c. */
typedef struct mpiio_ranks {
    MPI_Comm comm;
    int rank, size;
    int64_t id;
    int busy, orphan;
    int64_t *words, settings; /* shared.c's: for shared file pointers */
    struct mpiio_ranks *next;
} mpiio_ranks;

/* Kinds of calls, for the summary. */
enum { MPIIO_INDEPENDENT, MPIIO_COLLECTIVE, MPIIO_NONBLOCKING, MPIIO_SPLIT, MPIIO_FAMILIES };

typedef struct mpiio_account {
    tutti_count calls;
    tutti_off bytes;
    int64_t nanoseconds; /* in calls */
} mpiio_account;

typedef struct mpiio_file {
    MPI_File native;
    tutti_file *file; /* NULL: closed at MPI_Finalize */
    mpiio_ranks *ranks;
    int amode;
    int explain;
    int summary;    /* a table is printed at close; the same on all ranks */
    MPI_Info hints; /* reported by get_info, without effect here */
    char *path;
    mpiio_view view;
    MPI_Offset position; /* individual file pointer: bytes of the view; atomic */
    int atomic;
    struct mpiio_shared *shared;               /* the shared file pointer */
    struct mpiio_job *split;                   /* the split collective under way, or NULL */
    int requests;                              /* under way: request.c's own */
    mpiio_account accounts[2][MPIIO_FAMILIES]; /* [is_write] */
    double opened;
    pthread_mutex_t lock; /* of mpiio_enter */
    struct mpiio_file *next;
} mpiio_file;

/* The arguments of a data call. */
typedef enum mpiio_where { MPIIO_AT, MPIIO_POINTER, MPIIO_SHARED, MPIIO_ORDERED } mpiio_where;
typedef struct mpiio_call {
    mpiio_where where;
    int is_write, collective;
    MPI_Offset offset; /* of MPIIO_AT, in etypes */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
} mpiio_call;

/* ---- real.c */
/* TUTTI_MPIIO=off: the MPI library does everything. */
int mpiio_off(void);
void *mpiio_real(const char *name);
double mpiio_now(void);

/* ---- times.c: a call of MPI_File_ begins here and ends with its body */
double mpiio_timed_begin(void);
void mpiio_timed_end(const double *since);
#define MPIIO_TIMED \
    __attribute__((cleanup(mpiio_timed_end), unused)) const double since = mpiio_timed_begin()
void mpiio_timed_file(void); /* one was opened */
                             /* seconds */
/* The MPI library's own PMPI_name. */
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
/* Both names of a function that is defined here as PMPI_name. */
#define MPIIO_EXPORT(name)                    \
    extern __typeof__(PMPI_##name) MPI_##name \
        __attribute__((weak, alias("PMPI_" #name), visibility("default")))

/* ---- handle.c */
/* 1: it is ours; *out is the file, or NULL where the handle is MPI_FILE_NULL or has been closed.
 * 0: the MPI library's own. */
int mpiio_is_ours(MPI_File fh, mpiio_file **out);
mpiio_file *mpiio_find(MPI_File fh); /* NULL: not ours, or closed */
/* A native handle for f, with the error handler of MPI_FILE_NULL; and back. */
int mpiio_handle_take(MPI_File *out);
void mpiio_handle_give(MPI_File native);
void mpiio_handles_close(void); /* the spare ones, at MPI_Finalize */
/* MPI_File_open of the MPI library's own: the handle is not ours. */
int mpiio_pass_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out);
void mpiio_table_add(mpiio_file *f);
void mpiio_table_remove(mpiio_file *f);
/* Run `fn` on all files that are open. */
void mpiio_table_each(void (*fn)(mpiio_file *f));

/* ---- ranks.c */
/* Local: one that is free, or NULL.  Those that all ranks can have have the same id. */
mpiio_ranks *mpiio_ranks_offer(MPI_Comm comm);
/* Collective on comm; `id` is a unique number that all ranks know. */
int mpiio_ranks_make(MPI_Comm comm, int64_t id, mpiio_ranks **out);
void mpiio_ranks_give(mpiio_ranks **ranks);
void mpiio_ranks_finalize(void);

/* ---- agree.c */
/* The largest of each of n <= MPIIO_NUMBERS numbers over all ranks, in place.  Collective. */
enum { MPIIO_NUMBERS = 16 };
int mpiio_agree(const mpiio_ranks *ranks, int n, int64_t *numbers);
int mpiio_agree_on(MPI_Comm comm, int n, int64_t *numbers); /* before there are ranks */
/* The largest class of all ranks' outcomes; `what` describes it if it is another rank's.
 * Collective. */
int mpiio_agree_outcome(const mpiio_ranks *ranks, int mine, const char *what);
/* Finish a request of ours, letting requests of the program move on. */
int mpiio_finish(MPI_Request *request);

/* ---- errors.c */
/* Keep what is wrong as this thread's last complaint, and return the class. */
int mpiio_complain(int mpi_class, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for the last error of Tutti. */
int mpiio_complain_tutti(tutti_err err);
int mpiio_class_of(tutti_err err, const tutti_error_info *info);
/* The next collective call of Tutti, without an access, reports this error on all ranks. */
void mpiio_refuse(int complaint);
/* That complaint, if it was for this code, or "". */
const char *mpiio_message(int code);

/* ---- handlers.c */
/* Call the error handler of the file (NULL: of MPI_FILE_NULL), unless mpi_class is MPI_SUCCESS, and
 * return the code that the program's call returns: the class, or what the handler has set. */
int mpiio_fail(mpiio_file *f, int mpi_class);

/* ---- open.c */
int mpiio_open(MPI_Comm comm, const char *path, int amode, MPI_Info info, MPI_File *out);
int mpiio_close(MPI_File *fh);
int mpiio_delete(const char *path, MPI_Info info);
void mpiio_watch(void);       /* for MPI_Finalize */
void mpiio_watch_early(void); /* before the program does */

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
/* The environment's options, then those hints that we know and whose values make sense. */
int mpiio_hints_read(MPI_Info info, tutti_options *opt);
/* Hints that come later: the options with them; 1: not those in force.  And to have them, on all
 * ranks. */
int mpiio_hints_apply(const mpiio_file *f, MPI_Info info, tutti_options *opt);
void mpiio_hints_change(mpiio_file *f, const tutti_options *opt);
/* Keep hints that are reported without effect: at open, and later. */
int mpiio_hints_open(mpiio_file *f, MPI_Info info);
void mpiio_hints_keep(mpiio_file *f, MPI_Info info);
int mpiio_hints_get(const mpiio_file *f, MPI_Info *out);
/* Whether the system's file has a hint that MPI_Info_set would not accept. */
int mpiio_hints_too_long(void);
void mpiio_hints_end(void); /* at MPI_Finalize */

/* ---- types.c */
/* MPI_ERR_TYPE unless it is committed. */
int mpiio_type_check(const mpiio_file *f, MPI_Datatype type);
int mpiio_type_is_named(MPI_Datatype type);

/* ---- view.c */
int mpiio_set_view(mpiio_file *f, MPI_Offset displacement, MPI_Datatype etype,
                   MPI_Datatype filetype, const char *name, MPI_Info info);
int mpiio_get_view(mpiio_file *f, MPI_Offset *displacement, MPI_Datatype *etype,
                   MPI_Datatype *filetype, char *name);
int mpiio_get_type_extent(mpiio_file *f, MPI_Datatype type, MPI_Count *extent);
int mpiio_view_init(mpiio_view *v); /* bytes, from 0 on */
void mpiio_view_drop(mpiio_view *v);

/* ---- position.c */
int mpiio_seek(mpiio_file *f, MPI_Offset offset, int whence);
int mpiio_seek_shared(mpiio_file *f, MPI_Offset offset, int whence);
int mpiio_get_position(mpiio_file *f, MPI_Offset *offset);
int mpiio_get_position_shared(mpiio_file *f, MPI_Offset *offset);
int mpiio_get_byte_offset(mpiio_file *f, MPI_Offset offset, MPI_Offset *bytes);
/* Byte `at` of the view in the file. */
int mpiio_byte_offset(const mpiio_file *f, MPI_Offset at, MPI_Offset *out);

/* ---- transfer.c */
int mpiio_move(mpiio_file *f, const mpiio_call *call, MPI_Status *status);
int mpiio_start(mpiio_file *f, const mpiio_call *call, MPI_Request *request);
int mpiio_begin(mpiio_file *f, const mpiio_call *call);
int mpiio_end(mpiio_file *f, mpiio_where where, int is_write, MPI_Status *status);
/* End what was begun and forgot to end.  Collective. */
void mpiio_split_drop(mpiio_file *f);

/* ---- repeat.c: views with a `tile` */
/* Whether its displacements never decrease, and none is negative. */
int mpiio_repeat_legal(const mpiio_view *v);
/* Where the bytes of a tile begin and end. */
int mpiio_repeat_bounds(const mpiio_view *v, MPI_Offset *lo, MPI_Offset *hi);
/* Byte `at` of the view in the file. */
int mpiio_repeat_offset(const mpiio_view *v, MPI_Offset at, MPI_Offset *out);
/* Bytes of one tile before `end`, counted from its beginning. */
int mpiio_repeat_before(const mpiio_view *v, MPI_Offset end, MPI_Offset *out);

/* ---- shared.c */
int mpiio_shared_make(mpiio_file *f);
/* At open: what rank 0 has drawn, and whether the communicator's words are used. */
void mpiio_shared_begin(mpiio_file *f, int64_t token, int in_memory);
void mpiio_shared_drop(mpiio_file *f); /* also removes what was left outside of the process */
/* Words that all ranks of a communicator share, of which its file takes one after the other; or
 * none, on all ranks (those that do not share memory have none).  Collective. */
void mpiio_words_make(mpiio_ranks *ranks);
void mpiio_words_free(mpiio_ranks *ranks);
/* Bytes of the view; returned is what it was before. */
int mpiio_shared_add(mpiio_file *f, MPI_Offset bytes, MPI_Offset *before);
/* Once all ranks are here: it is `at` from now on.   All ranks, no communication. */
void mpiio_shared_set(mpiio_file *f, MPI_Offset at);
/* Where this rank comes when ranks follow one another from the pointer on, which moves past all.
 * Collective. */
int mpiio_shared_ordered(mpiio_file *f, MPI_Offset bytes, MPI_Offset *at);
int64_t mpiio_shared_token(void);

/* ---- external.c */
/* Size of one element in the file, and its extent there; a type of bytes with this layout. */
int mpiio_external_size(MPI_Datatype type, MPI_Offset *size);
int mpiio_external_type(MPI_Datatype type, MPI_Datatype *out);

/* ---- signature.c */
/* `count` elements of the program's memory <-> external32.  After it is made nothing fails for want
 * of memory. */
typedef struct mpiio_converter mpiio_converter;
int mpiio_converter_make(void *buf, MPI_Count count, MPI_Datatype type, mpiio_converter **out);
void mpiio_converter_free(mpiio_converter **c);
int mpiio_converter_pack(const mpiio_converter *c, char *external);
/* As many numbers as there are wholly in these bytes; returned are their bytes in memory. */
MPI_Offset mpiio_converter_unpack(const mpiio_converter *c, const char *external, MPI_Offset bytes);

/* ---- valid.c: do the fields agree with each other?  For assertions of debug builds. */
int mpiio_view_is_valid(const mpiio_view *v);
int mpiio_file_is_valid(const mpiio_file *f); /* one that is open */
void mpiio_assert(int holds, const char *what);
#ifdef TUTTI_DEBUG
#define MPIIO_ASSERT(holds, what) mpiio_assert((holds), (what))
static inline void mpiio_valid_end(mpiio_file *const *f) {
    mpiio_assert(mpiio_file_is_valid(*f), "file");
}
/* From here to the end of the block. */
#define MPIIO_VALID(f)                                                                  \
    __attribute__((cleanup(mpiio_valid_end), unused)) mpiio_file *const checked_ = (f); \
    mpiio_valid_end(&checked_)
#else
#define MPIIO_ASSERT(holds, what) ((void)sizeof(holds))
#define MPIIO_VALID(f) ((void)0)
#endif

/* ---- summary.c */
int mpiio_summary_wanted(void);
/* Before closing.   Collective. */
void mpiio_summary(mpiio_file *f);

#endif
