/* exodus: steps: begun, put, committed; got, followed.
 *
 * A step is a record: its bytes lie behind those of the steps before, in the order of the variables.  All fields
 * of a call are the parts of one operation; the time goes with the first of them, so that a step that is put by
 * one call is written in one piece.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "access/convert.h"
#include "timestep/section_state.h"
#include "exodus/sidecar.h"

/* A variable that an operation writes. */
typedef struct {
    tutti_count variable; /* of the netCDF file */
    int64_t entries;      /* which of its entries: a number that is theirs */
    int64_t ticket;
    int is_whole;
} target;

/* An operation that writes variables, and its outcome. */
typedef struct {
    tutti_err outcome; /* UNKNOWN: under way */
    struct tutti__exodus_step *step;
    tutti_request *request; /* started and not collected; NULL: none */
    target *targets;
    int64_t targets_n;
} put_record;
#define UNKNOWN ((tutti_err)1000)

struct tutti__exodus_step {
    double time;
    tutti_off base; /* where offset 0 of accesses is */
    tutti__exodus_region *region;
    put_record **puts;
    int64_t puts_n;
    tutti__section_state *states; /* [variables of the file] */
    tutti_count variables;
    tutti_count time_variable;
    int time_put;    /* a put that has not failed has the time with it */
    int failed_sync; /* a sync has failed since the step began */
};

/* ---- fields */

typedef struct {
    tutti__exodus_place place;
    tutti_count variable; /* of the netCDF file; -1: it has no bytes */
    tutti_decomposition *entries;
    int64_t decomposition; /* its number, 0: of the mesh */
    int64_t written; /* a number of the entries that are written, among those of the variable */
    int is_whole;    /* they are all of the variable */
    tutti_access *access;
} item;

typedef struct {
    tutti_count n;
    item *items;
    tutti_part *parts;
    int parts_n;
} batch;

static void batch_free(batch *b) {
    for (tutti_count i = 0; b->items && i < b->n; i++) tutti_access_free(&b->items[i].access);
    tutti__free(b->items);
    tutti__free(b->parts);
    *b = (batch){0};
}

static tutti_err types_check(const tutti_exodus_field *f, tutti_type file) {
    const tutti_conversion in = {.file_type = file, .memory_type = f->type};
    tutti__conversion c;
    TUTTI_CHECK(f->type != TUTTI_BYTES && tutti__conversion_make(&in, &c) == TUTTI_OK,
                TUTTI_ERR_ARG, "variable '%.60s': %s in memory is nothing for %s in the file",
                f->variable ? f->variable : "", tutti_type_name(f->type), tutti_type_name(file));
    return TUTTI_OK;
}

static tutti_err global_take(const tutti_exodus *x, const tutti_exodus_field *f, tutti_count step,
                             item *t) {
    const int n = x->model.of[TUTTI_EXODUS_GLOBAL].variables_n;
    int variable = 0;
    TUTTI_CHECK(f->id == 0 && !f->entries, TUTTI_ERR_ARG,
                "global variables have neither an id nor entries");
    if (f->variable)
        variable = tutti__exodus_model_variable(&x->model, TUTTI_EXODUS_GLOBAL, f->variable);
    TUTTI_CHECK(variable >= 0 && n > 0, TUTTI_ERR_NOT_FOUND, "there is no global variable '%.60s'",
                f->variable ? f->variable : "");
    TUTTI_TRY(tutti__exodus_place_of_field(x, TUTTI_EXODUS_GLOBAL, 0, variable, step, &t->place));
    if (!f->variable) t->place.entries = n;
    t->written = f->variable ? variable : -1;
    t->is_whole = !f->variable || n == 1;
    t->variable = tutti__cdf_find_var(&x->cdf, tutti__exodus_names_of[f->kind].values);
    TUTTI_CHECK(f->buf, TUTTI_ERR_ARG, "the buffer of global variables is NULL");
    return types_check(f, t->place.type);
}

/* Which record variable a place is in: those of a step lie one behind another, but in old files several are
 * one.  Only to remember what has been put. */
static tutti_count variable_at(const tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                               int variable) {
    char name[64];
    tutti__exodus_values_name(name, (int)kind, number, variable);
    const tutti_count v = tutti__cdf_find_var(&x->cdf, name);
    if (v >= 0 || kind != TUTTI_EXODUS_NODAL) return v;
    return tutti__cdf_find_var(&x->cdf, tutti__exodus_names_of[kind].values);
}

