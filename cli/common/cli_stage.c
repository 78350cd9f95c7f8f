/* Staged outputs: written under a temporary name and renamed when they are complete.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rename_staged(const void *context, const char *entry, const char *rest) {
    const cli_staged *s = context;
    char *to = cli_format("%s%s", s->path, rest);
    const int failed = rename(entry, to) != 0 && cli_error_errno("cannot write", to);
    free(to);
    return failed;
}

static int remove_companion(const void *context, const char *entry, const char *rest) {
    (void)context;
    if (cli_is_companion(rest)) (void)unlink(entry);
    return 0;
}

/* Prepare a staged output on rank 0.  Returns 0, or 1 and a message. */
static int begin_staging(const char *path, int replace, cli_staged *s) {
    struct stat st;
    if (cli_output_refuse(path)) return 1;
    const int exists = lstat(path, &st) == 0;
    if (!exists && errno != ENOENT) return cli_error_errno("cannot write", path);
    if (exists && !S_ISDIR(st.st_mode) && !replace)
        return cli_error("'%s' exists; --force replaces it", path);
    if (exists && S_ISDIR(st.st_mode)) {
        DIR *d = opendir(path);
        int entries = 0;
        while (d && readdir(d)) entries++;
        if (d) closedir(d);
        if (!d || entries > 2) return 0; /* a directory that is not empty is written in place */
    }
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
    int local = 0;
    cli_stop_softly(0);
    cli_barrier(w); /* now no rank has the output open */
    if (w->rank == 0 && s->temporary) {
        if (!failed && s->replace) local = cli_for_entries(s->path, remove_companion, s);
        if (!failed && !local) local = cli_for_entries(s->temporary, rename_staged, s);
        if (failed || local) cli_remove_entries(s->temporary);
        cli_guard_drop(s->temporary);
    }
    if (!failed) failed = cli_agree(w, local);
    cli_stage_free(s);
    return failed;
}

void cli_stage_free(cli_staged *s) {
    free(s->path);
    free(s->temporary);
    *s = (cli_staged){.path = NULL};
}
