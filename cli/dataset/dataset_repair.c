/* tutti repair: repair a dataset whose metadata is damaged or missing, or that has lost data files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

static void print_repair(const data_config *c, const tutti_repair_report *r) {
    const int nothing = !r->rebuilt && r->lost == 0;
    printf("%s: %s; %lld segment%s in %d data file%s\n", c->path[0],
           nothing      ? "nothing to do"
           : r->rebuilt ? "metadata rebuilt"
                        : "repaired",
           (long long)r->segments, r->segments == 1 ? "" : "s", r->files, r->files == 1 ? "" : "s");
    if (r->backup[0]) printf("the old metadata are %s/%s\n", c->path[0], r->backup);
    if (r->damaged)
        printf("%lld segment%s checksums that cannot be read: see tutti verify\n",
               (long long)r->damaged, r->damaged == 1 ? " has" : "s have");
    if (r->lost)
        fprintf(stderr, "%lld segment%s lost: %s\n", (long long)r->lost,
                r->lost == 1 ? " is" : "s are", r->first_lost);
}

static void print_repair_json(const data_config *c, const tutti_repair_report *r) {
    cli_json_pair(stdout, "{", "path", c->path[0]);
    printf(", \"segments\": %lld, \"lost\": %lld, \"damaged\": %lld, \"files\": %d, "
           "\"rebuilt\": %s,\n \"kept\": ",
           (long long)r->segments, (long long)r->lost, (long long)r->damaged, r->files,
           r->rebuilt ? "true" : "false");
    cli_json_string(stdout, r->backup);
    cli_json_pair(stdout, ", ", "first_lost", r->first_lost);
    printf("}\n");
}

int dataset_repair(const cli_world *w, const data_config *c) {
    (void)w;
    tutti_repair_report r;
    if (tutti_dataset_repair(MPI_COMM_SELF, c->path[0], NULL, &r) != TUTTI_OK)
        return cli_error_open(c->path[0], "dataset");
    (c->json ? print_repair_json : print_repair)(c, &r);
    return r.lost ? CLI_DIFFERS : CLI_OK;
}
