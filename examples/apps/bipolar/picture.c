/* A picture of the potential: the plane y = 0 through the device, as SVG.
 *
 * The plane cuts a tetrahedron in a triangle or a quadrangle, on which the potential is linear.
 * The polygon has the colour of its mean potential; lines of equal potential are straight segments
 * across it.  A thick line is the junction, where the doping is 0.  Every rank draws the tetrahedra
 * that it owns; all ranks write one file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 0.1  /* potential difference of adjacent lines, in V */
#define PLANE 1e-6 /* y of the plane, just inside the device, in um */
#define PIXELS(um) (40 + 250.0 * (um))

typedef struct picture {
    const state *s;
    FILE *out;
    double low, high;    /* range of potentials, in V */
    double width, depth; /* in um */
} picture;

typedef struct polygon {
    int n;
    double at[4][3]; /* x, z, potential in V */
} polygon;

/* Compute the intersection of the plane with the edge between nodes i and j. */
static void meet(const state *s, int i, int j, double out[3]) {
    const double *a = s->d->at[i], *b = s->d->at[j], t = (PLANE - a[1]) / (b[1] - a[1]);
    out[0] = a[0] + t * (b[0] - a[0]);
    out[1] = a[2] + t * (b[2] - a[2]);
    out[2] = (s->psi[i] + t * (s->psi[j] - s->psi[i])) * UNIT_VOLT;
}

static polygon cut(const state *s, const int cell[4]) {
    int low[4], high[4], lows = 0, highs = 0;
    polygon p = {.n = 0};
    for (int k = 0; k < 4; k++) {
        if (s->d->at[cell[k]][1] < PLANE)
            low[lows++] = cell[k];
        else
            high[highs++] = cell[k];
    }
    for (int a = 0; a < lows; a++) /* order the points so that no sides cross */
        for (int b = 0; b < highs; b++)
            meet(s, low[a], high[a % 2 ? highs - 1 - b : b], p.at[p.n++]);
    return p;
}

/* Return the relative position between two corners at which the potential is `level`; -1: none. */
static double level_between(const double a[3], const double b[3], double level) {
    return (a[2] < level) == (b[2] < level) ? -1 : (level - a[2]) / (b[2] - a[2]);
}

static int is_n(const device *device, const double a[3], const double b[3], double t) {
    double donors, acceptors;
    device->doping((double[]){a[0] + t * (b[0] - a[0]), PLANE, a[1] + t * (b[1] - a[1])}, &donors,
                   &acceptors);
    return donors > acceptors;
}

/* Return the relative position of the junction between two corners; -1: none.  Uses bisection,
 * since the doping is not linear. */
static double junction_between(const device *device, const double a[3], const double b[3]) {
    const int n = is_n(device, a, b, 0);
    double from = 0, to = 1;
    if (n == is_n(device, a, b, 1)) return -1;
    while (to - from > 1e-3) {
        const double middle = (from + to) / 2;
        *(is_n(device, a, b, middle) == n ? &from : &to) = middle;
    }
    return from;
}

static void stroke(FILE *out, const char *class, const double a[2], const double b[2]) {
    fprintf(out, "<path class='%s' d='M%.1f %.1fL%.1f %.1f'/>\n", class, PIXELS(a[0]), PIXELS(a[1]),
            PIXELS(b[0]), PIXELS(b[1]));
}

/* Draw the line of potential `level` across a polygon; NAN: draw the junction. */
static void line_across(const picture *w, const polygon *p, double level) {
    double end[2][2];
    int ends = 0;
    for (int k = 0; k < p->n && ends < 2; k++) {
        const double *a = p->at[k], *b = p->at[(k + 1) % p->n];
        const double t =
            isnan(level) ? junction_between(w->s->device, a, b) : level_between(a, b, level);
        if (t < 0) continue;
        end[ends][0] = a[0] + t * (b[0] - a[0]);
        end[ends++][1] = a[1] + t * (b[1] - a[1]);
    }
    if (ends == 2) stroke(w->out, isnan(level) ? "j" : "v", end[0], end[1]);
}

/* Return the colour of a value from 0 (blue) over 0.5 (white) to 1 (red). */
static void colour(double v, char text[8]) {
    static const double stop[5][3] = {
        {33, 70, 153}, {103, 169, 207}, {247, 247, 247}, {239, 138, 98}, {160, 20, 40}};
    const double x = fmin(fmax(v, 0), 1) * 4;
    const int k = x >= 4 ? 3 : (int)x;
    unsigned c[3];
    for (int i = 0; i < 3; i++)
        c[i] = (unsigned)lround(stop[k][i] + (x - k) * (stop[k + 1][i] - stop[k][i])) & 255;
    snprintf(text, 8, "#%02x%02x%02x", c[0], c[1], c[2]);
}

