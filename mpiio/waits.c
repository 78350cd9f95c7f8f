/* mpiio: MPI_Wait, MPI_Test and their kin.
 *
 * While no request of ours exists they pass at once.  Otherwise those of ours among the given ones
 * are looked up first, since a handle means nothing any more once the request is complete; then the
 * MPI library is asked (a wait is a series of tests, between which our operations move on); and
 * then errors of those that got complete are told: to the file's error handler, and as the standard
 * wants it, by the code of the call or in the statuses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "request_impl.h"

/* ---- errors */

static int has_ended(const mpiio_request *q, const MPI_Request *requests) {
    return requests[q->index] == MPI_REQUEST_NULL && mpiio_request_settled(q);
}

static int failed(const mpiio_request *q, const MPI_Request *requests) {
    return has_ended(q, requests) && q->code != MPI_SUCCESS;
}

/* Calls the file's error handler. */
static int tell(const mpiio_request *q) {
    return mpiio_fail(q->file, mpiio_complain(q->code, "%s", q->message ? q->message : ""));
}

/* Of a call that completes one request at most; `code` is what the MPI library says. */
static int told_one(mpiio_request *among, const MPI_Request *requests, int code) {
    for (mpiio_request *q = among; q; q = q->waited)
        if (failed(q, requests)) code = tell(q);
    mpiio_requests_release(among);
    return code;
}

/* What a call that completes several has answered: statuses[i] is of requests[indices[i]], or
 * requests[i]. */
typedef struct {
    int n;
    const int *indices;
    MPI_Status *statuses;
} answer;

static void errors_into(const mpiio_request *among, const MPI_Request *requests, const answer *a,
                        int code) {
    if (a->statuses == MPI_STATUSES_IGNORE) return;
    for (int i = 0; i < a->n && code == MPI_SUCCESS; i++) a->statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (const mpiio_request *q = among; q; q = q->waited) {
        if (!has_ended(q, requests)) continue;
        int i = a->indices ? 0 : q->index;
        while (a->indices && i < a->n && a->indices[i] != q->index) i++;
        if (i < a->n) a->statuses[i].MPI_ERROR = q->code;
    }
}

static int told_all(mpiio_request *among, const MPI_Request *requests, const answer *a, int code) {
    int errors = 0;
    for (const mpiio_request *q = among; q; q = q->waited) errors += failed(q, requests);
    if (errors > 0) {
        errors_into(among, requests, a, code);
        for (const mpiio_request *q = among; q; q = q->waited)
            if (failed(q, requests)) (void)tell(q);
        code = MPI_ERR_IN_STATUS;
    }
    mpiio_requests_release(among);
    return code;
}

/* ---- waiting */

/* Nothing of ours is waited for here, and it moves on without us. */
static int not_our_business(const mpiio_request *among) {
    return !among && mpiio_progress_everywhere();
}

static void meanwhile(void) {
    if (!mpiio_requests_progress()) sched_yield();
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Wait)(request, status);
    mpiio_request *among = mpiio_requests_among(1, request);
    if (not_our_business(among)) return MPIIO_REAL(Wait)(request, status);
    int code, flag = 0;
    while ((code = MPIIO_REAL(Test)(request, &flag, status)) == MPI_SUCCESS && !flag) meanwhile();
    return told_one(among, request, code);
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Waitany)(count, requests, index, status);
    mpiio_request *among = mpiio_requests_among(count, requests);
    if (not_our_business(among)) return MPIIO_REAL(Waitany)(count, requests, index, status);
    int code, flag = 0;
    while ((code = MPIIO_REAL(Testany)(count, requests, index, &flag, status)) == MPI_SUCCESS &&
           !flag)
        meanwhile();
    return told_one(among, requests, code);
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Waitall)(count, requests, statuses);
    mpiio_request *among = mpiio_requests_among(count, requests);
    if (not_our_business(among)) return MPIIO_REAL(Waitall)(count, requests, statuses);
    int code, flag = 0;
    while ((code = MPIIO_REAL(Testall)(count, requests, &flag, statuses)) == MPI_SUCCESS && !flag)
        meanwhile();
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE && code == MPI_SUCCESS; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS; /* as MPI_Waitall itself does, unlike MPI_Testall */
    return told_all(among, requests, &(answer){count, NULL, statuses}, code);
}

int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[]) {
    if (mpiio_requests_idle())
        return MPIIO_REAL(Waitsome)(incount, requests, outcount, indices, statuses);
    mpiio_request *among = mpiio_requests_among(incount, requests);
    if (not_our_business(among))
        return MPIIO_REAL(Waitsome)(incount, requests, outcount, indices, statuses);
    int code;
    while ((code = MPIIO_REAL(Testsome)(incount, requests, outcount, indices, statuses)) ==
               MPI_SUCCESS &&
           *outcount == 0)
        meanwhile();
    return told_all(among, requests, &(answer){*outcount, indices, statuses}, code);
}

/* ---- testing */

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Test)(request, flag, status);
    mpiio_request *among = mpiio_requests_among(1, request);
    mpiio_requests_progress();
    return told_one(among, request, MPIIO_REAL(Test)(request, flag, status));
}

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Testany)(count, requests, index, flag, status);
    mpiio_request *among = mpiio_requests_among(count, requests);
    mpiio_requests_progress();
    return told_one(among, requests, MPIIO_REAL(Testany)(count, requests, index, flag, status));
}

int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Testall)(count, requests, flag, statuses);
    mpiio_request *among = mpiio_requests_among(count, requests);
    mpiio_requests_progress();
    const int code = MPIIO_REAL(Testall)(count, requests, flag, statuses);
    return told_all(among, requests, &(answer){count, NULL, statuses}, code);
}

int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[]) {
    if (mpiio_requests_idle())
        return MPIIO_REAL(Testsome)(incount, requests, outcount, indices, statuses);
    mpiio_request *among = mpiio_requests_among(incount, requests);
    mpiio_requests_progress();
    const int code = MPIIO_REAL(Testsome)(incount, requests, outcount, indices, statuses);
    return told_all(among, requests, &(answer){*outcount, indices, statuses}, code);
}

/* Looks only: an error is told by whoever completes the request. */
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    mpiio_requests_progress();
    return MPIIO_REAL(Request_get_status)(request, flag, status);
}

/* ---- the names without P, for programs and their tools */

MPIIO_EXPORT(Wait);
MPIIO_EXPORT(Waitany);
MPIIO_EXPORT(Waitall);
MPIIO_EXPORT(Waitsome);
MPIIO_EXPORT(Test);
MPIIO_EXPORT(Testany);
MPIIO_EXPORT(Testall);
MPIIO_EXPORT(Testsome);
MPIIO_EXPORT(Request_get_status);
