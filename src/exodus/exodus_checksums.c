/* exodus: checksums of the mesh and of steps (timestep/region.h): commits, comparison, verify.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "exodus/sidecar.h"
#include "timestep/step_commit.h"

/* ---- regions */

tutti_off tutti__exodus_step_base(const tutti_exodus *x, tutti_off at) {
    return x->record_blocks ? tutti__file_base(x->file, at) : 0;
}

/* Return the file offset at which blocks start: for a step its record, unless an older version has
 * written the sidecar; otherwise 0. */
static tutti_off find_origin(const tutti_exodus *x, tutti_off lo) {
    return x->record_blocks && lo >= x->cdf.fixed_end ? lo : 0;
}

tutti_err tutti__exodus_region_make(const tutti_exodus *x, tutti_off lo, tutti_off hi,
                                    tutti__region **out) {
    tutti__region_spec spec = {.start = lo, .end = hi, .origin = find_origin(x, lo)};
    *out = NULL;
    if (!x->opt.checksums || !x->opt.sidecar) return TUTTI_OK;
    if (lo >= x->cdf.fixed_end) spec.base = tutti__exodus_step_base(x, lo);
    return tutti__region_make(&spec, out);
}

tutti_err tutti__exodus_region_commit(tutti_exodus *x, tutti__team *team, tutti__region *r,
                                      tutti_err local_err, const tutti__commit_steps *steps,
                                      int *is_sync_failed_out) {
    tutti__commit_verdict verdict = {0};
    tutti__checksum *known = NULL;
    tutti__step_commit c = {.team = team,
                            .file = x->file,
                            .is_durable = x->opt.level == TUTTI_DURABLE,
                            .local_err = local_err,
                            .has_checksums = r != NULL,
                            .steps = steps,
                            .step = x,
                            .verdict = &verdict,
                            .verdict_bytes = (int)sizeof verdict};
    if (r) {
        c.local_err = tutti__region_known(r, team, local_err, &known, &c.known_n);
        c.blocks = tutti__region_blocks(r);
        c.known = known;
    }
    const tutti_err err = tutti__step_commit_run(&c);
    *is_sync_failed_out = c.is_sync_failed;
    tutti__free(known);
    return err;
}

/* ---- the mesh */

static tutti_err finish_mesh(void *context, uint64_t *table, int64_t n) {
    tutti_exodus *x = context;
    return x->sidecar ? tutti__sidecar_add_sums(x->sidecar, 0, n, table) : TUTTI_OK;
}

static tutti_err do_nothing(void *context) {
    (void)context;
    return TUTTI_OK;
}

tutti_err tutti__exodus_complete_mesh(tutti_exodus *x) {
    static const tutti__commit_steps steps = {finish_mesh, do_nothing, do_nothing};
    if (!x->mesh) return TUTTI_OK;
    TUTTI_CHECK(!x->mesh_lost, TUTTI_ERR_STATE,
                "a sync of the mesh has failed and its data may be lost: create the file again");
    TUTTI_TRY(tutti__team_agree(x->team, tutti__region_reserve(x->mesh)));
    const tutti_err err =
        tutti__exodus_region_commit(x, x->team, x->mesh, TUTTI_OK, &steps, &x->mesh_lost);
    if (err == TUTTI_OK) tutti__region_free(&x->mesh);
    return err;
}

/* ---- comparison */

/* Compare this rank's share of the blocks of a step with the checksums. */
static tutti_err compare_share(const tutti_exodus *x, tutti_count step, const tutti__block_list *b,
                               const uint64_t *want) {
    const int64_t n = b->first[1], lo = n * x->team->rank / x->team->size,
                  hi = n * (x->team->rank + 1) / x->team->size;
    char where[40] = "the mesh";
    int64_t damaged = -1;
    tutti_off from, to;
    TUTTI_TRY(tutti__blocks_compare(x->file, b, lo, hi - lo, want + lo, &damaged));
    if (damaged < 0) return TUTTI_OK;
    tutti__blocks_bounds(b, damaged, &from, &to);
    if (step > 0) snprintf(where, sizeof where, "step %lld", (long long)step);
    return tutti__error_set(TUTTI_ERR_FORMAT, 0, from, "%s: bytes %lld ... %lld are damaged", where,
                            (long long)from, (long long)to - 1);
}

