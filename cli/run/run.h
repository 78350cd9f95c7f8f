/* tutti run: common declarations of its parts.
 *
 *   cmd_run.c        arguments; replaces this process by the program
 *   run_launcher.c   detection of the launcher, and its options for preloading
 *   run_compare.c    runs with and without the library, interleaved
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_RUN_H
#define TUTTI_CLI_RUN_H

#include "common/command.h"

/* The words of a command, which own their memory. */
typedef struct run_words {
    int n;
    char **word; /* [n + 1]; ends with NULL */
} run_words;

void run_words_add(run_words *w, const char *word);
void run_words_free(run_words *w);

/* A command, and one additional environment variable. */
typedef struct run_command {
    run_words words;
    char *variable, *value; /* name and value of the variable; NULL: none */
    int off;                /* also set TUTTI_MPIIO=off */
} run_command;

void run_command_free(run_command *c);
/* Print the equivalent command; set: variables (NAME=VALUE) that are already set in the environment. */
void run_command_print(FILE *f, const run_command *c, const run_words *set);
/* Replace this process by the command.  Returns only on failure: the exit code, with a message. */
int run_command_become(const run_command *c);

/* Create the command that starts `words` so that its ranks, but not the launcher, load `library`.
 * Returns 0, or 1 and a message for an unknown launcher or one of another MPI. */
int run_preload(const run_words *words, const char *library, run_command *out);

/* Run both commands interleaved, `rounds` times each, and print their total times and their times in
 * MPI_File_ calls, which the ranks write to the file `times`.  The output of the first run is shown.
 * @return 0, or the exit code of the first run that fails */
int run_compare(const run_command *with, const run_command *without, int rounds, const char *times);

extern const cli_group run_group;

#endif
