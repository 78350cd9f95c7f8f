/* The measuring library: interleaved rounds over variants, raw samples, JSON.  It needs the C
 * library only, so that programs without MPI and programs without Tutti use the same one. 
 * Statistics of samples, tables and figures are made by experiments/tutti_experiments; only those
 * needed by commands are here.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_MEASURE_H
#define TUTTI_CLI_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- this process */
double measure_now(void);               /* seconds; the same clock for all processes of a node */
double measure_cpu(void);               /* processor seconds of this process */
double measure_status(const char *key); /* bytes in a line of /proc/self/status, as VmRSS */
void measure_reset_peak(void);          /* VmHWM counts from the present VmRSS */
int measure_drop_cache(const char *path,
                       double *left_out); /* 0, or errno; per cent of the file still cached */
uint64_t measure_hash(uint64_t v); /* a permutation of 64-bit values with pseudo-random values */

/* ---- samples */
/* The value at a fraction of the sorted values, interpolated; 0 if there are none. */
double measure_quantile(const double *values, int n, double fraction);
/* Bounds of the median by the sign test, each wrong with a probability of at most p.  Returns 0 if there are too few
 * values (p = 0.05 needs 5). */
int measure_median_bounds(const double *values, int n, double p, double *lo, double *hi);

/* ---- variants and rounds */
enum { MEASURE_VALUES = 6 };

typedef struct measure_variant {
    char name[64];
    const void *what; /* the caller's description */
    void *state;      /* the caller's, kept between rounds */
    char more[160];   /* further members of its JSON, each preceded by a comma */
    char failure[512];
    int is_resting; /* is skipped in the remaining rounds */
    int rounds;     /* with samples */
    double *sample[MEASURE_VALUES];
} measure_variant;

typedef struct measure {
    const char *title;
    const char *const *values; /* names of the samples, NULL at the end */
    int rounds, warmup;        /* warm-up rounds leave no samples */
    void *data;                /* the caller's */
    /* One run: fill value[], or set v->failure, after which the variant runs no more. */
    void (*run)(struct measure *m, measure_variant *v, double *value);
    /* NULL, or called before each round but the first: 1 ends the measurement. */
    int (*stop)(struct measure *m);
    int round; /* the current one; negative in warm-up rounds */
    int n;
    measure_variant **variant;
} measure;

/* Add a variant; its address does not change. */
measure_variant *measure_add(measure *m, const char *name, const void *what);
/* Add a variant that the caller owns: measure_free keeps it and its samples. */
void measure_attach(measure *m, measure_variant *v);
/* Run all variants once per round; each round begins with another one, so that other load on the machine
 * affects all of them equally. */
void measure_rounds(measure *m);
/* Add one sample of each value; for samples that are taken in another way. */
void measure_record(const measure *m, measure_variant *v, const double *value);
void measure_variant_free(measure_variant *v); /* its samples */
void measure_free(measure *m);

/* ---- JSON */
void measure_json_string(FILE *f, const char *text);
void measure_json_samples(FILE *f, const char *key, int n,
                          const double *values); /* , "key": [...] */
/* "variants": [{"name": ..., "failure": ..., "seconds": [...]}, ...]; values that are 0 in all
 * rounds are omitted. */
void measure_json(FILE *f, const measure *m, const char *key);

#endif
