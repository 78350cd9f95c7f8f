/* TEST ranks=0 timeout=20 */
/* Topologies: all spellings of their names; and the sides of an element form a closed surface: every edge of a side is
 * an edge of exactly one other side, in the opposite direction, with the same node in its middle.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/exodus.h>
#include "check.h"

static void test_names(void) {
    static const struct {
        const char *name;
        int nodes, sides;
    } all[] = {
        {"HEX", 8, 6},        {"hex8", 8, 6},       {"Hex20", 20, 6},     {"HEX27", 27, 6},
        {"hexahedron", 8, 6}, {"TETRA", 4, 4},      {"tet10", 10, 4},     {"TETRA4", 4, 4},
        {"TET14", 14, 4},     {"WEDGE", 6, 5},      {"WEDGE15", 15, 5},   {"WEDGE18", 18, 5},
        {"PYRAMID", 5, 5},    {"PYRAMID13", 13, 5}, {"PYRAMID14", 14, 5}, {"SHELL", 4, 6},
        {"SHELL3", 3, 5},     {"SHELL6", 6, 5},     {"SHELL8", 8, 6},     {"SHELL9", 9, 6},
        {"TRI3", 3, 3},       {"TRI6", 6, 3},       {"TRISHELL3", 3, 5},  {"trishell6", 6, 5},
        {"QUAD", 4, 4},       {"QUAD8", 8, 4},      {"QUAD9", 9, 4},      {"BEAM", 2, 2},
        {"BAR2", 2, 2},       {"TRUSS3", 3, 2},     {"SPHERE", 1, 1},     {"CIRCLE", 1, 1},
        {"nsided", 0, 0},     {"NFACED", 0, 0},     {"SUPER", 0, 0},      {"", 0, 0},
        {"HEX19", 0, 0}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        check_where(all[i].name);
        CHECK_EQ(tutti_exodus_topology_nodes(all[i].name), all[i].nodes);
        CHECK_EQ(tutti_exodus_topology_sides(all[i].name, 0, 2), all[i].sides);
    }
    CHECK_EQ(tutti_exodus_topology_nodes(NULL), 0);
    CHECK_EQ(tutti_exodus_topology_sides("HEX", 20, 3), 6);
    /* the argument `nodes` has precedence over the number in the name */
    CHECK_EQ(tutti_exodus_topology_sides("HEX8", 20, 3), 6);
    CHECK_EQ(tutti_exodus_side_nodes("HEX", 20, 3, 3, NULL), 8);
    CHECK_EQ(tutti_exodus_side_nodes("HEX", 8, 3, 7, NULL), 0);
    CHECK_EQ(tutti_exodus_side_nodes("HEX", 8, 3, 0, NULL), 0);
}

/* Return the number of corners of a side with `n` nodes: 3, 6, 7: triangle; 4, 8, 9: quadrilateral. */
static int corners_of(int n) {
    return n == 3 || n == 6 || n == 7 ? 3 : 4;
}

static void check_solid(const char *name, int nodes) {
    static int middle[32][32];
    int used[32] = {0}, which[9];
    check_where(name);
    memset(middle, 0, sizeof middle);
    for (int s = 1; s <= tutti_exodus_topology_sides(name, nodes, 3); s++) {
        const int n = tutti_exodus_side_nodes(name, nodes, 3, s, which), corners = corners_of(n);
        for (int k = 0; k < n; k++) {
            CHECK(which[k] >= 0 && which[k] < nodes, "side %d has node %d", s, which[k]);
            used[which[k]] = 1;
            for (int q = 0; q < k; q++) CHECK(which[q] != which[k], "side %d: twice", s);
        }
        for (int k = 0; k < corners; k++) {
            const int a = which[k], b = which[(k + 1) % corners];
            const int mid = n >= 2 * corners ? which[corners + k] + 1 : -1;
            CHECK(middle[a][b] == 0, "side %d: edge %d %d is a duplicate", s, a, b);
            CHECK(middle[b][a] == 0 || middle[b][a] == mid, "side %d: edge %d %d has two middles",
                  s, a, b);
            middle[a][b] = mid;
        }
    }
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < 32; b++)
            CHECK(!middle[a][b] == !middle[b][a], "edge %d %d is open", a, b);
    int all = 0;
    for (int a = 0; a < nodes; a++) all += used[a];
    /* one node may be in the interior */
    CHECK(all >= nodes - 1, "%d of %d nodes are on sides", all, nodes);
}

int main(void) {
    test_names();
    check_solid("TET", 4);
    check_solid("TET", 10);
    check_solid("TET", 14);
    check_solid("PYRAMID", 5);
    check_solid("PYRAMID", 13);
    check_solid("PYRAMID", 14);
    check_solid("PYRAMID", 18);
    check_solid("WEDGE", 6);
    check_solid("WEDGE", 15);
    check_solid("WEDGE", 18);
    check_solid("WEDGE", 20);
    check_solid("WEDGE", 21);
    check_solid("HEX", 8);
    check_solid("HEX", 20);
    check_solid("HEX", 27);
    return check_done();
}
