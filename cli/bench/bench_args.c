/* Options of tutti bench and of experiments.  The table has all options; the bits of a row select the
 * programs that accept it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ALL_PATTERNS "block2d,columns,block3d,cyclic4k,pieces512,irregular64,flash,strided"
#define MORE_PATTERNS "square2d,ior,tile256,tile1m,e3sm-f,e3sm-g,e3sm-i,btio,s3d,wrf"
#define ALL_METHODS "auto,independent,list,sieve,root,two-phase"

enum { TAKES = 1, BENCH = TAKES, EXPERIMENTS = 2, SOME_EXPERIMENTS = 4, ALL = BENCH | EXPERIMENTS };

/* Set the flags that a list names and clear the others.  The list may also be "all" or "none". */
static int set_flags(const char *value, int n, const char *const *names, int *const *flags) {
    cli_list list = {0};
    int failed = 0;
    cli_list_split(&list, value);
    for (int k = 0; k < n; k++) *flags[k] = strcmp(value, "all") == 0;
    for (int i = 0; i < list.n && !failed; i++) {
        int found = strcmp(value, "all") == 0 || strcmp(value, "none") == 0;
        for (int k = 0; k < n; k++)
            if (strcmp(names[k], list.item[i]) == 0) found = *flags[k] = 1;
        if (!found) failed = cli_error("unknown value '%s'", list.item[i]);
    }
    cli_list_free(&list);
    return failed;
}

static int set_op(void *config, const char *value) {
    bench_config *c = config;
    static const char *const names[] = {"write", "read"};
    if (set_flags(value, 2, names, (int *const[]){&c->write, &c->read})) return 1;
    return c->write || c->read ? 0 : cli_error("must be write, read, or write,read");
}

static int set_plan(void *config, const char *value) {
    bench_config *c = config;
    static const char *const names[] = {"fresh", "reused"};
    if (set_flags(value, 2, names, (int *const[]){&c->fresh, &c->reused})) return 1;
    return c->fresh || c->reused ? 0 : cli_error("must be fresh, reused, or fresh,reused");
}

static int set_reference(void *config, const char *value) {
    bench_config *c = config;
    static const char *const names[] = {"pieces", "staging", "mapping"};
    return set_flags(value, 3, names, (int *const[]){&c->pieces, &c->staging, &c->mapping});
}

static int refuse_report(void *config, const char *value) {
    return (void)config,
           cli_error("'%s' requires two steps: --json FILE, then 'tutti-report FILE'", value);
}

