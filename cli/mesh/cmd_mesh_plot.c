/* tutti mesh plot: draw the mesh, coloured by partition, and below it the writers in file order: for each
 * rule one row per partition, from the start of the file to its end.
 *
 * The faces of all elements are painted into pixels first, with a depth buffer, so that the size of the image
 * does not depend on the number of elements.  SVG contains the pixels as strips of one colour, and text; PNG
 * contains them directly.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/cmd_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/png.h"

enum { WIDTH = 800, MESH_HEIGHT = 520, GAP = 34, STRIP_MOST = 256, HUES = 84, SHADES = 3 };
enum { WHITE = 0, GREY = 1, FIRST_COLOUR = 2 };

typedef struct {
    int width, height;
    unsigned char *pixel; /* [width * height] indices into the palette */
    float *depth; /* [width * height] z of the painted point; larger is nearer to the viewer */
    png_colour palette[PNG_COLOURS];
} canvas;

static void palette_make(png_colour *p) {
    p[WHITE] = (png_colour){255, 255, 255};
    p[GREY] = (png_colour){236, 236, 236};
    for (int i = 0; i < HUES; i++)
        for (int s = 0; s < SHADES; s++) {
            /* Hues differ by the golden angle, so that consecutive partitions have very different colours. */
            const double h = fmod(i * 0.6180339887, 1) * 6, light = 0.60 + 0.2 * s;
            const double sat = i % 2 ? 0.55 : 0.75;
            double rgb[3];
            for (int k = 0; k < 3; k++) {
                const double d = fabs(fmod(h + 6 - 2 * k, 6) - 3) - 1;
                const double full = d < 0 ? 0 : d > 1 ? 1 : d;
                rgb[k] = 255 * light * (1 - sat * (1 - full));
            }
            p[FIRST_COLOUR + i * SHADES + s] =
                (png_colour){(unsigned char)rgb[0], (unsigned char)rgb[1], (unsigned char)rgb[2]};
        }
}

static unsigned char colour_of(int part, int shade) {
    return (unsigned char)(FIRST_COLOUR + part % HUES * SHADES + shade);
}

/* ---- the mesh */

/* A projected node: x to the right, y down, z towards the viewer. */
typedef struct {
    double x, y, z;
} point;

static void paint_dot(canvas *k, double x, double y, double z, unsigned char colour) {
    const int c = (int)x, r = (int)y;
    if (c < 0 || r < 0 || c >= WIDTH || r >= MESH_HEIGHT) return;
    const int at = r * k->width + c;
    if ((float)z < k->depth[at]) return;
    k->depth[at] = (float)z;
    k->pixel[at] = colour;
}

/* Paint a triangle; each pixel has the colour of the nearest corner's partition. */
static void paint_triangle(canvas *k, const mesh_case *m, const point *p, const tutti_count n[3]) {
    const point *v[3] = {&p[n[0]], &p[n[1]], &p[n[2]]};
    const double dx1 = v[1]->x - v[0]->x, dy1 = v[1]->y - v[0]->y, dz1 = v[1]->z - v[0]->z;
    const double dx2 = v[2]->x - v[0]->x, dy2 = v[2]->y - v[0]->y, dz2 = v[2]->z - v[0]->z;
    const double area = dx1 * dy2 - dx2 * dy1;
    const double nx = dy1 * dz2 - dz1 * dy2, ny = dz1 * dx2 - dx1 * dz2;
    const double len = sqrt(nx * nx + ny * ny + area * area);
    if (len <= 0) return;
    /* Shade by the normal towards the viewer: top faces light, left faces darker, right faces darkest. */
    const double left = area < 0 ? -nx : nx, down = area < 0 ? -ny : ny;
    const int shade = down < -0.6 * len || fabs(area) > 0.9 * len ? 2 : left < 0 ? 1 : 0;
    if (fabs(area) < 1e-9) return;
    int painted = 0;
    double x0 = v[0]->x, x1 = x0, y0 = v[0]->y, y1 = y0;
    for (int i = 1; i < 3; i++) {
        x0 = fmin(x0, v[i]->x);
        x1 = fmax(x1, v[i]->x);
        y0 = fmin(y0, v[i]->y);
        y1 = fmax(y1, v[i]->y);
    }
    for (int r = (int)ceil(y0 - 0.5); r + 0.5 <= y1; r++)
        for (int c = (int)ceil(x0 - 0.5); c + 0.5 <= x1; c++) {
            const double px = c + 0.5 - v[0]->x, py = r + 0.5 - v[0]->y;
            const double a = (px * dy2 - dx2 * py) / area, b = (dx1 * py - px * dy1) / area;
            const double w[3] = {1 - a - b, a, b};
            if (w[0] < 0 || a < 0 || b < 0) continue;
            const int near = w[0] >= a && w[0] >= b ? 0 : a >= b ? 1 : 2;
            paint_dot(k, c, r, v[0]->z + a * dz1 + b * dz2, colour_of(m->of[n[near]], shade));
            painted = 1;
        }
    if (!painted) paint_dot(k, v[0]->x, v[0]->y, v[0]->z, colour_of(m->of[n[0]], shade));
}

