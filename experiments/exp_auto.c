/* tutti-experiments auto: what leaving the choice to the library costs.
 *
 * At every point (directory, pattern, write or read) `auto`, the fixed ways and the MPI library's
 * own call alternate.  The best fixed way is chosen by its median over the even rounds and judged
 * by the odd ones, so that luck does not make it the best: regret = median of auto / median of the
 * best - 1.  Beside it the 95 % interval of the differences of those rounds, which tells regret from
 * noise.  Rounds go to the ways that matter: whoever is far behind sits out the others, and is not the
 * best; what "far" means falls with the rounds.
 *
 * Against the MPI library: the ratios of both times, round by round.  The lower 95 % bound of their
 * median is an order statistic (sign test; five rounds at least).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AUTO "auto"
#define PEER "MPI library"

#define PATIENCE 3.0 /* times as slow as the fastest, in the first rounds */

#define GOAL_MEDIAN 3.0 /* per cent of regret */
#define GOAL_MOST 10.0  /* its 95th percentile */
#define GOAL_PEER 0.95  /* lower bound of the MPI library's time over ours */

#define BACKGROUND " store=" /* by the one that works in the background */
static const struct {
    const char *name, *settings;
} fixed_table[] = {
    {"independent", "method=independent"},
    {"list", "method=list"},
    {"sieve", "method=sieve"},
    {"root", "method=root"},
    {"shm", "method=two-phase exchange=shm pipeline=none"},
    {"shm, write-comm-2", "method=two-phase exchange=shm pipeline=write-comm-2"},
    {"comm", "method=two-phase exchange=shm pipeline=comm" BACKGROUND},
    {"write", "method=two-phase exchange=shm pipeline=write" BACKGROUND},
    {"write-comm", "method=two-phase exchange=shm pipeline=write-comm" BACKGROUND},
    {"posix", "method=two-phase store=posix"},
    {"threads", "method=two-phase store=threads"},
    {"uring", "method=two-phase store=uring"},
    {"messages", "method=two-phase exchange=two-sided"},
    {"fence", "method=two-phase exchange=fence"},
    {"lock", "method=two-phase exchange=lock"},
    {"one aggregator", "method=two-phase exchange=shm cb_nodes=1"},
    {"large windows", "method=two-phase exchange=shm window_size=4m"},
};
enum { FIXED = sizeof fixed_table / sizeof *fixed_table };

static void auto_defaults(bench_config *c, int quick) {
    c->write = c->read = 1;
    c->size = (quick ? 1 : 16) << 20;
    c->rounds = quick ? 6 : 32;
    cli_list_split(&c->patterns,
                   quick ? "block2d,pieces512"
                         : "block2d,columns,block3d,cyclic4k,pieces512,irregular64,flash,strided");
}

/* ---- points */

static void add_point(experiment *x, const char *dir, const char *pattern, int ranks, int is_read) {
    const bench_config *c = x->results.config;
    bench_cell *point = experiment_point(x, &(point_spec){.figure = is_read ? "reads" : "writes",
                                                          .dir = dir,
                                                          .pattern = pattern,
                                                          .is_read = is_read,
                                                          .ranks = ranks,
                                                          .size = c->size});
    point->patience = PATIENCE;
    point->tightens = 1;
    experiment_way(x, point, AUTO, "method=auto")->stays = 1;
    for (int i = 0; i < FIXED; i++) {
        const char *s = fixed_table[i].settings;
        char settings[160];
        snprintf(settings, sizeof settings, "%s%s", s,
                 s[strlen(s) - 1] == '=' ? experiment_background_store(x, c->options.direct_io)
                                         : "");
        experiment_way(x, point, fixed_table[i].name, settings);
    }
    experiment_reference(x, point, ENTRY_PEER, PEER);
}

static void auto_plan(experiment *x) {
    const bench_config *c = x->results.config;
    const int first = c->procs.n ? 0 : x->worlds - 1; /* all ranks, unless numbers were given */
    for (int d = 0; d < c->dirs.n; d++)
        for (int i = first; i < x->worlds; i++)
            for (int p = 0; p < c->patterns.n; p++) {
                if (c->write)
                    add_point(x, c->dirs.item[d], c->patterns.item[p], x->world[i].ranks, 0);
                if (c->read)
                    add_point(x, c->dirs.item[d], c->patterns.item[p], x->world[i].ranks, 1);
            }
}

