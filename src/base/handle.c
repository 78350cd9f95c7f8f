/* base: a hash table of live handles, chained through the objects themselves, so that adding an
 * object allocates no memory and cannot fail.  Neighbouring buckets have different locks: threads
 * that create and free accesses rarely contend.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/handle.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { BUCKETS_LOG = 12, BUCKETS = 1 << BUCKETS_LOG, LOCKS = 64 };

static tutti__handle *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

static size_t bucket_of(const void *h) {
    return (size_t)(((uint64_t)(uintptr_t)h * 0x9e3779b97f4a7c15u) >> (64 - BUCKETS_LOG));
}

void tutti__handle_add(tutti__handle *h, const tutti__class *class) {
    const size_t b = bucket_of(h);
    pthread_mutex_lock(&locks[b % LOCKS]);
    h->class = class;
    h->next = buckets[b];
    h->at = &buckets[b];
    if (h->next) h->next->at = &h->next;
    buckets[b] = h;
    pthread_mutex_unlock(&locks[b % LOCKS]);
}

void tutti__handle_remove(tutti__handle *h) {
    const size_t b = bucket_of(h);
    pthread_mutex_lock(&locks[b % LOCKS]);
    if (h->at) {
        *h->at = h->next;
        if (h->next) h->next->at = h->at;
        h->at = NULL;
    }
    pthread_mutex_unlock(&locks[b % LOCKS]);
}

int tutti__handle_alive(const void *object, const tutti__class *class) {
    const tutti__handle *h = object;
    const size_t b = bucket_of(h);
    pthread_mutex_lock(&locks[b % LOCKS]);
    const tutti__handle *found = buckets[b];
    while (found && found != h) found = found->next;
    const int alive = found && found->class == class;
    pthread_mutex_unlock(&locks[b % LOCKS]);
    return alive;
}

tutti_err tutti__handle_check(const void *object, const tutti__class *class) {
    TUTTI_CHECK(object != NULL, TUTTI_ERR_ARG, "%s handle is NULL", class->noun);
    TUTTI_CHECK(tutti__handle_alive(object, class), TUTTI_ERR_STATE,
                "%s handle is stale: the %s has been %s", class->noun, class->noun, class->ended);
    return TUTTI_OK;
}

const tutti__handle *tutti__handle_search(const tutti__class *class,
                                          int (*is)(const tutti__handle *h, const void *context),
                                          const void *context) {
    const tutti__handle *found = NULL;
    for (size_t b = 0; b < BUCKETS && !found; b++) {
        pthread_mutex_lock(&locks[b % LOCKS]);
        for (found = buckets[b]; found; found = found->next)
            if (found->class == class && is(found, context)) break;
        pthread_mutex_unlock(&locks[b % LOCKS]);
    }
    return found;
}
