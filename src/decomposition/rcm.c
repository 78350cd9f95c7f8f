/* decomposition: reverse Cuthill-McKee: nodes by levels of distance from a peripheral one, in each level
 * those with few neighbours first; the numbers are reversed in the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/partition.h"

static tutti_count degree(const tutti__graph *g, tutti_count i) {
    return g->start[i + 1] - g->start[i];
}

/* Visit all nodes that can be reached from `root`, level by level, in `order`.  Visited nodes have
 * mark[i] == round.  Returns their number; *last_out: where the last level begins. */
static tutti_count visit_levels(const tutti__graph *g, tutti_count root, int round, int *mark,
                                tutti_count *order, tutti_count *last_out, tutti_count *depth_out) {
    tutti_count head = 0, tail = 1, level = 1;
    order[0] = root;
    mark[root] = round;
    *last_out = 0;
    *depth_out = 0;
    while (head < tail) {
        const tutti_count i = order[head++];
        const tutti_count begin = tail;
        for (tutti_count j = g->start[i]; j < g->start[i + 1]; j++) {
            if (mark[g->to[j]] == round) continue;
            mark[g->to[j]] = round;
            /* by degree, then by number: lists are short */
            tutti_count at = tail++;
            for (; at > begin && degree(g, order[at - 1]) > degree(g, g->to[j]); at--)
                order[at] = order[at - 1];
            order[at] = g->to[j];
        }
        if (head == level && head < tail) {
            *last_out = head;
            ++*depth_out;
            level = tail;
        }
    }
    return tail;
}

/* A pseudo-peripheral node (George and Liu): continue with a node of fewest neighbours in the last level
 * as long as that gives more levels. */
static tutti_count peripheral_node(const tutti__graph *g, tutti_count root, int *round, int *mark,
                                   tutti_count *order) {
    tutti_count last = 0, depth = 0, best = -1;
    for (;;) {
        const tutti_count end = visit_levels(g, root, ++*round, mark, order, &last, &depth);
        if (depth <= best) return root;
        best = depth;
        tutti_count next = order[last];
        for (tutti_count i = last; i < end; i++)
            if (degree(g, order[i]) < degree(g, next)) next = order[i];
        if (next == root) return root;
        root = next;
    }
}

tutti_err tutti__rcm(const tutti__graph *g, tutti_count *number_out) {
    const tutti_count n = g->nodes;
    int *mark = tutti__calloc((size_t)n + 1, sizeof *mark), round = 0;
    tutti_count *order = tutti__malloc(((size_t)n + 1) * sizeof *order), at = 0, last = 0,
                depth = 0;
    if (!mark || !order) {
        tutti__free(mark);
        tutti__free(order);
        return TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < n; i++) number_out[i] = -1;
    for (tutti_count i = 0; i < n; i++) { /* for each connected component */
        if (number_out[i] >= 0) continue;
        tutti_count root = i;
        if (degree(g, i) > 0) root = peripheral_node(g, i, &round, mark, order);
        const tutti_count k = visit_levels(g, root, ++round, mark, order, &last, &depth);
        for (tutti_count j = 0; j < k; j++) number_out[order[j]] = n - 1 - at++;
    }
    tutti__free(mark);
    tutti__free(order);
    return TUTTI_OK;
}
