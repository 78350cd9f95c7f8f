/* Common entries of two files: the items of both are sent to the rank responsible for their range of ids,
 * which matches them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

/* ---- redistribution */

static int rank_of(const cli_world *w, const int64_t range[2], int64_t id) {
    const __int128 wide = (__int128)range[1] - range[0] + 1;
    return (int)(((__int128)id - range[0]) * w->ranks / wide);
}

/* Number of items to and from each rank, and their offsets. */
typedef struct {
    int *send, *send_at, *get, *get_at;
    tutti_count got;
} traffic;

static void traffic_make(const cli_world *w, traffic *t) {
    const size_t n = (size_t)w->ranks;
    t->send = cli_malloc(4 * n * sizeof *t->send);
    memset(t->send, 0, 4 * n * sizeof *t->send);
    t->send_at = t->send + n;
    t->get = t->send + 2 * n;
    t->get_at = t->send + 3 * n;
}

static void traffic_agree(const cli_world *w, traffic *t) {
    MPI_Alltoall(t->send, 1, MPI_INT, t->get, 1, MPI_INT, w->comm);
    t->got = t->get[0];
    for (int r = 1; r < w->ranks; r++) {
        t->send_at[r] = t->send_at[r - 1] + t->send[r - 1];
        t->get_at[r] = t->get_at[r - 1] + t->get[r - 1];
        t->got += t->get[r];
    }
}

static void *exchange_traffic(const cli_world *w, const traffic *t, const void *what,
                              MPI_Datatype type, size_t size) {
    void *got = cli_malloc((size_t)t->got * size);
    MPI_Alltoallv(what, t->send, t->send_at, type, got, t->get, t->get_at, type, w->comm);
    return got;
}

/* Sort items and their factors by destination rank. */
static exodus_item *sort_out(const cli_world *w, const exodus_item *items, tutti_count n,
                             const double *factor, double **factor_out, traffic t[2]) {
    traffic *ti = &t[0], *tf = &t[1];          /* traffic of items, of factors */
    int64_t range[2] = {INT64_MAX, INT64_MAX}; /* the smallest id, and minus the largest */
    exodus_item *out = cli_malloc((size_t)n * sizeof *out);
    tutti_count all = 0;
    for (tutti_count i = 0; i < n; i++) {
        if (items[i].id < range[0]) range[0] = items[i].id;
        if (-items[i].id < range[1]) range[1] = -items[i].id;
    }
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MIN, w->comm);
    range[1] = -range[1];
    for (tutti_count i = 0; i < n; i++) {
        const int r = rank_of(w, range, items[i].id);
        ti->send[r]++;
        tf->send[r] += items[i].factors;
        all += items[i].factors;
    }
    traffic_agree(w, ti);
    traffic_agree(w, tf);
    int *next = cli_malloc(2 * (size_t)w->ranks * sizeof *next), *next_f = next + w->ranks;
    memcpy(next, ti->send_at, (size_t)w->ranks * sizeof *next);
    memcpy(next_f, tf->send_at, (size_t)w->ranks * sizeof *next);
    *factor_out = cli_malloc((size_t)all * sizeof **factor_out);
    for (tutti_count i = 0, from = 0; i < n; i++) {
        const int r = rank_of(w, range, items[i].id);
        out[next[r]++] = items[i];
        for (int k = 0; k < items[i].factors; k++) (*factor_out)[next_f[r]++] = factor[from++];
    }
    free(next);
    return out;
}

/* ---- matching */

const void **exodus_sort_runs(const void *items, tutti_count n, size_t size,
                              int (*compare)(const void *, const void *)) {
    const void **v = cli_malloc((size_t)n * sizeof *v), **w = cli_malloc((size_t)n * sizeof *w);
    tutti_count *start = cli_malloc(((size_t)n + 3) * sizeof *start), runs = 0;
    for (tutti_count i = 0; i < n; i++) {
        v[i] = (const char *)items + (size_t)i * size;
        if (i == 0 || compare(v[i - 1], v[i]) > 0) start[runs++] = i;
    }
    start[runs] = start[runs + 1] = n;
    while (runs > 1) {
        tutti_count k = 0;
        for (; k < runs; k += 2) {
            start[runs + 1] = n; /* a run without a partner is copied */
            tutti_count a = start[k], b = start[k + 1];
            for (tutti_count i = a; i < start[k + 2]; i++)
                w[i] = b == start[k + 2] || (a < start[k + 1] && compare(v[a], v[b]) <= 0) ? v[a++]
                                                                                           : v[b++];
            start[k / 2] = start[k];
        }
        runs = (runs + 1) / 2;
        start[runs] = start[runs + 1] = n;
        const void **t = v;
        v = w;
        w = t;
    }
    free(w);
    free(start);
    return v;
}

