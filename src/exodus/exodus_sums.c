/* exodus: checksums of the mesh and of steps.
 *
 * A region is written by any number of operations.  Sums of blocks that one of them wrote whole have come with
 * it, but are good only if no other one has touched the block.  So each rank keeps what it had in which operation;
 * if there was more than one, it notes the first and the last for each block, and what all have noted is compared.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "comm/collective_count.h"
#include "comm/wait.h"
#include "exodus/sidecar.h"
#include "timestep/step_commit.h"

/* Bytes that an operation wrote. */
typedef struct {
    int32_t operation;
    tutti_access *access;
} written;

struct tutti__exodus_region {
    tutti__block_list blocks; /* one extent */
    tutti_off base;           /* where offset 0 of what is written is */
    tutti__sums **sums;       /* of each operation */
    int64_t sums_n;
    int32_t operations;
    written *written;
    int64_t written_n;
    int32_t *touched; /* [2 * blocks]: in a commit */
};

/* ---- while it is written */

tutti_off tutti__exodus_step_base(const tutti_exodus *x, tutti_off at) {
    return x->record_blocks ? tutti__file_base(x->file, at) : 0;
}

/* The blocks of a region: of the mesh, or of a step. */
static tutti_err blocks_make(const tutti_exodus *x, tutti_off lo, tutti_off hi,
                             tutti__block_list *out) {
    TUTTI_TRY(tutti__blocks_make(1, out));
    if (x->record_blocks && lo >= x->cdf.fixed_end) out->origin = lo;
    tutti__blocks_add(out, lo, hi - lo);
    return TUTTI_OK;
}

tutti_err tutti__exodus_region_make(const tutti_exodus *x, tutti_off lo, tutti_off hi,
                                    tutti__exodus_region **out) {
    *out = NULL;
    if (!x->opt.checksums || !x->opt.sidecar) return TUTTI_OK;
    tutti__exodus_region *r = tutti__calloc(1, sizeof *r);
    if (!r) return TUTTI_ERR_NOMEM;
    const tutti_err err = blocks_make(x, lo, hi, &r->blocks);
    if (lo >= x->cdf.fixed_end) r->base = tutti__exodus_step_base(x, lo);
    if (err == TUTTI_OK)
        *out = r;
    else
        tutti__exodus_region_free(&r);
    return err;
}

void tutti__exodus_region_free(tutti__exodus_region **pr) {
    tutti__exodus_region *r = *pr;
    *pr = NULL;
    if (!r) return;
    for (int64_t i = 0; i < r->sums_n; i++) {
        tutti__free(r->sums[i]->v);
        tutti__free(r->sums[i]);
    }
    for (int64_t i = 0; i < r->written_n; i++) tutti_access_free(&r->written[i].access);
    tutti__free(r->sums);
    tutti__free(r->written);
    tutti__free(r->touched);
    tutti__blocks_free(&r->blocks);
    tutti__free(r);
}

void tutti__exodus_region_next(tutti__exodus_region *r) {
    if (r) r->operations++;
}

static tutti_err keep(tutti__exodus_region *r, const tutti_access *access) {
    written *w = tutti__table_grow(&r->written, &r->written_n, sizeof *w);
    if (!w) return TUTTI_ERR_NOMEM;
    *w = (written){r->operations, NULL};
    return tutti_access_copy(access, &w->access);
}

