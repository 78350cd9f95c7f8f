/* Colour: on a terminal, unless NO_COLOR (no-color.org) is set or TERM says that there is none; never in pipes and files,
 * unless somebody asks for it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NEVER, AUTO, ALWAYS };
static int when = AUTO;

static int set_when(const char *word) {
    static const char *const words[] = {"never", "auto", "always"};
    for (int i = 0; word && i < 3; i++)
        if (strcmp(word, words[i]) == 0) return when = i, 0;
    return cli_error("--color '%s': never, auto or always is needed", word ? word : "");
}

int cli_colour_take(int *argc, char **argv) {
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--color") == 0) {
            if (set_when(i + 1 < *argc ? argv[i + 1] : NULL)) return 1;
            i++;
        } else if (strncmp(arg, "--color=", 8) == 0) {
            if (set_when(arg + 8)) return 1;
        } else {
            argv[kept++] = argv[i];
            if (strcmp(arg, "run") != 0 && strcmp(arg, "--") != 0) continue;
            while (++i < *argc) argv[kept++] = argv[i];
        }
    }
    argv[ *argc = kept] = NULL;
    return 0;
}

/* Launchers give ranks a terminal of their own, whatever theirs is. */
static int is_launched(void) {
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK") ||
           getenv("SLURM_PROCID");
}

static int is_on(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != AUTO) return when == ALWAYS;
    if (is_launched()) return 0;
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

const char *cli_paint(cli_colour c) {
    static const char *const on[] = {"\033[0m",  "\033[32m", "\033[33m",
                                     "\033[31m", "\033[2m",  "\033[1m"};
    return is_on() ? on[c] : "";
}
