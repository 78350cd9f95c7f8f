/* The commands of datasets and Exodus files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"
#include "exodus/cmd_exodus.h"

/* The functions of each command by kind of file. */
static const struct {
    unsigned bit;
    int is_serial; /* only rank 0 runs the command */
    int (*run)(const cli_world *w, const data_config *c);
} action_table[] = {
    {DATASET_LS, 1, dataset_ls},           {DATASET_SHOW, 1, dataset_show},
    {DATASET_VERIFY, 0, dataset_verify},   {DATASET_DUMP, 1, dataset_dump},
    {DATASET_DIFF, 1, dataset_diff},       {DATASET_PLOT, 1, dataset_plot},
    {DATASET_CP, 1, dataset_cp},           {DATASET_EXPORT, 1, dataset_export},
    {DATASET_REPAIR, 1, dataset_repair},   {DATASET_ARCHIVE, 1, dataset_archive},
    {DATASET_RESTORE, 1, dataset_archive}, {EXODUS_INFO, 1, exodus_info},
    {EXODUS_LS, 1, exodus_info},           {EXODUS_DIFF, 0, exodus_diff},
    {EXODUS_JOIN, 0, exodus_join},         {EXODUS_SPLIT, 0, exodus_split},
    {EXODUS_VERIFY, 0, exodus_verify},     {EXODUS_CP, 0, exodus_cp},
    {EXODUS_ARCHIVE, 1, exodus_archive},   {EXODUS_IMPORT, 0, exodus_import},
    {EXODUS_EXPORT, 0, exodus_export},
};

static int run_action(const cli_world *w, const void *config) {
    const data_config *c = config;
    const unsigned bit = c->call.bits;
    const int writes_last = (bit & (DATASET_CP | EXODUS_CP | EXODUS_IMPORT)) != 0;
    const int archives = (bit & (DATASET_ARCHIVE | EXODUS_ARCHIVE)) != 0;
    for (int i = 0; i < c->paths - writes_last && bit != DATASET_RESTORE; i++)
        cli_input_add(c->path[i]);
    if (archives &&
        ((c->place && cli_output_refuse(c->place)) || (c->tar && cli_output_refuse(c->tar))))
        return CLI_FAILED;
    for (int i = 0; i < CLI_COUNT_OF(action_table); i++) {
        if (action_table[i].bit != bit) continue;
        int code = action_table[i].is_serial && w->rank != 0 ? CLI_OK : action_table[i].run(w, c);
        if (action_table[i].is_serial && !c->call.command->is_serial)
            MPI_Bcast(&code, 1, MPI_INT, 0, w->comm);
        return code;
    }
    return CLI_FAILED;
}

static const cli_command dataset_commands[] = {
    {"ls", DATASET_LS | EXODUS_LS, "DIR|FILE", "List variables and segments or steps.",
     "Lists type, space, shape, segments and bytes of the variables of a dataset, and kind, time "
     "index, time, sections and bytes of its segments.  It reads the metadata file alone, whatever "
     "state a writer is in or was killed in.  DIR is the dataset or its file metadata.sqlite.",
     0, run_action},
    {"show", DATASET_SHOW | EXODUS_INFO, "DIR|FILE", "Print the header with all infos.",
     "Prints spaces, variables with units and fill values, and the infos of dataset, variables and "
     "segments, like ncdump -h; of an Exodus file the same as 'tutti exodus info'.",
     0, run_action},
    {"verify", DATASET_VERIFY | EXODUS_VERIFY, "DIR|FILE", "Check metadata and all checksums.",
     "Reads all data, continues after the first damage, and prints the first damaged places "
     "(variable, segment, block).  Several ranks share the reading.",
     0, run_action},
    {"repair", DATASET_REPAIR, "DIR", "Rebuild damaged or missing metadata from the data files.",
     "Metadata that agrees with the data files is kept, except for segments whose data is missing. "
     " "
     "Other metadata is rebuilt from the copies in the data files; the old file is kept as "
     "metadata.sqlite.damaged.  No data file is changed.  The exit status is 1 if segments are "
     "lost.  Check the result with 'tutti verify'.",
     1, run_action},
    {"dump", DATASET_DUMP, "DIR", "Print a variable as text, CSV or a NumPy file.", NULL, 1,
     run_action},
    {"diff", DATASET_DIFF | EXODUS_DIFF, "A B", "Compare two datasets or two Exodus files.",
     "Datasets: segments are matched by kind and time index, variables by name, values by "
     "position, "
     "whatever their types and layouts.  Exodus files: nodes, elements and members of sets are "
     "matched by id.  |a - b| <= abs + rel * max(|a|, |b|) is no difference.  NaN equals NaN, an "
     "infinite value only the same infinity.",
     0, run_action},
    {"plot", DATASET_PLOT, "DIR", "Draw a variable over time (SVG) or a field (PNG).",
     "Draws minimum, mean and maximum of a variable (or of a slice) over time, or a field of two "
     "dimensions (or such a slice) of one segment as a heat map.  The default output is NAME.svg, "
     "with -s NAME.png.",
     1, run_action},
    {"cp", DATASET_CP | EXODUS_CP, "DIR|FILE NEW", "Copy with other types, layout or files.",
     "Every segment of a dataset is verified before it is copied, and committed atomically in NEW, "
     "which must not exist.  Exodus files are written in the order of ids.",
     0, run_action},
    {"export", DATASET_EXPORT | EXODUS_EXPORT, "DIR|FILE",
     "Write XDMF, Zarr, CSV (datasets), XDMF, VTK (Exodus files).",
     "--xdmf: variables of layout global on grids of two or three dimensions, not compressed; of "
     "an "
     "Exodus file the mesh is written to FILE.xmf.bin and results are read from the file itself.  "
     "--zarr: variables of layout global.  Default outputs: DIR.xmf, DIR.json, DIR-NAME.csv, "
     "PREFIX-0001.vtu and PREFIX.pvd.",
     0, run_action},
    {"import", EXODUS_IMPORT, "FILE NEW", "Import a Gmsh mesh or an Exodus file.",
     "If NEW ends in .e, .exo, .ex2, .g or .gen, an Exodus file is written, otherwise a dataset.  "
     "Gmsh: physical groups of the highest dimension become element blocks, one per element type; "
     "groups of one dimension less become side sets and node sets; all others become node sets.",
     0, run_action},
    {"archive", DATASET_ARCHIVE | EXODUS_ARCHIVE, "DIR|FILE",
     "Move states of a dataset, or copy an Exodus file, to an archive.",
     "Each state is compared with its checksums, copied, read back and synced; then the metadata "
     "refers to the archive and the bytes here are freed.  Topologies, and segments that others "
     "need, stay.  If the command is killed, repeat it to continue.",
     0, run_action},
    {"restore", DATASET_RESTORE, "DIR", "Restore archived states.",
     "The states are compared with what was archived.", 1, run_action},
};

