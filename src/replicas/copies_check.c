/* replicas: do all copies of an item agree, bit by bit?
 *
 * Every rank sends a hash of each item that others hold too to the rank of the item's range, which
 * compares.  One word that differs always changes the hash; several do but for one case in 2^64.
 * Of the lowest item with a difference the lowest holder sends its values to the first one that
 * has others, and that one finds the value and tells all.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

#include <stdio.h>
#include <string.h>

#include "comm/wait.h"

static uint64_t word(uint64_t h, uint64_t w) {
    h = (h ^ w) * 0x9fb21c651e98df25u;
    return h ^ (h >> 32);
}

static uint64_t item_hash(const char *p, tutti_off bytes) {
    uint64_t h = (uint64_t)bytes, w = 0;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&w, p, 8);
        h = word(h, w);
    }
    w = 0;
    memcpy(&w, p, (size_t)bytes);
    return word(h, w);
}

static const char *item_at(const tutti_replicas *r, const void *buf, tutti_count i) {
    return (const char *)buf + tutti__replicas_memory(r, i);
}

/* Which item, and which two of its holders.  A place is that of the item among those that the
 * holder has mentioned to the range. */
typedef struct {
    int64_t number; /* INT64_MAX: none */
    int64_t range;  /* the rank that found it */
    int64_t rank[2], place[2];
} difference;
enum { WORDS = sizeof(difference) / sizeof(int64_t) };

/* The first one in this range. */
static difference find(const tutti__team *t, const tutti_replicas *r, const uint64_t *came) {
    const tutti__shared_items *s = &r->shared;
    const tutti__directory *d = &r->directory;
    for (tutti_count k = 0; k < s->n; k++) {
        const tutti_count a = s->mention[s->start[k]];
        for (tutti_count j = s->start[k] + 1; j < s->start[k + 1]; j++) {
            const tutti_count b = s->mention[j];
            if (came[b] == came[a]) continue;
            const int ra = tutti__directory_source(d, a), rb = tutti__directory_source(d, b);
            return (difference){
                s->number[k], t->rank, {ra, rb}, {a - d->from[ra], b - d->from[rb]}};
        }
    }
    return (difference){.number = INT64_MAX};
}

/* The lowest of all ranges, on all ranks.  A number has one range. */
static tutti_err find_lowest(tutti__team *t, difference *d) {
    const int64_t mine = d->number;
    MPI_Request r;
    int64_t lowest = 0;
    TUTTI_MPI(MPI_Iallreduce(&mine, &lowest, 1, MPI_INT64_T, MPI_MIN, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    if (mine != lowest) *d = (difference){.number = -1};
    TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, d, WORDS, MPI_INT64_T, MPI_MAX, t->comm, &r));
    return tutti__team_finish(1, &r);
}

/* This rank's item that is meant, if it is one of the two. */
static tutti_count item_of(const tutti_replicas *r, const difference *d, int which) {
    return tutti__replicas_item(r, r->directory.to[d->range] + d->place[which]);
}

/* ---- the value that differs */

enum { PIECE = 16 << 10 };

/* "40 09 21 fb 54 44 2d 18" */
static const char *bytes_text(const char *v, tutti_off bytes, char *text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (tutti_off i = 0; i < tutti__min(bytes, 16); i++)
        at += (size_t)snprintf(text + at, size - at, i > 0 ? " %02x" : "%02x", (unsigned char)v[i]);
    if (bytes > 16) snprintf(text + at, size - at, " ...");
    return text;
}

/* The lowest holder sends its values, in pieces of whole ones unless they are long. */
static tutti_off piece_bytes(tutti_off value_bytes) {
    return value_bytes <= PIECE ? PIECE / value_bytes * value_bytes : PIECE;
}

