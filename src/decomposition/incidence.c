/* exodus: lists at home.  Pairs (item, with) go to the home of the item, which has for each item of its
 * slice what is with it: elements of a node, ranks that have an element.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus/deal.h"

void tutti__incidence_free(tutti__incidence *i) {
    tutti__free(i->start);
    tutti__free(i->with);
    *i = (tutti__incidence){.n = 0};
}

/* Pairs of this slice, in any order, as lists: each rising, nothing twice. */
static tutti_err lists_of(tutti__incidence *i, tutti_count n, const tutti__pair *v) {
    tutti_count *start = i->start = tutti__calloc((size_t)i->n + 2, sizeof *start), kept = 0;
    tutti_count *with = i->with = tutti__malloc((size_t)(n + 1) * sizeof *with);
    if (!start || !with) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < n; k++) start[v[k].item - i->first + 2]++;
    for (tutti_count k = 0; k < i->n; k++) start[k + 2] += start[k + 1];
    for (tutti_count k = 0; k < n; k++) with[start[v[k].item - i->first + 1]++] = v[k].with;
    for (tutti_count k = 0, from = 0; k < i->n; k++) { /* start[k + 1]: where item k ends */
        const tutti_count end = start[k + 1], m = tutti__once_each(with + from, end - from);
        memmove(with + kept, with + from, (size_t)m * sizeof *with);
        from = end;
        start[k] = kept;
        kept += m;
    }
    start[i->n] = kept;
    return TUTTI_OK;
}

tutti_err tutti__incidence_make(tutti__team *t, tutti_count all, tutti_count n,
                                const tutti__pair *pairs, tutti_err mine, tutti__incidence *out) {
    tutti__incidence i = {.all = all, .first = tutti__mesh_first(all, t->size, t->rank)};
    tutti__pair *in = NULL;
    tutti_count got = 0;
    int *to = NULL;
    i.n = tutti__mesh_first(all, t->size, t->rank + 1) - i.first;
    if (mine == TUTTI_OK) {
        to = tutti__malloc((size_t)(n + 1) * sizeof *to);
        if (!to) mine = TUTTI_ERR_NOMEM;
    }
    for (tutti_count k = 0; k < n && mine == TUTTI_OK; k++)
        to[k] = tutti__mesh_home(all, t->size, pairs[k].item);
    tutti_err err = tutti__mesh_send(t, mine, sizeof *pairs, n, pairs, to, &got, (void **)&in);
    if (err == TUTTI_OK) err = tutti__team_agree(t, lists_of(&i, got, in));
    tutti__free(to);
    tutti__free(in);
    if (err == TUTTI_OK)
        *out = i;
    else
        tutti__incidence_free(&i);
    return err;
}

/* ---- asking */

/* Numbers for a rank: how many are with each item that it asks for, then all of them. */
static tutti_err answer_make(const tutti__incidence *i, const tutti__sparse_message *asked,
                             tutti__sparse_message *out) {
    const tutti_count *item = asked->data, n = (tutti_count)(asked->bytes / sizeof *item);
    tutti_count all = n, at = n;
    for (tutti_count k = 0; k < n; k++)
        all += i->start[item[k] - i->first + 1] - i->start[item[k] - i->first];
    tutti_count *v = tutti__malloc((size_t)(all + 1) * sizeof *v);
    *out = (tutti__sparse_message){asked->rank, (size_t)all * sizeof *v, v};
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < n; k++) {
        const tutti_count from = i->start[item[k] - i->first];
        v[k] = i->start[item[k] - i->first + 1] - from;
        memcpy(v + at, i->with + from, (size_t)v[k] * sizeof *v);
        at += v[k];
    }
    return TUTTI_OK;
}