static tutti_err field_take(const tutti_exodus *x, const tutti_exodus_field *f, tutti_count step,
                            item *t) {
    tutti_count number = 0;
    tutti__decomposition_facts facts;
    TUTTI_CHECK_RESERVED(f, "a field");
    TUTTI_CHECK((int)f->kind >= 0 && f->kind < TUTTI_EXODUS_NODE_MAP, TUTTI_ERR_ARG,
                "kind %d has no variables", (int)f->kind);
    t->variable = -1;
    if (f->kind == TUTTI_EXODUS_GLOBAL) return global_take(x, f, step, t);
    const char *word = tutti__exodus_names_of[f->kind].word;
    TUTTI_CHECK(f->variable, TUTTI_ERR_ARG, "the name of a %s variable is NULL", word);
    const int variable = tutti__exodus_model_variable(&x->model, f->kind, f->variable);
    TUTTI_CHECK(variable >= 0, TUTTI_ERR_NOT_FOUND, "there is no %s variable '%.60s'", word,
                f->variable);
    TUTTI_TRY(tutti__exodus_number(x, f->kind, f->id, &number));
    TUTTI_CHECK(tutti__exodus_model_has(&x->model, f->kind, number, variable), TUTTI_ERR_NOT_FOUND,
                "%s %lld has no variable '%s': the truth table says so", word, (long long)f->id,
                f->variable);
    TUTTI_TRY(tutti__exodus_place_of_field(x, f->kind, number, variable, step, &t->place));
    t->entries = f->entries;
    if (f->entries) {
        TUTTI_TRY(tutti__exodus_decomposes(x, f->entries, f->kind, number));
        tutti__decomposition_facts_of(f->entries, &facts);
        t->decomposition = facts.number;
    } else {
        const tutti__exodus_local *h = tutti__exodus_local_of(x, f->kind, number);
        TUTTI_CHECK(h, TUTTI_ERR_STATE,
                    "%s %lld, variable '%s': which entries? There was no put_mesh or get_mesh",
                    word, (long long)f->id, f->variable);
        t->entries = h->entries;
        tutti__decomposition_facts_of(t->entries, &facts);
    }
    TUTTI_CHECK(f->buf || facts.entries == 0, TUTTI_ERR_ARG, "variable '%s': the buffer is NULL",
                f->variable);
    if (t->place.entries > 0) t->variable = variable_at(x, f->kind, number, variable);
    if (t->variable >= 0) {
        const int64_t words[] = {facts.number, variable};
        t->written = (int64_t)(tutti__hash(TUTTI__HASH_START, words, sizeof words) >> 1);
        t->is_whole = facts.whole && x->cdf.vars[t->variable].numbers == t->place.entries;
    }
    return types_check(f, t->place.type);
}

static tutti_err batch_take(const tutti_exodus *x, tutti_count step, tutti_count n,
                            const tutti_exodus_field *fields, batch *b) {
    TUTTI_CHECK(n >= 0 && n <= 1 << 24 && (fields || n == 0), TUTTI_ERR_ARG, "%lld fields%s",
                (long long)n, fields ? "" : " at NULL");
    b->n = n;
    b->items = tutti__calloc((size_t)n + 1, sizeof *b->items);
    b->parts = tutti__calloc((size_t)n + 1, sizeof *b->parts);
    if (!b->items || !b->parts) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n; i++) TUTTI_TRY(field_take(x, &fields[i], step, &b->items[i]));
    return TUTTI_OK;
}

static uint64_t batch_hash(const batch *b, const tutti_exodus_field *fields) {
    uint64_t h = tutti__hash(TUTTI__HASH_START, &b->n, sizeof b->n);
    for (tutti_count i = 0; i < b->n; i++) {
        const int64_t words[] = {(int64_t)fields[i].kind, fields[i].id, (int64_t)fields[i].type,
                                 b->items[i].decomposition};
        h = tutti__hash(tutti__hash_text(h, fields[i].variable), words, sizeof words);
    }
    return h;
}

static tutti_part part_of(const tutti_access *access, void *buf, tutti_type file,
                          tutti_type memory) {
    return (tutti_part){
        .access = access,
        .buf = buf,
        .convert = {.file_type = file, .memory_type = memory, .file_order = TUTTI_BIG_ENDIAN}};
}

