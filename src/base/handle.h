/* base: live handles.  Every object that a caller has by address is listed here until it is
 * freed, so that a stale handle (of a closed file, a freed plan) is an error and not a crash: the
 * address is looked up, and freed memory is never read.  An address that has been reused by a new
 * object of the same kind cannot be distinguished from it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_HANDLE_H
#define TUTTI_HANDLE_H

#include "base/error_impl.h"

/* The class of an object, defined by the module of the object and compared by its address. */
typedef struct tutti__class {
    const char *name;  /* in the names of its calls: tutti_NAME_... */
    const char *noun;  /* in messages */
    const char *ended; /* operation that makes handles stale: "closed", "freed" */
} tutti__class;

/* The first member of an object; all zero: not listed. */
typedef struct tutti__handle {
    struct tutti__handle *next, **at;
    const tutti__class *class; /* may be set before it is listed */
} tutti__handle;

void tutti__handle_add(tutti__handle *h, const tutti__class *class);
/* No effect if it is not listed. */
void tutti__handle_remove(tutti__handle *h);
/* Whether an object of this class has its handle at the address `object`, which is compared and not
 * dereferenced. */
int tutti__handle_alive(const void *object, const tutti__class *class);
/* The same as an error: TUTTI_ERR_ARG if `object` is NULL, TUTTI_ERR_STATE if it is stale.   Not collective. */
tutti_err tutti__handle_check(const void *object, const tutti__class *class) TUTTI_MUST_USE;
/* Return an object of this class for which is(h, context) is true, or NULL.  The caller guarantees that
 * it is not removed during the call. */
const tutti__handle *tutti__handle_search(const tutti__class *class,
                                          int (*is)(const tutti__handle *h, const void *context),
                                          const void *context);

#endif
