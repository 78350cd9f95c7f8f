/* tutti bench: arguments.  A table of its own arguments, of which some kinds of bench take only
 * some; whatever is not in it is an option of the library.  Parsing needs no communication: every
 * rank gets the same arguments and decides the same.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#define ALL_PATTERNS "block2d,columns,block3d,cyclic4k,pieces512,irregular64,flash,strided"
#define MORE_PATTERNS "square2d,ior,tile256,tile1m"
#define ALL_METHODS "auto,independent,list,sieve,root,two-phase"

static const tutti_off size_max = (tutti_off)1 << 30, array_max = (tutti_off)16 << 30;

/* ---- one function an argument: 0, or 1 and a message */

static int wrong_value(const char *name, const char *value, const char *wanted) {
    return cli_error("--%s '%s': %s", name, value, wanted);
}

/* Is each item a value that the library takes for this option? */
static int set_choices(cli_list *list, const char *name, const char *value) {
    tutti_options scratch;
    tutti_options_defaults(&scratch);
    cli_list_split(list, value);
    if (list->n == 0) return wrong_value(name, value, "a list of values is needed");
    for (int i = 0; i < list->n; i++)
        if (tutti_options_set(&scratch, name, list->item[i]) != TUTTI_OK) return cli_error_tutti();
    return 0;
}

static int set_pattern(bench_config *c, const char *value) {
    cli_list_split(&c->patterns, strcmp(value, "all") == 0 ? ALL_PATTERNS : value);
    for (int i = 0; i < c->patterns.n; i++) {
        int known = 0;
        for (int k = 0; bench_pattern_name(k); k++)
            known |= strcmp(bench_pattern_name(k), c->patterns.item[i]) == 0;
        if (!known)
            return wrong_value("pattern", c->patterns.item[i],
                               "known are " ALL_PATTERNS "," MORE_PATTERNS);
    }
    return c->patterns.n ? 0 : wrong_value("pattern", value, "a list of patterns is needed");
}

static int set_method(bench_config *c, const char *value) {
    return set_choices(&c->methods, "method", strcmp(value, "all") == 0 ? ALL_METHODS : value);
}

static int set_exchange(bench_config *c, const char *value) {
    return set_choices(&c->exchanges, "exchange", value);
}

static int set_store(bench_config *c, const char *value) {
    return set_choices(&c->stores, "store", value);
}

static int set_dir(bench_config *c, const char *value) {
    cli_list_split(&c->dirs, value);
    return c->dirs.n ? 0 : wrong_value("dir", value, "a list of directories is needed");
}

static int set_size(bench_config *c, const char *value) {
    if (cli_parse_size(value, &c->size) && c->size >= 4096 && c->size <= size_max) return 0;
    return wrong_value("size", value, "bytes of one rank, 4k to 1g, are needed");
}

static int set_slice(bench_config *c, const char *value) {
    if (cli_parse_size(value, &c->slice) && c->slice >= 4096 && c->slice <= size_max) return 0;
    return wrong_value("slice", value, "bytes, 4k to 1g, are needed");
}

static int set_array(bench_config *c, const char *value) {
    if (cli_parse_size(value, &c->array) && c->array >= 4096 && c->array <= array_max) return 0;
    return wrong_value("array", value, "bytes of all ranks, 4k to 16g, are needed");
}

static int set_number(const char *name, const char *value, long max, int *out) {
    long n;
    if (!cli_parse_count(value, max, &n) || n == 0)
        return cli_error("--%s '%s': a number from 1 to %ld is needed", name, value, max);
    *out = (int)n;
    return 0;
}

static int set_rounds(bench_config *c, const char *value) {
    return set_number("rounds", value, 10000, &c->rounds);
}

static int set_series(bench_config *c, const char *value) {
    return set_number("series", value, 100, &c->series);
}

static int set_iterations(bench_config *c, const char *value) {
    return set_number("iterations", value, 1000, &c->iterations);
}

static int set_procs(bench_config *c, const char *value) {
    int n;
    cli_list_split(&c->procs, value);
    for (int i = 0; i < c->procs.n; i++)
        if (set_number("procs", c->procs.item[i], 1000000, &n)) return 1;
    return c->procs.n ? 0 : wrong_value("procs", value, "numbers of processes are needed");
}

static int set_files(bench_config *c, const char *value) {
    tutti_off n;
    cli_list_split(&c->files, value);
    for (int i = 0; i < c->files.n; i++)
        if (!cli_parse_size(c->files.item[i], &n) || n < 4096 || n > array_max)
            return wrong_value("files", c->files.item[i], "a size from 4k to 16g is needed");
    return c->files.n ? 0 : wrong_value("files", value, "sizes of files are needed");
}

