/* netcdf: data files that are netCDF classic files (CDF-5), data-NNNNNN.nc.            no MPI
 *
 *   header area | sections of a topology: fixed variables | records: states
 *
 * A state is a record: `time`, `time_index`, then its sections, padded to 4 bytes, in the same order in every state of
 * the file.  The file ends with the last record.  The header is a function of the metadata, so that a writer which finds
 * a different one replaces it; setting the number of records in it is the commit point (docs/reference/format.md).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NETCDF_H
#define TUTTI_NETCDF_H

#include "cdf/cdf.h"
#include "metadata/meta.h"

enum {
    TUTTI__NETCDF_HEAD = 12,   /* bytes of the header up to and with the number of records */
    TUTTI__NETCDF_TIME = 16,   /* bytes of a record before its sections: `time` and `time_index` */
    TUTTI__NETCDF_ALIGN = 4096 /* of the header area, and of the first record */
};

/* A data file according to the metadata, or to those that a commit will write. */
typedef struct tutti__ncfile {
    int64_t file;                /* id; 0: unknown */
    tutti_off area;              /* bytes reserved for the header */
    tutti__segment_row topology; /* id 0: it has none */
    tutti__section *fixed;       /* of the topology, by offset */
    int64_t fixed_n;
    /* the first state: where records begin and how long they are; id 0: none */
    tutti__segment_row first;
    tutti__section *state; /* its sections, by offset */
    int64_t state_n;
    tutti_count records; /* number of states */
    int64_t defined;     /* the largest id of a variable when the first of them was committed */
} tutti__ncfile;

void tutti__ncfile_free(tutti__ncfile *f);
/* Load it from the database. */
tutti_err tutti__ncfile_load(tutti__meta *m, const tutti__model *model, int64_t file,
                             tutti__ncfile *out) TUTTI_MUST_USE;

/* ---- definitions */

/* TUTTI_ERR_UNSUPPORTED: a name, type or layout that netCDF cannot represent. */
tutti_err tutti__netcdf_space_check(const tutti__model *m, const char *name,
                                    int kind) TUTTI_MUST_USE;
tutti_err tutti__netcdf_variable_check(const tutti__model *m,
                                       const tutti__variable *v) TUTTI_MUST_USE;
tutti_err tutti__netcdf_type_check(const char *variable, int type) TUTTI_MUST_USE;
/* The largest header for all that is registered, in bytes. */
tutti_off tutti__netcdf_header_most(const tutti__model *m);

/* ---- headers */

/* The header of a file as tables: tutti__cdf_free. */
tutti_err tutti__netcdf_rows(const tutti__model *m, const tutti__ncfile *f,
                             tutti__cdf *out) TUTTI_MUST_USE;
/* And as bytes: tutti__free. */
tutti_err tutti__netcdf_header(const tutti__model *m, const tutti__ncfile *f, void **out,
                               tutti_off *bytes_out) TUTTI_MUST_USE;
/* The values that a record begins with. */
void tutti__netcdf_time(const tutti__segment_row *g, unsigned char out[TUTTI__NETCDF_TIME]);

/* ---- files */

/* The number of records in the header of a file; -1: it cannot be read, or is not a header. */
tutti_count tutti__netcdf_records(const char *directory, const char *name);
/* Set it, which makes states part of the dataset.  durable: sync it. */
tutti_err tutti__netcdf_records_set(const char *directory, const char *name, tutti_count records,
                                    int durable) TUTTI_MUST_USE;
/* Extend the file to at least `bytes` bytes. */
tutti_err tutti__netcdf_extend(const char *directory, const char *name,
                               tutti_off bytes) TUTTI_MUST_USE;
/* Make header, number of records and length agree with the metadata.  TUTTI_ERR_FORMAT: the file is too short. */
tutti_err tutti__netcdf_correct(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f) TUTTI_MUST_USE;
/* Compare the header of a file with the metadata; it may have more records and variables.  TUTTI_ERR_FORMAT: they
 * differ; *readable_out (or NULL): it is a header that differs in more than the number of records. */
tutti_err tutti__netcdf_compare(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f, int *readable_out) TUTTI_MUST_USE;
/* Number of segments that are part of the dataset: all, or those before the last commit if a file has fewer records than
 * states.  All of a native dataset, whose metadata have no "commit". */
int64_t tutti__netcdf_published(const char *directory, const tutti__model *model);

#endif
