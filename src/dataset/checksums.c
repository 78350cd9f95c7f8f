/* dataset: checksums.  A block is the bytes of a section between two multiples of 64 KiB of the file.
 *
 * Blocks that one operation wrote whole were summed as they passed by, each on some rank; all others
 * (the ends of sections, partial puts) are read back.  The sum of a section is that of its blocks' sums.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/compressed.h"

#include <endian.h>
#include <string.h>
#include "comm/by_thread.h"
#include "comm/wait.h"

/* The bytes of block i of a section. */
static void block_bounds(const tutti__section *s, int64_t i, tutti_off *lo, tutti_off *hi) {
    const tutti_off at = (s->start / TUTTI__BLOCK + i) * TUTTI__BLOCK;
    *lo = tutti__max(at, s->start);
    *hi = tutti__min(at + TUTTI__BLOCK, s->start + s->bytes);
}

/* Sections one after the other, and where the blocks of each begin in the table of all. */
typedef struct {
    const tutti__section *sections;
    int64_t n;
    int64_t *first; /* [n + 1] */
} numbering;

static tutti_err numbering_make(const tutti__section *sections, int64_t n, numbering *out) {
    *out = (numbering){sections, n, tutti__malloc((size_t)(n + 1) * sizeof *out->first)};
    if (!out->first) return TUTTI_ERR_NOMEM;
    out->first[0] = 0;
    for (int64_t i = 0; i < n; i++)
        out->first[i + 1] = out->first[i] + tutti__blocks_of(sections[i].start, sections[i].bytes);
    return TUTTI_OK;
}

/* The section that a block of the table belongs to. */
static int64_t section_of_block(const numbering *m, int64_t block) {
    int64_t lo = 0, hi = m->n;
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (m->first[mid] <= block)
            lo = mid;
        else
            hi = mid;
    }
    while (m->first[lo + 1] <= block) lo++; /* sections without blocks */
    return lo;
}