tutti_err tutti__exodus_region_touch(tutti__exodus_region *r, tutti_off lo, tutti_off hi) {
    tutti_access *access = NULL;
    tutti__exodus_region_next(r);
    if (!r) return TUTTI_OK;
    TUTTI_TRY(tutti_access_contiguous(lo - r->base, hi - lo, &access));
    const tutti_err err = keep(r, access);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti__exodus_region_sums(tutti__exodus_region *r, int n, const tutti_part *parts,
                                    tutti__sums **out) {
    *out = NULL;
    if (!r || r->blocks.first[1] == 0) return TUTTI_OK;
    for (int i = 0; i < n; i++) TUTTI_TRY(keep(r, parts[i].access));
    tutti__sums *sums = tutti__calloc(1, sizeof *sums);
    if (!sums) return TUTTI_ERR_NOMEM;
    tutti__sums **at = tutti__table_grow(&r->sums, &r->sums_n, sizeof *at);
    if (!at) {
        tutti__free(sums);
        return TUTTI_ERR_NOMEM;
    }
    sums->bytes = TUTTI__BLOCK;
    sums->start = r->blocks.origin;
    if (r->blocks.origin > 0) sums->end = r->blocks.of[0].start + r->blocks.of[0].bytes;
    *at = *out = sums;
    return TUTTI_OK;
}

/* ---- when it is complete */

static int64_t block_of(const tutti__exodus_region *r, tutti_off at) {
    const tutti__summed *e = &r->blocks.of[0];
    const tutti_off in = tutti__min(tutti__max(at, e->start), e->start + e->bytes - 1);
    return (in - r->blocks.origin) / TUTTI__BLOCK - (e->start - r->blocks.origin) / TUTTI__BLOCK;
}

/* For each block the last operation, and minus the first; a rank that has not touched it does not count. */
static void note_operation(tutti__exodus_region *r, const written *w) {
    tutti_off lo, hi, from, to;
    tutti_access_bounds(w->access, &lo, &hi);
    if (lo >= hi) return;
    const int dense = tutti_access_bytes(w->access) == hi - lo;
    const int64_t last = block_of(r, r->base + hi - 1);
    for (int64_t b = block_of(r, r->base + lo); b <= last; b++) {
        tutti__blocks_bounds(&r->blocks, b, &from, &to);
        if (!dense && tutti_access_bytes_in(w->access, from - r->base, to - r->base) == 0) continue;
        r->touched[2 * b] = w->operation;
        r->touched[2 * b + 1] = (int32_t)tutti__max(r->touched[2 * b + 1], -w->operation);
    }
}

tutti_err tutti__exodus_region_reserve(tutti__exodus_region *r) {
    if (!r || r->touched) return TUTTI_OK;
    r->touched = tutti__malloc((size_t)r->blocks.first[1] * 2 * sizeof *r->touched);
    return r->touched ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

/* Which blocks one operation wrote alone: 1 in `touched`, on all ranks.   Collective if there was more than one. */
static tutti_err find_alone(tutti__exodus_region *r, tutti__team *team) {
    const int64_t n = r->blocks.first[1], step = 1 << 28;
    int32_t *all = r->touched;
    for (int64_t i = 0; i < n && r->operations <= 1; i++) all[i] = 1;
    if (r->operations <= 1) return TUTTI_OK;
    for (int64_t i = 0; i < n; i++) {
        all[2 * i] = 0;
        all[2 * i + 1] = INT32_MIN;
    }
    for (int64_t i = 0; i < r->written_n; i++) note_operation(r, &r->written[i]);
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

static tutti_err list_known(const tutti__exodus_region *r, tutti__sum **out, int64_t *n_out) {
    size_t room = 0;
    int64_t n = 0, extent = 0;
    for (int64_t i = 0; i < r->sums_n; i++) room += r->sums[i]->n;
    tutti__sum *v = tutti__malloc(room * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    for (int64_t i = 0; i < r->sums_n; i++)
        for (size_t k = 0; k < r->sums[i]->n; k++) {
            int64_t b = r->sums[i]->v[k].block;
            if (r->sums[i]->end == 0) b = tutti__blocks_whole(&r->blocks, b, &extent);
            if (b >= 0 && b < r->blocks.first[1] && r->touched[b])
                v[n++] = (tutti__sum){b, r->sums[i]->v[k].hash};
        }
    *out = v;
    *n_out = n;
    return TUTTI_OK;
}

tutti_err tutti__exodus_region_commit(tutti_exodus *x, tutti__exodus_region *r, tutti_err mine,
                                      const tutti__commit_steps *steps, int *is_sync_failed_out) {
    tutti__commit_verdict verdict = {0};
    tutti__sum *known = NULL;
    tutti__step_commit c = {.team = x->commit ? x->commit_team : x->team,
                            .file = x->file,
                            .is_durable = x->opt.level == TUTTI_DURABLE,
                            .local_err = mine,
                            .has_checksums = r != NULL,
                            .steps = steps,
                            .step = x,
                            .verdict = &verdict,
                            .verdict_bytes = (int)sizeof verdict};
    if (r) {
        TUTTI_TRY(find_alone(r, c.team));
        if (mine == TUTTI_OK) c.local_err = list_known(r, &known, &c.known_n);
        c.blocks = &r->blocks;
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

tutti_err tutti__exodus_mesh_end(tutti_exodus *x) {
    static const tutti__commit_steps steps = {finish_mesh, do_nothing, do_nothing};
    if (!x->mesh) return TUTTI_OK;
    TUTTI_CHECK(!x->mesh_lost, TUTTI_ERR_STATE,
                "a sync of the mesh has failed and its data may be lost: create the file again");
    TUTTI_TRY(tutti__exodus_agree(x, tutti__exodus_region_reserve(x->mesh)));
    const tutti_err err = tutti__exodus_region_commit(x, x->mesh, TUTTI_OK, &steps, &x->mesh_lost);
    if (err == TUTTI_OK) tutti__exodus_region_free(&x->mesh);
    return err;
}

/* ---- comparing */

static tutti_err share_compare(tutti_exodus *x, tutti_count step, const tutti__block_list *b,
                               const uint64_t *want) {
    const int64_t n = b->first[1];
    const int64_t lo = n * x->team->rank / x->team->size,
                  hi = n * (x->team->rank + 1) / x->team->size;
    uint64_t *got = tutti__malloc((size_t)(hi - lo) * sizeof *got);
    tutti_err err = got ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = tutti__blocks_read(x->file, b, NULL, lo, hi - lo, got);
    for (int64_t i = lo; i < hi && err == TUTTI_OK; i++) {
        tutti_off from, to;
        if (got[i - lo] == want[i]) continue;
        tutti__blocks_bounds(b, i, &from, &to);
        char where[40] = "the mesh";
        if (step > 0) snprintf(where, sizeof where, "step %lld", (long long)step);
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, from, "%s: bytes %lld ... %lld are damaged",
                               where, (long long)from, (long long)to - 1);
    }
    tutti__free(got);
    return err;
}

tutti_err tutti__exodus_compare(tutti_exodus *x, tutti_count step, tutti_off *bytes_out) {
    const int root = x->team->rank == 0;
    const tutti_off lo =
        step > 0 ? x->cdf.record_begin + (step - 1) * x->cdf.record_bytes : x->cdf.header_bytes;
    const tutti_off hi = step > 0 ? lo + x->cdf.record_bytes : x->cdf.fixed_end;
    tutti__block_list b = {0};
    void *want = NULL;
    tutti_count n = -1; /* none */
    tutti_err err = blocks_make(x, lo, hi, &b);
    if (err == TUTTI_OK && root && x->sidecar) {
        err = tutti__sidecar_sums(x->sidecar, step, (uint64_t **)&want, &n);
        if (err == TUTTI_ERR_NOT_FOUND) err = TUTTI_OK;
        if (n >= 0 && n != b.first[1])
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "step %lld has %lld checksums of %lld blocks", (long long)step,
                                   (long long)n, (long long)b.first[1]);
    }
    err = tutti__exodus_agree(x, err);
    if (err == TUTTI_OK) err = tutti__team_tell(x->team, &n, (int)sizeof n);
    const int has_sums = n >= 0;
    size_t bytes = has_sums ? (size_t)n * sizeof(uint64_t) : 0;
    if (err == TUTTI_OK && has_sums) err = tutti__exodus_tell(x, &want, &bytes);
    if (err == TUTTI_OK && has_sums) err = tutti__exodus_agree(x, share_compare(x, step, &b, want));
    if (err == TUTTI_OK && has_sums) *bytes_out += hi - lo;
    tutti__blocks_free(&b);
    tutti__free(want);
    return err;
}

/* Rank 0: does the file contain all steps that its header counts?  Open ignores those that are incomplete. */
static tutti_err count_check(const tutti_exodus *x) {
    unsigned char word[8] = {0};
    const int bytes = x->cdf.version == 5 ? 8 : 4;
    struct stat st;
    uint64_t count = 0;
    if (tutti__exodus_has_fixed_steps(&x->cdf)) return TUTTI_OK;
    const int fd = open(x->path, O_RDONLY | O_CLOEXEC);
    const int known = fd >= 0 && fstat(fd, &st) == 0 && pread(fd, word, (size_t)bytes, 4) == bytes;
    const int error = errno;
    if (fd >= 0) close(fd);
    if (!known) return tutti__error_sys(error, 4, "reading the number of steps");
    for (int i = 0; i < bytes; i++) count = count << 8 | word[i];
    if (count == (bytes == 8 ? UINT64_MAX : UINT32_MAX))
        return TUTTI_OK; /* left open by its writer */
    const tutti_count complete = tutti__cdf_records_in(&x->cdf, st.st_size);
    TUTTI_CHECK(count <= (uint64_t)complete, TUTTI_ERR_FORMAT,
                "the header counts %llu steps, the file contains %lld", (unsigned long long)count,
                (long long)complete);
    return TUTTI_OK;
}

/* Rank 0: does the sidecar belong to the header? */
static tutti_err header_check(tutti_exodus *x) {
    tutti_count steps = 0;
    char *path = x->sidecar || !x->opt.sidecar ? NULL : tutti__sidecar_path(x->path);
    struct stat st;
    const int refused = path && lstat(path, &st) == 0;
    tutti__free(path);
    TUTTI_CHECK(!refused, TUTTI_ERR_FORMAT,
                "the header or the sidecar is damaged, or the sidecar belongs to another file: %s",
                x->warning);
    TUTTI_TRY(count_check(x));
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
    err = tutti__exodus_mesh_end(x);
    if (err == TUTTI_OK)
        err = tutti__exodus_agree(x, x->team->rank == 0 ? header_check(x) : TUTTI_OK);
    for (tutti_count i = 0; i <= x->cdf.records && err == TUTTI_OK; i++)
        err = tutti__exodus_compare(x, i, &bytes);
    if (err == TUTTI_OK && bytes_out) *bytes_out = bytes;
    return tutti__exodus_named(x, "verify", err);
}
