/* exodus_mesh: sets of positions: united by marking them, looked up in a table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/position_index.h"

#include <string.h>

static tutti_err unite_by_sorting(int lists, const tutti__position_list *list, tutti_count n,
                                  tutti_count *n_out, tutti_count **out) {
    tutti_count *v = *out = tutti__malloc((size_t)(n + 1) * sizeof *v), at = 0;
    if (!v) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < lists; k++) {
        if (list[k].n > 0) memcpy(v + at, list[k].v, (size_t)list[k].n * sizeof *v);
        at += list[k].n;
    }
    *n_out = tutti__sort_unique(v, n);
    return TUTTI_OK;
}

/* A byte per position: positions that follow one another are marked faster than bits of one word. */
static tutti_err unite_by_bytes(int lists, const tutti__position_list *list, tutti_count lo,
                                tutti_count span, tutti_count *n_out, tutti_count **out) {
    unsigned char *mark = tutti__calloc((size_t)span, 1);
    tutti_count count = 0, at = 0;
    if (!mark) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < lists; k++)
        for (tutti_count i = 0; i < list[k].n; i++) mark[list[k].v[i] - lo] = 1;
    for (tutti_count i = 0; i < span; i++) count += mark[i];
    tutti_count *v = *out = tutti__malloc_large((size_t)(count + 1) * sizeof *v);
    for (tutti_count i = 0; i < span && v; i++) {
        v[at] = lo + i;
        at += mark[i];
    }
    tutti__free(mark);
    *n_out = count;
    return v ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__positions_unite(int lists, const tutti__position_list *list, tutti_count *n_out,
                                 tutti_count **out) {
    tutti_count n = 0, lo = INT64_MAX, hi = 0, count = 0, at = 0;
    for (int k = 0; k < lists; k++) {
        n += list[k].n;
        for (tutti_count i = 0; i < list[k].n; i++) {
            lo = tutti__min(lo, list[k].v[i]);
            hi = tutti__max(hi, list[k].v[i]);
        }
    }
    const tutti_count words = n > 0 ? (hi - lo) / 64 + 1 : 0;
    if (words == 0 || words > n + 1024) /* bits would take more memory than the positions */
        return unite_by_sorting(lists, list, n, n_out, out);
    if (hi - lo < n) return unite_by_bytes(lists, list, lo, hi - lo + 1, n_out, out);
    uint64_t *bits = tutti__calloc((size_t)words, sizeof *bits);
    if (!bits) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < lists; k++)
        for (tutti_count i = 0; i < list[k].n; i++) {
            const tutti_count bit = list[k].v[i] - lo;
            bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
        }
    for (tutti_count w = 0; w < words; w++)
        for (uint64_t rest = bits[w]; rest; rest &= rest - 1) count++;
    tutti_count *v = *out = tutti__malloc_large((size_t)(count + 1) * sizeof *v);
    for (tutti_count w = 0; w < words && v; w++)
        for (uint64_t rest = bits[w]; rest; rest &= rest - 1)
            v[at++] = lo + 64 * w + __builtin_ctzll(rest);
    tutti__free(bits);
    *n_out = count;
    return v ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__position_index_make(tutti_count n, const tutti_count *position,
                                     tutti__position_index *out) {
    enum { SPARSE = 4, FREE = 1024 }; /* slots of the table per position */
    const tutti_count span = n > 0 ? position[n - 1] - position[0] + 1 : 0;
    *out = (tutti__position_index){.n = n, .position = position, .is_range = span == n};
    if (n > 0) out->first = position[0];
    out->span = span;
    if (out->is_range || n >= INT32_MAX || span > SPARSE * n + FREE) return TUTTI_OK;
    out->index = tutti__calloc((size_t)span, sizeof *out->index);
    if (!out->index) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) out->index[position[i] - out->first] = (int32_t)i + 1;
    return TUTTI_OK;
}

void tutti__positions_to_indices(const tutti__position_index *x, tutti_count n, tutti_count *io) {
    if (x->is_range)
        for (tutti_count i = 0; i < n; i++) io[i] -= x->first;
    else if (x->index)
        for (tutti_count i = 0; i < n; i++) io[i] = x->index[io[i] - x->first] - 1;
    else
        for (tutti_count i = 0; i < n; i++) io[i] = tutti__sorted_find(x->position, x->n, io[i]);
}

void tutti__position_index_free(tutti__position_index *x) {
    tutti__free(x->index);
    *x = (tutti__position_index){.n = 0};
}
