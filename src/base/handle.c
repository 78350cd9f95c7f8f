/* base: a table of addresses, chained through the objects themselves, so that listing one needs
 * no memory
 * and cannot fail.  Neighbouring buckets have different locks: threads that make and free accesses
 * seldom meet.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/handle.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { BUCKETS_LOG = 12, BUCKETS = 1 << BUCKETS_LOG, LOCKS = 64 };

static tutti__handle *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

static size_t bucket_of(const tutti__handle *h) {
    return (size_t)(((uint64_t)(uintptr_t)h * 0x9e3779b97f4a7c15u) >> (64 - BUCKETS_LOG));
}

void tutti__handle_add(tutti__handle *h, tutti__kind kind) {
    const size_t b = bucket_of(h);
    pthread_mutex_lock(&locks[b % LOCKS]);
    h->kind = kind;
    h->next = buckets[b];
    h->at = &buckets[b];
    if (h->next) h->next->at = &h->next;
    buckets[b] = h;
    pthread_mutex_unlock(&locks[b % LOCKS]);
}

void tutti__handle_remove(tutti__handle *h) {
    const size_t b = bucket_of(h);
    pthread_mutex_lock(&locks[b % LOCKS]);
    if (h->kind != TUTTI__NO_HANDLE) {
        *h->at = h->next;
        if (h->next) h->next->at = h->at;
        h->kind = TUTTI__NO_HANDLE;
    }
    pthread_mutex_unlock(&locks[b % LOCKS]);
}

int tutti__handle_alive(const tutti__handle *h, tutti__kind kind) {
    const size_t b = bucket_of(h);
    pthread_mutex_lock(&locks[b % LOCKS]);
    const tutti__handle *found = buckets[b];
    while (found && found != h) found = found->next;
    const int alive = found && found->kind == kind;
    pthread_mutex_unlock(&locks[b % LOCKS]);
    return alive;
}

const tutti__handle *tutti__handle_search(tutti__kind kind,
                                          int (*is)(const tutti__handle *h, const void *context),
                                          const void *context) {
    const tutti__handle *found = NULL;
    for (size_t b = 0; b < BUCKETS && !found; b++) {
        pthread_mutex_lock(&locks[b % LOCKS]);
        for (found = buckets[b]; found; found = found->next)
            if (found->kind == kind && is(found, context)) break;
        pthread_mutex_unlock(&locks[b % LOCKS]);
    }
    return found;
}
