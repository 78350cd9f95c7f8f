/* The program `tutti-experiments`: run the experiment that the first argument names.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/experiment.h"

#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "usage: mpirun -np N tutti-experiments EXPERIMENT [--quick] [ARGUMENTS]\n"
    "\n"
    "Repeats what papers on collective I/O have measured, on 1, 2, 4, ... N of the\n"
    "ranks, and prints it as JSON.  The variants of a point are interleaved in every\n"
    "round, and every byte is verified.\n"
    "\n"
    "  steps        Dickens and Thakur's steps 1 to 5, non-collective, auto, the MPI\n"
    "               library: bandwidth by processes and by file size, shares,\n"
    "               staggered writers\n"
    "  overlap      computation beside writing: none, all or only file access in the\n"
    "               background\n"
    "  pipelines    Feki and Gabriel's overlap algorithms on IOR, Tile 256 B, Tile 1\n"
    "               MiB, FLASH\n"
    "  primitives   messages, fences, locks, shared memory under write-comm-2\n"
    "  sections     Thakur and Choudhary's sections of an array: direct against\n"
    "               extended two-phase; requests and bytes are gates of tutti-report\n"
    "  mesh [FILE]  Filgueira et al., Interval Data Grouping on meshes of these files\n"
    "               (Gmsh's, ours) or on one of its own: who writes how many\n"
    "               intervals, write times by method, load and rule; a single process\n"
    "               does the first part only\n"
    "  dataset      Sturtevant et al., PDS/PIO: steps of a dataset by layout,\n"
    "               decomposition and conversion beside the file system's limit,\n"
    "               buffers, meshes, commits, opening\n"
    "  exodus       Table 3 of the same: steps of a small mesh in an Exodus file by\n"
    "               buffer and servers; netCDF and HDF5 directly, where the libraries\n"
    "               are\n"
    "  auto         regret: auto against the best fixed method; auto against the MPI\n"
    "               library\n"
    "  simulated    time, messages and collective operations of calls on simulated\n"
    "               machines of 64 to 1,024 hosts; without mpirun; its own options:\n"
    "               tutti-experiments simulated --help\n"
    "\n"
    "  --quick           small sizes; takes some seconds\n"
    "  --dir LIST        directories to measure in (.)\n"
    "  --procs LIST      numbers of processes (1, 2, 4, ... and all; auto, mesh,\n"
    "                    sections: all)\n"
    "  --array BYTES     steps, overlap: the array of all ranks (64m); sections:\n"
    "                    (128m)\n"
    "  --files LIST      steps: sizes of files (4m,16m,64m,256m)\n"
    "  --size BYTES      of one rank (overlap: 4m; dataset: of one variable, 32m;\n"
    "                    others: 16m)\n"
    "  --iterations N    overlap: of computing and writing between open and close (4)\n"
    "  --rounds N        rounds; pipelines, primitives: of one series\n"
    "  --series N        pipelines, primitives: series of rounds; the fastest\n"
    "                    variant of each is counted (3)\n"
    "  --op LIST         write, read (steps, overlap, pipelines, primitives, mesh:\n"
    "                    write, as in the papers; others: both)\n"
    "  --pattern LIST    auto: as for 'tutti bench'\n"
    "  --cases N         auto: draw N cases from patterns, sizes (--files), numbers\n"
    "                    of processes, directories, operations, warm and cold, and\n"
    "                    profiles; 200 have every pair of levels\n"
    "  --slow LIST       auto --cases: directories of throttled devices, at most\n"
    "                    256 MiB per case\n"
    "  --tuned FILE      auto --cases: a profile of 'tutti tune', beside the default\n"
    "  --part LIST       sections: common, overlapping, distinct, distributions\n"
    "                    (all); mesh: tables, writes; dataset: visible, durable,\n"
    "                    buffers, meshes, commits, opening (all)\n"
    "  --ways LIST       dataset: variants whose name has one of these words (all)\n"
    "  --partitions LIST mesh: of the tables (8,16,32,64)\n"
    "  --loads LIST      mesh: values of 8 bytes of a node (1,5,10,25,50,100,500)\n"
    "  --rule LIST       mesh: own, random, first, idg, idg2 (own,idg,idg2)\n"
    "  --method LIST  --plan LIST\n"
    "                    mesh: (root,independent,list,two-phase,auto), (fresh,reused)\n"
    "  --order NAME  --by NAME\n"
    "                    mesh: writes in order file, rcm or curve (curve); divided by\n"
    "                    metis, curve or rcb (metis)\n"
    "  --nodes N         mesh: of the mesh that it makes without a file (48000)\n"
    "  --cold            sections: nothing is in the page cache; the default is\n"
    "                    judged\n"
    "  --iops N          sections: the device performs N operations per second; with\n"
    "                    --direct-io 1 times are a gate, too\n"
    "  --budget SECONDS  fewer rounds after this much time (0: never)\n"
    "  --seed N          of the bytes\n"
    "  --json FILE       all that was measured (standard output); 'tutti-report FILE'\n"
    "                    prints tables and verdicts, --html FILE a page with figures\n"
    "  --NAME VALUE      any option of the library; what an experiment varies it sets\n"
    "                    itself\n"
    "\n"
    "Exit status: 0 all was verified, 1 something failed or a byte was wrong, 2 wrong\n"
    "usage.  Of tutti-report: 1 something failed or a gate does not hold.\n";

static const experiment_kind *const kind_table[] = {
    &experiment_steps,      &experiment_overlap,  &experiment_pipelines,
    &experiment_primitives, &experiment_sections, &experiment_auto,
    &experiment_mesh,       &experiment_dataset,  &experiment_exodus};

static const experiment_kind *find_kind(const char *name) {
    for (size_t i = 0; i < sizeof kind_table / sizeof *kind_table; i++) {
        const experiment_kind *k = kind_table[i];
        if (strcmp(k->name, name) == 0 || (k->also && strcmp(k->also, name) == 0)) return k;
    }
    return NULL;
}

/* Run the experiment `simulated`, a Python program, since its ranks are compiled for SimGrid.  It is in the source
 * tree or installation above this program. */
