/* array: how calls about two arrays open.  Each array has a team of its own, and the ranks have to
 * meet in one: in that of `from`, or of `to` where there is no other.  A rank that has one array where
 * others have two may come to the wrong place, so they meet twice.  First nobody says anything but
 * "I know of another array", so that nothing can go wrong; what the call is about follows when all
 * are in the same place.
 *
 *   rank      knows        waits in
 *   0         from, to     from     a note from rank 1 has come by `to`: on to 2, and answer there:
 *   1         to           to       "from" --> there is a `from`: to its place, with whatever error
 *   2         from, to     from     as rank 0
 *
 * Who knows of one array only sends a note to the next rank by it before it waits there.  Who waits
 * elsewhere and gets one sends one to the next rank in turn, and answers.  So either nobody has sent
 * a note by an array or everybody has, and has got one.  After calls that differ (one is closing the
 * array) notes may be left: they have the number of such calls with them, and old ones are dropped.
 *
 * Not to be helped: ranks that know of no array at all, or of which some know only of the one and
 * some only of the other.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"
#include "base/fiber.h"
#include "comm/wait.h"

enum { NOTE_TAG = 32767 }; /* beyond all others, see tutti__team_tag */

static tutti_err note_send(tutti__team *t) {
    MPI_Request r;
    const int64_t note = t->differed;
    TUTTI_MPI(MPI_Isend(&note, 1, MPI_INT64_T, (t->rank + 1) % t->size, NOTE_TAG, t->comm, &r));
    return tutti__team_finish(1, &r);
}

static tutti_err note_test(tutti__team *t, int *here_out) {
    const int from = (t->rank + t->size - 1) % t->size;
    int64_t note = -1;
    *here_out = 0;
    TUTTI_MPI(MPI_Iprobe(from, NOTE_TAG, t->comm, here_out, MPI_STATUS_IGNORE));
    if (!*here_out) return TUTTI_OK;
    TUTTI_MPI(MPI_Recv(&note, 1, MPI_INT64_T, from, NOTE_TAG, t->comm, MPI_STATUS_IGNORE));
    *here_out = note == t->differed;
    return TUTTI_OK;
}

/* All ranks meet in `a`.  `alone`: this one knows of no other array.  `note`: a note has come.  *other:
 * in, the array that this rank knows of besides, or none; out, anybody's.   Collective; what is queued
 * on its file has been settled. */
static tutti_err meet(tutti_array *a, int alone, int note, tutti__range *other) {
    enum { ALONE, OTHER, NUMBERS };
    tutti__team *t = tutti__array_team(a);
    tutti__range r[NUMBERS] = {tutti__range_of(alone || note), *other};
    const tutti__call call = {.name = "copy or tutti_tiles_begin", .ranges = NUMBERS, .range = r};
    if (alone || note) TUTTI_TRY(note_send(t));
    TUTTI_TRY(tutti__object_call(&a->object, &call, TUTTI_OK));
    *other = r[OTHER];
    if (r[ALONE].max == 0) return TUTTI_OK;
    if (!alone && !note) TUTTI_TRY(note_send(t));
    while (!note) {
        TUTTI_TRY(note_test(t, &note));
        if (!note) tutti__yield();
    }
    return TUTTI_OK;
}

/* ---- two arrays: meet in the one, and look for notes by the other */

typedef struct {
    tutti_array *from;
    tutti_err err;
    tutti_error_info info;
} meeting;

static void meet_by_fiber(void *context) {
    meeting *m = context;
    tutti__range other = tutti__range_none();
    m->err = meet(m->from, 0, 0, &other);
    m->info = *tutti_last_error();
}

static int64_t number_of(const tutti_array *a) {
    return (int64_t)(tutti__array_hash(TUTTI__HASH_START, a) >> 1);
}

static tutti_err meet_both(tutti_array *from, tutti_array *to) {
    meeting m = {.from = from};
    tutti__fiber *fiber = NULL;
    int note = 0;
    tutti__range other = tutti__range_of(number_of(from));
    tutti__requests_settle(from->file);
    tutti_err err = tutti__fiber_make(meet_by_fiber, &m, &fiber);
    if (err != TUTTI_OK) { /* no memory: then nobody looks for notes here */
        meet_by_fiber(&m);
        return m.err;
    }
    while (!tutti__fiber_resume(fiber)) {
        if (!note && err == TUTTI_OK) err = note_test(tutti__array_team(to), &note);
        if (note == 1 && err == TUTTI_OK) {
            tutti__requests_settle(to->file);
            err = meet(to, 0, note, &other);
            note = 2; /* no more of them */
        }
        tutti__yield();
    }
    tutti__fiber_free(&fiber);
    if (m.err == TUTTI_OK) return err;
    tutti__error_assign(&m.info);
    return m.err;
}

/* ---- one: meet there, and go where the others are */

static int is_array(const tutti__handle *h, const void *number) {
    return number_of((const tutti_array *)(const void *)h) == *(const int64_t *)number;
}

static tutti_err meet_alone(tutti_array *a, tutti_array **where_out) {
    tutti__range other = tutti__range_none();
    tutti__requests_settle(a->file);
    TUTTI_TRY(meet(a, 1, 0, &other));
    if (other.max == INT64_MIN) return TUTTI_OK;
    const tutti__handle *found = tutti__handle_search(&tutti__array_class, is_array, &other.max);
    TUTTI_CHECK(found, TUTTI_ERR_MISMATCH, "other ranks have an array that is not open here");
    *where_out = (tutti_array *)(uintptr_t)found;
    other = tutti__range_none();
    tutti__requests_settle((*where_out)->file);
    return meet(*where_out, 0, 0, &other);
}

/* All are in one place, *where_out, whatever they know. */
static tutti_err meet_all(tutti_array *from, tutti_array *to, tutti_array **where_out) {
    tutti__range none = tutti__range_none();
    int alike = MPI_UNEQUAL;
    *where_out = from ? from : to;
    if (tutti__array_team(*where_out)->size == 1) return TUTTI_OK;
    if (!from || !to || from == to) return meet_alone(*where_out, where_out);
    TUTTI_MPI(MPI_Comm_compare(tutti__array_team(from)->comm, tutti__array_team(to)->comm, &alike));
    const int both = alike == MPI_IDENT || alike == MPI_CONGRUENT; /* otherwise it is an error */
    if (both && !tutti__fiber_inside()) return meet_both(from, to);
    tutti__requests_settle(from->file);
    return meet(from, 0, 0, &none);
}

tutti_err tutti__arrays_call(tutti_array *from, tutti_array *to, const tutti__call *c,
                             tutti_err mine) {
    const tutti_error_info trouble = *tutti_last_error();
    tutti_array *where = NULL;
    tutti_err err = TUTTI_OK;
    if (tutti__array_live(from) != TUTTI_OK) from = NULL;
    if (tutti__array_live(to) != TUTTI_OK) to = NULL;
    if (from || to) err = meet_all(from, to, &where);
    if (err == TUTTI_OK) tutti__error_assign(&trouble);
    if (!where) return mine;
    if (err == TUTTI_OK) err = tutti__array_call(where, c, mine);
    return tutti__object_error(&where->object, c->name, err);
}
