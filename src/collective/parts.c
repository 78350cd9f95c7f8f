/* collective: operations on several parts, and plans of them: the public calls of <tutti/parts.h>.
 * Each describes its request as the calls on one access do, and has it carried out the same way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"
#include "collective/layer.h"

#define CHECK_FILE(f) TUTTI_TRY(tutti__file_live(f))
#define CHECK_PLAN(p) TUTTI_TRY(tutti__plan_live(p))

/* ---- describing them */

static tutti_err part_put(tutti__batch *b, int i, const tutti_part *part) {
    TUTTI_TRY(tutti__access_usable(part->access));
    TUTTI_CHECK_RESERVED(part, "a part");
    return tutti__batch_put(b, i, part->access, &part->convert);
}

static tutti_err batch_of(int n, const tutti_part *parts, tutti__batch **out) {
    tutti__batch *b = NULL;
    TUTTI_CHECK(n >= 0 && (parts || n == 0), TUTTI_ERR_ARG, "%d parts%s", n,
                parts ? "" : " at NULL");
    TUTTI_TRY(tutti__batch_make(n, &b));
    tutti_err err = TUTTI_OK;
    for (int i = 0; i < n && err == TUTTI_OK; i++) err = part_put(b, i, &parts[i]);
    if (err == TUTTI_OK)
        *out = b;
    else
        tutti__batch_drop(&b);
    return err;
}

static tutti_err parts_of(tutti__op *op, int n, const tutti_part *parts) {
    tutti__batch *b = NULL;
    TUTTI_TRY(batch_of(n, parts, &b));
    tutti_err err = TUTTI_OK;
    if (n == 1 && !b->converts) { /* an access like any other */
        op->access = parts[0].access;
        op->buf = parts[0].buf;
    } else if ((err = tutti__parts_make(b, &op->parts)) == TUTTI_OK) {
        for (int i = 0; i < n; i++) op->parts->io[i].buf = parts[i].buf;
        op->access = b->largest >= 0 ? &b->part[b->largest].access : &b->all;
    }
    tutti__batch_drop(&b);
    return err;
}

void tutti__ask_parts(tutti_request *r, int n, const tutti_part *parts) {
    if (r->refused == TUTTI_OK) r->refused = parts_of(&r->op, n, parts);
}

static tutti_err bufs_of(const tutti_plan *p, tutti__op *op, int n, void *const *bufs) {
    const int planned = p->batch ? p->batch->n : 1;
    TUTTI_CHECK(n == planned && (bufs || n == 0), TUTTI_ERR_ARG,
                "%d buffers for a plan of %d parts", bufs ? n : 0, planned);
    if (!p->batch) {
        op->buf = bufs[0];
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__parts_make(p->batch, &op->parts));
    for (int i = 0; i < n; i++) op->parts->io[i].buf = bufs[i];
    tutti__parts_start(op->parts, p->batch, 0);
    return TUTTI_OK;
}

void tutti__ask_bufs(tutti_request *r, int n, void *const *bufs) {
    if (r->refused == TUTTI_OK) r->refused = bufs_of(r->plan, &r->op, n, bufs);
}

static tutti_request asked_of(tutti_file *f, int is_write, tutti__how how) {
    return (tutti_request){
        .name = is_write ? "write" : "read", .op = {.file = f, .is_write = is_write}, .how = how};
}

/* ---- at once */

