/* file: an open file: its team, its store, the options in force, its operations in progress and
 * its statistics.
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
    TUTTI__ENDED = 1, /* MPI_Finalize has closed the file: an empty shell */
    TUTTI__FORGOTTEN  /* closed by the caller, too; its plans still exist */
};

struct tutti_file {
    tutti__handle handle; /* until it is closed by the caller */
    int ended;            /* 0, TUTTI__ENDED or TUTTI__FORGOTTEN */
    tutti__team *team;
    char *path;
    int mode;
    tutti_off origin;      /* offset 0 of accesses: the end of the file at open with TUTTI_APPEND */
    tutti_options opt;     /* in force; striping_unit is the alignment of file domains */
    tutti_profile profile; /* of rank 0: measured values of the machine and the file system */
    tutti_store *store;
    tutti_store *background_store; /* for operations in the background; NULL until there is one */
    tutti__slabs slabs;  /* the array that a layer above has stored in the file, or none */
    struct {             /* values agreed on by the ranks at open */
        int striped;     /* the file has stripes on some rank */
        int incoherent;  /* several nodes, whose caches of the file may differ */
        int remote;      /* the file is on other machines: access takes time, but no processor */
        int synchronous; /* every write waits for the disk */
        int spare_cores; /* every rank may use more than one core */
    } layout;
    struct {
        int callers;        /* plans of the caller that have not been freed */
        tutti_plan *cached; /* the last used first; the same on all ranks (plan_cache.c) */
        int cached_n;
        tutti_plan *blank; /* memory for the next plan, or NULL */
        int64_t made;      /* number of plans created */
    } plans;
    struct {            /* of the last operation */
        int64_t number; /* of its plan */
        char text[512];
    } explain;
    struct {                  /* operations in progress */
        tutti_request *first; /* in the order in which they were started */
        int queue_stands; /* while fibers are resumed: one of them waits to start its exchange */
        struct tutti__worker *worker; /* the thread of background `all`; NULL until it is needed */
    } requests;
    struct {                  /* independent accesses in progress */
        tutti_request *first; /* in any order */
        _Atomic int n; /* number of accesses and of calls of other threads that wait for one */
        struct tutti__worker *helpers; /* threads for non-blocking accesses */
    } independent;
    struct {
        tutti_stats last, all; /* of the last operation, and of all of them */
        tutti_stats other;     /* opening, size, sync ... */
    } stats;
    struct {
        _Atomic int on;
        pthread_mutex_t turn; /* one access of this rank at a time */
    } atomic;                 /* atomic mode */
    struct {
        tutti_progress_fn *report;
        void *context;
    } progress;
    struct {
        int number; /* of the file among those that are traced, -1: none */
        uint64_t device,
            inode; /* rank 0, with a trace: identity of the file, which a trace must not overwrite */
    } trace;
    pthread_mutex_t lock;  /* of data that threads share: `independent`, `stats` */
    pthread_mutex_t use;   /* recursive: see TUTTI_USE */
    tutti_file *next_open; /* list of open files, for MPI_Finalize */
};

/* Lock the file for this thread: in every public call that is not for any thread.  NULL is
 * ignored.  errno is preserved. */
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

/* Whether holes may be read and written back. */
static inline int tutti__file_may_rmw(const tutti_file *f) {
    return f->opt.rmw && (f->mode & TUTTI_READ) && (f->mode & TUTTI_WRITE);
}

/* ---- file_store.c */
/* The flags to open a store with, and the store: the requested one, or one that suits background
 * accesses. */
int tutti__file_flags(const tutti_file *f);
int tutti__file_store(const tutti_options *opt, int by_itself);
/* Open the file again for operations in the background, by a store that suits them.   Not collective. */
tutti_err tutti__file_open_background(tutti_file *f, int background) TUTTI_MUST_USE;
/* Close both; the first error counts.   Not collective. */
tutti_err tutti__file_stores_close(tutti_file *f) TUTTI_MUST_USE;

/* ---- open_files.c */
/* List a file.  One that is still listed at MPI_Finalize is given to `fn`, the same for all. */
typedef void tutti__finalize_fn(tutti_file *f);
tutti_err tutti__open_files_add(tutti_file *f, tutti__finalize_fn *fn) TUTTI_MUST_USE;
void tutti__open_files_remove(tutti_file *f);
/* Return whether one of them is this file. */
int tutti__open_files_have(uint64_t device, uint64_t inode);

/* ---- trace_file.c: the option `trace`.  Its failures are not errors of the file. */
void tutti__trace_begin(tutti_file *f); /* record from open on */
void tutti__trace_write(tutti_file *f); /* write the recorded events.   Collective. */

#endif
