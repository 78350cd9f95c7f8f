/* collective: requests and their ways.  The two halves of an operation (carry_out.c) follow each
 * other in a call that blocks.  Under way they have one of three vehicles: a split collective
 * departs in begin and arrives in end; a non-blocking one is a fiber, which moves on whenever
 * the thread is in a call of the library (and it goes without as long as it only has to look
 * whether the others have answered: light_move); with background `all` a thread runs both.
 * Operations of one file depart one after the other in the order in which they were started,
 * which is the same on all ranks, since departing uses the team's communicator; they arrive in
 * any order, since the last agreement has a tag of its own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/request.h"

#include <stdatomic.h>
#include <string.h>

#include "base/fiber.h"
#include "base/trace.h"
#include "collective/find.h"
#include "collective/worker.h"
#include "comm/consensus.h"
#include "comm/wait.h"

/* The requests that move on so.  Whoever has the lock runs them, whichever thread started them; not
 * those of files that another thread is using, which runs them itself where it waits. */
static pthread_mutex_t travel_lock = PTHREAD_MUTEX_INITIALIZER;
static tutti_request *travelling;
static atomic_int travellers;
static atomic_int anywhere; /* any thread may call MPI at any time: MPI_THREAD_MULTIPLE */

static int state_of(const tutti_request *r) {
    return atomic_load_explicit(&r->progress.state, memory_order_acquire);
}

static void state_set(tutti_request *r, int state) {
    atomic_store_explicit(&r->progress.state, state, memory_order_release);
}

/* ---- at once: both halves here */

static tutti_err run_inside(const tutti_request *asked, tutti_off *count_out);

tutti_err tutti__request_run(tutti_request *r, tutti_off *count_out) {
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    if (tutti__fiber_inside()) return run_inside(r, count_out);
    TUTTI_USE(f);
    tutti__requests_settle(f); /* what was started before comes first */
    tutti__operation_begin(&r->stats);
    if (r->asked.refused == TUTTI_OK) r->asked.refused = tutti__request_usable(r);
    if (r->asked.refused != TUTTI_OK) r->result.trouble = *tutti_last_error();
    tutti__depart(r);
    if (!r->result.over) tutti__arrive(r);
    if (r->found.plan) tutti__plan_explained(f, r->found.plan);
    if (r->found.owns_plan) tutti__plan_release(&r->found.plan);
    if (r->result.outcome != TUTTI_OK)
        tutti__error_assign(&r->result.trouble);
    else if (count_out)
        *count_out = r->result.count;
    return tutti__operation_end(f, &r->stats, r->asked.name, r->result.outcome);
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
    state_set(r, r->result.over ? TUTTI__ARRIVED : TUTTI__AWAY);
    const char *name = begins ? "write_begin" : "write_end";
    if (!r->op.is_write) name = begins ? "read_begin" : "read_end";
    tutti__trace_call(name, r->op.file->trace.number, a.since, r->stats.bytes);
}

/* ---- lists */

static void list_request(tutti_file *f, tutti_request *r) {
    if (!f) return;
    tutti_request **at = &f->requests.first;
    while (*at) at = &(*at)->next.of_file;
    *at = r;
}

/* With the lock. */
static void travelling_add(tutti_request *r) {
    tutti_request **at = &travelling;
    while (*at) at = &(*at)->next.travelling;
    *at = r;
    travellers++;
}

static void travelling_remove(tutti_request *r) {
    tutti_request **at = &travelling;
    while (*at && *at != r) at = &(*at)->next.travelling;
    if (!*at) return;
    *at = r->next.travelling;
    travellers--;
}

tutti_request *tutti__request_split(const tutti_file *f) {
    tutti_request *r = f->requests.first;
    while (r && (r->asked.how != TUTTI__SPLIT || r->asked.ahead)) r = r->next.of_file;
    return r;
}

/* ---- fibers */

