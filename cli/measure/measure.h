/* Measurements: interleaved rounds over variants, raw samples, JSON.  Depends on the C library only, so that
 * programs without MPI or without Tutti can use it.  Only the statistics that commands need are here;
 * experiments/tutti_experiments computes the others and makes tables and figures.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_MEASURE_H
#define TUTTI_CLI_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- this process */
double measure_now(void); /* in seconds; all processes of a node use the same clock */
double measure_cpu(void); /* processor time of this process in seconds */
/* Return the value of a line of /proc/self/status, such as VmRSS, in bytes. */
double measure_status(const char *key);
void measure_reset_peak(void); /* reset VmHWM to the current VmRSS */
/* Drop a file from the page cache.  Returns 0, or errno; *left_out: percentage of the file that is
 * still cached. */
int measure_drop_cache(const char *path, double *left_out);
uint64_t measure_hash(uint64_t v); /* pseudo-random permutation of the 64-bit values */

/* ---- samples */
/* Return the quantile `fraction` (0 to 1) of n values, interpolated; 0 if n is 0. */
double measure_quantile(const double *values, int n, double fraction);
/* Compute bounds of the median by the sign test.  Each is wrong with a probability of at most p, so
 * that both together are a 95 % interval for p = 0.025.  Returns 0 if there are too few values (p =
 * 0.025 needs 6). */
int measure_median_bounds(const double *values, int n, double p, double *lo, double *hi);

/* ---- variants and rounds */
enum { MEASURE_VALUES = 6 };

typedef struct measure_variant {
    char name[64];
    const void *what; /* description of the variant, owned by the caller */
    void *state;      /* state kept between rounds, owned by the caller */
    char more[160];   /* further JSON members, each preceded by a comma */
    char failure[512];
    int is_resting; /* skipped in the remaining rounds */
    int rounds;     /* number of samples */
    double *sample[MEASURE_VALUES];
} measure_variant;

typedef struct measure {
    const char *title;
    const char *const *values; /* names of the samples, ends with NULL */
    int rounds, warmup;        /* warm-up rounds are not recorded */
    void *data;                /* argument of `run` and `stop` */
    /* Run a variant once: set value[], or v->failure, after which the variant is not run again. */
    void (*run)(struct measure *m, measure_variant *v, double *value);
    /* NULL, or a function called before each round but the first; 1 ends the measurement. */
    int (*stop)(struct measure *m);
    int round; /* current round; negative: warm-up */
    int n;
    measure_variant **variant;
} measure;

/* Add a variant.  The returned address remains valid. */
measure_variant *measure_add(measure *m, const char *name, const void *what);
/* Add a variant that the caller owns: measure_free keeps it and its samples. */
void measure_attach(measure *m, measure_variant *v);
/* Run all variants once per round.  The first variant of a round changes from round to round, so that other
 * load on the machine affects all variants equally. */
void measure_rounds(measure *m);
/* Add one sample of each value, for samples that `run` does not take. */
void measure_record(const measure *m, measure_variant *v, const double *value);
void measure_variant_free(measure_variant *v); /* free its samples */
void measure_free(measure *m);

/* ---- JSON */
void measure_json_string(FILE *f, const char *text);
/* prints , "key": [...] */
void measure_json_samples(FILE *f, const char *key, int n, const double *values);
/* Print "key": [{"name": ..., "failure": ..., "seconds": [...]}, ...]; samples that are 0 in all rounds are
 * omitted. */
void measure_json(FILE *f, const measure *m, const char *key);

#endif
