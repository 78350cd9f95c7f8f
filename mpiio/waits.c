/* mpiio: MPI_Wait, MPI_Test and similar calls.
 *
 * If no request of this library exists, calls are passed to the MPI library at once.  Otherwise a
 * call has three steps.  It finds the requests of this library among its arguments, since handles
 * are invalid after completion.  It calls the MPI library; a wait is a series of tests, between
 * which operations of Tutti progress.  It reports errors of completed requests to the error handler
 * of the file and, as the standard requires, by the return code or in the statuses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "request_impl.h"

/* ---- errors */

static int has_ended(const mpiio_request *q, const MPI_Request *requests) {
    return requests[q->index] == MPI_REQUEST_NULL && mpiio_request_settled(q);
}

static int has_failed(const mpiio_request *q, const MPI_Request *requests) {
    return has_ended(q, requests) && q->code != MPI_SUCCESS;
}

/* Call the error handler of the file of a request, and return the code. */
static int call_handler_for(const mpiio_request *q) {
    return mpiio_fail(q->file, mpiio_complain(q->code, "%s", q->message ? q->message : ""));
}

/* Report errors of a call that completes at most one request; `code` is the code from the MPI
 * library. */
static int report_one(mpiio_request *among, const MPI_Request *requests, int code) {
    for (mpiio_request *q = among; q; q = q->waited)
        if (has_failed(q, requests)) code = call_handler_for(q);
    mpiio_requests_release(among);
    return code;
}

/* Result of a call that completes several requests: statuses[i] belongs to requests[indices[i]] or,
 * if `indices` is NULL, to requests[i]. */
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

static int report_all(mpiio_request *among, const MPI_Request *requests, const answer *a,
                      int code) {
    int errors = 0;
    for (const mpiio_request *q = among; q; q = q->waited) errors += has_failed(q, requests);
    if (errors > 0) {
        errors_into(among, requests, a, code);
        for (const mpiio_request *q = among; q; q = q->waited)
            if (has_failed(q, requests)) (void)call_handler_for(q);
        code = MPI_ERR_IN_STATUS;
    }
    mpiio_requests_release(among);
    return code;
}

/* ---- waiting */

/* Return whether the call can be passed to the MPI library, which progresses requests while it
 * waits: no request of this library is among the arguments. */
static int is_foreign(const mpiio_request *among) {
    return !among && mpiio_progress_everywhere();
}

/* Return a pending request of this library that must complete before the wait can end; NULL: none
 * is known.  All n handles (except MPI_REQUEST_NULL) must belong to this library, and the wait must
 * need all of them, or there must be only one. */
static mpiio_request *pending_request(mpiio_request *among, int n, const MPI_Request *requests,
                                      int needs_all) {
    mpiio_request *pending = NULL;
    int own = 0, all = 0;
    for (int i = 0; among && i < n; i++) all += requests[i] != MPI_REQUEST_NULL;
    for (mpiio_request *q = among; q; q = q->waited, own++)
        if (!pending && !mpiio_request_settled(q)) pending = q;
    return own == all && (needs_all || own == 1) ? pending : NULL;
}

/* Progress requests; if none completes, wait for the pending request, or pause if it is NULL.
 * During a wait for a request, messages of the program progress rarely. */
static void wait_or_pause(mpiio_request *pending, double *since) {
    if (mpiio_requests_progress() || (pending && mpiio_request_wait(pending))) return;
    mpiio_pause(since);
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Wait)(request, status);
    mpiio_request *among = mpiio_requests_among(1, request);
    if (is_foreign(among)) return MPIIO_REAL(Wait)(request, status);
    int code, flag = 0;
    double since = 0;
    for (mpiio_request *q; (q = pending_request(among, 1, request, 1)) != NULL;)
        wait_or_pause(q, &since);
    while ((code = MPIIO_REAL(Test)(request, &flag, status)) == MPI_SUCCESS && !flag)
        wait_or_pause(NULL, &since);
    return report_one(among, request, code);
}

int PMPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Waitany)(count, requests, index, status);
    mpiio_request *among = mpiio_requests_among(count, requests);
    if (is_foreign(among)) return MPIIO_REAL(Waitany)(count, requests, index, status);
    int code, flag = 0;
    double since = 0;
    while ((code = MPIIO_REAL(Testany)(count, requests, index, &flag, status)) == MPI_SUCCESS &&
           !flag)
        wait_or_pause(pending_request(among, count, requests, 0), &since);
    return report_one(among, requests, code);
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Waitall)(count, requests, statuses);
    mpiio_request *among = mpiio_requests_among(count, requests);
    if (is_foreign(among)) return MPIIO_REAL(Waitall)(count, requests, statuses);
    int code, flag = 0;
    double since = 0;
    for (mpiio_request *q; (q = pending_request(among, count, requests, 1)) != NULL;)
        wait_or_pause(q, &since);
    while ((code = MPIIO_REAL(Testall)(count, requests, &flag, statuses)) == MPI_SUCCESS && !flag)
        wait_or_pause(NULL, &since);
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE && code == MPI_SUCCESS; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS; /* like MPI_Waitall, unlike MPI_Testall */
    return report_all(among, requests, &(answer){count, NULL, statuses}, code);
}

int PMPI_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[]) {
    if (mpiio_requests_idle())
        return MPIIO_REAL(Waitsome)(incount, requests, outcount, indices, statuses);
    mpiio_request *among = mpiio_requests_among(incount, requests);
    if (is_foreign(among))
        return MPIIO_REAL(Waitsome)(incount, requests, outcount, indices, statuses);
    int code;
    double since = 0;
    while ((code = MPIIO_REAL(Testsome)(incount, requests, outcount, indices, statuses)) ==
               MPI_SUCCESS &&
           *outcount == 0)
        wait_or_pause(pending_request(among, incount, requests, 0), &since);
    return report_all(among, requests, &(answer){*outcount, indices, statuses}, code);
}

/* ---- testing */

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Test)(request, flag, status);
    mpiio_request *among = mpiio_requests_among(1, request);
    mpiio_requests_progress();
    return report_one(among, request, MPIIO_REAL(Test)(request, flag, status));
}

int PMPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Testany)(count, requests, index, flag, status);
    mpiio_request *among = mpiio_requests_among(count, requests);
    mpiio_requests_progress();
    return report_one(among, requests, MPIIO_REAL(Testany)(count, requests, index, flag, status));
}

int PMPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    if (mpiio_requests_idle()) return MPIIO_REAL(Testall)(count, requests, flag, statuses);
    mpiio_request *among = mpiio_requests_among(count, requests);
    mpiio_requests_progress();
    const int code = MPIIO_REAL(Testall)(count, requests, flag, statuses);
    return report_all(among, requests, &(answer){count, NULL, statuses}, code);
}

int PMPI_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[],
                  MPI_Status statuses[]) {
    if (mpiio_requests_idle())
        return MPIIO_REAL(Testsome)(incount, requests, outcount, indices, statuses);
    mpiio_request *among = mpiio_requests_among(incount, requests);
    mpiio_requests_progress();
    const int code = MPIIO_REAL(Testsome)(incount, requests, outcount, indices, statuses);
    return report_all(among, requests, &(answer){*outcount, indices, statuses}, code);
}

/* This call does not report errors of the request: the call that completes the request does. */
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    mpiio_requests_progress();
    return MPIIO_REAL(Request_get_status)(request, flag, status);
}

/* ---- names without P, for programs and tools */

MPIIO_EXPORT(Wait);
MPIIO_EXPORT(Waitany);
MPIIO_EXPORT(Waitall);
MPIIO_EXPORT(Waitsome);
MPIIO_EXPORT(Test);
MPIIO_EXPORT(Testany);
MPIIO_EXPORT(Testall);
MPIIO_EXPORT(Testsome);
MPIIO_EXPORT(Request_get_status);
