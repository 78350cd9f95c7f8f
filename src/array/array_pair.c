/* array: start of calls on two arrays.  Each array has its own team, and the ranks must agree in
 * one team: that of `from`, or of `to` if there is no other array.  A rank that passes one array
 * where other ranks pass two may enter the wrong team, so there are two agreements.  The first only
 * reports whether a rank has another array, and cannot fail; the second is the call, with all ranks
 * in the same team.
 *
 *   rank   has        waits in
 *   0      from, to   from   gets the note of rank 1 in `to`, sends one to rank 2, answers in `to`
 *   1      to         to     the answer is `from`: enters the team of `from`, with its error
 *   2      from, to   from   like rank 0
 *
 * A rank that has only one array sends a note to the next rank in the team of this array before it
 * waits.  A rank that waits in another team and gets a note sends a note to the next rank and
 * answers.  So either no rank has sent a note in a team, or every rank has sent one note and
 * received one note.  After calls that differ (one rank closes the array) notes may remain.  Notes
 * contain the number of such calls, and old notes are dropped.
 *
 * Not supported: ranks without any array, and a mixture of ranks that have only `from` and ranks
 * that have only `to`.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"
#include "base/fiber.h"
#include "comm/wait.h"

enum { NOTE_TAG = 32767 }; /* larger than all other tags, see tutti__team_tag */

static tutti_err send_note(tutti__team *t) {
    MPI_Request r;
    const int64_t note = t->differed;
    TUTTI_MPI(MPI_Isend(&note, 1, MPI_INT64_T, (t->rank + 1) % t->size, NOTE_TAG, t->comm, &r));
    return tutti__team_finish(1, &r);
}

static tutti_err test_note(tutti__team *t, int *here_out) {
    const int from = (t->rank + t->size - 1) % t->size;
    int64_t note = -1;
    *here_out = 0;
    TUTTI_MPI(MPI_Iprobe(from, NOTE_TAG, t->comm, here_out, MPI_STATUS_IGNORE));
    if (!*here_out) return TUTTI_OK;
    TUTTI_MPI(MPI_Recv(&note, 1, MPI_INT64_T, from, NOTE_TAG, t->comm, MPI_STATUS_IGNORE));
    *here_out = note == t->differed;
    return TUTTI_OK;
}

/* Agree in the team of `a`.  alone: this rank has no other array.  note: a note has been received.
 * *other: in: number of the other array of this rank, or an empty range; out: the range over all
 * ranks.   Collective; requests of the file must be settled. */
static tutti_err meet_in_team(tutti_array *a, int alone, int note, tutti__range *other) {
    enum { ALONE, OTHER, NUMBERS };
    tutti__team *t = tutti__array_team(a);
    tutti__range r[NUMBERS] = {tutti__range_of(alone || note), *other};
    const tutti__call call = {.name = "copy or tutti_tiles_begin", .ranges = NUMBERS, .range = r};
    if (alone || note) TUTTI_TRY(send_note(t));
    TUTTI_TRY(tutti__object_call(&a->object, &call, TUTTI_OK));
    *other = r[OTHER];
    if (r[ALONE].max == 0) return TUTTI_OK;
    if (!alone && !note) TUTTI_TRY(send_note(t));
    tutti__wait w = tutti__wait_begin(t, NULL);
    while (!note) {
        TUTTI_TRY(test_note(t, &note));
        if (!note) tutti__wait_turn(&w);
    }
    return TUTTI_OK;
}

/* ---- two arrays: agree in the team of `from`, and test for notes in the team of `to` */

typedef struct {
    tutti_array *from;
    tutti_err err;
    tutti_error_info info;
} fiber_meeting;

static void meet_in_fiber(void *context) {
    fiber_meeting *m = context;
    tutti__range other = tutti__range_none();
    m->err = meet_in_team(m->from, 0, 0, &other);
    m->info = *tutti_last_error();
}

static int64_t array_number(const tutti_array *a) {
    return (int64_t)(tutti__array_hash(TUTTI__HASH_START, a) >> 1);
}

static tutti_err meet_in_two_teams(tutti_array *from, tutti_array *to) {
    fiber_meeting m = {.from = from};
    tutti__fiber *fiber = NULL;
    int note = 0;
    tutti__range other = tutti__range_of(array_number(from));
    tutti__requests_settle(from->file);
    tutti_err err = tutti__fiber_make(meet_in_fiber, &m, &fiber);
    if (err != TUTTI_OK) { /* out of memory: agree without testing for notes */
        meet_in_fiber(&m);
        return m.err;
    }
    tutti__wait w = tutti__wait_begin(tutti__array_team(to), NULL);
    while (!tutti__fiber_resume(fiber)) {
        if (!note && err == TUTTI_OK) err = test_note(tutti__array_team(to), &note);
        if (note == 1 && err == TUTTI_OK) {
            tutti__requests_settle(to->file);
            err = meet_in_team(to, 0, note, &other);
            note = 2; /* ignore further notes */
        }
        tutti__wait_turn(&w);
    }
    tutti__fiber_free(&fiber);
    if (m.err == TUTTI_OK) return err;
    tutti__error_assign(&m.info);
    return m.err;
}

/* ---- one array: agree in its team, then enter the team of the other ranks */

static int has_number(const tutti__handle *h, const void *number) {
    return array_number((const tutti_array *)(const void *)h) == *(const int64_t *)number;
}

/* Let all ranks enter the same team, that of *where_out. */
static tutti_err meet_all_ranks(tutti_array *from, tutti_array *to, tutti_array **where_out) {
    tutti__range none = tutti__range_none();
    int alike = MPI_UNEQUAL;
    *where_out = from ? from : to;
    if (tutti__array_team(*where_out)->size == 1) return TUTTI_OK;
    if (!from || !to || from == to) {
        tutti__range other = tutti__range_none();
        tutti__requests_settle((*where_out)->file);
        TUTTI_TRY(meet_in_team(*where_out, 1, 0, &other));
        if (other.max == INT64_MIN) return TUTTI_OK;
        const tutti__handle *found =
            tutti__handle_search(&tutti__array_class, has_number, &other.max);
        TUTTI_CHECK(found, TUTTI_ERR_MISMATCH,
                    "other ranks passed an array that is not open on this rank");
        *where_out = (tutti_array *)(uintptr_t)found;
        other = tutti__range_none();
        tutti__requests_settle((*where_out)->file);
        return meet_in_team(*where_out, 0, 0, &other);
    }
    TUTTI_MPI(MPI_Comm_compare(tutti__array_team(from)->comm, tutti__array_team(to)->comm, &alike));
    /* arrays on different ranks: the call fails later */
    const int both = alike == MPI_IDENT || alike == MPI_CONGRUENT;
    if (both && !tutti__fiber_inside()) return meet_in_two_teams(from, to);
    tutti__requests_settle(from->file);
    return meet_in_team(from, 0, 0, &none);
}

tutti_err tutti__arrays_call(tutti_array *from, tutti_array *to, const tutti__call *c,
                             tutti_err local_err) {
    const tutti_error_info error = *tutti_last_error();
    tutti_array *common = NULL;
    tutti_err err = TUTTI_OK;
    if (tutti__array_live(from) != TUTTI_OK) from = NULL;
    if (tutti__array_live(to) != TUTTI_OK) to = NULL;
    if (from || to) err = meet_all_ranks(from, to, &common);
    if (err == TUTTI_OK) tutti__error_assign(&error);
    if (!common) return local_err;
    if (err == TUTTI_OK) err = tutti__array_call(common, c, local_err);
    return tutti__array_named(common, c->name, err);
}
