/* collective: validity of handles.  Every public call checks its handle first, without
 * communication, since an invalid handle has no communicator.
 *
 * MPI_Finalize closes files that are still open (open_files.c).  The file, its plans and requests
 * then stay allocated without contents until the caller closes or frees them; all other calls fail.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"

const tutti__class tutti__request_class = {"request", "request", "completed or abandoned"};

static tutti_err report_ended(const char *what) {
    return tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                            "%s was called after MPI_Finalize, which closed the file", what);
}

tutti_err tutti__mpi_is_up(void) {
    int up = 0, down = 0;
    if (MPI_Initialized(&up) != MPI_SUCCESS || MPI_Finalized(&down) != MPI_SUCCESS) up = 0;
    TUTTI_CHECK(!down, TUTTI_ERR_STATE, "MPI has been finalised");
    TUTTI_CHECK(up, TUTTI_ERR_STATE, "MPI has not been initialised: call MPI_Init first");
    return TUTTI_OK;
}

tutti_err tutti__file_live(const tutti_file *f) {
    TUTTI_TRY(tutti__handle_check(f, &tutti__file_class));
    return f->ended ? report_ended("a function of a file") : TUTTI_OK;
}

/* Free a file that MPI_Finalize has closed, unless a thread, a pending operation or a plan may
 * still need the struct. */
static void free_shell(tutti_file *f) {
    if (!f->team && f->plans.callers == 0) tutti__free_lent(f);
}

void tutti__file_forget(tutti_file **pf) {
    tutti_file *f = *pf;
    *pf = NULL;
    if (!tutti__handle_alive(&f->handle, &tutti__file_class) || !f->ended) return;
    tutti__handle_remove(&f->handle);
    f->ended = TUTTI__FORGOTTEN;
    free_shell(f);
}

tutti_err tutti__plan_live(const tutti_plan *p) {
    TUTTI_TRY(tutti__handle_check(p, &tutti__plan_class));
    return p->file->ended ? report_ended("a function of a plan") : TUTTI_OK;
}

void tutti__plan_count_freed(tutti_file *f) {
    f->plans.callers--;
    if (f->ended == TUTTI__FORGOTTEN) free_shell(f);
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
    if (!r->op.file) tutti__free_lent(r); /* tutti__requests_drop has freed everything else */
    *pr = NULL;
    return report_ended("a function of a request");
}
