/* tutti mesh: arguments.  A table says which command takes which; whatever is not in it is an
 * option of the library.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/cmd_mesh.h"

#include <stdlib.h>
#include <string.h>

enum { DIVIDED = MESH_PARTITION | MESH_OWNERS | MESH_TREE | MESH_PLOT, EVERYWHERE = 63 };

static const char *const order_names[] = {"file", "curve", "rcm"};
static const char *const by_names[] = {"metis", "curve", "rcb"};
static const char *const format_names[] = {"native", "gmsh41", "gmsh41-binary", "gmsh22",
                                           "gmsh22-binary"};

const char *mesh_order_name(tutti_mesh_order o) {
    return order_names[o];
}

const char *mesh_by_name(int by) {
    return by_names[by];
}

static int wrong_value(const char *name, const char *value, const char *wanted) {
    return cli_error("--%s '%s': %s", name, value, wanted);
}

/* One of n names; -1: none. */
static int name_of(const char *value, int n, const char *const *names) {
    for (int i = 0; i < n; i++)
        if (strcmp(value, names[i]) == 0) return i;
    return -1;
}

static int set_parts(mesh_config *c, const char *value) {
    long n = 0;
    if (!cli_parse_count(value, 1 << 20, &n) || n < 1)
        return wrong_value("parts", value, "a number from 1 to 1048576 is needed");
    return c->parts = (int)n, 0;
}

static int set_by(mesh_config *c, const char *value) {
    const int i = name_of(value, 3, by_names);
    if (i < 0) return wrong_value("by", value, "metis, curve or rcb is needed");
    return c->by = (tutti_mesh_by)i, 0;
}

static int set_order(mesh_config *c, const char *value) {
    const int i = name_of(value, 3, order_names);
    if (i < 0) return wrong_value("order", value, "file, curve or rcm is needed");
    return c->order = (tutti_mesh_order)i, 0;
}

static int set_rule(mesh_config *c, const char *value) {
    cli_list l = {0, NULL, NULL};
    int failed = 0;
    cli_list_split(&l, value);
    c->rules = 0;
    for (int i = 0; i < l.n && !failed; i++) {
        if (c->rules == MESH_RULES ||
            tutti_replicas_rule_parse(l.item[i], &c->rule[c->rules++]) != TUTTI_OK)
            failed = wrong_value("rule", value, "own, random, first, idg or idg2 are needed");
    }
    cli_list_free(&l);
    return failed;
}

static int set_seed(mesh_config *c, const char *value) {
    char *end = NULL;
    c->seed = strtoull(value, &end, 10);
    return *value && !*end ? 0 : wrong_value("seed", value, "a number is needed");
}

static int set_balance(mesh_config *c, const char *value) {
    char *end = NULL;
    c->balance = strtod(value, &end);
    if (*value && !*end && c->balance >= 1 && c->balance < 1e9) return 0;
    return wrong_value("balance", value, "a number of 1 or more is needed");
}

static int set_load(mesh_config *c, const char *value) {
    long n = 0;
    if (!cli_parse_count(value, 1000000000, &n) || n < 1)
        return wrong_value("load", value, "a number of values is needed");
    return c->load = n, 0;
}

static int set_value_bytes(mesh_config *c, const char *value) {
    if (cli_parse_size(value, &c->value_bytes) && c->value_bytes >= 1) return 0;
    return wrong_value("value-bytes", value, "a number of bytes is needed");
}

static int set_format(mesh_config *c, const char *value) {
    const int i = name_of(value, 5, format_names);
    if (i < 0)
        return wrong_value("format", value,
                           "native, gmsh41, gmsh41-binary, gmsh22 or gmsh22-binary is needed");
    c->has_format = 1;
    return c->format = (tutti_mesh_format)i, 0;
}

static int set_hosts(mesh_config *c, const char *value) {
    long n = 0;
    if (!cli_parse_count(value, 1000000, &n) || n < 2)
        return wrong_value("hosts", value, "a number of 2 or more is needed");
    return c->hosts = (int)n, 0;
}

static int set_json(mesh_config *c, const char *value) {
    return (void)value, c->json = 1, 0;
}

static int set_force(mesh_config *c, const char *value) {
    return (void)value, c->force = 1, 0;
}

static int set_out(mesh_config *c, const char *value) {
    return c->out = value, *value ? 0 : wrong_value("out", value, "a name is needed");
}

static int set_dir(mesh_config *c, const char *value) {
    return c->dir = value, *value ? 0 : wrong_value("dir", value, "a name is needed");
}