/* The section that a place of the file belongs to; -1: none. */
static int64_t section_at(const numbering *m, tutti_off at) {
    int64_t lo = 0, hi = m->n;
    while (lo < hi) { /* the first that ends behind it */
        const int64_t mid = lo + (hi - lo) / 2;
        if (m->sections[mid].start + m->sections[mid].bytes <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->n && m->sections[lo].start <= at ? lo : -1;
}

/* ---- reading blocks */

/* Sums of the blocks list[0 ... n - 1] of the table.  The trailer is not there yet: what lies behind the
 * end of the file will be zeros.  NULL: of a segment that is there, from `from` on. */
static tutti_err blocks_read(tutti_file *f, const numbering *m, const int64_t *list, int64_t from,
                             int64_t n, uint64_t *sums_out) {
    enum { RUN = 32 };
    char *buf = tutti__malloc((size_t)RUN * TUTTI__BLOCK);
    tutti_err err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int64_t i = 0; i < n && err == TUTTI_OK;) {
        tutti_off begin = 0, end = 0, lo, hi, count = 0;
        int64_t run = 0;
        for (; run < RUN && i + run < n; run++) { /* as long as they follow each other */
            const int64_t b = list ? list[i + run] : from + i + run;
            const int64_t s = section_of_block(m, b);
            block_bounds(&m->sections[s], b - m->first[s], &lo, &hi);
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
            const int64_t b = list ? list[i + j] : from + i + j;
            const int64_t s = section_of_block(m, b);
            block_bounds(&m->sections[s], b - m->first[s], &lo, &hi);
            sums_out[i + j] = tutti__sum_of(buf + (lo - begin), (size_t)(hi - lo));
        }
        i += run;
    }
    tutti__free(buf);
    return err;
}

/* ---- those of the segment being written */

typedef struct {
    int64_t block; /* of the table */
    uint64_t sum;
} known_sum;

/* What this rank knows. */
static tutti_err sums_collect(tutti_dataset *d, const numbering *m, known_sum **out,
                              int64_t *n_out) {
    for (int64_t r = 0; r < d->now.records_n; r++) {
        const tutti__sums *sums = &d->now.records[r]->sums;
        for (size_t i = 0; i < sums->n; i++) {
            const tutti_off at = sums->v[i].block * TUTTI__BLOCK;
            const int64_t s = section_at(m, at);
            if (s < 0 || at + TUTTI__BLOCK > m->sections[s].start + m->sections[s].bytes) continue;
            if (d->now.states[s].puts != 1 || d->now.states[s].record != r) continue;
            known_sum *k = tutti__table_grow(out, n_out, sizeof **out);
            if (!k) return TUTTI_ERR_NOMEM;
            k->block = m->first[s] + sums->v[i].block - m->sections[s].start / TUTTI__BLOCK;
            k->sum = sums->v[i].hash;
        }
    }
    return TUTTI_OK;
}

/* A collective operation of MPI that has been started, or has not. */
static tutti_err mpi_finish(int code, MPI_Request *r, const char *what) {
    return code == MPI_SUCCESS ? tutti__team_finish(1, r) : tutti__error_mpi(code, what);
}

/* Bytes of all ranks, one after the other, on rank 0: to be freed.   Collective. */
static tutti_err gather(tutti_dataset *d, const void *mine, int64_t bytes, void **out,
                        int64_t *bytes_out) {
    const int root = d->team->rank == 0;
    const MPI_Comm comm = tutti__dataset_team_now(d)->comm;
    MPI_Request r;
    int *counts = root ? tutti__malloc((size_t)d->team->size * 2 * sizeof *counts) : NULL;
    int64_t *sizes = root ? tutti__malloc((size_t)d->team->size * sizeof *sizes) : NULL;
    tutti_err err = root && (!counts || !sizes) ? TUTTI_ERR_NOMEM : TUTTI_OK;
    int n = 0;
    int64_t all = 0;
    if (err == TUTTI_OK) err = tutti__narrow_int(bytes, &n);
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK)
        err = mpi_finish(MPI_Igather(&bytes, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T, 0, comm, &r),
                         &r, "MPI_Igather");
    if (err == TUTTI_OK && root) {
        for (int i = 0; i < d->team->size; i++) all += sizes[i];
        err = all > INT32_MAX ? tutti__error_set(TUTTI_ERR_OVERFLOW, 0, -1, "too many checksums")
                              : TUTTI_OK;
        if (err == TUTTI_OK && !(*out = tutti__malloc((size_t)all))) err = TUTTI_ERR_NOMEM;
        for (int i = 0, at = 0; i < d->team->size && err == TUTTI_OK; at += (int)sizes[i++]) {
            counts[i] = (int)sizes[i];
            counts[d->team->size + i] = at;
        }
    }
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK)
        err = mpi_finish(MPI_Igatherv(mine, n, MPI_BYTE, root ? *out : NULL, counts,
                                      root ? counts + d->team->size : NULL, MPI_BYTE, 0, comm, &r),
                         &r, "MPI_Igatherv");
    *bytes_out = all;
    tutti__free(counts);
    tutti__free(sizes);
    return err;
}

/* Rank 0: put what has come into the table; which blocks are missing? */
static tutti_err table_begin(const known_sum *k, int64_t n, int64_t blocks, uint64_t **table_out,
                             int64_t **missing_out, int64_t *missing_n) {
    uint64_t *table = tutti__malloc((size_t)(blocks + 1) * sizeof *table);
    unsigned char *have = tutti__calloc((size_t)blocks + 1, 1);
    int64_t *missing = tutti__malloc((size_t)(blocks + 1) * sizeof *missing);
    *table_out = table;
    *missing_out = missing;
    *missing_n = 0;
    for (int64_t i = 0; table && have && missing && i < n; i++) {
        table[k[i].block] = k[i].sum;
        have[k[i].block] = 1;
    }
    for (int64_t i = 0; table && have && missing && i < blocks; i++)
        if (!have[i]) missing[(*missing_n)++] = i;
    const tutti_err err = table && have && missing ? TUTTI_OK : TUTTI_ERR_NOMEM;
    tutti__free(have);
    return err;
}

/* Blocks of a list, as a job. */
typedef struct {
    tutti_file *file;
    const numbering *of;
    const int64_t *list;
    int64_t n;
    uint64_t *sums;
} reading;

static tutti_err list_read(void *context) {
    const reading *r = context;
    return blocks_read(r->file, r->of, r->list, 0, r->n, r->sums);
}

