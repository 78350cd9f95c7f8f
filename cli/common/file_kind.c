/* The kind of a file, from its first bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/file_kind.h"
#include "common/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char hdf5[] = "\211HDF\r\n\032\n";

static size_t read_start(const char *path, char out[16]) {
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    memset(out, 0, 16);
    if (!f) return 0;
    const size_t n = fread(out, 1, 16, f);
    fclose(f);
    return n;
}

int cli_netcdf_format(const char *path) {
    char start[16];
    const size_t n = read_start(path, start);
    if (n >= 4 && memcmp(start, "CDF", 3) == 0 && (start[3] == 1 || start[3] == 2 || start[3] == 5))
        return start[3];
    return n >= 8 && memcmp(start, hdf5, 8) == 0 ? 4 : 0;
}

int cli_is_exodus(const char *path) {
    return cli_netcdf_format(path) != 0;
}

int cli_error_open(const char *path, const char *wanted) {
    static const struct {
        const char *start, *kind, *command;
    } table[] = {
        {"\211TTA", "an array", "tutti array"},    {"\223NUMPY", "a NumPy file", "tutti array"},
        {"\211TTM", "a mesh", "tutti mesh"},       {"$MeshFormat", "a Gmsh mesh", "tutti mesh"},
        {"CDF", "an Exodus file", "tutti exodus"}, {hdf5, "an Exodus file", "tutti exodus"}};
    char start[16];
    struct stat st;
    const size_t n = read_start(path, start);
    const char *article = strchr("aeiouE", *wanted) ? "an" : "a";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const size_t length = strlen(table[i].start);
        if (n < length || memcmp(start, table[i].start, length) != 0 ||
            strstr(table[i].kind, wanted))
            continue;
        return cli_error("'%s' is %s, not %s %s; see '%s --help'", path, table[i].kind, article,
                         wanted, table[i].command);
    }
    char *metadata = cli_format("%s/metadata.sqlite", path);
    const int is_dataset = strcmp(wanted, "dataset") != 0 && stat(metadata, &st) == 0;
    free(metadata);
    if (!is_dataset) return cli_error_tutti();
    return cli_error("'%s' is a dataset, not %s %s; see 'tutti ls --help'", path, article, wanted);
}
