/* tutti array read --png: draw a section of two dimensions as a heat map.
 *
 * Each pixel shows one element, or the mean of a square of elements if the section exceeds the maximum
 * size of the image.  Lightness increases evenly from dark violet to pale yellow while the hue changes
 * (in Ottosson's colour space Oklab, where equal steps look equal), so that the map can be read in grey,
 * too.  Red, which no value has, marks NaN.
 *
 *   palette   0: NaN | 1 ... 253: values, evenly spaced | 254: paper | 255: ink
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"
#include "array/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAN_COLOUR = 0, LEVELS = 253, PAPER = 254, INK = 255 };

/* ---- colours */

/* Convert a colour from Oklab to sRGB.  Return 0 if sRGB does not have it. */
static int make_colour(double light, double chroma, double hue, png_colour *out) {
    const double a = chroma * cos(hue), b = chroma * sin(hue);
    const double l = pow(light + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = pow(light - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = pow(light - 0.0894841775 * a - 1.2914855480 * b, 3);
    const double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                              -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                              -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
    unsigned char byte[3];
    for (int i = 0; i < 3; i++) {
        if (linear[i] < 0 || linear[i] > 1) return 0;
        byte[i] = (unsigned char)lround(255 * (linear[i] <= 0.0031308
                                                   ? 12.92 * linear[i]
                                                   : 1.055 * pow(linear[i], 1 / 2.4) - 0.055));
    }
    *out = (png_colour){byte[0], byte[1], byte[2]};
    return 1;
}

/* ---- letters: five columns of seven dots, for the characters of formatted numbers */

static const struct {
    char sign;
    unsigned char row[7]; /* one bit per dot; 16: left dot */
} letter_table[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'-', {0, 0, 0, 31, 0, 0, 0}},       {'+', {0, 4, 4, 31, 4, 4, 0}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'n', {0, 0, 22, 25, 17, 17, 17}},
    {'f', {6, 9, 8, 28, 8, 8, 8}},       {'a', {0, 0, 14, 1, 15, 17, 15}},
};
enum { LETTER_WIDTH = 6, LETTER_HEIGHT = 7 };

/* Draw row y of a text into `out`, a row of pixels; each dot is `scale` pixels wide. */
static void draw_text(const char *text, int y, int scale, unsigned char *out) {
    for (; *text; text++, out += (size_t)LETTER_WIDTH * (size_t)scale)
        for (size_t i = 0; i < sizeof letter_table / sizeof *letter_table; i++)
            for (int x = 0; x < LETTER_WIDTH - 1 && letter_table[i].sign == *text; x++)
                if (letter_table[i].row[y] & 16 >> x)
                    memset(out + (size_t)x * (size_t)scale, INK, (size_t)scale);
}

/* ---- the picture */

typedef struct {
    const array_config *config;
    const array_side *side;
    int down, across;          /* dimensions drawn from top to bottom, and from left to right */
    tutti_count rows, columns; /* extents of the section in elements */
    tutti_count block;         /* each pixel is the mean of block x block elements */
    tutti_count width, height; /* size of the map in pixels before zooming */
    int zoom, scale;           /* scale: pixels per dot of the legend's text */
    tutti_count canvas;        /* width of the image in pixels */
    double range[2];
    char text[2][32]; /* ends of the range, as shown in the legend */
    png_file *png;
    unsigned char *row;
    double *sum; /* [width] sums of the elements of the current row of pixels */
    tutti_count *numbers, gathered;
} picture;

/* Choose the two dimensions with more than one index; if there are fewer, any others. */
static int choose_dimensions(picture *p) {
    const array_side *s = p->side;
    int n = 0;
    p->down = 0;
    p->across = s->spec.ndims - 1;
    for (int d = s->spec.ndims - 1; d >= 0; d--) {
        if (s->shape[d] <= 1) continue;
        if (n == 0 && d > 0)
            p->across = d;
        else
            p->down = d;
        n++;
    }
    if (s->spec.ndims < 2 || n > 2 || s->count == 0)
        return cli_error("--png requires a section that has two dimensions and is not empty");
    return 0;
}

/* Rows of the legend: a gap, a bar of all colours, a gap, the text, a gap. */
enum { GAP = 3, BAR = 8, LEGEND = 3 * GAP + BAR + LETTER_HEIGHT };

static void put_pixels(picture *p) {
    /* Halves, since the difference of two doubles may overflow. */
    const double low = p->range[0] / 2, range = p->range[1] / 2 - low;
    memset(p->row, PAPER, (size_t)p->canvas);
    for (tutti_count x = 0; x < p->width; x++) {
        int colour = NAN_COLOUR;
        if (p->numbers[x]) {
            const double mean = p->sum[x] / (double)p->numbers[x];
            const double t = range > 0 ? (mean / 2 - low) / range : 0.5;
            if (!isnan(mean)) colour = 1 + (t <= 0 ? 0 : t >= 1 ? LEVELS - 1 : (int)(t * LEVELS));
        }
        memset(p->row + x * p->zoom, colour, (size_t)p->zoom);
        p->sum[x] = 0;
        p->numbers[x] = 0;
    }
    for (int y = 0; y < p->zoom; y++) png_row(p->png, p->row);
    p->gathered = 0;
}

/* ---- the file */

static int picture_open(picture *p, FILE *f) {
    png_colour palette[PNG_COLOURS];
    const tutti_count height = p->height * p->zoom + (p->config->legend ? LEGEND * p->scale : 0);
    const double degree = acos(-1) / 180;
    for (int i = 0; i < LEVELS; i++) {
        const double t = i / (LEVELS - 1.0), light = 0.18 + 0.76 * t,
                     hue = (300 - 195 * t) * degree;
        double chroma = 0.15; /* reduced if sRGB does not have the colour */
        while (!make_colour(light, chroma, hue, &palette[1 + i])) chroma *= 0.97;
    }
    palette[NAN_COLOUR] = (png_colour){220, 30, 30};
    palette[PAPER] = (png_colour){255, 255, 255};
    palette[INK] = (png_colour){0, 0, 0};
    p->row = cli_malloc((size_t)p->canvas);
    p->sum = cli_malloc((size_t)p->width * sizeof *p->sum);
    p->numbers = cli_malloc((size_t)p->width * sizeof *p->numbers);
    for (tutti_count x = 0; x < p->width; x++) {
        p->sum[x] = 0;
        p->numbers[x] = 0;
    }
    p->png = png_begin(f, (unsigned)p->canvas, (unsigned)height, palette);
    return p->png ? 0 : 1;
}

static int draw_picture(const cli_world *w, picture *p) {
    const char *path = p->config->png;
    FILE *f = NULL;
    int failed = 0;
    if (w->rank == 0) failed = !(f = cli_output_open(path)) || picture_open(p, f);
    failed = cli_agree(w, failed);
    if (!failed) {
        array_rows rows;
        int more;
        array_rows_start(&rows, w, p->config, p->side);
        while ((more = array_rows_next(&rows)) > 0)
            if (w->rank == 0) {
                const tutti_count from = rows.box.lo[p->across], to = rows.box.hi[p->across];
                const char *at = rows.buffer;
                for (tutti_count y = rows.box.lo[p->down]; y < rows.box.hi[p->down]; y++) {
                    /* Elements of one row; a box may end within a row. */
                    const char *element = at;
                    const tutti_type type = p->side->spec.type;
                    for (tutti_count x = from; x < to; x++, element += p->side->spec.element_size) {
                        const double re = (double)array_element_value(type, element, 0);
                        const double value =
                            array_type_is_complex(type)
                                ? hypot(re, (double)array_element_value(type, element, 1))
                                : re;
                        if (isnan(value)) continue;
                        p->sum[x / p->block] += value;
                        p->numbers[x / p->block]++;
                    }
                    if (to == p->columns && ++p->gathered == p->block) put_pixels(p);
                    at += (to - from) * p->side->spec.element_size;
                }
            }
        array_rows_end(&rows);
        if (w->rank == 0 && p->gathered > 0) put_pixels(p);
        failed = more < 0;
    }
    if (w->rank == 0 && p->png) {
        if (p->config->legend) {
            const size_t n = (size_t)p->canvas;
            const size_t right = strlen(p->text[1]) * (size_t)(LETTER_WIDTH * p->scale);
            for (int y = 0; y < LEGEND * p->scale; y++) {
                const int line = y / p->scale, letter = line - 2 * GAP - BAR;
                memset(p->row, PAPER, n);
                for (size_t x = 0; x < n && line >= GAP && line < GAP + BAR; x++)
                    p->row[x] = (unsigned char)(1 + x * (LEVELS - 1) / (n > 1 ? n - 1 : 1));
                if (letter >= 0 && letter < LETTER_HEIGHT) {
                    draw_text(p->text[0], letter, p->scale, p->row);
                    draw_text(p->text[1], letter, p->scale, p->row + n - right);
                }
                png_row(p->png, p->row);
            }
        }
        failed |= png_end(&p->png) && cli_error_errno("cannot write", path);
    }
    if (f) failed = cli_output_close(f, path, failed);
    free(p->row);
    free(p->sum);
    free(p->numbers);
    return cli_agree(w, failed);
}

int array_draw(const cli_world *w, const array_config *c, const array_side *s) {
    picture p = {.config = c, .side = s};
    if (s->spec.type == TUTTI_BYTES)
        return cli_error("cannot draw elements of type bytes: the type must be numeric");
    if (choose_dimensions(&p)) return 1;
    memcpy(p.range, c->range, sizeof p.range);
    if (!c->has_range) {
        array_moments m;
        if (array_moments_find(w, c, s, &m)) return 1;
        p.range[0] = (double)m.low;
        p.range[1] = (double)m.high;
    }
    const tutti_count most = p.config->pixels > 0 ? p.config->pixels : 4096;
    p.rows = p.side->shape[p.down];
    p.columns = p.side->shape[p.across];
    const tutti_count longer = p.rows > p.columns ? p.rows : p.columns;
    p.block = (longer + most - 1) / most;
    p.width = (p.columns + p.block - 1) / p.block;
    p.height = (p.rows + p.block - 1) / p.block;
    p.zoom = p.config->zoom > 0 ? p.config->zoom : 1;
    p.canvas = p.width * p.zoom;
    p.scale = 1 + (int)(p.canvas / 512);
    for (int i = 0; i < 2; i++) snprintf(p.text[i], sizeof p.text[i], "%.4g", p.range[i]);
    const tutti_count letters = (tutti_count)(strlen(p.text[0]) + strlen(p.text[1])) + 1;
    const tutti_count needed = letters * LETTER_WIDTH * p.scale;
    if (p.config->legend && p.canvas < needed) p.canvas = needed;
    if (p.block > 1 && w->rank == 0)
        fprintf(stderr, "one pixel is the mean of %lld x %lld elements\n", (long long)p.block,
                (long long)p.block);
    return draw_picture(w, &p);
}
