/* file: the state of an open file: team, store, options, operations in progress, statistics.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FILE_STATE_H
#define TUTTI_FILE_STATE_H

#include <errno.h>
#include <pthread.h>
#include <tutti/file.h>
#include "base/handle.h"
#include "base/profile.h"
#include "comm/team.h"
#include "plan/domains.h"
#include "store/store.h"

extern const tutti__class tutti__file_class;

enum {
    TUTTI__ENDED = 1, /* MPI_Finalize has closed the file; only the struct remains */
    /* as TUTTI__ENDED, and the caller has closed the file; some plans still exist */
    TUTTI__FORGOTTEN
};

struct tutti_file {
    tutti__handle handle; /* listed until the caller closes the file */
    int ended;            /* 0, TUTTI__ENDED or TUTTI__FORGOTTEN */
    tutti__team *team;
    char *path;
    int mode;
    /* file offset of offset 0 of accesses: with TUTTI_APPEND the end of the file at open */
    tutti_off origin;
    tutti_options opt;     /* options in use; striping_unit is the alignment of file domains */
    tutti_profile profile; /* measured values of the machine and the file system, from rank 0 */
    tutti_store *store;
    /* store for background operations; NULL until the first of them */
    tutti_store *background_store;
    tutti__slabs slabs; /* array that a layer above has stored in the file; n is 0: none */
    struct {            /* properties of the file, the same on all ranks */
        int striped;    /* whether the file is striped */
        int incoherent; /* whether several nodes have caches of the file that may differ */
        /* whether the file is on other machines: accesses use little processor time */
        int remote;
        int synchronous; /* whether every write waits for the disk */
        int spare_cores; /* whether every rank may use more than one core */
    } layout;
    struct {
        int callers; /* number of plans of the caller that have not been freed */
        /* list, most recently used first; the same on all ranks (plan_cache.c) */
        tutti_plan *cached;
        int cached_n;      /* length of the list */
        tutti_plan *blank; /* memory for the next plan, or NULL */
        int64_t made;      /* number of plans created so far */
    } plans;
    struct {            /* explanation of the last operation */
        int64_t number; /* number of its plan */
        char text[512];
    } explain;
    struct {                  /* operations in progress */
        tutti_request *first; /* list in the order in which they were started */
        /* while fibers are resumed: whether one of them waits to start its exchange */
        int queue_stands;
        /* thread for the option background = all; NULL until it is needed */
        struct tutti__worker *worker;
    } requests;
    struct {                  /* independent accesses in progress */
        tutti_request *first; /* list in any order */
        /* number of accesses, and of calls of other threads that wait for an access */
        _Atomic int n;
        struct tutti__worker *helpers; /* threads for non-blocking accesses */
    } independent;
    struct {
        tutti_stats last, all; /* statistics of the last operation; sum over all operations */
        tutti_stats other;     /* statistics of open, size, sync and other calls */
    } stats;
    struct {
        _Atomic int on;
        pthread_mutex_t turn; /* held during an access of this rank */
    } atomic;                 /* atomic mode */
    struct {
        tutti_progress_fn *report;
        void *context;
    } progress;
    struct {
        int number; /* result of tutti__trace_file; -1: none */
        /* with the option trace: identity of the file, which must not be overwritten by a trace */
        uint64_t device, inode;
    } trace;
    pthread_mutex_t lock;  /* protects `independent` and `stats` */
    pthread_mutex_t use;   /* recursive, see TUTTI_USE */
    tutti_file *next_open; /* list of open files, for MPI_Finalize */
};

/* Lock the file for this thread until the end of the scope, in every public function that does not
 * support concurrent calls.  NULL is ignored; errno is restored at the end. */
typedef struct tutti__use {
    tutti_file *file;
    int saved_errno;
} tutti__use;
static inline tutti__use tutti__use_begin(tutti_file *f) {
    const tutti__use u = {f, errno};
    if (f) pthread_mutex_lock(&f->use);
    return u;
}
static inline void tutti__use_end(const tutti__use *u) {
    if (u->file) pthread_mutex_unlock(&u->file->use);
    errno = u->saved_errno;
}
#define TUTTI_USE(f) \
    __attribute__((cleanup(tutti__use_end), unused)) const tutti__use used_ = tutti__use_begin(f)

/* Return whether holes between written bytes may be read and written back. */
static inline int tutti__file_may_rmw(const tutti_file *f) {
    return f->opt.rmw && (f->mode & TUTTI_READ) && (f->mode & TUTTI_WRITE);
}

/* ---- file_store.c */
/* Return the flags for opening a store. */
int tutti__file_flags(const tutti_file *f);
/* Return the store to use: the option `store`, or by default an asynchronous store if `by_itself`
 * is set or the options overlap file access, else posix. */
int tutti__file_store(const tutti_options *opt, int by_itself);
/* Set f->background_store, if it is not set, by opening the file again with a store for background
 * operations.   Not collective. */
tutti_err tutti__file_open_background(tutti_file *f, int background) TUTTI_MUST_USE;
/* Close both stores; returns the first error.  Not collective. */
tutti_err tutti__file_stores_close(tutti_file *f) TUTTI_MUST_USE;

/* ---- open_files.c */
/* Add a file to the list of open files.  MPI_Finalize calls `fn`, which must be the same in all
 * calls, for every file that is still in the list. */
typedef void tutti__finalize_fn(tutti_file *f);
tutti_err tutti__open_files_add(tutti_file *f, tutti__finalize_fn *fn) TUTTI_MUST_USE;
void tutti__open_files_remove(tutti_file *f);
/* Return whether an open file has this device and inode. */
int tutti__open_files_have(uint64_t device, uint64_t inode);

/* ---- trace_file.c: the option `trace`.  Failures to write a trace are not errors of the file. */
void tutti__trace_begin(tutti_file *f); /* start to record events, at open */
void tutti__trace_write(tutti_file *f); /* write the recorded events.  Collective. */

#endif
