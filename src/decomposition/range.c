/* decomposition: the items of a range with their holders, from the records of all ranks, in the
 * order of the file; and the answers to the holders.
 *
 * The join groups the mentions of each item, with ascending holders.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/writers.h"

#include <stdio.h>

void tutti__range_free(tutti__range_items *g) {
    void *const all[] = {g->given, g->number, g->bytes, g->start, g->holder, g->owner, g->writer};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    *g = (tutti__range_items){.m = 0};
}

/* ---- items in error messages */

/* The mentions of one item: sorted[from] ... sorted[to - 1]. */
typedef struct {
    const tutti__directory *d;
    const tutti__range_items *g;
    tutti_count from, to;
} group;

static const tutti__mention *get_mention(const group *x, tutti_count j) {
    return &x->g->received[x->g->sorted[j].index];
}

static int get_holder(const group *x, tutti_count j) {
    return tutti__directory_source(x->d, x->g->sorted[j].index);
}

/* Format the holders of an item (or only those that own it) like "ranks 0, 2 and 5"; after eight
 * ranks, "and 7 more". */
static const char *print_ranks(const group *x, int owners_only, char *text, size_t size) {
    enum { SHOWN = 8 };
    int shown = 0;
    size_t at = 0;
    tutti_count left = 0;
    for (tutti_count j = x->from; j < x->to; j++) left += !owners_only || get_mention(x, j)->own;
    at += (size_t)snprintf(text, size, left == 1 ? "rank" : "ranks");
    for (tutti_count j = x->from; j < x->to && shown < SHOWN; j++) {
        if (owners_only && !get_mention(x, j)->own) continue;
        const char *between = shown == 0 ? "" : left == 1 ? " and" : ",";
        at += (size_t)snprintf(text + at, size - at, "%s %d", between, get_holder(x, j));
        shown++;
        left--;
    }
    if (left > 0) snprintf(text + at, size - at, " and %lld more", (long long)left);
    return text;
}

/* Check that all holders pass the same load and, if `owners`, that exactly one of them owns the
 * item.  The error has the first rank concerned. */
static tutti_err check_item(const group *x, int owners) {
    char text[128];
    tutti_count owned = 0, owner = x->from;
    const tutti__mention *first = get_mention(x, x->from);
    const long long number = first->number;
    for (tutti_count j = x->from; j < x->to; j++) {
        const tutti__mention *other = get_mention(x, j);
        if (other->own && owned++ == 0) owner = j;
        if (other->load == first->load) continue;
        tutti__error_record(TUTTI_ERR_MISMATCH, 0, -1,
                            "%s %lld has load %lld on rank %d and %lld on rank %d", x->g->what,
                            number, (long long)first->load, get_holder(x, x->from),
                            (long long)other->load, get_holder(x, j));
        tutti__error_context(NULL, NULL, get_holder(x, x->from));
        return TUTTI_ERR_MISMATCH;
    }
    if (!owners || owned == 1) return TUTTI_OK;
    if (owned == 0)
        tutti__error_record(TUTTI_ERR_MISMATCH, 0, -1, "no rank owns %s %lld, which %s hold%s",
                            x->g->what, number, print_ranks(x, 0, text, sizeof text),
                            x->to - x->from == 1 ? "s" : "");
    else
        tutti__error_record(TUTTI_ERR_MISMATCH, 0, -1, "%s %lld is owned by %s", x->g->what, number,
                            print_ranks(x, 1, text, sizeof text));
    tutti__error_context(NULL, NULL, get_holder(x, owner));
    return TUTTI_ERR_MISMATCH;
}

/* ---- items */

