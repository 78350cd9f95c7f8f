/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Physical groups of Gmsh files: partitioned entities have their own groups or those of their parent; an element
 * may be in several groups (in format 2.2 it is repeated); groups are kept by every format that is written.  Names
 * with a zero byte or a quotation mark are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/meshes.h"

static char path[512];

typedef struct {
    int dim, tag, count;
} expected;

/* Return the number of elements of a group on all ranks. */
static tutti_off group_count(const tutti_mesh *m, int dim, int tag) {
    tutti_mesh_view v;
    tutti_off n = 0;
    CHECK_OK(tutti_mesh_view_get(m, &v));
    for (tutti_count e = 0; e < v.elements; e++) {
        int in = v.physical[e] == tag;
        for (tutti_count k = 0; k < v.memberships; k++)
            in |= v.membership[k].dim == dim && v.membership[k].entity == v.entity[e] &&
                  v.membership[k].physical == v.physical[e] && v.membership[k].tag == tag;
        n += in && tutti_mesh_type_dim(v.type[e]) == dim;
    }
    return sum_all(n);
}

static void check_groups(const tutti_mesh *m, int elements, const expected *want,
                         const char *what) {
    tutti_mesh_view v;
    CHECK_OK(tutti_mesh_view_get(m, &v));
    CHECK(v.all_elements == elements, "%s: %lld elements", what, (long long)v.all_elements);
    for (; want->tag > 0; want++) {
        const tutti_off n = group_count(m, want->dim, want->tag);
        CHECK(n == want->count, "%s: group %d of dimension %d has %lld elements, not %d", what,
              want->tag, want->dim, (long long)n, want->count);
    }
}

/* Read a mesh, write and read it in every format, and check its groups each time. */
static void check_all_formats(const char *text, int elements, const expected *want,
                              const char *what) {
    static const char *const names[] = {"native", "4.1", "4.1 binary", "2.2", "2.2 binary"};
    tutti_mesh *m = NULL, *back = NULL;
    check_where(what);
    file_put(path, (const unsigned char *)text, (int64_t)strlen(text));
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_OK);
    if (!m) return;
    check_groups(m, elements, want, "read");
    for (int f = TUTTI_MESH_NATIVE; f <= TUTTI_MESH_GMSH_22_BINARY; f++) {
        CHECK_SAME(tutti_mesh_write(m, path, (tutti_mesh_format)f, NULL), TUTTI_OK);
        CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &back), TUTTI_OK);
        if (!back) continue;
        check_groups(back, elements, want, names[f]);
        tutti_mesh_free(&back);
    }
    tutti_mesh_free(&m);
}

/* A partitioned square of two triangles.  Surface 2 has no groups of its own, surface 3 does.  Curve 5 has groups of
 * its own, one with a negative sign.  Curve 6 is between the partitions, where Gmsh repeats the groups of the surface;
 * point 4 is an end of curve 6. */
