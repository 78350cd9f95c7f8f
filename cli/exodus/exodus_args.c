/* tutti exodus: arguments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"
#include "common/flags.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;         /* within tutti exodus; without it, what is behind the space */
    int command, least, most; /* paths */
} command_table[] = {
    {"exodus info", EXODUS_INFO, 1, 1},       {"exodus show", EXODUS_INFO, 1, 1},
    {"exodus ls", EXODUS_LS, 1, 1},           {"exodus diff", EXODUS_DIFF, 2, 2},
    {"exodus join", EXODUS_JOIN, 1, 1 << 20}, {"exodus split", EXODUS_SPLIT, 1, 1},
    {"exodus verify", EXODUS_VERIFY, 1, 1},   {"exodus cp", EXODUS_CP, 2, 2},
    {"exodus archive", EXODUS_ARCHIVE, 1, 1}, {"exodus import", EXODUS_IMPORT, 2, 2},
    {"exodus export", EXODUS_EXPORT, 1, 1},
};

/* What flags are followed by; each says where it goes. */
static const struct {
    const char *name;
    size_t at; /* in the config */
    cli_flag_kind kind;
    int commands;
} flag_table[] = {
#define AT(field) offsetof(exodus_config, field)
    {"--json", AT(json), CLI_YES, ~0},
    {"--quiet", AT(quiet), CLI_YES, EXODUS_VERIFY | EXODUS_DIFF},
    {"-q", AT(quiet), CLI_YES, EXODUS_VERIFY | EXODUS_DIFF},
    {"--force", AT(force), CLI_YES, EXODUS_JOIN | EXODUS_SPLIT | EXODUS_CP | EXODUS_IMPORT},
    {"--variable", AT(variables), CLI_LIST, EXODUS_DIFF | EXODUS_EXPORT},
    {"-v", AT(variables), CLI_LIST, EXODUS_DIFF | EXODUS_EXPORT},
    {"--abs", AT(tolerance[0]), CLI_NUMBER, EXODUS_DIFF},
    {"--rel", AT(tolerance[1]), CLI_NUMBER, EXODUS_DIFF},
    {"--tolerance", AT(tolerances), CLI_MORE, EXODUS_DIFF},
    {"--steps", AT(steps), CLI_TEXT,
     EXODUS_DIFF | EXODUS_CP | EXODUS_JOIN | EXODUS_SPLIT | EXODUS_IMPORT | EXODUS_EXPORT},
    {"--out", AT(out), CLI_TEXT, EXODUS_JOIN | EXODUS_SPLIT | EXODUS_EXPORT},
    {"-o", AT(out), CLI_TEXT, EXODUS_JOIN | EXODUS_SPLIT | EXODUS_EXPORT},
    {"-n", AT(parts), CLI_COUNT, EXODUS_SPLIT},
    {"--parts", AT(parts), CLI_COUNT, EXODUS_SPLIT},
    {"--by", AT(by), CLI_TEXT, EXODUS_SPLIT},
    {"--real", AT(real), CLI_COUNT, EXODUS_CP | EXODUS_JOIN | EXODUS_SPLIT | EXODUS_IMPORT},
    {"--integers", AT(integers), CLI_COUNT, EXODUS_CP | EXODUS_JOIN | EXODUS_SPLIT | EXODUS_IMPORT},
    {"--steps-per-file", AT(steps_per_file), CLI_COUNT, EXODUS_CP | EXODUS_JOIN},
    {"--nemesis", AT(nemesis), CLI_YES, EXODUS_CP | EXODUS_JOIN | EXODUS_IMPORT},
    {"--xdmf", AT(xdmf), CLI_YES, EXODUS_EXPORT},
    {"--vtk", AT(vtk), CLI_YES, EXODUS_EXPORT},
    {"--sets", AT(sets), CLI_YES, EXODUS_EXPORT},
    {"--to", AT(place), CLI_TEXT, EXODUS_ARCHIVE},
    {"--tar", AT(tar), CLI_TEXT, EXODUS_ARCHIVE},
#undef AT
};