tutti_err tutti__range_group(const tutti__join *join, const char *what, tutti_off value_bytes,
                             int owners, tutti__range_items *g) {
    *g = (tutti__range_items){.what = what,
                              .join = join,
                              .m = join->directory.m,
                              .received = join->record,
                              .sorted = join->sorted};
    tutti_count size = 0;
    for (tutti_count j = 0; j < g->m; j = tutti__join_group_end(g->join, j)) size++;
    g->number = tutti__malloc((size_t)size * sizeof *g->number);
    g->bytes = tutti__malloc((size_t)size * sizeof *g->bytes);
    g->start = tutti__malloc((size_t)(size + 1) * sizeof *g->start);
    g->holder = tutti__malloc((size_t)g->m * sizeof *g->holder);
    g->owner = tutti__malloc((size_t)size * sizeof *g->owner);
    g->writer = tutti__malloc((size_t)size * sizeof *g->writer);
    TUTTI_TRY(g->number && g->bytes && g->start && g->holder && g->owner && g->writer
                  ? TUTTI_OK
                  : TUTTI_ERR_NOMEM);
    group x = {&join->directory, g, 0, 0};
    tutti_count n = 0, holders = 0;
    for (; x.from < g->m; x.from = x.to) {
        x.to = tutti__join_group_end(g->join, x.from);
        TUTTI_TRY(check_item(&x, owners));
        const tutti_count load = get_mention(&x, x.from)->load;
        if (load == 0) continue;
        g->number[n] = g->sorted[x.from].number;
        g->bytes[n] = load * value_bytes;
        /* a total above 2^62 means overflow */
        const tutti_off most = (tutti_off)1 << 62;
        g->total =
            g->total > most || g->bytes[n] > most - g->total ? most + 1 : g->total + g->bytes[n];
        g->start[n] = holders;
        for (tutti_count j = x.from; j < x.to; j++) {
            g->holder[holders++] = get_holder(&x, j);
            if (get_mention(&x, j)->own) g->owner[n] = g->holder[holders - 1];
        }
        g->shared += x.to - x.from > 1;
        n++;
    }
    g->start[n] = g->copies = holders;
    g->items = (tutti__items){.n = n,
                              .number = g->number,
                              .bytes = g->bytes,
                              .start = g->start,
                              .holder = g->holder,
                              .owner = owners ? g->owner : NULL,
                              .owner_behind = -1};
    return TUTTI_OK;
}

void tutti__range_verdicts(const tutti__range_items *g, tutti_off position,
                           tutti__verdict *verdicts) {
    tutti_count i = 0, to = 0;
    for (tutti_count from = 0; from < g->m; from = to) {
        to = tutti__join_group_end(g->join, from);
        const tutti_count first = g->sorted[from].index;
        const int has_load = g->received[first].load > 0;
        const tutti__verdict v = {g->given ? g->given[first] : position,
                                  has_load ? g->writer[i] : -1, to - from > 1};
        for (tutti_count j = from; j < to; j++) verdicts[g->sorted[j].index] = v;
        if (has_load) position += g->bytes[i++];
    }
}

tutti_err tutti__range_shared(const tutti__range_items *g, tutti__shared_items *out) {
    tutti_count to = 0, n = 0, holders = 0;
    for (tutti_count i = 0; i < g->items.n; i++)
        if (!tutti__items_local(&g->items, i)) holders += g->start[i + 1] - g->start[i];
    *out =
        (tutti__shared_items){.n = g->shared,
                              .number = tutti__malloc((size_t)g->shared * sizeof *out->number),
                              .start = tutti__malloc((size_t)(g->shared + 1) * sizeof *out->start),
                              .mention = tutti__malloc((size_t)holders * sizeof *out->mention)};
    if (!out->number || !out->start || !out->mention) return TUTTI_ERR_NOMEM;
    holders = 0;
    for (tutti_count from = 0; from < g->m; from = to) {
        to = tutti__join_group_end(g->join, from);
        if (to - from == 1 || g->received[g->sorted[from].index].load == 0) continue;
        out->number[n] = g->sorted[from].number;
        out->start[n++] = holders;
        for (tutti_count j = from; j < to; j++) out->mention[holders++] = g->sorted[j].index;
    }
    out->start[n] = holders;
    return TUTTI_OK;
}
