/* array: reading and writing slices and parts.
 *
 * A call describes its elements by an access, which the engine transfers (method two-phase is the
 * Extended Two-Phase Method).  Ranks agree on errors before any byte is transferred.  In local
 * placement every rank has its own file, and the ranks agree on the start and on the outcome.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

static tutti__transfer describe_transfer(const tutti_array *a, const tutti_access *access,
                                         void *buf, int is_write, tutti_err local_err) {
    /* a read fails with TUTTI_ERR_TRUNCATED if the file is shorter than the array */
    return (tutti__transfer){.name = is_write ? "write" : "read",
                             .file = a->file,
                             .is_write = is_write,
                             .access = access,
                             .buf = buf,
                             .local_err = local_err,
                             .least = is_write ? 0 : a->local.offset + a->bytes};
}

tutti_err tutti__array_transfer(tutti_array *a, const tutti_access *access, void *buf, int is_write,
                                tutti_err local_err, uint64_t hash) {
    tutti__array_finish_tile_writes(a);
    tutti__transfer t = describe_transfer(a, access, buf, is_write, local_err);
    t.agrees = (int64_t)hash;
    if (!a->head) return tutti__transfer_run(&t, NULL);
    /* Local placement: the ranks exchange only the outcome. */
    const tutti__call call = {
        .name = t.name, .what = "the distribution or the slice", .hash = (uint64_t)t.agrees};
    TUTTI_TRY(tutti__array_call(a, &call, tutti__transfer_check(&t)));
    return tutti__array_vote(a, tutti__operation_under_way(tutti__transfer_run(&t, NULL)));
}

/* ---- slices */

static tutti_err describe_slice(const tutti_array *a, const tutti_slice *s,
                                const tutti_section *memory, int is_write, tutti_access **out) {
    TUTTI_TRY(tutti__array_usable(a, is_write));
    return tutti__slice_access(&a->local, s, memory, out);
}

/* A read uses a prefetched slice if all ranks have it; otherwise it reads the file.  Collective. */
static tutti_err move_slice(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                            void *buf, int is_write) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    int taken = 0;
    TUTTI_TRY(tutti__array_live(a));
    if (is_write) tutti__prefetch_drop(a);
    tutti_err err = describe_slice(a, s, memory, is_write, &access);
    if (!is_write && a->prefetched) {
        TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
        const int is_usable = err == TUTTI_OK && (buf || tutti_access_bytes(access) == 0);
        const tutti_err agreed = tutti__prefetch_take(a, s, is_usable ? access : NULL, buf, &taken);
        if (agreed != TUTTI_OK) {
            tutti_access_free(&access);
            return agreed;
        }
    }
    if (!taken) err = tutti__array_transfer(a, access, buf, is_write, err, 0);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_read(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                           void *buf) {
    return move_slice(a, s, memory, buf, 0);
}

tutti_err tutti_array_write(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                            const void *buf) {
    return move_slice(a, s, memory, (void *)buf, 1);
}

/* ---- independent */

static tutti_err move_independently(tutti_array *a, const tutti_slice *s,
                                    const tutti_section *memory, void *buf, int is_write) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    tutti_off count = 0, bytes = 0;
    TUTTI_TRY(tutti__array_live(a));
    if (is_write) tutti__array_written(a);
    tutti_err err = describe_slice(a, s, memory, is_write, &access);
    if (err == TUTTI_OK) {
        bytes = tutti_access_bytes(access);
        if (a->dist) tutti__array_finish_tile_writes(a);
        err = is_write ? tutti_file_write_independent(a->file, access, buf, NULL)
                       : tutti_file_read_independent(a->file, access, buf, &count);
    }
    if (err == TUTTI_OK && !is_write && count < bytes)
        err = tutti__error_set(TUTTI_ERR_TRUNCATED, 0, -1, "short read: %lld of %lld bytes",
                               (long long)count, (long long)bytes);
    tutti_access_free(&access);
    return tutti__array_error(a->file, is_write ? "independent write" : "independent read", err);
}

