/* dataset: put, get, follow: all variables of a call as the parts of one operation on the data file.
 * Compressed ones are packed before, and are then bytes like others; they are got apart, at once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/compressed.h"

#include <string.h>

/* ---- what is moved */

/* One variable of a call, put or got. */
typedef struct {
    const char *name;
    tutti_decomposition *entries;
    tutti_type type; /* in memory */
    void *buf;
    tutti__variable *v;
    tutti__decomposition_facts facts;
    int file_type;
    tutti_access *access;
    tutti__packed_section packed; /* a compressed one that is put */
    tutti_count *holes;           /* places in memory that are to be filled, or NULL */
    tutti_count holes_n;
} item;

/* Everything that one call has. */
typedef struct {
    int n;
    item *items;
    tutti_part *parts;
} batch;

static tutti_err batch_make(int n, batch *b) {
    *b = (batch){.n = n};
    b->items = tutti__calloc((size_t)n, sizeof *b->items);
    b->parts = tutti__calloc((size_t)n, sizeof *b->parts);
    return b->items && b->parts ? TUTTI_OK : TUTTI_ERR_NOMEM;
}

static void batch_free(batch *b) {
    for (int i = 0; b->items && i < b->n; i++) {
        tutti_access_free(&b->items[i].access);
        tutti__free(b->items[i].packed.data);
        tutti__free(b->items[i].holes);
    }
    tutti__free(b->items);
    tutti__free(b->parts);
    *b = (batch){0};
}

/* Can it be, in sections of that file type, with the space as it is in a segment (an id)? */
static tutti_err item_check(const tutti_dataset *d, item *t, int64_t segment) {
    TUTTI_CHECK(t->name, TUTTI_ERR_ARG, "the name of a variable is NULL");
    t->v = tutti__model_variable(&d->model, t->name);
    TUTTI_CHECK(t->v, TUTTI_ERR_NOT_FOUND, "there is no variable '%.60s'", t->name);
    TUTTI_TRY(tutti__decomposition_live(t->entries));
    tutti__decomposition_facts_of(t->entries, &t->facts);
    const tutti__space *s = tutti__model_space_id(&d->model, t->v->space);
    TUTTI_CHECK(t->facts.object == d->number, TUTTI_ERR_ARG,
                "variable '%s': the decomposition is of another dataset", t->name);
    TUTTI_CHECK(s == &d->model.spaces[t->facts.space], TUTTI_ERR_ARG,
                "variable '%s' is on space '%s', the decomposition is of '%s'", t->name, s->name,
                d->model.spaces[t->facts.space].name);
    const tutti__size *z = tutti__model_size(&d->model, s->id, segment);
    TUTTI_CHECK(z && z->stamp == t->facts.stamp, TUTTI_ERR_STATE,
                "variable '%s': the decomposition is of another topology of space '%s'", t->name,
                s->name);
    TUTTI_CHECK(t->type == TUTTI_BYTES || tutti_type_size(t->type) > 0, TUTTI_ERR_ARG,
                "variable '%s': type %d is none", t->name, (int)t->type);
    TUTTI_CHECK(t->buf || t->facts.entries == 0, TUTTI_ERR_ARG, "variable '%s': the buffer is NULL",
                t->name);
    return TUTTI_OK;
}

/* Can numbers be converted? */
static tutti_err types_check(const item *t, int type) {
    const tutti_conversion in = {.file_type = (tutti_type)type, .memory_type = t->type};
    tutti__conversion c;
    if (t->type == TUTTI_BYTES) return TUTTI_OK;
    if (type != TUTTI_BYTES && tutti__conversion_make(&in, &c) == TUTTI_OK) return TUTTI_OK;
    TUTTI_FAIL(TUTTI_ERR_ARG, "variable '%s': %s in memory is nothing for %s in the file", t->name,
               tutti_type_name(t->type), tutti_type_name((tutti_type)type));
}

static uint64_t batch_hash(const batch *b) {
    uint64_t h = tutti__hash(TUTTI__HASH_START, &b->n, sizeof b->n);
    for (int i = 0; i < b->n; i++) {
        const int64_t words[] = {(int64_t)b->items[i].type, b->items[i].facts.number};
        h = tutti__hash_text(h, b->items[i].name);
        h = tutti__hash(h, words, sizeof words);
    }
    return h;
}

