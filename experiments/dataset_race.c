/* tutti-experiments dataset: ways that take turns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void race_add(race *r, const char *name, const void *what) {
    r->racer = cli_realloc(r->racer, (size_t)(r->n + 1) * sizeof *r->racer);
    r->racer[r->n] = (racer){.what = what};
    snprintf(r->racer[r->n++].name, sizeof r->racer->name, "%s", name);
}

static int time_is_up(const race *r, double started) {
    const double budget = r->x->results.config->budget;
    int up = budget > 0 && cli_now() - started > budget;
    MPI_Bcast(&up, 1, MPI_INT, 0, r->x->all->comm);
    return up;
}

static void run_one(race *r, racer *of) {
    double lap[RACE_LAPS] = {0};
    if (*of->failure) return;
    if (cli_agree(r->x->all, r->run(r, of, lap))) {
        snprintf(of->failure, sizeof of->failure, "%.390s", cli_message());
        r->x->broken++;
        experiment_finding(r->x, FINDING_FAILED, "%s, %s: %.200s", r->title, of->name, of->failure);
        return;
    }
    for (int i = 0; i < RACE_LAPS; i++) of->lap[i][of->rounds] = lap[i];
    of->rounds++;
}

void race_run(race *r, int rounds) {
    cli_progress progress;
    const double started = cli_now();
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < RACE_LAPS; k++)
            r->racer[i].lap[k] = cli_malloc((size_t)rounds * sizeof(double));
    progress_start(&progress, r->x->all, (long)rounds * r->n);
    for (int round = 0; round < rounds && (round == 0 || !time_is_up(r, started)); round++)
        for (int i = 0; i < r->n; i++) {
            racer *of = &r->racer[(i + round) % r->n];
            char what[160];
            snprintf(what, sizeof what, "%s: %s, round %d of %d", r->title, of->name, round + 1,
                     rounds);
            progress_step(&progress, what);
            run_one(r, of);
        }
    progress_end(&progress);
}

void race_free(race *r) {
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < RACE_LAPS; k++) free(r->racer[i].lap[k]);
    free(r->racer);
}

exhibit_value race_time(const racer *of, int lap, double factor) {
    return claim_value(of->lap[lap], of->rounds, factor);
}

exhibit_value race_rate(const racer *of, int lap, double factor) {
    const exhibit_value t = race_time(of, lap, 1);
    if (t.lo <= 0) return (exhibit_value){.mid = 0};
    return (exhibit_value){.mid = factor / t.mid, .lo = factor / t.hi, .hi = factor / t.lo};
}

const racer *race_find(const race *r, const char *name) {
    for (int i = 0; i < r->n; i++)
        if (strcmp(r->racer[i].name, name) == 0 && !*r->racer[i].failure && r->racer[i].rounds)
            return &r->racer[i];
    return NULL;
}

double race_ratio(const racer *of, const racer *to, int lap) {
    const double below = to ? race_time(to, lap, 1).mid : 0;
    return of && below > 0 ? race_time(of, lap, 1).mid / below : 0;
}

void race_claim(const race *r, const char *where, const race_pair *p) {
    if (!p->of || !p->to) return;
    const int n = p->of->rounds < p->to->rounds ? p->of->rounds : p->to->rounds;
    double *ratio = cli_malloc((size_t)(n + 1) * sizeof *ratio);
    char what[160], above[96] = "goal missed", below[96] = "goal met";
    for (int i = 0; i < n; i++)
        ratio[i] = p->of->lap[p->lap][i] / fmax(p->to->lap[p->lap][i], 1e-9);
    snprintf(what, sizeof what, "time of %.64s over that of %.64s", p->of_name, p->to_name);
    if (p->than == 1) {
        snprintf(above, sizeof above, "%.40s is faster than %.32s", p->to_name, p->of_name);
        snprintf(below, sizeof below, "%.40s is faster than %.32s", p->of_name, p->to_name);
    }
    experiment_claim(r->x, &(claim_spec){what, where, "times", above, below, p->than}, ratio, n);
    free(ratio);
}
