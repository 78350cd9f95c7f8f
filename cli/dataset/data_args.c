/* Options of the commands of datasets and Exodus files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/data_config.h"
#include "common/file_kind.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    VARIABLES = DATASET_DUMP | DATASET_DIFF | DATASET_PLOT | DATASET_CP | DATASET_EXPORT |
                EXODUS_DIFF | EXODUS_EXPORT,
    DIFF = DATASET_DIFF | EXODUS_DIFF,
    MAKES_EXODUS = EXODUS_CP | EXODUS_JOIN | EXODUS_SPLIT | EXODUS_IMPORT,
    WITH_STEPS = EXODUS_DIFF | EXODUS_EXPORT | MAKES_EXODUS,
    SOME_SEGMENTS = DATASET_ARCHIVE | DATASET_RESTORE
};

/* Parse NAME=ABS or NAME=ABS/REL.  If NAME is `variable`, or `variable` is NULL, set out. */
static int parse_tolerance(const char *item, const char *variable, double out[2]) {
    const char *is = strrchr(item, '=');
    double value[2] = {0, 0};
    char *end = NULL;
    int wrong = !is || is == item;
    if (!wrong) value[0] = strtod(is + 1, &end);
    wrong = wrong || end == is + 1;
    if (!wrong && *end == '/') {
        const char *second = end + 1;
        value[1] = strtod(second, &end);
        wrong = end == second;
    }
    if (wrong || *end || !(value[0] >= 0) || !(value[1] >= 0))
        return cli_error("--tolerance '%s': must be NAME=ABS or NAME=ABS/REL, with numbers >= 0",
                         item);
    if (!variable ||
        (strlen(variable) == (size_t)(is - item) && strncmp(variable, item, strlen(variable)) == 0))
        memcpy(out, value, sizeof value);
    return 0;
}

void data_tolerance(const data_config *c, const char *variable, double out[2]) {
    memcpy(out, c->tolerance, sizeof c->tolerance);
    for (int i = 0; i < c->tolerances.n; i++)
        (void)parse_tolerance(c->tolerances.item[i], variable, out);
}

int data_wanted(const data_config *c, const char *variable) {
    return c->variables.n == 0 || cli_list_has(&c->variables, variable);
}

int data_range_parse(const char *text, tutti_count low, tutti_count high, tutti_count *first_out,
                     tutti_count *last_out) {
    char *end = NULL;
    *first_out = strtoll(text, &end, 10);
    if (end == text) *first_out = low;
    *last_out = *end == ':' ? high : *first_out;
    if (*end == ':' && end[1]) {
        const char *behind = end + 1;
        *last_out = strtoll(behind, &end, 10);
        if (end == behind) return 1;
    } else if (*end == ':') {
        end++;
    }
    return *end || !*text;
}