static int set_part(bench_config *c, const char *value) {
    cli_list known = {0};
    int failed = 0;
    cli_list_split(&c->parts, value);
    cli_list_split(&known, c->all_parts);
    for (int i = 0; i < c->parts.n && !failed; i++)
        if (!cli_list_has(&known, c->parts.item[i]))
            failed = cli_error("--part '%s': known are %s", c->parts.item[i], c->all_parts);
    cli_list_free(&known);
    if (!failed && !c->parts.n) return wrong_value("part", value, "a list of parts is needed");
    return failed;
}

/* ---- meshes */

/* Numbers from 1 to max. */
static int set_numbers(cli_list *list, const char *name, const char *value, long max) {
    int n;
    cli_list_split(list, value);
    for (int i = 0; i < list->n; i++)
        if (set_number(name, list->item[i], max, &n)) return 1;
    return list->n ? 0 : wrong_value(name, value, "numbers are needed");
}

static int set_partitions(bench_config *c, const char *value) {
    return set_numbers(&c->partitions, "partitions", value, 1 << 20);
}

static int set_loads(bench_config *c, const char *value) {
    return set_numbers(&c->loads, "loads", value, 1000000);
}

static int set_nodes(bench_config *c, const char *value) {
    int n = 0;
    if (set_number("nodes", value, 100000000, &n)) return 1;
    return c->nodes = n, 0;
}

static int set_rule(bench_config *c, const char *value) {
    tutti_replicas_rule rule;
    cli_list_split(&c->rules, value);
    for (int i = 0; i < c->rules.n; i++)
        if (tutti_replicas_rule_parse(c->rules.item[i], &rule) != TUTTI_OK)
            return cli_error_tutti();
    return c->rules.n ? 0
                      : wrong_value("rule", value, "own, random, first, idg or idg2 are needed");
}

/* The place of a name among n; -1: it is none of them. */
static int name_of(const char *value, int n, const char *const *names) {
    for (int i = 0; i < n; i++)
        if (strcmp(value, names[i]) == 0) return i;
    return -1;
}

static int set_order(bench_config *c, const char *value) {
    static const char *const names[] = {"file", "curve", "rcm"}; /* tutti_mesh_order */
    const int i = name_of(value, 3, names);
    if (i < 0) return wrong_value("order", value, "file, curve or rcm is needed");
    return c->order = (tutti_mesh_order)i, 0;
}

static int set_by(bench_config *c, const char *value) {
    static const char *const names[] = {"metis", "curve", "rcb"}; /* tutti_mesh_by */
    const int i = name_of(value, 2, names);
    if (i < 0) return wrong_value("by", value, "metis, curve or rcb is needed");
    return c->by = (tutti_mesh_by)i, 0;
}

/* ---- datasets */

static int set_ways(bench_config *c, const char *value) {
    cli_list_split(&c->ways, value);
    return c->ways.n ? 0 : wrong_value("ways", value, "words of the names of ways are needed");
}

/* ---- all kinds again */

static int set_iops(bench_config *c, const char *value) {
    char *end;
    c->iops = strtod(value, &end);
    if (end != value && !*end && c->iops > 0 && c->iops < 1e9) return 0;
    return wrong_value("iops", value, "operations a second are needed");
}

static int set_budget(bench_config *c, const char *value) {
    char *end;
    c->budget = strtod(value, &end);
    if (end != value && !*end && c->budget >= 0 && c->budget < 1e9) return 0;
    return wrong_value("budget", value, "seconds are needed");
}

static int set_seed(bench_config *c, const char *value) {
    char *end;
    c->seed = strtoull(value, &end, 10);
    return end != value && !*end ? 0 : wrong_value("seed", value, "a number is needed");
}

/* Turn on the flags that a list names, all others off.  "all" and "none" may stand for a list. */
static int set_flags(const char *name, const char *value, int n, const char *const *names,
                     int *const *flags) {
    cli_list list = {0};
    int failed = 0;
    cli_list_split(&list, value);
    for (int k = 0; k < n; k++) *flags[k] = strcmp(value, "all") == 0;
    for (int i = 0; i < list.n && !failed; i++) {
        int found = strcmp(value, "all") == 0 || strcmp(value, "none") == 0;
        for (int k = 0; k < n; k++)
            if (strcmp(names[k], list.item[i]) == 0) found = *flags[k] = 1;
        if (!found) failed = wrong_value(name, list.item[i], "is not one of the values");
    }
    cli_list_free(&list);
    return failed;
}

