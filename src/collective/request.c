/* collective: operations under way.  An operation has two halves,
 *
 *   depart   plan, and what needs the other ranks at once: the exchange of a write
 *   arrive   the rest: file access, the exchange of a read, the agreement on the outcome
 *
 * and one of three vehicles: a split collective departs in begin and arrives in end; a non-blocking one is a
 * fiber, which moves on whenever the thread is in a call of the library (and it goes without as
 * long as it only has to look whether the others have answered: light_move); with background `all`
 * a thread runs both.  Operations of one file depart one after the other in the order in which they were
 * started, which is the same on all ranks, since departing uses the team's communicator; they arrive
 * in any order, since the last agreement has a tag of its own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "collective/worker.h"

/* The requests that have fibers.  Whoever has the lock runs them, whichever thread started them; not those of
 * files that another thread is using, which runs them itself where it waits. */
static pthread_mutex_t travel_lock = PTHREAD_MUTEX_INITIALIZER;
static tutti_request *travelling;
static atomic_int travellers;
static atomic_int anywhere; /* any thread may call MPI at any time: MPI_THREAD_MULTIPLE */

static int state_of(const tutti_request *r) {
    return atomic_load_explicit(&r->state, memory_order_acquire);
}

static void state_set(tutti_request *r, int state) {
    atomic_store_explicit(&r->state, state, memory_order_release);
}

/* ---- the two halves; they wait where they have to */

static void ended(tutti_request *r, tutti_err err) {
    r->outcome = err;
    if (err != TUTTI_OK) r->trouble = *tutti_last_error();
    r->over = 1;
}

static tutti__means means_of(tutti_request *r) {
    const int away = r->background != TUTTI_BACKGROUND_NONE && r->file->away;
    return (tutti__means){away ? r->file->away : r->file->store, &r->stats,
                          r->background == TUTTI_BACKGROUND_IO_ONLY, r->room};
}

static tutti__ask ask_of(const tutti_request *r, const tutti__means *means) {
    const int how = r->split ? TUTTI__SPLIT : TUTTI__STARTED;
    return (tutti__ask){r->file,
                        r->access,
                        r->buf,
                        r->is_write,
                        .at_once = r->least == 0 && !means->resident,
                        .how = how,
                        .inside = r->light || tutti__fiber_inside(),
                        .agrees = r->agrees};
}

/* What has been found is the request's. */
static void plan_take(tutti_request *r, const tutti__found *found) {
    r->owns_plan = 1;
    r->all_split = found->split;
    r->plan = found->plan;
    r->buf = found->buf;
    r->displacement = found->displacement;
}

static tutti_err plan_get(tutti_request *r, const tutti__means *means, tutti__found *found) {
    if (r->refused != TUTTI_OK) tutti__error_assign(&r->trouble);
    if (r->plan) {
        *found = (tutti__found){.plan = r->plan, .displacement = r->displacement};
        r->stats.plan_reuses += r->plan->used;
        return tutti__operation_resume(found, means->store,
                                       r->split ? TUTTI__SPLIT : TUTTI__STARTED, r->refused);
    }
    if (r->light) {
        TUTTI_TRY(tutti__search_rest(&r->search, found));
    } else {
        const tutti__ask ask = ask_of(r, means);
        TUTTI_TRY(tutti__operation_find(&ask, means, r->refused, found));
    }
    plan_take(r, found);
    return TUTTI_OK;
}

/* Is file access really left to somebody else?  For the statistics. */
static void count_background(tutti_request *r, const tutti__means *means) {
    if (r->background == TUTTI_BACKGROUND_ALL || (r->resident && means->store->ops->asynchronous))
        r->stats.background++;
    else if (r->background != TUTTI_BACKGROUND_NONE)
        r->stats.foreground++;
}

/* All ranks know that it has gone well. */
static void went_well(tutti_request *r) {
    r->plan->used = 1;
    r->stats.operations++;
    tutti__operation_done(&r->op);
    r->count = r->op.moved;
    ended(r, TUTTI_OK);
}

static void op_make(tutti_request *r, const tutti__means *means, const tutti__found *found) {
    r->op = tutti__operation_make(r->plan, means, r->buf, r->displacement, found->size);
    r->op.moved = found->count;
    r->resident = r->plan->means.resident && !r->op.atomic;
    count_background(r, means);
}

