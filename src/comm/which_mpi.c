/* comm: detection of a second MPI library and of a wrong launcher.  A program compiled for one MPI
 * and linked with a Tutti built for another has both libraries, and its communicators are invalid
 * in Tutti.  An MPI library is identified by a symbol to which programs compiled with its mpi.h
 * refer.  If a program is started by the launcher of another MPI, MPI_COMM_WORLD of each process
 * has one rank.  Launchers are identified by environment variables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/which_mpi.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "comm/mpi_error.h"

/* A launcher and two environment variables that it sets: `count` has the number of processes,
 * `process` is set only in the started processes. */
typedef struct {
    const char *name, *count, *process;
} launcher;

static const launcher open_mpi = {"mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE",
                                  "OMPI_COMM_WORLD_RANK"};
static const launcher hydra = {"mpiexec of MPICH", "PMI_SIZE", "PMI_RANK"};
/* SLURM_NTASKS is unsuitable because it is also set in batch scripts. */
static const launcher srun = {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"};

#ifdef OPEN_MPI
static const launcher *const launchers[] = {&open_mpi, &hydra, &srun};
static const char ours[] = "Open MPI", other[] = "MPICH", symbol_of_other[] = "MPIR_Dup_fn";
#else
static const launcher *const launchers[] = {&hydra, &open_mpi, &srun};
static const char ours[] = "MPICH", other[] = "Open MPI", symbol_of_other[] = "ompi_mpi_comm_world";
#endif

tutti_err tutti__which_mpi(void) {
    static atomic_int found = -1;
    if (found < 0) found = dlsym(RTLD_DEFAULT, symbol_of_other) != NULL;
    TUTTI_CHECK(
        !found, TUTTI_ERR_UNSUPPORTED,
        "this Tutti was built for %s, but the program uses %s: link it with a Tutti that was "
        "built for %s (TUTTI_MPI)",
        ours, other, other);
    return TUTTI_OK;
}

/* launchers[] begins with the launcher of this MPI, since it may run inside a job of another
 * launcher. */
tutti_err tutti__launch_check(void) {
    const char *allowed = secure_getenv("TUTTI_SINGLE_RANK");
    int ranks = 1;
    TUTTI_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks > 1 || (allowed && strcmp(allowed, "1") == 0)) return TUTTI_OK;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        /* number of processes that the launcher has started; 0: it has not started this process */
        const char *count = secure_getenv(launchers[i]->count);
        const long started =
            count && secure_getenv(launchers[i]->process) ? strtol(count, NULL, 10) : 0;
        if (started == 1) break;
        TUTTI_CHECK(
            started < 1, TUTTI_ERR_STATE,
            "MPI_COMM_WORLD has 1 rank, but %s started %ld processes (%s): this library "
            "was built for %s; use the launcher of that MPI, or a build for the MPI of this "
            "launcher, or set TUTTI_SINGLE_RANK=1 if the processes are independent",
            launchers[i]->name, started, launchers[i]->count, ours);
    }
    return TUTTI_OK;
}
