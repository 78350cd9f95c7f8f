/* access: bytes that one access mentions several times.
 *
 *   indices {2, 0, 2}   stream   0 -> memory 1, 2 -> memory 2    moves to or from the file
 *                       repeats  2 -> memory 0                   copied after a read: 0 <- 2
 *
 * A repeat names its byte of the file; where the stream brings that byte to is looked up when it is
 * needed, so that repeats stay true whichever mention wins when accesses are put together.  Those
 * that sorting leaves behind are in the order of the file, and looking up then mostly means going
 * on.
 *
 * If an access sends two bytes of the file to one byte of memory, a read leaves one of them there,
 * and any of the two where such a byte is repeated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_impl.h"
#include "access/node.h"

/* So many pieces ahead are walked to rather than sought. */
#define NEAR 8

static tutti_off offset_of(tutti__side s, tutti_off stream) {
    tutti__cursor c;
    tutti__burst b;
    tutti__cursor_seek(&c, s, stream);
    return tutti__cursor_peek(&c, &b) ? b.offset : TUTTI__OFF_END;
}

/* ---- copying */

/* A place in the stream: `bytes` at `file` are at `memory`; 0 bytes at its end. */
typedef struct {
    const tutti_access *a;
    tutti__cursor cf, cm;
    tutti_off file, memory, bytes;
} place;

static void place_look(place *p) {
    tutti__burst f, m;
    p->bytes = 0;
    if (!tutti__cursor_peek(&p->cf, &f) || !tutti__cursor_peek(&p->cm, &m)) return;
    p->file = f.offset;
    p->memory = m.offset;
    p->bytes = tutti__min(f.bytes, m.bytes);
}

static void place_seek(place *p, tutti_off stream) {
    tutti__cursor_seek(&p->cf, p->a->file, stream);
    tutti__cursor_seek(&p->cm, p->a->memory, stream);
    place_look(p);
}

/* Go to the piece that holds a byte of the file, or, if the stream has no such byte, to the next
 * one. */
static void place_find(place *p, tutti_off file) {
    for (int i = 0; i < NEAR && p->bytes > 0 && p->file + p->bytes <= file; i++) {
        tutti__cursor_skip(&p->cf, p->bytes);
        tutti__cursor_skip(&p->cm, p->bytes);
        place_look(p);
    }
    if (p->bytes > 0 && p->file <= file && file < p->file + p->bytes) return;
    place_seek(p, tutti__side_tell(p->a->file, file));
}

/* Bytes [file, end) to memory at `to`; returns how many of them the stream has. */
static tutti_off copy_range(place *p, tutti_off file, tutti_off end, char *user, tutti_off to) {
    tutti_off copied = 0;
    while (file < end) {
        place_find(p, file);
        if (p->bytes == 0 || p->file >= end) break;
        if (p->file > file) {
            to += p->file - file;
            file = p->file;
        }
        const tutti_off skip = file - p->file;
        const tutti_off n = tutti__min(p->bytes - skip, end - file);
        memmove(tutti__place(user, to), tutti__place(user, p->memory + skip), (size_t)n);
        copied += n;
        file += n;
        to += n;
    }
    return copied;
}

tutti_off tutti__repeats_copy(const tutti_access *a, void *user, tutti_off from, tutti_off to) {
    const tutti_off total = tutti__side_bytes(a->file);
    from = tutti__max(from, 0);
    to = tutti__min(to, total);
    if (from >= to) return 0;
    const tutti_off lo = from > 0 ? offset_of(a->file, from) : 0;
    const tutti_off hi = to < total ? offset_of(a->file, to) : TUTTI__OFF_END;
    tutti__cursor cf, cm;
    tutti__burst f, m;
    tutti_off copied = 0;
    place p = {.a = a};
    tutti__cursor_seek(&cf, a->repeats.file, 0);
    tutti__cursor_seek(&cm, a->repeats.memory, 0);
    while (tutti__cursor_peek(&cf, &f) && tutti__cursor_peek(&cm, &m)) {
        const tutti_off n = tutti__min(f.bytes, m.bytes);
        const tutti_off first = tutti__max(f.offset, lo), end = tutti__min(f.offset + n, hi);
        if (first < end) copied += copy_range(&p, first, end, user, m.offset + first - f.offset);
        tutti__cursor_skip(&cf, n);
        tutti__cursor_skip(&cm, n);
    }
    return copied;
}

