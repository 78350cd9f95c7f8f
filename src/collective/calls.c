/* collective: the public calls that move bytes: blocking, by plans, split, non-blocking; for one
 * access or for parts.  Each call describes its request and executes it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"
#include "collective/request.h"
#include "base/trace.h"
#include "comm/call.h"
#include "comm/wait.h"

#define CHECK_FILE(f) TUTTI_TRY(tutti__file_live(f))
#define CHECK_PLAN(p) TUTTI_TRY(tutti__plan_live(p))

/* The data of a call: one access and its buffer, or parts. */
typedef struct {
    const tutti_access *access;
    const void *buf;
    int in_parts, n;
    const tutti_part *parts;
} bytes;

#define ONE(a, b) ((bytes){.access = (a), .buf = (b)})
#define PARTS(count, v) ((bytes){.in_parts = 1, .n = (count), .parts = (v)})

/* Make the request of a call.  The caller releases r.op.parts with tutti__parts_free when the
 * request has been executed or copied. */
static tutti_request make_request(tutti_file *f, int is_write, tutti__how how, bytes b) {
    tutti_request r = {.asked.name = is_write ? "write" : "read",
                       .op = {.file = f,
                              .access = b.access,
                              .is_write = is_write,
                              .buf = (char *)(uintptr_t)b.buf},
                       .asked.how = how};
    if (b.in_parts) tutti__ask_parts(&r, b.n, b.parts);
    return r;
}

/* ---- blocking */

tutti_err tutti_file_write(tutti_file *f, const tutti_access *a, const void *buf,
                           tutti_off *count_out) {
    CHECK_FILE(f);
    tutti_request r = make_request(f, 1, TUTTI__AT_ONCE, ONE(a, buf));
    return tutti__request_run(&r, count_out);
}

tutti_err tutti_file_read(tutti_file *f, const tutti_access *a, void *buf, tutti_off *count_out) {
    CHECK_FILE(f);
    tutti_request r = make_request(f, 0, TUTTI__AT_ONCE, ONE(a, buf));
    return tutti__request_run(&r, count_out);
}

