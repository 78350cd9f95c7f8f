/* tutti import: a Gmsh mesh or an Exodus file becomes an Exodus file or a dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Return whether a name is that of an Exodus file. */
static int named_exodus(const char *path) {
    static const char *const endings[] = {".e", ".exo", ".ex2", ".exoII", ".g", ".gen"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (dot && strcmp(dot, endings[i]) == 0) return 1;
    return 0;
}

/* Import by a temporary Exodus file. */
static int gmsh_to_dataset(const cli_world *w, const data_config *c, const char *from,
                           const char *to) {
    char *between = cli_format("%s.import.tmp", to);
    data_config twice = *c;
    twice.force = 1;
    if (w->rank == 0) cli_guard_add(between);
    int failed = exodus_from_gmsh(w, &twice, from, between);
    if (!failed) failed = exodus_to_dataset(w, c, between, to);
    cli_barrier(w);
    if (w->rank == 0) {
        cli_remove_entries(between);
        cli_guard_drop(between);
    }
    free(between);
    return failed;
}

int exodus_import(const cli_world *w, const data_config *c) {
    const char *from = c->path[0], *to = c->path[1];
    int is = w->rank == 0 ? cli_netcdf_format(from) : 0, failed;
    MPI_Bcast(&is, 1, MPI_INT, 0, w->comm);
    if (is && named_exodus(to)) return exodus_cp(w, c);
    if (is)
        failed = exodus_to_dataset(w, c, from, to);
    else if (named_exodus(to))
        failed = exodus_from_gmsh(w, c, from, to);
    else
        failed = gmsh_to_dataset(w, c, from, to);
    if (!failed && w->rank == 0 && c->json) {
        printf("{\"path\": ");
        cli_json_string(stdout, to);
        printf("}\n");
    }
    return failed;
}
