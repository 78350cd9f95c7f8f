/* collective: may a handle be used?  Asked first in every public call, on this rank alone: a
 * handle that leads nowhere has no ranks that could be told.
 *
 * MPI_Finalize closes files that are still open (open_files.c).  What the caller holds of them
 * then, the file, its plans and requests, stays in memory as an empty shell until it is
 * closed or freed, and is good for nothing else.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"

static tutti_err ended(const char *what) {
    return tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                            "%s is used after MPI_Finalize, which has closed its file", what);
}

tutti_err tutti__file_live(const tutti_file *f) {
    TUTTI_CHECK(f != NULL, TUTTI_ERR_ARG, "the file handle is NULL");
    TUTTI_CHECK(tutti__handle_alive(&f->handle, TUTTI__FILE), TUTTI_ERR_STATE,
                "the file handle is stale: the file has been closed");
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
    if (!tutti__handle_alive(&f->handle, TUTTI__FILE) || !f->ended) return;
    tutti__handle_remove(&f->handle);
    f->ended = TUTTI__FORGOTTEN;
    shell_free(f);
}

tutti_err tutti__plan_live(const tutti_plan *p) {
    TUTTI_CHECK(p != NULL, TUTTI_ERR_ARG, "the plan handle is NULL");
    TUTTI_CHECK(tutti__handle_alive(&p->handle, TUTTI__PLAN), TUTTI_ERR_STATE,
                "the plan handle is stale: the plan has been freed");
    return p->file->ended ? ended("a plan") : TUTTI_OK;
}

void tutti__plan_gone(tutti_file *f) {
    f->plans.callers--;
    if (f->ended == TUTTI__FORGOTTEN) shell_free(f);
}

tutti_err tutti__request_live(tutti_request **pr) {
    TUTTI_CHECK(pr && *pr, TUTTI_ERR_ARG, "the request is NULL");
    tutti_request *r = *pr;
    if (!tutti__handle_alive(&r->handle, TUTTI__REQUEST)) {
        *pr = NULL;
        TUTTI_FAIL(TUTTI_ERR_STATE, "the request is stale: it has been completed or abandoned");
    }
    if (r->asked.how == TUTTI__INDEPENDENT || (r->op.file && !r->op.file->ended)) return TUTTI_OK;
    tutti__handle_remove(&r->handle);
    r->progress.abandoned = 1;
    if (!r->op.file) tutti__free_lent(r); /* tutti__requests_drop has left nothing but this */
    *pr = NULL;
    return ended("a request");
}
