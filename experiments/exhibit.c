/* Exhibits: tables whose rows and columns come into being as values are put into them, so that a
 * kind of experiment only walks over its points.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The place of a name in a list, at its end if it is new. */
static int place_of(char (**list)[80], int *n, const char *name) {
    for (int i = 0; i < *n; i++)
        if (strcmp((*list)[i], name) == 0) return i;
    *list = cli_realloc(*list, (size_t)(*n + 1) * sizeof **list);
    snprintf((*list)[*n], sizeof **list, "%s", name);
    return (*n)++;
}

void exhibit_put(exhibit *e, const char *row, const char *column, exhibit_value value) {
    const int r = place_of(&e->row, &e->rows, row), c = place_of(&e->column, &e->columns, column);
    e->item = cli_realloc(e->item, (size_t)(e->n + 1) * sizeof *e->item);
    e->item[e->n++] = (exhibit_item){r, c, value};
}

void exhibit_put_number(exhibit *e, const char *row, const char *column, double value) {
    exhibit_put(e, row, column, (exhibit_value){.mid = value, .lo = value, .hi = value});
}

void exhibit_put_text(exhibit *e, const char *row, const char *column, const char *text) {
    exhibit_value value = {0};
    snprintf(value.text, sizeof value.text, "%s", text);
    exhibit_put(e, row, column, value);
}

const exhibit_value *exhibit_get(const exhibit *e, int row, int column) {
    for (int i = 0; i < e->n; i++)
        if (e->item[i].row == row && e->item[i].column == column) return &e->item[i].value;
    return NULL;
}

void exhibit_format(const exhibit *e, const exhibit_value *v, char *out, size_t size) {
    if (!v || isnan(v->mid))
        snprintf(out, size, "-");
    else if (*v->text)
        snprintf(out, size, "%s", v->text);
    else
        snprintf(out, size, "%.*f", e->decimals, v->mid);
}

int view_rows(const exhibit_view *t) {
    return t->turned ? t->e->columns : t->e->rows;
}

int view_columns(const exhibit_view *t) {
    return t->turned ? t->e->rows : t->e->columns;
}

const char *view_row(const exhibit_view *t, int i) {
    return t->turned ? t->e->column[i] : t->e->row[i];
}

const char *view_column(const exhibit_view *t, int i) {
    return t->turned ? t->e->row[i] : t->e->column[i];
}

const exhibit_value *view_get(const exhibit_view *t, int row, int column) {
    return t->turned ? exhibit_get(t->e, column, row) : exhibit_get(t->e, row, column);
}

void exhibit_note(exhibit *e, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(e->note, sizeof e->note, fmt, args);
    va_end(args);
}

exhibit *experiment_exhibit(experiment *x, exhibit_kind kind, const char *id, const char *title) {
    exhibit *e = cli_malloc(sizeof *e);
    *e = (exhibit){
        .kind = kind, .group = x->group ? x->group : "", .axis = "", .unit = "", .decimals = 1};
    snprintf(e->id, sizeof e->id, "%s", id);
    snprintf(e->title, sizeof e->title, "%s", title);
    x->exhibit = cli_realloc(x->exhibit, (size_t)(x->exhibits + 1) * sizeof *x->exhibit);
    return x->exhibit[x->exhibits++] = e;
}

void experiment_finding(experiment *x, finding_grade grade, const char *fmt, ...) {
    x->finding = cli_realloc(x->finding, (size_t)(x->findings + 1) * sizeof *x->finding);
    finding *f = &x->finding[x->findings++];
    va_list args;
    f->grade = grade;
    va_start(args, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, args);
    va_end(args);
}

/* ---- values of points */

int point_is(const bench_cell *point, const char *figure, const char *dir, int is_read) {
    return (!figure || strcmp(point->figure, figure) == 0) &&
           (!dir || strcmp(point->dir, dir) == 0) && point->is_write == !is_read;
}

int point_counts(const bench_entry *e) {
    return e->rounds > 0 && !*e->failure;
}

const bench_entry *point_entry(const bench_cell *point, const char *name) {
    for (int i = 0; i < point->entries; i++)
        if (strcmp(point->entry[i].name, name) == 0 && point_counts(&point->entry[i]))
            return &point->entry[i];
    return NULL;
}

exhibit_value point_bandwidth(const bench_cell *point, const bench_entry *e) {
    const exhibit_value t = claim_value(e->seconds, e->rounds, 1);
    return (exhibit_value){.mid = bench_bandwidth(point, e, t.mid),
                           .lo = bench_bandwidth(point, e, t.hi),
                           .hi = bench_bandwidth(point, e, t.lo)};
}

exhibit_value point_milliseconds(const bench_entry *e) {
    return claim_value(e->seconds, e->rounds, 1e3);
}

double point_phase(const bench_entry *e, size_t which) {
    double *seconds = cli_malloc((size_t)(e->rounds + 1) * sizeof *seconds);
    for (int i = 0; i < e->rounds; i++)
        memcpy(&seconds[i], (const char *)&e->phases[i] + which, sizeof *seconds);
    const double median = cli_quantile(seconds, e->rounds, 0.5);
    free(seconds);
    return median;
}

exhibit_value point_hidden(const bench_entry *base, const bench_entry *e, double seconds) {
    const int n = e->rounds < base->rounds ? e->rounds : base->rounds;
    double *part = cli_malloc((size_t)(n + 1) * sizeof *part);
    for (int i = 0; i < n; i++)
        part[i] = 100 * (base->seconds[i] - e->seconds[i]) / fmax(seconds, 1e-9);
    exhibit_value v = claim_value(part, n, 1);
    free(part);
    v.lo = fmin(v.lo, 100); /* beyond it there is nothing to hide: noise */
    v.mid = fmin(v.mid, 100);
    v.hi = fmin(v.hi, 100);
    return v;
}
