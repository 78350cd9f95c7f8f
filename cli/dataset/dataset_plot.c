/* tutti plot: draw a variable over time (minimum, mean, maximum) as SVG, or a field of two dimensions as a
 * heat map (PNG) by tutti array read --png.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- over time */

typedef struct {
    double time, least, mean, largest;
} point;

typedef struct {
    point *point;
    int n;
    double x[2], y[2]; /* ranges of the axes */
} series;

static int series_find(const dataset_catalogue *c, const tutti_variable_row *row,
                       const data_config *config, series *s) {
    const cli_world alone = {.comm = MPI_COMM_SELF, .ranks = 1};
    cli_progress progress;
    int failed = 0;
    progress_start(&progress, &alone, 0);
    for (tutti_count g = 0; g < c->segments && !failed; g++) {
        tutti_section_row section;
        dataset_view v = {.count = 0};
        const int has = dataset_has(c, g, row->name, &section);
        failed = has < 0;
        if (has <= 0) continue;
        double of[3] = {NAN, NAN, NAN};
        failed = dataset_view_open(c, row, g, config->slice, &v) || dataset_view_extremes(&v, of);
        const point p = {v.segment.time, of[0], of[1], of[2]};
        dataset_view_close(&v);
        progress_work(&progress, "reading", g + 1, c->segments);
        if (failed || !isfinite(p.mean)) continue;
        s->point = cli_realloc(s->point, (size_t)(s->n + 1) * sizeof *s->point);
        s->point[s->n++] = p;
    }
    progress_end(&progress);
    if (!failed && s->n == 0)
        return cli_error("no segment of '%s' has values of '%s'", c->path, row->name);
    return failed;
}

