/* decomposition: comparison of the slices of all ranks, one per rank.
 *
 * Counts the entries of each rank that no higher rank has, and determines whether the slices cover
 * the space.  No rank has the slices of all ranks: one vote shows whether the slices divide the
 * space, or are all equal.  Otherwise each rank sends its slice to the ranks of the cells in which
 * it has entries (slice_compare.h), and these send back the overlapping slices of higher ranks.
 *
 * A rank marks the entries that a higher rank also has, if there are any, with one byte per entry.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/decomposition.h"
#include "decomposition/shares.h"
#include "decomposition/slice_compare.h"

#include <string.h>

#include "base/hash.h"

/* The slices of all ranks, reduced by a vote. */
typedef struct {
    tutti_count entries; /* sum of the entries of all slices */
    tutti_count slices;  /* number of slices that are not empty */
    int64_t least, most; /* minimum and maximum of a hash of the slice */
    int64_t highest;     /* highest rank whose slice is not empty */
    int64_t words[TUTTI__SLICE_WORDS];
    int64_t shares[TUTTI_MAX_DIMS];
} slice_facts;

/* Maximum number of dimensions that are divided into cells. */
enum { SHARED_DIMS = TUTTI__REDUCTIONS - 5 - TUTTI__SLICE_WORDS };

static tutti_err vote_on_slices(tutti__team *t, const tutti_decomposition *p, slice_facts *f) {
    const int has = p->facts.entries > 0, dims = (int)tutti__min(p->ndims, SHARED_DIMS);
    tutti__reduction r[TUTTI__REDUCTIONS];
    int n = 0;
    *f = (slice_facts){.entries = p->facts.entries,
                       .slices = has,
                       .least = INT64_MAX,
                       .most = INT64_MIN,
                       .highest = has ? t->rank : -1};
    if (has) {
        f->least = f->most = (int64_t)tutti__hash(TUTTI__HASH_START, &p->slice, sizeof p->slice);
        tutti__slice_words(p->ndims, &p->slice, f->words);
        for (int d = 0; d < dims; d++) f->shares[d] = tutti__slice_share(&p->slice, p->shape[d], d);
    }
    r[n++] = (tutti__reduction){TUTTI__SUM, &f->entries};
    r[n++] = (tutti__reduction){TUTTI__SUM, &f->slices};
    r[n++] = (tutti__reduction){TUTTI__MIN, &f->least};
    r[n++] = (tutti__reduction){TUTTI__MAX, &f->most};
    r[n++] = (tutti__reduction){TUTTI__MAX, &f->highest};
    for (int i = 0; i < TUTTI__SLICE_WORDS; i++)
        r[n++] = (tutti__reduction){TUTTI__SUM, &f->words[i]};
    for (int d = 0; d < dims; d++) r[n++] = (tutti__reduction){TUTTI__SUM, &f->shares[d]};
    return tutti__team_reduce(t, TUTTI_OK, n, r);
}

/* ---- slices in messages: lo, hi, stride of each dimension */

enum { MESSAGE_WORDS = 3 };

static void pack_slice(int ndims, const tutti_slice *s, int64_t *out) {
    for (int d = 0; d < ndims; d++) {
        out[MESSAGE_WORDS * d] = s->lo[d];
        out[MESSAGE_WORDS * d + 1] = s->hi[d];
        out[MESSAGE_WORDS * d + 2] = s->stride[d];
    }
}

static tutti_slice unpack_slice(int ndims, const int64_t *words) {
    tutti_slice s = {.lo = {0}};
    for (int d = 0; d < ndims; d++) {
        s.lo[d] = words[MESSAGE_WORDS * d];
        s.hi[d] = words[MESSAGE_WORDS * d + 1];
        s.stride[d] = words[MESSAGE_WORDS * d + 2];
    }
    return s;
}

static size_t slice_bytes(int ndims) {
    return (size_t)ndims * MESSAGE_WORDS * sizeof(int64_t);
}

