/* decomposition: exchange of records between ranks by sparse exchanges, so that no rank has a table
 * of the items of other ranks.  Messages arrive sorted by sender, so appending them gives rank
 * order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/shares.h"

#include <limits.h>
#include <string.h>

#include "base/sorted.h"
#include "comm/collective_count.h"
#include "comm/wait.h"

tutti_err tutti__exchange_if(tutti__team *t, tutti_err local_err, int n,
                             const tutti__sparse_message *out, int *n_in_out,
                             tutti__sparse_message **in_out) {
    return TUTTI_ALSO(
        local_err, tutti__sparse_exchange(t, local_err == TUTTI_OK ? n : 0, out, n_in_out, in_out));
}

/* Messages of items of one size. */
typedef struct {
    int n;
    const tutti__sparse_message *msg;
    size_t item;
} item_messages;

/* Exchange messages, concatenate the received ones, and agree. */
static tutti_err exchange_items(tutti__team *t, tutti_err local_err, const item_messages *m,
                                tutti_count *n_out, void **out) {
    tutti__sparse_message *in = NULL;
    int n_in = 0;
    size_t bytes = 0, at = 0;
    char *all = NULL;
    local_err = tutti__exchange_if(t, local_err, m->n, m->msg, &n_in, &in);
    for (int i = 0; i < n_in; i++) bytes += in[i].bytes;
    if (local_err == TUTTI_OK) {
        all = tutti__malloc(bytes + m->item); /* more than 0 bytes, so that `all` is not NULL */
        if (!all) local_err = TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < n_in && local_err == TUTTI_OK; at += in[i++].bytes)
        if (in[i].bytes > 0) memcpy(all + at, in[i].data, in[i].bytes);
    tutti__sparse_free(n_in, &in);
    const tutti_err err = tutti__team_agree(t, local_err);
    if (err != TUTTI_OK) {
        tutti__free(all);
        return err;
    }
    *n_out = (tutti_count)(bytes / m->item);
    *out = all;
    return TUTTI_OK;
}

tutti_err tutti__ranges_send(tutti__team *t, tutti_err local_err, const tutti__outgoing *o,
                             tutti_count *n_out, void **out) {
    tutti__sparse_message *msg = NULL;
    int n = 0;
    if (local_err == TUTTI_OK) {
        msg = tutti__malloc(((size_t)t->size + 1) * sizeof *msg);
        if (!msg) local_err = TUTTI_ERR_NOMEM;
    }
    for (int r = 0; r < t->size && local_err == TUTTI_OK; r++) {
        const size_t items = (size_t)(o->bound[r + 1] - o->bound[r]);
        if (items > 0)
            msg[n++] = (tutti__sparse_message){r, items * o->item,
                                               (char *)o->data + (size_t)o->bound[r] * o->item};
    }
    const item_messages m = {n, msg, o->item};
    const tutti_err err = exchange_items(t, local_err, &m, n_out, out);
    tutti__free(msg);
    return err;
}

tutti_err tutti__records_send(tutti__team *t, tutti_err local_err, const tutti__outgoing *o,
                              tutti_count *n_out, void **out) {
    const int *to = o->to;
    const size_t item = o->item;
    tutti_count *bound = NULL;
    char *sorted = NULL;
    if (local_err == TUTTI_OK) {
        bound = tutti__calloc((size_t)t->size + 2, sizeof *bound);
        sorted = tutti__malloc((size_t)o->n * item);
        if (!bound || !sorted) local_err = TUTTI_ERR_NOMEM;
    }
    /* counting sort; afterwards bound[r] is the index of the first record for rank r */
    if (local_err == TUTTI_OK) {
        for (tutti_count i = 0; i < o->n; i++) bound[to[i] + 2]++;
        for (int r = 0; r < t->size; r++) bound[r + 2] += bound[r + 1];
        for (tutti_count i = 0; i < o->n; i++)
            memcpy(sorted + (size_t)bound[to[i] + 1]++ * item,
                   (const char *)o->data + (size_t)i * item, item);
    }
    const tutti__outgoing ranges = {.item = item, .data = sorted, .bound = bound};
    const tutti_err err = tutti__ranges_send(t, local_err, &ranges, n_out, out);
    tutti__free(bound);
    tutti__free(sorted);
    return err;
}

tutti_err tutti__send_pairs(tutti__team *t, tutti_err local_err, const tutti__pairs *pairs,
                            tutti_count *n_out, tutti__pair **out) {
    int *to = NULL;
    if (local_err == TUTTI_OK) {
        to = tutti__malloc((size_t)(pairs->n + 1) * sizeof *to);
        if (!to) local_err = TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < pairs->n && local_err == TUTTI_OK; i++)
        to[i] = tutti__share_rank(pairs->all, t->size, pairs->pair[i].item);
    const tutti_err err = tutti__send_records(t, local_err, sizeof **out, pairs->n, pairs->pair, to,
                                              n_out, (void **)out);
    tutti__free(to);
    return err;
}

