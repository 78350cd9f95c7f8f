/* heat: compute transient heat conduction in a rod of two materials; write an Exodus file for
 * ParaView.
 *
 *   heat [-n CELLS] [-t DT] [-s STEPS] [-e EVERY] [-d metis|curve|order] [-p] [-c] [-r] OUT.e
 *
 *   -n CELLS   cells per unit of length: CELLS^3 hexahedra and six times as many tetrahedra (12)
 *   -t DT      length of a time step (0.24 / CELLS)
 *   -s STEPS   number of time steps (20)
 *   -e EVERY   write every EVERY-th step (1)
 *   -d METHOD  distribution of elements (metis)
 *   -p         heat a circle on the upper face instead of the end of the rod
 *   -c         check: solve with CELLS and with 2 * CELLS, and compare with the exact solution
 *   -r         resume after the last step of OUT.e, on any number of ranks, with its mesh and DT
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job {
    settings s;
    int steps, check, resume;
    tutti_exodus_partitioner by;
    const char *path;
} job;

static int read_job(int argc, char **argv, job *j) {
    *j = (job){.s = {.cells = 12, .every = 1}, .steps = 20, .by = TUTTI_EXODUS_BY_METIS};
    int option, bad = 0;
    opterr = 0;
    while ((option = getopt(argc, argv, "n:t:s:e:d:pcr")) != -1) {
        char *end = "";
        if (option == 'n') j->s.cells = (int)strtol(optarg, &end, 10);
        if (option == 't') j->s.dt = strtod(optarg, &end);
        if (option == 's') j->steps = (int)strtol(optarg, &end, 10);
        if (option == 'e') j->s.every = (int)strtol(optarg, &end, 10);
        if (option == 'd') {
            j->by = strcmp(optarg, "curve") == 0 ? TUTTI_EXODUS_BY_CURVE : TUTTI_EXODUS_BY_METIS;
            if (strcmp(optarg, "order") == 0) j->by = TUTTI_EXODUS_BY_ORDER;
            bad |= j->by == TUTTI_EXODUS_BY_METIS && strcmp(optarg, "metis") != 0;
        }
        j->s.spot |= option == 'p';
        j->check |= option == 'c';
        j->resume |= option == 'r';
        bad |= *end != '\0' || option == '?';
    }
    if (bad || optind != argc - 1 || j->s.cells < 1 || j->s.cells > 400 || j->steps < 0 ||
        j->s.every < 1 || !(j->s.dt >= 0) || (j->check && (j->resume || j->s.spot)))
        return 0;
    if (j->s.dt == 0) j->s.dt = 0.24 / j->s.cells;
    j->path = argv[optind];
    return 1;
}

/* Compute all steps of a job.  Returns the difference from the exact solution at the end. */
static double run(const job *j) {
    settings s;
    const double begin = MPI_Wtime();
    if (!j->resume) results_create(MPI_COMM_WORLD, j->path, &j->s);
    results *r = results_open(MPI_COMM_WORLD, j->path, j->by, &s);
    domain *d = results_domain(r);
    problem *p = problem_make(d, &s);
    double *u = room(d->nodes, sizeof *u), time = 0, written = 0, solved = 0;
    int before = results_last(r, &time, u), first = (int)lround(time / s.dt), inner = 0;
    if (before == 0) {
        for (int i = 0; i < d->nodes; i++) u[i] = s.spot ? 300 : exact(d->at[i], 0);
        results_write(r, p, 0, u);
    }
    if (d->rank == 0 && !j->check)
        printf("%lld nodes on %d ranks, %s step %d, t = %g; set up in %.2f s\n",
               (long long)d->all_nodes, d->ranks, before ? "going on after" : "beginning with",
               first, time, MPI_Wtime() - begin);
    for (int k = first + 1; k <= first + j->steps; k++) {
        const double t0 = MPI_Wtime();
        inner += problem_step(p, u);
        const double t1 = MPI_Wtime();
        if (k % s.every == 0) results_write(r, p, k * s.dt, u);
        solved += t1 - t0;
        written += MPI_Wtime() - t1;
    }
    time = (first + j->steps) * s.dt;
    const double error = s.spot ? 0 : problem_error(p, u, time), energy = problem_energy(p, u);
    if (d->rank == 0 && !j->check) {
        printf("%d steps to t = %g: %d conjugate gradient iterations, %.2f s; written in %.2f s\n",
               j->steps, time, inner, solved, written);
        printf("energy %.17g", energy);
        if (!s.spot) printf(", %.3e from the exact solution in the 2-norm", error);
        printf("\n%s\n", j->path);
    }
    free(u);
    problem_free(p);
    results_close(r);
    return error;
}

/* Halve the sizes of cells and time steps: the error must decrease to about a quarter. */
static int check(job *j, int rank) {
    double error[2];
    for (int k = 0; k < 2; k++) {
        error[k] = run(j);
        if (rank == 0) printf("%3d cells, %3d steps: error %.4e\n", j->s.cells, j->steps, error[k]);
        j->s.cells *= 2;
        j->s.dt /= 2;
        j->steps *= 2;
    }
    const double order = log2(error[0] / error[1]);
    if (rank == 0) printf("order %.2f: %s\n", order, order > 1.8 ? "right" : "WRONG");
    return order > 1.8 ? 0 : 1;
}

int main(int argc, char **argv) {
    job j;
    int rank, code = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!read_job(argc, argv, &j)) {
        if (rank == 0)
            fprintf(stderr, "usage: heat [-n CELLS] [-t DT] [-s STEPS] [-e EVERY] "
                            "[-d metis|curve|order] [-p] [-c] [-r] OUT.e\n");
        MPI_Finalize();
        return 2;
    }
    if (j.check)
        code = check(&j, rank);
    else
        (void)run(&j);
    MPI_Finalize();
    return code;
}
