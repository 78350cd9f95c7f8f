/* mpiio: execution of data calls: blocking, non-blocking, or split.
 *
 * In a collective call a rank with invalid arguments still takes part, without an access: Tutti
 * then fails on all ranks with the error of this rank, and no rank waits forever.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "job.h"
#include "request.h"

/* ---- accounts, for the summary */

static double start_time(void) {
    return mpiio_summary_wanted() ? mpiio_now() : 0;
}

static void count_call(mpiio_file *f, const mpiio_call *c, int family, tutti_off bytes,
                       double since) {
    mpiio_account *a = &f->accounts[c->is_write][family];
    if (!mpiio_summary_wanted()) return;
    __atomic_fetch_add(&a->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&a->bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&a->nanoseconds, (int64_t)(1e9 * (mpiio_now() - since)), __ATOMIC_RELAXED);
}

/* ---- blocking */

static tutti_err move_bytes(mpiio_job *job, tutti_off *moved) {
    tutti_file *f = job->file->file;
    const mpiio_call *c = &job->call;
    if (job->complaint != MPI_SUCCESS) mpiio_refuse(job->complaint);
    if (c->collective)
        return c->is_write ? tutti_file_write(f, job->access, job->buf, moved)
                           : tutti_file_read(f, job->access, job->buf, moved);
    return c->is_write ? tutti_file_write_independent(f, job->access, job->buf, moved)
                       : tutti_file_read_independent(f, job->access, job->buf, moved);
}

static void status_set(MPI_Status *status, MPI_Offset bytes) {
    if (status == MPI_STATUS_IGNORE) return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(status, 0);
}

int mpiio_move(mpiio_file *f, const mpiio_call *call, MPI_Status *status) {
    const double since = start_time();
    mpiio_job job;
    tutti_off moved = 0;
    mpiio_job_make(f, call, &job);
    if (job.complaint != MPI_SUCCESS && !call->collective) return mpiio_fail(f, job.complaint);
    mpiio_file *locked = call->collective ? f : NULL;
    mpiio_enter(locked);
    const tutti_err err = move_bytes(&job, &moved);
    mpiio_leave(locked);
    const int code = mpiio_complain_tutti(err); /* collective: the same class on all ranks */
    const MPI_Offset status_bytes = mpiio_job_end(&job, err, moved);
    mpiio_job_settle_pointer(&job);
    status_set(status, status_bytes);
    count_call(f, call, call->collective ? MPIIO_COLLECTIVE : MPIIO_INDEPENDENT, status_bytes,
               since);
    return mpiio_fail(f, code);
}

