/* comm: reductions without messages, for ranks that share memory.  In a round every rank provides
 * one bit per question and some numbers; all ranks get the bitwise AND of the answers and the
 * minimum and maximum of each number.  In a team of several nodes, the ranks of each node share
 * such memory, too: votes use it (vote.c), so that only one rank per node sends messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONSENSUS_H
#define TUTTI_CONSENSUS_H

#include "comm/vote.h"

/* Maximum number of ranges of a round. */
enum { TUTTI__CONSENSUS_RANGES = TUTTI__RANGES + 4 + TUTTI__ANNOUNCEMENTS };

/* Return whether all ranks of the team share consensus memory (or the team has one rank); the same
 * on all ranks. */
static inline int tutti__consensus_ready(const tutti__team *t) {
    return t->size == 1 || (t->nodes.n == 1 && t->consensus.base != NULL);
}
/* Return the bytes of consensus memory for this node; 0 if no node has two ranks.  Not
 * collective. */
size_t tutti__consensus_bytes(const tutti__team *t);
/* Use `memory` for consensus: tutti__consensus_bytes() zeroed bytes, shared by the ranks of a node
 * and valid as long as the team; NULL on the only rank of a node.  Does not communicate; all ranks
 * must call it. */
void tutti__consensus_use(tutti__team *t, char *memory);

/* Execute one round.  `yes` has one bit per question; the result has the bits that all ranks set.
 * range[i] is one number or empty on entry, and the minimum and maximum over all ranks on return.
 * Collective; tutti__consensus_ready must be true. */
int64_t tutti__consensus(tutti__team *t, int64_t yes, int n, tutti__range *range);
/* The parts of tutti__consensus, for callers that do not wait: write the answers of this rank; test
 * whether all ranks have answered; then collect the results, with the same arguments.  The team
 * must not execute another round in between. */
void tutti__consensus_answer(tutti__team *t, int64_t yes, int n, const tutti__range *range);
int tutti__consensus_is_complete(const tutti__team *t);
int64_t tutti__consensus_collect(tutti__team *t, int64_t yes, int n, tutti__range *range);
/* Return the sum of number i over all ranks; `own` is the number that this rank provided.  Returns
 * INT64_MAX if the sum overflows.  Valid until the next round. */
int64_t tutti__consensus_sum(const tutti__team *t, int i, int64_t own);
/* After tutti__consensus_answer: wait until all ranks have answered. */
void tutti__consensus_wait(const tutti__team *t);
/* The event that is signalled when all ranks have answered, for tutti__wait_begin; NULL: no shared
 * memory. */
struct tutti__event *tutti__consensus_event(const tutti__team *t);

enum { TUTTI__POST_BYTES = 2048 };
/* Execute a round in which every rank of this node posts at most TUTTI__POST_BYTES bytes.
 * Collective on the ranks of the node, which must share consensus memory. */
void tutti__consensus_post(tutti__team *t, const void *data, size_t bytes);
/* Return the bytes posted by the rank at a position in the node, valid until the next round. */
const void *tutti__consensus_posted(const tutti__team *t, int position);

#define TUTTI__CONSENSUS_DATA_BYTES ((tutti_off)256 << 10)
/* Return the data memory of the next round: data that a rank stores there before it answers is
 * visible to the other ranks when all ranks have answered. */
char *tutti__consensus_data(const tutti__team *t);
char *tutti__consensus_last_data(const tutti__team *t); /* data memory of the last round */
/* After a round, one rank may execute work for all ranks of the node: rank `who`, or the first
 * caller if `who` is -1.  Returns 1 on that rank, 0 on the others, which wait for the outcome. */
int tutti__consensus_work_claim(tutti__team *t, int who);
/* End the claimed work; `well` is whether it succeeded. */
void tutti__consensus_work_end(tutti__team *t, int well);
/* Wait until the work has ended, and return whether it succeeded. */
int tutti__consensus_work_outcome(const tutti__team *t);
/* Return whether the work has ended. */
int tutti__consensus_work_is_done(const tutti__team *t);

#endif
