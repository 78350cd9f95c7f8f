/* collective: requests of several parts (<tutti/parts.h>): conversion of the parts of a caller, or
 * of the buffers of a plan of parts, into the parts of an operation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"

static tutti_err add_caller_part(tutti__batch *b, int i, const tutti_part *part) {
    TUTTI_TRY(tutti__access_usable(part->access));
    TUTTI_CHECK_RESERVED(part, "a part");
    return tutti__batch_put(b, i, part->access, &part->convert);
}

static tutti_err make_batch(int n, const tutti_part *parts, tutti__batch **out) {
    tutti__batch *b = NULL;
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "number of parts is %d: must be >= 0", n);
    TUTTI_CHECK(parts || n == 0, TUTTI_ERR_ARG, "argument parts is NULL, but n is %d", n);
    TUTTI_TRY(tutti__batch_make(n, &b));
    tutti_err err = TUTTI_OK;
    for (int i = 0; i < n && err == TUTTI_OK; i++) err = add_caller_part(b, i, &parts[i]);
    if (err == TUTTI_OK)
        *out = b;
    else
        tutti__batch_drop(&b);
    return err;
}

static tutti_err set_parts(tutti__op *op, int n, const tutti_part *parts) {
    tutti__batch *b = NULL;
    TUTTI_TRY(make_batch(n, parts, &b));
    tutti_err err = TUTTI_OK;
    if (n == 1 && !b->converts) { /* equivalent to an ordinary access */
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
    if (r->asked.refused == TUTTI_OK) r->asked.refused = set_parts(&r->op, n, parts);
}

static tutti_err set_buffers(const tutti_plan *p, tutti__op *op, int n, void *const *bufs) {
    const int planned = p->asked.batch ? p->asked.batch->n : 1;
    TUTTI_CHECK(n == planned, TUTTI_ERR_ARG, "n is %d: must be %d, the number of parts of the plan",
                n, planned);
    TUTTI_CHECK(bufs || n == 0, TUTTI_ERR_ARG, "argument bufs is NULL, but n is %d", n);
    if (!p->asked.batch) {
        op->buf = bufs[0];
        return TUTTI_OK;
    }
    TUTTI_TRY(tutti__parts_make(p->asked.batch, &op->parts));
    for (int i = 0; i < n; i++) op->parts->io[i].buf = bufs[i];
    tutti__parts_start(op->parts, p->asked.batch, 0);
    return TUTTI_OK;
}

void tutti__ask_bufs(tutti_request *r, int n, void *const *bufs) {
    if (r->asked.refused == TUTTI_OK)
        r->asked.refused = set_buffers(r->found.plan, &r->op, n, bufs);
}
