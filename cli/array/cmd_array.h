/* Components of tutti array, and the types that they share.
 *
 *   arguments -> config      options                                         cmd_array_args.c
 *   section                  LO:HI:STRIDE,... -> a slice                     cmd_array_section.c
 *   element                  one element <-> text                            cmd_array_element.c
 *   iteration                boxes of a section, each within the memory limit  cmd_array_walk.c
 *   move                     a section of one array into one of another      cmd_array_move.c
 *   commands                 create, info                                    cmd_array.c
 *                            read, write, transpose, stat                    cmd_array_*.c
 *
 * All ranks run the command together; only rank 0 prints and accesses text files.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_CMD_ARRAY_H
#define TUTTI_CLI_CMD_ARRAY_H

#include "common/command.h"
#include "common/file_kind.h"
#include "common/progress.h"

#include <tutti/array.h>

/* ---- config (cmd_array_args.c) */

enum {
    ARRAY_CREATE = 1,
    ARRAY_INFO = 2,
    ARRAY_READ = 4,
    ARRAY_WRITE = 8,
    ARRAY_TRANSPOSE = 16,
    ARRAY_STAT = 32
};

typedef struct array_config {
    cli_call call; /* call.bits: one of ARRAY_... */
    tutti_options options;
    const char *path;    /* path of the array */
    const char *to;      /* transpose: path of the new array */
    const char *section; /* NULL: the whole array */
    int fortran;         /* indices in `section` start at 1, upper bounds are included */
    tutti_off budget;    /* maximum memory for elements per rank, in bytes */
    /* Description given by the user: with `raw` it defines the array, otherwise the array must match it. */
    int raw;
    int has_shape, has_type, has_order;
    tutti_array_spec spec;
    const char *fill, *from, *axes;
    const char *out, *npy, *png;
    int force, create, json, csv, to_raw, legend;
    int has_to_order;
    tutti_order to_order;
    int digits, zoom, pixels; /* values of these options; -1: not given */
    int has_range;
    double range[2];
} array_config;

extern const cli_group array_group;

/* ---- sections (cmd_array_section.c) */

/* Parse a section of an array with the shape of `spec`; text NULL: the whole array.  Returns 0, or
 * 1 and a message. */
int array_section_parse(const char *text, int fortran, const tutti_array_spec *spec,
                        tutti_slice *out);
/* Parse an order of dimensions; text NULL: reverse order.  Returns 0, or 1 and a message. */
int array_axes_parse(const char *text, int ndims, int *axes_out);
/* Format a shape as "(3, 4)". */
const char *array_shape_text(int ndims, const tutti_count *shape, char *out, size_t size);
enum { ARRAY_TEXT = 400 }; /* maximum bytes of the text of one shape or slice */

/* ---- arrays (cmd_array.c) */

/* An open array, and a section of it. */
typedef struct array_side {
    tutti_array *array;
    tutti_array_spec spec; /* element_size is always set */
    tutti_slice slice;
    tutti_count shape[TUTTI_MAX_DIMS]; /* extents of `slice` */
    tutti_count count;
} array_side;

/* Open the array named on the command line.  Collective.  Returns 0, or 1 and a message, the same
 * on all ranks. */
int array_side_open(const cli_world *w, const array_config *c, int mode, array_side *out);
/* Open any file as an array, with the whole array selected. */
int array_side_open_raw(const cli_world *w, const array_config *c, const char *path, int mode,
                        const tutti_array_spec *spec, array_side *out);
/* Create an array, or a NumPy file if `path` ends in .npy.  Call array_may_replace first. */
int array_side_create(const cli_world *w, const array_config *c, const char *path,
                      const tutti_array_spec *spec, array_side *out);
/* describe the open array `a`; select all elements */
void array_side_take(array_side *s, tutti_array *a);
/* describe an array to be created */
void array_side_plan(array_side *s, const tutti_array_spec *spec);
int array_side_select(array_side *s, const array_config *c); /* set `slice` from c->section */
int array_side_is_global(const array_side *s, const char *path);
int array_side_close(array_side *s, int failed); /* returns 1 if `failed`, or if closing fails */
/* Refuse to replace a file without --force.  Collective. */
int array_may_replace(const cli_world *w, const array_config *c, const char *path);
/* Refuse to write over the file that is read; `to` may be NULL or "-".  Collective. */
int array_may_write(const cli_world *w, const char *from, const char *to);
/* Remove a file if it exists.  Collective. */
int array_remove(const cli_world *w, const array_config *c, const char *path);
/* Remove an incomplete array; the current error message is kept.  Collective. */
void array_discard(const cli_world *w, const array_config *c, const char *path);

/* ---- elements (cmd_array_element.c) */

/* Print an element so that reading the text gives the same value; digits > 0: with this number of digits;
 * type bytes: as hexadecimal digits.  The text has at least `width` characters. */
void array_element_print(FILE *f, const tutti_array_spec *spec, int digits, int width,
                         const void *element);
