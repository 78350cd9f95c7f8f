/* collective: plans that are remembered.  A program that asks for the same bytes again, or for the same shape
 * at another offset, gets the plan that was made before.
 *
 * A plan fits if file side and memory side (of a read also repeats) are the same trees, wherever
 * they begin; handles do not matter.  Each
 * rank says for each plan that is remembered how far its access lies from the one that was planned
 * (a displacement), or that it does not fit.  One reduction over all ranks, which starts every operation
 * anyway, so tells which plans fit everybody at one displacement; ranks without bytes go along with
 * any.  Lists are the same on all ranks: plans enter, move to the front and leave in step.  One that
 * is in use on some rank does not fit there, and so is used by nobody; if it has to leave, that
 * rank frees it when its operation has ended.
 *
 * Which displacements?  Without staging every rank writes its own bytes, and any will do.  Domains of a staged
 * plan are cut at pages, blocks or stripes, so that each has one writer; a displacement that is no
 * multiple of them would lose that:
 *
 *   reads        any, but with O_DIRECT, stripes, or caches of several nodes multiples only
 *   writes       multiples; others where a shared page costs a little time and nothing else (one
 *                machine's page cache), and only for requests so small that planning takes longer
 *
 * Small requests that come again need one agreement only, the one on the plan:
 *
 *   a read without staging     each rank reads first and asks then.  If the others disagree, it is read again
 *   a write without holes      each rank puts its bytes in their place on the board (comm/nod.c) and asks then.
 *                              If all agree, the first to know writes all of it by one call and tells the others
 *                              how that went; if not, nothing has been written
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdatomic.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "exchange/segment.h"

/* Says that a plan does not fit. */
#define NO_FIT INT64_MIN

/* Larger reads take so long that an agreement more does not matter. */
static const tutti_off AT_ONCE_BYTES = 256 << 10;

/* Up to so many bytes of an aggregator, planning costs more than pages that two of them write. */
static const tutti_off SMALL_BYTES = 1 << 20;

/* ---- do they fit? */

/* Wherever they begin. */
static int same_shape(tutti__side a, tutti__side b) {
    a.disp = b.disp = 0;
    return tutti__side_equal(a, b);
}

static int fits(const tutti_plan *p, const tutti__ask *q, int resident, int inside) {
    return !(p->marks & TUTTI__BUSY) && p->is_write == q->is_write && p->resident == resident &&
           p->inside == inside && same_shape(p->access->file, q->access->file) &&
           same_shape(p->access->memory, q->access->memory) &&
           (p->is_write || tutti__repeats_alike(p->access, q->access));
}

void tutti__remember_seek(const tutti__ask *q, const tutti__means *means, tutti_err mine,
                          tutti__sought *s) {
    const int inside = tutti__fiber_inside();
    for (tutti_plan *p = q->file->kept; p; p = p->older) {
        tutti__range *r = &s->range[s->n++];
        *r = (tutti__range){NO_FIT, NO_FIT};
        if (mine != TUTTI_OK || !fits(p, q, means->resident, inside)) continue;
        const tutti_off by = q->access->file.disp - p->access->file.disp;
        *r = p->access->file.node ? (tutti__range){by, by} : tutti__range_none();
        if (s->mine) continue;
        s->mine = p;
        s->displacement = p->access->file.node ? by : 0;
    }
}

static int may_shift(const tutti_plan *p, tutti_off by) {
    const tutti_file *f = p->file;
    if (!p->run || by % f->align == 0) return 1;
    if (f->opt.direct_io || f->striped || f->incoherent) return 0;
    return !p->is_write || p->two->bytes <= SMALL_BYTES * p->two->domains.aggregators;
}

tutti_plan *tutti__remember_pick(const tutti_file *f, int n, const tutti__range *range,
                                 tutti_off *displacement_out) {
    tutti_plan *p = f->kept;
    for (int i = 0; i < n; i++, p = p->older) {
        const tutti__range r = range[i];
        const int silent = r.min > r.max; /* nobody has any bytes */
        if (!silent && (r.min != r.max || r.min == NO_FIT)) continue;
        if (!may_shift(p, silent ? 0 : r.min)) continue;
        *displacement_out = silent ? 0 : r.min;
        return p;
    }
    return NULL;
}

/* ---- small requests */

static char *buffer_of(const tutti__ask *q, const tutti_plan *p) {
    const tutti_off by = q->access->memory.disp - p->access->memory.disp;
    return (char *)((uintptr_t)q->buf + (uintptr_t)by);
}

/* Somebody else may refuse a write. */
static int may_go_first(const tutti__ask *q, const tutti_plan *p) {
    if (q->is_write && q->file->team->size > 1) return 0;
    if (p->hits == 0 || p->run || q->file->incoherent || q->file->atomic) return 0;
    if (p->method != TUTTI_METHOD_LIST && p->method != TUTTI_METHOD_INDEPENDENT) return 0;
    return tutti_access_bytes(q->access) <= AT_ONCE_BYTES;
}

static tutti_err go_first(const tutti__ask *q, const tutti__means *means, tutti__sought *s) {
    const int batch = s->mine->method == TUTTI_METHOD_INDEPENDENT ? 1 : 1024;
    tutti__op op = tutti__operation_make(s->mine, means, buffer_of(q, s->mine), s->displacement, 0);
    op.eof = TUTTI__OFF_END;
    op.alone = 1;
    TUTTI_TRY(tutti__operation_under_way(tutti__run_list(&op, batch)));
    s->moved = 1;
    s->count = op.moved;
    return TUTTI_OK;
}

static int64_t place_of(const tutti_plan *p) {
    int64_t place = 0;
    for (const tutti_plan *at = p->file->kept; at != p; at = at->older) place++;
    return place;
}

