/* tutti ls, show, verify, repair, dump, diff, plot, cp, export: what looks at datasets.
 *
 *   arguments -> config      what to do                              dataset_args.c
 *   catalogue                what there is, in the order of people   dataset_catalogue.c
 *   view                     a variable in a segment, or a slice     dataset_view.c
 *   commands                                                         dataset_*.c
 *
 * verify is the work of all ranks; everything else is done by rank 0 alone.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_CMD_DATASET_H
#define TUTTI_CLI_CMD_DATASET_H

#include "array/cmd_array.h"

#include <tutti/dataset.h>

/* ---- config (dataset_args.c) */

enum {
    DATASET_LS = 1,
    DATASET_SHOW = 2,
    DATASET_VERIFY = 4,
    DATASET_DUMP = 8,
    DATASET_DIFF = 16,
    DATASET_PLOT = 32,
    DATASET_CP = 64,
    DATASET_EXPORT = 128,
    DATASET_REPAIR = 1 << 12,
    DATASET_ARCHIVE = 1 << 13,
    DATASET_RESTORE = 1 << 14
};

typedef struct dataset_config {
    int command; /* DATASET_... */
    const char *name;
    char *path;         /* the directory; freed by dataset_config_free */
    char *to;           /* diff, cp: the other one */
    cli_list variables; /* -v; none: all */
    const char *segment, *slice, *as, *out;
    int json, all, range, quiet;
    double tolerance[2]; /* absolute, relative */
    cli_list tolerances; /* "NAME=ABS" or "NAME=ABS/REL" */
    const char *type;    /* cp: TYPE, or NAME=TYPE,... */
    const char *layout_name;
    int layout; /* cp: 0, as it is; 1, global; 2, ranked */
    const char *container_name;
    int container; /* cp: TUTTI_CONTAINER_...; -1: as it is */
    int indices;   /* cp: time indices per file */
    int compress;  /* cp: level; -1: as it is */
    int xdmf, csv, zarr;
    const char *place, *tar, *shell; /* archive, restore: one of them */
    const char *range_text, *older;  /* archive, restore: which segments */
    const char *by;                  /* diff: "id", "position" */
} dataset_config;

enum { DATASET_ARGS_OK, DATASET_ARGS_HELP, DATASET_ARGS_WRONG };
int dataset_config_parse(int argc, char **argv, dataset_config *out);
void dataset_config_free(dataset_config *c);
/* What was said of a variable: absolute and relative tolerance. */
void dataset_tolerance(const dataset_config *c, const char *variable, double out[2]);
int dataset_wanted(const dataset_config *c, const char *variable); /* is it one of -v? */

/* ---- what there is (dataset_catalogue.c) */

typedef struct dataset_total {
    tutti_variable_row row;
    tutti_count segments; /* that have it */
    tutti_count last;     /* of them; -1: none */
    double range[2];      /* ls --range: the least and the largest number there */
    tutti_off bytes;
    tutti_off raw; /* before compression */
} dataset_total;

/* A dataset that is open for reading. */
typedef struct dataset_catalogue {
    const char *path;
    tutti_dataset *d;
    tutti_count segments, variables;
    dataset_total *total; /* [variables] */
    tutti_off bytes;      /* of all segments */
} dataset_catalogue;

/* Open it; totals are 0.  0, or 1 and a message */
int dataset_open(MPI_Comm comm, const char *path, dataset_catalogue *out);
/* Count segments and bytes of variables. */
int dataset_count(dataset_catalogue *c);
void dataset_close(dataset_catalogue *c);
/* The variable of that name.  NULL and a message */
const tutti_variable_row *dataset_variable(const dataset_catalogue *c, const char *name);
/* 1: the segment has the variable; 0: it has not; -1 and a message */
int dataset_has(const dataset_catalogue *c, tutti_count segment, const char *variable,
                tutti_section_row *out);
const char *dataset_kind_name(tutti_segment_kind kind);
const char *dataset_item_name(tutti_item item);
/* "96 x 96", "none yet" */
const char *dataset_shape_text(int ndims, const tutti_count *shape, char *out, size_t size);
/* A number as JSON has it: null for what is none. */
void dataset_json_shape(FILE *f, int ndims, const tutti_count *shape);
/* Segments that -s names: "latest" (NULL), "all", a number, or "index:N", "time:T".
 * *first_out ... *last_out.  0, or 1 and a message */
