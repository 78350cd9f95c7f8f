/* A gate that blocks transfers: with the option fault=*:held:GATE no transfer of this process completes
 * while the gate is shut, so that a call that returns in the meantime has not waited for a transfer.  The
 * gate is a pipe; it is open while the pipe contains a byte.  A call that waits for a shut gate fails
 * eventually with an error of the store (src/store/store_fault.c), so that no time is measured.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_GATE_H
#define TUTTI_TESTS_GATE_H

#include <unistd.h>
#include "check.h"

/* the file descriptor is the same on all ranks, because options must agree between ranks */
enum { GATE = 199 };
#define HELD "*:held:199"

static int gate_handle_ = -1;

/* Let transfers continue. */
static inline void gate_open(void) {
    CHECK(write(gate_handle_, "", 1) == 1, "the gate does not open");
}

static inline void gate_shut(void) {
    char byte;
    int ends[2];
    if (gate_handle_ >= 0) {
        CHECK(read(GATE, &byte, 1) == 1, "the gate does not shut");
        return;
    }
    CHECK(pipe(ends) == 0 && dup2(ends[0], GATE) == GATE && close(ends[0]) == 0, "no gate");
    gate_handle_ = ends[1];
}

/* Remove the gate at the end; it must be open. */
static inline void gate_remove(void) {
    close(gate_handle_), close(GATE);
    gate_handle_ = -1;
}

#endif