/* Everybody before me has departed. */
static int my_turn(const tutti_request *r) {
    for (const tutti_request *o = r->op.file->requests.first; o != r; o = o->next.of_file)
        if (state_of(o) == TUTTI__QUEUED) return 0;
    return 1;
}

static void travel(void *context) {
    tutti_request *r = context;
    while (!my_turn(r)) tutti__yield();
    tutti__depart(r);
    state_set(r, TUTTI__AWAY);
    if (!r->result.over) tutti__arrive(r);
    state_set(r, TUTTI__ARRIVED);
}

static void fiber_end(tutti_request *r) {
    tutti__fiber_free(&r->progress.fiber);
    travelling_remove(r);
}

static void fiber_resume(tutti_request *r) {
    const account a = account_open(r);
    const int returned = tutti__fiber_resume(r->progress.fiber);
    account_close(r, &a);
    if (returned) fiber_end(r);
}

enum { LOOK_EVERY = 32 }; /* polls of other ranks' answers between two calls that progress MPI */

/* Without a fiber: in most cases a repeated operation needs no more than the other ranks' answers.
 * Otherwise it gets a fiber, or, without memory for that, waits here. */
static void light_move(tutti_request *r) {
    tutti__finding *x = r->progress.finding;
    if (x->phase == 0 && !my_turn(r)) return;
    TUTTI_KEEP_LAST_ERROR;
    const account a = account_open(r);
    const int fine = x->local_err == TUTTI_OK;
    const tutti__find_result result = tutti__find_progress(r, x, 0);
    if (fine && x->local_err != TUTTI_OK) {
        r->asked.refused = x->local_err;
        r->result.trouble = *tutti_last_error();
    }
    if (result == TUTTI__FIND_WAIT) {
        if (++x->polls % LOOK_EVERY == 0) tutti__mpi_progress(r->op.file->team);
    } else if (result == TUTTI__FIND_END) {
        tutti__depart(r);
        travelling_remove(r);
        state_set(r, TUTTI__ARRIVED);
    } else if (tutti__fiber_make(travel, r, &r->progress.fiber) != TUTTI_OK) {
        travel(r);
        travelling_remove(r);
    }
    account_close(r, &a);
}

static void request_resume(tutti_request *r) {
    if (!r->progress.fiber) light_move(r);
    if (r->progress.fiber) fiber_resume(r);
}

/* A task without a file belongs to the thread that started it or waits for it. */
static void own(tutti_request *r) {
    if (!r->op.file) atomic_store(&r->progress.owner, (uintptr_t)pthread_self());
}

/* Progress a request, unless another thread uses the file or owns the task.  No operation departs before
 * the earlier ones of its file. */
static void request_try(tutti_request *r) {
    tutti_file *f = r->op.file;
    if (!f) {
        if (atomic_load(&r->progress.owner) == (uintptr_t)pthread_self()) fiber_resume(r);
        return;
    }
    if (f->ended || pthread_mutex_trylock(&f->use) != 0) return;
    const int queued = state_of(r) == TUTTI__QUEUED;
    f->requests.queue_stands |= queued;
    request_resume(r);
    if (queued && state_of(r) != TUTTI__QUEUED) f->requests.queue_stands = 0;
    pthread_mutex_unlock(&f->use);
}

static int requests_progress(void) {
    if (travellers == 0 || pthread_mutex_trylock(&travel_lock) != 0) return travellers;
    for (tutti_request *r = travelling; r; r = r->next.travelling)
        if (r->op.file) r->op.file->requests.queue_stands = 0;
    for (tutti_request *r = travelling, *next; r; r = next) {
        next = r->next.travelling;
        if (state_of(r) != TUTTI__QUEUED || !r->op.file->requests.queue_stands) request_try(r);
    }
    pthread_mutex_unlock(&travel_lock);
    return travellers;
}

