/* All commands of `tutti`.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_COMMANDS_H
#define TUTTI_CLI_COMMANDS_H

#include "common/command.h"

/* Options of the commands help, options, completion and version. */
typedef struct info_config {
    cli_call call;
    int json;
} info_config;

/* Run a command; argv[0] is its name.  Returns the exit status. */
int cli_dispatch(int argc, char **argv);

int run_options(const cli_world *w, const void *config); /* cmd_options.c */
/* ---- completion scripts of bash, zsh and fish (cmd_completion.c) */
int completion_has(const char *shell);
void completion_print(const char *shell, const cli_group *const *groups, int n);

#endif
