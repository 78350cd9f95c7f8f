/* Options of commands that read or write Exodus files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

int exodus_is_name(const char *path) {
    static const char *const endings[] = {".e", ".exo", ".ex2", ".exoII", ".g", ".gen"};
    const char *dot = strrchr(cli_base_name(path), '.');
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (dot && strcmp(dot, endings[i]) == 0) return 1;
    return 0;
}

int exodus_steps_chosen(const data_config *c, tutti_count steps, tutti_count *first_out,
                        tutti_count *last_out) {
    *first_out = 1;
    *last_out = steps;
    if (!c->steps) return 0;
    if (strcmp(c->steps, "none") == 0) return *last_out = 0, 0;
    if (strcmp(c->steps, "last") == 0)
        *first_out = steps;
    else if (data_range_parse(c->steps, 1, steps, first_out, last_out))
        return cli_error("--steps '%s': must be A:B, a number, last or none", c->steps);
    if (*first_out < 1 || *last_out > steps || *first_out > *last_out)
        return cli_error(
            "--steps '%s': must be a range in ascending order of the %lld steps, which "
            "count from 1",
            c->steps, (long long)steps);
    return 0;
}

void exodus_options_of(const data_config *c, tutti_exodus_options *out) {
    tutti_exodus_options_init(out);
    if (c->real > 0) out->real_bytes = c->real;
    if (c->integers > 0) out->integer_bytes = c->integers;
    if (c->steps_per_file > 0) out->steps_per_file = c->steps_per_file;
    out->nemesis = c->nemesis;
    out->overwrite = c->force;
    out->any_times = 1; /* times of the input may be in any order */
}