static tutti_err travel_begin(tutti_request *r) {
    int level = MPI_THREAD_SINGLE;
    TUTTI_MPI(MPI_Query_thread(&level));
    anywhere = level == MPI_THREAD_MULTIPLE;
    if (r->progress.finding) {
        r->op.stats = &r->stats;
        r->op.store = r->op.file->store;
        r->progress.finding->local_err = r->asked.refused;
        r->progress.finding->phase = 0;
        r->progress.finding->polls = 0;
    } else {
        TUTTI_TRY(tutti__fiber_make(travel, r, &r->progress.fiber));
    }
    pthread_mutex_lock(&travel_lock);
    travelling_add(r);
    pthread_mutex_unlock(&travel_lock);
    return TUTTI_OK;
}

/* ---- the thread */

static void travel_by_thread(tutti_request *r) {
    const account a = account_open(r);
    tutti__depart(r);
    if (!r->result.over) tutti__arrive(r);
    account_close(r, &a);
    state_set(r, TUTTI__ARRIVED); /* from now on it is the caller's */
}

/* ---- starting */

/* Through a page cache file access is a copy: done behind the caller's back it takes a core all
 * the same. */
static int background_of(const tutti_file *f, int ahead) {
    if (f->opt.background != TUTTI_BACKGROUND_AUTO) return f->opt.background;
    const int waits = f->opt.direct_io || f->layout.remote || f->layout.synchronous;
    return ahead || waits || f->layout.spare_cores ? TUTTI_BACKGROUND_IO_ONLY
                                                   : TUTTI_BACKGROUND_NONE;
}

/* A request of its own from what is asked; what this rank has against it is kept. */
static void request_init(tutti_request *r, const tutti_request *asked) {
    *r = *asked;
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    tutti_err err = r->asked.refused;
    r->progress.background = background_of(f, r->asked.ahead);
    if (r->found.plan && !r->found.plan->means.resident &&
        f->opt.background == TUTTI_BACKGROUND_AUTO)
        r->progress.background = TUTTI_BACKGROUND_NONE; /* it was not planned for that */
    if (op->parts) {                                    /* a copy of its own, or none */
        op->parts = NULL;
        const tutti_err copied = tutti__parts_copy(asked->op.parts, &op->parts);
        if (err == TUTTI_OK) err = copied;
    }
    if (err == TUTTI_OK) err = tutti__request_usable(r);
    if (err == TUTTI_OK && !r->found.plan && !op->parts) {
        err = tutti_access_copy(op->access, &r->access);
        op->access = r->access;
    }
    if (err == TUTTI_OK) err = tutti__file_away_open(f, r->progress.background);
    r->asked.refused = err;
    if (err != TUTTI_OK) r->result.trouble = *tutti_last_error();
}

static void request_empty(tutti_request *r) {
    tutti_access_free(&r->access);
    tutti__parts_free(&r->op.parts);
    if (r->found.owns_plan) tutti__plan_release(&r->found.plan);
}

static void request_free(tutti_request *r) {
    request_empty(r);
    tutti__handle_remove(&r->handle);
    tutti__free(r);
}

/* Without memory for a request this rank takes part once, to tell the others. */
static tutti_err refuse(const tutti_request *asked, tutti_err err) {
    tutti_request r;
    tutti_file *f = asked->op.file;
    const tutti_error_info first = *tutti_last_error();
    tutti__requests_settle(f);
    request_init(&r, asked);
    r.asked.refused = err;
    r.result.trouble = first;
    tutti__depart(&r);
    request_empty(&r);
    tutti__error_assign(&r.result.trouble);
    tutti__error_context(r.asked.name, f->path, -1);
    return r.result.outcome;
}

/* A split operation in this thread: what begin does.  If nothing is left for later, all of it. */
static tutti_err split_depart(tutti_request *r) {
    tutti__requests_settle(r->op.file);
    list_request(r->op.file, r);
    half_of_split(r, tutti__depart, 1);
    if (state_of(r) == TUTTI__AWAY && !r->progress.resident) half_of_split(r, tutti__arrive, 1);
    if (r->result.outcome == TUTTI_OK || state_of(r) != TUTTI__ARRIVED) return TUTTI_OK;
    return tutti__request_collect(&r, NULL);
}

