/* TEST ranks=1,2,3,5,8 timeout=90 */
/* Every format is written and read again by any number of ranks, and names of groups are kept.  Gmsh files that follow
 * the specification (the texts below) are read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/meshes.h"

static char path[512];

static const tutti_mesh_group groups[] = {
    {3, 1, "lower half"}, {3, 2, "upper"}, {2, 3, "con tact"}};

static void round_trip(int k, int mixed) {
    static const char *const names[] = {"native", "4.1", "4.1 binary", "2.2", "2.2 binary"};
    whole w = whole_box(k, mixed);
    tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD), *alone = whole_mesh(&w, MPI_COMM_SELF);
    slice_is(m, alone, 1, "made");
    CHECK_SAME(tutti_mesh_set_groups(m, 3, groups), TUTTI_OK);
    for (int f = TUTTI_MESH_NATIVE; f <= TUTTI_MESH_GMSH_22_BINARY; f++) {
        tutti_mesh *back = NULL;
        const tutti_mesh_group *g = NULL;
        check_where(names[f]);
        CHECK_SAME(tutti_mesh_write(m, path, (tutti_mesh_format)f, NULL), TUTTI_OK);
        CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &back), TUTTI_OK);
        if (!back) continue;
        slice_is(back, alone, f == TUTTI_MESH_NATIVE, names[f]);
        CHECK_EQ(tutti_mesh_groups(back, &g), 3);
        for (int i = 0; i < 3; i++)
            CHECK(g[i].dim == groups[i].dim && g[i].tag == groups[i].tag &&
                      strcmp(g[i].name, groups[i].name) == 0,
                  "group %d is '%s'", i, g[i].name);
        tutti_mesh_free(&back);
    }
    check_where("");
    tutti_mesh_free(&m);
    tutti_mesh_free(&alone);
    CHECK(m == NULL, "not nulled");
    tutti_mesh_free(&m);
    whole_free(&w);
}

/* The bytes of a file do not depend on the number of ranks that write it. */
static void same_bytes(void) {
    char second[520];
    int64_t n = 0;
    whole w = whole_box(3, 1);
    snprintf(second, sizeof second, "%s.one", path);
    tutti_mesh *m = whole_mesh(&w, MPI_COMM_WORLD), *alone = whole_mesh(&w, MPI_COMM_SELF);
    CHECK_SAME(tutti_mesh_write(m, path, TUTTI_MESH_NATIVE, NULL), TUTTI_OK);
    if (rank == 0) CHECK_OK(tutti_mesh_write(alone, second, TUTTI_MESH_NATIVE, NULL));
    unsigned char *v = file_get(second, &n);
    file_is(path, v, n, "by all and by one");
    free(v);
    file_remove(second);
    tutti_mesh_free(&m);
    tutti_mesh_free(&alone);
    whole_free(&w);
}