static tutti_err parts_at_once(tutti_file *f, int is_write, bytes b, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = make_request(f, is_write, TUTTI__AT_ONCE, b);
    const tutti_err err = tutti__request_run(&r, count_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti_file_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                 tutti_off *count_out) {
    return parts_at_once(f, 1, PARTS(n, parts), count_out);
}

tutti_err tutti_file_read_parts(tutti_file *f, int n, const tutti_part *parts,
                                tutti_off *count_out) {
    return parts_at_once(f, 0, PARTS(n, parts), count_out);
}

static tutti_err run_independent_parts(tutti_file *f, int is_write, bytes b, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = make_request(f, is_write, TUTTI__INDEPENDENT, b);
    r.asked.name = is_write ? "independent write" : "independent read";
    tutti__parts *p = r.op.parts;
    if (r.asked.refused == TUTTI_OK && p) {
        r.asked.refused = tutti__batch_unite(p->batch);
        r.op.access = &p->batch->all;
    }
    if (r.asked.refused == TUTTI_OK && p) tutti__parts_start(p, p->batch, 0);
    const tutti_err err = tutti__independent(&r, count_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti_file_write_parts_independent(tutti_file *f, int n, const tutti_part *parts,
                                             tutti_off *count_out) {
    return run_independent_parts(f, 1, PARTS(n, parts), count_out);
}

tutti_err tutti_file_read_parts_independent(tutti_file *f, int n, const tutti_part *parts,
                                            tutti_off *count_out) {
    return run_independent_parts(f, 0, PARTS(n, parts), count_out);
}

/* ---- plans */

/* Make a plan for the caller.  With the option background it gets its own memory. */
static tutti_err make_caller_plan(tutti_file *f, int is_write, bytes b, tutti_plan **p_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    TUTTI_USE(f);
    tutti__requests_settle(f);
    tutti_request r = make_request(f, is_write, TUTTI__PLAN_ONLY, b);
    tutti__op *op = &r.op;
    r.asked.name = "plan";
    r.progress.background = f->opt.background;
    op->store = f->store;
    op->stats = &r.stats;
    tutti__operation_begin(&r.stats);
    if (!p_out && r.asked.refused == TUTTI_OK)
        r.asked.refused = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument p_out is NULL");
    op->buf = f->path; /* buffers are passed later; the check accepts any address */
    if (r.asked.refused == TUTTI_OK && op->parts)
        r.asked.refused = tutti__file_allows_parts(f, op->parts, 0, is_write);
    else if (r.asked.refused == TUTTI_OK)
        r.asked.refused = tutti__request_usable(&r);
    const tutti_err err = tutti__plan_find(&r);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(p_out);
        f->plans.callers++;
        tutti__handle_add(&r.found.plan->handle, &tutti__plan_class);
        *p_out = r.found.plan;
    }
    tutti__parts_free(&op->parts);
    return tutti__operation_end(f, &r.stats, "plan", err);
}

tutti_err tutti_plan_write(tutti_file *f, const tutti_access *a, tutti_plan **p_out) {
    return make_caller_plan(f, 1, ONE(a, NULL), p_out);
}

tutti_err tutti_plan_read(tutti_file *f, const tutti_access *a, tutti_plan **p_out) {
    return make_caller_plan(f, 0, ONE(a, NULL), p_out);
}

tutti_err tutti_plan_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                 tutti_plan **p_out) {
    return make_caller_plan(f, 1, PARTS(n, parts), p_out);
}

tutti_err tutti_plan_read_parts(tutti_file *f, int n, const tutti_part *parts, tutti_plan **p_out) {
    return make_caller_plan(f, 0, PARTS(n, parts), p_out);
}

static tutti_request make_plan_run(tutti_plan *p, tutti_off displacement, tutti__how how) {
    tutti_request r = make_request(p->file, p->asked.is_write, how, ONE(p->asked.access, NULL));
    r.found.plan = p;
    r.found.displacement = displacement;
    return r;
}

/* Buffers for a run of a plan.  `only_read`: the buffers may be const, so that running a plan of
 * reads is an error. */
typedef struct {
    int n, only_read;
    void *const *bufs;
} plan_bufs;

#define BUFS(count, v) ((plan_bufs){.n = (count), .bufs = (v)})
#define CONST_BUF(b) \
    ((plan_bufs){.n = 1, .only_read = 1, .bufs = &(void *){(char *)(uintptr_t)(b)}})

static void ask_bufs(tutti_request *r, plan_bufs b) {
    if (b.only_read && !r->found.plan->asked.is_write)
        r->asked.refused = tutti__error_set(
            TUTTI_ERR_ARG, 0, -1,
            "argument p is a plan of reads: use tutti_plan_run or tutti_plan_start");
    tutti__ask_bufs(r, b.n, b.bufs);
}

static tutti_err plan_run(tutti_plan *p, plan_bufs b, tutti_off displacement,
                          tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    tutti_request r = make_plan_run(p, displacement, TUTTI__AT_ONCE);
    ask_bufs(&r, b);
    const tutti_err err = tutti__request_run(&r, count_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

static tutti_err plan_start(tutti_plan *p, plan_bufs b, tutti_off displacement) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    TUTTI_USE(p->file);
    TUTTI_CHECK(!p->request, TUTTI_ERR_STATE, "the plan has been started and not waited for");
    tutti_request asked = make_plan_run(p, displacement, TUTTI__STARTED);
    ask_bufs(&asked, b);
    const tutti_err err = tutti__request_start(&asked, &p->request);
    tutti__parts_free(&asked.op.parts);
    return err;
}

tutti_err tutti_plan_run_parts(tutti_plan *p, int n, void *const *bufs, tutti_off displacement,
                               tutti_off *count_out) {
    return plan_run(p, BUFS(n, bufs), displacement, count_out);
}

tutti_err tutti_plan_start_parts(tutti_plan *p, int n, void *const *bufs, tutti_off displacement) {
    return plan_start(p, BUFS(n, bufs), displacement);
}

/* The buffer is passed as a list of one buffer. */
tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_off *count_out) {
    return plan_run(p, BUFS(1, &buf), displacement, count_out);
}

tutti_err tutti_plan_start(tutti_plan *p, void *buf, tutti_off displacement) {
    return plan_start(p, BUFS(1, &buf), displacement);
}

tutti_err tutti_plan_run_write(tutti_plan *p, const void *buf, tutti_off displacement,
                               tutti_off *count_out) {
    return plan_run(p, CONST_BUF(buf), displacement, count_out);
}

tutti_err tutti_plan_start_write(tutti_plan *p, const void *buf, tutti_off displacement) {
    return plan_start(p, CONST_BUF(buf), displacement);
}

tutti_err tutti_plan_test(tutti_plan *p, int *done_out, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    TUTTI_USE(p->file);
    TUTTI_CHECK(done_out != NULL, TUTTI_ERR_ARG, "argument done_out is NULL");
    TUTTI_CHECK(p->request, TUTTI_ERR_STATE, "the plan has not been started");
    *done_out = tutti__request_test(p->request);
    return *done_out ? tutti__request_collect(&p->request, count_out) : TUTTI_OK;
}

tutti_err tutti_plan_wait(tutti_plan *p, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    TUTTI_USE(p->file);
    TUTTI_CHECK(p->request, TUTTI_ERR_STATE, "the plan has not been started");
    tutti__request_wait(p->request);
    return tutti__request_collect(&p->request, count_out);
}

const char *tutti_plan_explain(const tutti_plan *p) {
    return p && tutti__handle_alive(&p->handle, &tutti__plan_class) ? p->explain : "";
}

void tutti_plan_free(tutti_plan **p) {
    if (!p || !*p) return;
    if (!tutti__handle_alive(&(*p)->handle, &tutti__plan_class)) {
        *p = NULL;
        return;
    }
    tutti_file *f = (*p)->file;
    tutti__handle_remove(&(*p)->handle);
    /* the request is completed in the background; the plan is freed with it */
    if ((*p)->request) {
        (*p)->request->progress.abandoned = (*p)->request->found.owns_plan = 1;
        *p = NULL;
    } else {
        tutti__plan_destroy(p);
    }
    tutti__plan_count_freed(f);
}

/* ---- split */

/* Check that the oldest split operation has the direction `is_write`. */
static tutti_err check_split(const tutti_file *f, int is_write) {
    const tutti_request *r = tutti__request_split(f);
    TUTTI_CHECK(r, TUTTI_ERR_STATE, "no split %s has begun on this file",
                is_write ? "write" : "read");
    TUTTI_CHECK(r->op.is_write == is_write, TUTTI_ERR_STATE,
                "the oldest split operation that has not ended is a %s",
                is_write ? "read" : "write");
    return TUTTI_OK;
}

static tutti_err split_end(tutti_file *f, int is_write, tutti_off *count_out) {
    const tutti__call call = {.object = "file", .name = is_write ? "write_end" : "read_end"};
    /* Determine whether the end call needs the other ranks; the same on all ranks.  With background
     * `all` a thread uses the communicator, and ranks agree at the end of the operation. */
    tutti_request *r = tutti__request_split(f);
    const int is_collective =
        f->opt.background != TUTTI_BACKGROUND_ALL && r && r->found.all_split && !r->result.over;
    if (is_collective) tutti__requests_settle(f);
    tutti_err err = check_split(f, is_write);
    if (is_collective) err = tutti__team_call(f->team, &call, err);
    if (err != TUTTI_OK) {
        tutti__error_context(is_write ? "write_end" : "read_end", f->path, -1);
        return err;
    }
    r = tutti__request_split(f);
    tutti__request_wait(r);
    return tutti__request_collect(&r, count_out);
}

static tutti_err begin_split(tutti_file *f, int is_write, bytes b) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request *r = NULL, asked = make_request(f, is_write, TUTTI__SPLIT, b);
    const tutti_err err = tutti__request_start(&asked, &r);
    tutti__parts_free(&asked.op.parts);
    return err;
}

