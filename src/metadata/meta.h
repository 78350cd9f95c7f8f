/* metadata: the database of a dataset (SQLite), by one process.  docs/reference/format.md specifies
 * its tables.
 *
 * A writer holds a lock while it is open.  All input is validated: names cannot refer to files
 * outside of the directory, and ranges and types are checked.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_META_H
#define TUTTI_META_H

#include "metadata/model.h"

#define TUTTI__META_NAME "metadata.sqlite"
#define TUTTI__LOCK_NAME "writer.lock"
/* The version that this library writes, and the oldest that it reads and upgrades. */
enum { TUTTI__FORMAT_VERSION = 2, TUTTI__FORMAT_OLDEST = 1 };

typedef struct tutti__meta tutti__meta;

typedef struct tutti__meta_options {
    int mode; /* TUTTI_READ etc., as for tutti_dataset_open */
    int durable, without_locks;
    double busy;
    const char *name; /* name of the database in the directory; NULL: TUTTI__META_NAME */
    int locked;       /* whether the caller holds the writer's lock and syncs the directory */
    /* out: version of the format, set even if it is not supported; may be NULL */
    int64_t *version_out;
} tutti__meta_options;

/* Acquire the lock of writers; closing the descriptor releases it. */
tutti_err tutti__dataset_lock(const char *directory, int without_locks, int *fd_out) TUTTI_MUST_USE;

tutti_err tutti__meta_open(const char *directory, const tutti__meta_options *opt,
                           tutti__meta **out) TUTTI_MUST_USE;
void tutti__meta_close(tutti__meta **m);
/* Load and validate all tables except sections and infos, in one transaction. */
tutti_err tutti__meta_load(tutti__meta *m, tutti__model *out) TUTTI_MUST_USE;
/* Get the current generation.  If it differs from that of the model, segments have been removed or
 * archived.  It is -1 if the database was replaced or removed. */
tutti_err tutti__meta_generation(tutti__meta *m, int64_t *out) TUTTI_MUST_USE;
/* Get the sections of a segment of `model`, ordered by offset.  Fails with TUTTI_ERR_STATE if the
 * segment has been removed. */
tutti_err tutti__meta_sections(tutti__meta *m, const tutti__model *model,
                               const tutti__segment_row *g, tutti__section **out,
                               int64_t *n_out) TUTTI_MUST_USE;
/* A segment with sections whose lists of entries are stored in an earlier segment; listed newest
 * first. */
typedef struct tutti__list_use {
    int64_t segment, list_segment; /* ids */
} tutti__list_use;
tutti_err tutti__meta_list_uses(tutti__meta *m, tutti__list_use **out,
                                int64_t *n_out) TUTTI_MUST_USE;
/* Execute PRAGMA integrity_check. */
tutti_err tutti__meta_integrity(tutti__meta *m) TUTTI_MUST_USE;
/* Remove files of the directory that have the name of a data file but are in no table. */
void tutti__meta_sweep(tutti__meta *m, const tutti__model *model);
/* Sync a directory, and thereby the names in it. */
tutti_err tutti__directory_sync(const char *path) TUTTI_MUST_USE;
/* Sync the parent of a directory, and thereby its name.  Errors are ignored, for example if this
 * user may not read the parent. */
void tutti__parent_sync(const char *directory);
tutti_err tutti__meta_sync_directory(tutti__meta *m) TUTTI_MUST_USE;

/* ---- transactions */
tutti_err tutti__meta_begin(tutti__meta *m) TUTTI_MUST_USE;
tutti_err tutti__meta_commit(tutti__meta *m) TUTTI_MUST_USE;
/* Roll back; no effect without a transaction.  Keeps the last error. */
void tutti__meta_rollback(tutti__meta *m);
/* Commit, or roll back and return `err` if it is an error. */
tutti_err tutti__meta_end(tutti__meta *m, tutti_err err) TUTTI_MUST_USE;