/* This rank's bytes; offset 0 of accesses is `base` in the file. */
static tutti_err batch_parts(const tutti_exodus *x, const tutti_exodus_field *fields, int is_write,
                             tutti_off base, batch *b) {
    for (tutti_count i = 0; i < b->n; i++) {
        item *t = &b->items[i];
        const tutti_off size = tutti_type_size(t->place.type);
        const tutti_access *access = NULL;
        if (fields[i].kind == TUTTI_EXODUS_GLOBAL) {
            if (is_write && x->team->rank != 0) continue;
            TUTTI_TRY(
                tutti_access_contiguous(t->place.at - base, t->place.entries * size, &t->access));
        } else {
            if (t->place.entries == 0) continue;
            TUTTI_TRY(tutti__decomposition_access(t->entries, size, is_write, &access));
            TUTTI_TRY(tutti_access_shift(access, t->place.at - base, 0, &t->access));
        }
        b->parts[b->parts_n++] = part_of(t->access, fields[i].buf, t->place.type, fields[i].type);
    }
    return TUTTI_OK;
}

/* ---- begin, discard */

static void step_free(tutti_exodus *x) {
    struct tutti__exodus_step *s = x->step;
    x->step = NULL;
    if (!s) return;
    tutti__exodus_region_free(&s->region);
    for (int64_t i = 0; i < s->puts_n; i++) {
        tutti__free(s->puts[i]->targets);
        tutti__free(s->puts[i]);
    }
    for (tutti_count i = 0; s->states && i < s->variables; i++)
        tutti__section_state_free(&s->states[i]);
    tutti__free(s->puts);
    tutti__free(s->states);
    tutti__free(s);
}

static tutti_err appendable(const tutti_exodus *x) {
    TUTTI_CHECK(
        !tutti__exodus_has_fixed_steps(&x->cdf), TUTTI_ERR_UNSUPPORTED,
        "the time dimension of '%s' is fixed: steps cannot be appended or removed; copy the "
        "file first (tutti cp)",
        x->path);
    return TUTTI_OK;
}

static tutti_err time_check(const tutti_exodus *x, const tutti__cdf_var *time) {
    TUTTI_CHECK(time->type != TUTTI__CDF_CHAR && time->numbers == 1 &&
                    tutti__exodus_step_stride(&x->cdf, time) > 0,
                TUTTI_ERR_FORMAT, "'time_whole' is not one number for each step");
    return TUTTI_OK;
}

static tutti_err begin_check(const tutti_exodus *x, double time) {
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_CHECK(!x->step, TUTTI_ERR_STATE,
                "a step has begun and was neither committed nor discarded");
    TUTTI_CHECK(isfinite(time), TUTTI_ERR_ARG, "the time is %g", time);
    const int first = x->cdf.records == 0 && x->file_number == 1;
    TUTTI_CHECK(first || x->last < time || x->opt.any_times, TUTTI_ERR_ARG,
                "time %.17g does not rise: the last was %.17g", time, x->last);
    const tutti_count v = tutti__cdf_find_var(&x->cdf, "time_whole");
    TUTTI_CHECK(v >= 0, TUTTI_ERR_UNSUPPORTED,
                "the file has no 'time_whole': it cannot have steps");
    TUTTI_TRY(appendable(x));
    TUTTI_TRY(time_check(x, &x->cdf.vars[v]));
    return tutti__exodus_idle(x);
}

static tutti_err step_make(tutti_exodus *x, double time) {
    struct tutti__exodus_step *s = tutti__calloc(1, sizeof *s);
    if (!s) return TUTTI_ERR_NOMEM;
    x->step = s;
    s->time = time;
    s->time_variable = tutti__cdf_find_var(&x->cdf, "time_whole");
    s->variables = x->cdf.vars_n;
    s->states = tutti__calloc((size_t)s->variables, sizeof *s->states);
    if (!s->states) return TUTTI_ERR_NOMEM;
    if (x->team->rank == 0) /* bytes of a step that was discarded, but could not be removed */
        TUTTI_TRY(tutti__cut_here(x->file, x->at));
    const tutti_off at = x->cdf.record_begin + x->cdf.records * x->cdf.record_bytes;
    s->base = tutti__exodus_step_base(x, at);
    return tutti__exodus_region_make(x, at, at + x->cdf.record_bytes, &s->region);
}

tutti_err tutti_exodus_begin(tutti_exodus *x, double time) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_TRY(tutti__exodus_call(x, "begin", tutti__hash(TUTTI__HASH_START, &time, sizeof time),
                                 begin_check(x, time)));
    tutti_err err = tutti__exodus_mesh_end(x);
    if (err == TUTTI_OK && x->opt.steps_per_file > 0 && x->cdf.records >= x->opt.steps_per_file)
        err = tutti__exodus_next_steps(x);
    if (err == TUTTI_OK) {
        err = tutti__exodus_agree(x, step_make(x, time));
        if (err != TUTTI_OK) step_free(x);
    }
    return tutti__exodus_named(x, "begin", err);
}

