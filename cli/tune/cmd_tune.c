/* tutti tune: measure this machine and the file systems of some directories, and write a profile.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

#include <string.h>

typedef struct {
    char out[PATH_MAX];
    int quick, dry_run, help;
    int dirs;
    char **dir;
} tune_config;

/* ---- arguments */

static int parse_arguments(tune_config *c, int argc, char **argv) {
    c->dir = argv; /* directories are gathered at its beginning */
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            c->quick = 1;
        else if (strcmp(argv[i], "--dry-run") == 0)
            c->dry_run = 1;
        else if (strcmp(argv[i], "--help") == 0)
            c->help = 1;
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc && *argv[i + 1])
            snprintf(c->out, sizeof c->out, "%s", argv[++i]);
        else if (argv[i][0] == '-')
            return cli_error("what is '%s'? try 'tutti help tune'", argv[i]);
        else
            c->dir[c->dirs++] = argv[i];
    }
    if (c->help) return 0;
    if (c->dirs == 0) return cli_error("no directory; try 'tutti help tune'");
    if (!*c->out && !c->dry_run && tutti_profile_path(c->out, sizeof c->out) != TUTTI_OK)
        return cli_error("%s: say --out FILE", tutti_last_message());
    return 0;
}

/* ---- one directory after the other */

typedef struct {
    tune_config *config;
    tune_job job;
    cli_progress progress;
    tune_probe probe[TUNE_PROBES];
    int machine; /* the first probes are the machine's, measured once */
} tune;

static int save(const tune *t, const tutti_place *place, const tutti_profile *p) {
    if (t->job.world.rank != 0 || t->config->dry_run) return 0;
    return tutti_profile_save(t->config->out, place, p) == TUTTI_OK ? 0 : cli_error_tutti();
}

static int measure_files(tune *t, int dirs_left, int *n_out, tutti_profile *p) {
    tune_job *job = &t->job;
    tune_probe *files = t->probe + t->machine;
    int n = tune_file_probes(job, files);
    n += tune_store_probes(job, files + n);
    *n_out = n;
    t->progress.all = t->progress.done + (long)n * (job->rounds + 1) * dirs_left;
    if (tune_run(job, files, n)) return 1;
    tune_fill(job, t->probe, t->machine + n, p);
    return 0;
}

static int tune_directory(tune *t, const char *dir, int dirs_left) {
    tune_job *job = &t->job;
    tutti_place place;
    tutti_profile p;
    int n = 0;
    int failed = tutti_profile_place(dir, &place) == TUTTI_OK ? 0 : cli_error_tutti();
    if (cli_agree(&job->world, failed)) return 1;
    tutti_profile_defaults(&p, place.type);
    failed = tune_file_open(job, dir);
    if (!failed) failed = measure_files(t, dirs_left, &n, &p);
    if (!failed && job->world.rank == 0) {
        progress_end(&t->progress);
        if (dirs_left == t->config->dirs) tune_print_machine(job, &p);
        tune_print(job, &place, &p);
        tune_print_steady(job, t->probe + t->machine, n);
    }
    for (int i = 0; i < n; i++) measure_variant_free(&t->probe[t->machine + i].v);
    tune_file_close(job);
    if (!failed) failed = cli_agree(&job->world, save(t, &place, &p));
    return failed;
}

static int tune_all(tune *t) {
    tune_job *job = &t->job;
    int failed = 0;
    for (int i = 0; i < t->config->dirs && !failed; i++) {
        double room;
        failed = cli_directory_room(t->config->dir[i], &room);
    }
    if (cli_agree(&job->world, failed)) return 1;
    t->machine = tune_machine_probes(job, t->probe);
    progress_start(&t->progress, &job->world,
                   (long)(t->machine + 45L * t->config->dirs) * (job->rounds + 1));
    job->progress = &t->progress;
    if (tune_run(job, t->probe, t->machine)) return 1;
    for (int i = 0; i < t->config->dirs; i++)
        if (tune_directory(t, t->config->dir[i], t->config->dirs - i)) return 1;
    if (job->world.rank == 0 && !t->config->dry_run) printf("\nwritten: %s\n", t->config->out);
    return 0;
}

static int run_tune(tune_config *c) {
    static tune t;
    t = (tune){.config = c, .job = {.rounds = c->quick ? 5 : 9, .slice = c->quick ? 0.015 : 0.1}};
    t.job.device_slice = c->quick ? 0.2 : 0.5;
    t.job.windows = c->quick ? 6 : 16;
    t.job.area = c->quick ? 16 << 20 : 64 << 20;
    cli_world_init(&t.job.world);
    const tutti_off most = ((tutti_off)1 << 30) / t.job.world.ranks;
    while (t.job.area > most && t.job.area > 8 << 20) t.job.area /= 2;
    cli_catch_signals();
    int failed = tune_machine_open(&t.job);
    if (!failed) failed = tune_all(&t);
    tune_machine_close(&t.job);
    for (int i = 0; i < t.machine; i++) measure_variant_free(&t.probe[i].v);
    if (failed && t.job.world.rank == 0) fprintf(stderr, "tutti tune: %s\n", cli_message());
    return failed ? CLI_FAILED : CLI_OK;
}

int cmd_tune(int argc, char **argv) {
    tune_config c = {.quick = 0};
    int rank = 0, code;
    cli_guard_start();
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return CLI_FAILED;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parse_arguments(&c, argc, argv)) {
        if (rank == 0) fprintf(stderr, "tutti tune: %s\n", cli_message());
        code = CLI_USAGE;
    } else if (c.help) {
        if (rank == 0) fputs(cli_help_text("tune"), stdout);
        code = CLI_OK;
    } else {
        code = run_tune(&c);
    }
    fflush(NULL);
    MPI_Finalize();
    return code;
}
