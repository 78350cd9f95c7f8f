/* base: handles that are alive.  Everything that a caller holds by an address is listed here until
 * it is freed, so that a stale handle (of a closed file, a freed plan) is an error and not a crash:
 * the address is looked up, and memory that is gone is never read.  An address that has been given
 * to a new object of the same kind meanwhile cannot be told from it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_HANDLE_H
#define TUTTI_HANDLE_H

typedef enum tutti__kind {
    TUTTI__NO_HANDLE,
    TUTTI__ACCESS,
    TUTTI__FILE,
    TUTTI__PLAN,
    TUTTI__REQUEST,
    TUTTI__ARRAY,
    TUTTI__TILES,
    TUTTI__REPLICAS,
    TUTTI__MESH,
    TUTTI__MESH_PART,
    TUTTI__DATASET,
    TUTTI__DECOMPOSITION,
    TUTTI__EXODUS
} tutti__kind;

/* Part of the object; all zero: not listed. */
typedef struct tutti__handle {
    struct tutti__handle *next, **at;
    tutti__kind kind;
} tutti__handle;

void tutti__handle_add(tutti__handle *h, tutti__kind kind);
/* Nothing happens if it is not listed. */
void tutti__handle_remove(tutti__handle *h);
/* `h` may lead to anywhere: it is compared, not followed. */
int tutti__handle_alive(const tutti__handle *h, tutti__kind kind);
/* One of this kind that is(h, context), or NULL; nobody removes it meanwhile, as the caller knows. */
const tutti__handle *tutti__handle_search(tutti__kind kind,
                                          int (*is)(const tutti__handle *h, const void *context),
                                          const void *context);

#endif
