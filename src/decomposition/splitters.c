/* decomposition: choice of ranges of numbers (splitters.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/splitters.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "comm/collective_count.h"
#include "comm/wait.h"
#include "decomposition/shares.h"

static int least_group = TUTTI__SPLIT_GROUP;

void tutti__rank_groups_set_least(int ranks) {
    least_group = ranks;
}

tutti__rank_groups tutti__rank_groups_of(int ranks, int size) {
    tutti__rank_groups g = {.ranks = ranks, .size = size};
    if (size == 0) {
        g.size = least_group;
        while ((int64_t)g.size * g.size < ranks) g.size++;
    }
    g.n = (int)(((int64_t)ranks + g.size - 1) / g.size);
    return g;
}

static int group_ranks(const tutti__rank_groups *g, int group) {
    return (int)tutti__min(g->size, g->ranks - (int64_t)group * g->size);
}

/* Return the member of a group to which this rank sends its queries. */
static int member_of_group(const tutti__rank_groups *g, int group, int rank) {
    return group * g->size + rank % group_ranks(g, group);
}

/* Minimal number of samples of a set, if the sketch has space for them. */
enum { LEAST_SAMPLES = 256 };

/* ---- sketches reduced over consecutive ranks */

typedef struct {
    int64_t failed, n; /* number of failed ranks; number of samples */
    int64_t sum[TUTTI__SPLIT_SUMS];
    tutti__sample v[TUTTI__SKETCH_SAMPLES];
} sketch_message;

struct tutti__splitting {
    tutti__team *team;
    const tutti__split *split;
    tutti__rank_groups groups;
    /* number of sets; group of this rank; its number of ranks; samples per set */
    int sets, group, members, most;
    sketch_message *own, *in;
    tutti__sample *merged; /* [2 * TUTTI__SKETCH_SAMPLES] result of a merge */
    int64_t *group_bound;  /* [sets][groups] first number of each group */
    /* [sets][members + 1] first number of each rank of the group; last: end */
    int64_t *bound;
    int64_t *counts; /* [groups] number of this rank's numbers in each group, for one set */
    tutti__range_start *start; /* [n] ranges of the numbers of this rank */
    tutti_count n;
    size_t capacity;
};

static int message_bytes(const sketch_message *m) {
    return (int)(offsetof(sketch_message, v) + (size_t)m->n * sizeof m->v[0]);
}

static void merge_samples(const tutti__splitting *s, int64_t n, const tutti__sample *v) {
    sketch_message *m = s->own;
    m->n = tutti__sketch_merge(s->most, (int)m->n, m->v, (int)n, v, s->merged);
    memcpy(m->v, s->merged, (size_t)m->n * sizeof m->v[0]);
}

static void merge_message(const tutti__splitting *s) {
    s->own->failed += s->in->failed;
    for (int i = 0; i < TUTTI__SPLIT_SUMS; i++) s->own->sum[i] += s->in->sum[i];
    merge_samples(s, s->in->n, s->in->v);
}

/* Send to `to` and receive from `from`, either of which may be absent (-1). */
static tutti_err pass_message(const tutti__splitting *s, int tag, int to, int from) {
    const MPI_Comm comm = s->team->comm;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (from >= 0)
        TUTTI_MPI(MPI_Irecv(s->in, (int)sizeof *s->in, MPI_BYTE, from, tag, comm, &r[0]));
    if (to >= 0)
        TUTTI_MPI(MPI_Isend(s->own, message_bytes(s->own), MPI_BYTE, to, tag, comm, &r[1]));
    TUTTI_TRY(tutti__team_finish(2, r));
    if (from >= 0) tutti__received_add((size_t)message_bytes(s->in));
    return TUTTI_OK;
}

/* Merge the sketches of ranks first ... first + ranks - 1.  All of these ranks get the same result,
 * since a merge does not depend on the order of two sketches. */
static tutti_err reduce_sketches(const tutti__splitting *s, int first, int ranks) {
    const int tag = tutti__team_tag(s->team), me = s->team->rank - first;
    int whole = 1; /* the largest power of two that is not larger than `ranks` */
    tutti__collective_add();
    while (whole <= ranks / 2) whole *= 2;
    if (me >= whole) {
        TUTTI_TRY(pass_message(s, tag, first + me - whole, -1));
        TUTTI_TRY(pass_message(s, tag, -1, first + me - whole));
        memcpy(s->own, s->in, (size_t)message_bytes(s->in));
        return TUTTI_OK;
    }
    const int partner = me + whole < ranks ? first + me + whole : -1;
    if (partner >= 0) {
        TUTTI_TRY(pass_message(s, tag, -1, partner));
        merge_message(s);
    }
    for (int bit = 1; bit < whole; bit *= 2) {
        TUTTI_TRY(pass_message(s, tag, first + (me ^ bit), first + (me ^ bit)));
        merge_message(s);
    }
    return pass_message(s, tag, partner, -1);
}