static tutti__compressed compressed_of(const tutti_dataset *d, const item *t, int type) {
    return (tutti__compressed){t->v, type, t->entries, t->type, t->buf, d->opt.ieee};
}

static void part_make(const tutti_dataset *d, const item *t, const tutti__section *s,
                      tutti_part *part) {
    *part = (tutti_part){.access = t->access, .buf = t->buf};
    if (t->type != TUTTI_BYTES)
        part->convert = (tutti_conversion){.file_type = (tutti_type)s->type,
                                           .memory_type = t->type,
                                           .file_order = (tutti_byte_order)t->v->order,
                                           .ieee = d->opt.ieee};
}

/* ---- put */

/* What is compressed is put whole and at once. */
static tutti_err compressed_check(const item *t, int starts) {
    if (t->v->compress == 0) return TUTTI_OK;
    TUTTI_CHECK(!starts, TUTTI_ERR_UNSUPPORTED,
                "variable '%s' is compressed: it is put by tutti_dataset_put, which waits",
                t->name);
    TUTTI_CHECK(
        t->facts.whole, TUTTI_ERR_UNSUPPORTED,
        "variable '%s' is compressed: it is put whole, but the decomposition leaves entries "
        "out",
        t->name);
    return TUTTI_OK;
}

/* A ranked section has the entries of one decomposition.  One that has failed may be replaced by another's. */
static tutti_err ranked_check(const tutti_dataset *d, const item *t) {
    const tutti__section *s = tutti__writing_section(&d->now, t->v->id, 0);
    if (t->v->layout != TUTTI_RANKED || !s) return TUTTI_OK;
    const tutti__section_progress *progress = tutti__section_progress_of(d, s);
    const int failed = tutti__section_status_of(&progress->state) == TUTTI__SECTION_FAILED;
    TUTTI_CHECK(
        progress->decomposition == t->facts.number || (failed && !tutti__section_in_flight(d, s)),
        TUTTI_ERR_STATE,
        "variable '%s' has layout ranked and was written with another decomposition", t->name);
    return TUTTI_OK;
}

static tutti_err put_take(const tutti_dataset *d, int n, const tutti_put *puts, int starts,
                          batch *b) {
    TUTTI_TRY(tutti__dataset_writable(d));
    TUTTI_CHECK(d->now.under_way, TUTTI_ERR_STATE, "no segment has begun");
    TUTTI_CHECK(n >= 0 && n <= 1 << 20 && (puts || n == 0), TUTTI_ERR_ARG, "%d variables to put%s",
                n, puts ? "" : " at NULL");
    TUTTI_TRY(batch_make(n, b));
    for (int i = 0; i < n; i++) {
        item *t = &b->items[i];
        *t = (item){.name = puts[i].variable,
                    .entries = puts[i].entries,
                    .type = puts[i].type,
                    .buf = (void *)(uintptr_t)puts[i].buf};
        TUTTI_TRY(item_check(d, t, d->now.segment.id));
        TUTTI_TRY(types_check(t, t->v->put_type));
        TUTTI_TRY(compressed_check(t, starts));
        TUTTI_TRY(ranked_check(d, t));
        TUTTI_TRY(d->container->put_check(d, t->v));
        for (int j = 0; j < i; j++)
            TUTTI_CHECK(b->items[j].v != t->v, TUTTI_ERR_ARG, "variable '%s' is there twice",
                        t->name);
    }
    return TUTTI_OK;
}

