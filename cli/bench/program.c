/* A program that measures, other than `tutti bench`: from its arguments to its exit code.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <stddef.h>

int bench_outputs_check(const cli_world *w, const bench_config *c) {
    return cli_agree(w, w->rank == 0 && cli_output_check(c->json));
}

static const bench_program *program;

static int measure_and_report(const cli_world *w, const void *config) {
    if (bench_outputs_check(w, config)) return CLI_FAILED;
    const int code = program->run(w, config, program->what);
    return code == CLI_FAILED ? CLI_DIFFERS : code; /* the messages are already printed */
}

int bench_start(const bench_program *p, int argc, char **argv) {
    const cli_command command = {.name = "",
                                 .bits = 1,
                                 .operands = p->scope->operands ? "[FILE...]" : "",
                                 .run = measure_and_report};
    const cli_group g = {.program = p->name,
                         .help = p->help,
                         .command = &command,
                         .commands = 1,
                         .option = bench_options_of(p->scope),
                         .options = BENCH_OPTIONS,
                         .config_size = sizeof(bench_config),
                         .library = offsetof(bench_config, options),
                         .mpi = CLI_MPI,
                         .threads = p->threads,
                         .start = bench_set_defaults,
                         .check = bench_check};
    program = p;
    return cli_exit_code(cli_command_run(&g, &command, argc - 1, argv + 1));
}
