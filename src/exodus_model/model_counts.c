/* exodus_model: counts of entries: totals, counts that follow from others, sizes of integers,
 * checks of consistency.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/exodus_model.h"

tutti_count tutti__exodus_model_before(const tutti__exodus_model *m, tutti_exodus_kind kind,
                                       tutti_count number) {
    const tutti__exodus_table *t = &m->of[kind];
    if (t->before) return t->before[number];
    tutti_count sum = 0;
    for (tutti_count i = 0; i < number; i++) sum += t->row[i].entries;
    return sum;
}

tutti_count tutti__exodus_model_total(const tutti__exodus_model *m, tutti_exodus_kind kind) {
    switch (kind) {
    case TUTTI_EXODUS_NODAL:
    case TUTTI_EXODUS_NODE_MAP:
        return m->p.nodes;
    case TUTTI_EXODUS_ELEMENT_BLOCK:
    case TUTTI_EXODUS_ELEMENT_MAP:
        return m->p.elements;
    case TUTTI_EXODUS_EDGE_BLOCK:
    case TUTTI_EXODUS_EDGE_MAP:
        return m->p.edges;
    case TUTTI_EXODUS_FACE_BLOCK:
    case TUTTI_EXODUS_FACE_MAP:
        return m->p.faces;
    default:
        return 0;
    }
}

/* Return the number of bytes that ids and properties need: 4 or 8. */
static int find_id_bytes(const tutti__exodus_model *m) {
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        const tutti__exodus_table *t = &m->of[k];
        for (tutti_count i = 0; i < t->n; i++)
            if (t->row[i].id > INT32_MAX) return 8;
        for (int j = 0; j < t->properties_n; j++)
            for (tutti_count i = 0; i < t->n; i++)
                if (t->values[j][i] > INT32_MAX || t->values[j][i] < INT32_MIN) return 8;
    }
    return 4;
}

tutti_err tutti__exodus_model_settle(tutti__exodus_model *m) {
    tutti_count *const totals[] = {&m->p.elements, &m->p.edges, &m->p.faces};
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        tutti__exodus_table *t = &m->of[k];
        if (tutti__exodus_is_map(k))
            for (tutti_count i = 0; i < t->n; i++)
                t->row[i].entries = tutti__exodus_model_total(m, (tutti_exodus_kind)k);
        if (!tutti__exodus_is_block(k)) continue;
        tutti_count sum = 0;
        tutti__free(t->before);
        t->before = tutti__malloc((size_t)(t->n + 1) * sizeof *t->before);
        if (!t->before) return TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < t->n; i++) {
            t->before[i] = sum;
            TUTTI_CHECK(tutti__add_ok(sum, t->row[i].entries, &sum), TUTTI_ERR_OVERFLOW,
                        "the %ss have more than 2^63 entries", tutti__exodus_names_of[k].word);
        }
        tutti_count *total = totals[k - TUTTI_EXODUS_ELEMENT_BLOCK];
        if (*total == 0) *total = sum;
    }
    if (m->of[TUTTI_EXODUS_NODAL].n == 1) {
        m->of[TUTTI_EXODUS_NODAL].row[0].entries = m->p.nodes;
        m->of[TUTTI_EXODUS_NODAL].row[0].attributes = m->p.node_attributes;
    }
    const tutti_count most =
        tutti__max(tutti__max(m->p.nodes, m->p.elements), tutti__max(m->p.edges, m->p.faces));
    if (m->id_bytes == 0) m->id_bytes = find_id_bytes(m);
    if (m->bulk_bytes == 0) m->bulk_bytes = most > INT32_MAX ? 8 : 4;
    if (m->map_bytes == 0) m->map_bytes = most > INT32_MAX ? 8 : 4;
    return TUTTI_OK;
}

tutti_err tutti__exodus_model_check(const tutti__exodus_model *m) {
    TUTTI_CHECK(m->p.title, TUTTI_ERR_STATE,
                "parameters are missing: call tutti_exodus_init first");
    for (int k = TUTTI_EXODUS_ELEMENT_BLOCK; k < TUTTI_EXODUS_KINDS; k++) {
        const tutti__exodus_table *t = &m->of[k];
        tutti_count sum = 0;
        for (tutti_count i = 0; i < t->n; i++) {
            const tutti_exodus_entity *e = &t->row[i];
            const char *word = tutti__exodus_names_of[e->kind].word;
            const long long id = (long long)e->id;
            const tutti_count numbers =
                tutti__max(tutti__max(e->nodes, e->edges), tutti__max(e->faces, e->attributes));
            tutti_off bytes;
            TUTTI_CHECK(tutti__mul_ok(e->entries, tutti__max(numbers, 1) * 8, &bytes),
                        TUTTI_ERR_OVERFLOW,
                        "%s %lld: %lld entries of %lld values need more than 2^63 bytes", word, id,
                        (long long)e->entries, (long long)tutti__max(numbers, 1));
            TUTTI_CHECK(e->kind == TUTTI_EXODUS_SIDE_SET || e->factors == 0 ||
                            e->factors == e->entries,
                        TUTTI_ERR_ARG,
                        "%s %lld has %lld members and %lld distribution factors: must be equal, "
                        "or factors must be 0",
                        word, id, (long long)e->entries, (long long)e->factors);
            TUTTI_CHECK(
                !tutti__exodus_is_listed(e) || e->entries == 0 || e->list_length > 0, TUTTI_ERR_ARG,
                "%s %lld has topology %s, but list_length is 0: it must be the length of the list",
                word, id, e->topology);
            TUTTI_CHECK(m->id_bytes == 8 || e->id <= INT32_MAX, TUTTI_ERR_OVERFLOW,
                        "%s: id %lld needs 8-byte integers: integer_bytes is 4", word, id);
            sum += t->row[i].entries;
        }
        const tutti_count total = tutti__exodus_model_total(m, (tutti_exodus_kind)k);
        if (tutti__exodus_is_block(k))
            TUTTI_CHECK(sum == total, TUTTI_ERR_ARG,
                        "the %ss have %lld entries, but the parameters have %lld",
                        tutti__exodus_names_of[k].word, (long long)sum, (long long)total);
    }
    return TUTTI_OK;
}