/* Add rows of the model that are not in the database yet. */
tutti_err tutti__meta_add_fresh(tutti__meta *m, const tutti__model *model) TUTTI_MUST_USE;
tutti_err tutti__meta_add_file(tutti__meta *m, const tutti__datafile *f) TUTTI_MUST_USE;
tutti_err tutti__meta_add_segment(tutti__meta *m, const tutti__segment_row *g) TUTTI_MUST_USE;
/* Store the start and the end of a segment's trailer. */
tutti_err tutti__meta_end_segment(tutti__meta *m, const tutti__segment_row *g) TUTTI_MUST_USE;
tutti_err tutti__meta_add_section(tutti__meta *m, const tutti__section *s) TUTTI_MUST_USE;
tutti_err tutti__meta_add_size(tutti__meta *m, const tutti__size *s) TUTTI_MUST_USE;
/* Remove a segment and the sizes that it set. */
tutti_err tutti__meta_remove_segment(tutti__meta *m, int64_t id) TUTTI_MUST_USE;
tutti_err tutti__meta_remove_file(tutti__meta *m, int64_t id) TUTTI_MUST_USE;
/* Remove all rows, and give the dataset a new id. */
tutti_err tutti__meta_clear(tutti__meta *m, int64_t generation) TUTTI_MUST_USE;
/* Set a value of the dataset; `key` is "generation", "serial", "id_high", "id_low", "container",
 * "commit" or "defined" (docs/reference/format.md). */
tutti_err tutti__meta_set(tutti__meta *m, const char *key, int64_t value) TUTTI_MUST_USE;
/* Get the rows of a segment for its trailer (docs/reference/format.md); the caller frees them with
 * tutti__free.  `tables` is the number of tables of tutti__row_table to include, in their order:
 * TUTTI__ROW_INFO excludes infos, and TUTTI__ROW_TABLES includes all changes of infos that are not
 * yet in a trailer. */
tutti_err tutti__meta_rows(tutti__meta *m, int64_t segment, int tables, char **out,
                           size_t *bytes_out) TUTTI_MUST_USE;
/* Record that all pending changes of infos are in the trailer of this segment. */
tutti_err tutti__meta_infos_written(tutti__meta *m, int64_t segment) TUTTI_MUST_USE;
/* Record that the changes of infos in the trailer of this segment are in no trailer, before the
 * trailer is rewritten. */
tutti_err tutti__meta_infos_unwritten(tutti__meta *m, int64_t segment) TUTTI_MUST_USE;
/* Record that changes of infos are in no trailer if their trailers belong to removed or archived
 * segments.
 * @param[out] n_out  number of these changes */
tutti_err tutti__meta_infos_orphaned(tutti__meta *m, int64_t *n_out) TUTTI_MUST_USE;

struct tutti__row;
/* Insert a row of a trailer into its table.  Fails with TUTTI_ERR_FORMAT if the table does not
 * accept it. */
tutti_err tutti__meta_row_add(tutti__meta *m, const struct tutti__row *r) TUTTI_MUST_USE;
/* Apply the changes of infos in the trailer of a segment; trailers must be applied in the order of
 * their ids.  In version 1 the rows are all infos that do not belong to a segment. */
tutti_err tutti__meta_infos_apply(tutti__meta *m, int64_t segment, int version, const char *rows,
                                  size_t n) TUTTI_MUST_USE;
/* Remove infos of segments that do not exist. */
tutti_err tutti__meta_infos_prune(tutti__meta *m) TUTTI_MUST_USE;

/* ---- archives (meta_archive.c): each function is one transaction, synced with any level */
/* A function to run in a transaction. */
typedef struct tutti__meta_step {
    tutti_err (*run)(void *context);
    void *context;
} tutti__meta_step;
/* Record that segments are archived, with a new generation.  `also` runs in the same
 * transaction. */
tutti_err tutti__meta_archive(tutti__meta *m, const tutti__archived *rows, int64_t n,
                              int64_t generation, const tutti__meta_step *also) TUTTI_MUST_USE;
/* Record that segments are restored to data files. */
tutti_err tutti__meta_restore(tutti__meta *m, const tutti__archived *rows, int64_t n,
                              int64_t generation) TUTTI_MUST_USE;
/* List the segments whose lists of entries are used by other segments, in ascending order. */
tutti_err tutti__meta_lists_shared(tutti__meta *m, int64_t **out, int64_t *n_out) TUTTI_MUST_USE;

/* ---- infos: variable and segment are ids; 0: the info does not belong to one */
typedef struct tutti__info {
    int64_t variable, segment;
    char name[TUTTI__NAME];
    int type;
    tutti_count count;
    size_t bytes;
    void *value;
} tutti__info;

/* Set an info; count 0 removes it.  TUTTI_BYTES are stored as text if they are UTF-8, otherwise as
 * a blob. */
tutti_err tutti__meta_info_set(tutti__meta *m, const tutti__info *info) TUTTI_MUST_USE;
/* Set the remaining fields of `io`; the caller frees io->value with tutti__free.  Fails with
 * TUTTI_ERR_NOT_FOUND if there is no such info. */
tutti_err tutti__meta_info_get(tutti__meta *m, tutti__info *io) TUTTI_MUST_USE;

#endif
