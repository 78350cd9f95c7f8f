/* timestep: validity of the bytes of a section that is being written.                 no MPI
 *
 * A section is written by any number of puts.  A decomposition, identified by a number, determines
 * the entries that a put writes.  The rules:
 *
 *   - A put that fails leaves unknown bytes in its entries.  A later put repairs that only if it
 *     succeeds and writes at least those entries: it has the same decomposition, or it covers the
 *     whole section.
 *   - A failed sync may have lost the bytes of every earlier put, so each of them must be
 *     repeated, or one put must cover the whole section.
 *   - A section with a put that must be repeated has failed and cannot be committed.
 *
 * Puts may overlap.  A put is later than an event if it started after that event: after the end of
 * another put, whose bytes could otherwise reach the file last.  Memory: one entry per decomposition.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SECTION_STATE_H
#define TUTTI_SECTION_STATE_H

#include "base/memory.h"

typedef enum tutti__section_status {
    TUTTI__SECTION_EMPTY,   /* no put has succeeded */
    TUTTI__SECTION_PARTIAL, /* some puts have, none of them of the whole section */
    TUTTI__SECTION_WHOLE,   /* a put of the whole section has */
    TUTTI__SECTION_FAILED   /* some put must be repeated */
} tutti__section_status;

/* The puts of one decomposition.  Times are tickets: puts and failed syncs are numbered from 1 on. */
typedef struct tutti__section_put {
    int64_t decomposition;
    /* the last ticket when one ended that no put of the whole section replaced; 0: none */
    int64_t ended;
    /* the last ticket when a put or a sync failed, so that a later put is needed; 0: none */
    int64_t failed;
} tutti__section_put;

/* All 0: an empty section. */
typedef struct tutti__section_state {
    tutti__section_put *puts;
    int64_t n;
    int64_t tickets; /* given so far */
    int is_whole;
} tutti__section_state;

tutti__section_status tutti__section_status_of(const tutti__section_state *s);
/* A put starts: it gets a ticket, and memory is reserved for its outcome. */
tutti_err tutti__section_put_start(tutti__section_state *s, int64_t decomposition,
                                   int64_t *ticket_out) TUTTI_MUST_USE;
/* The put has ended. */
void tutti__section_put_failed(tutti__section_state *s, int64_t decomposition);
void tutti__section_put_succeeded(tutti__section_state *s, int64_t decomposition, int64_t ticket,
                                  int is_whole);
/* A sync of the file has failed.  All puts have ended. */
void tutti__section_sync_failed(tutti__section_state *s);
void tutti__section_state_free(tutti__section_state *s);

#endif
