/* exodus_mesh: the ranks that have each entry.
 *
 * Positions are divided into shares (decomposition/shares.h).  Ranks send runs of the positions
 * that they have to the ranks of the shares, which find intervals with the same holders
 * (id_range.c) and assign positions without a holder.  Each holder then gets the intervals that
 * another rank owns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "exodus_mesh/distribute.h"
#include "exodus_mesh/id_order.h"

void tutti__holders_free(tutti__holders *h) {
    tutti__free(h->interval);
    tutti__free(h->holder);
    *h = (tutti__holders){.all = 0};
}

const tutti__id_interval *tutti__holders_find(const tutti__holders *h, tutti_count position) {
    tutti_count lo = 0, hi = h->n;
    while (hi - lo > 1) {
        const tutti_count mid = (lo + hi) / 2;
        if (h->interval[mid].number <= position)
            lo = mid;
        else
            hi = mid;
    }
    return h->n > 0 ? &h->interval[lo] : NULL;
}

int tutti__holders_is_valid(const tutti__holders *h, tutti_count lo, tutti_count hi) {
    for (tutti_count i = 0; i < h->n; i++) {
        const tutti__id_interval *v = &h->interval[i];
        if (v->number != lo || v->count < 1 || v->holders_n < 1) return 0;
        for (tutti_count q = 1; q < v->holders_n; q++)
            if (h->holder[v->holders + q - 1] >= h->holder[v->holders + q]) return 0;
        lo += v->count;
    }
    return lo == hi;
}

/* ---- runs of this rank */

/* List the runs of this rank.  A run contains either own entries or ghosts, for which `weight` is
 * 1. */
static tutti_err make_claims(const tutti__team *t, const tutti__claim *c, tutti__id_run **runs_out,
                             tutti_count *start) {
    tutti__id_run *v = *runs_out = tutti__malloc((size_t)(c->n + 1) * sizeof *v);
    tutti_count n = 0;
    int rank = 0;
    if (!v) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0, end = i; i < c->n; i = end, n++) {
        const int ghost = c->halo && c->halo[i];
        while (c->items[i] >= tutti_size_share(c->all, t->size, rank + 1)) start[++rank] = n;
        const tutti_count most = tutti_size_share(c->all, t->size, rank + 1);
        for (end = i + 1; end < c->n && c->items[end] == c->items[i] + end - i; end++)
            if (c->items[end] >= most || (c->halo && c->halo[end]) != ghost) break;
        v[n] = (tutti__id_run){.number = c->items[i], .count = end - i, .weight = ghost};
    }
    while (rank < t->size) start[++rank] = n;
    return TUTTI_OK;
}

static tutti_err exchange_claims(tutti__team *t, tutti_err local_err, const tutti__claim *c,
                                 int *n_out, tutti__sparse_message **out) {
    tutti__id_run *runs = NULL;
    tutti_count *start = tutti__calloc((size_t)t->size + 1, sizeof *start);
    tutti__sparse_message *message = tutti__malloc((size_t)t->size * sizeof *message);
    int n = 0;
    if (local_err == TUTTI_OK)
        local_err = start && message ? make_claims(t, c, &runs, start) : TUTTI_ERR_NOMEM;
    for (int r = 0; r < t->size && local_err == TUTTI_OK; r++)
        if (start[r] < start[r + 1])
            message[n++] = (tutti__sparse_message){
                r, (size_t)(start[r + 1] - start[r]) * sizeof *runs, runs + start[r]};
    local_err = tutti__exchange_if(t, local_err, n, message, n_out, out);
    tutti__free(runs);
    tutti__free(start);
    tutti__free(message);
    return local_err;
}

/* ---- the share of this rank */

