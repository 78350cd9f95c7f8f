/* exchange: MPI windows of the sub-buffers, one per sub-buffer, so that each has its own epochs.
 * They are created by MPI_Win_allocate, with size 0 on ranks that are not aggregators.  They are
 * cached in the team because freeing a window is collective, but freeing a plan is not.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/rma_windows.h"

#include <string.h>

#include "comm/vote.h"
#include "comm/wait.h"
#include "exchange/staging.h"

/* Direct I/O requires memory aligned to pages.  If the memory of the window is not aligned, the
 * sub-buffer starts at the first page boundary, and all ranks need this shift. */
enum { PAGE = 4096 };

/* Align *base to pages, and gather the shifts of all ranks in *out if any is not 0.  Collective;
 * returns the same code on all ranks. */
static tutti_err exchange_shifts(tutti__team *t, char **base, int **out) {
    const tutti_off past = (tutti_off)((uintptr_t)*base % PAGE);
    const int local_shift = *base && past ? (int)(PAGE - past) : 0;
    int64_t largest = local_shift;
    TUTTI_TRY(tutti__team_max(t, TUTTI_OK, &largest));
    if (largest == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__team_allgather(t, &local_shift, sizeof local_shift, (void **)out));
    *base += local_shift;
    return TUTTI_OK;
}

/* Create one window, on all ranks or on none.  If creation fails on some ranks, the other ranks
 * cannot free their window, since MPI_Win_free is collective; the window then exists until the
 * program ends. */
static tutti_err window_make(tutti__team *t, tutti_off bytes, MPI_Win *out, char **base_out) {
    const MPI_Aint size = bytes > 0 ? (MPI_Aint)bytes + PAGE : 0;
    MPI_Win win = MPI_WIN_NULL;
    char *base = NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (MPI_Info_create(&info) == MPI_SUCCESS) {
        (void)MPI_Info_set(info, "alloc_shared_noncontig", "true");
        (void)MPI_Info_set(info, "same_disp_unit", "true");
    } else {
        info = MPI_INFO_NULL;
    }
    const int code = MPI_Win_allocate(size, 1, info, t->comm, &base, &win);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    TUTTI_TRY(tutti__team_agree(
        t, code == MPI_SUCCESS ? TUTTI_OK : tutti__error_mpi(code, "MPI_Win_allocate")));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    *out = win;
    *base_out = bytes > 0 ? base : NULL;
    return TUTTI_OK;
}

/* Create a communicator for the barriers of each sub-buffer, since barriers of different
 * sub-buffers may be pending at the same time, begun in different orders on different ranks. */
static tutti_err barriers_make(tutti__team *t, tutti__rma_windows *w) {
    for (int i = 0; i < w->n; i++) {
        const int code = MPI_Comm_dup(t->comm, &w->barrier[i]);
        if (code != MPI_SUCCESS) {
            w->barrier[i] = MPI_COMM_NULL;
            return tutti__error_mpi(code, "MPI_Comm_dup");
        }
        MPI_Comm_set_errhandler(w->barrier[i], MPI_ERRORS_RETURN);
    }
    return TUTTI_OK;
}

static tutti_err all_make(tutti__team *t, int n, const tutti_off *bytes, tutti__rma_windows *out) {
    for (out->n = 0; out->n < n; out->n++) {
        const int i = out->n;
        TUTTI_TRY(window_make(t, bytes[i], &out->win[i], &out->base[i]));
        out->bytes[i] = bytes[i];
        out->barrier[i] = MPI_COMM_NULL;
    }
    for (int i = 0; i < n; i++) TUTTI_TRY(exchange_shifts(t, &out->base[i], &out->shift[i]));
    return tutti__team_agree(t, barriers_make(t, out));
}

void tutti__rma_windows_drop(tutti__rma_windows *w) {
    for (int i = 0; i < w->n; i++) {
        if (w->barrier[i] != MPI_COMM_NULL) MPI_Comm_free(&w->barrier[i]);
        MPI_Win_free(&w->win[i]);
        tutti__free(w->shift[i]);
    }
    memset(w, 0, sizeof *w);
}

/* Replace the windows.  If no plan uses the old windows, they are freed before the new windows are
 * created, to save memory. */
static tutti_err replace_windows(tutti__team *t, int n, tutti_off bytes, int pinned) {
    tutti__rma_windows fresh = {.n = 0};
    tutti_off each[TUTTI__RMA_WINDOWS] = {0};
    if (!pinned) tutti__rma_windows_drop(&t->staging->rma_windows);
    const int most = n > t->staging->rma_windows.n ? n : t->staging->rma_windows.n;
    for (int i = 0; i < most; i++)
        each[i] = tutti__max(i < n ? bytes : 0, t->staging->rma_windows.bytes[i]);
    const tutti_err err = all_make(t, most, each, &fresh);
    tutti__rma_windows_drop(err == TUTTI_OK ? &t->staging->rma_windows : &fresh);
    TUTTI_TRY(err);
    t->staging->rma_windows = fresh;
    return TUTTI_OK;
}

tutti_err tutti__rma_windows_ensure(tutti__team *t, int n, tutti_off bytes, tutti_off capacity) {
    TUTTI_ASSERT(n <= TUTTI__RMA_WINDOWS);
    const tutti__rma_windows *have = &t->staging->rma_windows;
    int64_t too_small = n > have->n;
    for (int i = 0; i < n && !too_small; i++) too_small = have->bytes[i] < bytes;
    tutti_off sum = 0;
    for (int i = 0; i < t->staging->rma_windows.n; i++) sum += t->staging->rma_windows.bytes[i];
    int64_t too_large = sum > capacity;
    int64_t pinned = atomic_load(&t->staging->pins) > 0; /* may differ between ranks */
    const tutti__reduction all[] = {
        {TUTTI__MAX, &too_small}, {TUTTI__MAX, &too_large}, {TUTTI__MAX, &pinned}};
    TUTTI_TRY(tutti__team_reduce(t, TUTTI_OK, 3, all));
    return too_small || (too_large && !pinned) ? replace_windows(t, n, bytes, pinned != 0)
                                               : TUTTI_OK;
}
