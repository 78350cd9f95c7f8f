/* exodus: an Exodus file as its ranks have it.
 *
 *   sidecar         the database beside the file, by one rank                             no MPI
 *   exodus_object   the object: agreements, what may be done
 *   exodus_valid    relations between its fields
 *   exodus_define   definitions, and their end: the header and what it lists are written
 *   series_names    names of the files of a series                                        no MPI
 *   exodus_file     the file and its sidecar: made, opened, its number of records
 *   exodus_open     create, open, close, refresh, a new mesh
 *   exodus_family   files that follow each other
 *   exodus_decomposition   decompositions of nodes, blocks and sets
 *   exodus_local    entries that this rank has by put_mesh or get_mesh
 *   entity_class    entries of a rank by kinds, with their positions; accessors of the mesh that it passes
 *   arrays          places of arrays in the file; sections of them written and read
 *   array_places    places of arrays, for programs that read the file themselves
 *   array_values    values of many arrays in one operation
 *   step_fields     fields of a call as parts of one operation
 *   step_operation  puts and gets at once or started
 *   exodus_put      a step begins, is put, is discarded
 *   exodus_commit   a step is committed; steps are erased
 *   exodus_get      fields of a step, times, a field through several steps
 *   exodus_checksums   checksums of steps and of the mesh; verify
 *   exodus_ask      looking at a file; notes
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
#include "timestep/started.h"

typedef struct tutti__sidecar tutti__sidecar;

/* How the files of a series are named: PATH-s0002, PATH-s002, PATH-s.0002. */
typedef enum tutti__series_naming {
    TUTTI__SERIES_UNKNOWN, /* there is no second file yet */
    TUTTI__SERIES_IOSS,    /* also of new series */
    TUTTI__SERIES_LIBMESH,
    TUTTI__SERIES_DOTTED, /* written by Tutti before it named files as IOSS does */
    TUTTI__SERIES_NAMINGS
} tutti__series_naming;

/* Entries of an entity that this rank has, by put_mesh or get_mesh. */
typedef struct tutti__exodus_local {
    tutti_exodus_kind kind;
    tutti_count number; /* of the kind; 0: nodes */
    tutti_count own;    /* the first so many are its own; the rest is halo */
    tutti_decomposition *entries;
} tutti__exodus_local;

/* Memory that a call has returned to the user: it stays until the next such call, or until the mesh changes. */
typedef struct tutti__exodus_result {
    void *data;
    void (*free)(void *data);
} tutti__exodus_result;

extern const tutti__class tutti__exodus_class;