tutti_err tutti_file_write_begin(tutti_file *f, const tutti_access *a, const void *buf) {
    return begin_split(f, 1, ONE(a, buf));
}

tutti_err tutti_file_read_begin(tutti_file *f, const tutti_access *a, void *buf) {
    return begin_split(f, 0, ONE(a, buf));
}

tutti_err tutti_file_write_parts_begin(tutti_file *f, int n, const tutti_part *parts) {
    return begin_split(f, 1, PARTS(n, parts));
}

tutti_err tutti_file_read_parts_begin(tutti_file *f, int n, const tutti_part *parts) {
    return begin_split(f, 0, PARTS(n, parts));
}

tutti_err tutti_file_write_end(tutti_file *f, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    TUTTI_USE(f);
    return split_end(f, 1, count_out);
}

tutti_err tutti_file_read_end(tutti_file *f, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    TUTTI_USE(f);
    return split_end(f, 0, count_out);
}

/* ---- non-blocking */

tutti_err tutti__start(const tutti_request *asked, tutti_request **r_out) {
    TUTTI_USE(asked->op.file);
    if (r_out) return tutti__request_start(asked, r_out);
    /* The caller cannot complete a request without a handle, so the request is completed here;
     * otherwise other ranks would wait for this rank. */
    tutti_request *r = NULL, refused = *asked;
    refused.asked.refused = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument r_out is NULL");
    TUTTI_TRY(tutti__request_start(&refused, &r));
    tutti__request_wait(r);
    return tutti__request_collect(&r, NULL);
}

