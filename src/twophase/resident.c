/* twophase: staging memory of a node: the needs of a plan, and resident plans, which have memory
 * for all of their windows at once, so that file access continues while the program computes.
 *
 * Memory is counted on the largest node: the option background_bytes limits the sum of all
 * operations there.  The team keeps one segment for the next resident plan.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "twophase/plan.h"

#include <string.h>

#include "direct/direct.h"
#include "exchange/segment.h"
#include "exchange/shuffle.h"
#include "comm/vote.h"
#include "exchange/staging.h"

/* Return the memory on a node in bytes if each group has `bytes`; without sharing every rank is a
 * group. */
static tutti_off bytes_on_node(const tutti_plan *p, size_t bytes) {
    return (tutti_off)bytes * (p->two->shared ? 1 : p->file->team->nodes.largest);
}

static tutti_off stage_bytes_on_node(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const int slots = t->window_slots + t->relay_slots;
    return bytes_on_node(p, tutti__stage_bytes(t->groups->largest, slots, t->domains.window));
}

tutti_off tutti__plan_moving(const tutti_plan *p) {
    const tutti__two_phase *t = p->two;
    const tutti_off ranks = p->file->team->nodes.largest, sub = p->file->opt.sub_buffers;
    if (t->literal) { /* resident: windows in addition to MPI windows, or instead of sub-buffers */
        const int beside = !p->means.resident                    ? 0
                           : t->kind == TUTTI_EXCHANGE_TWO_SIDED ? t->window_slots - t->lanes
                                                                 : t->window_slots;
        return ranks * (tutti__exchange_buffers(t->kind, t->step, t->lanes) + beside) *
               t->domains.window;
    }
    const tutti_off messages = t->messages ? tutti__min(t->window_slots, sub) + t->relay_slots : 0;
    return stage_bytes_on_node(p) + ranks * messages * t->domains.window;
}

tutti_off tutti__plan_staging(const tutti_plan *p) {
    if (p->choice.method == TUTTI_METHOD_SIEVE)
        return tutti__sieve_bytes(p->file, p->means.memory_limit);
    if (!p->run) return 0;
    const tutti_off spare = p->memory.segment.base
                                ? bytes_on_node(p, p->memory.segment.bytes) - stage_bytes_on_node(p)
                                : 0;
    return (tutti__plan_moving(p) + spare) / p->file->team->nodes.largest;
}

int tutti__resident_fits(const tutti_plan *p) {
    return (p->means.memory_limit == 0 || tutti__plan_moving(p) <= p->means.memory_limit) &&
           p->two->elsewhere + stage_bytes_on_node(p) <= p->file->opt.background_bytes;
}

/* Operations may end later on some ranks than on others, so all ranks agree on the memory in
 * use. */
tutti_err tutti__resident_slots(tutti_plan *p, tutti_err local_err, int *fits_out) {
    tutti__two_phase *t = p->two;
    int64_t windows = 0, elsewhere = p->file->team->staging->background;
    const tutti__reduction all[] = {{TUTTI__MAX, &windows}, {TUTTI__MAX, &elsewhere}};
    const tutti_count most =
        tutti__min(p->file->opt.background_bytes / t->domains.window + 2, 1 << 20);
    if (local_err == TUTTI_OK && t->my_agg >= 0) { /* count windows with bytes, at most `most` */
        tutti_count c = tutti__incoming_next(t, &t->incoming, 0, TUTTI__OFF_END);
        for (; c >= 0 && windows < most; windows++)
            c = tutti__incoming_next(t, &t->incoming, c + 1, TUTTI__OFF_END);
    }
    TUTTI_TRY(tutti__team_reduce(p->file->team, local_err, 2, all));
    t->window_slots = (int)tutti__max(windows, 1);
    t->elsewhere = elsewhere;
    *fits_out = windows < most && tutti__resident_fits(p);
    TUTTI_ASSERT(tutti__two_phase_is_valid(t));
    return TUTTI_OK;
}

/* Reuse the memory of an earlier operation, which is the same on all ranks of a node, if it is
 * suitable. */
tutti_err tutti__resident_ensure(tutti_plan *p, size_t bytes) {
    const tutti__two_phase *t = p->two;
    tutti__team *team = p->file->team;
    const tutti__segment *spare = &team->staging->spare;
    const tutti_off spare_bytes = bytes_on_node(p, spare->bytes), limit = p->means.memory_limit;
    const int suits = spare->bytes >= bytes &&
                      spare->shared == (t->shared && t->groups->size > 1) &&
                      (limit == 0 || spare_bytes <= limit);
    if (suits && t->elsewhere + spare_bytes <= p->file->opt.background_bytes) {
        p->memory.segment = *spare;
        memset(&team->staging->spare, 0, sizeof team->staging->spare);
    } else {
        tutti__segment_drop(&team->staging->spare);
        TUTTI_TRY(tutti__segment_make(team, t->shared, bytes, &p->memory.segment));
    }
    p->memory.counted_bytes = bytes_on_node(p, p->memory.segment.bytes);
    team->staging->background += p->memory.counted_bytes;
    return TUTTI_OK;
}

void tutti__resident_not(tutti_plan *p) {
    tutti__plan_segment_drop(p);
    p->means.resident = 0;
}

void tutti__plan_segment_drop(tutti_plan *p) {
    if (p->memory.counted_bytes > 0 && p->file->team)
        p->file->team->staging->background -= p->memory.counted_bytes;
    p->memory.counted_bytes = 0;
    tutti__segment_drop(&p->memory.segment);
}
