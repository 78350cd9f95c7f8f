/* tutti mesh: its commands and options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/cmd_mesh.h"

#include <stddef.h>

enum {
    DIVIDED = MESH_PARTITION | MESH_OWNERS | MESH_TREE | MESH_PLOT,
    RANDOM = MESH_OWNERS | MESH_PLOT
};

static int set_rule(void *config, const char *value) {
    mesh_config *c = config;
    cli_list l = {0, NULL, NULL};
    int failed = 0;
    cli_list_split(&l, value);
    c->rules = 0;
    for (int i = 0; i < l.n && !failed; i++)
        failed = c->rules == MESH_RULES ||
                 tutti_replicas_rule_parse(l.item[i], &c->rule[c->rules++]) != TUTTI_OK;
    cli_list_free(&l);
    return failed || !c->rules ? cli_error("must be a list of own, random, first, idg, idg2") : 0;
}

#define AT(field) .at = offsetof(mesh_config, field)
#define RULES "rules that choose the writer of each node: own, random, first, idg, idg2"
static const cli_option option_table[] = {
    {'n', "parts", "N", "8", "number of partitions", DIVIDED, CLI_COUNT, AT(parts), 1, 1 << 20},
    {0, "by", "metis|curve|rcb", "metis",
     "partitioner: METIS k-way, pieces of a Hilbert curve, or recursive coordinate bisection; if "
     "the build has no METIS, or METIS cannot partition this mesh, rcb is used and a message is "
     "printed on standard error",
     DIVIDED, CLI_CHOICE, AT(by)},
    {0, "order", "file|curve|rcm", "file",
     "all commands: order of the nodes: as in the file, along a Hilbert curve, or reverse "
     "Cuthill-McKee",
     0, CLI_CHOICE, AT(order)},
    {0, "rule", "LIST", "own,random,first,idg,idg2", RULES, RANDOM, CLI_CUSTOM, .set = set_rule},
    {0, "rule", "RULE", "idg2", "rule that chooses the writer of each node, as for owners",
     MESH_TREE, CLI_CUSTOM, .set = set_rule},
    {0, "load", "N", "1", "values per node", MESH_OWNERS, CLI_COUNT, AT(load), 1, 1e9},
    {0, "value-bytes", "N", "8", "bytes per value", MESH_OWNERS | MESH_TREE, CLI_SIZE,
     AT(value_bytes), 1, 1e12},
    {0, "balance", "X", NULL,
     "limit of the bytes written per partition, as a multiple of the mean, at least 1 (default: no "
     "limit)",
     RANDOM, CLI_NUMBER, AT(balance), 1, 1e9},
    {0, "seed", "N", "1", "seed of the rule random", RANDOM, CLI_SIZE, AT(seed)},
    {0, "dir", "DIR", ".", "directory of the files", MESH_TREE, CLI_TEXT, AT(dir)},
    {0, "hosts", "N", "8", "number of machines of the configurations with several machines",
     MESH_TREE, CLI_COUNT, AT(hosts), 2, 1e6},
    {'o', "out", "FILE", NULL,
     "write the partition of each node, counted from 0, one per line ('-': standard output); an "
     "existing file is replaced",
     MESH_PARTITION, CLI_TEXT, AT(out)},
    {'o', "out", "FILE", NULL, "picture, SVG or PNG by its name (default: mesh.svg)", MESH_PLOT,
     CLI_TEXT, AT(out)},
    {0, "format", "native|gmsh41|gmsh41-binary|gmsh22|gmsh22-binary", NULL,
     "format of NEW (default: gmsh41-binary if its name ends in .msh, otherwise native)",
     MESH_CONVERT, CLI_CHOICE, AT(format)},
    {'f', "force", NULL, NULL, "replace an existing file", MESH_CONVERT, CLI_FLAG, AT(force)},
    {0, "json", NULL, NULL, "print JSON", MESH_INFO | MESH_PARTITION | MESH_OWNERS | MESH_TREE,
     CLI_FLAG, AT(json)},
};

static int set_operands(void *config) {
    mesh_config *c = config;
    c->path = c->call.operand[0];
    c->to = c->call.operands > 1 ? c->call.operand[1] : NULL;
    return 0;
}

static const cli_command command_table[] = {
    {"info", MESH_INFO, "FILE", "Print counts, extent and the quality of the node numbering.", NULL,
     1, mesh_info},
    {"partition", MESH_PARTITION, "FILE", "Divide the nodes into partitions.", NULL, 1,
     mesh_partition},
    {"owners", MESH_OWNERS, "FILE",
     "Print statistics of the writers that each rule chooses: intervals, their lengths, balance.",
     NULL, 1, mesh_owners},
    {"tree", MESH_TREE, "FILE",
     "Print a decision tree of the method that the option method = auto selects to write the "
     "nodes.",
     "The choice depends on network, number of nodes and load (values per node), and follows from "
     "the profile of this machine (see 'tutti tune').",
     1, mesh_tree},
    {"plot", MESH_PLOT, "FILE", "Draw the partitions and the writers along the file.", NULL, 1,
     mesh_plot},
    {"convert", MESH_CONVERT, "FILE NEW", "Write a mesh in another format or order.", NULL, 1,
     mesh_convert},
};

const cli_group mesh_group = {
    .name = "mesh",
    .title = "Unstructured meshes: info, partition, owners, tree, plot, convert.",
    .details =
        "FILE is a mesh of Gmsh (formats 4.1 and 2.2, text or binary, linear elements) or in the "
        "native format of Tutti.  One process does all work.",
    .page = "tutti-mesh(1)",
    .command = command_table,
    .commands = CLI_COUNT_OF(command_table),
    .option = option_table,
    .options = CLI_COUNT_OF(option_table),
    .config_size = sizeof(mesh_config),
    .library = offsetof(mesh_config, options),
    .mpi = CLI_MPI,
    .check = set_operands,
};
