/* TEST ranks=5 timeout=120 builds=openmpi,mpich */
/* The bipolar example gives the same values on 1, 2, 3 and 5 processes, within the tolerance of
 * its solvers.  A run that is resumed on a different number of processes writes the same file as an
 * uninterrupted run.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "bipolar/bipolar.h"

#include <math.h>

/* Write the points [first, last) of 0.4 and 0.5 V with n ranks; return the current of the last. */
static double run_case(const char *path, int n, int first, int last) {
    double ampere[CONTACTS] = {0}, volts[CONTACTS] = {0};
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
        tutti_mesh *mesh = diode_bricks(comm, 0.04);
        domain *d = domain_make(comm, &mesh);
        state *s = state_make(d, &diode);
        results *r = first ? results_continue(path, s) : results_create(path, d);
        for (int k = first; k < last; k++) {
            volts[0] = 0.4 + 0.1 * k;
            CHECK(gummel(s, volts) > 0, "no stationary state");
            results_write(r, s);
        }
        terminal_currents(s, ampere);
        results_close(r);
        state_free(s);
        domain_free(d);
        MPI_Comm_free(&comm);
    }
    MPI_Bcast(ampere, CONTACTS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return ampere[0];
}

/* Compare two files of results: headers bit by bit, values with tolerance `within`.  The tolerance of
 * currents is 1000 times larger, relative to the largest, because they are small differences of
 * large numbers (about 1 of 1e10 at 0.4 V). */
static void check_alike(const char *one, const char *two, double within, const char *what) {
    int64_t n[2];
    unsigned char *bytes[2] = {file_get(one, &n[0]), file_get(two, &n[1])};
    check_where(what);
    CHECK_EQ(n[0], n[1]);
    CHECK(memcmp(bytes[0], bytes[1], 64) == 0, "headers differ");
    int64_t nodes, points;
    memcpy(&nodes, bytes[0] + 8, sizeof nodes);
    memcpy(&points, bytes[0] + 24, sizeof points);
    CHECK(points == 2 && n[0] == 64 + points * (64 + 72 * nodes), "%lld points", (long long)points);
    for (int64_t p = 0; p < points && n[0] == n[1]; p++) {
        const double *a = (const double *)(bytes[0] + 64 + p * (64 + 72 * nodes)) + 8;
        const double *b = (const double *)(bytes[1] + 64 + p * (64 + 72 * nodes)) + 8;
        double most[9] = {0};
        for (int64_t i = 0; i < 9 * nodes; i++) most[i % 9] = fmax(most[i % 9], fabs(a[i]));
        for (int64_t i = 0; i < 9 * nodes; i++) {
            const int kind = (int)(i % 9);
            const double scale = kind == 0  ? fmax(1, fabs(a[i]))
                                 : kind < 3 ? fabs(a[i])
                                            : 1000 * fmax(most[3], most[6]);
            CHECK(fabs(a[i] - b[i]) <= within * scale,
                  "point %d, value %d of node %d: %.15g, %.15g", (int)p, kind, (int)(i / 9), a[i],
                  b[i]);
        }
    }
    free(bytes[0]);
    free(bytes[1]);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1203);
    char one[512], other[512];
    snprintf(one, sizeof one, "%s/t1203.one", check_dir());
    snprintf(other, sizeof other, "%s/t1203.other", check_dir());
    const double want = run_case(one, 1, 0, 2);
    CHECK(want > 0, "current %g", want);
    for (int n = 2; n <= 5; n += n == 3 ? 2 : 1) {
        char what[64];
        snprintf(what, sizeof what, "on %d ranks", n);
        const double found = run_case(other, n, 0, 2);
        CHECK(fabs(found / want - 1) < 1e-6, "%s: %g, not %g", what, found, want);
        check_alike(one, other, 1e-8, what);
    }
    (void)run_case(other, 1, 0, 1);
    (void)run_case(other, 1, 1, 2);
    check_alike(one, other, 0, "resumed on the same number of ranks");
    (void)run_case(other, 5, 0, 1);
    (void)run_case(other, 3, 1, 2);
    check_alike(one, other, 1e-8, "on 5 and 3 ranks in turn");
    file_remove(one);
    file_remove(other);
    return harness_end();
}
