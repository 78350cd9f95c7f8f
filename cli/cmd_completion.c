/* tutti completion: scripts for bash, zsh and fish, made from the texts of `tutti help` and the table of options.
 *
 * A text says all that a shell needs: "tutti mesh info FILE" in its usage has a word, "--by metis|curve" an option with
 * values, "any option of the library" all rows of the table.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words, each once */

typedef struct {
    int n;
    char **v;
} word_list;

static void add_word(word_list *w, const char *text, size_t n) {
    for (int i = 0; i < w->n; i++)
        if (strlen(w->v[i]) == n && strncmp(w->v[i], text, n) == 0) return;
    w->v = cli_realloc(w->v, (size_t)(w->n + 1) * sizeof *w->v);
    w->v[w->n] = cli_malloc(n + 1);
    snprintf(w->v[w->n++], n + 1, "%.*s", (int)n, text);
}

static void drop_words(word_list *w) {
    for (int i = 0; i < w->n; i++) free(w->v[i]);
    free(w->v);
    *w = (word_list){0};
}

/* "metis|curve,auto": its parts. */
static void add_alternatives(word_list *w, const char *text, size_t n, const char *between) {
    for (size_t at = 0; at < n;) {
        size_t part = 0;
        while (at + part < n && !strchr(between, text[at + part])) part++;
        if (part > 0) add_word(w, text + at, part);
        at += part + 1;
    }
}

/* ---- what a text says */

/* The length of a word of small letters, digits and `also`; 0: it is none. */
static size_t plain_word(const char *at, const char *also) {
    size_t n = 0;
    while (islower((unsigned char)at[n]) || isdigit((unsigned char)at[n]) ||
           (at[n] && strchr(also, at[n])))
        n++;
    return isupper((unsigned char)at[n]) ? 0 : n;
}

/* The commands, as the overview lists them. */
static void find_commands(word_list *out) {
    for (const char *line = cli_help_text(""); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const size_t n = strncmp(line, "  ", 2) == 0 ? plain_word(line + 2, "") : 0;
        if (n > 0 && line[2 + n] == ' ') add_word(out, line + 2, n);
    }
}

/* What may follow a command: "info" of "tutti mesh info FILE". */
static void find_subcommands(const char *command, word_list *out) {
    char before[64];
    snprintf(before, sizeof before, "tutti %s ", command);
    const char *text = cli_help_text(command);
    const char *end = text ? strstr(text, "\n\n") : NULL;
    for (const char *at = text; end && (at = strstr(at, before)) != NULL && at < end;) {
        at += strlen(before);
        const size_t n = plain_word(at, "|-");
        if (*at != '-' && strcspn(at, " \n") == n) add_alternatives(out, at, n, "|");
    }
}

static void find_options(const char *command, word_list *out) {
    const char *text = cli_help_text(command);
    for (const char *at = text; at && (at = strstr(at, "--")) != NULL;) {
        const size_t n = plain_word(at + 2, "-");
        if (n > 0 && (at == text || strchr(" [\n,", at[-1]))) add_word(out, at, n + 2);
        at += n + 2;
    }
    if (text && strstr(text, "--NAME VALUE")) {
        const tutti_option_info *o;
        for (int i = 0; (o = tutti_options_row(i)) != NULL; i++) {
            char name[128];
            const int n = snprintf(name, sizeof name, "--%s", o->name);
            add_word(out, name, (size_t)n);
        }
    }
}

/* What may follow an option. */
static void find_values(const char *command, const char *option, word_list *out) {
    const tutti_option_info *o;
    char before[128];
    snprintf(before, sizeof before, "%s ", option);
    for (const char *at = cli_help_text(command); at && (at = strstr(at, before)) != NULL;) {
        at += strlen(before);
        const size_t n = plain_word(at, "|-");
        if (n > 0 && memchr(at, '|', n)) add_alternatives(out, at, n, "|");
    }
    for (int i = 0; out->n == 0 && (o = tutti_options_row(i)) != NULL; i++)
        if (strcmp(o->name, option + 2) == 0)
            add_alternatives(out, o->choices, strlen(o->choices), ", |");
}

