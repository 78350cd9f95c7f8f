/* tutti tune: measure this machine and the file systems of the given directories, and write a profile.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tune/tune.h"

#include <stddef.h>

typedef struct {
    cli_call call; /* operands: directories */
    char path[PATH_MAX];
    const char *out;
    int quick, dry_run;
} tune_config;

typedef struct {
    const tune_config *config;
    tune_job job;
    cli_progress progress;
    tune_probe probe[TUNE_PROBES];
    int machine; /* number of probes of the machine, which come first and are measured once */
} tune;

static int measure_directory(tune *t, int i) {
    tune_job *job = &t->job;
    const int dirs_left = t->config->call.operands - i;
    tune_probe *files = t->probe + t->machine;
    tutti_filesystem place;
    tutti_profile p;
    int n = 0;
    const char *dir = t->config->call.operand[i];
    int failed = tutti_profile_filesystem(dir, &place) == TUTTI_OK ? 0 : cli_error_tutti();
    if (cli_agree(&job->world, failed)) return 1;
    tutti_profile_defaults(&p, place.type);
    failed = tune_file_open(job, dir);
    if (!failed) {
        n = tune_file_probes(job, files);
        n += tune_store_probes(job, files + n);
        /* estimate of the remaining measurements */
        t->progress.all = t->progress.done + (long)n * (job->rounds + 1) * dirs_left;
        failed = tune_run(job, files, n);
        if (!failed) tune_fill(job, t->probe, t->machine + n, &p);
    }
    if (!failed && job->world.rank == 0) {
        progress_end(&t->progress);
        if (i == 0) tune_print_machine(job, &p);
        tune_print(job, &place, &p);
        tune_print_steady(job, files, n);
    }
    for (int k = 0; k < n; k++) measure_variant_free(&files[k].v);
    tune_file_close(job);
    if (failed) return 1;
    if (job->world.rank == 0 && !t->config->dry_run &&
        tutti_profile_save(t->config->path, &place, &p) != TUTTI_OK)
        failed = cli_error_tutti();
    return cli_agree(&job->world, failed);
}

static int measure_directories(tune *t) {
    tune_job *job = &t->job;
    const cli_call *call = &t->config->call;
    int failed = 0;
    for (int i = 0; i < call->operands && !failed; i++) {
        double free_bytes;
        failed = cli_directory_room(call->operand[i], &free_bytes);
    }
    if (cli_agree(&job->world, failed)) return 1;
    t->machine = tune_machine_probes(job, t->probe);
    progress_start(&t->progress, &job->world,
                   (long)(t->machine + 45L * call->operands) * (job->rounds + 1));
    job->progress = &t->progress;
    if (tune_run(job, t->probe, t->machine)) return 1;
    for (int i = 0; i < call->operands; i++)
        if (measure_directory(t, i)) return 1;
    if (job->world.rank == 0 && !t->config->dry_run) printf("\nwritten: %s\n", t->config->path);
    return 0;
}

static int run_tune(const cli_world *w, const void *config) {
    static tune t;
    const tune_config *c = config;
    t = (tune){.config = c, .job = {.rounds = c->quick ? 5 : 9, .slice = c->quick ? 0.015 : 0.1}};
    t.job.device_slice = c->quick ? 0.2 : 0.5;
    t.job.windows = c->quick ? 6 : 16;
    t.job.area = c->quick ? 16 << 20 : 64 << 20;
    t.job.world = *w;
    const tutti_off most = ((tutti_off)1 << 30) / w->ranks;
    while (t.job.area > most && t.job.area > 8 << 20) t.job.area /= 2;
    int failed = tune_machine_open(&t.job);
    if (!failed) failed = measure_directories(&t);
    tune_machine_close(&t.job);
    for (int i = 0; i < t.machine; i++) measure_variant_free(&t.probe[i].v);
    return failed;
}

#define AT(field) .at = offsetof(tune_config, field)
static const cli_option option_table[] = {
    {0, "quick", NULL, NULL, "measure for some seconds only, with more noise", 0, CLI_FLAG,
     AT(quick)},
    {0, "dry-run", NULL, NULL, "measure and print, write no profile", 0, CLI_FLAG, AT(dry_run)},
    {'o', "out", "FILE", NULL,
     "profile to write (default: $XDG_CONFIG_HOME/tutti/profile or ~/.config/tutti/profile); other "
     "file systems in it are kept",
     0, CLI_TEXT, AT(out)},
};

static int find_profile(void *config) {
    tune_config *c = config;
    snprintf(c->path, sizeof c->path, "%s", c->out ? c->out : "");
    if (!c->out && !c->dry_run && tutti_profile_path(c->path, sizeof c->path) != TUTTI_OK)
        return cli_error("%s; use --out FILE", tutti_last_message());
    return 0;
}

static const cli_command command_table[] = {
    {"tune", 1, "DIR...", "Measure this machine and the file systems of directories.",
     "Prints the results and writes a profile, by which the library chooses where an option is "
     "auto.  Use as many ranks and nodes as the programs to be tuned; with one rank, fewer values "
     "are measured.  The option profile (TUTTI_PROFILE) names another profile.",
     0, run_tune},
};

const cli_group tune_group = {
    .page = "tutti-tune(1)",
    .command = command_table,
    .commands = CLI_COUNT_OF(command_table),
    .option = option_table,
    .options = CLI_COUNT_OF(option_table),
    .config_size = sizeof(tune_config),
    .mpi = CLI_MPI,
    .check = find_profile,
};
