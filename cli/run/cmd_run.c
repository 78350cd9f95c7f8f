/* tutti run: start an MPI program so that it does its MPI-IO by Tutti: find libtutti-mpiio.so, put options
 * into the environment, have the launcher preload the library for its ranks, and become the launcher.
 * Signals and exit codes are then the program's own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libtutti-mpiio.so"

typedef struct {
    const char *library; /* as the user names it */
    int compare, dry_run, quiet, help;
    long rounds;
    run_words set; /* variables, NAME=VALUE */
    run_words words;
} run_config;

/* ---- variables */

static void set_variable(run_config *c, const char *name, const char *value) {
    char *text = cli_format("%s=%s", name, value);
    setenv(name, value, 1);
    run_words_add(&c->set, text);
    free(text);
}

/* An option by any of its names: whatever it changes becomes a variable. */
static int set_option(run_config *c, const char *name, const char *value) {
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
        set_variable(c, variable, after);
    }
    return 0;
}

static int set_pair(run_config *c, const char *pair) {
    const char *equals = strchr(pair, '=');
    if (!equals) return cli_error("-o %s: it is not NAME=VALUE", pair);
    char *name = cli_strdup(pair);
    name[equals - pair] = '\0';
    const int failed = set_option(c, name, equals + 1);
    free(name);
    return failed;
}

/* ---- the library */

/* It lies beside this command, wherever that was moved. */
static int beside_command(char *out, size_t size) {
    char path[PATH_MAX];
    if (!realpath("/proc/self/exe", path))
        return cli_error("where this command lies is not known: say --library PATH");
    *strrchr(path, '/') = '\0';
    snprintf(out, size, "%s/" LIBRARY, path);
    return 0;
}

static int find_library(const run_config *c, char out[PATH_MAX]) {
    char asked[2 * PATH_MAX];
    const char *env = getenv("TUTTI_MPIIO_LIB");
    if (c->library)
        snprintf(asked, sizeof asked, "%s", c->library);
    else if (env && *env)
        snprintf(asked, sizeof asked, "%s", env);
    else if (beside_command(asked, sizeof asked))
        return 1;
    if (!realpath(asked, out))
        return cli_error("cannot find the library '%s' (%s); say --library PATH, or set "
                         "TUTTI_MPIIO_LIB",
                         asked, strerror(errno));
    if (strpbrk(out, ": ,"))
        return cli_error("'%s': no blanks, colons and commas can be in the path of a preloaded "
                         "library",
                         out);
    return 0;
}

/* ---- the command */

void run_command_free(run_command *c) {
    run_words_free(&c->words);
    free(c->variable);
    free(c->value);
    c->variable = c->value = NULL;
}

static void print_quoted(FILE *f, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=:,+@%^";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, f);
        return;
    }
    putc('\'', f);
    for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[2]){*word, '\0'}, f);
    putc('\'', f);
}

void run_command_print(FILE *f, const run_command *c, const run_words *set) {
    if (set->n > 0 || c->variable) fputs("env ", f);
    for (int i = 0; i < set->n; i++) {
        print_quoted(f, set->word[i]);
        putc(' ', f);
    }
    if (c->variable) {
        fprintf(f, "%s=", c->variable);
        print_quoted(f, c->value);
        putc(' ', f);
    }
    for (int i = 0; i < c->words.n; i++) {
        if (i > 0) putc(' ', f);
        print_quoted(f, c->words.word[i]);
    }
    putc('\n', f);
}

int run_command_become(const run_command *c) {
    if (c->variable) setenv(c->variable, c->value, 1);
    if (c->off) setenv("TUTTI_MPIIO", "off", 1);
    fflush(NULL);
    execvp(c->words.word[0], c->words.word);
    (void)cli_error_errno("cannot start", c->words.word[0]);
    return errno == ENOENT ? 127 : 126;
}

/* ---- arguments */

/* 1: it was an argument with a value, and *i is at the value. */
static int has_value(int argc, char **argv, int *i, const char *name, int *failed) {
    if (strcmp(argv[*i], name) != 0) return 0;
    if (++*i < argc && *argv[*i]) return 1;
    *failed = cli_error("%s needs a value; try 'tutti help run'", name);
    return 0;
}

static int parse_flag(run_config *c, const char *word) {
    if (strcmp(word, "--stats") == 0)
        set_variable(c, "TUTTI_STATS", "1");
    else if (strcmp(word, "--explain") == 0)
        return set_option(c, "explain", "1");
    else if (strcmp(word, "--compare") == 0)
        c->compare = 1;
    else if (strcmp(word, "--dry-run") == 0)
        c->dry_run = 1;
    else if (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0)
        c->quiet = 1;
    else if (strcmp(word, "--help") == 0)
        c->help = 1;
    else
        return cli_error("what is '%s'? try 'tutti help run'", word);
    return 0;
}

