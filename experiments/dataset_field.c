/* tutti-experiments dataset: values to write, their distribution over the ranks, and the check of values that
 * were read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/datasets.h"

#include <stdlib.h>
#include <string.h>

int field_make(field *f, const cli_world *w, const bench_config *c, int variables) {
    *f = (field){.w = w, .seed = c->seed, .variables = variables};
    f->each = c->size / (tutti_off)sizeof(double);
    f->entries = f->each * w->ranks;
    /* in random distributions, some ranks have more than the average */
    f->capacity = f->each + f->each / 8 + 4096;
    const size_t bytes = (size_t)variables * (size_t)f->capacity * sizeof(double);
    f->put = malloc(bytes);
    f->got = malloc(bytes);
    const int failed = !f->put || !f->got;
    if (!failed) memset(f->put, 0, bytes);
    if (!failed) memset(f->got, 0, bytes);
    return cli_agree(w,
                     failed ? cli_error("cannot allocate the variables; use a smaller --size") : 0);
}

void field_free(field *f) {
    free(f->put);
    free(f->got);
}

double field_value(const field *f, int v, tutti_count position) {
    return (double)((position * f->variables + v) & 0xffffff);
}

tutti_count *field_deal(const field *f, tutti_count run, tutti_count *n_out) {
    const tutti_count most = run == 0 ? f->each : f->capacity;
    tutti_count *position = cli_malloc((size_t)most * sizeof *position), n = 0;
    uint64_t state = f->seed;
    if (run == 0)
        for (; n < f->each; n++) position[n] = f->each * f->w->rank + n;
    for (tutti_count at = 0; run > 0 && at < f->entries;) {
        uint64_t v = state + 0x9e3779b97f4a7c15u;
        v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
        v = (v ^ v >> 27) * 0x94d049bb133111ebu;
        state = v ^ v >> 31;
        const int owner = (int)(state % (uint64_t)f->w->ranks);
        const tutti_count length = 1 + (tutti_count)((state >> 32) % (uint64_t)(2 * run - 1));
        for (tutti_count i = 0; i < length && at < f->entries; i++, at++)
            if (owner == f->w->rank && n < most) position[n++] = at;
    }
    *n_out = n;
    return position;
}

void field_fill(const field *f, tutti_count n, const tutti_count *position) {
    for (int v = 0; v < f->variables; v++)
        for (tutti_count i = 0; i < n; i++)
            f->put[v * f->capacity + i] = field_value(f, v, position[i]);
}

int field_check(const field *f, tutti_count n, const tutti_count *position, int variables) {
    for (int v = 0; v < variables; v++)
        for (tutti_count i = 0; i < n; i++) {
            const double got = f->got[v * f->capacity + i], want = field_value(f, v, position[i]);
            if (got < want || got > want)
                return cli_error("variable %d has %g instead of %g at position %lld", v, got, want,
                                 (long long)position[i]);
        }
    return 0;
}
