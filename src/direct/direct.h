/* direct: methods in which every rank accesses the file itself.  Each moves the bytes of one
 * operation and returns the outcome of this rank.   Not collective.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DIRECT_H
#define TUTTI_DIRECT_H

#include "file/operation.h"
#include "plan/cost.h"

/* List I/O: runs of the access, with up to `batch` file runs per request; 1 is the method
 * `independent`. */
enum { TUTTI__LIST_BATCH = 1024 };
tutti_err tutti__run_list(tutti__op *op, int batch) TUTTI_MUST_USE;
/* Data sieving: sections of the file with their holes, one request each, through a buffer. */
tutti_err tutti__run_sieve(tutti__op *op) TUTTI_MUST_USE;
/* The largest sieve buffer of an operation that may use `room` bytes per node (0: no limit). */
tutti_off tutti__sieve_bytes(const tutti_file *f, tutti_off room);
/* The buffer size of one operation: at most `most` bytes and the share of this rank in the memory of
 * its node. */
tutti_off tutti__private_stage(const tutti__op *op, tutti_off most);
/* The last step of list and sieve if checksums are requested: add those of all blocks that the access
 * contains completely.  `skip_simple`: except for accesses with one run in the file and one in memory,
 * whose checksums have been added already. */
tutti_err tutti__checksum_own_blocks(tutti__op *op, int skip_simple) TUTTI_MUST_USE;
/* Atomic mode: list I/O under a lock on the whole extent. */
tutti_err tutti__run_atomic(tutti__op *op) TUTTI_MUST_USE;
/* Check that the file system supports locks. */
tutti_err tutti__locks_try(tutti_file *f) TUTTI_MUST_USE;

#endif