/* ---- overlaps */

/* Send the slice of this rank to the ranks of its cells. */
static tutti_err send_to_cells(tutti__team *t, const tutti_decomposition *p, const tutti__cells *c,
                               int *n_in_out, tutti__sparse_message **in_out) {
    int64_t words[MESSAGE_WORDS * TUTTI_MAX_DIMS];
    tutti__sparse_message *out = NULL;
    tutti_count n = 0;
    int *cell = NULL;
    tutti_err err = TUTTI_OK;
    if (p->facts.entries > 0) {
        pack_slice(p->ndims, &p->slice, words);
        err = tutti__cells_of_slice(c, &p->slice, &n, &cell);
    }
    if (err == TUTTI_OK) {
        out = tutti__malloc((size_t)(n + 1) * sizeof *out);
        if (!out) err = TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++)
        out[i] = (tutti__sparse_message){cell[i], slice_bytes(p->ndims), words};
    err = tutti__exchange_if(t, err, (int)n, out, n_in_out, in_out);
    tutti__free(out);
    tutti__free(cell);
    return err;
}

/* Messages with slices; slices for one rank are contiguous in `words`. */
typedef struct {
    int n;
    tutti__sparse_message *message;
    int64_t *words;
} slice_messages;

/* Find the overlaps in the cell of this rank, and make messages of them. */
static tutti_err compare_in_cell(const tutti__team *t, const tutti__cells *c, int n,
                                 const tutti__sparse_message *in, slice_messages *out) {
    const size_t words = MESSAGE_WORDS * (size_t)c->ndims;
    tutti__rank_slice *v = tutti__calloc((size_t)n + 1, sizeof *v);
    tutti__slice_overlap *found = NULL;
    tutti_count overlaps = 0;
    tutti_err err = v ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int i = 0; i < n && v; i++)
        v[i] = (tutti__rank_slice){in[i].rank, unpack_slice(c->ndims, in[i].data)};
    if (err == TUTTI_OK) err = tutti__cell_compare(c, t->rank, n, v, &overlaps, &found);
    if (err == TUTTI_OK) {
        out->message = tutti__malloc((size_t)(overlaps + 1) * sizeof *out->message);
        out->words = tutti__malloc((size_t)overlaps * words * sizeof *out->words);
        if (!out->message || !out->words) err = TUTTI_ERR_NOMEM;
    }
    for (tutti_count i = 0; i < overlaps && err == TUTTI_OK; i++) {
        int64_t *to = out->words + (size_t)i * words;
        pack_slice(c->ndims, &v[found[i].higher].slice, to);
        if (i == 0 || found[i].rank != found[i - 1].rank)
            out->message[out->n++] = (tutti__sparse_message){found[i].rank, 0, to};
        out->message[out->n - 1].bytes += words * sizeof *to;
    }
    tutti__free(v);
    tutti__free(found);
    return err;
}

/* Mark the entries of p that `other` also has.   shape: shape of the slice of p */
static tutti_err mark_common(tutti_decomposition *p, const tutti_slice *other,
                             const tutti_count *shape) {
    tutti_count x[TUTTI_MAX_DIMS];
    tutti__indices both;
    if (!tutti__slices_intersect(p->ndims, &p->slice, other, &both)) return TUTTI_OK;
    for (int d = 0; d < p->ndims; d++) x[d] = both.from[d];
    if (!p->passed) p->passed = tutti__calloc((size_t)p->facts.entries, 1);
    if (!p->passed) return TUTTI_ERR_NOMEM;
    do {
        p->passed[tutti__row_major_position(p->ndims, shape, x)] = 1;
    } while (tutti__indices_next(&both, x));
    return TUTTI_OK;
}

