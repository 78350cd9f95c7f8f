/* Points of the experiments after Feki and Gabriel.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/series.h"

#include <string.h>

static void call_by_variable(bench_cell *point) {
    for (int i = 0; i < point->entries; i++)
        point->entry[i].runner =
            point->entry[i].kind == ENTRY_PEER ? &flash_calls_peer : &flash_calls;
}

void series_points(experiment *x, const char *figure, const char *patterns,
                   void (*add)(const experiment *x, bench_cell *point)) {
    const bench_config *c = x->results.config;
    cli_list list = {0};
    int op[2];
    const int ops = experiment_ops(x, op);
    cli_list_split(&list, patterns);
    for (int k = 0; k < c->dirs.n * ops; k++)
        for (int p = 0; p < list.n; p++)
            for (int i = 0; i < x->worlds; i++) {
                const char *kept = bench_pattern_kept_name(list.item[p]);
                if (x->world[i].ranks == 1 && x->worlds > 1)
                    continue; /* a single rank exchanges no data */
                bench_cell *point = experiment_point(x, &(point_spec){.figure = figure,
                                                                      .dir = c->dirs.item[k / ops],
                                                                      .pattern = kept,
                                                                      .is_read = op[k % ops],
                                                                      .ranks = x->world[i].ranks,
                                                                      .size = c->size});
                add(x, point);
                if (strcmp(kept, "flash") == 0) call_by_variable(point);
            }
    cli_list_free(&list);
}

void series_stage(const experiment *x, const bench_cell *point, int overlapped, char *out,
                  size_t size) {
    const tutti_options *user = &x->results.config->options;
    const int half = point->ranks > 1 ? point->ranks / 2 : 1;
    const tutti_off window = experiment_window(x, point, user->direct_io);
    char common[128];
    experiment_stage(x, point, user->direct_io, common, sizeof common);
    snprintf(out, size, "%s cb_nodes=%d window_size=%lld", common,
             user->cb_nodes ? user->cb_nodes : half, (long long)(overlapped ? window : 2 * window));
}
