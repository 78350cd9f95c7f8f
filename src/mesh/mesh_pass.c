/* mesh: arrays and records from rank to rank.  All of it by sparse exchanges: nobody keeps a table
 * of what the others have, and messages come sorted by sender, so that consecutive pieces of
 * consecutive ranks need only be put one behind the other.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <stdlib.h>
#include <string.h>

/* What has come, one behind the other. */
static tutti_err join(int n_in, const tutti__sparse_message *in, size_t item, tutti_count *n_out,
                      void **out) {
    size_t bytes = 0, at = 0;
    for (int i = 0; i < n_in; i++) bytes += in[i].bytes;
    char *all = tutti__malloc(bytes + item); /* never of size 0: callers tell by NULL */
    if (!all) return TUTTI_ERR_NOMEM;
    for (int i = 0; i < n_in; i++) {
        if (in[i].bytes > 0) memcpy(all + at, in[i].data, in[i].bytes);
        at += in[i].bytes;
    }
    *n_out = (tutti_count)(bytes / item);
    *out = all;
    return TUTTI_OK;
}

/* Send and receive, whatever has gone wrong here; then all agree. */
static tutti_err exchange(tutti__team *t, tutti_err mine, int n, const tutti__sparse_message *msg,
                          size_t item, tutti_count *n_out, void **out) {
    tutti__sparse_message *in = NULL;
    int n_in = 0;
    void *all = NULL;
    mine = TUTTI_ALSO(mine, tutti__sparse_exchange(t, mine == TUTTI_OK ? n : 0,
                                                   mine == TUTTI_OK ? msg : NULL, &n_in, &in));
    if (mine == TUTTI_OK) mine = join(n_in, in, item, n_out, &all);
    tutti__sparse_free(n_in, &in);
    const tutti_err err = tutti__team_agree(t, mine);
    if (err != TUTTI_OK)
        tutti__free(all);
    else
        *out = all;
    return err;
}

tutti_err tutti__mesh_pass(tutti__team *t, tutti_err mine, size_t item, const void *data,
                           const tutti_count *bound, tutti_count *n_out, void **out) {
    int n = 0;
    tutti__sparse_message *msg = NULL;
    if (mine == TUTTI_OK) {
        msg = tutti__malloc(((size_t)t->size + 1) * sizeof *msg);
        if (!msg) mine = TUTTI_ERR_NOMEM;
    }
    for (int r = 0; r < t->size && mine == TUTTI_OK; r++) {
        if (bound[r + 1] == bound[r]) continue;
        msg[n++] = (tutti__sparse_message){r, (size_t)(bound[r + 1] - bound[r]) * item,
                                           (char *)data + (size_t)bound[r] * item};
    }
    const tutti_err err = exchange(t, mine, n, msg, item, n_out, out);
    tutti__free(msg);
    return err;
}

tutti_err tutti__mesh_send(tutti__team *t, tutti_err mine, size_t item, tutti_count n,
                           const void *records, const int *to, tutti_count *n_out, void **out) {
    tutti_count *bound = NULL;
    char *sorted = NULL;
    if (mine == TUTTI_OK) {
        bound = tutti__calloc((size_t)t->size + 2, sizeof *bound);
        sorted = tutti__malloc((size_t)n * item);
        if (!bound || !sorted) mine = TUTTI_ERR_NOMEM;
    }
    if (mine == TUTTI_OK) { /* counting sort; afterwards bound[r] is where r's records begin */
        for (tutti_count i = 0; i < n; i++) bound[to[i] + 2]++;
        for (int r = 0; r < t->size; r++) bound[r + 2] += bound[r + 1];
        for (tutti_count i = 0; i < n; i++)
            memcpy(sorted + (size_t)bound[to[i] + 1]++ * item,
                   (const char *)records + (size_t)i * item, item);
    }
    const tutti_err err = tutti__mesh_pass(t, mine, item, sorted, bound, n_out, out);
    tutti__free(bound);
    tutti__free(sorted);
    return err;
}

