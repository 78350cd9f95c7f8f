/* tutti array: its parts and their data.
 *
 *   arguments -> config      options                                       cmd_array_args.c
 *   section                  LO:HI:STRIDE,... -> a slice                     cmd_array_section.c
 *   element                  one element <-> text                            cmd_array_element.c
 *   walk                     a section, box by box, within a budget          cmd_array_walk.c
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
    cli_call call; /* bits: ARRAY_... */
    tutti_options options;
    const char *path;    /* of the array */
    const char *to;      /* transpose: of the other one */
    const char *section; /* NULL: the whole array */
    int fortran;         /* it counts from 1, upper bounds included */
    tutti_off budget;    /* bytes of elements in the memory of a rank */
    /* description given by the user: with `raw` it defines the array, otherwise it must match */
    int raw;
    int has_shape, has_type, has_order;
    tutti_array_spec spec;
    const char *fill, *from, *axes;
    const char *out, *npy, *png;
    int force, create, json, csv, to_raw, legend;
    int has_to_order;
    tutti_order to_order;
    int digits, zoom, pixels; /* -1: not given */
    int has_range;
    double range[2];
} array_config;

extern const cli_group array_group;

/* ---- sections (cmd_array_section.c) */

/* The section of an array of this shape that a text names; NULL: all.  0, or 1 and a message */
int array_section_parse(const char *text, int fortran, const tutti_array_spec *spec,
                        tutti_slice *out);
int array_axes_parse(const char *text, int ndims, int *axes_out); /* NULL: in reverse */
/* "(3, 4)" */
const char *array_shape_text(int ndims, const tutti_count *shape, char *out, size_t size);
enum { ARRAY_TEXT = 400 }; /* bytes of a text about one shape or slice */

/* ---- arrays (cmd_array.c) */

/* An array that is open, and a section of it. */
typedef struct array_side {
    tutti_array *array;
    tutti_array_spec spec; /* with the size of an element */
    tutti_slice slice;
    tutti_count shape[TUTTI_MAX_DIMS]; /* of the slice */
    tutti_count count;
} array_side;

/* Open the array of the command line.  Collective.  0, or 1 and a message, the same on all ranks */
int array_side_open(const cli_world *w, const array_config *c, int mode, array_side *out);
/* Open any file as an array, with the whole array selected. */
int array_side_open_raw(const cli_world *w, const array_config *c, const char *path, int mode,
                        const tutti_array_spec *spec, array_side *out);
/* Create an array, after array_may_replace; a NumPy file if its name ends in .npy. */
int array_side_create(const cli_world *w, const array_config *c, const char *path,
                      const tutti_array_spec *spec, array_side *out);
void array_side_take(array_side *s, tutti_array *a); /* all of an array that is open */
void array_side_plan(array_side *s, const tutti_array_spec *spec); /* of an array to be created */
int array_side_select(array_side *s, const array_config *c);       /* the given section */
int array_side_is_global(const array_side *s, const char *path);
int array_side_close(array_side *s, int failed); /* @return failed, or the result of close */
/* Refuse to replace a file without --force.  Collective. */
int array_may_replace(const cli_world *w, const array_config *c, const char *path);
/* Refuse to write over the file that is read; `to` may be NULL or "-".  Collective. */
int array_may_write(const cli_world *w, const char *from, const char *to);
/* Remove a file if it exists.  Collective. */
int array_remove(const cli_world *w, const array_config *c, const char *path);
/* Remove an incomplete array, and keep the message.  Collective. */
void array_discard(const cli_world *w, const array_config *c, const char *path);

/* ---- elements (cmd_array_element.c) */

/* Format as text that is read back as the same value; digits > 0: with this number of digits;
 * bytes: as hexadecimal digits.  At least `width` characters. */
void array_element_print(FILE *f, const tutti_array_spec *spec, int digits, int width,
                         const void *element);
int array_element_width(const tutti_array_spec *spec, int digits, const void *element);
/* The element that a word is.  0, or 1 and a message */
int array_element_parse(const tutti_array_spec *spec, const char *word, void *out);
/* Return the real or the imaginary part.  64-bit integers are exact. */
long double array_element_value(tutti_type type, const void *element, int imaginary);
int array_type_is_complex(tutti_type type);
int array_type_is_integer(tutti_type type);

