/* collective: may a handle be used?  Asked first in every public call, on this rank alone: a
 * handle that leads nowhere has no ranks that could be told.
 *
 * MPI_Finalize closes files that are still open (open_files.c).  What the caller holds of them
 * then, the file, its plans and requests, stays in memory as an empty shell until it is
 * closed or freed, and is good for nothing else.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"

const tutti__class tutti__request_class = {"request", "request", "completed or abandoned"};

static tutti_err ended(const char *what) {
    return tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                            "%s is used after MPI_Finalize, which has closed its file", what);
}

tutti_err tutti__mpi_is_up(void) {
    int up = 0, down = 0;
    if (MPI_Initialized(&up) != MPI_SUCCESS || MPI_Finalized(&down) != MPI_SUCCESS) up = 0;
    TUTTI_CHECK(up && !down, TUTTI_ERR_STATE, "MPI is not initialised, or finalised");
    return TUTTI_OK;
}

tutti_err tutti__file_live(const tutti_file *f) {
    TUTTI_TRY(tutti__handle_check(f, &tutti__file_class));
    return f->ended ? ended("a file") : TUTTI_OK;
}

/* A thread or an operation halfway may still need what is left of it: then it stays for
 * good. */
static void shell_free(tutti_file *f) {
    if (!f->team && f->plans.callers == 0) tutti__free_lent(f);
}

void tutti__file_forget(tutti_file **pf) {
    tutti_file *f = *pf;
    *pf = NULL;
    if (!tutti__handle_alive(&f->handle, &tutti__file_class) || !f->ended) return;
    tutti__handle_remove(&f->handle);
    f->ended = TUTTI__FORGOTTEN;
    shell_free(f);
}

tutti_err tutti__plan_live(const tutti_plan *p) {
    TUTTI_TRY(tutti__handle_check(p, &tutti__plan_class));
    return p->file->ended ? ended("a plan") : TUTTI_OK;
}

void tutti__plan_gone(tutti_file *f) {
    f->plans.callers--;
    if (f->ended == TUTTI__FORGOTTEN) shell_free(f);
}

tutti_err tutti__request_live(tutti_request **pr) {
    tutti_request *r = pr ? *pr : NULL;
    const tutti_err err = tutti__handle_check(r, &tutti__request_class);
    if (err != TUTTI_OK) {
        if (pr) *pr = NULL;
        return err;
    }
    TUTTI_ASSERT(r != NULL);
    if (r->asked.how == TUTTI__INDEPENDENT || (r->op.file && !r->op.file->ended)) return TUTTI_OK;
    if (!r->op.file && r->callback.task) return tutti__mpi_is_up();
    tutti__handle_remove(&r->handle);
    r->progress.abandoned = 1;
    if (!r->op.file) tutti__free_lent(r); /* tutti__requests_drop has left nothing but this */
    *pr = NULL;
    return ended("a request");
}