static int run_simulated(int argc, char **argv) {
    static const char *const folders[] = {"experiments", "share/tutti"};
    char top[PATH_MAX], script[PATH_MAX + 64];
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words || !realpath("/proc/self/exe", top)) {
        fputs("tutti-experiments: cannot find the directory of this program\n", stderr);
        free(words);
        return CLI_FAILED;
    }
    words[0] = "python3";
    words[1] = script;
    for (int i = 2; i < argc; i++) words[i] = argv[i];
    for (char *end = strrchr(top, '/'); end; end = strrchr(top, '/')) {
        *end = '\0';
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            snprintf(script, sizeof script, "%s/%s/tutti_experiments/simulated.py", top,
                     folders[i]);
            if (access(script, R_OK) == 0) {
                execvp(words[0], words);
                perror("tutti-experiments: cannot run python3");
                free(words);
                return CLI_FAILED;
            }
        }
    }
    fputs("tutti-experiments: simulated.py is neither in a source tree nor in an installation\n",
          stderr);
    free(words);
    return CLI_FAILED;
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    cli_command_remember("tutti-experiments", argc, argv);
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return fputs(help_text, stdout), cli_exit_code(CLI_OK);
    if (strcmp(name, "--version") == 0)
        return printf("tutti-experiments %s\n", tutti_version_string()), cli_exit_code(CLI_OK);
    if (strcmp(name, "simulated") == 0) return run_simulated(argc, argv);
    const experiment_kind *kind = find_kind(name);
    if (!kind) {
        fprintf(stderr,
                "tutti-experiments: unknown experiment '%s'\nsee 'tutti-experiments --help'\n",
                name);
        return CLI_USAGE;
    }
    const bench_program program = {.name = "tutti-experiments",
                                   .help = help_text,
                                   .scope = &kind->scope,
                                   .threads = kind->threads,
                                   .what = kind,
                                   .run = experiment_run};
    return bench_start(&program, argc - 1, argv + 1);
}
