/* timestep: the common part of datasets and Exodus files, which are objects with steps: open and
 * close, the start of collective calls, commits, statistics, progress.  A table per kind of object
 * contains the operations that differ.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STEP_OBJECT_H
#define TUTTI_STEP_OBJECT_H

#include "layer/object.h"
#include "timestep/started.h"

typedef struct tutti__step_object tutti__step_object;

/* Operations that differ between datasets and Exodus files.  A commit calls those named commit_ in
 * their order here. */
typedef struct tutti__step_kind {
    const tutti__class *class;
    /* Check the relations between the fields of the object, which hold when a public call begins or
     * ends.   Not collective. */
    int (*is_valid)(const tutti__step_object *o);
    /* Return the i-th open data file; NULL if the object has at most i open files.   Not
     * collective. */
    tutti_file *(*file)(const tutti__step_object *o, int64_t i);
    /* Return the file of the step that is being written, or NULL.   Not collective. */
    tutti_file *(*file_of_step)(const tutti__step_object *o);
    /* Check that the step can be committed and reserve the memory that this needs.   Not
     * collective. */
    tutti_err (*commit_prepare)(tutti__step_object *o);
    /* Agree on the call `name`.  local_err: the error of this rank so far.   Collective. */
    tutti_err (*commit_agree)(tutti__step_object *o, const char *name, tutti_err local_err);
    /* Release the memory of commit_prepare after the agreement has failed.   Not collective. */
    void (*commit_refuse)(tutti__step_object *o);
    /* Commit the step.   Collective on `team`. */
    tutti_err (*commit_run)(tutti__step_object *o, tutti__team *team);
    /* Update the object after commit_run; `outcome` is the same on all ranks.   Not collective. */
    void (*commit_end)(tutti__step_object *o, tutti_err outcome);
} tutti__step_kind;

#define TUTTI__STEP_OBJECT_MEMBERS                                                                 \
    TUTTI__OBJECT;                                                                                 \
    const tutti__step_kind *kind;                                                                  \
    int64_t number; /* unique among the objects with steps of this process */                      \
    int64_t count;  /* number of decompositions; the same on all ranks */                          \
    int mode;       /* TUTTI_READ, TUTTI_WRITE */                                                  \
    tutti_options io;                                                                              \
    tutti__start_queue starts; /* non-blocking writes and reads in progress */                     \
    tutti_request *commit;     /* non-blocking commit that is not completed; NULL: none */         \
    tutti__team *commit_team;  /* the same ranks, for non-blocking commits; NULL: not yet taken */ \
    tutti_stats stats;         /* statistics of closed data files */                               \
    tutti_progress_fn *progress;                                                                   \
    void *progress_context;

struct tutti__step_object {
    TUTTI__STEP_OBJECT_MEMBERS
};

/* The first member of a struct: the common part, and its members by their own names. */
#define TUTTI__STEP_OBJECT             \
    union {                            \
        tutti__step_object base;       \
        struct {                       \
            TUTTI__STEP_OBJECT_MEMBERS \
        };                             \
    }

/* ---- opening and closing.   Not collective */

/* Check the arguments of a call that opens an object: the path, the result pointer `out`
 * (`out_name` in messages) and, if `mode` has TUTTI_WRITE, that the program may write. */
tutti_err tutti__step_object_check_open(const char *path, int mode, const void *out,
                                        const char *out_name) TUTTI_MUST_USE;
/* Copy the caller's options over the defaults in *out.  opt: NULL, or a struct whose first member
 * is its size, possibly of another version; init: the function that initializes it. */
tutti_err tutti__step_object_take_options(const void *opt, const char *init, void *out,
                                          size_t size) TUTTI_MUST_USE;
/* Check options that all kinds have. */
tutti_err tutti__step_object_check_options(int level, double lock_timeout) TUTTI_MUST_USE;
/* Set the members of a new object, which is filled with zeros.  io: NULL for the defaults.  The
 * caller releases the object, also after an error. */
tutti_err tutti__step_object_init(tutti__step_object *o, const tutti__step_kind *kind,
                                  const char *path, int mode,
                                  const tutti_options *io) TUTTI_MUST_USE;
/* Release the members, but not the object itself. */
void tutti__step_object_release(tutti__step_object *o);

/* ---- calls */

/* Complete started operations, and a commit whose request was abandoned.  Waits for other ranks,
 * which progress in their own calls.  The last error is unchanged. */
void tutti__step_object_run_started(tutti__step_object *o);
/* Run started operations; must be the first action of a collective call on a live object.
 * Collective. */
void tutti__step_object_enter(tutti__step_object *o);
/* Fail with TUTTI_ERR_STATE if a commit has been started and not completed.   Not collective. */
tutti_err tutti__step_object_idle(const tutti__step_object *o) TUTTI_MUST_USE;
/* Like tutti__object_call; fails with TUTTI_ERR_STATE while a commit is in progress.
 * Collective. */
tutti_err tutti__step_object_call(const tutti__step_object *o, const tutti__call *c,
                                  tutti_err local_err) TUTTI_MUST_USE;
/* End a call: add its name and the path of the object to an error, and return it.   Not
 * collective. */
tutti_err tutti__step_object_end(const tutti__step_object *o, const char *operation, tutti_err err);

/* ---- commits; the caller has entered the call */

/* Commit the step.   Collective. */
tutti_err tutti__step_object_commit(tutti__step_object *o) TUTTI_MUST_USE;
/* Start to commit the step; *r_out is the request.   Collective. */
tutti_err tutti__step_object_commit_start(tutti__step_object *o,
                                          tutti_request **r_out) TUTTI_MUST_USE;

/* ---- statistics and progress.   Not collective */

/* Get the statistics of closed and open files; struct_size: bytes of *all_out. */
void tutti__step_object_stats(const tutti__step_object *o, tutti_stats *all_out,
                              size_t struct_size);
/* Install a progress callback on all open files and those that are opened later. */
void tutti__step_object_on_progress(tutti__step_object *o, tutti_progress_fn *fn, void *context);

#endif