static const char new_text[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$Comments\nanything $EndCommentsNot\n$EndComments\n"
    "$PhysicalNames\n1\n2 9 \"gate\"\n$EndPhysicalNames\n"
    "$Entities\n1 0 1 0\n5 0 0 0 0 \n7 0 0 0 1 1 0 2 -9 4 0 \n$EndEntities\n"
    "$Nodes\n2 4 10 40\n2 7 1 3\n10\n30\n20\n"
    "0 0 0 0 0\n1 0 0 1 0\n1 1 0 1 1\n0 5 0 1\n40\n0 1e0 0\n$EndNodes\n"
    "$Elements\n2 3 1 3\n0 5 15 1\n3 40\n2 7 2 2\n1 10 30 20\n2 10 20 40\n"
    "$EndElements\n";
static const char old_text[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    "$Nodes\n4\n1000000000000 0 0 0\n3 1 0 0\n2 1 1 0\n9 0 1 0\n$EndNodes\n"
    "$Elements\n3\n1 15 2 0 5 9\n2 2 4 9 7 1 -1 1000000000000 3 2\n"
    "3 2 3 9 7 0 1000000000000 2 9\n$EndElements\n";

static void read_text(const char *text) {
    static const tutti_count nodes[] = {3, 0, 1, 2, 0, 2, 3};
    tutti_mesh *m = NULL, *alone = NULL;
    tutti_mesh_view v;
    file_put(path, (const unsigned char *)text, (int64_t)strlen(text));
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_OK);
    CHECK_OK(tutti_mesh_open(MPI_COMM_SELF, path, NULL, &alone));
    if (!m || !alone) return;
    CHECK_OK(tutti_mesh_view_get(alone, &v));
    CHECK_EQ(v.nodes, 4);
    CHECK_EQ(v.elements, 3);
    CHECK(v.type[0] == TUTTI_MESH_POINT && v.type[1] == TUTTI_MESH_TRIANGLE, "types");
    CHECK(v.physical[0] == 0 && v.physical[1] == 9 && v.physical[2] == 9, "physical groups");
    CHECK(v.entity[0] == 5 && v.entity[2] == 7, "entities");
    CHECK(memcmp(v.node, nodes, sizeof nodes) == 0, "nodes");
    CHECK(v.coordinates[3 * 3 + 1] == 1 && v.coordinates[3 * 2] == 1, "coordinates");
    slice_is(m, alone, 1, "distributed");
    tutti_mesh_free(&m);
    tutti_mesh_free(&alone);
}

/* Invalid input: a replacement in a text, the expected error code and a part of the message. */
typedef struct {
    const char *replace, *by; /* text to replace in new_text or old_text, and its replacement */
    tutti_err code;
    const char *says;
} damage;

static void read_damaged(const char *text, const damage *d) {
    char copy[2048], *at = NULL;
    tutti_mesh *m = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    at = strstr(copy, d->replace);
    CHECK(at != NULL, "no '%s' in the text", d->replace);
    const char *rest = strstr(text, d->replace) + strlen(d->replace);
    snprintf(at, sizeof copy - (size_t)(at - copy), "%s%s", d->by, rest);
    check_where(d->by);
    file_put(path, (unsigned char *)copy, (int64_t)strlen(copy));
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), d->code);
    CHECK(strstr(tutti_last_message(), d->says) != NULL, "'%s' does not say '%s'",
          tutti_last_message(), d->says);
    CHECK(m == NULL, "there is a mesh all the same");
    tutti_mesh_free(&m);
}

