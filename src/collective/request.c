/* collective: execution modes of requests.  A blocking call executes the two halves of an operation
 * (carry_out.c) one after the other.  Otherwise there are three modes: a split collective executes
 * the first half in begin and the second in end; a non-blocking operation runs in a fiber, which
 * progresses in calls of the library (without a fiber while it only tests for answers of other
 * ranks: progress_without_fiber); with background `all` a thread executes both halves.  First
 * halves of the operations of one file use the communicator of the team, in the order of their
 * starts, the same on all ranks; second halves have any order and an agreement with its own tag.
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

/* Requests that progress in calls of the library.  The thread that has the lock progresses them,
 * regardless of the thread that started them, except requests of files in use by another thread;
 * that thread progresses these requests when it waits. */
static pthread_mutex_t active_lock = PTHREAD_MUTEX_INITIALIZER;
static tutti_request *active_requests;
static atomic_int active_n;
static atomic_int mpi_in_any_thread; /* any thread may call MPI at any time: MPI_THREAD_MULTIPLE */

static int request_state(const tutti_request *r) {
    return atomic_load_explicit(&r->progress.state, memory_order_acquire);
}

static void set_state(tutti_request *r, int state) {
    atomic_store_explicit(&r->progress.state, state, memory_order_release);
}

/* ---- blocking: begin and end in one call */

static tutti_err run_inside(const tutti_request *asked, tutti_off *count_out);

tutti_err tutti__request_run(tutti_request *r, tutti_off *count_out) {
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    if (tutti__fiber_inside()) return run_inside(r, count_out);
    TUTTI_USE(f);
    tutti__requests_settle(f); /* earlier operations are executed first */
    tutti__operation_begin(&r->stats);
    if (r->asked.refused == TUTTI_OK) r->asked.refused = tutti__request_usable(r);
    if (r->asked.refused != TUTTI_OK) r->result.error = *tutti_last_error();
    tutti__request_first_half(r);
    if (!r->result.over) tutti__request_second_half(r);
    if (r->found.plan) tutti__plan_explained(f, r->found.plan);
    if (r->found.owns_plan) tutti__plan_release(&r->found.plan);
    if (r->result.outcome != TUTTI_OK)
        tutti__error_assign(&r->result.error);
    else if (count_out)
        *count_out = r->result.count;
    return tutti__operation_end(f, &r->stats, r->asked.name, r->result.outcome);
}

/* ---- statistics: file accesses are counted for the operation that is executed */

typedef struct {
    tutti_stats *before;
    double since;
} account;

static account open_account(tutti_request *r) {
    return (account){tutti__store_account(&r->stats), tutti__now()};
}

static void close_account(tutti_request *r, const account *a) {
    (void)tutti__store_account(a->before);
    r->stats.seconds_total += tutti__now() - a->since;
}

