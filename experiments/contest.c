/* Counting who wins: see contest.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/contest.h"

#include <math.h>
#include <string.h>

const char *contest_benchmark(const bench_cell *point, contest_name out) {
    static const struct {
        const char *pattern, *name;
        tutti_off element;
    } known[] = {{"ior", "IOR", 0},
                 {"tile256", "Tile ", 256},
                 {"tile1m", "Tile ", 1 << 20},
                 {"flash", "FLASH", 0}};
    char size[24] = "";
    snprintf(out, sizeof(contest_name), "%.20s", point->pattern);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].pattern, point->pattern) != 0) continue;
        if (known[i].element)
            cli_format_size(bench_tile_element(point->size, known[i].element), size, sizeof size);
        snprintf(out, sizeof(contest_name), "%s%s", known[i].name, size);
    }
    return out;
}

static void call_by_variable(bench_cell *point) {
    for (int i = 0; i < point->entries; i++)
        point->entry[i].runner =
            point->entry[i].kind == ENTRY_PEER ? &flash_calls_peer : &flash_calls;
}

void contest_points(experiment *x, const char *figure, const char *patterns,
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
                if (x->world[i].ranks == 1 && x->worlds > 1) continue; /* nobody to exchange with */
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

void contest_stage(const experiment *x, const bench_cell *point, int overlapped, char *out,
                   size_t size) {
    const tutti_options *user = &x->results.config->options;
    const int half = point->ranks > 1 ? point->ranks / 2 : 1;
    const tutti_off window = experiment_window(x, point, user->direct_io);
    char common[128];
    experiment_stage(x, point, user->direct_io, common, sizeof common);
    snprintf(out, size, "%s cb_nodes=%d window_size=%lld", common,
             user->cb_nodes ? user->cb_nodes : half, (long long)(overlapped ? window : 2 * window));
}

int contest_select(const experiment *x, const char *dir, int is_read, const char *pattern,
                   const bench_cell ***out) {
    const bench_cell **all = cli_malloc((size_t)(x->results.cells + 1) * sizeof *all);
    int n = 0;
    for (int i = 0; i < x->results.cells; i++)
        if (point_is(&x->results.cell[i], NULL, dir, is_read) &&
            (!pattern || strcmp(x->results.cell[i].pattern, pattern) == 0))
            all[n++] = &x->results.cell[i];
    *out = all;
    return n;
}

void contest_where(const char *dir, int is_read, const char *what, char out[120]) {
    snprintf(out, 120, "%.60s, %s of %.40s", dir, is_read ? "reads" : "writes", what);
}

/* ---- series */

/* Whole series of a point; the rounds of one that was cut short are one, too. */
static int series_of(const experiment *x, const bench_cell *point) {
    int rounds = point->entries ? point->entry[0].rounds : 0;
    for (int i = 1; i < point->entries; i++)
        if (point->entry[i].rounds > rounds) rounds = point->entry[i].rounds;
    const int n = rounds / x->results.config->rounds;
    return n ? n : rounds > 0;
}

/* The time of an entry in a series, 0 if it has none. */
static double series_time(const experiment *x, const contest *c, const bench_entry *e, int series) {
    const int rounds = x->results.config->rounds, first = series * rounds;
    int n = e ? e->rounds - first : 0;
    if (n > rounds) n = rounds;
    return n > 0 ? cli_quantile(e->seconds + first, n, c->by_median ? 0.5 : 0) : 0;
}

/* Who has won, -1 if nobody took part. */
static int winner_of(const experiment *x, const contest *c, const bench_cell *point, int series) {
    int best = -1;
    double least = 0;
    for (int i = 0; i < c->n; i++) {
        const double t = series_time(x, c, point_entry(point, c->names[i]), series);
        if (t > 0 && (best < 0 || t < least)) {
            best = i;
            least = t;
        }
    }
    return best;
}

/* ---- exhibits */