static int set_op(bench_config *c, const char *value) {
    static const char *const names[] = {"write", "read"};
    if (set_flags("op", value, 2, names, (int *const[]){&c->write, &c->read})) return 1;
    return c->write || c->read ? 0 : wrong_value("op", value, "write, read or both are needed");
}

static int set_plan(bench_config *c, const char *value) {
    static const char *const names[] = {"fresh", "reused"};
    return set_flags("plan", value, 2, names, (int *const[]){&c->fresh, &c->reused});
}

static int set_reference(bench_config *c, const char *value) {
    static const char *const names[] = {"pieces", "staging", "mapping"};
    return set_flags("reference", value, 3, names,
                     (int *const[]){&c->pieces, &c->staging, &c->mapping});
}

static int set_json(bench_config *c, const char *value) {
    return c->json = value, 0;
}
static int refuse_report(bench_config *c, const char *value) {
    return (void)c, cli_error("for '%s' write --json FILE, then run tutti-report FILE", value);
}
static int set_peers(bench_config *c, const char *value) {
    return (void)value, c->peers = 1, 0;
}
static int set_cold(bench_config *c, const char *value) {
    return (void)value, c->cold = 1, 0;
}
static int set_fsync(bench_config *c, const char *value) {
    return (void)value, c->fsync = 1, 0;
}
static int set_quick(bench_config *c, const char *value) {
    return (void)value, c->quick = 1, 0;
}

static const struct argument {
    const char *name;
    enum { TAKES_VALUE = 1, NOT_EVERYWHERE = 2 } flags;
    int (*set)(bench_config *c, const char *value);
} argument_table[] = {
    {"dir", TAKES_VALUE, set_dir},
    {"rounds", TAKES_VALUE, set_rounds},
    {"budget", TAKES_VALUE, set_budget},
    {"seed", TAKES_VALUE, set_seed},
    {"json", TAKES_VALUE, set_json},
    {"csv", TAKES_VALUE, refuse_report},
    {"html", TAKES_VALUE, refuse_report},
    {"quick", 0, set_quick},
    {"pattern", TAKES_VALUE | NOT_EVERYWHERE, set_pattern},
    {"size", TAKES_VALUE | NOT_EVERYWHERE, set_size},
    {"op", TAKES_VALUE | NOT_EVERYWHERE, set_op},
    {"method", TAKES_VALUE | NOT_EVERYWHERE, set_method},
    {"exchange", TAKES_VALUE | NOT_EVERYWHERE, set_exchange},
    {"store", TAKES_VALUE | NOT_EVERYWHERE, set_store},
    {"plan", TAKES_VALUE | NOT_EVERYWHERE, set_plan},
    {"reference", TAKES_VALUE | NOT_EVERYWHERE, set_reference},
    {"slice", TAKES_VALUE | NOT_EVERYWHERE, set_slice},
    {"peers", NOT_EVERYWHERE, set_peers},
    {"procs", TAKES_VALUE | NOT_EVERYWHERE, set_procs},
    {"array", TAKES_VALUE | NOT_EVERYWHERE, set_array},
    {"files", TAKES_VALUE | NOT_EVERYWHERE, set_files},
    {"series", TAKES_VALUE | NOT_EVERYWHERE, set_series},
    {"iterations", TAKES_VALUE | NOT_EVERYWHERE, set_iterations},
    {"part", TAKES_VALUE | NOT_EVERYWHERE, set_part},
    {"iops", TAKES_VALUE | NOT_EVERYWHERE, set_iops},
    {"cold", NOT_EVERYWHERE, set_cold},
    {"fsync", NOT_EVERYWHERE, set_fsync},
    {"partitions", TAKES_VALUE | NOT_EVERYWHERE, set_partitions},
    {"loads", TAKES_VALUE | NOT_EVERYWHERE, set_loads},
    {"nodes", TAKES_VALUE | NOT_EVERYWHERE, set_nodes},
    {"rule", TAKES_VALUE | NOT_EVERYWHERE, set_rule},
    {"order", TAKES_VALUE | NOT_EVERYWHERE, set_order},
    {"by", TAKES_VALUE | NOT_EVERYWHERE, set_by},
    {"ways", TAKES_VALUE | NOT_EVERYWHERE, set_ways},
};

/* ---- the walk over the arguments */

/* Is it here that this argument is taken? */
static int is_taken(const bench_scope *scope, const struct argument *a) {
    cli_list list = {0};
    cli_list_split(&list, scope->takes);
    const int taken = !(a->flags & NOT_EVERYWHERE) || cli_list_has(&list, a->name);
    cli_list_free(&list);
    return taken;
}