static tutti_err send_off(tutti_request *r) {
    tutti_file *f = r->op.file;
    if (r->progress.background == TUTTI_BACKGROUND_ALL) {
        list_request(f, r);
        if (tutti__worker_give(&f->requests.worker, 1, travel_by_thread, r) == TUTTI_OK)
            return TUTTI_OK;
        while (!my_turn(r))
            tutti__worker_wait(f->requests.worker, NULL, 1000); /* no thread: then by this one */
        travel_by_thread(r);
        return TUTTI_OK;
    }
    if (r->asked.how == TUTTI__SPLIT) return split_depart(r);
    const tutti_err err = travel_begin(r);
    if (err == TUTTI_OK) list_request(f, r);
    return err;
}

tutti_err tutti__request_start(const tutti_request *asked, tutti_request **out) {
    struct started { /* what moves on without a fiber finds its plan in here */
        tutti_request request;
        tutti__finding finding;
    };
    TUTTI_USE(asked->op.file);
    struct started *s = tutti__malloc(sizeof *s);
    if (!s) return refuse(asked, TUTTI_ERR_NOMEM);
    tutti_request *r = &s->request;
    request_init(r, asked);
    if (r->asked.how == TUTTI__STARTED && !r->found.plan &&
        r->progress.background == TUTTI_BACKGROUND_NONE && tutti__consensus_ready(r->op.file->team))
        r->progress.finding = &s->finding;
    const tutti_err err = send_off(r);
    if (err == TUTTI_OK) {
        tutti__handle_add(&r->handle, &tutti__request_class);
        *out = r;
        (void)requests_progress();
        return TUTTI_OK;
    }
    if (asked->asked.how == TUTTI__SPLIT) return err; /* it has been told to all, and freed */
    request_free(r);
    return refuse(asked, err);
}

/* ---- tasks */

/* An operation of a task: both halves in the task's fiber, as an operation that was started.  The use of the file is
 * not locked meanwhile: another thread may have to run the fiber next. */
static tutti_err run_inside(const tutti_request *asked, tutti_off *count_out) {
    tutti_request *r = tutti__malloc(sizeof *r), started = *asked;
    tutti_file *f = asked->op.file;
    started.asked.how = TUTTI__STARTED;
    started.callback.collected = NULL;
    if (!r) return refuse(&started, TUTTI_ERR_NOMEM);
    request_init(r, &started);
    list_request(f, r);
    if (r->progress.background != TUTTI_BACKGROUND_ALL ||
        tutti__worker_give(&f->requests.worker, 1, travel_by_thread, r) != TUTTI_OK)
        travel(r);
    while (state_of(r) != TUTTI__ARRIVED) tutti__yield();
    tutti_stats *task = tutti__store_account(NULL); /* what was counted for the task */
    if (task) {
        tutti__stats_add(&r->stats, task);
        memset(task, 0, sizeof *task);
    }
    (void)tutti__store_account(task);
    return tutti__request_collect(&r, count_out);
}

static void task_travel(void *context) {
    tutti_request *r = context;
    r->result.outcome = r->callback.task(r->callback.context);
    if (r->result.outcome != TUTTI_OK) r->result.trouble = *tutti_last_error();
    r->result.over = 1;
    state_set(r, TUTTI__ARRIVED);
}

tutti_err tutti__task_make(const tutti__task *t, tutti_request **out) {
    tutti_request *r = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    r->asked.name = t->name;
    r->op.file = t->file;
    r->asked.how = TUTTI__STARTED;
    r->callback.task = t->task;
    r->callback.collected = t->collected;
    r->callback.context = t->context;
    own(r);
    state_set(r, TUTTI__AWAY);
    const tutti_err err = tutti__fiber_make(task_travel, r, &r->progress.fiber);
    if (err == TUTTI_OK)
        *out = r;
    else
        tutti__free(r);
    return err;
}

void tutti__task_drop(tutti_request **r) {
    if (!*r) return;
    tutti__fiber_free(&(*r)->progress.fiber);
    tutti__free(*r);
    *r = NULL;
}

