/* access: putting a file side that is a nest of loops in order without expanding it.  When both
 * sides are nests, their loops can be split until both have the same counts, and then be put in the
 * order of their file strides:
 *
 *   file    for i < 4: for j < 8: run at 100 i + 1000 j        for j < 8: for i < 4: ...
 *   memory  for i < 4: for j < 8: ...                    ->    for j < 8: for i < 4: ...
 *
 * This is right if no two iterations meet in the file, which the strides tell.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

#define MAX_LOOPS (2 * TUTTI__MAX_DEPTH + 2)

/* Loops from the inside out; the innermost one goes over the bytes of a run, stride 1. */
typedef struct {
    tutti_count count;
    tutti_off file, memory; /* strides */
} loop;

typedef struct {
    int n;
    tutti_count count[TUTTI__MAX_DEPTH];
    tutti_off stride[TUTTI__MAX_DEPTH];
} nest;

/* 0 if the side is not just loops around a run. */
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

/* Take `part` iterations off the innermost loop that is left of a nest. */
static void nest_take(nest *t, int *at, tutti_count part) {
    t->count[*at] /= part;
    t->stride[*at] *= part;
    if (t->count[*at] == 1) ++*at;
}

/* Split the loops of both nests so that they have the same counts; 0 if that cannot be. */
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

/* Turn loops that run backwards in the file; of loops that stay in place keep the last iteration.
 */
static int loops_turn(loop *v, int n, tutti_off *file, tutti_off *memory) {
    int w = 0;
    for (int i = 0; i < n; i++) {
        loop l = v[i];
        if (l.file <= 0) {
            *file += (l.count - 1) * l.file;
            *memory += (l.count - 1) * l.memory;
            l.file = -l.file;
            l.memory = -l.memory;
        }
        if (l.file) v[w++] = l;
    }
    return w;
}

/* Order the loops by file stride, outermost largest; 0 if iterations meet. */
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

/* The loops around a run at disp, as a side; `memory`: with the memory strides. */
static tutti_err loops_side(const loop *v, int n, tutti_off disp, int memory, tutti__side *out) {
    tutti__side s = {0, NULL};
    TUTTI_TRY(tutti__side_run(disp, v[0].count, &s));
    for (int i = 1; i < n; i++)
        TUTTI_TRY(tutti__side_vec(s, v[i].count, memory ? v[i].memory : v[i].file, &s));
    *out = s;
    return TUTTI_OK;
}

tutti_err tutti__loops_sort(tutti__side *file, tutti__side *memory, int *done_out) {
    nest f, m;
    loop v[MAX_LOOPS];
    tutti__side sorted_file = {0, NULL}, sorted_memory = {0, NULL};
    tutti_off at = file->disp, at_memory = memory->disp;
    *done_out = 0;
    if (!nest_of(file->node, &f) || !nest_of(memory->node, &m)) return TUTTI_OK;
    int n = nests_match(&f, &m, v);
    if (n) n = loops_turn(v, n, &at, &at_memory);
    if (!n || !loops_order(v, n)) return TUTTI_OK;
    TUTTI_TRY(loops_side(v, n, at, 0, &sorted_file));
    const tutti_err err = loops_side(v, n, at_memory, 1, &sorted_memory);
    if (err != TUTTI_OK) {
        tutti__side_free(&sorted_file);
        return err;
    }
    tutti__side_free(file);
    tutti__side_free(memory);
    *file = sorted_file;
    *memory = sorted_memory;
    *done_out = 1;
    return TUTTI_OK;
}
