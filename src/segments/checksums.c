/* segments: checksums of sections.  A block is the part of a section between two multiples of 64
 * KiB of the file.
 *
 * The checksum of a block that one operation wrote whole was computed during that operation, on
 * some rank; all other blocks (ends of sections, partial writes) are read back.  The checksum of a
 * section is that of its block checksums.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/compressed.h"

#include <endian.h>
#include <string.h>
#include "timestep/blocks.h"

/* List the blocks of consecutive sections. */
static tutti_err list_blocks(const tutti__section *sections, int64_t n, tutti__block_list *out) {
    TUTTI_TRY(tutti__blocks_make(n, out));
    for (int64_t i = 0; i < n; i++) tutti__blocks_add(out, sections[i].start, sections[i].bytes);
    return TUTTI_OK;
}

/* ---- the segment being written */

tutti_err tutti__checksums_known(const tutti_dataset *d, tutti__block_list *blocks_out,
                                 tutti__checksum **known_out, int64_t *n_out) {
    TUTTI_TRY(list_blocks(d->now.sections, d->now.sections_n, blocks_out));
    for (int64_t r = 0; r < d->now.puts.n; r++) {
        const tutti__put_record *record = d->now.puts.v[r];
        for (size_t i = 0; i < record->checksums.n; i++) {
            int64_t s = -1;
            const int64_t block = tutti__blocks_whole(blocks_out, record->checksums.v[i].block, &s);
            if (block < 0) continue;
            if (d->now.progress[s].puts != 1 || d->now.progress[s].record != record) continue;
            tutti__checksum *k = tutti__table_grow(known_out, n_out, sizeof **known_out);
            if (!k) return TUTTI_ERR_NOMEM;
            *k = (tutti__checksum){block, record->checksums.v[i].hash};
        }
    }
    return TUTTI_OK;
}

/* The checksums of blocks are hashed in the byte order of the file. */
uint64_t tutti__checksum_of_blocks(uint64_t *table, int64_t n) {
    for (int64_t i = 0; i < n; i++) table[i] = htole64(table[i]);
    const uint64_t sum = tutti__checksum_of(table, (size_t)n * sizeof *table);
    for (int64_t i = 0; i < n; i++) table[i] = le64toh(table[i]);
    return sum;
}

/* ---- committed segments */

static tutti_err read_exactly(tutti_file *f, tutti_off at, tutti_off bytes, void *to) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_TRY(tutti_access_contiguous(at, bytes, &access));
    const tutti_err err = tutti_file_read_independent(f, access, to, &count);
    tutti_access_free(&access);
    TUTTI_TRY(err);
    TUTTI_CHECK(count == bytes, TUTTI_ERR_FORMAT,
                "the data file has %lld bytes, but %lld are needed", (long long)(at + count),
                (long long)(at + bytes));
    return TUTTI_OK;
}

/* On rank 0, check that the trailer is complete and its checksums agree with the metadata. */
static tutti_err check_trailer(tutti_file *f, const tutti__segment_row *g,
                               const tutti__section *sections, const tutti__block_list *m) {
    tutti__footer w;
    const int64_t number = (int64_t)g->id;
    TUTTI_TRY(read_exactly(f, g->end - (tutti_off)sizeof w, sizeof w, &w));
    const uint64_t blocks = le64toh(w.blocks), rows = le64toh(w.rows);
    const uint64_t capacity = (uint64_t)(g->end - g->trailer) - sizeof w;
    TUTTI_CHECK(memcmp(w.magic, TUTTI__FOOTER_MAGIC, sizeof w.magic) == 0 &&
                    le64toh(w.start) == (uint64_t)g->start &&
                    le64toh(w.trailer) == (uint64_t)g->trailer,
                TUTTI_ERR_FORMAT, "segment %lld has no trailer at its end", (long long)number);
    TUTTI_CHECK(blocks == (uint64_t)m->first[m->n], TUTTI_ERR_FORMAT,
                "the trailer of segment %lld has %llu checksums, but the segment has %lld blocks",
                (long long)number, (unsigned long long)blocks, (long long)m->first[m->n]);
    TUTTI_CHECK(blocks <= capacity / 8 && rows <= capacity - 8 * blocks, TUTTI_ERR_FORMAT,
                "the trailer of segment %lld has %llu checksums and %llu bytes of rows: more than "
                "its %llu bytes",
                (long long)number, (unsigned long long)blocks, (unsigned long long)rows,
                (unsigned long long)capacity);
    char *buf = tutti__malloc((size_t)(8 * blocks + rows));
    if (!buf) return TUTTI_ERR_NOMEM;
    tutti_err err = read_exactly(f, g->trailer, (tutti_off)(8 * blocks + rows), buf);
    if (err == TUTTI_OK && tutti__checksum_of(buf, (size_t)(8 * blocks + rows)) != le64toh(w.sum))
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, g->trailer,
                               "the trailer of segment %lld is damaged", (long long)number);
    for (int64_t i = 0; i < m->n && err == TUTTI_OK; i++) {
        const int64_t n = m->first[i + 1] - m->first[i];
        if (tutti__checksum_of(buf + 8 * m->first[i], (size_t)(8 * n)) != sections[i].sum)
            err = tutti__error_set(
                TUTTI_ERR_FORMAT, 0, -1,
                "the checksums of section %lld of segment %lld differ from the metadata",
                (long long)i, (long long)number);
    }
    tutti__free(buf);
    return err;
}

/* Parameters for comparing this rank's share of blocks [lo, hi) of the table. */
typedef struct {
    tutti_file *file;
    const tutti__segment_row *segment;
    const tutti__section *sections;
    const tutti__block_list *blocks;
} block_comparison;

