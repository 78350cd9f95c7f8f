/* segments: the dataset object on all ranks.  Below it are the modules metadata (model, database,
 * trailers), netcdf and compression, which do not use MPI; above it are dataset (the public calls)
 * and archive (archives, repair).
 *
 *   decomposition_create  decompositions of a space (decomposition/decomposition.h)
 *   dataset_object  the object: agreements, open data files, broadcasts of rank 0
 *   dataset_describe  spaces and variables
 *   section_state   valid bytes of sections that are being written                  no MPI
 *   put_record      sections that each put writes, and its outcome
 *   sections        offsets of sections; sections of a segment
 *   ranked          sections by rank: headers, lists of entries
 *   compressed      compressed variables
 *   dataset_ids     id maps
 *   misfit          variable and position of values that cannot be converted
 *   move            put, get, follow
 *   container       operations that differ between kinds of data files
 *   checksums       checksums of blocks: computed, read back, compared
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

/* Call tutti__object_live.   Not collective. */
tutti_err tutti__dataset_live(const tutti_dataset *d) TUTTI_MUST_USE;
/* Get the view of a space as of a segment (-1: now, or that of the segment being written if it is a
 * topology).  Fails with TUTTI_ERR_NOT_FOUND if there is no such space, with TUTTI_ERR_STATE if a
 * list has no size yet.   Not collective. */
tutti_err tutti__dataset_space(const tutti_dataset *d, const char *name, tutti_count segment,
                               tutti__space_view *out) TUTTI_MUST_USE;
/* Read the ids of positions [lo, hi); each rank has its own range, which may be empty.
 * Collective; `view` must be the same on all ranks. */
tutti_err tutti__dataset_ids(tutti_dataset *d, const tutti__space_view *view, tutti_count lo,
                             tutti_count hi, int64_t *ids_out) TUTTI_MUST_USE;

/* ---- the object */

/* State of a section that is being written, in addition to its row.  All fields except `state` and
 * `before` are the same on all ranks. */
typedef struct tutti__section_progress {
    tutti__section_state state;
    const tutti__put_record *record; /* the last put of the section; NULL: none */
    int puts;                        /* number of puts that wrote the section */
    /* whether the next put must write the fill value (TUTTI_RANKED: the header) first, unless it
     * covers the section; then no commit succeeds before a put that covers it has succeeded */
    int needs_base;
    int64_t decomposition; /* TUTTI_RANKED: number of the decomposition of its entries */
    /* TUTTI_RANKED: number of entries of lower ranks, which differs between ranks */
    tutti_count before;
    uint64_t content; /* id maps: hash of all ids */
} tutti__section_progress;

/* A segment that has begun; its row has an end after it is complete. */
typedef struct tutti__writing {
    int under_way;
    tutti__segment_row segment;
    tutti_file *file; /* file of the segment, which is in the table of open files */
    int new_file;     /* whether the row of the file is not in the database yet */
    tutti__datafile row;
    tutti_off area; /* netCDF: bytes for the header, if the file is new */
    tutti_off end;  /* offset at or after which the next section starts */
    /* start of bytes that may have been written but belong to no section, since sections were moved
     * or a commit failed; 0: none */
    tutti_off tail;
    int failed_sync; /* whether a sync of the file has failed since the segment began */
    tutti__section *sections;
    int64_t sections_n;
    tutti__section_progress *progress;
    int64_t progress_n;
    tutti__put_list puts;
    tutti__info *infos; /* rank 0 only */
    int64_t infos_n;
} tutti__writing;

/* Sections of a segment, read from the database. */
typedef struct tutti__known {
    int64_t segment; /* id of the segment */
    int64_t n;
    tutti__section *sections;
    unsigned char *checked; /* [n] 1: the checksums of the section have been compared */
} tutti__known;

typedef struct tutti__open_file {
    int64_t id;
    tutti_file *file;
    int64_t used;  /* value of dataset.clock at the last use */
    int is_synced; /* whether this handle has synced the file at least once */
} tutti__open_file;

/* A list of entries in the file, and its decomposition. */
typedef struct tutti__listed {
    int64_t decomposition, segment, part;
} tutti__listed;