tutti_err tutti__exodus_compare(tutti_exodus *x, tutti_count step, tutti_off *bytes_out) {
    const int root = x->team->rank == 0;
    const tutti_off lo =
        step > 0 ? x->cdf.record_begin + (step - 1) * x->cdf.record_bytes : x->cdf.header_bytes;
    const tutti_off hi = step > 0 ? lo + x->cdf.record_bytes : x->cdf.fixed_end;
    tutti__block_list b = {0};
    void *want = NULL;
    tutti_count n = -1; /* -1: no checksums */
    tutti_err err = tutti__blocks_make(1, &b);
    if (err == TUTTI_OK) {
        b.origin = find_origin(x, lo);
        tutti__blocks_add(&b, lo, hi - lo);
    }
    if (err == TUTTI_OK && root && x->sidecar) {
        err = tutti__sidecar_sums(x->sidecar, step, (uint64_t **)&want, &n);
        if (err == TUTTI_ERR_NOT_FOUND) err = TUTTI_OK;
        if (n >= 0 && n != b.first[1])
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "step %lld has %lld checksums, but %lld blocks", (long long)step,
                                   (long long)n, (long long)b.first[1]);
    }
    err = tutti__team_agree(x->team, err);
    if (err == TUTTI_OK) err = tutti__team_broadcast(x->team, &n, (int)sizeof n);
    const int has_checksums = n >= 0;
    size_t bytes = has_checksums ? (size_t)n * sizeof(uint64_t) : 0;
    if (err == TUTTI_OK && has_checksums) err = tutti__team_broadcast_bytes(x->team, &want, &bytes);
    if (err == TUTTI_OK && has_checksums)
        err = tutti__team_agree(x->team, compare_share(x, step, &b, want));
    if (err == TUTTI_OK && has_checksums) *bytes_out += hi - lo;
    tutti__blocks_free(&b);
    tutti__free(want);
    return err;
}

/* On rank 0, check that the file contains all steps that its header counts, since tutti_exodus_open
 * ignores incomplete steps. */
static tutti_err check_step_count(const tutti_exodus *x) {
    unsigned char word[8] = {0};
    const int bytes = x->cdf.version == 5 ? 8 : 4;
    struct stat st;
    uint64_t count = 0;
    if (tutti__exodus_has_fixed_steps(&x->cdf)) return TUTTI_OK;
    const int fd = open(x->path, O_RDONLY | O_CLOEXEC);
    const int known = fd >= 0 && fstat(fd, &st) == 0 && pread(fd, word, (size_t)bytes, 4) == bytes;
    const int error = errno;
    if (fd >= 0) close(fd);
    if (!known) return tutti__error_sys(error, 4, "cannot read the number of steps");
    for (int i = 0; i < bytes; i++) count = count << 8 | word[i];
    /* a netCDF writer has not closed the file */
    if (count == (bytes == 8 ? UINT64_MAX : UINT32_MAX)) return TUTTI_OK;
    const tutti_count complete = tutti__cdf_records_in(&x->cdf, st.st_size);
    TUTTI_CHECK(count <= (uint64_t)complete, TUTTI_ERR_FORMAT,
                "the header has %llu steps, but the file contains only %lld",
                (unsigned long long)count, (long long)complete);
    return TUTTI_OK;
}

/* On rank 0, check that the sidecar belongs to the header, and that the header counts all committed
 * steps. */
static tutti_err check_header(tutti_exodus *x) {
    tutti_count steps = 0;
    char *path = x->sidecar || !x->opt.sidecar ? NULL : tutti__sidecar_path(x->path);
    struct stat st;
    const int refused = path && lstat(path, &st) == 0;
    tutti__free(path);
    TUTTI_CHECK(!refused, TUTTI_ERR_FORMAT,
                "the header or the sidecar is damaged, or the sidecar belongs to another file: %s",
                x->warning);
    TUTTI_TRY(check_step_count(x));
    if (!x->sidecar) return TUTTI_OK;
    TUTTI_TRY(tutti__sidecar_steps(x->sidecar, &steps));
    TUTTI_CHECK(steps <= x->cdf.records, TUTTI_ERR_FORMAT,
                "the header has %lld steps, but %lld were committed", (long long)x->cdf.records,
                (long long)steps);
    return TUTTI_OK;
}

tutti_err tutti_exodus_verify(tutti_exodus *x, tutti_off *bytes_out) {
    TUTTI_KEEP_ERRNO;
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defined(x);
    if (err == TUTTI_OK) err = tutti__exodus_idle(x);
    TUTTI_TRY(tutti__exodus_call(x, "verify", 0, err));
    err = tutti__exodus_complete_mesh(x);
    if (err == TUTTI_OK)
        err = tutti__team_agree(x->team, x->team->rank == 0 ? check_header(x) : TUTTI_OK);
    for (tutti_count i = 0; i <= x->cdf.records && err == TUTTI_OK; i++)
        err = tutti__exodus_compare(x, i, &bytes);
    if (err == TUTTI_OK && bytes_out) *bytes_out = bytes;
    return tutti__exodus_named(x, "verify", err);
}