/* The lower 95 % bound of the median of values, 0 if there are too few. */
static double lower_bound(const double *value, int n) {
    double lo, hi;
    return cli_median_bounds(value, n, 0.05, &lo, &hi) ? lo : 0;
}

/* ---- regret */

/* The median over the rounds that are `odd`; 0 if there are none. */
static double half_median(const bench_entry *e, int odd) {
    double *half = cli_malloc((size_t)(e->rounds + 1) * sizeof *half);
    int n = 0;
    for (int i = odd; i < e->rounds; i += 2) half[n++] = e->seconds[i];
    const double median = cli_quantile(half, n, 0.5);
    free(half);
    return median;
}

/* Of the differences of both in the rounds that judge, in per cent: the 95 % interval of their
 * median, or their quartiles if there are too few for one.  @return 1 if it is an interval */
static int difference(const bench_entry *ours, const bench_entry *best, double *lo, double *hi) {
    const int rounds = ours->rounds < best->rounds ? ours->rounds : best->rounds;
    double *d = cli_malloc((size_t)(rounds + 1) * sizeof *d);
    int n = 0;
    for (int i = 1; i < rounds; i += 2) d[n++] = 100 * (ours->seconds[i] / best->seconds[i] - 1);
    const int bounded = cli_median_bounds(d, n, 0.025, lo, hi);
    if (!bounded) *lo = cli_quantile(d, n, 0.25);
    if (!bounded) *hi = cli_quantile(d, n, 0.75);
    free(d);
    return bounded;
}

static const bench_entry *best_fixed(const bench_cell *point) {
    const bench_entry *best = NULL;
    for (int i = 0; i < FIXED; i++) {
        const bench_entry *e = point_entry(point, fixed_table[i].name);
        if (e && !e->sits_out && (!best || half_median(e, 0) < half_median(best, 0))) best = e;
    }
    return best;
}

/* ---- against the MPI library */

static int ratios_of(const bench_entry *peer, const bench_entry *ours, double *out) {
    const int n = peer->rounds < ours->rounds ? peer->rounds : ours->rounds;
    for (int i = 0; i < n; i++) out[i] = peer->seconds[i] / ours->seconds[i];
    return n;
}

/* ---- what all points say together */

typedef struct {
    int judged, bounded, behind; /* behind: bounds below the goal */
    int intervals, above;        /* of regrets; wholly above 0 */
    double *regret, *ratio;
    int ratios;
    double least; /* bound */
} verdict;

static void row_name(const experiment *x, const bench_cell *point, char *out, size_t size) {
    const bench_config *c = x->results.config;
    char ranks[24] = "", dir[64] = "";
    if (c->procs.n > 1) snprintf(ranks, sizeof ranks, " on %d", point->ranks);
    if (c->dirs.n > 1) snprintf(dir, sizeof dir, ", %.40s", point->dir);
    snprintf(out, size, "%s %s%s%s", point->is_write ? "write" : "read", point->pattern, ranks,
             dir);
}

static void put_difference(const bench_entry *ours, const bench_entry *best, const char *row,
                           verdict *v, exhibit *e) {
    double lo, hi;
    char text[64];
    const int is_interval = difference(ours, best, &lo, &hi);
    snprintf(text, sizeof text, is_interval ? "%.1f to %.1f" : "(%.1f to %.1f)", lo, hi);
    exhibit_put_text(e, row, "95 % interval", text);
    v->intervals += is_interval;
    v->above += is_interval && lo > 0;
}

static void judge_regret(const bench_cell *point, const char *row, verdict *v, exhibit *e) {
    const bench_entry *ours = point_entry(point, AUTO), *best = best_fixed(point);
    if (!ours || !best) return;
    const double mine = half_median(ours, 1), other = half_median(best, 1);
    if (mine <= 0 || other <= 0) return;
    const double regret = 100 * (mine / other - 1);
    v->regret[v->judged++] = regret;
    exhibit_put_number(e, row, "regret %", regret);
    put_difference(ours, best, row, v, e);
    exhibit_put_number(e, row, "auto ms", mine * 1e3);
    exhibit_put_number(e, row, "best ms", other * 1e3);
    exhibit_put_text(e, row, "best", best->name);
}

