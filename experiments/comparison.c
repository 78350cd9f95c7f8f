/* Comparisons: measurements of an experiment in addition to its points.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

static void run_variant(measure *m, measure_variant *v, double *value) {
    comparison *c = (comparison *)m;
    char what[160];
    snprintf(what, sizeof what, "%s: %s, round %d of %d", m->title, v->name, m->round + 1,
             m->rounds);
    progress_step(&c->progress, what);
    if (!cli_agree(c->x->all, c->run(c, v, value))) return;
    snprintf(v->failure, sizeof v->failure, "%.500s", cli_message());
    c->x->results.failures++;
}

static int is_over(measure *m) {
    const comparison *c = (const comparison *)m;
    const double budget = c->x->results.config->budget;
    int up = budget > 0 && cli_now() - c->progress.started > budget;
    MPI_Bcast(&up, 1, MPI_INT, 0, c->x->all->comm);
    return up;
}

void comparison_run(comparison *c) {
    static const char *const values[] = {"seconds", "read_seconds", NULL};
    c->m.values = values;
    c->m.rounds = c->x->results.config->rounds;
    c->m.run = run_variant;
    c->m.stop = is_over;
    progress_start(&c->progress, c->x->all, (long)c->m.rounds * c->m.n);
    measure_rounds(&c->m);
    progress_end(&c->progress);
}

void comparison_report(const comparison *c, const char *dir, const char *more) {
    FILE *f = experiment_part(c->x, c->m.title, dir);
    if (!f) return;
    fprintf(f, "%s, ", more);
    measure_json(f, &c->m, "entries");
    fputs("}", f);
}

double comparison_start(const cli_world *w) {
    cli_barrier(w);
    MPI_Barrier(w->comm);
    return cli_now();
}
