/* tutti completion: scripts for bash, zsh and fish, from the tables of commands and the library's options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

#include <string.h>

static const cli_group *const *group; /* [count] all commands */
static int count;

/* ---- words: each function prints some, each with a blank before it */

/* "metis|curve": its parts, if there are several or they are requested separately. */
static void print_choices(const char *text, const char *between) {
    for (size_t n = 0; *text; text += n + (text[n] != '\0')) {
        n = strcspn(text, between);
        if (n > 0) printf(" %.*s", (int)n, text);
    }
}

static int is_choice(const cli_option *o) {
    return o->argument && strchr(o->argument, '|') && !strpbrk(o->argument, "=.,");
}

static const cli_command *only; /* the command to complete; NULL: all commands of a group */

/* Option i of a group: of the group, of all commands, of the library (in *name_out, *choices_out);
 * 0: no further option. */
static int find_word(const cli_group *g, int i, const char **name_out, const char **choices_out) {
    const tutti_option_info *row;
    const cli_option *o = NULL;
    *choices_out = "";
    if (i < g->options)
        o = &g->option[i];
    else if (i < g->options + CLI_COMMON_OPTIONS)
        o = &cli_common_options[i - g->options];
    if (o) {
        *name_out = cli_option_applies(o, g, only) ? o->name : NULL;
        if (is_choice(o)) *choices_out = o->argument;
        for (int k = 0; o->argument && !is_choice(o) && g->library && (row = tutti_options_row(k));
             k++)
            if (strcmp(row->name, o->name) == 0) *choices_out = row->choices;
        return 1;
    }
    row = g->library ? tutti_options_row(i - g->options - CLI_COMMON_OPTIONS) : NULL;
    *name_out = row ? row->name : NULL;
    if (row) *choices_out = row->choices;
    return row != NULL;
}

/* The names of a group's options; each once, although a name may have two rows. */
static int is_first(const cli_group *g, int i, const char *name) {
    const char *other, *choices;
    for (int k = 0; k < i && find_word(g, k, &other, &choices); k++)
        if (other && strcmp(other, name) == 0) return 0;
    return 1;
}

static void print_commands(void) {
    for (int i = 0; i < count; i++) {
        const cli_group *g = group[i];
        if (g->name) printf(" %s", g->name);
        for (int k = 0; k < g->commands && !g->name; k++) printf(" %s", g->command[k].name);
    }
}

/* The words that may follow the name of a command: subcommands, or the words of its operand. */
static void print_operands(const cli_group *g, const cli_command *command) {
    for (int k = 0; k < g->commands && g->name; k++) printf(" %s", g->command[k].name);
    if (command && strcmp(command->name, "help") == 0) print_commands();
    if (command && strcmp(command->name, "completion") == 0) print_choices(command->operands, "|");
}

/* ---- scripts */

/* A `case` with the words after COMMAND:OPTION and after COMMAND. */
static void print_case(const cli_group *g, const cli_command *command) {
    const char *first = command ? command->name : g->name, *name, *choices;
    for (int i = 0; find_word(g, i, &name, &choices); i++) {
        if (!name || !*choices || !is_first(g, i, name)) continue;
        printf("    %s:--%s) candidates='", first, name);
        print_choices(choices, ", |");
        puts("' ;;");
    }
    printf("    %s:*) candidates='", first);
    print_operands(g, command);
    for (int i = 0; find_word(g, i, &name, &choices); i++)
        if (name && is_first(g, i, name)) printf(" --%s", name);
    puts("' ;;");
}

static void print_fish(const cli_group *g, const cli_command *command) {
    const char *first = command ? command->name : g->name, *name, *choices;
    printf("complete -c tutti -n '__fish_seen_subcommand_from %s' -a '", first);
    print_operands(g, command);
    puts("'");
    for (int i = 0; find_word(g, i, &name, &choices); i++) {
        if (!name || !is_first(g, i, name)) continue;
        printf("complete -c tutti -n '__fish_seen_subcommand_from %s' -l %s", first, name);
        if (*choices) {
            fputs(" -x -a '", stdout);
            print_choices(choices, ", |");
            fputs("'", stdout);
        }
        puts("");
    }
}

static const struct {
    const char *name, *head, *condition, *end;
} shells[] = {{"bash",
               "# bash completion for tutti; made by `tutti completion bash`\n"
               "_tutti() {\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} candidates\n"
               "    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD - 1]} in",
               "    [ \"$COMP_CWORD\" -gt 1 ] || candidates='",
               "'\n"
               "    COMPREPLY=($(compgen -W \"$candidates\" -- \"$cur\"))\n"
               "}\n"
               "complete -o default -F _tutti tutti tutti.openmpi tutti.mpich"},
              {"zsh",
               "#compdef tutti tutti.openmpi tutti.mpich\n"
               "# zsh completion for tutti; made by `tutti completion zsh`\n"
               "_tutti() {\n"
               "    local candidates\n"
               "    case ${words[2]}:${words[CURRENT - 1]} in",
               "    (( CURRENT > 2 )) || candidates='",
               "'\n"
               "    compadd -- ${=candidates}\n"
               "    (( CURRENT > 2 )) && _files\n"
               "}\n"
               "_tutti \"$@\""},
              {"fish", "# fish completion for tutti; made by `tutti completion fish`",
               "complete -c tutti -n __fish_use_subcommand -f -a '", "'"}};

int completion_has(const char *shell) {
    for (int i = 0; i < CLI_COUNT_OF(shells); i++)
        if (strcmp(shell, shells[i].name) == 0) return 1;
    return 0;
}

void completion_print(const char *shell, const cli_group *const *groups, int n) {
    const int is_fish = strcmp(shell, "fish") == 0;
    int i = 0;
    while (strcmp(shell, shells[i].name) != 0) i++;
    group = groups;
    count = n;
    puts(shells[i].head);
    void (*print)(const cli_group *, const cli_command *) = is_fish ? print_fish : print_case;
    for (int g = 0; g < count; g++) {
        only = NULL;
        if (group[g]->name) print(group[g], NULL);
        for (int k = 0; k < group[g]->commands && !group[g]->name; k++) {
            only = &group[g]->command[k];
            print(group[g], only);
        }
    }
    if (!is_fish) puts("    *) candidates= ;;\n    esac");
    fputs(shells[i].condition, stdout);
    print_commands();
    puts(shells[i].end);
}