/* ---- scripts */

static void print_words(const word_list *w) {
    for (int i = 0; i < w->n; i++) printf("%s%s", i ? " " : "", w->v[i]);
}

/* A `case` with the words after COMMAND:OPTION, and after COMMAND. */
static void print_cases(const word_list *commands) {
    for (int c = 0; c < commands->n; c++) {
        word_list subs = {0}, options = {0};
        find_subcommands(commands->v[c], &subs);
        find_options(commands->v[c], &options);
        for (int i = 0; i < options.n; i++) {
            word_list values = {0};
            find_values(commands->v[c], options.v[i], &values);
            if (values.n > 0) {
                printf("    %s:%s) candidates='", commands->v[c], options.v[i]);
                print_words(&values);
                puts("' ;;");
            }
            drop_words(&values);
        }
        printf("    %s:*) candidates='", commands->v[c]);
        print_words(strcmp(commands->v[c], "help") == 0 ? commands : &subs);
        fputs(" ", stdout);
        print_words(&options);
        puts("' ;;");
        drop_words(&subs);
        drop_words(&options);
    }
}

static void print_bash(const word_list *commands) {
    puts("# bash completion for tutti; made by `tutti completion bash`\n"
         "_tutti() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} candidates\n"
         "    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD - 1]} in");
    print_cases(commands);
    puts("    *) candidates= ;;\n    esac");
    fputs("    [ \"$COMP_CWORD\" -gt 1 ] || candidates='", stdout);
    print_words(commands);
    puts("'\n"
         "    COMPREPLY=($(compgen -W \"$candidates\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F _tutti tutti tutti.openmpi tutti.mpich");
}

static void print_zsh(const word_list *commands) {
    puts("#compdef tutti tutti.openmpi tutti.mpich\n"
         "# zsh completion for tutti; made by `tutti completion zsh`\n"
         "_tutti() {\n"
         "    local candidates\n"
         "    case ${words[2]}:${words[CURRENT - 1]} in");
    print_cases(commands);
    puts("    *) candidates= ;;\n    esac");
    fputs("    (( CURRENT > 2 )) || candidates='", stdout);
    print_words(commands);
    puts("'\n"
         "    compadd -- ${=candidates}\n"
         "    (( CURRENT > 2 )) && _files\n"
         "}\n"
         "_tutti \"$@\"");
}

static void print_fish(const word_list *commands) {
    puts("# fish completion for tutti; made by `tutti completion fish`");
    fputs("complete -c tutti -n __fish_use_subcommand -f -a '", stdout);
    print_words(commands);
    puts("'");
    for (int c = 0; c < commands->n; c++) {
        const char *name = commands->v[c];
        word_list subs = {0}, options = {0};
        find_subcommands(name, &subs);
        find_options(name, &options);
        if (strcmp(name, "help") == 0)
            for (int i = 0; i < commands->n; i++)
                add_word(&subs, commands->v[i], strlen(commands->v[i]));
        if (subs.n > 0) {
            printf("complete -c tutti -n '__fish_seen_subcommand_from %s' -a '", name);
            print_words(&subs);
            puts("'");
        }
        for (int i = 0; i < options.n; i++) {
            word_list values = {0};
            find_values(name, options.v[i], &values);
            printf("complete -c tutti -n '__fish_seen_subcommand_from %s' -l %s", name,
                   options.v[i] + 2);
            if (values.n > 0) {
                fputs(" -x -a '", stdout);
                print_words(&values);
                fputs("'", stdout);
            }
            puts("");
            drop_words(&values);
        }
        drop_words(&subs);
        drop_words(&options);
    }
}

int cmd_completion(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*print)(const word_list *commands);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells && argc == 2; i++)
        if (strcmp(argv[1], shells[i].name) == 0) {
            word_list commands = {0};
            find_commands(&commands);
            shells[i].print(&commands);
            drop_words(&commands);
            return CLI_OK;
        }
    fputs(cli_help_text("completion"),
          argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return argc == 2 && strcmp(argv[1], "--help") == 0 ? CLI_OK : CLI_USAGE;
}
