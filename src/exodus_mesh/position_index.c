/* exodus_mesh: sets of positions: union by marking, lookup in a table.
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

/* A table with one byte per position, starting with position `lo`; `mark` is NULL after an error,
 * or if the table would be too large. */
typedef struct {
    unsigned char *mark;
    tutti_count lo, span;
    tutti_err err;
} byte_table;

/* Return the table extended to position v, with at most `most` bytes; frees the old table. */
static byte_table extend_table(byte_table t, tutti_count v, tutti_count most) {
    enum { SPARE = 4096 };
    const int below = t.span > 0 && v < t.lo;
    const tutti_count end = t.span > 0 && !below ? v + 1 : t.span > 0 ? t.lo + t.span : v + 1;
    byte_table new = {.lo = t.span == 0 || below ? v : t.lo};
    new.span = end - new.lo;
    if (new.span <= most) {
        /* additional positions at the end that is extended */
        const tutti_count spare = tutti__min(tutti__max(new.span, SPARE), most - new.span);
        if (below) new.lo = tutti__max(new.lo - spare, 0);
        new.span = end - new.lo + (below ? 0 : spare);
        new.mark = tutti__calloc((size_t) new.span, 1);
        new.err = new.mark ? TUTTI_OK : TUTTI_ERR_NOMEM;
        if (new.mark && t.span > 0) memcpy(new.mark + (t.lo - new.lo), t.mark, (size_t)t.span);
    }
    tutti__free(t.mark);
    return new;
}

/* Unite lists with one byte per position: marking consecutive positions is faster in bytes than in
 * bits of one word.  The table grows with the positions; *out is NULL if the table would need more
 * bytes than there are positions. */
static tutti_err unite_by_bytes(int lists, const tutti__position_list *list, tutti_count n,
                                tutti_count *n_out, tutti_count **out) {
    byte_table t = {.mark = NULL};
    tutti_count count = 0, at = 0;
    for (int k = 0; k < lists; k++) {
        const tutti_count *v = list[k].v, end = list[k].n;
        for (tutti_count i = 0; i < end; i++) {
            if ((uint64_t)(v[i] - t.lo) >= (uint64_t)t.span) {
                t = extend_table(t, v[i], n);
                if (!t.mark) return t.err;
            }
            t.mark[v[i] - t.lo] = 1;
        }
    }
    for (tutti_count i = 0; i < t.span; i++) count += t.mark[i];
    tutti_count *v = *out = tutti__malloc_large((size_t)(count + 1) * sizeof *v);
    for (tutti_count i = 0; i < t.span && v; i++) {
        v[at] = t.lo + i;
        at += t.mark[i];
    }
    tutti__free(t.mark);
    *n_out = count;
    return v ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

tutti_err tutti__positions_unite(int lists, const tutti__position_list *list, tutti_count *n_out,
                                 tutti_count **out) {
    tutti_count n = 0, lo = INT64_MAX, hi = 0, count = 0, at = 0;
    for (int k = 0; k < lists; k++) n += list[k].n;
    *out = NULL;
    if (n > 0) TUTTI_TRY(unite_by_bytes(lists, list, n, n_out, out));
    if (*out) return TUTTI_OK;
    for (int k = 0; k < lists; k++) {
        for (tutti_count i = 0; i < list[k].n; i++) {
            lo = tutti__min(lo, list[k].v[i]);
            hi = tutti__max(hi, list[k].v[i]);
        }
    }
    const tutti_count words = n > 0 ? (hi - lo) / 64 + 1 : 0;
    if (words == 0 || words > n + 1024) /* bits would take more memory than the positions */
        return unite_by_sorting(lists, list, n, n_out, out);
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
    /* a constant, so that compilers vectorise the loop over k */
    enum { WORDS = 8 };
    const tutti_count first = x->first;
    tutti_count i = 0;
    for (; x->is_range && i + WORDS <= n; i += WORDS)
        for (int k = 0; k < WORDS; k++) io[i + k] -= first;
    if (x->is_range)
        for (; i < n; i++) io[i] -= first;
    else if (x->index)
        for (; i < n; i++) io[i] = x->index[io[i] - first] - 1;
    else
        for (; i < n; i++) io[i] = tutti__sorted_find(x->position, x->n, io[i]);
}

void tutti__position_index_free(tutti__position_index *x) {
    tutti__free(x->index);
    *x = (tutti__position_index){.n = 0};
}
