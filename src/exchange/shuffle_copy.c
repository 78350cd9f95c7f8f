/* exchange: functions common to the kinds of shuffle: errors, statistics, copies, progress.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/shuffle.h"

#include "access/copy_bytes.h"

void tutti__exchange_fail(tutti__exchange *x, tutti_err err) {
    if (err == TUTTI_OK || x->err != TUTTI_OK) return;
    x->err = err;
    x->info = *tutti_last_error();
}

void tutti__exchange_fail_mpi(tutti__exchange *x, int code, const char *what) {
    if (code != MPI_SUCCESS) tutti__exchange_fail(x, tutti__error_mpi(code, what));
}

void tutti__exchange_sent(tutti__exchange *x, tutti_off bytes) {
    x->stats->messages++;
    x->stats->message_bytes += bytes;
}

static void count_copied(tutti__exchange *x, tutti_off bytes, int is_mine) {
    x->stats->copied_bytes += bytes;
    if (is_mine) x->moved += bytes;
}

static tutti__bytes_at in_window(tutti__side side, tutti_off lo, char *stage) {
    tutti__bytes_at at = {side, stage, tutti__side_tell(side, lo)};
    at.side.disp -= lo;
    return at;
}

void tutti__exchange_own(tutti__exchange *x, const tutti__shuffle *s) {
    const tutti_access *a = x->access;
    if (s->own == 0) return;
    count_copied(x, s->own, 1);
    if (x->step == 1) {
        const tutti__bytes_at stage = in_window(a->file, s->lo, s->buffer);
        const tutti__bytes_at user = {a->memory, x->user, stage.stream};
        tutti__bytes_copy(x->is_write ? &stage : &user, x->is_write ? &user : &stage, s->own);
    } else if (x->is_write) {
        (void)tutti__access_to_stage(a, x->user, s->lo, s->hi, s->buffer, s->lo);
    } else {
        (void)tutti__access_from_stage(a, x->user, s->lo, s->hi, s->buffer, s->lo);
    }
}

void tutti__memory_pack(tutti__exchange *x, const tutti__parcel *p, char *packed) {
    const tutti_off from = tutti__side_tell(p->side, p->lo);
    const tutti__bytes_at user = {x->access->memory, x->user, from};
    count_copied(x, p->bytes, 1);
    if (x->step == 1)
        tutti__bytes_pack(&user, p->bytes, packed);
    else
        tutti_access_pack(x->access, x->user, from, from + p->bytes, packed);
}

void tutti__memory_unpack(tutti__exchange *x, const tutti__parcel *p, const char *packed) {
    const tutti_off from = tutti__side_tell(p->side, p->lo);
    const tutti__bytes_at user = {x->access->memory, x->user, from};
    count_copied(x, p->bytes, 1);
    if (x->step == 1)
        tutti__bytes_unpack(&user, p->bytes, packed);
    else
        tutti__access_unpack(x->access, x->user, from, from + p->bytes, packed);
}

void tutti__window_pack(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                        char *packed) {
    const tutti__bytes_at stage = in_window(p->side, p->lo, s->buffer);
    count_copied(x, p->bytes, 0);
    if (x->step == 1)
        tutti__bytes_pack(&stage, p->bytes, packed);
    else
        (void)tutti__side_pack(p->side, p->lo, p->hi, s->buffer, p->lo, packed);
}

void tutti__window_unpack(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                          const char *packed) {
    const tutti__bytes_at stage = in_window(p->side, p->lo, s->buffer);
    count_copied(x, p->bytes, 0);
    if (x->step == 1)
        tutti__bytes_unpack(&stage, p->bytes, packed);
    else
        (void)tutti__side_unpack(p->side, p->lo, p->hi, s->buffer, p->lo, packed);
}

void tutti__exchange_progress(tutti__exchange *x) {
    for (int i = 0; i < x->flights; i++) (void)x->ops->test(x, x->flight[i]);
}
