/* The parser of all commands: options of the tables, options of the library, operands.  Needs no
 * communication: all ranks have the same arguments and get the same result.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/command.h"
#include "common/progress.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 512 }; /* maximum number of candidates for a misspelled name */

const cli_option cli_common_options[CLI_COMMON_OPTIONS] = {
    {'h', "help", NULL, NULL, "print a help text", 0, CLI_FLAG, .at = 0},
    {0, "version", NULL, NULL, "print the version", 0, CLI_FLAG, .at = 0},
    {0, "color", "never|auto|always", NULL,
     "when to color the output (default: auto, on a terminal unless NO_COLOR is set)", 0,
     CLI_CHOICE, .at = 0},
    {0, "progress", "never|auto|always", NULL,
     "when to report progress on standard error (default: auto, if it is a terminal)", 0,
     CLI_CHOICE, .at = 0},
};

const char *cli_full_name(const cli_group *g, const cli_command *command, char *out, size_t size) {
    const char *words[] = {g->program ? g->program : "tutti", g->name,
                           command ? command->name : NULL};
    size_t n = 0;
    *out = '\0';
    for (int i = 0; i < 3; i++)
        if (words[i] && *words[i] && n < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", words[i]);
    return out;
}

int cli_option_applies(const cli_option *o, const cli_group *g, const cli_command *command) {
    unsigned bits = command ? command->bits : 0;
    for (int i = 0; i < g->commands && !command; i++) bits |= g->command[i].bits;
    return !o->commands || (o->commands & bits);
}

/* ---- misspelled names */

/* Return the number of letters to change, add, remove or swap with the next letter. */
static int edit_distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    int d[LONGEST + 1][LONGEST + 1];
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m > LONGEST || n > LONGEST) return LONGEST;
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= n; j++) {
            d[i][j] = i == 0 ? j : i;
            if (i == 0 || j == 0) continue;
            d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < d[i][j]) d[i][j] = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < d[i][j]) d[i][j] = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[m][n];
}

const char *cli_nearest(const char *name, int n, const char *const *names) {
    const char *nearest = NULL;
    int least = strlen(name) > 3 ? 3 : 2; /* accept at most two changes, one for short names */
    for (int i = 0; i < n; i++) {
        const int distance = edit_distance(name, names[i]);
        if (distance >= least) continue;
        least = distance;
        nearest = names[i];
    }
    return nearest;
}

/* ---- values */

static int out_of_range(const cli_option *o, double value) {
    return o->most > 0 ? value < o->least || value > o->most : value < o->least;
}

static int refuse_value(const cli_option *o, const char *what) {
    char least[32], most[32];
    const int is_size = o->kind == CLI_SIZE;
    snprintf(least, sizeof least, "%.12g", o->least);
    snprintf(most, sizeof most, "%.12g", o->most);
    if (is_size) cli_format_size((tutti_off)o->least, least, sizeof least);
    if (is_size) cli_format_size((tutti_off)o->most, most, sizeof most);
    return o->most > 0 ? cli_error("must be %s from %s to %s", what, least, most)
                       : cli_error("must be %s >= %s", what, least);
}

static int set_choice(const cli_option *o, const char *value, int *out) {
    const size_t n = strlen(value);
    int i = 0;
    for (const char *word = o->argument; word; i++) {
        const size_t length = strcspn(word, "|");
        if (length == n && strncmp(word, value, n) == 0) return *out = i, 0;
        word = word[length] ? word + length + 1 : NULL;
    }
    return cli_error("must be one of %s", o->argument);
}

static int set_value(const cli_option *o, const char *value, int times, void *config) {
    void *at = (char *)config + o->at;
    char *end = NULL;
    double number;
    long count = 0;
    switch (o->kind) {
    case CLI_FLAG:
        return *(int *)at = 1, 0;
    case CLI_TEXT:
        *(const char **)at = value;
        return *value ? 0 : cli_error("must not be empty");
    case CLI_LIST:
        (times > 0 ? cli_list_append : cli_list_split)(at, value);
        return ((const cli_list *)at)->n
                   ? 0
                   : cli_error("must be a comma-separated list of at least one item");
    case CLI_NUMBER:
        *(double *)at = number = strtod(value, &end);
        if (end == value || *end || isnan(number) || out_of_range(o, number))
            return refuse_value(o, "a number");
        return 0;
    case CLI_COUNT:
        if (!cli_parse_count(value, 1L << 30, &count) || out_of_range(o, (double)count))
            return refuse_value(o, "an integer");
        return *(int *)at = (int)count, 0;
    case CLI_SIZE:
        if (!cli_parse_size(value, at) || out_of_range(o, (double)*(tutti_off *)at))
            return refuse_value(o, "a size (suffix k, m, g or t)");
        return 0;
    case CLI_CHOICE:
        return set_choice(o, value, at);
    case CLI_CUSTOM:
        break;
    }
    return o->set(config, value);
}

