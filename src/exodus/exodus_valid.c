/* exodus: relations between the fields of the object that hold at the start and at the end of every
 * call, for TUTTI_ASSERT.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "exodus/exodus_steps.h"

int tutti__exodus_is_valid(const tutti_exodus *x) {
    if (x->handle.class != &tutti__exodus_class || !x->team || !x->path || !x->first) return 0;
    if (!(x->mode & TUTTI_READ) || (x->mode & ~(TUTTI_READ | TUTTI_WRITE))) return 0;
    const int is_first = strcmp(x->path, x->first) == 0;
    if (x->file_number < 1 || is_first != (x->file_number == 1)) return 0;
    if (x->file_number > 1 && x->naming == TUTTI__SERIES_UNKNOWN) return 0;
    if (x->team->rank != 0 && (x->fd >= 0 || x->sidecar)) return 0; /* other ranks have neither */
    if (x->defining && (x->file || !(x->mode & TUTTI_WRITE))) return 0;
    if (x->file && (x->cdf.records < 0 || x->at != tutti__exodus_file_end(&x->cdf, x->cdf.records)))
        return 0;
    if (x->checked_n < 0 || (x->checked_n > 0 && !x->checked)) return 0;
    if (x->local_n < 0 || (x->local_n > 0 && !x->local)) return 0;
    if (x->commit && (!x->step || !x->commit_team)) return 0;
    if (!x->step) return 1;
    const struct tutti__exodus_step *s = x->step;
    const tutti_off at = x->cdf.record_begin + x->cdf.records * x->cdf.record_bytes;
    if (!x->file || x->defining || !(x->mode & TUTTI_WRITE) || !s->states) return 0;
    if (s->variables != x->cdf.vars_n || s->time_variable < 0 || s->time_variable >= s->variables)
        return 0;
    if ((s->region != NULL) != (x->opt.checksums && x->opt.sidecar)) return 0;
    return s->puts.step == s && s->base == tutti__exodus_step_base(x, at);
}
