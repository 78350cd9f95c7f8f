/* exodus_mesh: sets of positions as bits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_mesh/position_index.h"

#include <string.h>

/* Words for the bits of n positions lo ... hi; 0: they would take more memory than the positions. */
static tutti_count words_for(tutti_count n, tutti_count lo, tutti_count hi) {
    const tutti_count words = n > 0 ? (hi - lo) / 64 + 1 : 0;
    return words <= n + 1024 ? words : 0;
}

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
    const tutti_count words = words_for(n, lo, hi);
    if (words == 0) return unite_by_sorting(lists, list, n, n_out, out);
    uint64_t *bits = tutti__calloc((size_t)words, sizeof *bits);
    if (!bits) return TUTTI_ERR_NOMEM;
    for (int k = 0; k < lists; k++)
        for (tutti_count i = 0; i < list[k].n; i++) {
            const tutti_count bit = list[k].v[i] - lo;
            bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
        }
    for (tutti_count w = 0; w < words; w++) count += __builtin_popcountll(bits[w]);
    tutti_count *v = *out = tutti__malloc((size_t)(count + 1) * sizeof *v);
    for (tutti_count w = 0; w < words && v; w++)
        for (uint64_t rest = bits[w]; rest; rest &= rest - 1)
            v[at++] = lo + 64 * w + __builtin_ctzll(rest);
    tutti__free(bits);
    *n_out = count;
    return v ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__position_index_make(tutti_count n, const tutti_count *position,
                                     tutti__position_index *out) {
    tutti_count before = 0;
    *out = (tutti__position_index){.n = n, .position = position};
    const tutti_count words = n > 0 ? words_for(n, position[0], position[n - 1]) : 0;
    if (words == 0) return TUTTI_OK;
    out->first = position[0];
    out->words = words;
    out->bits = tutti__calloc((size_t)words, sizeof *out->bits);
    out->before = tutti__malloc((size_t)words * sizeof *out->before);
    if (!out->bits || !out->before) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) {
        const tutti_count bit = position[i] - out->first;
        out->bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
    for (tutti_count w = 0; w < words; w++) {
        out->before[w] = before;
        before += __builtin_popcountll(out->bits[w]);
    }
    return TUTTI_OK;
}

void tutti__position_index_free(tutti__position_index *x) {
    tutti__free(x->bits);
    tutti__free(x->before);
    *x = (tutti__position_index){.n = 0};
}
