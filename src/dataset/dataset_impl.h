/* dataset: a dataset as its ranks have it.  Below it are the modules metadata (model, database, trailers), netcdf and
 * compression, which need no MPI; above it is archive (archives, repair).
 *
 *   decomposition_create  decompositions of a space (decomposition/decomposition.h)
 *   dataset_object  the object: agreements, open data files, broadcasts of rank 0
 *   dataset_describe  spaces and variables
 *   section_state   which bytes of a section being written can be trusted                  no MPI
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
#include "dataset/container.h"
#include "timestep/blocks.h"
#include "timestep/section_state.h"
#include "decomposition/decomposition.h"
#include "layer/object.h"

/* ---- what decompositions need of datasets */

/* tutti__object_live.   Not collective. */
tutti_err tutti__dataset_live(const tutti_dataset *d) TUTTI_MUST_USE;
/* Its ranks; belongs to the dataset.  Every collective call opens by tutti__team_call on it. */
tutti__team *tutti__dataset_team(const tutti_dataset *d);
/* A communicator of the same ranks to make replicas and open files on; the dataset's. */
MPI_Comm tutti__dataset_comm(const tutti_dataset *d);
/* Which dataset it is: no other of this process has the number.   Local. */
int64_t tutti__dataset_number(const tutti_dataset *d);
/* How many decompositions have been made of it: the same on all ranks.   Local. */
int64_t tutti__dataset_count(tutti_dataset *d);
/* A space as of a segment (-1: now, that of the segment being written if it is a topology).   Local.
 * TUTTI_ERR_NOT_FOUND: there is none; TUTTI_ERR_STATE: a list that has no size yet. */
tutti_err tutti__dataset_space(const tutti_dataset *d, const char *name, tutti_count segment,
                               tutti__space_view *out) TUTTI_MUST_USE;
/* The ids of positions [lo, hi); each rank's own, empty is fine.   Collective; the view agrees. */
tutti_err tutti__dataset_ids(tutti_dataset *d, const tutti__space_view *view, tutti_count lo,
                             tutti_count hi, int64_t *ids_out) TUTTI_MUST_USE;

/* ---- the object */

/* A section that an operation writes. */
typedef struct tutti__put_target {
    int64_t variable, part;
    int64_t decomposition;
    int64_t ticket; /* section_state.h */
    int is_whole;   /* the operation covers the section */
} tutti__put_target;

/* An operation that writes sections, and its outcome. */
typedef struct tutti__put_record {
    tutti_err outcome; /* TUTTI__PUT_UNKNOWN: under way */
    tutti__sums sums;  /* of blocks that this rank sent to the file */
    tutti_dataset *dataset;
    tutti_request *request; /* started and not collected; NULL: none */
    tutti__put_target *targets;
    int64_t targets_n;
} tutti__put_record;
#define TUTTI__PUT_UNKNOWN ((tutti_err)1000)

/* A section that is being written, besides its row.  All but `state` are the same on all ranks. */
typedef struct tutti__section_progress {
    tutti__section_state state;
    int64_t record; /* the last operation that wrote it; -1: none */
    int puts;       /* how many did */
    /* Before the next put its fill value (TUTTI_RANKED: its header) is written.  Not if that put covers the section:
     * then no commit succeeds before one that does has. */
    int needs_base;
    int64_t decomposition; /* TUTTI_RANKED: that of its entries */
    tutti_count before;    /* TUTTI_RANKED: entries of lower ranks; each rank's own */
    uint64_t content;      /* ids: a hash of all of them */
} tutti__section_progress;

/* A segment that has begun: its row has an end once it is whole. */
typedef struct tutti__writing {
    int under_way;
    tutti__segment_row segment;
    tutti_file *file; /* one of the open ones */
    int new_file;     /* its row is not in the database yet */
    tutti__datafile row;
    tutti_off end;   /* the next section lies behind this */
    int has_tail;    /* bytes behind `end` may have been written: sections moved, a commit failed */
    int failed_sync; /* a sync of its file has failed since it began */
    tutti__section *sections;
    int64_t sections_n;
    tutti__section_progress *progress;
    int64_t progress_n;
    tutti__put_record **records;
    int64_t records_n;
    tutti__info *infos; /* rank 0 */
    int64_t infos_n;
} tutti__writing;

/* Sections of a segment that has been looked at. */
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
    int64_t *head;           /* the header of its sections; NULL: nothing is known */
    tutti_off bytes;         /* of the header */
    tutti_count before, all; /* entries of lower ranks, of all ranks */
} tutti__ranked_sizes;