static tutti_err compare_share(const tutti_dataset *d, const block_comparison *c, int64_t lo,
                               int64_t hi) {
    enum { MOST = 4096 };
    uint64_t *want = tutti__malloc(MOST * sizeof *want);
    tutti_err err = want ? TUTTI_OK : TUTTI_ERR_NOMEM;
    int64_t damaged = -1;
    for (int64_t at = lo; at < hi && err == TUTTI_OK && damaged < 0; at += MOST) {
        const int64_t n = tutti__min(MOST, hi - at);
        err = read_exactly(c->file, c->segment->trailer + 8 * at, 8 * n, want);
        for (int64_t i = 0; i < n && err == TUTTI_OK; i++) want[i] = le64toh(want[i]);
        if (err == TUTTI_OK) err = tutti__blocks_compare(c->file, c->blocks, at, n, want, &damaged);
    }
    tutti__free(want);
    if (err != TUTTI_OK || damaged < 0) return err;
    tutti_off from, to;
    const int64_t s = tutti__blocks_bounds(c->blocks, damaged, &from, &to);
    const tutti__segment_row *g = c->segment;
    const tutti__variable *v = tutti__model_variable_id(&d->model, c->sections[s].variable);
    return tutti__error_set(
        TUTTI_ERR_FORMAT, 0, from,
        "variable '%s' in segment %lld (time index %lld): block %lld is damaged", v ? v->name : "?",
        (long long)(g - d->model.segments), (long long)g->index,
        (long long)(damaged - c->blocks->first[s]));
}

tutti_err tutti__checksums_by_trailer(tutti_dataset *d, const tutti__comparison *c) {
    const tutti__known *k = c->known;
    tutti__block_list m = {0};
    tutti_err err = list_blocks(k->sections, k->n, &m);
    if (err == TUTTI_OK && d->team->rank == 0)
        err = check_trailer(c->file, c->segment, k->sections, &m);
    err = tutti__team_agree(d->team, err);
    if (err == TUTTI_OK) {
        const int64_t i = c->only ? c->only - k->sections : 0;
        const int64_t lo = m.first[i], n = m.first[c->only ? i + 1 : m.n] - lo;
        const block_comparison share = {c->file, c->segment, k->sections, &m};
        err = compare_share(d, &share, lo + n * d->team->rank / d->team->size,
                            lo + n * (d->team->rank + 1) / d->team->size);
        err = tutti__team_agree(d->team, err);
    }
    tutti__blocks_free(&m);
    return err;
}

tutti_err tutti__checksums_by_section(tutti_dataset *d, const tutti__comparison *c) {
    const tutti__section *sections = c->only ? c->only : c->known->sections;
    const int64_t n = c->only ? 1 : c->known->n;
    tutti__block_list m = {0};
    uint64_t *table = NULL;
    tutti_err err = tutti__team_agree(d->team, list_blocks(sections, n, &m));
    if (err == TUTTI_OK) err = tutti__blocks_sum(d->team, c->file, &m, 0, NULL, &table);
    for (int64_t s = 0; table && err == TUTTI_OK && s < n; s++) {
        const tutti__variable *v = tutti__model_variable_id(&d->model, sections[s].variable);
        if (tutti__checksum_of_blocks(table + m.first[s], m.first[s + 1] - m.first[s]) ==
            sections[s].sum)
            continue;
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, sections[s].start,
                               "variable '%s' in segment %lld (time index %lld) is damaged",
                               v ? v->name : "?", (long long)(c->segment - d->model.segments),
                               (long long)c->segment->index);
    }
    tutti__free(table);
    tutti__blocks_free(&m);
    return tutti__team_agree(d->team, err);
}

tutti_err tutti__checksums_compare(tutti_dataset *d, const tutti__segment_row *g,
                                   const tutti__section *only, tutti_off *bytes_out) {
    tutti__comparison c = {.segment = g, .only = only};
    const tutti__datafile *row = tutti__model_file_id(&d->model, g->file);
    TUTTI_TRY(tutti__sections_of(d, g - d->model.segments, &c.known));
    for (int64_t i = 0; i < c.known->n; i++)
        if (!c.known->sections[i].summed) return TUTTI_OK; /* written without checksums */
    TUTTI_TRY(tutti__dataset_file(d, row, &c.file));
    const tutti_err err = d->container->compare(d, &c);
    for (int64_t i = 0; i < c.known->n && err == TUTTI_OK && bytes_out; i++)
        *bytes_out += c.known->sections[i].bytes;
    if (err != TUTTI_OK) tutti__error_context(NULL, row->name, -1);
    return err;
}

tutti_err tutti__metadata_check(const tutti_dataset *d) {
    TUTTI_TRY(tutti__meta_integrity(d->meta));
    for (int64_t i = 0; i < d->model.files_n; i++)
        TUTTI_TRY(d->container->file_check(d, &d->model.files[i]));
    return TUTTI_OK;
}

tutti_err tutti_dataset_verify(tutti_dataset *d, tutti_off *bytes_out) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "verify"};
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__dataset_enter(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, TUTTI_OK));
    tutti_err err =
        tutti__team_agree(d->team, d->team->rank == 0 ? tutti__metadata_check(d) : TUTTI_OK);
    for (int64_t i = 0; i < d->model.segments_n && err == TUTTI_OK; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        if (tutti__model_archived(&d->model, g->id)) continue;
        err = tutti__checksums_compare(d, g, NULL, &bytes);
        if (err == TUTTI_OK) err = tutti__compressed_verify(d, g);
    }
    err = tutti__dataset_check_unchanged(d, err);
    if (err == TUTTI_OK && bytes_out) *bytes_out = bytes;
    return tutti__dataset_named(d, "verify", err);
}
