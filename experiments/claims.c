/* Claims of experiments: a figure of every round, the median of these with bounds, and what it is compared with.
 * Bounds are by the bootstrap: medians of many samples drawn from the rounds, with putting back, and of these the
 * range in which 95 of 100 lie.  The samples are the same in every run of the program.  A claim is no verdict yet:
 * `experiments/tutti_experiments/results.py` publishes what two runs agree on.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1000 };

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

int claim_bounds(const double *value, int n, double *lo, double *hi) {
    const double outer[] = {0, 1}, inner[] = {0.025, 0.975};
    double medians[SAMPLES], q[2];
    if (n < CLAIM_LEAST) {
        cli_quantiles(value, n, 2, outer, q);
    } else {
        double *drawn = cli_malloc((size_t)n * sizeof *drawn);
        uint64_t state = 88172645463325252u;
        for (int s = 0; s < SAMPLES; s++) {
            for (int i = 0; i < n; i++) drawn[i] = value[next_random(&state) % (uint64_t)n];
            medians[s] = cli_quantile(drawn, n, 0.5);
        }
        free(drawn);
        cli_quantiles(medians, SAMPLES, 2, inner, q);
    }
    *lo = q[0];
    *hi = q[1];
    return n >= CLAIM_LEAST;
}

exhibit_value claim_value(const double *value, int n, double factor) {
    exhibit_value v = {.mid = factor * cli_quantile(value, n, 0.5)};
    claim_bounds(value, n, &v.lo, &v.hi);
    v.lo = fmin(v.mid, factor * v.lo);
    v.hi = fmax(v.mid, factor * v.hi);
    return v;
}

void experiment_claim(experiment *x, const claim_spec *spec, const double *value, int n) {
    if (n <= 0) return;
    x->claim = cli_realloc(x->claim, (size_t)(x->claims + 1) * sizeof *x->claim);
    claim *c = &x->claim[x->claims++];
    *c = (claim){.rounds = n, .than = spec->than, .unit = spec->unit};
    snprintf(c->what, sizeof c->what, "%s", spec->what);
    snprintf(c->where, sizeof c->where, "%s", spec->where);
    snprintf(c->above, sizeof c->above, "%s", spec->above);
    snprintf(c->below, sizeof c->below, "%s", spec->below);
    c->value = cli_quantile(value, n, 0.5);
    c->bounded = claim_bounds(value, n, &c->low, &c->high);
}

void claim_faster(experiment *x, const char *where, const bench_cell *point, const char *slow,
                  const char *fast) {
    claim_faster_all(x, where, 1, &point, slow, fast);
}

void claim_faster_all(experiment *x, const char *where, int n, const bench_cell *const *point,
                      const char *slow, const char *fast) {
    int rounds = INT32_MAX, found = 0;
    for (int i = 0; i < n; i++) {
        const bench_entry *a = point_entry(point[i], slow), *b = point_entry(point[i], fast);
        if (!a || !b) continue;
        found++;
        if (a->rounds < rounds) rounds = a->rounds;
        if (b->rounds < rounds) rounds = b->rounds;
    }
    if (!found) return;
    double *ratio = cli_malloc((size_t)rounds * sizeof *ratio);
    for (int r = 0; r < rounds; r++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            const bench_entry *a = point_entry(point[i], slow), *b = point_entry(point[i], fast);
            if (a && b) sum += log(fmax(a->seconds[r], 1e-9) / fmax(b->seconds[r], 1e-9));
        }
        ratio[r] = exp(sum / found);
    }
    char what[160], above[96], below[96];
    snprintf(what, sizeof what, "time of %.48s over that of %.48s%s", slow, fast,
             found > 1 ? ", geometric mean" : "");
    snprintf(above, sizeof above, "%.40s is faster than %.32s", fast, slow);
    snprintf(below, sizeof below, "%.40s is faster than %.32s", slow, fast);
    experiment_claim(x, &(claim_spec){what, where, "times", above, below, 1}, ratio, rounds);
    free(ratio);
}

/* ---- JSON */

static void json_bound(FILE *f, const char *key, const claim *c, double value) {
    if (c->bounded)
        fprintf(f, "\"%s\": %.6g, ", key, value);
    else
        fprintf(f, "\"%s\": null, ", key);
}

void report_json_claims(FILE *f, const experiment *x) {
    fputs("  \"claims\": [\n", f);
    for (int i = 0; i < x->claims; i++) {
        const claim *c = &x->claim[i];
        fputs("    {", f);
        report_json_pair(f, "what", c->what);
        report_json_pair(f, "where", c->where);
        report_json_pair(f, "unit", c->unit);
        report_json_pair(f, "above", c->above);
        report_json_pair(f, "below", c->below);
        fprintf(f, "\"value\": %.6g, ", c->value);
        json_bound(f, "low", c, c->low);
        json_bound(f, "high", c, c->high);
        fprintf(f, "\"than\": %.6g, \"rounds\": %d}%s\n", c->than, c->rounds,
                i + 1 < x->claims ? "," : "");
    }
    fputs("  ],\n", f);
}

/* ---- text */

static const char *says(const claim *c) {
    if (!c->bounded) return "too few rounds";
    return c->low > c->than ? c->above : c->high < c->than ? c->below : "no difference shown";
}

void report_claims_text(const experiment *x, FILE *f) {
    if (x->claims)
        cli_print_wrapped(
            f,
            "Claims of this run: medians over rounds, 95 % bounds (bootstrap).  They "
            "are verdicts where a second run agrees (experiments/tutti_experiments/results.py).",
            0);
    for (int i = 0; i < x->claims; i++) {
        const claim *c = &x->claim[i];
        char *text = cli_format("%s: %s: %.2f (%.2f to %.2f) %s of %d rounds: %s", c->where,
                                c->what, c->value, c->low, c->high, c->unit, c->rounds, says(c));
        cli_print_wrapped(f, text, 2);
        free(text);
    }
    if (x->claims) fputs("\n", f);
}
