/* segments: write ranked sections: a header, then the entries that each rank writes, in rank order.
 *
 *   header   int64, little-endian: ranks, entries of all ranks, maximum per rank, entries of each
 *            rank
 *   list     the position of each entry in the space, in the same order: "SPACE:entries", written
 *            once for each decomposition, so that other decompositions can find their entries
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "comm/collective_count.h"
#include "comm/wait.h"

enum { HEAD = TUTTI__RANKED_HEAD }; /* number of values before the table */

/* ---- number of entries per rank */

/* Maximum number of cached tutti__ranked_sizes. */
enum { MOST_SIZES = 64 };

void tutti__ranked_trim(tutti_dataset *d) {
    const int64_t more = d->ranked_n - MOST_SIZES;
    if (more <= 0) return;
    for (int64_t i = 0; i < more; i++) tutti__free(d->ranked[i].head);
    d->ranked_n = MOST_SIZES;
    memmove(d->ranked, d->ranked + more, MOST_SIZES * sizeof *d->ranked);
}

void tutti__ranked_free(tutti_dataset *d) {
    for (int64_t i = 0; i < d->ranked_n; i++) tutti__free(d->ranked[i].head);
    tutti__free(d->ranked);
}

static tutti_err gather_sizes(const tutti_dataset *d, int64_t local_err, int64_t *all) {
    MPI_Request r;
    tutti__collective_add();
    TUTTI_MPI(MPI_Iallgather(&local_err, 1, MPI_INT64_T, all, 1, MPI_INT64_T, d->team->comm, &r));
    return tutti__team_finish(1, &r);
}

const tutti__ranked_sizes *tutti__ranked_sizes_of(const tutti_dataset *d, int64_t decomposition) {
    for (int64_t i = 0; i < d->ranked_n; i++)
        if (d->ranked[i].decomposition == decomposition) return &d->ranked[i];
    return NULL;
}

tutti_err tutti__ranked_sizes_exchange(tutti_dataset *d, const tutti__decomposition_facts *facts) {
    const int ranks = d->team->size;
    const tutti_off bytes = tutti__ranked_header(ranks);
    int64_t *head = tutti__calloc(1, (size_t)bytes);
    tutti__ranked_sizes *z =
        head ? tutti__table_grow(&d->ranked, &d->ranked_n, sizeof *d->ranked) : NULL;
    tutti_err err = tutti__team_agree(d->team, z ? TUTTI_OK : TUTTI_ERR_NOMEM);
    if (err == TUTTI_OK)
        err = tutti__team_agree(d->team, gather_sizes(d, facts->written, head + HEAD));
    if (err != TUTTI_OK) {
        if (z) d->ranked_n--;
        tutti__free(head);
        return err;
    }
    TUTTI_ASSERT(z);
    *z = (tutti__ranked_sizes){.decomposition = facts->number, .head = head, .bytes = bytes};
    for (int i = 0; i < ranks; i++) {
        if (i < d->team->rank) z->before += head[HEAD + i];
        head[1] += head[HEAD + i];
        head[2] = tutti__max(head[2], head[HEAD + i]);
    }
    z->all = head[1];
    head[0] = ranks;
    for (int i = 0; i < HEAD + ranks; i++) head[i] = (int64_t)htole64((uint64_t)head[i]);
    return TUTTI_OK;
}

tutti_err tutti__ranked_fits(const tutti__variable *v, const tutti__ranked_sizes *sizes) {
    tutti_off whole = 0;
    TUTTI_CHECK(tutti__mul_ok(sizes->all, tutti__item_bytes(v, v->put_type), &whole) &&
                    whole <= (tutti_off)1 << 58,
                TUTTI_ERR_OVERFLOW,
                "variable '%s' has %lld entries of %lld bytes: a section has at most 2^58 bytes",
                v->name, (long long)sizes->all, (long long)tutti__item_bytes(v, v->put_type));
    return TUTTI_OK;
}

/* ---- lists of entries */

