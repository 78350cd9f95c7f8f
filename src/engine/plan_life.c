/* engine: allocation and release of plans.  collective/plan_make.c makes plans, and
 * collective/plan_cache.c caches them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine.h"

tutti_err tutti__plan_alloc(tutti_file *f, tutti_plan **out) {
    tutti_plan *p = tutti__calloc(1, sizeof *p);
    if (!p) return TUTTI_ERR_NOMEM;
    p->file = f;
    p->two = tutti__calloc(1, sizeof *p->two);
    if (p->two) p->two->agg_rank = tutti__calloc((size_t)f->team->size, sizeof(int));
    if (p->two && p->two->agg_rank) {
        *out = p;
        return TUTTI_OK;
    }
    tutti__plan_destroy(&p);
    return TUTTI_ERR_NOMEM;
}

size_t tutti_plan_size(const tutti_plan *p) {
    if (!p || !tutti__handle_alive(&p->handle, &tutti__plan_class)) return 0;
    return tutti__plan_bytes(p);
}

void tutti__plan_run_free(tutti_plan *p) {
    if (p->run) p->engine->free(p->run);
    p->run = NULL;
}

void tutti__plan_destroy(tutti_plan **pp) {
    tutti_plan *p = *pp;
    if (!p) return;
    tutti__plan_run_free(p);
    tutti__two_phase_free(&p->two);
    tutti__plan_segment_drop(p);
    tutti__access_drop(&p->asked.own);
    tutti__batch_drop(&p->asked.batch);
    tutti__free(p);
    *pp = NULL;
}