/* Write the fill value to a section, each rank to a part of it; zeros only if the section was written before. */
static tutti_err section_fill(tutti_dataset *d, const tutti__variable *v, const tutti__section *s,
                              int even_zero) {
    enum { PIECE = 4 << 20 };
    unsigned char pattern[16];
    int size = 1, zero = 1;
    tutti_access *access = NULL;
    char *buf = NULL;
    tutti_err err = tutti__fill_pattern(v->fill, s->type, v->order, pattern, &size);
    for (int i = 0; err == TUTTI_OK && i < size; i++) zero = zero && pattern[i] == 0;
    TUTTI_TRY(tutti__dataset_agree(d, err));
    if (s->bytes == 0 || (zero && !even_zero)) return TUTTI_OK;
    const tutti_off share = tutti__align_up(s->bytes / d->team->size + 1, TUTTI__BLOCK);
    const tutti_off lo = tutti__min(share * d->team->rank, s->bytes);
    const tutti_off hi = tutti__min(lo + share, s->bytes);
    const size_t piece = (size_t)tutti__min(PIECE, share);
    buf = tutti__malloc(piece);
    for (size_t i = 0; buf && i < piece; i++) buf[i] = (char)pattern[i % (size_t)size];
    err = buf ? TUTTI_OK : TUTTI_ERR_NOMEM;
    for (tutti_off at = 0; at < share; at += (tutti_off)piece) { /* as often on all ranks */
        const tutti_off n = tutti__max(0, tutti__min((tutti_off)piece, hi - lo - at));
        if (err == TUTTI_OK)
            err = tutti_access_contiguous(s->start + lo + (n ? at : 0), n, &access);
        const tutti_part part = {.access = access, .buf = buf};
        const tutti__move m = {
            .file = d->now.file, .name = "fill", .is_write = 1, .n = 1, .parts = &part};
        err = tutti__dataset_move(&m, err);
        tutti_access_free(&access);
        if (err != TUTTI_OK) break;
    }
    tutti__free(buf);
    return err;
}

/* Bytes of a new section; -1: too many. */
static tutti_off section_bytes(const tutti_dataset *d, const item *t) {
    const tutti__size *z = tutti__model_size(&d->model, t->v->space, d->now.segment.id);
    tutti_count entries = 0;
    tutti_off bytes = 0;
    if (t->v->compress > 0) return t->packed.bytes;
    if (!tutti__shape_right(z->ndims, z->shape, &entries) ||
        !tutti__mul_ok(entries, tutti__item_bytes(t->v, t->v->put_type), &bytes))
        return -1;
    return bytes;
}

static tutti_err section_make(tutti_dataset *d, const item *t, tutti__section **out) {
    const tutti__section new = {.variable = t->v->id, .type = t->v->put_type};
    const tutti_off bytes = section_bytes(d, t);
    tutti_off end = 0;
    if (t->v->layout == TUTTI_RANKED) return tutti__ranked_new(d, t->v, t->entries, out);
    TUTTI_CHECK(bytes >= 0 && tutti__add_ok(d->now.end, bytes, &end) && end <= (tutti_off)1 << 59,
                TUTTI_ERR_OVERFLOW, "variable '%s' is too large", t->name); /* on all ranks alike */
    return tutti__section_new(d, &new, bytes, out);
}

/* The section of a put, created if missing; from now on the outcome of the put is its outcome.  A compressed one
 * is moved if it has been packed: its length changes.   Collective. */
static tutti_err section_for(tutti_dataset *d, const item *t, tutti__put_record *record) {
    tutti__section *s = tutti__section_now(d, t->v->id, 0);
    const int is_whole = t->facts.whole || t->v->layout == TUTTI_RANKED;
    if (s && t->v->layout == TUTTI_RANKED &&
        tutti__section_progress_of(d, s)->decomposition != t->facts.number) {
        tutti__ranked_drop(d, s);
        s = NULL;
    }
    const int moves = s && t->v->compress > 0 && t->packed.data;
    if (!s) TUTTI_TRY(section_make(d, t, &s));
    const tutti_err err = tutti__record_target(d, record, s, t->facts.number, is_whole);
    TUTTI_TRY(tutti__dataset_agree(d, err));
    return moves ? tutti__section_move(d, s, t->packed.bytes, &s) : TUTTI_OK;
}

/* What is to be in a section before its entries.   Collective. */
static tutti_err section_prepare(tutti_dataset *d, const item *t) {
    if (t->v->layout == TUTTI_RANKED) return tutti__ranked_prepare(d, t->v, t->entries);
    const tutti__section *s = tutti__section_now(d, t->v->id, 0);
    tutti__section_progress *progress = tutti__section_progress_of(d, s);
    if (progress->needs_base && !t->facts.whole)
        TUTTI_TRY(section_fill(d, t->v, s, progress->puts > 1));
    progress->needs_base = 0;
    return TUTTI_OK;
}

