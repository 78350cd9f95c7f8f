/* The help of commands, from their tables, as text and as JSON for the generators of manual pages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/command.h"

#include <string.h>

enum { NAMES = 28 }; /* columns for the names of options */

/* Print paragraphs; lines that start with spaces are not wrapped. */
static void print_paragraphs(FILE *f, const char *text) {
    while (*text) {
        const size_t n = strcspn(text, "\n");
        char line[2048];
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        if (*line == ' ')
            fprintf(f, "%s\n", line);
        else
            cli_print_wrapped(f, line, 0, 0);
        text += n + (text[n] == '\n');
    }
}

/* List the commands of a group that accept an option: "read, write"; "" if all do, or if the help is for one
 * command. */
static void name_commands(const cli_group *g, const cli_command *command, const cli_option *o,
                          char *out, size_t size) {
    size_t n = 0;
    int all = 1;
    *out = '\0';
    for (int i = 0; i < g->commands && o->commands && !command; i++) {
        if (!(g->command[i].bits & o->commands)) {
            all = 0;
            continue;
        }
        if (n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", g->command[i].name);
    }
    if (all) *out = '\0';
}

static void print_option(FILE *f, const cli_group *g, const cli_command *command,
                         const cli_option *o) {
    char name[160], who[256], text[1024];
    char letter[8] = "    ";
    if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(name, sizeof name, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    name_commands(g, command, o, who, sizeof who);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", who, *who ? ": " : "", o->help,
             o->standard ? " (default: " : "", o->standard ? o->standard : "",
             o->standard ? ")" : "");
    int column = fprintf(f, "  %s", name);
    if (column + 2 > NAMES) column = fprintf(f, "\n") - 1;
    cli_print_wrapped(f, text, column, NAMES);
}

void cli_help_print(FILE *f, const cli_group *g, const cli_command *command) {
    if (g->help) {
        fputs(g->help, f);
        return;
    }
    for (int i = 0; i < g->commands; i++)
        if (!command || command == &g->command[i]) {
            char name[128], text[512];
            cli_full_name(g, &g->command[i], name, sizeof name);
            const int parallel = g->mpi != CLI_NO_MPI && !g->command[i].is_serial;
            snprintf(text, sizeof text, "%s%s [OPTION]... %s%s", parallel ? "[mpirun -n N] " : "",
                     name, g->stops ? "[--] " : "", g->command[i].operands);
            cli_print_wrapped(f, text,
                              fprintf(f, "%s", (i == 0 || command) ? "Usage: " : "       "), 7);
        }
    putc('\n', f);
    if (command) {
        print_paragraphs(f, command->summary);
        if (command->details) putc('\n', f), print_paragraphs(f, command->details);
    } else {
        if (g->details) print_paragraphs(f, g->details), putc('\n', f);
        for (int i = 0; i < g->commands; i++)
            cli_print_wrapped(f, g->command[i].summary, fprintf(f, "  %-12s", g->command[i].name),
                              14);
    }
    fputs("\nOptions:\n", f);
    for (int i = 0; i < g->options; i++)
        if (cli_option_applies(&g->option[i], g, command))
            print_option(f, g, command, &g->option[i]);
    for (int i = 0; i < CLI_COMMON_OPTIONS; i++)
        print_option(f, g, command, &cli_common_options[i]);
    if (g->library)
        print_option(f, g, command,
                     &(cli_option){.name = "NAME",
                                   .argument = "VALUE",
                                   .help = "set an option of the library; see 'tutti options'"});
    fputs("\nExit status: 0 success, 1 failure or difference found, 2 usage error.\n", f);
    if (g->page) fprintf(f, "Manual page: %s\n", g->page);
}

void cli_help_overview(FILE *f, const cli_group *const *groups, int n) {
    fputs("Usage: tutti COMMAND [OPTION]... [OPERAND]...\n\n"
          "Collective file access for MPI programs: run programs, measure, and work with\n"
          "arrays, meshes, datasets and Exodus files.\n",
          f);
    for (int i = 0; i < n; i++) {
        const cli_group *g = groups[i];
        if (!g->name && g->title) fprintf(f, "\n%s:\n", g->title);
        if (g->name) cli_print_wrapped(f, g->title, fprintf(f, "  %-12s", g->name), 14);
        for (int k = 0; k < g->commands && !g->name; k++)
            cli_print_wrapped(f, g->command[k].summary, fprintf(f, "  %-12s", g->command[k].name),
                              14);
    }
    fputs("\nOptions:\n", f);
    for (int i = 0; i < CLI_COMMON_OPTIONS; i++)
        print_option(f, groups[0], &groups[0]->command[0], &cli_common_options[i]);
    fputs("\n'tutti COMMAND --help' describes a command.  Manual page: tutti(1)\n", f);
}

/* ---- JSON */

static void print_pair(FILE *f, const char *key, const char *value, const char *end) {
    fprintf(f, "\"%s\": ", key);
    cli_json_string(f, value ? value : "");
    fputs(end, f);
}

void cli_help_json(FILE *f, const cli_group *const *groups, int n) {
    fputs("[", f);
    for (int i = 0; i < n; i++) {
        const cli_group *g = groups[i];
        fputs(i ? ",\n{" : "{", f);
        print_pair(f, "name", g->name, ", ");
        print_pair(f, "page", g->page, ", ");
        fprintf(f, "\"library\": %s, \"commands\": [", g->library ? "true" : "false");
        for (int k = 0; k < g->commands; k++) {
            const cli_command *c = &g->command[k];
            char name[128];
            fputs(k ? ",\n  {" : "\n  {", f);
            print_pair(f, "name", cli_full_name(g, c, name, sizeof name), ", ");
            print_pair(f, "operands", c->operands, ", ");
            fprintf(f, "\"parallel\": %s, \"stops\": %s, ",
                    g->mpi != CLI_NO_MPI && !c->is_serial ? "true" : "false",
                    g->stops ? "true" : "false");
            print_pair(f, "summary", c->summary, "}");
        }
        fputs("], \"options\": [", f);
        for (int k = 0, m = 0; k < g->options + CLI_COMMON_OPTIONS; k++) {
            const cli_option *o =
                k < g->options ? &g->option[k] : &cli_common_options[k - g->options];
            char who[256];
            if (!cli_option_applies(o, g, NULL)) continue;
            name_commands(g, NULL, o, who, sizeof who);
            fputs(m++ ? ",\n  {" : "\n  {", f);
            print_pair(f, "letter", (char[2]){o->letter, '\0'}, ", ");
            print_pair(f, "name", o->name, ", ");
            print_pair(f, "argument", o->argument, ", ");
            print_pair(f, "default", o->standard, ", ");
            print_pair(f, "commands", who, ", ");
            print_pair(f, "help", o->help, "}");
        }
        fputs("]}", f);
    }
    fputs("]\n", f);
}
