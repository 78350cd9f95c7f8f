/* A program that measures: from its arguments to its exit code.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

/* Before long work: can the report be written? */
static int check_outputs(const cli_world *w, const bench_config *c) {
    return cli_agree(w, w->rank == 0 && cli_output_check(c->json));
}

static int parse_and_run(const bench_program *p, const cli_world *w, int argc, char **argv) {
    bench_config config;
    const int parsed = bench_config_parse(argc, argv, p->scope, &config);
    if (parsed == ARGS_HELP) {
        if (w->rank == 0) fputs(p->help, stdout);
        return CLI_OK;
    }
    if (parsed == ARGS_WRONG) {
        if (w->rank == 0) fprintf(stderr, "%s: %s\ntry '%s'\n", p->name, cli_message(), p->see);
        return CLI_USAGE;
    }
    cli_catch_signals();
    int code = CLI_FAILED;
    if (check_outputs(w, &config) == 0)
        code = p->run(w, &config, p->what);
    else if (w->rank == 0)
        fprintf(stderr, "%s: %s\n", p->name, cli_message());
    bench_config_free(&config);
    return code;
}

int bench_start(const bench_program *p, int argc, char **argv) {
    cli_world w;
    int granted;
    cli_guard_start();
    if (MPI_Init_thread(NULL, NULL, p->threads, &granted) != MPI_SUCCESS) return CLI_FAILED;
    cli_world_init(&w);
    const int code = parse_and_run(p, &w, argc, argv);
    fflush(NULL);
    MPI_Finalize();
    return code;
}