/* Puts whose requests were abandoned have ended.   Local, but waits for other ranks, which progress in their calls. */
static void step_settle(tutti_exodus *x) {
    for (int64_t i = 0; x->step && i < x->step->puts_n; i++)
        tutti__request_complete_abandoned(x->step->puts[i]->request);
}

tutti_err tutti__exodus_give_up(tutti_exodus *x) {
    if (!x->step) return TUTTI_OK;
    step_settle(x);
    const int written = x->step->puts_n > 0;
    step_free(x);
    return written ? tutti_file_resize(x->file, x->at) : TUTTI_OK;
}

static tutti_err step_check(const tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_CHECK(x->step, TUTTI_ERR_STATE, "no step has begun");
    for (int64_t i = 0; i < x->step->puts_n; i++)
        TUTTI_CHECK(x->step->puts[i]->outcome != UNKNOWN, TUTTI_ERR_STATE,
                    "a put has been started and not completed");
    return TUTTI_OK;
}

tutti_err tutti_exodus_discard(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    step_settle(x);
    TUTTI_TRY(tutti__exodus_call(x, "discard", 0, step_check(x)));
    return tutti__exodus_named(x, "discard", tutti__exodus_give_up(x));
}

/* ---- put */

/* The outcome of a put that was abandoned counts as a failure, since the caller does not know it. */
static void record_end(put_record *p, tutti_err outcome) {
    struct tutti__exodus_step *s = p->step;
    const int abandoned = tutti__request_is_abandoned(p->request);
    p->outcome = outcome;
    p->request = NULL;
    for (int64_t i = 0; i < p->targets_n; i++) {
        const target *t = &p->targets[i];
        const int is_time = t->variable == s->time_variable; /* the library's own */
        if (is_time && outcome != TUTTI_OK) s->time_put = 0;
        if (outcome == TUTTI_OK && (is_time || !abandoned))
            tutti__section_put_succeeded(&s->states[t->variable], t->entries, t->ticket,
                                         t->is_whole);
        else
            tutti__section_put_failed(&s->states[t->variable], t->entries);
    }
}

static void put_collected(void *context, tutti_err outcome) {
    record_end(context, outcome);
}

static tutti_err target_add(put_record *p, tutti_count variable, int64_t entries, int is_whole) {
    target *t = tutti__table_grow(&p->targets, &p->targets_n, sizeof *t);
    if (!t) return TUTTI_ERR_NOMEM;
    *t = (target){variable, entries, 0, is_whole};
    const tutti_err err = tutti__section_put_start(&p->step->states[variable], entries, &t->ticket);
    if (err != TUTTI_OK) p->targets_n--;
    return err;
}

static tutti_err record_new(struct tutti__exodus_step *s, put_record **out) {
    put_record *p = tutti__calloc(1, sizeof *p);
    if (!p) return TUTTI_ERR_NOMEM;
    put_record **at = tutti__table_grow(&s->puts, &s->puts_n, sizeof *at);
    if (!at) {
        tutti__free(p);
        return TUTTI_ERR_NOMEM;
    }
    p->outcome = UNKNOWN;
    p->step = s;
    *at = *out = p;
    return TUTTI_OK;
}

static tutti_err time_access(const tutti_exodus *x, tutti_off base, tutti_access **out,
                             tutti_type *type_out) {
    const tutti__cdf_var *v = &x->cdf.vars[x->step->time_variable];
    *type_out = tutti__cdf_number(v->type);
    return tutti_access_contiguous(tutti__cdf_place(&x->cdf, v, x->cdf.records) - base,
                                   tutti_type_size(*type_out), out);
}

/* A transfer of a batch's parts of the file. */
static tutti_err carry_out(tutti__transfer *t, const batch *b, tutti_request **started) {
    t->how = started ? TUTTI__STARTED : TUTTI__AT_ONCE;
    t->parts_n = b->parts_n;
    t->parts = b->parts;
    return tutti__transfer_run(t, started);
}

