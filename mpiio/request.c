/* mpiio: requests of the program for operations of Tutti.
 *
 *   make       MPI_Grequest_start, before the operation starts, since later steps cannot fail on a
 *              single rank
 *   progress   tutti_request_test for pending requests, MPI_Grequest_complete for complete requests
 *   query_fn   sets the bytes in the status
 *   free_fn    the MPI library no longer uses the request
 *
 * Tutti executes its operations inside of tutti_request_test, and operations call MPI, which may
 * call the progress function of this file again; a nested call has no effect.  Only one thread at a
 * time progresses requests; operations of a file in use by another thread progress in that thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "request_impl.h"

enum { OTHERS = 2 };

/* Held while requests are tested and removed from the list of pending requests. */
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static mpiio_request *cursor; /* next request to test; NULL: start of the list */
static int many_threads;      /* whether the thread level is MPI_THREAD_MULTIPLE */

/* ---- enter and leave Tutti */

void mpiio_enter(mpiio_file *f) {
    if (f) pthread_mutex_lock(&f->lock);
    mpiio_depth++;
}

void mpiio_leave(mpiio_file *f) {
    mpiio_depth--;
    if (f) pthread_mutex_unlock(&f->lock);
}

/* ---- callbacks of the MPI library */

static int request_query(void *state, MPI_Status *status) {
    const mpiio_request *q = state;
    PMPI_Status_set_elements_x(status, MPI_BYTE, mpiio_request_settled(q) ? q->bytes : 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int request_free(void *state) {
    mpiio_request_drop_handle(state);
    return MPI_SUCCESS;
}

/* Requests are not cancelled, but completed. */
static int request_cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* ---- progress */

/* Test a request, and wait at most `seconds` for it; return 1 if it is complete now. */
static int move_on(mpiio_request *q, double seconds) {
    tutti_off bytes = 0;
    int done = 0;
    const tutti_err outcome = tutti_request_wait_for(&q->tutti, seconds, &done, &bytes);
    if (!done) return 0;
    if (outcome != TUTTI_OK && q->handle != MPI_REQUEST_NULL) {
        q->code = mpiio_class_of(outcome, tutti_last_error());
        q->message = strdup(tutti_last_message());
        bytes = 0;
    }
    q->bytes = q->done ? q->done(q->context, outcome, bytes) : bytes;
    atomic_store_explicit(&q->settled, 1, memory_order_release);
    if (cursor == q) cursor = mpiio_request_after(q);
    mpiio_request_arrived(q);
    if (q->handle != MPI_REQUEST_NULL) PMPI_Grequest_complete(q->handle);
    mpiio_request_let_go(q);
    return 1;
}

/* Test some requests.  A test of an incomplete operation progresses all operations of Tutti, so a
 * few tests are sufficient: the oldest requests, which should complete first, and some other
 * requests, cyclically. */
static int move_some_on(void) {
    int completed = 0;
    mpiio_request *q = mpiio_request_after(NULL);
    for (mpiio_request *next; q; q = next) {
        next = mpiio_request_after(q);
        if (!move_on(q, 0)) break;
        completed = 1;
    }
    for (int misses = 0; q && misses < OTHERS;) {
        mpiio_request *other = cursor ? cursor : mpiio_request_after(q);
        if (!other) break;
        cursor = mpiio_request_after(other);
        if (other != q && move_on(other, 0))
            completed = 1;
        else
            misses++;
    }
    return completed;
}

/* Acquire the lock and enter Tutti; return 0 if another thread has the lock, this thread is in
 * Tutti, or there are no requests. */
static int begin_moves(void) {
    if (mpiio_requests_idle() || pthread_mutex_trylock(&progress_lock) != 0) return 0;
    mpiio_depth++;
    return 1;
}

static void end_moves(int saved_errno) {
    mpiio_depth--;
    pthread_mutex_unlock(&progress_lock);
    errno = saved_errno;
}

int mpiio_requests_progress(void) {
    const int saved_errno = errno;
    if (!begin_moves()) return 0;
    const int completed = move_some_on();
    end_moves(saved_errno);
    return completed;
}

int mpiio_request_wait(mpiio_request *q) {
    /* other threads may need the lock */
    const double most = many_threads ? 1e-4 : 1e-2;
    const int saved_errno = errno;
    if (!begin_moves()) return 0;
    if (!mpiio_request_settled(q)) (void)move_on(q, most);
    end_moves(saved_errno);
    return 1;
}

/* ---- end of a file, and of MPI */

void mpiio_requests_settle(mpiio_file *f) {
    if (mpiio_requests_idle()) return;
    for (double since = 0; mpiio_requests_under_way(f);)
        if (!mpiio_requests_progress()) mpiio_pause(&since);
    mpiio_requests_forget(f);
}

/* Pending requests remain incomplete, since waiting is no longer possible. */
void mpiio_requests_end(void) {
    mpiio_progress_end();
    atomic_store(&mpiio_requests_alive, INT_MIN / 2);
}

/* ---- new requests */

static void begin_progress(void) {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    many_threads = level == MPI_THREAD_MULTIPLE;
    mpiio_progress_begin(mpiio_requests_progress);
}

mpiio_request *mpiio_request_new(mpiio_file *f) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_progress);
    mpiio_request *q = calloc(1, sizeof *q);
    if (q) *q = (mpiio_request){.file = f, .handle = MPI_REQUEST_NULL, .index = -1};
    return q;
}

int mpiio_request_handle(mpiio_request *q) {
    if (!q) return mpiio_complain(MPI_ERR_NO_MEM, "cannot allocate a request");
    if (PMPI_Grequest_start(request_query, request_free, request_cancel, q, &q->handle) ==
        MPI_SUCCESS)
        return MPI_SUCCESS;
    q->handle = MPI_REQUEST_NULL;
    return mpiio_complain(MPI_ERR_NO_MEM, "the MPI library cannot create a generalized request");
}

MPI_Request mpiio_request_go(mpiio_request *q, tutti_request *r, mpiio_done_fn *done,
                             void *context) {
    q->tutti = r;
    q->done = done;
    q->context = context;
    mpiio_request_add(q);
    return q->handle;
}

/* A handle is released by completing the request: then the MPI library calls request_free. */
void mpiio_request_drop(mpiio_request *q) {
    if (!q || q->handle == MPI_REQUEST_NULL) {
        free(q);
        return;
    }
    MPI_Request handle = q->handle;
    q->references = 1;
    atomic_fetch_add(&mpiio_requests_alive, 1);
    PMPI_Grequest_complete(handle);
    PMPI_Request_free(&handle);
}
