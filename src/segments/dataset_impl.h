/* segments: the dataset object on all ranks. Below it are the modules metadata (model, database,
 * trailers), netcdf and compression, which do not use MPI; above it are dataset (the public calls)
 * and archive (archives, repair).
 *
 *   decomposition_create  decompositions of a space (decomposition/decomposition.h)
 *   dataset_object  the object: agreements, open data files, broadcasts of rank 0
 *   dataset_describe  spaces and variables
 *   section_state   bytes of a section being written that are valid                  no MPI
 *   put_record      sections that each put writes, and the outcome
 *   sections        places of sections; sections of a segment
 *   ranked          sections by rank: headers, lists of entries
 *   compressed      compressed variables: entries to chunks and back
 *   dataset_ids     id maps
 *   misfit          values that cannot be converted: their variable and position
 *   move            put, get, follow
 *   container       operations that differ between kinds of data files: a table for each
 *   checksums       blocks of sections: computed, read back, compared
 *   commit          begin, commit, discard
 *   carry           infos in trailers of segments that are removed or archived
 *   erase           erase, drop; recovery after killed writers
 *   dataset_infos   infos
 *   dataset_open    open, close, refresh
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_DATASET_IMPL_H
#define TUTTI_DATASET_IMPL_H

#include <tutti/dataset.h>
#include "base/handle.h"
#include "base/hash.h"
#include "base/options_impl.h"
#include "segments/container.h"
#include "timestep/blocks.h"
#include "timestep/put_record.h"
#include "timestep/step_object.h"
#include "decomposition/decomposition.h"
#include "layer/object.h"

/* ---- functions for decompositions */

/* tutti__object_live.   Not collective. */
tutti_err tutti__dataset_live(const tutti_dataset *d) TUTTI_MUST_USE;
/* A space as of a segment (-1: now, that of the segment being written if it is a topology).   Not collective.
 * TUTTI_ERR_NOT_FOUND: not found; TUTTI_ERR_STATE: a list that has no size yet. */
tutti_err tutti__dataset_space(const tutti_dataset *d, const char *name, tutti_count segment,
                               tutti__space_view *out) TUTTI_MUST_USE;
/* The ids of positions [lo, hi); the range is local and may be empty.   Collective; the view agrees. */
tutti_err tutti__dataset_ids(tutti_dataset *d, const tutti__space_view *view, tutti_count lo,
                             tutti_count hi, int64_t *ids_out) TUTTI_MUST_USE;

/* ---- the object */

/* A section that is being written, besides its row.  All but `state` are the same on all ranks. */
typedef struct tutti__section_progress {
    tutti__section_state state;
    const tutti__put_record *record; /* the last put of it; NULL: none */
    int puts;                        /* how many wrote it */
    /* Before the next put its fill value (TUTTI_RANKED: its header) is written.  Not if that put covers the section:
     * then no commit succeeds before one that does has. */
    int needs_base;
    int64_t decomposition; /* TUTTI_RANKED: that of its entries */
    tutti_count before;    /* TUTTI_RANKED: entries of lower ranks; each rank's own */
    uint64_t content;      /* ids: a hash of all of them */
} tutti__section_progress;

/* A segment that has begun; its row has an end when it is complete. */
typedef struct tutti__writing {
    int under_way;
    tutti__segment_row segment;
    tutti_file *file; /* one of the open ones */
    int new_file;     /* its row is not in the database yet */
    tutti__datafile row;
    tutti_off area; /* netCDF: bytes for the header, if the file is new */
    tutti_off end;  /* the next section starts here or later */
    /* Start of bytes that may have been written but belong to no section, after sections were
     * moved or a commit failed.  0: none */
    tutti_off tail;
    int failed_sync; /* a sync of its file has failed since it began */
    tutti__section *sections;
    int64_t sections_n;
    tutti__section_progress *progress;
    int64_t progress_n;
    tutti__put_list puts;
    tutti__info *infos; /* rank 0 */
    int64_t infos_n;
} tutti__writing;

/* Sections of a segment that has been read. */
typedef struct tutti__known {
    int64_t segment; /* id */
    int64_t n;
    tutti__section *sections;
    unsigned char *checked; /* [n] its checksums have been compared */
} tutti__known;

