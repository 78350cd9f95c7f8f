/* timestep: checksums of a region (region.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/region.h"

#include "comm/collective_count.h"
#include "comm/wait.h"

/* Bytes that an operation wrote. */
typedef struct {
    int32_t operation;
    tutti_access *access;
} written_bytes;

struct tutti__region {
    tutti__block_list blocks;     /* one extent */
    tutti_off base;               /* file offset that is the base of accesses */
    tutti__checksums **checksums; /* checksums of each operation */
    int64_t checksums_n;
    int32_t operations;
    written_bytes *written;
    int64_t written_n;
    int32_t *touched; /* [2 * blocks] operations that wrote each block; memory for a commit */
};

/* ---- operations */

tutti_err tutti__region_make(const tutti__region_spec *spec, tutti__region **out) {
    tutti__region *r = tutti__calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return TUTTI_ERR_NOMEM;
    const tutti_err err = tutti__blocks_make(1, &r->blocks);
    if (err != TUTTI_OK) {
        tutti__free(r);
        return err;
    }
    r->base = spec->base;
    r->blocks.origin = spec->origin;
    tutti__blocks_add(&r->blocks, spec->start, spec->end - spec->start);
    *out = r;
    return TUTTI_OK;
}

const tutti__block_list *tutti__region_blocks(const tutti__region *r) {
    return &r->blocks;
}

void tutti__region_free(tutti__region **pr) {
    tutti__region *r = *pr;
    *pr = NULL;
    if (!r) return;
    for (int64_t i = 0; i < r->checksums_n; i++) {
        tutti__free(r->checksums[i]->v);
        tutti__free(r->checksums[i]);
    }
    for (int64_t i = 0; i < r->written_n; i++) tutti_access_free(&r->written[i].access);
    tutti__free(r->checksums);
    tutti__free(r->written);
    tutti__free(r->touched);
    tutti__blocks_free(&r->blocks);
    tutti__free(r);
}

void tutti__region_next_operation(tutti__region *r) {
    if (r) r->operations++;
}

static tutti_err record_access(tutti__region *r, const tutti_access *access) {
    written_bytes *w = tutti__table_grow(&r->written, &r->written_n, sizeof *w);
    if (!w) return TUTTI_ERR_NOMEM;
    *w = (written_bytes){r->operations, NULL};
    return tutti_access_copy(access, &w->access);
}

tutti_err tutti__region_touch(tutti__region *r, tutti_off lo, tutti_off hi) {
    tutti_access *access = NULL;
    tutti__region_next_operation(r);
    if (!r) return TUTTI_OK;
    TUTTI_TRY(tutti_access_contiguous(lo - r->base, hi - lo, &access));
    const tutti_err err = record_access(r, access);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti__region_add_parts(tutti__region *r, int n, const tutti_part *parts,
                                  tutti__checksums **out) {
    *out = NULL;
    if (!r || r->blocks.first[1] == 0) return TUTTI_OK;
    for (int i = 0; i < n; i++) TUTTI_TRY(record_access(r, parts[i].access));
    tutti__checksums *checksums = tutti__calloc(1, sizeof *checksums);
    if (!checksums) return TUTTI_ERR_NOMEM;
    tutti__checksums **at = tutti__table_grow(&r->checksums, &r->checksums_n, sizeof *at);
    if (!at) {
        tutti__free(checksums);
        return TUTTI_ERR_NOMEM;
    }
    checksums->bytes = TUTTI__BLOCK;
    checksums->start = r->blocks.origin;
    if (r->blocks.origin > 0) checksums->end = r->blocks.of[0].start + r->blocks.of[0].bytes;
    *at = *out = checksums;
    return TUTTI_OK;
}

/* ---- commit */

static int64_t find_block(const tutti__region *r, tutti_off at) {
    const tutti__summed *e = &r->blocks.of[0];
    const tutti_off in = tutti__min(tutti__max(at, e->start), e->start + e->bytes - 1);
    return (in - r->blocks.origin) / TUTTI__BLOCK - (e->start - r->blocks.origin) / TUTTI__BLOCK;
}

tutti_err tutti__region_reserve(tutti__region *r) {
    if (!r || r->touched) return TUTTI_OK;
    r->touched = tutti__malloc((size_t)r->blocks.first[1] * 2 * sizeof *r->touched);
    return r->touched ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Set touched[i] to 1, on all ranks, for each block that only one operation wrote.   Collective if
 * there was more than one operation. */
static tutti_err find_single_writes(tutti__region *r, tutti__team *team) {
    const int64_t n = r->blocks.first[1], step = 1 << 28;
    int32_t *all = r->touched;
    for (int64_t i = 0; i < n && r->operations <= 1; i++) all[i] = 1;
    if (r->operations <= 1) return TUTTI_OK;
    for (int64_t i = 0; i < n; i++) {
        all[2 * i] = 0;
        all[2 * i + 1] = INT32_MIN;
    }
    /* Record the last operation of each block, and the negated first one, so that one reduction by
     * MPI_MAX combines both. */
    for (int64_t i = 0; i < r->written_n; i++) {
        const written_bytes *w = &r->written[i];
        tutti_off lo, hi, from, to;
        tutti_access_bounds(w->access, &lo, &hi);
        if (lo >= hi) continue;
        const int dense = tutti_access_bytes(w->access) == hi - lo;
        const int64_t last = find_block(r, r->base + hi - 1);
        for (int64_t b = find_block(r, r->base + lo); b <= last; b++) {
            tutti__blocks_bounds(&r->blocks, b, &from, &to);
            if (!dense && tutti_access_bytes_in(w->access, from - r->base, to - r->base) == 0)
                continue;
            r->touched[2 * b] = w->operation;
            r->touched[2 * b + 1] = (int32_t)tutti__max(r->touched[2 * b + 1], -w->operation);
        }
    }
    for (int64_t at = 0; at < 2 * n; at += step) {
        MPI_Request q;
        tutti__collective_add();
        TUTTI_MPI(MPI_Iallreduce(MPI_IN_PLACE, all + at, (int)tutti__min(step, 2 * n - at),
                                 MPI_INT32_T, MPI_MAX, team->comm, &q));
        TUTTI_TRY(tutti__team_finish(1, &q));
    }
    for (int64_t i = 0; i < n; i++) all[i] = all[2 * i] > 0 && all[2 * i] == -all[2 * i + 1];
    return TUTTI_OK;
}

tutti_err tutti__region_known(tutti__region *r, tutti__team *team, tutti_err local_err,
                              tutti__checksum **out, int64_t *n_out) {
    TUTTI_TRY(find_single_writes(r, team));
    if (local_err != TUTTI_OK) return local_err;
    size_t capacity = 0;
    int64_t n = 0, extent = 0;
    for (int64_t i = 0; i < r->checksums_n; i++) capacity += r->checksums[i]->n;
    tutti__checksum *v = tutti__malloc(capacity * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int64_t i = 0; i < r->checksums_n; i++)
        for (size_t k = 0; k < r->checksums[i]->n; k++) {
            int64_t b = r->checksums[i]->v[k].block;
            if (r->checksums[i]->end == 0) b = tutti__blocks_whole(&r->blocks, b, &extent);
            if (b >= 0 && b < r->blocks.first[1] && r->touched[b])
                v[n++] = (tutti__checksum){b, r->checksums[i]->v[k].hash};
        }
    *out = v;
    *n_out = n;
    return TUTTI_OK;
}