/* Where the entries of a rank lie in a section by ranks. */
typedef struct tutti__places {
    int64_t decomposition, segment, part;
    tutti_count entries; /* of the list */
    tutti_count n;
    tutti_count *place;   /* [n] in the order of the decomposition; -1: nobody has put it */
    tutti_off item;       /* of items of so many bytes */
    tutti_access *access; /* it is this, from the first place on; NULL: not made yet */
    tutti_count *holes;   /* and these in memory have no place */
    tutti_count holes_n;
} tutti__places;

extern const tutti__class tutti__dataset_class;

struct tutti_dataset {
    TUTTI__OBJECT;
    tutti__team *aside; /* the same ranks, for a commit that was started; NULL until there is one */
    tutti_request *commit; /* under way; NULL: none */
    int64_t number;        /* of this process */
    int64_t count;         /* decompositions */
    int64_t stamps;        /* given out */
    int64_t clock;         /* uses of files */
    int mode;
    int started; /* a get is or was under way: files stay open */
    tutti_dataset_options opt;
    tutti_options io;
    tutti_off
        chunk_bytes;   /* of new compressed sections: TUTTI__CHUNK_BYTES; tests have smaller ones */
    tutti__meta *meta; /* rank 0 */
    tutti__model model;
    const tutti__container *container; /* that of model.container */
    tutti__writing now;                /* the segment that is being written */
    tutti__writing *waiting;           /* whole ones before it, of the same commit */
    int64_t waiting_n;
    int has_leftovers; /* bytes of a discarded segment could not be removed */
    int has_rows; /* netCDF: rows of a commit that failed could not be removed from the database */
    tutti__ncfile nc; /* data files are netCDF: the one that segments go to */
    tutti__open_file *files;
    int64_t files_n;
    tutti__known *known;
    int64_t known_n;
    tutti__listed *listed;
    int64_t listed_n;
    tutti__places *places;
    int64_t places_n;
    tutti__ranked_sizes ranked; /* of the last decomposition that put a ranked variable */
};

/* ---- dataset_object.c */
/* tutti__object_call; also refused while a commit is under way. */
tutti_err tutti__dataset_call(tutti_dataset *d, const tutti__call *c,
                              tutti_err mine) TUTTI_MUST_USE;
/* The ranks as whoever runs may use them: all calls have one team, a commit under way another. */
tutti__team *tutti__dataset_team_now(const tutti_dataset *d);
/* The first thing in every collective call: the handle is live, and puts and commits whose requests were abandoned
 * have ended.  Local, but waits for other ranks, which progress in their own calls. */
tutti_err tutti__dataset_enter(tutti_dataset *d) TUTTI_MUST_USE;
/* No commit is under way. */
tutti_err tutti__dataset_idle(const tutti_dataset *d) TUTTI_MUST_USE;
/* A later agreement of the same call. */
tutti_err tutti__dataset_agree(tutti_dataset *d, tutti_err mine) TUTTI_MUST_USE;
static inline tutti_err tutti__dataset_named(const tutti_dataset *d, const char *operation,
                                             tutti_err err) {
    return tutti__object_error(&d->object, operation, err);
}
/* Rank 0's bytes for all, of any length; *data is allocated on the others. */
tutti_err tutti__dataset_tell(tutti_dataset *d, void **data, size_t *bytes) TUTTI_MUST_USE;
tutti_err tutti__dataset_writable(const tutti_dataset *d) TUTTI_MUST_USE;
tutti_err tutti__dataset_segment_check(const tutti_dataset *d, tutti_count segment) TUTTI_MUST_USE;
/* Its bytes are here, not archived; it is there. */
tutti_err tutti__dataset_here(const tutti_dataset *d, tutti_count segment) TUTTI_MUST_USE;
/* The end of a call that reads, with what it has come to: a writer may have removed or archived segments
 * meanwhile.  Then neither data nor errors are to be trusted: TUTTI_ERR_STATE.   Collective; `err` agrees. */
tutti_err tutti__dataset_still_there(tutti_dataset *d, tutti_err err) TUTTI_MUST_USE;
/* A data file, opened if it is not; `creates`: anew.   Collective. */
tutti_err tutti__dataset_file(tutti_dataset *d, const tutti__datafile *row, int creates,
                              tutti_file **out) TUTTI_MUST_USE;
