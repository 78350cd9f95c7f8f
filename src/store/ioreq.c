/* store: asynchronous requests.
 *
 * Pieces start in list order, but end in any order.  The result of a read is the number of bytes of
 * the list before the first byte beyond the end of the file, which is the smallest stream position
 * at which a piece reached the end.  If the runs ascend, all later bytes are beyond the end, too,
 * and are unchanged.  Otherwise a later piece could be within the file although an earlier one is
 * not; such lists are truncated at their first byte beyond the end beforehand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/ioreq.h"
#include "store/store.h"
#include "base/memory.h"
#include "base/trace.h"

#include <string.h>

/* Truncate the list of runs at its first byte that is beyond the end of the file. */
static tutti_err cut_off(tutti__fdfile *f, tutti__ioreq *r, int n) {
    tutti_off size = 0, there = 0;
    TUTTI_TRY(tutti__fdfile_size(&f->base, &size));
    for (int i = 0; i < n; i++) {
        const tutti_io_run *run = &r->runs[i];
        const tutti_off in_file = tutti__max(0, size - run->offset);
        there += tutti__min(in_file, (tutti_off)run->bytes);
        if (in_file < (tutti_off)run->bytes) {
            r->rest.left = there;
            r->tally.end = there;
            break;
        }
    }
    return TUTTI_OK;
}

tutti_err tutti__ioreq_make(tutti__fdfile *f, int is_write, const tutti_io_run *runs, int n,
                            tutti__ioreq **r_out) {
    TUTTI_TRY(tutti__fdfile_allows(f, is_write, is_write ? tutti__runs_end(runs, n) : 0));
    tutti__ioreq *r = tutti__malloc(sizeof *r + (size_t)n * sizeof *runs);
    if (!r) return TUTTI_ERR_NOMEM;
    *r = (tutti__ioreq){.base = {.store = &f->base}, .is_write = is_write};
    r->tally = tutti__tally_start();
    if (n > 0) memcpy(r->runs, runs, (size_t)n * sizeof *runs);
    tutti_err err = tutti__fdfile_span(f, r->is_write, r->runs, n, &r->rest);
    r->bytes = r->rest.left;
    int is_ascending = 1;
    for (int i = 1; i < n; i++)
        is_ascending &= runs[i].offset >= runs[i - 1].offset + (tutti_off)runs[i - 1].bytes;
    if (err == TUTTI_OK && !r->is_write && !is_ascending) err = cut_off(f, r, n);
    if (err != TUTTI_OK) {
        tutti__free(r);
        return err;
    }
    *r_out = r;
    return TUTTI_OK;
}

int tutti__ioreq_take(tutti__ioreq *r, tutti__io_call *call, tutti__span *piece_out) {
    if (r->rest.left == 0) return 0;
    tutti__span_cut((tutti__fdfile *)r->base.store, r->rest, call);
    *piece_out = r->rest;
    piece_out->left = (tutti_off)call->bytes;
    tutti__span_advance(&r->rest, (tutti_off)call->bytes);
    r->active++;
    return 1;
}

void tutti__ioreq_return(tutti__ioreq *r, const tutti__tally *t) {
    r->active--;
    r->tally.calls += t->calls;
    r->tally.system_calls += t->system_calls;
    r->tally.bytes += t->bytes;
    r->tally.direct_bytes += t->direct_bytes;
    r->tally.end = tutti__min(r->tally.end, t->end);
    if (t->sys_errno != 0 && r->tally.sys_errno == 0) {
        r->tally.sys_errno = t->sys_errno;
        r->tally.error_offset = t->error_offset;
    }
    if (t->sys_errno != 0 || t->end != TUTTI__NO_END) r->rest.left = 0;
    if (tutti__ioreq_ended(r)) r->base.ended = tutti__now();
}

tutti_err tutti__ioreq_judge(tutti__ioreq *r, tutti_off *done_out) {
    TUTTI_ASSERT(tutti__ioreq_ended(r) && !r->queued);
    const tutti_off done = tutti__min(r->bytes, r->tally.end);
    const tutti_err err =
        tutti__tally_judge(&r->tally, r->is_write, tutti__store_stats(r->base.store));
    tutti__free(r);
    if (err == TUTTI_OK) *done_out = done;
    return err;
}

void tutti__ioqueue_add(tutti__ioqueue *q, tutti__ioreq *r) {
    r->queued = 1;
    r->next = NULL;
    if (q->tail)
        q->tail->next = r;
    else
        q->head = r;
    q->tail = r;
}

void tutti__ioqueue_remove(tutti__ioqueue *q, tutti__ioreq *r) {
    tutti__ioreq *before = NULL;
    if (!r->queued) return;
    for (tutti__ioreq *at = q->head; at != r; at = at->next) before = at;
    if (before)
        before->next = r->next;
    else
        q->head = r->next;
    if (q->tail == r) q->tail = before;
    r->queued = 0;
}

tutti__ioreq *tutti__ioqueue_first(tutti__ioqueue *q) {
    while (q->head && q->head->rest.left == 0) tutti__ioqueue_remove(q, q->head);
    return q->head;
}