static int parse_one(run_config *c, int argc, char **argv, int *i) {
    int failed = 0;
    if (has_value(argc, argv, i, "--trace", &failed)) return set_option(c, "trace", argv[*i]);
    if (!failed && has_value(argc, argv, i, "-o", &failed)) return set_pair(c, argv[*i]);
    if (!failed && has_value(argc, argv, i, "--library", &failed)) {
        c->library = argv[*i];
        return 0;
    }
    if (!failed && has_value(argc, argv, i, "--rounds", &failed)) {
        if (cli_parse_count(argv[*i], 10000, &c->rounds) && c->rounds > 0) return 0;
        return cli_error("--rounds %s: a number from 1 to 10000 is needed", argv[*i]);
    }
    return failed ? failed : parse_flag(c, argv[*i]);
}

static int parse_arguments(run_config *c, int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (parse_one(c, argc, argv, &i)) return 1;
    }
    for (; i < argc; i++) run_words_add(&c->words, argv[i]);
    if (!c->help && c->words.n == 0) return cli_error("no program; try 'tutti help run'");
    return 0;
}

/* ---- all of it */

/* How many letters have to be changed, added or left out; 3: more than two. */
static int letters_apart(const char *a, const char *b) {
    int least = 3;
    if (strcmp(a, b) == 0) return 0;
    while (*a && *a == *b) a++, b++;
    const char *const rest[][2] = {{a + !!*a, b + !!*b}, {a + !!*a, b}, {a, b + !!*b}};
    for (int i = 0; i < 3; i++) {
        const char *x = rest[i][0], *y = rest[i][1];
        while (*x && *x == *y) x++, y++;
        const size_t m = strlen(x), n = strlen(y);
        const int more = m + n == 0 ? 1 : m <= 1 && n <= 1 ? 2 : 3;
        if (more < least) least = more;
    }
    if (*a && a[1] && a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0) least = 1;
    return least;
}

/* A variable that is nearly the name of an option would be ignored without a word. */
static void warn_of_slips(void) {
    for (char **e = environ; *e; e++) {
        char name[64], option[64];
        const char *meant = NULL;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        if (strncmp(name, "TUTTI_", 6) != 0) continue;
        const tutti_option_info *row;
        for (int i = 0; (row = tutti_options_row(i)) != NULL; i++) {
            cli_env_name(row->name, option, sizeof option);
            const int apart = letters_apart(name, option);
            if (apart == 0) break;
            if (apart < 3 && !meant) meant = row->name;
        }
        if (row || !meant) continue;
        cli_env_name(meant, option, sizeof option);
        fprintf(stderr, "tutti run: %s is no option and changes nothing; %s?\n", name, option);
    }
}

static int compare(const run_config *c, const run_command *with, const char *library) {
    run_command without = {{0}, NULL, NULL, 1};
    char times[] = "/tmp/tutti-times.XXXXXX";
    const int fd = mkstemp(times);
    if (fd >= 0) close(fd);
    setenv("TUTTI_MPIIO_TIMES", fd >= 0 ? times : "", 1);
    setenv("TUTTI_MPIIO", "off", 1); /* launchers name what is set */
    int code = run_preload(&c->words, library, &without) ? CLI_USAGE : CLI_OK;
    unsetenv("TUTTI_MPIIO");
    without.off = 1;
    if (code == CLI_OK) code = run_compare(with, &without, (int)c->rounds, times);
    if (fd >= 0) (void)unlink(times);
    run_command_free(&without);
    return code;
}

static int start(const run_config *c, const run_command *with, const char *library) {
    if (c->dry_run) run_command_print(stdout, with, &c->set);
    if (c->dry_run) return CLI_OK;
    if (c->compare) return compare(c, with, library);
    const int code = run_command_become(with);
    fprintf(stderr, "tutti run: %s\n", cli_message());
    return code;
}

static int run(run_config *c) {
    char library[PATH_MAX];
    run_command with = {{0}, NULL, NULL, 0};
    warn_of_slips();
    if (c->compare)
        set_variable(c, "TUTTI_MPIIO_TIMES", ""); /* its value comes later */
    else if (!c->quiet)
        set_variable(c, "TUTTI_MPIIO_REPORT", "1");
    if (find_library(c, library) || run_preload(&c->words, library, &with)) {
        fprintf(stderr, "tutti run: %s\n", cli_message());
        return CLI_USAGE;
    }
    const int code = start(c, &with, library);
    run_command_free(&with);
    return code;
}

int cmd_run(int argc, char **argv) {
    run_config c = {.rounds = 5};
    int code = CLI_OK;
    if (parse_arguments(&c, argc, argv)) {
        fprintf(stderr, "tutti run: %s\n", cli_message());
        code = CLI_USAGE;
    } else if (c.help) {
        fputs(cli_help_text("run"), stdout);
    } else {
        code = run(&c);
    }
    run_words_free(&c.set);
    run_words_free(&c.words);
    return code;
}
