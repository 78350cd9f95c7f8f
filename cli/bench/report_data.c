/* The JSON report, with all results.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <string.h>

int report_is_quiet(const bench_config *c) {
    return c->json && strcmp(c->json, "-") == 0;
}

/* ---- JSON */

void report_json_pair(FILE *f, const char *key, const char *value) {
    fprintf(f, "\"%s\": ", key);
    cli_json_string(f, value);
    fputs(", ", f);
}

static void json_times(FILE *f, const bench_cell *cell, const bench_entry *e) {
    fputs("\"seconds\": [", f);
    for (int i = 0; i < e->v.rounds; i++) fprintf(f, "%s%.9f", i ? ", " : "", e->v.sample[0][i]);
    fputs("]", f);
    if (!e->v.rounds) return;
    fprintf(f, ", \"median\": %.9f, \"min\": %.9f, \"max\": %.9f, \"q1\": %.9f, \"q3\": %.9f",
            e->time.median, e->time.min, e->time.max, e->time.q1, e->time.q3);
    fprintf(f, ", \"mib_per_second\": %.3f", bench_bandwidth(cell, e, e->time.median));
    if (e->to_limit > 0)
        fprintf(f, ", \"to_limit\": %.4f, \"to_limit_paired\": %.4f", e->to_limit,
                e->to_limit_paired);
    if (e->to_bare > 0) fprintf(f, ", \"to_bare\": %.4f", e->to_bare);
    /* Report only phases with a time > 0. */
    for (int k = 1; bench_values[k] && cell->figure; k++)
        if (measure_quantile(e->v.sample[k], e->v.rounds, 1) > 0)
            measure_json_samples(f, bench_values[k], e->v.rounds, e->v.sample[k]);
}

static void json_entry(FILE *f, const bench_cell *cell, const bench_entry *e) {
    fputs("        {", f);
    report_json_pair(f, "name", e->v.name);
    static const char *const names[] = {"limit", "pieces", "staging", "mapping", "tutti", "peer"};
    report_json_pair(f, "kind", names[e->kind]);
    if (e->kind == ENTRY_TUTTI) {
        if (e->method) {
            report_json_pair(f, "method", e->method);
            report_json_pair(f, "exchange", e->exchange);
            report_json_pair(f, "store", e->store);
            fprintf(f, "\"reused_plan\": %s, ", e->reused ? "true" : "false");
        } else {
            report_json_pair(f, "settings", e->settings);
        }
        report_json_pair(f, "explain", e->explain);
        if (e->v.rounds) {
            const char *comma = "";
            fputs("\"stats\": {", f);
#define INTEGER(x) fprintf(f, "%lld", (long long)(x))
#define SECONDS(x) fprintf(f, "%.9f", (double)(x))
#define PRINT(ctype, name, help)                                                                \
    fprintf(f, "%s\"%s\": ", comma, #name);                                                     \
    _Generic(e->stats.name, double : SECONDS(e->stats.name), default : INTEGER(e->stats.name)); \
    comma = ", ";
            TUTTI_STATS_TABLE(PRINT)
#undef PRINT
#undef SECONDS
#undef INTEGER
            fputs("}, ", f);
        }
    }
    fprintf(f, "\"verified\": %s, ", e->checkable && !*e->v.failure ? "true" : "false");
    fprintf(f, "\"available\": %s, ", e->unavailable ? "false" : "true");
    if (e->v.is_resting) fputs("\"rests\": true, ", f);
    report_json_pair(f, "failure", e->v.failure);
    json_times(f, cell, e);
    fputs("}", f);
}

void report_json_head(FILE *f, const bench_results *r, const char *format) {
    fputs("{\n  ", f);
    report_json_pair(f, "format", format);
    report_json_pair(f, "version", tutti_version_string());
    report_json_pair(f, "mpi", r->mpi);
    report_json_pair(f, "profile", r->profile);
    fprintf(f, "\"ranks\": %d, \"size_per_rank\": %lld, \"rounds\": %d, \"seed\": %llu,\n",
            r->ranks, (long long)r->config->size, r->config->rounds,
            (unsigned long long)r->config->seed);
    fprintf(
        f, "  \"slice\": %lld, \"cold\": %s, \"fsync\": %s, \"elapsed\": %.3f, \"failures\": %d,\n",
        (long long)r->config->slice, r->config->cold ? "true" : "false",
        r->config->fsync ? "true" : "false", r->seconds, r->failures);
    fputs("  ", f);
    cli_provenance_json(f, &r->config->dirs);
    fputs(",\n", f);
    const tutti_option_info *o;
    fputs("  \"options\": {", f);
    for (int i = 0; (o = tutti_options_row(i)) != NULL; i++) {
        char value[256];
        if (tutti_options_get(&r->config->options, o->name, value, sizeof value) != TUTTI_OK)
            *value = '\0';
        fprintf(f, "%s\"%s\": ", i ? ", " : "", o->name);
        cli_json_string(f, value);
    }
    fputs("},\n", f);
}

void report_json_cells(FILE *f, const bench_results *r, const char *key) {
    fprintf(f, "  \"%s\": [\n", key);
    for (int i = 0; i < r->cells; i++) {
        const bench_cell *cell = &r->cell[i];
        fputs("    {", f);
        report_json_pair(f, "directory", cell->dir);
        report_json_pair(f, "file_system", cell->file_system);
        report_json_pair(f, "pattern", cell->pattern);
        report_json_pair(f, "operation", cell->is_write ? "write" : "read");
        if (cell->figure) {
            report_json_pair(f, "figure", cell->figure);
            fprintf(f, "\"size\": %lld, ", (long long)cell->size);
        } else {
            report_json_pair(f, "title", bench_pattern_title(cell->pattern));
            fprintf(f, "\"goal\": %.2f, ", bench_goal(cell));
        }
        if (cell->profile) {
            report_json_pair(f, "case_profile", cell->profile);
            fprintf(f, "\"cold\": %s, ", cell->cold ? "true" : "false");
        }
        if (cell->scene && cell->scene->json) cell->scene->json(f, cell);
        fprintf(f, "\"ranks\": %d, \"bytes\": %lld, \"runs\": %lld,\n      \"entries\": [\n",
                cell->ranks, (long long)cell->total, (long long)cell->runs);
        for (int k = 0; k < cell->entries; k++) {
            json_entry(f, cell, &cell->entry[k]);
            fputs(k + 1 < cell->entries ? ",\n" : "\n", f);
        }
        fputs("      ]}", f);
        fputs(i + 1 < r->cells ? ",\n" : "\n", f);
    }
    fputs("  ]\n}\n", f);
}

int report_json(const bench_results *r, const char *path) {
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    report_json_head(f, r, "tutti-bench-1");
    report_json_cells(f, r, "cells");
    return cli_output_close(f, path, 0);
}
