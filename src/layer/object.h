/* layer: common base of arrays, replicas, meshes, datasets and Exodus files: an object on a
 * communicator, the start of collective calls on it, and the context of its errors.
 *
 *   tutti_err tutti_OBJECT_verb(tutti_OBJECT *o, ...) {
 *       TUTTI_TRY(tutti__object_live(o, &tutti__OBJECT_class));   local check
 *       tutti_err err = ...;                                      local argument errors
 *       err = tutti__object_call(&o->object, &call, err);         all ranks have the same error
 *
 * A rank that fails afterwards must not return before the other ranks: helper functions return the
 * error code of this rank, and the caller agrees on it (tutti__team_agree, tutti__on_root).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_OBJECT_H
#define TUTTI_OBJECT_H

#include "base/handle.h"
#include "base/hash.h"
#include "base/options_impl.h"
#include "collective/layer.h"
#include "comm/call.h"

/* handle.class must be set when the object is allocated, since calls need the class name before the
 * handle is listed.  `path` may be NULL: the object has no file.  The module of the object frees
 * team and path. */
#define TUTTI__OBJECT_MEMBERS \
    tutti__handle handle;     \
    tutti__team *team;        \
    char *path;

typedef struct tutti__object {
    TUTTI__OBJECT_MEMBERS
} tutti__object;

/* First member of a struct: the object, whose members can also be accessed directly. */
#define TUTTI__OBJECT             \
    union {                       \
        tutti__object object;     \
        struct {                  \
            TUTTI__OBJECT_MEMBERS \
        };                        \
    }

/* Check a handle: TUTTI_ERR_ARG if it is NULL, TUTTI_ERR_STATE if it is stale or MPI has been
 * finalized.  `object` begins with its handle, and is not dereferenced.   Not collective. */
tutti_err tutti__object_live(const void *object, const tutti__class *class) TUTTI_MUST_USE;

/* If `err` is not TUTTI_OK, add `operation` and the path of the object to the last error; return
 * `err`.  Operation and path must be the same on all ranks.   Not collective. */
tutti_err tutti__object_error(const tutti__object *o, const char *operation, tutti_err err);

/* Start a collective call on an object: tutti__team_call with the class name of the object.  Errors
 * get the name of the call as their operation and the path of the object.   Collective.
 * @param c          the call of this rank; c->object is the class name by default
 * @param local_err  error of this rank.  If the caller has set a text with tutti_set_local_error,
 *     all ranks get this text
 * @return the same on all ranks; TUTTI_ERR_MISMATCH if ranks are in different calls, or if
 *     arguments differ */
tutti_err tutti__object_call(const tutti__object *o, const tutti__call *c,
                             tutti_err local_err) TUTTI_MUST_USE;

/* Start a call that has no object yet: tutti__object_call on the ranks of `comm`.  The paths must
 * be the same on all ranks.  c->range must be empty.  An error `local_err` of this rank (its last
 * error) keeps the path of this rank; another error has the path only if all ranks have the same
 * path.   Collective.
 * @param path      path of the object; NULL: no file
 * @param team_out  team for the new object, to be released by tutti__team_give; not set on
 *     failure */
tutti_err tutti__object_begin(MPI_Comm comm, const tutti__class *class, const tutti__call *c,
                              const char *path, tutti_err local_err,
                              tutti__team **team_out) TUTTI_MUST_USE;

/* Set *out to the caller's options, or to the default options if `opt` is NULL.   Not
 * collective. */
tutti_err tutti__object_options(const tutti_options *opt, tutti_options *out) TUTTI_MUST_USE;

/* Call fn(context) on rank 0; all ranks return its outcome.   Collective. */
typedef tutti_err tutti__root_fn(void *context);
tutti_err tutti__on_root(tutti__team *t, tutti__root_fn *fn, void *context) TUTTI_MUST_USE;
/* Like tutti__on_root; then rank 0 broadcasts `data`.   Collective; `bytes` must be the same on all
 * ranks. */
tutti_err tutti__on_root_share(tutti__team *t, tutti__root_fn *fn, void *context, void *data,
                               int bytes) TUTTI_MUST_USE;

#endif