typedef struct tutti__open_file {
    int64_t id;
    tutti_file *file;
    int64_t used;  /* when */
    int is_synced; /* by this handle, at least once */
} tutti__open_file;

/* A list of entries in the file and the decomposition that it is of. */
typedef struct tutti__listed {
    int64_t decomposition, segment, part;
} tutti__listed;

/* How many entries of a decomposition the ranks write. */
typedef struct tutti__ranked_sizes {
    int64_t decomposition;
    int64_t *head;           /* the header of its sections */
    tutti_off bytes;         /* of the header */
    tutti_count before, all; /* entries of lower ranks, of all ranks */
} tutti__ranked_sizes;

/* The places of a rank's entries in a ranked section. */
typedef struct tutti__places {
    int64_t decomposition, segment, part;
    tutti_count entries; /* of the list */
    tutti_count n;
    tutti_count *place;   /* [n] in the order of the decomposition; -1: no rank has written it */
    tutti_off item;       /* size of an item in bytes */
    tutti_access *access; /* the access from the first position on; NULL: not yet created */
    tutti_count *holes;   /* positions in memory without an entry */
    tutti_count holes_n;
} tutti__places;

extern const tutti__class tutti__dataset_class;

struct tutti_dataset {
    TUTTI__STEP_OBJECT;
    /* of the current commit: the result that rank 0 broadcasts (commit.c) */
    struct tutti__commit_message *message;
    int64_t stamps; /* given out */
    int64_t clock;  /* uses of files */
    tutti_dataset_options opt;
    /* of new compressed sections: TUTTI__CHUNK_BYTES; tests have smaller ones */
    tutti_off chunk_bytes;
    tutti__meta *meta; /* rank 0 */
    tutti__model model;
    const tutti__container *container; /* that of model.container */
    tutti__writing now;                /* the segment that is being written */
    tutti__writing *waiting;           /* complete segments of the same commit before it */
    int64_t waiting_n;
    int has_leftovers; /* bytes of a discarded segment could not be removed */
    int has_rows; /* netCDF: rows of a commit that failed could not be removed from the database */
    tutti__ncfile nc;      /* netCDF data files: the one to which segments are written */
    tutti__ncfile nc_next; /* with the segments of the current commit */
    tutti__open_file *files;
    int64_t files_n;
    tutti__known *known;
    int64_t known_n;
    tutti__listed *listed;
    int64_t listed_n;
    tutti__places *places;
    int64_t places_n;
    tutti__ranked_sizes *ranked; /* of decompositions that ranked variables were put with */
    int64_t ranked_n;
};

/* ---- dataset_object.c */
/* The operations that differ from those of Exodus files; in dataset/commit.c. */
extern const tutti__step_kind tutti__dataset_kind;
static inline tutti_err tutti__dataset_call(tutti_dataset *d, const tutti__call *c,
                                            tutti_err local_err) {
    return tutti__step_object_call(&d->base, c, local_err);
}
/* Check the handle, and tutti__step_object_enter: the first action of every collective call. */
tutti_err tutti__dataset_enter(tutti_dataset *d) TUTTI_MUST_USE;
/* Check the relations between its fields, which hold when a public call begins or ends.   Not collective. */
int tutti__dataset_is_valid(const tutti_dataset *d);
static inline tutti_err tutti__dataset_named(const tutti_dataset *d, const char *operation,
                                             tutti_err err) {
    return tutti__step_object_end(&d->base, operation, err);
}
tutti_err tutti__dataset_writable(const tutti_dataset *d) TUTTI_MUST_USE;
/* A segment has begun, and no put is pending.   Not collective. */
tutti_err tutti__dataset_discardable(const tutti_dataset *d) TUTTI_MUST_USE;
tutti_err tutti__dataset_segment_check(const tutti_dataset *d, tutti_count segment) TUTTI_MUST_USE;
/* TUTTI_ERR_STATE: the segment, which exists, is archived. Not collective. */
tutti_err tutti__dataset_check_not_archived(const tutti_dataset *d,
                                            tutti_count segment) TUTTI_MUST_USE;
