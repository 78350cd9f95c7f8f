/* tutti array transpose: a new array with the dimensions in another order, or with the same ones
 * and another order in the file.  Arrays may be larger than memory: both files are processed box by
 * box (cmd_array_move.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

static void show_copying(void *progress, tutti_off done, tutti_off total, const char *phase) {
    (void)phase;
    progress_work(progress, "copying", done, total);
}

static int transpose_array(const cli_world *w, const array_config *c, const array_side *from) {
    array_move move = {.from = from, .budget = c->budget, .what = "transposing"};
    array_side to = {.array = NULL};
    const int is_local = tutti_array_distribution(from->array) != NULL;
    if (array_axes_parse(c->axes, from->spec.ndims, move.axes)) return 1;
    int is_identity = 1;
    for (int d = 0; d < from->spec.ndims; d++) is_identity &= move.axes[d] == d;
    if (is_local && !is_identity) return !array_side_is_global(from, c->path);
    if (array_may_replace(w, c, c->to)) return 1;
    tutti_array_spec spec = from->spec;
    for (int d = 0; d < spec.ndims; d++) spec.shape[d] = from->spec.shape[move.axes[d]];
    if (c->has_to_order) spec.order = c->to_order;
    spec.offset = 0;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    int failed =
        c->to_raw ? array_remove(w, c, c->to) || array_side_open_raw(w, c, c->to, mode, &spec, &to)
                  : array_side_create(w, c, c->to, &spec, &to);
    if (failed) return 1;
    move.to = &to;
    if (is_local) { /* local placement: converted by the library */
        cli_progress progress;
        progress_start(&progress, w, 0);
        failed =
            tutti_array_copy(from->array, to.array, c->budget, show_copying, &progress) != TUTTI_OK;
        progress_end(&progress);
        if (failed) cli_error_tutti();
    } else {
        failed = array_move_run(w, &move);
    }
    failed = array_side_close(&to, failed);
    if (failed) array_discard(w, c, c->to);
    return failed;
}

int array_transpose(const cli_world *w, const void *config) {
    const array_config *c = config;
    array_side from = {.array = NULL};
    if (array_may_write(w, c->path, c->to) || array_side_open(w, c, TUTTI_READ, &from)) return 1;
    return array_side_close(&from, transpose_array(w, c, &from));
}
