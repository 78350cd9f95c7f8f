/* comm: collective messages among the ranks of one node, along a binomial tree from its first rank.
 * They need no communicator of the node, whose creation is expensive.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NODE_MESSAGES_H
#define TUTTI_NODE_MESSAGES_H

#include "comm/team.h"

/* Send `bytes` bytes from the node's first rank to its other ranks.  Collective on the ranks of the
 * node. */
tutti_err tutti__node_broadcast(const tutti__team *t, void *data, int bytes) TUTTI_MUST_USE;
/* Set *all_out to whether `answer` is nonzero on all ranks of the node.  Collective on the ranks of
 * the node. */
tutti_err tutti__node_all(const tutti__team *t, int answer, int *all_out) TUTTI_MUST_USE;

#endif