/* ---- the samples of groups */

static int64_t *group_bounds(const tutti__splitting *s, int set) {
    return s->group_bound + (tutti_count)set * s->groups.n;
}

static int64_t *rank_bounds(const tutti__splitting *s, int set) {
    return s->bound + (tutti_count)set * (s->members + 1);
}

/* Return the group of a number; `last` is the group of the previous number. */
static int group_of(const tutti__splitting *s, int set, int64_t number, int last) {
    const int64_t *bound = group_bounds(s, set);
    if (number >= bound[last] && last + 1 < s->groups.n && number < bound[last + 1]) return last;
    return (int)tutti__interval_of(bound, s->groups.n, number);
}

static void count_by_group(const tutti__splitting *s, int set) {
    const tutti__number_set *of = &s->split->set[set];
    memset(s->counts, 0, (size_t)s->groups.n * sizeof *s->counts);
    for (tutti_count i = 0, g = 0; i < of->n; i++)
        s->counts[g = group_of(s, set, tutti__number_at(of, i), (int)g)]++;
}

/* Append samples of a set to v, at most `most` per group.   seen: memory, [groups] */
static void sample_groups(const tutti__splitting *s, int set, int most, int64_t *seen, int *n,
                          tutti__sample *v) {
    const tutti__number_set *of = &s->split->set[set];
    count_by_group(s, set);
    memset(seen, 0, (size_t)s->groups.n * sizeof *seen);
    for (tutti_count i = 0, g = 0; i < of->n; i++) {
        const int64_t number = tutti__number_at(of, i);
        g = group_of(s, set, number, (int)g);
        const int64_t count = s->counts[g], samples = tutti__min(count, most);
        const int k = tutti__share_rank(count, (int)samples, seen[g]);
        if (tutti_size_share(count, (int)samples, k) == seen[g])
            v[(*n)++] = (tutti__sample){
                .number = number,
                .weight = (uint64_t)(tutti_size_share(count, (int)samples, k + 1) - seen[g]),
                .set = (uint64_t)set};
        seen[g]++;
    }
}

/* A sample, and the group of its number. */
typedef struct {
    tutti__sample sample;
    int group;
} group_sample;

static int compare_group_samples(const void *a, const void *b) {
    const group_sample *x = a, *y = b;
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                                : tutti__sample_compare(&x->sample, &y->sample);
}

/* Messages for members of groups, with consecutive parts of `data`. */
typedef struct {
    int n;
    tutti__sparse_message *message; /* capacity: one message per group */
    void *data;
} group_messages;

static void free_messages(group_messages *m) {
    tutti__free(m->message);
    tutti__free(m->data);
}

static tutti_err pack_samples(const tutti__splitting *s, int n, tutti__sample *v,
                              group_messages *out) {
    group_sample *by_group = tutti__malloc((size_t)n * sizeof *by_group);
    if (!by_group) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        by_group[i] = (group_sample){v[i], group_of(s, (int)v[i].set, v[i].number, 0)};
    qsort(by_group, (size_t)n, sizeof *by_group, compare_group_samples);
    for (int i = 0; i < n; i++) {
        v[i] = by_group[i].sample;
        if (i == 0 || by_group[i].group != by_group[i - 1].group)
            out->message[out->n++] = (tutti__sparse_message){
                member_of_group(&s->groups, by_group[i].group, s->team->rank), 0, &v[i]};
        out->message[out->n - 1].bytes += sizeof *v;
    }
    tutti__free(by_group);
    return TUTTI_OK;
}

/* Make messages with samples of the numbers of this rank, for members of the groups of the
 * numbers. */
