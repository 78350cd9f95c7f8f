/* exodus: an open Exodus file.
 *
 *   sidecar               the database of checksums and notes, used by rank 0                   no MPI
 *   series_names          names of the files of a series                                 no MPI
 *   exodus_object         the object: agreements, checks of its state
 *   exodus_valid          relations between its fields
 *   exodus_file           the file and its sidecar: created, opened, number of records
 *   exodus_define         definitions and their end, which writes the header
 *   exodus_open           create, open, close, refresh, a new mesh
 *   exodus_series         series of files
 *   exodus_decomposition  decompositions of nodes, blocks and sets
 *   exodus_local          entries of this rank by put_mesh or get_mesh
 *   entity_class          entries of a rank by kind, with their positions; accessors of the mesh
 *                         that it passes
 *   arrays                offsets of arrays in the file; sections of arrays written and read
 *   array_places          offsets of arrays, for programs that read the file themselves
 *   array_values          values of many arrays in one operation
 *   step_fields           fields of a call as parts of one operation
 *   exodus_put            begin, put, discard
 *   exodus_commit         commits of steps; removal of steps
 *   exodus_get            fields of a step, times, a field of several steps
 *   exodus_checksums      checksums of steps and of the mesh; verify
 *   exodus_ask            queries; notes
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_EXODUS_IMPL_H
#define TUTTI_EXODUS_IMPL_H

#include <tutti/exodus.h>
#include "base/handle.h"
#include "base/hash.h"
#include "base/options_impl.h"
#include "cdf/cdf.h"
#include "collective/layer.h"
#include "comm/call.h"
#include "decomposition/decomposition.h"
#include "layer/object.h"
#include "exodus_model/exodus_model.h"
#include "timestep/region.h"
#include "timestep/step_object.h"

typedef struct tutti__sidecar tutti__sidecar;

/* Naming conventions of series: PATH-s0002, PATH-s002, PATH-s.0002. */
typedef enum tutti__series_naming {
    TUTTI__SERIES_UNKNOWN, /* the series has no second file yet */
    TUTTI__SERIES_IOSS,    /* also of new series */
    TUTTI__SERIES_LIBMESH,
    TUTTI__SERIES_DOTTED, /* written by Tutti before it named files as IOSS does */
    TUTTI__SERIES_NAMINGS
} tutti__series_naming;

/* Entries of an entity on this rank, by put_mesh or get_mesh. */
typedef struct tutti__exodus_local {
    tutti_exodus_kind kind;
    tutti_count number; /* of the kind; 0: nodes */
    tutti_count own; /* the first `own` entries belong to this rank; the others are ghost entries */
    tutti_decomposition *entries;
} tutti__exodus_local;

/* Memory that a call has returned to the user: valid until the next such call, or until the mesh changes. */
typedef struct tutti__exodus_result {
    void *data;
    void (*free)(void *data);
} tutti__exodus_result;

extern const tutti__class tutti__exodus_class;

struct tutti_exodus {
    TUTTI__STEP_OBJECT; /* the path is that of the current file */
    /* counts the meshes of the handle, to recognize decompositions of earlier ones */
    int64_t topology;
    char *first;                 /* path of the first file */
    int file_number;             /* 1: the first */
    tutti__series_naming naming; /* of the files that follow the first */
    int defining;                /* definitions have not ended */
    tutti_exodus_options opt;
    tutti__exodus_model model;
    tutti__cdf cdf; /* after the definitions; cdf.records is the number of steps */
    tutti_file *file;
    int fd;             /* rank 0: the file, with the lock of a writer; or -1 */
    double last;        /* writers: time of the last step */
    tutti_off at;       /* writers: size of the file with its committed steps */
    tutti_count synced; /* writers: number of the file whose data has all been synced; 0: none */
    int mesh_lost;      /* writers: a sync of the mesh has failed */
    int record_blocks;  /* blocks of steps start at the record, not at multiples of their size */
    uint64_t header;    /* hash of the header, without the number of records */
    uint64_t identity;  /* hash of the catalogue and of samples of the arrays of the mesh */
    tutti__sidecar *sidecar;    /* rank 0 */
    char warning[256];          /* why the file has no checksums, or "" */
    char mesh_warning[256];     /* data that get_mesh has ignored, or "" */
    tutti__exodus_local *local; /* by kind and number; NULL: no mesh yet */
    tutti_count local_n;
    tutti__exodus_result mesh_read, nemesis_read; /* of get_mesh, of nemesis_get */
    struct tutti__exodus_step *step; /* that is being written, or NULL; exodus_steps.h */
    tutti__region *mesh;    /* checksums of the mesh while it is written; NULL: it is complete */
    unsigned char *checked; /* [checked_n] 1: the step was compared with its checksums */
    tutti_count checked_n;
};