/* Number of entries of a decomposition that each rank writes. */
typedef struct tutti__ranked_sizes {
    int64_t decomposition;
    int64_t *head;           /* header of its sections */
    tutti_off bytes;         /* bytes of the header */
    tutti_count before, all; /* number of entries of lower ranks; of all ranks */
} tutti__ranked_sizes;

/* Locations of a rank's entries in a ranked section. */
typedef struct tutti__places {
    int64_t decomposition, segment, part;
    tutti_count entries; /* number of entries in the list */
    tutti_count n;
    /* [n] index in the list, in the order of the decomposition; -1: no rank has written the
     * entry */
    tutti_count *place;
    tutti_off item;       /* size of an item in bytes */
    tutti_access *access; /* access relative to the first entry; NULL: not yet created */
    tutti_count *holes;   /* positions in memory whose entries no rank has written */
    tutti_count holes_n;
} tutti__places;

extern const tutti__class tutti__dataset_class;

struct tutti_dataset {
    TUTTI__STEP_OBJECT;
    /* result of the current commit, which rank 0 broadcasts (commit.c) */
    struct tutti__commit_message *message;
    int64_t stamps; /* number of stamps assigned so far */
    int64_t clock;  /* number of uses of files so far */
    tutti_dataset_options opt;
    /* bytes of chunks of new compressed sections: TUTTI__CHUNK_BYTES, in tests less */
    tutti_off chunk_bytes;
    tutti__meta *meta; /* rank 0 only */
    tutti__model model;
    const tutti__container *container; /* container of model.container */
    tutti__writing now;                /* the segment that is being written */
    tutti__writing *waiting;           /* complete segments of the same commit that precede `now` */
    int64_t waiting_n;
    int has_leftovers; /* whether bytes of a discarded segment could not be removed */
    /* netCDF: whether rows of a failed commit could not be removed from the database */
    int has_rows;
    tutti__ncfile nc;      /* netCDF: the file to which segments are written */
    tutti__ncfile nc_next; /* netCDF: the same file with the segments of the current commit */
    tutti__open_file *files;
    int64_t files_n;
    tutti__known *known;
    int64_t known_n;
    tutti__listed *listed;
    int64_t listed_n;
    tutti__places *places;
    int64_t places_n;
    /* sizes for the decompositions with which ranked variables were put */
    tutti__ranked_sizes *ranked;
    int64_t ranked_n;
};

/* ---- dataset_object.c */
/* Operations that differ from those of Exodus files (dataset/commit.c). */
extern const tutti__step_kind tutti__dataset_kind;
static inline tutti_err tutti__dataset_call(tutti_dataset *d, const tutti__call *c,
                                            tutti_err local_err) {
    return tutti__step_object_call(&d->base, c, local_err);
}
/* Check the handle and call tutti__step_object_enter; must be the first action of every collective
 * call. */
tutti_err tutti__dataset_enter(tutti_dataset *d) TUTTI_MUST_USE;
/* Check the invariants of the object, which hold when a public call begins or ends.   Not
 * collective. */
int tutti__dataset_is_valid(const tutti_dataset *d);
static inline tutti_err tutti__dataset_named(const tutti_dataset *d, const char *operation,
                                             tutti_err err) {
    return tutti__step_object_end(&d->base, operation, err);
}
tutti_err tutti__dataset_writable(const tutti_dataset *d) TUTTI_MUST_USE;
/* Check that a segment has begun and no put is pending.   Not collective. */
tutti_err tutti__dataset_discardable(const tutti_dataset *d) TUTTI_MUST_USE;
tutti_err tutti__dataset_segment_check(const tutti_dataset *d, tutti_count segment) TUTTI_MUST_USE;
/* Fail with TUTTI_ERR_STATE if an existing segment is archived.   Not collective. */
tutti_err tutti__dataset_check_not_archived(const tutti_dataset *d,
                                            tutti_count segment) TUTTI_MUST_USE;
/* End a call that reads, with its result `err`.  If a writer has removed or archived segments
 * during the call, data and errors are invalid, and the call fails with TUTTI_ERR_STATE.
 * Collective; `err` must be the same on all ranks. */
