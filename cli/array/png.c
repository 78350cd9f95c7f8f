/* PNG files, written with libpng.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/png.h"
#include "common/cli.h"

#if TUTTI_HAVE_PNG

#include <png.h>
#include <stdlib.h>

struct png_file {
    png_structp png;
    png_infop info;
    FILE *file;
};

/* Write errors are detected by ferror in png_end. */
static void write_bytes(png_structp png, png_bytep bytes, png_size_t n) {
    (void)!fwrite(bytes, 1, n, png_get_io_ptr(png));
}

static void flush_later(png_structp png) {
    (void)png;
}

static void release_file(png_file *p) {
    png_destroy_write_struct(&p->png, &p->info);
    free(p);
}

png_file *png_begin(FILE *f, unsigned width, unsigned height, const png_colour *palette) {
    png_file *const p = cli_malloc(sizeof *p);
    png_color colours[PNG_COLOURS];
    *p = (png_file){.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL),
                    .file = f};
    if (p->png) p->info = png_create_info_struct(p->png);
    for (int i = 0; i < PNG_COLOURS; i++)
        colours[i] = (png_color){palette[i].red, palette[i].green, palette[i].blue};
    if (!p->info || setjmp(png_jmpbuf(p->png))) {
        release_file(p);
        (void)cli_error("cannot allocate an image of %u x %u pixels", width, height);
        return NULL;
    }
    png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(p->png, f, write_bytes, flush_later);
    png_set_IHDR(p->png, p->info, width, height, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(p->png, p->info, colours, PNG_COLOURS);
    png_write_info(p->png, p->info);
    return p;
}

void png_row(png_file *p, const unsigned char *row) {
    if (setjmp(png_jmpbuf(p->png)) == 0) png_write_row(p->png, row);
}

int png_end(png_file **p) {
    volatile int failed = 1; /* remains 1 if libpng reports an error, also if a row is missing */
    if (setjmp(png_jmpbuf((*p)->png)) == 0) {
        png_write_end((*p)->png, (*p)->info);
        failed = ferror((*p)->file) != 0;
    }
    release_file(*p);
    *p = NULL;
    return failed;
}

#else

png_file *png_begin(FILE *f, unsigned width, unsigned height, const png_colour *palette) {
    (void)f, (void)width, (void)height, (void)palette;
    (void)cli_error("this build cannot write PNG files (Debian: libpng-dev)");
    return NULL;
}

void png_row(png_file *p, const unsigned char *row) {
    (void)p, (void)row;
}

int png_end(png_file **p) {
    return *p = NULL, 1;
}

#endif