static const char partitioned[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$PhysicalNames\n4\n1 21 \"bottom\"\n1 24 \"between\"\n2 11 \"plate\"\n2 13 \"all\"\n"
    "$EndPhysicalNames\n"
    "$Entities\n0 1 1 0\n1 0 0 0 1 0 0 2 21 22 0\n1 0 0 0 1 1 0 2 11 13 0\n$EndEntities\n"
    "$PartitionedEntities\n2\n1\n9 2\n1 2 2 0\n"
    "4 1 1 2 1 2 0 0 0 2 21 22\n"
    "5 1 1 1 1 0 0 0 1 0 0 2 -21 22 0\n"
    "6 2 1 2 1 2 0 0 0 1 1 0 3 11 13 24 0\n"
    "2 2 1 1 1 0 0 0 1 1 0 0 3 5 6 7\n"
    "3 2 1 1 2 0 0 0 1 1 0 2 11 13 0\n"
    "$EndPartitionedEntities\n"
    "$Nodes\n1 4 1 4\n2 2 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"
    "$Elements\n5 5 1 5\n0 4 15 1\n1 1\n1 5 1 1\n2 1 2\n1 6 1 1\n3 1 3\n2 2 2 1\n4 1 2 3\n"
    "2 3 2 1\n5 1 3 4\n$EndElements\n";

/* The same square, but the groups of surface 3 differ from the groups of its parent. */
static const char own_groups[] =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
    "$Entities\n0 0 1 0\n1 0 0 0 1 1 0 2 11 13 0\n$EndEntities\n"
    "$PartitionedEntities\n2\n0\n0 0 2 0\n"
    "2 2 1 1 1 0 0 0 1 1 0 0 0\n"
    "3 2 1 1 2 0 0 0 1 1 0 2 11 14 0\n"
    "$EndPartitionedEntities\n"
    "$Nodes\n1 4 1 4\n2 2 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"
    "$Elements\n2 2 1 2\n2 2 2 1\n1 1 2 3\n2 3 2 1\n2 1 3 4\n$EndElements\n";

/* Format 2.2: three triangles of one entity or without an entity, in different sets of groups.  The last two
 * lines repeat an element in the same group, which does not add a group. */
static const char repeated[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                               "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 2 0\n$EndNodes\n"
                               "$Elements\n10\n"
                               "1 2 2 1 0 1 2 3\n"
                               "2 2 2 1 0 1 3 4\n3 2 2 2 0 1 3 4\n"
                               "4 2 2 1 0 2 3 5\n5 2 2 -2 0 2 3 5\n6 2 2 3 0 2 3 5\n"
                               "7 1 3 4 7 1 1 2\n8 1 3 5 7 1 1 2\n"
                               "9 1 2 6 8 3 4\n10 1 2 6 8 3 4\n$EndElements\n";

/* The checksum of the native format includes the group memberships: each changed bit is detected. */
static void check_damage_detected(const char *text) {
    tutti_mesh *m = NULL;
    tutti_mesh_view v;
    int64_t n = 0, at = 0;
    check_where("damaged");
    file_put(path, (const unsigned char *)text, (int64_t)strlen(text));
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_OK);
    CHECK_SAME(tutti_mesh_write(m, path, TUTTI_MESH_NATIVE, NULL), TUTTI_OK);
    tutti_mesh_free(&m);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_OK);
    CHECK_OK(tutti_mesh_view_get(m, &v));
    const int64_t words = 4 * v.memberships;
    unsigned char *bytes = file_get(path, &n);
    while (at + 4 * words <= n && memcmp(bytes + at, v.membership, 4 * (size_t)words) != 0) at += 4;
    CHECK(words > 0 && at + 4 * words <= n, "no table of %lld memberships", (long long)words / 4);
    tutti_mesh_free(&m);
    for (int64_t k = 0; k < words && at + 4 * words <= n; k++) {
        bytes[at + 4 * k] ^= 64;
        file_put(path, bytes, n);
        CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m), TUTTI_ERR_FORMAT);
        tutti_mesh_free(&m);
        bytes[at + 4 * k] ^= 64;
    }
    free(bytes);
}

static void check_name_refused(const char *name, size_t bytes, const char *words) {
    char text[400];
    tutti_mesh *m = NULL;
    const char *head = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n1 7 \"";
    const char *tail = "\"\n$EndPhysicalNames\n$Nodes\n0 0 0 0\n$EndNodes\n";
    char *at = text;
    memcpy(at, head, strlen(head));
    at += strlen(head);
    memcpy(at, name, bytes);
    at += bytes;
    memcpy(at, tail, strlen(tail));
    at += strlen(tail);
    file_put(path, (const unsigned char *)text, at - text);
    CHECK_SAME(tutti_mesh_open(MPI_COMM_WORLD, path, NULL, &m),
               words ? TUTTI_ERR_FORMAT : TUTTI_OK);
    if (words) CHECK(strstr(tutti_last_message(), words), "%s", tutti_last_message());
    tutti_mesh_free(&m);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1157);
    snprintf(path, sizeof path, "%s/t1157.msh", check_dir());
    check_all_formats(partitioned, 5,
                      (expected[]){{2, 11, 2},
                                   {2, 13, 2},
                                   {1, 21, 1},
                                   {1, 22, 1},
                                   {1, 24, 1},
                                   {1, 11, 0},
                                   {1, 13, 0},
                                   {0, 21, 0},
                                   {0, 22, 0},
                                   {0, 0, 0}},
                      "partitioned");
    check_all_formats(own_groups, 2, (expected[]){{2, 11, 2}, {2, 13, 1}, {2, 14, 1}, {0, 0, 0}},
                      "own groups");
    check_all_formats(
        repeated, 6,
        (expected[]){{2, 1, 3}, {2, 2, 2}, {2, 3, 1}, {1, 4, 1}, {1, 5, 1}, {1, 6, 2}, {0, 0, 0}},
        "repeated");
    check_damage_detected(repeated);
    check_where("names");
    check_name_refused("a b", 3, NULL);
    check_name_refused("a\0b", 3, "zero byte");
    check_name_refused("a\"b", 3, "t1157.msh");
    check_name_refused("a\nb", 3, "no closing quotation mark");
    file_remove(path);
    return harness_end();
}