/* Return the number of triangles of the faces of an element type, and their corners. */
static int faces_of(int type, int (*face)[3]) {
    static const int tri[][3] = {{0, 1, 2}}, quad[][3] = {{0, 1, 2}, {0, 2, 3}};
    static const int tet[][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
    static const int hex[][3] = {{0, 1, 2}, {0, 2, 3}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                 {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
    static const int prism[][3] = {{0, 1, 2}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3},
                                   {1, 2, 5}, {1, 5, 4}, {2, 0, 3}, {2, 3, 5}};
    static const int pyramid[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 4},
                                     {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
#define FACES(v) (memcpy(face, v, sizeof v), (int)(sizeof v / sizeof *v))
    switch (type) {
    case TUTTI_MESH_TRIANGLE:
        return FACES(tri);
    case TUTTI_MESH_QUAD:
        return FACES(quad);
    case TUTTI_MESH_TET:
        return FACES(tet);
    case TUTTI_MESH_HEX:
        return FACES(hex);
    case TUTTI_MESH_PRISM:
        return FACES(prism);
    case TUTTI_MESH_PYRAMID:
        return FACES(pyramid);
    default:
        return 0;
    }
#undef FACES
}

static int paint_mesh(canvas *k, const mesh_case *m) {
    tutti_mesh_info info;
    if (tutti_mesh_describe(m->mesh, &info) != TUTTI_OK) return cli_error_tutti();
    point *p = cli_malloc((size_t)m->v.nodes * sizeof *p + 1);
    double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
    const int flat = info.high[2] - info.low[2] <= 0;
    /* angles of the view: around the vertical axis, and from above */
    const double a = 0.6, b = 1.05;
    for (tutti_count i = 0; i < m->v.nodes; i++) {
        const double *x = m->v.coordinates + 3 * i;
        const double right = cos(a) * x[0] - sin(a) * x[1], away = sin(a) * x[0] + cos(a) * x[1];
        p[i] =
            flat ? (point){x[0], -x[1], 0}
                 : (point){right, -(cos(b) * away + sin(b) * x[2]), cos(b) * x[2] - sin(b) * away};
        const double at[2] = {p[i].x, p[i].y};
        for (int d = 0; d < 2; d++) {
            low[d] = fmin(low[d], at[d]);
            high[d] = fmax(high[d], at[d]);
        }
    }
    const double w = high[0] - low[0], h = high[1] - low[1];
    double scale = w > 0 ? (WIDTH - 40) / w : 1e300;
    if (h > 0 && (MESH_HEIGHT - 40) / h < scale) scale = (MESH_HEIGHT - 40) / h;
    if (scale >= 1e300) scale = 1;
    for (tutti_count i = 0; i < m->v.nodes; i++) {
        p[i].x = WIDTH / 2.0 + (p[i].x - (low[0] + high[0]) / 2) * scale;
        p[i].y = MESH_HEIGHT / 2.0 + (p[i].y - (low[1] + high[1]) / 2) * scale;
        p[i].z *= scale;
    }
    for (tutti_count i = 0; i < m->v.nodes && info.dim < 2; i++)
        paint_dot(k, p[i].x, p[i].y, p[i].z, colour_of(m->of[i], 0));
    for (tutti_count e = 0; e < m->v.elements; e++) {
        int face[12][3];
        const int n = faces_of(m->v.type[e], face);
        const tutti_count *node = m->v.node + m->v.start[e];
        for (int f = 0; f < n; f++) {
            const tutti_count v[3] = {node[face[f][0]], node[face[f][1]], node[face[f][2]]};
            paint_triangle(k, m, p, v);
        }
    }
    free(p);
    return 0;
}

/* ---- writers */

static int strip_height(const mesh_config *c) {
    return c->parts < STRIP_MOST ? (c->parts * 3 < 48    ? 48
                                    : c->parts * 3 > 192 ? 192
                                                         : c->parts * 3)
                                 : 192;
}

/* Paint the writers of a rule: rows of pixels for the partitions from top to bottom, columns for positions in
 * the file.  The colour is lighter where the partition writes fewer of the column's nodes. */
static void paint_strip(canvas *k, const mesh_config *c, const mesh_case *m, const int *writer,
                        int top) {
    const int height = strip_height(c);
    int *count = cli_malloc((size_t)c->parts * sizeof *count);
    for (int x = 0; x < WIDTH; x++) {
        const tutti_count from = m->v.nodes * x / WIDTH;
        tutti_count to = m->v.nodes * (x + 1) / WIDTH;
        if (to == from) to = from + (m->v.nodes > from);
        memset(count, 0, (size_t)c->parts * sizeof *count);
        for (tutti_count i = from; i < to; i++) count[writer[i]]++;
        for (int y = 0; y < height; y++) {
            unsigned char colour = GREY;
            double most = 0;
            for (int p = c->parts * y / height; p <= c->parts * (y + 1) / height && p < c->parts;
                 p++) {
                const double share = (double)count[p] / (double)(to > from ? to - from : 1);
                if (share <= most) continue;
                most = share;
                colour = colour_of(p, share > 0.66 ? 0 : share > 0.2 ? 1 : 2);
            }
            k->pixel[(top + y) * k->width + x] = colour;
        }
    }
    free(count);
}

/* ---- files */

static void write_svg(FILE *f, const canvas *k, char (*label)[160], const int *at, int labels) {
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            k->width, k->height, k->width, k->height, k->width, k->height);
    for (int colour = WHITE + 1; colour < PNG_COLOURS; colour++) { /* one path per colour */
        const png_colour *c = &k->palette[colour];
        int strips = 0;
        for (int y = 0; y < k->height; y++) {
            const unsigned char *row = k->pixel + (size_t)y * (size_t)k->width;
            for (int x = 0; x < k->width;) {
                int end = x + 1;
                while (end < k->width && row[end] == row[x]) end++;
                if (row[x] == colour && strips++ == 0)
                    fprintf(f, "<path stroke=\"#%02x%02x%02x\" stroke-width=\"1.3\" d=\"", c->red,
                            c->green, c->blue);
                if (row[x] == colour) fprintf(f, "M%d %d.5h%d", x, y, end - x);
                x = end;
            }
        }
        if (strips) fputs("\"/>\n", f);
    }
    for (int i = 0; i < labels; i++) {
        fprintf(
            f,
            "<text x=\"4\" y=\"%d\" font-family=\"sans-serif\" font-size=\"20\" fill=\"#1b2230\">",
            at[i]);
        cli_xml_text(f, label[i]);
        fputs("</text>\n", f);
    }
    fputs("</svg>\n", f);
}

int mesh_plot(const cli_world *w, const void *config) {
    const mesh_config *c = config;
    (void)w;
    mesh_case m;
    canvas k = {.width = WIDTH};
    char label[MESH_RULES + 1][160];
    int at[MESH_RULES + 1], failed;
    const char *out = c->out ? c->out : "mesh.svg";
    const int is_png = cli_ends_in(out, ".png");
    k.height = MESH_HEIGHT + c->rules * (strip_height(c) + GAP) + 8;
    k.pixel = cli_malloc((size_t)k.width * (size_t)k.height);
    k.depth = cli_malloc((size_t)k.width * (size_t)k.height * sizeof *k.depth);
    memset(k.pixel, WHITE, (size_t)k.width * (size_t)k.height);
    for (int i = 0; i < k.width * k.height; i++) k.depth[i] = -1e30f;
    palette_make(k.palette);
    failed = mesh_case_divide(c, &m);
    if (!failed) failed = paint_mesh(&k, &m);
    int *writer = failed ? NULL : cli_malloc((size_t)m.v.nodes * sizeof *writer + 1);
    snprintf(label[0], sizeof label[0], "%.60s: %lld nodes, %d partitions by %s", c->path,
             failed ? 0LL : (long long)m.v.nodes, c->parts, mesh_by_name(m.by));
    at[0] = 22;
    for (int i = 0; i < c->rules && !failed; i++) {
        tutti_replicas_stats s;
        const int top = MESH_HEIGHT + i * (strip_height(c) + GAP) + GAP;
        failed = mesh_case_choose(c, &m, c->rule[i], writer, &s);
        if (failed) break;
        if (m.v.nodes > 0) paint_strip(&k, c, &m, writer, top);
        snprintf(label[i + 1], sizeof label[i + 1],
                 "%s: %lld intervals of %.1f nodes; file in order '%s', one row per partition",
                 tutti_replicas_rule_name(c->rule[i]), (long long)s.intervals, s.mean_interval,
                 mesh_order_name(c->order));
        at[i + 1] = top - 9;
    }
    FILE *f = failed ? NULL : cli_output_open(out);
    if (!failed && !f) failed = 1;
    if (!failed) {
        if (is_png) {
            png_file *png = png_begin(f, (unsigned)k.width, (unsigned)k.height, k.palette);
            failed = !png;
            if (!failed) {
                for (int y = 0; y < k.height; y++)
                    png_row(png, k.pixel + (size_t)y * (size_t)k.width);
                failed = png_end(&png) && !ferror(f)
                             ? cli_error("cannot write '%s': error in libpng", out)
                             : 0; /* cli_output_close reports errors of f */
            }
        } else
            write_svg(f, &k, label, at, c->rules + 1);
        failed = cli_output_close(f, out, failed);
    }
    free(writer);
    free(k.pixel);
    free(k.depth);
    mesh_case_free(&m);
    return failed;
}
