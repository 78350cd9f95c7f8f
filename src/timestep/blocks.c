/* timestep: checksums of blocks (blocks.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/blocks.h"

#include <string.h>
#include "base/sorted.h"
#include "comm/by_thread.h"
#include "comm/gather.h"

/* ---- numbering */

tutti_err tutti__blocks_make(int64_t capacity, tutti__block_list *out) {
    *out = (tutti__block_list){.of = tutti__malloc((size_t)capacity * sizeof *out->of),
                               .first = tutti__malloc((size_t)(capacity + 1) * sizeof *out->first)};
    if (!out->of || !out->first) {
        tutti__blocks_free(out);
        return TUTTI_ERR_NOMEM;
    }
    out->first[0] = 0;
    return TUTTI_OK;
}

void tutti__blocks_add(tutti__block_list *b, tutti_off start, tutti_off bytes) {
    b->of[b->n] = (tutti__summed){start, bytes};
    b->first[b->n + 1] = b->first[b->n] + tutti__blocks_of(start - b->origin, bytes);
    b->n++;
}

void tutti__blocks_free(tutti__block_list *b) {
    tutti__free(b->of);
    tutti__free(b->first);
    *b = (tutti__block_list){0};
}

int64_t tutti__blocks_bounds(const tutti__block_list *b, int64_t block, tutti_off *lo_out,
                             tutti_off *hi_out) {
    /* the last extent whose first block is at most this one; if several have the same first block,
     * the others are empty */
    const int64_t lo = tutti__interval_of(b->first, b->n, block);
    const tutti__summed *e = &b->of[lo];
    const tutti_off first = (e->start - b->origin) / TUTTI__BLOCK;
    const tutti_off at = b->origin + (first + block - b->first[lo]) * TUTTI__BLOCK;
    *lo_out = tutti__max(at, e->start);
    *hi_out = tutti__min(at + TUTTI__BLOCK, e->start + e->bytes);
    return lo;
}

int64_t tutti__blocks_whole(const tutti__block_list *b, tutti_off block, int64_t *extent_out) {
    const tutti_off at = b->origin + block * TUTTI__BLOCK;
    int64_t lo = 0, hi = b->n;
    while (lo < hi) { /* find the first extent that ends after `at` */
        const int64_t mid = lo + (hi - lo) / 2;
        if (b->of[mid].start + b->of[mid].bytes <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    const tutti__summed *e = &b->of[lo];
    if (lo == b->n || e->start > at || at + TUTTI__BLOCK > e->start + e->bytes) return -1;
    *extent_out = lo;
    return b->first[lo] + block - (e->start - b->origin) / TUTTI__BLOCK;
}

/* ---- reading */

/* Compute the checksums of blocks list[0 ... n - 1] of a file that is being written; bytes beyond
 * its end will be zeros.  If `list` is NULL, compute those of n blocks, starting with block `from`,
 * of a file that must contain them. */
static tutti_err read_blocks(tutti_file *f, const tutti__block_list *b, const int64_t *list,
                             int64_t from, int64_t n, uint64_t *sums_out) {
    enum { RUN = 32 };
    char *buf = tutti__malloc((size_t)RUN * TUTTI__BLOCK);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int64_t i = 0; i < n && err == TUTTI_OK;) {
        tutti_off begin = 0, end = 0, lo, hi, count = 0;
        int64_t run = 0;
        for (; run < RUN && i + run < n; run++) { /* collect adjacent blocks */
            tutti__blocks_bounds(b, list ? list[i + run] : from + i + run, &lo, &hi);
            if (run > 0 && lo != end) break;
            if (run == 0) begin = lo;
            end = hi;
        }
        tutti_access *access = NULL;
        err = tutti_access_contiguous(begin, end - begin, &access);
        if (err == TUTTI_OK) err = tutti_file_read_independent(f, access, buf, &count);
        tutti_access_free(&access);
        if (err == TUTTI_OK && list) memset(buf + count, 0, (size_t)(end - begin - count));
        if (err == TUTTI_OK && count != end - begin && !list)
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, begin + count,
                                   "the file ends at offset %lld, but its data ends at %lld",
                                   (long long)(begin + count), (long long)end);
        for (int64_t j = 0; j < run && err == TUTTI_OK; j++) {
            tutti__blocks_bounds(b, list ? list[i + j] : from + i + j, &lo, &hi);
            sums_out[i + j] = tutti__checksum_of(buf + (lo - begin), (size_t)(hi - lo));
        }
        i += run;
    }
    tutti__free(buf);
    return err;
}

