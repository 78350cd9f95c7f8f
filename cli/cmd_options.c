/* tutti options: print the option table, as text or JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

#include <string.h>

static void print_options_json(void) {
    const tutti_option_info *o;
    puts("[");
    for (int i = 0; (o = tutti_options_row(i)) != NULL; i++) {
        char env[64];
        cli_env_name(o->name, env, sizeof env);
        cli_json_pair(stdout, i ? ",\n  {" : "  {", "name", o->name);
        cli_json_pair(stdout, ", ", "environment", env);
        cli_json_pair(stdout, ", ", "type", o->type);
        cli_json_pair(stdout, ", ", "choices", o->choices);
        cli_json_pair(stdout, ", ", "default", o->def);
        cli_json_pair(stdout, ", ", "alias", o->alias);
        cli_json_pair(stdout, ", ", "help", o->help);
        putchar('}');
    }
    puts("\n]");
}

int run_options(const cli_world *w, const void *config) {
    const info_config *c = config;
    const char *name = c->call.operand[0];
    (void)w;
    if (c->json && name)
        return cli_error("--json lists all options: operand '%s' is not allowed", name);
    if (c->json) return print_options_json(), CLI_OK;
    /* Print all rows, or the row of the given name. */
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
