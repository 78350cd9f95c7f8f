/* A picture of the potential: the plane y = 0 through the device, as SVG.
 *
 * The plane cuts a tetrahedron in a triangle or a quadrangle, on which the potential is linear: the polygon gets the
 * colour of its mean, lines of equal potential are straight pieces across it, and so is the junction, where
 * donors and acceptors are as many.  Every rank draws the tetrahedra that are its own, all write one file together.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE = 250, MARGIN = 40, POTENTIAL = 2, BALANCE = 3 };

#define LINES 0.1 /* V, between lines of equal potential */

typedef struct polygon {
    int n;
    double at[4][4]; /* x, z, potential in V, logarithmic balance of donors and acceptors */
} polygon;

/* Where the edge between nodes i and j meets the plane. */
static void meet(const state *s, int i, int j, double y, double out[4]) {
    const double *a = s->d->at[i], *b = s->d->at[j], t = (y - a[1]) / (b[1] - a[1]);
    const double va[4] = {a[0], a[2], s->psi[i] * UNIT_VOLT, asinh(s->doping[i])};
    const double vb[4] = {b[0], b[2], s->psi[j] * UNIT_VOLT, asinh(s->doping[j])};
    for (int k = 0; k < 4; k++) out[k] = va[k] + t * (vb[k] - va[k]);
}

static int cut(const state *s, const int cell[4], double y, polygon *p) {
    int low[4], high[4], lows = 0, highs = 0;
    for (int k = 0; k < 4; k++) {
        if (s->d->at[cell[k]][1] < y)
            low[lows++] = cell[k];
        else
            high[highs++] = cell[k];
    }
    p->n = 0;
    if (lows == 0 || highs == 0) return 0;
    for (int a = 0; a < lows; a++) /* two and two: there and back, so that no sides cross */
        for (int b = 0; b < highs; b++)
            meet(s, low[a], high[a % 2 ? highs - 1 - b : b], y, p->at[p->n++]);
    return 1;
}

/* From blue over white to red, v from 0 to 1. */
static void colour(double v, int rgb[3]) {
    static const double stop[5][3] = {
        {33, 70, 153}, {103, 169, 207}, {247, 247, 247}, {239, 138, 98}, {160, 20, 40}};
    const double x = fmin(fmax(v, 0), 1) * 4;
    const int k = x >= 4 ? 3 : (int)x;
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)lround(stop[k][c] + (x - k) * (stop[k + 1][c] - stop[k][c]));
}

/* The piece of line across a polygon on which value k is `level`. */
static void line_across(FILE *out, const polygon *p, int k, double level, const char *class) {
    double end[2][2];
    int ends = 0;
    for (int a = 0; a < p->n && ends < 2; a++) {
        const double *u = p->at[a], *v = p->at[(a + 1) % p->n];
        if ((u[k] < level) == (v[k] < level)) continue;
        const double t = (level - u[k]) / (v[k] - u[k]);
        for (int x = 0; x < 2; x++) end[ends][x] = u[x] + t * (v[x] - u[x]);
        ends++;
    }
    if (ends == 2)
        fprintf(out, "<path class='%s' d='M%.1f %.1fL%.1f %.1f'/>\n", class,
                MARGIN + SCALE * end[0][0], MARGIN + SCALE * end[0][1], MARGIN + SCALE * end[1][0],
                MARGIN + SCALE * end[1][1]);
}

static void draw(FILE *out, const polygon *p, double low, double high) {
    double mean = 0, least = INFINITY, most = -INFINITY;
    int rgb[3];
    for (int a = 0; a < p->n; a++) {
        mean += p->at[a][POTENTIAL] / p->n;
        least = fmin(least, p->at[a][POTENTIAL]);
        most = fmax(most, p->at[a][POTENTIAL]);
    }
    colour((mean - low) / (high - low), rgb);
    fprintf(out, "<path fill='#%02x%02x%02x' stroke='#%02x%02x%02x' d='", rgb[0], rgb[1], rgb[2],
            rgb[0], rgb[1], rgb[2]);
    for (int a = 0; a < p->n; a++)
        fprintf(out, "%c%.1f %.1f", a ? 'L' : 'M', MARGIN + SCALE * p->at[a][0],
                MARGIN + SCALE * p->at[a][1]);
    fprintf(out, "z'/>\n");
    for (double level = ceil(least / LINES) * LINES; level < most; level += LINES)
        line_across(out, p, POTENTIAL, level, "v");
    line_across(out, p, BALANCE, 0, "j");
}

