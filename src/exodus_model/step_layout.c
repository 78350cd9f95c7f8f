/* exodus_model: offsets of the values of a time step.
 *
 * Writers make `time_step` the record dimension of netCDF; nccopy -u and some other programs turn
 * it into a fixed dimension.  The steps of each variable are then consecutive, and their distance
 * is the size of the variable, not of a record.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/exodus_model.h"

int tutti__exodus_has_fixed_steps(const tutti__cdf *c) {
    const tutti_count d = tutti__cdf_find_dim(c, "time_step");
    return d >= 0 && d != c->record_dim;
}

static int has_steps(const tutti__cdf *c, const tutti__cdf_var *v) {
    if (!tutti__exodus_has_fixed_steps(c)) return v->is_record;
    return v->ndims > 0 && v->dim[0] == tutti__cdf_find_dim(c, "time_step");
}

tutti_off tutti__exodus_step_stride(const tutti__cdf *c, const tutti__cdf_var *v) {
    if (!has_steps(c, v)) return 0;
    return v->is_record ? c->record_bytes : v->numbers * tutti__cdf_size(v->type);
}

void tutti__exodus_steps_settle(tutti__cdf *c, tutti_off file_bytes) {
    if (tutti__exodus_has_fixed_steps(c)) {
        c->records = c->dims[tutti__cdf_find_dim(c, "time_step")].length;
        for (tutti_count i = 0; i < c->vars_n; i++)
            if (has_steps(c, &c->vars[i])) c->vars[i].numbers /= c->records;
        return;
    }
    const tutti_count complete = tutti__cdf_records_in(c, file_bytes);
    c->records = c->records < 0 ? complete : tutti__min(c->records, complete);
}
