/* Measurements in interleaved rounds: implementation of measure.h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "measure/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- this process */

static double read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double measure_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double measure_cpu(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double measure_status(const char *key) {
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) kib = strtod(line + strlen(key) + 1, NULL);
    if (f) fclose(f);
    return kib * 1024;
}

void measure_reset_peak(void) {
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f) return;
    fputs("5", f);
    fclose(f);
}

uint64_t measure_hash(uint64_t v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static void *reallocate(void *old, size_t bytes) {
    void *p = realloc(old, bytes ? bytes : 1);
    if (p) return p;
    fputs("out of memory\n", stderr);
    exit(1);
}

/* Return the percentage of the file that is in the page cache; -1: unknown. */
static double cached_percent(int fd) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct stat st;
    if (fstat(fd, &st) != 0) return -1;
    const size_t pages = ((size_t)st.st_size + page - 1) / page;
    if (pages == 0) return 0;
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return -1;
    unsigned char *in = reallocate(NULL, pages);
    size_t n = 0;
    const int known = mincore(map, (size_t)st.st_size, in) == 0;
    for (size_t i = 0; i < pages && known; i++) n += in[i] & 1;
    free(in);
    munmap(map, (size_t)st.st_size);
    return known ? 100.0 * (double)n / (double)pages : -1;
}

int measure_drop_cache(const char *path, double *left_out) {
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return errno;
    int code = fsync(fd) == 0 ? 0 : errno;
    if (!code) code = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    *left_out = code ? 0 : cached_percent(fd);
    close(fd);
    return code;
}

/* ---- samples */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double measure_quantile(const double *values, int n, double fraction) {
    if (n == 0) return 0;
    double *sorted = reallocate(NULL, (size_t)n * sizeof *sorted);
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    const double at = fraction * (n - 1);
    const int i = (int)at;
    const double q = i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
    free(sorted);
    return q;
}

/* Return the largest k such that fewer than k of n fair coins show heads with a probability of at most p. */
static int sign_rank(int n, double p) {
    double below = 0;
    int k = 0;
    for (; k < n; k++) {
        below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0));
        if (below > p) break; /* `below` is P(X <= k) */
    }
    return k;
}

/* The bounds are the k-th smallest and the k-th largest value. */
int measure_median_bounds(const double *values, int n, double p, double *lo, double *hi) {
    const int k = sign_rank(n, p);
    if (k == 0) return 0;
    const double at = n > 1 ? (double)(k - 1) / (n - 1) : 0;
    *lo = measure_quantile(values, n, at);
    *hi = measure_quantile(values, n, 1 - at);
    return 1;
}

/* ---- variants and rounds */

void measure_attach(measure *m, measure_variant *v) {
    m->variant = reallocate(m->variant, (size_t)(m->n + 1) * sizeof(measure_variant *));
    m->variant[m->n++] = v;
}

measure_variant *measure_add(measure *m, const char *name, const void *what) {
    measure_variant *v = reallocate(NULL, sizeof *v);
    *v = (measure_variant){.what = what};
    snprintf(v->name, sizeof v->name, "%s", name);
    measure_attach(m, v);
    return v;
}

void measure_record(const measure *m, measure_variant *v, const double *value) {
    const size_t bytes = (size_t)(v->rounds + 1) * sizeof(double);
    for (int k = 0; m->values[k]; k++) {
        v->sample[k] = reallocate(v->sample[k], bytes);
        v->sample[k][v->rounds] = value[k];
    }
    v->rounds++;
}

void measure_rounds(measure *m) {
    for (m->round = -m->warmup; m->round < m->rounds; m->round++) {
        const int first = m->round + m->warmup;
        if (first > 0 && m->stop && m->stop(m)) return;
        for (int i = 0; i < m->n; i++) {
            measure_variant *v = m->variant[(i + first) % m->n];
            double value[MEASURE_VALUES] = {0};
            if (v->is_resting || *v->failure) continue;
            m->run(m, v, value);
            if (!*v->failure && m->round >= 0) measure_record(m, v, value);
        }
    }
}

void measure_variant_free(measure_variant *v) {
    for (int k = 0; k < MEASURE_VALUES; k++) free(v->sample[k]);
}

void measure_free(measure *m) {
    for (int i = 0; i < m->n; i++) {
        measure_variant_free(m->variant[i]);
        free(m->variant[i]);
    }
    free(m->variant);
    m->variant = NULL;
    m->n = 0;
}

/* ---- JSON */

void measure_json_string(FILE *f, const char *text) {
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', f);
        putc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, f);
    }
    putc('"', f);
}

void measure_json_samples(FILE *f, const char *key, int n, const double *values) {
    fprintf(f, ", \"%s\": [", key);
    for (int i = 0; i < n; i++) fprintf(f, "%s%.9f", i ? ", " : "", values[i]);
    fputs("]", f);
}

void measure_json(FILE *f, const measure *m, const char *key) {
    fprintf(f, "\"%s\": [", key);
    for (int i = 0; i < m->n; i++) {
        const measure_variant *v = m->variant[i];
        fputs(i ? ",\n      {\"name\": " : "\n      {\"name\": ", f);
        measure_json_string(f, v->name);
        fputs(", \"failure\": ", f);
        measure_json_string(f, v->failure);
        fputs(v->more, f);
        for (int k = 0; m->values[k]; k++) {
            double sum = 0;
            for (int r = 0; r < v->rounds; r++) sum += fabs(v->sample[k][r]);
            if (k == 0 || sum > 0) measure_json_samples(f, m->values[k], v->rounds, v->sample[k]);
        }
        fputs("}", f);
    }
    fputs("]", f);
}
