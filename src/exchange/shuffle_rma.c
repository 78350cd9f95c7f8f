/* exchange: one-sided communication, as in Feki and Gabriel.  The sub-buffers are MPI windows;
 * origins put into them (writes) or get from them (reads), with one put or get per target.  The
 * bytes are packed in file order at the origin and described by a derived datatype of runs at the
 * target.
 *
 *   fence   init: MPI_Win_fence, then puts or gets            wait: MPI_Win_fence
 *   lock    init: begin the first barrier
 *           test: after the first barrier, MPI_Win_lock(shared), put or get, unlock, and begin the
 *                 second barrier; the shuffle is complete after the second barrier
 *
 * The first barrier signals that the sub-buffers are free (writes) or full (reads), the second that
 * all ranks have unlocked the windows.  Barriers are non-blocking, and each sub-buffer has its own
 * communicator.
 *
 * In the separate memory model of MPI, the owner may access its window only between epochs: it
 * copies its own bytes before the other ranks access the window, and a lock of its own window
 * synchronises the private and the public copy.
 *
 * The origin buffers of puts between fences must not change before the second fence; therefore
 * bytes that do not fit into the area are transferred directly from or to user memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_impl.h"
#include "exchange/staging.h"
#include "exchange/shuffle.h"

/* Maximum number of runs of one put or get. */
enum { RUNS = 1024 };

typedef struct tutti__puts {
    tutti__exchange *x;
    MPI_Win win;
    int target;
    MPI_Aint shift; /* offset of the target's sub-buffer in its window */
    int n;          /* number of runs */
    int scattered;  /* whether the origin is not contiguous */
    tutti_off bytes;
    MPI_Aint origin[RUNS], place[RUNS]; /* address at the origin; offset in the sub-buffer */
    int length[RUNS];
} put_batch;