static const struct argument {
    const char *name;
    int takes_value;
    int commands;
    int (*set)(mesh_config *c, const char *value);
} argument_table[] = {
    {"parts", 1, DIVIDED, set_parts},
    {"by", 1, DIVIDED, set_by},
    {"order", 1, EVERYWHERE, set_order},
    {"rule", 1, MESH_OWNERS | MESH_TREE | MESH_PLOT, set_rule},
    {"seed", 1, MESH_OWNERS | MESH_PLOT, set_seed},
    {"balance", 1, MESH_OWNERS | MESH_PLOT, set_balance},
    {"load", 1, MESH_OWNERS, set_load},
    {"value-bytes", 1, MESH_OWNERS | MESH_TREE, set_value_bytes},
    {"json", 0, MESH_INFO | MESH_PARTITION | MESH_OWNERS | MESH_TREE, set_json},
    {"out", 1, MESH_PARTITION | MESH_PLOT, set_out},
    {"format", 1, MESH_CONVERT, set_format},
    {"force", 0, MESH_CONVERT, set_force},
    {"hosts", 1, MESH_TREE, set_hosts},
    {"dir", 1, MESH_TREE, set_dir},
};
enum { ARGUMENTS = sizeof argument_table / sizeof *argument_table };

static const struct {
    const char *name;
    int command, files;
} command_table[] = {{"info", MESH_INFO, 1},     {"partition", MESH_PARTITION, 1},
                     {"owners", MESH_OWNERS, 1}, {"tree", MESH_TREE, 1},
                     {"plot", MESH_PLOT, 1},     {"convert", MESH_CONVERT, 2}};

static int find_command(mesh_config *c, const char *name, int *files) {
    for (size_t i = 0; i < sizeof command_table / sizeof *command_table; i++)
        if (strcmp(name, command_table[i].name) == 0) {
            c->command = command_table[i].command;
            c->name = command_table[i].name;
            *files = command_table[i].files;
            return 0;
        }
    return cli_error("there is no 'tutti mesh %s'", name);
}

/* --NAME VALUE or --NAME=VALUE; *at moves on. */
static int take_option(mesh_config *c, int argc, char **argv, int *at) {
    char name[128];
    const char *text = argv[*at] + 2, *equal = strchr(text, '=');
    const size_t n = equal ? (size_t)(equal - text) : strlen(text);
    if (n >= sizeof name) return cli_error("'%s' is no argument", argv[*at]);
    memcpy(name, text, n);
    name[n] = '\0';
    const struct argument *a = NULL;
    for (int i = 0; i < ARGUMENTS; i++)
        if (strcmp(name, argument_table[i].name) == 0) a = &argument_table[i];
    if (a && !(a->commands & c->command))
        return cli_error("--%s is not for 'tutti mesh %s'", name, c->name);
    if (a && !a->takes_value) return equal ? cli_error("--%s takes no value", name) : a->set(c, "");
    const char *value = equal ? equal + 1 : *at + 1 < argc ? argv[++*at] : NULL;
    if (!value) return cli_error("--%s needs a value", name);
    if (a) return a->set(c, value);
    return tutti_options_set(&c->options, name, value) == TUTTI_OK ? 0 : cli_error_tutti();
}

static int parse(int argc, char **argv, mesh_config *c) {
    const char *file[2] = {NULL, NULL};
    int n = 0, files = 0;
    if (argc < 2) return cli_error("a command is needed");
    if (find_command(c, argv[1], &files)) return 1;
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) == 0 && argv[i][2]) {
            if (take_option(c, argc, argv, &i)) return 1;
        } else if (n < files) {
            file[n++] = argv[i];
        } else {
            return cli_error("'%s' is one too many", argv[i]);
        }
    }
    if (n < files) return cli_error("a file is needed");
    c->path = file[0];
    c->to = file[1];
    return 0;
}

int mesh_config_parse(int argc, char **argv, mesh_config *c) {
    *c = (mesh_config){.parts = 8,
                       .by = TUTTI_MESH_METIS,
                       .order = TUTTI_MESH_FILE,
                       .seed = 1,
                       .load = 1,
                       .value_bytes = 8,
                       .dir = ".",
                       .hosts = MESH_HOSTS};
    static const tutti_replicas_rule all[] = {TUTTI_REPLICAS_OWN, TUTTI_REPLICAS_RANDOM,
                                              TUTTI_REPLICAS_FIRST, TUTTI_REPLICAS_IDG,
                                              TUTTI_REPLICAS_IDG2};
    c->rules = sizeof all / sizeof *all;
    memcpy(c->rule, all, sizeof all);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return MESH_ARGS_HELP;
    if (tutti_options_init(&c->options) != TUTTI_OK) return cli_error_tutti(), MESH_ARGS_WRONG;
    return parse(argc, argv, c) ? MESH_ARGS_WRONG : MESH_ARGS_OK;
}
