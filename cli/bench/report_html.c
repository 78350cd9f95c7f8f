/* The report to open in a browser: one file, nothing loaded from elsewhere, no scripts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"
#include "bench/report_style.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups: the cells of one directory and one operation */

typedef struct {
    int n;
    const bench_cell **cell;
} cell_group;

static cell_group group_of(const bench_results *r, const char *dir, int is_write) {
    cell_group g = {.cell = cli_malloc((size_t)r->cells * sizeof(void *))};
    for (int i = 0; i < r->cells; i++)
        if (strcmp(r->cell[i].dir, dir) == 0 && r->cell[i].is_write == is_write)
            g.cell[g.n++] = &r->cell[i];
    return g;
}

typedef void print_group(FILE *f, const cell_group *g);

static void each_group(FILE *f, const bench_results *r, print_group *print) {
    for (int d = 0; d < r->config->dirs.n; d++)
        for (int is_write = 1; is_write >= 0; is_write--) {
            cell_group g = group_of(r, r->config->dirs.item[d], is_write);
            if (g.n) print(f, &g);
            free(g.cell);
        }
}

static void print_place(FILE *f, const bench_cell *cell) {
    fprintf(f, "%s in ", cell->is_write ? "Writing" : "Reading");
    cli_xml_text(f, cell->dir);
    fprintf(f, " (%s)", cell->file_system);
}

/* ---- head */

void html_fact(FILE *f, const char *class, const char *value, const char *name) {
    fprintf(f, "<li class=\"%s\"><b>", class);
    cli_xml_text(f, value);
    fprintf(f, "</b><span>%s</span></li>\n", name);
}

void html_head(FILE *f, const char *title, const char *what) {
    fprintf(f,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n",
            title);
    fputs(report_style, f);
    fprintf(f,
            "</style></head><body><main>\n<h1>%s</h1>\n<p class=\"soft\">%s</p>\n"
            "<ul class=\"facts\">\n",
            title, what);
}

void html_common_facts(FILE *f, const bench_results *r) {
    char text[64];
    if (r->failures) {
        snprintf(text, sizeof text, "%d failed", r->failures);
        html_fact(f, "no", text, "see below");
    } else {
        html_fact(f, "ok", "every byte", "verified");
    }
    html_fact(f, "", tutti_version_string(), "Tutti");
    html_fact(f, "", r->mpi, "MPI");
    fputs("</ul>\n", f);
}

void html_foot(FILE *f, const bench_results *r, const char *command) {
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (lines) {
        cli_provenance_print(lines, &r->config->dirs);
        fclose(lines);
    }
    fprintf(f, "<footer>Made by <code>%s</code> of Tutti %s.<pre>", command,
            tutti_version_string());
    cli_xml_text(f, text ? text : "");
    fputs("</pre></footer></main></body></html>\n", f);
    free(text);
}

static void print_head(FILE *f, const bench_results *r) {
    char text[64];
    html_head(f, "Tutti bench",
              "Collective writing and reading, compared with what the machine can do.");
    snprintf(text, sizeof text, "%d", r->ranks);
    html_fact(f, "", text, "ranks");
    cli_format_size(r->config->size, text, sizeof text);
    html_fact(f, "", text, "a rank, about");
    snprintf(text, sizeof text, "%d", r->cells ? r->cell[0].entry[0].rounds : 0);
    html_fact(f, "", text, "alternating rounds");
    html_common_facts(f, r);
}

/* ---- at a glance: times over the limit */

static void print_legend(FILE *f, const bench_results *r) {
    unsigned seen = 0;
    fputs("<div class=\"legend\">", f);
    for (int i = 0; i < r->cells; i++)
        for (int k = 0; k < r->cell[i].entries; k++) {
            const bench_entry *e = &r->cell[i].entry[k];
            const int colour = svg_colour(e), is_tutti = e->kind == ENTRY_TUTTI;
            if (seen & 1u << colour) continue;
            seen |= 1u << colour;
            fprintf(f, "<span><i class=\"k%d%s\"></i>", colour, is_tutti ? "" : " q");
            if (is_tutti)
                fprintf(f, "%s%s", e->method, e->reused ? ", reused plan" : "");
            else
                cli_xml_text(f, e->name);
            fputs("</span>\n", f);
        }
    fputs("<span><i class=\"goalmark\"></i>goal</span></div>\n", f);
}

static void print_ratios(FILE *f, const cell_group *g) {
    fputs("<div class=\"card\"><h3>", f);
    print_place(f, g->cell[0]);
    fputs("</h3><p class=\"soft\">time over that of the limit; further left is faster</p>\n", f);
    svg_ratios(f, g->n, g->cell);
    fputs("</div>\n", f);
}

/* ---- tables of the same */

static const char *judge(const bench_cell *cell, const bench_entry *e) {
    const double ratio = bench_ratio_judged(cell, e), goal = bench_goal(cell);
    if (e->kind != ENTRY_TUTTI || ratio <= 0 || goal <= 0) return "";
    if (ratio <= goal) return "good";
    return ratio <= 1.5 * goal ? "near" : "bad";
}

