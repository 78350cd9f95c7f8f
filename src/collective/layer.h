/* collective: what the layers above files (arrays, meshes, datasets) use of them, and all they
 * use: a layer describes its bytes by a tutti_request and has it carried out; whatever it has
 * against a call on this rank travels in the request's first agreement (`refused`), and what its
 * contract says agrees is compared there (`agrees`).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_LAYER_H
#define TUTTI_LAYER_H

#include "collective/request.h"

/* Carry a request out at once: what tutti_file_write and tutti_file_read do.   Collective,
 * agrees. */
tutti_err tutti__transfer(tutti_request *r, tutti_off *count_out) TUTTI_MUST_USE;
/* Start it: what tutti_file_write_start and tutti_file_read_start do.  r_out may be NULL, which
 * is an error that all ranks hear of. */
tutti_err tutti__start(const tutti_request *asked, tutti_request **r_out) TUTTI_MUST_USE;
/* Something else that a layer does with a file, under way like a non-blocking operation: a fiber runs
 * task(context), whose waits yield; then collected(context, outcome) is called by whoever tests or
 * waits for the request, before he hears of the outcome.  It takes no turn among the operations of the
 * file, and uses a team of its own if it needs the others.   Make it, then start it, which cannot
 * fail, or drop it.   Local. */
typedef struct tutti__task {
    const char *name;
    tutti_file *file;
    tutti_err (*task)(void *context);
    void (*collected)(void *context, tutti_err outcome);
    void *context;
} tutti__task;
tutti_err tutti__task_make(const tutti__task *t, tutti_request **out) TUTTI_MUST_USE;
void tutti__task_start(tutti_request *r);
void tutti__task_drop(tutti_request **r);
/* This rank's share of tutti_file_sync: what it has written is on the device.   Local, any thread. */
tutti_err tutti__sync_here(tutti_file *f) TUTTI_MUST_USE;
/* If the file is longer it ends here now.   Local, any thread; one rank does it for all. */
tutti_err tutti__cut_here(tutti_file *f, tutti_off size) TUTTI_MUST_USE;
/* This rank's share of the staging memory that a request has; it has departed. */
tutti_off tutti__request_staging(const tutti_request *r);
/* An array lies in the file (or lies there no more): where domains=array cuts it.  What was planned
 * for another one is forgotten.   All ranks alike, between operations; local. */
void tutti__file_slabs(tutti_file *f, const tutti__slabs *slabs);
/* TUTTI_ERR_STATE before MPI_Init and after MPI_Finalize.  Local. */
tutti_err tutti__mpi_is_up(void) TUTTI_MUST_USE;
/* Can files be opened on it?  Local. */
tutti_err tutti__comm_usable(MPI_Comm comm) TUTTI_MUST_USE;

#endif
