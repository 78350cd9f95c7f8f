/* bipolar: vary a voltage of a transistor or a diode, write fields and currents, and draw the
 * potential.
 *
 *   bipolar [-d transistor|diode] [-m MESH] [-h SIZE] [-o RESULTS] [-r] [-p PICTURE]
 *           [CONTACT=VOLTS | CONTACT=FROM:TO:STEP ...]
 *
 *   -m MESH      a mesh of Gmsh (transistor.geo), or in Tutti's format; default: bricks
 *   -h SIZE      size of the bricks at the junctions, in um
 *   -o RESULTS   the results file; default: bipolar.out
 *   -r           resume after the last point of that file, on any number of ranks
 *   -p PICTURE   draw the last point
 *
 * Contacts without a value are at 0 V.  At most one contact may have a range of voltages.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct job {
    const device *device;
    const char *mesh, *results, *picture;
    int resume;
    double finest;
    double volts[CONTACTS];
    int swept; /* contact with a range of voltages; -1: none */
    double to, step;
} job;

/* Parse up to three finite numbers, separated by colons.  Returns their number; 0: invalid text. */
static int read_numbers(const char *text, double v[3]) {
    for (int n = 0; n < 3; n++) {
        char *end = NULL;
        v[n] = strtod(text, &end);
        if (end == text || !isfinite(v[n])) return 0;
        if (*end == '\0') return n + 1;
        if (*end != ':') return 0;
        text = end + 1;
    }
    return 0;
}

/* Parse CONTACT=VOLTS or CONTACT=FROM:TO:STEP. */
static int read_voltage(job *j, const char *text) {
    for (int c = 0; c < j->device->contacts; c++) {
        const size_t length = strlen(j->device->contact[c]);
        if (strncmp(text, j->device->contact[c], length) != 0 || text[length] != '=') continue;
        double v[3] = {0, 0, 0};
        const int n = read_numbers(text + length + 1, v);
        if (n != 1 && (n != 3 || v[2] == 0 || (v[1] - v[0]) / v[2] < 0 || j->swept >= 0)) return 0;
        j->volts[c] = v[0];
        if (n == 3) j->swept = c, j->to = v[1], j->step = v[2];
        return 1;
    }
    return 0;
}

/* Parse the command line; returns 0 if it is invalid. */
static int read_job(int argc, char **argv, job *j) {
    int option;
    opterr = 0;
    *j = (job){.device = &transistor, .results = "bipolar.out", .swept = -1};
    while ((option = getopt(argc, argv, "d:m:h:o:rp:")) != -1) {
        if (option == 'd' && strcmp(optarg, diode.name) == 0) j->device = &diode;
        if (option == 'd' && strcmp(optarg, j->device->name) != 0) return 0;
        if (option == 'm') j->mesh = optarg;
        double h[3] = {0, 0, 0};
        if (option == 'h' && (read_numbers(optarg, h) != 1 || h[0] <= 0)) return 0;
        if (option == 'h') j->finest = h[0];
        if (option == 'o') j->results = optarg;
        if (option == 'r') j->resume = 1;
        if (option == 'p') j->picture = optarg;
        if (option == '?') return 0;
    }
    for (int k = optind; k < argc; k++)
        if (!read_voltage(j, argv[k])) return 0;
    return 1;
}

static tutti_mesh *mesh_of(const job *j) {
    tutti_mesh *mesh = NULL;
    if (j->mesh)
        must(tutti_mesh_open(MPI_COMM_WORLD, j->mesh, NULL, &mesh));
    else if (j->device == &diode)
        mesh = diode_bricks(MPI_COMM_WORLD, j->finest > 0 ? j->finest : 0.01);
    else
        mesh = transistor_bricks(MPI_COMM_WORLD, j->finest > 0 ? j->finest : 0.03);
    return mesh;
}

/* Solve the equations at these voltages, write the state, and print a line of the table. */
static void do_point(state *s, results *r, const double volts[CONTACTS]) {
    const int before = s->krylov;
    const double start = MPI_Wtime();
    double ampere[CONTACTS];
    const int turns = gummel(s, volts);
    if (turns < 0)
        give_up(s->d, "no stationary state was found, in smaller steps there may be one:",
                s->device->name);
    terminal_currents(s, ampere);
    const double solved = MPI_Wtime();
    results_write(r, s);
    if (s->d->rank != 0) return;
    for (int c = 0; c < s->device->contacts; c++) printf("%8.3f V %12.4e A", volts[c], ampere[c]);
    if (s->device == &transistor && ampere[1] > 0) printf("  gain %6.2f", ampere[2] / ampere[1]);
    printf("  %3d turns %5d steps %6.2f s, written in %.3f s\n", turns, s->krylov - before,
           solved - start, MPI_Wtime() - solved);
}

int main(int argc, char **argv) {
    job j;
    char line[256];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!read_job(argc, argv, &j)) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: bipolar [-d transistor|diode] [-m MESH] [-h SIZE] [-o RESULTS] [-r] "
                    "[-p PICTURE]\n               [CONTACT=VOLTS | CONTACT=FROM:TO:STEP ...]\n");
        MPI_Finalize();
        return 2;
    }
    const double begin = MPI_Wtime();
    tutti_mesh *mesh = mesh_of(&j);
    domain *d = domain_make(MPI_COMM_WORLD, &mesh);
    state *s = state_make(d, j.device);
    results *r = j.resume ? results_continue(j.results, s) : results_create(j.results, d);
    results_describe(r, line, sizeof line);
    if (rank == 0) {
        printf(
            "%s on %d ranks: %lld nodes, %lld edges, %lld of them closed to carriers, in %.2f s\n",
            j.device->name, d->ranks, (long long)d->nodes, (long long)d->edges,
            (long long)d->obtuse, MPI_Wtime() - begin);
        printf("%s\n", line);
        for (int c = 0; c < j.device->contacts; c++) printf("%10s%15s", j.device->contact[c], "");
        printf("\n");
    }

    const double from = j.swept < 0 ? 0 : j.volts[j.swept];
    const int points = j.swept < 0 ? 1 : (int)((j.to - from) / j.step + 1.001);
    for (int k = 0; k < points; k++) {
        if (j.swept >= 0) j.volts[j.swept] = from + k * j.step;
        do_point(s, r, j.volts);
    }
    results_close(r);
    if (j.picture) picture_write(j.picture, s);
    if (j.picture && rank == 0) printf("picture to open: %s\n", j.picture);
    state_free(s);
    domain_free(d);
    MPI_Finalize();
    return 0;
}