#define AT(field) .at = offsetof(bench_config, field)
const cli_option bench_options[BENCH_OPTIONS] = {
    {0, "quick", NULL, NULL,
     "measure small sizes for some seconds (tutti bench: two patterns, all methods, JSON in "
     "tutti-bench.json)",
     ALL, CLI_FLAG, AT(quick)},
    {0, "pattern", "LIST", NULL,
     "patterns: block2d, columns, block3d, cyclic4k, pieces512, irregular64, flash, strided, or "
     "all (default: all); also e3sm-f, e3sm-g, e3sm-i, btio, s3d, wrf: application kernels",
     BENCH | SOME_EXPERIMENTS, CLI_LIST, AT(patterns)},
    {0, "size", "BYTES", NULL, "bytes per rank (default: 32m)", BENCH | SOME_EXPERIMENTS, CLI_SIZE,
     AT(size), 4096, 1 << 30},
    {0, "op", "LIST", NULL, "operations: write, read (default: write,read)",
     BENCH | SOME_EXPERIMENTS, CLI_CUSTOM, .set = set_op},
    {0, "dir", "LIST", NULL, "directories to measure in (default: .)", ALL, CLI_LIST, AT(dirs)},
    {0, "rounds", "N", NULL, "rounds of each measurement (default: 7)", ALL, CLI_COUNT, AT(rounds),
     1, 10000},
    {0, "method", "LIST", NULL,
     "methods: auto, independent, list, sieve, root, two-phase, or all (default: auto,two-phase)",
     BENCH | SOME_EXPERIMENTS, CLI_LIST, AT(methods)},
    {0, "exchange", "LIST", NULL,
     "exchanges for auto and two-phase: auto, shm, two-sided, fence, lock",
     BENCH | SOME_EXPERIMENTS, CLI_LIST, AT(exchanges)},
    {0, "store", "LIST", NULL, "stores: auto, posix, uring, threads, aio, mem, null",
     BENCH | SOME_EXPERIMENTS, CLI_LIST, AT(stores)},
    {0, "plan", "LIST", NULL,
     "plans: fresh (planning is timed), reused (made before) (default: fresh,reused)",
     BENCH | SOME_EXPERIMENTS, CLI_CUSTOM, .set = set_plan},
    {0, "reference", "LIST", NULL,
     "references beside the limit: pieces, staging, mapping, all or none (default: all)",
     BENCH | SOME_EXPERIMENTS, CLI_CUSTOM, .set = set_reference},
    {0, "peers", NULL, NULL,
     "measure MPI_File_write_all and MPI_File_read_all of the MPI library, too",
     BENCH | SOME_EXPERIMENTS, CLI_FLAG, AT(peers)},
    {0, "cold", NULL, NULL, "remove the file from the page cache before each read",
     BENCH | SOME_EXPERIMENTS, CLI_FLAG, AT(cold)},
    {0, "fsync", NULL, NULL, "sync each write to the device before it ends",
     BENCH | SOME_EXPERIMENTS, CLI_FLAG, AT(fsync)},
    {0, "slice", "BYTES", NULL, "bytes per rank and step of the reference staging (default: 1m)",
     BENCH | SOME_EXPERIMENTS, CLI_SIZE, AT(slice), 4096, 1 << 30},
    {0, "budget", "SECONDS", NULL, "measure fewer rounds after this time; 0: never (default: 0)",
     ALL, CLI_NUMBER, AT(budget), 0, 1e9},
    {0, "seed", "N", NULL, "seed of the bytes and of the pattern irregular64 (default: 1)", ALL,
     CLI_SIZE, AT(seed)},
    {0, "json", "FILE", NULL,
     "write all results ('-': standard output); 'tutti-report FILE --html FILE' makes a page with "
     "figures",
     ALL, CLI_TEXT, AT(json)},
    {0, "csv", "FILE", NULL, "", EXPERIMENTS | SOME_EXPERIMENTS, CLI_CUSTOM, .set = refuse_report},
    {0, "html", "FILE", NULL, "", EXPERIMENTS | SOME_EXPERIMENTS, CLI_CUSTOM, .set = refuse_report},
    {0, "procs", "LIST", NULL, "numbers of processes", SOME_EXPERIMENTS, CLI_LIST, AT(procs)},
    {0, "array", "BYTES", NULL, "size of the array of all ranks", SOME_EXPERIMENTS, CLI_SIZE,
     AT(array), 4096, (double)((tutti_off)16 << 30)},
    {0, "files", "LIST", NULL, "sizes of files", SOME_EXPERIMENTS, CLI_LIST, AT(files)},
    {0, "series", "N", NULL, "series of rounds", SOME_EXPERIMENTS, CLI_COUNT, AT(series), 1, 100},
    {0, "iterations", "N", NULL, "iterations of computing and writing", SOME_EXPERIMENTS, CLI_COUNT,
     AT(iterations), 1, 1000},
    {0, "part", "LIST", NULL, "parts of the experiment", SOME_EXPERIMENTS, CLI_LIST, AT(parts)},
    {0, "iops", "N", NULL, "operations per second of the device", SOME_EXPERIMENTS, CLI_NUMBER,
     AT(iops), 1e-9, 1e9},
    {0, "partitions", "LIST", NULL, "numbers of partitions", SOME_EXPERIMENTS, CLI_LIST,
     AT(partitions)},
    {0, "loads", "LIST", NULL, "values per node", SOME_EXPERIMENTS, CLI_LIST, AT(loads)},
    {0, "nodes", "N", NULL, "nodes of a generated mesh", SOME_EXPERIMENTS, CLI_SIZE, AT(nodes), 1,
     1e8},
    {0, "rule", "LIST", NULL, "rules: own, random, first, idg, idg2", SOME_EXPERIMENTS, CLI_LIST,
     AT(rules)},
    {0, "order", "file|curve|rcm", NULL, "order of the nodes", SOME_EXPERIMENTS, CLI_CHOICE,
     AT(order)},
    {0, "by", "metis|curve|rcb", NULL, "partitioner", SOME_EXPERIMENTS, CLI_CHOICE, AT(by)},
    {0, "cases", "N", NULL, "draw N cases in which every pair of levels occurs", SOME_EXPERIMENTS,
     CLI_COUNT, AT(cases), 1, 100000},
    {0, "slow", "LIST", NULL, "directories of throttled devices", SOME_EXPERIMENTS, CLI_LIST,
     AT(slow)},
    {0, "tuned", "FILE", NULL, "profile of 'tutti tune' beside the default", SOME_EXPERIMENTS,
     CLI_TEXT, AT(tuned)},
    {0, "ways", "LIST", NULL, "words of the names of variants", SOME_EXPERIMENTS, CLI_LIST,
     AT(ways)},
};