/* ---- comparing */

static int alike(tutti__side a, tutti_off a_from, tutti__side b, tutti_off b_from) {
    a.disp -= a_from;
    b.disp -= b_from;
    return tutti__side_equal(a, b);
}

int tutti__repeats_alike(const tutti_access *a, const tutti_access *b) {
    return alike(a->repeats.file, a->file.disp, b->repeats.file, b->file.disp) &&
           alike(a->repeats.memory, a->memory.disp, b->repeats.memory, b->memory.disp);
}

/* ---- putting together and apart */

tutti_err tutti__mapping_cat(tutti__mapping a, tutti__mapping b, tutti__mapping *out) {
    const tutti__side file[] = {a.file, b.file}, memory[] = {a.memory, b.memory};
    tutti__mapping m = {{0, NULL}, {0, NULL}};
    const tutti_err err = tutti__side_cat(2, file, &m.file);
    const tutti_err err_memory = tutti__side_cat(2, memory, &m.memory);
    if (err == TUTTI_OK && err_memory == TUTTI_OK) {
        *out = m;
        return TUTTI_OK;
    }
    tutti__mapping_free(&m);
    return err != TUTTI_OK ? err : err_memory;
}

/* Pieces whose number is not known beforehand. */
typedef struct {
    tutti_count n, room;
    tutti_off *v; /* file offsets, memory offsets, lengths: `room` of each */
} gathered;

static tutti_err gather(gathered *g, tutti_off file, tutti_off memory, tutti_off bytes) {
    if (g->n == g->room) {
        const tutti_count room = 2 * g->room + 64;
        tutti_off *v = tutti__malloc((size_t)room * 3 * sizeof *v);
        if (!v) return TUTTI_ERR_NOMEM;
        for (int k = 0; k < 3 && g->n > 0; k++)
            memcpy(v + k * room, g->v + k * g->room, (size_t)g->n * sizeof *v);
        tutti__free(g->v);
        g->v = v;
        g->room = room;
    }
    g->v[g->n] = file;
    g->v[g->room + g->n] = memory;
    g->v[2 * g->room + g->n++] = bytes;
    return TUTTI_OK;
}

static tutti_err gather_clipped(const tutti__mapping *r, tutti_off lo, tutti_off hi, gathered *g) {
    tutti__cursor cf, cm;
    tutti__burst f, m;
    const tutti_count most = tutti__side_runs(r->file) + tutti__side_runs(r->memory);
    TUTTI_CHECK(most <= TUTTI__MAX_RUNS, TUTTI_ERR_UNSUPPORTED, "%lld repeated runs to cut",
                (long long)most);
    tutti__cursor_seek(&cf, r->file, 0);
    tutti__cursor_seek(&cm, r->memory, 0);
    while (tutti__cursor_peek(&cf, &f) && tutti__cursor_peek(&cm, &m)) {
        const tutti_off n = tutti__min(f.bytes, m.bytes);
        const tutti_off first = tutti__max(f.offset, lo), end = tutti__min(f.offset + n, hi);
        if (first < end) TUTTI_TRY(gather(g, first, m.offset + first - f.offset, end - first));
        tutti__cursor_skip(&cf, n);
        tutti__cursor_skip(&cm, n);
    }
    return TUTTI_OK;
}

tutti_err tutti__repeats_clip(const tutti__mapping *r, tutti_off lo, tutti_off hi,
                              tutti__mapping *out) {
    const tutti_off first = tutti__side_lo(r->file), end = tutti__side_hi(r->file);
    gathered g = {0, 0, NULL};
    if (!r->file.node || lo >= hi || hi <= first || end <= lo) {
        *out = (tutti__mapping){{0, NULL}, {0, NULL}};
        return TUTTI_OK;
    }
    if (lo <= first && end <= hi) {
        *out = (tutti__mapping){tutti__side_ref(r->file), tutti__side_ref(r->memory)};
        return TUTTI_OK;
    }
    tutti_err err = gather_clipped(r, lo, hi, &g);
    if (err == TUTTI_OK) err = tutti__mapping_list(g.n, g.v, g.v + g.room, g.v + 2 * g.room, out);
    tutti__free(g.v);
    return err;
}