static tutti_err show(tutti__team *t, const tutti_replicas *r, const difference *d, int tag,
                      const void *buf) {
    const tutti_count i = item_of(r, d, 0);
    const tutti_off all = tutti__replicas_size(r, i), step = piece_bytes(r->value_bytes);
    for (tutti_off at = 0; at < all; at += step) {
        MPI_Request q;
        TUTTI_MPI(MPI_Isend(item_at(r, buf, i) + at, (int)tutti__min(step, all - at), MPI_BYTE,
                            (int)d->rank[1], tag, t->comm, &q));
        TUTTI_TRY(tutti__team_finish(1, &q));
    }
    return TUTTI_OK;
}

/* The other one compares, and has the error that all will have. */
static tutti_err compare(tutti__team *t, const tutti_replicas *r, const difference *d, int tag,
                         const void *buf) {
    const tutti_count i = item_of(r, d, 1);
    const tutti_off all = tutti__replicas_size(r, i), step = piece_bytes(r->value_bytes);
    const tutti_off vb = r->value_bytes;
    const char *mine = item_at(r, buf, i);
    char theirs[PIECE], a[64] = "?", b[64] = "?";
    tutti_off value = -1;
    for (tutti_off at = 0; at < all; at += step) {
        const tutti_off n = tutti__min(step, all - at);
        MPI_Request q;
        TUTTI_MPI(MPI_Irecv(theirs, (int)n, MPI_BYTE, (int)d->rank[0], tag, t->comm, &q));
        TUTTI_TRY(tutti__team_finish(1, &q));
        if (value >= 0 || memcmp(theirs, mine + at, (size_t)n) == 0) continue;
        tutti_off k = 0;
        while (theirs[k] == mine[at + k]) k++;
        value = (at + k) / vb;
        if (vb <= PIECE) k -= k % vb; /* otherwise from the difference on */
        bytes_text(theirs + k, tutti__min(vb, n - k), a, sizeof a);
        bytes_text(mine + at + k, tutti__min(vb, n - k), b, sizeof b);
    }
    tutti__error_record(TUTTI_ERR_MISMATCH, 0, -1,
                        "copies of item %lld differ in value %lld: bytes %s on rank %lld, %s on "
                        "rank %lld",
                        (long long)d->number, (long long)value, a, (long long)d->rank[0], b,
                        (long long)d->rank[1]);
    tutti__error_context(NULL, NULL, (int)d->rank[0]);
    return TUTTI_ERR_MISMATCH;
}

/* ---- all of it */

static tutti_err hashes_compare(tutti__team *t, const tutti_replicas *r, const void *buf,
                                uint64_t *mine, uint64_t *came) {
    for (tutti_count j = 0; j < r->n; j++) {
        const tutti_count i = tutti__replicas_item(r, j);
        const tutti_off bytes = tutti__replicas_size(r, i); /* 0: there need not be a buffer */
        mine[j] = r->copied[i] && bytes > 0 ? item_hash(item_at(r, buf, i), bytes) : 0;
    }
    TUTTI_TRY(tutti__directory_send(t, &r->directory, (int)sizeof *mine, mine, came));
    difference d = find(t, r, came);
    TUTTI_TRY(find_lowest(t, &d));
    if (d.number == INT64_MAX) return TUTTI_OK;
    const int tag = tutti__team_tag(t);
    tutti_err err = TUTTI_OK;
    if (t->rank == d.rank[0]) err = show(t, r, &d, tag, buf);
    if (t->rank == d.rank[1]) err = compare(t, r, &d, tag, buf);
    return tutti__team_agree(t, err);
}

tutti_err tutti__copies_check(tutti__team *t, const tutti_replicas *r, const void *buf) {
    uint64_t *mine = tutti__malloc((size_t)r->n * sizeof *mine);
    uint64_t *came = tutti__malloc((size_t)r->directory.m * sizeof *came);
    tutti_err err = tutti__team_agree(t, mine && came ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) err = hashes_compare(t, r, buf, mine, came);
    tutti__free(mine);
    tutti__free(came);
    return err;
}