/* Everything that needs the other ranks: they have agreed on the call. */
static tutti_err put_batch(tutti_exodus *x, const tutti_exodus_field *fields, batch *b,
                           tutti_request **started) {
    struct tutti__exodus_step *s = x->step;
    put_record *record = NULL;
    tutti_access *time = NULL;
    tutti_type type = TUTTI_FLOAT64;
    const int with_time = !s->time_put;
    tutti__transfer t = {.name = "put", .file = x->file, .is_write = 1, .collected = put_collected};
    t.local_err = record_new(s, &record);
    for (tutti_count i = 0; i < b->n && t.local_err == TUTTI_OK; i++)
        if (b->items[i].variable >= 0)
            t.local_err =
                target_add(record, b->items[i].variable, b->items[i].written, b->items[i].is_whole);
    if (t.local_err == TUTTI_OK && with_time)
        t.local_err = target_add(record, s->time_variable, 0, 1);
    const tutti_err ready = tutti__exodus_agree(x, t.local_err);
    if (ready != TUTTI_OK && record) record->outcome = ready; /* nothing has been written */
    TUTTI_TRY(ready);
    TUTTI_ASSERT(record);
    t.context = record;
    tutti__exodus_region_next(s->region);
    t.base = s->base;
    t.local_err = batch_parts(x, fields, 1, s->base, b);
    if (t.local_err == TUTTI_OK && with_time && x->team->rank == 0) {
        t.local_err = time_access(x, s->base, &time, &type);
        b->parts[b->parts_n++] = part_of(time, &s->time, type, TUTTI_FLOAT64);
    }
    if (t.local_err == TUTTI_OK)
        t.local_err = tutti__exodus_region_sums(s->region, b->parts_n, b->parts, &t.sums);
    s->time_put = 1;
    const tutti_err err = carry_out(&t, b, started);
    if (!started || err != TUTTI_OK)
        record_end(record, err);
    else
        record->request = *started;
    tutti_access_free(&time);
    return err;
}

static tutti_err put(tutti_exodus *x, tutti_count n, const tutti_exodus_field *fields,
                     tutti_request **r_out, int starts) {
    batch b = {0};
    TUTTI_TRY(tutti__exodus_live(x));
    step_settle(x);
    tutti_err err = tutti__exodus_writable(x);
    if (err == TUTTI_OK && !x->step)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1, "no step has begun");
    if (err == TUTTI_OK && starts && !r_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the request");
    if (err == TUTTI_OK) err = batch_take(x, x->cdf.records + 1, n, fields, &b);
    err = tutti__exodus_call(x, "put", err == TUTTI_OK ? batch_hash(&b, fields) : 0, err);
    if (err == TUTTI_OK) err = put_batch(x, fields, &b, starts ? r_out : NULL);
    batch_free(&b);
    return tutti__exodus_named(x, "put", err);
}

tutti_err tutti_exodus_put(tutti_exodus *x, tutti_count n, const tutti_exodus_field *fields) {
    TUTTI_KEEP_ERRNO;
    return put(x, n, fields, NULL, 0);
}

tutti_err tutti_exodus_put_start(tutti_exodus *x, tutti_count n, const tutti_exodus_field *fields,
                                 tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return put(x, n, fields, r_out, 1);
}

/* ---- commit, erase */

static tutti_err commit_check(const tutti_exodus *x) {
    TUTTI_TRY(step_check(x));
    const struct tutti__exodus_step *s = x->step;
    for (tutti_count i = 0; i < s->variables; i++)
        TUTTI_CHECK(
            i == s->time_variable ||
                tutti__section_status_of(&s->states[i]) != TUTTI__SECTION_FAILED,
            TUTTI_ERR_STATE, "'%s' is incomplete because a %s: put it again, or discard the step",
            x->cdf.vars[i].name, s->failed_sync ? "sync failed" : "put failed or was abandoned");
    return TUTTI_OK;
}

/* Rank 0: no put had the time with it. */
static tutti_err time_write(tutti_exodus *x) {
    tutti_access *access = NULL;
    tutti_type type = TUTTI_FLOAT64;
    TUTTI_TRY(time_access(x, 0, &access, &type));
    const tutti_part part = part_of(access, &x->step->time, type, TUTTI_FLOAT64);
    const tutti_err err = tutti_file_write_parts_independent(x->file, 1, &part, NULL);
    tutti_access_free(&access);
    return err;
}

/* Rank 0: sums, then the number of records. */
static tutti_err settle(tutti_exodus *x, const uint64_t *table, tutti_count n) {
    const tutti_count step = x->cdf.records + 1;
    if (x->sidecar)
        TUTTI_TRY(table ? tutti__sidecar_add_sums(x->sidecar, step, n, table)
                        : tutti__sidecar_drop(x->sidecar, step - 1));
    return tutti__exodus_file_records(x, step, x->opt.level == TUTTI_DURABLE);
}

/* All that was written since the step began may be lost, and earlier steps that this handle has not synced: the message,
 * the same on all ranks, names them. */
