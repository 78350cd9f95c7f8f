/* timestep: validity of sections (section_state.h): a table with one entry per decomposition.
 *
 * A put of the whole section replaces earlier puts: after a failed sync, only that put must be
 * repeated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/section_state.h"

tutti__section_status tutti__section_status_of(const tutti__section_state *s) {
    int written = 0;
    for (int64_t i = 0; i < s->n; i++) {
        if (s->puts[i].failed) return TUTTI__SECTION_FAILED;
        written |= s->puts[i].ended > 0;
    }
    if (s->is_whole) return TUTTI__SECTION_WHOLE;
    return written ? TUTTI__SECTION_PARTIAL : TUTTI__SECTION_EMPTY;
}

static tutti__section_put *find_put(const tutti__section_state *s, int64_t decomposition) {
    for (int64_t i = 0; i < s->n; i++)
        if (s->puts[i].decomposition == decomposition) return &s->puts[i];
    return NULL;
}

tutti_err tutti__section_put_start(tutti__section_state *s, int64_t decomposition,
                                   int64_t *ticket_out) {
    if (!find_put(s, decomposition)) {
        tutti__section_put *more = tutti__realloc(s->puts, (size_t)(s->n + 1) * sizeof *more);
        if (!more) return TUTTI_ERR_NOMEM;
        s->puts = more;
        s->puts[s->n++] = (tutti__section_put){.decomposition = decomposition};
    }
    *ticket_out = ++s->tickets;
    return TUTTI_OK;
}

void tutti__section_put_failed(tutti__section_state *s, int64_t decomposition) {
    tutti__section_put *p = find_put(s, decomposition);
    TUTTI_ASSERT(p);
    p->ended = p->failed = s->tickets;
}

void tutti__section_put_succeeded(tutti__section_state *s, int64_t decomposition, int64_t ticket,
                                  int is_whole) {
    for (int64_t i = 0; i < s->n; i++) {
        tutti__section_put *p = &s->puts[i];
        const int is_same = p->decomposition == decomposition;
        if ((is_same || is_whole) && p->failed < ticket) p->failed = 0;
        if (is_whole && p->ended < ticket) p->ended = 0;
        if (is_same) p->ended = s->tickets;
    }
    s->is_whole |= is_whole;
}

void tutti__section_sync_failed(tutti__section_state *s) {
    s->tickets++;
    for (int64_t i = 0; i < s->n; i++)
        if (s->puts[i].ended) s->puts[i].failed = s->tickets;
}

void tutti__section_state_free(tutti__section_state *s) {
    tutti__free(s->puts);
    *s = (tutti__section_state){0};
}
