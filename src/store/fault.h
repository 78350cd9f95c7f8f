/* store: injected faults, for tests.  store.h documents the syntax of the option `fault`.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_FAULT_H
#define TUTTI_FAULT_H

#include <tutti/backend.h>

typedef enum tutti__fault_what {
    TUTTI__FAULT_NONE,
    TUTTI__FAULT_OPEN,
    TUTTI__FAULT_WRITE,
    TUTTI__FAULT_READ,
    TUTTI__FAULT_SYNC,
    TUTTI__FAULT_SIZE,
    TUTTI__FAULT_RESIZE,
    TUTTI__FAULT_CLOSE,
    TUTTI__FAULT_SHORT,
    TUTTI__FAULT_SLOW,
    TUTTI__FAULT_HELD
} tutti__fault_what;

typedef struct tutti__fault {
    tutti__fault_what what;
    /* N of the option: number of a call, bytes, milliseconds or descriptor, depending on `what` */
    tutti_count n;
    int sys_errno; /* errno of the injected error */
} tutti__fault;

/* Parse the option `fault`; fault_out->what is TUTTI__FAULT_NONE if the text is empty or names
 * another rank.  Fails with TUTTI_ERR_OPTION if the text is malformed, on all ranks. */
tutti_err tutti__fault_parse(const char *text, int rank, tutti__fault *fault_out) TUTTI_MUST_USE;

/* Wrap the store `inner` in a store that fails as *fault describes; on success the new store owns
 * `inner`. */
tutti_err tutti__fault_wrap(tutti_store *inner, const tutti__fault *fault,
                            tutti_store **store_out) TUTTI_MUST_USE;

#endif