tutti_err tutti_array_read_independent(tutti_array *a, const tutti_slice *s,
                                       const tutti_section *memory, void *buf) {
    return move_independently(a, s, memory, buf, 0);
}

tutti_err tutti_array_write_independent(tutti_array *a, const tutti_slice *s,
                                        const tutti_section *memory, const void *buf) {
    return move_independently(a, s, memory, (void *)buf, 1);
}

/* ---- non-blocking */

static tutti_err start_transfer(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                                void *buf, int is_write, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    TUTTI_TRY(tutti__array_live(a));
    if (is_write) tutti__prefetch_drop_later(a);
    if (a->dist) tutti__array_finish_tile_writes(a);
    tutti_err err = describe_slice(a, s, memory, is_write, &access);
    tutti__transfer t = describe_transfer(a, access, buf, is_write, err);
    t.how = TUTTI__STARTED;
    err = tutti__transfer_run(&t, r_out);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_read_start(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                                 void *buf, tutti_request **r_out) {
    return start_transfer(a, s, memory, buf, 0, r_out);
}

tutti_err tutti_array_write_start(tutti_array *a, const tutti_slice *s, const tutti_section *memory,
                                  const void *buf, tutti_request **r_out) {
    return start_transfer(a, s, memory, (void *)buf, 1, r_out);
}

/* ---- parts */

static tutti_err describe_part(const tutti_array *a, const tutti__array_part *part,
                               const tutti_section *memory, int is_write, tutti_access **out) {
    const tutti__team *t = tutti__array_team(a);
    TUTTI_TRY(tutti__array_usable(a, is_write));
    if (!part->d) TUTTI_TRY(tutti__error_refused());
    TUTTI_CHECK(part->d != NULL, TUTTI_ERR_ARG, "argument d is NULL");
    TUTTI_CHECK(part->d->ranks <= t->size, TUTTI_ERR_ARG,
                "distribution is over %d ranks, but the communicator has %d", part->d->ranks,
                t->size);
    if (!a->dist) return tutti__part_access(&a->spec, part, memory, out);
    TUTTI_CHECK(!part->within, TUTTI_ERR_UNSUPPORTED,
                "cannot distribute a slice of an array in local placement: copy it to one in "
                "global placement");
    TUTTI_CHECK(tutti__distribution_equal(part->d, a->dist), TUTTI_ERR_UNSUPPORTED,
                "the array is stored by another distribution: copy it to one in global placement");
    const tutti_slice all = tutti_slice_all(a->local.ndims, a->local.shape);
    return tutti__slice_access(&a->local, &all, memory, out);
}

static tutti_err move_part(tutti_array *a, tutti__array_part part, const tutti_section *memory,
                           void *buf, int is_write) {
    TUTTI_KEEP_ERRNO;
    tutti_access *access = NULL;
    uint64_t hash = 0;
    TUTTI_TRY(tutti__array_live(a));
    if (is_write) tutti__prefetch_drop(a);
    part.rank = tutti__array_team(a)->rank;
    tutti_err err = describe_part(a, &part, memory, is_write, &access);
    if (err == TUTTI_OK) {
        hash = tutti__slice_hash(TUTTI__HASH_START, a->spec.ndims, part.within);
        hash = tutti__distribution_hash(hash, part.d);
    }
    err = tutti__array_transfer(a, access, buf, is_write, err, hash);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_array_read_part(tutti_array *a, const tutti_distribution *d,
                                const tutti_slice *within, const tutti_section *memory, void *buf) {
    return move_part(a, (tutti__array_part){.d = d, .within = within}, memory, buf, 0);
}

tutti_err tutti_array_write_part(tutti_array *a, const tutti_distribution *d,
                                 const tutti_slice *within, const tutti_section *memory,
                                 const void *buf) {
    return move_part(a, (tutti__array_part){.d = d, .within = within}, memory, (void *)buf, 1);
}
