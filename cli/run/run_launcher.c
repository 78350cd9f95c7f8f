/* tutti run: launchers.  The library must be preloaded for the ranks, but not for the launcher, so
 * that each launcher needs its own options:
 *
 *   Open MPI       mpirun -x LD_PRELOAD=... -x TUTTI_... ARGUMENTS    also after every ':'
 *   MPICH (hydra)  mpiexec -genv LD_PRELOAD ... -genv TUTTI_... ... ARGUMENTS
 *   Slurm          srun --export=ALL,LD_PRELOAD=... ARGUMENTS
 *   mpirun.sh      the script of the source tree: MPIRUN_PRELOAD in its environment
 *
 * If the user has set LD_PRELOAD, its value is kept after the library, whose functions have
 * precedence.  Any other command is a program, started with LD_PRELOAD in its environment.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum { PROGRAM, OPEN_MPI_LAUNCHER, HYDRA, SLURM, SCRIPT } launcher;

static const char preload_name[] = "LD_PRELOAD";

/* ---- detection of the launcher */

static int starts_with(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Read the output of `program --version`, truncated to `size`. */
static void ask_version(const char *program, char *out, size_t size) {
    int ends[2];
    size_t n = 0;
    *out = '\0';
    if (pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp(program, program, "--version", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (n + 1 < size) {
        const ssize_t got = read(ends[0], out + n, size - 1 - n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        n += (size_t)got;
    }
    out[n] = '\0';
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int says_any(const char *text, const char *const *names) {
    for (; *names; names++)
        if (strstr(text, *names)) return 1;
    return 0;
}

#ifdef OPEN_MPI
static const launcher ours = OPEN_MPI_LAUNCHER;
#else
static const launcher ours = HYDRA;
#endif

static int find_launcher(const run_words *w, launcher *out) {
    const char *name = cli_base_name(w->word[0]);
    launcher mpi = ours;
    *out = PROGRAM;
    if (strcmp(cli_base_name(w->word[0]), "mpirun.sh") == 0 && w->n > 1 &&
        (strcmp(w->word[1], "openmpi") == 0 || strcmp(w->word[1], "mpich") == 0)) {
        *out = SCRIPT;
        mpi = strcmp(w->word[1], "openmpi") == 0 ? OPEN_MPI_LAUNCHER : HYDRA;
    } else if (strcmp(name, "srun") == 0) {
        *out = SLURM;
    } else if (starts_with(name, "mpirun") || starts_with(name, "mpiexec") ||
               strcmp(name, "orterun") == 0 || strcmp(name, "prterun") == 0) {
        static const char *const open_mpi[] = {"Open MPI", "OpenRTE", "PRRTE", "prterun", NULL};
        static const char *const mpich[] = {"HYDRA", "MPICH", "Intel(R) MPI", NULL};
        char text[4096];
        ask_version(w->word[0], text, sizeof text);
        if (says_any(text, open_mpi))
            *out = OPEN_MPI_LAUNCHER;
        else if (says_any(text, mpich))
            *out = HYDRA;
        else
            return cli_error("'%s --version' names neither Open MPI nor MPICH", w->word[0]);
        mpi = *out;
    }
    const char *program = w->word[0];
    static const char *const names[] = {"", "Open MPI", "MPICH"};
    if (mpi == ours) return 0;
    return cli_error("'%s' starts programs of %s, but this tutti was built for %s: use a tutti "
                     "that was built for %s",
                     program, names[mpi], names[ours], names[mpi]);
}

/* ---- words */

void run_words_add(run_words *w, const char *word) {
    w->word = cli_realloc(w->word, ((size_t)w->n + 2) * sizeof *w->word);
    w->word[w->n++] = cli_strdup(word);
    w->word[w->n] = NULL;
}

/* Append a text and free it. */
static void add_own(run_words *w, char *text) {
    run_words_add(w, text);
    free(text);
}

void run_words_free(run_words *w) {
    for (int i = 0; i < w->n; i++) free(w->word[i]);
    free(w->word);
    *w = (run_words){0};
}

/* Return whether a word names the variable, with or without a value. */
static int names_variable(const run_words *w, const char *name, size_t length) {
    for (int i = 0; i < w->n; i++)
        if (strncmp(w->word[i], name, length) == 0 &&
            (w->word[i][length] == '\0' || w->word[i][length] == '='))
            return 1;
    return 0;
}

/* ---- values */

/* Prepend the library to a previous value of LD_PRELOAD.  The result must be freed. */
static char *prepend_library(const char *library, const char *there) {
    return there && *there ? cli_format("%s:%s", library, there) : cli_strdup(library);
}

static char *before_environment(const char *library) {
    return prepend_library(library, getenv(preload_name));
}

/* ---- Open MPI: -x NAME=VALUE, or -x NAME for a variable of the environment */

static void openmpi_words(const run_words *words, const char *library, run_words *out) {
    char *preload = before_environment(library);
    for (int i = 0; i + 1 < words->n; i++)
        if (strcmp(words->word[i], "-x") == 0 && starts_with(words->word[i + 1], "LD_PRELOAD=")) {
            free(preload);
            preload = prepend_library(library, strchr(words->word[i + 1], '=') + 1);
        }
    for (int i = 0; i < words->n; i++) {
        const char *word = words->word[i];
        if (i + 1 < words->n && strcmp(word, "-x") == 0 &&
            names_variable(&(run_words){1, &words->word[i + 1]}, preload_name,
                           strlen(preload_name))) {
            i++; /* `preload` includes the user's value */
            continue;
        }
        run_words_add(out, word);
        if (i == 0 || strcmp(word, ":") == 0) {
            run_words_add(out, "-x");
            add_own(out, cli_format("%s=%s", preload_name, preload));
            for (char **e = environ; *e; e++) {
                const size_t length = strcspn(*e, "=");
                if (!starts_with(*e, "TUTTI_") || names_variable(words, *e, length)) continue;
                run_words_add(out, "-x");
                add_own(out, cli_format("%.*s", (int)length, *e));
            }
        }
    }
    free(preload);
}

/* ---- hydra: -genv NAME VALUE */

/* ---- srun: --export=LIST; a list without ALL names every variable */

/* Return the variables exported by the user and those of the library.  The result must be freed. */
static char *slurm_list(const run_words *words) {
    char *list = cli_strdup("ALL");
    for (int i = 1; i < words->n; i++) {
        if (!starts_with(words->word[i], "--export=")) continue;
        free(list);
        list = cli_strdup(words->word[i] + strlen("--export="));
    }
    for (char **e = environ; *e && strcmp(list, "ALL") != 0 && !starts_with(list, "ALL,"); e++) {
        if (!starts_with(*e, "TUTTI_")) continue;
        char *longer = cli_format("%s,%.*s", list, (int)strcspn(*e, "="), *e);
        free(list);
        list = longer;
    }
    return list;
}

/* ---- all launchers */

/* Return the index of the launcher among the words.  Programs before it, which start the launcher
 * (timeout 60 mpirun ...), must not load the library. */
static int launcher_at(const run_words *words) {
    static const char *const wrappers[] = {"timeout", "nice",   "env",     "time",
                                           "nohup",   "stdbuf", "taskset", "numactl",
                                           "ionice",  "chrt",   "setsid",  NULL};
    int i = 0;
    while (i < words->n && strcmp(cli_base_name(words->word[0]), "mpirun.sh") != 0) {
        const char *name = cli_base_name(words->word[i]);
        if (starts_with(name, "mpirun") || starts_with(name, "mpiexec") ||
            strcmp(name, "srun") == 0)
            return i;
        if (i == 0) {
            int known = 0;
            for (int k = 0; wrappers[k]; k++) known |= strcmp(name, wrappers[k]) == 0;
            if (!known) return 0;
        }
        i++;
    }
    return 0;
}

int run_preload(const run_words *all, const char *library, run_command *out) {
    launcher kind = PROGRAM;
    const int at = launcher_at(all);
    const run_words rest = {all->n - at, all->word + at}, *words = &rest;
    const char *name = cli_base_name(words->word[0]);
    if (((strcmp(name, "aprun") == 0 || strcmp(name, "jsrun") == 0) &&
         cli_error("launcher '%s' is not supported: run it directly with %s "
                   "LD_PRELOAD=LIBRARY (--dry-run of a program prints the path)",
                   name, strcmp(name, "aprun") == 0 ? "-e" : "-E")) ||
        find_launcher(words, &kind))
        return 1;
    *out = (run_command){{0}, NULL, NULL, 0};
    for (int i = 0; i < at; i++) run_words_add(&out->words, all->word[i]);
    if (kind == OPEN_MPI_LAUNCHER) openmpi_words(words, library, &out->words);
    if (kind == HYDRA) {
        for (int i = 0; i < words->n; i++) {
            run_words_add(&out->words, words->word[i]);
            if (i == 0) {
                run_words_add(&out->words, "-genv");
                run_words_add(&out->words, preload_name);
                add_own(&out->words, before_environment(library));
                for (char **e = environ; *e; e++) {
                    const size_t length = strcspn(*e, "=");
                    if (!starts_with(*e, "TUTTI_") || names_variable(words, *e, length) ||
                        !(*e)[length])
                        continue;
                    run_words_add(&out->words, "-genv");
                    add_own(&out->words, cli_format("%.*s", (int)length, *e));
                    run_words_add(&out->words, *e + length + 1);
                }
            }
            const char *word = words->word[i];
            if (!(i + 2 < words->n && (strcmp(word, "-genv") == 0 || strcmp(word, "-env") == 0) &&
                  strcmp(words->word[i + 1], preload_name) == 0))
                continue;
            run_words_add(&out->words, preload_name);
            add_own(&out->words, prepend_library(library, words->word[i + 2]));
            i += 2;
        }
    }
    if (kind == SLURM) {
        char *preload = before_environment(library), *list = slurm_list(words);
        run_words_add(&out->words, words->word[0]);
        add_own(&out->words, cli_format("--export=%s,%s=%s", list, preload_name, preload));
        for (int i = 1; i < words->n; i++)
            if (!starts_with(words->word[i], "--export="))
                run_words_add(&out->words, words->word[i]);
        free(list);
        free(preload);
    }
    if (kind != PROGRAM && kind != SCRIPT) return 0;
    for (int i = 0; i < words->n; i++) run_words_add(&out->words, words->word[i]);
    out->variable = cli_strdup(kind == SCRIPT ? "MPIRUN_PRELOAD" : preload_name);
    out->value = kind == SCRIPT ? cli_strdup(library) : before_environment(library);
    return 0;
}

/* ---- the command */

void run_command_free(run_command *c) {
    run_words_free(&c->words);
    free(c->variable);
    free(c->value);
    c->variable = c->value = NULL;
}

static void print_shell_word(FILE *f, const char *word) {
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
        print_shell_word(f, set->word[i]);
        putc(' ', f);
    }
    if (c->variable) {
        fprintf(f, "%s=", c->variable);
        print_shell_word(f, c->value);
        putc(' ', f);
    }
    for (int i = 0; i < c->words.n; i++) {
        if (i > 0) putc(' ', f);
        print_shell_word(f, c->words.word[i]);
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
