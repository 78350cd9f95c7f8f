/* TEST ranks=1,2,3,5,8 timeout=120 */
/* Slices of grids of 1 to 4 dimensions, with strides, that overlap or leave holes; and entries in
 * rank order: positions, writers and bytes are those of a serial model.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposed.h"

enum { MOST = 4096 };
static char path[512];
static tutti_count position[HELD_RANKS][MOST], memory[MOST];
static unsigned char writes[MOST];
static int writer_at[MOST];

/* Store the positions of a slice in ascending order; return their number. */
static tutti_count list(int ndims, const tutti_count *shape, const tutti_slice *s,
                        tutti_count *out) {
    tutti_count n = 0, all = 1;
    for (int d = 0; d < ndims; d++) all *= shape[d];
    for (tutti_count i = 0; i < all; i++) {
        tutti_count rest = i;
        int in = 1;
        for (int d = ndims - 1; d >= 0; d--) {
            const tutti_count x = rest % shape[d], stride = s->stride[d] ? s->stride[d] : 1;
            rest /= shape[d];
            in &= x >= s->lo[d] && x < s->hi[d] && (x - s->lo[d]) % stride == 0;
        }
        if (in) out[n++] = i;
    }
    return n;
}

static tutti__decomposed grid_of(int ndims, const tutti_count *shape) {
    tutti__decomposed g = list_of(1, NULL);
    g.name = "grid";
    g.view.ndims = ndims;
    for (int d = 0; d < ndims; d++) {
        g.view.shape[d] = shape[d];
        g.view.entries *= shape[d];
    }
    return g;
}

/* Arrangements of the slices of all ranks. */
enum { ANY, EVEN, SLABS_OF, COMB, SAME, PATTERNS };

static tutti_slice slice_random(int pattern, int who, int ndims, const tutti_count *shape) {
    tutti_slice s = {{0}, {0}, {0}, {0}};
    for (int d = 0; d < ndims; d++) {
        s.hi[d] = shape[d];
        s.stride[d] = pattern == ANY ? rnd(5) : 1;
        if (pattern != ANY) continue;
        s.lo[d] = rnd(shape[d] + 1) / 2;
        s.hi[d] = s.lo[d] + rnd(shape[d] - s.lo[d] + 1);
    }
    if (pattern == EVEN) { /* choose an even stride */
        s.lo[0] = rnd(3);
        s.lo[0] = s.lo[0] < shape[0] ? s.lo[0] : 0;
        s.stride[0] = 2 + 2 * rnd(3);
    }
    if (pattern == SLABS_OF) {
        s.lo[0] = shape[0] * who / ranks;
        s.hi[0] = shape[0] * (who + 1) / ranks;
    }
    if (pattern == COMB) {
        s.lo[ndims - 1] = who < shape[ndims - 1] ? who : shape[ndims - 1];
        s.stride[ndims - 1] = ranks;
    }
    if (pattern == ANY && rnd(6) == 0) s.stride[ndims - 1] = INT64_MAX;
    return s;
}

static void run_trial(int k) {
    char where[100];
    tutti_count shape[TUTTI_MAX_DIMS], n[HELD_RANKS], held_entries = 0, missing = -1;
    tutti_slice local = {{0}, {0}, {0}, {0}};
    const int ndims = 1 + k % 4, pattern = (int)rnd(PATTERNS), whole = (int)rnd(2);
    for (int d = 0; d < ndims; d++) shape[d] = 1 + rnd(ndims == 1 ? 60 : 24 / ndims);
    const tutti__decomposed space = grid_of(ndims, shape);
    const tutti_count entries = space.view.entries;
    for (tutti_count i = 0; i < entries; i++) writer_at[i] = -1;
    for (int who = 0; who < ranks; who++) {
        const tutti_slice s = slice_random(pattern, who, ndims, shape);
        n[who] = list(ndims, shape, &s, position[who]);
        for (tutti_count i = 0; i < n[who]; i++) writer_at[position[who][i]] = who;
        if (who == rank) local = s;
    }
    for (tutti_count i = entries - 1; i >= 0; i--) {
        held_entries += writer_at[i] >= 0;
        if (writer_at[i] < 0) missing = i;
    }
    snprintf(where, sizeof where, "trial %d: %d dimensions, %lld entries, pattern %d", k, ndims,
             (long long)entries, pattern);
    check_where(where);
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE, .slice = local, .whole = whole};
    if (whole && missing >= 0) {
        char words[120];
        snprintf(words, sizeof words, "no rank holds position %lld; %lld of the space's %lld",
                 (long long)missing, (long long)held_entries, (long long)entries);
        check_refused(&space, &spec, TUTTI_ERR_MISMATCH, words);
        return;
    }
    tutti_decomposition *p = NULL;
    CHECK_SAME(make_decomposition(&space, &spec, &p), TUTTI_OK);
    if (!p) return;
    for (tutti_count i = 0; i < n[rank]; i++) {
        memory[i] = i;
        writes[i] = writer_at[position[rank][i]] == rank;
    }
    const ought o = {n[rank], entries, position[rank], memory, writes, missing < 0};
    lists_are(p, &o);
    if (k % 2 == 0) check_transfers(path, p, &o, 1 + rnd(9), writer_at);
    tutti_decomposition_free(&p);
}