static tutti_err send_samples(const tutti__splitting *s, group_messages *out) {
    const int sets = s->sets;
    const int most = (int)tutti__max(s->most / s->groups.n, 2);
    int64_t *seen = tutti__malloc((size_t)s->groups.n * sizeof *seen);
    tutti_count capacity = 0;
    for (int k = 0; k < sets; k++)
        capacity += tutti__min(s->split->set[k].n, (tutti_count)most * s->groups.n);
    out->message = tutti__malloc((size_t)s->groups.n * sizeof *out->message);
    out->data = tutti__malloc((size_t)capacity * sizeof(tutti__sample));
    tutti_err err = seen && out->message && out->data ? TUTTI_OK : TUTTI_ERR_NOMEM;
    int n = 0;
    for (int k = 0; k < sets && err == TUTTI_OK; k++)
        sample_groups(s, k, most, seen, &n, out->data);
    if (err == TUTTI_OK) err = pack_samples(s, n, out->data, out);
    tutti__free(seen);
    return err;
}

static void set_rank_bounds(const tutti__splitting *s) {
    const tutti__weight_division equal = {s->members, 1, s->members};
    for (int k = 0; k < s->sets; k++) {
        const int64_t *groups = group_bounds(s, k);
        int64_t *bound = rank_bounds(s, k);
        tutti__sketch_bounds((int)s->own->n, s->own->v, k, &equal, bound);
        bound[0] = groups[s->group];
        bound[s->members] = s->group + 1 < s->groups.n ? groups[s->group + 1] : INT64_MAX;
        for (int r = 1; r < s->members; r++) bound[r] = tutti__min(bound[r], bound[s->members]);
    }
}

/* Determine the bounds of the ranks of this group.  Returns the error code of this rank;
 * *is_passed_out: this rank can take part in the following steps. */
static tutti_err split_group(const tutti__splitting *s, int *is_passed_out) {
    group_messages out = {0};
    tutti__sparse_message *in = NULL;
    int n = 0;
    tutti_err err = send_samples(s, &out);
    err = tutti__exchange_if(s->team, err, out.n, out.message, &n, &in);
    free_messages(&out);
    s->own->failed = s->own->n = 0;
    for (int i = 0; i < n && err == TUTTI_OK; i++)
        merge_samples(s, (int64_t)(in[i].bytes / sizeof(tutti__sample)), in[i].data);
    tutti__sparse_free(n, &in);
    TUTTI_TRY(reduce_sketches(s, s->group * s->groups.size, s->members));
    *is_passed_out = 1;
    set_rank_bounds(s);
    return err;
}

/* ---- ranges of the numbers of this rank */

/* Append the ranges of the group of this rank that are not empty; `start` has space for them. */
static void add_group_ranges(tutti__splitting *s, int set) {
    const int64_t *bound = rank_bounds(s, set);
    for (int r = 0; r < s->members; r++)
        if (bound[r] < bound[r + 1])
            s->start[s->n++] = (tutti__range_start){bound[r], s->group * s->groups.size + r, set};
}

/* Words of a query: a set, the number of numbers (-1: all ranges of the group are requested), and
 * the numbers. */
enum { ASK_SET, ASK_COUNT, ASK_NUMBERS };

/* List the numbers of this rank, ascending, in other groups where it has fewer numbers than a group
 * has ranks; set s->counts. */
static tutti_err list_numbers(const tutti__splitting *s, int set, tutti_count *n_out,
                              int64_t **out) {
    const tutti__number_set *of = &s->split->set[set];
    tutti_count n = 0;
    count_by_group(s, set);
    for (int g = 0; g < s->groups.n; g++)
        n += g != s->group && s->counts[g] < s->groups.size ? s->counts[g] : 0;
    *out = tutti__malloc((size_t)n * sizeof **out);
    if (!*out) return TUTTI_ERR_NOMEM;
    n = 0;
    for (tutti_count i = 0, g = 0; i < of->n; i++) {
        const int64_t number = tutti__number_at(of, i);
        g = group_of(s, set, number, (int)g);
        if (g != s->group && s->counts[g] < s->groups.size) (*out)[n++] = number;
    }
    *n_out = tutti__sort_unique(*out, n);
    return TUTTI_OK;
}

/* Make the queries for one set, one message per group. */
static tutti_err pack_questions(const tutti__splitting *s, int set, group_messages *out) {
    int64_t *number = NULL, *to;
    tutti_count n = 0, at = 0;
    TUTTI_TRY(list_numbers(s, set, &n, &number));
    out->message = tutti__malloc((size_t)s->groups.n * sizeof *out->message);
    out->data = tutti__malloc(((size_t)n + ASK_NUMBERS * (size_t)s->groups.n) * sizeof *to);
    if (!out->message || !out->data) {
        tutti__free(number);
        return TUTTI_ERR_NOMEM;
    }
    to = out->data;
    for (int g = 0; g < s->groups.n; g++) {
        if (g == s->group || s->counts[g] == 0) continue;
        const tutti_count first = at;
        while (at < n && group_of(s, set, number[at], g) == g) at++;
        to[ASK_SET] = set;
        to[ASK_COUNT] = s->counts[g] < s->groups.size ? at - first : -1;
        memcpy(to + ASK_NUMBERS, number + first, (size_t)(at - first) * sizeof *to);
        const size_t words = ASK_NUMBERS + (size_t)(at - first);
        out->message[out->n++] = (tutti__sparse_message){
            member_of_group(&s->groups, g, s->team->rank), words * sizeof *to, to};
        to += words;
    }
    tutti__free(number);
    return TUTTI_OK;
}

