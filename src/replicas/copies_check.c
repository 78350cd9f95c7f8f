/* replicas: bitwise comparison of all copies of an item.
 *
 * Every rank sends a hash of each item that other ranks also hold to the rank of the item's range,
 * which compares the hashes.  A difference in one word always changes the hash; differences in
 * several words cancel with a probability of 2^-64.  For the lowest item with a difference, the
 * lowest holder sends its values to the first holder that differs, which finds the value and
 * reports the error.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

#include <stdio.h>
#include <string.h>

#include "comm/wait.h"

static uint64_t mix_word(uint64_t h, uint64_t w) {
    h = (h ^ w) * 0x9fb21c651e98df25u;
    return h ^ (h >> 32);
}

static const char *item_at(const tutti_replicas *r, const void *buf, tutti_count i) {
    return (const char *)buf + tutti__replicas_memory(r, i);
}

/* An item and two of its holders.  An entry is the index of the item among those that the holder
 * sent to the range. */
typedef struct {
    int64_t number; /* INT64_MAX: none */
    int64_t range;  /* rank that found the difference */
    int64_t rank[2], entry[2];
} difference;
enum { WORDS = sizeof(difference) / sizeof(int64_t) };

/* Find the first difference in the range of this rank. */
static difference find_difference(const tutti__team *t, const tutti_replicas *r,
                                  const uint64_t *received) {
    const tutti__shared_items *s = &r->shared;
    const tutti__directory *d = &r->directory;
    for (tutti_count k = 0; k < s->n; k++) {
        const tutti_count a = s->mention[s->start[k]];
        for (tutti_count j = s->start[k] + 1; j < s->start[k + 1]; j++) {
            const tutti_count b = s->mention[j];
            if (received[b] == received[a]) continue;
            const int ra = tutti__directory_source(d, a), rb = tutti__directory_source(d, b);
            return (difference){s->number[k],
                                t->rank,
                                {ra, rb},
                                {tutti__directory_index(d, a), tutti__directory_index(d, b)}};
        }
    }
    return (difference){.number = INT64_MAX};
}

/* Return the index on this rank of the item of a difference; this rank is d->rank[which]. */
static tutti_count differing_item(const tutti_replicas *r, const difference *d, int which) {
    return tutti__replicas_item(r, tutti__directory_sent_to(&r->directory, (int)d->range) +
                                       d->entry[which]);
}

/* ---- the value that differs */

enum { CHUNK = 16 << 10 };

/* Format bytes like "40 09 21 fb 54 44 2d 18". */
static const char *print_bytes(const char *v, tutti_off bytes, char *text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (tutti_off i = 0; i < tutti__min(bytes, 16); i++)
        at += (size_t)snprintf(text + at, size - at, i > 0 ? " %02x" : "%02x", (unsigned char)v[i]);
    if (bytes > 16) snprintf(text + at, size - at, " ...");
    return text;
}

/* Return the maximum size of a message: complete values, unless a value is larger than CHUNK. */
static tutti_off chunk_bytes(tutti_off value_bytes) {
    return value_bytes <= CHUNK ? CHUNK / value_bytes * value_bytes : CHUNK;
}

static tutti_err send_values(tutti__team *t, const tutti_replicas *r, const difference *d, int tag,
                             const void *buf) {
    const tutti_count i = differing_item(r, d, 0);
    const tutti_off all = tutti__replicas_size(r, i), step = chunk_bytes(r->value_bytes);
    for (tutti_off at = 0; at < all; at += step) {
        MPI_Request q;
        TUTTI_MPI(MPI_Isend(item_at(r, buf, i) + at, (int)tutti__min(step, all - at), MPI_BYTE,
                            (int)d->rank[1], tag, t->comm, &q));
        TUTTI_TRY(tutti__team_finish(1, &q));
    }
    return TUTTI_OK;
}