static void step_sync_failed(tutti_exodus *x) {
    struct tutti__exodus_step *s = x->step;
    tutti_error_info info = *tutti_last_error();
    char text[sizeof info.text];
    for (tutti_count i = 0; i < s->variables; i++) tutti__section_sync_failed(&s->states[i]);
    s->time_put = 0;
    s->failed_sync = 1;
    if (x->synced == x->file_number || x->cdf.records == 0) return;
    snprintf(text, sizeof text,
             "%.200s; the mesh and steps 1 to %lld are damaged too if they were written with level "
             "TUTTI_VISIBLE: verify them",
             info.text, (long long)x->cdf.records);
    memcpy(info.text, text, sizeof text);
    tutti__error_assign(&info);
}

static tutti_err commit(tutti_exodus *x) {
    const int root = x->team->rank == 0;
    uint64_t *table = NULL;
    tutti_count n = 0;
    const tutti__cdf_var *time = &x->cdf.vars[x->step->time_variable];
    const tutti_off at = tutti__cdf_place(&x->cdf, time, x->cdf.records);
    if (!x->step->time_put) {
        tutti_err mine =
            tutti__exodus_region_touch(x->step->region, at, at + tutti__cdf_size(time->type));
        if (mine == TUTTI_OK && root) mine = time_write(x);
        TUTTI_TRY(tutti__exodus_agree(x, mine));
    }
    TUTTI_TRY(tutti__exodus_region_end(x, x->step->region, &table, &n));
    tutti_err err = TUTTI_OK;
    if (x->opt.level == TUTTI_DURABLE) {
        err = tutti__exodus_agree(x, tutti__sync_here(x->file));
        if (err == TUTTI_OK)
            x->synced = x->file_number;
        else
            step_sync_failed(x);
    }
    if (err == TUTTI_OK) err = tutti__exodus_agree(x, root ? settle(x, table, n) : TUTTI_OK);
    tutti__free(table);
    return err;
}

tutti_err tutti_exodus_commit(tutti_exodus *x) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    step_settle(x);
    TUTTI_TRY(tutti__exodus_call(x, "commit", 0, commit_check(x)));
    const tutti_err err = commit(x);
    if (err == TUTTI_OK) {
        x->cdf.records++;
        x->last = x->step->time;
        x->at = tutti__exodus_file_end(&x->cdf, x->cdf.records);
        step_free(x);
    }
    return tutti__exodus_named(x, "commit", err);
}

