/* Outputs of commands: an output is never identical with, or inside, an input, and gets its name only when it
 * is complete.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- inputs */

static struct {
    char **path;
    int n;
} inputs;

void cli_input_add(const char *path) {
    inputs.path = cli_realloc(inputs.path, ((size_t)inputs.n + 1) * sizeof *inputs.path);
    inputs.path[inputs.n++] = cli_strdup(path);
}

void cli_inputs_forget(void) {
    for (int i = 0; i < inputs.n; i++) free(inputs.path[i]);
    free(inputs.path);
    inputs.path = NULL;
    inputs.n = 0;
}

/* Return whether `dir` is the directory `above`, or below it. */
static int lies_inside(const char *dir, const struct stat *above) {
    char *at = cli_strdup(dir);
    struct stat st, before = {.st_ino = 0};
    int found = 0;
    for (int i = 0; i < PATH_MAX / 2 && !found && stat(at, &st) == 0; i++) {
        if (i > 0 && is_same(&st, &before)) break; /* reached the root directory */
        found = is_same(&st, above);
        before = st;
        char *next = cli_format("%s/..", at);
        free(at);
        at = next;
    }
    free(at);
    return found;
}

static const struct stat *searched; /* argument of is_searched_file: nftw passes no user data */

static int is_searched_file(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)path;
    (void)at;
    return type == FTW_F && is_same(st, searched);
}

/* Return whether a directory contains another name (hard link) of a file. */
static int contains_file(const char *dir, const struct stat *file) {
    if (file->st_nlink < 2 || !S_ISREG(file->st_mode)) return 0;
    searched = file;
    char *start = cli_format("%s/.", dir); /* "/." makes nftw follow a symbolic link */
    const int found = nftw(start, is_searched_file, 16, FTW_PHYS) == 1;
    free(start);
    return found;
}

/* Return whether `path` is a sidecar (FILE.tutti) or a file of the series (FILE-s0002 ...) of `input`. */
static int belongs_to_file(const char *path, const char *input) {
    const char *base = cli_base_name(input), *name = cli_base_name(path);
    const size_t n = strlen(base);
    if (strncmp(name, base, n) != 0 || !cli_is_companion(name + n)) return 0;
    char *a = cli_directory_of(path), *b = cli_directory_of(input);
    struct stat in[2];
    const int same = stat(a, &in[0]) == 0 && stat(b, &in[1]) == 0 && is_same(&in[0], &in[1]);
    free(a);
    free(b);
    return same;
}

int cli_output_refuse(const char *path) {
    struct stat out, in;
    const int exists = stat(path, &out) == 0;
    char *dir = exists && S_ISDIR(out.st_mode) ? cli_strdup(path) : cli_directory_of(path);
    int refused = 0;
    for (int i = 0; i < inputs.n && !refused && strcmp(path, "-") != 0; i++) {
        const char *input = inputs.path[i];
        if (stat(input, &in) != 0) continue;
        if (exists && is_same(&out, &in))
            refused = cli_error("output '%s' is the input '%s'", path, input);
        else if (S_ISDIR(in.st_mode)
                     ? lies_inside(dir, &in) || (exists && contains_file(input, &out))
                     : belongs_to_file(path, input))
            refused = cli_error("output '%s' is part of the input '%s'", path, input);
    }
    free(dir);
    return refused;
}

char *cli_file_name(const char *text) {
    char *out = cli_malloc(3 * strlen(text) + 4), *at = out;
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        const int hidden = *s == '.' && at == out;
        if (*s == '/' || *s == '%' || *s < 0x20 || *s == 0x7f || hidden)
            at += snprintf(at, 4, "%%%02X", *s);
        else
            *at++ = (char)*s;
    }
    *at = '\0';
    if (at == out) memcpy(out, "_", 2);
    return out;
}

/* ---- temporary files: removed if a signal ends the command */

enum { TEMPORARY_FILES = 8 };

static struct {
    char path[PATH_MAX]; /* "": unused */
    char *target;        /* realpath of the output; NULL: none */
    FILE *file;
} temporary[TEMPORARY_FILES];