static int by_key(const void *a, const void *b) {
    const exodus_item *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->side != y->side) return x->side < y->side ? -1 : 1;
    if (x->file != y->file) return x->file - y->file;
    return (x->place > y->place) - (x->place < y->place);
}

static void pair_up(const exodus_item *items, tutti_count n, exodus_pairs *out) {
    const void **sorted = exodus_sort_runs(items, n, sizeof *items, by_key);
    out->v = cli_malloc((size_t)n * sizeof *out->v);
    for (tutti_count i = 0; i < n; i++) {
        const exodus_item *x = sorted[i], *last = i > 0 ? sorted[i - 1] : NULL;
        const int again =
            last && (x->group == last->group && x->id == last->id && x->side == last->side);
        if (again && x->file == last->file) {
            if (out->twice[x->file]++ == 0) out->twice_id[x->file] = x->id;
            continue;
        }
        exodus_pair *p = &out->v[again ? out->n - 1 : out->n++];
        if (!again)
            *p = (exodus_pair){.group = x->group, .id = x->id, .side = x->side, .place = {-1, -1}};
        p->place[x->file] = x->place;
        p->factors[x->file] = x->factors;
        p->at[x->file] = x->at;
    }
    free(sorted);
}

void exodus_pairs_find(const cli_world *w, exodus_item *items, tutti_count n, const double *factor,
                       exodus_pairs *out) {
    traffic t[2], *ti = &t[0], *tf = &t[1];
    double *sorted_factor = NULL;
    MPI_Datatype type;
    *out = (exodus_pairs){.n = 0};
    if (w->ranks == 1) { /* no communication is needed */
        tutti_count all = 0;
        for (tutti_count i = 0; i < n; all += items[i++].factors) items[i].at = all;
        out->factor = cli_malloc((size_t)all * sizeof *factor);
        if (all > 0) memcpy(out->factor, factor, (size_t)all * sizeof *factor);
        pair_up(items, n, out);
        return;
    }
    traffic_make(w, ti);
    traffic_make(w, tf);
    exodus_item *sorted = sort_out(w, items, n, factor, &sorted_factor, t);
    MPI_Type_contiguous((int)sizeof *sorted, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    exodus_item *got = exchange_traffic(w, ti, sorted, type, sizeof *sorted);
    out->factor = exchange_traffic(w, tf, sorted_factor, MPI_DOUBLE, sizeof *sorted_factor);
    MPI_Type_free(&type);
    for (tutti_count i = 0, at = 0; i < ti->got; at += got[i++].factors) got[i].at = at;
    pair_up(got, ti->got, out);
    free(got);
    free(sorted);
    free(sorted_factor);
    free(ti->send);
    free(tf->send);
}

void exodus_pairs_free(exodus_pairs *p) {
    free(p->v);
    free(p->factor);
    *p = (exodus_pairs){.n = 0};
}

/* ---- ids of positions */

tutti_count exodus_place_of_number(int64_t number) {
    return number > 0 ? number - 1 : -1;
}

/* Read all ids from the smallest to the largest position at once, since the positions of a rank are usually
 * close together.  If the file does not have a position, the library fails on all ranks before memory is
 * allocated. */
int exodus_ids_at(tutti_exodus *x, int kind, tutti_count n, const tutti_count *places,
                  int64_t *ids_out) {
    tutti_count low = n > 0 ? places[0] : 0, high = low;
    for (tutti_count i = 0; i < n; i++) {
        if (places[i] < low) low = places[i];
        if (places[i] > high) high = places[i];
        ids_out[i] = places[i] + 1;
    }
    tutti_exodus_parameters p;
    const int known = tutti_exodus_parameters_get(x, &p) == TUTTI_OK;
    if (known && !exodus_has_ids(&p, kind)) return 0;
    const int right = n == 0 || (known && low >= 0 && high < exodus_entries_of(&p, kind));
    const tutti_count span = n == 0 ? 0 : right ? high - low + 1 : INT64_MAX;
    int64_t *ids = cli_array(right ? span : 1, 1, sizeof *ids);
    const tutti_exodus_array a = exodus_integers(TUTTI_EXODUS_IDS, kind, 0, low, span, ids);
    const tutti_err err = tutti_exodus_get_arrays(x, 1, &a);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) ids_out[i] = ids[places[i] - low];
    free(ids);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}