/* Ranks without bytes go along with any plan. */
static void write_to_board(const tutti__ask *q, const tutti__means *means, tutti__sought *s) {
    const tutti_plan *p = s->mine;
    const int64_t place = place_of(p);
    s->count = tutti__access_to_stage(p->access, buffer_of(q, p), p->lo, p->lo + p->bytes,
                                      tutti__board_room(q->file->team), p->lo);
    s->data = s->count > 0 ? (tutti__range){place, place} : tutti__range_none();
    means->stats->copied_bytes += s->count;
}

/* Where ranks have cores of their own and write without staging, they are as quick side by side. */
static int may_be_joint(const tutti__ask *q, const tutti_plan *p) {
    const tutti__board *b = &q->file->team->board;
    return p->joint && b->memory.base && (p->run || b->spins == 0);
}

/* A read that waits for the others needs to know how long the file is. */
tutti_err tutti__remember_move(const tutti__ask *q, const tutti__means *means, tutti__sought *s) {
    const tutti_plan *p = s->mine;
    const tutti__team *t = q->file->team;
    if (!p) return TUTTI_OK;
    if (q->at_once && may_go_first(q, p)) return go_first(q, means, s);
    if (q->at_once && may_be_joint(q, p)) write_to_board(q, means, s);
    if (q->is_write || !tutti__team_nods(t)) return TUTTI_OK;
    return tutti__store_size(means->store, &s->size);
}

int tutti__remember_is_joint(const tutti_plan *p, const tutti__range *data) {
    return p->joint && data->min == data->max && data->min == place_of(p);
}

/* Tests that make a certain rank's access fail want to know who writes. */
static int writer_of(const tutti_file *f) {
    return f->opt.fault[0] ? 0 : -1;
}

/* It did not go well: a vote tells everybody what the writer knows. */
static tutti_err tell_all(tutti__team *t, tutti_err mine) {
    tutti__vote v;
    tutti__vote_init(&v);
    return tutti__team_vote(t, mine, &v);
}

tutti_err tutti__remember_joint(const tutti_plan *p, const tutti__means *means,
                                tutti_off displacement) {
    const tutti_file *f = p->file;
    tutti__team *t = f->team;
    if (!tutti__board_claim(t, writer_of(f)))
        return tutti__board_told(t) ? TUTTI_OK : tell_all(t, TUTTI_OK);
    const tutti_io_run run = {f->origin + displacement + p->lo, tutti__board_room_now(t),
                              (size_t)p->bytes};
    const double start = tutti__now();
    const tutti_err err = tutti__operation_under_way(tutti__store_write(means->store, &run, 1));
    means->stats->seconds_file += tutti__now() - start;
    tutti__trace_event("store", "write", start, p->bytes, -1);
    tutti__board_tell(t, err == TUTTI_OK);
    return err == TUTTI_OK ? TUTTI_OK : tell_all(t, err);
}

/* ---- the list */

static void unlink_kept(tutti_plan *p) {
    tutti_plan **at = &p->file->kept;
    while (*at != p) at = &(*at)->older;
    *at = p->older;
    p->file->kept_n--;
}

static void link_first(tutti_plan *p) {
    p->older = p->file->kept;
    p->file->kept = p;
    p->file->kept_n++;
}

void tutti__remember_use(tutti_plan *p) {
    unlink_kept(p);
    link_first(p);
    atomic_fetch_or(&p->marks, TUTTI__BUSY);
    p->hits++;
}

/* Clear one of its marks; is the other one left?  With background `all` an operation may end here while the
 * thread forgets its plan. */
static int clear(tutti_plan *p, int mark) {
    return (atomic_fetch_and(&p->marks, ~mark) & ~mark) != 0;
}

void tutti__remember_drop(tutti_plan *p) {
    unlink_kept(p);
    if (!clear(p, TUTTI__KEPT)) tutti__plan_destroy(&p);
}

int tutti__remember_rest(tutti_plan *p) {
    return clear(p, TUTTI__BUSY);
}

void tutti__remember_keep(tutti_plan *p) {
    tutti_file *f = p->file;
    const int most = (int)tutti__min(f->opt.plan_cache, TUTTI__RANGES);
    if (p->heavy || p->makeshift || most == 0) return;
    if (f->kept_n == most) {
        tutti_plan *last = f->kept;
        while (last->older) last = last->older;
        tutti__remember_drop(last);
    }
    p->marks = TUTTI__KEPT | TUTTI__BUSY;
    link_first(p);
}

void tutti__remember_end(tutti_file *f) {
    while (f->kept) tutti__remember_drop(f->kept);
    tutti__plan_destroy(&f->blank);
}

/* ---- the board for nods */

enum { WISHES = 8 }; /* operations; fewer are not worth the time it takes to make one */

tutti_err tutti__board_wish(tutti__team *t) {
    tutti__segment memory = {NULL, 0, 0};
    tutti__vote v;
    if (t->board.tried || ++t->board.wishes < WISHES) return TUTTI_OK;
    t->board.tried = 1;
    const size_t bytes = tutti__board_bytes(t);
    if (bytes == 0) return TUTTI_OK;
    const tutti_error_info keep = *tutti_last_error();
    tutti__vote_init(&v);
    v.max[0] = tutti__segment_make(t, 1, bytes, &memory) != TUTTI_OK;
    TUTTI_TRY(tutti__team_vote(t, TUTTI_OK, &v));
    if (v.max[0])
        tutti__segment_drop(&memory);
    else
        tutti__board_use(t, memory);
    tutti__error_assign(&keep); /* messages do as well */
    return TUTTI_OK;
}
