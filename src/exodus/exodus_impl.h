/* exodus: an open Exodus file.
 *
 *   sidecar               the database of checksums and notes, used by rank 0          no MPI
 *   series_names          names of the files of a series                                 no MPI
 *   exodus_object         the object: agreements, checks of its state
 *   exodus_valid          relations between its fields
 *   exodus_file           creating and opening the file and its sidecar; number of records
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

/* Naming conventions of file series: PATH-s0002, PATH-s002, PATH-s.0002. */
typedef enum tutti__series_naming {
    TUTTI__SERIES_UNKNOWN, /* the series has no second file yet */
    TUTTI__SERIES_IOSS,    /* also used for new series */
    TUTTI__SERIES_LIBMESH,
    TUTTI__SERIES_DOTTED, /* written by early versions of Tutti */
    TUTTI__SERIES_NAMINGS
} tutti__series_naming;

/* Entries of an entity on this rank, after put_mesh or get_mesh. */
typedef struct tutti__exodus_local {
    tutti_exodus_kind kind;
    tutti_count number; /* number of the entity among those of its kind; 0 for nodes */
    tutti_count own;    /* number of own entries, which come first; the others are ghost entries */
    tutti_decomposition *entries;
} tutti__exodus_local;

/* Memory that a call has returned to the user, valid until the next such call or until the mesh
 * changes. */
typedef struct tutti__exodus_result {
    void *data;
    void (*free)(void *data);
} tutti__exodus_result;

extern const tutti__class tutti__exodus_class;

struct tutti_exodus {
    TUTTI__STEP_OBJECT; /* the path is that of the current file */
    /* number of meshes of the handle so far, to detect decompositions of earlier meshes */
    int64_t topology;
    char *first;                 /* path of the first file */
    int file_number;             /* number of the current file; 1: the first */
    tutti__series_naming naming; /* naming of the files after the first */
    int defining;                /* whether definitions have not ended */
    tutti_exodus_options opt;
    tutti__exodus_model model;
    tutti__cdf cdf; /* valid after the definitions; cdf.records is the number of steps */
    tutti_file *file;
    int fd;       /* rank 0: descriptor of the file, with a writer's lock; otherwise -1 */
    double last;  /* writers: time of the last step */
    tutti_off at; /* writers: size of the file with its committed steps */
    /* writers: number of the file whose data has been synced completely; 0: none */
    tutti_count synced;
    int mesh_lost; /* writers: whether a sync of the mesh has failed */
    /* whether blocks of steps start at the record, not at multiples of their size */
    int record_blocks;
    uint64_t header;            /* hash of the header, excluding the number of records */
    uint64_t identity;          /* hash of the catalogue and of samples of the arrays of the mesh */
    tutti__sidecar *sidecar;    /* rank 0 only */
    char warning[256];          /* reason why the file has no checksums, or "" */
    char mesh_warning[256];     /* data that get_mesh has ignored, or "" */
    tutti__exodus_local *local; /* entries by kind and number; NULL: no mesh yet */
    tutti_count local_n;
    tutti__exodus_result mesh_read, nemesis_read; /* results of get_mesh and of nemesis_get */
    /* the step that is being written, or NULL; see exodus_steps.h */
    struct tutti__exodus_step *step;
    tutti__region *mesh;    /* checksums of the mesh while it is written; NULL: it is complete */
    unsigned char *checked; /* [checked_n] 1: the step has been compared with its checksums */
    tutti_count checked_n;
};

/* ---- exodus_object.c */
/* Check the invariants of the object, which hold at the start and at the end of every call
 * (exodus_valid.c). */
int tutti__exodus_is_valid(const tutti_exodus *x);
static inline tutti_err tutti__exodus_live(const tutti_exodus *x) {
    TUTTI_TRY(tutti__object_live(x, &tutti__exodus_class));
    TUTTI_ASSERT(tutti__exodus_is_valid(x));
    return TUTTI_OK;
}
/* Operations that differ from those of datasets (exodus_commit.c). */
extern const tutti__step_kind tutti__exodus_kind;
/* Check the handle and call tutti__step_object_enter; must be the first action of every collective
 * call. */
