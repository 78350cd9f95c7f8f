/* Colour of standard output.  By default only on a terminal, unless NO_COLOR (no-color.org) is set or TERM is
 * dumb.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NEVER, AUTO, ALWAYS };
static int when = AUTO;

void cli_color_set(int when_asked) {
    when = when_asked;
}

const char *cli_paint(cli_colour c) {
    static const char *const on[] = {"\033[0m",  "\033[32m", "\033[33m",
                                     "\033[31m", "\033[2m",  "\033[1m"};
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    /* Launchers may give ranks a terminal even if the launcher's own output is redirected. */
    const int is_launched = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") ||
                            getenv("PMI_RANK") || getenv("SLURM_PROCID");
    const int is_on = when == ALWAYS || (when == AUTO && !is_launched && isatty(STDOUT_FILENO) &&
                                         !(no && *no) && term && strcmp(term, "dumb") != 0);
    return is_on ? on[c] : "";
}