tutti_err tutti__puts_make(struct tutti__puts **out) {
    *out = tutti__malloc(sizeof **out);
    return *out ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* ---- puts and gets of runs */

static int runs_type(const put_batch *b, const MPI_Aint *places, MPI_Datatype *out) {
    const int code = MPI_Type_create_hindexed(b->n, b->length, places, MPI_BYTE, out);
    return code == MPI_SUCCESS ? MPI_Type_commit(out) : code;
}

static void puts_flush(put_batch *b) {
    MPI_Datatype from = MPI_BYTE, to = MPI_BYTE;
    int code = MPI_SUCCESS;
    if (b->n == 0) return;
    if (b->n > 1) code = runs_type(b, b->place, &to);
    if (code == MPI_SUCCESS && b->scattered) code = runs_type(b, b->origin, &from);
    if (code == MPI_SUCCESS) {
        const int plain_from = from == MPI_BYTE, plain_to = to == MPI_BYTE;
        void *origin =
            plain_from ? (void *)b->origin[0] : MPI_BOTTOM; // NOLINT(performance-no-int-to-ptr)
        const int n_from = plain_from ? (int)b->bytes : 1, n_to = plain_to ? (int)b->bytes : 1;
        const MPI_Aint place = b->shift + (plain_to ? b->place[0] : 0);
        code = b->x->is_write ? MPI_Put(origin, n_from, from, b->target, place, n_to, to, b->win)
                              : MPI_Get(origin, n_from, from, b->target, place, n_to, to, b->win);
    }
    tutti__exchange_fail_mpi(b->x, code, b->x->is_write ? "MPI_Put" : "MPI_Get");
    if (to != MPI_BYTE) MPI_Type_free(&to);
    if (from != MPI_BYTE) MPI_Type_free(&from);
    tutti__exchange_sent(b->x, b->bytes);
    b->n = b->scattered = 0;
    b->bytes = 0;
}

static void puts_add(put_batch *b, const char *origin, tutti_off place, tutti_off bytes) {
    const MPI_Aint at = (MPI_Aint)(uintptr_t)origin;
    const int last = b->n - 1;
    const int follows = b->n > 0 && b->origin[last] + b->length[last] == at;
    if (follows && b->place[last] + b->length[last] == place) {
        b->length[last] += (int)bytes;
    } else {
        if (b->n == RUNS) puts_flush(b);
        b->scattered |= b->n > 0 && !follows;
        b->origin[b->n] = at;
        b->place[b->n] = (MPI_Aint)place;
        b->length[b->n++] = (int)bytes;
    }
    b->bytes += bytes;
}

/* Put or get all runs of a parcel, between the window of its peer and the packed bytes or, if
 * packed is NULL, user memory. */
static void parcel_move(tutti__exchange *x, const tutti__shuffle *s, const tutti__parcel *p,
                        const char *packed) {
    put_batch *b = x->puts;
    tutti__cursor file, memory;
    tutti__burst f, m;
    tutti_off left = p->bytes;
    const tutti_off stream = tutti__side_tell(p->side, p->lo);
    b->x = x;
    b->win = x->team->staging->rma_windows.win[s->index];
    b->target = p->peer;
    b->shift = tutti__rma_windows_shift(&x->team->staging->rma_windows, s->index, p->peer);
    b->n = b->scattered = 0;
    b->bytes = 0;
    tutti__cursor_seek(&file, p->side, stream);
    if (!packed) tutti__cursor_seek(&memory, x->access->memory, stream);
    while (left > 0 && tutti__cursor_peek(&file, &f)) {
        tutti_off bytes = tutti__min(f.bytes, left);
        const char *at = packed;
        if (!packed) {
            if (!tutti__cursor_peek(&memory, &m)) break;
            bytes = tutti__min(bytes, m.bytes);
            at = tutti__place(x->user, m.offset);
            tutti__cursor_skip(&memory, bytes);
        } else {
            packed += bytes;
        }
        puts_add(b, at, f.offset - p->lo, bytes);
        tutti__cursor_skip(&file, bytes);
        left -= bytes;
    }
    puts_flush(b);
}

/* ---- fence */

static void fence_window(tutti__exchange *x, const tutti__shuffle *s, int assertion) {
    tutti__exchange_fail_mpi(
        x, MPI_Win_fence(assertion, x->team->staging->rma_windows.win[s->index]), "MPI_Win_fence");
}

static void fence_init(tutti__exchange *x, tutti__shuffle *s) {
    if (x->is_write) tutti__exchange_own(x, s);
    fence_window(x, s, 0);
    for (int i = 0; i < s->of_memory.n; i++) {
        tutti__parcels *l = &s->of_memory;
        s->of_memory.v[i].at =
            l->used + s->of_memory.v[i].bytes <= x->window ? l->area + l->used : NULL;
        if (s->of_memory.v[i].at) {
            l->used += s->of_memory.v[i].bytes;
            if (x->is_write) tutti__memory_pack(x, &s->of_memory.v[i], s->of_memory.v[i].at);
        } else {
            x->moved += s->of_memory.v[i].bytes;
        }
        parcel_move(x, s, &s->of_memory.v[i], s->of_memory.v[i].at);
    }
    if (!x->is_write) tutti__exchange_own(x, s);
}

/* Return 0, since completion is known only after the second fence; MPI_Iprobe lets MPI progress. */
static int fence_test(tutti__exchange *x, tutti__shuffle *s) {
    int flag;
    (void)s;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, x->tag, x->team->comm, &flag, MPI_STATUS_IGNORE);
    return 0;
}

static void fence_wait(tutti__exchange *x, tutti__shuffle *s) {
    fence_window(x, s, MPI_MODE_NOSUCCEED);
    for (int i = 0; i < s->of_memory.n && !x->is_write; i++) {
        const tutti__parcel *p = &s->of_memory.v[i];
        if (p->at) tutti__memory_unpack(x, p, p->at);
    }
}

