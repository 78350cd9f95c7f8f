/* timestep: the outline of a commit, the same for all containers (native, netCDF, Exodus), with one agreement per phase.
 *
 *   call        all ranks commit, and none refuses                                       the caller
 *   gather      checksums of blocks that ranks know, to rank 0
 *   finish      rank 0 reads the other blocks and writes what must be in the file before the commit point;
 *               meanwhile the other ranks sync the file, and rank 0 after that           (TUTTI_DURABLE: a vote)
 *   publish     rank 0: the commit point
 *   verdict     rank 0 sends the outcome and what all ranks have to know
 *
 * Where rank 0 would have to read many blocks alone, all ranks read them, which takes up to six collective communications more.
 * All steps of rank 0 and all syncs are jobs (comm/by_thread.h): inside a fiber they do not block the caller's thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_STEP_COMMIT_H
#define TUTTI_STEP_COMMIT_H

#include "timestep/blocks.h"

/* What a commit does on rank 0, by container.  `step` is the caller's. */
typedef struct tutti__commit_steps {
    /* Write all that must be in the file before the commit point.  table: [n] checksums of blocks in the order of the
     * block list, or NULL if there are none; it may be changed. */
    tutti_err (*finish)(void *step, uint64_t *table, int64_t n);
    /* All data is on the device (TUTTI_DURABLE): the commit point. */
    tutti_err (*publish)(void *step);
    /* The commit has failed on some rank before or in `publish`, also if `finish` was not called. */
    tutti_err (*undo)(void *step);
} tutti__commit_steps;

/* Precedes what rank 0 tells all ranks at the end. */
typedef struct tutti__commit_verdict {
    int64_t has_many_missing;
    tutti_error_info error; /* code TUTTI_OK: the commit has succeeded */
} tutti__commit_verdict;

typedef struct tutti__step_commit {
    tutti__team *team;
    tutti_file *file;
    int is_durable;
    tutti_err local_err; /* this rank's, with its last error; without checksums: none */
    const tutti__block_list
        *blocks;       /* NULL: without checksums.  Where local_err is set, also NULL */
    int has_checksums; /* the same on all ranks */
    int64_t known_n;   /* checksums that this rank knows, by block of the list */
    const tutti__sum *known;
    const tutti__commit_steps *steps;
    void *step;
    tutti__commit_verdict
        *verdict;       /* with what follows it in memory: rank 0's on all ranks afterwards */
    int verdict_bytes;  /* of all of it; the same on all ranks */
    int is_sync_failed; /* out, the same on all ranks: a sync has failed */
} tutti__step_commit;

/* Carry it out.   Collective.
 * @return the same on all ranks */
tutti_err tutti__step_commit_run(tutti__step_commit *c) TUTTI_MUST_USE;

#endif