static void depart(tutti_request *r) {
    const tutti__means means = means_of(r);
    tutti__found found;
    tutti_err err = plan_get(r, &means, &found);
    if (err == TUTTI_OK) err = tutti__operation_long_enough(found.size, r->least);
    if (err != TUTTI_OK) {
        ended(r, err);
        return;
    }
    op_make(r, &means, &found);
    if (found.done) {
        went_well(r);
        return;
    }
    const int here = found.split && !r->resident; /* then begin does all of it, on all ranks */
    r->tag = here ? -1 : tutti__team_tag_apart(r->file->team);
    if (r->resident)
        r->outcome = tutti__operation_refresh(&r->op);
    else if (!found.moved)
        r->outcome = tutti__operation_move(r->plan, &r->op);
    if (r->outcome != TUTTI_OK) r->trouble = *tutti_last_error();
    if (r->resident) r->plan->engine->depart(r->plan, &r->op);
    tutti__operation_write_behind(r->plan, &r->op);
}

/* What is left of a resident operation; the first trouble counts. */
static tutti_err land(tutti_request *r) {
    tutti_err err = r->plan->engine->arrive(r->plan, &r->op);
    if (err == TUTTI_OK) err = tutti__operation_flush(&r->op);
    if (r->outcome == TUTTI_OK) return err;
    tutti__error_assign(&r->trouble);
    return r->outcome;
}

static void arrive(tutti_request *r) {
    tutti_err err = r->outcome;
    if (err != TUTTI_OK) tutti__error_assign(&r->trouble);
    if (r->resident) err = land(r);
    err = tutti__operation_under_way(err);
    err = r->tag < 0 ? tutti__team_agree(r->file->team, err)
                     : tutti__team_agree_apart(r->file->team, r->tag, err);
    if (err == TUTTI_OK) {
        went_well(r);
        return;
    }
    r->plan->used = 1;
    r->stats.operations++;
    ended(r, err);
}

/* ---- accounts: while an operation runs, file accesses are counted for it */

typedef struct {
    tutti_stats *before;
    double since;
} account;

static account account_open(tutti_request *r) {
    return (account){tutti__store_account(&r->stats), tutti__now()};
}

static void account_close(tutti_request *r, const account *a) {
    (void)tutti__store_account(a->before);
    r->stats.seconds_total += tutti__now() - a->since;
}

static void half_of_split(tutti_request *r, void (*half)(tutti_request *), int begins) {
    const account a = account_open(r);
    half(r);
    account_close(r, &a);
    state_set(r, r->over ? TUTTI__ARRIVED : TUTTI__AWAY);
    const char *name = begins ? "write_begin" : "write_end";
    if (!r->is_write) name = begins ? "read_begin" : "read_end";
    tutti__trace_event("operation", name, a.since, r->stats.bytes, -1);
}

/* ---- lists */

static void list_add(tutti_file *f, tutti_request *r) {
    tutti_request **at = &f->requests;
    while (*at) at = &(*at)->next;
    *at = r;
}

static void list_remove(tutti_request *r) {
    tutti_request **at = &r->file->requests;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
}

/* With the lock. */
static void travelling_add(tutti_request *r) {
    tutti_request **at = &travelling;
    while (*at) at = &(*at)->next_travelling;
    *at = r;
    travellers++;
}

static void travelling_remove(tutti_request *r) {
    tutti_request **at = &travelling;
    while (*at && *at != r) at = &(*at)->next_travelling;
    if (!*at) return;
    *at = r->next_travelling;
    travellers--;
}

tutti_request *tutti__request_split(const tutti_file *f) {
    tutti_request *r = f->requests;
    while (r && (!r->split || r->ahead)) r = r->next;
    return r;
}

/* ---- fibers */

/* Everybody before me has departed. */
static int my_turn(const tutti_request *r) {
    for (const tutti_request *o = r->file->requests; o != r; o = o->next)
        if (state_of(o) == TUTTI__QUEUED) return 0;
    return 1;
}

static void travel(void *context) {
    tutti_request *r = context;
    while (!my_turn(r)) tutti__yield();
    depart(r);
    state_set(r, TUTTI__AWAY);
    if (!r->over) arrive(r);
    state_set(r, TUTTI__ARRIVED);
}

static void fiber_end(tutti_request *r) {
    tutti__fiber_free(&r->fiber);
    travelling_remove(r);
}

static void fiber_resume(tutti_request *r) {
    const account a = account_open(r);
    const int returned = tutti__fiber_resume(r->fiber);
    account_close(r, &a);
    if (returned) fiber_end(r);
}

enum { LOOK_EVERY = 32 }; /* how often others are waited for in vain between two looks into MPI */

