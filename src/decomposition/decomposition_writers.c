/* decomposition: the writers of entries that several ranks hold (writers.h).  Numbers of items are
 * positions in the space.
 *
 * The rank of a range of positions detects entries with several owners, entries without an owner,
 * and entries that no rank holds.  If no entry has several holders, every rank writes the entries
 * that it holds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposition.h"
#include "decomposition/writers.h"

tutti_err tutti__hole_error(tutti_count position, tutti_count covered, tutti_count entries) {
    TUTTI_FAIL(TUTTI_ERR_MISMATCH,
               "no rank holds position %lld; %lld of the space's %lld entries are held",
               (long long)position, (long long)covered, (long long)entries);
}

/* Check and count the entries of all ranks.   *several_out: number of entries that several ranks
 * hold */
static tutti_err check_and_count_entries(tutti__team *t, const tutti__join *j,
                                         tutti__range_items *g, tutti__shared_out *io,
                                         tutti_count *several_out, int must) {
    int64_t covered = 0, several = 0, hole = INT64_MAX;
    const tutti__reduction all[] = {
        {TUTTI__SUM, &covered}, {TUTTI__SUM, &several}, {TUTTI__MIN, &hole}};
    const tutti_err err = tutti__range_group(j, "position", 1, io->owners, g);
    if (err == TUTTI_OK) {
        covered = g->items.n;
        several = g->shared;
        /* find the lowest position of this range that no rank holds */
        const tutti_count lo = tutti__min(j->directory.first, io->entries);
        const tutti_count hi = tutti__min(j->directory.end, io->entries);
        tutti_count i = 0;
        while (i < covered && g->items.number[i] == lo + i) i++;
        if (lo + i < hi) hole = lo + i;
    }
    TUTTI_TRY(tutti__team_reduce(t, err, 3, all));
    io->whole = covered == io->entries;
    *several_out = several;
    return must && !io->whole ? tutti__hole_error(hole, covered, io->entries) : TUTTI_OK;
}

tutti_err tutti__writers_choose(tutti__team *t, const tutti_replicas_choice *choice, int must,
                                tutti__shared_out *io) {
    tutti__join j = {.record = NULL};
    tutti__range_items g = {.m = 0};
    tutti_count several = 0;
    tutti_off position = 0;
    tutti__mention *mentions = tutti__malloc((size_t)io->n * sizeof *mentions);
    for (tutti_count k = 0; k < io->n && mentions; k++)
        mentions[k] =
            (tutti__mention){io->sorted[k].number, 1, io->own && io->own[io->sorted[k].index]};
    tutti_err err = mentions ? TUTTI_OK : TUTTI_ERR_NOMEM;
    err = tutti__join_make(t, err, (int)sizeof *mentions, io->n, mentions, &j);
    tutti__free(mentions);
    if (err == TUTTI_OK) err = check_and_count_entries(t, &j, &g, io, &several, must);
    if (err == TUTTI_OK && several > 0) {
        err = tutti__chain_choose(t, choice, &g, NULL, NULL, &position);
        /* Send the holders of each entry its writer. */
        if (err == TUTTI_OK) {
            tutti__verdict *out = tutti__malloc((size_t)g.m * sizeof *out), *in = NULL;
            if (out) tutti__range_verdicts(&g, 0, out);
            const tutti_err answered = tutti__join_answer(t, out ? TUTTI_OK : TUTTI_ERR_NOMEM, &j,
                                                          (int)sizeof *out, out, (void **)&in);
            for (tutti_count k = 0; k < io->n && answered == TUTTI_OK; k++)
                io->writes[k] = in[k].writer == t->rank;
            tutti__free(out);
            tutti__free(in);
            err = answered;
        }
    } else {
        for (tutti_count k = 0; k < io->n && err == TUTTI_OK; k++) io->writes[k] = 1;
    }
    tutti__range_free(&g);
    tutti__join_free(&j);
    return err;
}