/* Test slices of a grid that is too large for lists of entries. */
static void test_large(void) {
    const tutti_count shape[3] = {(tutti_count)ranks << 20, 1 << 20, 1 << 10};
    const tutti__decomposed space = grid_of(3, shape);
    tutti_decomposition *p = NULL;
    const tutti_access *a = NULL;
    tutti__decomposition_facts facts;
    check_where("large");
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE, .whole = 1};
    spec.slice = tutti_slice_all(3, shape);
    spec.slice.lo[0] = (tutti_count)rank << 20;
    spec.slice.hi[0] = (tutti_count)(rank + 1) << 20;
    CHECK_SAME(make_decomposition(&space, &spec, &p), TUTTI_OK);
    tutti__decomposition_facts_of(p, &facts);
    CHECK_EQ(facts.entries, (tutti_count)1 << 50);
    CHECK(facts.written == facts.entries && facts.whole, "whole");
    CHECK_OK(tutti__decomposition_access(p, 24, 1, &a));
    CHECK(tutti_access_size(a) < 2000, "%zu bytes", tutti_access_size(a));
    tutti_decomposition_free(&p);
    spec.slice.stride[1] = 2;
    check_refused(&space, &spec, TUTTI_ERR_MISMATCH, "no rank holds position 1024;");
    spec.slice.stride[1] = 1;
    if (rank == ranks - 1) spec.slice.lo[1] = 3;
    char words[80];
    snprintf(words, sizeof words, "no rank holds position %lld;",
             (long long)(ranks - 1) * ((tutti_count)1 << 50));
    check_refused(&space, &spec, TUTTI_ERR_MISMATCH, words);
}

static void by_rank_order(int k) {
    tutti_count first = 0, n[HELD_RANKS], all = 0;
    for (int who = 0; who < ranks; who++) {
        n[who] = rnd(3) == 0 ? 0 : rnd(40);
        if (who < rank) first += n[who];
        for (tutti_count i = 0; i < n[who]; i++) writer_at[all++] = who;
    }
    const tutti_count behind = rnd(2) * rnd(9);
    const int with_memory = (int)rnd(2), whole = (int)rnd(2);
    for (tutti_count i = 0; i < behind; i++) writer_at[all + i] = -1;
    const tutti__decomposed space = list_of(all + behind, NULL);
    check_where("in rank order");
    for (tutti_count i = 0; i < n[rank]; i++) {
        position[rank][i] = first + i;
        memory[i] = with_memory ? 2 * (n[rank] - i) : i;
        writes[i] = 1;
    }
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_RANK_ORDER,
                                           .n = n[rank],
                                           .own = rnd(2) ? writes : NULL,
                                           .memory = with_memory ? memory : NULL,
                                           .whole = whole};
    tutti_decomposition *p = NULL;
    if (whole && behind > 0) {
        char words[60];
        snprintf(words, sizeof words, "no rank holds position %lld;", (long long)all);
        check_refused(&space, &spec, TUTTI_ERR_MISMATCH, words);
        return;
    }
    CHECK_SAME(make_decomposition(&space, &spec, &p), TUTTI_OK);
    if (!p) return;
    const ought o = {n[rank], all + behind, position[rank], memory, writes, behind == 0};
    lists_are(p, &o);
    CHECK(with_memory || p->held.n == (n[rank] > 0), "%lld runs", (long long)p->held.n);
    if (k % 2 == 0) check_transfers(path, p, &o, 1 + rnd(9), writer_at);
    tutti_decomposition_free(&p);
}

int main(int argc, char **argv) {
    decomposed_begin(&argc, &argv, 1251);
    snprintf(path, sizeof path, "%s/t1251.dat", check_dir());
    for (int k = 0; k < (ranks > 3 ? 14 : 60); k++) run_trial(k);
    for (int k = 0; k < 6; k++) by_rank_order(k);
    if (ranks <= 3) test_large();
    file_remove(path);
    return decomposed_end();
}
