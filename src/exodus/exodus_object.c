/* exodus: the object: agreements of its ranks, checks of its state.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <stdio.h>
#include <string.h>

const tutti__class tutti__exodus_class = {"exodus", "Exodus file", "closed"};

tutti_err tutti__exodus_enter(tutti_exodus *x) {
    TUTTI_TRY(tutti__exodus_live(x));
    tutti__step_object_enter(&x->base);
    return TUTTI_OK;
}

tutti_err tutti__exodus_call(tutti_exodus *x, const char *name, uint64_t hash,
                             tutti_err local_err) {
    const tutti__call call = {.name = name, .what = "the arguments", .hash = hash};
    return tutti__step_object_call(&x->base, &call, local_err);
}

/* ---- checks of the state */

tutti_err tutti__exodus_defining(const tutti_exodus *x) {
    TUTTI_CHECK(x->defining, TUTTI_ERR_STATE,
                "definitions have ended: the layout of the file is fixed");
    return TUTTI_OK;
}

tutti_err tutti__exodus_defined(const tutti_exodus *x) {
    TUTTI_CHECK(
        !x->defining, TUTTI_ERR_STATE,
        "definitions have not ended: call tutti_exodus_put_mesh or tutti_exodus_end_definitions");
    return TUTTI_OK;
}

tutti_err tutti__exodus_writable(const tutti_exodus *x) {
    TUTTI_CHECK(x->mode & TUTTI_WRITE, TUTTI_ERR_MODE, "'%s' was not opened for writing", x->path);
    return tutti__exodus_defined(x);
}

tutti_err tutti__exodus_idle(const tutti_exodus *x) {
    return tutti__start_queue_empty(&x->starts, NULL);
}

tutti_err tutti__exodus_number(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                               tutti_count *out) {
    TUTTI_CHECK((int)kind >= TUTTI_EXODUS_NODAL && kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG,
                "kind %d has no entities", (int)kind);
    const tutti_count number = tutti__exodus_model_find(&x->model, kind, id);
    TUTTI_CHECK(number >= 0, TUTTI_ERR_NOT_FOUND, "the file has no %s %lld",
                tutti__exodus_names_of[kind].word, (long long)id);
    *out = number;
    return TUTTI_OK;
}
