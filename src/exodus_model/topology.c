/* exodus_model: tables of topologies.  A table contains the sides of the largest topology of a
 * shape: corner nodes, then mid-edge nodes, then the mid-side node.  Smaller topologies use the
 * beginning of each row.  Sides and the order of nodes are those of the Exodus manual.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus_model/topology.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tutti/exodus.h>

typedef const unsigned char table[][TUTTI__SIDE_NODES];

static table point = {{1}};
static table ends = {{1}, {2}};
static table line = {{1, 2, 3}, {1, 2, 3}};
static table triangle = {{1, 2, 4}, {2, 3, 5}, {3, 1, 6}};
static table quad = {{1, 2, 5}, {2, 3, 6}, {3, 4, 7}, {4, 1, 8}};
static table triangle_shell = {
    {1, 2, 3, 4, 5, 6, 7}, {1, 3, 2, 6, 5, 4, 7}, {1, 2, 4}, {2, 3, 5}, {3, 1, 6}};
static table triangle_shell4 = {{1, 2, 3, 4}, {1, 3, 2, 4}, {1, 2}, {2, 3}, {3, 1}};
static table quad_shell = {{1, 2, 3, 4, 5, 6, 7, 8, 9},
                           {1, 4, 3, 2, 8, 7, 6, 5, 9},
                           {1, 2, 5},
                           {2, 3, 6},
                           {3, 4, 7},
                           {4, 1, 8}};
static table tetra = {{1, 2, 4, 5, 9, 8, 14},
                      {2, 3, 4, 6, 10, 9, 12},
                      {1, 4, 3, 8, 10, 7, 13},
                      {1, 3, 2, 7, 6, 5, 11}};
static table pyramid3 = {{1, 2, 5}, {2, 3, 5}, {3, 4, 5}, {1, 5, 4}, {1, 4, 3, 2}};
static table pyramid = {{1, 2, 5, 6, 11, 10, 15},
                        {2, 3, 5, 7, 12, 11, 16},
                        {3, 4, 5, 8, 13, 12, 17},
                        {1, 5, 4, 10, 13, 9, 18},
                        {1, 4, 3, 2, 9, 8, 7, 6, 14}};
static table wedge = {{1, 2, 5, 4, 7, 11, 13, 10, 16},
                      {2, 3, 6, 5, 8, 12, 14, 11, 17},
                      {1, 4, 6, 3, 10, 15, 12, 9, 18},
                      {1, 3, 2, 9, 8, 7},
                      {4, 5, 6, 13, 14, 15}};
static table wedge12 = {{1, 2, 5, 4, 7, 10},
                        {2, 3, 6, 5, 8, 11},
                        {1, 4, 6, 3, 9, 12},
                        {1, 3, 2, 9, 8, 7},
                        {4, 5, 6, 10, 11, 12}};
static table wedge20 = {{1, 2, 5, 4, 7, 11, 13, 10, 20},
                        {2, 3, 6, 5, 8, 12, 14, 11, 18},
                        {1, 4, 6, 3, 10, 15, 12, 9, 19},
                        {1, 3, 2, 9, 8, 7, 16},
                        {4, 5, 6, 13, 14, 15, 17}};
static table wedge21 = {{1, 2, 5, 4, 7, 11, 13, 10, 21},
                        {2, 3, 6, 5, 8, 12, 14, 11, 19},
                        {1, 4, 6, 3, 10, 15, 12, 9, 20},
                        {1, 3, 2, 9, 8, 7, 17},
                        {4, 5, 6, 13, 14, 15, 18}};
static table hex = {{1, 2, 6, 5, 9, 14, 17, 13, 26},  {2, 3, 7, 6, 10, 15, 18, 14, 25},
                    {3, 4, 8, 7, 11, 16, 19, 15, 27}, {1, 5, 8, 4, 13, 20, 16, 12, 24},
                    {1, 4, 3, 2, 12, 11, 10, 9, 22},  {5, 6, 7, 8, 17, 18, 19, 20, 23}};
static table hex16 = {{1, 2, 6, 5, 9, 13},         {2, 3, 7, 6, 10, 14},
                      {3, 4, 8, 7, 11, 15},        {4, 1, 5, 8, 12, 16},
                      {1, 4, 3, 2, 12, 11, 10, 9}, {5, 6, 7, 8, 13, 14, 15, 16}};

/* Shapes are identified by the first letters of their names; within a shape, topologies with fewer
 * nodes come first. */
