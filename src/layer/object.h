/* layer: what arrays, replicas, meshes, datasets and Exodus files have in common: an object on a
 * communicator, how a collective call on it starts, and how its errors are named.
 *
 *   tutti_err tutti_OBJECT_verb(tutti_OBJECT *o, ...) {
 *       TUTTI_TRY(tutti__object_live(o, &tutti__OBJECT_class));       local check
 *       tutti_err err = ...;                                          local argument errors: kept,
 * not returned
 *       err = tutti__object_call(&o->object, &call, err);             from here on all ranks have
 * the same error
 *
 * A rank that fails after that must not return before the others: helpers return this rank's outcome, and
 * the caller agrees on it (tutti__team_agree, tutti__on_root).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OBJECT_H
#define TUTTI_OBJECT_H

#include "base/handle.h"
#include "base/hash.h"
#include "base/options_impl.h"
#include "collective/layer.h"
#include "comm/call.h"

/* handle.class is set when the object is allocated, so that calls can be named before the handle is
 * listed.  `path` may be NULL: the object has no file.  The module of the object frees team and path. */
#define TUTTI__OBJECT_MEMBERS \
    tutti__handle handle;     \
    tutti__team *team;        \
    char *path;

typedef struct tutti__object {
    TUTTI__OBJECT_MEMBERS
} tutti__object;

/* The first member of a struct: the object, and its members by their own names. */
#define TUTTI__OBJECT             \
    union {                       \
        tutti__object object;     \
        struct {                  \
            TUTTI__OBJECT_MEMBERS \
        };                        \
    }

/* Whether a handle may be used: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is stale or MPI has been
 * finalised.  `object` begins with its handle, and is not dereferenced.   Not collective. */
tutti_err tutti__object_live(const void *object, const tutti__class *class) TUTTI_MUST_USE;

/* Add an operation and the object's path to an error, if there is one, and return it.  Both must be the same
 * on all ranks.   Not collective. */
tutti_err tutti__object_error(const tutti__object *o, const char *operation, tutti_err err);

/* Start a collective call on an object: tutti__team_call with the object's class name, and errors that have
 * the call's name as their operation and the object's path.   Collective.
 * @param c      the call of this rank; c->object is the class name by default
 * @param mine   this rank's error.  If the caller has explained it by tutti_set_local_error, all
 * ranks get that
 *               explanation instead
 * @return the same on all ranks; TUTTI_ERR_MISMATCH if ranks are in different calls, or if arguments
 *         differ */
tutti_err tutti__object_call(const tutti__object *o, const tutti__call *c,
                             tutti_err mine) TUTTI_MUST_USE;

/* Start a call that has no object yet: tutti__object_call on the ranks of `comm`.  The paths must agree too.
 * c->range must be empty.  An error that this rank has (its last error) keeps this rank's path; any other error has the path only if
 * it is the same on all ranks.   Collective.
 * @param path   NULL: none
 * @param team_out  a team for the new object, to be given back by tutti__team_give; not written on failure */
tutti_err tutti__object_begin(MPI_Comm comm, const tutti__class *class, const tutti__call *c,
                              const char *path, tutti_err mine,
                              tutti__team **team_out) TUTTI_MUST_USE;

/* The options of an object: the caller's, or the default ones if `opt` is NULL.   Not collective. */
tutti_err tutti__object_options(const tutti_options *opt, tutti_options *out) TUTTI_MUST_USE;

/* Rank 0 calls fn(context), and all ranks return its outcome.   Collective. */
typedef tutti_err tutti__root_fn(void *context);
tutti_err tutti__on_root(tutti__team *t, tutti__root_fn *fn, void *context) TUTTI_MUST_USE;
/* The same; then all ranks have rank 0's `data`.   Collective; `bytes` must be the same on all ranks. */
tutti_err tutti__on_root_share(tutti__team *t, tutti__root_fn *fn, void *context, void *data,
                               int bytes) TUTTI_MUST_USE;

#endif
