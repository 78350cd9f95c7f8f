/* direct: methods in which every rank accesses the file itself.  Each moves the bytes of one
 * operation and returns this rank's outcome.   Local.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DIRECT_H
#define TUTTI_DIRECT_H

#include "file/operation.h"
#include "plan/cost.h"

/* Runs of the access, up to `batch` runs of the file in one request: 1 is the method
 * `independent`. */
enum { TUTTI__LIST_BATCH = 1024 };
tutti_err tutti__run_list(tutti__op *op, int batch) TUTTI_MUST_USE;
/* Stretches of the file with their holes, between a stage and the file in one request each. */
tutti_err tutti__run_sieve(tutti__op *op) TUTTI_MUST_USE;
/* The largest buffer of sieve, where an operation may have `room` bytes of a node (0: any). */
tutti_off tutti__sieve_bytes(const tutti_file *f, tutti_off room);
/* The buffer of one operation: at most `most` bytes and this rank's share of a node's memory. */
tutti_off tutti__private_stage(const tutti__op *op, tutti_off most);
/* The last step of list and sieve, if checksums are requested: those of blocks that the access has
 * all of; `but`: not those within one run of the file and one of memory, which are known. */
tutti_err tutti__own_sums(tutti__op *op, int but) TUTTI_MUST_USE;
/* A list under a lock on its whole extent: atomic mode. */
tutti_err tutti__run_atomic(tutti__op *op) TUTTI_MUST_USE;
/* Are there locks at all? */
tutti_err tutti__locks_try(tutti_file *f) TUTTI_MUST_USE;

#endif
