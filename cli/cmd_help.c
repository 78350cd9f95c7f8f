/* tutti help: the texts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

static const char help_overview[] =
    "tutti: collective file access for MPI programs\n"
    "\n"
    "usage: tutti COMMAND [ARGUMENTS]\n"
    "\n"
    "  bench     measure writing and reading on this machine; run it under mpirun\n"
    "  options   list the library's options\n"
    "  help      say more about a command: tutti help bench\n"
    "  version   print the version (also --version)\n"
    "\n"
    "The manual page tutti(1) has it all.\n";

static const char help_bench[] =
    "usage: mpirun -np N tutti bench [--quick] [ARGUMENTS]\n"
    "\n"
    "Writes and reads patterns in every chosen way, verifies every byte, and compares with the\n"
    "conforming limit: every rank writes (reads) one contiguous share in calls of 4 MiB.\n"
    "All times are from the first rank's open to the last one's close, on a fresh file; the ways\n"
    "alternate in every round.\n"
    "\n"
    "  --quick           small sizes, two patterns, every method; report in tutti-bench.html\n"
    "  --pattern LIST    block2d, columns, block3d, cyclic4k, pieces512, irregular64, flash, "
    "strided,\n"
    "                    or all\n"
    "  --size BYTES      of one rank (32m; k, m, g are powers of 1024)\n"
    "  --op LIST         write, read (both)\n"
    "  --dir LIST        directories to measure in (.)\n"
    "  --rounds N        rounds of each (7)\n"
    "  --method LIST     auto, independent, list, sieve, root, two-phase, or all (auto,two-phase)\n"
    "  --exchange LIST   for auto and two-phase: auto, shm, two-sided\n"
    "  --store LIST      auto, posix, uring, threads, aio, mem, null\n"
    "  --plan LIST       fresh, reused (both): plan in the timed part, or made before it\n"
    "  --reference LIST  pieces, staging, mapping, all (default) or none; the limit is always "
    "there\n"
    "  --peers           measure the MPI library's own MPI_File_write_all and read_all too\n"
    "  --slice BYTES     of one rank in the reference 'staging' (1m)\n"
    "  --budget SECONDS  fewer rounds once this much time has gone (0: never)\n"
    "  --seed N          of the bytes and of the irregular pattern\n"
    "  --json FILE  --csv FILE  --html FILE   reports ('-': standard output)\n"
    "  --NAME VALUE      any option of the library, see 'tutti options'\n"
    "\n"
    "Exit status: 0 all was verified, 1 something failed or a byte was wrong, 2 wrong usage.\n";

static const char help_options[] =
    "usage: tutti options [--json]\n"
    "\n"
    "Lists every option of the library: name, environment variable, default, values and meaning.\n"
    "The same names are MPI_Info keys and arguments of 'tutti bench'.\n";

static const char help_help[] = "usage: tutti help [COMMAND]\n";

static const struct {
    const char *name, *text;
} help_table[] = {
    {"", help_overview}, {"bench", help_bench}, {"options", help_options}, {"help", help_help}};

const char *cli_help_text(const char *command) {
    for (size_t i = 0; i < sizeof help_table / sizeof *help_table; i++)
        if (strcmp(command, help_table[i].name) == 0) return help_table[i].text;
    return NULL;
}

int cmd_help(int argc, char **argv) {
    const char *text = cli_help_text(argc > 1 ? argv[1] : "");
    if (!text) {
        fprintf(stderr, "tutti help: there is no command '%s'\n", argv[1]);
        return CLI_USAGE;
    }
    fputs(text, stdout);
    return CLI_OK;
}