void cli_temporary_remove_all(void) {
    for (int i = 0; i < TEMPORARY_FILES; i++)
        if (temporary[i].path[0]) unlink(temporary[i].path);
}

static int find_temporary(const FILE *f) {
    for (int i = 0; i < TEMPORARY_FILES; i++)
        if (temporary[i].file == f && (!f || temporary[i].path[0])) return i;
    return -1;
}

/* Open a temporary file in the directory of the output.  Returns NULL if the output must be written
 * in place. */
static FILE *open_temporary(const char *path) {
    struct stat st;
    const int exists = stat(path, &st) == 0, i = find_temporary(NULL);
    if (i < 0 || (exists && !S_ISREG(st.st_mode))) return NULL; /* a device or a pipe */
    char *target = exists ? realpath(path, NULL) : cli_strdup(path);
    if (!target || (exists && access(target, W_OK) != 0)) return free(target), NULL;
    char *name = cli_format("%s.%ld.tmp", target, (long)getpid());
    cli_guard_add(name);
    const int fd = strlen(name) < sizeof temporary[i].path
                       ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                       : -1;
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f) {
        if (exists) (void)fchmod(fd, st.st_mode & 0777);
        memcpy(temporary[i].path, name, strlen(name) + 1);
        temporary[i].target = target;
        temporary[i].file = f;
    } else {
        if (fd >= 0) close(fd);
        cli_guard_drop(name);
        free(target);
    }
    free(name);
    return f;
}

FILE *cli_output_open(const char *path) {
    if (strcmp(path, "-") == 0) return stdout;
    if (cli_output_refuse(path)) return NULL;
    FILE *f = open_temporary(path);
    if (!f) f = fopen(path, "w");
    if (!f) cli_error_errno("cannot write", path);
    return f;
}

void cli_output_print(const char *path, int json, int before) {
    if (!json) {
        printf("%s\n", path);
        return;
    }
    if (before) printf(", ");
    cli_json_string(stdout, path);
}

int cli_output_check(const char *path) {
    struct stat st;
    if (!path || strcmp(path, "-") == 0) return 0;
    if (cli_output_refuse(path)) return 1;
    const int existed = lstat(path, &st) == 0;
    FILE *f = fopen(path, "a");
    if (!f) return cli_error_errno("cannot write", path);
    fclose(f);
    if (!existed) (void)unlink(path);
    return 0;
}

/* Flush the file.  Return 0, or errno of the first write that failed; if errno was lost, writing one more
 * byte sets it again. */
static int flush_output(FILE *f) {
    errno = 0;
    if (!ferror(f) && fflush(f) == 0) return 0;
    if (errno) return errno;
    clearerr(f);
    (void)putc('\n', f);
    return fflush(f) != 0 && errno ? errno : EIO;
}

static int output_was_refused; /* 1: a failure of standard output has been reported */

int cli_output_close(FILE *f, const char *path, int failed) {
    const int i = find_temporary(f), is_stdout = f == stdout, err = flush_output(f);
    if (!is_stdout) (void)fclose(f);
    if (err && !failed)
        failed = cli_error("cannot write %s%s%s: %s", is_stdout ? "standard output" : "'",
                           is_stdout ? "" : path, is_stdout ? "" : "'", strerror(err));
    output_was_refused |= err && is_stdout;
    if (i < 0) return failed;
    if (!failed && rename(temporary[i].path, temporary[i].target) != 0)
        failed = cli_error_errno("cannot write", path);
    if (failed) (void)unlink(temporary[i].path);
    cli_guard_drop(temporary[i].path);
    temporary[i].path[0] = '\0';
    temporary[i].file = NULL;
    free(temporary[i].target);
    temporary[i].target = NULL;
    return failed;
}

int cli_exit_code(int code) {
    if (code == CLI_DIFFERS) code = CLI_FAILED;
    const int err = flush_output(stdout);
    if (!err) return code;
    if (!output_was_refused)
        fprintf(stderr, "tutti: cannot write standard output: %s\n", strerror(err));
    return code == CLI_OK ? CLI_FAILED : code;
}
