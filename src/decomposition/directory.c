/* replicas: dealing out numbers by ranges.
 *
 * Where ranges are cut is found by sampling: all ranks' numbers, one rank's after the other's, are
 * divided into equal stretches, 64 for each rank, and one number out of each is told to all.  The
 * numbers may cluster, and may be all on one rank: ranges follow the samples.  Splitters are sorted
 * samples, the same on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/directory.h"

#include <limits.h>
#include <string.h>

#include "comm/wait.h"

enum { SAMPLES = 64 }; /* for each rank */

#define RADIX_BITS 11
#define RADIX (1 << RADIX_BITS)

/* ---- sorting: by digits, unless they are in order already */

static void radix_pass(const tutti__numbered *v, tutti_count n, int64_t base, int shift,
                       tutti__numbered *w) {
    tutti_count at[RADIX] = {0}, sum = 0;
    for (tutti_count i = 0; i < n; i++) at[(v[i].number - base) >> shift & (RADIX - 1)]++;
    for (int d = 0; d < RADIX; d++) {
        const tutti_count count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (tutti_count i = 0; i < n; i++) w[at[(v[i].number - base) >> shift & (RADIX - 1)]++] = v[i];
}

tutti__numbered *tutti__numbered_sort(tutti__numbered *v, tutti_count n, tutti__numbered *room) {
    int64_t lo = INT64_MAX, hi = 0;
    int rising = 1;
    for (tutti_count i = 0; i < n; i++) {
        lo = tutti__min(lo, v[i].number);
        hi = tutti__max(hi, v[i].number);
        rising &= i == 0 || v[i - 1].number <= v[i].number;
    }
    if (rising) return v;
    for (int shift = 0; shift < 63 && (hi - lo) >> shift; shift += RADIX_BITS) {
        radix_pass(v, n, lo, shift, room);
        tutti__numbered *t = v;
        v = room;
        room = t;
    }
    return v;
}

/* ---- splitters */

/* The place of sample s of m among n numbers: somewhere in its stretch, so that no pattern of the
 * numbers can keep step with the samples. */
static tutti_count sample_place(tutti_count s, tutti_count m, tutti_count n) {
    const double width = (double)n / (double)m;
    const double shift = (double)(((uint64_t)s * 0x9e3779b97f4a7c15u) >> 40) / 0x1p24;
    return tutti__min((tutti_count)(((double)s + shift) * width), n - 1);
}

/* What sampling needs, allocated beforehand. */
typedef struct {
    int64_t *counts;           /* [ranks] numbers of each */
    int *many, *where;         /* [ranks] samples of each, and where they begin */
    int64_t *all;              /* [SAMPLES * ranks] */
    tutti__numbered *v, *room; /* likewise */
} sampling;

static void sampling_free(sampling *s) {
    tutti__free(s->counts);
    tutti__free(s->many);
    tutti__free(s->where);
    tutti__free(s->all);
    tutti__free(s->v);
    tutti__free(s->room);
}

static tutti_err sampling_make(int ranks, sampling *s) {
    const size_t p = (size_t)ranks;
    *s = (sampling){.counts = tutti__calloc(p, sizeof *s->counts),
                    .many = tutti__calloc(p, sizeof *s->many),
                    .where = tutti__calloc(p, sizeof *s->where),
                    .all = tutti__calloc(p * SAMPLES, sizeof *s->all),
                    .v = tutti__calloc(p * SAMPLES, sizeof *s->v),
                    .room = tutti__calloc(p * SAMPLES, sizeof *s->room)};
    return s->counts && s->many && s->where && s->all && s->v && s->room ? TUTTI_OK
                                                                         : TUTTI_ERR_NOMEM;
}

/* Every rank's samples of the concatenation of all numbers are those that fall into its own. */
static tutti_err sample(tutti__team *t, const int64_t *numbers, sampling *s, int *found_out) {
    const tutti_count m = (tutti_count)SAMPLES * t->size;
    tutti_count all = 0, begin = 0, end = 0, next = 0;
    MPI_Request r;
    for (int k = 0; k < t->size; k++) all += s->counts[k];
    *found_out = 0;
    if (all == 0) return TUTTI_OK;
    for (int k = 0; k < t->size; k++, begin = end) {
        end = begin + s->counts[k];
        s->where[k] = (int)next;
        for (; next < m && sample_place(next, m, all) < end; next++)
            if (k == t->rank) s->all[next] = numbers[sample_place(next, m, all) - begin];
        s->many[k] = (int)next - s->where[k];
    }
    TUTTI_ASSERT(next == m);
    TUTTI_MPI(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT64_T, s->all, s->many, s->where, MPI_INT64_T,
                              t->comm, &r));
    *found_out = (int)m;
    return tutti__team_finish(1, &r);
}

static void ranges_cut(tutti__directory *d, sampling *s, int samples) {
    for (int i = 0; i < samples; i++) s->v[i] = (tutti__numbered){s->all[i], i};
    const tutti__numbered *sorted = tutti__numbered_sort(s->v, samples, s->room);
    d->first[0] = 0;
    for (int k = 1; k < d->ranks; k++)
        d->first[k] = samples > 0 ? sorted[(int64_t)k * SAMPLES].number : INT64_MAX;
}

