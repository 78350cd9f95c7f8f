/* collective: which runs of the file a window stands for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/window_io.h"

#include <string.h>

/* A gap of this size is read along when fetching: cheaper than another request. */
static const tutti_off READ_GAP = 32 << 10;

static tutti_err run_add(tutti__window_io *w, tutti_off offset, tutti_off bytes) {
    if (w->n >= w->room) {
        const int room = w->room ? 2 * w->room : 64;
        tutti_io_run *run = tutti__realloc(w->run, (size_t)room * sizeof *run);
        if (!run) return TUTTI_ERR_NOMEM;
        w->run = run;
        w->room = room;
    }
    w->run[w->n++] = (tutti_io_run){w->shift + offset, w->stage + (offset - w->lo), (size_t)bytes};
    w->asked += bytes;
    return TUTTI_OK;
}

/* Offset behind the last byte of a side in the window, which has some. */
static tutti_off side_end(tutti__side s, tutti_off hi) {
    tutti__cursor c;
    tutti__burst b = {0, 0, 0, 0};
    tutti__cursor_seek(&c, s, tutti__side_tell(s, hi) - 1);
    (void)tutti__cursor_peek(&c, &b);
    return b.offset + 1;
}

static tutti_err span_add(tutti__window_io *w) {
    tutti_off first = TUTTI__OFF_END, last = 0;
    for (int i = 0; i < w->load->n; i++) {
        const tutti__side s = w->load->side[i];
        if (tutti__side_bytes_in(s, w->lo, w->hi) == 0) continue;
        first = tutti__min(first, tutti__side_next(s, w->lo));
        last = tutti__max(last, side_end(s, w->hi));
    }
    return run_add(w, first, last - first);
}

tutti_err tutti__window_io_make(tutti__window_io *w, int is_write) {
    const tutti_off size = w->hi - w->lo;
    w->n = 0;
    w->asked = 0;
    w->extents.n = 0;
    if (is_write && w->total == size) return run_add(w, w->lo, size);
    if (!is_write && 2 * w->total >= size) return span_add(w);
    TUTTI_TRY(tutti__sides_union(w->load->n, w->load->side, w->lo, w->hi, is_write ? 0 : READ_GAP,
                                 &w->extents));
    for (size_t i = 0; i < w->extents.n; i++)
        TUTTI_TRY(run_add(w, w->extents.v[i].offset, w->extents.v[i].bytes));
    return TUTTI_OK;
}

void tutti__window_io_free(tutti__window_io *w) {
    tutti__free(w->run);
    tutti__extents_free(&w->extents);
    memset(w, 0, sizeof *w);
}