/* Definitions of the library's own that the variables need.   Collective. */
static tutti_err put_define(tutti_dataset *d, batch *b) {
    tutti__variable *lists = NULL;
    for (int i = 0; i < b->n; i++)
        if (tutti__model_variable(&d->model, b->items[i].name)->layout == TUTTI_RANKED)
            TUTTI_TRY(tutti__own_variable(d, &d->model.spaces[b->items[i].facts.space], "entries",
                                          &lists));
    for (int i = 0; i < b->n; i++) /* the table may have moved */
        b->items[i].v = tutti__model_variable(&d->model, b->items[i].name);
    return TUTTI_OK;
}

/* All variables have sections.   Collective. */
static tutti_err put_places(tutti_dataset *d, batch *b, tutti__put_record *record) {
    for (int large = 1; large >= 0; large--) /* they begin at blocks, small ones lie behind */
        for (int i = 0; i < b->n; i++) {
            if ((section_bytes(d, &b->items[i]) >= TUTTI__BLOCK) != large) continue;
            TUTTI_TRY(section_for(d, &b->items[i], record));
        }
    return TUTTI_OK;
}

/* This rank's share of a put. */
static tutti_err put_parts(tutti_dataset *d, batch *b) {
    for (int i = 0; i < b->n; i++) {
        item *t = &b->items[i];
        tutti__section *s = tutti__section_now(d, t->v->id, 0);
        const tutti_off bytes = tutti__item_bytes(t->v, s->type);
        const tutti_access *access = NULL;
        TUTTI_TRY(types_check(t, s->type));
        if (t->v->layout == TUTTI_RANKED) {
            TUTTI_TRY(tutti__ranked_writes(d, s, bytes, t->entries, &t->access));
        } else if (t->v->compress > 0) {
            TUTTI_TRY(tutti__packed_section_access(&t->packed, s->start, &t->access));
            b->parts[i] = (tutti_part){.access = t->access, .buf = t->packed.data};
            continue;
        } else {
            TUTTI_TRY(tutti__decomposition_access(t->entries, bytes, 1, &access));
            TUTTI_TRY(tutti_access_shift(access, s->start, 0, &t->access));
        }
        part_make(d, t, s, &b->parts[i]);
    }
    return TUTTI_OK;
}

/* Compressed ones become bytes.   Collective. */
static tutti_err put_pack(tutti_dataset *d, batch *b) {
    for (int i = 0; i < b->n; i++) {
        item *t = &b->items[i];
        const tutti__compressed from = compressed_of(d, t, t->v->put_type);
        if (t->v->compress > 0) TUTTI_TRY(tutti__compressed_pack(d, &from, &t->packed));
    }
    return TUTTI_OK;
}

/* The operation, whose outcome the record has.   Collective. */
static tutti_err put_batch(tutti_dataset *d, batch *b, tutti__put_record *record,
                           tutti_request **started) {
    const tutti_err packed = put_pack(d, b);
    const tutti_error_info why = *tutti_last_error();
    tutti_err err = put_places(d, b, record); /* also if it was not packed: it must be put again */
    if (err == TUTTI_OK && packed != TUTTI_OK) {
        tutti__error_assign(&why);
        err = packed;
    }
    for (int i = 0; i < b->n && err == TUTTI_OK; i++) err = section_prepare(d, &b->items[i]);
    if (err != TUTTI_OK) {
        tutti__record_end(record, err);
        return err;
    }
    const tutti__move m = {.file = d->now.file,
                           .name = "put",
                           .is_write = 1,
                           .n = b->n,
                           .parts = b->parts,
                           .record = record,
                           .started = started};
    err = tutti__dataset_move(&m, put_parts(d, b));
    if (!started) tutti__dataset_misfit(d, d->now.sections, d->now.sections_n, err);
    return err;
}