/* Make a job that outlives the call; if memory is exhausted, return `none` with an error. */
static mpiio_job *job_new(mpiio_file *f, const mpiio_call *call, mpiio_job *none) {
    mpiio_job *job = malloc(sizeof *job);
    if (job) {
        mpiio_job_make(f, call, job);
        return job;
    }
    mpiio_job_refuse(f, call, mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate an operation"), none);
    return none;
}

/* Release a job that is not started. */
static void job_drop(mpiio_job *job, const mpiio_job *none) {
    mpiio_job_end(job, TUTTI_ERR_ARG, 0);
    mpiio_job_settle_pointer(job);
    if (job != none) free(job);
}

/* ---- non-blocking */

static tutti_err start_request(mpiio_job *job, tutti_request **r) {
    tutti_file *f = job->file->file;
    const mpiio_call *c = &job->call;
    if (job->complaint != MPI_SUCCESS) mpiio_refuse(job->complaint);
    if (c->collective)
        return c->is_write ? tutti_file_write_start(f, job->access, job->buf, r)
                           : tutti_file_read_start(f, job->access, job->buf, r);
    return c->is_write ? tutti_file_write_independent_start(f, job->access, job->buf, r)
                       : tutti_file_read_independent_start(f, job->access, job->buf, r);
}

static tutti_off started_done(void *context, tutti_err outcome, tutti_off bytes) {
    mpiio_job *job = context;
    const MPI_Offset status_bytes = mpiio_job_end(job, outcome, bytes);
    __atomic_fetch_add(&job->file->accounts[job->call.is_write][MPIIO_NONBLOCKING].bytes,
                       status_bytes, __ATOMIC_RELAXED);
    free(job);
    return status_bytes;
}

/* All steps that can fail on a single rank come before the start of the operation. */
static int start_job(mpiio_job *job, MPI_Request *request) {
    mpiio_file *f = job->file, *locked = job->call.collective ? f : NULL;
    mpiio_request *q = mpiio_request_new(f);
    tutti_request *r = NULL;
    if (job->complaint == MPI_SUCCESS) {
        const int code = mpiio_request_handle(q);
        if (code != MPI_SUCCESS) mpiio_job_fail(job, code);
    }
    const int complaint = job->complaint;
    if (complaint != MPI_SUCCESS && !job->call.collective) {
        mpiio_request_drop(q);
        return complaint;
    }
    mpiio_enter(locked);
    const tutti_err err = start_request(job, &r);
    mpiio_leave(locked);
    if (err != TUTTI_OK) {
        mpiio_request_drop(q);
        return mpiio_complain_tutti(err);
    }
    if (complaint == MPI_SUCCESS) {
        *request = mpiio_request_go(q, r, started_done, job);
    } else if (q) {
        /* the operation continues until the other ranks have received the error of this rank */
        mpiio_request_go(q, r, NULL, NULL);
    } else {
        mpiio_enter(f);
        const tutti_err refused = tutti_request_wait(&r, NULL);
        (void)refused; /* this rank reports its own error */
        mpiio_leave(f);
    }
    return complaint;
}

int mpiio_start(mpiio_file *f, const mpiio_call *call, MPI_Request *request) {
    const double since = start_time();
    mpiio_job none, *job = job_new(f, call, &none);
    *request = MPI_REQUEST_NULL;
    const int code = start_job(job, request);
    if (code != MPI_SUCCESS) job_drop(job, &none);
    count_call(f, call, MPIIO_NONBLOCKING, 0, since);
    return mpiio_fail(f, code);
}

/* ---- split operations */

int mpiio_begin(mpiio_file *f, const mpiio_call *call) {
    const double since = start_time();
    /* The condition is the same on all ranks. */
    if (f->split)
        return mpiio_fail(
            f, mpiio_complain(MPI_ERR_IO, "a split collective operation on '%s' is already active",
                              f->path));
    mpiio_job none, *job = job_new(f, call, &none);
    mpiio_enter(f);
    if (job->complaint != MPI_SUCCESS) mpiio_refuse(job->complaint);
    const int code = mpiio_complain_tutti(
        call->is_write ? tutti_file_write_begin(f->file, job->access, job->buf)
                       : tutti_file_read_begin(f->file, job->access, job->buf));
    mpiio_leave(f);
    if (code == MPI_SUCCESS)
        f->split = job;
    else
        job_drop(job, &none);
    count_call(f, call, MPIIO_SPLIT, 0, since);
    return mpiio_fail(f, code);
}

static int end_job(mpiio_file *f, MPI_Offset *status_bytes) {
    mpiio_job *job = f->split;
    tutti_off moved = 0;
    mpiio_enter(f);
    const tutti_err err = job->call.is_write ? tutti_file_write_end(f->file, &moved)
                                             : tutti_file_read_end(f->file, &moved);
    mpiio_leave(f);
    const int code = mpiio_complain_tutti(err);
    f->split = NULL;
    *status_bytes = mpiio_job_end(job, err, moved);
    mpiio_job_settle_pointer(job);
    free(job);
    return code;
}

int mpiio_end(mpiio_file *f, mpiio_where where, int is_write, MPI_Status *status) {
    const double since = start_time();
    MPI_Offset status_bytes = 0;
    if (!f->split || f->split->call.where != where || f->split->call.is_write != is_write)
        return mpiio_fail(
            f, mpiio_complain(MPI_ERR_IO,
                              "no matching split collective operation has begun on '%s'", f->path));
    const mpiio_call call = f->split->call;
    const int code = end_job(f, &status_bytes);
    status_set(status, status_bytes);
    count_call(f, &call, MPIIO_SPLIT, status_bytes, since);
    f->accounts[is_write][MPIIO_SPLIT].calls--; /* begin has been counted */
    return mpiio_fail(f, code);
}

void mpiio_split_drop(mpiio_file *f) {
    MPI_Offset status_bytes;
    if (f->split) end_job(f, &status_bytes);
}