/* The end of a call that reads, with its result: a writer may have removed or archived segments
 * in this time; then data and errors are invalid, and the call fails with TUTTI_ERR_STATE.
 * Collective; `err` must be the same on all ranks. */
tutti_err tutti__dataset_check_unchanged(tutti_dataset *d, tutti_err err) TUTTI_MUST_USE;
/* A data file, opened if it is not.   Collective. */
tutti_err tutti__dataset_file(tutti_dataset *d, const tutti__datafile *row,
                              tutti_file **out) TUTTI_MUST_USE;
/* The same if it is open; otherwise NULL.   Not collective. */
tutti_file *tutti__dataset_file_find(tutti_dataset *d, const tutti__datafile *row);
/* Reserve an entry in the table of open files, so that opening one cannot fail on one rank alone. Not collective. */
tutti_err tutti__dataset_file_reserve(tutti_dataset *d) TUTTI_MUST_USE;
/* Open a data file that is not open, has a reserved entry and is known to be a regular file. Collective. */
tutti_err tutti__dataset_file_open(tutti_dataset *d, const tutti__datafile *row,
                                   tutti_file **out) TUTTI_MUST_USE;
/* Rank 0: create an empty data file. */
tutti_err tutti__dataset_file_create(const tutti_dataset *d,
                                     const tutti__datafile *row) TUTTI_MUST_USE;
/* Close it (NULL: all).   Collective. */
tutti_err tutti__dataset_file_close(tutti_dataset *d, const tutti__datafile *row) TUTTI_MUST_USE;
void tutti__dataset_data_path(const tutti_dataset *d, const char *name, char *to, size_t room);
/* Load the model from the database on rank 0 and broadcast it. Collective. */
tutti_err tutti__dataset_load(tutti_dataset *d, tutti__model *out) TUTTI_MUST_USE;
void tutti__places_free(tutti__places *at); /* its contents */
/* Remove cached sections, places and lists of segments that do not exist any more. */
void tutti__dataset_clear_caches(tutti_dataset *d);

/* A read of sections of a data file.  `local_err` is the error of this rank.   Collective. */
typedef struct tutti__dataset_reading {
    tutti_file *file;
    const char *name;
    int n;
    const tutti_part *parts;
    tutti_off least; /* where the sections end */
} tutti__dataset_reading;
tutti_err tutti__dataset_read(const tutti__dataset_reading *r, tutti_err local_err) TUTTI_MUST_USE;

/* ---- dataset_describe.c */
/* Set the size of a space from the segment being written on; `ids`: it has an id map. Collective. */
tutti_err tutti__space_resize(tutti_dataset *d, int64_t space, int ndims, const tutti_count *shape,
                              int ids) TUTTI_MUST_USE;
/* An internal variable of the library on a space: "NAME:what", of int64. */
tutti_err tutti__own_variable(tutti_dataset *d, const tutti__space *space, const char *what,
                              tutti__variable **out) TUTTI_MUST_USE;

/* ---- misfit.c */
/* After an operation on sections of a file: TUTTI_ERR_VALUE names the variable and the position.  The
 * same on all ranks. */
void tutti__dataset_misfit(const tutti_dataset *d, const tutti__section *sections, int64_t n,
                           tutti_err err);

/* ---- sections.c */
/* The sections of a segment, given by its number. Collective. */
tutti_err tutti__sections_of(tutti_dataset *d, int64_t segment,
                             const tutti__known **out) TUTTI_MUST_USE;
/* The section of a variable in it, or NULL. */
const tutti__section *tutti__section_find(const tutti__known *k, int64_t variable, int64_t part);
/* Read bytes of a section. TUTTI_ERR_TRUNCATED: the file is too short. Not collective. */
tutti_err tutti__section_read(tutti_file *f, tutti_off at, tutti_off bytes,
                              void *to) TUTTI_MUST_USE;
