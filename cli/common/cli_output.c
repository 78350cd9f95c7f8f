/* Outputs of commands: what a command writes never is, or lies inside, what it reads, and appears under its name only
 * when it is complete.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <dirent.h>
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

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The directory that has the entry `path`; free it. */
static char *directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return cli_strdup(".");
    return cli_format("%.*s", slash == path ? 1 : (int)(slash - path), path);
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

/* Is `dir` the directory `above`, or somewhere below it? */
static int lies_inside(const char *dir, const struct stat *above) {
    char *at = cli_strdup(dir);
    struct stat st, before = {.st_ino = 0};
    int found = 0;
    for (int i = 0; i < PATH_MAX / 2 && !found && stat(at, &st) == 0; i++) {
        if (i > 0 && is_same(&st, &before)) break; /* the root */
        found = is_same(&st, above);
        before = st;
        char *next = cli_format("%s/..", at);
        free(at);
        at = next;
    }
    free(at);
    return found;
}

static const struct stat *searched; /* nftw has no argument of the caller's */

static int compare_entry(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)path;
    (void)at;
    return type == FTW_F && is_same(st, searched);
}

/* Does a directory contain another name (hard link) of a file? */
static int contains_file(const char *dir, const struct stat *file) {
    if (file->st_nlink < 2 || !S_ISREG(file->st_mode)) return 0;
    searched = file;
    char *start = cli_format("%s/.", dir); /* also where a symbolic link leads */
    const int found = nftw(start, compare_entry, 16, FTW_PHYS) == 1;
    free(start);
    return found;
}

/* -s0002, -s.0002, -s0002.tutti, .tutti: what follows the name of an Exodus file */
static int is_companion(const char *rest) {
    if (strncmp(rest, "-s", 2) == 0) {
        const char *digits = rest + 2 + (rest[2] == '.');
        rest = digits + strspn(digits, "0123456789");
        if (rest == digits) return 0;
        if (!*rest) return 1;
    }
    return strcmp(rest, ".tutti") == 0 || strcmp(rest, ".tutti-journal") == 0;
}

/* FILE.tutti, FILE-s0002 ...: an Exodus file's sidecar and the files of its series. */
static int belongs_to_file(const char *path, const char *input) {
    const char *base = base_name(input), *name = base_name(path);
    const size_t n = strlen(base);
    if (strncmp(name, base, n) != 0 || !is_companion(name + n)) return 0;
    char *a = directory_of(path), *b = directory_of(input);
    struct stat in[2];
    const int same = stat(a, &in[0]) == 0 && stat(b, &in[1]) == 0 && is_same(&in[0], &in[1]);
    free(a);
    free(b);
    return same;
}