tutti_err tutti__mesh_before(tutti__team *t, tutti_err mine, tutti_count n, tutti_count *before_out,
                             tutti_count *all_out) {
    int64_t before = 0, all = n;
    MPI_Request r;
    TUTTI_TRY(tutti__team_agree(t, mine));
    TUTTI_MPI(MPI_Iexscan(&all, &before, 1, MPI_INT64_T, MPI_SUM, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    *before_out = t->rank == 0 ? 0 : before;
    TUTTI_TRY(tutti__team_sum(t, &all, 1));
    *all_out = all;
    return TUTTI_OK;
}

/* ---- asking */

static int by_number(const void *a, const void *b) {
    const tutti_count x = *(const tutti_count *)a, y = *(const tutti_count *)b;
    return (x > y) - (x < y);
}

/* Those that are not this rank's own, each once, ascending. */
static tutti_err foreign(const tutti__mesh_question *q, tutti__mesh_values *v) {
    tutti_count n = 0, kept = 0;
    for (tutti_count i = 0; i < q->n; i++)
        n += q->number[i] < v->first || q->number[i] >= v->first + v->n;
    v->number = tutti__malloc((size_t)n * sizeof *v->number);
    if (!v->number) return TUTTI_ERR_NOMEM;
    n = 0;
    for (tutti_count i = 0; i < q->n; i++)
        if (q->number[i] < v->first || q->number[i] >= v->first + v->n)
            v->number[n++] = q->number[i];
    qsort(v->number, (size_t)n, sizeof *v->number, by_number);
    for (tutti_count i = 0; i < n; i++)
        if (kept == 0 || v->number[i] != v->number[kept - 1]) v->number[kept++] = v->number[i];
    v->others = kept;
    return TUTTI_OK;
}

tutti_err tutti__mesh_ask(tutti__team *t, tutti_err mine, const tutti__mesh_question *q,
                          tutti__mesh_values *out) {
    tutti__mesh_values v = {.item = q->item, .own = q->own};
    tutti__sparse_message *asked = NULL, *msg = NULL;
    tutti_count n = 0;
    char *answer = NULL;
    int n_asked = 0;
    v.first = tutti__mesh_first(q->all, t->size, t->rank);
    v.n = tutti__mesh_first(q->all, t->size, t->rank + 1) - v.first;
    if (mine == TUTTI_OK) mine = foreign(q, &v);
    if (mine == TUTTI_OK) {
        msg = tutti__malloc(((size_t)t->size + 1) * sizeof *msg);
        if (!msg) mine = TUTTI_ERR_NOMEM;
    }
    /* questions: sorted numbers, so that those for one rank are together */
    int n_msg = 0;
    for (tutti_count i = 0; i < v.others && mine == TUTTI_OK;) {
        const int r = tutti__mesh_home(q->all, t->size, v.number[i]);
        const tutti_count end = tutti__mesh_first(q->all, t->size, r + 1), begin = i;
        while (i < v.others && v.number[i] < end) i++;
        msg[n_msg++] =
            (tutti__sparse_message){r, (size_t)(i - begin) * sizeof *v.number, v.number + begin};
    }
    mine = TUTTI_ALSO(
        mine, tutti__sparse_exchange(t, mine == TUTTI_OK ? n_msg : 0, msg, &n_asked, &asked));
    /* answers, to each who asked, in the order of its numbers */
    size_t bytes = 0, at = 0;
    for (int i = 0; i < n_asked; i++) bytes += asked[i].bytes / sizeof *v.number * q->item;
    if (mine == TUTTI_OK) {
        tutti__free(msg);
        msg = tutti__malloc(((size_t)n_asked + 1) * sizeof *msg);
        answer = tutti__malloc(bytes);
        if (!msg || !answer) mine = TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < n_asked && mine == TUTTI_OK; i++) {
        const tutti_count *number = asked[i].data;
        const size_t k = asked[i].bytes / sizeof *number;
        msg[i] = (tutti__sparse_message){asked[i].rank, k * q->item, answer + at};
        for (size_t j = 0; j < k; j++, at += q->item)
            memcpy(answer + at, v.own + (size_t)(number[j] - v.first) * q->item, q->item);
    }
    tutti_err err = exchange(t, mine, n_asked, msg, q->item, &n, (void **)&v.value);
    tutti__sparse_free(n_asked, &asked);
    tutti__free(msg);
    tutti__free(answer);
    TUTTI_ASSERT(err != TUTTI_OK || n == v.others);
    if (err != TUTTI_OK)
        tutti__mesh_values_free(&v);
    else
        *out = v;
    return err;
}

const void *tutti__mesh_value(const tutti__mesh_values *v, tutti_count number) {
    tutti_count lo = 0, hi = v->others;
    if (number >= v->first && number < v->first + v->n)
        return v->own + (size_t)(number - v->first) * v->item;
    while (lo + 1 < hi) {
        const tutti_count mid = (lo + hi) / 2;
        if (v->number[mid] <= number)
            lo = mid;
        else
            hi = mid;
    }
    TUTTI_ASSERT(lo < v->others && v->number[lo] == number);
    return v->value + (size_t)lo * v->item;
}

void tutti__mesh_values_free(tutti__mesh_values *v) {
    tutti__free(v->number);
    tutti__free(v->value);
    memset(v, 0, sizeof *v);
}
