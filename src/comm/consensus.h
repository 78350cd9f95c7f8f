/* comm: agreement without messages, for ranks that share memory.  In a round every rank answers
 * some questions with yes or no and provides some numbers; all ranks get the unanimous answers and
 * the range of each number.  In a team of several nodes the ranks of each node have such memory, too:
 * votes use it (vote.c), so that only one rank per node sends messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CONSENSUS_H
#define TUTTI_CONSENSUS_H

#include "comm/vote.h"

enum { TUTTI__CONSENSUS_RANGES = TUTTI__RANGES + 4 + TUTTI__ANNOUNCEMENTS };

/* Whether all ranks of the team share this memory; the same on all ranks. */
static inline int tutti__consensus_ready(const tutti__team *t) {
    return t->size == 1 || (t->nodes.n == 1 && t->consensus.base != NULL);
}
/* Bytes of memory that this node needs for it, 0: no node has two ranks.  Not collective. */
size_t tutti__consensus_bytes(const tutti__team *t);
/* From now on the ranks of each node have it: memory of that size, zeroed, the same for all ranks of a
 * node, which lives as long as the team; NULL on a rank that is alone on its node.  Local, on all ranks. */
void tutti__consensus_use(tutti__team *t, char *memory);

/* One round.  `yes`: one bit per question; the result has the bits that all ranks set.   range[i]:
 * in, one number or none; out, the smallest and the largest of all ranks.   Collective; the team
 * must be ready. */
int64_t tutti__consensus(tutti__team *t, int64_t yes, int n, tutti__range *range);
/* The same in parts, without waiting: write the answers of this rank; test whether all ranks have
 * answered; then collect, with the same arguments.  No other round of the team may come between. */
void tutti__consensus_answer(tutti__team *t, int64_t yes, int n, const tutti__range *range);
int tutti__consensus_is_complete(const tutti__team *t);
int64_t tutti__consensus_collect(tutti__team *t, int64_t yes, int n, tutti__range *range);
/* After tutti__consensus_answer: wait until all ranks have answered. */
void tutti__consensus_wait(const tutti__team *t);
/* What is signalled when all have answered, for tutti__wait_begin; NULL: there is no such memory. */
struct tutti__event *tutti__consensus_event(const tutti__team *t);

/* A round in which every rank of this node posts some bytes; then those of the rank at a position in the
 * node, until the next round.   Collective on the ranks of the node, which have the memory. */
enum { TUTTI__POST_BYTES = 2048 }; /* at most */
void tutti__consensus_post(tutti__team *t, const void *data, size_t bytes);
const void *tutti__consensus_posted(const tutti__team *t, int position);

/* Memory of the next round: data that a rank stores there before its answer is visible to others
 * when all have answered. */
#define TUTTI__CONSENSUS_DATA_BYTES ((tutti_off)256 << 10)
char *tutti__consensus_data(const tutti__team *t);
char *tutti__consensus_last_data(const tutti__team *t); /* of the last round */
/* After a round one rank may execute work for all: the first that calls this, or only rank `who`
 * (-1: any).  The others wait for its outcome. */
int tutti__consensus_work_claim(tutti__team *t, int who);
void tutti__consensus_work_end(tutti__team *t, int well);
int tutti__consensus_work_outcome(const tutti__team *t);
int tutti__consensus_work_is_done(const tutti__team *t); /* would that wait no more? */

#endif