tutti_err tutti__blocks_compare(tutti_file *f, const tutti__block_list *b, int64_t from, int64_t n,
                                const uint64_t *want, int64_t *block_out) {
    enum { MOST = 4096 };
    uint64_t *found = tutti__malloc((size_t)tutti__min(n, MOST) * sizeof *found);
    tutti_err err = found ? TUTTI_OK : TUTTI_ERR_NOMEM;
    *block_out = -1;
    for (int64_t at = 0; at < n && err == TUTTI_OK && *block_out < 0; at += MOST) {
        const int64_t some = tutti__min(n - at, MOST);
        err = read_blocks(f, b, NULL, from + at, some, found);
        for (int64_t i = 0; i < some && err == TUTTI_OK && *block_out < 0; i++)
            if (found[i] != want[at + i]) *block_out = from + at + i;
    }
    tutti__free(found);
    return err;
}

/* ---- the table of rank 0 */

tutti_err tutti__block_table_make(const tutti__block_list *b, int64_t n,
                                  const tutti__checksum *known, tutti__block_table *out) {
    const size_t blocks = (size_t)b->first[b->n];
    unsigned char *is_known = tutti__calloc(blocks + 1, 1);
    *out = (tutti__block_table){.n = (int64_t)blocks,
                                .checksums = tutti__malloc((blocks + 1) * sizeof *out->checksums),
                                .missing = tutti__malloc((blocks + 1) * sizeof *out->missing)};
    if (!is_known || !out->checksums || !out->missing) {
        tutti__free(is_known);
        tutti__block_table_free(out);
        return TUTTI_ERR_NOMEM;
    }
    for (int64_t i = 0; i < n; i++) {
        out->checksums[known[i].block] = known[i].hash;
        is_known[known[i].block] = 1;
    }
    for (int64_t i = 0; i < out->n; i++)
        if (!is_known[i]) out->missing[out->missing_n++] = i;
    tutti__free(is_known);
    return TUTTI_OK;
}

void tutti__block_table_free(tutti__block_table *t) {
    tutti__free(t->checksums);
    tutti__free(t->missing);
    *t = (tutti__block_table){0};
}

static void fill_missing(tutti__block_table *t, const uint64_t *checksums) {
    for (int64_t i = 0; i < t->missing_n; i++) t->checksums[t->missing[i]] = checksums[i];
    t->missing_n = 0;
}

tutti_err tutti__block_table_read(tutti_file *f, const tutti__block_list *b,
                                  tutti__block_table *t) {
    uint64_t *checksums = tutti__malloc((size_t)t->missing_n * sizeof *checksums);
    tutti_err err = checksums ? TUTTI_OK : TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = read_blocks(f, b, t->missing, 0, t->missing_n, checksums);
    if (err == TUTTI_OK) fill_missing(t, checksums);
    tutti__free(checksums);
    return err;
}

/* ---- by all ranks */

/* This rank's share of a list of blocks. */
typedef struct {
    tutti_file *file;
    const tutti__block_list *of;
    const int64_t *list;
    int64_t n;
    uint64_t *checksums;
} block_share;

static tutti_err read_share(void *context) {
    const block_share *r = context;
    return read_blocks(r->file, r->of, r->list, 0, r->n, r->checksums);
}

tutti_err tutti__block_table_share(tutti__team *team, tutti_file *f, const tutti__block_list *b,
                                   tutti__block_table *t) {
    void *list = t->missing, *all = NULL;
    size_t list_bytes = (size_t)t->missing_n * sizeof *t->missing;
    int64_t bytes = 0;
    const tutti_err listed = tutti__team_broadcast_bytes(team, &list, &list_bytes);
    if (listed != TUTTI_OK && team->rank != 0) tutti__free(list);
    TUTTI_TRY(listed);
    const int64_t n = (int64_t)(list_bytes / sizeof *t->missing), lo = n * team->rank / team->size;
    block_share share = {f, b, (int64_t *)list + lo, n * (team->rank + 1) / team->size - lo, NULL};
    share.checksums = tutti__malloc((size_t)share.n * sizeof *share.checksums);
    tutti_err err = share.checksums ? tutti__by_thread(read_share, &share) : TUTTI_ERR_NOMEM;
    err = tutti__team_gather(team, err, share.checksums, share.n * (int64_t)sizeof *share.checksums,
                             &all, &bytes);
    if (team->rank == 0 && err == TUTTI_OK) fill_missing(t, all);
    if (team->rank != 0) tutti__free(list);
    tutti__free(share.checksums);
    tutti__free(all);
    return err;
}

tutti_err tutti__blocks_sum(tutti__team *t, tutti_file *f, const tutti__block_list *b, int64_t n,
                            const tutti__checksum *known, uint64_t **table_out) {
    tutti__block_table table = {0};
    void *all = NULL;
    int64_t bytes = 0;
    tutti_err err =
        tutti__team_gather(t, TUTTI_OK, known, n * (int64_t)sizeof *known, &all, &bytes);
    if (err == TUTTI_OK && t->rank == 0)
        err = tutti__block_table_make(b, bytes / (int64_t)sizeof *known, all, &table);
    tutti__free(all);
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = tutti__block_table_share(t, f, b, &table);
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK && t->rank == 0) {
        *table_out = table.checksums;
        table.checksums = NULL;
    }
    tutti__block_table_free(&table);
    return err;
}