static void print_ratio_cell(FILE *f, const bench_cell *cell, const bench_entry *e) {
    if (!e->rounds) {
        fprintf(f, "<td>%s</td>", e->unavailable ? "not here" : "failed");
        return;
    }
    fprintf(f, "<td class=\"%s\">%.2f", judge(cell, e), e->to_limit);
    if (!cell->is_write && e->to_bare > 0) fprintf(f, "<small>%.2f</small>", e->to_bare);
    fputs("</td>", f);
}

static void print_table(FILE *f, const cell_group *g) {
    fprintf(f, "<div class=\"card%s\"><h3>", g->n > 4 ? " full" : "");
    print_place(f, g->cell[0]);
    fprintf(f, "</h3><p class=\"soft\">%s</p><div class=\"scroll\"><table><thead><tr><th></th>",
            g->cell[0]->is_write
                ? "time over that of the limit"
                : "time over that of the limit; below, over the better bare reference");
    for (int i = 0; i < g->n; i++) fprintf(f, "<th>%s</th>", g->cell[i]->pattern);
    fputs("</tr></thead><tbody>\n", f);
    for (int k = 0; k < g->cell[0]->entries; k++) {
        fputs("<tr><th>", f);
        cli_xml_text(f, g->cell[0]->entry[k].name);
        fputs("</th>", f);
        for (int i = 0; i < g->n; i++) print_ratio_cell(f, g->cell[i], &g->cell[i]->entry[k]);
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div></div>\n", f);
}

/* ---- one card a cell */

static void print_numbers(FILE *f, const bench_cell *cell) {
    fputs(
        "<details><summary>milliseconds</summary><div class=\"scroll\"><table><thead><tr><th></th>"
        "<th>min</th><th>q1</th><th>median</th><th>q3</th><th>max</th></tr></thead><tbody>\n",
        f);
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        if (!e->rounds) continue;
        const bench_summary t = e->time;
        fputs("<tr><th>", f);
        cli_xml_text(f, e->name);
        fprintf(f, "</th><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td></tr>\n",
                t.min * 1e3, t.q1 * 1e3, t.median * 1e3, t.q3 * 1e3, t.max * 1e3);
    }
    fputs("</tbody></table></div></details>\n", f);
}

static void print_notes(FILE *f, const bench_cell *cell) {
    for (int i = 0; i < cell->entries; i++) {
        const bench_entry *e = &cell->entry[i];
        const int is_auto = e->kind == ENTRY_TUTTI && strcmp(e->method, "auto") == 0;
        if (is_auto && !e->reused && *e->explain) {
            fputs("<p class=\"soft\">auto was ", f);
            cli_xml_text(f, e->explain);
            fputs("</p>\n", f);
        }
        if (!*e->failure) continue;
        fprintf(f, "<p class=\"%s\">", e->unavailable ? "soft" : "bad");
        cli_xml_text(f, e->name);
        fputs(": ", f);
        cli_xml_text(f, e->failure);
        fputs("</p>\n", f);
    }
}

static void print_card(FILE *f, const bench_cell *cell) {
    char file[32], run[32];
    cli_format_size(cell->total, file, sizeof file);
    cli_format_size(cell->runs ? cell->total / cell->runs : 0, run, sizeof run);
    fprintf(f, "<div class=\"card\"><h3>%s %s</h3><p class=\"soft\">%s; %s in runs of %s</p>\n",
            cell->is_write ? "Write" : "Read", cell->pattern, bench_pattern_title(cell->pattern),
            file, run);
    svg_bars(f, cell);
    print_notes(f, cell);
    print_numbers(f, cell);
    fputs("</div>\n", f);
}

static void print_cards(FILE *f, const cell_group *g) {
    fputs("<h2>", f);
    print_place(f, g->cell[0]);
    fputs("</h2><div class=\"grid\">\n", f);
    for (int i = 0; i < g->n; i++) print_card(f, g->cell[i]);
    fputs("</div>\n", f);
}

static void print_foot(FILE *f, const bench_results *r) {
    fputs(
        "<h2>How it was measured</h2><p>The <b>limit</b>: every rank writes (reads) one contiguous "
        "share "
        "of the file in calls of 4 MiB. All times run from the first rank's open to the last one's "
        "close, for writes on a fresh file; a plan is made within them unless it is called reused, "
        "and then "
        "they run from its start to close. In each round every way ran once, in rotated order. "
        "Bars and "
        "dots are medians, whiskers quartiles. Goals: writes ",
        f);
    fprintf(
        f,
        "%.1f of the limit (irregular items %.1f), reads %.2f of the better of the bare references "
        "<i>pread each piece</i> and <i>bare shared staging</i>.</p>\n",
        BENCH_GOAL_WRITE, BENCH_GOAL_WRITE_IRREGULAR, BENCH_GOAL_READ);
    html_foot(f, r, "tutti bench");
}

int report_html(const bench_results *r, const char *path) {
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    print_head(f, r);
    fputs("<h2>At a glance</h2>\n", f);
    print_legend(f, r);
    fputs("<div class=\"grid wide\">\n", f);
    each_group(f, r, print_ratios);
    fputs("</div>\n<h2>Ratios</h2><div class=\"grid wide\">\n", f);
    each_group(f, r, print_table);
    fputs("</div>\n", f);
    each_group(f, r, print_cards);
    print_foot(f, r);
    return cli_output_close(f, path, 0);
}