static void draw(const picture *w, const polygon *p) {
    double mean = 0, least = INFINITY, most = -INFINITY;
    char fill[8];
    if (p->n == 0) return;
    for (int k = 0; k < p->n; k++) {
        mean += p->at[k][2] / p->n;
        least = fmin(least, p->at[k][2]);
        most = fmax(most, p->at[k][2]);
    }
    colour((mean - w->low) / (w->high - w->low), fill);
    fprintf(w->out, "<path color='%s' d='", fill);
    for (int k = 0; k < p->n; k++)
        fprintf(w->out, "%c%.1f %.1f", k ? 'L' : 'M', PIXELS(p->at[k][0]), PIXELS(p->at[k][1]));
    fprintf(w->out, "z'/>\n");
    for (double level = ceil(least / LINES) * LINES; level < most; level += LINES)
        line_across(w, p, level);
    line_across(w, p, NAN);
}

/* Draw the edges between nodes of a contact that are in the plane. */
static void draw_contacts(const picture *w) {
    const domain *d = w->s->d;
    const signed char *contact = w->s->contact;
    for (int i = 0; i < d->own; i++)
        for (int k = d->start[i]; k < d->start[i + 1]; k++) {
            const int j = d->to[k];
            if (contact[i] < 0 || contact[i] != contact[j] || d->number[j] < d->number[i]) continue;
            if (d->at[i][1] > PLANE || d->at[j][1] > PLANE) continue;
            stroke(w->out, "c", (double[]){d->at[i][0], d->at[i][2]},
                   (double[]){d->at[j][0], d->at[j][2]});
        }
}

/* Draw the voltages and the colour scale. */
static void draw_legend(const picture *w) {
    const double right = PIXELS(w->width) + 20;
    char fill[8];
    fprintf(w->out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
            "font-family='sans-serif' font-size='13' fill='#222'>\n"
            "<style>path{fill:currentColor;stroke:currentColor;stroke-width:.6}.v{stroke:#555}.j{"
            "stroke:#000;stroke-width:2}"
            ".c{stroke:#c90;stroke-width:7}</style>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n<text x='%.0f' y='18'>",
            right + 80, PIXELS(w->depth) + 40, PIXELS(0));
    for (int c = 0; c < w->s->device->contacts; c++)
        fprintf(w->out, "%s %.2f V, ", w->s->device->contact[c], w->s->volts[c]);
    fprintf(w->out, "y = 0; potential in V, a line every %.1f V; black: junctions</text>\n", LINES);
    for (int k = 0; k < 50; k++) {
        colour((k + 0.5) / 50, fill);
        fprintf(w->out, "<rect x='%.0f' y='%.0f' width='20' height='6.5' fill='%s'/>\n", right,
                PIXELS(0) + 6 * (49 - k), fill);
    }
    for (int k = 0; k <= 4; k++)
        fprintf(w->out, "<text x='%.0f' y='%.0f'>%.2f</text>\n", right + 26,
                PIXELS(0) + 304 - 75 * k, w->low + (w->high - w->low) * k / 4);
}

/* Write the texts of all ranks in rank order. */
static void write_texts(const domain *d, const char *path, const char *text, tutti_off bytes) {
    tutti_access *access = NULL;
    tutti_file *file = NULL;
    tutti_off before = 0;
    MPI_Exscan(&bytes, &before, 1, MPI_INT64_T, MPI_SUM, d->comm);
    if (d->rank == 0) before = 0; /* MPI_Exscan does not define it on rank 0 */
    must(tutti_access_contiguous(before, bytes, &access));
    must(tutti_file_open(d->comm, path, TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, NULL, &file));
    must(tutti_file_write(file, access, text, NULL));
    must(tutti_file_close(&file));
    tutti_access_free(&access);
}

void picture_write(const char *path, const state *s) {
    const domain *d = s->d;
    char *text = NULL;
    size_t bytes = 0;
    picture w = {.s = s, .out = open_memstream(&text, &bytes), .low = INFINITY, .high = -INFINITY};
    if (!w.out) must(TUTTI_ERR_NOMEM);
    for (int i = 0; i < d->own; i++) {
        w.low = fmin(w.low, s->psi[i] * UNIT_VOLT);
        w.high = fmax(w.high, s->psi[i] * UNIT_VOLT);
        w.width = fmax(w.width, d->at[i][0]);
        w.depth = fmax(w.depth, d->at[i][2]);
    }
    w.low = -domain_max(d, -w.low);
    w.high = domain_max(d, w.high);
    w.width = domain_max(d, w.width);
    w.depth = domain_max(d, w.depth);

    if (d->rank == 0) draw_legend(&w);
    for (int c = 0; c < d->cells; c++) {
        const polygon p = cut(s, d->cell[c]);
        if (d->cell_own[c]) draw(&w, &p);
    }
    draw_contacts(&w);
    if (d->rank == d->ranks - 1) fprintf(w.out, "</svg>\n");
    fclose(w.out);
    write_texts(d, path, text, (tutti_off)bytes);
    free(text);
}
