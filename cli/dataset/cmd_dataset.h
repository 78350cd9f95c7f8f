/* tutti ls, show, verify, repair, dump, diff, plot, cp, export: commands that read datasets.
 *
 *   options -> config    options                                        data_config.h
 *   catalogue            contents in display order                      dataset_catalogue.c
 *   view                 a variable in a segment, or a slice of it      dataset_view.c
 *   commands                                                            dataset_*.c
 *
 * verify uses all ranks; all other commands run on rank 0 only.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_CMD_DATASET_H
#define TUTTI_CLI_CMD_DATASET_H

#include "array/cmd_array.h"
#include "dataset/data_config.h"
#include "common/file_kind.h"

#include <tutti/dataset.h>

/* ---- contents (dataset_catalogue.c) */

typedef struct dataset_total {
    tutti_variable_row row;
    tutti_count segments; /* number of segments with this variable */
    tutti_count last;     /* last segment with this variable; -1: none */
    double range[2];      /* ls --range: minimum and maximum in segment `last` */
    tutti_off bytes;
    tutti_off raw; /* size before compression */
} dataset_total;

/* A dataset that is open for reading. */
typedef struct dataset_catalogue {
    const char *path;
    tutti_dataset *d;
    tutti_count segments, variables;
    dataset_total *total; /* [variables] in display order */
    tutti_off bytes;      /* bytes of all segments */
} dataset_catalogue;

/* Open a dataset; totals are 0.  Returns 0, or 1 and a message. */
int dataset_open(MPI_Comm comm, const char *path, dataset_catalogue *out);
/* Compute the totals of variables. */
int dataset_count(dataset_catalogue *c);
void dataset_close(dataset_catalogue *c);
/* Open the dataset of a command, run the command on it, and close it. */
int dataset_run(const data_config *config, int (*run)(dataset_catalogue *, const data_config *));
/* Find a variable by name.  Returns NULL and a message if there is none. */
const tutti_variable_row *dataset_variable(const dataset_catalogue *c, const char *name);
/* Get the section of a variable in a segment.  Returns 1, 0 if the segment does not have the
 * variable, or -1 and a message. */
int dataset_has(const dataset_catalogue *c, tutti_count segment, const char *variable,
                tutti_section_row *out);
const char *dataset_kind_name(tutti_segment_kind kind);
const char *dataset_item_name(tutti_item item);
/* Format a shape as "96 x 96"; "none yet" if the space has no size. */
const char *dataset_shape_text(int ndims, const tutti_count *shape, char *out, size_t size);
/* Print a shape as a JSON list. */
void dataset_json_shape(FILE *f, int ndims, const tutti_count *shape);
/* Parse -s: "latest" (or NULL), "all", a number, or "index:N", "time:T" as a range of segments.
 * Returns 0, or 1 and a message. */
int dataset_select(const dataset_catalogue *c, const char *text, tutti_count *first_out,
                   tutti_count *last_out);
/* An info; `value` must be freed. */
typedef struct dataset_info {
    char name[128];
    tutti_type type;
    tutti_count count;
    char *value; /* `count` values, followed by a zero byte */
} dataset_info;
/* Read info `number` of an owner.  Returns 1, 0 if it does not exist, or -1 and a message. */
int dataset_info_read(const dataset_catalogue *c, const tutti_info_owner *owner, tutti_count number,
                      dataset_info *out);

/* ---- values of a variable in a segment (dataset_view.c) */

typedef struct dataset_view {
    const dataset_catalogue *of;
    const tutti_variable_row *row;
    tutti_segment segment;
    tutti_array_spec number; /* type and size of one value in memory */
    tutti_type get_type;     /* type to read; TUTTI_BYTES for bytes, which are shown as uint8 */
    array_side entries;      /* entries of the space, with the selected slice */
    tutti_count component[3];
    /* displayed dimensions: those of the space, and one more if items have several values */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS], lo[TUTTI_MAX_DIMS], stride[TUTTI_MAX_DIMS];
    tutti_count count; /* number of values in the slice */
    /* state of reading */
    array_walk walk;
    char *buffer;
    tutti_count n;     /* number of values in `buffer` */
    tutti_count done;  /* number of values read before those in `buffer` */
    tutti_slice piece; /* part of the space that is in `buffer` */
} dataset_view;

/* Open a view; slice NULL: all values.  Returns 0, or 1 and a message. */
int dataset_view_open(const dataset_catalogue *c, const tutti_variable_row *v, tutti_count segment,
                      const char *slice, dataset_view *out);
/* Read the next values in the order of the space.  Returns 1, 0 if there are no further values, or
 * -1 and a message. */
int dataset_view_next(dataset_view *v);
void dataset_view_close(dataset_view *v);
/* Return value i of the buffer; for complex types its modulus. */
double dataset_view_value(const dataset_view *v, tutti_count i);
/* Compute the index of value i of the buffer in each displayed dimension. */
void dataset_view_index(const dataset_view *v, tutti_count i, tutti_count *out);
/* Compute minimum, mean and maximum of the remaining finite values; NaN if there are none. */
int dataset_view_extremes(dataset_view *v, double out[3]);
/* Write all values as .npy; several segments are concatenated along a new first dimension. */
int dataset_npy_write(const dataset_catalogue *c, const tutti_variable_row *v, tutti_count first,
                      tutti_count last, const char *slice, const char *path);

/* ---- the ids of a list (dataset_ids_of.c) */

typedef struct dataset_ids {
    char *space;
    tutti_count topology; /* segment that defines the ids; -1: the id of position i is i */
    tutti_count n;
    struct {
        int64_t id;
        tutti_count position;
    } * v; /* [n], sorted by id */
} dataset_ids;

int dataset_is_list(const dataset_catalogue *c, const char *space);
/* Read the ids that are valid in a segment, unless `io` contains them already.  Returns 0, or 1 and
 * a message. */
int dataset_ids_read(const dataset_catalogue *c, const char *space, tutti_count segment,
                     dataset_ids *io);
void dataset_ids_free(dataset_ids *ids);
/* Read the n ids that a topology defines.  Returns 0, or 1 and a message. */
int dataset_ids_get(const dataset_catalogue *c, const char *space, tutti_count topology,
                    tutti_count n, int64_t *id);

/* ---- commands: return an exit code, CLI_FAILED with a message.  All except verify run on rank 0
 * only, and do not use `w`. */
int dataset_ls(const cli_world *w, const data_config *c);
int dataset_show(const cli_world *w, const data_config *c);
int dataset_verify(const cli_world *w, const data_config *c);
int dataset_repair(const cli_world *w, const data_config *c);
int dataset_dump(const cli_world *w, const data_config *c);
int dataset_diff(const cli_world *w, const data_config *c);
int dataset_plot(const cli_world *w, const data_config *c);
int dataset_cp(const cli_world *w, const data_config *c);
int dataset_export(const cli_world *w, const data_config *c);
int dataset_archive(const cli_world *w, const data_config *c); /* also restore */
/* Export for Zarr (dataset_zarr.c); prefix: prepended to the names of data files.  Returns 0, or 1
 * and a message. */
int dataset_export_zarr(const dataset_catalogue *c, const data_config *config, FILE *f,
                        const char *prefix);

#endif