static void judge_peer(const bench_cell *point, const char *row, verdict *v, exhibit *e) {
    const bench_entry *ours = point_entry(point, AUTO), *peer = point_entry(point, PEER);
    if (!peer) peer = point_entry(point, PEER BENCH_CACHED);
    if (!ours || !peer) return;
    double *ratio = v->ratio + v->ratios;
    const int n = ratios_of(peer, ours, ratio);
    const double bound = lower_bound(ratio, n);
    v->ratios += n;
    exhibit_put(e, row, "MPI / auto",
                (exhibit_value){.mid = cli_quantile(ratio, n, 0.5),
                                .lo = cli_quantile(ratio, n, 0.25),
                                .hi = cli_quantile(ratio, n, 0.75)});
    if (bound <= 0) return;
    exhibit_put_number(e, row, "lower bound", bound);
    v->least = v->bounded == 0 ? bound : fmin(v->least, bound);
    v->bounded++;
    v->behind += bound < GOAL_PEER;
}

static void say_regret(experiment *x, const verdict *v) {
    const double median = cli_quantile(v->regret, v->judged, 0.5);
    const double most = cli_quantile(v->regret, v->judged, 0.95);
    const int met = median <= GOAL_MEDIAN && most <= GOAL_MOST;
    if (!v->judged) {
        experiment_finding(x, FINDING_PLAIN, "Regret needs at least 2 rounds.");
        return;
    }
    experiment_finding(
        x, met ? FINDING_MET : FINDING_MISSED,
        "Regret of auto over %d points: median %.1f %% (goal: at most %.0f %%), 95th "
        "percentile %.1f %% (goal: at most %.0f %%).",
        v->judged, median, GOAL_MEDIAN, most, GOAL_MOST);
    if (v->intervals)
        experiment_finding(x, FINDING_PLAIN,
                           "At %d of %d points the 95 %% interval of the differences to the best "
                           "fixed way lies above 0; at the others the regret may be noise.",
                           v->above, v->intervals);
}

/* In each judging round the median over all points: of the regret, of the MPI library's ratio. */
static void claim_all(experiment *x, int is_read) {
    const bench_results *r = &x->results;
    double *of = cli_malloc((size_t)(r->cells + 1) * sizeof *of);
    double *regret = cli_malloc((size_t)r->config->rounds * sizeof *regret);
    double *peers = cli_malloc((size_t)r->config->rounds * sizeof *peers);
    const char *where = is_read ? "reads of all patterns" : "writes of all patterns";
    int regrets = 0, ratios = 0;
    for (int round = 0; round < r->config->rounds; round++) {
        int n = 0, m = 0, odd = round % 2;
        double *peer_of = cli_malloc((size_t)(r->cells + 1) * sizeof *peer_of);
        for (int i = 0; i < r->cells; i++) {
            const bench_entry *ours = point_entry(&r->cell[i], AUTO),
                              *best = best_fixed(&r->cell[i]);
            const bench_entry *peer = point_entry(&r->cell[i], PEER);
            if (r->cell[i].is_write != !is_read || !ours || round >= ours->rounds) continue;
            if (best && odd && round < best->rounds)
                of[n++] = 100 * (ours->seconds[round] / best->seconds[round] - 1);
            if (peer && round < peer->rounds)
                peer_of[m++] = peer->seconds[round] / ours->seconds[round];
        }
        if (n > 0) regret[regrets++] = cli_quantile(of, n, 0.5);
        if (m > 0) peers[ratios++] = cli_quantile(peer_of, m, 0.5);
        free(peer_of);
    }
    experiment_claim(x,
                     &(claim_spec){"regret of auto, median over points", where, "%", "goal missed",
                                   "goal met", GOAL_MEDIAN},
                     regret, regrets);
    experiment_claim(x,
                     &(claim_spec){"time of the MPI library over that of auto, median over points",
                                   where, "times", "auto is faster than the MPI library",
                                   "the MPI library is faster than auto", 1},
                     peers, ratios);
    free(of);
    free(regret);
    free(peers);
}

