/* The command `tutti`: find the command that the first argument names and run it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <locale.h>
#include <string.h>

static int cmd_version(int argc, char **argv) {
    (void)argc;
    (void)argv;
    printf("tutti %s\n", tutti_version_string());
    return CLI_OK;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} command_table[] = {
    {"run", cmd_run},           {"array", cmd_array},
    {"mesh", cmd_mesh},         {"bench", cmd_bench},
    {"tune", cmd_tune},         {"options", cmd_options},
    {"help", cmd_help},         {"--help", cmd_help},
    {"-h", cmd_help},           {"version", cmd_version},
    {"--version", cmd_version}, {"-V", cmd_version},
    {"ls", cmd_dataset},        {"show", cmd_dataset},
    {"verify", cmd_dataset},    {"dump", cmd_dataset},
    {"diff", cmd_dataset},      {"plot", cmd_dataset},
    {"cp", cmd_dataset},        {"export", cmd_dataset},
    {"repair", cmd_dataset},    {"archive", cmd_dataset},
    {"restore", cmd_dataset},   {"exodus", cmd_exodus},
    {"import", cmd_exodus},     {"completion", cmd_completion},
};

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    cli_command_remember("tutti", argc, argv);
    if (cli_colour_take(&argc, argv)) {
        fprintf(stderr, "tutti: %s\n", cli_message());
        return CLI_USAGE;
    }
    if (argc < 2) {
        fputs(cli_help_text(""), stderr);
        return CLI_USAGE;
    }
    for (size_t i = 0; i < sizeof command_table / sizeof *command_table; i++)
        if (strcmp(argv[1], command_table[i].name) == 0)
            return cli_finish(command_table[i].run(argc - 1, argv + 1));
    fprintf(stderr, "tutti: there is no command '%s'; try 'tutti help'\n", argv[1]);
    return CLI_USAGE;
}
