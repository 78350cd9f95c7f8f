/* access: sorting a file side that is a nest of loops without expanding it.  If both
 * sides are nests, their loops can be split until both have the same counts, and then be sorted by
 * their file strides:
 *
 *   file    for i < 4: for j < 8: run at 100 i + 1000 j        for j < 8: for i < 4: ...
 *   memory  for i < 4: for j < 8: ...                    ->    for j < 8: for i < 4: ...
 *
 * This is correct if no two iterations overlap in the file, which follows from the strides.  For a
 * loop with stride 0 in the file only the last iteration is kept; the other iterations become
 * repeats, also as loops.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

#define MAX_LOOPS (2 * TUTTI__MAX_DEPTH + 2)

/* A loop of both sides.  Arrays of loops begin with the innermost loop, over the bytes of a run,
 * with stride 1. */
typedef struct {
    tutti_count count;
    tutti_off file, memory; /* strides in bytes */
} loop;

/* The loops of one side, innermost first. */
typedef struct {
    int n;
    tutti_count count[TUTTI__MAX_DEPTH];
    tutti_off stride[TUTTI__MAX_DEPTH];
} nest;

/* Get the loops of a node; returns 0 if it is not a nest of loops around a run. */
static int nest_of(const tutti__node *n, nest *out) {
    out->n = n->depth;
    for (int i = n->depth - 1; i > 0; i--, n = n->vec.child) {
        if (n->kind != TUTTI__VEC) return 0;
        out->count[i] = n->vec.count;
        out->stride[i] = n->vec.stride;
    }
    out->count[0] = n->bytes;
    out->stride[0] = 1;
    return n->kind == TUTTI__RUN;
}

/* Split an inner loop of `part` iterations off the innermost remaining loop of a nest. */
static void nest_take(nest *t, int *at, tutti_count part) {
    t->count[*at] /= part;
    t->stride[*at] *= part;
    if (t->count[*at] == 1) ++*at;
}

/* Split the loops of both nests so that they have the same counts; returns the number of loops, or
 * 0 if this is impossible. */
static int nests_match(nest *f, nest *m, loop *out) {
    int i = 0, k = 0, n = 0;
    while (i < f->n && k < m->n) {
        const tutti_count part = tutti__min(f->count[i], m->count[k]);
        if (f->count[i] % part || m->count[k] % part) return 0;
        out[n++] = (loop){part, f->stride[i], m->stride[k]};
        nest_take(f, &i, part);
        nest_take(m, &k, part);
    }
    return n;
}

typedef struct {
    int n, idle_n;
    loop v[MAX_LOOPS];      /* [n] loops with a file stride > 0 */
    loop idle[MAX_LOOPS];   /* [idle_n] loops with file stride 0, in reverse order of iterations */
    tutti_off file, memory; /* offsets of the first iteration */
} loops;

/* Sort the loops by file stride, so that the outermost loop has the largest stride; returns 0 if
 * iterations overlap. */
static int loops_order(loop *v, int n) {
    for (int i = 1; i < n; i++) {
        const loop l = v[i];
        int k = i;
        for (; k > 1 && v[k - 1].file > l.file; k--) v[k] = v[k - 1];
        v[k] = l;
    }
    tutti_off reach = 0;
    for (int i = 0; i < n; i++) {
        if (v[i].file < reach) return 0;
        reach = (i ? reach : 1) + (v[i].count - 1) * v[i].file;
    }
    return 1;
}

/* Make both sides of the loops around a run. */
static tutti_err loops_sides(const loops *t, tutti__mapping *out) {
    tutti__mapping m = {{0, NULL}, {0, NULL}};
    tutti_err err = tutti__side_run(t->file, t->v[0].count, &m.file);
    if (err == TUTTI_OK) err = tutti__side_run(t->memory, t->v[0].count, &m.memory);
    for (int i = 1; i < t->n && err == TUTTI_OK; i++) {
        const tutti__mapping inner = m;
        m.file = (tutti__side){0, NULL};
        err = tutti__side_vec(inner.file, t->v[i].count, t->v[i].file, &m.file);
        if (err != TUTTI_OK) break;
        m.memory = (tutti__side){0, NULL};
        err = tutti__side_vec(inner.memory, t->v[i].count, t->v[i].memory, &m.memory);
    }
    if (err == TUTTI_OK)
        *out = m;
    else
        tutti__mapping_free(&m);
    return err;
}

/* Make a mapping of all combinations of iterations of the idle loops except the first combination:
 * for every k, the first iteration of loops before k, all but the first of loop k, and all of loops
 * after k. */
static tutti_err loops_lost(const loops *kept, tutti__mapping *out) {
    tutti__mapping all = {{0, NULL}, {0, NULL}}, more;
    for (int k = 0; k < kept->idle_n; k++) {
        loops t = *kept;
        t.memory += kept->idle[k].memory;
        for (int i = k; i < kept->idle_n && t.n < MAX_LOOPS; i++) {
            t.v[t.n] = kept->idle[i];
            t.v[t.n++].count -= i == k;
        }
        const tutti_err err = loops_sides(&t, &more);
        if (err != TUTTI_OK) {
            tutti__mapping_free(&all);
            return err;
        }
        TUTTI_TRY(tutti__mapping_cat(all, more, &all));
    }
    *out = all;
    return TUTTI_OK;
}

tutti_err tutti__loops_sort(tutti__mapping *io, tutti__mapping *lost_out, int *done_out) {
    nest f, m;
    loop v[MAX_LOOPS];
    loops t = {.file = io->file.disp, .memory = io->memory.disp};
    tutti__mapping sorted, lost;
    *done_out = 0;
    if (!nest_of(io->file.node, &f) || !nest_of(io->memory.node, &m)) return TUTTI_OK;
    const int n = nests_match(&f, &m, v);
    if (!n) return TUTTI_OK;
    /* Reverse loops with file stride <= 0, and separate those with stride 0. */
    for (int i = 0; i < n; i++) {
        loop l = v[i];
        if (l.file <= 0) {
            t.file += (l.count - 1) * l.file;
            t.memory += (l.count - 1) * l.memory;
            l.file = -l.file;
            l.memory = -l.memory;
        }
        if (l.file)
            t.v[t.n++] = l;
        else if (l.count > 1)
            t.idle[t.idle_n++] = l;
    }
    if (!loops_order(t.v, t.n)) return TUTTI_OK;
    TUTTI_TRY(loops_sides(&t, &sorted));
    const tutti_err err = loops_lost(&t, &lost);
    if (err != TUTTI_OK) {
        tutti__mapping_free(&sorted);
        return err;
    }
    tutti__mapping_free(io);
    *io = sorted;
    *lost_out = lost;
    *done_out = 1;
    return TUTTI_OK;
}
