/* decomposition: reverse Cuthill-McKee: nodes are numbered by distance from a peripheral node,
 * nodes of equal distance in the order of their search, with few neighbours first; finally the
 * numbers are reversed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/partition.h"

static tutti_count node_degree(const tutti__graph *g, tutti_count i) {
    return g->start[i + 1] - g->start[i];
}

/* State and result of a breadth-first search. */
typedef struct {
    const tutti__graph *graph;
    int *mark; /* [nodes] number of the last search that visited the node */
    int round;
    tutti_count *order; /* [nodes] visited nodes, level by level */
    /* index in `order` of the last level; number of levels after the first */
    tutti_count last, depth;
} level_search;

/* Visit all nodes that can be reached from `root`, and return their number. */
static tutti_count visit_levels(level_search *s, tutti_count root) {
    const tutti__graph *g = s->graph;
    tutti_count *order = s->order, head = 0, tail = 1, level = 1;
    order[0] = root;
    s->mark[root] = ++s->round;
    s->last = s->depth = 0;
    while (head < tail) {
        const tutti_count i = order[head++], begin = tail;
        for (tutti_count j = g->start[i]; j < g->start[i + 1]; j++) {
            if (s->mark[g->to[j]] == s->round) continue;
            s->mark[g->to[j]] = s->round;
            /* insert by degree, then by number; lists are short */
            tutti_count at = tail++;
            for (; at > begin && node_degree(g, order[at - 1]) > node_degree(g, g->to[j]); at--)
                order[at] = order[at - 1];
            order[at] = g->to[j];
        }
        if (head == level && head < tail) {
            s->last = head;
            s->depth++;
            level = tail;
        }
    }
    return tail;
}

tutti_err tutti__rcm(const tutti__graph *g, tutti_count *number_out) {
    const tutti_count n = g->nodes;
    tutti_count at = 0;
    level_search s = {.graph = g,
                      .mark = tutti__calloc((size_t)n + 1, sizeof *s.mark),
                      .order = tutti__malloc(((size_t)n + 1) * sizeof *s.order)};
    const tutti_err err = s.mark && s.order ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) number_out[i] = -1;
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) { /* for each connected component */
        if (number_out[i] >= 0) continue;
        /* Find a pseudo-peripheral node (George and Liu): restart the search at the node with the
         * fewest neighbours in the last level as long as the number of levels grows. */
        tutti_count root = i, best = -1, k = visit_levels(&s, i);
        while (s.depth > best) {
            best = s.depth;
            tutti_count next = s.order[s.last];
            for (tutti_count j = s.last; j < k; j++)
                if (node_degree(g, s.order[j]) < node_degree(g, next)) next = s.order[j];
            if (next == root) break;
            root = next;
            k = visit_levels(&s, root);
        }
        for (tutti_count j = 0; j < k; j++) number_out[s.order[j]] = n - 1 - at++;
    }
    tutti__free(s.mark);
    tutti__free(s.order);
    return err;
}
