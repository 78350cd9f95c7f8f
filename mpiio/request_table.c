/* mpiio: a table of requests by handles of the MPI library, and a list of pending requests in the
 * order of their start.
 *
 * The table is exact: a handle is in it from Grequest_start until the MPI library calls free_fn,
 * which may reuse the handle afterwards.  A waiting call finds the requests of its handles before
 * it passes the handles to the MPI library, and keeps references until it has reported the outcome.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdlib.h>

#include "request_impl.h"

enum { BUCKETS = 1024 };

atomic_int mpiio_requests_alive;
_Thread_local int mpiio_depth;

/* Protects the following variables, and `references`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mpiio_request *table[BUCKETS];
static mpiio_request *first, **end = &first;

/* ---- functions that require the lock */

static mpiio_request **request_bucket(MPI_Request handle) {
    const uint64_t mixed = (uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u;
    return &table[mixed >> 54];
}

static void release_entry(mpiio_request *q) {
    if (--q->references > 0) return;
    free(q->message);
    free(q);
    atomic_fetch_sub(&mpiio_requests_alive, 1);
}

/* ---- addition and removal */

void mpiio_request_add(mpiio_request *q) {
    pthread_mutex_lock(&lock);
    q->references = 1;
    if (q->handle != MPI_REQUEST_NULL) {
        mpiio_request **bucket = request_bucket(q->handle);
        q->chained = *bucket;
        *bucket = q;
        q->references = 2;
    }
    q->next = NULL;
    *end = q;
    end = &q->next;
    q->file->requests++;
    atomic_fetch_add(&mpiio_requests_alive, 1);
    pthread_mutex_unlock(&lock);
}

void mpiio_request_drop_handle(mpiio_request *q) {
    pthread_mutex_lock(&lock);
    mpiio_request **at = request_bucket(q->handle);
    while (*at && *at != q) at = &(*at)->chained;
    if (*at) *at = q->chained;
    release_entry(q);
    pthread_mutex_unlock(&lock);
}

void mpiio_request_arrived(mpiio_request *q) {
    pthread_mutex_lock(&lock);
    mpiio_request **at = &first;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    if (!*at) end = at;
    q->file->requests--;
    pthread_mutex_unlock(&lock);
}

void mpiio_request_let_go(mpiio_request *q) {
    pthread_mutex_lock(&lock);
    release_entry(q);
    pthread_mutex_unlock(&lock);
}

/* ---- queries */

mpiio_request *mpiio_request_after(const mpiio_request *q) {
    pthread_mutex_lock(&lock);
    mpiio_request *next = q ? q->next : first;
    pthread_mutex_unlock(&lock);
    return next;
}

int mpiio_requests_under_way(const mpiio_file *f) {
    pthread_mutex_lock(&lock);
    const int n = f->requests;
    pthread_mutex_unlock(&lock);
    return n;
}

void mpiio_requests_forget(const mpiio_file *f) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        for (mpiio_request *q = table[i]; q; q = q->chained)
            if (q->file == f) q->file = NULL;
    pthread_mutex_unlock(&lock);
}

/* ---- requests of a waiting call */

mpiio_request *mpiio_requests_among(int n, const MPI_Request *handles) {
    mpiio_request *among = NULL;
    if (!handles) return NULL;
    pthread_mutex_lock(&lock);
    for (int i = n - 1; i >= 0; i--) {
        mpiio_request *q = handles[i] == MPI_REQUEST_NULL ? NULL : *request_bucket(handles[i]);
        while (q && q->handle != handles[i]) q = q->chained;
        if (!q || q->index >= 0) continue;
        MPIIO_ASSERT(mpiio_request_is_valid(q), "request");
        q->references++;
        q->index = i;
        q->waited = among;
        among = q;
    }
    pthread_mutex_unlock(&lock);
    return among;
}

void mpiio_requests_release(mpiio_request *among) {
    if (!among) return;
    pthread_mutex_lock(&lock);
    for (mpiio_request *q = among, *next; q; q = next) {
        next = q->waited;
        MPIIO_ASSERT(mpiio_request_is_valid(q), "request");
        q->index = -1;
        release_entry(q);
    }
    pthread_mutex_unlock(&lock);
}
