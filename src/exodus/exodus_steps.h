/* exodus: steps: the step that is being written, and the fields of a call as parts of one operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_STEPS_H
#define TUTTI_EXODUS_STEPS_H

#include "exodus/exodus_impl.h"
#include "timestep/step_commit.h"
#include "timestep/step_operation.h"

/* ---- exodus_put.c: the step that is being written */

struct tutti__exodus_step {
    double time;
    tutti_off base; /* offset of the file that accesses count from */
    tutti__region *region;
    tutti__put_list puts;         /* of variables of the netCDF file */
    tutti__section_state *states; /* [variables of the file] */
    tutti_count variables;
    tutti_count time_variable;
    int has_time;       /* in a commit: a put has written the time */
    tutti_err time_err; /* in a commit, rank 0: of writing it */
    int failed_sync;    /* a sync has failed since the step began */
};
void tutti__exodus_step_free(struct tutti__exodus_step **step);
/* A step has begun, and all its puts have ended.   Not collective. */
tutti_err tutti__exodus_step_check(const tutti_exodus *x) TUTTI_MUST_USE;
/* Steps can be appended to the file and removed from it.   Not collective. */
tutti_err tutti__exodus_appendable(const tutti_exodus *x) TUTTI_MUST_USE;
/* The variable with the times.   Not collective.
 * @return TUTTI_ERR_FORMAT if it is missing or has another shape */
tutti_err tutti__exodus_time_variable(const tutti_exodus *x,
                                      const tutti__cdf_var **out) TUTTI_MUST_USE;
/* The time of a step (from 1) as a part whose memory is a double; *access is to be freed.   Not collective. */
tutti_err tutti__exodus_time_part(const tutti_exodus *x, tutti_count step, tutti_off base,
                                  tutti_access **access, tutti_part *part) TUTTI_MUST_USE;

/* ---- step_fields.c: the fields of a call.   Not collective. */

typedef struct tutti__step_item {
    tutti__exodus_place place;
    tutti_count variable; /* of the netCDF file; -1: it has no bytes */
    tutti_decomposition *entries;
    int64_t decomposition; /* its number; 0: that of the mesh */
    /* identifies the entries that are written, for the section state of the variable */
    int64_t written;
    int is_whole; /* they are all entries of the variable */
    tutti_access *access;
} tutti__step_item;

typedef struct tutti__step_batch {
    tutti_count n;
    tutti__step_item *items; /* [n + 1]: one more for the time */
    tutti_part *parts;       /* [n + 1] */
    int parts_n;
    uint64_t hash; /* of the arguments that must be the same on all ranks */
} tutti__step_batch;

/* A step, and the offset of the file that accesses to it count from. */
typedef struct tutti__step_place {
    tutti_count step;
    tutti_off base;
    int is_write;
} tutti__step_place;

/* Validate the fields and describe this rank's bytes.  Afterwards the batch needs neither the fields nor their
 * decompositions.  It is to be freed also after an error. */
tutti_err tutti__step_batch_make(const tutti_exodus *x, const tutti__step_place *at, tutti_count n,
                                 const tutti_exodus_field *fields,
                                 tutti__step_batch *out) TUTTI_MUST_USE;
void tutti__step_batch_free(tutti__step_batch *b);
/* A part with the byte order of the file. */
tutti_part tutti__step_part(const tutti_access *access, void *buf, tutti_type file,
                            tutti_type memory);

/* ---- puts and gets, blocking or started */

typedef struct tutti__exodus_operation {
    tutti__step_operation of; /* must be first */
    tutti_exodus *exodus;
    tutti_count step; /* of a get */
    tutti__step_batch batch;
} tutti__exodus_operation;

/* An operation with an empty batch.  name: TUTTI__STARTED_PUT or TUTTI__STARTED_GET. */
tutti__exodus_operation tutti__exodus_operation_of(tutti_exodus *x, const char *name,
                                                   tutti_err (*run)(tutti__step_operation *op,
                                                                    tutti_err local_err));

#endif
