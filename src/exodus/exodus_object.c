/* exodus: the object: what its ranks agree on, what may be done with it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <stdio.h>
#include <string.h>

tutti_err tutti__exodus_live(const tutti_exodus *x) {
    int ended = 0;
    TUTTI_CHECK(x != NULL, TUTTI_ERR_ARG, "the Exodus handle is NULL");
    TUTTI_CHECK(tutti__handle_alive(&x->handle, TUTTI__EXODUS), TUTTI_ERR_STATE,
                "the Exodus handle is stale: the file has been closed");
    MPI_Finalized(&ended);
    TUTTI_CHECK(!ended, TUTTI_ERR_STATE, "MPI has been finalised");
    return TUTTI_OK;
}

/* ---- agreement */

tutti_err tutti__exodus_named(const tutti_exodus *x, const char *operation, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context(operation, x->path, -1);
    return err;
}

tutti_err tutti__exodus_call(tutti_exodus *x, const char *name, uint64_t hash, tutti_err mine) {
    const uint64_t which = tutti__hash_text(TUTTI__HASH_START, name);
    const int64_t same = (int64_t)(hash >> 1);
    const tutti__call call = {.kind = TUTTI__CALL_EXODUS,
                              .agrees = (int64_t)(which >> 1),
                              .what = "which call it is that they make for the Exodus file",
                              .names = 1};
    tutti__range agrees = {same, same};
    if (mine != TUTTI_OK) {
        const tutti_err why = tutti__error_refused(); /* what the caller has against it */
        if (why != TUTTI_OK) mine = why;
        agrees = tutti__range_none();
    }
    tutti_err err = tutti__team_call(x->team, &call, mine, 1, &agrees);
    if (err == TUTTI_OK && agrees.min != agrees.max)
        err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1, "ranks disagree on the arguments of %s",
                               name);
    return tutti__exodus_named(x, name, err);
}

tutti_err tutti__exodus_agree(tutti_exodus *x, tutti_err mine) {
    return tutti__team_agree(x->team, mine);
}

tutti_err tutti__exodus_tell(tutti_exodus *x, void **data, size_t *bytes) {
    return tutti__team_tell_all(x->team, data, bytes);
}

/* ---- what may be done */

tutti_err tutti__exodus_defining(const tutti_exodus *x) {
    TUTTI_CHECK(x->defining, TUTTI_ERR_STATE,
                "definitions have ended: later ones would move "
                "everything in the file");
    return TUTTI_OK;
}

tutti_err tutti__exodus_defined(const tutti_exodus *x) {
    TUTTI_CHECK(
        !x->defining, TUTTI_ERR_STATE,
        "definitions have not ended: tutti_exodus_put_mesh or tutti_exodus_end_definitions");
    return TUTTI_OK;
}

tutti_err tutti__exodus_writable(const tutti_exodus *x) {
    TUTTI_CHECK(x->mode & TUTTI_WRITE, TUTTI_ERR_MODE, "the file was not opened for writing");
    return tutti__exodus_defined(x);
}

tutti_err tutti__exodus_idle(const tutti_exodus *x) {
    return x->file ? tutti__requests_none(x->file) : TUTTI_OK;
}

tutti_err tutti__exodus_number(const tutti_exodus *x, tutti_exodus_kind kind, int64_t id,
                               tutti_count *out) {
    TUTTI_CHECK((int)kind >= TUTTI_EXODUS_NODAL && kind < TUTTI_EXODUS_KINDS, TUTTI_ERR_ARG,
                "kind %d has no entities", (int)kind);
    const tutti_count number = tutti__exodus_model_find(&x->model, kind, id);
    TUTTI_CHECK(number >= 0, TUTTI_ERR_NOT_FOUND, "there is no %s %lld",
                tutti__exodus_names_of[kind].word, (long long)id);
    *out = number;
    return TUTTI_OK;
}
