/* tutti options: the option table, for people and for programs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <string.h>

static void print_row(const tutti_option_info *o) {
    char env[64], text[1024];
    cli_env_name(o->name, env, sizeof env);
    printf("%-16s %-24s %-6s %s\n", o->name, env, o->type, *o->def ? o->def : "(empty)");
    cli_print_wrapped(stdout, o->help, 4);
    if (*o->choices) {
        snprintf(text, sizeof text, "values: %s", o->choices);
        cli_print_wrapped(stdout, text, 4);
    }
    if (*o->alias) {
        snprintf(text, sizeof text, "also: %s", o->alias);
        cli_print_wrapped(stdout, text, 4);
    }
}

/* All rows, or the one of a name; 0: there is none. */
static int print_table(const char *name) {
    const tutti_option_info *o;
    int found = 0;
    for (int i = 0; (o = tutti_options_row(i)) != NULL; i++) {
        char env[64];
        cli_env_name(o->name, env, sizeof env);
        if (name && strcmp(name, o->name) != 0 && strcmp(name, o->alias) != 0 &&
            strcmp(name, env) != 0)
            continue;
        if (!found++) printf("%-16s %-24s %-6s %s\n", "NAME", "ENVIRONMENT", "TYPE", "DEFAULT");
        print_row(o);
    }
    return found;
}

static void json_field(const char *key, const char *value, const char *end) {
    printf("\"%s\": ", key);
    cli_json_string(stdout, value);
    fputs(end, stdout);
}

static void print_json(void) {
    const tutti_option_info *o;
    puts("[");
    for (int i = 0; (o = tutti_options_row(i)) != NULL; i++) {
        char env[64];
        cli_env_name(o->name, env, sizeof env);
        fputs("  {", stdout);
        json_field("name", o->name, ", ");
        json_field("environment", env, ", ");
        json_field("type", o->type, ", ");
        json_field("choices", o->choices, ", ");
        json_field("default", o->def, ", ");
        json_field("alias", o->alias, ", ");
        json_field("help", o->help, tutti_options_row(i + 1) ? "},\n" : "}\n");
    }
    puts("]");
}

int cmd_options(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(cli_help_text("options"), stdout);
        return CLI_OK;
    }
    if (argc == 2 && strcmp(argv[1], "--json") == 0) {
        print_json();
        return CLI_OK;
    }
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fputs("tutti options: the arguments are --json, or the name of an option\n", stderr);
        return CLI_USAGE;
    }
    if (print_table(argc == 2 ? argv[1] : NULL)) return CLI_OK;
    fprintf(stderr, "tutti options: there is no option '%s'\n", argv[1]);
    return CLI_FAILED;
}