tutti_err tutti__ranked_positions(tutti_decomposition *p, int64_t **out) {
    tutti__decomposition_facts facts;
    tutti__decomposition_facts_of(p, &facts);
    const size_t n = (size_t)facts.entries;
    tutti_count *position = tutti__malloc(n * sizeof *position);
    unsigned char *writes = tutti__malloc(n);
    tutti_err err = position && writes ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__decomposition_list(p, position, NULL, writes);
    size_t k = 0;
    for (size_t i = 0; err == TUTTI_OK && i < n; i++)
        if (writes[i]) position[k++] = (tutti_count)htole64((uint64_t)position[i]);
    tutti__free(writes);
    if (err == TUTTI_OK)
        *out = position;
    else
        tutti__free(position);
    return err;
}

const tutti__variable *tutti__ranked_lists(const tutti_dataset *d, int64_t space) {
    char name[TUTTI__NAME + 16];
    snprintf(name, sizeof name, "%s:entries", tutti__model_space_id(&d->model, space)->name);
    return tutti__model_variable(&d->model, name);
}

static const tutti__listed *find_listed(const tutti_dataset *d, int64_t decomposition) {
    for (int64_t i = 0; i < d->listed_n; i++)
        if (d->listed[i].decomposition == decomposition) return &d->listed[i];
    return NULL;
}

tutti__section *tutti__ranked_list(const tutti_dataset *d, const tutti__variable *v,
                                   int64_t decomposition) {
    const tutti__listed *l = find_listed(d, decomposition);
    if (!l || l->segment != d->now.segment.id) return NULL;
    return tutti__section_now(d, tutti__ranked_lists(d, v->space)->id, l->part);
}

tutti__section *tutti__ranked_new(tutti_dataset *d, const tutti__variable *v, int64_t decomposition,
                                  const tutti__ranked_sizes *sizes) {
    if (!find_listed(d, decomposition)) {
        tutti__section list = {.variable = tutti__ranked_lists(d, v->space)->id,
                               .type = TUTTI_INT64};
        for (int64_t i = 0; i < d->now.sections_n; i++)
            if (d->now.sections[i].variable == list.variable)
                list.part = tutti__max(list.part, d->now.sections[i].part);
        list.part++;
        (void)tutti__section_new(d, &list, 8 * sizes->all);
        /* capacity is reserved */
        d->listed[d->listed_n++] = (tutti__listed){decomposition, d->now.segment.id, list.part};
    }
    const tutti__listed *l = find_listed(d, decomposition);
    const tutti__section new = {
        .variable = v->id, .type = v->put_type, .list_segment = l->segment, .list_part = l->part};
    tutti__section *s =
        tutti__section_new(d, &new, sizes->bytes + sizes->all * tutti__item_bytes(v, v->put_type));
    tutti__section_progress *progress = tutti__section_progress_of(d, s);
    progress->decomposition = decomposition;
    progress->before = sizes->before;
    return s;
}

/* Remove a list that no section of the segment being written uses. */
static void remove_unused_list(tutti_dataset *d, const tutti__section *list) {
    const tutti__section was = *list;
    for (int64_t i = 0; i < d->listed_n; i++) {
        const tutti__listed *l = &d->listed[i];
        if (l->segment != was.segment || l->part != was.part) continue;
        for (int64_t k = 0; k < d->now.sections_n; k++)
            if (d->now.sections[k].list_segment == l->segment &&
                d->now.sections[k].list_part == l->part)
                return;
        d->listed[i] = d->listed[--d->listed_n];
        tutti__section_drop(d, tutti__section_now(d, was.variable, was.part));
        return;
    }
}

void tutti__ranked_drop(tutti_dataset *d, tutti__section *s) {
    const tutti__variable *v = tutti__model_variable_id(&d->model, s->variable);
    const tutti__variable *lists = tutti__ranked_lists(d, v->space);
    const int is_now = s->list_segment == d->now.segment.id;
    const int64_t part = s->list_part;
    tutti__section_drop(d, s);
    const tutti__section *list = is_now ? tutti__section_now(d, lists->id, part) : NULL;
    if (list) remove_unused_list(d, list);
}
