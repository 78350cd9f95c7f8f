/* tutti tune: measurements.  Probes run in interleaved rounds (measure/measure.h); the number of pieces per
 * measurement is determined first.
 *
 * A device may have a burst budget: control groups and cloud disks allow requests at full speed until a
 * budget is used up.  The budget is refilled while the device is idle, and is accounted in slices of a tenth
 * of a second or more.  Short measurements would cover only the burst.  Direct probes of short and long
 * pieces are therefore repeated first, in windows longer than such a slice, until two consecutive windows
 * have the same rate.  If the first requests were faster, all direct probes are measured in this way instead
 * of in rounds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

#include <stdlib.h>
#include <string.h>

#define STEADY 1.15 /* maximum ratio of two rates that count as the same */
#define BURST 1.5   /* minimum ratio of two rates that counts as a burst */

/* Run a probe `count` times.  Ranks without work sleep until the others have finished. */
static int run_probe(tune_job *job, tune_probe *p, long count, double *seconds_out) {
    const cli_world *w = &job->world;
    const int works = !p->one || w->rank == 0;
    int failed = p->prepare ? p->prepare(job, p) : 0;
    failed = cli_agree(w, failed);
    if (failed) return 1;
    cli_barrier(w);
    if (!p->one) MPI_Barrier(w->comm);
    const double start = cli_now();
    if (works) failed = p->run(job, p, count);
    const double end = cli_now();
    if (p->end) p->end(job);
    *seconds_out = p->one ? cli_max(w, works ? end - start : 0) : cli_elapsed(w, start, end);
    return cli_agree(w, failed);
}

/* Return the number of pieces per slice if one piece takes `each` seconds, limited by the size of
 * the file. */
static long count_for(const tune_job *job, const tune_probe *p, double each) {
    const long most = p->spread > 0 ? (long)(job->area / p->spread) : LONG_MAX / 4;
    const long least = p->direct ? 1 : 4;
    const double wanted = each > 0 ? job->slice / each : (double)most;
    const long count = wanted < (double)most ? (long)wanted : most;
    return count < least ? least < most ? least : most : count;
}

/* Determine p->count.  All ranks have the same times and compute the same count. */
static int calibrate_probe(tune_job *job, tune_probe *p) {
    const long most = count_for(job, p, 0);
    double seconds = 0;
    for (p->count = most < 4 ? most : 4;;) {
        if (run_probe(job, p, p->count, &seconds)) return 1;
        if (seconds > job->slice / 3 || p->count >= most) break;
        p->count = p->count * 4 < most ? p->count * 4 : most;
    }
    p->count = count_for(job, p, seconds / (double)p->count);
    return 0;
}

int tune_is_steady(const double *each, int n) {
    if (n < 3) return 0;
    const double now = each[n - 1], before = each[n - 2];
    return now < STEADY * before && before < STEADY * now;
}

/* Measure windows until the rate is steady, or job->windows is reached.  The last two windows are the
 * samples. */
static int find_steady(const measure *m, tune_probe *p) {
    tune_job *job = m->data;
    double each[TUNE_WINDOWS], first = 0;
    int n = 0;
    if (run_probe(job, p, p->count, &first)) return 1;
    first /= (double)p->count;
    do {
        /* Seconds per piece in this window. */
        double *each_out = &each[n++];
        double spent = 0, pieces = 0;
        while (spent < job->device_slice) {
            double seconds = 0;
            if (run_probe(job, p, p->count, &seconds)) return 1;
            spent += seconds;
            pieces += (double)p->count;
            p->count = count_for(job, p, seconds / (double)p->count);
        }
        *each_out = spent / pieces;
    } while (n < 3 || (n < job->windows && !tune_is_steady(each, n)));
    p->is_unsteady = !tune_is_steady(each, n);
    p->first_seconds = each[n - 1] > BURST * first ? first : 0;
    for (int i = n - 2; i < n; i++) measure_record(m, &p->v, &each[i]);
    p->v.is_resting = 1;
    return 0;
}

static void run_variant(measure *m, measure_variant *v, double *value) {
    tune_job *job = m->data;
    tune_probe *p = (tune_probe *)v;
    char what[96];
    double seconds = 0;
    snprintf(what, sizeof what, "measuring %s", v->name);
    progress_step(job->progress, what);
    if (run_probe(job, p, p->count, &seconds))
        snprintf(v->failure, sizeof v->failure, "%.500s", cli_message());
    value[0] = seconds / (double)p->count;
}

/* Stop the measurement after a failure of a probe that is not optional. */
static int has_failed(measure *m) {
    for (int i = 0; i < m->n; i++)
        if (*m->variant[i]->failure && !((tune_probe *)m->variant[i])->optional) return 1;
    return 0;
}

int tune_run(tune_job *job, tune_probe *probe, int n) {
    static const char *const values[] = {"seconds", NULL};
    measure m = {.values = values,
                 .rounds = job->rounds,
                 .data = job,
                 .run = run_variant,
                 .stop = has_failed};
    int has_burst = 0, failed = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n && !failed; i++) {
            tune_probe *p = &probe[i];
            /* First pass: short and long pieces of all ranks show a burst budget of requests or of bytes. */
            if ((p->direct && p->one == (job->world.ranks == 1) && !p->end &&
                 (p->size == 4096 || p->size == 1 << 20)) != (pass == 0))
                continue;
            measure_attach(&m, &p->v);
            progress_step(job->progress, "calibrating");
            if (calibrate_probe(job, p) ||
                (p->direct && (pass == 0 || has_burst) && find_steady(&m, p))) {
                snprintf(p->v.failure, sizeof p->v.failure, "%.500s", cli_message());
                failed = !p->optional;
            }
            has_burst |= p->first_seconds > 0 || p->is_unsteady;
        }
    if (!failed) measure_rounds(&m);
    failed = has_failed(&m);
    free(m.variant);
    return failed;
}

double tune_seconds(const tune_probe *p) {
    return measure_quantile(p->v.sample[0], p->v.rounds, 0.5);
}
