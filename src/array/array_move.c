/* array: reading and writing slices and parts.
 *
 * A call describes its elements by an access and hands it to the engine: the Extended Two-Phase
 * Method is the engine's two-phase.  Whatever a rank has against the call travels with it and is
 * agreed on before any byte moves.  In local placement every rank's file is its own: the ranks only
 * agree, first on going, then on the outcome.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

static const char *name_of(int is_write) {
    return is_write ? "write" : "read";
}

/* A file that is shorter has lost elements. */
static tutti_off least_of(const tutti_array *a, int is_write) {
    return is_write ? 0 : a->mine.offset + a->bytes;
}

static tutti__transfer transfer_of(const tutti_array *a, const tutti_access *access, void *buf,
                                   int is_write, tutti_err local_err) {
    return (tutti__transfer){.name = name_of(is_write),
                             .file = a->file,
                             .is_write = is_write,
                             .access = access,
                             .buf = buf,
                             .local_err = local_err,
                             .least = least_of(a, is_write)};
}

/* Local placement: nothing is exchanged but the outcome. */
static tutti_err transfer_local(tutti_array *a, const tutti__transfer *t) {
    tutti_err err = tutti__transfer_check(t);
    const tutti__call same = {.name = t->name,
                              .what = "the distribution, or the slice that it is of",
                              .hash = (uint64_t)t->agrees};
    TUTTI_TRY(tutti__array_call(a, &same, err));
    err = tutti__operation_under_way(tutti__transfer_run(t, NULL));
    return tutti__array_vote(a, err);
}

tutti_err tutti__array_transfer(tutti_array *a, const tutti_access *access, void *buf, int is_write,
                                tutti_err mine, uint64_t same) {
    tutti__array_catch_up(a);
    tutti__transfer t = transfer_of(a, access, buf, is_write, mine);
    t.agrees = (int64_t)same;
    return a->head ? transfer_local(a, &t) : tutti__transfer_run(&t, NULL);
}

/* ---- slices */

static tutti_err slice_access(const tutti_array *a, const tutti_slice *s,
                              const tutti_section *memory, int is_write, tutti_access **out) {
    TUTTI_TRY(tutti__array_usable(a, is_write));
    return tutti__slice_access(&a->mine, s, memory, out);
}

/* What has been prefetched, or else from the file. */
static tutti_err read_soon(tutti_array *a, const tutti_slice *s, const tutti_access *access,
                           void *buf, tutti_err mine) {
    int taken = 0;
    if (a->ahead) {
        TUTTI_KEEP_LAST_ERROR_IF(mine != TUTTI_OK);
        const int right = mine == TUTTI_OK && (buf || tutti_access_bytes(access) == 0);
        TUTTI_TRY(tutti__ahead_take(a, s, right ? access : NULL, buf, &taken));
    }
    if (taken) return TUTTI_OK;
    return tutti__array_transfer(a, access, buf, 0, mine, 0);
}

tutti_err tutti_array_read(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                           void *buf) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    tutti_err err = slice_access(a, s, memory, 0, &access);
    err = read_soon(a, s, access, buf, err);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_write(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                            const void *buf) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    tutti__ahead_drop(a);
    tutti_err err = slice_access(a, s, memory, 1, &access);
    err = tutti__array_transfer(a, access, (void *)buf, 1, err, 0);
    tutti_access_free(&access);
    return err;
}

/* ---- independent of other ranks */

static tutti_err independent(tutti_array *a, const tutti_access *access, void *buf, int is_write) {
    tutti_off count = 0;
    const tutti_off bytes = tutti_access_bytes(access);
    if (a->dist) tutti__array_catch_up(a);
    if (is_write) return tutti_file_write_independent(a->file, access, buf, NULL);
    TUTTI_TRY(tutti_file_read_independent(a->file, access, buf, &count));
    if (count == bytes) return TUTTI_OK;
    return tutti__array_named(a->file, "independent read",
                              tutti__error_set(TUTTI_ERR_TRUNCATED, 0, -1,
                                               "%lld of %lld bytes are gone",
                                               (long long)(bytes - count), (long long)bytes));
}