/* ---- walks over a section (cmd_array_walk.c) */

typedef struct array_box {
    tutti_count lo[TUTTI_MAX_DIMS], hi[TUTTI_MAX_DIMS]; /* within the section */
} array_box;

typedef struct array_walk {
    int ndims;
    int dim[TUTTI_MAX_DIMS];           /* dimensions, the fastest first */
    tutti_count shape[TUTTI_MAX_DIMS]; /* of the section */
    tutti_count tile[TUTTI_MAX_DIMS], at[TUTTI_MAX_DIMS];
    int more;
    int cut; /* the dimension by which ranks share a box */
} array_walk;

/* Boxes of at most `most` elements (at least 1), the dimensions of `order` filled one after the
 * other, fastest first. */
void array_walk_start(array_walk *k, const array_side *s, tutti_order order, tutti_count most);
/* The same in the order of the file, with boxes that `ranks` ranks share, each with at most `most`
 * elements; they are about square in the fastest dimension and `other`, unless that is the same.
 * @return the maximum number of elements of a box */
tutti_count array_walk_share(array_walk *k, const array_side *s, int other, int ranks,
                             tutti_count most);
int array_walk_next(array_walk *k, array_box *out); /* 0: no further box */
/* One rank's part of a box, by blocks of one dimension. */
array_box array_box_part(const array_walk *k, const array_box *box, int rank, int ranks);
tutti_count array_box_shape(int ndims, const array_box *box, tutti_count *shape_out);
tutti_slice array_box_slice(const array_side *s, const array_box *box);
tutti_slice array_slice_none(int ndims);
/* Memory that holds a box, packed, in one order or the other. */
tutti_section array_box_memory(const array_side *s, const array_box *box, tutti_order order);

/* ---- rank 0 reads a section in row-major order, box by box; the others help.  Collective. */

typedef struct array_rows {
    const cli_world *world;
    const array_side *side;
    array_walk walk;
    array_box box;
    char *buffer;
    cli_progress progress;
    const char *what;
    tutti_count done; /* elements */
} array_rows;

void array_rows_start(array_rows *r, const cli_world *w, const array_config *c,
                      const array_side *s);
/* 1: the next box is in `buffer` of rank 0; 0: no further box; -1: failed */
int array_rows_next(array_rows *r);
void array_rows_end(array_rows *r);

/* ---- moving (cmd_array_move.c) */

typedef struct array_move {
    const array_side *from, *to;
    int axes[TUTTI_MAX_DIMS]; /* dimension d of `to` is axes[d] of `from` */
    /* NULL, or changes n elements of `from` in memory */
    void (*convert)(const void *context, void *elements, tutti_count n);
    const void *context;
    tutti_off budget;
    const char *what; /* for the progress */
} array_move;

int array_move_run(const cli_world *w, const array_move *m);

/* ---- statistics (cmd_array_stat.c) */

typedef struct array_extreme {
    long double value; /* holds every integer of 64 bits */
    tutti_count at[TUTTI_MAX_DIMS];
} array_extreme;

typedef struct array_moments {
    tutti_count nans, numbers, finite; /* numbers: the others, including infinite ones */
    array_extreme min, max;            /* of the values; for complex types of their moduli */
    long double low, high;             /* the ends of the finite ones */
    long double mean[2],
        squares[2]; /* of the finite values; sums of squared distances from the mean */
} array_moments;

/* Statistics of a section.  Collective: all ranks get the result. */
int array_moments_find(const cli_world *w, const array_config *c, const array_side *s,
                       array_moments *out);

/* ---- commands; config: array_config.  Collective.  0, or 1 and a message, the same on all ranks */
int array_create(const cli_world *w, const void *config);
int array_info(const cli_world *w, const void *config);
int array_read(const cli_world *w, const void *config);
int array_write(const cli_world *w, const void *config);
int array_transpose(const cli_world *w, const void *config);
int array_stat(const cli_world *w, const void *config);

/* A section as a heat map (cmd_array_png.c). */
int array_draw(const cli_world *w, const array_config *c, const array_side *s);

#endif
