/* segments: operations that differ between kinds of data files: native (.tutti) and netCDF (.nc).
 *
 * There is one table per kind; tutti_dataset.container is chosen when the dataset is opened.  The life of a
 * step (a segment) calls them in this order:
 *
 *   begin     is_known, load, continues, place, prepare
 *   write     put_check, section_start
 *   commit    commit_check, end, finish; data and directory are synced; the transaction; publish; committed
 *   discard   discard
 *   erase     erase in the transaction, then reclaim
 *
 * Entries are never NULL, except `publish`.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONTAINER_H
#define TUTTI_CONTAINER_H

#include "netcdf/netcdf.h"
#include "metadata/trailer.h"

typedef struct tutti__writing tutti__writing;
typedef struct tutti__known tutti__known;

/* A committed segment to compare with its checksums. */
typedef struct tutti__comparison {
    tutti_file *file;
    const tutti__segment_row *segment;
    const tutti__known *known;  /* its sections, all of which have a checksum */
    const tutti__section *only; /* one of them; NULL: all */
} tutti__comparison;

typedef struct tutti__container {
    const char *name;           /* in messages */
    const char *extension;      /* of data files */
    const char *archive_error;  /* why segments cannot be archived; NULL: they can */
    tutti_byte_order order;     /* of variables by default; TUTTI_NATIVE_ENDIAN: this machine's */
    tutti_byte_order own_order; /* of the library's own variables */
    tutti_count least_entries;  /* of a list with an id map */

    /* ---- definitions.   Not collective.  TUTTI_ERR_UNSUPPORTED: data files of this kind cannot represent it */

    tutti_err (*space_check)(const tutti__model *m, const char *name, int kind);
    tutti_err (*variable_check)(const tutti__model *m, const tutti__variable *v);
    tutti_err (*type_check)(const char *variable, int type);

    /* ---- begin */

    /* Return whether this rank has the data of the file with the last step that `continues` and
     * `place` need: the same on all ranks.
     * Local. */
    int (*is_known)(const tutti_dataset *d, const tutti__datafile *file);
    /* Make it known.   Collective. */
    tutti_err (*load)(tutti_dataset *d, const tutti__datafile *file);
    /* Whether a step of this kind can be appended to the file that is known.   Not collective. */
    int (*continues)(const tutti_dataset *d, int kind);
    /* Set w->segment.start and w->end; the file of the step is known.   Not collective. */
    void (*place)(const tutti_dataset *d, tutti__writing *w);
    /* Rank 0: the file, which is not new, has all that must precede the step, and no bytes at or
     * after its start. */
    tutti_err (*prepare)(tutti_dataset *d, const tutti__writing *w);

    /* ---- write */

    /* The variable can be written in d->now.   Not collective. */
    tutti_err (*put_check)(const tutti_dataset *d, const tutti__variable *v);
    /* The offset of a new section of d->now.   Not collective. */
    tutti_off (*section_start)(const tutti_dataset *d, const tutti__section *of, tutti_off bytes);

    /* ---- commit */

    /* d->now has all that a step must have.   Not collective. */
    tutti_err (*commit_check)(const tutti_dataset *d);
    /* No more sections follow: set trailer and end of d->now.segment, which `finish` may increase.   Not collective. */
    void (*end)(tutti_dataset *d);
    /* Rank 0, in the transaction, which has all rows of d->now but the segment's: add that row
     * and write all that must be on the device before the commit point.  Without `publish` the
     * transaction is the commit point. */
    tutti_err (*finish)(tutti_dataset *d, const tutti__trailer_spec *spec);
    /* Rank 0, after the transaction: the commit point.  If it fails, the rows are removed again. */
    tutti_err (*publish)(const tutti_dataset *d);
    /* The commit has succeeded; its segments are still d->waiting and d->now.   Not collective. */
    void (*committed)(tutti_dataset *d);
    /* d->now is complete and waits for the commit while the next step begins: *out is its file with the step in it.   Not collective. */
    tutti_err (*set_aside)(const tutti_dataset *d, tutti__ncfile *out);

    /* ---- discard, erase */

    /* The bytes of a step that was not committed are removed from a file that existed before it.   Collective. */
    tutti_err (*discard)(tutti_dataset *d, const tutti__writing *w);
    /* Rank 0, in the transaction that removes the rows of segments; the context is a tutti__info_carry. */
    tutti_err (*erase)(void *context);
    /* Rank 0: the file ends with its last segment.  TUTTI_ERR_FORMAT: it is too short for it. */
    tutti_err (*reclaim)(const tutti_dataset *d, const tutti__datafile *f);

    /* ---- verify */

    /* Rank 0: the metadata that a file has agree with the database. */
    tutti_err (*file_check)(const tutti_dataset *d, const tutti__datafile *f);
    /* Compare sections with their checksums.   Collective. */
    tutti_err (*compare)(tutti_dataset *d, const tutti__comparison *c);
} tutti__container;

extern const tutti__container tutti__container_native, tutti__container_netcdf;

#endif