int array_element_width(const tutti_array_spec *spec, int digits, const void *element);
/* Parse a word as one element.  Returns 0, or 1 and a message. */
int array_element_parse(const tutti_array_spec *spec, const char *word, void *out);
/* Return the real (imaginary = 0) or imaginary part of an element.  64-bit integers are exact. */
long double array_element_value(tutti_type type, const void *element, int imaginary);
int array_type_is_complex(tutti_type type);
int array_type_is_integer(tutti_type type);

/* ---- iteration over a section (cmd_array_walk.c) */

typedef struct array_box {
    tutti_count lo[TUTTI_MAX_DIMS], hi[TUTTI_MAX_DIMS]; /* bounds relative to the section */
} array_box;

typedef struct array_walk {
    int ndims;
    int dim[TUTTI_MAX_DIMS];           /* permutation of the dimensions, the fastest first */
    tutti_count shape[TUTTI_MAX_DIMS]; /* extents of the section */
    tutti_count tile[TUTTI_MAX_DIMS], at[TUTTI_MAX_DIMS];
    int more;
    int cut; /* dimension along which a box is divided among the ranks */
} array_walk;

/* Divide the section into boxes of at most `most` elements (at least 1).  The dimensions are filled one after
 * the other in the given `order`, the fastest first. */
void array_walk_start(array_walk *k, const array_side *s, tutti_order order, tutti_count most);
/* Like array_walk_start, in the file's order, but each box is shared by `ranks` ranks, which get at most
 * `most` elements each.  Boxes are about square in the fastest dimension and dimension `other` if these
 * differ.
 * @return the maximum number of elements per rank */
tutti_count array_walk_share(array_walk *k, const array_side *s, int other, int ranks,
                             tutti_count most);
int array_walk_next(array_walk *k, array_box *out); /* returns 0 after the last box */
/* Return the part of a box that belongs to `rank`: a contiguous range of dimension k->cut. */
array_box array_box_part(const array_walk *k, const array_box *box, int rank, int ranks);
tutti_count array_box_shape(int ndims, const array_box *box, tutti_count *shape_out);
tutti_slice array_box_slice(const array_side *s, const array_box *box);
tutti_slice array_slice_none(int ndims);
/* Describe a packed buffer for the elements of a box, stored in the given order. */
tutti_section array_box_memory(const array_side *s, const array_box *box, tutti_order order);

/* ---- array_rows: rank 0 reads a section in row-major order, box by box; all ranks take part */

typedef struct array_rows {
    const cli_world *world;
    const array_side *side;
    array_walk walk;
    array_box box;
    char *buffer;
    cli_progress progress;
    const char *what;
    tutti_count done; /* number of elements read */
} array_rows;

void array_rows_start(array_rows *r, const cli_world *w, const array_config *c,
                      const array_side *s);
/* Read the next box.  Returns 1 if its elements are in `buffer` on rank 0, 0 if there is no further
 * box, or -1 and a message. */
int array_rows_next(array_rows *r);
void array_rows_end(array_rows *r);

/* ---- moving (cmd_array_move.c) */

typedef struct array_move {
    const array_side *from, *to;
    int axes[TUTTI_MAX_DIMS]; /* dimension d of `to` is dimension axes[d] of `from` */
    /* NULL, or a function that changes n elements of `from` in memory */
    void (*convert)(const void *context, void *elements, tutti_count n);
    const void *context;
    tutti_off budget;
    const char *what; /* label of the progress line */
} array_move;

int array_move_run(const cli_world *w, const array_move *m);

/* ---- statistics (cmd_array_stat.c) */

typedef struct array_extreme {
    long double value; /* long double represents every 64-bit integer exactly */
    tutti_count at[TUTTI_MAX_DIMS];
} array_extreme;

typedef struct array_moments {
    /* numbers: elements that are not NaN, including infinite ones */
    tutti_count nans, numbers, finite;
    /* minimum and maximum of the elements that are not NaN; for complex types, of their moduli */
    array_extreme min, max;
    long double low, high; /* minimum and maximum of the finite elements */
    /* real and imaginary parts of the mean of the finite elements, and of the sums of squared
     * distances from it */
    long double mean[2], squares[2];
} array_moments;

/* Compute the statistics of a section.  Collective: all ranks get the result. */
int array_moments_find(const cli_world *w, const array_config *c, const array_side *s,
                       array_moments *out);

/* ---- commands; config: array_config.  Collective.  Returns 0, or 1 and a message, the same on all
 * ranks. */
int array_create(const cli_world *w, const void *config);
int array_info(const cli_world *w, const void *config);
int array_read(const cli_world *w, const void *config);
int array_write(const cli_world *w, const void *config);
int array_transpose(const cli_world *w, const void *config);
int array_stat(const cli_world *w, const void *config);

/* Draw a section as a heat map (cmd_array_png.c).  Collective. */
int array_draw(const cli_world *w, const array_config *c, const array_side *s);

#endif