static tutti_err put(tutti_dataset *d, int n, const tutti_put *puts, tutti_request **r_out,
                     int starts) {
    batch b = {0};
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = put_take(d, n, puts, starts, &b);
    if (err == TUTTI_OK && starts && !r_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument r_out is NULL");
    const tutti__call same = {.name = "put",
                              .what = "the variables, their types or decompositions",
                              .hash = err == TUTTI_OK ? batch_hash(&b) : 0};
    tutti__put_record *record = NULL;
    err = tutti__dataset_call(d, &same, err);
    if (err == TUTTI_OK) err = put_define(d, &b);
    if (err == TUTTI_OK) {
        err = tutti__dataset_agree(d, tutti__record_new(d, &record));
        if (err != TUTTI_OK && record) record->outcome = err;
    }
    if (err == TUTTI_OK) err = put_batch(d, &b, record, starts ? r_out : NULL);
    batch_free(&b);
    return tutti__dataset_named(d, "put", err);
}

tutti_err tutti_dataset_put(tutti_dataset *d, int n, const tutti_put *puts) {
    TUTTI_KEEP_ERRNO;
    return put(d, n, puts, NULL, 0);
}

tutti_err tutti_dataset_put_start(tutti_dataset *d, int n, const tutti_put *puts,
                                  tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return put(d, n, puts, r_out, 1);
}

/* ---- get */

static tutti_err get_take(const tutti_dataset *d, tutti_count segment, int n, const tutti_get *gets,
                          batch *b) {
    TUTTI_CHECK(d->mode & TUTTI_READ, TUTTI_ERR_MODE, "the dataset was not opened for reading");
    TUTTI_TRY(tutti__dataset_segment_check(d, segment));
    TUTTI_TRY(tutti__dataset_here(d, segment));
    TUTTI_CHECK(n >= 0 && n <= 1 << 20 && (gets || n == 0), TUTTI_ERR_ARG, "%d variables to get%s",
                n, gets ? "" : " at NULL");
    TUTTI_TRY(batch_make(n, b));
    for (int i = 0; i < n; i++) {
        b->items[i] = (item){.name = gets[i].variable,
                             .entries = gets[i].entries,
                             .type = gets[i].type,
                             .buf = gets[i].buf};
        TUTTI_TRY(item_check(d, &b->items[i], d->model.segments[segment].id));
    }
    return TUTTI_OK;
}

/* An operation that reads parts of one file. */
typedef struct {
    tutti_file *file;
    int n;
    tutti_part *parts;
    tutti_off end;
} reading;

/* The bytes of one section that this rank wants: a part more.  Compressed ones are got here.
 * Collective; refuses on all ranks alike. */
static tutti_err get_one(tutti_dataset *d, item *t, tutti_count segment, reading *r) {
    const tutti__known *k = NULL;
    TUTTI_TRY(tutti__sections_of(d, segment, &k));
    const tutti__section *s = tutti__section_find(k, t->v->id, 0);
    TUTTI_CHECK(s, TUTTI_ERR_NOT_FOUND, "segment %lld has no variable '%s'", (long long)segment,
                t->name);
    TUTTI_TRY(types_check(t, s->type));
    if (d->opt.check_reads && s->summed && !k->checked[s - k->sections]) {
        TUTTI_TRY(tutti__checksums_compare(d, &d->model.segments[segment], s, NULL));
        TUTTI_TRY(tutti__sections_of(d, segment, &k));
        s = tutti__section_find(k, t->v->id, 0);
        k->checked[s - k->sections] = 1;
    }
    const tutti_off bytes = tutti__item_bytes(t->v, s->type);
    tutti_err err = TUTTI_OK;
    const tutti__section of = *s;
    t->file_type = of.type;
    if (t->v->compress > 0) {
        const tutti__compressed to = compressed_of(d, t, of.type);
        return tutti__compressed_get(d, r->file, &of, &to);
    }
    if (t->v->layout == TUTTI_RANKED) {
        err = tutti__ranked_reads(d, &of, bytes, t->entries, &t->access, &t->holes, &t->holes_n);
    } else {
        const tutti_access *access = NULL;
        err = tutti__decomposition_access(t->entries, bytes, 0, &access);
        if (err == TUTTI_OK) err = tutti_access_shift(access, of.start, 0, &t->access);
        err = tutti__dataset_agree(d, err);
    }
    TUTTI_TRY(err);
    part_make(d, t, &of, &r->parts[r->n++]);
    r->end = tutti__max(r->end, of.start + of.bytes);
    return TUTTI_OK;
}

/* What nobody has put reads as the fill value. */
static tutti_err holes_fill(const item *t) {
    unsigned char pattern[16];
    int size = 1;
    const int as = t->type == TUTTI_BYTES ? t->file_type : (int)t->type;
    const int order = t->type == TUTTI_BYTES ? t->v->order : TUTTI_NATIVE_ENDIAN;
    if (t->holes_n == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__fill_pattern(t->v->fill, as, order, pattern, &size));
    const tutti_count numbers = tutti__variable_numbers(t->v);
    for (tutti_count i = 0; i < t->holes_n; i++)
        for (tutti_count j = 0; j < numbers; j++)
            memcpy((char *)t->buf + (t->holes[i] * numbers + j) * size, pattern, (size_t)size);
    return TUTTI_OK;
}

/* A value of the file that does not fit the caller's type: whose is it? */
static tutti_err got_misfit(tutti_dataset *d, int64_t file, tutti_err err) {
    const tutti_error_info why = *tutti_last_error();
    const tutti__known *k = NULL;
    for (int64_t i = 0; err == TUTTI_ERR_VALUE && i < d->model.segments_n; i++) {
        const tutti__segment_row *g = &d->model.segments[i];
        if (g->file != file || why.offset < g->start || why.offset >= g->end) continue;
        const tutti_err found = tutti__sections_of(d, i, &k);
        tutti__error_assign(&why);
        if (found == TUTTI_OK) tutti__dataset_misfit(d, k->sections, k->n, err);
    }
    return err;
}

static tutti_err get(tutti_dataset *d, tutti_count segment, int n, const tutti_get *gets,
                     tutti_request **r_out, int starts) {
    batch b = {0};
    reading r = {0};
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = get_take(d, segment, n, gets, &b);
    r.parts = b.parts;
    if (err == TUTTI_OK && starts && !r_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the request");
    tutti__call same = {.name = "get",
                        .what = "the segment, the variables, their types or decompositions"};
    if (err == TUTTI_OK) same.hash = tutti__hash(batch_hash(&b), &segment, sizeof segment);
    err = tutti__dataset_call(d, &same, err);
    const int called = err == TUTTI_OK;
    if (called) {
        const int64_t file = d->model.segments[segment].file;
        err = tutti__dataset_file(d, tutti__model_file_id(&d->model, file), 0, &r.file);
    }
    for (int i = 0; i < n && err == TUTTI_OK; i++) err = get_one(d, &b.items[i], segment, &r);
    if (called && starts) err = tutti__dataset_still_there(d, err); /* its outcome comes too late */
    if (err == TUTTI_OK) {
        const tutti__move m = {.file = r.file,
                               .name = "get",
                               .n = r.n,
                               .parts = r.parts,
                               .least = r.end,
                               .started = starts ? r_out : NULL};
        if (starts) d->started = 1;
        for (int i = 0; i < n && err == TUTTI_OK; i++) err = holes_fill(&b.items[i]);
        err = got_misfit(d, d->model.segments[segment].file, tutti__dataset_move(&m, err));
    }
    if (called && !starts) err = tutti__dataset_still_there(d, err);
    batch_free(&b);
    return tutti__dataset_named(d, "get", err);
}

tutti_err tutti_dataset_get(tutti_dataset *d, tutti_count segment, int n, const tutti_get *gets) {
    TUTTI_KEEP_ERRNO;
    return get(d, segment, n, gets, NULL, 0);
}

tutti_err tutti_dataset_get_start(tutti_dataset *d, tutti_count segment, int n,
                                  const tutti_get *gets, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return get(d, segment, n, gets, r_out, 1);
}

/* ---- follow */

static tutti_err follow_take(const tutti_dataset *d, tutti_count first, tutti_count last,
                             const tutti_get *get, item *t) {
    TUTTI_CHECK(d->mode & TUTTI_READ, TUTTI_ERR_MODE, "the dataset was not opened for reading");
    TUTTI_TRY(tutti__dataset_segment_check(d, first));
    TUTTI_TRY(tutti__dataset_segment_check(d, last));
    TUTTI_CHECK(first <= last, TUTTI_ERR_ARG, "segments %lld to %lld", (long long)first,
                (long long)last);
    TUTTI_CHECK(get, TUTTI_ERR_ARG, "nothing to get");
    *t = (item){.name = get->variable, .entries = get->entries, .type = get->type, .buf = get->buf};
    TUTTI_TRY(item_check(d, t, d->model.segments[last].id));
    TUTTI_CHECK(t->type != TUTTI_BYTES || t->v->type == TUTTI_BYTES, TUTTI_ERR_ARG,
                "variable '%s': a type in memory is needed, it may be of several in files",
                t->name);
    return TUTTI_OK;
}

/* Bytes of memory from one segment's entries to the next one's. */
static tutti_err follow_step(const item *t, tutti_off *out) {
    tutti_count most = t->facts.entries, least = 0;
    tutti_count *memory = tutti__malloc((size_t)most * sizeof *memory);
    if (!memory) return TUTTI_ERR_NOMEM;
    const tutti_err err = tutti__decomposition_list(t->entries, NULL, memory, NULL);
    for (tutti_count i = 0; i < t->facts.entries && err == TUTTI_OK; i++) {
        most = tutti__max(most, memory[i] + 1);
        least = tutti__min(least, memory[i]);
    }
    tutti__free(memory);
    *out = (most - least) * tutti__item_bytes(t->v, t->type);
    return err;
}

/* The parts of segments [*at, ...) that lie in one file, in one operation. */
static tutti_err follow_file(tutti_dataset *d, const item *of, tutti_off step, tutti_count *at,
                             tutti_count last, tutti_count *count) {
    const int64_t file = d->model.segments[*at].file;
    const tutti_count most = 1024;
    tutti_count n = 0, segment = *at;
    reading r = {0};
    batch b = {0};
    tutti_err err = tutti__dataset_agree(d, batch_make((int)tutti__min(most, last - *at + 1), &b));
    r.parts = b.parts;
    if (err == TUTTI_OK && tutti__model_file_lives(&d->model, file))
        err = tutti__dataset_file(d, tutti__model_file_id(&d->model, file), 0, &r.file);
    for (; err == TUTTI_OK && segment <= last && n < b.n; segment++) {
        const tutti__known *k = NULL;
        if (d->model.segments[segment].file != file) break;
        err = tutti__sections_of(d, segment, &k);
        if (err != TUTTI_OK || !tutti__section_find(k, of->v->id, 0)) continue;
        err = tutti__dataset_here(d, segment);
        if (err != TUTTI_OK) break;
        b.items[n] = *of;
        b.items[n].buf = of->buf ? (char *)of->buf + step * *count : NULL;
        err = item_check(d, &b.items[n], d->model.segments[segment].id);
        err = tutti__dataset_agree(d, err);
        if (err == TUTTI_OK) err = get_one(d, &b.items[n], segment, &r);
        if (err == TUTTI_OK) err = holes_fill(&b.items[n]);
        n++;
        ++*count;
    }
    if (err == TUTTI_OK && r.file) {
        const tutti__move m = {
            .file = r.file, .name = "follow", .n = r.n, .parts = r.parts, .least = r.end};
        err = got_misfit(d, file, tutti__dataset_move(&m, TUTTI_OK));
    }
    batch_free(&b);
    *at = segment;
    return err;
}

tutti_err tutti_dataset_follow(tutti_dataset *d, tutti_count first, tutti_count last,
                               const tutti_get *get, tutti_count *count_out) {
    TUTTI_KEEP_ERRNO;
    item t = {0};
    tutti_count count = 0;
    tutti_off step = 0;
    TUTTI_TRY(tutti__dataset_enter(d));
    tutti_err err = follow_take(d, first, last, get, &t);
    if (err == TUTTI_OK) err = follow_step(&t, &step);
    tutti__call same = {.name = "follow",
                        .what = "the segments, the variable, its type or decomposition"};
    if (err == TUTTI_OK) {
        const batch b = {.n = 1, .items = &t};
        const int64_t words[] = {first, last};
        same.hash = tutti__hash(batch_hash(&b), words, sizeof words);
    }
    err = tutti__dataset_call(d, &same, err);
    const int called = err == TUTTI_OK;
    for (tutti_count at = first; err == TUTTI_OK && at <= last;)
        err = follow_file(d, &t, step, &at, last, &count);
    if (called) err = tutti__dataset_still_there(d, err);
    if (err == TUTTI_OK && count_out) *count_out = count;
    return tutti__dataset_named(d, "follow", err);
}