tutti_err tutti__dataset_check_unchanged(tutti_dataset *d, tutti_err err) TUTTI_MUST_USE;
/* Get a data file; open it if it is not open.   Collective. */
tutti_err tutti__dataset_file(tutti_dataset *d, const tutti__datafile *row,
                              tutti_file **out) TUTTI_MUST_USE;
/* Return a data file if it is open, otherwise NULL.   Not collective. */
tutti_file *tutti__dataset_file_find(tutti_dataset *d, const tutti__datafile *row);
/* Reserve an entry in the table of open files, so that opening one cannot fail on a single rank.
 * Not collective. */
tutti_err tutti__dataset_file_reserve(tutti_dataset *d) TUTTI_MUST_USE;
/* Open a data file that is not open, has a reserved entry and is known to be a regular file.
 * Collective. */
tutti_err tutti__dataset_file_open(tutti_dataset *d, const tutti__datafile *row,
                                   tutti_file **out) TUTTI_MUST_USE;
/* On rank 0, create an empty data file. */
tutti_err tutti__dataset_file_create(const tutti_dataset *d,
                                     const tutti__datafile *row) TUTTI_MUST_USE;
/* Close a data file (NULL: all).   Collective. */
tutti_err tutti__dataset_file_close(tutti_dataset *d, const tutti__datafile *row) TUTTI_MUST_USE;
void tutti__dataset_data_path(const tutti_dataset *d, const char *name, char *to, size_t capacity);
/* Load the model from the database on rank 0 and broadcast it.   Collective. */
tutti_err tutti__dataset_load(tutti_dataset *d, tutti__model *out) TUTTI_MUST_USE;
void tutti__places_free(tutti__places *at); /* frees the contents of *at */
/* Remove cached sections, places and lists of segments that no longer exist. */
void tutti__dataset_clear_caches(tutti_dataset *d);

/* Parameters of a read of sections of a data file. */
typedef struct tutti__dataset_reading {
    tutti_file *file;
    const char *name;
    int n;
    const tutti_part *parts;
    tutti_off least; /* end of the last section */
} tutti__dataset_reading;
tutti_err tutti__dataset_read(const tutti__dataset_reading *r, tutti_err local_err) TUTTI_MUST_USE;

/* ---- dataset_describe.c */
/* Set the size of a space, starting with the segment that is being written; `ids`: the space has an
 * id map.   Collective. */
tutti_err tutti__space_resize(tutti_dataset *d, int64_t space, int ndims, const tutti_count *shape,
                              int ids) TUTTI_MUST_USE;
/* Define an internal variable of the library on a space: "NAME:what" of type int64. */
tutti_err tutti__own_variable(tutti_dataset *d, const tutti__space *space, const char *what,
                              tutti__variable **out) TUTTI_MUST_USE;

/* ---- misfit.c */
/* After an operation on sections of a file, add the variable and the position to a TUTTI_ERR_VALUE.
 * The error is the same on all ranks. */
void tutti__dataset_misfit(const tutti_dataset *d, const tutti__section *sections, int64_t n,
                           tutti_err err);

/* ---- sections.c */
/* Get the sections of a segment, given by its number.   Collective. */
tutti_err tutti__sections_of(tutti_dataset *d, int64_t segment,
                             const tutti__known **out) TUTTI_MUST_USE;
/* Return the section of a variable in a segment, or NULL. */
const tutti__section *tutti__section_find(const tutti__known *k, int64_t variable, int64_t part);
/* Read bytes of a section.  Fails with TUTTI_ERR_TRUNCATED if the file is too short.   Not
 * collective. */
tutti_err tutti__section_read(tutti_file *f, tutti_off at, tutti_off bytes,
                              void *to) TUTTI_MUST_USE;
/* Return a segment, given by its id, that has begun and is not committed; NULL if it is not one of
 * those. */
const tutti__writing *tutti__writing_of(const tutti_dataset *d, int64_t segment);
/* Return the section of a variable in such a segment, or NULL. */
tutti__section *tutti__writing_section(const tutti__writing *w, int64_t variable, int64_t part);
/* Return a section of the segment being written; NULL if it has not been created. */
tutti__section *tutti__section_now(const tutti_dataset *d, int64_t variable, int64_t part);
/* Reserve rows for n more sections, so that adding them cannot fail on a single rank.   Not
 * collective. */
