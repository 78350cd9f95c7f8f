/* TEST ranks=2,3 timeout=60 */
/* Invalid input on the last rank or on all ranks: every rank returns the same error code with the same
 * message, which names rank, entity and position.  The handle stays usable, and correct input is
 * accepted afterwards.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <tutti/exodus.h>

static char path[600];
static int last; /* whether this rank is the last rank */

/* The mesh of this rank: two blocks with a hexahedron each, a side set and a node set. */
static int64_t node_ids[8], ids[2];
static tutti_count nodes[2][8], member[1], cold[1];
static int sides[1];
static double x[8];
static tutti_exodus_elements blocks[2];
static tutti_exodus_members side_set, node_set;

static tutti_exodus_mesh correct_mesh(void) {
    for (int i = 0; i < 8; i++) {
        node_ids[i] = 1 + 8 * rank + i;
        nodes[0][i] = nodes[1][i] = i;
        x[i] = i;
    }
    ids[0] = 100 + rank;
    ids[1] = 200 + rank;
    member[0] = 1;
    sides[0] = 6;
    cold[0] = 7;
    for (int b = 0; b < 2; b++)
        blocks[b] = (tutti_exodus_elements){.n = 1, .ids = &ids[b], .nodes = nodes[b]};
    side_set = (tutti_exodus_members){.n = 1, .members = member, .sides = sides};
    node_set = (tutti_exodus_members){.n = 1, .members = cold};
    return (tutti_exodus_mesh){.nodes = 8,
                               .node_ids = node_ids,
                               .coordinates = {x, x, x},
                               .blocks = blocks,
                               .side_sets = &side_set,
                               .node_sets = &node_set};
}

/* Check that the last error message contains all of these words. */
static void check_message(const char *what, const char *words) {
    char copy[200], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        CHECK(strstr(tutti_last_message(), word), "%s: no '%s' in: %s", what, word,
              tutti_last_message());
}

static void refuse_mesh(tutti_exodus *f, const tutti_exodus_mesh *m, tutti_err code,
                        const char *what, const char *words) {
    check_where(what);
    CHECK_SAME(tutti_exodus_put_mesh(f, m), code);
    check_message(what, words);
}

static void refuse_meshes(tutti_exodus *f) {
    char blamed[64];
    snprintf(blamed, sizeof blamed, "rank %d", ranks - 1);
    tutti_exodus_mesh m = correct_mesh();
    if (last) nodes[1][3] = 8;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "an element of a node that is not there", blamed);
    m = correct_mesh();
    if (last) nodes[0][0] = -1;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "a negative node", blamed);
    m = correct_mesh();
    if (last) node_ids[5] = node_ids[2];
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "a node twice", blamed);
    m = correct_mesh();
    if (last) node_ids[5] = 0;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "a node's id that is 0", blamed);
    m = correct_mesh();
    if (last) ids[1] = ids[0];
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "an element in two blocks", "");
    m = correct_mesh();
    if (last) ids[1] = 100; /* rank 0 has this id in the other block */
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "an element in two blocks, of two ranks", "");
    m = correct_mesh();
    if (last) sides[0] = 7;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "a side that a hexahedron has not", blamed);
    m = correct_mesh();
    if (last) sides[0] = 0;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "side 0", blamed);
    m = correct_mesh();
    if (last) member[0] = 2;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "a side of an element that is not there", blamed);
    m = correct_mesh();
    if (last) cold[0] = 8;
    refuse_mesh(f, &m, TUTTI_ERR_ARG, "a member that is not there", blamed);
    m = correct_mesh();
    ids[0] = 300; /* all ranks have this element, with different nodes */
    refuse_mesh(f, &m, TUTTI_ERR_MISMATCH, "copies of an element with other nodes", "300");
}