/* If parsing a value failed, put the name of the option before the message. */
static int name_option(const cli_option *o, const char *value, int failed) {
    if (!failed) return 0;
    char *why = cli_strdup(cli_message());
    cli_error("--%s '%s': %s", o->name, value, why);
    free(why);
    return 1;
}

int cli_common_set(const cli_option *o, const char *value) {
    int when = 0;
    if (name_option(o, value, set_choice(o, value, &when))) return 1;
    if (strcmp(o->name, "color") == 0)
        cli_color_set(when);
    else
        progress_set(when);
    return 0;
}

/* ---- the words */

typedef struct {
    const cli_group *group;
    cli_call *call;
    void *config;
    int n, next;
    char **word;
    cli_parsed result;
} parser;

static int is_named(const cli_option *o, const char *name, size_t n) {
    return n == 0 ? o->letter == *name : strlen(o->name) == n && strncmp(o->name, name, n) == 0;
}

/* Find an option by its name, or by its letter if n is 0.  Rows that apply to the command have precedence. */
static const cli_option *find_option(const parser *p, const char *name, size_t n) {
    const cli_option *found = NULL;
    for (int i = 0; i < p->group->options; i++) {
        const cli_option *o = &p->group->option[i];
        if (!is_named(o, name, n)) continue;
        if (!o->commands || (o->commands & p->call->bits)) return o;
        found = o;
    }
    for (int i = 0; i < CLI_COMMON_OPTIONS && !found; i++)
        if (is_named(&cli_common_options[i], name, n)) found = &cli_common_options[i];
    return found;
}

/* Return whether this is a name or alias of a library option.  Dashes and underscores are equivalent. */
static int is_library_option(const char *name) {
    char wanted[64], known[256];
    const tutti_option_info *row;
    snprintf(wanted, sizeof wanted, "|%.60s|", name);
    for (char *s = wanted; *s; s++) *s = (char)(*s == '-' ? '_' : *s);
    for (int i = 0; (row = tutti_options_row(i)) != NULL; i++) {
        snprintf(known, sizeof known, "|%s|%s|", row->name, row->alias);
        if (strstr(known, wanted)) return 1;
    }
    return 0;
}

static int take_library_option(parser *p, const char *name, const char *value) {
    if (!p->group->library || !is_library_option(name)) {
        const char *names[WORDS];
        const tutti_option_info *row;
        int n = 0;
        for (int i = 0; i < CLI_COMMON_OPTIONS; i++) names[n++] = cli_common_options[i].name;
        for (int i = 0; i < p->group->options; i++) {
            const cli_option *o = &p->group->option[i];
            if (!o->commands || (o->commands & p->call->bits)) names[n++] = o->name;
        }
        for (int i = 0; p->group->library && n < WORDS && (row = tutti_options_row(i)) != NULL; i++)
            names[n++] = row->name;
        const char *meant = cli_nearest(name, n, names);
        return meant ? cli_error("unknown option '--%s'; did you mean '--%s'?", name, meant)
                     : cli_error("unknown option '--%s'", name);
    }
    if (!value && p->next < p->n) value = p->word[p->next++];
    if (!value) return cli_error("option '--%s' needs a value", name);
    tutti_options *options = (tutti_options *)((char *)p->config + p->group->library);
    return tutti_options_set(options, name, value) == TUTTI_OK ? 0 : cli_error_tutti();
}

/* Apply an option of a table; value: the text after `=` or the letter; NULL: none. */
static int take_option(parser *p, const cli_option *o, const char *value) {
    const int is_common = o >= cli_common_options && o < cli_common_options + CLI_COMMON_OPTIONS;
    if (!o->argument && value) return cli_error("option '--%s' takes no value", o->name);
    if (o->argument && !value) {
        if (p->next == p->n) return cli_error("option '--%s' needs a value", o->name);
        value = p->word[p->next++];
    }
    if (!is_common) {
        unsigned char *times = &p->call->given[o - p->group->option];
        if (name_option(o, value, set_value(o, value, *times, p->config))) return 1;
        if (*times < UCHAR_MAX) ++*times;
        return 0;
    }
    if (o->argument) return cli_common_set(o, value);
    p->result = o->letter == 'h' ? CLI_HELP : CLI_VERSION;
    return 0;
}

