/* access: filling the small holes of a side.  All holes between the copies of a loop are equal, so
 * that one comparison is sufficient for a loop of any length.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

/* Return the bytes of the largest hole of a monotone node; TUTTI__OFF_END for lists. */
static tutti_off largest_hole(const tutti__node *n) {
    tutti_off most = 0;
    switch (n->kind) {
    case TUTTI__RUN:
        return 0;
    case TUTTI__VEC:
        return tutti__max(largest_hole(n->vec.child), n->vec.stride - n->vec.child->hi);
    case TUTTI__CAT:
        for (tutti_count i = 0; i < n->cat.n; i++) {
            const tutti__part *p = &n->cat.part[i];
            most = tutti__max(most, largest_hole(p->node));
            if (i + 1 < n->cat.n) most = tutti__max(most, p[1].disp - (p->disp + p->node->hi));
        }
        return most;
    default:
        return TUTTI__OFF_END;
    }
}

tutti_off tutti__side_hole(tutti__side s) {
    return s.node ? largest_hole(s.node) : 0;
}

int tutti__side_irregular(tutti__side s) {
    const tutti__node *n = s.node;
    if (!n || n->kind == TUTTI__RUN) return 0;
    if (n->kind == TUTTI__VEC) return tutti__side_irregular((tutti__side){0, n->vec.child});
    if (n->kind == TUTTI__LIST) return 1;
    for (tutti_count i = 0; i < n->cat.n; i++)
        if (tutti__side_irregular((tutti__side){0, n->cat.part[i].node})) return 1;
    return 0;
}

tutti_err tutti__side_coarse(tutti__side s, tutti_off max_gap, tutti__side *out) {
    tutti__side child;
    TUTTI_ASSERT(tutti__side_monotone(s));
    *out = (tutti__side){s.disp, NULL};
    if (!s.node) return TUTTI_OK;
    if (largest_hole(s.node) <= max_gap) return tutti__node_run(s.node->hi, &out->node);
    if (s.node->kind == TUTTI__CAT) {
        const tutti_count n = s.node->cat.n;
        tutti__side *part = tutti__malloc((size_t)n * sizeof *part);
        if (!part) return TUTTI_ERR_NOMEM;
        tutti_err err = TUTTI_OK;
        for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) {
            const tutti__part *p = &s.node->cat.part[i];
            err = tutti__side_coarse((tutti__side){s.disp + p->disp, p->node}, max_gap, &part[i]);
            if (err != TUTTI_OK)
                while (i > 0) tutti__side_free(&part[--i]);
        }
        if (err == TUTTI_OK) err = tutti__side_cat(n, part, out);
        tutti__free(part);
        return err;
    }
    if (s.node->kind == TUTTI__VEC) {
        TUTTI_TRY(tutti__side_coarse((tutti__side){s.disp, s.node->vec.child}, max_gap, &child));
        return tutti__side_vec(child, s.node->vec.count, s.node->vec.stride, out);
    }
    out->node = tutti__node_ref(s.node);
    return TUTTI_OK;
}