/* Without a fiber: an operation that the others agree to often needs nothing else.  Otherwise it
 * gets one, or, without memory for that, waits here. */
static void light_move(tutti_request *r) {
    tutti__found found;
    if (r->search.phase == 0 && !my_turn(r)) return;
    const tutti_error_info keep = *tutti_last_error();
    const account a = account_open(r);
    const int fine = r->search.mine == TUTTI_OK;
    const int step = tutti__search_step(&r->search, &found);
    if (fine && r->search.mine != TUTTI_OK) {
        r->refused = r->search.mine;
        r->trouble = *tutti_last_error();
    }
    if (step == TUTTI__SEARCH_WAITS) {
        if (++r->looks % LOOK_EVERY == 0) tutti__team_look(r->file->team);
    } else if (step == TUTTI__SEARCH_DONE) {
        const tutti__means means = means_of(r);
        plan_take(r, &found);
        op_make(r, &means, &found);
        went_well(r);
        travelling_remove(r);
        state_set(r, TUTTI__ARRIVED);
    } else if (tutti__fiber_make(travel, r, &r->fiber) != TUTTI_OK) {
        travel(r);
        travelling_remove(r);
    }
    account_close(r, &a);
    tutti__error_assign(&keep);
}

static void request_resume(tutti_request *r) {
    if (!r->fiber) light_move(r);
    if (r->fiber) fiber_resume(r);
}

/* Unless another thread is using the file.  Behind an operation that has not departed nobody else departs. */
static void request_try(tutti_request *r) {
    tutti_file *f = r->file;
    if (f->ended || pthread_mutex_trylock(&f->use) != 0) return;
    const int queued = state_of(r) == TUTTI__QUEUED;
    f->queue_stands |= queued;
    request_resume(r);
    if (queued && state_of(r) != TUTTI__QUEUED) f->queue_stands = 0;
    pthread_mutex_unlock(&f->use);
}

static void requests_progress(void) {
    if (travellers == 0 || pthread_mutex_trylock(&travel_lock) != 0) return;
    for (tutti_request *r = travelling; r; r = r->next_travelling) r->file->queue_stands = 0;
    for (tutti_request *r = travelling, *next; r; r = next) {
        next = r->next_travelling;
        if (state_of(r) != TUTTI__QUEUED || !r->file->queue_stands) request_try(r);
    }
    pthread_mutex_unlock(&travel_lock);
}

static tutti_err travel_begin(tutti_request *r) {
    int level = MPI_THREAD_SINGLE;
    TUTTI_MPI(MPI_Query_thread(&level));
    anywhere = level == MPI_THREAD_MULTIPLE;
    r->light =
        !r->plan && r->background == TUTTI_BACKGROUND_NONE && tutti__consensus_ready(r->file->team);
    if (r->light) {
        const tutti__means means = means_of(r);
        const tutti__ask ask = ask_of(r, &means);
        tutti__search_begin(&r->search, &ask, &means, r->refused);
    } else {
        TUTTI_TRY(tutti__fiber_make(travel, r, &r->fiber));
    }
    pthread_mutex_lock(&travel_lock);
    travelling_add(r);
    pthread_mutex_unlock(&travel_lock);
    return TUTTI_OK;
}

/* ---- the thread */

static void travel_by_thread(tutti_request *r) {
    const account a = account_open(r);
    depart(r);
    if (!r->over) arrive(r);
    account_close(r, &a);
    state_set(r, TUTTI__ARRIVED); /* from now on it is the caller's */
}

/* ---- starting */

/* Through a page cache file access is a copy: done behind the caller's back it takes a core all the same. */
static int background_of(const tutti_file *f, int ahead) {
    if (f->opt.background != TUTTI_BACKGROUND_AUTO) return f->opt.background;
    const int waits = f->opt.direct_io || f->remote || f->synchronous;
    return ahead || waits || f->spare_cores ? TUTTI_BACKGROUND_IO_ONLY : TUTTI_BACKGROUND_NONE;
}

static tutti_err request_fill(tutti_request *r, const tutti__order *o) {
    tutti_file *f = r->file;
    TUTTI_TRY(o->refused);
    if (o->plan) {
        TUTTI_TRY(tutti__plan_usable(o->plan, o->buf, o->displacement));
    } else {
        TUTTI_TRY(tutti__file_usable(f, o->access, o->buf, o->is_write));
        TUTTI_TRY(tutti_access_copy(o->access, &r->access));
    }
    return tutti__file_away_open(f, r->background);
}