static tutti_err transfer(tutti_file *f, int is_write, int n, const tutti_part *parts,
                          tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = asked_of(f, is_write, TUTTI__AT_ONCE);
    tutti__ask_parts(&r, n, parts);
    const tutti_err err = tutti__transfer(&r, count_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti_file_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                 tutti_off *count_out) {
    return transfer(f, 1, n, parts, count_out);
}

tutti_err tutti_file_read_parts(tutti_file *f, int n, const tutti_part *parts,
                                tutti_off *count_out) {
    return transfer(f, 0, n, parts, count_out);
}

static tutti_err independent(tutti_file *f, int is_write, int n, const tutti_part *parts,
                             tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = asked_of(f, is_write, TUTTI__INDEPENDENT);
    r.name = is_write ? "independent write" : "independent read";
    tutti__ask_parts(&r, n, parts);
    tutti__parts *p = r.op.parts;
    if (r.refused == TUTTI_OK && p) {
        r.refused = tutti__batch_unite(p->batch);
        r.op.access = &p->batch->all;
    }
    if (r.refused == TUTTI_OK && p) tutti__parts_start(p, p->batch, 0);
    const tutti_err err = tutti__independent(&r, count_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti_file_write_parts_independent(tutti_file *f, int n, const tutti_part *parts,
                                             tutti_off *count_out) {
    return independent(f, 1, n, parts, count_out);
}

tutti_err tutti_file_read_parts_independent(tutti_file *f, int n, const tutti_part *parts,
                                            tutti_off *count_out) {
    return independent(f, 0, n, parts, count_out);
}

/* ---- split and non-blocking */

static tutti_err begin(tutti_file *f, int is_write, int n, const tutti_part *parts) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request *r = NULL, asked = asked_of(f, is_write, TUTTI__SPLIT);
    tutti__ask_parts(&asked, n, parts);
    const tutti_err err = tutti__request_start(&asked, &r);
    tutti__parts_free(&asked.op.parts);
    return err;
}

tutti_err tutti_file_write_parts_begin(tutti_file *f, int n, const tutti_part *parts) {
    return begin(f, 1, n, parts);
}

tutti_err tutti_file_read_parts_begin(tutti_file *f, int n, const tutti_part *parts) {
    return begin(f, 0, n, parts);
}

static tutti_err start(tutti_file *f, int is_write, int n, const tutti_part *parts,
                       tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request asked = asked_of(f, is_write, TUTTI__STARTED);
    tutti__ask_parts(&asked, n, parts);
    const tutti_err err = tutti__start(&asked, r_out);
    tutti__parts_free(&asked.op.parts);
    return err;
}

tutti_err tutti_file_write_parts_start(tutti_file *f, int n, const tutti_part *parts,
                                       tutti_request **r_out) {
    return start(f, 1, n, parts, r_out);
}

tutti_err tutti_file_read_parts_start(tutti_file *f, int n, const tutti_part *parts,
                                      tutti_request **r_out) {
    return start(f, 0, n, parts, r_out);
}

/* ---- plans */

static tutti_err plan(tutti_file *f, int is_write, int n, const tutti_part *parts,
                      tutti_plan **p_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    tutti_request r = asked_of(f, is_write, TUTTI__PLAN_ONLY);
    tutti__ask_parts(&r, n, parts);
    const tutti_err err = tutti__plan_new(&r, p_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti_plan_write_parts(tutti_file *f, int n, const tutti_part *parts,
                                 tutti_plan **p_out) {
    return plan(f, 1, n, parts, p_out);
}

tutti_err tutti_plan_read_parts(tutti_file *f, int n, const tutti_part *parts, tutti_plan **p_out) {
    return plan(f, 0, n, parts, p_out);
}

static tutti_request run_of(tutti_plan *p, tutti_off displacement, tutti__how how) {
    tutti_request r = asked_of(p->file, p->is_write, how);
    r.op.access = p->access;
    r.plan = p;
    r.displacement = displacement;
    return r;
}

tutti_err tutti_plan_run_parts(tutti_plan *p, int n, void *const *bufs, tutti_off displacement,
                               tutti_off *count_out) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    tutti_request r = run_of(p, displacement, TUTTI__AT_ONCE);
    tutti__ask_bufs(&r, n, bufs);
    const tutti_err err = tutti__transfer(&r, count_out);
    tutti__parts_free(&r.op.parts);
    return err;
}

tutti_err tutti_plan_start_parts(tutti_plan *p, int n, void *const *bufs, tutti_off displacement) {
    TUTTI_KEEP_ERRNO;
    CHECK_PLAN(p);
    TUTTI_USE(p->file);
    TUTTI_CHECK(!p->request, TUTTI_ERR_STATE, "the plan has been started and not waited for");
    tutti_request asked = run_of(p, displacement, TUTTI__STARTED);
    tutti__ask_bufs(&asked, n, bufs);
    const tutti_err err = tutti__request_start(&asked, &p->request);
    tutti__parts_free(&asked.op.parts);
    return err;
}

/* One buffer is a list of one. */
tutti_err tutti_plan_run(tutti_plan *p, void *buf, tutti_off displacement, tutti_off *count_out) {
    return tutti_plan_run_parts(p, 1, &buf, displacement, count_out);
}

tutti_err tutti_plan_start(tutti_plan *p, void *buf, tutti_off displacement) {
    return tutti_plan_start_parts(p, 1, &buf, displacement);
}
