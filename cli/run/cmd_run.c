/* tutti run: start an MPI program with its MPI-IO replaced by Tutti.  Finds libtutti-mpiio.so, sets options
 * in the environment, makes the launcher preload the library in its ranks, and replaces this process by the
 * launcher, so that signals and exit codes are those of the program.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "run/run.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libtutti-mpiio.so"

typedef struct {
    cli_call call;       /* operands: the command */
    const char *library; /* path given by the user; NULL: search */
    const char *trace;
    int stats, explain, compare, dry_run, quiet, rounds;
} run_config;

static run_words variables; /* NAME=VALUE, already set in the environment */

/* ---- variables */

static void set_variable(const char *name, const char *value) {
    char *text = cli_format("%s=%s", name, value);
    setenv(name, value, 1);
    run_words_add(&variables, text);
    free(text);
}

/* Set an option given by any of its names; values that change become environment variables. */
static int set_option(const char *name, const char *value) {
    tutti_options was, now;
    const tutti_option_info *row;
    if (tutti_options_init(&was) != TUTTI_OK) return cli_error_tutti();
    now = was;
    if (tutti_options_set(&now, name, value) != TUTTI_OK) return cli_error_tutti();
    for (int i = 0; (row = tutti_options_row(i)) != NULL; i++) {
        char before[256], after[256], variable[64];
        if (tutti_options_get(&was, row->name, before, sizeof before) != TUTTI_OK ||
            tutti_options_get(&now, row->name, after, sizeof after) != TUTTI_OK)
            return cli_error_tutti();
        if (strcmp(before, after) == 0) continue;
        cli_env_name(row->name, variable, sizeof variable);
        set_variable(variable, after);
    }
    return 0;
}

static int set_pair(void *config, const char *pair) {
    const char *equals = strchr(pair, '=');
    (void)config;
    if (!equals) return cli_error("must be NAME=VALUE");
    char *name = cli_format("%.*s", (int)(equals - pair), pair);
    const int failed = set_option(name, equals + 1);
    free(name);
    return failed;
}

/* ---- the library */

/* Find the library.  The default is in the installation of this command, relative to the command. */
static int find_library(const run_config *c, char out[PATH_MAX]) {
    char path[PATH_MAX], asked[2 * PATH_MAX];
    const char *env = getenv("TUTTI_MPIIO_LIB");
    if (c->library || (env && *env)) {
        snprintf(asked, sizeof asked, "%s", c->library ? c->library : env);
    } else {
        if (!realpath("/proc/self/exe", path))
            return cli_error("cannot find the directory of this command (%s); use --library PATH",
                             strerror(errno));
        *strrchr(path, '/') = '\0';
        snprintf(asked, sizeof asked, "%s/" LIBRARY, path);
    }
    if (!realpath(asked, out))
        return cli_error("cannot find the library '%s' (%s); use --library PATH or set "
                         "TUTTI_MPIIO_LIB",
                         asked, strerror(errno));
    if (strpbrk(out, ": ,"))
        return cli_error("path of library '%s' must not contain spaces, colons or commas", out);
    return 0;
}

/* ---- run */

static int compare_runs(const run_config *c, const run_words *words, const run_command *with,
                        const char *library) {
    run_command without = {{0}, NULL, NULL, 1};
    char times[] = "/tmp/tutti-times.XXXXXX";
    const int fd = mkstemp(times);
    if (fd >= 0) close(fd);
    setenv("TUTTI_MPIIO_TIMES", fd >= 0 ? times : "", 1);
    setenv("TUTTI_MPIIO", "off", 1); /* launchers export variables that are set */
    int code = run_preload(words, library, &without) ? CLI_FAILED : CLI_OK;
    unsetenv("TUTTI_MPIIO");
    without.off = 1;
    if (code == CLI_OK) code = run_compare(with, &without, c->rounds, times);
    if (fd >= 0) (void)unlink(times);
    run_command_free(&without);
    return code;
}

