/* decomposition: incidence lists.  Pairs (item, with) are sent to the rank whose share contains the
 * item, and that rank makes a list for each item of its share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/incidence.h"

#include <string.h>

#include "base/sorted.h"

void tutti__incidence_free(tutti__incidence *i) {
    tutti__free(i->start);
    tutti__free(i->with);
    *i = (tutti__incidence){.n = 0};
}

tutti_err tutti__incidence_fill(tutti__incidence *i, tutti_count n, const tutti__pair *v) {
    tutti_count *start = i->start = tutti__calloc((size_t)i->n + 2, sizeof *start), kept = 0;
    tutti_count *with = i->with = tutti__malloc((size_t)(n + 1) * sizeof *with);
    if (!start || !with) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < n; k++) start[v[k].item - i->first + 2]++;
    for (tutti_count k = 0; k < i->n; k++) start[k + 2] += start[k + 1];
    for (tutti_count k = 0; k < n; k++) with[start[v[k].item - i->first + 1]++] = v[k].with;
    /* start[k + 1]: end of the list of item k */
    for (tutti_count k = 0, from = 0; k < i->n; k++) {
        const tutti_count end = start[k + 1], m = tutti__sort_unique(with + from, end - from);
        memmove(with + kept, with + from, (size_t)m * sizeof *with);
        from = end;
        start[k] = kept;
        kept += m;
    }
    start[i->n] = kept;
    return TUTTI_OK;
}

tutti_err tutti__incidence_make(tutti__team *t, tutti_err local_err, const tutti__pairs *pairs,
                                tutti__incidence *out) {
    tutti__incidence i = {.all = pairs->all,
                          .first = tutti_size_share(pairs->all, t->size, t->rank)};
    tutti__pair *in = NULL;
    tutti_count n = 0;
    i.n = tutti_size_share(pairs->all, t->size, t->rank + 1) - i.first;
    tutti_err err = tutti__send_pairs(t, local_err, pairs, &n, &in);
    if (err == TUTTI_OK) err = tutti__team_agree(t, tutti__incidence_fill(&i, n, in));
    tutti__free(in);
    if (err == TUTTI_OK)
        *out = i;
    else
        tutti__incidence_free(&i);
    return err;
}

/* ---- lists of other ranks */

void tutti__entries_free(tutti__entries *e) {
    tutti__free(e->position);
    tutti__free(e->start);
    tutti__free(e->to);
    *e = (tutti__entries){.n = 0};
}

tutti_err tutti__entries_targets(const tutti__entries *e, tutti_count *n_out, tutti_count **out) {
    const tutti_count all = e->start[e->n];
    tutti_count *v = tutti__malloc((size_t)(all + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    if (all > 0) memcpy(v, e->to, (size_t)all * sizeof *v);
    *n_out = tutti__sort_unique(v, all);
    *out = v;
    return TUTTI_OK;
}

/* Make the answer to a request: the length of each list, then the lists. */
static tutti_err make_answer(const tutti__incidence *i, const tutti__sparse_message *request,
                             tutti__sparse_message *out) {
    const tutti_count *item = request->data, n = (tutti_count)(request->bytes / sizeof *item);
    tutti_count all = n, at = n;
    for (tutti_count k = 0; k < n; k++)
        all += i->start[item[k] - i->first + 1] - i->start[item[k] - i->first];
    tutti_count *v = tutti__malloc((size_t)(all + 1) * sizeof *v);
    *out = (tutti__sparse_message){request->rank, (size_t)all * sizeof *v, v};
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < n; k++) {
        const tutti_count from = i->start[item[k] - i->first];
        v[k] = i->start[item[k] - i->first + 1] - from;
        memcpy(v + at, i->with + from, (size_t)v[k] * sizeof *v);
        at += v[k];
    }
    return TUTTI_OK;
}

/* Append the answers, which arrive in rank order, so that their items ascend. */
static tutti_err append_answers(int n, const tutti__sparse_message *in, tutti__entries *e) {
    tutti_count all = 0, item = 0, at = 0;
    for (int k = 0; k < n; k++) all += (tutti_count)(in[k].bytes / sizeof *e->to);
    e->to = tutti__malloc((size_t)(all + 1) * sizeof *e->to);
    if (!e->to) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < n; k++) {
        const tutti_count *v = in[k].data, numbers = (tutti_count)(in[k].bytes / sizeof *v);
        tutti_count counts = 0, left = numbers;
        /* the lengths come first; their sum is the number of the remaining words */
        while (left > counts) left -= v[counts++];
        TUTTI_ASSERT(left == counts && e->start);
        for (tutti_count q = 0; q < counts; q++, item++) e->start[item + 1] = e->start[item] + v[q];
        memcpy(e->to + at, v + counts, (size_t)(numbers - counts) * sizeof *v);
        at += numbers - counts;
    }
    return TUTTI_OK;
}

/* Make one message per rank that has requested items in its share. */
static tutti_err make_requests(tutti__team *t, const tutti__incidence *i, tutti__entries *e,
                               tutti__sparse_message **out, int *n_out) {
    tutti__sparse_message *v = *out = tutti__malloc(((size_t)t->size + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < e->n;) {
        const int rank = tutti__share_rank(i->all, t->size, e->position[k]);
        const tutti_count end = tutti_size_share(i->all, t->size, rank + 1), begin = k;
        while (k < e->n && e->position[k] < end) k++;
        v[(*n_out)++] = (tutti__sparse_message){rank, (size_t)(k - begin) * sizeof *e->position,
                                                e->position + begin};
    }
    return TUTTI_OK;
}

tutti_err tutti__incidence_fetch(tutti__team *t, tutti_err local_err, const tutti__incidence *i,
                                 tutti_count n, const tutti_count *items, tutti__entries *out) {
    tutti__entries e = {.n = 0};
    tutti__sparse_message *request = NULL, *requests = NULL, *answer = NULL, *in = NULL;
    int sent = 0, received = 0, answers = 0;
    if (local_err == TUTTI_OK) {
        e.n = n;
        e.position = tutti__malloc((size_t)(n + 1) * sizeof *e.position);
        e.start = tutti__calloc((size_t)n + 1, sizeof *e.start);
        if (!e.position || !e.start) local_err = TUTTI_ERR_NOMEM;
        if (local_err == TUTTI_OK && n > 0)
            memcpy(e.position, items, (size_t)n * sizeof *e.position);
    }
    if (local_err == TUTTI_OK) local_err = make_requests(t, i, &e, &request, &sent);
    local_err = tutti__exchange_if(t, local_err, sent, request, &received, &requests);
    if (local_err == TUTTI_OK && !(answer = tutti__calloc((size_t)received + 1, sizeof *answer)))
        local_err = TUTTI_ERR_NOMEM;
    for (int k = 0; k < received && local_err == TUTTI_OK; k++)
        local_err = make_answer(i, &requests[k], &answer[k]);
    local_err = tutti__exchange_if(t, local_err, received, answer, &answers, &in);
    if (local_err == TUTTI_OK) local_err = append_answers(answers, in, &e);
    const tutti_err err = tutti__team_agree(t, local_err);
    for (int k = 0; k < received && answer; k++) tutti__free(answer[k].data);
    tutti__free(answer);
    tutti__free(request);
    tutti__sparse_free(received, &requests);
    tutti__sparse_free(answers, &in);
    if (err == TUTTI_OK)
        *out = e;
    else
        tutti__entries_free(&e);
    return err;
}