tutti_err tutti_array_read_independent(tutti_array *a, const tutti_slice *s,
                                       const tutti_section *memory, void *buf) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    tutti_err err = slice_access(a, s, memory, 0, &access);
    if (err == TUTTI_OK) err = independent(a, access, buf, 0);
    tutti_access_free(&access);
    return tutti__array_named(a->file, "independent read", err);
}

tutti_err tutti_array_write_independent(tutti_array *a, const tutti_slice *s,
                                        const tutti_section *memory, const void *buf) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    tutti__array_written(a);
    tutti_err err = slice_access(a, s, memory, 1, &access);
    if (err == TUTTI_OK) err = independent(a, access, (void *)buf, 1);
    tutti_access_free(&access);
    return tutti__array_named(a->file, "independent write", err);
}

/* ---- non-blocking */

static tutti_err start(tutti_array *a, const tutti_slice *s, const tutti_section *memory, void *buf,
                       int is_write, tutti_request **r_out) {
    tutti_access *access = NULL;
    if (a->dist) tutti__array_catch_up(a);
    tutti_err err = slice_access(a, s, memory, is_write, &access);
    tutti__transfer t = transfer_of(a, access, buf, is_write, err);
    t.how = TUTTI__STARTED;
    err = tutti__transfer_run(&t, r_out);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_read_start(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                                 void *buf, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    return start(a, s, memory, buf, 0, r_out);
}

tutti_err tutti_array_write_start(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                                  const void *buf, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    tutti__ahead_drop_later(a);
    return start(a, s, memory, (void *)buf, 1, r_out);
}

/* ---- parts */

static tutti_err part_access(const tutti_array *a, const tutti__array_part *part,
                             const tutti_section *memory, int is_write, tutti_access **out) {
    const tutti__team *t = tutti__array_team(a);
    TUTTI_TRY(tutti__array_usable(a, is_write));
    if (!part->d) TUTTI_TRY(tutti__error_refused());
    TUTTI_CHECK(part->d != NULL, TUTTI_ERR_ARG, "the distribution is NULL");
    TUTTI_CHECK(part->d->ranks <= t->size, TUTTI_ERR_ARG,
                "a distribution over %d ranks, but there are %d", part->d->ranks, t->size);
    if (!a->dist) return tutti__part_access(&a->spec, part, memory, out);
    TUTTI_CHECK(!part->within && tutti__distribution_equal(part->d, a->dist), TUTTI_ERR_UNSUPPORTED,
                "the array is stored by another distribution: copy it to one in global placement");
    const tutti_slice all = tutti_slice_all(a->mine.ndims, a->mine.shape);
    return tutti__slice_access(&a->mine, &all, memory, out);
}

static tutti_err move_part(tutti_array *a, const tutti__array_part *part,
                           const tutti_section *memory, void *buf, int is_write) {
    tutti_access *access = NULL;
    uint64_t same = 0;
    tutti_err err = part_access(a, part, memory, is_write, &access);
    if (err == TUTTI_OK) {
        same = tutti__slice_hash(TUTTI__HASH_START, a->spec.ndims, part->within);
        same = tutti__distribution_hash(same, part->d);
    }
    err = tutti__array_transfer(a, access, buf, is_write, err, same);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_read_part(tutti_array *a, const tutti_distribution *d,
                                const tutti_slice *within, const tutti_section *memory, void *buf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    const tutti__array_part part = {.d = d, .rank = tutti__array_team(a)->rank, .within = within};
    return move_part(a, &part, memory, buf, 0);
}

tutti_err tutti_array_write_part(tutti_array *a, const tutti_distribution *d,
                                 const tutti_slice *within, const tutti_section *memory,
                                 const void *buf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__array_live(a));
    tutti__ahead_drop(a);
    const tutti__array_part part = {.d = d, .rank = tutti__array_team(a)->rank, .within = within};
    return move_part(a, &part, memory, (void *)buf, 1);
}