int cli_output_refuse(const char *path) {
    struct stat out, in;
    const int exists = stat(path, &out) == 0;
    char *dir = exists && S_ISDIR(out.st_mode) ? cli_strdup(path) : directory_of(path);
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
    char path[PATH_MAX]; /* "": free */
    char *target;        /* realpath of what it becomes; NULL: nothing */
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

/* A temporary file beside the output; NULL: the output itself must be written. */
static FILE *open_temporary(const char *path) {
    struct stat st;
    const int exists = stat(path, &st) == 0, i = find_temporary(NULL);
    if (i < 0 || (exists && !S_ISREG(st.st_mode))) return NULL; /* a device, a pipe */
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

int cli_output_close(FILE *f, const char *path, int failed) {
    const int i = find_temporary(f);
    const int broken = ferror(f) || (f == stdout ? fflush(f) : fclose(f)) != 0;
    if (broken && !failed) failed = cli_error_errno("cannot write", path);
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

/* ---- staged outputs */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/* What is done with an entry whose name continues that of an output by `rest`. */
typedef int (*entry_action)(const cli_staged *s, const char *entry, const char *rest);

static int rename_staged(const cli_staged *s, const char *entry, const char *rest) {
    char *to = cli_format("%s%s", s->path, rest);
    const int failed = rename(entry, to) != 0 && cli_error_errno("cannot write", to);
    free(to);
    return failed;
}

static int remove_staged(const cli_staged *s, const char *entry, const char *rest) {
    (void)s;
    (void)rest;
    (void)nftw(entry, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static int remove_companion(const cli_staged *s, const char *entry, const char *rest) {
    (void)s;
    if (is_companion(rest)) (void)unlink(entry);
    return 0;
}

/* The action for every entry whose name begins with that of `path`, the longest name first: the output itself
 * appears last. */
static int for_entries(const cli_staged *s, const char *path, entry_action act) {
    char *dir = directory_of(path);
    const char *base = base_name(path);
    const size_t n = strlen(base);
    cli_list found = {.n = 0};
    DIR *d = opendir(dir);
    int failed = !d && s && cli_error_errno("cannot read", dir); /* removing keeps the message */
    for (const struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, base, n) == 0) {
            found.item = cli_realloc(found.item, ((size_t)found.n + 1) * sizeof *found.item);
            found.item[found.n++] = cli_strdup(e->d_name + n);
        }
    if (d) closedir(d);
    for (int main_entry = 0; main_entry < 2; main_entry++)
        for (int i = 0; i < found.n && !failed; i++) {
            if ((found.item[i][0] == '\0') != main_entry) continue;
            char *entry = cli_format("%s/%s%s", dir, base, found.item[i]);
            failed = act(s, entry, found.item[i]);
            free(entry);
        }
    for (int i = 0; i < found.n; i++) free(found.item[i]);
    free(found.item);
    free(dir);
    return failed;
}

void cli_remove_entries(const char *path) {
    (void)for_entries(NULL, path, remove_staged);
}

static int is_empty_directory(const char *path) {
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return d && n <= 2;
}

/* On rank 0. */
static int begin_staging(const char *path, int replace, cli_staged *s) {
    struct stat st;
    if (cli_output_refuse(path)) return 1;
    const int exists = lstat(path, &st) == 0;
    if (!exists && errno != ENOENT) return cli_error_errno("cannot write", path);
    if (exists && !S_ISDIR(st.st_mode) && !replace)
        return cli_error("'%s' exists: --force replaces it", path);
    if (exists && S_ISDIR(st.st_mode) && !is_empty_directory(path)) return 0; /* in place */
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    free(s->path);
    s->path = cli_format("%.*s", (int)n, path);
    s->temporary = cli_format("%s.%ld.tmp", s->path, (long)getpid());
    cli_guard_add(s->temporary);
    return 0;
}

int cli_stage_begin(const cli_world *w, const char *path, int replace, cli_staged *out) {
    *out = (cli_staged){.path = cli_strdup(path), .replace = replace};
    if (cli_agree(w, w->rank == 0 && begin_staging(path, replace, out))) {
        cli_stage_free(out);
        return 1;
    }
    char name[PATH_MAX] = "";
    if (out->temporary) snprintf(name, sizeof name, "%s", out->temporary);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, w->comm);
    if (w->rank != 0 && name[0]) out->temporary = cli_strdup(name);
    out->write_to = out->temporary ? out->temporary : out->path;
    cli_stop_softly(1);
    return 0;
}

int cli_stage_end(const cli_world *w, cli_staged *s, int failed) {
    int mine = 0;
    cli_stop_softly(0);
    cli_barrier(w); /* no rank has the output open */
    if (w->rank == 0 && s->temporary) {
        if (!failed && s->replace) mine = for_entries(s, s->path, remove_companion);
        if (!failed && !mine) mine = for_entries(s, s->temporary, rename_staged);
        if (failed || mine) cli_remove_entries(s->temporary);
        cli_guard_drop(s->temporary);
    }
    if (!failed) failed = cli_agree(w, mine);
    cli_stage_free(s);
    return failed;
}

void cli_stage_free(cli_staged *s) {
    free(s->path);
    free(s->temporary);
    *s = (cli_staged){.path = NULL};
}

/* Has all that was printed arrived?  Commands flush before MPI_Finalize, so that the reason of a failure is lost: one
 * more byte finds it again. */
int cli_finish(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    if (code != CLI_OK) return code;
    clearerr(stdout);
    const int again = putchar('\n') == EOF || fflush(stdout) != 0;
    fprintf(stderr, "tutti: cannot write 'standard output'%s%s\n", again ? ": " : "",
            again ? strerror(errno) : "");
    return CLI_FAILED;
}
