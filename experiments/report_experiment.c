/* The report of an experiment: JSON with its settings and all measurements.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

static void json_list(FILE *f, const char *key, const cli_list *list) {
    fprintf(f, "\"%s\": [", key);
    for (int i = 0; i < list->n; i++) {
        if (i) fputs(", ", f);
        cli_json_string(f, list->item[i]);
    }
    fputs("], ", f);
}

static void json_flag(FILE *f, const char *key, int value) {
    fprintf(f, "\"%s\": %s, ", key, value ? "true" : "false");
}

void experiment_json_seconds(FILE *f, const char *key, int n, const double *seconds) {
    fprintf(f, ", \"%s\": [", key);
    for (int i = 0; i < n; i++) fprintf(f, "%s%.9f", i ? ", " : "", seconds[i]);
    fputs("]", f);
}

int report_experiment_json(const experiment *x, const char *path) {
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    fflush(x->parts);
    report_json_head(f, &x->results, "tutti-experiment-1");
    fputs("  ", f);
    report_json_pair(f, "experiment", x->kind->name);
    report_json_pair(f, "title", x->kind->title);
    report_json_pair(f, "source", x->kind->source);
    static const char *const orders[] = {"file", "curve", "rcm"}, *const by[] = {"metis", "curve",
                                                                                 "rcb"};
    const bench_config *c = x->results.config;
    fprintf(f, "\"series\": %d, \"iterations\": %d, \"array\": %lld, \"iops\": %g,\n  ", c->series,
            c->iterations, (long long)c->array, c->iops);
    json_flag(f, "quick", c->quick);
    json_flag(f, "write", c->write);
    json_flag(f, "read", c->read);
    json_list(f, "directories", &c->dirs);
    json_list(f, "procs", &c->procs);
    json_list(f, "chosen_parts", &c->parts);
    json_list(f, "methods", &c->methods);
    json_list(f, "rules", &c->rules);
    report_json_pair(f, "order", orders[c->order]);
    report_json_pair(f, "by", by[c->by]);
    report_json_pair(f, "background_store", experiment_background_store(x, 0));
    report_json_pair(f, "background_store_direct", experiment_background_store(x, 1));
    fprintf(f, "\"most_ranks\": %d,\n", experiment_most_ranks(x));
    fprintf(f, "  \"parts\": [\n%s\n  ],\n", x->text ? x->text : "");
    report_json_cells(f, &x->results, "points");
    return cli_output_close(f, path, 0);
}