/* Return a step of 1, 2 or 5 times a power of ten that gives about `ticks` ticks. */
static double tick_step(const double range[2], int ticks) {
    const double raw = (range[1] - range[0]) / ticks, base = pow(10, floor(log10(raw)));
    const double part = raw / base;
    return base * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* Set an axis to a ... b; if both are equal, the axis is a little wider. */
static void axis_set(double range[2], double a, double b) {
    const double little = a == b ? fmax(fabs(a) * 0.05, 1e-300) : 0;
    range[0] = a - little;
    range[1] = b + little;
    if (!(range[1] > range[0])) range[1] = range[0] + 1;
}

enum { WIDTH = 760, HEIGHT = 420, LEFT = 92, RIGHT = 20, TOP = 44, BOTTOM = 56, TICKS = 20 };

static double place_x(const series *s, double x) {
    return LEFT + (WIDTH - LEFT - RIGHT) * ((x - s->x[0]) / (s->x[1] - s->x[0]));
}

static double place_y(const series *s, double y) {
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((y - s->y[0]) / (s->y[1] - s->y[0]));
}

/* Print the label of a variable: "temperature [K]". */
static void put_name(const tutti_variable_row *row, FILE *f) {
    cli_xml_text(f, row->spec.long_name[0] ? row->spec.long_name : row->name);
    if (!row->spec.units[0]) return;
    fputs(" [", f);
    cli_xml_text(f, row->spec.units);
    fputs("]", f);
}

static void draw_line(const series *s, size_t at, const char *class, FILE *f) {
    fprintf(f, "<polyline class=\"%s\" points=\"", class);
    for (int i = 0; i < s->n; i++) {
        double y;
        memcpy(&y, (const char *)&s->point[i] + at, sizeof y);
        fprintf(f, "%s%.2f,%.2f", i ? " " : "", place_x(s, s->point[i].time), place_y(s, y));
    }
    fputs("\"/>\n", f);
}

static void draw_series(const series *s, const tutti_variable_row *row, FILE *f) {
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n<style>\n"
            "text { font: 13px sans-serif; fill: #1b2230 } .x { text-anchor: middle } "
            ".y { text-anchor: end } .title { font-size: 16px }\n"
            ".grid { stroke: #ddd } polyline { fill: none; stroke-width: 1.5 } .mean { stroke: "
            "#1b5fa8; stroke-width: 2 }\n"
            ".bound { stroke: #4f7fb5 } .band { fill: #dbe8f5; stroke: none } circle { fill: "
            "#1b5fa8 }\n</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"title\" x=\"%d\" y=\"26\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    put_name(row, f);
    fputs(": mean (dark), least and largest</text>\n", f);
    const double dx = tick_step(s->x, 6), dy = tick_step(s->y, 5);
    for (int i = 0; i < TICKS; i++) {
        const double y = (ceil(s->y[0] / dy) + i) * dy;
        if (y > s->y[1] + dy * 1e-9) break;
        fprintf(f,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/>"
                "<text class=\"y\" x=\"%d\" y=\"%.2f\">%.6g</text>\n",
                LEFT, WIDTH - RIGHT, place_y(s, y), place_y(s, y), LEFT - 8, place_y(s, y) + 4, y);
    }
    for (int i = 0; i < TICKS; i++) {
        const double x = (ceil(s->x[0] / dx) + i) * dx;
        if (x > s->x[1] + dx * 1e-9) break;
        fprintf(f, "<text class=\"x\" x=\"%.2f\" y=\"%d\">%.6g</text>\n", place_x(s, x),
                HEIGHT - BOTTOM + 20, x + 0.0);
    }
    fprintf(f, "<text class=\"x\" x=\"%d\" y=\"%d\">time</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 12);
    /* Label of the vertical axis. */
    const int y = (TOP + HEIGHT - BOTTOM) / 2;
    fprintf(f, "<text class=\"x\" x=\"18\" y=\"%d\" transform=\"rotate(-90 18 %d)\">", y, y);
    put_name(row, f);
    fputs("</text>\n", f);
    fputs("<polygon class=\"band\" points=\"", f);
    for (int i = 0; i < s->n; i++)
        fprintf(f, "%.2f,%.2f ", place_x(s, s->point[i].time), place_y(s, s->point[i].largest));
    for (int i = s->n - 1; i >= 0; i--)
        fprintf(f, "%.2f,%.2f ", place_x(s, s->point[i].time), place_y(s, s->point[i].least));
    fputs("\"/>\n", f);
    draw_line(s, offsetof(point, least), "bound", f);
    draw_line(s, offsetof(point, largest), "bound", f);
    draw_line(s, offsetof(point, mean), "mean", f);
    for (int i = 0; i < s->n && s->n <= 60; i++)
        fprintf(f,
                "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\"><title>time %.10g: %.10g (%.10g to "
                "%.10g)</title></circle>\n",
                place_x(s, s->point[i].time), place_y(s, s->point[i].mean), s->point[i].time,
                s->point[i].mean, s->point[i].least, s->point[i].largest);
    fputs("</svg>\n", f);
}

static int plot_time(const dataset_catalogue *c, const tutti_variable_row *row,
                     const data_config *config, const char *path) {
    series s = {.n = 0};
    int failed = series_find(c, row, config, &s);
    if (!failed && s.point) {
        double low = s.point[0].least, high = s.point[0].largest;
        for (int i = 0; i < s.n; i++) {
            low = fmin(low, s.point[i].least);
            high = fmax(high, s.point[i].largest);
        }
        axis_set(s.x, s.point[0].time, s.point[s.n - 1].time);
        axis_set(s.y, low, high);
        FILE *f = cli_output_open(path);
        failed = !f;
        if (f) draw_series(&s, row, f);
        if (f) failed = cli_output_close(f, path, 0);
    }
    free(s.point);
    return failed;
}

/* ---- a field */

static int draw_npy(const char *npy, const char *png) {
    const cli_world alone = {.comm = MPI_COMM_SELF, .ranks = 1, .one_node = 1};
    array_config config = {.path = npy, .png = png, .legend = 1, .budget = 64 << 20};
    array_side side = {.array = NULL};
    if (tutti_options_init(&config.options) != TUTTI_OK) return cli_error_tutti();
    if (array_side_open(&alone, &config, TUTTI_READ, &side)) return 1;
    tutti_count longest = 1; /* longest extent, to enlarge small fields */
    for (int d = 0; d < side.spec.ndims; d++)
        if (side.shape[d] > longest) longest = side.shape[d];
    config.zoom = longest < 400 ? (int)(480 / longest) : 1;
    return array_side_close(&side, array_draw(&alone, &config, &side));
}

static int plot_field(const dataset_catalogue *c, const tutti_variable_row *row,
                      const data_config *config, const char *path) {
    tutti_count first = 0, last = c->segments - 1;
    tutti_section_row section;
    if (config->segment && strcmp(config->segment, "latest") != 0) {
        if (dataset_select(c, config->segment, &first, &last)) return 1;
        if (first != last) return cli_error("a field plot requires one segment; use -s NUMBER");
    } else {
        while (last > 0 && dataset_has(c, last, row->name, &section) == 0) last--;
    }
    if (strcmp(path, "-") == 0)
        return cli_error("cannot write a field plot to standard output; use -o FILE.png");
    char *npy = cli_format("%s.tmp.npy", path);
    cli_guard_add(npy);
    const int failed =
        dataset_npy_write(c, row, last, last, config->slice, npy) || draw_npy(npy, path);
    unlink(npy);
    cli_guard_drop(npy);
    free(npy);
    return failed;
}

/* Determine the kind of plot from the suffix of --out, or else from the other options. */
static int plot_variable(dataset_catalogue *c, const data_config *config) {
    const tutti_variable_row *row = dataset_variable(c, config->variables.item[0]);
    if (!row) return 1;
    const int field = config->out ? cli_ends_in(config->out, ".png") : config->segment != NULL;
    if (config->out && !field && !cli_ends_in(config->out, ".svg") && strcmp(config->out, "-") != 0)
        return cli_error(
            "-o '%s': name must end in .svg (plot over time) or .png (plot of a field)",
            config->out);
    if (!field && config->segment)
        return cli_error("-s does not apply to a plot over time; use -o FILE.png for one segment");
    char *name = cli_file_name(row->name);
    char *path =
        config->out ? cli_strdup(config->out) : cli_format("%s.%s", name, field ? "png" : "svg");
    const int failed = (field ? plot_field : plot_time)(c, row, config, path);
    if (!failed && config->json) {
        printf("{\"files\": [");
        cli_json_string(stdout, path);
        printf("]}\n");
    } else if (!failed && strcmp(path, "-") != 0) {
        printf("%s\n", path);
    }
    free(name);
    free(path);
    return failed;
}

int dataset_plot(const cli_world *w, const data_config *config) {
    (void)w;
    return dataset_run(config, plot_variable);
}