/* Close it (NULL: all).   Collective. */
tutti_err tutti__dataset_file_close(tutti_dataset *d, const tutti__datafile *row) TUTTI_MUST_USE;
void tutti__dataset_data_path(const tutti_dataset *d, const char *name, char *to, size_t room);
/* The model as rank 0 has it in the database now, on all ranks.   Collective. */
tutti_err tutti__dataset_load(tutti_dataset *d, tutti__model *out) TUTTI_MUST_USE;
void tutti__places_free(tutti__places *at); /* what it has */
/* Forget what is known of segments that are gone. */
void tutti__dataset_forget(tutti_dataset *d);

/* Carry out one operation on a data file; `mine` is what this rank has against it.   Collective. */
typedef struct tutti__move {
    tutti_file *file;
    const char *name;
    int is_write;
    int n;
    const tutti_part *parts;
    tutti_off least;           /* reads: where the sections end */
    tutti__put_record *record; /* writes: where sums and outcome go, or NULL */
    tutti_request **started;   /* do not wait: the request goes here */
} tutti__move;
tutti_err tutti__dataset_move(const tutti__move *m, tutti_err mine) TUTTI_MUST_USE;

/* ---- dataset_describe.c */
/* A space has another size from the segment being written on; `ids`: and an id map. */
tutti_err tutti__space_resize(tutti_dataset *d, int64_t space, int ndims, const tutti_count *shape,
                              int ids) TUTTI_MUST_USE;
/* A variable of the library's own on a space: "NAME:what", of int64. */
tutti_err tutti__own_variable(tutti_dataset *d, const tutti__space *space, const char *what,
                              tutti__variable **out) TUTTI_MUST_USE;

/* ---- misfit.c */
/* After an operation on sections of a file: TUTTI_ERR_VALUE names the variable and the position.  The
 * same on all ranks. */
void tutti__dataset_misfit(const tutti_dataset *d, const tutti__section *sections, int64_t n,
                           tutti_err err);

/* ---- sections.c */
/* Those of a segment, by number.   Collective. */
tutti_err tutti__sections_of(tutti_dataset *d, int64_t segment,
                             const tutti__known **out) TUTTI_MUST_USE;
/* The section of a variable in it, or NULL. */
const tutti__section *tutti__section_find(const tutti__known *k, int64_t variable, int64_t part);
/* Bytes of a section, by this rank alone.  TUTTI_ERR_TRUNCATED: the file ends before. */
tutti_err tutti__section_read(tutti_file *f, tutti_off at, tutti_off bytes,
                              void *to) TUTTI_MUST_USE;
/* A segment that has begun and was not committed (an id); NULL: it is none of those. */
const tutti__writing *tutti__writing_of(const tutti_dataset *d, int64_t segment);
/* Its section of a variable, or NULL. */
tutti__section *tutti__writing_section(const tutti__writing *w, int64_t variable, int64_t part);
/* That of the segment being written; NULL: none yet. */
tutti__section *tutti__section_now(tutti_dataset *d, int64_t variable, int64_t part);
/* A new one of it; its bytes are 0.   Collective. */
tutti_err tutti__section_new(tutti_dataset *d, const tutti__section *of, tutti_off bytes,
                             tutti__section **out) TUTTI_MUST_USE;
/* Give one another length, and so another place; its bytes are 0.   Collective. */
tutti_err tutti__section_move(tutti_dataset *d, tutti__section *s, tutti_off bytes,
                              tutti__section **out) TUTTI_MUST_USE;
tutti__section_progress *tutti__section_progress_of(const tutti_dataset *d,
                                                    const tutti__section *s);
/* Remove one of it. */
void tutti__section_drop(tutti_dataset *d, tutti__section *s);
/* A put of it was started and has not ended, as far as this rank knows. */
int tutti__section_in_flight(const tutti_dataset *d, const tutti__section *s);

/* A record of an operation that is going to write sections. */
tutti_err tutti__record_new(tutti_dataset *d, tutti__put_record **out) TUTTI_MUST_USE;
/* It writes this section.   Local. */
tutti_err tutti__record_target(tutti_dataset *d, tutti__put_record *record, const tutti__section *s,
                               int64_t decomposition, int is_whole) TUTTI_MUST_USE;
/* It has ended: the states of its sections change.   Local. */
void tutti__record_end(tutti__put_record *record, tutti_err outcome);
/* A sync of the file of the segment being written has failed: what was written to it must be written again. */
void tutti__sections_sync_failed(tutti_dataset *d);
void tutti__writings_free(tutti_dataset *d); /* nothing is under way any more */