/* The first of n rising numbers that is not below x. */
static tutti_count lower(const int64_t *v, tutti_count n, int64_t x) {
    tutti_count lo = 0, hi = n;
    while (lo < hi) {
        const tutti_count mid = lo + (hi - lo) / 2;
        if (v[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- the directory */

void tutti__directory_free(tutti__directory *d) {
    tutti__free(d->first);
    tutti__free(d->to);
    tutti__free(d->from);
    tutti__free(d->requests);
    *d = (tutti__directory){.ranks = 0};
}

static tutti_err directory_allocate(int ranks, tutti__directory *d) {
    const size_t p = (size_t)ranks;
    *d = (tutti__directory){.ranks = ranks,
                            .first = tutti__calloc(p, sizeof *d->first),
                            .to = tutti__calloc(p + 1, sizeof *d->to),
                            .from = tutti__calloc(p + 1, sizeof *d->from),
                            .requests = tutti__calloc(2 * p, sizeof *d->requests)};
    return d->first && d->to && d->from && d->requests ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static tutti_err counts_fit(const tutti__directory *d) {
    for (int k = 0; k < d->ranks; k++)
        TUTTI_CHECK(d->to[k + 1] - d->to[k] <= INT_MAX, TUTTI_ERR_OVERFLOW,
                    "%lld items for one rank", (long long)(d->to[k + 1] - d->to[k]));
    return TUTTI_OK;
}

/* Who has how many; then the ranges; then who sends how many to whom. */
static tutti_err deal(tutti__team *t, const int64_t *numbers, tutti__directory *d, sampling *s) {
    MPI_Request r;
    const int64_t mine = d->n;
    int samples = 0;
    TUTTI_MPI(MPI_Iallgather(&mine, 1, MPI_INT64_T, s->counts, 1, MPI_INT64_T, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    TUTTI_TRY(sample(t, numbers, s, &samples));
    ranges_cut(d, s, samples);
    for (int k = 1; k < d->ranks; k++) d->to[k] = lower(numbers, d->n, d->first[k]);
    d->to[d->ranks] = d->n;
    TUTTI_TRY(tutti__team_agree(t, counts_fit(d)));
    for (int k = 0; k < d->ranks; k++) s->counts[k] = d->to[k + 1] - d->to[k];
    TUTTI_MPI(MPI_Ialltoall(s->counts, 1, MPI_INT64_T, d->from + 1, 1, MPI_INT64_T, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    for (int k = 0; k < d->ranks; k++) d->from[k + 1] += d->from[k];
    d->m = d->from[d->ranks];
    return TUTTI_OK;
}

tutti_err tutti__directory_make(tutti__team *t, tutti_count n, const int64_t *numbers,
                                tutti__directory *out) {
    tutti__directory d;
    sampling s = {.counts = NULL};
    tutti_err err = directory_allocate(t->size, &d);
    if (err == TUTTI_OK) err = sampling_make(t->size, &s);
    d.n = n;
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = deal(t, numbers, &d, &s);
    sampling_free(&s);
    if (err == TUTTI_OK)
        *out = d;
    else
        tutti__directory_free(&d);
    return err;
}

int tutti__directory_source(const tutti__directory *d, tutti_count i) {
    int lo = 0, hi = d->ranks;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (d->from[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* ---- records to and fro */

/* Records [to[k], to[k + 1]) for rank k; [from[k], from[k + 1]) come from it. */
typedef struct {
    const char *out;
    const tutti_count *to;
    char *in;
    const tutti_count *from;
} parcels;

static tutti_err exchange(tutti__team *t, const tutti__directory *d, int bytes, parcels p) {
    const int tag = tutti__team_tag(t);
    MPI_Datatype record;
    int n = 0, code = MPI_SUCCESS;
    TUTTI_MPI(MPI_Type_contiguous(bytes, MPI_BYTE, &record));
    TUTTI_MPI(MPI_Type_commit(&record));
    for (int step = 0; step < d->ranks && code == MPI_SUCCESS; step++) {
        const int source = (t->rank + d->ranks - step) % d->ranks;
        const int target = (t->rank + step) % d->ranks;
        const tutti_count gets = p.from[source + 1] - p.from[source];
        const tutti_count gives = p.to[target + 1] - p.to[target];
        char *in = p.in + p.from[source] * bytes;
        const char *out = p.out + p.to[target] * bytes;
        if (target == t->rank) {
            memcpy(in, out, (size_t)(gives * bytes));
            continue;
        }
        if (gets > 0)
            code = MPI_Irecv(in, (int)gets, record, source, tag, t->comm, &d->requests[n++]);
        if (gives > 0 && code == MPI_SUCCESS)
            code = MPI_Isend(out, (int)gives, record, target, tag, t->comm, &d->requests[n++]);
    }
    MPI_Type_free(&record);
    if (code != MPI_SUCCESS) return tutti__error_mpi(code, "MPI_Isend");
    return tutti__team_finish(n, d->requests);
}

tutti_err tutti__directory_ask(tutti__team *t, const tutti__directory *d, int bytes, const void *in,
                               void *out) {
    return exchange(t, d, bytes, (parcels){in, d->to, out, d->from});
}

tutti_err tutti__directory_answer(tutti__team *t, const tutti__directory *d, int bytes,
                                  const void *in, void *out) {
    return exchange(t, d, bytes, (parcels){in, d->from, out, d->to});
}
