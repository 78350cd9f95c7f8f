/* collective: change of options of an open file.  Only options that are used for planning can
 * change, and only while no plan or operation depends on the old values.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"
#include "base/options_impl.h"
#include "comm/call.h"
#include "comm/vote.h"

static tutti_err check_change(const tutti_file *f, const tutti_options *opt,
                              tutti_options *full_out) {
    TUTTI_CHECK(opt != NULL, TUTTI_ERR_ARG, "argument opt is NULL");
    TUTTI_TRY(tutti__requests_none(f));
    TUTTI_TRY(tutti__options_take(opt, full_out));
    return tutti__options_check(full_out);
}

tutti_err tutti_file_change(tutti_file *f, const tutti_options *opt) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    TUTTI_USE(f);
    tutti__requests_settle(f);
    tutti_options first = f->opt;
    const tutti__call call = {.object = "file", .name = "change"};
    const tutti_err err = tutti__team_call(f->team, &call, check_change(f, opt, &first));
    if (err != TUTTI_OK) {
        tutti__error_context("change", f->path, -1);
        return err;
    }
    TUTTI_TRY(tutti__team_broadcast(f->team, &first, (int)sizeof first));
    tutti_options after = f->opt;
    int is_changed = 0;
#define COPY(name) is_changed |= after.name != first.name, after.name = first.name;
    TUTTI_FILE_CHANGES(COPY)
#undef COPY
    if (!is_changed) return TUTTI_OK;
    tutti__plan_cache_clear(f); /* cached plans were made with the old options */
    f->opt = after;
    return TUTTI_OK;
}

void tutti__file_slabs(tutti_file *f, tutti_off at, tutti_off slab, tutti_count n) {
    TUTTI_USE(f);
    if (f->slabs.at == at && f->slabs.slab == slab && f->slabs.n == n) return;
    tutti__plan_cache_clear(f);
    f->slabs = (tutti__slabs){at, slab, n};
}