/* Write the requested ranges to `out`; at most one per number of the query, or per rank of the
 * group. */
static tutti_count answer_question(const tutti__splitting *s, const int64_t *question,
                                   tutti__range_start *out) {
    const int set = (int)question[ASK_SET], first = s->group * s->groups.size;
    const int64_t *bound = rank_bounds(s, set);
    tutti_count n = 0, last = -1;
    for (int r = 0; r < s->members && question[ASK_COUNT] < 0; r++)
        if (bound[r] < bound[r + 1]) out[n++] = (tutti__range_start){bound[r], first + r, set};
    for (int64_t i = 0; i < question[ASK_COUNT]; i++) {
        const tutti_count r = tutti__interval_of(bound, s->members, question[ASK_NUMBERS + i]);
        if (r != last) out[n++] = (tutti__range_start){bound[r], first + (int)r, set};
        last = r;
    }
    return n;
}

static tutti_err pack_answers(const tutti__splitting *s, int n, const tutti__sparse_message *in,
                              group_messages *out) {
    size_t capacity = 0;
    for (int i = 0; i < n; i++) {
        const int64_t count = ((const int64_t *)in[i].data)[ASK_COUNT];
        capacity += (size_t)(count < 0 ? s->members : count);
    }
    out->message = tutti__malloc((size_t)n * sizeof *out->message);
    out->data = tutti__malloc(capacity * sizeof(tutti__range_start));
    if (!out->message || !out->data) return TUTTI_ERR_NOMEM;
    tutti__range_start *to = out->data;
    for (; out->n < n; out->n++) {
        const tutti_count count = answer_question(s, in[out->n].data, to);
        out->message[out->n] =
            (tutti__sparse_message){in[out->n].rank, (size_t)count * sizeof *to, to};
        to += count;
    }
    return TUTTI_OK;
}

