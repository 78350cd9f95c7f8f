/* decomposition: numbers distributed by ranges.
 *
 * The ranges are found by sampling: the numbers of all ranks, in rank order, are divided into equal
 * intervals, 64 per rank, and all ranks get one number of each.  So the numbers may cluster, and may be all on
 * one rank.  The splitters are sorted samples, the same on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/directory.h"

#include <limits.h>
#include <string.h>

#include "base/sorted.h"
#include "comm/wait.h"

enum { SAMPLES = 64 }; /* per rank */

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

/* ---- splitters */

/* The index of sample s of m among n numbers: pseudo-random in its interval, so that no pattern of the numbers
 * coincides with the samples. */
static tutti_count sample_index(tutti_count s, tutti_count m, tutti_count n) {
    const double width = (double)n / (double)m;
    const double shift = (double)(((uint64_t)s * 0x9e3779b97f4a7c15u) >> 40) / 0x1p24;
    return tutti__min((tutti_count)(((double)s + shift) * width), n - 1);
}

/* Memory for sampling. */
typedef struct {
    int64_t *counts;           /* [ranks] numbers of each */
    int *many, *where;         /* [ranks] samples of each rank, and their first */
    int64_t *all;              /* [SAMPLES * ranks] */
    tutti__numbered *v, *room; /* likewise */
} sampling;

/* A rank provides the samples that are among its own numbers. */
static tutti_err gather_samples(tutti__team *t, const int64_t *numbers, sampling *s,
                                int *found_out) {
    const tutti_count m = (tutti_count)SAMPLES * t->size;
    tutti_count all = 0, begin = 0, end = 0, next = 0;
    MPI_Request r;
    for (int k = 0; k < t->size; k++) all += s->counts[k];
    *found_out = 0;
    if (all == 0) return TUTTI_OK;
    for (int k = 0; k < t->size; k++, begin = end) {
        end = begin + s->counts[k];
        s->where[k] = (int)next;
        for (; next < m && sample_index(next, m, all) < end; next++)
            if (k == t->rank) s->all[next] = numbers[sample_index(next, m, all) - begin];
        s->many[k] = (int)next - s->where[k];
    }
    TUTTI_ASSERT(next == m);
    TUTTI_MPI(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT64_T, s->all, s->many, s->where, MPI_INT64_T,
                              t->comm, &r));
    *found_out = (int)m;
    return tutti__team_finish(1, &r);
}

/* ---- the directory */

void tutti__directory_free(tutti__directory *d) {
    tutti__free(d->first);
    tutti__free(d->to);
    tutti__free(d->from);
    tutti__free(d->requests);
    *d = (tutti__directory){.ranks = 0};
}

tutti_err tutti__directory_fits(const tutti__directory *d) {
    for (int k = 0; k < d->ranks; k++)
        TUTTI_CHECK(d->to[k + 1] - d->to[k] <= INT_MAX, TUTTI_ERR_OVERFLOW,
                    "%lld records for one rank exceed the range of MPI counts",
                    (long long)(d->to[k + 1] - d->to[k]));
    return TUTTI_OK;
}

/* Counts of all ranks; then the ranges; then the counts that ranks send to each other. */
static tutti_err choose_number_ranges(tutti__team *t, const int64_t *numbers, tutti__directory *d,
                                      sampling *s) {
    MPI_Request r;
    const int64_t n = d->n;
    int samples = 0;
    TUTTI_MPI(MPI_Iallgather(&n, 1, MPI_INT64_T, s->counts, 1, MPI_INT64_T, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    TUTTI_TRY(gather_samples(t, numbers, s, &samples));
    for (int i = 0; i < samples; i++) s->v[i] = (tutti__numbered){s->all[i], i};
    const tutti__numbered *sorted = tutti__numbered_sort(s->v, samples, s->room);
    d->first[0] = 0;
    for (int k = 1; k < d->ranks; k++)
        d->first[k] = samples > 0 ? sorted[(int64_t)k * SAMPLES].number : INT64_MAX;
    for (int k = 1; k < d->ranks; k++) d->to[k] = tutti__lower_bound(numbers, d->n, d->first[k]);
    d->to[d->ranks] = d->n;
    for (int k = 0; k < d->ranks; k++) s->counts[k] = d->to[k + 1] - d->to[k];
    TUTTI_MPI(MPI_Ialltoall(s->counts, 1, MPI_INT64_T, d->from + 1, 1, MPI_INT64_T, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    for (int k = 0; k < d->ranks; k++) d->from[k + 1] += d->from[k];
    d->m = d->from[d->ranks];
    return TUTTI_OK;
}

tutti_err tutti__directory_make(tutti__team *t, tutti_err local_err, tutti_count n,
                                const int64_t *numbers, tutti__directory *out) {
    tutti__directory d = {.ranks = 0};
    sampling s = {.counts = NULL};
    if (local_err == TUTTI_OK) {
        const size_t size = (size_t)t->size;
        d = (tutti__directory){.ranks = t->size,
                               .first = tutti__calloc(size, sizeof *d.first),
                               .to = tutti__calloc(size + 1, sizeof *d.to),
                               .from = tutti__calloc(size + 1, sizeof *d.from),
                               .requests = tutti__calloc(2 * size, sizeof *d.requests)};
        local_err = d.first && d.to && d.from && d.requests ? TUTTI_OK : TUTTI_ERR_NOMEM;
    }
    if (local_err == TUTTI_OK) {
        const size_t p = (size_t)t->size;
        s = (sampling){.counts = tutti__calloc(p, sizeof *s.counts),
                       .many = tutti__calloc(p, sizeof *s.many),
                       .where = tutti__calloc(p, sizeof *s.where),
                       .all = tutti__calloc(p * SAMPLES, sizeof *s.all),
                       .v = tutti__calloc(p * SAMPLES, sizeof *s.v),
                       .room = tutti__calloc(p * SAMPLES, sizeof *s.room)};
        local_err =
            s.counts && s.many && s.where && s.all && s.v && s.room ? TUTTI_OK : TUTTI_ERR_NOMEM;
    }
    d.n = n;
    tutti_err err = tutti__team_agree(t, local_err);
    if (err == TUTTI_OK) err = choose_number_ranges(t, numbers, &d, &s);
    tutti__free(s.counts);
    tutti__free(s.many);
    tutti__free(s.where);
    tutti__free(s.all);
    tutti__free(s.v);
    tutti__free(s.room);
    if (err == TUTTI_OK)
        *out = d;
    else
        tutti__directory_free(&d);
    return err;
}

int tutti__directory_source(const tutti__directory *d, tutti_count i) {
    return (int)tutti__interval_of(d->from, d->ranks, i);
}

/* ---- records and answers */

/* Records [to[k], to[k + 1]) for rank k; [from[k], from[k + 1]) come from it. */
typedef struct {
    const char *out;
    const tutti_count *to;
    char *in;
    const tutti_count *from;
} buffers;

static tutti_err exchange_records(tutti__team *t, const tutti__directory *d, int bytes, buffers p) {
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

tutti_err tutti__directory_send(tutti__team *t, const tutti__directory *d, int bytes,
                                const void *in, void *out) {
    return exchange_records(t, d, bytes, (buffers){in, d->to, out, d->from});
}

tutti_err tutti__directory_reply(tutti__team *t, const tutti__directory *d, int bytes,
                                 const void *in, void *out) {
    return exchange_records(t, d, bytes, (buffers){in, d->from, out, d->to});
}
