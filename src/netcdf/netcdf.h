/* netcdf: data files that are netCDF classic files (CDF-5), data-NNNNNN.nc.  Uses no MPI.
 *
 *   header area | fixed variables (sections of a topology) | records (states)
 *
 * A state is a record with `time`, `time_index` and its sections, which are padded to 4 bytes and
 * have the same order in every state of the file.  The file ends with the last record.  The header
 * is a function of the metadata, so a writer replaces a header that differs.  Setting the number of
 * records in the header is the commit point (docs/reference/format.md).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NETCDF_H
#define TUTTI_NETCDF_H

#include "cdf/cdf.h"
#include "metadata/meta.h"

enum {
    TUTTI__NETCDF_HEAD = 12,   /* bytes of the header up to and including the number of records */
    TUTTI__NETCDF_TIME = 16,   /* bytes of a record before its sections: `time` and `time_index` */
    TUTTI__NETCDF_ALIGN = 4096 /* alignment of the header area and of the first record */
};

/* A data file as described by the metadata, or by the metadata that a commit will write. */
typedef struct tutti__ncfile {
    int64_t file;                /* id of the file; 0: unknown */
    tutti_off area;              /* bytes reserved for the header */
    tutti__segment_row topology; /* id 0: the file has no topology */
    tutti__section *fixed;       /* sections of the topology, by offset */
    int64_t fixed_n;
    /* the first state, which determines start and length of records; id 0: none */
    tutti__segment_row first;
    tutti__section *state; /* sections of the first state, by offset */
    int64_t state_n;
    tutti_count records; /* number of states */
    int64_t defined;     /* largest id of a variable when the first state was committed */
} tutti__ncfile;

void tutti__ncfile_free(tutti__ncfile *f);
/* Load the description of a file from the database. */
tutti_err tutti__ncfile_load(tutti__meta *m, const tutti__model *model, int64_t file,
                             tutti__ncfile *out) TUTTI_MUST_USE;

/* ---- definitions */

/* Check that netCDF can represent a name, type or layout.  Fails with TUTTI_ERR_UNSUPPORTED
 * otherwise. */
tutti_err tutti__netcdf_space_check(const tutti__model *m, const char *name,
                                    int kind) TUTTI_MUST_USE;
tutti_err tutti__netcdf_variable_check(const tutti__model *m,
                                       const tutti__variable *v) TUTTI_MUST_USE;
tutti_err tutti__netcdf_type_check(const char *variable, int type) TUTTI_MUST_USE;
/* Return the maximum bytes of a header for all spaces and variables. */
tutti_off tutti__netcdf_header_most(const tutti__model *m);

/* ---- headers */

/* Make the header of a file in memory; the caller frees it with tutti__cdf_free. */
tutti_err tutti__netcdf_rows(const tutti__model *m, const tutti__ncfile *f,
                             tutti__cdf *out) TUTTI_MUST_USE;
/* Make the header of a file as bytes; the caller frees them with tutti__free. */
tutti_err tutti__netcdf_header(const tutti__model *m, const tutti__ncfile *f, void **out,
                               tutti_off *bytes_out) TUTTI_MUST_USE;
/* Make the values at the beginning of a record. */
void tutti__netcdf_time(const tutti__segment_row *g, unsigned char out[TUTTI__NETCDF_TIME]);

/* ---- files */

/* Return the number of records in the header of a file; -1 if it cannot be read or is not a
 * header. */
tutti_count tutti__netcdf_records(const char *directory, const char *name);
/* Set the number of records in the header, which makes states part of the dataset.  durable: sync
 * the file. */
tutti_err tutti__netcdf_records_set(const char *directory, const char *name, tutti_count records,
                                    int durable) TUTTI_MUST_USE;
/* Extend the file to at least `bytes` bytes. */
tutti_err tutti__netcdf_extend(const char *directory, const char *name,
                               tutti_off bytes) TUTTI_MUST_USE;
/* Make header, number of records and length of the file agree with the metadata.  Fails with
 * TUTTI_ERR_FORMAT if the file is too short. */
tutti_err tutti__netcdf_correct(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f) TUTTI_MUST_USE;
/* Compare the header of a file with the metadata; it may have more records and variables.  Fails
 * with TUTTI_ERR_FORMAT if they differ.  *readable_out (may be NULL): whether a valid header
 * differs in more than the number of records; not set if the header is invalid. */
tutti_err tutti__netcdf_compare(const char *directory, tutti__meta *m, const tutti__model *model,
                                const tutti__datafile *f, int *readable_out) TUTTI_MUST_USE;
/* Return the number of segments that are part of the dataset: all, or only those before the last
 * commit if a file has fewer records than states.  It is the number of all segments for a native
 * dataset, whose metadata has no "commit". */
int64_t tutti__netcdf_published(const char *directory, const tutti__model *model);

#endif
