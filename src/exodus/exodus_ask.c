/* exodus: queries of the model; notes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <string.h>
#include "exodus/sidecar.h"

/* ---- the model.   Not collective. */

static const tutti__exodus_table *find_table(const tutti_exodus *x, int kind) {
    if (tutti__exodus_live(x) != TUTTI_OK || kind < 0 || kind >= TUTTI_EXODUS_KINDS) return NULL;
    return &x->model.of[kind];
}

tutti_err tutti_exodus_parameters_sized(const tutti_exodus *x, tutti_exodus_parameters *out,
                                        size_t struct_size) {
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    const tutti_exodus_parameters *p = &x->model.p;
    tutti__struct_copy(out, struct_size, p, sizeof *p);
    return TUTTI_OK;
}

tutti_count tutti_exodus_entities(const tutti_exodus *x, tutti_exodus_kind kind) {
    const tutti__exodus_table *t = find_table(x, (int)kind);
    return t && kind >= TUTTI_EXODUS_ELEMENT_BLOCK ? t->n : 0;
}

tutti_err tutti_exodus_entity_sized(const tutti_exodus *x, tutti_exodus_kind kind,
                                    tutti_count number, tutti_exodus_entity *out,
                                    size_t struct_size) {
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    const tutti__exodus_table *t = find_table(x, (int)kind);
    TUTTI_CHECK(t && number >= 0 && number < t->n, TUTTI_ERR_NOT_FOUND,
                "%s number %lld does not exist (the file has %lld)",
                tutti_exodus_kind_name((int)kind), (long long)number, (long long)(t ? t->n : 0));
    tutti_exodus_entity e = t->row[number];
    if (!e.name) e.name = "";
    if (!e.topology) e.topology = "";
    tutti__struct_copy(out, struct_size, &e, sizeof e);
    return TUTTI_OK;
}

tutti_err tutti_exodus_find(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                            tutti_count *number_out) {
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(number_out, TUTTI_ERR_ARG, "argument number_out is NULL");
    return tutti__exodus_named(x, "find", tutti__exodus_number(x, kind, id, number_out));
}

int tutti_exodus_variable_count(const tutti_exodus *x, tutti_exodus_kind kind) {
    const tutti__exodus_table *t = find_table(x, (int)kind);
    return t ? t->variables_n : 0;
}

const char *tutti_exodus_variable_name(const tutti_exodus *x, tutti_exodus_kind kind, int number) {
    const tutti__exodus_table *t = find_table(x, (int)kind);
    return t && number >= 0 && number < t->variables_n ? t->variables[number] : NULL;
}

int tutti_exodus_has(const tutti_exodus *x, tutti_exodus_kind kind, tutti_count number,
                     int variable) {
    return find_table(x, (int)kind) && tutti__exodus_model_has(&x->model, kind, number, variable);
}

const char *tutti_exodus_attribute_name(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                                        int number) {
    const tutti__exodus_table *t = find_table(x, (int)kind);
    const tutti_count row = t ? tutti__exodus_model_find(&x->model, kind, id) : -1;
    if (row < 0 || number < 0 || number >= t->row[row].attributes) return NULL;
    return t->attributes && t->attributes[row] ? t->attributes[row][number] : "";
}

const char *tutti_exodus_property_name(const tutti_exodus *x, tutti_exodus_kind kind, int number) {
    const tutti__exodus_table *t = find_table(x, (int)kind);
    return t && number >= 0 && number < t->properties_n ? t->properties[number] : NULL;
}

