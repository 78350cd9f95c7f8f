/* access: bytes of the file that occur several times in one access.
 *
 *   indices {2, 0, 2}   stream   0 -> memory 1, 2 -> memory 2    transferred to or from the file
 *                       repeats  2 -> memory 0                   copied after a read: 0 <- 2
 *
 * A repeat refers to its byte of the file; the memory offset of that byte in the stream is
 * determined when the repeat is copied, so that repeats remain valid regardless of which occurrence
 * is kept when accesses are combined.  Repeats that result from sorting are in the order of the
 * file, so that the search mostly continues from the previous position.
 *
 * If an access maps two bytes of the file to one byte of memory, a read stores one of them; it is
 * unspecified which one if such a byte is repeated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/copy_impl.h"
#include "access/list_read.h"

/* Maximum number of pieces to skip one by one before a seek. */
#define NEAR 32

/* ---- copying */

/* Iterator over a mapping: `bytes` bytes at offset `file` correspond to those at offset `memory`; 0
 * bytes: end. */
typedef struct {
    tutti__cursor cf, cm;
    tutti__burst f, m; /* current bursts of the cursors */
    tutti_off file, memory, bytes;
} place;

static inline void place_look(place *p, int there) {
    p->bytes = 0;
    if (!there) return;
    p->file = p->f.offset;
    p->memory = p->m.offset;
    p->bytes = tutti__min(p->f.bytes, p->m.bytes);
}

static void place_seek(place *p, tutti__mapping map, tutti_off stream) {
    tutti__cursor_seek(&p->cf, map.file, stream);
    tutti__cursor_seek(&p->cm, map.memory, stream);
    place_look(p, tutti__cursor_peek(&p->cf, &p->f) && tutti__cursor_peek(&p->cm, &p->m));
}

static inline int side_next(tutti__cursor *c, tutti__burst *b, tutti_off bytes) {
    if (bytes == b->bytes * b->count) return tutti__cursor_after(c, bytes, b);
    tutti__cursor_skip(c, bytes);
    return tutti__cursor_peek(c, b);
}

static inline void place_next(place *p) {
    const int there = side_next(&p->cf, &p->f, p->bytes);
    place_look(p, side_next(&p->cm, &p->m, p->bytes) && there);
}

/* Advance to the piece of the stream that contains file offset `file`, or to the first piece after
 * it. */
static void place_find(place *p, const tutti_access *a, tutti_off file) {
    for (int i = 0; i < NEAR && p->bytes > 0 && p->file + p->bytes <= file; i++) place_next(p);
    if (p->bytes > 0 && p->file <= file && file < p->file + p->bytes) return;
    place_seek(p, (tutti__mapping){a->file, a->memory}, tutti__side_tell(a->file, file));
}

/* Bytes [file, end) of the file, to be copied to memory offset `to`. */
typedef struct {
    tutti_off file, end, to;
    tutti__scale scale;
} stretch;

/* Copy the bytes of a stretch that are in the stream; returns their number. */
static tutti_off copy_stretch(const tutti_access *a, place *p, stretch s, char *user) {
    tutti_off copied = 0;
    while (s.file < s.end) {
        place_find(p, a, s.file);
        if (p->bytes == 0 || p->file >= s.end) break;
        const tutti_off gap = tutti__max(p->file - s.file, 0);
        const tutti_off skip = s.file + gap - p->file;
        const tutti_off n = tutti__min(p->bytes - skip, s.end - s.file - gap);
        memmove(tutti__place(user, tutti__scaled(s.scale, s.to + gap)),
                tutti__place(user, tutti__scaled(s.scale, p->memory + skip)),
                (size_t)tutti__scaled(s.scale, n));
        copied += n;
        s.file += gap + n;
        s.to += gap + n;
    }
    return copied;
}

tutti_off tutti__repeats_copy(const tutti_access *a, void *user, tutti_off from, tutti_off to,
                              tutti__scale scale) {
    const tutti_off total = tutti__side_bytes(a->file);
    from = tutti__max(from, 0);
    to = tutti__min(to, total);
    if (from >= to) return 0;
    const tutti_off lo = from > 0 ? tutti__side_offset(a->file, from) : 0;
    const tutti_off hi = to < total ? tutti__side_offset(a->file, to) : TUTTI__OFF_END;
    tutti_off copied = 0;
    place source, r;
    source.bytes = 0;
    for (place_seek(&r, a->repeats, 0); r.bytes > 0; place_next(&r)) {
        const tutti_off first = tutti__max(r.file, lo), end = tutti__min(r.file + r.bytes, hi);
        const stretch s = {first, end, r.memory + first - r.file, scale};
        if (first < end) copied += copy_stretch(a, &source, s, user);
    }
    return copied;
}

/* ---- comparing */

static int sides_are_shifted(tutti__side a, tutti_off a_from, tutti__side b, tutti_off b_from) {
    a.disp -= a_from;
    b.disp -= b_from;
    return tutti__side_equal(a, b);
}

int tutti__repeats_alike(const tutti_access *a, const tutti_access *b) {
    return sides_are_shifted(a->repeats.file, a->file.disp, b->repeats.file, b->file.disp) &&
           sides_are_shifted(a->repeats.memory, a->memory.disp, b->repeats.memory, b->memory.disp);
}

/* ---- concatenation and division */

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

/* A growing list of pieces. */
typedef struct {
    tutti_count n, capacity; /* number of pieces; capacity */
    tutti_off *v;            /* file offsets, memory offsets, lengths: `capacity` items each */
} gathered;

static tutti_err gather_run(gathered *g, tutti_off file, tutti_off memory, tutti_off bytes) {
    if (g->n == g->capacity) {
        const tutti_count capacity = 2 * g->capacity + 64;
        tutti_off *v = tutti__malloc((size_t)capacity * 3 * sizeof *v);
        if (!v) return TUTTI_ERR_NOMEM;
        for (int k = 0; k < 3 && g->n > 0; k++)
            memcpy(v + k * capacity, g->v + k * g->capacity, (size_t)g->n * sizeof *v);
        tutti__free(g->v);
        g->v = v;
        g->capacity = capacity;
    }
    g->v[g->n] = file;
    g->v[g->capacity + g->n] = memory;
    g->v[2 * g->capacity + g->n++] = bytes;
    return TUTTI_OK;
}

static tutti_err gather_clipped_run(const tutti__mapping *r, tutti_off lo, tutti_off hi,
                                    gathered *g) {
    place p;
    const tutti_count most = tutti__side_runs(r->file) + tutti__side_runs(r->memory);
    TUTTI_CHECK(most <= TUTTI__MAX_RUNS, TUTTI_ERR_UNSUPPORTED,
                "cannot split %lld repeated runs: at most %lld are supported", (long long)most,
                (long long)TUTTI__MAX_RUNS);
    for (place_seek(&p, *r, 0); p.bytes > 0; place_next(&p)) {
        const tutti_off first = tutti__max(p.file, lo), end = tutti__min(p.file + p.bytes, hi);
        if (first < end) TUTTI_TRY(gather_run(g, first, p.memory + first - p.file, end - first));
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
    tutti_err err = gather_clipped_run(r, lo, hi, &g);
    if (err == TUTTI_OK)
        err = tutti__mapping_list(g.n, g.v, g.v + g.capacity, g.v + 2 * g.capacity, out);
    tutti__free(g.v);
    return err;
}
