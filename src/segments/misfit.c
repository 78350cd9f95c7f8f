/* segments: variable and position, instead of part and element, in conversion errors.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "segments/dataset_impl.h"

#include <stdio.h>
#include <string.h>

/* The error has the text "part 3, element 7: 1e300 does not fit float32" and an offset, which are
 * the same on all ranks. */
void tutti__dataset_misfit(const tutti_dataset *d, const tutti__section *sections, int64_t n,
                           tutti_err err) {
    tutti_error_info info = *tutti_last_error();
    const char *value = strstr(info.text, ": ");
    if (err != TUTTI_ERR_VALUE || info.code != err || !value) return;
    for (int64_t i = 0; i < n; i++) {
        const tutti__section *s = &sections[i];
        const tutti__variable *v = tutti__model_variable_id(&d->model, s->variable);
        if (info.offset < s->start || info.offset >= s->start + s->bytes || !v) continue;
        const tutti_off item = tutti__item_bytes(v, s->type);
        char number[64] = "", text[sizeof info.text];
        if (v->layout == TUTTI_GLOBAL) {
            const tutti_off at = info.offset - s->start;
            if (tutti__variable_numbers(v) > 1)
                snprintf(number, sizeof number, ", component %lld",
                         (long long)(at % item / (item / tutti__variable_numbers(v))));
            snprintf(text, sizeof text, "variable '%s', entry %lld%s%.200s", v->name,
                     (long long)(at / item), number, value);
        } else { /* ranked: entries are stored in rank order */
            const char *element = strstr(info.text, "element ");
            snprintf(text, sizeof text, "variable '%s', %.250s", v->name,
                     element ? element : value + 2);
        }
        memcpy(info.text, text, sizeof info.text);
        tutti__error_assign(&info);
        return;
    }
}