/* Mark the entries that higher ranks also have.  Returns the error code of this rank. */
static tutti_err mark_overlaps(tutti__team *t, const slice_facts *f, tutti_decomposition *p) {
    const tutti__cells c = tutti__cells_choose(p->ndims, p->shape, f->shares, f->slices, t->size);
    tutti__sparse_message *in = NULL, *overlaps = NULL;
    slice_messages found = {0};
    tutti_count shape[TUTTI_MAX_DIMS];
    int n = 0;
    tutti_err err = send_to_cells(t, p, &c, &n, &in);
    if (err == TUTTI_OK) err = compare_in_cell(t, &c, n, in, &found);
    tutti__sparse_free(n, &in);
    n = 0;
    err = tutti__exchange_if(t, err, found.n, found.message, &n, &overlaps);
    tutti_slice_count(p->ndims, &p->slice, shape);
    for (int i = 0; i < n && err == TUTTI_OK; i++)
        for (size_t at = 0; at < overlaps[i].bytes && err == TUTTI_OK;
             at += slice_bytes(p->ndims)) {
            const void *words = (const char *)overlaps[i].data + at;
            const tutti_slice other = unpack_slice(p->ndims, words);
            err = mark_common(p, &other, shape);
        }
    tutti__sparse_free(n, &overlaps);
    tutti__free(found.message);
    tutti__free(found.words);
    return err;
}

/* Find the first entry that no rank holds.  Each position before this entry has exactly one writer,
 * so a binary search by counting finds it. */
static tutti_err find_hole(tutti__team *t, const tutti_decomposition *p, tutti_count *hole_out) {
    tutti_access *a = NULL;
    /* all positions before lo have a holder, but not all before hi */
    tutti_count lo = 0, hi = p->of;
    TUTTI_TRY(tutti__team_agree(t, tutti__slice_items(p, 1, &a)));
    tutti_err agreed = TUTTI_OK;
    while (hi - lo > 1 && agreed == TUTTI_OK) {
        const tutti_count mid = lo + (hi - lo) / 2;
        /* count the entries before position `mid` that no higher rank has */
        const tutti_count n = tutti_access_bytes_in(a, 0, mid);
        tutti_count passed = 0;
        for (tutti_count i = 0; i < n && p->passed; i++) passed += p->passed[i];
        int64_t covered = n - passed;
        agreed = tutti__team_sum(t, &covered, 1);
        if (covered == mid)
            lo = mid;
        else
            hi = mid;
    }
    tutti_access_free(&a);
    *hole_out = lo;
    return agreed;
}

tutti_err tutti__slices_meet(tutti__team *t, int must, tutti_decomposition *p) {
    slice_facts f;
    tutti_count covered = 0, hole = 0;
    tutti_err err = TUTTI_OK;
    TUTTI_TRY(vote_on_slices(t, p, &f));
    p->facts.written = p->facts.entries;
    p->facts.whole = f.entries == p->of && tutti__slices_divide(p->ndims, p->shape, f.words);
    if (p->facts.whole) return TUTTI_OK;
    if (f.slices > 1) {
        const int are_equal = f.least == f.most;
        if (!are_equal) {
            err = mark_overlaps(t, &f, p);
        } else if (p->facts.entries > 0 && t->rank < f.highest) {
            /* A higher rank holds every entry of this rank. */
            p->passed = tutti__malloc((size_t)p->facts.entries);
            if (p->passed)
                memset(p->passed, 1, (size_t)p->facts.entries);
            else
                err = TUTTI_ERR_NOMEM;
        }
        for (tutti_count i = 0; i < p->facts.entries && p->passed && err == TUTTI_OK; i++)
            p->facts.written -= p->passed[i];
    }
    covered = p->facts.written;
    TUTTI_TRY(tutti__team_reduce(t, err, 1, &(tutti__reduction){TUTTI__SUM, &covered}));
    p->facts.whole = covered == p->of;
    if (p->facts.whole || !must) return TUTTI_OK;
    TUTTI_TRY(find_hole(t, p, &hole));
    return tutti__hole_error(hole, covered, p->of);
}
