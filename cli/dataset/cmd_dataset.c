/* tutti ls, show, verify, repair, dump, diff, plot, cp, export; where an Exodus file is named, cli/exodus does it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"
#include "exodus/cmd_exodus.h"

/* What is read, and outputs that are not opened by cli_output_open. */
static int refuse_outputs(const dataset_config *c) {
    if (c->command != DATASET_RESTORE) cli_input_add(c->path);
    if (c->command == DATASET_DIFF) cli_input_add(c->to);
    return c->command == DATASET_ARCHIVE &&
           ((c->place && cli_output_refuse(c->place)) || (c->tar && cli_output_refuse(c->tar)));
}

static int run(const cli_world *w, const dataset_config *c) {
    cli_catch_signals();
    if (refuse_outputs(c)) return DATASET_TROUBLE;
    if (c->command == DATASET_VERIFY) return dataset_verify(w, c);
    if (w->rank != 0) return CLI_OK;
    if (c->command == DATASET_REPAIR) return dataset_repair(c);
    switch (c->command) {
    case DATASET_LS:
        return dataset_ls(c);
    case DATASET_SHOW:
        return dataset_show(c);
    case DATASET_DUMP:
        return dataset_dump(c);
    case DATASET_DIFF:
        return dataset_diff(c);
    case DATASET_PLOT:
        return dataset_plot(c);
    case DATASET_CP:
        return dataset_cp(c);
    case DATASET_ARCHIVE:
        return dataset_archive(c);
    case DATASET_RESTORE:
        return dataset_restore(c);
    default:
        return dataset_export(c);
    }
}

static int start(const cli_world *w, int argc, char **argv) {
    dataset_config c;
    const int parsed = dataset_config_parse(argc, argv, &c);
    int code = CLI_OK;
    if (parsed == DATASET_ARGS_HELP) {
        if (w->rank == 0) fputs(cli_help_text(c.name), stdout);
    } else if (parsed == DATASET_ARGS_WRONG) {
        if (w->rank == 0)
            fprintf(stderr, "tutti %s: %s\ntry 'tutti help %s'\n", c.name, cli_message(), c.name);
        code = CLI_USAGE;
    } else if ((code = run(w, &c)) == DATASET_TROUBLE) {
        if (w->rank == 0) fprintf(stderr, "tutti %s: %s\n", c.name, cli_message());
        code = c.command & (DATASET_VERIFY | DATASET_DIFF | DATASET_REPAIR) ? 2 : CLI_FAILED;
    }
    dataset_config_free(&c);
    cli_inputs_forget();
    return code;
}

int cmd_dataset(int argc, char **argv) {
    cli_world w;
    cli_guard_start();
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return CLI_USAGE;
    cli_world_init(&w);
    const int code = (exodus_is_meant(argc, argv) ? exodus_start : start)(&w, argc, argv);
    fflush(NULL);
    MPI_Finalize();
    return code;
}