/* Receive the values of the other holder and compare; the error becomes the error of all ranks. */
static tutti_err compare_values(tutti__team *t, const tutti_replicas *r, const difference *d,
                                int tag, const void *buf) {
    const tutti_count i = differing_item(r, d, 1);
    const tutti_off all = tutti__replicas_size(r, i), step = chunk_bytes(r->value_bytes);
    const tutti_off vb = r->value_bytes;
    const char *local = item_at(r, buf, i);
    char theirs[CHUNK], a[64] = "?", b[64] = "?";
    tutti_off value = -1;
    for (tutti_off at = 0; at < all; at += step) {
        const tutti_off n = tutti__min(step, all - at);
        MPI_Request q;
        TUTTI_MPI(MPI_Irecv(theirs, (int)n, MPI_BYTE, (int)d->rank[0], tag, t->comm, &q));
        TUTTI_TRY(tutti__team_finish(1, &q));
        if (value >= 0 || memcmp(theirs, local + at, (size_t)n) == 0) continue;
        tutti_off k = 0;
        while (theirs[k] == local[at + k]) k++;
        value = (at + k) / vb;
        if (vb <= CHUNK) k -= k % vb; /* otherwise the bytes start at the difference */
        print_bytes(theirs + k, tutti__min(vb, n - k), a, sizeof a);
        print_bytes(local + at + k, tutti__min(vb, n - k), b, sizeof b);
    }
    tutti__error_record(TUTTI_ERR_MISMATCH, 0, -1,
                        "copies of item %lld differ in value %lld: bytes %s on rank %lld, %s on "
                        "rank %lld",
                        (long long)d->number, (long long)value, a, (long long)d->rank[0], b,
                        (long long)d->rank[1]);
    tutti__error_context(NULL, NULL, (int)d->rank[0]);
    return TUTTI_ERR_MISMATCH;
}

/* ---- the comparison */

static tutti_err compare_hashes(tutti__team *t, const tutti_replicas *r, const void *buf,
                                uint64_t *local, uint64_t *received) {
    for (tutti_count j = 0; j < r->n; j++) {
        const tutti_count i = tutti__replicas_item(r, j);
        tutti_off bytes = tutti__replicas_size(r, i); /* if it is 0, `buf` may be NULL */
        if (!r->copied[i]) bytes = 0;
        const char *p = bytes > 0 ? item_at(r, buf, i) : NULL;
        uint64_t w = 0;
        local[j] = (uint64_t)bytes;
        for (; bytes >= 8; bytes -= 8, p += 8) {
            memcpy(&w, p, 8);
            local[j] = mix_word(local[j], w);
        }
        w = 0;
        if (bytes > 0) memcpy(&w, p, (size_t)bytes);
        local[j] = mix_word(local[j], w);
    }
    TUTTI_TRY(tutti__directory_send(t, &r->directory, (int)sizeof *local, local, received));
    difference d = find_difference(t, r, received);
    /* Find the lowest number of all ranges; exactly one range has found the difference in this
     * item. */
    const int64_t found = d.number;
    MPI_Request q;
    int64_t lowest = 0;
    TUTTI_MPI(MPI_Iallreduce(&found, &lowest, 1, MPI_INT64_T, MPI_MIN, t->comm, &q));
    TUTTI_TRY(tutti__team_finish(1, &q));
    if (found != lowest) d = (difference){.number = -1};
    TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, &d, WORDS, MPI_INT64_T, MPI_MAX, t->comm, &q));
    TUTTI_TRY(tutti__team_finish(1, &q));
    if (d.number == INT64_MAX) return TUTTI_OK;
    const int tag = tutti__team_tag(t);
    tutti_err err = TUTTI_OK;
    if (t->rank == d.rank[0]) err = send_values(t, r, &d, tag, buf);
    if (t->rank == d.rank[1]) err = compare_values(t, r, &d, tag, buf);
    return tutti__team_agree(t, err);
}

tutti_err tutti__copies_check(tutti__team *t, const tutti_replicas *r, const void *buf) {
    uint64_t *local = tutti__malloc((size_t)r->n * sizeof *local);
    uint64_t *received = tutti__malloc((size_t)r->directory.m * sizeof *received);
    tutti_err err = tutti__team_agree(t, local && received ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) err = compare_hashes(t, r, buf, local, received);
    tutti__free(local);
    tutti__free(received);
    return err;
}