void tutti__task_start(tutti_request *r) {
    TUTTI_USE(r->op.file);
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    anywhere = level == MPI_THREAD_MULTIPLE;
    tutti__on_idle(requests_progress);
    list_request(r->op.file, r);
    tutti__handle_add(&r->handle, &tutti__request_class);
    pthread_mutex_lock(&travel_lock);
    travelling_add(r);
    pthread_mutex_unlock(&travel_lock);
    (void)requests_progress();
}

/* ---- waiting */

/* Wait for a turn: for the thread of the file, for messages, or, if `event` is not NULL, for answers of
 * other ranks. */
static void wait_for(tutti_file *f, tutti__event *event, tutti__wait *w) {
    if (!f) {
        tutti__yield();
        return;
    }
    if (f->requests.worker) tutti__worker_wait(f->requests.worker, NULL, travellers ? 50 : 1000);
    if (f->requests.worker && !travellers) return;
    w->event = event;
    tutti__wait_turn(w);
}

/* Who asks for an independent access does not call MPI, unless any thread may. */
int tutti__request_test(tutti_request *r) {
    own(r);
    if (r->asked.how != TUTTI__INDEPENDENT || anywhere) (void)requests_progress();
    return state_of(r) == TUTTI__ARRIVED;
}

/* Other operations move on meanwhile, if they may. */
static void wait_independent(tutti_request *r) {
    while (!tutti__request_test(r)) {
        const int others = travellers && anywhere;
        tutti__independent_wait(r, others ? 50 : 100000);
        if (others) tutti__yield();
    }
}

void tutti__request_wait(tutti_request *r) {
    TUTTI_USE(r->asked.how == TUTTI__INDEPENDENT ? NULL : r->op.file);
    if (r->asked.how == TUTTI__SPLIT && r->progress.background != TUTTI_BACKGROUND_ALL) {
        if (!r->result.over) half_of_split(r, tutti__arrive, 0);
        return;
    }
    if (r->asked.how == TUTTI__INDEPENDENT) {
        wait_independent(r);
        return;
    }
    tutti_file *f = r->op.file;
    tutti__wait w = tutti__wait_begin(f ? f->team : NULL, NULL);
    while (!tutti__request_test(r)) { /* other ranks' answers wake a request without a fiber */
        const int answers = f && r->progress.finding && !r->progress.fiber;
        wait_for(f, answers ? tutti__consensus_event(f->team) : NULL, &w);
    }
}

/* A split operation ends at the same point of the program on all ranks: its memory can be kept. */
static void segment_keep(tutti_request *r) {
    tutti_plan *p = r->found.plan;
    if (r->asked.how != TUTTI__SPLIT || !r->found.owns_plan || !p || !p->memory.segment.base)
        return;
    tutti__team *t = r->op.file->team;
    tutti__segment_drop(&t->staging->spare);
    t->staging->spare = p->memory.segment;
    memset(&p->memory.segment, 0, sizeof p->memory.segment);
    tutti__plan_segment_drop(p);
}

tutti_err tutti__request_collect(tutti_request **pr, tutti_off *count_out) {
    tutti_request *r = *pr;
    tutti_file *f = r->op.file;
    if (r->asked.how == TUTTI__INDEPENDENT) return tutti__independent_collect(pr, count_out);
    TUTTI_USE(f);
    const tutti_err err = r->result.outcome;
    if (f) tutti__stats_settle(f, &r->stats, 1);
    if (r->found.plan) tutti__plan_explained(f, r->found.plan);
    if (err != TUTTI_OK) tutti__error_assign(&r->result.trouble);
    if (r->callback.collected) r->callback.collected(r->callback.context, err);
    if (err != TUTTI_OK)
        tutti__error_context(f ? r->asked.name : NULL, f ? f->path : NULL, -1);
    else if (count_out)
        *count_out = r->result.count;
    if (f) {
        tutti_request **at = &f->requests.first;
        while (*at != r) at = &(*at)->next.of_file;
        *at = r->next.of_file;
    }
    segment_keep(r);
    request_free(r);
    *pr = NULL;
    return err;
}