tutti_err tutti_exodus_property_get(const tutti_exodus *x, tutti_exodus_kind kind, const char *name,
                                    int64_t *values_out) {
    TUTTI_TRY(tutti__exodus_live(x));
    const tutti__exodus_table *t = find_table(x, (int)kind);
    TUTTI_CHECK(name, TUTTI_ERR_ARG, "argument name is NULL");
    TUTTI_CHECK(values_out || !t || t->n == 0, TUTTI_ERR_ARG, "argument values_out is NULL");
    for (int i = 0; t && i < t->properties_n; i++)
        if (strcmp(t->properties[i], name) == 0) {
            if (t->n > 0) memcpy(values_out, t->values[i], (size_t)t->n * sizeof *values_out);
            return TUTTI_OK;
        }
    TUTTI_FAIL(TUTTI_ERR_NOT_FOUND, "%s: property '%.60s' does not exist",
               tutti_exodus_kind_name((int)kind), name);
}

int tutti_exodus_qa_count(const tutti_exodus *x) {
    return tutti__exodus_live(x) == TUTTI_OK ? x->model.qa_n : 0;
}

tutti_err tutti_exodus_qa_get(const tutti_exodus *x, int number, tutti_exodus_qa *out) {
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(out, TUTTI_ERR_NOT_FOUND, "argument out is NULL");
    TUTTI_CHECK(number >= 0 && number < x->model.qa_n, TUTTI_ERR_NOT_FOUND,
                "QA record %d does not exist (the file has %d)", number, x->model.qa_n);
    const char(*q)[33] = (const char(*)[33])x->model.qa[number];
    *out = (tutti_exodus_qa){q[0], q[1], q[2], q[3]};
    return TUTTI_OK;
}

const char *tutti_exodus_info_line(const tutti_exodus *x, int number) {
    if (tutti__exodus_live(x) != TUTTI_OK || number < 0 || number >= x->model.lines_n) return NULL;
    return x->model.lines[number];
}

/* ---- notes */

static tutti_err check_note_name(const tutti_exodus *x, const char *name) {
    TUTTI_TRY(tutti__exodus_defined(x));
    TUTTI_CHECK(name, TUTTI_ERR_ARG, "the name of the note is NULL");
    TUTTI_CHECK(name[0] && strlen(name) < 128, TUTTI_ERR_ARG,
                "name '%.60s' of a note has %zu bytes: must have 1 to 127", name, strlen(name));
    return TUTTI_OK;
}

/* On rank 0, check that the file has a sidecar, which stores notes. */
static tutti_err check_sidecar(const tutti_exodus *x) {
    TUTTI_CHECK(x->sidecar, TUTTI_ERR_STATE, "the file has no sidecar%s%s",
                x->warning[0] ? ": " : "", x->warning);
    return TUTTI_OK;
}

static tutti_err check_note(const tutti_exodus *x, const char *name, tutti_type type,
                            tutti_count count, const void *value) {
    const tutti_off size = type == TUTTI_BYTES ? 1 : tutti_type_size(type);
    tutti_off bytes = 0;
    TUTTI_TRY(tutti__exodus_writable(x));
    TUTTI_TRY(check_note_name(x, name));
    TUTTI_CHECK(size > 0, TUTTI_ERR_ARG, "note '%s': unknown type %d", name, (int)type);
    TUTTI_CHECK(count >= 0, TUTTI_ERR_ARG, "note '%s': count is %lld: must be >= 0", name,
                (long long)count);
    TUTTI_CHECK((count == 0) == (value == NULL), TUTTI_ERR_ARG,
                "note '%s': count is %lld, but argument value is %s", name, (long long)count,
                value ? "not NULL" : "NULL");
    TUTTI_CHECK(tutti__mul_ok(count, size, &bytes) && bytes <= 1 << 29, TUTTI_ERR_OVERFLOW,
                "note '%s' has %lld elements of %lld bytes: at most 2^29 bytes are allowed", name,
                (long long)count, (long long)size);
    return TUTTI_OK;
}

