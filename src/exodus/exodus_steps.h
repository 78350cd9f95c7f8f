/* exodus: steps: the step that is being written, and the fields of a call as parts of one
 * operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_STEPS_H
#define TUTTI_EXODUS_STEPS_H

#include "exodus/exodus_impl.h"
#include "timestep/step_commit.h"
#include "timestep/step_operation.h"

/* ---- exodus_put.c: the step that is being written */

struct tutti__exodus_step {
    double time;
    tutti_off base; /* file offset that is the base of accesses */
    tutti__region *region;
    tutti__put_list puts;         /* puts of variables of the netCDF file */
    tutti__section_state *states; /* [variables of the file] */
    tutti_count variables;
    tutti_count time_variable;
    int has_time;       /* in a commit: whether a put has written the time */
    tutti_err time_err; /* in a commit, on rank 0: error of writing the time */
    int failed_sync;    /* whether a sync has failed since the step began */
};
void tutti__exodus_step_free(struct tutti__exodus_step **step);
/* Check that a step has begun and all its puts have ended.   Not collective. */
tutti_err tutti__exodus_step_check(const tutti_exodus *x) TUTTI_MUST_USE;
/* Check that steps can be appended to the file and removed from it.   Not collective. */
tutti_err tutti__exodus_appendable(const tutti_exodus *x) TUTTI_MUST_USE;
/* Find the variable with the times.   Not collective.
 * @return TUTTI_ERR_FORMAT if it is missing or has another shape */
tutti_err tutti__exodus_time_variable(const tutti_exodus *x,
                                      const tutti__cdf_var **out) TUTTI_MUST_USE;
/* Make a part of the time of a step (the first is 1), whose memory is a double; the caller frees
 * *access.   Not collective. */
tutti_err tutti__exodus_time_part(const tutti_exodus *x, tutti_count step, tutti_off base,
                                  tutti_access **access, tutti_part *part) TUTTI_MUST_USE;

/* ---- step_fields.c: the fields of a call.   Not collective. */

typedef struct tutti__step_item {
    tutti__exodus_place place;
    tutti_count variable; /* index of the variable of the netCDF file; -1: it has no bytes */
    tutti_decomposition *entries;
    int64_t decomposition; /* number of the decomposition; 0: that of the mesh */
    /* identifies the entries that are written, for the section state of the variable */
    int64_t written;
    int is_whole; /* whether all entries of the variable are written */
    tutti_access *access;
} tutti__step_item;

typedef struct tutti__step_batch {
    tutti_count n;
    tutti__step_item *items; /* [n + 1] including the time */
    tutti_part *parts;       /* [n + 1] */
    int parts_n;
    uint64_t hash; /* hash of the arguments that must be the same on all ranks */
} tutti__step_batch;

/* A step, and the file offset that is the base of accesses to it. */
typedef struct tutti__step_place {
    tutti_count step;
    tutti_off base;
    int is_write;
} tutti__step_place;

/* Validate the fields and describe this rank's bytes.  Afterwards the batch needs neither the
 * fields nor their decompositions.  The caller frees it, also after an error. */
tutti_err tutti__step_batch_make(const tutti_exodus *x, const tutti__step_place *at, tutti_count n,
                                 const tutti_exodus_field *fields,
                                 tutti__step_batch *out) TUTTI_MUST_USE;
void tutti__step_batch_free(tutti__step_batch *b);
/* Return a part in the byte order of the file. */
tutti_part tutti__step_part(const tutti_access *access, void *buf, tutti_type file,
                            tutti_type memory);

/* ---- writes and reads, blocking or started */

typedef struct tutti__exodus_operation {
    tutti__step_operation of; /* must be first */
    tutti_exodus *exodus;
    tutti_count step; /* step of a get */
    tutti__step_batch batch;
} tutti__exodus_operation;

/* Return an operation with an empty batch; `name` is TUTTI__STARTED_PUT or TUTTI__STARTED_GET. */
tutti__exodus_operation tutti__exodus_operation_of(tutti_exodus *x, const char *name,
                                                   tutti_err (*run)(tutti__step_operation *op,
                                                                    tutti_err local_err));

#endif
