/* collective: the plan cache.  A request for the same bytes, or for the same shape at another
 * offset, reuses an earlier plan.
 *
 * A plan fits a request if the file side and the memory side (and repeats, for reads) are the same
 * trees, at any origin; handles are not compared.  For parts only the file sides are compared, one
 * by one.  Each rank determines for each cached plan the displacement of its access from the
 * planned access, or that the plan does not fit.  The agreement at the start of every operation
 * shows which plans fit all ranks at one displacement; any plan fits ranks without bytes.  The list
 * of plans is the same on all ranks: all ranks add, reorder and evict plans in the same operations.
 * A plan that is in use on some rank does not fit there, so no rank uses it; if it is evicted, that
 * rank frees it when its operation has ended.
 *
 * A plan that was made for bytes in the page cache is not used for bytes outside, and vice versa.
 * Requests and plans count as uncached if they are uncached on any rank.
 *
 * Without staging every rank writes its own bytes, and any displacement is allowed.  Domains of a
 * staged plan are cut at pages, blocks or stripes, so that each of these has one writer.  This
 * remains true only if the displacement is a multiple of their size:
 *
 *   reads        any displacement; multiples only with O_DIRECT, stripes, or a cache per node
 *   writes       multiples; others if a page with two writers takes little time (one
 *                machine's page cache), and only for requests so small that planning takes longer
 *
 * Blocks of an array (domains=array) have fixed offsets: such a plan cannot be displaced.
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

#include <stdatomic.h>

/* Value of a displacement range for a plan that does not fit. */
#define NO_FIT INT64_MIN

/* Up to this number of bytes per aggregator, planning takes longer than pages with two writers. */
static const tutti_off SMALL_BYTES = 1 << 20;

/* ---- comparison with requests */

/* Return whether two sides are equal, at any origin. */
static int have_same_shape(tutti__side a, tutti__side b) {
    a.disp = b.disp = 0;
    return tutti__side_equal(a, b);
}

/* Return whether the request equals the access of the plan displaced by *by_out. */
static int matches_access(const tutti_plan *p, const tutti__op *op, tutti_off *by_out) {
    const tutti_access *a = op->access;
    if (p->asked.batch || op->parts)
        return p->asked.batch && op->parts &&
               tutti__batch_alike(p->asked.batch, op->parts->batch, by_out);
    *by_out = a->file.disp - p->asked.access->file.disp;
    return have_same_shape(p->asked.access->file, a->file) &&
           have_same_shape(p->asked.access->memory, a->memory) &&
           (p->asked.is_write || tutti__repeats_alike(p->asked.access, a));
}

/* Return whether a plan was made for the page cache residency `cold`. */
static int is_as_cold(const tutti_plan *p, int cold) {
    return p->choice.cold == (cold && p->cache.span >= TUTTI__COLD_SPAN);
}

void tutti__plan_cache_match(const tutti_request *r, tutti__finding *x) {
    tutti_off by = 0;
    const int resident = r->progress.background == TUTTI_BACKGROUND_IO_ONLY;
    for (tutti_plan *p = r->op.file->plans.cached; p; p = p->cache.older) {
        tutti__range *range = &x->range[x->n++];
        *range = (tutti__range){NO_FIT, NO_FIT};
        const int fits = x->local_err == TUTTI_OK && !(p->cache.state & TUTTI__BUSY) &&
                         p->asked.is_write == r->op.is_write && p->cache.resident == resident &&
                         p->means.memory_limit == r->op.capacity && p->cache.inside == x->inside &&
                         p->means.block == x->block && matches_access(p, &r->op, &by);
        if (!fits) continue;
        *range = p->asked.access->file.node ? (tutti__range){by, by} : tutti__range_none();
        x->has_match = 1;
        if (x->match || !is_as_cold(p, x->cold)) continue;
        x->match = p;
        x->displacement = p->asked.access->file.node ? by : 0;
    }
}