tutti_err tutti_exodus_note_set(tutti_exodus *x, const char *name, tutti_type type,
                                tutti_count count, const void *value) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = check_note(x, name, type, count, value);
    tutti__note note = {.type = (int)type, .count = count, .value = (void *)(uintptr_t)value};
    uint64_t hash = 0;
    if (err == TUTTI_OK) {
        const int64_t words[] = {(int64_t)type, count};
        memcpy(note.name, name, strlen(name) + 1);
        note.bytes = (size_t)(count * (type == TUTTI_BYTES ? 1 : tutti_type_size(type)));
        hash = tutti__hash(tutti__hash_text(TUTTI__HASH_START, name), words, sizeof words);
        if (note.bytes) hash = tutti__hash(hash, value, note.bytes);
    }
    TUTTI_TRY(tutti__exodus_call(x, "note_set", hash, err));
    if (x->team->rank == 0) {
        err = check_sidecar(x);
        if (err == TUTTI_OK) err = tutti__sidecar_note_set(x->sidecar, &note);
    }
    return tutti__exodus_named(x, "note_set", tutti__team_agree(x->team, err));
}

tutti_err tutti_exodus_note_get(tutti_exodus *x, const char *name, tutti_type *type_out,
                                tutti_count *count_out, void *value_out) {
    TUTTI_KEEP_ERRNO;
    tutti__note note = {.type = 0};
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = check_note_name(x, name);
    if (err == TUTTI_OK && (!type_out || !count_out))
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL",
                               type_out ? "count_out" : "type_out");
    const int64_t wants = value_out != NULL;
    const uint64_t hash = tutti__hash_text(TUTTI__HASH_START, err == TUTTI_OK ? name : "");
    TUTTI_TRY(tutti__exodus_call(x, "note_get", tutti__hash(hash, &wants, sizeof wants), err));
    TUTTI_ASSERT(type_out && count_out);
    if (x->team->rank == 0) {
        err = check_sidecar(x);
        if (err == TUTTI_OK) err = tutti__sidecar_note_get(x->sidecar, name, &note);
    }
    err = tutti__team_agree(x->team, err);
    void *value = x->team->rank == 0 ? note.value : NULL;
    if (err == TUTTI_OK) err = tutti__team_broadcast(x->team, &note, (int)sizeof note);
    if (err == TUTTI_OK && value_out) {
        if (*count_out < note.count)
            err = tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                                   "note '%s' has %lld elements, but *count_out is %lld", name,
                                   (long long)note.count, (long long)*count_out);
        err = tutti__team_agree(x->team, err);
        if (err == TUTTI_OK) err = tutti__team_broadcast_bytes(x->team, &value, &note.bytes);
        if (err == TUTTI_OK) memcpy(value_out, value, note.bytes);
    }
    if (err == TUTTI_OK) {
        *type_out = (tutti_type)note.type;
        *count_out = note.count;
    }
    tutti__free(value);
    return tutti__exodus_named(x, "note_get", err);
}

tutti_err tutti_exodus_note_name(tutti_exodus *x, tutti_count number, char *name_out) {
    TUTTI_KEEP_ERRNO;
    char name[128] = "";
    TUTTI_TRY(tutti__exodus_enter(x));
    tutti_err err = tutti__exodus_defined(x);
    if (err == TUTTI_OK && !name_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument name_out is NULL");
    else if (err == TUTTI_OK && number < 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "number is %lld: must be >= 0",
                               (long long)number);
    TUTTI_TRY(tutti__exodus_call(x, "note_name",
                                 tutti__hash(TUTTI__HASH_START, &number, sizeof number), err));
    if (x->team->rank == 0) {
        err = check_sidecar(x);
        if (err == TUTTI_OK) err = tutti__sidecar_note_name(x->sidecar, number, name);
    }
    err = tutti__team_agree(x->team, err);
    if (err == TUTTI_OK) err = tutti__team_broadcast(x->team, name, (int)sizeof name);
    TUTTI_ASSERT(name_out);
    if (err == TUTTI_OK) memcpy(name_out, name, sizeof name);
    return tutti__exodus_named(x, "note_name", err);
}
