/* segments: operations that differ between kinds of data files: native (.tutti) and netCDF (.nc).
 *
 * There is one table per kind; tutti_dataset.container is chosen when the dataset is opened.  The
 * functions are called in this order for a step (a segment):
 *
 *   begin     is_known, load, continues, place, prepare
 *   write     put_check, section_start
 *   commit    commit_check, end, finish; data and directory are synced; the transaction; publish;
 *             committed
 *   discard   discard
 *   erase     erase in the transaction, then reclaim
 *
 * No entry is NULL, except that `publish` may be.
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
    const tutti__known *known;  /* sections of the segment, all of which have a checksum */
    const tutti__section *only; /* compare only this section; NULL: all sections */
} tutti__comparison;

typedef struct tutti__container {
    const char *name;          /* name for messages */
    const char *extension;     /* extension of the names of data files */
    const char *archive_error; /* reason why segments cannot be archived; NULL: they can */
    /* default byte order of variables; TUTTI_NATIVE_ENDIAN: that of this machine */
    tutti_byte_order order;
    tutti_byte_order own_order; /* byte order of the library's own variables */
    tutti_count least_entries;  /* minimum number of entries of a list with an id map */

    /* ---- definitions.   Not collective.  TUTTI_ERR_UNSUPPORTED: data files of this kind cannot
     * represent it */

    tutti_err (*space_check)(const tutti__model *m, const char *name, int kind);
    tutti_err (*variable_check)(const tutti__model *m, const tutti__variable *v);
    tutti_err (*type_check)(const char *variable, int type);

    /* ---- begin */

    /* Return whether this rank has the data of the file with the last step that `continues` and
     * `place` need; the result is the same on all ranks.  Local. */
    int (*is_known)(const tutti_dataset *d, const tutti__datafile *file);
    /* Load this data.   Collective. */
    tutti_err (*load)(tutti_dataset *d, const tutti__datafile *file);
    /* Return whether a step of this kind can be appended to the loaded file.   Not collective. */
    int (*continues)(const tutti_dataset *d, int kind);
    /* Set w->segment.start and w->end; the file of the step is loaded.   Not collective. */
    void (*place)(const tutti_dataset *d, tutti__writing *w);
    /* On rank 0, prepare an existing file: write what must precede the step, and remove bytes at
     * and after its start. */
    tutti_err (*prepare)(tutti_dataset *d, const tutti__writing *w);

    /* ---- write */

    /* Check that the variable can be written in d->now.   Not collective. */
    tutti_err (*put_check)(const tutti_dataset *d, const tutti__variable *v);
    /* Return the offset of a new section of d->now.   Not collective. */
    tutti_off (*section_start)(const tutti_dataset *d, const tutti__section *of, tutti_off bytes);

    /* ---- commit */

    /* Check that d->now has all data that a step must have.   Not collective. */
    tutti_err (*commit_check)(const tutti_dataset *d);
    /* Set trailer and end of d->now.segment after its last section; `finish` may increase the end.
     * Not collective. */
    void (*end)(tutti_dataset *d);
    /* On rank 0, in the transaction, which has all rows of d->now except that of the segment: add
     * this row, and write all data that must be on the device before the commit point.  Without
     * `publish`, the end of the transaction is the commit point. */
    tutti_err (*finish)(tutti_dataset *d, const tutti__trailer_spec *spec);
    /* On rank 0, after the transaction: perform the commit.  If it fails, the rows are removed
     * again. */
    tutti_err (*publish)(const tutti_dataset *d);
    /* Update the state after a successful commit; its segments are still d->waiting and d->now.
     * Not collective. */
    void (*committed)(tutti_dataset *d);
    /* Describe in *out the file of d->now, including d->now, which is complete and waits for the
     * commit while the next step begins.   Not collective. */
    tutti_err (*set_aside)(const tutti_dataset *d, tutti__ncfile *out);

    /* ---- discard, erase */

    /* Remove the bytes of an uncommitted step from a file that existed before it.   Collective. */
    tutti_err (*discard)(tutti_dataset *d, const tutti__writing *w);
    /* On rank 0, in the transaction that removes the rows of segments: adjust other metadata; the
     * context is a tutti__info_carry. */
    tutti_err (*erase)(void *context);
    /* On rank 0, truncate a file after its last segment.  Fails with TUTTI_ERR_FORMAT if the file
     * is too short. */
    tutti_err (*reclaim)(const tutti_dataset *d, const tutti__datafile *f);

    /* ---- verify */

    /* On rank 0, check that the metadata in a file agrees with the database. */
    tutti_err (*file_check)(const tutti_dataset *d, const tutti__datafile *f);
    /* Compare sections with their checksums.   Collective. */
    tutti_err (*compare)(tutti_dataset *d, const tutti__comparison *c);
} tutti__container;

extern const tutti__container tutti__container_native, tutti__container_netcdf;

#endif
