/* tutti import: convert a Gmsh mesh or an Exodus file to an Exodus file or a dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int exodus_import(const cli_world *w, const data_config *c) {
    const char *from = c->path[0], *to = c->path[1];
    int is = w->rank == 0 ? cli_netcdf_format(from) : 0, failed;
    MPI_Bcast(&is, 1, MPI_INT, 0, w->comm);
    if (is && exodus_is_name(to)) return exodus_cp(w, c);
    if (is)
        failed = exodus_to_dataset(w, c, from, to);
    else if (exodus_is_name(to))
        failed = exodus_from_gmsh(w, c, from, to);
    else {
        char *between = cli_format("%s.import.tmp", to);
        data_config twice = *c;
        twice.force = 1;
        if (w->rank == 0) cli_guard_add(between);
        failed = exodus_from_gmsh(w, &twice, from, between);
        if (!failed) failed = exodus_to_dataset(w, c, between, to);
        cli_barrier(w);
        if (w->rank == 0) {
            cli_remove_entries(between);
            cli_guard_drop(between);
        }
        free(between);
    }
    if (!failed && w->rank == 0 && c->json) {
        cli_json_pair(stdout, "{", "path", to);
        printf("}\n");
    }
    return failed;
}
