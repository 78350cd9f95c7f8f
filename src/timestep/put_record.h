/* timestep: records of puts: which sections of a step each put writes, and its outcome.             no MPI of its own
 *
 * A put gets a record after all ranks have agreed on the call.  When its outcome is known, the states of its sections
 * change (section_state.h).  A started put ends when its caller collects it: until then its outcome is unknown and
 * the step cannot be committed.  The outcome of an abandoned put is a failure, since its caller does not know it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PUT_RECORD_H
#define TUTTI_PUT_RECORD_H

#include "collective/layer.h"
#include "timestep/section_state.h"

#define TUTTI__PUT_UNKNOWN ((tutti_err)1000)

/* A section that a put writes.  Sections have a variable and a part; files without parts have part 0. */
typedef struct tutti__put_target {
    int64_t variable, part;
    int64_t
        entries;  /* a number of the entries that are written, e.g. that of their decomposition */
    int is_whole; /* the put covers the section */
    int is_own;   /* data of the library: also an abandoned put has written it if it succeeded */
    int64_t ticket;
} tutti__put_target;

typedef struct tutti__put_list tutti__put_list;

typedef struct tutti__put_record {
    tutti_err outcome; /* TUTTI__PUT_UNKNOWN: under way */
    tutti__sums sums;  /* of blocks that this rank sent to the file */
    tutti__put_list *list;
    tutti_request *request; /* started and not collected; NULL: none */
    tutti__put_target *targets;
    int64_t targets_n;
} tutti__put_record;

/* The puts of a step. */
struct tutti__put_list {
    tutti__put_record **v;
    int64_t n;
    /* The state of a section; NULL: there is none (any more). */
    tutti__section_state *(*state_of)(void *step, int64_t variable, int64_t part);
    void *step;
};

/* All of it is local. */

/* A record with room for so many targets; it is in the list. */
tutti_err tutti__put_new(tutti__put_list *list, int64_t targets,
                         tutti__put_record **out) TUTTI_MUST_USE;
/* Take the record out of the list and free it; NULL is ignored.  Nothing has been written. */
void tutti__put_drop(tutti__put_record **record);
/* The put writes this section as well: its state has been told. */
tutti_err tutti__put_target_add(tutti__put_record *record,
                                const tutti__put_target *target) TUTTI_MUST_USE;
/* It has ended: the states of its sections change. */
void tutti__put_end(tutti__put_record *record, tutti_err outcome);
/* Whether a put of this section was started and has not ended, as far as this rank knows. */
int tutti__put_in_flight(const tutti__put_list *list, int64_t variable, int64_t part);
/* TUTTI_ERR_STATE: a put has been started and not completed. */
tutti_err tutti__puts_ended(const tutti__put_list *list) TUTTI_MUST_USE;
/* Puts whose requests were abandoned have ended; waits for other ranks, which progress in their own calls. */
void tutti__puts_settle(const tutti__put_list *list);
void tutti__puts_free(tutti__put_list *list);

/* Carry out a transfer whose outcome is the record's.  `started`: NULL, or where the request goes.   Collective. */
tutti_err tutti__put_transfer(tutti__put_record *record, const tutti__transfer *t,
                              tutti_request **started) TUTTI_MUST_USE;

#endif
