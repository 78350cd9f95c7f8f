/* Run a command from arguments to exit code.  Only this file initializes MPI and prints failures.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/command.h"

#include <stdlib.h>
#include <string.h>

/* Return the rank from environment variables of launchers, before MPI is initialized; 0: no launcher. */
static int launched_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value) return (int)strtol(value, NULL, 10);
    }
    return 0;
}

/* Report wrong usage: rank 0 prints the message, and how to get help. */
static int refuse_usage(const cli_group *g, const cli_command *command) {
    char name[128];
    cli_full_name(g, command, name, sizeof name);
    if (launched_rank() == 0)
        fprintf(stderr, "%s: %s\nsee '%s --help'\n", name, cli_message(), name);
    return CLI_USAGE;
}

static int run_with_mpi(const cli_group *g, const cli_command *command, void *config) {
    cli_world w;
    int granted, code;
    char name[128];
    cli_guard_start();
    const int err =
        g->threads ? MPI_Init_thread(NULL, NULL, g->threads, &granted) : MPI_Init(NULL, NULL);
    if (err != MPI_SUCCESS) return cli_error("MPI_Init failed with code %d", err);
    cli_world_init(&w);
    cli_catch_signals();
    code = command->is_serial && w.rank != 0 ? CLI_OK : command->run(&w, config);
    if (command->is_serial) MPI_Bcast(&code, 1, MPI_INT, 0, w.comm);
    if (code == CLI_FAILED && w.rank == 0 && *cli_message())
        fprintf(stderr, "%s: %s\n", cli_full_name(g, command, name, sizeof name), cli_message());
    cli_inputs_forget();
    fflush(NULL);
    MPI_Finalize();
    return code;
}

int cli_command_run(const cli_group *g, const cli_command *command, int argc, char **argv) {
    void *config = cli_malloc(g->config_size);
    char name[128];
    int code = CLI_OK;
    cli_full_name(g, command, name, sizeof name);
    switch (cli_parse(g, command, argc, argv, config)) {
    case CLI_WRONG:
        code = refuse_usage(g, command);
        break;
    case CLI_HELP:
        if (launched_rank() == 0) cli_help_print(stdout, g, command);
        break;
    case CLI_VERSION:
        if (launched_rank() == 0)
            printf("%s %s\n", g->program ? g->program : "tutti", tutti_version_string());
        break;
    case CLI_PARSED:
        if (g->mpi != CLI_NO_MPI) {
            code = run_with_mpi(g, command, config);
        } else if ((code = command->run(NULL, config)) == CLI_FAILED && *cli_message()) {
            fprintf(stderr, "%s: %s\n", name, cli_message());
        }
        break;
    }
    cli_config_free(config);
    free(config);
    return code;
}

const cli_command *cli_command_find(const cli_group *g, const char *name) {
    for (int i = 0; i < g->commands; i++)
        if (strcmp(g->command[i].name, name) == 0) return &g->command[i];
    return NULL;
}

int cli_group_run(const cli_group *g, int argc, char **argv) {
    const int named = g->name != NULL; /* 1: 'tutti array read', 0: 'tutti ls' */
    const char *word = named && argc < 2 ? NULL : argv[named];
    const cli_command *command = word ? cli_command_find(g, word) : NULL;
    if (command) return cli_command_run(g, command, argc - 1 - named, argv + 1 + named);
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
        if (launched_rank() == 0) cli_help_print(stdout, g, NULL);
        return CLI_OK;
    }
    const char *names[64];
    int n = 0;
    while (n < g->commands) names[n] = g->command[n].name, n++;
    const char *meant = word ? cli_nearest(word, n, names) : NULL;
    if (!word)
        cli_error("missing command");
    else if (meant)
        cli_error("unknown command '%s'; did you mean '%s'?", word, meant);
    else
        cli_error("unknown command '%s'", word);
    return refuse_usage(g, NULL);
}