/* Rank 0: fewer records, then the bytes behind them go. */
static tutti_err cut(tutti_exodus *x, tutti_count steps, double *last_out) {
    const int durable = x->opt.level == TUTTI_DURABLE;
    const tutti_count index = tutti__cdf_find_var(&x->cdf, "time_whole");
    TUTTI_CHECK(index >= 0, TUTTI_ERR_FORMAT, "the file has steps, but no 'time_whole'");
    const tutti__cdf_var *time = &x->cdf.vars[index];
    tutti_access *access = NULL;
    if (x->sidecar) TUTTI_TRY(tutti__sidecar_set_steps(x->sidecar, steps));
    TUTTI_TRY(tutti__exodus_file_records(x, steps, durable));
    if (x->sidecar) TUTTI_TRY(tutti__sidecar_drop(x->sidecar, steps));
    if (steps == 0) return TUTTI_OK;
    const tutti_type type = tutti__cdf_number(time->type);
    TUTTI_TRY(tutti_access_contiguous(tutti__cdf_place(&x->cdf, time, steps - 1),
                                      tutti_type_size(type), &access));
    const tutti_part part = part_of(access, last_out, type, TUTTI_FLOAT64);
    const tutti_err err = tutti_file_read_parts_independent(x->file, 1, &part, NULL);
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_exodus_erase_after(tutti_exodus *x, tutti_count step) {
    TUTTI_KEEP_ERRNO;
    double last = 0;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = tutti__exodus_writable(x);
    if (err == TUTTI_OK && x->step)
        err = tutti__error_set(TUTTI_ERR_STATE, 0, -1,
                               "a step has begun and was neither committed nor discarded");
    if (err == TUTTI_OK && (step < 0 || step > x->cdf.records))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "step %lld of %lld", (long long)step,
                               (long long)x->cdf.records);
    if (err == TUTTI_OK && step < x->cdf.records) err = appendable(x);
    if (err == TUTTI_OK) err = tutti__exodus_idle(x);
    TUTTI_TRY(tutti__exodus_call(x, "erase_after",
                                 tutti__hash(TUTTI__HASH_START, &step, sizeof step), err));
    if (step == x->cdf.records) return TUTTI_OK;
    err = tutti__exodus_agree(x, x->team->rank == 0 ? cut(x, step, &last) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__team_tell(x->team, &last, (int)sizeof last);
    if (err == TUTTI_OK) {
        x->cdf.records = step;
        x->last = last;
        x->at = tutti__exodus_file_end(&x->cdf, step);
        x->checked_n = tutti__min(x->checked_n, step + 1);
        err = tutti_file_resize(x->file, x->at);
    }
    return tutti__exodus_named(x, "erase_after", err);
}

/* ---- get */

tutti_count tutti_exodus_steps(const tutti_exodus *x) {
    return tutti__exodus_live(x) == TUTTI_OK && !x->defining ? x->cdf.records : 0;
}

static tutti_err range_check(const tutti_exodus *x, tutti_count first, tutti_count last) {
    TUTTI_TRY(tutti__exodus_defined(x));
    TUTTI_CHECK(first >= 1 && first <= last && last <= x->cdf.records, TUTTI_ERR_NOT_FOUND,
                "steps %lld ... %lld of %lld", (long long)first, (long long)last,
                (long long)x->cdf.records);
    return TUTTI_OK;
}

/* Option check_reads: the first look at a step compares all of it.   Collective. */
static tutti_err step_compare(tutti_exodus *x, tutti_count step) {
    tutti_off bytes = 0;
    if (!x->opt.check_reads) return TUTTI_OK;
    if (x->checked_n <= step) {
        const tutti_count n = tutti__max(step + 1, 2 * x->checked_n);
        unsigned char *more = tutti__realloc(x->checked, (size_t)n);
        if (more) {
            memset(more + x->checked_n, 0, (size_t)(n - x->checked_n));
            x->checked = more;
        }
        TUTTI_TRY(tutti__exodus_agree(x, more ? TUTTI_OK : TUTTI_ERR_NOMEM));
        x->checked_n = n;
    }
    if (x->checked[step]) return TUTTI_OK;
    TUTTI_TRY(tutti__exodus_compare(x, step, &bytes));
    x->checked[step] = 1;
    return TUTTI_OK;
}

static tutti_err get(tutti_exodus *x, tutti_count step, tutti_count n,
                     const tutti_exodus_field *fields, tutti_request **r_out, int starts) {
    batch b = {0};
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = fields ? TUTTI_OK : tutti__error_refused();
    if (err == TUTTI_OK) err = range_check(x, step, step);
    if (err == TUTTI_OK && starts && !r_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "nowhere to put the request");
    if (err == TUTTI_OK) err = batch_take(x, step, n, fields, &b);
    const uint64_t hash =
        err == TUTTI_OK ? tutti__hash(batch_hash(&b, fields), &step, sizeof step) : 0;
    err = tutti__exodus_call(x, "get", hash, err);
    if (err == TUTTI_OK) err = step_compare(x, step);
    if (err == TUTTI_OK) {
        tutti__transfer t = {
            .name = "get", .file = x->file, .least = tutti__exodus_file_end(&x->cdf, step) - 3};
        t.local_err = batch_parts(x, fields, 0, 0, &b);
        err = carry_out(&t, &b, starts ? r_out : NULL);
    }
    batch_free(&b);
    return tutti__exodus_named(x, "get", err);
}

tutti_err tutti_exodus_get(tutti_exodus *x, tutti_count step, tutti_count n,
                           const tutti_exodus_field *fields) {
    TUTTI_KEEP_ERRNO;
    return get(x, step, n, fields, NULL, 0);
}

tutti_err tutti_exodus_get_start(tutti_exodus *x, tutti_count step, tutti_count n,
                                 const tutti_exodus_field *fields, tutti_request **r_out) {
    TUTTI_KEEP_ERRNO;
    return get(x, step, n, fields, r_out, 1);
}

/* ---- times, one entity through time */

/* Rank 0. */
static tutti_err times_read(tutti_exodus *x, tutti_count first, tutti_count n, double *to) {
    const tutti_count v = tutti__cdf_find_var(&x->cdf, "time_whole");
    tutti_access *access = NULL;
    tutti_off count = 0;
    TUTTI_CHECK(v >= 0, TUTTI_ERR_FORMAT, "the file has steps, but no 'time_whole'");
    const tutti__cdf_var *time = &x->cdf.vars[v];
    const tutti_type type = tutti__cdf_number(time->type);
    const tutti_off size = tutti_type_size(type);
    TUTTI_TRY(time_check(x, time));
    const tutti_off stride = tutti__exodus_step_stride(&x->cdf, time);
    TUTTI_TRY(tutti_access_vector(time->begin + (first - 1) * stride, n, size, stride, &access));
    const tutti_part part = part_of(access, to, type, TUTTI_FLOAT64);
    tutti_err err = tutti_file_read_parts_independent(x->file, 1, &part, &count);
    if (err == TUTTI_OK && count != n * size)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "the file ends within its steps");
    tutti_access_free(&access);
    return err;
}

