/* tutti ls ... export: arguments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"
#include "common/flags.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *name;
    int command, paths;
} command_table[] = {
    {"ls", DATASET_LS, 1},           {"show", DATASET_SHOW, 1},       {"verify", DATASET_VERIFY, 1},
    {"dump", DATASET_DUMP, 1},       {"diff", DATASET_DIFF, 2},       {"plot", DATASET_PLOT, 1},
    {"cp", DATASET_CP, 2},           {"export", DATASET_EXPORT, 1},   {"repair", DATASET_REPAIR, 1},
    {"archive", DATASET_ARCHIVE, 1}, {"restore", DATASET_RESTORE, 1},
};

/* What flags are followed by; each says where it goes. */
static const struct {
    const char *name;
    size_t at; /* in the config */
    cli_flag_kind kind;
    int commands;
} flag_table[] = {
#define AT(field) offsetof(dataset_config, field)
    {"--json", AT(json), CLI_YES, ~0},
    {"--all", AT(all), CLI_YES, DATASET_LS},
    {"--range", AT(range), CLI_YES, DATASET_LS},
    {"--quiet", AT(quiet), CLI_YES, DATASET_VERIFY | DATASET_DIFF},
    {"-q", AT(quiet), CLI_YES, DATASET_VERIFY | DATASET_DIFF},
    {"--variable", AT(variables), CLI_LIST,
     DATASET_DUMP | DATASET_DIFF | DATASET_PLOT | DATASET_CP | DATASET_EXPORT},
    {"-v", AT(variables), CLI_LIST,
     DATASET_DUMP | DATASET_DIFF | DATASET_PLOT | DATASET_CP | DATASET_EXPORT},
    {"--segment", AT(segment), CLI_TEXT, DATASET_DUMP | DATASET_PLOT},
    {"-s", AT(segment), CLI_TEXT, DATASET_DUMP | DATASET_PLOT},
    {"--slice", AT(slice), CLI_TEXT, DATASET_DUMP | DATASET_PLOT},
    {"--as", AT(as), CLI_TEXT, DATASET_DUMP},
    {"--out", AT(out), CLI_TEXT, DATASET_DUMP | DATASET_PLOT | DATASET_EXPORT},
    {"-o", AT(out), CLI_TEXT, DATASET_DUMP | DATASET_PLOT | DATASET_EXPORT},
    {"--abs", AT(tolerance[0]), CLI_NUMBER, DATASET_DIFF},
    {"--rel", AT(tolerance[1]), CLI_NUMBER, DATASET_DIFF},
    {"--tolerance", AT(tolerances), CLI_LIST, DATASET_DIFF},
    {"--type", AT(type), CLI_TEXT, DATASET_CP},
    {"--layout", AT(layout_name), CLI_TEXT, DATASET_CP},
    {"--container", AT(container_name), CLI_TEXT, DATASET_CP},
    {"--indices-per-file", AT(indices), CLI_COUNT, DATASET_CP},
    {"--xdmf", AT(xdmf), CLI_YES, DATASET_EXPORT},
    {"--csv", AT(csv), CLI_YES, DATASET_EXPORT},
    {"--zarr", AT(zarr), CLI_YES, DATASET_EXPORT},
    {"--compress", AT(compress), CLI_COUNT, DATASET_CP},
    {"--by", AT(by), CLI_TEXT, DATASET_DIFF},
    {"--to", AT(place), CLI_TEXT, DATASET_ARCHIVE},
    {"--from", AT(place), CLI_TEXT, DATASET_RESTORE},
    {"--tar", AT(tar), CLI_TEXT, DATASET_ARCHIVE | DATASET_RESTORE},
    {"--command", AT(shell), CLI_TEXT, DATASET_ARCHIVE | DATASET_RESTORE},
    {"--segments", AT(range_text), CLI_TEXT, DATASET_ARCHIVE | DATASET_RESTORE},
    {"--older-than", AT(older), CLI_TEXT, DATASET_ARCHIVE | DATASET_RESTORE},
#undef AT
};

/* NAME=ABS or NAME=ABS/REL */
static int tolerance_take(const char *item, const char *name, double out[2]) {
    const char *is = strrchr(item, '=');
    char *slash = NULL;
    if (!is || is == item)
        return cli_error("--tolerance: '%s' is not NAME=ABS or NAME=ABS/REL", item);
    if (name && (strlen(name) != (size_t)(is - item) || strncmp(name, item, strlen(name)) != 0))
        return 0;
    char *text = cli_strdup(is + 1);
    slash = strchr(text, '/');
    if (slash) *slash++ = '\0';
    out[1] = 0;
    const int wrong = cli_number_take("--tolerance", text, &out[0]) ||
                      (slash && cli_number_take("--tolerance", slash, &out[1]));
    free(text);
    return wrong;
}

