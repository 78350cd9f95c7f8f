/* exodus: the sidecar database of a file, used by rank 0: checksums, notes, topologies of empty
 * blocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SIDECAR_H
#define TUTTI_SIDECAR_H

#include <tutti/element_types.h>
#include "base/memory.h"

typedef struct tutti__sidecar tutti__sidecar;

typedef struct tutti__sidecar_options {
    int writes, durable;
    double busy;
    uint64_t header; /* hash of the header of the file to which the sidecar belongs */
} tutti__sidecar_options;

/* Return the path of the sidecar of a file; the caller frees it with tutti__free. */
char *tutti__sidecar_path(const char *file);
/* Create a sidecar; an existing file is replaced. */
tutti_err tutti__sidecar_make(const char *file, const tutti__sidecar_options *opt,
                              tutti__sidecar **out) TUTTI_MUST_USE;
/* Open the sidecar of a file.  If it is missing, damaged or belongs to another file, `warning` is
 * set; *out is then NULL for readers and a new sidecar for writers.
 * @return TUTTI_ERR_STATE if another program is writing it */
tutti_err tutti__sidecar_open(const char *file, const tutti__sidecar_options *opt, char *warning,
                              size_t capacity, tutti__sidecar **out) TUTTI_MUST_USE;
void tutti__sidecar_close(tutti__sidecar **s);
void tutti__sidecar_remove(const char *file);

/* Return whether the blocks of a step start at its record; otherwise they start at multiples of
 * their size in the file, like blocks of the mesh. */
int tutti__sidecar_has_record_blocks(const tutti__sidecar *s);
/* Store the checksums of the blocks of a step (0: the mesh); existing checksums are replaced. */
tutti_err tutti__sidecar_add_sums(tutti__sidecar *s, tutti_count step, tutti_count n,
                                  const uint64_t *checksums) TUTTI_MUST_USE;
/* Read the checksums of a step; the caller frees *out.
 * @return TUTTI_ERR_NOT_FOUND if none exist */
tutti_err tutti__sidecar_sums(tutti__sidecar *s, tutti_count step, uint64_t **out,
                              tutti_count *n_out) TUTTI_MUST_USE;
/* Remove the checksums of all steps after step `after`. */
tutti_err tutti__sidecar_drop(tutti__sidecar *s, tutti_count after) TUTTI_MUST_USE;

/* Set a lower bound of the number of steps in the header (0: unknown): when the file is closed, and
 * before steps are erased.  tutti__sidecar_steps returns it. */
tutti_err tutti__sidecar_set_steps(tutti__sidecar *s, tutti_count steps) TUTTI_MUST_USE;
tutti_err tutti__sidecar_steps(tutti__sidecar *s, tutti_count *out) TUTTI_MUST_USE;

/* Name of the topology of an empty block. */
typedef struct tutti__sidecar_topology {
    int kind;
    int64_t id;
    int nodes;
    char name[33];
} tutti__sidecar_topology;
tutti_err tutti__sidecar_put_topologies(tutti__sidecar *s, tutti_count n,
                                        const tutti__sidecar_topology *v) TUTTI_MUST_USE;
/* Read the topologies; the caller frees *out. */
tutti_err tutti__sidecar_topologies(tutti__sidecar *s, tutti__sidecar_topology **out,
                                    tutti_count *n_out) TUTTI_MUST_USE;

/* A note: a named value. */
typedef struct tutti__note {
    char name[128];
    int type;
    tutti_count count;
    size_t bytes;
    void *value; /* value; after tutti__sidecar_note_get the caller frees it */
} tutti__note;
tutti_err tutti__sidecar_note_set(tutti__sidecar *s, const tutti__note *note) TUTTI_MUST_USE;
tutti_err tutti__sidecar_note_get(tutti__sidecar *s, const char *name,
                                  tutti__note *out) TUTTI_MUST_USE;
/* Get the name of a note by its number in alphabetical order. */
tutti_err tutti__sidecar_note_name(tutti__sidecar *s, tutti_count number,
                                   char name_out[128]) TUTTI_MUST_USE;

#endif