/* ---- tolerances */

/* Item i of the list, and the one behind it if it has no name. */
static int tolerance_take(const cli_list *l, int i, const char *name, double out[2]) {
    const char *item = l->item[i], *is = strrchr(item, '=');
    const char *more = i + 1 < l->n && !strchr(l->item[i + 1], '=') ? l->item[i + 1] : NULL;
    if (!is && (i == 0 || !strchr(l->item[i - 1], '=')))
        return cli_error("--tolerance: '%s' is not NAME=ABS, NAME=ABS/REL or NAME=REL,ABS", item);
    if (!is) return 0; /* it belongs to the one before */
    if (is == item) return cli_error("--tolerance: '%s' has no name", item);
    if (name && (strlen(name) != (size_t)(is - item) || strncmp(name, item, strlen(name)) != 0))
        return 0;
    char *text = cli_strdup(is + 1), *slash = strchr(text, '/');
    if (slash) *slash++ = '\0';
    out[1] = 0;
    int wrong = cli_number_take("--tolerance", text, &out[0]) ||
                (slash && cli_number_take("--tolerance", slash, &out[1]));
    if (!wrong && more && slash)
        wrong = cli_error("--tolerance: what is '%s' behind '%s'?", more, item);
    if (!wrong && more) {
        out[1] = out[0];
        wrong = cli_number_take("--tolerance", more, &out[0]);
    }
    free(text);
    return wrong;
}

void exodus_tolerance(const exodus_config *c, const char *variable, double out[2]) {
    memcpy(out, c->tolerance, sizeof c->tolerance);
    for (int i = 0; i < c->tolerances.n; i++)
        (void)tolerance_take(&c->tolerances, i, variable, out);
}

int exodus_wanted(const exodus_config *c, const char *variable) {
    return c->variables.n == 0 || cli_list_has(&c->variables, variable);
}

/* ---- steps: "A:B", "A:", ":B", "A", "last" */

static int steps_take(const char *text, tutti_count steps, tutti_count *first, tutti_count *last) {
    char *end = NULL;
    if (strcmp(text, "last") == 0) return *first = *last = steps, 0;
    if (strcmp(text, "none") == 0) return *first = 1, *last = 0, 0;
    *first = strtoll(text, &end, 10);
    if (end == text) *first = 1;
    *last = *end == ':' ? steps : *first;
    if (*end == ':' && end[1]) {
        const char *behind = end + 1;
        *last = strtoll(behind, &end, 10);
        if (end == behind) return 1;
    } else if (*end == ':') {
        end++;
    }
    return *end || !*text;
}

int exodus_steps_chosen(const exodus_config *c, tutti_count steps, tutti_count *first_out,
                        tutti_count *last_out) {
    *first_out = 1;
    *last_out = steps;
    if (!c->steps) return 0;
    if (steps_take(c->steps, steps, first_out, last_out))
        return cli_error("--steps: '%s' is not A:B, a number, last or none", c->steps);
    if (*last_out < *first_out && strcmp(c->steps, "none") == 0) return 0;
    if (*first_out < 1 || *last_out > steps || *first_out > *last_out)
        return cli_error("--steps %s: there are steps 1 to %lld", c->steps, (long long)steps);
    return 0;
}

/* ---- all of it */

static int argument_take(int argc, char **argv, int *i, exodus_config *c) {
    const char *word = argv[*i];
    if (word[0] != '-' || !word[1]) {
        c->path[c->paths++] = argv[*i];
        return 0;
    }
    for (size_t f = 0; f < sizeof flag_table / sizeof *flag_table; f++) {
        const int takes = flag_table[f].kind != CLI_YES;
        if (strcmp(word, flag_table[f].name) != 0) continue;
        if (!(flag_table[f].commands & c->command))
            return cli_error("%s is not for tutti %s", word, c->name);
        if (takes && *i + 1 == argc) return cli_error("%s needs a value", word);
        return cli_flag_take(flag_table[f].kind, flag_table[f].name, takes ? argv[++*i] : NULL,
                             (char *)c + flag_table[f].at);
    }
    return cli_error("there is no argument '%s'", word);
}