static void read_invalid_texts(void) {
    static const damage new[] = {
        {"4.1 0", "4.0 0", TUTTI_ERR_UNSUPPORTED, "line 2: unsupported Gmsh format version 4.0"},
        {"4.1 0 8", "4.1 0 4", TUTTI_ERR_UNSUPPORTED, "line 2"},
        {"$MeshFormat", "$Mesh", TUTTI_ERR_FORMAT, "line 1"},
        {"$EndNodes", "$EndNode", TUTTI_ERR_FORMAT, "expected $EndNodes"},
        {"10 20 40\n", "10 20 41\n", TUTTI_ERR_FORMAT, "line 35: element refers to node 41"},
        {"\n30\n", "\n10\n", TUTTI_ERR_FORMAT, "duplicate node tag 10"},
        {"2 4 10 40", "2 400000000000 10 40", TUTTI_ERR_FORMAT,
         "line 17: header declares 400000000000 nodes"},
        {"2 4 10 40", "2 5 10 40", TUTTI_ERR_FORMAT, "section declares 5 nodes, but has 4"},
        {"2 7 1 3", "2 7 1 9", TUTTI_ERR_FORMAT, "block has 9 nodes"},
        {"2 7 2 2", "2 7 9 2", TUTTI_ERR_UNSUPPORTED, "type 9"},
        {"2 7 2 2", "2 7 -9 2", TUTTI_ERR_FORMAT, "type -9"},
        {"1e0", "1e999", TUTTI_ERR_FORMAT, "finite"},
        {"1e0", "nan", TUTTI_ERR_FORMAT, "finite"},
        {"1e0", "one", TUTTI_ERR_FORMAT, "'one'"},
        {"2 3 1 3", "2 99999999999999999999 1 3", TUTTI_ERR_FORMAT, "exceeds 64 bits"},
        {"$Nodes", "$Knots", TUTTI_ERR_FORMAT, "before $EndKnots"},
        {"1\n2 9 \"gate\"", "1\n2 9 \"gate", TUTTI_ERR_FORMAT, "no closing quotation mark"},
        {"1\n2 9 \"gate\"", "1\n4 9 \"gate\"", TUTTI_ERR_FORMAT, "dimension 4"},
        {"2 -9 4 0", "2000000000 -9 4 0", TUTTI_ERR_FORMAT,
         "header declares 2000000000 physical groups"},
        {"$EndElements\n", "", TUTTI_ERR_FORMAT, "ends unexpectedly"},
    };
    static const damage old[] = {
        {"4\n1000", "-4\n1000", TUTTI_ERR_FORMAT, "line 5: header declares -4 nodes"},
        {"2 2 4 9 7", "2 2 400000 9 7", TUTTI_ERR_FORMAT, "header declares 400000 tags"},
        {"9 0 1 0", "-9 0 1 0", TUTTI_ERR_FORMAT, "tag is -9"},
        {"9 0 1 0", "2 0 1 0", TUTTI_ERR_FORMAT, "duplicate node tag 2"},
        {"0 5 9\n", "0 5 8\n", TUTTI_ERR_FORMAT, "line 13: element refers to node 8"},
        {"$Elements\n3", "$Elements\n4", TUTTI_ERR_FORMAT, "expected an integer"},
    };
    /* on many ranks some cases are enough, because only one rank reads */
    const size_t step = ranks <= 3 ? 1 : 7;
    for (size_t i = 0; i < sizeof new / sizeof *new; i += step) read_damaged(new_text, &new[i]);
    for (size_t i = 0; i < sizeof old / sizeof *old; i += step) read_damaged(old_text, &old[i]);
    check_where("");
}

/* An empty file, another format, elements before nodes, and a missing file are refused. */
static void read_invalid_files(void) {
    tutti_mesh *m = NULL;
    file_put(path, (const unsigned char *)"", 0);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_ERR_FORMAT);
    file_put(path, (const unsigned char *)"solid ascii", 11);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_ERR_FORMAT);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, "/no/such/mesh", NULL, &m), TUTTI_ERR_NOT_FOUND);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, "/", NULL, &m), TUTTI_ERR_IS_DIRECTORY);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, rank == ranks - 1 ? "" : path, NULL, &m),
               TUTTI_ERR_ARG);
    if (ranks > 1)
        CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, rank == 0 ? "/a" : "/b", NULL, &m),
                   TUTTI_ERR_MISMATCH);
    static const char empty[] =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n0 0 0 0\n$EndNodes\n";
    file_put(path, (const unsigned char *)empty, (int64_t)strlen(empty));
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_OK);
    for (int f = TUTTI_MESH_NATIVE; f <= TUTTI_MESH_GMSH_22_BINARY && m; f++) {
        tutti_mesh *back = NULL;
        tutti_mesh_info info;
        CHECK_SAME(tutti_mesh_write(m, path, (tutti_mesh_format)f, NULL), TUTTI_OK);
        CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &back), TUTTI_OK);
        CHECK_SAME(tutti_mesh_describe(back, &info), TUTTI_OK);
        CHECK(info.nodes == 0 && info.elements == 0 && info.dim == -1,
              "an empty mesh has something");
        tutti_mesh_free(&back);
    }
    tutti_mesh_free(&m);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1151);
    snprintf(path, sizeof path, "%s", scratch_path("mesh"));
    round_trip(3, 0);
    round_trip(4, 1);
    round_trip(1, 0); /* so small that some ranks have no slice */
    same_bytes();
    read_text(new_text);
    read_text(old_text);
    read_invalid_texts();
    read_invalid_files();
    file_remove(path);
    return harness_end();
}