static const tutti__shape known[] = {
    {"sph", 1, "1", point},
    {"cir", 1, "1", point},
    {"poi", 1, "1", point},
    {"par", 1, "1", point},
    {"bar", 2, "11", ends},
    {"bar", 3, "11", ends},
    {"rod", 2, "11", ends},
    {"rod", 3, "11", ends},
    {"edg", 2, "11", ends},
    {"edg", 3, "11", ends},
    {"lin", 2, "11", ends},
    {"lin", 3, "11", ends},
    {"tru", 2, "11", ends},
    {"tru", 3, "11", ends},
    {"bea", 2, "22", line},
    {"bea", 3, "33", line},
    {"tri", 3, "222", triangle},
    {"tri", 4, "222", triangle},
    {"tri", 6, "333", triangle},
    {"tri", 7, "333", triangle},
    {"trishell", 3, "33222", triangle_shell},
    {"trishell", 4, "44222", triangle_shell4},
    {"trishell", 6, "66333", triangle_shell},
    {"trishell", 7, "77333", triangle_shell},
    {"qua", 4, "2222", quad},
    {"qua", 5, "2222", quad},
    {"qua", 8, "3333", quad},
    {"qua", 9, "3333", quad},
    {"she", 4, "442222", quad_shell},
    {"she", 8, "883333", quad_shell},
    {"she", 9, "993333", quad_shell},
    {"she", 2, "22", line}, /* in two dimensions */
    {"tet", 4, "3333", tetra},
    {"tet", 5, "3333", tetra},
    {"tet", 8, "4444", tetra},
    {"tet", 10, "6666", tetra},
    {"tet", 11, "6666", tetra},
    {"tet", 14, "7777", tetra},
    {"tet", 15, "7777", tetra},
    {"pyr", 5, "33334", pyramid3},
    {"pyr", 6, "33334", pyramid3},
    {"pyr", 13, "66668", pyramid},
    {"pyr", 14, "66669", pyramid},
    {"pyr", 18, "77779", pyramid},
    {"pyr", 19, "77779", pyramid},
    {"wed", 6, "44433", wedge},
    {"wed", 7, "44433", wedge},
    {"wed", 12, "66666", wedge12},
    {"wed", 15, "88866", wedge},
    {"wed", 16, "88866", wedge},
    {"wed", 18, "99966", wedge},
    {"wed", 20, "99977", wedge20},
    {"wed", 21, "99977", wedge21},
    {"hex", 8, "444444", hex},
    {"hex", 9, "444444", hex},
    {"hex", 16, "666688", hex16},
    {"hex", 20, "888888", hex},
    {"hex", 21, "888888", hex},
    {"hex", 27, "999999", hex},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static int begins_with(const char *name, const char *with) {
    return strncasecmp(name, with, strlen(with)) == 0;
}

const tutti__shape *tutti__shape_find(const char *name, int nodes, int dims) {
    const char *prefix = name;
    if (!name || strlen(name) < 3 || tutti__shape_list_of(name)) return NULL;
    /* digits at the end of the name: the number of nodes */
    const char *digits = name + strlen(name);
    while (digits > name && isdigit((unsigned char)digits[-1])) digits--;
    const int nodes_in_name = strlen(digits) < 4 ? (int)strtol(digits, NULL, 10) : 0;
    const int n = nodes > 0 ? nodes : nodes_in_name;
    const int shell = begins_with(name, "trish") || (begins_with(name, "tri") && dims == 3) ||
                      (begins_with(name, "she") && (n == 3 || n == 6 || n == 7));
    if (shell) prefix = "trishell";
    for (int i = 0; i < KNOWN; i++) {
        const int same = shell ? strcmp(known[i].prefix, prefix) == 0
                               : strncasecmp(known[i].prefix, prefix, 3) == 0;
        if (same && (n == 0 || known[i].nodes == n)) return &known[i];
    }
    return NULL;
}

int tutti__shape_sides(const tutti__shape *t) {
    return t ? (int)strlen(t->count) : 0;
}

tutti__shape_list tutti__shape_list_of(const char *name) {
    if (name && strcasecmp(name, "nsided") == 0) return TUTTI__NSIDED;
    return name && strcasecmp(name, "nfaced") == 0 ? TUTTI__NFACED : TUTTI__LISTED_NOT;
}

int tutti_exodus_topology_nodes(const char *topology) {
    const tutti__shape *t = tutti__shape_find(topology, 0, 0);
    return t ? t->nodes : 0;
}

int tutti_exodus_topology_sides(const char *topology, int nodes, int dims) {
    if (dims < 1 || dims > 3) return 0;
    if (tutti__shape_list_of(topology) == TUTTI__NSIDED) return nodes > 0 ? nodes : 0;
    return tutti__shape_sides(tutti__shape_find(topology, nodes, dims));
}

int tutti_exodus_side_nodes(const char *topology, int nodes, int dims, int side, int *which_out) {
    if (side < 1 || side > tutti_exodus_topology_sides(topology, nodes, dims)) return 0;
    if (tutti__shape_list_of(topology) == TUTTI__NSIDED) { /* edges of a polygon */
        for (int i = 0; i < 2 && which_out; i++) which_out[i] = (side - 1 + i) % nodes;
        return 2;
    }
    const tutti__shape *t = tutti__shape_find(topology, nodes, dims);
    const int n = tutti__shape_side(t, side);
    for (int i = 0; i < n && which_out; i++) which_out[i] = t->side[side - 1][i] - 1;
    return n;
}