tutti_err tutti__checksums_before(tutti__team *t, tutti_err local_err, tutti_count n, int64_t *io,
                                  int64_t *before_out) {
    MPI_Request r[2];
    int64_t *all = NULL;
    if (local_err == TUTTI_OK && n > INT_MAX)
        local_err = tutti__error_set(TUTTI_ERR_OVERFLOW, 0, -1,
                                     "cannot sum %lld values at once: the maximum is %d",
                                     (long long)n, INT_MAX);
    if (local_err == TUTTI_OK && !(all = tutti__malloc((size_t)n * sizeof *all)))
        local_err = TUTTI_ERR_NOMEM;
    tutti_err err = tutti__team_agree(t, local_err);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(all && before_out);
        for (int i = 0; i < 2; i++) tutti__collective_add();
        int code = MPI_Iexscan(io, before_out, (int)n, MPI_INT64_T, MPI_SUM, t->comm, &r[0]);
        if (code == MPI_SUCCESS)
            code = MPI_Iallreduce(io, all, (int)n, MPI_INT64_T, MPI_SUM, t->comm, &r[1]);
        err =
            code == MPI_SUCCESS ? tutti__team_finish(2, r) : tutti__error_mpi(code, "MPI_Iexscan");
    }
    if (err == TUTTI_OK && n > 0) memcpy(io, all, (size_t)n * sizeof *io);
    if (err == TUTTI_OK && n > 0 && t->rank == 0) memset(before_out, 0, (size_t)n * sizeof *io);
    tutti__free(all);
    return err;
}

/* ---- values of items of other ranks */

/* List the requested items of other ranks in v->number, ascending, without duplicates. */
static tutti_err select_foreign(const tutti__share_request *q, tutti__share_values *v) {
    tutti_count n = 0;
    for (tutti_count i = 0; i < q->n; i++)
        n += q->number[i] < v->first || q->number[i] >= v->first + v->n;
    v->number = tutti__malloc((size_t)n * sizeof *v->number);
    if (!v->number) return TUTTI_ERR_NOMEM;
    n = 0;
    for (tutti_count i = 0; i < q->n; i++)
        if (q->number[i] < v->first || q->number[i] >= v->first + v->n)
            v->number[n++] = q->number[i];
    v->others = tutti__sort_unique(v->number, n);
    return TUTTI_OK;
}

tutti_err tutti__share_fetch(tutti__team *t, tutti_err local_err, const tutti__share_request *q,
                             tutti__share_values *out) {
    tutti__share_values v = {.item = q->item, .own = q->own};
    tutti__sparse_message *requests = NULL, *msg = NULL;
    tutti_count n = 0;
    char *answer = NULL;
    int n_requests = 0;
    v.first = tutti_size_share(q->all, t->size, t->rank);
    v.n = tutti_size_share(q->all, t->size, t->rank + 1) - v.first;
    if (local_err == TUTTI_OK) local_err = select_foreign(q, &v);
    if (local_err == TUTTI_OK) {
        msg = tutti__malloc(((size_t)t->size + 1) * sizeof *msg);
        if (!msg) local_err = TUTTI_ERR_NOMEM;
    }
    /* make the requests; numbers ascend, so items of one rank are contiguous */
    int messages = 0;
    for (tutti_count i = 0; i < v.others && local_err == TUTTI_OK;) {
        const int r = tutti__share_rank(q->all, t->size, v.number[i]);
        const tutti_count end = tutti_size_share(q->all, t->size, r + 1), begin = i;
        while (i < v.others && v.number[i] < end) i++;
        msg[messages++] =
            (tutti__sparse_message){r, (size_t)(i - begin) * sizeof *v.number, v.number + begin};
    }
    local_err = tutti__exchange_if(t, local_err, messages, msg, &n_requests, &requests);
    /* make the replies: values in the order of each request */
    size_t bytes = 0, at = 0;
    for (int i = 0; i < n_requests; i++) bytes += requests[i].bytes / sizeof *v.number * q->item;
    if (local_err == TUTTI_OK) {
        tutti__free(msg);
        msg = tutti__malloc(((size_t)n_requests + 1) * sizeof *msg);
        answer = tutti__malloc(bytes);
        if (!msg || !answer) local_err = TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < n_requests && local_err == TUTTI_OK; i++) {
        const tutti_count *number = requests[i].data;
        const size_t k = requests[i].bytes / sizeof *number;
        msg[i] = (tutti__sparse_message){requests[i].rank, k * q->item, answer + at};
        for (size_t j = 0; j < k; j++, at += q->item)
            memcpy(answer + at, v.own + (size_t)(number[j] - v.first) * q->item, q->item);
    }
    const item_messages answers = {n_requests, msg, q->item};
    tutti_err err = exchange_items(t, local_err, &answers, &n, (void **)&v.value);
    tutti__sparse_free(n_requests, &requests);
    tutti__free(msg);
    tutti__free(answer);
    TUTTI_ASSERT(err != TUTTI_OK || n == v.others);
    if (err != TUTTI_OK)
        tutti__share_values_free(&v);
    else
        *out = v;
    return err;
}

const void *tutti__share_value(const tutti__share_values *v, tutti_count number) {
    if (number >= v->first && number < v->first + v->n)
        return v->own + (size_t)(number - v->first) * v->item;
    const tutti_count at = tutti__sorted_find(v->number, v->others, number);
    TUTTI_ASSERT(at >= 0);
    return v->value + (size_t)at * v->item;
}

void tutti__share_values_free(tutti__share_values *v) {
    tutti__free(v->number);
    tutti__free(v->value);
    memset(v, 0, sizeof *v);
}