/* All ranks read what is missing; rank 0 completes the table. */
static tutti_err missing_read(tutti_dataset *d, const numbering *m, const int64_t *missing,
                              int64_t n, uint64_t *table) {
    const int64_t lo = n * d->team->rank / d->team->size;
    const int64_t hi = n * (d->team->rank + 1) / d->team->size;
    uint64_t *sums = tutti__malloc((size_t)(hi - lo) * sizeof *sums);
    void *all = NULL;
    int64_t bytes = 0;
    tutti_err err = sums ? TUTTI_OK : TUTTI_ERR_NOMEM;
    reading mine = {d->now.file, m, missing + lo, hi - lo, sums};
    if (err == TUTTI_OK) err = tutti__by_thread(list_read, &mine);
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK) err = gather(d, sums, (hi - lo) * (int64_t)sizeof *sums, &all, &bytes);
    for (int64_t i = 0; all && err == TUTTI_OK && i < n; i++)
        table[missing[i]] = ((uint64_t *)all)[i];
    tutti__free(all);
    tutti__free(sums);
    return err;
}

static uint64_t sum_of_sums(uint64_t *table, int64_t n) { /* as they lie in the file */
    for (int64_t i = 0; i < n; i++) table[i] = htole64(table[i]);
    const uint64_t sum = tutti__sum_of(table, (size_t)n * sizeof *table);
    for (int64_t i = 0; i < n; i++) table[i] = le64toh(table[i]);
    return sum;
}

static tutti_err sums_make(tutti_dataset *d, const numbering *m, uint64_t **table,
                           int64_t *missing_n, void **missing) {
    known_sum *mine = NULL;
    void *all = NULL;
    int64_t n = 0, bytes = 0;
    tutti_err err = tutti__dataset_agree(d, sums_collect(d, m, &mine, &n));
    if (err == TUTTI_OK) err = gather(d, mine, n * (int64_t)sizeof *mine, &all, &bytes);
    tutti__free(mine);
    if (err == TUTTI_OK && d->team->rank == 0) {
        int64_t *list = NULL;
        err = table_begin(all, bytes / (int64_t)sizeof *mine, m->first[m->n], table, &list,
                          missing_n);
        *missing = list;
    }
    tutti__free(all);
    TUTTI_TRY(tutti__dataset_agree(d, err));
    size_t told = (size_t)*missing_n * sizeof(int64_t);
    TUTTI_TRY(tutti__dataset_tell(d, missing, &told));
    return missing_read(d, m, *missing, (int64_t)(told / sizeof(int64_t)), *table);
}

tutti_err tutti__checksums_make(tutti_dataset *d, uint64_t **table_out, int64_t *n_out) {
    numbering m = {0};
    uint64_t *table = NULL, *sums = NULL;
    void *missing = NULL;
    int64_t missing_n = 0;
    const int64_t n = d->now.sections_n;
    *table_out = NULL;
    *n_out = 0;
    if (!d->opt.checksums || n == 0) return TUTTI_OK;
    tutti_err err = numbering_make(d->now.sections, n, &m);
    sums = tutti__calloc((size_t)n, sizeof *sums);
    if (!sums) err = TUTTI_ERR_NOMEM;
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK) err = sums_make(d, &m, &table, &missing_n, &missing);
    for (int64_t i = 0; table && err == TUTTI_OK && i < n; i++)
        sums[i] = sum_of_sums(table + m.first[i], m.first[i + 1] - m.first[i]);
    if (err == TUTTI_OK)
        err = tutti__team_tell(tutti__dataset_team_now(d), sums, (int)(n * (int64_t)sizeof *sums));
    for (int64_t i = 0; err == TUTTI_OK && i < n; i++) {
        d->now.sections[i].sum = sums[i];
        d->now.sections[i].summed = 1;
    }
    if (err == TUTTI_OK) {
        *table_out = table;
        *n_out = m.first[n];
    } else {
        tutti__free(table);
    }
    tutti__free(m.first);
    tutti__free(sums);
    tutti__free(missing);
    return err;
}

/* ---- those of a segment that is there */

static tutti_err bytes_read(tutti_file *f, tutti_off at, tutti_off bytes, void *to) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_read_independent(f, access, to, &count);
    tutti_access_free(&access);
    TUTTI_TRY(err);
    TUTTI_CHECK(count == bytes, TUTTI_ERR_FORMAT,
                "the data file ends at %lld, within a segment that ends at %lld",
                (long long)(at + count), (long long)(at + bytes));
    return TUTTI_OK;
}

