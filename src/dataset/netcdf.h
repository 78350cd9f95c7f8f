/* dataset: data files that are netCDF classic files (CDF-5), data-NNNNNN.nc.            no MPI
 *
 *   header area | sections of a topology: fixed variables | records: states
 *
 * A state is a record: `time`, `time_index`, then its sections, padded to 4 bytes, in the same order in
 * every state of the file.  Nothing lies behind the last record.  The header is a function of the
 * metadata, so a writer that finds another one writes it anew; the number of records in it is part of
 * what a commit is (docs/format.md).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NETCDF_H
#define TUTTI_NETCDF_H

#include "cdf/cdf.h"
#include "dataset/meta.h"

enum {
    TUTTI__NETCDF_HEAD = 12,   /* bytes of the header up to and with the number of records */
    TUTTI__NETCDF_TIME = 16,   /* bytes of a record before its sections: `time` and `time_index` */
    TUTTI__NETCDF_ALIGN = 4096 /* of the header area, and of the first record */
};

/* A data file as the metadata have it, or as they will. */
typedef struct tutti__ncfile {
    int64_t file;                /* id; 0: nothing is known */
    tutti_off area;              /* of the header: what comes next begins here */
    tutti__segment_row topology; /* id 0: it has none */
    tutti__section *fixed;       /* of the topology, by their places */
    int64_t fixed_n;
    tutti__segment_row
        first; /* the first state: where records begin and how long they are; id 0: none */
    tutti__section *state; /* its sections, by their places */
    int64_t state_n;
    tutti_count records; /* states there are */
    int64_t defined;     /* the largest id of a variable when the first of them was committed */
} tutti__ncfile;

void tutti__ncfile_free(tutti__ncfile *f);
/* As the database has it. */
tutti_err tutti__ncfile_load(tutti__meta *m, const tutti__model *model, int64_t file,
                             tutti__ncfile *out) TUTTI_MUST_USE;

/* ---- what netCDF can say */

/* TUTTI_ERR_UNSUPPORTED with the reason: names, types, layouts that netCDF has not. */
tutti_err tutti__netcdf_space_check(const tutti__model *m, const char *name,
                                    int kind) TUTTI_MUST_USE;
tutti_err tutti__netcdf_variable_check(const tutti__model *m,
                                       const tutti__variable *v) TUTTI_MUST_USE;
tutti_err tutti__netcdf_type_check(const char *variable, int type) TUTTI_MUST_USE;
/* Bytes that a header needs at most for all that is registered. */
tutti_off tutti__netcdf_header_most(const tutti__model *m);

/* ---- headers */

/* That of a file, as rows: tutti__cdf_free. */
tutti_err tutti__netcdf_rows(const tutti__model *m, const tutti__ncfile *f,
                             tutti__cdf *out) TUTTI_MUST_USE;
/* And as bytes: tutti__free. */
tutti_err tutti__netcdf_header(const tutti__model *m, const tutti__ncfile *f, void **out,
                               tutti_off *bytes_out) TUTTI_MUST_USE;
/* The numbers that a record begins with. */
void tutti__netcdf_time(const tutti__segment_row *g, unsigned char out[TUTTI__NETCDF_TIME]);

/* ---- files */

/* The number of records that a file says it has; -1: it cannot be read, or says nothing. */
tutti_count tutti__netcdf_records(const char *directory, const char *name);
/* Set it: what makes a state part of the dataset.  durable: it is on the device. */
tutti_err tutti__netcdf_records_set(const char *directory, const char *name, tutti_count records,
                                    int durable) TUTTI_MUST_USE;
/* The file has at least so many bytes. */
tutti_err tutti__netcdf_extend(const char *directory, const char *name,
                               tutti_off bytes) TUTTI_MUST_USE;
/* Header, number of records and length are made what the metadata say.  TUTTI_ERR_FORMAT: there is too
 * little of the file. */
tutti_err tutti__netcdf_mend(const char *directory, tutti__meta *m, const tutti__model *model,
                             const tutti__datafile *f) TUTTI_MUST_USE;
/* Does the header of a file say what the metadata say?  More records and variables are fine.
 * TUTTI_ERR_FORMAT with what does not agree; *readable_out (or NULL): it is a header, and what
 * does not agree is more than the number of records. */
tutti_err tutti__netcdf_compare(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f, int *readable_out) TUTTI_MUST_USE;
/* Number of segments that are part of the dataset: all, or those before the last commit if a file has not the
 * records for all of its states.  All of a native dataset, whose metadata have no "commit". */
int64_t tutti__netcdf_published(const char *directory, const tutti__model *model);

#endif