/* The frame of the picture: names of the contacts, and what the colours mean. */
static void legend(FILE *out, const state *s, const double size[2], double low, double high) {
    const int right = MARGIN + (int)(SCALE * size[0]) + 20;
    fprintf(out, "<text x='%d' y='%d'>potential (V) at y = 0", MARGIN, MARGIN - 22);
    for (int c = 0; c < s->device->contacts; c++)
        fprintf(out, ", %s %.2f V", s->device->contact[c], s->volts[c]);
    fprintf(out, "; lines every %.1f V, black: junctions</text>\n", LINES);
    for (int k = 0; k < 50; k++) {
        int rgb[3];
        colour((k + 0.5) / 50, rgb);
        fprintf(out, "<rect x='%d' y='%d' width='20' height='6.5' fill='#%02x%02x%02x'/>\n", right,
                MARGIN + 6 * (49 - k), rgb[0], rgb[1], rgb[2]);
    }
    for (int k = 0; k <= 4; k++)
        fprintf(out, "<text x='%d' y='%d'>%.2f</text>\n", right + 26, MARGIN + 304 - 75 * k,
                low + (high - low) * k / 4);
}

/* The contacts on the plane: a bar along the edges between two nodes of one. */
static void draw_contacts(FILE *out, const state *s, double y) {
    const domain *d = s->d;
    for (int i = 0; i < d->own; i++)
        for (int k = d->start[i]; k < d->start[i + 1]; k++) {
            const int j = d->to[k];
            if (s->contact[i] < 0 || s->contact[j] != s->contact[i] || d->number[j] < d->number[i])
                continue;
            if (d->at[i][1] > y || d->at[j][1] > y) continue;
            fprintf(out, "<path class='c' d='M%.1f %.1fL%.1f %.1f'/>\n",
                    MARGIN + SCALE * d->at[i][0], MARGIN + SCALE * d->at[i][2],
                    MARGIN + SCALE * d->at[j][0], MARGIN + SCALE * d->at[j][2]);
        }
}

void picture_write(const char *path, const state *s) {
    const domain *d = s->d;
    double range[4] = {-INFINITY, -INFINITY, 0, 0}; /* -lowest, highest potential; width, depth */
    char *text = NULL;
    size_t bytes = 0;
    for (int i = 0; i < d->own; i++) {
        range[0] = fmax(range[0], -s->psi[i] * UNIT_VOLT);
        range[1] = fmax(range[1], s->psi[i] * UNIT_VOLT);
        range[2] = fmax(range[2], d->at[i][0]);
        range[3] = fmax(range[3], d->at[i][2]);
    }
    MPI_Allreduce(MPI_IN_PLACE, range, 4, MPI_DOUBLE, MPI_MAX, d->comm);

    const double y = 1e-6; /* just inside */
    FILE *out = open_memstream(&text, &bytes);
    if (!out) must(TUTTI_ERR_NOMEM);
    if (d->rank == 0) {
        fprintf(out,
                "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
                "font-family='sans-serif' "
                "font-size='13' fill='#222'>\n<style>path{stroke-width:.6}.v{stroke:#555;fill:none}"
                ".j{stroke:#000;stroke-width:2}.c{stroke:#c90;stroke-width:7}</style>\n"
                "<rect width='100%%' height='100%%' fill='#fff'/>\n",
                2 * MARGIN + (int)(SCALE * range[2]) + 60, 2 * MARGIN + (int)(SCALE * range[3]));
        legend(out, s, range + 2, -range[0], range[1]);
    }
    for (int c = 0; c < d->cells; c++) {
        polygon p;
        if (d->cell_own[c] && cut(s, d->cell[c], y, &p)) draw(out, &p, -range[0], range[1]);
    }
    draw_contacts(out, s, y);
    if (d->rank == d->ranks - 1) fprintf(out, "</svg>\n");
    fclose(out);

    tutti_off mine = (tutti_off)bytes, before = 0;
    tutti_access *access = NULL;
    tutti_file *file = NULL;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, d->comm);
    if (d->rank == 0) before = 0;
    must(tutti_file_open(d->comm, path, TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, NULL, &file));
    must(tutti_access_contiguous(before, mine, &access));
    must(tutti_file_write(file, access, text, NULL));
    must(tutti_file_close(&file));
    tutti_access_free(&access);
    free(text);
}