static void run_split_half(tutti_request *r, void (*half)(tutti_request *), int begins) {
    const account a = open_account(r);
    half(r);
    close_account(r, &a);
    set_state(r, r->result.over ? TUTTI__COMPLETED : TUTTI__SUBMITTED);
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

/* The caller holds active_lock. */
static void add_active(tutti_request *r) {
    tutti_request **at = &active_requests;
    while (*at) at = &(*at)->next.active;
    *at = r;
    active_n++;
}

static void remove_active(tutti_request *r) {
    tutti_request **at = &active_requests;
    while (*at && *at != r) at = &(*at)->next.active;
    if (!*at) return;
    *at = r->next.active;
    active_n--;
}

tutti_request *tutti__request_split(const tutti_file *f) {
    tutti_request *r = f->requests.first;
    while (r && (r->asked.how != TUTTI__SPLIT || r->asked.ahead)) r = r->next.of_file;
    return r;
}

/* ---- fibers */

/* Return whether all earlier requests of the file have executed their first half. */
static int is_first_queued(const tutti_request *r) {
    for (const tutti_request *o = r->op.file->requests.first; o != r; o = o->next.of_file)
        if (request_state(o) == TUTTI__QUEUED) return 0;
    return 1;
}

static void run_in_fiber(void *context) {
    tutti_request *r = context;
    tutti__wait w = tutti__wait_begin(r->op.file->team, NULL);
    while (!is_first_queued(r)) tutti__wait_turn(&w);
    tutti__request_first_half(r);
    set_state(r, TUTTI__SUBMITTED);
    if (!r->result.over) tutti__request_second_half(r);
    set_state(r, TUTTI__COMPLETED);
}

static void end_fiber(tutti_request *r) {
    tutti__fiber_free(&r->progress.fiber);
    remove_active(r);
}

static void resume_fiber(tutti_request *r) {
    const account a = open_account(r);
    const int returned = tutti__fiber_resume(r->progress.fiber);
    close_account(r, &a);
    if (returned) end_fiber(r);
}

enum { LOOK_EVERY = 32 }; /* polls of other ranks' answers between two calls that progress MPI */

/* Progress a request without a fiber: in most cases a repeated operation needs only the answers of
 * the other ranks.  Otherwise create a fiber or, if that fails, execute the request here. */
static void progress_without_fiber(tutti_request *r) {
    tutti__finding *x = r->progress.finding;
    if (x->phase == 0 && !is_first_queued(r)) return;
    TUTTI_KEEP_LAST_ERROR;
    const account a = open_account(r);
    const int fine = x->local_err == TUTTI_OK;
    const tutti__find_result result = tutti__find_progress(r, x, 0);
    if (fine && x->local_err != TUTTI_OK) {
        r->asked.refused = x->local_err;
        r->result.error = *tutti_last_error();
    }
    if (result == TUTTI__FIND_WAIT) {
        if (++x->polls % LOOK_EVERY == 0) tutti__mpi_progress(r->op.file->team);
    } else if (result == TUTTI__FIND_END) {
        tutti__request_first_half(r);
        remove_active(r);
        set_state(r, TUTTI__COMPLETED);
    } else if (tutti__fiber_make(run_in_fiber, r, &r->progress.fiber) != TUTTI_OK) {
        run_in_fiber(r);
        remove_active(r);
    }
    close_account(r, &a);
}

/* A task without a file belongs to the thread that started it or waits for it. */
static void claim_task(tutti_request *r) {
    if (!r->op.file) atomic_store(&r->progress.owner, (uintptr_t)pthread_self());
}

/* Progress a request, unless another thread uses the file or owns the task.  First halves of one
 * file are executed in the order of their start. */
static void try_progress(tutti_request *r) {
    tutti_file *f = r->op.file;
    if (!f) {
        if (atomic_load(&r->progress.owner) == (uintptr_t)pthread_self()) resume_fiber(r);
        return;
    }
    if (f->ended || pthread_mutex_trylock(&f->use) != 0) return;
    const int queued = request_state(r) == TUTTI__QUEUED;
    f->requests.queue_stands |= queued;
    if (!r->progress.fiber) progress_without_fiber(r);
    if (r->progress.fiber) resume_fiber(r);
    if (queued && request_state(r) != TUTTI__QUEUED) f->requests.queue_stands = 0;
    pthread_mutex_unlock(&f->use);
}

static int requests_progress(void) {
    if (active_n == 0 || pthread_mutex_trylock(&active_lock) != 0) return active_n;
    for (tutti_request *r = active_requests; r; r = r->next.active)
        if (r->op.file) r->op.file->requests.queue_stands = 0;
    for (tutti_request *r = active_requests, *next; r; r = next) {
        next = r->next.active;
        if (request_state(r) != TUTTI__QUEUED || !r->op.file->requests.queue_stands)
            try_progress(r);
    }
    pthread_mutex_unlock(&active_lock);
    return active_n;
}

static tutti_err begin_in_fiber(tutti_request *r) {
    int level = MPI_THREAD_SINGLE;
    TUTTI_MPI(MPI_Query_thread(&level));
    mpi_in_any_thread = level == MPI_THREAD_MULTIPLE;
    if (r->progress.finding) {
        r->op.stats = &r->stats;
        r->op.store = r->op.file->store;
        r->progress.finding->local_err = r->asked.refused;
        r->progress.finding->phase = 0;
        r->progress.finding->polls = 0;
    } else {
        TUTTI_TRY(tutti__fiber_make(run_in_fiber, r, &r->progress.fiber));
    }
    pthread_mutex_lock(&active_lock);
    add_active(r);
    pthread_mutex_unlock(&active_lock);
    return TUTTI_OK;
}

/* ---- background thread */

static void run_in_worker(tutti_request *r) {
    const account a = open_account(r);
    tutti__request_first_half(r);
    if (!r->result.over) tutti__request_second_half(r);
    close_account(r, &a);
    set_state(r, TUTTI__COMPLETED); /* afterwards the request belongs to the caller */
}

/* ---- starting */

/* Initialize a request from `asked`; an error of this rank is recorded in r->asked.refused. */
static void init_request(tutti_request *r, const tutti_request *asked) {
    *r = *asked;
    tutti__op *op = &r->op;
    tutti_file *f = op->file;
    tutti_err err = r->asked.refused;
    /* File access through a page cache is a copy, which occupies a core also in the background. */
    const int waits = f->opt.direct_io || f->layout.remote || f->layout.synchronous;
    r->progress.background = f->opt.background;
    if (f->opt.background == TUTTI_BACKGROUND_AUTO)
        r->progress.background = r->asked.ahead || waits || f->layout.spare_cores
                                     ? TUTTI_BACKGROUND_IO_ONLY
                                     : TUTTI_BACKGROUND_NONE;
    /* a plan that is not resident has no memory for the background */
    if (r->found.plan && !r->found.plan->means.resident &&
        f->opt.background == TUTTI_BACKGROUND_AUTO)
        r->progress.background = TUTTI_BACKGROUND_NONE;
    /* replace the parts by a copy; NULL after an error */
    if (op->parts) {
        op->parts = NULL;
        const tutti_err copied = tutti__parts_copy(asked->op.parts, &op->parts);
        if (err == TUTTI_OK) err = copied;
    }
    if (err == TUTTI_OK) err = tutti__request_usable(r);
    if (err == TUTTI_OK && !r->found.plan && !op->parts) {
        err = tutti_access_copy(op->access, &r->access);
        op->access = r->access;
    }
    if (err == TUTTI_OK) err = tutti__file_open_background(f, r->progress.background);
    r->asked.refused = err;
    if (err != TUTTI_OK) r->result.error = *tutti_last_error();
}

static void release_contents(tutti_request *r) {
    tutti_access_free(&r->access);
    tutti__parts_free(&r->op.parts);
    if (r->found.owns_plan) tutti__plan_release(&r->found.plan);
}

static void free_request(tutti_request *r) {
    release_contents(r);
    tutti__handle_remove(&r->handle);
    tutti__free(r);
}

/* If no request can be allocated, take part in the agreement once to report the error to the other
 * ranks. */
static tutti_err report_refusal(const tutti_request *asked, tutti_err err) {
    tutti_request r;
    tutti_file *f = asked->op.file;
    const tutti_error_info first = *tutti_last_error();
    tutti__requests_settle(f);
    init_request(&r, asked);
    r.asked.refused = err;
    r.result.error = first;
    tutti__request_first_half(&r);
    release_contents(&r);
    tutti__error_assign(&r.result.error);
    tutti__error_context(r.asked.name, f->path, -1);
    return r.result.outcome;
}

static tutti_err submit_request(tutti_request *r) {
    tutti_file *f = r->op.file;
    if (r->progress.background == TUTTI_BACKGROUND_ALL) {
        list_request(f, r);
        if (tutti__worker_give(&f->requests.worker, 1, run_in_worker, r) == TUTTI_OK)
            return TUTTI_OK;
        while (!is_first_queued(r)) /* no thread: execute it in this thread */
            tutti__worker_wait(f->requests.worker, NULL, 1000);
        run_in_worker(r);
        return TUTTI_OK;
    }
    if (r->asked.how == TUTTI__SPLIT) {
        /* Execute the first half in this thread, and the second half too unless the plan is
         * resident. */
        tutti__requests_settle(f);
        list_request(f, r);
        run_split_half(r, tutti__request_first_half, 1);
        if (request_state(r) == TUTTI__SUBMITTED && !r->progress.resident)
            run_split_half(r, tutti__request_second_half, 1);
        if (r->result.outcome == TUTTI_OK || request_state(r) != TUTTI__COMPLETED) return TUTTI_OK;
        return tutti__request_collect(&r, NULL);
    }
    const tutti_err err = begin_in_fiber(r);
    if (err == TUTTI_OK) list_request(f, r);
    return err;
}

tutti_err tutti__request_start(const tutti_request *asked, tutti_request **out) {
    struct started { /* a request, and the search state that it needs without a fiber */
        tutti_request request;
        tutti__finding finding;
    };
    TUTTI_USE(asked->op.file);
    struct started *s = tutti__malloc(sizeof *s);
    if (!s) return report_refusal(asked, TUTTI_ERR_NOMEM);
    tutti_request *r = &s->request;
    init_request(r, asked);
    if (r->asked.how == TUTTI__STARTED && !r->found.plan &&
        r->progress.background == TUTTI_BACKGROUND_NONE && tutti__consensus_ready(r->op.file->team))
        r->progress.finding = &s->finding;
    const tutti_err err = submit_request(r);
    if (err == TUTTI_OK) {
        tutti__handle_add(&r->handle, &tutti__request_class);
        *out = r;
        (void)requests_progress();
        return TUTTI_OK;
    }
    /* the error has been reported on all ranks, and the request freed */
    if (asked->asked.how == TUTTI__SPLIT) return err;
    free_request(r);
    return report_refusal(asked, err);
}

/* ---- tasks */

/* Execute an operation inside a task: both halves run in the fiber of the task, like those of a
 * started operation.  f->use is not locked meanwhile, since another thread may run the fiber
 * next. */
static tutti_err run_inside(const tutti_request *asked, tutti_off *count_out) {
    tutti_request *r = tutti__malloc(sizeof *r), started = *asked;
    tutti_file *f = asked->op.file;
    started.asked.how = TUTTI__STARTED;
    started.callback.collected = NULL;
    if (!r) return report_refusal(&started, TUTTI_ERR_NOMEM);
    init_request(r, &started);
    list_request(f, r);
    if (r->progress.background != TUTTI_BACKGROUND_ALL ||
        tutti__worker_give(&f->requests.worker, 1, run_in_worker, r) != TUTTI_OK)
        run_in_fiber(r);
    tutti__wait w = tutti__wait_begin(f->team, NULL);
    while (request_state(r) != TUTTI__COMPLETED) tutti__wait_turn(&w);
    tutti_stats *task = tutti__store_account(NULL); /* statistics of the task */
    if (task) {
        tutti__stats_add(&r->stats, task);
        memset(task, 0, sizeof *task);
    }
    (void)tutti__store_account(task);
    return tutti__request_collect(&r, count_out);
}

static void run_task(void *context) {
    tutti_request *r = context;
    r->result.outcome = r->callback.task(r->callback.context);
    if (r->result.outcome != TUTTI_OK) r->result.error = *tutti_last_error();
    r->result.over = 1;
    set_state(r, TUTTI__COMPLETED);
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
    claim_task(r);
    set_state(r, TUTTI__SUBMITTED);
    const tutti_err err = tutti__fiber_make(run_task, r, &r->progress.fiber);
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
    mpi_in_any_thread = level == MPI_THREAD_MULTIPLE;
    tutti__on_idle(requests_progress);
    list_request(r->op.file, r);
    tutti__handle_add(&r->handle, &tutti__request_class);
    pthread_mutex_lock(&active_lock);
    add_active(r);
    pthread_mutex_unlock(&active_lock);
    (void)requests_progress();
}

/* ---- waiting */

/* Wait once, for a short time: for the thread of the file, for messages, or, if `event` is not
 * NULL, for answers of other ranks. */
static void wait_for(tutti_file *f, tutti__event *event, tutti__wait *w) {
    if (f && f->requests.worker) {
        tutti__worker_wait(f->requests.worker, NULL, active_n ? 50 : 1000);
        if (!active_n) return;
    }
    w->event = event;
    tutti__wait_turn(w);
}

/* Testing an independent access calls MPI only if any thread may call MPI. */
int tutti__request_test(tutti_request *r) {
    claim_task(r);
    if (r->asked.how != TUTTI__INDEPENDENT || mpi_in_any_thread) (void)requests_progress();
    return request_state(r) == TUTTI__COMPLETED;
}

int tutti__request_wait_until(tutti_request *r, double end) {
    const int independent = r->asked.how == TUTTI__INDEPENDENT;
    tutti_file *f = r->op.file;
    TUTTI_USE(independent ? NULL : f);
    tutti__wait w = {.team = f ? f->team : NULL, .own = 1};
    while (!tutti__request_test(r)) {
        const double left = end - tutti__now();
        /* seconds of one wait, during which other operations cannot progress in this thread */
        const double most = active_n && mpi_in_any_thread ? 50e-6 : 0.1;
        if (left <= 0) return 0;
        if (independent) {
            tutti__independent_wait(r, 1 + (long)(1e6 * (left < most ? left : most)));
        } else { /* a request without a fiber waits for answers of other ranks */
            const int answers = f && r->progress.finding && !r->progress.fiber;
            wait_for(f, answers ? tutti__consensus_event(f->team) : NULL, &w);
        }
    }
    return 1;
}

void tutti__request_wait(tutti_request *r) {
    const int half = r->asked.how == TUTTI__SPLIT && r->progress.background != TUTTI_BACKGROUND_ALL;
    TUTTI_USE(half ? r->op.file : NULL);
    if (!half)
        (void)tutti__request_wait_until(r, 1e18); /* no time limit */
    else if (!r->result.over)
        run_split_half(r, tutti__request_second_half, 0);
}

tutti_err tutti__request_collect(tutti_request **pr, tutti_off *count_out) {
    tutti_request *r = *pr;
    tutti_file *f = r->op.file;
    if (r->asked.how == TUTTI__INDEPENDENT) return tutti__independent_collect(pr, count_out);
    TUTTI_USE(f);
    const tutti_err err = r->result.outcome;
    if (f) tutti__stats_settle(f, &r->stats, 1);
    if (r->found.plan) tutti__plan_explained(f, r->found.plan);
    if (err != TUTTI_OK) tutti__error_assign(&r->result.error);
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
    tutti_plan *p = r->found.plan;
    if (r->asked.how == TUTTI__SPLIT && r->found.owns_plan && p && p->memory.segment.base) {
        /* all ranks end a split operation at the same point of the program: reuse its memory */
        tutti__staging_spare(f->team, &p->memory.segment);
        tutti__plan_segment_drop(p);
    }
    free_request(r);
    *pr = NULL;
    return err;
}

tutti_off tutti__request_staging(const tutti_request *r) {
    return r->found.plan ? tutti__plan_staging(r->found.plan) : 0;
}

/* ---- pending requests around other calls */

static void free_abandoned(tutti_file *f) {
    TUTTI_KEEP_LAST_ERROR;
    for (tutti_request *r = f->requests.first, *next; r; r = next) {
        next = r->next.of_file;
        if (!r->progress.abandoned || request_state(r) != TUTTI__COMPLETED || r->progress.fiber)
            continue;
        (void)!tutti__request_collect(&r, NULL);
    }
}

static int all_departed(tutti_file *f) {
    if (!tutti__worker_idle(f->requests.worker)) return 0;
    for (const tutti_request *r = f->requests.first; r; r = r->next.of_file)
        if (request_state(r) == TUTTI__QUEUED) return 0;
    return 1;
}

void tutti__requests_settle(tutti_file *f) {
    tutti__on_idle(requests_progress); /* progress requests in every later wait of this thread */
    TUTTI_USE(f);
    if (!f->requests.first) return;
    (void)requests_progress();
    tutti__wait w = tutti__wait_begin(f->team, NULL);
    while (!all_departed(f)) {
        wait_for(f, NULL, &w);
        (void)requests_progress();
    }
    free_abandoned(f);
}

tutti_err tutti__requests_none(const tutti_file *f) {
    TUTTI_CHECK(f->plans.callers == 0, TUTTI_ERR_STATE, "%d plans of the file have not been freed",
                f->plans.callers);
    TUTTI_CHECK(!tutti__request_split(f), TUTTI_ERR_STATE,
                "a split collective operation has begun and not ended");
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
        free_abandoned(f);
    }
    tutti__worker_end(&f->requests.worker);
    tutti__independent_end(f);
    if (!f->team->staging->spare.shared) tutti__segment_drop(&f->team->staging->spare);
}