tutti_err tutti__sections_reserve(tutti_dataset *d, int64_t n) TUTTI_MUST_USE;
/* Add a section to the segment being written, in a reserved row.  Its bytes are 0 after
 * tutti__tail_cut.   Not collective. */
tutti__section *tutti__section_new(tutti_dataset *d, const tutti__section *of, tutti_off bytes);
/* Change the length, and therefore the offset, of a section.   Not collective. */
void tutti__section_move(tutti_dataset *d, tutti__section *s, tutti_off bytes);
/* Remove a section of the segment being written.   Not collective. */
void tutti__section_drop(tutti_dataset *d, tutti__section *s);
/* Clear bytes that belong to no section after sections have moved or a commit has failed.
 * Collective if w->tail is set, which is the same on all ranks. */
tutti_err tutti__tail_cut(tutti_dataset *d) TUTTI_MUST_USE;
tutti__section_progress *tutti__section_progress_of(const tutti_dataset *d,
                                                    const tutti__section *s);
/* Record that the put writes this section.   Not collective. */
tutti_err tutti__section_target(tutti_dataset *d, tutti__put_record *record,
                                const tutti__section *s, int64_t decomposition,
                                int is_whole) TUTTI_MUST_USE;
/* Record that a sync of the file of the segment being written has failed, so that its data must be
 * written again. */
void tutti__sections_sync_failed(tutti_dataset *d);
void tutti__writings_free(tutti_dataset *d); /* ends all segments that have begun */

/* Write bytes of a data file.   Not collective. */
tutti_err tutti__file_put(tutti_file *f, tutti_off at, tutti_off bytes,
                          const void *data) TUTTI_MUST_USE;

/* ---- ranked_put.c */
/* Return the number of entries of a decomposition that each rank writes, valid until the next
 * exchange; NULL if it is unknown.   Not collective. */
const tutti__ranked_sizes *tutti__ranked_sizes_of(const tutti_dataset *d, int64_t decomposition);
/* Exchange these numbers when a decomposition is first used for writing.   Collective. */
tutti_err tutti__ranked_sizes_exchange(tutti_dataset *d,
                                       const tutti__decomposition_facts *facts) TUTTI_MUST_USE;
/* Remove the numbers of all but the last few decompositions.   Not collective. */
void tutti__ranked_trim(tutti_dataset *d);
/* Fail with TUTTI_ERR_OVERFLOW if a section of all entries would be too large.   Not collective. */
tutti_err tutti__ranked_fits(const tutti__variable *v,
                             const tutti__ranked_sizes *sizes) TUTTI_MUST_USE;
/* Create a section of the segment being written for these entries and, if it is missing, a section
 * for the list of the entries; space for both is reserved, also in d->listed.   Not collective. */
tutti__section *tutti__ranked_new(tutti_dataset *d, const tutti__variable *v, int64_t decomposition,
                                  const tutti__ranked_sizes *sizes);
/* Return the list of a decomposition's entries if it is a section of the segment being written, or
 * NULL. */
tutti__section *tutti__ranked_list(const tutti_dataset *d, const tutti__variable *v,
                                   int64_t decomposition);
/* Get the positions of the entries that this rank writes, in the order of the list; the caller
 * frees them.   Not collective. */
tutti_err tutti__ranked_positions(tutti_decomposition *p, int64_t **out) TUTTI_MUST_USE;
/* Remove a section, and its list if no other section uses it.   Not collective. */
void tutti__ranked_drop(tutti_dataset *d, tutti__section *s);
/* Return the variable with the lists of entries of a space (an id); NULL if there is none. */
const tutti__variable *tutti__ranked_lists(const tutti_dataset *d, int64_t space);
void tutti__ranked_free(tutti_dataset *d);

/* ---- ranked_get.c */
/* The part of a section that this rank reads, as an access of the data file, and the positions in
 * memory of entries that no rank has written; the caller frees both. */