/* Some bytes of a data file, by this rank alone. */
tutti_err tutti__file_put(tutti_file *f, tutti_off at, tutti_off bytes,
                          const void *data) TUTTI_MUST_USE;

/* ---- ranked.c */
/* A section of the segment being written for this decomposition, and, if missing, its list of entries.
 * Nothing is written.   Collective. */
tutti_err tutti__ranked_new(tutti_dataset *d, const tutti__variable *v, tutti_decomposition *p,
                            tutti__section **out) TUTTI_MUST_USE;
/* Write the list and the header where they are missing.   Collective. */
tutti_err tutti__ranked_prepare(tutti_dataset *d, const tutti__variable *v,
                                tutti_decomposition *p) TUTTI_MUST_USE;
/* Remove a section, and its list if no other section uses it. */
void tutti__ranked_drop(tutti_dataset *d, tutti__section *s);
/* What this rank writes into one, and what it reads of one: accesses of the data file. */
tutti_err tutti__ranked_writes(tutti_dataset *d, const tutti__section *s, tutti_off item,
                               tutti_decomposition *p, tutti_access **out) TUTTI_MUST_USE;
/* *holes_out: memory places of entries that nobody has put, to be freed.   Collective. */
tutti_err tutti__ranked_reads(tutti_dataset *d, const tutti__section *s, tutti_off item,
                              tutti_decomposition *p, tutti_access **out, tutti_count **holes_out,
                              tutti_count *holes_n_out) TUTTI_MUST_USE;

/* ---- checksums.c */
/* Sums of all blocks of the segment being written, section by section, on rank 0; sections have
 * theirs on all.   Collective. */
tutti_err tutti__checksums_make(tutti_dataset *d, uint64_t **table_out,
                                int64_t *n_out) TUTTI_MUST_USE;
/* Compare a section (NULL: all) of a segment with its sums.   Collective. */
tutti_err tutti__checksums_compare(tutti_dataset *d, const tutti__segment_row *g,
                                   const tutti__section *only, tutti_off *bytes_out) TUTTI_MUST_USE;

/* Compare with the checksums of blocks in the trailer, or with those of sections in the metadata.   Collective. */
tutti_err tutti__checksums_by_trailer(tutti_dataset *d, const tutti__comparison *c) TUTTI_MUST_USE;
tutti_err tutti__checksums_by_section(tutti_dataset *d, const tutti__comparison *c) TUTTI_MUST_USE;

/* Rank 0: the database is sound, and agrees with the metadata that data files have. */
tutti_err tutti__metadata_check(const tutti_dataset *d) TUTTI_MUST_USE;

/* ---- dataset_open.c */
/* Options as they are given (NULL: none), checked. */
tutti_err tutti__dataset_options_take(const tutti_dataset_options *opt,
                                      tutti_dataset_options *out) TUTTI_MUST_USE;

/* ---- commit.c */
/* Give up what has begun since the last commit.   Collective. */
tutti_err tutti__dataset_give_up(tutti_dataset *d) TUTTI_MUST_USE;

/* ---- carry.c */
/* Segments are going to be removed or archived: goes[] of the model. */
typedef struct tutti__info_carry {
    const tutti_dataset *dataset;
    const unsigned char *goes;
    int64_t segment;        /* the one with the new trailer; -1: none was needed, or possible */
    tutti__segment_row row; /* as it is now */
} tutti__info_carry;
/* Rank 0, in the transaction that removes or archives: infos that only their trailers have are written
 * into a second trailer behind that of the newest remaining segment, on the device.  Without such a segment
 * the next commit writes them.  The context is a tutti__info_carry. */
tutti_err tutti__infos_carry(void *context) TUTTI_MUST_USE;
/* The transaction has ended: all ranks have rank 0's row.   Collective. */
tutti_err tutti__infos_carried(tutti_dataset *d, tutti__info_carry *c) TUTTI_MUST_USE;

/* ---- erase.c */
/* Writers: remove the segments of a commit that was not finished.   Collective. */
tutti_err tutti__dataset_recover(tutti_dataset *d) TUTTI_MUST_USE;
/* Rank 0: data behind the last segment of each file is removed, and files whose segments are all archived.
 * TUTTI_ERR_FORMAT: a file is too short.   Local. */
tutti_err tutti__dataset_reclaim(const tutti_dataset *d) TUTTI_MUST_USE;

#endif
