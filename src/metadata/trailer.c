/* metadata: decoding of footers and rows of trailers.  Input is validated.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/trailer.h"

#include <endian.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/sums.h"

/* ---- footers */

tutti__footer_kind tutti__footer_parse(const tutti__footer *f, tutti_off end, tutti__trailer *out) {
    const uint64_t most = (uint64_t)end - sizeof *f, start = le64toh(f->start),
                   trailer = le64toh(f->trailer), blocks = le64toh(f->blocks),
                   rows = le64toh(f->rows), version = le64toh(f->version);
    const int gap = memcmp(f->magic, TUTTI__GAP_MAGIC, sizeof f->magic) == 0;
    if (!gap && memcmp(f->magic, TUTTI__FOOTER_MAGIC, sizeof f->magic) != 0)
        return TUTTI__FOOTER_NONE;
    if (end < TUTTI__SEGMENT_ALIGN || version < TUTTI__FORMAT_OLDEST ||
        version > TUTTI__FORMAT_VERSION || start < TUTTI__SEGMENT_ALIGN || start > most ||
        start % TUTTI__SEGMENT_ALIGN != 0)
        return TUTTI__FOOTER_NONE;
    *out = (tutti__trailer){
        .start = (tutti_off)start, .end = end, .sum = le64toh(f->sum), .version = (int)version};
    if (gap)
        return tutti__checksum_of(f, offsetof(tutti__footer, sum)) == out->sum ? TUTTI__FOOTER_GAP
                                                                               : TUTTI__FOOTER_NONE;
    if (trailer < start || trailer > most || trailer % TUTTI__SECTION_ALIGN != 0 ||
        blocks > (most - trailer) / 8 || rows > most - trailer - 8 * blocks)
        return TUTTI__FOOTER_NONE;
    out->trailer = (tutti_off)trailer;
    out->blocks = (int64_t)blocks;
    out->rows = (int64_t)rows;
    out->joined = le64toh(f->joined) == 1;
    return TUTTI__FOOTER_SEGMENT;
}

void tutti__footer_gap(tutti_off start, tutti__footer *out) {
    *out = (tutti__footer){.version = htole64(TUTTI__FORMAT_VERSION),
                           .start = htole64((uint64_t)start)};
    memcpy(out->magic, TUTTI__GAP_MAGIC, sizeof out->magic);
    out->sum = htole64(tutti__checksum_of(out, offsetof(tutti__footer, sum)));
}

/* ---- data files */

static const char DATA_MAGIC[8] = {'T', 'U', 'T', 'T', 'I', 'D', 'A', 'T'};

void tutti__datafile_head(char head[TUTTI__SEGMENT_ALIGN]) {
    memset(head, 0, TUTTI__SEGMENT_ALIGN);
    memcpy(head, DATA_MAGIC, sizeof DATA_MAGIC);
    head[sizeof DATA_MAGIC] = TUTTI__FORMAT_VERSION;
}

/* ---- rows */

/* Read a letter and 8 bytes. */
static int read_word(const char **at, size_t *left, char *letter, uint64_t *out) {
    if (*left < 9) return 0;
    memcpy(out, *at + 1, sizeof *out);
    *out = le64toh(*out);
    *letter = **at;
    *at += 9;
    *left -= 9;
    return 1;
}

static int read_cell(const char **at, size_t *left, tutti__cell *c) {
    uint64_t word = 0;
    *c = (tutti__cell){0};
    if (!read_word(at, left, &c->kind, &word)) return 0;
    switch (c->kind) {
    case 'i':
    case 'd':
        c->number = (int64_t)word;
        return 1;
    case 'n':
        return 1;
    case 't':
    case 'b':
        if (word > *left) return 0;
        c->text = *at;
        c->bytes = (size_t)word;
        *at += c->bytes;
        *left -= c->bytes;
        return 1;
    default:
        return 0;
    }
}

int tutti__row_next(const char **rows, size_t *left, tutti__row *out) {
    char letter = 0;
    uint64_t word = 0;
    if (*left == 0) return 0;
    out->bytes = *rows;
    if (!read_word(rows, left, &letter, &word) || letter != 'r' || word >= TUTTI__ROW_TABLES)
        return -1;
    out->table = (int)word;
    if (!read_word(rows, left, &letter, &word) || letter != 'c' || word < 1 ||
        word > TUTTI__ROW_COLUMNS)
        return -1;
    out->columns = (int)word;
    for (int i = 0; i < out->columns; i++)
        if (!read_cell(rows, left, &out->cell[i])) return -1;
    out->n = (size_t)(*rows - out->bytes);
    return 1;
}