int dataset_select(const dataset_catalogue *c, const char *text, tutti_count *first_out,
                   tutti_count *last_out);
/* An info; free value.  0, or 1 and a message */
typedef struct dataset_info {
    char name[128];
    tutti_type type;
    tutti_count count;
    char *value; /* with a 0 behind it */
} dataset_info;
/* 1: there is a number-th one; 0: no more; -1 and a message */
int dataset_info_read(const dataset_catalogue *c, const tutti_info_owner *owner, tutti_count number,
                      dataset_info *out);

/* ---- a variable in a segment (dataset_view.c) */

typedef struct dataset_view {
    const dataset_catalogue *of;
    const tutti_variable_row *row;
    tutti_segment segment;
    tutti_array_spec number; /* one number in memory: type and size */
    tutti_type get_type;     /* the same; TUTTI_BYTES for bytes, which are shown as uint8 */
    array_side entries;      /* of the space, with the slice */
    tutti_count component[3];
    /* as people count: dimensions of the space, and one more for items of several numbers */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS], lo[TUTTI_MAX_DIMS], stride[TUTTI_MAX_DIMS];
    tutti_count count; /* numbers of the slice */
    /* reading */
    array_walk walk;
    char *buffer;
    tutti_count n;     /* numbers in the buffer */
    tutti_count done;  /* before it */
    tutti_slice piece; /* of the space that is in the buffer */
} dataset_view;

/* slice NULL: all.  0, or 1 and a message */
int dataset_view_open(const dataset_catalogue *c, const tutti_variable_row *v, tutti_count segment,
                      const char *slice, dataset_view *out);
/* The next numbers in the order of the space.  1: there are; 0: no more; -1 and a message */
int dataset_view_next(dataset_view *v);
void dataset_view_close(dataset_view *v);
/* Number i of the buffer; complex ones: the modulus. */
double dataset_view_value(const dataset_view *v, tutti_count i);
/* Where number i of the buffer is: an index in each dimension. */
void dataset_view_index(const dataset_view *v, tutti_count i, tutti_count *out);
/* The least, the mean and the largest of the finite numbers that are left to read; NaN: there are none. */
int dataset_view_extremes(dataset_view *v, double out[3]);
/* Everything, as .npy; segments one after the other if there are several. */
int dataset_npy_write(const dataset_catalogue *c, const tutti_variable_row *v, tutti_count first,
                      tutti_count last, const char *slice, const char *path);

/* ---- the ids of a list (dataset_ids_of.c) */

typedef struct dataset_ids {
    char *space;
    tutti_count topology; /* the segment that says them; -1: the id of position i is i */
    tutti_count n;
    struct {
        int64_t id;
        tutti_count position;
    } * v; /* [n] by id */
} dataset_ids;

int dataset_is_list(const dataset_catalogue *c, const char *space);
/* As of a segment; what is in `io` already is kept if it is that.  0, or 1 and a message */
int dataset_ids_read(const dataset_catalogue *c, const char *space, tutti_count segment,
                     dataset_ids *io);
void dataset_ids_free(dataset_ids *ids);

/* ---- commands: an exit code, or DATASET_TROUBLE and a message */
enum { DATASET_TROUBLE = -1 };
int dataset_ls(const dataset_config *c);
int dataset_show(const dataset_config *c);
int dataset_verify(const cli_world *w, const dataset_config *c);
int dataset_repair(const dataset_config *c);
int dataset_dump(const dataset_config *c);
int dataset_diff(const dataset_config *c);
int dataset_plot(const dataset_config *c);
int dataset_cp(const dataset_config *c);
int dataset_export(const dataset_config *c);
/* Its part that is in dataset_zarr.c; prefix: of the names of data files.  0, or 1 and a message */
int dataset_export_zarr(const dataset_catalogue *c, const dataset_config *config, FILE *f,
                        const char *prefix);
int dataset_archive(const dataset_config *c);
int dataset_restore(const dataset_config *c);

#endif