static void request_init(tutti_request *r, tutti_file *f, const tutti__order *o) {
    memset(r, 0, offsetof(tutti_request, search));
    r->file = f;
    r->name = o->name;
    r->split = o->split;
    r->ahead = o->ahead;
    r->is_write = o->is_write;
    r->background = background_of(f, o->ahead);
    if (o->plan && !o->plan->means.resident && f->opt.background == TUTTI_BACKGROUND_AUTO)
        r->background = TUTTI_BACKGROUND_NONE; /* it was not planned for that */
    r->plan = o->plan;
    r->buf = o->buf;
    r->displacement = o->displacement;
    r->least = o->least;
    r->agrees = tutti__order_agrees(o);
    r->room = o->room;
    r->refused = request_fill(r, o);
    if (r->refused != TUTTI_OK) r->trouble = *tutti_last_error();
}

static void request_empty(tutti_request *r) {
    tutti_access_free(&r->access);
    if (r->owns_plan) tutti__plan_release(&r->plan);
}

static void request_free(tutti_request *r) {
    request_empty(r);
    tutti__handle_remove(&r->handle);
    tutti__free(r);
}

/* Without memory for a request this rank takes part once, to tell the others. */
static tutti_err refuse(tutti_file *f, const tutti__order *o, tutti_err err) {
    tutti_request r;
    const tutti_error_info first = *tutti_last_error();
    tutti__requests_settle(f);
    request_init(&r, f, o);
    r.refused = err;
    r.trouble = first;
    depart(&r);
    tutti_access_free(&r.access);
    tutti__error_assign(&r.trouble);
    tutti__error_context(o->name, f->path, -1);
    return r.outcome;
}

/* A split operation in this thread: what begin does.  If nothing is left for later, all of it. */
static tutti_err split_depart(tutti_request *r) {
    tutti__requests_settle(r->file);
    list_add(r->file, r);
    half_of_split(r, depart, 1);
    if (state_of(r) == TUTTI__AWAY && !r->resident) half_of_split(r, arrive, 1);
    if (r->outcome == TUTTI_OK || state_of(r) != TUTTI__ARRIVED) return TUTTI_OK;
    return tutti__request_collect(&r, NULL);
}

static tutti_err send_off(tutti_request *r) {
    tutti_file *f = r->file;
    if (r->background == TUTTI_BACKGROUND_ALL) {
        list_add(f, r);
        if (tutti__worker_give(&f->worker, 1, travel_by_thread, r) == TUTTI_OK) return TUTTI_OK;
        while (!my_turn(r))
            tutti__worker_wait(f->worker, NULL, 1000); /* no thread: then by this one */
        travel_by_thread(r);
        return TUTTI_OK;
    }
    if (r->split) return split_depart(r);
    const tutti_err err = travel_begin(r);
    if (err == TUTTI_OK) list_add(f, r);
    return err;
}

tutti_err tutti__request_start(tutti_file *f, const tutti__order *o, tutti_request **out) {
    TUTTI_USE(f);
    tutti_request *r = tutti__malloc(sizeof *r);
    if (!r) return refuse(f, o, TUTTI_ERR_NOMEM);
    request_init(r, f, o);
    const tutti_err err = send_off(r);
    if (err == TUTTI_OK) {
        tutti__handle_add(&r->handle, TUTTI__REQUEST);
        *out = r;
        requests_progress();
        return TUTTI_OK;
    }
    if (o->split) return err; /* it has been told to all, and freed */
    request_free(r);
    return refuse(f, o, err);
}

/* ---- waiting */

static void pause_for(tutti_file *f) {
    if (f->worker) tutti__worker_wait(f->worker, NULL, travellers ? 50 : 1000);
    if (!f->worker || travellers) tutti__yield();
}

/* Who asks for an independent access does not call MPI, unless any thread may. */
int tutti__request_test(tutti_request *r) {
    if (!r->independent || anywhere) requests_progress();
    return state_of(r) == TUTTI__ARRIVED;
}

/* Other operations move on meanwhile, if they may. */
static void wait_alone(tutti_request *r) {
    while (!tutti__request_test(r)) {
        const int others = travellers && anywhere;
        tutti__independent_wait(r, others ? 50 : 100000);
        if (others) tutti__yield();
    }
}

void tutti__request_wait(tutti_request *r) {
    TUTTI_USE(r->independent ? NULL : r->file);
    if (r->split && r->background != TUTTI_BACKGROUND_ALL) {
        if (!r->over) half_of_split(r, arrive, 0);
        return;
    }
    if (r->independent) {
        wait_alone(r);
        return;
    }
    while (!tutti__request_test(r)) pause_for(r->file);
}

