/* timestep: phases of a commit, the same for all containers (native, netCDF, Exodus), with one
 * agreement per phase.
 *
 *   call        all ranks agree on the call (by the caller)
 *   gather      rank 0 receives the checksums that ranks have
 *   finish      rank 0 reads the other blocks and writes all data that must precede the commit;
 *               the other ranks sync the file meanwhile, rank 0 afterwards
 *               (TUTTI_DURABLE: an agreement)
 *   publish     rank 0 performs the commit
 *   verdict     rank 0 broadcasts the outcome and the data that all ranks need
 *
 * If rank 0 would have to read many blocks alone, all ranks read them, with up to six more
 * collective communications.  Callbacks on rank 0 and syncs are jobs (comm/by_thread.h): inside a
 * fiber they do not block the caller's thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STEP_COMMIT_H
#define TUTTI_STEP_COMMIT_H

#include "timestep/blocks.h"

/* Callbacks on rank 0, which differ between containers.  `step` belongs to the caller. */
typedef struct tutti__commit_steps {
    /* Write all data that must precede the commit.  table: [n] checksums of blocks in the order of
     * the block list, or NULL without checksums; it may be modified. */
    tutti_err (*finish)(void *step, uint64_t *table, int64_t n);
    /* Perform the commit; all data is on the device (TUTTI_DURABLE). */
    tutti_err (*publish)(void *step);
    /* Undo a commit that has failed on some rank before or in `publish`; also called if `finish`
     * was not called. */
    tutti_err (*undo)(void *step);
} tutti__commit_steps;

/* First part of the message that rank 0 broadcasts at the end. */
typedef struct tutti__commit_verdict {
    int64_t has_many_missing;
    tutti_error_info error; /* code TUTTI_OK: the commit has succeeded */
} tutti__commit_verdict;

typedef struct tutti__step_commit {
    tutti__team *team;
    tutti_file *file;
    int is_durable;
    /* error of this rank, which is its last error; TUTTI_OK without checksums */
    tutti_err local_err;
    /* NULL without checksums, and if local_err is an error */
    const tutti__block_list *blocks;
    int has_checksums; /* the same on all ranks */
    int64_t known_n;   /* number of checksums that this rank knows */
    const tutti__checksum *known;
    const tutti__commit_steps *steps;
    void *step;
    /* verdict and the bytes that follow it; afterwards, on all ranks those of rank 0 */
    tutti__commit_verdict *verdict;
    int verdict_bytes;  /* including the bytes that follow; the same on all ranks */
    int is_sync_failed; /* out, the same on all ranks: a sync has failed */
} tutti__step_commit;

/* Run a commit.   Collective.
 * @return the same code on all ranks */
tutti_err tutti__step_commit_run(tutti__step_commit *c) TUTTI_MUST_USE;

#endif
