/* tutti options: the option table, for people and for programs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

#include <string.h>

static void json_field(const char *key, const char *value, const char *end) {
    printf("\"%s\": ", key);
    cli_json_string(stdout, value);
    fputs(end, stdout);
}

static void print_options_json(void) {
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

int run_options(const cli_world *w, const void *config) {
    const info_config *c = config;
    const char *name = c->call.operand[0];
    (void)w;
    if (c->json && name)
        return cli_error("--json lists all options: operand '%s' is not allowed", name);
    if (c->json) return print_options_json(), CLI_OK;
    /* All rows, or the one of a name; 0: there is none. */
    const tutti_option_info *o;
    int found = 0;
    for (int i = 0; (o = tutti_options_row(i)) != NULL; i++) {
        char env[64];
        cli_env_name(o->name, env, sizeof env);
        if (name && strcmp(name, o->name) != 0 && strcmp(name, o->alias) != 0 &&
            strcmp(name, env) != 0)
            continue;
        if (!found++) printf("%-16s %-24s %-6s %s\n", "NAME", "ENVIRONMENT", "TYPE", "DEFAULT");
        printf("%-16s %-24s %-6s %s\n", o->name, env, o->type, *o->def ? o->def : "(empty)");
        cli_print_wrapped(stdout, o->help, 0, 4);
        char text[1024];
        const char *const more[] = {o->choices, o->alias};
        for (int k = 0; k < 2; k++) {
            snprintf(text, sizeof text, "%s: %s", k ? "also" : "values", more[k]);
            if (*more[k]) cli_print_wrapped(stdout, text, 0, 4);
        }
    }
    return found ? CLI_OK : cli_error("unknown library option '%s'; see 'tutti options'", name);
}