struct tutti_exodus {
    TUTTI__OBJECT;               /* the path is that of the file that it is on */
    int64_t number;              /* of this process; no other handle has it */
    int64_t count;               /* decompositions that were made of it */
    int64_t topology;            /* which mesh it is, of those that the handle has been on */
    char *first;                 /* of the first file */
    int file_number;             /* 1: the first */
    tutti__series_naming naming; /* of the files that follow the first */
    int mode, defining;
    tutti_exodus_options opt;
    tutti_options io;
    tutti__exodus_model model;
    tutti__cdf cdf; /* once definitions have ended; cdf.records are the steps that there are */
    tutti_file *file;
    tutti_stats stats; /* of files that it was on before */
    tutti_progress_fn *progress;
    void *progress_context;
    int fd;             /* rank 0, writers: the file, with the writer's lock; or -1 */
    double last;        /* time of the last step; writers */
    tutti_off at;       /* writers: how long the file is with the steps that it has */
    tutti_count synced; /* writers: all data is on the device if the file is this one; 0: unknown */
    int mesh_lost;      /* writers: a sync of the mesh has failed */
    int record_blocks;  /* checksums of steps are of blocks that start at the record */
    uint64_t header;    /* a hash of it, without the number of records */
    uint64_t
        identity; /* a hash of names and ids of entities, and of samples of the mesh's arrays */
    tutti__sidecar *sidecar;    /* rank 0 */
    char warning[256];          /* why there are no checksums, or "" */
    char mesh_warning[256];     /* what get_mesh has ignored, or "" */
    tutti__exodus_local *local; /* by kind and number; NULL: no mesh yet */
    tutti_count local_n;
    tutti__exodus_result mesh_read, nemesis_read; /* of get_mesh, of nemesis_get */
    struct tutti__exodus_step *step;              /* that has begun; exodus_steps.h */
    tutti__start_queue starts; /* puts and gets that were started and not completed */
    tutti_request *commit;     /* that was started and not completed; NULL: none */
    tutti__team *commit_team;  /* of commits that were started; NULL: there was none */
    tutti__region *mesh;       /* checksums of the mesh while it is written; NULL: it is complete */
    unsigned char *checked;    /* [checked_n] steps that have been compared */
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
/* What collective calls do first: the handle may be used, and operations that were started before have run.   Waits for
 * other ranks, which progress in their own calls. */
tutti_err tutti__exodus_enter(tutti_exodus *x) TUTTI_MUST_USE;
void tutti__exodus_run_started(tutti_exodus *x);
/* tutti__object_call, for a call whose arguments have this hash.  It is refused while a commit is under way. */
tutti_err tutti__exodus_call(tutti_exodus *x, const char *name, uint64_t hash,
                             tutti_err mine) TUTTI_MUST_USE;
/* The same inside of an operation that was started. */
tutti_err tutti__exodus_compare_calls(const tutti_exodus *x, const char *name, uint64_t hash,
                                      tutti_err mine) TUTTI_MUST_USE;
/* TUTTI_ERR_STATE: a commit has been started and not completed. */
tutti_err tutti__exodus_no_commit(const tutti_exodus *x) TUTTI_MUST_USE;
/* A later agreement of the same call. */
tutti_err tutti__exodus_agree(const tutti_exodus *x, tutti_err mine) TUTTI_MUST_USE;
/* Rank 0's bytes for all, of any length; *data is allocated on the others. */
tutti_err tutti__exodus_tell(const tutti_exodus *x, void **data, size_t *bytes) TUTTI_MUST_USE;
static inline tutti_err tutti__exodus_named(const tutti_exodus *x, const char *operation,
                                            tutti_err err) {
    TUTTI_ASSERT(tutti__exodus_is_valid(x));
    return tutti__object_error(&x->object, operation, err);
}
/* Definitions have not ended; they have; it was opened for writing and they have; nothing is under way
 * on the file. */
tutti_err tutti__exodus_defining(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_defined(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_writable(const tutti_exodus *x) TUTTI_MUST_USE;
tutti_err tutti__exodus_idle(const tutti_exodus *x) TUTTI_MUST_USE;
/* The number of an entity, for messages that say which there is not. */
tutti_err tutti__exodus_number(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                               tutti_count *out) TUTTI_MUST_USE;

/* ---- series_names.c */
/* Path of the n-th file of a series (1: the first); tutti__free. */
char *tutti__series_path(const char *first, int number, tutti__series_naming naming);

/* ---- exodus_file.c: the file itself, by rank 0, and on all ranks */
/* A new file with a header and a catalogue, and none of the arrays; x->fd, x->sidecar, x->file.
 * Collective. */
tutti_err tutti__exodus_file_make(tutti_exodus *x) TUTTI_MUST_USE;
/* Its mesh is there: now it is a netCDF file.  Before, nobody takes it for one, whatever ends the program. */
tutti_err tutti__exodus_file_show(tutti_exodus *x) TUTTI_MUST_USE;
/* Whether a file exists.  A file that has no mesh, since the program that created it was killed or the power was cut, does not count.
 * `is_follower`: the name is that of a further file of a series.   Local. */
int tutti__exodus_file_there(const char *path, int is_follower);
/* What is at x->path, as all ranks know it.   Collective. */
tutti_err tutti__exodus_file_open(tutti_exodus *x) TUTTI_MUST_USE;
/* Leave it.   Collective. */
tutti_err tutti__exodus_file_close(tutti_exodus *x) TUTTI_MUST_USE;
/* Rank 0: so many records are in the file, which is as long as they are.  durable: and on the device. */
tutti_err tutti__exodus_file_records(tutti_exodus *x, tutti_count records,
                                     int durable) TUTTI_MUST_USE;
/* Rank 0: has the file at x->path been replaced since it was opened, or its mesh?  Otherwise: how many steps it has now.
 * @return TUTTI_ERR_STATE if it has */
tutti_err tutti__exodus_file_steps(const tutti_exodus *x, tutti_count *out) TUTTI_MUST_USE;
/* Where records 0 ... n - 1 end, or, for 0 and for fixed steps, the fixed variables. */
tutti_off tutti__exodus_file_end(const tutti__cdf *c, tutti_count records);

/* ---- exodus_define.c */
/* Dimensions and variables of a module above, added to the header before its layout.   Not collective. */
typedef struct tutti__exodus_addition {
    tutti_err (*define)(const void *state, tutti__cdf *cdf);
    const void *state;
} tutti__exodus_addition;
/* End the definitions: all counts of the model are known.  Header, names, ids and whatever else is not
 * an array of the mesh are in the file; x->cdf says where arrays lie; x->file is open.   more: NULL if there are no additions; local_err: the
 * error of this rank so far.   Collective. */
tutti_err tutti__exodus_finish_definitions(tutti_exodus *x, const tutti__exodus_addition *more,
                                           tutti_err local_err) TUTTI_MUST_USE;

/* ---- arrays.c */
/* Where an array lies in the file. */
typedef struct tutti__exodus_place {
    tutti_off at;        /* of its first number */
    tutti_count entries; /* and how many */
    tutti_count numbers; /* of an entry */
    tutti_type type;     /* in the file; byte order: big-endian */
    tutti_off stride;    /* bytes from one step to the next; 0: it has no steps */
} tutti__exodus_place;
/* TUTTI_ERR_NOT_FOUND: the file has no such array.   Local. */
tutti_err tutti__exodus_place_of(const tutti_exodus *x, const tutti_exodus_array *a,
                                 tutti__exodus_place *out) TUTTI_MUST_USE;
/* That of a variable of an entity in a step (from 1).   Local. */
tutti_err tutti__exodus_place_of_field(const tutti_exodus *x, tutti_exodus_kind kind,
                                       tutti_count number, int variable, tutti_count step,
                                       tutti__exodus_place *out) TUTTI_MUST_USE;
/* One operation on the file: parts are described in the file's types (parts.h); `mine` is what this rank
 * has against it.  Writes of the mesh keep their checksums.   Collective. */
tutti_err tutti__exodus_move(tutti_exodus *x, int is_write, tutti_count n, const tutti_part *parts,
                             tutti_err mine) TUTTI_MUST_USE;

/* ---- exodus_entries.c */
/* Entries of nodes, a block or a set; a decomposition of them.  The one that is made belongs to the
 * caller; `mine` is what this rank has against it.   Collective. */
tutti_err tutti__exodus_decompose(tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                                  const tutti_decomposition_spec *spec, tutti_err mine,
                                  tutti_decomposition **out) TUTTI_MUST_USE;
/* Is it one of these, of the mesh as it is now?   Local. */
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
 * local_err: the error of this rank so far; TUTTI_OK without checksums.   Collective. */
struct tutti__commit_steps;
tutti_err tutti__exodus_region_commit(tutti_exodus *x, tutti__region *r, tutti_err local_err,
                                      const struct tutti__commit_steps *steps,
                                      int *is_sync_failed_out) TUTTI_MUST_USE;
/* The mesh is whole: its sums are in the sidecar.   Collective. */
tutti_err tutti__exodus_mesh_end(tutti_exodus *x) TUTTI_MUST_USE;
/* Compare a step (0: the mesh) with its sums; *bytes_out is increased.   Collective. */
tutti_err tutti__exodus_compare(tutti_exodus *x, tutti_count step,
                                tutti_off *bytes_out) TUTTI_MUST_USE;

/* ---- exodus_family.c */
/* Definitions have ended, and nothing is under way, not even a step.   Local. */
tutti_err tutti__exodus_between(const tutti_exodus *x) TUTTI_MUST_USE;
/* The path of the next file (tutti__free), named as the series is; if it has no second file yet, as IOSS names them.
 * @return TUTTI_ERR_STATE if files of several series follow the first.   Collective. */
tutti_err tutti__exodus_path_next(tutti_exodus *x, tutti__series_naming *naming_out,
                                  char **out) TUTTI_MUST_USE;
/* The file has as many steps as it may: go on in the next one, with the same mesh.   Collective. */
tutti_err tutti__exodus_next_steps(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- exodus_put.c */
/* Give up the step that has begun, if there is one.   Collective. */
tutti_err tutti__exodus_give_up(tutti_exodus *x) TUTTI_MUST_USE;

/* ---- exodus_local.c: what put_mesh, get_mesh and nemesis_get leave in the object.   Not collective. */
/* Entries of an entity that this rank has; NULL: there is no mesh. */
const tutti__exodus_local *tutti__exodus_local_of(const tutti_exodus *x, tutti_exodus_kind kind,
                                                  tutti_count number);
void tutti__exodus_local_drop(tutti_count n, tutti__exodus_local *local);
void tutti__exodus_local_free(tutti_exodus *x);
/* Replace a result; data may be NULL. */
void tutti__exodus_result_set(tutti__exodus_result *r, void *data, void (*free)(void *data));
/* The mesh changes: release local entries and all results. */
void tutti__exodus_results_free(tutti_exodus *x);

#endif