static tutti_err start_nonblocking(tutti_file *f, int is_write, bytes b, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request asked = make_request(f, is_write, TUTTI__STARTED, b);
    const tutti_err err = tutti__start(&asked, r_out);
    tutti__parts_free(&asked.op.parts);
    return err;
}

tutti_err tutti_file_write_start(tutti_file *f, const tutti_access *a, const void *buf,
                                 tutti_request **r_out) {
    return start_nonblocking(f, 1, ONE(a, buf), r_out);
}

tutti_err tutti_file_read_start(tutti_file *f, const tutti_access *a, void *buf,
                                tutti_request **r_out) {
    return start_nonblocking(f, 0, ONE(a, buf), r_out);
}

tutti_err tutti_file_write_parts_start(tutti_file *f, int n, const tutti_part *parts,
                                       tutti_request **r_out) {
    return start_nonblocking(f, 1, PARTS(n, parts), r_out);
}

tutti_err tutti_file_read_parts_start(tutti_file *f, int n, const tutti_part *parts,
                                      tutti_request **r_out) {
    return start_nonblocking(f, 0, PARTS(n, parts), r_out);
}

tutti_err tutti_request_test(tutti_request **r, int *done_out, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(done_out != NULL, TUTTI_ERR_ARG, "argument done_out is NULL");
    *done_out = 1; /* an invalid request counts as completed */
    TUTTI_TRY(tutti__request_live(r));
    tutti_file *f = (*r)->asked.how == TUTTI__INDEPENDENT ? NULL : (*r)->op.file;
    *done_out = 0;
    /* another thread uses the file */
    if (f && pthread_mutex_trylock(&f->use) != 0) return TUTTI_OK;
    *done_out = tutti__request_test(*r);
    const tutti_err err = *done_out ? tutti__request_collect(r, count_out) : TUTTI_OK;
    if (f) pthread_mutex_unlock(&f->use);
    return err;
}

tutti_err tutti_request_wait_for(tutti_request **r, double seconds, int *done_out,
                                 tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(done_out != NULL, TUTTI_ERR_ARG, "argument done_out is NULL");
    *done_out = 1; /* an invalid request counts as completed */
    TUTTI_TRY(tutti__request_live(r));
    const double end = tutti__now() + (seconds > 0 ? seconds : 0);
    tutti_file *f = (*r)->asked.how == TUTTI__INDEPENDENT ? NULL : (*r)->op.file;
    tutti__wait w = tutti__wait_begin(NULL, NULL);
    *done_out = 0;
    while (f && pthread_mutex_trylock(&f->use) != 0) { /* another thread uses the file */
        if (tutti__now() >= end) return TUTTI_OK;
        tutti__wait_turn(&w);
    }
    *done_out = tutti__request_wait_until(*r, end);
    const tutti_err err = *done_out ? tutti__request_collect(r, count_out) : TUTTI_OK;
    if (f) pthread_mutex_unlock(&f->use);
    return err;
}

tutti_err tutti_request_wait(tutti_request **r, tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__request_live(r));
    TUTTI_USE((*r)->asked.how == TUTTI__INDEPENDENT ? NULL : (*r)->op.file);
    tutti__request_wait(*r);
    return tutti__request_collect(r, count_out);
}

void tutti_request_abandon(tutti_request **r) {
    TUTTI_KEEP_LAST_ERROR;
    if (!r || !*r || tutti__request_live(r) != TUTTI_OK) return;
    tutti__handle_remove(&(*r)->handle);
    if ((*r)->asked.how == TUTTI__INDEPENDENT)
        tutti__independent_abandon(*r);
    else
        (*r)->progress.abandoned = 1;
    *r = NULL;
}