/* Divide the message of rank r into messages of ranks 2 r (own entries) and 2 r + 1 (ghosts). */
static tutti_err separate_ghosts(int n, const tutti__sparse_message *in,
                                 tutti__sparse_message **out) {
    tutti__sparse_message *v = *out = tutti__calloc(2 * (size_t)n + 1, sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        for (int ghost = 0; ghost < 2; ghost++) {
            const tutti__id_run *from = in[i].data;
            tutti__sparse_message *m = &v[2 * i + ghost];
            *m = (tutti__sparse_message){2 * in[i].rank + ghost, 0, tutti__malloc(in[i].bytes)};
            if (!m->data) return TUTTI_ERR_NOMEM;
            for (size_t q = 0; q < in[i].bytes / sizeof *from; q++) {
                if (from[q].weight != ghost) continue;
                tutti__id_run *to = (tutti__id_run *)m->data + m->bytes / sizeof *to;
                *to = from[q];
                to->weight = 0;
                m->bytes += sizeof *to;
            }
        }
    return TUTTI_OK;
}

/* Complete the intervals of the share; those without holders are assigned to rank `unclaimed`. */
static tutti_err intervals_complete(tutti__id_range *r, tutti_count lo, tutti_count hi,
                                    int unclaimed, tutti__holders *out) {
    tutti__id_interval *v = out->interval =
        tutti__malloc((2 * (size_t)r->intervals + 1) * sizeof *v);
    out->holder = tutti__malloc((size_t)(r->holders + r->intervals + 1) * sizeof *out->holder);
    if (!v || !out->holder) return TUTTI_ERR_NOMEM;
    tutti_count holders = r->holders, at = lo;
    if (holders > 0) memcpy(out->holder, r->holder, (size_t)holders * sizeof *out->holder);
    for (tutti_count i = 0; i <= r->intervals; i++) {
        const tutti_count end = i < r->intervals ? r->interval[i].number : hi;
        if (at < end) {
            v[out->n++] = (tutti__id_interval){at, end - at, 0, holders, 1, TUTTI__ASSIGNED};
            out->holder[holders++] = 2 * unclaimed;
        }
        if (i == r->intervals) break;
        v[out->n] = r->interval[i];
        int best = out->holder[v[out->n].holders];
        for (tutti_count h = 0; h < v[out->n].holders_n && best % 2; h++)
            if (out->holder[v[out->n].holders + h] % 2 == 0)
                best = out->holder[v[out->n].holders + h];
        v[out->n++].writer = best / 2;
        at = end + r->interval[i].count;
    }
    return TUTTI_OK;
}

static tutti_err share_make(const tutti__team *t, const tutti__claim *c, int n,
                            const tutti__sparse_message *in, tutti__holders *out) {
    static const tutti__ids none = {.what = "entry"};
    static const tutti_count first_entity[2] = {0, 1};
    tutti__sparse_message *separate = NULL;
    tutti__id_range r = {.n = 1, .ids = &none, .first_entity = first_entity, .sources = 2 * n};
    tutti_err err = separate_ghosts(n, in, &separate);
    r.in = separate;
    if (err == TUTTI_OK) err = tutti__id_range_count(&r);
    if (err == TUTTI_OK)
        err = intervals_complete(&r, tutti_size_share(c->all, t->size, t->rank),
                                 tutti_size_share(c->all, t->size, t->rank + 1),
                                 c->on_root ? 0 : t->rank, out);
    tutti__id_range_free(&r);
    tutti__sparse_free(2 * n, &separate);
    TUTTI_ASSERT(err != TUTTI_OK ||
                 tutti__holders_is_valid(out, tutti_size_share(c->all, t->size, t->rank),
                                         tutti_size_share(c->all, t->size, t->rank + 1)));
    return err;
}

/* ---- answers */

/* Make the answer for rank `to`, unless `out` is NULL: the intervals that are assigned to it, and
 * those of its entries that another rank owns.  Returns the number of intervals. */
static tutti_count answer_make(const tutti__holders *h, int to, tutti__id_run *out) {
    tutti_count n = 0;
    for (tutti_count i = 0; i < h->n; i++) {
        const tutti__id_interval *v = &h->interval[i];
        const int assigned = v->writer == TUTTI__ASSIGNED;
        if (!assigned && v->holders_n == 1) continue;
        for (tutti_count q = 0; q < v->holders_n; q++)
            if (h->holder[v->holders + q] / 2 == to && v->writer != to) {
                if (out) out[n] = (tutti__id_run){v->number, v->count, assigned, 0};
                n++;
            }
    }
    return n;
}

static tutti_err exchange_owners(tutti__team *t, tutti_err local_err, const tutti__holders *h,
                                 int *n_out, tutti__sparse_message **out) {
    tutti__sparse_message *message = tutti__calloc((size_t)t->size, sizeof *message);
    int n = 0;
    if (!message) local_err = TUTTI_ERR_NOMEM;
    for (int r = 0; r < t->size && local_err == TUTTI_OK; r++) {
        const tutti_count runs = answer_make(h, r, NULL);
        if (runs == 0) continue;
        const size_t bytes = (size_t)runs * sizeof(tutti__id_run);
        message[n] = (tutti__sparse_message){r, bytes, tutti__malloc(bytes)};
        if (message[n].data)
            (void)answer_make(h, r, message[n].data);
        else
            local_err = TUTTI_ERR_NOMEM;
        n++;
    }
    local_err = tutti__exchange_if(t, local_err, n, message, n_out, out);
    for (int i = 0; i < n && message; i++) tutti__free(message[i].data);
    tutti__free(message);
    return local_err;
}

/* Merge the positions that are assigned to this rank with those that it has.  Answers arrive in the
 * order of the shares. */
static tutti_err assigned_take(tutti__claim *c, int n, const tutti__sparse_message *in) {
    tutti_count more = 0, a = 0, k = 0;
    for (int i = 0; i < n; i++)
        for (size_t q = 0; q < in[i].bytes / sizeof(tutti__id_run); q++) {
            const tutti__id_run *run = (const tutti__id_run *)in[i].data + q;
            more += run->entity ? run->count : 0;
        }
    if (more == 0 && c->halo) return TUTTI_OK;
    tutti_count *items = tutti__malloc((size_t)(c->n + more + 1) * sizeof *items);
    unsigned char *halo = tutti__calloc((size_t)(c->n + more) + 1, 1);
    if (!items || !halo) {
        tutti__free(items);
        tutti__free(halo);
        return TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i <= n; i++)
        for (size_t q = 0; q < (i < n ? in[i].bytes / sizeof(tutti__id_run) : 1); q++) {
            const tutti__id_run last = {.number = INT64_MAX, .entity = 1};
            const tutti__id_run *run = i < n ? (const tutti__id_run *)in[i].data + q : &last;
            if (!run->entity) continue;
            for (; a < c->n && c->items[a] < run->number; a++, k++) {
                items[k] = c->items[a];
                halo[k] = c->halo && c->halo[a];
            }
            for (tutti_count j = 0; j < run->count; j++) items[k++] = run->number + j;
        }
    tutti__free(c->items);
    tutti__free(c->halo);
    c->items = items;
    c->halo = halo;
    c->n = k;
    return TUTTI_OK;
}

tutti_err tutti__holders_make(tutti__team *t, tutti_err local_err, tutti__claim *c,
                              unsigned char **owner_out, tutti__holders *out) {
    tutti__sparse_message *in = NULL, *answers = NULL;
    int n = 0, n_answers = 0;
    out->all = c->all;
    local_err = exchange_claims(t, local_err, c, &n, &in);
    if (local_err == TUTTI_OK) local_err = share_make(t, c, n, in, out);
    tutti__sparse_free(n, &in);
    local_err = exchange_owners(t, local_err, out, &n_answers, &answers);
    if (local_err == TUTTI_OK) local_err = assigned_take(c, n_answers, answers);
    if (local_err == TUTTI_OK && owner_out) {
        *owner_out = tutti__malloc((size_t)c->n + 1);
        if (*owner_out)
            memset(*owner_out, 1, (size_t)c->n + 1);
        else
            local_err = TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < n_answers && local_err == TUTTI_OK && owner_out; i++)
        for (size_t q = 0; q < answers[i].bytes / sizeof(tutti__id_run); q++) {
            const tutti__id_run *run = (const tutti__id_run *)answers[i].data + q;
            if (!run->entity) /* another rank owns the entries */
                memset(*owner_out + tutti__sorted_find(c->items, c->n, run->number), 0,
                       (size_t)run->count);
        }
    tutti__sparse_free(n_answers, &answers);
    return local_err;
}
