/* exchange: memory and windows of a team, created when its first file is opened, enlarged by
 * operations that need more, and freed with the team.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/staging.h"

#include <pthread.h>
#include <string.h>

enum { TEAMS_KEPT = 4 };

static atomic_int keepers; /* number of teams that keep their memory */

static void segments_drop(tutti__staging *s) {
    tutti__segment_drop(&s->segment[0]);
    tutti__segment_drop(&s->segment[1]);
    tutti__segment_drop(&s->spare);
    tutti__segment_drop(&s->aux);
    tutti__segment_drop(&s->kept);
    tutti__segment_drop(&s->consensus);
}

static void staging_drop(tutti__staging *s) {
    tutti__rma_windows_drop(&s->rma_windows);
    segments_drop(s);
    if (s->keeps == TUTTI__KEEPS) atomic_fetch_sub(&keepers, 1);
    tutti__free(s);
}

int64_t tutti__staging_keepers(void) {
    return atomic_load(&keepers);
}

void tutti__staging_decide(tutti__team *t, int64_t most) {
    if (t->staging->keeps != TUTTI__KEEPS_UNDECIDED) return;
    t->staging->keeps = most < TEAMS_KEPT ? TUTTI__KEEPS : TUTTI__KEEPS_LITTLE;
    if (t->staging->keeps == TUTTI__KEEPS) atomic_fetch_add(&keepers, 1);
}

void tutti__staging_trim(tutti__team *t, int shared, tutti_off bytes) {
    const int i = shared ? 0 : 1;
    if (t->staging->keeps != TUTTI__KEEPS_LITTLE || bytes <= TUTTI__KEPT_BYTES) return;
    tutti__segment_drop(&t->staging->segment[i]);
    t->staging->form[i].slots = 0;
}

void tutti__staging_release(tutti__team *t) {
    if (!t->staging || t->staging->keeps == TUTTI__KEEPS) return;
    segments_drop(t->staging);
    memset(t->staging->form, 0, sizeof t->staging->form);
    memset(&t->consensus, 0, sizeof t->consensus);
}

tutti_err tutti__staging_attach(tutti__team *t) {
    if (t->staging) return TUTTI_OK;
    t->staging = tutti__calloc(1, sizeof *t->staging);
    t->staging_drop = staging_drop;
    return t->staging ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* The old memory is freed only after the new memory has been allocated, because existing plans need
 * it if the allocation fails. */
tutti_err tutti__staging_ensure(tutti__team *t, int shared, size_t bytes) {
    tutti__segment *s = &t->staging->segment[shared ? 0 : 1], fresh = {NULL, 0, 0};
    if (s->bytes >= bytes) return TUTTI_OK;
    TUTTI_TRY(tutti__segment_make(t, shared, bytes, &fresh));
    tutti__segment_drop(s);
    *s = fresh;
    return TUTTI_OK;
}

/* ---- memory of plans */

void tutti__staging_spare(tutti__team *t, tutti__segment *s) {
    tutti__segment_drop(&t->staging->spare);
    if (t->staging->keeps != TUTTI__KEEPS) return;
    t->staging->spare = *s;
    memset(s, 0, sizeof *s);
}

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

tutti_err tutti__staging_borrow(tutti__team *t, size_t bytes, tutti__segment *out) {
    tutti__segment s = {NULL, 0, 0};
    if (bytes > 0) {
        pthread_mutex_lock(&kept_lock);
        s = t->staging->kept;
        memset(&t->staging->kept, 0, sizeof t->staging->kept);
        pthread_mutex_unlock(&kept_lock);
    }
    /* a segment that is too small, or more than twice the required size, is not reused */
    if (s.bytes < bytes || s.bytes / 2 > bytes) tutti__segment_drop(&s);
    if (!s.base) s = (tutti__segment){tutti__malloc_aligned(4096, bytes), bytes, 0};
    if (!s.base) return TUTTI_ERR_NOMEM;
    *out = s;
    return TUTTI_OK;
}

void tutti__staging_return(tutti__team *t, tutti__segment *s) {
    if (t) {
        pthread_mutex_lock(&kept_lock);
        tutti__segment *kept = &t->staging->kept;
        const int fits = t->staging->keeps == TUTTI__KEEPS || s->bytes <= TUTTI__KEPT_BYTES;
        if (s->bytes > kept->bytes && fits) {
            const tutti__segment larger = *s;
            *s = *kept;
            *kept = larger;
        }
        pthread_mutex_unlock(&kept_lock);
    }
    tutti__segment_drop(s);
}
