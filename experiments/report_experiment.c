/* Reports of experiments for people at a terminal and for programs: every exhibit as a table, lying
 * on its side where it would be wider than the terminal; JSON with the exhibits, the findings and
 * all that was measured.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <string.h>

/* ---- tables */

static int longer(int a, const char *text) {
    const int b = (int)strlen(text);
    return a > b ? a : b;
}

static int label_width(const exhibit_view *t) {
    int width = 0;
    for (int i = 0; i < view_rows(t); i++) width = longer(width, view_row(t, i));
    return width;
}

static int column_width(const exhibit_view *t, int column) {
    int width = longer(5, view_column(t, column));
    for (int i = 0; i < view_rows(t); i++) {
        char text[64];
        exhibit_format(t->e, view_get(t, i, column), text, sizeof text);
        width = longer(width, text);
    }
    return width;
}

static int table_width(const exhibit_view *t) {
    int width = 2 + label_width(t);
    for (int i = 0; i < view_columns(t); i++) width += 2 + column_width(t, i);
    return width;
}

static void print_table(FILE *f, const exhibit_view *t) {
    fprintf(f, "  %-*s", label_width(t), "");
    for (int c = 0; c < view_columns(t); c++)
        fprintf(f, "  %*s", column_width(t, c), view_column(t, c));
    fputs("\n", f);
    for (int r = 0; r < view_rows(t); r++) {
        fprintf(f, "  %-*s", label_width(t), view_row(t, r));
        for (int c = 0; c < view_columns(t); c++) {
            char text[64];
            exhibit_format(t->e, view_get(t, r, c), text, sizeof text);
            fprintf(f, "  %*s", column_width(t, c), text);
        }
        fputs("\n", f);
    }
}

static void print_exhibit(FILE *f, const exhibit *e) {
    exhibit_view t = {.e = e};
    const int wide = table_width(&t);
    t.turned = 1;
    if (wide <= cli_width() || table_width(&t) >= wide) t.turned = 0;
    fprintf(f, "%s%s%s\n", e->title, *e->unit ? ": " : "", e->unit);
    if (*e->note) cli_print_wrapped(f, e->note, 2);
    if (e->n)
        print_table(f, &t);
    else
        fputs("  nothing could be measured\n", f);
    fputs("\n", f);
}

static const char *grade_name(finding_grade g) {
    static const char *const names[] = {"plain", "met", "missed", "failed"};
    return names[g];
}

void report_experiment_text(const experiment *x, FILE *f) {
    const bench_results *r = &x->results;
    fprintf(f, "\n%s\n%s\nTutti %s, %s, up to %d rank%s\n", x->kind->title, x->kind->source,
            tutti_version_string(), r->mpi, experiment_most_ranks(x),
            experiment_most_ranks(x) == 1 ? "" : "s");
    cli_provenance_print(f, &r->config->dirs);
    fputs("\n", f);
    for (int i = 0; i < x->exhibits; i++) {
        const char *group = x->exhibit[i]->group;
        if (*group && (i == 0 || strcmp(group, x->exhibit[i - 1]->group) != 0))
            fprintf(f, "==== in %s\n\n", group);
        print_exhibit(f, x->exhibit[i]);
    }
    for (int i = 0; i < x->findings; i++) {
        char text[sizeof x->finding[i].text + 32];
        const finding_grade g = x->finding[i].grade;
        snprintf(text, sizeof text, "%s%s",
                 g == FINDING_MET      ? "goal met: "
                 : g == FINDING_MISSED ? "GOAL MISSED: "
                                       : "",
                 x->finding[i].text);
        cli_print_wrapped(f, text, 0);
    }
    report_claims_text(x, f);
    if (r->failures)
        fprintf(f, "%d FAILED, in %.1f s.\n", r->failures, r->seconds);
    else if (r->cells)
        fprintf(f, "Every byte was verified, in %.1f s.\n", r->seconds);
}

/* ---- JSON */

static void json_names(FILE *f, const char *key, int n, char (*name)[80]) {
    fprintf(f, "\"%s\": [", key);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", f);
        cli_json_string(f, name[i]);
    }
    fputs("], ", f);
}

static void json_value(FILE *f, const exhibit_value *v) {
    if (!v) {
        fputs("null", f);
    } else if (*v->text) {
        cli_json_string(f, v->text);
    } else {
        fprintf(f, "{\"value\": %.6g, \"low\": %.6g, \"high\": %.6g}", v->mid, v->lo, v->hi);
    }
}

static void json_exhibit(FILE *f, const exhibit *e) {
    static const char *const kinds[] = {"lines", "bars", "rows", "table"};
    fputs("    {", f);
    report_json_pair(f, "id", e->id);
    report_json_pair(f, "directory", e->group);
    report_json_pair(f, "kind", kinds[e->kind]);
    report_json_pair(f, "title", e->title);
    report_json_pair(f, "note", e->note);
    report_json_pair(f, "axis", e->axis);
    report_json_pair(f, "unit", e->unit);
    fprintf(f, "\"decimals\": %d,\n     ", e->decimals);
    json_names(f, "rows", e->rows, e->row);
    json_names(f, "columns", e->columns, e->column);
    fputs("\"values\": [", f);
    for (int r = 0; r < e->rows; r++) {
        fputs(r ? ",\n       [" : "[", f);
        for (int c = 0; c < e->columns; c++) {
            if (c) fputs(", ", f);
            json_value(f, exhibit_get(e, r, c));
        }
        fputs("]", f);
    }
    fputs("]}", f);
}

int report_experiment_json(const experiment *x, const char *path) {
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    report_json_head(f, &x->results, "tutti-experiment-1");
    fputs("  ", f);
    report_json_pair(f, "experiment", x->kind->name);
    report_json_pair(f, "title", x->kind->title);
    report_json_pair(f, "source", x->kind->source);
    fprintf(f, "\"series\": %d, \"iterations\": %d, \"array\": %lld,\n  \"exhibits\": [\n",
            x->results.config->series, x->results.config->iterations,
            (long long)x->results.config->array);
    for (int i = 0; i < x->exhibits; i++) {
        json_exhibit(f, x->exhibit[i]);
        fputs(i + 1 < x->exhibits ? ",\n" : "\n", f);
    }
    fputs("  ],\n  \"findings\": [\n", f);
    for (int i = 0; i < x->findings; i++) {
        fputs("    {", f);
        report_json_pair(f, "grade", grade_name(x->finding[i].grade));
        fputs("\"text\": ", f);
        cli_json_string(f, x->finding[i].text);
        fputs(i + 1 < x->findings ? "},\n" : "}\n", f);
    }
    fputs("  ],\n", f);
    report_json_claims(f, x);
    report_json_cells(f, &x->results, "points");
    return cli_output_close(f, path, 0);
}
