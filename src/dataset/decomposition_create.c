/* dataset: create a decomposition of a space of a dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

static tutti_err read_ids(void *from, const tutti__space_view *view, tutti_count lo, tutti_count hi,
                          int64_t *ids_out) {
    return tutti__dataset_check_unchanged(from, tutti__dataset_ids(from, view, lo, hi, ids_out));
}

tutti_err tutti_decomposition_create_at(tutti_dataset *d, const char *space, tutti_count segment,
                                        const tutti_decomposition_spec *spec,
                                        tutti_decomposition **out) {
    TUTTI_KEEP_ERRNO;
    tutti_decomposition *p = NULL;
    TUTTI_TRY(tutti__dataset_live(d));
    tutti__decomposed of = {.name = space, .ids = read_ids, .from = d};
    tutti_err local_err = tutti__step_object_idle(&d->base);
    if (local_err == TUTTI_OK && !(space && spec && out))
        local_err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL",
                                     !space  ? "space"
                                     : !spec ? "spec"
                                             : "out");
    if (local_err == TUTTI_OK) local_err = tutti__dataset_space(d, space, segment, &of.view);
    const tutti_err err = tutti__decomposition_make(d->team, &of, spec, local_err, &p);
    if (err != TUTTI_OK) return tutti__dataset_named(d, "decomposition", err);
    p->facts.object = d->number;
    p->facts.number = ++d->count;
    *out = p;
    return TUTTI_OK;
}

tutti_err tutti_decomposition_create(tutti_dataset *d, const char *space,
                                     const tutti_decomposition_spec *spec,
                                     tutti_decomposition **out) {
    return tutti_decomposition_create_at(d, space, -1, spec, out);
}