const tutti__shuffle_ops tutti__shuffle_fence = {
    .name = "fence", .init = fence_init, .test = fence_test, .wait = fence_wait};

/* ---- lock */

enum { FIRST_BARRIER, SECOND_BARRIER, OVER };

static void barrier_begin(tutti__exchange *x, tutti__shuffle *s, int phase) {
    const int code = MPI_Ibarrier(x->team->staging->rma_windows.barrier[s->index], &s->barrier);
    if (code != MPI_SUCCESS) s->barrier = MPI_REQUEST_NULL;
    tutti__exchange_fail_mpi(x, code, "MPI_Ibarrier");
    s->phase = phase;
}

/* Synchronise the own window with puts of other ranks, by a lock; call inside(x, s), if not NULL,
 * while it is locked. */
static void own_window(tutti__exchange *x, tutti__shuffle *s, int type,
                       void (*inside)(tutti__exchange *, const tutti__shuffle *)) {
    const MPI_Win win = x->team->staging->rma_windows.win[s->index];
    if (s->lo >= s->hi) return;
    tutti__exchange_fail_mpi(x, MPI_Win_lock(type, x->team->rank, 0, win), "MPI_Win_lock");
    if (inside) inside(x, s);
    tutti__exchange_fail_mpi(x, MPI_Win_sync(win), "MPI_Win_sync");
    tutti__exchange_fail_mpi(x, MPI_Win_unlock(x->team->rank, win), "MPI_Win_unlock");
}

/* Transfer the parcels that fit into the area, starting with index `first`, with all targets locked
 * at the same time; returns the index after them. */
static int lock_move(tutti__exchange *x, tutti__shuffle *s, int first) {
    const MPI_Win win = x->team->staging->rma_windows.win[s->index];
    char *area =
        x->send ? x->send : s->of_memory.area; /* common area, or that of this sub-buffer */
    tutti_off used = 0;
    int next = first;
    for (; next < s->of_memory.n && used + s->of_memory.v[next].bytes <= x->window; next++) {
        tutti__parcel *p = &s->of_memory.v[next];
        p->at = area + used;
        used += p->bytes;
        if (x->is_write) tutti__memory_pack(x, p, p->at);
        tutti__exchange_fail_mpi(x, MPI_Win_lock(MPI_LOCK_SHARED, p->peer, 0, win), "MPI_Win_lock");
        parcel_move(x, s, p, p->at);
    }
    for (int i = first; i < next; i++) {
        const tutti__parcel *p = &s->of_memory.v[i];
        tutti__exchange_fail_mpi(x, MPI_Win_unlock(p->peer, win), "MPI_Win_unlock");
        if (!x->is_write) tutti__memory_unpack(x, p, p->at);
    }
    return next;
}

static void lock_init(tutti__exchange *x, tutti__shuffle *s) {
    own_window(x, s, MPI_LOCK_EXCLUSIVE, x->is_write ? tutti__exchange_own : NULL);
    barrier_begin(x, s, FIRST_BARRIER);
}

static int lock_test(tutti__exchange *x, tutti__shuffle *s) {
    int over = 1;
    if (s->phase == OVER) return 1;
    tutti__exchange_fail_mpi(x, MPI_Test(&s->barrier, &over, MPI_STATUS_IGNORE), "MPI_Test");
    if (over) {
        if (s->phase == FIRST_BARRIER) {
            for (int i = 0; i < s->of_memory.n;) i = lock_move(x, s, i);
            if (!x->is_write) own_window(x, s, MPI_LOCK_SHARED, tutti__exchange_own);
            barrier_begin(x, s, SECOND_BARRIER);
        } else {
            if (x->is_write) own_window(x, s, MPI_LOCK_SHARED, NULL);
            s->phase = OVER;
        }
    }
    return s->phase == OVER;
}

const tutti__shuffle_ops tutti__shuffle_lock = {
    .name = "lock", .init = lock_init, .test = lock_test};