typedef struct tutti__ranked_reading {
    tutti_access *access;
    tutti_count *holes;
    tutti_count holes_n;
} tutti__ranked_reading;
tutti_err tutti__ranked_reads(tutti_dataset *d, const tutti__section *s, tutti_off item,
                              tutti_decomposition *p, tutti__ranked_reading *out) TUTTI_MUST_USE;

/* ---- checksums.c */
/* Get the blocks of the segment being written, section by section, and the checksums that this rank
 * knows; the caller frees both.   Not collective. */
tutti_err tutti__checksums_known(const tutti_dataset *d, tutti__block_list *blocks_out,
                                 tutti__checksum **known_out, int64_t *n_out) TUTTI_MUST_USE;
/* Return the checksum of a section, computed from those of its blocks. */
uint64_t tutti__checksum_of_blocks(uint64_t *table, int64_t n);
/* Compare a section (NULL: all sections) of a segment with the checksums.   Collective. */
tutti_err tutti__checksums_compare(tutti_dataset *d, const tutti__segment_row *g,
                                   const tutti__section *only, tutti_off *bytes_out) TUTTI_MUST_USE;

/* Compare with the checksums of blocks in the trailer, or with those of sections in the metadata.
 * Collective. */
tutti_err tutti__checksums_by_trailer(tutti_dataset *d, const tutti__comparison *c) TUTTI_MUST_USE;
tutti_err tutti__checksums_by_section(tutti_dataset *d, const tutti__comparison *c) TUTTI_MUST_USE;

/* On rank 0, check that the database is consistent and agrees with the metadata in the data
 * files. */
tutti_err tutti__metadata_check(const tutti_dataset *d) TUTTI_MUST_USE;

/* ---- dataset_open.c */
/* Validate and copy the caller's options (NULL: defaults). */
tutti_err tutti__dataset_options_take(const tutti_dataset_options *opt,
                                      tutti_dataset_options *out) TUTTI_MUST_USE;

/* ---- begin.c */
/* Discard all segments that have begun since the last commit.   Collective. */
tutti_err tutti__dataset_discard_begun(tutti_dataset *d) TUTTI_MUST_USE;

/* ---- commit.c */
/* Check that the segments that have begun can be committed.   Not collective. */
tutti_err tutti__commit_check(const tutti_dataset *d) TUTTI_MUST_USE;
/* Complete the segment being written: write its checksums and its trailer.   Collective. */
tutti_err tutti__commit_set_aside(tutti_dataset *d) TUTTI_MUST_USE;
/* Sync the file of the segment being written.   Collective. */
tutti_err tutti__commit_sync(tutti_dataset *d) TUTTI_MUST_USE;
/* Remove the rows of a failed commit from the database if that is possible now.   Not
 * collective. */
void tutti__commit_rows_undo(tutti_dataset *d);

/* ---- carry.c */
/* Segments that are being removed or archived: goes[i] is 1 for segment i of the model. */
typedef struct tutti__info_carry {
    const tutti_dataset *dataset;
    const unsigned char *goes;
    int64_t segment;        /* segment with the new trailer; -1: none was necessary or possible */
    tutti__segment_row row; /* new row of this segment */
} tutti__info_carry;
/* On rank 0, in the transaction that removes or archives segments: write infos that are only in the
 * trailers of these segments to a second trailer after that of the newest remaining segment, and
 * sync it.  If there is no such segment, the next commit writes them.  The context is a
 * tutti__info_carry. */
tutti_err tutti__infos_carry(void *context) TUTTI_MUST_USE;
/* Broadcast rank 0's row after the transaction.   Collective. */
tutti_err tutti__infos_carry_end(tutti_dataset *d, tutti__info_carry *c) TUTTI_MUST_USE;

/* ---- erase.c */
/* For writers: remove the segments of an unfinished commit.   Collective. */
tutti_err tutti__dataset_recover(tutti_dataset *d) TUTTI_MUST_USE;
/* On rank 0, remove data after the last segment of each file, and files whose segments are all
 * archived.  Fails with TUTTI_ERR_FORMAT if a file is too short.   Not collective. */
tutti_err tutti__dataset_reclaim(const tutti_dataset *d) TUTTI_MUST_USE;

#endif
