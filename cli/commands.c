/* The table of all commands of `tutti`, and the commands help and version.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"
#include "bench/bench.h"
#include "commands.h"
#include "dataset/data_config.h"
#include "mesh/cmd_mesh.h"
#include "run/run.h"
#include "tune/tune.h"

#include <stddef.h>
#include <string.h>

enum { HELP = 1, OPTIONS = 2, OTHER = 4 };

static int check_names(void *config);
static int run_help(const cli_world *w, const void *config);
static int run_completion(const cli_world *w, const void *config);

static const cli_option option_table[] = {
    {0, "json", NULL, NULL, "print JSON; of help: the tables of all commands", HELP | OPTIONS,
     CLI_FLAG, .at = offsetof(info_config, json)},
};

static int run_version(const cli_world *w, const void *config) {
    (void)w;
    (void)config;
    printf("tutti %s\n", tutti_version_string());
    return CLI_OK;
}

static const cli_command command_table[] = {
    {"options", OPTIONS, "[NAME]", "List the options of the library.",
     "Prints name, environment variable, type, default, values and meaning.  The same names are "
     "MPI_Info keys and options of 'tutti bench', 'tutti array' and 'tutti mesh'.",
     0, run_options},
    {"completion", OTHER, "bash|zsh|fish", "Print a completion script for a shell.",
     "'make install' installs the scripts.  By hand:\n\n"
     "  bash   source <(tutti completion bash)\n"
     "  zsh    tutti completion zsh > a directory of $fpath/_tutti\n"
     "  fish   tutti completion fish > ~/.config/fish/completions/tutti.fish",
     0, run_completion},
    {"help", HELP, "[COMMAND] [SUBCOMMAND]", "Describe a command.", NULL, 0, run_help},
    {"version", OTHER, "", "Print the version.", NULL, 0, run_version},
};

static const cli_group info_group = {
    .title = "Information",
    .page = "tutti(1)",
    .command = command_table,
    .commands = CLI_COUNT_OF(command_table),
    .option = option_table,
    .options = CLI_COUNT_OF(option_table),
    .config_size = sizeof(info_config),
    .check = check_names,
};

enum { GROUPS = 8 };
static const cli_group *const groups[GROUPS] = {&run_group,  &bench_group,  &tune_group,
                                                &data_group, &exodus_group, &array_group,
                                                &mesh_group, &info_group};

static const cli_group *find_group(const char *name) {
    for (int i = 0; i < GROUPS; i++) {
        const cli_group *g = groups[i];
        if (g->name ? strcmp(g->name, name) == 0 : cli_command_find(g, name) != NULL) return g;
    }
    return NULL;
}

static int refuse_command(const char *name) {
    const char *names[64];
    int n = 0;
    for (int i = 0; i < GROUPS; i++) {
        const cli_group *g = groups[i];
        if (g->name) names[n++] = g->name;
        for (int k = 0; k < g->commands && !g->name; k++) names[n++] = g->command[k].name;
    }
    const char *meant = cli_nearest(name, n, names);
    return meant ? cli_error("unknown command '%s'; did you mean '%s'?", name, meant)
                 : cli_error("unknown command '%s'", name);
}

/* Find the command of `help COMMAND` or `help COMMAND SUBCOMMAND`. */
static int find_named(const info_config *c, const cli_group **g, const cli_command **command) {
    const char *word = c->call.operands > 1 ? c->call.operand[1] : NULL;
    *g = find_group(c->call.operand[0]);
    if (!*g) return refuse_command(c->call.operand[0]);
    if (!(*g)->name) word = c->call.operand[0];
    *command = word ? cli_command_find(*g, word) : NULL;
    return word && !*command ? cli_error("unknown command '%s %s'", (*g)->name, word) : 0;
}

static int check_names(void *config) {
    const info_config *c = config;
    const cli_group *g;
    const cli_command *command;
    const char *name = c->call.command->name, *word = c->call.operand[0];
    if (strcmp(name, "completion") == 0 && !completion_has(word))
        return cli_error("unknown shell '%s': must be bash, zsh or fish", word);
    return strcmp(name, "help") == 0 && word && find_named(c, &g, &command);
}

static int run_help(const cli_world *w, const void *config) {
    const info_config *c = config;
    const cli_group *g = NULL;
    const cli_command *command = NULL;
    (void)w;
    if (c->json)
        cli_help_json(stdout, groups, GROUPS);
    else if (c->call.operands == 0)
        cli_help_overview(stdout, groups, GROUPS);
    else if (find_named(c, &g, &command) == 0)
        cli_help_print(stdout, g, command);
    return CLI_OK;
}

static int run_completion(const cli_world *w, const void *config) {
    (void)w;
    completion_print(((const info_config *)config)->call.operand[0], groups, GROUPS);
    return CLI_OK;
}

/* Handle an option before the name of the command.  Returns the exit status, or -1 to continue. */
static int take_global(int *argc, char ***argv) {
    char *word = (*argv)[0];
    const int help = strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
    if (help) return cli_help_overview(stdout, groups, GROUPS), CLI_OK;
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) return run_version(NULL, NULL);
    for (int i = 0; i < CLI_COMMON_OPTIONS; i++) {
        const cli_option *o = &cli_common_options[i];
        const size_t n = strlen(o->name);
        if (!o->argument || strncmp(word + 2, o->name, n) != 0) continue;
        const int joined = word[n + 2] == '=';
        if (!joined && word[n + 2]) continue;
        const char *value = joined ? word + n + 3 : *argc > 1 ? (*argv)[1] : "";
        if (cli_common_set(o, value)) return CLI_USAGE;
        *argc -= 2 - joined;
        *argv += 2 - joined;
        return *argc < 0 ? CLI_USAGE : -1;
    }
    (void)cli_error("unknown option '%s'", word);
    return CLI_USAGE;
}

int cli_dispatch(int argc, char **argv) {
    int code = -1;
    while (code < 0 && argc > 0 && argv[0][0] == '-') code = take_global(&argc, &argv);
    const cli_group *g = code < 0 && argc > 0 ? find_group(argv[0]) : NULL;
    if (g) return cli_exit_code(cli_group_run(g, argc, argv));
    if (code < 0)
        code = CLI_USAGE, argc > 0 ? refuse_command(argv[0]) : cli_error("missing command");
    if (code == CLI_USAGE) fprintf(stderr, "tutti: %s\nsee 'tutti --help'\n", cli_message());
    return cli_exit_code(code);
}
