/* mpitype: functions common to several constructors: shifting an element, and placing blocks of
 * elements at a list of displacements.
 *
 * Blocks of elements without gaps are runs and become one LIST node.  Blocks of other elements
 * become a CAT node, in which consecutive blocks of the same length share one node.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpitype/mpitype_impl.h"

tutti__side tutti__side_share(tutti__side s) {
    if (s.node) tutti__node_ref(s.node);
    return s;
}

tutti_err tutti__off_mul(tutti_off a, tutti_off b, tutti_off *out) {
    TUTTI_CHECK(tutti__mul_ok(a, b, out), TUTTI_ERR_OVERFLOW,
                "datatype has %lld items of %lld bytes: product exceeds 64 bits", (long long)a,
                (long long)b);
    return TUTTI_OK;
}

tutti_err tutti__off_add(tutti_off a, tutti_off b, tutti_off *out) {
    TUTTI_CHECK(tutti__add_ok(a, b, out), TUTTI_ERR_OVERFLOW,
                "sum of displacements %lld and %lld exceeds 64 bits", (long long)a, (long long)b);
    return TUTTI_OK;
}

/* Check that displacement and bounds of the shifted side are within the limits of sides. */
static tutti_err check_shift(tutti__side s, tutti_off by, tutti_off *disp_out) {
    tutti_off disp, lo, hi;
    const int fits = tutti__add_ok(s.disp, by, &disp) && tutti__add_ok(disp, s.node->lo, &lo) &&
                     tutti__add_ok(disp, s.node->hi, &hi) && lo >= -TUTTI__OFF_LIMIT &&
                     hi <= TUTTI__OFF_LIMIT;
    TUTTI_CHECK(fits, TUTTI_ERR_OVERFLOW,
                "%lld bytes of the datatype, at displacement %lld, exceed the range (-2^62, 2^62)",
                (long long)s.node->bytes, (long long)by);
    *disp_out = disp;
    return TUTTI_OK;
}

tutti_err tutti__side_shift(tutti__side s, tutti_off by, tutti__side *out) {
    if (s.node) {
        const tutti_err err = check_shift(s, by, &s.disp);
        if (err != TUTTI_OK) {
            tutti__side_free(&s);
            return err;
        }
    }
    *out = s;
    return TUTTI_OK;
}

/* ---- blocks of elements at a list of displacements */

static tutti_off block_length(const tutti__blocks *b, tutti_count i) {
    return b->length[i * b->length_step];
}

static tutti_err fill_block_runs(const tutti__layout *child, const tutti__blocks *b,
                                 tutti_off *offsets, tutti_off *lengths, tutti_count *n_out) {
    tutti_count n = 0;
    for (tutti_count i = 0; i < b->n; i++) {
        tutti_off end;
        if (block_length(b, i) <= 0) continue;
        TUTTI_TRY(tutti__off_mul(b->place[i], b->unit, &offsets[n]));
        TUTTI_TRY(tutti__off_add(offsets[n], child->side.disp, &offsets[n]));
        TUTTI_TRY(tutti__off_mul(block_length(b, i), child->extent, &lengths[n]));
        TUTTI_TRY(tutti__off_add(offsets[n], lengths[n], &end));
        n++;
    }
    *n_out = n;
    return TUTTI_OK;
}

/* Place block i at its displacement; *last is the previous block, which is reused if it has the
 * same length. */
static tutti_err place_block(const tutti__layout *child, const tutti__blocks *b, tutti_count i,
                             tutti__side *last, tutti__side *out) {
    tutti_off at;
    TUTTI_TRY(tutti__off_mul(b->place[i], b->unit, &at));
    if (i == 0 || block_length(b, i) != block_length(b, i - 1)) {
        tutti__side block;
        TUTTI_TRY(tutti__side_vec(tutti__side_share(child->side), block_length(b, i), child->extent,
                                  &block));
        tutti__side_free(last);
        *last = block;
    }
    return tutti__side_shift(tutti__side_share(*last), at, out);
}

tutti_err tutti__side_blocks(const tutti__layout *child, const tutti__blocks *b, tutti__side *out) {
    if (!child->side.node || b->n <= 0) {
        *out = (tutti__side){0, NULL};
        return TUTTI_OK;
    }
    if (child->side.node->kind == TUTTI__RUN && child->side.node->bytes == child->extent) {
        tutti_err err = TUTTI_ERR_NOMEM;
        tutti_count n = 0;
        tutti_off *offsets = tutti__malloc((size_t)b->n * sizeof *offsets);
        tutti_off *lengths = tutti__malloc((size_t)b->n * sizeof *lengths);
        if (offsets && lengths) err = fill_block_runs(child, b, offsets, lengths, &n);
        if (err == TUTTI_OK) err = tutti__side_list(n, offsets, lengths, 0, out);
        tutti__free(offsets);
        tutti__free(lengths);
        return err;
    }
    tutti_err made = TUTTI_OK;
    tutti_count loose = 0;
    tutti__side last = {0, NULL};
    tutti__side *parts = tutti__malloc((size_t)b->n * sizeof *parts);
    if (!parts) return TUTTI_ERR_NOMEM;
    while (made == TUTTI_OK && loose < b->n) {
        made = place_block(child, b, loose, &last, &parts[loose]);
        if (made == TUTTI_OK) loose++;
    }
    if (made == TUTTI_OK)
        made = tutti__side_cat(loose, parts, out);
    else
        for (tutti_count i = 0; i < loose; i++) tutti__side_free(&parts[i]);
    tutti__side_free(&last);
    tutti__free(parts);
    return made;
}