tutti_err tutti_exodus_times(tutti_exodus *x, tutti_count first, tutti_count n, double *times_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = TUTTI_OK;
    tutti_count last = 0;
    if (n < 0 || (n > 0 && !times_out))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "%lld times%s", (long long)n,
                               times_out ? "" : " at NULL");
    if (err == TUTTI_OK && n > 0)
        err = range_check(x, first, tutti__add_ok(first, n - 1, &last) ? last : INT64_MAX);
    const int64_t words[] = {first, n};
    TUTTI_TRY(
        tutti__exodus_call(x, "times", tutti__hash(TUTTI__HASH_START, words, sizeof words), err));
    if (n == 0) return TUTTI_OK;
    void *times = times_out;
    size_t bytes = (size_t)n * sizeof *times_out;
    err =
        tutti__exodus_agree(x, x->team->rank == 0 ? times_read(x, first, n, times_out) : TUTTI_OK);
    if (err == TUTTI_OK) err = tutti__exodus_tell(x, &times, &bytes);
    if (err == TUTTI_OK && times != times_out) {
        memcpy(times_out, times, bytes);
        tutti__free(times);
    }
    return tutti__exodus_named(x, "times", err);
}

/* Entries of memory from one step's to the next one's. */
static tutti_err follow_stride(const item *t, tutti_count *out) {
    tutti__decomposition_facts facts;
    if (!t->entries) {
        *out = t->place.entries;
        return TUTTI_OK;
    }
    tutti__decomposition_facts_of(t->entries, &facts);
    tutti_count most = facts.entries, least = 0;
    tutti_count *memory = tutti__malloc((size_t)facts.entries * sizeof *memory);
    if (!memory) return TUTTI_ERR_NOMEM;
    const tutti_err err = tutti__decomposition_list(t->entries, NULL, memory, NULL);
    for (tutti_count i = 0; i < facts.entries && err == TUTTI_OK; i++) {
        most = tutti__max(most, memory[i] + 1);
        least = tutti__min(least, memory[i]);
    }
    tutti__free(memory);
    *out = most - least;
    return err;
}

/* The part of the first step becomes one of all of them. */
static tutti_err follow_parts(const tutti_exodus *x, const tutti_exodus_field *f, tutti_count steps,
                              batch *b) {
    tutti_count stride = 0;
    tutti_access *all = NULL;
    TUTTI_TRY(batch_parts(x, f, 0, 0, b));
    if (b->parts_n == 0) return TUTTI_OK;
    item *t = &b->items[0];
    TUTTI_TRY(follow_stride(t, &stride));
    TUTTI_TRY(tutti_access_tile(t->access, steps, t->place.stride,
                                stride * tutti_type_size(t->place.type), &all));
    tutti_access_free(&t->access);
    b->parts[0].access = t->access = all;
    return TUTTI_OK;
}

tutti_err tutti_exodus_follow(tutti_exodus *x, tutti_count first, tutti_count last,
                              const tutti_exodus_field *field) {
    TUTTI_KEEP_ERRNO;
    batch b = {0};
    TUTTI_TRY(tutti__exodus_live(x));
    tutti_err err = field ? TUTTI_OK : tutti__error_refused();
    if (err == TUTTI_OK) err = range_check(x, first, last);
    if (err == TUTTI_OK) err = batch_take(x, first, 1, field, &b);
    const int64_t words[] = {first, last};
    const uint64_t hash =
        err == TUTTI_OK ? tutti__hash(batch_hash(&b, field), words, sizeof words) : 0;
    err = tutti__exodus_call(x, "follow", hash, err);
    for (tutti_count i = first; i <= last && err == TUTTI_OK && x->opt.check_reads; i++)
        err = step_compare(x, i);
    if (err == TUTTI_OK) {
        tutti__transfer t = {
            .name = "follow", .file = x->file, .least = tutti__exodus_file_end(&x->cdf, last) - 3};
        t.local_err = follow_parts(x, field, last - first + 1, &b);
        err = carry_out(&t, &b, NULL);
    }
    batch_free(&b);
    return tutti__exodus_named(x, "follow", err);
}