/* ---- rows by tables */

/* Return whether the columns have these kinds; "?" stands for any kind. */
static int has_kinds(const tutti__row *r, int table, const char *kinds) {
    const int n = (int)strlen(kinds);
    if (r->table != table || r->columns < n) return 0;
    for (int i = 0; i < n; i++)
        if (kinds[i] != '?' && kinds[i] != r->cell[i].kind) return 0;
    return 1;
}

static int is_text_equal(const tutti__cell *c, const char *text) {
    return c->bytes == strlen(text) && memcmp(c->text, text, c->bytes) == 0;
}

static int copy_text(const tutti__cell *c, char *to, size_t capacity) {
    if (c->bytes >= capacity || memchr(c->text, 0, c->bytes)) return 0;
    memcpy(to, c->text, c->bytes);
    to[c->bytes] = 0;
    return 1;
}

int64_t tutti__row_id(const tutti__row *r) {
    return r->cell[0].kind == 'i' ? r->cell[0].number : -1;
}

int tutti__row_segment(const tutti__row *r, tutti__segment_row *out) {
    const tutti__cell *c = r->cell;
    if (!has_kinds(r, TUTTI__ROW_SEGMENT, "iti?iiiii") || (c[3].kind != 'd' && c[3].kind != 'i'))
        return 0;
    *out =
        (tutti__segment_row){.id = c[0].number,
                             .kind = is_text_equal(&c[1], "state") ? TUTTI_STATE : TUTTI_TOPOLOGY,
                             .index = c[2].number,
                             .time = (double)c[3].number,
                             .file = c[4].number,
                             .start = c[5].number,
                             .end = c[6].number,
                             .trailer = c[7].number,
                             .sections = c[8].number > INT32_MAX ? -1 : (int)c[8].number};
    if (c[3].kind == 'd') memcpy(&out->time, &c[3].number, sizeof out->time);
    return out->id >= 1 && out->id < INT64_MAX && out->file >= 1 && out->sections >= 0 &&
           !isnan(out->time) && (out->kind == TUTTI_STATE || is_text_equal(&c[1], "topology"));
}

int tutti__row_file(const tutti__row *r, tutti__datafile *out) {
    const tutti__cell *c = r->cell;
    if (!has_kinds(r, TUTTI__ROW_FILE, "itt")) return 0;
    out->id = c[0].number;
    return copy_text(&c[1], out->name, sizeof out->name) && tutti__file_name_right(out->name) &&
           out->id >= 1 && is_text_equal(&c[2], "tutti");
}

int tutti__row_size(const tutti__row *r, tutti__size *out) {
    const tutti__cell *c = r->cell;
    char shape[TUTTI_MAX_DIMS * 21 + 1];
    if (!has_kinds(r, TUTTI__ROW_SIZE, "iiti")) return 0;
    *out = (tutti__size){.segment = c[0].number, .space = c[1].number, .has_ids = c[3].number != 0};
    return out->segment >= 0 && copy_text(&c[2], shape, sizeof shape) &&
           tutti__shape_parse(shape, out) && tutti__shape_right(out->ndims, out->shape, NULL);
}

int tutti__row_info(const tutti__row *r, int64_t *segment_out) {
    const tutti__cell *c = r->cell;
    char name[TUTTI__NAME], word[32];
    tutti_type type = TUTTI_BYTES;
    tutti_off bytes = 0;
    if (!has_kinds(r, TUTTI__ROW_INFO, "iitti?") || !copy_text(&c[2], name, sizeof name) ||
        !tutti__name_right(name, sizeof name) || !copy_text(&c[3], word, sizeof word) ||
        tutti_type_parse(word, &type) != TUTTI_OK || c[0].number < 0 || c[1].number < 0)
        return 0;
    *segment_out = c[1].number;
    return (c[5].kind == 'b' || (type == TUTTI_BYTES && c[5].kind == 't')) && c[4].number > 0 &&
           tutti__mul_ok(c[4].number, type == TUTTI_BYTES ? 1 : tutti_type_size(type), &bytes) &&
           bytes == (tutti_off)c[5].bytes;
}

int tutti__row_removed(const tutti__row *r, int64_t *segment_out) {
    const tutti__cell *c = r->cell;
    char name[TUTTI__NAME];
    if (!has_kinds(r, TUTTI__ROW_REMOVED, "iit") || !copy_text(&c[2], name, sizeof name) ||
        c[0].number < 0 || c[1].number < 0)
        return 0;
    *segment_out = c[1].number;
    return name[0] ? tutti__name_right(name, sizeof name) : !c[0].number && !c[1].number;
}