/* A segment that has begun and was not committed (an id); NULL: none of those. */
const tutti__writing *tutti__writing_of(const tutti_dataset *d, int64_t segment);
/* Its section of a variable, or NULL. */
tutti__section *tutti__writing_section(const tutti__writing *w, int64_t variable, int64_t part);
/* The section of the segment being written; NULL: not yet created. */
tutti__section *tutti__section_now(const tutti_dataset *d, int64_t variable, int64_t part);
/* Reserve rows for n more sections, so that adding them cannot fail on one rank alone. Not collective. */
tutti_err tutti__sections_reserve(tutti_dataset *d, int64_t n) TUTTI_MUST_USE;
/* Add a section to the segment being written, in a reserved row. Its bytes are 0 after tutti__tail_cut. Not collective. */
tutti__section *tutti__section_new(tutti_dataset *d, const tutti__section *of, tutti_off bytes);
/* Change the length, and thus the place, of a section. Not collective. */
void tutti__section_move(tutti_dataset *d, tutti__section *s, tutti_off bytes);
/* Remove a section of the segment being written. Not collective. */
void tutti__section_drop(tutti_dataset *d, tutti__section *s);
/* After sections have moved or a commit has failed: bytes that belong to no section are 0.   Collective if w->tail is set,
 * which is the same on all ranks. */
tutti_err tutti__tail_cut(tutti_dataset *d) TUTTI_MUST_USE;
tutti__section_progress *tutti__section_progress_of(const tutti_dataset *d,
                                                    const tutti__section *s);
/* The put writes this section.   Not collective. */
tutti_err tutti__section_target(tutti_dataset *d, tutti__put_record *record,
                                const tutti__section *s, int64_t decomposition,
                                int is_whole) TUTTI_MUST_USE;
/* A sync of the file of the segment being written has failed: its data must be written again. */
void tutti__sections_sync_failed(tutti_dataset *d);
void tutti__writings_free(tutti_dataset *d); /* no segment has begun any more */

/* Write bytes of a data file. Not collective. */
tutti_err tutti__file_put(tutti_file *f, tutti_off at, tutti_off bytes,
                          const void *data) TUTTI_MUST_USE;

/* ---- ranked_put.c */
/* How many entries of a decomposition each rank writes; NULL: not known yet. Valid until the next exchange.
 * Not collective. */
const tutti__ranked_sizes *tutti__ranked_sizes_of(const tutti_dataset *d, int64_t decomposition);
/* Exchange these sizes when a decomposition is first used for writing. Collective. */
tutti_err tutti__ranked_sizes_exchange(tutti_dataset *d,
                                       const tutti__decomposition_facts *facts) TUTTI_MUST_USE;
/* Keep those of the last few decompositions only.   Not collective. */
void tutti__ranked_trim(tutti_dataset *d);
/* Whether a section of all entries would be too large: TUTTI_ERR_OVERFLOW.   Not collective. */
tutti_err tutti__ranked_fits(const tutti__variable *v,
                             const tutti__ranked_sizes *sizes) TUTTI_MUST_USE;
/* A section of the segment being written for these entries, and, if missing, a section for the list of the
 * entries; room for both is reserved, also in d->listed.   Not collective. */
tutti__section *tutti__ranked_new(tutti_dataset *d, const tutti__variable *v, int64_t decomposition,
                                  const tutti__ranked_sizes *sizes);
/* The list of a decomposition's entries, if it is a section of the segment being written; or NULL. */
tutti__section *tutti__ranked_list(const tutti_dataset *d, const tutti__variable *v,
                                   int64_t decomposition);
/* The positions of the entries that this rank writes, as they are in the list: to be freed.   Not collective. */
tutti_err tutti__ranked_positions(tutti_decomposition *p, int64_t **out) TUTTI_MUST_USE;
/* Remove a section, and its list if no other section uses it.   Not collective. */
void tutti__ranked_drop(tutti_dataset *d, tutti__section *s);
/* The variable with lists of entries of a space (an id); NULL: there is none yet. */
const tutti__variable *tutti__ranked_lists(const tutti_dataset *d, int64_t space);
void tutti__ranked_free(tutti_dataset *d);

/* ---- ranked_get.c */
/* The part of a section that this rank reads: an access of the data file. holes: positions in memory of entries that no
 * rank has written; the caller frees both. Collective. */