static int take_long(parser *p, const char *name) {
    const size_t n = strcspn(name, "=");
    const char *value = name[n] ? name + n + 1 : NULL;
    const cli_option *o = find_option(p, name, n);
    if (o) return take_option(p, o, value);
    char *key = cli_format("%.*s", (int)n, name);
    const int failed = take_library_option(p, key, value);
    free(key);
    return failed;
}

/* Apply -q, -qv NAME or -vNAME. */
static int take_letters(parser *p, const char *letters) {
    for (; *letters; letters++) {
        const cli_option *o = find_option(p, letters, 0);
        if (!o) return cli_error("unknown option '-%c'", *letters);
        if (o->argument) return take_option(p, o, letters[1] ? letters + 1 : NULL);
        if (take_option(p, o, NULL)) return 1;
    }
    return 0;
}

static int take_words(parser *p) {
    int ended = 0;
    while (p->next < p->n && p->result == CLI_PARSED) {
        char *word = p->word[p->next++];
        const int is_option = !ended && word[0] == '-' && word[1];
        if (is_option && strcmp(word, "--") == 0) {
            ended = 1;
        } else if (!is_option) {
            p->call->operand[p->call->operands++] = word;
            ended |= p->group->stops;
        } else if (word[1] == '-' ? take_long(p, word + 2) : take_letters(p, word + 1)) {
            return 1;
        }
    }
    return 0;
}

/* ---- checks after parsing */

/* Set the defaults of rows of other commands first, since two rows may set the same field. */
static int set_defaults(const cli_group *g, const cli_call *call, void *config) {
    for (int i = 0; i < 2 * g->options; i++) {
        const cli_option *o = &g->option[i % g->options];
        const int applies = !o->commands || (o->commands & call->bits);
        if (applies != (i >= g->options)) continue;
        if (o->standard) {
            if (name_option(o, o->standard, set_value(o, o->standard, 0, config))) return 1;
        } else if (o->kind == CLI_COUNT || o->kind == CLI_CHOICE) {
            *(int *)((char *)config + o->at) = -1;
        }
    }
    if (g->library &&
        tutti_options_init((tutti_options *)((char *)config + g->library)) != TUTTI_OK)
        return cli_error_tutti();
    return 0;
}

static int check_call(const cli_group *g, cli_call *call, void *config) {
    /* Compare the operands with the description "FILE [SECTION]" or "DIR...". */
    int n = 0, unlimited = 0;
    for (const char *at = call->command->operands; *at; n++) {
        const size_t length = strcspn(at, " ");
        if (n == call->operands && *at != '[')
            return cli_error("missing operand %.*s", (int)length, at);
        unlimited |= length > 3 && strncmp(at + length - 3, "...", 3) == 0;
        if (length > 4 && strncmp(at + length - 4, "...]", 4) == 0) unlimited = 1;
        at += length + strspn(at + length, " ");
    }
    if (call->operands > n && !unlimited) return cli_error("extra operand '%s'", call->operand[n]);
    for (int i = 0; i < call->operands && !call->group->stops; i++)
        if (!*call->operand[i]) return cli_error("operand %d is empty", i + 1);
    if (g->narrow) g->narrow(config);
    for (int i = 0; i < g->options; i++) {
        const cli_option *o = &g->option[i];
        char name[128];
        if (call->given[i] && o->commands && !(o->commands & call->bits))
            return cli_error("option '--%s' does not apply to '%s'%s", o->name,
                             cli_full_name(g, call->command, name, sizeof name),
                             call->of ? call->of : "");
    }
    return g->check && g->check(config);
}

cli_parsed cli_parse(const cli_group *g, const cli_command *command, int argc, char **argv,
                     void *config) {
    cli_call *call = memset(config, 0, g->config_size);
    parser p = {.group = g, .call = call, .config = config, .n = argc, .word = argv};
    *call = (cli_call){.group = g, .command = command, .bits = command->bits};
    call->operand = cli_array(argc + 1, 1, sizeof *call->operand);
    call->operand[0] = NULL;
    call->given = cli_array(g->options + 1, 1, 1);
    memset(call->given, 0, (size_t)g->options + 1);
    int wrong = set_defaults(g, call, config);
    if (!wrong && g->start) g->start(config, argc, argv);
    if (!wrong) wrong = take_words(&p);
    if (!wrong && p.result == CLI_PARSED) wrong = check_call(g, call, config);
    return wrong ? CLI_WRONG : p.result;
}

void cli_config_free(void *config) {
    cli_call *call = config;
    for (int i = 0; i < call->group->options; i++)
        if (call->group->option[i].kind == CLI_LIST)
            cli_list_free((cli_list *)((char *)config + call->group->option[i].at));
    free(call->operand);
    free(call->given);
}
