/* TEST ranks=1,3 timeout=120 builds=openmpi,mpich */
/* The bipolar transistor: its gain is 20 to 200, its collector current depends exponentially on the
 * base voltage, the sum of all currents is zero; and its plot is complete.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "bipolar/bipolar.h"

#include <math.h>

enum { EMITTER, BASE, COLLECTOR };

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1202);
    tutti_mesh *mesh = transistor_bricks(MPI_COMM_WORLD, 0.1);
    domain *d = domain_make(MPI_COMM_WORLD, &mesh);
    state *s = state_make(d, &transistor);
    double ampere[CONTACTS], volts[CONTACTS] = {0, 0.60, 1}, before = 0;
    for (int k = 0; k < (ranks == 1 ? 3 : 1); k++, volts[BASE] += 0.05) { /* t1203 compares ranks */
        CHECK(gummel(s, volts) > 0, "%.2f V: no stationary state", volts[BASE]);
        terminal_currents(s, ampere);
        const double sum = ampere[EMITTER] + ampere[BASE] + ampere[COLLECTOR];
        const double gain = ampere[COLLECTOR] / ampere[BASE];
        CHECK(fabs(sum) < 1e-5 * ampere[BASE], "%.2f V: %g of %g is lost", volts[BASE], sum,
              ampere[BASE]);
        CHECK(gain > 20 && gain < 200, "%.2f V: gain %g", volts[BASE], gain);
        CHECK(ampere[EMITTER] < 0 && ampere[BASE] > 0, "currents flow the other way");
        const double ideal = exp(0.05 / UNIT_VOLT);
        CHECK(k == 0 || fabs(ampere[COLLECTOR] / before / ideal - 1) < 0.1, "%.2f V: %g times",
              volts[BASE], ampere[COLLECTOR] / before);
        before = ampere[COLLECTOR];
    }
    char path[512], *text;
    int64_t bytes = 0;
    snprintf(path, sizeof path, "%s/t1202.svg", check_dir());
    picture_write(path, s);
    text = (char *)file_get(path, &bytes); /* the contents, followed by a 0 byte */
    CHECK(strncmp(text, "<svg", 4) == 0 && bytes > 7 && !strcmp(text + bytes - 7, "</svg>\n"),
          "picture");
    CHECK_EQ(strlen(text), bytes);
    CHECK(strstr(text, "class='j'") && strstr(text, "class='v'") && strstr(text, "class='c'"),
          "picture without its lines");
    /* each tetrahedron with a node in the plane y = 0 is drawn once */
    double cells = 0, drawn = 0;
    for (int c = 0; c < d->cells; c++) {
        int low = 0;
        for (int k = 0; k < 4; k++) low += d->at[d->cell[c][k]][1] == 0;
        cells += d->cell_own[c] && low > 0;
    }
    for (const char *at = text; (at = strstr(at, "<path color")); at++) drawn++;
    cells = domain_sum(d, cells);
    CHECK(drawn == cells && cells > 100, "%g tetrahedra drawn of %g", drawn, cells);
    free(text);
    file_remove(path);
    state_free(s);
    domain_free(d);
    return harness_end();
}