typedef struct tutti__ranked_reading {
    tutti_access *access;
    tutti_count *holes;
    tutti_count holes_n;
} tutti__ranked_reading;
tutti_err tutti__ranked_reads(tutti_dataset *d, const tutti__section *s, tutti_off item,
                              tutti_decomposition *p, tutti__ranked_reading *out) TUTTI_MUST_USE;

/* ---- checksums.c */
/* Blocks of the segment being written, section by section, and the checksums that this rank knows: to be freed.
 * Not collective. */
tutti_err tutti__checksums_known(const tutti_dataset *d, tutti__block_list *blocks_out,
                                 tutti__sum **known_out, int64_t *n_out) TUTTI_MUST_USE;
/* The checksum of a section, from those of its blocks. */
uint64_t tutti__checksum_of_blocks(uint64_t *table, int64_t n);
/* Compare a section (NULL: all) of a segment with its sums.   Collective. */
tutti_err tutti__checksums_compare(tutti_dataset *d, const tutti__segment_row *g,
                                   const tutti__section *only, tutti_off *bytes_out) TUTTI_MUST_USE;

/* Compare with the checksums of blocks in the trailer, or with those of sections in the metadata.   Collective. */
tutti_err tutti__checksums_by_trailer(tutti_dataset *d, const tutti__comparison *c) TUTTI_MUST_USE;
tutti_err tutti__checksums_by_section(tutti_dataset *d, const tutti__comparison *c) TUTTI_MUST_USE;

/* Rank 0: the database is sound, and agrees with the metadata that data files have. */
tutti_err tutti__metadata_check(const tutti_dataset *d) TUTTI_MUST_USE;

/* ---- dataset_open.c */
/* Validate and copy the given options (NULL: defaults). */
tutti_err tutti__dataset_options_take(const tutti_dataset_options *opt,
                                      tutti_dataset_options *out) TUTTI_MUST_USE;

/* ---- begin.c */
/* Discard all segments that have begun since the last commit. Collective. */
tutti_err tutti__dataset_discard_begun(tutti_dataset *d) TUTTI_MUST_USE;

/* ---- commit.c */
/* Check that the segments that have begun can be committed.   Not collective. */
tutti_err tutti__commit_check(const tutti_dataset *d) TUTTI_MUST_USE;
/* Complete the segment being written: write its checksums and its trailer. Collective. */
tutti_err tutti__commit_set_aside(tutti_dataset *d) TUTTI_MUST_USE;
/* Sync the file of the segment being written. Collective. */
tutti_err tutti__commit_sync(tutti_dataset *d) TUTTI_MUST_USE;
/* Remove the rows of a failed commit from the database, if that is possible now. Not collective. */
void tutti__commit_rows_undo(tutti_dataset *d);

/* ---- carry.c */
/* Segments are going to be removed or archived: goes[] of the model. */
typedef struct tutti__info_carry {
    const tutti_dataset *dataset;
    const unsigned char *goes;
    int64_t segment;        /* the one with the new trailer; -1: none was needed, or possible */
    tutti__segment_row row; /* the current row */
} tutti__info_carry;
/* Rank 0, in the transaction that removes or archives: infos that only their trailers have are written
 * into a second trailer after that of the newest remaining segment, on the device.  Without such a segment
 * the next commit writes them.  The context is a tutti__info_carry. */
tutti_err tutti__infos_carry(void *context) TUTTI_MUST_USE;
/* The transaction has ended: all ranks have rank 0's row.   Collective. */
tutti_err tutti__infos_carry_end(tutti_dataset *d, tutti__info_carry *c) TUTTI_MUST_USE;

/* ---- erase.c */
/* Writers: remove the segments of a commit that was not finished.   Collective. */
tutti_err tutti__dataset_recover(tutti_dataset *d) TUTTI_MUST_USE;
/* Rank 0: data after the last segment of each file is removed, and files whose segments are all archived.
 * TUTTI_ERR_FORMAT: a file is too short.   Not collective. */
tutti_err tutti__dataset_reclaim(const tutti_dataset *d) TUTTI_MUST_USE;

#endif