#define AT(field) .at = offsetof(data_config, field)
const cli_option data_options[DATA_OPTIONS] = {
    {'v', "variable", "LIST", NULL, "variables to use, separated by commas (default: all)",
     VARIABLES, CLI_LIST, AT(variables)},
    {0, "all", NULL, NULL,
     "list all segments of a dataset (default: of more than 40, the first and last ten)",
     DATASET_LS, CLI_FLAG, AT(all)},
    {0, "range", NULL, NULL,
     "also read data: minimum and maximum of each variable in its last segment", DATASET_LS,
     CLI_FLAG, AT(range)},
    {'s', "segment", "SEGMENT", NULL,
     "latest, all, a number as printed by ls, index:N (the state with this time index) or time:T "
     "(the last state not after T) (default: latest)",
     DATASET_DUMP | DATASET_PLOT, CLI_TEXT, AT(segment)},
    {0, "slice", "SLICE", NULL,
     "LO:HI:STRIDE,... with one part per dimension; indices start at 0, HI is excluded, ':' "
     "selects all indices, a single number one index; items of several values have one more "
     "dimension",
     DATASET_DUMP | DATASET_PLOT, CLI_TEXT, AT(slice)},
    {0, "as", "text|csv|npy", NULL,
     "format: rows of values, a line per entry (segment, time index, time, position, values), or a "
     "NumPy file (default: text)",
     DATASET_DUMP, CLI_CHOICE, AT(as)},
    {0, "abs", "X", "0", "absolute tolerance of all variables", DIFF, CLI_NUMBER, AT(tolerance[0])},
    {0, "rel", "X", "0", "relative tolerance of all variables", DIFF, CLI_NUMBER, AT(tolerance[1])},
    {0, "tolerance", "NAME=ABS[/REL],...", NULL,
     "tolerances of named variables; in Exodus files also of coordinates, attributes, factors and "
     "time",
     DIFF, CLI_LIST, AT(tolerances)},
    {0, "by", "position|id", "position", "how to match entries of lists of a dataset", DATASET_DIFF,
     CLI_CHOICE, AT(diff_by)},
    {0, "type", "TYPE|NAME=TYPE,...", NULL,
     "type in the file for all real floating-point variables or for named variables (default: "
     "unchanged)",
     DATASET_CP, CLI_TEXT, AT(type)},
    {0, "layout", "global|ranked", NULL, "layout of all variables (default: unchanged)", DATASET_CP,
     CLI_CHOICE, AT(layout)},
    {0, "compress", "LEVEL", NULL,
     "compress variables of layout global, 1 to 19; 0: do not (default: unchanged)", DATASET_CP,
     CLI_COUNT, AT(compress), 0, 19},
    {0, "indices-per-file", "N", NULL,
     "start a new data file every N time indices; 0: use one file (default: 0)", DATASET_CP,
     CLI_COUNT, AT(indices)},
    {0, "container", "native|netcdf", NULL,
     "data files of Tutti, or netCDF files (CDF-5) (default: unchanged)", DATASET_CP, CLI_CHOICE,
     AT(container)},
    {0, "xdmf", NULL, NULL,
     "write an XML file with which ParaView's XDMF Reader reads the data files",
     DATASET_EXPORT | EXODUS_EXPORT, CLI_FLAG, AT(xdmf)},
    {0, "zarr", NULL, NULL,
     "write a file of references (kerchunk) with which Zarr and xarray read the data files of a "
     "dataset",
     DATASET_EXPORT, CLI_FLAG, AT(zarr)},
    {0, "csv", NULL, NULL, "write one table per variable of a dataset, with all segments",
     DATASET_EXPORT, CLI_FLAG, AT(csv)},
    {0, "vtk", NULL, NULL,
     "write a .vtu file per step of an Exodus file (several ranks: .pvtu and a piece per rank) and "
     "a "
     "collection, PREFIX.pvd",
     EXODUS_EXPORT, CLI_FLAG, AT(vtk)},
    {0, "sets", NULL, NULL,
     "with --vtk, write node and side sets of an Exodus file to a separate file", EXODUS_EXPORT,
     CLI_FLAG, AT(sets)},
    {0, "steps", "A:B", NULL,
     "steps of an Exodus file from A to B, both included; also a number, last, none (default: all)",
     WITH_STEPS, CLI_TEXT, AT(steps)},
    {'n', "parts", "N", NULL, "number of pieces", EXODUS_SPLIT, CLI_COUNT, AT(parts), 1, 1 << 20},
    {0, "by", "metis|curve|order", "metis",
     "partitioner: METIS k-way, pieces of a Hilbert curve, or the order of the file", EXODUS_SPLIT,
     CLI_CHOICE, AT(split_by)},
    {0, "real", "4|8", NULL,
     "bytes per coordinate, attribute, factor and result of the new Exodus file (default: "
     "unchanged)",
     MAKES_EXODUS, CLI_CHOICE, AT(real)},
    {0, "integers", "4|8", NULL,
     "bytes per id and index of the new Exodus file (default: 4 if all of them fit)", MAKES_EXODUS,
     CLI_CHOICE, AT(integers)},
    {0, "steps-per-file", "N", NULL, "start a new Exodus file every N steps, each with the mesh",
     EXODUS_CP | EXODUS_JOIN, CLI_COUNT, AT(steps_per_file)},
    {0, "nemesis", NULL, NULL,
     "store the partition of the ranks with its borders in the new Exodus file",
     EXODUS_CP | EXODUS_JOIN | EXODUS_IMPORT, CLI_FLAG, AT(nemesis)},
    {'o', "out", "FILE", NULL, "output file ('-': standard output, the default)", DATASET_DUMP,
     CLI_TEXT, AT(out)},
    {'o', "out", "FILE", NULL,
     "output file: .svg for a plot over time, .png for a field (default: NAME.svg, with -s "
     "NAME.png)",
     DATASET_PLOT, CLI_TEXT, AT(out)},
    {'o', "out", "FILE", NULL, "output file, or prefix of several files",
     DATASET_EXPORT | EXODUS_EXPORT, CLI_TEXT, AT(out)},
    {'o', "out", "FILE", NULL, "new file, or name of the pieces", EXODUS_JOIN | EXODUS_SPLIT,
     CLI_TEXT, AT(out)},
    {0, "to", "DIR", NULL, "directory for the copies; created if it does not exist",
     DATASET_ARCHIVE | EXODUS_ARCHIVE, CLI_TEXT, AT(place)},
    {0, "from", "DIR", NULL, "directory that contains the archived states", DATASET_RESTORE,
     CLI_TEXT, AT(place)},
    {0, "tar", "FILE", NULL,
     "tar archive ('-': standard output or input; states are archived if it is a file, and only "
     "copied if it is a pipe)",
     SOME_SEGMENTS | EXODUS_ARCHIVE, CLI_TEXT, AT(tar)},
    {0, "command", "COMMAND", NULL,
     "command that reads (restore: writes) a tar archive; states are archived if it exits with 0",
     SOME_SEGMENTS, CLI_TEXT, AT(shell)},
    {0, "segments", "A:B", NULL,
     "states from segment A to segment B, both included, as numbered by ls (default: all)",
     SOME_SEGMENTS, CLI_TEXT, AT(segments)},
    {0, "older-than", "INDEX", NULL, "states with time indices below INDEX", SOME_SEGMENTS,
     CLI_TEXT, AT(older)},
    {'f', "force", NULL, NULL, "replace existing Exodus files", MAKES_EXODUS, CLI_FLAG, AT(force)},
    {'q', "quiet", NULL, NULL, "print damage only (verify) or nothing (diff)",
     DATASET_VERIFY | DATASET_DIFF | EXODUS_VERIFY | EXODUS_DIFF, CLI_FLAG, AT(quiet)},
    {0, "json", NULL, NULL, "print JSON", 0, CLI_FLAG, AT(json)},
};

