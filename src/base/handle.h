/* base: table of live handles.  Every object that the library returns by address is in the table
 * until it is freed, so that a stale handle (a closed file, a freed plan) is an error and not a
 * crash: the address is looked up, and freed memory is never read.  If a new object of the same
 * class has reused the address, the stale handle is not detected.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_HANDLE_H
#define TUTTI_HANDLE_H

#include "base/error_impl.h"

/* The class of an object, defined by the module of the object and compared by its address. */
typedef struct tutti__class {
    const char *name;  /* NAME in its functions tutti_NAME_... */
    const char *noun;  /* name of such an object in messages */
    const char *ended; /* operation that makes handles stale: "closed", "freed" */
} tutti__class;

/* The first member of every object with a handle; all zero: not in the table. */
typedef struct tutti__handle {
    struct tutti__handle *next, **at; /* chain of the bucket; pointer that points to this handle */
    const tutti__class *class;        /* may be set before tutti__handle_add */
} tutti__handle;

void tutti__handle_add(tutti__handle *h, const tutti__class *class);
/* Remove a handle from the table; no effect if it is not there. */
void tutti__handle_remove(tutti__handle *h);
/* Return whether `object` is the address of a live object of this class; it is not dereferenced. */
int tutti__handle_alive(const void *object, const tutti__class *class);
/* Check a handle: TUTTI_ERR_ARG if `object` is NULL, TUTTI_ERR_STATE if it is stale.  Not
 * collective. */
tutti_err tutti__handle_check(const void *object, const tutti__class *class) TUTTI_MUST_USE;
/* Return an object of this class for which is(h, context) is true, or NULL.  The caller guarantees
 * that it is not removed during the call. */
const tutti__handle *tutti__handle_search(const tutti__class *class,
                                          int (*is)(const tutti__handle *h, const void *context),
                                          const void *context);

#endif
