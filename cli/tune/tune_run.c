/* tutti tune: running interleaved probes.  A measurement is from the first rank's start to the last one's
 * end (without a common clock: the longest time of a rank).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

/* Ranks without work sleep until the others are done. */
static int measure_probe(tune_job *job, tune_probe *p, long count, double *seconds_out) {
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

/* How often makes a slice.  All ranks compute the same, since all have the same times. */
static int calibrate(tune_job *job, tune_probe *p) {
    const long most = p->spread > 0 ? (long)(job->area / p->spread) : LONG_MAX / 4;
    double seconds = 0;
    for (p->count = most < 4 ? most : 4;;) {
        if (measure_probe(job, p, p->count, &seconds)) return 1;
        if (seconds > job->slice / 3 || p->count >= most) break;
        p->count = p->count * 4 < most ? p->count * 4 : most;
    }
    const double scale = seconds > 0 ? job->slice / seconds : 1;
    long count = (long)((double)p->count * (scale < 4 ? scale : 4));
    if (count < 4) count = 4;
    p->count = count < most ? count : most;
    return 0;
}

int tune_run(tune_job *job, tune_probe *probe, int n, cli_progress *progress) {
    for (int i = 0; i < n; i++) {
        progress_step(progress, probe[i].name);
        probe[i].failed = calibrate(job, &probe[i]);
        if (probe[i].failed && !probe[i].optional) return 1;
    }
    for (int round = 0; round < job->rounds; round++)
        for (int k = 0; k < n; k++) {
            tune_probe *p = &probe[(k + round) % n];
            double seconds = 0;
            progress_step(progress, p->name);
            if (p->failed) continue;
            if (measure_probe(job, p, p->count, &seconds)) return 1;
            p->seconds[p->rounds++] = seconds / (double)p->count;
        }
    return 0;
}

double tune_seconds(const tune_probe *p) {
    return cli_quantile(p->seconds, p->rounds, 0.5);
}
