/* Arguments of commands that are fields of a struct.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_FLAGS_H
#define TUTTI_CLI_FLAGS_H

#include "common/cli.h"

/* What is stored: int 1; the text itself; a cli_list; one that goes on where it is given again; a double >= 0; an
 * int. */
typedef enum cli_flag_kind {
    CLI_YES,
    CLI_TEXT,
    CLI_LIST,
    CLI_MORE,
    CLI_NUMBER,
    CLI_COUNT
} cli_flag_kind;

/* Take the value of argument `name` (none for CLI_YES) into the field at `at`.  1 and a message if it is wrong. */
int cli_flag_take(cli_flag_kind kind, const char *name, const char *text, void *at);
/* A number >= 0.  1 and a message if it is none. */
int cli_number_take(const char *name, const char *text, double *out);

#endif
