/* Pictures: PNG files with a palette, written row by row.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_PNG_H
#define TUTTI_CLI_PNG_H

#include <stdio.h>

typedef struct png_file png_file;

typedef struct png_colour {
    unsigned char red, green, blue;
} png_colour;

enum { PNG_COLOURS = 256 };

/* Begin an image in an open file.  NULL and a message: no memory, or no libpng.  The palette has
 * PNG_COLOURS colours. */
png_file *png_begin(FILE *f, unsigned width, unsigned height, const png_colour *palette);
/* The next row, from top to bottom: a colour a pixel. */
void png_row(png_file *p, const unsigned char *row);
/* End it and free it; the file remains open.  1 after any error. */
int png_end(png_file **p);

#endif