/* ---- values of lists */

/* Check that each item is a valid value of the library option `name`. */
static int check_choices(const cli_list *list, const char *name) {
    tutti_options scratch;
    tutti_options_defaults(&scratch);
    for (int i = 0; i < list->n; i++)
        if (tutti_options_set(&scratch, name, list->item[i]) != TUTTI_OK) return cli_error_tutti();
    return 0;
}

static int check_integers(const cli_list *list, const char *name, long most) {
    for (int i = 0; i < list->n; i++) {
        long n = 0;
        if (!cli_parse_count(list->item[i], most, &n) || n == 0)
            return cli_error("--%s '%s': must be an integer from 1 to %ld", name, list->item[i],
                             most);
    }
    return 0;
}

/* Check that each item is in `known`, a list separated by commas. */
static int check_words(const cli_list *list, const char *name, const char *known) {
    cli_list words = {0};
    int failed = 0;
    cli_list_split(&words, known);
    for (int i = 0; i < list->n && !failed; i++)
        if (!cli_list_has(&words, list->item[i]))
            failed = cli_error("--%s '%s': must be one of %s", name, list->item[i], known);
    cli_list_free(&words);
    return failed;
}

int bench_check(void *config) {
    bench_config *c = config;
    tutti_off size;
    c->operand = c->call.operand;
    c->operands = c->call.operands;
    if (c->patterns.n == 1 && strcmp(c->patterns.item[0], "all") == 0)
        cli_list_split(&c->patterns, ALL_PATTERNS);
    if (c->methods.n == 1 && strcmp(c->methods.item[0], "all") == 0)
        cli_list_split(&c->methods, ALL_METHODS);
    for (int i = 0; i < c->files.n; i++)
        if (!cli_parse_size(c->files.item[i], &size) || size < 4096 || size > (tutti_off)16 << 30)
            return cli_error("--files '%s': must be sizes from 4k to 16g", c->files.item[i]);
    if ((c->slow.n || c->tuned) && !c->cases)
        return cli_error("--slow and --tuned require --cases N");
    for (int i = 0; i < c->rules.n; i++) {
        tutti_replicas_rule rule;
        if (tutti_replicas_rule_parse(c->rules.item[i], &rule) != TUTTI_OK)
            return cli_error_tutti();
    }
    if (check_words(&c->patterns, "pattern", ALL_PATTERNS "," MORE_PATTERNS) ||
        check_words(&c->parts, "part", c->all_parts ? c->all_parts : "") ||
        check_choices(&c->methods, "method") || check_choices(&c->exchanges, "exchange") ||
        check_choices(&c->stores, "store") || check_integers(&c->procs, "procs", 1000000) ||
        check_integers(&c->partitions, "partitions", 1 << 20) ||
        check_integers(&c->loads, "loads", 1000000))
        return 1;
    /* Without --exchange or --store, use the library's option. */
    char value[64];
    if (c->exchanges.n == 0 &&
        tutti_options_get(&c->options, "exchange", value, sizeof value) == TUTTI_OK)
        cli_list_split(&c->exchanges, value);
    if (c->stores.n == 0 &&
        tutti_options_get(&c->options, "store", value, sizeof value) == TUTTI_OK)
        cli_list_split(&c->stores, value);
    return 0;
}

/* ---- defaults */

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

static const bench_scope plain_scope = {.defaults = plain_defaults};

/* scope of the program whose arguments are parsed */
static const bench_scope *scope = &plain_scope;

void bench_set_defaults(void *config, int argc, char **argv) {
    bench_config *c = config;
    int quick = 0;
    for (int i = 0; i < argc; i++) quick |= strcmp(argv[i], "--quick") == 0;
    c->seed = c->series = 1;
    c->iterations = c->cases = 0;
    c->order = TUTTI_MESH_FILE;
    c->by = TUTTI_MESH_METIS;
    cli_list_split(&c->dirs, ".");
    scope->defaults(c, quick);
}

const cli_option *bench_options_of(const bench_scope *s) {
    static cli_option taken[BENCH_OPTIONS];
    cli_list names = {0};
    cli_list_split(&names, s->takes);
    scope = s;
    for (int i = 0; i < BENCH_OPTIONS; i++) {
        taken[i] = bench_options[i];
        taken[i].commands = (taken[i].commands & EXPERIMENTS) || cli_list_has(&names, taken[i].name)
                                ? TAKES
                                : SOME_EXPERIMENTS;
    }
    cli_list_free(&names);
    return taken;
}
