/* tutti-experiments dataset: ways that take turns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <stdlib.h>
#include <string.h>

racer *race_add(race *r, const char *name, const void *what) {
    r->racer = cli_realloc(r->racer, (size_t)(r->n + 1) * sizeof *r->racer);
    r->racer[r->n] = (racer){.what = what};
    snprintf(r->racer[r->n].name, sizeof r->racer->name, "%s", name);
    return &r->racer[r->n++];
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
        r->x->results.failures++;
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

static void report_racer(FILE *f, const racer *of) {
    fputs("{\"name\": ", f);
    cli_json_string(f, of->name);
    fputs(", \"failure\": ", f);
    cli_json_string(f, of->failure);
    fputs(of->more, f);
    experiment_json_seconds(f, "seconds", of->rounds, of->lap[0]);
    experiment_json_seconds(f, "read_seconds", of->rounds, of->lap[1]);
    fputs("}", f);
}

void race_report(const race *r, const char *dir, const char *more) {
    FILE *f = experiment_part(r->x, r->title, dir);
    if (!f) return;
    fprintf(f, "%s, \"entries\": [", more);
    for (int i = 0; i < r->n; i++) {
        fputs(i ? ",\n      " : "\n      ", f);
        report_racer(f, &r->racer[i]);
    }
    fputs("]}", f);
}
