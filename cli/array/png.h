/* PNG files with a palette, written row by row.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_PNG_H
#define TUTTI_CLI_PNG_H

#include <stdio.h>

typedef struct png_file png_file;

typedef struct png_colour {
    unsigned char red, green, blue;
} png_colour;

enum { PNG_COLOURS = 256 };

/* Begin an image in an open file.  `palette` has PNG_COLOURS colours.  Returns NULL and a message
 * if memory is exhausted or libpng is missing. */
png_file *png_begin(FILE *f, unsigned width, unsigned height, const png_colour *palette);
/* Write the next row, from top to bottom; row: palette index of each pixel. */
void png_row(png_file *p, const unsigned char *row);
/* End the image and free *p; the file remains open.  Returns 1 after any error. */
int png_end(png_file **p);

#endif