static const struct argument *find_argument(const bench_scope *scope, const char *name,
                                            size_t length) {
    for (size_t i = 0; i < sizeof argument_table / sizeof *argument_table; i++) {
        const struct argument *a = &argument_table[i];
        if (strlen(a->name) == length && strncmp(a->name, name, length) == 0 && is_taken(scope, a))
            return a;
    }
    return NULL;
}

static int set_library_option(bench_config *c, const char *name, size_t length, const char *value) {
    char key[64];
    if (length >= sizeof key) return cli_error("unknown argument --%s", name);
    memcpy(key, name, length);
    key[length] = '\0';
    if (!value) return cli_error("--%s: unknown, or its value is missing", key);
    return tutti_options_set(&c->options, key, value) == TUTTI_OK ? 0 : cli_error_tutti();
}

typedef struct {
    int n, next;
    char **arg;
} arguments;

/* Take the next argument, and its value.  --name value and --name=value are the same. */
static int take(bench_config *c, const bench_scope *scope, arguments *all) {
    const char *arg = all->arg[all->next++];
    if (scope->operands && *arg && *arg != '-')
        return c->operand[c->operands++] = all->arg[all->next - 1], 0;
    if (strncmp(arg, "--", 2) != 0 || !arg[2]) return cli_error("what is '%s'?", arg);
    const char *name = arg + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct argument *a = find_argument(scope, name, length);
    const char *value = equals ? equals + 1 : NULL;
    if (a && !(a->flags & TAKES_VALUE))
        return value ? cli_error("--%s takes no value", a->name) : a->set(c, NULL);
    if (!value && all->next < all->n) value = all->arg[all->next++];
    if (!a) return set_library_option(c, name, length, value);
    return value ? a->set(c, value) : cli_error("--%s needs a value", a->name);
}

static void plain_defaults(bench_config *c, int quick) {
    c->write = c->read = c->fresh = c->reused = c->pieces = c->staging = c->mapping = 1;
    c->rounds = quick ? 5 : 7;
    c->budget = quick ? 40 : 0;
    c->size = (quick ? 4 : 32) << 20;
    c->slice = 1 << 20;
    c->json = quick ? "tutti-bench.json" : NULL;
    cli_list_split(&c->patterns, quick ? "block2d,strided" : ALL_PATTERNS);
    cli_list_split(&c->methods, quick ? ALL_METHODS : "auto,two-phase");
}

const bench_scope bench_plain = {
    .takes = "pattern,size,op,method,exchange,store,plan,reference,slice,peers,cold,fsync",
    .defaults = plain_defaults,
};

static int set_defaults(bench_config *c, const bench_scope *scope, int quick) {
    *c = (bench_config){.seed = 1, .series = 1};
    cli_list_split(&c->dirs, ".");
    scope->defaults(c, quick);
    return tutti_options_init(&c->options) == TUTTI_OK ? 0 : cli_error_tutti();
}

/* Where no list was given, what the environment says stands. */
static void list_from_options(const tutti_options *opt, const char *name, cli_list *list) {
    char value[64];
    if (list->n == 0 && tutti_options_get(opt, name, value, sizeof value) == TUTTI_OK)
        cli_list_split(list, value);
}

static int parse(int argc, char **argv, const bench_scope *scope, bench_config *c) {
    int quick = 0;
    for (int i = 1; i < argc; i++) quick |= strcmp(argv[i], "--quick") == 0;
    if (set_defaults(c, scope, quick)) return 1;
    c->operand = cli_malloc((size_t)argc * sizeof *c->operand);
    for (arguments all = {argc, 1, argv}; all.next < all.n;)
        if (take(c, scope, &all)) return 1;
    if (scope == &bench_plain && !c->fresh && !c->reused)
        return cli_error("--plan: fresh, reused or both are needed");
    list_from_options(&c->options, "exchange", &c->exchanges);
    list_from_options(&c->options, "store", &c->stores);
    return 0;
}

int bench_config_parse(int argc, char **argv, const bench_scope *scope, bench_config *out) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return ARGS_HELP;
    if (parse(argc, argv, scope, out) == 0) return ARGS_OK;
    bench_config_free(out);
    return ARGS_WRONG;
}

void bench_config_free(bench_config *c) {
    cli_list_free(&c->patterns);
    cli_list_free(&c->methods);
    cli_list_free(&c->exchanges);
    cli_list_free(&c->stores);
    cli_list_free(&c->dirs);
    cli_list_free(&c->procs);
    cli_list_free(&c->files);
    cli_list_free(&c->parts);
    cli_list_free(&c->partitions);
    cli_list_free(&c->loads);
    cli_list_free(&c->rules);
    cli_list_free(&c->ways);
    free(c->operand);
}
