/* decomposition: numbers distributed by ranges.
 *
 * A sparse exchange of counts determines the ranks from which each rank gets records; afterwards
 * the sizes of all messages are known.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/directory.h"

#include <limits.h>
#include <string.h>

#include "base/sorted.h"
#include "comm/collective_count.h"
#include "comm/wait.h"
#include "decomposition/shares.h"
#include "decomposition/splitters.h"

#define RADIX_BITS 11
#define RADIX (1 << RADIX_BITS)

/* ---- radix sort, unless the numbers ascend already */

tutti__numbered *tutti__numbered_sort(tutti__numbered *v, tutti_count n, tutti__numbered *spare) {
    int64_t lo = INT64_MAX, hi = 0;
    int ascending = 1;
    for (tutti_count i = 0; i < n; i++) {
        lo = tutti__min(lo, v[i].number);
        hi = tutti__max(hi, v[i].number);
        ascending &= i == 0 || v[i - 1].number <= v[i].number;
    }
    if (ascending) return v;
    for (int shift = 0; shift < 63 && (hi - lo) >> shift; shift += RADIX_BITS) {
        tutti_count at[RADIX] = {0}, sum = 0;
        for (tutti_count i = 0; i < n; i++) at[(v[i].number - lo) >> shift & (RADIX - 1)]++;
        for (int d = 0; d < RADIX; d++) {
            const tutti_count count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (tutti_count i = 0; i < n; i++)
            spare[at[(v[i].number - lo) >> shift & (RADIX - 1)]++] = v[i];
        tutti__numbered *t = v;
        v = spare;
        spare = t;
    }
    return v;
}

tutti_err tutti__numbers_sort(tutti_count n, const int64_t *numbers, tutti__numbered **memory_out,
                              tutti__numbered **sorted_out, tutti_count *duplicate_out) {
    tutti__numbered *v = *memory_out = tutti__malloc(2 * (size_t)n * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) v[i] = (tutti__numbered){numbers[i], i};
    v = *sorted_out = tutti__numbered_sort(v, n, v + n);
    *duplicate_out = 0;
    for (tutti_count j = n - 1; j > 0; j--)
        if (v[j].number == v[j - 1].number) *duplicate_out = j;
    return TUTTI_OK;
}

/* ---- the directory */

static void free_partners(tutti__partners *p) {
    tutti__free(p->rank);
    tutti__free(p->start);
}

void tutti__directory_free(tutti__directory *d) {
    free_partners(&d->to);
    free_partners(&d->from);
    tutti__free(d->requests);
    *d = (tutti__directory){.ranks = 0};
}

tutti_err tutti__directory_fits(const tutti__directory *d) {
    for (int k = 0; k < d->to.n; k++)
        TUTTI_CHECK(d->to.start[k + 1] - d->to.start[k] <= INT_MAX, TUTTI_ERR_OVERFLOW,
                    "cannot send %lld records to one rank: at most %d are supported",
                    (long long)(d->to.start[k + 1] - d->to.start[k]), INT_MAX);
    return TUTTI_OK;
}

static tutti_err allocate_partners(int n, tutti__partners *out) {
    out->n = n;
    out->rank = tutti__malloc((size_t)n * sizeof *out->rank);
    out->start = tutti__calloc((size_t)n + 1, sizeof *out->start);
    return out->rank && out->start ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Find the ranks whose ranges contain numbers of this rank. */
static tutti_err find_receivers(const tutti__splitters *s, const int64_t *numbers,
                                tutti__directory *d) {
    tutti_count ranges = s->set_start[1];
    int n = 0;
    TUTTI_TRY(allocate_partners((int)tutti__min(ranges, d->n), &d->to));
    for (tutti_count i = 0, k = 0; i < d->n; k++) {
        k = k < ranges && s->start[k].first <= numbers[i] &&
                    (k + 1 == ranges || numbers[i] < s->start[k + 1].first)
                ? k
                : tutti__splitters_find(s, 0, numbers[i]);
        d->to.rank[n] = s->start[k].rank;
        i = k + 1 < ranges ? tutti__lower_bound(numbers, d->n, s->start[k + 1].first) : d->n;
        d->to.start[++n] = i;
    }
    d->to.n = n;
    return TUTTI_OK;
}

/* Send the numbers of records to the receivers, and get those of the senders.  Returns the error
 * code of this rank. */
static tutti_err exchange_counts(tutti__team *t, tutti_err local_err, tutti__directory *d) {
    tutti__sparse_message *out = NULL, *in = NULL;
    int64_t *counts = NULL;
    int n = 0;
    if (local_err == TUTTI_OK) {
        out = tutti__malloc((size_t)d->to.n * sizeof *out);
        counts = tutti__malloc((size_t)d->to.n * sizeof *counts);
        if (!out || !counts) local_err = TUTTI_ERR_NOMEM;
    }
    for (int k = 0; k < d->to.n && local_err == TUTTI_OK; k++) {
        counts[k] = d->to.start[k + 1] - d->to.start[k];
        out[k] = (tutti__sparse_message){d->to.rank[k], sizeof counts[k], &counts[k]};
    }
    local_err = tutti__exchange_if(t, local_err, d->to.n, out, &n, &in);
    tutti__free(out);
    tutti__free(counts);
    if (local_err == TUTTI_OK) local_err = allocate_partners(n, &d->from);
    for (int k = 0; k < n && local_err == TUTTI_OK; k++) {
        d->from.rank[k] = in[k].rank;
        d->from.start[k + 1] = d->from.start[k] + *(const int64_t *)in[k].data;
        d->m = d->from.start[k + 1];
    }
    tutti__sparse_free(n, &in);
    if (local_err != TUTTI_OK) return local_err;
    d->requests = tutti__malloc(((size_t)d->to.n + (size_t)n) * sizeof *d->requests);
    return d->requests ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__directory_make(tutti__team *t, tutti_err local_err, tutti_count n,
                                const int64_t *numbers, tutti__directory *out,
                                tutti_err *local_err_out) {
    tutti__directory d = {.ranks = t->size, .n = n};
    tutti__split split = {.set = {{n, numbers, sizeof *numbers}}};
    tutti__splitters s = {.sets = 0};
    tutti__splitting *splitting = NULL;
    if (local_err == TUTTI_OK) local_err = tutti__splitting_make(t, 0, 1, &splitting);
    tutti_err err = tutti__team_agree(t, local_err);
    if (err == TUTTI_OK) err = tutti__splitters_make(splitting, TUTTI_OK, &split, &s);
    if (err == TUTTI_OK) {
        d.first = s.first[0];
        d.end = s.end[0];
        *local_err_out = exchange_counts(t, find_receivers(&s, numbers, &d), &d);
        *out = d;
    }
    tutti__splitting_free(&splitting);
    tutti__splitters_free(&s);
    return err;
}

int tutti__directory_source(const tutti__directory *d, tutti_count i) {
    return d->from.rank[tutti__interval_of(d->from.start, d->from.n, i)];
}

tutti_count tutti__directory_index(const tutti__directory *d, tutti_count i) {
    return i - d->from.start[tutti__interval_of(d->from.start, d->from.n, i)];
}

tutti_count tutti__directory_sent_to(const tutti__directory *d, int rank) {
    for (int k = 0; k < d->to.n; k++)
        if (d->to.rank[k] == rank) return d->to.start[k];
    return d->n;
}

/* ---- records and answers */

/* Buffers of sent and of received records, with the partners. */
typedef struct {
    const char *out;
    const tutti__partners *to;
    char *in;
    const tutti__partners *from;
} buffers;

/* Return the index of the first partner that is not below this rank.  Ranks begin with different
 * partners, so that no rank gets all messages at once. */
static int first_partner(const tutti__partners *p, int rank) {
    int k = 0;
    while (k < p->n && p->rank[k] < rank) k++;
    return k;
}

static tutti_err exchange_records(tutti__team *t, const tutti__directory *d, int bytes, buffers p) {
    const int tag = tutti__team_tag(t), own = first_partner(p.from, t->rank);
    const int first = first_partner(p.to, t->rank);
    MPI_Datatype record;
    int n = 0, code = MPI_SUCCESS;
    TUTTI_MPI(MPI_Type_contiguous(bytes, MPI_BYTE, &record));
    TUTTI_MPI(MPI_Type_commit(&record));
    for (int i = 0; i < p.from->n && code == MPI_SUCCESS; i++) {
        const int k = (own + i) % p.from->n;
        const tutti_count at = p.from->start[k], count = p.from->start[k + 1] - at;
        if (p.from->rank[k] == t->rank) continue;
        code = MPI_Irecv(p.in + at * bytes, (int)count, record, p.from->rank[k], tag, t->comm,
                         &d->requests[n++]);
        tutti__received_add((size_t)(count * bytes));
    }
    for (int i = 0; i < p.to->n && code == MPI_SUCCESS; i++) {
        const int k = (first + i) % p.to->n;
        const tutti_count at = p.to->start[k], count = p.to->start[k + 1] - at;
        const char *out = p.out + at * bytes;
        if (p.to->rank[k] != t->rank) {
            code =
                MPI_Isend(out, (int)count, record, p.to->rank[k], tag, t->comm, &d->requests[n++]);
            continue;
        }
        memcpy(p.in + p.from->start[own] * bytes, out, (size_t)(count * bytes));
    }
    MPI_Type_free(&record);
    if (code != MPI_SUCCESS) return tutti__error_mpi(code, "MPI_Isend");
    return tutti__team_finish(n, d->requests);
}

tutti_err tutti__directory_send(tutti__team *t, const tutti__directory *d, int bytes,
                                const void *in, void *out) {
    return exchange_records(t, d, bytes, (buffers){in, &d->to, out, &d->from});
}

tutti_err tutti__directory_reply(tutti__team *t, const tutti__directory *d, int bytes,
                                 const void *in, void *out) {
    return exchange_records(t, d, bytes, (buffers){in, &d->from, out, &d->to});
}