tutti_err tutti__exodus_enter(tutti_exodus *x) TUTTI_MUST_USE;
/* Call tutti__step_object_call with a hash of the arguments.   Collective. */
tutti_err tutti__exodus_call(tutti_exodus *x, const char *name, uint64_t hash,
                             tutti_err local_err) TUTTI_MUST_USE;
static inline tutti_err tutti__exodus_named(const tutti_exodus *x, const char *operation,
                                            tutti_err err) {
    return tutti__step_object_end(&x->base, operation, err);
}
/* Check that definitions have not ended; that they have ended; that they have ended and the file is
 * writable; that no non-blocking operation is in progress.   Not collective. */
tutti_err tutti__exodus_defining(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_defined(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_writable(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_idle(const tutti_exodus *x) TUTTI_MUST_USE;
/* Get the number of an entity; fails if it does not exist.   Not collective. */
tutti_err tutti__exodus_number(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                               tutti_count *out) TUTTI_MUST_USE;

/* ---- series_names.c */
/* Return the path of a file of a series (1: the first); the caller frees it with tutti__free. */
char *tutti__series_path(const char *first, int number, tutti__series_naming naming);

/* ---- exodus_file.c */
/* Create a file with header and catalogue, without arrays; set x->fd, x->sidecar, x->file.
 * Collective. */
tutti_err tutti__exodus_file_make(tutti_exodus *x) TUTTI_MUST_USE;
/* Write the magic of netCDF, after the mesh is complete.  Until then no program can read the file,
 * even if this program is killed.   Collective. */
tutti_err tutti__exodus_file_publish(tutti_exodus *x) TUTTI_MUST_USE;
/* Return whether a file exists.  Files without a mesh, which a killed program or a power failure
 * leaves, do not count.  is_follower: the file is not the first of a series.   Not collective. */
int tutti__exodus_file_exists(const char *path, int is_follower);
/* Open the file at x->path and decode its header on all ranks.   Collective. */
tutti_err tutti__exodus_file_open(tutti_exodus *x) TUTTI_MUST_USE;
/* Close the file and its sidecar.   Collective. */
tutti_err tutti__exodus_file_close(tutti_exodus *x) TUTTI_MUST_USE;
/* On rank 0, set the number of records in the header, and extend a file that is too short.
 * durable: sync the file. */
tutti_err tutti__exodus_file_records(tutti_exodus *x, tutti_count records,
                                     int durable) TUTTI_MUST_USE;
/* On rank 0, read the current number of steps.
 * @return TUTTI_ERR_STATE if the file or its mesh has been replaced since it was opened */
tutti_err tutti__exodus_file_steps(const tutti_exodus *x, tutti_count *out) TUTTI_MUST_USE;
/* Return the offset of the end of records 0 ... records - 1; for 0 records and for fixed steps,
 * that of the fixed variables. */
tutti_off tutti__exodus_file_end(const tutti__cdf *c, tutti_count records);

/* ---- exodus_define.c */
/* Dimensions and variables of a higher module, which are added to the header before its layout.
 * Not collective. */
typedef struct tutti__exodus_addition {
    tutti_err (*define)(const void *state, tutti__cdf *cdf);
    const void *state;
} tutti__exodus_addition;
/* End the definitions, when all counts of the model are known: write the header and the catalogue,
 * set x->cdf and open x->file.  more: NULL if there are no additions; local_err: the error of this
 * rank so far.   Collective. */
tutti_err tutti__exodus_finish_definitions(tutti_exodus *x, const tutti__exodus_addition *more,
                                           tutti_err local_err) TUTTI_MUST_USE;

/* ---- arrays.c */
/* Location of an array in the file. */
typedef struct tutti__exodus_place {
    tutti_off at; /* offset of the first value */
    tutti_count entries;
    tutti_count numbers; /* values per entry */
    tutti_type type;     /* type in the file, in big-endian byte order */
    tutti_off stride;    /* bytes from one step to the next; 0: the array has no steps */
} tutti__exodus_place;
/* Find an array.   Not collective.
 * @return TUTTI_ERR_NOT_FOUND if the file does not have it */
tutti_err tutti__exodus_place_of(const tutti_exodus *x, const tutti_exodus_array *a,
                                 tutti__exodus_place *out) TUTTI_MUST_USE;
/* Find a variable of an entity in a step (the first is 1).   Not collective. */
tutti_err tutti__exodus_place_of_field(const tutti_exodus *x, tutti_exodus_kind kind,
                                       tutti_count number, int variable, tutti_count step,
                                       tutti__exodus_place *out) TUTTI_MUST_USE;
/* Write or read parts, described in types of the file, in one operation.  Writes record checksums
 * of the mesh.  local_err: the error of this rank so far.   Collective. */
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
/* Return the file offset that is the base of accesses to a step that starts at offset `at`.   Not
 * collective. */
tutti_off tutti__exodus_step_base(const tutti_exodus *x, tutti_off at);
/* Make a region for checksums of the mesh or of a step, bytes [lo, hi) of the file.  *out is NULL
 * without checksums.   Not collective. */
tutti_err tutti__exodus_region_make(const tutti_exodus *x, tutti_off lo, tutti_off hi,
                                    tutti__region **out) TUTTI_MUST_USE;
/* Commit the data of a region (NULL: without checksums) by timestep/step_commit.h; the functions of
 * `steps` are called with the Exodus file.  local_err: the error of this rank so far; TUTTI_OK
 * without checksums.   Collective on `team`. */
struct tutti__commit_steps;
tutti_err tutti__exodus_region_commit(tutti_exodus *x, tutti__team *team, tutti__region *r,
                                      tutti_err local_err, const struct tutti__commit_steps *steps,
                                      int *is_sync_failed_out) TUTTI_MUST_USE;
/* Write the checksums of a complete mesh to the sidecar.   Collective. */
tutti_err tutti__exodus_complete_mesh(tutti_exodus *x) TUTTI_MUST_USE;
/* Compare a step (0: the mesh) with its checksums, if there are any; add its size to *bytes_out.
 * Collective. */
tutti_err tutti__exodus_compare(tutti_exodus *x, tutti_count step,
                                tutti_off *bytes_out) TUTTI_MUST_USE;

/* ---- exodus_series.c */
/* Check that definitions have ended and no step or non-blocking operation is in progress.   Not
 * collective. */
tutti_err tutti__exodus_check_between_steps(const tutti_exodus *x) TUTTI_MUST_USE;
/* Get the path of the next file by the naming convention of the series, or by that of IOSS if the
 * series has no second file; the caller frees it with tutti__free.   Collective.
 * @return TUTTI_ERR_STATE if the files after the first follow several conventions */
tutti_err tutti__exodus_next_path(tutti_exodus *x, tutti__series_naming *naming_out,
                                  char **out) TUTTI_MUST_USE;
/* Continue in the next file, with the same mesh, after steps_per_file steps.   Collective. */
tutti_err tutti__exodus_start_next_file(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- exodus_put.c */
/* Discard the step that is being written, if any.   Collective. */
tutti_err tutti__exodus_discard_step(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- exodus_local.c: results of put_mesh, get_mesh and nemesis_get in the object.   Not
 * collective. */
/* Return the entries of an entity on this rank; NULL if no mesh has been written or read. */
const tutti__exodus_local *tutti__exodus_local_of(const tutti_exodus *x, tutti_exodus_kind kind,
                                                  tutti_count number);
void tutti__exodus_local_drop(tutti_count n, tutti__exodus_local *local);
void tutti__exodus_local_free(tutti_exodus *x);
/* Replace a result; data may be NULL. */
void tutti__exodus_result_set(tutti__exodus_result *r, void *data, void (*free)(void *data));
/* Release local entries and all results before the mesh changes. */
void tutti__exodus_results_free(tutti_exodus *x);

#endif
