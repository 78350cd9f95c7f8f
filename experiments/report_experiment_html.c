/* The report of an experiment to open in a browser: its findings, then a card for each exhibit with
 * its plot, its legend and its numbers, then what was measured at each point.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <string.h>

static void print_findings(FILE *f, const experiment *x) {
    static const char *const classes[] = {"", "good", "bad", "bad"};
    static const char *const words[] = {"", "<b>Goal met.</b> ", "<b>Goal missed.</b> ", ""};
    fputs("<ul class=\"findings\">\n", f);
    for (int i = 0; i < x->findings; i++) {
        const finding_grade g = x->finding[i].grade;
        fprintf(f, "<li class=\"%s\">%s", classes[g], words[g]);
        cli_xml_text(f, x->finding[i].text);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

static void print_legend(FILE *f, const exhibit *e) {
    fputs("<div class=\"legend\">", f);
    for (int i = 0; i < e->columns; i++) {
        fprintf(f, "<span><i class=\"k%d%s\"></i>", plot_colour(e->column[i], i),
                e->kind == EXHIBIT_LINES ? "" : " q");
        cli_xml_text(f, e->column[i]);
        fputs("</span>\n", f);
    }
    fputs("</div>\n", f);
}

static void print_cell(FILE *f, const exhibit *e, const exhibit_value *v) {
    char text[64];
    exhibit_format(e, v, text, sizeof text);
    fputs("<td>", f);
    cli_xml_text(f, text);
    if (v && !*v->text && v->hi > v->lo)
        fprintf(f, "<small>%.*f … %.*f</small>", e->decimals, v->lo, e->decimals, v->hi);
    fputs("</td>", f);
}

/* Tables with many columns and few rows lie on their side: so they fit into a card and on a phone.
 * */
static void print_table(FILE *f, const exhibit *e) {
    const exhibit_view t = {e, e->columns > 5 && e->columns > e->rows};
    fputs("<div class=\"scroll\"><table><thead><tr><th>", f);
    cli_xml_text(f, e->axis);
    fputs("</th>", f);
    for (int c = 0; c < view_columns(&t); c++) {
        fputs("<th>", f);
        cli_xml_text(f, view_column(&t, c));
        fputs("</th>", f);
    }
    fputs("</tr></thead><tbody>\n", f);
    for (int r = 0; r < view_rows(&t); r++) {
        fputs("<tr><th>", f);
        cli_xml_text(f, view_row(&t, r));
        fputs("</th>", f);
        for (int c = 0; c < view_columns(&t); c++) print_cell(f, e, view_get(&t, r, c));
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

static void print_card(FILE *f, const exhibit *e) {
    const int is_table = e->kind == EXHIBIT_TABLE;
    fputs("<div class=\"card\"><h3>", f);
    cli_xml_text(f, e->title);
    fputs("</h3><p class=\"soft\">", f);
    cli_xml_text(f, e->note);
    fputs("</p>\n", f);
    if (!is_table) {
        if (e->kind != EXHIBIT_ROWS) print_legend(f, e);
        plot_exhibit(f, e);
        fputs("<details><summary>numbers</summary>", f);
    }
    print_table(f, e);
    if (!is_table) fputs("</details>", f);
    fputs("</div>\n", f);
}

/* ---- points */

static void print_entry(FILE *f, const bench_cell *point, const bench_entry *e) {
    fprintf(f, "<tr><th>%s %s, %d ranks</th><td>", point->is_write ? "write" : "read",
            point->pattern, point->ranks);
    cli_xml_text(f, point->dir);
    fputs("</td><td>", f);
    cli_xml_text(f, e->name);
    if (e->rounds)
        fprintf(f, "</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%.2f</td><td>%d",
                e->time.min * 1e3, e->time.q1 * 1e3, e->time.median * 1e3, e->time.q3 * 1e3,
                e->time.max * 1e3, e->rounds);
    else
        fprintf(f, "</td><td colspan=\"6\">%s", e->unavailable ? "not available" : "failed");
    fputs("</td></tr>\n", f);
}

static void print_points(FILE *f, const bench_results *r) {
    fputs("<h2>What was measured</h2><p>In each round every way of a point ran once, in rotated "
          "order, from the first rank's open to the last one's close, for writes on a fresh file. "
          "Every byte was verified after close. Points with fewer processes ran on the first ranks "
          "while the others slept.</p>\n<details><summary>all times, in milliseconds</summary>"
          "<div class=\"scroll\"><table><thead><tr><th>point</th><th>directory</th><th>way</th>"
          "<th>min</th><th>q1</th><th>median</th><th>q3</th><th>max</th><th>rounds</th></tr>"
          "</thead><tbody>\n",
          f);
    for (int i = 0; i < r->cells; i++)
        for (int k = 0; k < r->cell[i].entries; k++)
            print_entry(f, &r->cell[i], &r->cell[i].entry[k]);
    fputs("</tbody></table></div></details>\n", f);
}

/* A budget may have cut some points short; ways that sit out do not. */
static int fewest_rounds(const bench_results *r) {
    int least = 0;
    for (int i = 0; i < r->cells; i++) {
        int rounds = 0;
        for (int k = 0; k < r->cell[i].entries; k++)
            if (r->cell[i].entry[k].rounds > rounds) rounds = r->cell[i].entry[k].rounds;
        if (rounds && (!least || rounds < least)) least = rounds;
    }
    return least;
}

static void print_facts(FILE *f, const experiment *x) {
    char text[64];
    snprintf(text, sizeof text, "%d", experiment_most_ranks(x));
    html_fact(f, "", text, "processes at most");
    snprintf(text, sizeof text, "%d", x->results.cells);
    html_fact(f, "", text, "points");
    snprintf(text, sizeof text, "%d", fewest_rounds(&x->results));
    html_fact(f, "", text, "alternating rounds or more");
    html_common_facts(f, &x->results);
}

static void print_group(FILE *f, const char *group, int again) {
    if (again) fputs("</div>\n", f);
    if (*group) {
        fputs("<h2>In ", f);
        cli_xml_text(f, group);
        fputs("</h2>", f);
    }
    fputs("<div class=\"grid wide\">\n", f);
}

int report_experiment_html(const experiment *x, const char *path) {
    FILE *f = cli_output_open(path);
    char text[160];
    if (!f) return 1;
    html_head(f, x->kind->title, x->kind->source);
    print_facts(f, x);
    print_findings(f, x);
    for (int i = 0; i < x->exhibits; i++) {
        if (i == 0 || strcmp(x->exhibit[i]->group, x->exhibit[i - 1]->group) != 0)
            print_group(f, x->exhibit[i]->group, i > 0);
        if (x->exhibit[i]->n) print_card(f, x->exhibit[i]);
    }
    fputs("</div>\n", f);
    print_points(f, &x->results);
    snprintf(text, sizeof text, "tutti-experiments %s", x->kind->name);
    html_foot(f, &x->results, text);
    return cli_output_close(f, path, 0);
}