/* A split operation ends at the same point of the program on all ranks: its memory can be kept. */
static void segment_keep(tutti_request *r) {
    tutti__team *t = r->file->team;
    tutti_plan *p = r->plan;
    if (!r->split || !r->owns_plan || !p || !p->segment.base) return;
    tutti__segment_drop(&t->spare);
    t->spare = p->segment;
    memset(&p->segment, 0, sizeof p->segment);
    tutti__plan_segment_drop(p);
}

tutti_err tutti__request_collect(tutti_request **pr, tutti_off *count_out) {
    tutti_request *r = *pr;
    tutti_file *f = r->file;
    if (r->independent) return tutti__independent_collect(pr, count_out);
    TUTTI_USE(f);
    const tutti_err err = r->outcome;
    tutti__stats_settle(f, &r->stats);
    if (r->plan) tutti__operation_explain(f, r->plan);
    if (err != TUTTI_OK) {
        tutti__error_assign(&r->trouble);
        tutti__error_context(r->name, f->path, -1);
    } else if (count_out) {
        *count_out = r->count;
    }
    list_remove(r);
    segment_keep(r);
    request_free(r);
    *pr = NULL;
    return err;
}

tutti_off tutti__request_staging(const tutti_request *r) {
    return r->plan ? tutti__plan_staging(r->plan) : 0;
}

/* ---- around other calls */

static void abandoned_free(tutti_file *f) {
    const tutti_error_info keep = *tutti_last_error();
    for (tutti_request *r = f->requests, *next; r; r = next) {
        next = r->next;
        if (!r->abandoned || state_of(r) != TUTTI__ARRIVED || r->fiber) continue;
        if (tutti__request_collect(&r, NULL) != TUTTI_OK) tutti__error_assign(&keep);
    }
}

static int all_departed(tutti_file *f) {
    if (!tutti__worker_idle(f->worker)) return 0;
    for (const tutti_request *r = f->requests; r; r = r->next)
        if (state_of(r) == TUTTI__QUEUED) return 0;
    return 1;
}

void tutti__requests_settle(tutti_file *f) {
    tutti__on_idle(requests_progress); /* wherever this thread is going to wait */
    TUTTI_USE(f);
    if (!f->requests) return;
    requests_progress();
    while (!all_departed(f)) {
        pause_for(f);
        requests_progress();
    }
    abandoned_free(f);
}

tutti_err tutti__requests_none(const tutti_file *f) {
    TUTTI_CHECK(!tutti__request_split(f), TUTTI_ERR_STATE,
                "a split collective has begun and not ended");
    for (const tutti_request *r = f->requests; r; r = r->next)
        TUTTI_CHECK(r->abandoned, TUTTI_ERR_STATE,
                    "a non-blocking operation has been started and not completed");
    return TUTTI_OK;
}

void tutti__requests_end(tutti_file *f) {
    TUTTI_USE(f);
    tutti__requests_settle(f);
    while (f->requests) {
        tutti_request *r = f->requests;
        tutti__request_wait(r);
        abandoned_free(f);
    }
    tutti__worker_end(&f->worker);
    tutti__independent_end(f);
    if (!f->team->spare.shared) tutti__segment_drop(&f->team->spare);
}

/* An operation halfway through communication still has messages on its stack: it destinations as it is. */
static int requests_halfway(const tutti_file *f) {
    for (const tutti_request *r = f->requests; r; r = r->next)
        if (tutti__fiber_halfway(r->fiber)) return 1;
    return 0;
}

int tutti__requests_drop(tutti_file *f) {
    tutti__independent_end(f);
    if (!tutti__worker_stop(&f->worker)) return 0;
    for (tutti_request *r = f->requests; r; r = r->next)
        if (r->plan && r->plan->run) r->plan->engine->abort(r->plan->run);
    if (requests_halfway(f)) return 0;
    while (f->requests) {
        tutti_request *r = f->requests;
        pthread_mutex_lock(&travel_lock);
        fiber_end(r);
        pthread_mutex_unlock(&travel_lock);
        f->requests = r->next;
        const int of_plan = r->plan && !r->owns_plan;
        if (of_plan) r->plan->request = NULL;
        const int held = !r->abandoned && !of_plan && (!r->split || r->ahead);
        if (!held) {
            request_free(r);
            continue;
        }
        request_empty(r); /* the caller has it: tutti__request_live tells him */
        r->file = NULL;
        tutti__memory_lend(r);
    }
    return 1;
}