/* Rank 0: the trailer is whole, and its sums are those that the metadata has. */
static tutti_err trailer_check(tutti_file *f, const tutti__segment_row *g, const numbering *m) {
    tutti__footer w;
    const int64_t number = (int64_t)g->id;
    TUTTI_TRY(bytes_read(f, g->end - (tutti_off)sizeof w, sizeof w, &w));
    const uint64_t blocks = le64toh(w.blocks), rows = le64toh(w.rows);
    const uint64_t room = (uint64_t)(g->end - g->trailer) - sizeof w;
    TUTTI_CHECK(
        memcmp(w.magic, TUTTI__FOOTER_MAGIC, sizeof w.magic) == 0 &&
            le64toh(w.start) == (uint64_t)g->start && le64toh(w.trailer) == (uint64_t)g->trailer,
        TUTTI_ERR_FORMAT, "segment %lld has no trailer where it ought to end", (long long)number);
    TUTTI_CHECK(blocks == (uint64_t)m->first[m->n] && blocks <= room / 8 &&
                    rows <= room - 8 * blocks,
                TUTTI_ERR_FORMAT, "the trailer of segment %lld has %llu sums of %lld blocks",
                (long long)number, (unsigned long long)blocks, (long long)m->first[m->n]);
    char *buf = tutti__malloc((size_t)(8 * blocks + rows));
    if (!buf) return TUTTI_ERR_NOMEM;
    tutti_err err = bytes_read(f, g->trailer, (tutti_off)(8 * blocks + rows), buf);
    if (err == TUTTI_OK && tutti__sum_of(buf, (size_t)(8 * blocks + rows)) != le64toh(w.sum))
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, g->trailer,
                               "the trailer of segment %lld is damaged", (long long)number);
    for (int64_t i = 0; i < m->n && err == TUTTI_OK; i++) {
        const int64_t n = m->first[i + 1] - m->first[i];
        if (tutti__sum_of(buf + 8 * m->first[i], (size_t)(8 * n)) != m->sections[i].sum)
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "the sums of a section of segment %lld are not those of the "
                                   "metadata",
                                   (long long)number);
    }
    tutti__free(buf);
    return err;
}

/* This rank's share of blocks [lo, hi) of the table. */
static tutti_err share_compare(tutti_dataset *d, tutti_file *f, const tutti__segment_row *g,
                               const numbering *m, int64_t lo, int64_t hi) {
    enum { MOST = 4096 };
    uint64_t *want = tutti__malloc(MOST * sizeof *want), *got = tutti__malloc(MOST * sizeof *got);
    tutti_err err = want && got ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (int64_t at = lo; at < hi && err == TUTTI_OK; at += MOST) {
        const int64_t n = tutti__min(MOST, hi - at);
        err = bytes_read(f, g->trailer + 8 * at, 8 * n, want);
        if (err == TUTTI_OK) err = blocks_read(f, m, NULL, at, n, got);
        for (int64_t i = 0; i < n && err == TUTTI_OK; i++) {
            if (got[i] == le64toh(want[i])) continue;
            const int64_t s = section_of_block(m, at + i);
            const tutti__variable *v = tutti__model_variable_id(&d->model, m->sections[s].variable);
            tutti_off from, to;
            block_bounds(&m->sections[s], at + i - m->first[s], &from, &to);
            err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, from,
                "variable '%s' in segment %lld (time index %lld): block %lld is damaged",
                v ? v->name : "?", (long long)(g - d->model.segments), (long long)g->index,
                (long long)(at + i - m->first[s]));
        }
    }
    tutti__free(want);
    tutti__free(got);
    return err;
}

/* Without a trailer: blocks [lo, hi) of sections i ... are summed by all ranks, and sections compared with
 * the metadata by rank 0.   Collective. */