tutti_off tutti__request_staging(const tutti_request *r) {
    return r->found.plan ? tutti__plan_staging(r->found.plan) : 0;
}

/* ---- around other calls */

static void abandoned_free(tutti_file *f) {
    TUTTI_KEEP_LAST_ERROR;
    for (tutti_request *r = f->requests.first, *next; r; r = next) {
        next = r->next.of_file;
        if (!r->progress.abandoned || state_of(r) != TUTTI__ARRIVED || r->progress.fiber) continue;
        (void)!tutti__request_collect(&r, NULL);
    }
}

static int all_departed(tutti_file *f) {
    if (!tutti__worker_idle(f->requests.worker)) return 0;
    for (const tutti_request *r = f->requests.first; r; r = r->next.of_file)
        if (state_of(r) == TUTTI__QUEUED) return 0;
    return 1;
}

void tutti__requests_settle(tutti_file *f) {
    tutti__on_idle(requests_progress); /* wherever this thread is going to wait */
    TUTTI_USE(f);
    if (!f->requests.first) return;
    (void)requests_progress();
    tutti__wait w = tutti__wait_begin(f->team, NULL);
    while (!all_departed(f)) {
        wait_for(f, NULL, &w);
        (void)requests_progress();
    }
    abandoned_free(f);
}

tutti_err tutti__requests_none(const tutti_file *f) {
    TUTTI_CHECK(f->plans.callers == 0, TUTTI_ERR_STATE, "%d plans of the file have not been freed",
                f->plans.callers);
    TUTTI_CHECK(!tutti__request_split(f), TUTTI_ERR_STATE,
                "a split collective has begun and not ended");
    for (const tutti_request *r = f->requests.first; r; r = r->next.of_file)
        TUTTI_CHECK(r->progress.abandoned, TUTTI_ERR_STATE,
                    "a non-blocking operation has been started and not completed");
    return TUTTI_OK;
}

void tutti__requests_end(tutti_file *f) {
    TUTTI_USE(f);
    tutti__requests_settle(f);
    while (f->requests.first) {
        tutti_request *r = f->requests.first;
        tutti__request_wait(r);
        abandoned_free(f);
    }
    tutti__worker_end(&f->requests.worker);
    tutti__independent_end(f);
    if (!f->team->staging->spare.shared) tutti__segment_drop(&f->team->staging->spare);
}

/* An operation halfway through communication still has messages on its stack: it stays as it is. */
static int requests_halfway(const tutti_file *f) {
    for (const tutti_request *r = f->requests.first; r; r = r->next.of_file)
        if (tutti__fiber_halfway(r->progress.fiber)) return 1;
    return 0;
}

int tutti__requests_drop(tutti_file *f) {
    tutti__independent_end(f);
    if (!tutti__worker_stop(&f->requests.worker)) return 0;
    for (tutti_request *r = f->requests.first; r; r = r->next.of_file)
        if (r->found.plan && r->found.plan->run) r->found.plan->engine->abort(r->found.plan->run);
    if (requests_halfway(f)) return 0;
    while (f->requests.first) {
        tutti_request *r = f->requests.first;
        pthread_mutex_lock(&travel_lock);
        fiber_end(r);
        pthread_mutex_unlock(&travel_lock);
        f->requests.first = r->next.of_file;
        const int of_plan = r->found.plan && !r->found.owns_plan;
        if (of_plan) r->found.plan->request = NULL;
        const int held =
            !r->progress.abandoned && !of_plan && (r->asked.how != TUTTI__SPLIT || r->asked.ahead);
        if (!held) {
            request_free(r);
            continue;
        }
        request_empty(r); /* the caller has it: tutti__request_live tells him */
        r->op.file = NULL;
        tutti__memory_lend(r);
    }
    return 1;
}