static int may_displace(const tutti_plan *p, tutti_off by) {
    const tutti_file *f = p->file;
    if (p->means.block > 0 && by % p->means.block != 0) return 0;
    /* the boundaries of an array's blocks are fixed */
    if (p->run && p->two->domains.kind == TUTTI_DOMAINS_ARRAY) return by == 0;
    if (!p->run || by % f->opt.striping_unit == 0) return 1;
    if (f->opt.direct_io || f->layout.striped || f->layout.incoherent) return 0;
    return !p->asked.is_write || p->two->bytes <= SMALL_BYTES * p->two->domains.aggregators;
}

tutti_plan *tutti__plan_cache_choose(const tutti_file *f, tutti__finding *x,
                                     const tutti__range *all) {
    tutti_plan *p = f->plans.cached;
    for (int i = 0; i < x->n; i++, p = p->cache.older) {
        const tutti__range r = all[i];
        const int silent = r.min > r.max; /* no rank has bytes, so any plan fits */
        if (!silent && (r.min != r.max || r.min == NO_FIT)) continue;
        if (!may_displace(p, silent ? 0 : r.min) || !is_as_cold(p, x->cold)) continue;
        x->displacement = silent ? 0 : r.min;
        return p;
    }
    return NULL;
}

/* ---- the list */

static void unlist_plan(tutti_plan *p) {
    tutti_plan **at = &p->file->plans.cached;
    while (*at != p) at = &(*at)->cache.older;
    *at = p->cache.older;
}

int64_t tutti__plan_cache_place(const tutti_plan *p) {
    int64_t place = 0;
    for (const tutti_plan *at = p->file->plans.cached; at != p; at = at->cache.older) place++;
    return place;
}

void tutti__plan_cache_take(tutti_plan *p) {
    unlist_plan(p);
    p->cache.older = p->file->plans.cached;
    p->file->plans.cached = p;
    atomic_fetch_or(&p->cache.state, TUTTI__BUSY);
    p->cache.hits++;
}

/* With background `all` an operation may end while another thread evicts its plan: the thread that
 * clears the last of the two flags frees the plan. */
void tutti__plan_cache_evict(tutti_plan *p) {
    unlist_plan(p);
    p->file->plans.cached_n--;
    const int before = atomic_fetch_and(&p->cache.state, ~TUTTI__CACHED);
    if (!(before & TUTTI__BUSY)) tutti__plan_destroy(&p);
}

void tutti__plan_release(tutti_plan **pp) {
    tutti_plan *p = *pp;
    if (!p) return;
    if (p->means.resident) tutti__plan_segment_drop(p);
    if (p->run) p->engine->sleep(p->run);
    const int before = atomic_fetch_and(&p->cache.state, ~TUTTI__BUSY);
    if (!(before & TUTTI__CACHED)) tutti__plan_destroy(&p);
    *pp = NULL;
}

/* Number of large plans kept per direction: two, for alternating writes of nodes and elements. */
enum { LARGE_KEPT = 2 };

/* Evict the oldest large plan if their number has reached the limit. */
static void evict_large(const tutti_file *f, int is_write) {
    tutti_plan *last = NULL;
    int n = 0;
    for (tutti_plan *p = f->plans.cached; p; p = p->cache.older)
        if (p->cache.described > TUTTI__CACHED_BYTES && p->asked.is_write == is_write) {
            last = p;
            n++;
        }
    if (n >= LARGE_KEPT) tutti__plan_cache_evict(last);
}

void tutti__plan_cache_add(tutti_plan *p) {
    tutti_file *f = p->file;
    const int most = (int)tutti__min(f->opt.plan_cache, TUTTI__RANGES);
    const int large = p->cache.described > TUTTI__CACHED_BYTES;
    if ((large && p->cache.described > p->cache.worth) || p->cache.degraded || most == 0) return;
    if (large) evict_large(f, p->asked.is_write);
    if (f->plans.cached_n == most) {
        tutti_plan *last = f->plans.cached;
        while (last->cache.older) last = last->cache.older;
        tutti__plan_cache_evict(last);
    }
    p->cache.state = TUTTI__CACHED | TUTTI__BUSY;
    p->cache.older = f->plans.cached;
    f->plans.cached = p;
    f->plans.cached_n++;
}

void tutti__plan_cache_clear(tutti_file *f) {
    while (f->plans.cached) tutti__plan_cache_evict(f->plans.cached);
    tutti__plan_destroy(&f->plans.blank);
}
