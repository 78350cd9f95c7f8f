/* tutti run: common declarations of its parts.
 *
 *   cmd_run.c        arguments; becomes the program
 *   run_launcher.c   detection of the launcher, and its options for preloading
 *   run_compare.c    with and without the library, interleaved
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_RUN_H
#define TUTTI_CLI_RUN_H

#include "common/command.h"

/* Words of a command; all are copies. */
typedef struct run_words {
    int n;
    char **word; /* [n + 1], the last one is NULL */
} run_words;

void run_words_add(run_words *w, const char *word);
void run_words_free(run_words *w);

/* A command, and one variable that it has in its environment besides. */
typedef struct run_command {
    run_words words;
    char *variable, *value; /* NULL: none */
    int off;                /* TUTTI_MPIIO=off as well */
} run_command;

void run_command_free(run_command *c);
/* Print the equivalent command; `set` are variables (NAME=VALUE) that were set before. */
void run_command_print(FILE *f, const run_command *c, const run_words *set);
/* Become the command.  Returns only if that is impossible: the exit code, and a message. */
int run_command_become(const run_command *c);

/* The command that starts `words` so that its ranks, and not the launcher, load `library`.
 * 0, or 1 and a message: a launcher of another MPI, or an unknown one. */
int run_preload(const run_words *words, const char *library, run_command *out);

/* Run both interleaved, `rounds` times each, and print their times, in total and in MPI_File_ calls, of which
 * the ranks write into `times`, a file.  The output of the first run is shown.
 * @return exit code: 0, or that of the first run that fails */
int run_compare(const run_command *with, const run_command *without, int rounds, const char *times);

extern const cli_group run_group;

#endif
