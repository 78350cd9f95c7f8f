/* timestep: records of puts: which sections of a step each put writes, and its outcome.  Does not
 * use MPI directly.
 *
 * A put gets a record after all ranks have agreed on the call.  When its outcome is known, the
 * states of its sections change (section_state.h).  A started put ends when its caller collects it:
 * until then its outcome is unknown and the step cannot be committed.  The outcome of an abandoned
 * put is a failure, since its caller does not know it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_PUT_RECORD_H
#define TUTTI_PUT_RECORD_H

#include "collective/layer.h"
#include "timestep/section_state.h"

#define TUTTI__PUT_UNKNOWN ((tutti_err)1000)

/* A section that a put writes, identified by a variable and a part; the part is 0 in files without
 * parts. */
typedef struct tutti__put_target {
    int64_t variable, part;
    /* identifies the entries that are written, e.g. the number of their decomposition */
    int64_t entries;
    int is_whole; /* whether the put covers the section */
    /* whether the library owns the data; then an abandoned put that succeeds has written it */
    int is_own;
    int64_t ticket;
} tutti__put_target;

typedef struct tutti__put_list tutti__put_list;

typedef struct tutti__put_record {
    tutti_err outcome;          /* TUTTI__PUT_UNKNOWN: in progress */
    tutti__checksums checksums; /* checksums of blocks that this rank wrote */
    tutti__put_list *list;
    tutti_request *request; /* request of a started put that has not been collected; NULL: none */
    tutti__put_target *targets;
    int64_t targets_n;
} tutti__put_record;

/* The puts of a step. */
struct tutti__put_list {
    tutti__put_record **v;
    int64_t n;
    /* The state of a section; NULL: the section does not exist (any more). */
    tutti__section_state *(*state_of)(void *step, int64_t variable, int64_t part);
    void *step;
};

/* No function is collective. */

/* Add a record for at most `targets` sections to the list. */
tutti_err tutti__put_new(tutti__put_list *list, int64_t targets,
                         tutti__put_record **out) TUTTI_MUST_USE;
/* Remove the record of a put that has not written anything, and free it; NULL is ignored. */
void tutti__put_drop(tutti__put_record **record);
/* Add a section that the put writes, and update its state. */
tutti_err tutti__put_target_add(tutti__put_record *record,
                                const tutti__put_target *target) TUTTI_MUST_USE;
/* Update the states of the sections of a put that has ended. */
void tutti__put_end(tutti__put_record *record, tutti_err outcome);
/* Return whether a put of this section is in progress on this rank. */
int tutti__put_in_flight(const tutti__put_list *list, int64_t variable, int64_t part);
/* Fail with TUTTI_ERR_STATE if a put has been started and not completed. */
tutti_err tutti__puts_ended(const tutti__put_list *list) TUTTI_MUST_USE;
void tutti__puts_free(tutti__put_list *list);

#endif