void dataset_tolerance(const dataset_config *c, const char *variable, double out[2]) {
    memcpy(out, c->tolerance, sizeof c->tolerance);
    for (int i = 0; i < c->tolerances.n; i++)
        (void)tolerance_take(c->tolerances.item[i], variable, out);
}

int dataset_wanted(const dataset_config *c, const char *variable) {
    return c->variables.n == 0 || cli_list_has(&c->variables, variable);
}

/* The metadata file stands for its directory. */
static char *directory_of(const char *path) {
    static const char name[] = "metadata.sqlite";
    const char *slash = strrchr(path, '/');
    struct stat st;
    if (strcmp(slash ? slash + 1 : path, name) != 0 || stat(path, &st) != 0 || S_ISDIR(st.st_mode))
        return cli_strdup(path);
    if (!slash) return cli_strdup(".");
    return cli_format("%.*s", (int)(slash == path ? 1 : slash - path), path);
}

static int argument_take(int argc, char **argv, int *i, dataset_config *c, int *paths) {
    const char *word = argv[*i];
    if (word[0] != '-' || !word[1]) {
        char **to = *paths == 0 ? &c->path : &c->to;
        if (*paths == 2) return cli_error("'%s': there are two names already", word);
        *to = directory_of(word);
        ++*paths;
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

static int config_check(const dataset_config *c, int paths, int wanted) {
    double none[2];
    if (paths != wanted)
        return cli_error(wanted == 1 ? "one dataset is needed" : "two datasets are needed");
    if (c->command & (DATASET_DUMP | DATASET_PLOT) && c->variables.n != 1)
        return cli_error("one variable is needed: -v NAME");
    if (c->as && strcmp(c->as, "text") != 0 && strcmp(c->as, "csv") != 0 &&
        strcmp(c->as, "npy") != 0)
        return cli_error("--as %s: it is text, csv or npy", c->as);
    if (c->command == DATASET_DUMP && c->json && c->as)
        return cli_error("either --json or --as, not both");
    if (c->command == DATASET_EXPORT && c->xdmf + c->csv + c->zarr != 1)
        return cli_error("one of --xdmf, --zarr and --csv is needed");
    if (c->compress > 19)
        return cli_error("--compress %d: it is 0 (not at all) to 19", c->compress);
    if (c->command & (DATASET_ARCHIVE | DATASET_RESTORE)) {
        if (!!c->place + !!c->tar + !!c->shell != 1)
            return cli_error("one of %s DIR, --tar FILE and --command COMMAND is needed",
                             c->command == DATASET_ARCHIVE ? "--to" : "--from");
        if (c->range_text && c->older)
            return cli_error("either --segments or --older-than, not both");
    }
    if (c->by && strcmp(c->by, "id") != 0 && strcmp(c->by, "position") != 0)
        return cli_error("--by %s: it is id or position", c->by);
    for (int i = 0; i < c->tolerances.n; i++)
        if (tolerance_take(c->tolerances.item[i], NULL, none)) return 1;
    return 0;
}

int dataset_config_parse(int argc, char **argv, dataset_config *out) {
    int paths = 0, wanted = 0, wrong = 0;
    *out = (dataset_config){.indices = -1, .compress = -1, .container = -1};
    for (size_t i = 0; i < sizeof command_table / sizeof *command_table; i++)
        if (strcmp(argv[0], command_table[i].name) == 0) {
            out->command = command_table[i].command;
            out->name = command_table[i].name;
            wanted = command_table[i].paths;
        }
    for (int i = 1; i < argc && !wrong; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return DATASET_ARGS_HELP;
        wrong = argument_take(argc, argv, &i, out, &paths);
    }
    if (!wrong) wrong = config_check(out, paths, wanted);
    if (!wrong && out->layout_name) {
        out->layout = strcmp(out->layout_name, "global") == 0   ? 1
                      : strcmp(out->layout_name, "ranked") == 0 ? 2
                                                                : 0;
        if (!out->layout) wrong = cli_error("--layout: it is global or ranked");
    }
    if (!wrong && out->container_name) {
        out->container = strcmp(out->container_name, "native") == 0   ? TUTTI_CONTAINER_NATIVE
                         : strcmp(out->container_name, "netcdf") == 0 ? TUTTI_CONTAINER_NETCDF
                                                                      : -1;
        if (out->container < 0) wrong = cli_error("--container: it is native or netcdf");
    }
    return wrong ? DATASET_ARGS_WRONG : DATASET_ARGS_OK;
}

void dataset_config_free(dataset_config *c) {
    free(c->path);
    free(c->to);
    cli_list_free(&c->variables);
    cli_list_free(&c->tolerances);
}