const cli_group data_group = {
    .title = "Datasets, Exodus files, arrays, meshes",
    .page = "tutti-dataset(1)",
    .command = dataset_commands,
    .commands = CLI_COUNT_OF(dataset_commands),
    .option = data_options,
    .options = DATA_OPTIONS,
    .config_size = sizeof(data_config),
    .mpi = CLI_MPI,
    .narrow = data_narrow,
    .check = data_check,
};

static const cli_command exodus_commands[] = {
    {"info", EXODUS_INFO, "FILE",
     "Print title, counts, blocks, sets, maps, variables, steps, partition, format, checksums.",
     NULL, 1, run_action},
    {"ls", EXODUS_LS, "FILE", "Print a shorter description.", NULL, 1, run_action},
    {"show", EXODUS_INFO, "FILE", "The same as info.", NULL, 1, run_action},
    {"diff", EXODUS_DIFF, "A B",
     "Compare two files by id: coordinates, connectivity, factors, attributes, variables.", NULL, 0,
     run_action},
    {"join", EXODUS_JOIN, "PIECE...", "Join the files of many processes, NAME.e.N.*.",
     "Nodes and elements with the same id are the same; one piece stands for all.", 0, run_action},
    {"split", EXODUS_SPLIT, "FILE",
     "Split into one file per process, NAME.e.N.0 ..., with id maps.", NULL, 0, run_action},
    {"cp", EXODUS_CP, "FILE NEW", "Copy in the order of ids; each rank copies its part.", NULL, 0,
     run_action},
    {"verify", EXODUS_VERIFY, "FILE", "Check all checksums of the sidecar, FILE.tutti.", NULL, 0,
     run_action},
    {"archive", EXODUS_ARCHIVE, "FILE",
     "Copy with the sidecar and compare with its checksums and with what was read.", NULL, 1,
     run_action},
    {"import", EXODUS_IMPORT, "FILE NEW", "The same as 'tutti import'.", NULL, 0, run_action},
    {"export", EXODUS_EXPORT, "FILE", "Write XDMF or VTK; see also 'tutti export --help'.", NULL, 0,
     run_action},
};

const cli_group exodus_group = {
    .name = "exodus",
    .title = "Exodus files: info, diff, join, split, and the commands above.",
    .details =
        "FILE is an Exodus II file in a classic netCDF format (CDF-1, CDF-2, CDF-5); 'nccopy -k "
        "cdf5' converts netCDF-4 files.  Files that continue it (FILE-s0002 ...) belong to it.",
    .page = "tutti-exodus(1)",
    .command = exodus_commands,
    .commands = CLI_COUNT_OF(exodus_commands),
    .option = data_options,
    .options = DATA_OPTIONS,
    .config_size = sizeof(data_config),
    .mpi = CLI_MPI,
    .check = data_check,
};
