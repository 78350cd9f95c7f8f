/* dataset: records of puts: which sections of the segment being written each put writes, and how their states change when it ends
 * or a sync fails.  Local.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/dataset_impl.h"

tutti__section *tutti__writing_section(const tutti__writing *w, int64_t variable, int64_t part) {
    for (int64_t i = 0; i < w->sections_n; i++)
        if (w->sections[i].variable == variable && w->sections[i].part == part)
            return &w->sections[i];
    return NULL;
}

tutti__section *tutti__section_now(tutti_dataset *d, int64_t variable, int64_t part) {
    return tutti__writing_section(&d->now, variable, part);
}

tutti__section_progress *tutti__section_progress_of(const tutti_dataset *d,
                                                    const tutti__section *s) {
    return &d->now.progress[s - d->now.sections];
}

int tutti__section_in_flight(const tutti_dataset *d, const tutti__section *s) {
    for (int64_t i = 0; i < d->now.records_n; i++) {
        const tutti__put_record *r = d->now.records[i];
        for (int64_t k = 0; r->outcome == TUTTI__PUT_UNKNOWN && k < r->targets_n; k++)
            if (r->targets[k].variable == s->variable && r->targets[k].part == s->part) return 1;
    }
    return 0;
}

/* ---- puts */

tutti_err tutti__record_new(tutti_dataset *d, tutti__put_record **out) {
    tutti__put_record *r = tutti__calloc(1, sizeof *r);
    tutti__put_record **at =
        r ? tutti__table_grow(&d->now.records, &d->now.records_n, sizeof *at) : NULL;
    if (!at) {
        tutti__free(r);
        return TUTTI_ERR_NOMEM;
    }
    r->outcome = TUTTI__PUT_UNKNOWN;
    r->sums.bytes = TUTTI__BLOCK;
    r->dataset = d;
    *at = *out = r;
    return TUTTI_OK;
}

tutti_err tutti__record_target(tutti_dataset *d, tutti__put_record *record, const tutti__section *s,
                               int64_t decomposition, int is_whole) {
    tutti__section_progress *progress = tutti__section_progress_of(d, s);
    progress->record = d->now.records_n - 1;
    progress->puts++;
    tutti__put_target *t = tutti__table_grow(&record->targets, &record->targets_n, sizeof *t);
    if (!t) return TUTTI_ERR_NOMEM;
    *t = (tutti__put_target){s->variable, s->part, decomposition, 0, is_whole};
    const tutti_err err = tutti__section_put_start(&progress->state, decomposition, &t->ticket);
    if (err != TUTTI_OK) record->targets_n--;
    return err;
}

void tutti__record_end(tutti__put_record *record, tutti_err outcome) {
    tutti_dataset *d = record->dataset;
    record->outcome = outcome;
    record->request = NULL;
    for (int64_t i = 0; i < record->targets_n; i++) {
        const tutti__put_target *t = &record->targets[i];
        const tutti__section *s = tutti__section_now(d, t->variable, t->part);
        if (!s) continue;
        tutti__section_state *state = &tutti__section_progress_of(d, s)->state;
        if (outcome == TUTTI_OK)
            tutti__section_put_succeeded(state, t->decomposition, t->ticket, t->is_whole);
        else
            tutti__section_put_failed(state, t->decomposition);
    }
}

void tutti__sections_sync_failed(tutti_dataset *d) {
    for (int64_t i = 0; i <= d->waiting_n; i++) {
        tutti__writing *w = i == d->waiting_n ? &d->now : &d->waiting[i];
        if (w->row.id != d->now.row.id) continue;
        w->failed_sync = 1;
        for (int64_t k = 0; k < w->sections_n; k++) {
            tutti__section_sync_failed(&w->progress[k].state);
            w->progress[k].needs_base = 1;
        }
    }
}