static int run_preloaded(const cli_world *w, const void *config) {
    const run_config *c = config;
    const run_words words = {c->call.operands, c->call.operand};
    run_command with = {{0}, NULL, NULL, 0};
    char library[PATH_MAX];
    (void)w;
    /* Refuse variables whose names resemble an option: the library would ignore them. */
    const char *names[256];
    const tutti_option_info *row;
    int n = 0;
    for (; n < 256 && (row = tutti_options_row(n)) != NULL; n++) names[n] = row->name;
    for (char **e = environ; *e; e++) {
        char name[64], variable[64];
        if (strncmp(*e, "TUTTI_", 6) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e + 6, "="), *e + 6);
        for (char *s = name; *s; s++) *s = (char)tolower((unsigned char)*s);
        const char *meant = cli_nearest(name, n, names);
        if (!meant || strcmp(meant, name) == 0) continue;
        cli_env_name(meant, variable, sizeof variable);
        fprintf(stderr, "tutti run: unknown variable '%.*s' is ignored; did you mean '%s'?\n",
                (int)strcspn(*e, "="), *e, variable);
    }
    if (c->stats) set_variable("TUTTI_STATS", "1");
    if ((c->explain && set_option("explain", "1")) || (c->trace && set_option("trace", c->trace)))
        return CLI_FAILED;
    if (c->compare)
        set_variable("TUTTI_MPIIO_TIMES", ""); /* run_compare sets the value */
    else if (!c->quiet)
        set_variable("TUTTI_MPIIO_REPORT", "1");
    if (find_library(c, library) || run_preload(&words, library, &with)) return CLI_FAILED;
    int code = CLI_OK;
    if (c->dry_run) {
        run_command_print(stdout, &with, &variables);
    } else if (c->compare) {
        code = compare_runs(c, &words, &with, library);
    } else {
        code = run_command_become(&with);
        fprintf(stderr, "tutti run: %s\n", cli_message());
    }
    run_command_free(&with);
    return code;
}

#define AT(field) .at = offsetof(run_config, field)
static const cli_option option_table[] = {
    {0, "stats", NULL, NULL,
     "print a table on standard error for each file when it is closed (sets TUTTI_STATS)", 0,
     CLI_FLAG, AT(stats)},
    {0, "explain", NULL, NULL,
     "print on standard error the method chosen for each collective call and why (sets "
     "TUTTI_EXPLAIN)",
     0, CLI_FLAG, AT(explain)},
    {0, "trace", "FILE", NULL, "write a Chrome/Perfetto trace of all operations (sets TUTTI_TRACE)",
     0, CLI_TEXT, AT(trace)},
    {'o', "option", "NAME=VALUE", NULL, "set an option of the library; see 'tutti options'", 0,
     CLI_CUSTOM, .set = set_pair},
    {0, "compare", NULL, NULL,
     "run the program with and without the library, interleaved, and print seconds in MPI_File_ "
     "calls and in total, and their ratios",
     0, CLI_FLAG, AT(compare)},
    {0, "rounds", "N", "6",
     "rounds of --compare, each with a run with and a run without the library", 0, CLI_COUNT,
     AT(rounds), 1, 10000},
    {0, "library", "PATH", NULL,
     "library to preload (default: TUTTI_MPIIO_LIB, or the library installed with this command)", 0,
     CLI_TEXT, AT(library)},
    {'q', "quiet", NULL, NULL,
     "do not report at the end the number of files for which the library was active", 0, CLI_FLAG,
     AT(quiet)},
    {0, "dry-run", NULL, NULL, "print the command without starting it", 0, CLI_FLAG, AT(dry_run)},
};

static const cli_command command_table[] = {
    {"run", 1, "COMMAND [ARGUMENT]...",
     "Run an unchanged MPI program whose MPI-IO is performed by Tutti.",
     "COMMAND starts the program without 'tutti run', for example mpirun -n 4 PROGRAM.  It is run "
     "with libtutti-mpiio.so preloaded for the ranks, so that MPI_File_ calls use Tutti.  "
     "Launchers "
     "are mpirun and mpiexec of the MPI of this build and srun; timeout, nice, env, time, nohup, "
     "stdbuf, taskset, numactl, ionice, chrt and setsid may precede them.  Any other command is "
     "started as a program.  The exit status is that of the launcher; 126 or 127 if it cannot be "
     "started.",
     0, run_preloaded},
};

const cli_group run_group = {
    .title = "MPI programs",
    .page = "tutti-run(1)",
    .command = command_table,
    .commands = CLI_COUNT_OF(command_table),
    .option = option_table,
    .options = CLI_COUNT_OF(option_table),
    .config_size = sizeof(run_config),
    .stops = 1,
};
