/* tutti ls, show, verify, repair, dump, diff, plot, cp, export: commands that read datasets.
 *
 *   options -> config        options                                   data_config.h
 *   catalogue                contents in display order                  dataset_catalogue.c
 *   view                     a variable in a segment, or a slice     dataset_view.c
 *   commands                                                         dataset_*.c
 *
 * verify uses all ranks; everything else runs on rank 0 only.
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
    tutti_count segments; /* that have it */
    tutti_count last;     /* the last one; -1: none */
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
/* Open the dataset of a command, run the command on it, and close it. */
int dataset_run(const data_config *config, int (*run)(dataset_catalogue *, const data_config *));
/* The variable of that name.  NULL and a message */
const tutti_variable_row *dataset_variable(const dataset_catalogue *c, const char *name);
/* 1: the segment has the variable; 0: it does not; -1 and a message */
int dataset_has(const dataset_catalogue *c, tutti_count segment, const char *variable,
                tutti_section_row *out);
const char *dataset_kind_name(tutti_segment_kind kind);
const char *dataset_item_name(tutti_item item);
/* "96 x 96", "none yet" */
const char *dataset_shape_text(int ndims, const tutti_count *shape, char *out, size_t size);
/* A number in JSON: null for NaN and infinity. */
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
    char *value; /* terminated by 0 */
} dataset_info;
/* 1: info `number` was read; 0: it does not exist; -1 and a message */
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
    /* displayed dimensions: those of the space, and one more for items of several values */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS], lo[TUTTI_MAX_DIMS], stride[TUTTI_MAX_DIMS];
    tutti_count count; /* values of the slice */
    /* reading */
    array_walk walk;
    char *buffer;
    tutti_count n;     /* values in the buffer */
    tutti_count done;  /* before it */
    tutti_slice piece; /* of the space that is in the buffer */
} dataset_view;

/* slice NULL: all.  0, or 1 and a message */
int dataset_view_open(const dataset_catalogue *c, const tutti_variable_row *v, tutti_count segment,
                      const char *slice, dataset_view *out);
/* Read the next values in the order of the space.  1: read; 0: no further values; -1 and a message */
int dataset_view_next(dataset_view *v);
void dataset_view_close(dataset_view *v);
/* Number i of the buffer; complex ones: the modulus. */
double dataset_view_value(const dataset_view *v, tutti_count i);
/* Return the index of element i of the buffer in each dimension. */
void dataset_view_index(const dataset_view *v, tutti_count i, tutti_count *out);
/* Minimum, mean and maximum of the remaining finite values; NaN: none. */
int dataset_view_extremes(dataset_view *v, double out[3]);
/* Write all values as .npy; several segments are concatenated. */
int dataset_npy_write(const dataset_catalogue *c, const tutti_variable_row *v, tutti_count first,
                      tutti_count last, const char *slice, const char *path);

/* ---- the ids of a list (dataset_ids_of.c) */

typedef struct dataset_ids {
    char *space;
    tutti_count topology; /* the segment that defines them; -1: the id of position i is i */
    tutti_count n;
    struct {
        int64_t id;
        tutti_count position;
    } * v; /* [n] by id */
} dataset_ids;

int dataset_is_list(const dataset_catalogue *c, const char *space);
/* Read the ids valid in a segment, unless `io` has them already.  0, or 1 and a message */
int dataset_ids_read(const dataset_catalogue *c, const char *space, tutti_count segment,
                     dataset_ids *io);
void dataset_ids_free(dataset_ids *ids);
/* The n ids that a topology has.  0, or 1 and a message */
int dataset_ids_get(const dataset_catalogue *c, const char *space, tutti_count topology,
                    tutti_count n, int64_t *id);

/* ---- commands: an exit code; CLI_FAILED has a message.  Of all but verify the world is unused: rank 0 only */
int dataset_ls(const cli_world *w, const data_config *c);
int dataset_show(const cli_world *w, const data_config *c);
int dataset_verify(const cli_world *w, const data_config *c);
int dataset_repair(const cli_world *w, const data_config *c);
int dataset_dump(const cli_world *w, const data_config *c);
int dataset_diff(const cli_world *w, const data_config *c);
int dataset_plot(const cli_world *w, const data_config *c);
int dataset_cp(const cli_world *w, const data_config *c);
int dataset_export(const cli_world *w, const data_config *c);
int dataset_archive(const cli_world *w, const data_config *c); /* and restore */
/* Its part that is in dataset_zarr.c; prefix: of the names of data files.  0, or 1 and a message */
int dataset_export_zarr(const dataset_catalogue *c, const data_config *config, FILE *f,
                        const char *prefix);

#endif