static tutti_err sections_compare(tutti_dataset *d, tutti_file *f, const tutti__segment_row *g,
                                  const numbering *m, const tutti__section *only) {
    const int64_t i = only ? only - m->sections : 0, behind = only ? i + 1 : m->n;
    const int64_t from = m->first[i], n = m->first[behind] - from;
    const int64_t lo = n * d->team->rank / d->team->size,
                  hi = n * (d->team->rank + 1) / d->team->size;
    uint64_t *sums = tutti__malloc((size_t)(hi - lo) * sizeof *sums);
    void *all = NULL;
    int64_t bytes = 0;
    tutti_err err = sums ? blocks_read(f, m, NULL, from + lo, hi - lo, sums) : TUTTI_ERR_NOMEM;
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK) err = gather(d, sums, (hi - lo) * (int64_t)sizeof *sums, &all, &bytes);
    for (int64_t s = i; all && err == TUTTI_OK && s < behind; s++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, m->sections[s].variable);
        uint64_t *table = (uint64_t *)all + (m->first[s] - from);
        if (sum_of_sums(table, m->first[s + 1] - m->first[s]) == m->sections[s].sum) continue;
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, m->sections[s].start,
                               "variable '%s' in segment %lld (time index %lld) is damaged",
                               v ? v->name : "?", (long long)(g - d->model.segments),
                               (long long)g->index);
    }
    tutti__free(all);
    tutti__free(sums);
    return tutti__dataset_agree(d, err);
}

tutti_err tutti__checksums_compare(tutti_dataset *d, const tutti__segment_row *g,
                                   const tutti__section *only, tutti_off *bytes_out) {
    const tutti__known *k = NULL;
    tutti_file *f = NULL;
    numbering m = {0};
    int unsummed = 0;
    const tutti__datafile *row = tutti__model_file_id(&d->model, g->file);
    TUTTI_TRY(tutti__sections_of(d, g - d->model.segments, &k));
    for (int64_t i = 0; i < k->n; i++) unsummed |= !k->sections[i].summed;
    if (unsummed) return TUTTI_OK; /* written without: nothing to compare with */
    TUTTI_TRY(tutti__dataset_file(d, row, 0, &f));
    tutti_err err = numbering_make(k->sections, k->n, &m);
    const int netcdf = tutti__netcdf(d);
    if (err == TUTTI_OK && d->team->rank == 0 && !netcdf) err = trailer_check(f, g, &m);
    err = tutti__dataset_agree(d, err);
    if (err == TUTTI_OK && netcdf) err = sections_compare(d, f, g, &m, only);
    if (err == TUTTI_OK && !netcdf) {
        const int64_t i = only ? only - k->sections : 0;
        const int64_t lo = m.first[i], n = m.first[only ? i + 1 : m.n] - lo;
        err = share_compare(d, f, g, &m, lo + n * d->team->rank / d->team->size,
                            lo + n * (d->team->rank + 1) / d->team->size);
        err = tutti__dataset_agree(d, err);
    }
    for (int64_t i = 0; i < k->n && err == TUTTI_OK && bytes_out; i++)
        *bytes_out += k->sections[i].bytes;
    tutti__free(m.first);
    if (err != TUTTI_OK) tutti__error_context(NULL, row->name, -1);
    return err;
}

tutti_err tutti__metadata_check(const tutti_dataset *d) {
    TUTTI_TRY(tutti__meta_integrity(d->meta));
    for (int64_t i = 0; i < d->model.files_n && tutti__netcdf(d); i++)
        if (tutti__model_file_lives(&d->model, d->model.files[i].id))
            TUTTI_TRY(tutti__netcdf_compare(d->path, d->meta, &d->model, &d->model.files[i], NULL));
    return TUTTI_OK;
}

tutti_err tutti_dataset_verify(tutti_dataset *d, tutti_off *bytes_out) {
    TUTTI_KEEP_ERRNO;
    const tutti__dataset_same same = {"verify", "nothing", 0};
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, TUTTI_OK));
    tutti_err err =
        tutti__dataset_agree(d, d->team->rank == 0 ? tutti__metadata_check(d) : TUTTI_OK);
    for (int64_t i = 0; i < d->model.segments_n && err == TUTTI_OK; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        if (tutti__model_archived(&d->model, g->id)) continue;
        err = tutti__checksums_compare(d, g, NULL, &bytes);
        if (err == TUTTI_OK) err = tutti__compressed_verify(d, g);
    }
    if (err == TUTTI_OK && bytes_out) *bytes_out = bytes;
    return tutti__dataset_named(d, "verify", err);
}
