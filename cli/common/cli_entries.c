/* Paths, and directory entries that belong together: an output and its auxiliary files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cli_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *cli_directory_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return cli_strdup(".");
    return cli_format("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

char *cli_path_from(const char *path, const char *from) {
    char there[PATH_MAX], here[PATH_MAX];
    char *directory = cli_directory_of(from);
    const int found = realpath(path, there) && realpath(directory, here);
    free(directory);
    if (!found) return cli_strdup(path);
    const size_t n = strcmp(here, "/") == 0 ? 0 : strlen(here);
    return cli_strdup(strncmp(there, here, n) == 0 && there[n] == '/' ? there + n + 1 : there);
}

int cli_is_companion(const char *rest) {
    if (strncmp(rest, "-s", 2) == 0) {
        const char *digits = rest + 2 + (rest[2] == '.');
        rest = digits + strspn(digits, "0123456789");
        if (rest == digits) return 0;
        if (!*rest) return 1;
    }
    return strcmp(rest, ".tutti") == 0 || strcmp(rest, ".tutti-journal") == 0;
}

/* Call the action for the longest names first, so that the output itself comes last. */
int cli_for_entries(const char *path, cli_entry_action act, const void *context) {
    char *dir = cli_directory_of(path);
    const char *base = cli_base_name(path);
    const size_t n = strlen(base);
    cli_list found = {.n = 0};
    DIR *d = opendir(dir);
    /* removal (no context) keeps the earlier message */
    int failed = !d && context && cli_error_errno("cannot read", dir);
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
            failed = act(context, entry, found.item[i]);
            free(entry);
        }
    for (int i = 0; i < found.n; i++) free(found.item[i]);
    free(found.item);
    free(dir);
    return failed;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static int remove_tree(const void *context, const char *entry, const char *rest) {
    (void)context;
    (void)rest;
    (void)nftw(entry, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

void cli_remove_entries(const char *path) {
    (void)cli_for_entries(path, remove_tree, NULL);
}