/* For commands of datasets and Exodus files, the first operand decides which of them the command works on. */
void data_narrow(void *config) {
    data_config *c = config;
    const unsigned exodus = c->call.bits & EXODUS_ANY, dataset = c->call.bits & ~exodus;
    if (!exodus || !dataset) return;
    const int is_exodus = cli_is_exodus(c->call.operand[0]);
    c->call.bits = is_exodus ? exodus : dataset;
    c->call.of = is_exodus ? " of an Exodus file" : " of a dataset";
}

/* If the operand is the metadata file of a dataset, use its directory. */
static void strip_metadata(char **path) {
    static char here[] = ".", root[] = "/";
    char *slash = strrchr(*path, '/');
    struct stat st;
    if (strcmp(slash ? slash + 1 : *path, "metadata.sqlite") != 0 || stat(*path, &st) != 0 ||
        S_ISDIR(st.st_mode))
        return;
    if (!slash || slash == *path)
        *path = slash ? root : here;
    else
        *slash = '\0';
}

int data_check(void *config) {
    data_config *c = config;
    double unused[2];
    static char name[32];
    snprintf(name, sizeof name, "%s%s%s", c->call.group->name ? c->call.group->name : "",
             c->call.group->name ? " " : "", c->call.command->name);
    c->name = name;
    c->path = c->call.operand;
    c->paths = c->call.operands;
    if (c->real >= 0) c->real = 4 + 4 * c->real; /* convert the index of the choice 4|8 to bytes */
    if (c->integers >= 0) c->integers = 4 + 4 * c->integers;
    for (int i = 0; i < c->tolerances.n; i++)
        if (parse_tolerance(c->tolerances.item[i], NULL, unused)) return 1;
    if (c->call.bits & EXODUS_ANY) {
        if (c->call.bits == EXODUS_JOIN && !c->out) return cli_error("missing --out FILE");
        if (c->call.bits == EXODUS_SPLIT && c->parts < 1) return cli_error("missing --parts N");
        if (c->call.bits == EXODUS_EXPORT && c->xdmf + c->vtk != 1)
            return cli_error("an Exodus file requires exactly one of --xdmf and --vtk");
        if (c->call.bits == EXODUS_ARCHIVE && !!c->place + !!c->tar != 1)
            return cli_error("an Exodus file requires exactly one of --to DIR and --tar FILE");
        return 0;
    }
    for (int i = 0; i < c->paths; i++) strip_metadata(&c->path[i]);
    if (c->call.bits & (DATASET_DUMP | DATASET_PLOT) && c->variables.n != 1)
        return cli_error("missing -v NAME: exactly one variable is required");
    if (c->call.bits == DATASET_DUMP && c->json && c->as >= 0)
        return cli_error("--json and --as exclude each other");
    if (c->call.bits == DATASET_EXPORT && c->xdmf + c->csv + c->zarr != 1)
        return cli_error("exactly one of --xdmf, --zarr and --csv is required");
    if (!(c->call.bits & SOME_SEGMENTS)) return 0;
    if (!!c->place + !!c->tar + !!c->shell != 1)
        return cli_error("exactly one of %s DIR, --tar FILE and --command COMMAND is required",
                         c->call.bits == DATASET_ARCHIVE ? "--to" : "--from");
    if (c->segments && c->older) return cli_error("--segments and --older-than exclude each other");
    return 0;
}