static void say_resting(experiment *x) {
    int resting = 0, all = 0;
    for (int i = 0; i < x->results.cells; i++)
        for (int k = 0; k < x->results.cell[i].entries; k++) {
            all += point_counts(&x->results.cell[i].entry[k]);
            resting += x->results.cell[i].entry[k].sits_out;
        }
    if (resting)
        experiment_finding(
            x, FINDING_PLAIN,
            "%d of %d ways, over all points, were more than 1 + %.0f / n times as slow as the "
            "fastest of their point after n rounds, n from %d (the MPI library: more than %.0f "
            "times, after %d) and sat out the others.",
            resting, all, (PATIENCE - 1) * BENCH_TRIAL, BENCH_TRIAL, PATIENCE, BENCH_TRIAL_PEER);
}

static void say_peer(experiment *x, const verdict *v) {
    if (!v->ratios) return;
    experiment_finding(x, FINDING_PLAIN,
                       "The MPI library's own call takes %.2f times as long as auto (median over "
                       "all rounds of all points; lower 95 %% bound %.2f, by the sign test).",
                       cli_quantile(v->ratio, v->ratios, 0.5), lower_bound(v->ratio, v->ratios));
    if (x->results.config->options.direct_io)
        experiment_finding(x, FINDING_PLAIN,
                           "No goal: it goes through the page cache, auto does not.");
    else if (v->bounded)
        experiment_finding(x, v->behind ? FINDING_MISSED : FINDING_MET,
                           "Of %d points, %d have a lower 95 %% bound of that ratio below %.2f "
                           "(goal: none); the least is %.2f.",
                           v->bounded, v->behind, GOAL_PEER, v->least);
    else
        experiment_finding(x, FINDING_PLAIN, "Bounds need at least 5 rounds.");
}

static void auto_judge(experiment *x) {
    const bench_results *r = &x->results;
    verdict v = {.regret = cli_malloc((size_t)(r->cells + 1) * sizeof(double)),
                 .ratio =
                     cli_malloc((size_t)r->cells * (size_t)r->config->rounds * sizeof(double))};
    exhibit *regret = experiment_exhibit(x, EXHIBIT_ROWS, "regret", "Regret of auto");
    regret->axis = "point";
    regret->unit = "% more time than the best fixed way";
    exhibit_note(regret, "The best fixed way by the even rounds, both judged by the odd rounds. "
                         "Below 0: auto was faster. The interval "
                         "is that of the median of the differences, round by round (sign test); "
                         "in brackets, of fewer than 6 judging rounds: their quartiles.");
    exhibit *peer =
        experiment_exhibit(x, EXHIBIT_ROWS, "peer", "The MPI library's time over that of auto");
    peer->axis = "point";
    peer->unit = "times as long as auto";
    peer->decimals = 2;
    exhibit_note(peer, "Median and quartiles of the ratios, round by round; the lower bound holds "
                       "with 95 %% (sign test). Above 1: auto was faster.");
    for (int i = 0; i < r->cells; i++) {
        char row[96];
        row_name(x, &r->cell[i], row, sizeof row);
        judge_regret(&r->cell[i], row, &v, regret);
        judge_peer(&r->cell[i], row, &v, peer);
    }
    say_regret(x, &v);
    say_resting(x);
    say_peer(x, &v);
    if (r->config->write) claim_all(x, 0);
    if (r->config->read) claim_all(x, 1);
    free(v.regret);
    free(v.ratio);
}

const experiment_kind experiment_auto = {
    .name = "auto",
    .title = "Regret of the automatic choice",
    .source = "Against the best of the fixed ways, and against the MPI library's own call.",
    .threads = MPI_THREAD_SINGLE,
    .scope = {.takes = "procs,size,pattern,op", .defaults = auto_defaults},
    .plan = auto_plan,
    .judge = auto_judge,
};