static int bytes_check(const char *name, int bytes) {
    if (bytes == -1 || bytes == 4 || bytes == 8) return 0;
    return cli_error("%s %d: it is 4 or 8", name, bytes);
}

static int config_check(const exodus_config *c, int least, int most) {
    double none[2];
    if (c->paths < least || c->paths > most)
        return most == 1   ? cli_error("one file is needed")
               : most == 2 ? cli_error("two names are needed")
                           : cli_error("the pieces are needed");
    if (bytes_check("--real", c->real) || bytes_check("--integers", c->integers)) return 1;
    if (c->command == EXODUS_JOIN && !c->out) return cli_error("-o OUT is needed");
    if (c->command == EXODUS_SPLIT && c->parts < 1) return cli_error("-n PIECES is needed");
    if (c->by && strcmp(c->by, "metis") != 0 && strcmp(c->by, "curve") != 0 &&
        strcmp(c->by, "order") != 0)
        return cli_error("--by %s: it is metis, curve or order", c->by);
    if (c->command == EXODUS_EXPORT && c->xdmf + c->vtk != 1)
        return cli_error("of an Exodus file: one of --xdmf and --vtk is needed");
    if (c->command == EXODUS_ARCHIVE && !!c->place + !!c->tar != 1)
        return cli_error("of an Exodus file: one of --to DIR and --tar FILE is needed");
    for (int i = 0; i < c->tolerances.n; i++)
        if (tolerance_take(&c->tolerances, i, NULL, none)) return 1;
    return 0;
}

int exodus_config_parse(int argc, char **argv, exodus_config *out) {
    const int within = strcmp(argv[0], "exodus") == 0;
    const char *word = within ? (argc > 1 ? argv[1] : "") : argv[0];
    const size_t before = strlen("exodus ");
    int least = 0, most = 0, wrong = 0;
    *out = (exodus_config){.name = within ? "exodus" : argv[0], .help = "exodus"};
    out->real = out->integers = out->steps_per_file = -1;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return EXODUS_ARGS_HELP;
    for (size_t i = 0; i < sizeof command_table / sizeof *command_table; i++)
        if (strcmp(word, command_table[i].name + before) == 0) {
            out->name = command_table[i].name + (within ? 0 : before);
            out->command = command_table[i].command;
            least = command_table[i].least;
            most = command_table[i].most;
        }
    if (!out->command) {
        cli_error(*word ? "there is no 'tutti exodus %s'" : "what?", word);
        return EXODUS_ARGS_WRONG;
    }
    if (!within) out->help = cli_help_text(word) ? word : "exodus";
    out->path = cli_malloc((size_t)argc * sizeof *out->path);
    for (int i = within ? 2 : 1; i < argc && !wrong; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return EXODUS_ARGS_HELP;
        wrong = argument_take(argc, argv, &i, out);
    }
    if (!wrong) wrong = config_check(out, least, most);
    return wrong ? EXODUS_ARGS_WRONG : EXODUS_ARGS_OK;
}

void exodus_config_free(exodus_config *c) {
    free(c->path);
    cli_list_free(&c->variables);
    cli_list_free(&c->tolerances);
}

void exodus_options_of(const exodus_config *c, tutti_exodus_options *out) {
    tutti_exodus_options_init(out);
    if (c->real > 0) out->real_bytes = c->real;
    if (c->integers > 0) out->integer_bytes = c->integers;
    if (c->steps_per_file > 0) out->steps_per_file = c->steps_per_file;
    out->nemesis = c->nemesis;
    out->overwrite = c->force;
    out->any_times = 1; /* as they are in the input */
}
