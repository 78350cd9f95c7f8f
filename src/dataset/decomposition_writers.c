/* dataset: who writes the entries that several ranks hold: the directory, ranges and rules of
 * replicas, with the positions in the space as numbers.
 *
 * The rank of a range of positions sees all who hold them: it finds out two owners, none, and what
 * nobody holds.  Where no entry is held twice the rules are not asked: everybody writes what it
 * holds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/decomposition.h"
#include "replicas/replicas_impl.h"

tutti_err tutti__hole_error(tutti_count place, tutti_count held, tutti_count entries) {
    TUTTI_FAIL(TUTTI_ERR_MISMATCH,
               "nobody holds position %lld; %lld of the space's %lld entries are held",
               (long long)place, (long long)held, (long long)entries);
}

/* The lowest position of this range that nobody holds; INT64_MAX: there is none. */
static tutti_count first_hole(const tutti__team *t, const tutti__directory *d,
                              const tutti__items *items, tutti_count entries) {
    const tutti_count lo = tutti__min(d->first[t->rank], entries);
    const tutti_count hi =
        t->rank + 1 < t->size ? tutti__min(d->first[t->rank + 1], entries) : entries;
    for (tutti_count i = 0; i < items->n; i++)
        if (items->number[i] != lo + i) return lo + i;
    return lo + items->n < hi ? lo + items->n : INT64_MAX;
}

/* Everything of this rank that goes to the directory. */
static tutti_err mentions_make(const tutti__shared_out *s, int64_t **number_out,
                               tutti__mention **mentions_out) {
    int64_t *number = tutti__malloc((size_t)s->n * sizeof *number);
    tutti__mention *mentions = tutti__malloc((size_t)s->n * sizeof *mentions);
    *number_out = number;
    *mentions_out = mentions;
    if (!number || !mentions) return TUTTI_ERR_NOMEM;
    for (tutti_count j = 0; j < s->n; j++) {
        number[j] = s->sorted[j].number;
        mentions[j] = (tutti__mention){number[j], 1, s->own && s->own[s->sorted[j].index]};
    }
    return TUTTI_OK;
}

/* What all have said is here: checked and counted.   *several_out: entries that more than one
 * holds. */
static tutti_err look_over(tutti__team *t, const tutti__directory *d, tutti__range_items *g,
                           tutti__shared_out *io, tutti_count *several_out, int must) {
    int64_t held = 0, several = 0, hole = INT64_MAX;
    const tutti__reduction all[] = {
        {TUTTI__SUM, &held}, {TUTTI__SUM, &several}, {TUTTI__MIN, &hole}};
    const tutti_err err = tutti__range_group(d, 1, io->owners, g);
    if (err == TUTTI_OK) {
        held = g->items.n;
        several = g->shared;
        hole = first_hole(t, d, &g->items, io->entries);
    }
    TUTTI_TRY(tutti__team_reduce(t, err, 3, all));
    io->whole = held == io->entries;
    *several_out = several;
    return must && !io->whole ? tutti__hole_error(hole, held, io->entries) : TUTTI_OK;
}

/* Verdicts go back to the holders. */
static tutti_err tell(tutti__team *t, const tutti__directory *d, const tutti__range_items *g,
                      tutti__shared_out *io) {
    tutti__verdict *out = tutti__malloc((size_t)d->m * sizeof *out);
    tutti__verdict *in = tutti__malloc((size_t)d->n * sizeof *in);
    tutti_err err = tutti__team_agree(t, out && in ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(out && in);
        tutti__range_verdicts(g, 0, out);
        err = tutti__directory_answer(t, d, (int)sizeof *out, out, in);
    }
    for (tutti_count j = 0; j < io->n && err == TUTTI_OK; j++)
        io->mine[j] = in[j].writer == t->rank;
    tutti__free(out);
    tutti__free(in);
    return err;
}

tutti_err tutti__writers_choose(tutti__team *t, const tutti_replicas_choice *choice, int must,
                                tutti__shared_out *io) {
    int64_t *number = NULL;
    tutti__mention *mentions = NULL;
    tutti__directory d = {.ranks = 0};
    tutti__range_items g = {.m = 0};
    tutti_replicas shares = {.n = 0}; /* shares and statistics are not kept */
    tutti_count several = 0;
    tutti_off position = 0;
    tutti_err err = tutti__team_agree(t, mentions_make(io, &number, &mentions));
    if (err == TUTTI_OK) err = tutti__directory_make(t, io->n, number, &d);
    if (err == TUTTI_OK) err = tutti__team_agree(t, tutti__range_make(&d, &g));
    if (err == TUTTI_OK) {
        g.what = "position";
        err = tutti__directory_ask(t, &d, (int)sizeof *mentions, mentions, g.came);
    }
    tutti__free(number);
    tutti__free(mentions);
    if (err == TUTTI_OK) err = look_over(t, &d, &g, io, &several, must);
    if (err == TUTTI_OK && several > 0) {
        err = tutti__chain_choose(t, choice, &g, &shares, &position);
        if (err == TUTTI_OK) err = tell(t, &d, &g, io);
    } else {
        for (tutti_count j = 0; j < io->n && err == TUTTI_OK; j++) io->mine[j] = 1;
    }
    tutti__free(shares.shares);
    tutti__range_free(&g);
    tutti__directory_free(&d);
    return err;
}