int tutti__requests_drop(tutti_file *f) {
    tutti__independent_end(f);
    if (!tutti__worker_stop(&f->requests.worker)) return 0;
    for (tutti_request *r = f->requests.first; r; r = r->next.of_file)
        if (r->found.plan && r->found.plan->run) r->found.plan->engine->abort(r->found.plan->run);
    /* a fiber that communicates has messages on its stack, and must not be freed */
    for (const tutti_request *r = f->requests.first; r; r = r->next.of_file)
        if (tutti__fiber_halfway(r->progress.fiber)) return 0;
    while (f->requests.first) {
        tutti_request *r = f->requests.first;
        pthread_mutex_lock(&active_lock);
        end_fiber(r);
        pthread_mutex_unlock(&active_lock);
        f->requests.first = r->next.of_file;
        const int of_plan = r->found.plan && !r->found.owns_plan;
        if (of_plan) r->found.plan->request = NULL;
        const int has_handle =
            !r->progress.abandoned && !of_plan && (r->asked.how != TUTTI__SPLIT || r->asked.ahead);
        if (!has_handle) {
            free_request(r);
            continue;
        }
        /* the caller still has the handle; tutti__request_live detects this state */
        release_contents(r);
        r->op.file = NULL;
        tutti__memory_lend(r);
    }
    return 1;
}