/* ---- exodus_object.c */
/* Relations between fields that hold at the start and at the end of every call; exodus_valid.c. */
int tutti__exodus_is_valid(const tutti_exodus *x);
static inline tutti_err tutti__exodus_live(const tutti_exodus *x) {
    TUTTI_TRY(tutti__object_live(x, &tutti__exodus_class));
    TUTTI_ASSERT(tutti__exodus_is_valid(x));
    return TUTTI_OK;
}
/* The operations that differ from those of datasets; in exodus_commit.c. */
extern const tutti__step_kind tutti__exodus_kind;
/* Check the handle, and tutti__step_object_enter: the first action of every collective call. */
tutti_err tutti__exodus_enter(tutti_exodus *x) TUTTI_MUST_USE;
/* tutti__step_object_call with a hash of the arguments.   Collective. */
tutti_err tutti__exodus_call(tutti_exodus *x, const char *name, uint64_t hash,
                             tutti_err local_err) TUTTI_MUST_USE;
static inline tutti_err tutti__exodus_named(const tutti_exodus *x, const char *operation,
                                            tutti_err err) {
    return tutti__step_object_end(&x->base, operation, err);
}
/* Checks: definitions have not ended; they have ended; the file is writable and they have ended; no non-blocking operation is
 * in progress.   Not collective. */
