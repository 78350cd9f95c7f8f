/* Options of commands that read or write Exodus files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

/* ---- steps: "A:B", "A:", ":B", "A", "last" */

static int steps_take(const char *text, tutti_count steps, tutti_count *first, tutti_count *last) {
    char *end = NULL;
    if (strcmp(text, "last") == 0) return *first = *last = steps, 0;
    if (strcmp(text, "none") == 0) return *first = 1, *last = 0, 0;
    *first = strtoll(text, &end, 10);
    if (end == text) *first = 1;
    *last = *end == ':' ? steps : *first;
    if (*end == ':' && end[1]) {
        const char *behind = end + 1;
        *last = strtoll(behind, &end, 10);
        if (end == behind) return 1;
    } else if (*end == ':') {
        end++;
    }
    return *end || !*text;
}

int exodus_steps_chosen(const data_config *c, tutti_count steps, tutti_count *first_out,
                        tutti_count *last_out) {
    *first_out = 1;
    *last_out = steps;
    if (!c->steps) return 0;
    if (steps_take(c->steps, steps, first_out, last_out))
        return cli_error("--steps '%s': must be A:B, a number, last or none", c->steps);
    if (*last_out < *first_out && strcmp(c->steps, "none") == 0) return 0;
    if (*first_out < 1 || *last_out > steps || *first_out > *last_out)
        return cli_error("--steps '%s': file has steps 1 to %lld", c->steps, (long long)steps);
    return 0;
}

void exodus_options_of(const data_config *c, tutti_exodus_options *out) {
    tutti_exodus_options_init(out);
    if (c->real > 0) out->real_bytes = c->real;
    if (c->integers > 0) out->integer_bytes = c->integers;
    if (c->steps_per_file > 0) out->steps_per_file = c->steps_per_file;
    out->nemesis = c->nemesis;
    out->overwrite = c->force;
    out->any_times = 1; /* unchanged from the input */
}