static int compare_range_starts(const void *a, const void *b) {
    const tutti__range_start *x = a, *y = b;
    if (x->set != y->set) return x->set < y->set ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Get the ranges of the numbers of this rank in other groups, for one set.  Returns the error code
 * of this rank. */
static tutti_err ask_groups(tutti__splitting *s, tutti_err local_err, int set) {
    group_messages questions = {0}, answers = {0};
    tutti__sparse_message *in = NULL;
    int n_in = 0;
    if (local_err == TUTTI_OK) local_err = pack_questions(s, set, &questions);
    local_err = tutti__exchange_if(s->team, local_err, questions.n, questions.message, &n_in, &in);
    if (local_err == TUTTI_OK) local_err = pack_answers(s, n_in, in, &answers);
    tutti__sparse_free(n_in, &in);
    n_in = 0;
    local_err = tutti__exchange_if(s->team, local_err, answers.n, answers.message, &n_in, &in);
    for (int i = 0; i < n_in && local_err == TUTTI_OK; i++) {
        const size_t k = in[i].bytes / sizeof *s->start;
        local_err = tutti__grow(&s->start, (size_t)s->n + k, &s->capacity, sizeof *s->start);
        if (local_err != TUTTI_OK || k == 0) continue;
        memcpy(s->start + s->n, in[i].data, in[i].bytes);
        s->n += (tutti_count)k;
    }
    tutti__sparse_free(n_in, &in);
    free_messages(&questions);
    free_messages(&answers);
    return local_err;
}

/* ---- all steps */

tutti_err tutti__splitting_make(tutti__team *t, int group_size, int sets, tutti__splitting **out) {
    const tutti__rank_groups groups = tutti__rank_groups_of(t->size, group_size);
    tutti__splitting *s = *out = tutti__calloc(1, sizeof *s);
    if (!s) return TUTTI_ERR_NOMEM;
    s->team = t;
    s->groups = groups;
    s->sets = sets;
    s->group = t->rank / groups.size;
    s->members = group_ranks(&groups, s->group);
    s->most = (int)tutti__min(tutti__max(8 * tutti__max(groups.n, groups.size), LEAST_SAMPLES),
                              TUTTI__SKETCH_SAMPLES / sets);
    s->own = tutti__calloc(1, sizeof *s->own);
    s->in = tutti__malloc(sizeof *s->in);
    s->merged = tutti__malloc(2 * TUTTI__SKETCH_SAMPLES * sizeof *s->merged);
    s->group_bound = tutti__malloc((size_t)sets * (size_t)groups.n * sizeof *s->group_bound);
    s->bound = tutti__malloc((size_t)sets * ((size_t)s->members + 1) * sizeof *s->bound);
    s->counts = tutti__malloc((size_t)groups.n * sizeof *s->counts);
    s->start = tutti__malloc((size_t)sets * (size_t)s->members * sizeof *s->start);
    s->capacity = (size_t)sets * (size_t)s->members;
    return s->own && s->in && s->merged && s->group_bound && s->bound && s->counts && s->start
               ? TUTTI_OK
               : TUTTI_ERR_NOMEM;
}

void tutti__splitting_free(tutti__splitting **p) {
    tutti__splitting *s = *p;
    void *const all[] = {s ? s->own : NULL,         s ? s->in : NULL,    s ? s->merged : NULL,
                         s ? s->group_bound : NULL, s ? s->bound : NULL, s ? s->counts : NULL,
                         s ? s->start : NULL};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    tutti__free(s);
    *p = NULL;
}

/* Determine the bounds of groups and of the ranks of this group, then all ranges of the numbers of
 * this rank. */
static tutti_err choose_ranges(tutti__splitting *s) {
    const int sets = s->sets;
    tutti_err err = TUTTI_OK;
    const tutti__weight_division by_size = {s->groups.n, s->groups.size, s->groups.ranks};
    for (int k = 0; k < sets; k++)
        tutti__sketch_bounds((int)s->own->n, s->own->v, k, &by_size, group_bounds(s, k));
    if (s->groups.n > 1) {
        int is_passed = 0; /* 0 after an MPI error: return at once */
        err = split_group(s, &is_passed);
        if (!is_passed) return err;
    } else {
        set_rank_bounds(s);
    }
    for (int k = 0; k < sets; k++) add_group_ranges(s, k);
    if (s->groups.n == 1) return TUTTI_OK;
    for (int k = 0; k < sets; k++) err = ask_groups(s, err, k);
    if (err == TUTTI_OK) qsort(s->start, (size_t)s->n, sizeof *s->start, compare_range_starts);
    return tutti__team_agree(s->team, err);
}

tutti_err tutti__splitters_make(tutti__splitting *s, tutti_err local_err, tutti__split *io,
                                tutti__splitters *out) {
    tutti__splitters made = {.sets = s->sets};
    sketch_message *m = s->own;
    s->split = io;
    m->failed = local_err != TUTTI_OK;
    m->n = s->n = 0;
    memcpy(m->sum, io->sum, sizeof m->sum);
    for (int k = 0; k < s->sets && local_err == TUTTI_OK; k++)
        m->n += tutti__sketch_make(&io->set[k], k, s->most, m->v + m->n);
    TUTTI_TRY(reduce_sketches(s, 0, s->team->size));
    if (m->failed) return tutti__team_agree(s->team, local_err);
    memcpy(io->sum, m->sum, sizeof m->sum);
    TUTTI_TRY(choose_ranges(s));
    for (int k = 0; k < s->sets; k++) {
        const int64_t *bound = rank_bounds(s, k);
        const int me = s->team->rank - s->group * s->groups.size;
        made.first[k] = bound[me];
        made.end[k] = bound[me + 1];
        made.set_start[k + 1] = made.set_start[k];
        while (made.set_start[k + 1] < s->n && s->start[made.set_start[k + 1]].set == k)
            made.set_start[k + 1]++;
    }
    made.start = s->start;
    s->start = NULL;
    s->capacity = 0;
    *out = made;
    return TUTTI_OK;
}

void tutti__splitters_free(tutti__splitters *s) {
    tutti__free(s->start);
    *s = (tutti__splitters){.sets = 0};
}

tutti_count tutti__splitters_find(const tutti__splitters *s, int set, int64_t number) {
    tutti_count lo = s->set_start[set], hi = s->set_start[set + 1];
    TUTTI_ASSERT(lo < hi);
    while (hi - lo > 1) {
        const tutti_count mid = lo + (hi - lo) / 2;
        if (s->start[mid].first <= number)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
