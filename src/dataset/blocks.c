/* dataset: checksums of blocks: known to some rank, or read back; collected on rank 0.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/blocks.h"

#include <string.h>
#include "base/sorted.h"
#include "comm/by_thread.h"
#include "comm/wait.h"

/* ---- numbering */

tutti_err tutti__blocks_make(int64_t room, tutti__block_list *out) {
    *out = (tutti__block_list){.of = tutti__malloc((size_t)room * sizeof *out->of),
                               .first = tutti__malloc((size_t)(room + 1) * sizeof *out->first)};
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
    const int64_t lo =
        tutti__interval_of(b->first, b->n, block); /* the last: others have no blocks */
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
    while (lo < hi) { /* the first that ends behind it */
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

tutti_err tutti__blocks_read(tutti_file *f, const tutti__block_list *b, const int64_t *list,
                             int64_t from, int64_t n, uint64_t *sums_out) {
    enum { RUN = 32 };
    char *buf = tutti__malloc((size_t)RUN * TUTTI__BLOCK);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int64_t i = 0; i < n && err == TUTTI_OK;) {
        tutti_off begin = 0, end = 0, lo, hi, count = 0;
        int64_t run = 0;
        for (; run < RUN && i + run < n; run++) { /* as long as they follow each other */
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
                                   "the data file ends within a section");
        for (int64_t j = 0; j < run && err == TUTTI_OK; j++) {
            tutti__blocks_bounds(b, list ? list[i + j] : from + i + j, &lo, &hi);
            sums_out[i + j] = tutti__sum_of(buf + (lo - begin), (size_t)(hi - lo));
        }
        i += run;
    }
    tutti__free(buf);
    return err;
}

/* Blocks of a list, as a job. */
typedef struct {
    tutti_file *file;
    const tutti__block_list *of;
    const int64_t *list;
    int64_t n;
    uint64_t *sums;
} reading;

static tutti_err list_read(void *context) {
    const reading *r = context;
    return tutti__blocks_read(r->file, r->of, r->list, 0, r->n, r->sums);
}

/* ---- collecting */

/* A collective operation of MPI that has been started, or has not. */
static tutti_err mpi_finish(int code, MPI_Request *r, const char *what) {
    return code == MPI_SUCCESS ? tutti__team_finish(1, r) : tutti__error_mpi(code, what);
}

/* Bytes of all ranks, one after the other, on rank 0: to be freed.   Collective. */
static tutti_err gather(tutti__team *t, const void *mine, int64_t bytes, void **out,
                        int64_t *bytes_out) {
    const int root = t->rank == 0;
    MPI_Request r;
    int *counts = root ? tutti__malloc((size_t)t->size * 2 * sizeof *counts) : NULL;
    int64_t *sizes = root ? tutti__malloc((size_t)t->size * sizeof *sizes) : NULL;
    tutti_err err = root && (!counts || !sizes) ? TUTTI_ERR_NOMEM : TUTTI_OK;
    int n = 0;
    int64_t all = 0;
    if (err == TUTTI_OK) err = tutti__narrow_int(bytes, &n);
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK)
        err = mpi_finish(MPI_Igather(&bytes, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T, 0, t->comm, &r),
                         &r, "MPI_Igather");
    if (err == TUTTI_OK && root) {
        TUTTI_ASSERT(sizes && counts);
        for (int i = 0; i < t->size; i++) all += sizes[i];
        err = all > INT32_MAX ? tutti__error_set(TUTTI_ERR_OVERFLOW, 0, -1, "too many checksums")
                              : TUTTI_OK;
        if (err == TUTTI_OK && !(*out = tutti__malloc((size_t)all))) err = TUTTI_ERR_NOMEM;
        for (int i = 0, at = 0; i < t->size && err == TUTTI_OK; at += (int)sizes[i++]) {
            counts[i] = (int)sizes[i];
            counts[t->size + i] = at;
        }
    }
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK)
        err = mpi_finish(MPI_Igatherv(mine, n, MPI_BYTE, root ? *out : NULL, counts,
                                      root ? counts + t->size : NULL, MPI_BYTE, 0, t->comm, &r),
                         &r, "MPI_Igatherv");
    *bytes_out = all;
    tutti__free(counts);
    tutti__free(sizes);
    return err;
}

/* Rank 0: put what has come into the table; which blocks are missing? */
static tutti_err table_begin(const tutti__sum *k, int64_t n, int64_t blocks, uint64_t **table_out,
                             int64_t **missing_out, int64_t *missing_n) {
    uint64_t *table = tutti__malloc((size_t)(blocks + 1) * sizeof *table);
    unsigned char *have = tutti__calloc((size_t)blocks + 1, 1);
    int64_t *missing = tutti__malloc((size_t)(blocks + 1) * sizeof *missing);
    *table_out = table;
    *missing_out = missing;
    *missing_n = 0;
    for (int64_t i = 0; table && have && missing && i < n; i++) {
        table[k[i].block] = k[i].hash;
        have[k[i].block] = 1;
    }
    for (int64_t i = 0; table && have && missing && i < blocks; i++)
        if (!have[i]) missing[(*missing_n)++] = i;
    const tutti_err err = table && have && missing ? TUTTI_OK : TUTTI_ERR_NOMEM;
    tutti__free(have);
    return err;
}

/* All ranks read what is missing; rank 0 completes the table. */
static tutti_err missing_read(tutti__team *t, const reading *all_of, uint64_t *table) {
    const int64_t n = all_of->n, lo = n * t->rank / t->size, hi = n * (t->rank + 1) / t->size;
    uint64_t *sums = tutti__malloc((size_t)(hi - lo) * sizeof *sums);
    void *all = NULL;
    int64_t bytes = 0;
    tutti_err err = sums ? TUTTI_OK : TUTTI_ERR_NOMEM;
    reading mine = {all_of->file, all_of->of, all_of->list + lo, hi - lo, sums};
    if (err == TUTTI_OK) err = tutti__by_thread(list_read, &mine);
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK) err = gather(t, sums, (hi - lo) * (int64_t)sizeof *sums, &all, &bytes);
    TUTTI_ASSERT(!all || table);
    for (int64_t i = 0; all && err == TUTTI_OK && i < n; i++)
        table[all_of->list[i]] = ((uint64_t *)all)[i];
    tutti__free(all);
    tutti__free(sums);
    return err;
}

tutti_err tutti__blocks_sum(tutti__team *t, tutti_file *f, const tutti__block_list *b, int64_t n,
                            const tutti__sum *known, uint64_t **table_out) {
    void *all = NULL, *missing = NULL;
    uint64_t *table = NULL;
    int64_t bytes = 0, missing_n = 0;
    tutti_err err = gather(t, known, n * (int64_t)sizeof *known, &all, &bytes);
    if (err == TUTTI_OK && t->rank == 0) {
        int64_t *list = NULL;
        err = table_begin(all, bytes / (int64_t)sizeof *known, b->first[b->n], &table, &list,
                          &missing_n);
        missing = list;
    }
    tutti__free(all);
    err = tutti__team_agree(t, err);
    size_t told = (size_t)missing_n * sizeof(int64_t);
    if (err == TUTTI_OK) err = tutti__team_tell_all(t, &missing, &told);
    if (err == TUTTI_OK) {
        const reading r = {f, b, missing, (int64_t)(told / sizeof(int64_t)), NULL};
        err = missing_read(t, &r, table);
    }
    tutti__free(missing);
    if (err == TUTTI_OK)
        *table_out = table;
    else
        tutti__free(table);
    return err;
}