/* Test arguments that must be the same on all ranks, but differ. */
static void refuse_definitions(tutti_exodus *f) {
    check_where("definitions that differ");
    CHECK_SAME(tutti_exodus_init(
                   f, &(tutti_exodus_parameters){.title = "t", .dims = 3, .nodes = last ? 9 : 8}),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_exodus_init(f, &(tutti_exodus_parameters){.title = "t", .dims = last ? 2 : 3}),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_exodus_init(f, &(tutti_exodus_parameters){.title = "t", .dims = 4}),
               TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_init(f, &(tutti_exodus_parameters){.title = "t", .dims = 3}), TUTTI_OK);
    tutti_exodus_entity all[] = {
        {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 1, .topology = "HEX8"},
        {.kind = TUTTI_EXODUS_ELEMENT_BLOCK, .id = 2, .topology = "HEX8"},
        {.kind = TUTTI_EXODUS_SIDE_SET, .id = 3},
        {.kind = TUTTI_EXODUS_NODE_SET, .id = 4},
    };
    CHECK_SAME(tutti_exodus_define(f, last ? 3 : 4, all), TUTTI_ERR_MISMATCH);
    all[0].entries = last ? 5 : 4;
    CHECK_SAME(tutti_exodus_define(f, 4, all), TUTTI_ERR_MISMATCH);
    all[0].entries = 0;
    all[1].id = 1;
    check_where("two blocks of one id");
    CHECK_SAME(tutti_exodus_define(f, 4, all), TUTTI_ERR_ARG);
    check_message("two blocks of one id", "1");
    all[1].id = 2;
    CHECK_SAME(tutti_exodus_define(f, 4, all), TUTTI_OK);
    check_where("variables that differ");
    CHECK_SAME(tutti_exodus_variables(f, TUTTI_EXODUS_NODAL, 1, (const char *[]){last ? "u" : "v"}),
               TUTTI_ERR_MISMATCH);
    CHECK_SAME(tutti_exodus_variables(f, TUTTI_EXODUS_NODAL, 2, (const char *[]){"u", "u"}),
               TUTTI_ERR_ARG);
    CHECK_SAME(tutti_exodus_variables(f, TUTTI_EXODUS_NODAL, 1, (const char *[]){"u"}), TUTTI_OK);
    CHECK_SAME(tutti_exodus_variables(f, TUTTI_EXODUS_ELEMENT_BLOCK, 1, (const char *[]){"s"}),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_truth_table(f, TUTTI_EXODUS_ELEMENT_BLOCK, (unsigned char[]){1, 0}),
               TUTTI_OK);
}

static void refuse_fields(tutti_exodus *f) {
    double buf[8] = {0};
    tutti_exodus_field field = {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                .id = 99,
                                .variable = "s",
                                .type = TUTTI_FLOAT64,
                                .buf = buf};
    check_where("a variable on a block that is not there");
    CHECK_SAME(tutti_exodus_begin(f, 1), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put(f, 1, &field), TUTTI_ERR_NOT_FOUND);
    check_message("a variable on a block that is not there", "99");
    field.id = 2;
    check_where("a variable that the block has not");
    CHECK_SAME(tutti_exodus_put(f, 1, &field), TUTTI_ERR_NOT_FOUND);
    check_message("a variable that the block has not", "s 2");
    field.id = 1;
    field.variable = "none";
    check_where("no such variable");
    CHECK_SAME(tutti_exodus_put(f, 1, &field), TUTTI_ERR_NOT_FOUND);
    check_message("no such variable", "none");
    tutti_exodus_field nodal = {
        .kind = TUTTI_EXODUS_NODAL, .variable = "u", .type = TUTTI_FLOAT64, .buf = buf};
    field.variable = "s";
    check_where("fields that differ");
    CHECK_SAME(tutti_exodus_put(f, 1, last ? &nodal : &field), TUTTI_ERR_MISMATCH);
    check_where("the right one");
    CHECK_SAME(tutti_exodus_put(f, 1, &field), TUTTI_OK);
    CHECK_SAME(tutti_exodus_commit(f), TUTTI_OK);
    check_where("a time that does not rise");
    CHECK_SAME(tutti_exodus_begin(f, 1), TUTTI_ERR_ARG);
    CHECK_EQ(tutti_exodus_steps(f), 1);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1353);
    snprintf(path, sizeof path, "%s/refused.e", check_dir());
    last = rank == ranks - 1;
    tutti_exodus *f = NULL;
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, NULL, &f), TUTTI_OK);
    refuse_definitions(f);
    refuse_meshes(f);
    tutti_exodus_mesh m = correct_mesh();
    check_where("the right mesh");
    CHECK_SAME(tutti_exodus_put_mesh(f, &m), TUTTI_OK);
    refuse_fields(f);
    CHECK_SAME(tutti_exodus_close(&f), TUTTI_OK);
    return harness_end();
}