/* One more in a cell of the table; every cell of the row is there. */
static void count_one(exhibit *e, const contest *c, const char *row, int winner) {
    int r = -1;
    for (int i = 0; i < e->rows; i++)
        if (strcmp(e->row[i], row) == 0) r = i;
    if (r < 0) {
        for (int i = 0; i < c->n; i++) exhibit_put_number(e, row, c->names[i], 0);
        r = e->rows - 1;
    }
    for (int i = 0; i < e->n; i++)
        if (e->item[i].row == r && strcmp(e->column[e->item[i].column], c->names[winner]) == 0) {
            exhibit_value *v = &e->item[i].value;
            v->mid = v->lo = v->hi = v->mid + 1;
        }
}

static int is_of(const bench_cell *point, const contest *c, const char *dir) {
    return point_is(point, NULL, dir, c->is_read);
}

static void count_wins(const experiment *x, const contest *c, const char *dir, int in_all,
                       exhibit *e) {
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        if (!is_of(point, c, dir)) continue;
        for (int s = 0; s < series_of(x, point); s++) {
            const int winner = winner_of(x, c, point, s);
            contest_name name;
            if (winner >= 0)
                count_one(e, c, in_all ? "in all" : contest_benchmark(point, name), winner);
        }
    }
}

void contest_wins(const experiment *x, const contest *c, const char *dir, exhibit *e) {
    e->axis = "benchmark";
    e->unit = "series won";
    e->decimals = 0;
    count_wins(x, c, dir, 0, e);
    count_wins(x, c, dir, 1, e);
}

double contest_share(const experiment *x, const contest *c, const char *name) {
    int won = 0, all = 0;
    for (int i = 0; i < x->results.cells; i++) {
        const bench_cell *point = &x->results.cell[i];
        for (int s = 0; s < series_of(x, point) && is_of(point, c, NULL); s++) {
            const int winner = winner_of(x, c, point, s);
            all += winner >= 0;
            won += winner >= 0 && strcmp(c->names[winner], name) == 0;
        }
    }
    return all ? 100.0 * won / all : 0;
}

/* The mean improvement of way i on one benchmark; not a number if no series counts. */
static double mean_improvement(const experiment *x, const contest *c, const bench_cell *like, int i,
                               int all) {
    double sum = 0;
    int n = 0;
    for (int k = 0; k < x->results.cells; k++) {
        const bench_cell *point = &x->results.cell[k];
        if (!is_of(point, c, like->dir) || strcmp(point->pattern, like->pattern) != 0) continue;
        for (int s = 0; s < series_of(x, point); s++) {
            const double none = series_time(x, c, point_entry(point, c->names[0]), s);
            const double way = series_time(x, c, point_entry(point, c->names[i]), s);
            const double better = none > 0 && way > 0 ? 100 * (none - way) / none : 0;
            if (none <= 0 || way <= 0 || (!all && better <= 0)) continue;
            sum += better;
            n++;
        }
    }
    return n ? sum / n : NAN;
}

void contest_improvement(const experiment *x, const contest *c, const char *dir, int all,
                         exhibit *e) {
    const char *last = "";
    int numbers = 0;
    e->axis = "benchmark";
    e->unit = "% less time than without overlap";
    for (int k = 0; k < x->results.cells; k++) {
        const bench_cell *point = &x->results.cell[k];
        if (!is_of(point, c, dir) || strcmp(last, point->pattern) == 0) continue;
        last = point->pattern;
        for (int i = 1; i < c->n; i++) {
            const double mean = mean_improvement(x, c, point, i, all);
            contest_name name;
            contest_benchmark(point, name);
            numbers += !isnan(mean);
            if (isnan(mean))
                exhibit_put_text(e, name, c->names[i], "-");
            else
                exhibit_put_number(e, name, c->names[i], mean);
        }
    }
    if (!numbers) e->n = e->rows = e->columns = 0; /* a figure without a bar is none */
}
