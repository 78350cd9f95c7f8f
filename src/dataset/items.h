/* dataset: the variables of a call, and the parts of the operation on a data file.   Not
 * collective.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DATASET_ITEMS_H
#define TUTTI_DATASET_ITEMS_H

#include "segments/compressed.h"
#include "timestep/step_operation.h"

/* A variable of a call that writes or reads. */
typedef struct tutti__item {
    const char *name;
    tutti_decomposition *entries;
    tutti_type type; /* type in memory */
    void *buf;
    tutti__variable *v;
    tutti__decomposition_facts facts;
    int file_type;
    tutti_access *access;
    const tutti__ranked_sizes *sizes; /* for puts of ranked variables */
    tutti_access *list_access, *head_access;
    int64_t *positions;           /* values of the list of entries */
    tutti__packed_section packed; /* for puts of compressed variables */
    int is_held;                  /* whether this call retains the decomposition */
    int wrote_base;               /* whether the put has written fill values, a header or a list */
    tutti_count *holes;           /* positions in memory to be filled; or NULL */
    tutti_count holes_n;
} tutti__item;

/* All variables of one call. */
typedef struct tutti__item_list {
    int n;
    tutti__item *v;
    tutti_part *parts; /* [3 * n] */
    int parts_n;
    char *names; /* copies of the names; NULL: names and decompositions belong to the caller */
} tutti__item_list;

tutti_err tutti__items_make(int n, tutti__item_list *out) TUTTI_MUST_USE;
/* Copy the arguments of a call; only `n` is checked. */
tutti_err tutti__items_of_puts(int n, const tutti_put *puts, tutti__item_list *out) TUTTI_MUST_USE;
tutti_err tutti__items_of_gets(int n, const tutti_get *gets, tutti__item_list *out) TUTTI_MUST_USE;
/* Copy names and retain decompositions, since the caller may change its arguments and free the
 * decompositions. */
tutti_err tutti__items_keep(tutti__item_list *b) TUTTI_MUST_USE;
void tutti__items_free(tutti__item_list *b);
/* Return a hash of the values that must be the same on all ranks. */
uint64_t tutti__items_hash(const tutti__item_list *b);
/* Check a variable and the size of its space in a segment, given by its id; set t->v and
 * t->facts. */
tutti_err tutti__item_check(const tutti_dataset *d, tutti__item *t, int64_t segment) TUTTI_MUST_USE;
/* Check that the values of an item can be converted to or from a type in the file. */
tutti_err tutti__item_type_check(const tutti__item *t, int file_type) TUTTI_MUST_USE;
tutti__compressed tutti__item_compressed(const tutti_dataset *d, const tutti__item *t, int type);
/* Append the access of an item to the parts. */
void tutti__item_part(const tutti_dataset *d, const tutti__item *t, int file_type,
                      tutti__item_list *b);

/* ---- operations */

/* A put or get, blocking or started; its arguments are in `items`. */
typedef struct tutti__dataset_operation {
    tutti__step_operation of; /* must be first */
    tutti_dataset *dataset;
    tutti__item_list items;
    tutti_count segment; /* segment of a get */
} tutti__dataset_operation;

/* Return an operation without items; `name` is TUTTI__STARTED_PUT or TUTTI__STARTED_GET. */
tutti__dataset_operation tutti__dataset_operation_of(tutti_dataset *d, const char *name,
                                                     tutti_err (*run)(tutti__step_operation *op,
                                                                      tutti_err local_err));
/* Start an operation, which keeps its items, like tutti__step_operation_start; local_err: the error
 * of this rank so far. */
tutti_err tutti__dataset_operation_start(tutti__dataset_operation *op, tutti_err local_err,
                                         tutti_request **r_out) TUTTI_MUST_USE;

#endif
