/* exodus: offsets of arrays and fields, for programs that read the file themselves.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

static tutti_err return_place(const tutti__exodus_place *p, tutti_off *at_out,
                              tutti_type *type_out) {
    TUTTI_CHECK(p->entries > 0, TUTTI_ERR_NOT_FOUND,
                "the array has no entries, and therefore no offset");
    *at_out = p->at;
    if (type_out) *type_out = p->type;
    return TUTTI_OK;
}

tutti_err tutti_exodus_array_offset(const tutti_exodus *x, const tutti_exodus_array *a,
                                    tutti_off *at_out, tutti_type *type_out) {
    static const char name[] = "array_offset";
    tutti__exodus_place p = {0};
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(a && at_out, TUTTI_ERR_ARG, "argument %s is NULL", a ? "at_out" : "a");
    TUTTI_TRY(tutti__exodus_named(x, name, tutti__exodus_defined(x)));
    TUTTI_TRY(tutti__exodus_named(x, name, tutti__exodus_place_of(x, a, &p)));
    return tutti__exodus_named(x, name, return_place(&p, at_out, type_out));
}

static tutti_err field_offset(const tutti_exodus *x, tutti_count step, const tutti_exodus_field *f,
                              tutti__exodus_place *out) {
    tutti_count number = 0;
    TUTTI_CHECK((int)f->kind >= 0 && f->kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG, "unknown kind %d",
                (int)f->kind);
    TUTTI_CHECK(step >= 1 && step <= tutti_exodus_steps(x), TUTTI_ERR_ARG,
                "step %lld does not exist (the file has %lld)", (long long)step,
                (long long)tutti_exodus_steps(x));
    const int variable =
        f->variable ? tutti__exodus_model_variable(&x->model, f->kind, f->variable) : 0;
    TUTTI_CHECK(f->variable || f->kind == TUTTI_EXODUS_GLOBAL, TUTTI_ERR_NOT_FOUND,
                "field variable is NULL: allowed for global variables only");
    TUTTI_CHECK(variable >= 0, TUTTI_ERR_NOT_FOUND, "variable '%s' does not exist", f->variable);
    if (f->kind > TUTTI_EXODUS_NODAL) {
        TUTTI_TRY(tutti__exodus_number(x, f->kind, f->id, &number));
        TUTTI_CHECK(tutti_exodus_has(x, f->kind, number, variable), TUTTI_ERR_NOT_FOUND,
                    "%s %lld has no variable '%s'", tutti_exodus_kind_name(f->kind),
                    (long long)f->id, f->variable);
    }
    return tutti__exodus_place_of_field(x, f->kind, number, variable, step, out);
}

tutti_err tutti_exodus_field_offset(const tutti_exodus *x, tutti_count step,
                                    const tutti_exodus_field *f, tutti_off *at_out,
                                    tutti_type *type_out) {
    static const char name[] = "field_offset";
    tutti__exodus_place p = {0};
    TUTTI_TRY(tutti__exodus_live(x));
    TUTTI_CHECK(f && at_out, TUTTI_ERR_ARG, "argument %s is NULL", f ? "at_out" : "f");
    TUTTI_TRY(tutti__exodus_named(x, name, tutti__exodus_defined(x)));
    TUTTI_TRY(tutti__exodus_named(x, name, field_offset(x, step, f, &p)));
    return tutti__exodus_named(x, name, return_place(&p, at_out, type_out));
}
