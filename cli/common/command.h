/* Commands as tables: each command and each option is one row, from which the parser, the help, the
 * completion scripts and the OPTIONS part of the manual pages are generated.
 *
 * Grammar of all commands: options and operands in any order; --name value and --name=value, -v value and
 * -vvalue; -- ends the options; a single - is an operand.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_CLI_COMMAND_H
#define TUTTI_CLI_COMMAND_H

#include "common/cli.h"

/* The type of the field that an option sets, and its value if neither the option nor a default is
 * given. */
typedef enum cli_kind {
    CLI_FLAG,   /* int: 1 if given; 0 otherwise */
    CLI_TEXT,   /* const char *, not empty; NULL if not given */
    CLI_LIST,   /* cli_list, separated by commas; a repeated option appends; else empty */
    CLI_NUMBER, /* double; 0 if not given */
    CLI_COUNT,  /* int; -1 if not given */
    CLI_SIZE,   /* tutti_off, with suffix k, m, g or t; else 0 */
    CLI_CHOICE, /* int: index of the word in `argument` (a|b|c); else -1 */
    CLI_CUSTOM  /* set by the function `set` */
} cli_kind;

typedef struct cli_option {
    char letter;          /* 'v' for -v; 0: no letter */
    const char *name;     /* "variable" for --variable */
    const char *argument; /* name of the value in the help, or its choices a|b|c; NULL: a flag */
    const char *standard; /* text of the default value, NULL: none */
    const char *help;
    unsigned commands; /* bits of the commands that accept the option; 0: all */
    cli_kind kind;
    size_t at;          /* offset of the field in the config */
    double least, most; /* CLI_NUMBER, CLI_COUNT, CLI_SIZE; both 0: >= 0 */
    /* CLI_CUSTOM: returns 0, or 1 and a message with the allowed values */
    int (*set)(void *config, const char *value);
} cli_option;

typedef struct cli_command {
    const char *name;
    unsigned bits;        /* the rows of the option table that apply */
    const char *operands; /* operands in the help: "FILE [SECTION]", "DIR..." */
    const char *summary;  /* one line for the overview */
    const char *details;  /* further text for --help; NULL: none */
    int is_serial;        /* only rank 0 runs the command */
    /* Run the command; return an exit code.  `w` is NULL in groups without MPI.  Collective unless
     * is_serial is set. */
    int (*run)(const cli_world *w, const void *config);
} cli_command;

/* Commands with a common option table.  Their config starts with a cli_call. */
typedef struct cli_group {
    const char *program; /* name of the program; NULL: tutti */
    /* "array" in 'tutti array read'; NULL: the group has no name, as in 'tutti ls' */
    const char *name;
    const char *title; /* heading in the overview, or summary of the named group */
    const char *details;
    const char *page; /* name of the manual page */
    const cli_command *command;
    int commands;
    const cli_option *option;
    int options;
    size_t config_size;
    size_t library; /* offset in the config of a tutti_options, which --NAME VALUE sets; 0: none */
    int stops;      /* the first operand ends the options */
    enum { CLI_NO_MPI, CLI_MPI } mpi;
    int threads;      /* requested thread level of MPI; 0: MPI_THREAD_SINGLE */
    const char *help; /* text to print instead of the generated help; NULL: none */
    /* set defaults that the table cannot express; may be NULL */
    void (*start)(void *config, int argc, char **argv);
    /* remove bits from the call, depending on the operands; may be NULL */
    void (*narrow)(void *config);
    /* check that options do not contradict each other; returns 0, or 1 and a message; may be
     * NULL */
    int (*check)(void *config);
} cli_group;

/* The called command. */
typedef struct cli_call {
    const cli_group *group;
    const cli_command *command;
    unsigned bits; /* bits of the command; `narrow` may remove some */
    /* suffix of messages about options that `narrow` excluded: " of an Exodus file" */
    const char *of;
    char **operand; /* [operands] arguments other than options */
    int operands;
    unsigned char *given; /* [options of the group] how often each option was given */
} cli_call;

#define CLI_COUNT_OF(table) ((int)(sizeof(table) / sizeof *(table)))

/* ---- command_parse.c */
/* Format the full name of a command, such as "tutti array read".  Returns out. */
const char *cli_full_name(const cli_group *g, const cli_command *command, char *out, size_t size);
typedef enum cli_parsed { CLI_PARSED, CLI_HELP, CLI_VERSION, CLI_WRONG } cli_parsed;
/* Parse the words after the name of the command.  CLI_WRONG is returned with a message.  Not
 * collective. */
cli_parsed cli_parse(const cli_group *g, const cli_command *command, int argc, char **argv,
                     void *config);
void cli_config_free(void *config);
/* Return whether a command of the group accepts an option; command NULL: any command. */
int cli_option_applies(const cli_option *o, const cli_group *g, const cli_command *command);
/* Options that all commands accept. */
extern const cli_option cli_common_options[];
enum { CLI_COMMON_OPTIONS = 4 };
/* Set a common option.  Returns 0, or 1 and a message. */
int cli_common_set(const cli_option *o, const char *value);
/* Return the name with the smallest edit distance; NULL: all names are too different. */
const char *cli_nearest(const char *name, int n, const char *const *names);

/* ---- command_help.c */
/* Print the help of a command; command NULL: of the group. */
void cli_help_print(FILE *f, const cli_group *g, const cli_command *command);
void cli_help_overview(FILE *f, const cli_group *const *groups, int n);
void cli_help_json(FILE *f, const cli_group *const *groups, int n);

/* ---- command_run.c */
/* Run a command; argv[0] is its name, or that of its group.  Returns the exit code. */
int cli_group_run(const cli_group *g, int argc, char **argv);
/* Parse the arguments, initialize MPI, run, and print the message of a failure.  argv: the words after the
 * name of the command */
int cli_command_run(const cli_group *g, const cli_command *command, int argc, char **argv);
const cli_command *cli_command_find(const cli_group *g, const char *name); /* NULL: not found */

#endif