tutti_err tutti__exodus_defining(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_defined(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_writable(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_idle(const tutti_exodus *x) TUTTI_MUST_USE;
/* The number of an entity, with a message if it does not exist.   Not collective. */
tutti_err tutti__exodus_number(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                               tutti_count *out) TUTTI_MUST_USE;

/* ---- series_names.c */
/* Path of a file of a series (1: the first); to be freed with tutti__free. */
char *tutti__series_path(const char *first, int number, tutti__series_naming naming);

/* ---- exodus_file.c */
/* Create a file with header and catalogue, without arrays; sets x->fd, x->sidecar, x->file.   Collective. */
tutti_err tutti__exodus_file_make(tutti_exodus *x) TUTTI_MUST_USE;
/* The mesh is complete: write the magic of netCDF.  Without it no program reads the file, even if this one is killed.
 * Collective. */
tutti_err tutti__exodus_file_publish(tutti_exodus *x) TUTTI_MUST_USE;
/* Whether a file exists.  Files without a mesh, left by a killed program or a power cut, do not count.
 * is_follower: the file is not the first of a series.   Not collective. */
int tutti__exodus_file_exists(const char *path, int is_follower);
/* Open the file at x->path and decode its header on all ranks.   Collective. */
tutti_err tutti__exodus_file_open(tutti_exodus *x) TUTTI_MUST_USE;
/* Close the file and its sidecar.   Collective. */
tutti_err tutti__exodus_file_close(tutti_exodus *x) TUTTI_MUST_USE;
/* Rank 0: set the number of records in the header; a file that is too short is extended.  durable: sync it. */
tutti_err tutti__exodus_file_records(tutti_exodus *x, tutti_count records,
                                     int durable) TUTTI_MUST_USE;
/* Rank 0: read the current number of steps.
 * @return TUTTI_ERR_STATE if the file or its mesh has been replaced since it was opened */
tutti_err tutti__exodus_file_steps(const tutti_exodus *x, tutti_count *out) TUTTI_MUST_USE;
/* Offset of the end of records 0 ... records - 1; for 0 records and for fixed steps, of the fixed variables. */
tutti_off tutti__exodus_file_end(const tutti__cdf *c, tutti_count records);

/* ---- exodus_define.c */
/* Dimensions and variables of a module above, added to the header before its layout.   Not collective. */
typedef struct tutti__exodus_addition {
    tutti_err (*define)(const void *state, tutti__cdf *cdf);
    const void *state;
} tutti__exodus_addition;
/* End the definitions; all counts of the model are known.  Writes the header and the catalogue, sets x->cdf and opens x->file.
 * more: NULL if there are no additions; local_err: the error of this rank so far.   Collective. */
tutti_err tutti__exodus_finish_definitions(tutti_exodus *x, const tutti__exodus_addition *more,
                                           tutti_err local_err) TUTTI_MUST_USE;

/* ---- arrays.c */
/* Location of an array in the file. */
typedef struct tutti__exodus_place {
    tutti_off at; /* offset of its first value */
    tutti_count entries;
    tutti_count numbers; /* values per entry */
    tutti_type type;     /* in the file; byte order: big-endian */
    tutti_off stride;    /* bytes from one step to the next; 0: it has no steps */
} tutti__exodus_place;
/* Find an array.   Not collective.
 * @return TUTTI_ERR_NOT_FOUND if the file does not have it */
tutti_err tutti__exodus_place_of(const tutti_exodus *x, const tutti_exodus_array *a,
                                 tutti__exodus_place *out) TUTTI_MUST_USE;
/* Find a variable of an entity in a step (from 1).   Not collective. */
tutti_err tutti__exodus_place_of_field(const tutti_exodus *x, tutti_exodus_kind kind,
                                       tutti_count number, int variable, tutti_count step,
                                       tutti__exodus_place *out) TUTTI_MUST_USE;
/* Write or read parts, described in types of the file, in one operation.  Writes record checksums of the mesh.
 * local_err: the error of this rank so far.   Collective. */
tutti_err tutti__exodus_transfer(tutti_exodus *x, int is_write, tutti_count n,
                                 const tutti_part *parts, tutti_err local_err) TUTTI_MUST_USE;

/* ---- exodus_decomposition.c */
/* Create a decomposition of nodes, a block or a set, which the caller frees.
 * local_err: the error of this rank so far.   Collective. */
tutti_err tutti__exodus_decompose(tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                                  const tutti_decomposition_spec *spec, tutti_err local_err,
                                  tutti_decomposition **out) TUTTI_MUST_USE;
/* Check that a decomposition belongs to this entity of the current mesh.   Not collective. */
tutti_err tutti__exodus_decomposes(const tutti_exodus *x, const tutti_decomposition *p,
                                   tutti_exodus_kind kind, tutti_count number) TUTTI_MUST_USE;

/* ---- exodus_checksums.c */
/* Offset of the file that accesses to a step count from; the step starts at offset `at`.   Not collective. */
tutti_off tutti__exodus_step_base(const tutti_exodus *x, tutti_off at);
/* A region for checksums of the mesh or of a step: bytes lo ... hi - 1 of the file.  *out is NULL without checksums.
 * Not collective. */
tutti_err tutti__exodus_region_make(const tutti_exodus *x, tutti_off lo, tutti_off hi,
                                    tutti__region **out) TUTTI_MUST_USE;
/* Commit the data of a region (NULL: without checksums) by timestep/step_commit.h; `steps` get the Exodus file.
 * local_err: the error of this rank so far; TUTTI_OK without checksums.   Collective on `team`. */
struct tutti__commit_steps;
tutti_err tutti__exodus_region_commit(tutti_exodus *x, tutti__team *team, tutti__region *r,
                                      tutti_err local_err, const struct tutti__commit_steps *steps,
                                      int *is_sync_failed_out) TUTTI_MUST_USE;
/* The mesh is complete: write its checksums to the sidecar.   Collective. */
tutti_err tutti__exodus_complete_mesh(tutti_exodus *x) TUTTI_MUST_USE;
/* Compare a step (0: the mesh) with its checksums, if any; adds its size to *bytes_out.   Collective. */
tutti_err tutti__exodus_compare(tutti_exodus *x, tutti_count step,
                                tutti_off *bytes_out) TUTTI_MUST_USE;

/* ---- exodus_series.c */
/* Check that definitions have ended and no step or non-blocking operation is in progress.   Not collective. */
tutti_err tutti__exodus_check_between_steps(const tutti_exodus *x) TUTTI_MUST_USE;
/* The path of the next file (tutti__free) by the naming convention of the series; that of IOSS if the series has no second
 * file.   Collective.
 * @return TUTTI_ERR_STATE if files by several conventions follow the first */
tutti_err tutti__exodus_next_path(tutti_exodus *x, tutti__series_naming *naming_out,
                                  char **out) TUTTI_MUST_USE;
/* The file has steps_per_file steps: continue in the next one, with the same mesh.   Collective. */
tutti_err tutti__exodus_start_next_file(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- exodus_put.c */
/* Discard the step that is being written, if any.   Collective. */
tutti_err tutti__exodus_discard_step(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- exodus_local.c: results of put_mesh, get_mesh and nemesis_get in the object.   Not collective. */
/* Entries of an entity on this rank; NULL: no mesh has been written or read. */
const tutti__exodus_local *tutti__exodus_local_of(const tutti_exodus *x, tutti_exodus_kind kind,
                                                  tutti_count number);
void tutti__exodus_local_drop(tutti_count n, tutti__exodus_local *local);
void tutti__exodus_local_free(tutti_exodus *x);
/* Replace a result; data may be NULL. */
void tutti__exodus_result_set(tutti__exodus_result *r, void *data, void (*free)(void *data));
/* The mesh changes: release local entries and all results. */
void tutti__exodus_results_free(tutti_exodus *x);

#endif
