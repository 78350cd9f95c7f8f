/* A store controlled by the test: with fault=*:held:GATE no transfer of this process ends while
 * the gate file exists, so that a call that returns in this time has not waited for the file.  No
 * time is measured: a call that waits gets an error
 * from the store eventually (src/store/store_fault.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_GATE_H
#define TUTTI_TESTS_GATE_H

#include <unistd.h>
#include "check.h"

enum { GATE = 199 }; /* a descriptor, the same on all ranks, since options agree */
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
