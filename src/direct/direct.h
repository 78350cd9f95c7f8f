/* direct: methods in which every rank accesses the file itself.  Each function moves the bytes of
 * one operation and returns the error code of this rank.   Not collective.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DIRECT_H
#define TUTTI_DIRECT_H

#include "file/operation.h"
#include "plan/cost.h"

enum { TUTTI__LIST_BATCH = 1024 };
/* List I/O: access the runs of the operation, up to `batch` file runs per request.  The method
 * `independent` uses a batch of 1. */
tutti_err tutti__run_list(tutti__op *op, int batch) TUTTI_MUST_USE;
/* Data sieving: access sections of the file including their holes through a buffer, one request per
 * section. */
tutti_err tutti__run_sieve(tutti__op *op) TUTTI_MUST_USE;
/* Return the size of the largest sieve buffer of an operation that may use `memory_limit` bytes per
 * node (0: no limit). */
tutti_off tutti__sieve_bytes(const tutti_file *f, tutti_off memory_limit);
/* Return the buffer size of one operation: at most `most` bytes, and at most this rank's share of
 * the memory of its node. */
tutti_off tutti__private_stage(const tutti__op *op, tutti_off most);
/* Last step of list I/O and sieving if checksums are requested: add the checksums of all blocks
 * that the access contains completely.  `skip_simple`: skip accesses with one run in the file and
 * one in memory, whose checksums have been added already. */
tutti_err tutti__checksum_own_blocks(tutti__op *op, int skip_simple) TUTTI_MUST_USE;
/* Atomic mode: perform list I/O under a lock on the whole extent of the access. */
tutti_err tutti__run_atomic(tutti__op *op) TUTTI_MUST_USE;
/* Check that the file system supports locks. */
tutti_err tutti__locks_try(tutti_file *f) TUTTI_MUST_USE;

#endif
