/* timestep: records of puts (put_record.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/put_record.h"

#include "timestep/blocks.h"

tutti_err tutti__put_new(tutti__put_list *list, int64_t targets, tutti__put_record **out) {
    tutti__put_record *r = tutti__calloc(1, sizeof *r), **at = NULL;
    if (r) r->targets = tutti__malloc((size_t)(targets + 1) * sizeof *r->targets);
    if (r && r->targets) at = tutti__table_grow(&list->v, &list->n, sizeof *at);
    if (!at) {
        if (r) tutti__free(r->targets);
        tutti__free(r);
        return TUTTI_ERR_NOMEM;
    }
    r->outcome = TUTTI__PUT_UNKNOWN;
    r->checksums.bytes = TUTTI__BLOCK;
    r->list = list;
    *at = *out = r;
    return TUTTI_OK;
}

static void free_record(tutti__put_record *r) {
    tutti__checksums_free(&r->checksums);
    tutti__free(r->targets);
    tutti__free(r);
}

void tutti__put_drop(tutti__put_record **record) {
    tutti__put_record *r = *record;
    *record = NULL;
    if (!r) return;
    tutti__put_list *list = r->list;
    int64_t i = 0;
    while (list->v[i] != r) i++;
    list->n--;
    for (; i < list->n; i++) list->v[i] = list->v[i + 1];
    free_record(r);
}

tutti_err tutti__put_target_add(tutti__put_record *record, const tutti__put_target *target) {
    const tutti__put_list *list = record->list;
    tutti__put_target *t = &record->targets[record->targets_n];
    *t = *target;
    tutti__section_state *state = list->state_of(list->step, t->variable, t->part);
    TUTTI_TRY(tutti__section_put_start(state, t->entries, &t->ticket));
    record->targets_n++;
    return TUTTI_OK;
}

void tutti__put_end(tutti__put_record *record, tutti_err outcome) {
    const tutti__put_list *list = record->list;
    const int is_abandoned = tutti__request_is_abandoned(record->request);
    record->outcome = outcome;
    record->request = NULL;
    for (int64_t i = 0; i < record->targets_n; i++) {
        const tutti__put_target *t = &record->targets[i];
        tutti__section_state *state = list->state_of(list->step, t->variable, t->part);
        if (!state) continue;
        if (outcome == TUTTI_OK && (t->is_own || !is_abandoned))
            tutti__section_put_succeeded(state, t->entries, t->ticket, t->is_whole);
        else
            tutti__section_put_failed(state, t->entries);
    }
}

int tutti__put_in_flight(const tutti__put_list *list, int64_t variable, int64_t part) {
    for (int64_t i = 0; i < list->n; i++) {
        const tutti__put_record *r = list->v[i];
        for (int64_t k = 0; r->outcome == TUTTI__PUT_UNKNOWN && k < r->targets_n; k++)
            if (r->targets[k].variable == variable && r->targets[k].part == part) return 1;
    }
    return 0;
}

tutti_err tutti__puts_ended(const tutti__put_list *list) {
    for (int64_t i = 0; i < list->n; i++)
        TUTTI_CHECK(list->v[i]->outcome != TUTTI__PUT_UNKNOWN, TUTTI_ERR_STATE,
                    "a put has been started and not completed");
    return TUTTI_OK;
}

void tutti__puts_free(tutti__put_list *list) {
    for (int64_t i = 0; i < list->n; i++) free_record(list->v[i]);
    tutti__free(list->v);
    list->v = NULL;
    list->n = 0;
}