/* Answers come by ranks, as items rise. */
static tutti_err answers_take(int n, const tutti__sparse_message *in, tutti__entries *e) {
    tutti_count all = 0, item = 0, at = 0;
    for (int k = 0; k < n; k++) all += (tutti_count)(in[k].bytes / sizeof *e->to);
    e->to = tutti__malloc((size_t)(all + 1) * sizeof *e->to);
    if (!e->to) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < n; k++) {
        const tutti_count *v = in[k].data, numbers = (tutti_count)(in[k].bytes / sizeof *v);
        tutti_count counts = 0, left = numbers;
        while (left > counts) left -= v[counts++]; /* as many counts as make up the rest */
        TUTTI_ASSERT(left == counts && e->start);
        for (tutti_count q = 0; q < counts; q++, item++) e->start[item + 1] = e->start[item] + v[q];
        memcpy(e->to + at, v + counts, (size_t)(numbers - counts) * sizeof *v);
        at += numbers - counts;
    }
    return TUTTI_OK;
}

/* One message for each home. */
static tutti_err questions_make(tutti__team *t, const tutti__incidence *i, tutti__entries *e,
                                tutti__sparse_message **out, int *n_out) {
    tutti__sparse_message *v = *out = tutti__malloc(((size_t)t->size + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0; k < e->n;) {
        const int home = tutti__mesh_home(i->all, t->size, e->position[k]);
        const tutti_count end = tutti__mesh_first(i->all, t->size, home + 1), begin = k;
        while (k < e->n && e->position[k] < end) k++;
        v[(*n_out)++] = (tutti__sparse_message){home, (size_t)(k - begin) * sizeof *e->position,
                                                e->position + begin};
    }
    return TUTTI_OK;
}

static tutti_err entries_begin(tutti_count n, const tutti_count *items, tutti__entries *e) {
    e->n = n;
    e->position = tutti__malloc((size_t)(n + 1) * sizeof *e->position);
    e->start = tutti__calloc((size_t)n + 1, sizeof *e->start);
    if (!e->position || !e->start) return TUTTI_ERR_NOMEM;
    if (n > 0) memcpy(e->position, items, (size_t)n * sizeof *e->position);
    return TUTTI_OK;
}

tutti_err tutti__incidence_ask(tutti__team *t, const tutti__incidence *i, tutti_count n,
                               const tutti_count *items, tutti_err mine, tutti__entries *out) {
    tutti__entries e = {.n = 0};
    tutti__sparse_message *question = NULL, *asked = NULL, *answer = NULL, *in = NULL;
    int questions = 0, asks = 0, answers = 0;
    if (mine == TUTTI_OK) mine = entries_begin(n, items, &e);
    if (mine == TUTTI_OK) mine = questions_make(t, i, &e, &question, &questions);
    tutti_err err = tutti__team_agree(t, mine);
    if (err == TUTTI_OK)
        err = tutti__team_agree(t, tutti__sparse_exchange(t, questions, question, &asks, &asked));
    if (err == TUTTI_OK) {
        answer = tutti__calloc((size_t)asks + 1, sizeof *answer);
        mine = answer ? TUTTI_OK : TUTTI_ERR_NOMEM;
        for (int k = 0; k < asks && mine == TUTTI_OK; k++)
            mine = answer_make(i, &asked[k], &answer[k]);
        err = tutti__team_agree(t, mine);
    }
    if (err == TUTTI_OK)
        err = tutti__team_agree(t, tutti__sparse_exchange(t, asks, answer, &answers, &in));
    if (err == TUTTI_OK) err = tutti__team_agree(t, answers_take(answers, in, &e));
    for (int k = 0; k < asks && answer; k++) tutti__free(answer[k].data);
    tutti__free(answer);
    tutti__free(question);
    tutti__sparse_free(asks, &asked);
    tutti__sparse_free(answers, &in);
    if (err == TUTTI_OK)
        *out = e;
    else
        tutti__entries_free(&e);
    return err;
}

/* ---- who has what */

static tutti_err claims_say(const tutti__team *t, const tutti__claim *c, tutti__pair **out) {
    tutti__pair *v = *out = tutti__malloc((size_t)(c->n + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < c->n; i++)
        v[i] = (tutti__pair){c->items[i], 2 * (tutti_count)t->rank + (c->halo && c->halo[i])};
    return TUTTI_OK;
}

/* What nobody has, and who gets it. */
static tutti_err unclaimed(const tutti__team *t, const tutti__claim *c, const tutti__incidence *i,
                           tutti_count *n_out, tutti_count **items_out, int **to_out) {
    tutti_count n = 0;
    for (tutti_count k = 0; k < i->n; k++) n += i->start[k] == i->start[k + 1];
    tutti_count *items = *items_out = tutti__malloc((size_t)(n + 1) * sizeof *items);
    int *to = *to_out = tutti__malloc((size_t)(n + 1) * sizeof *to);
    if (!items || !to) return TUTTI_ERR_NOMEM;
    n = 0;
    for (tutti_count k = 0; k < i->n; k++) {
        if (i->start[k] < i->start[k + 1]) continue;
        items[n] = i->first + k;
        to[n++] = c->on_root ? 0 : t->rank;
    }
    *n_out = n;
    return TUTTI_OK;
}

/* The home's own lists have them too. */
static tutti_err lists_complete(const tutti__team *t, const tutti__claim *c, tutti__incidence *i) {
    tutti_count n = 0, at = 0;
    for (tutti_count k = 0; k < i->n; k++) n += i->start[k] == i->start[k + 1];
    tutti_count *with = tutti__malloc((size_t)(i->start[i->n] + n + 1) * sizeof *with);
    if (!with) return TUTTI_ERR_NOMEM;
    for (tutti_count k = 0, from = 0; k < i->n; k++) {
        const tutti_count end = i->start[k + 1], begin = at;
        if (from == end) with[at++] = c->on_root ? 0 : 2 * (tutti_count)t->rank;
        for (; from < end; from++) with[at++] = i->with[from];
        i->start[k] = begin;
    }
    i->start[i->n] = at;
    tutti__free(i->with);
    i->with = with;
    return TUTTI_OK;
}

/* Items that this rank gets, among those that it has. */
static tutti_err claims_merge(tutti__claim *c, tutti_count n, const tutti_count *more) {
    tutti_count *items = tutti__malloc((size_t)(c->n + n + 1) * sizeof *items);
    unsigned char *halo = tutti__calloc((size_t)(c->n + n) + 1, 1);
    if (!items || !halo) {
        tutti__free(items);
        tutti__free(halo);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count a = 0, b = 0; a + b < c->n + n;) {
        const tutti_count k = a + b;
        if (b == n || (a < c->n && c->items[a] < more[b])) {
            halo[k] = c->halo && c->halo[a];
            items[k] = c->items[a++];
        } else {
            items[k] = more[b++];
        }
    }
    tutti__free(c->items);
    tutti__free(c->halo);
    c->items = items;
    c->halo = halo;
    c->n += n;
    return TUTTI_OK;
}

tutti_err tutti__claims_make(tutti__team *t, tutti__claim *c, tutti_err mine,
                             tutti__incidence *out) {
    tutti__incidence i = {.n = 0};
    tutti__pair *pairs = NULL;
    tutti_count n = 0, got = 0, *items = NULL, *in = NULL;
    int *to = NULL;
    if (mine == TUTTI_OK) mine = claims_say(t, c, &pairs);
    tutti_err err = tutti__incidence_make(t, c->all, c->n, pairs, mine, &i);
    tutti__free(pairs);
    if (err == TUTTI_OK) {
        mine = unclaimed(t, c, &i, &n, &items, &to);
        err = tutti__mesh_send(t, mine, sizeof *items, n, items, to, &got, (void **)&in);
    }
    if (err == TUTTI_OK) mine = lists_complete(t, c, &i);
    if (err == TUTTI_OK && mine == TUTTI_OK) mine = claims_merge(c, got, in);
    if (err == TUTTI_OK) err = tutti__team_agree(t, mine);
    tutti__free(items);
    tutti__free(to);
    tutti__free(in);
    if (err == TUTTI_OK)
        *out = i;
    else
        tutti__incidence_free(&i);
    return err;
}
