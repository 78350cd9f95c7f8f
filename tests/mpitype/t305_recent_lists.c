/* TEST ranks=1 timeout=60 */
/* Datatypes with equal long lists of blocks share one cached side while a view exists, also if MPI
 * has reused the handle of a freed datatype.  They do not share it if one block or the element type
 * differs, or if the lists are short.  Accesses to whole tiles of a view share the side of its
 * list.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "mpitype/mpitype_impl.h"
#include <tutti/tutti.h>

enum { LONG = 6000, SHORT = 100 };

/* Create a datatype of blocks of 1 to 3 elements with gaps; block `changed` begins one element
 * later. */
static MPI_Datatype list_of(int n, int changed, MPI_Datatype element) {
    static int length[LONG], place[LONG];
    MPI_Datatype type;
    for (int i = 0; i < n; i++) {
        length[i] = 1 + i * i % 3;
        place[i] = 5 * i + (i == changed);
    }
    MPI_Type_indexed(n, length, place, element, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Return the node of the layout of a new datatype, which is freed here. */
static const void *node_of(int n, int changed, MPI_Datatype element, tutti__layout *out) {
    MPI_Datatype type = list_of(n, changed, element);
    CHECK_OK(tutti__layout_get(type, out));
    MPI_Type_free(&type);
    return out->side.node;
}

static void compare_lists(int n, int shared) {
    tutti__layout a, b, c, d;
    const void *first = node_of(n, -1, MPI_DOUBLE, &a);
    CHECK((node_of(n, -1, MPI_DOUBLE, &b) == first) == shared, "%d blocks: equal contents", n);
    CHECK(node_of(n, n / 2, MPI_DOUBLE, &c) != first, "%d blocks: one of them moved", n);
    CHECK(node_of(n, -1, MPI_INT, &d) != first, "%d blocks: elements of 4 bytes", n);
    CHECK_EQ(tutti__side_bytes(b.side), tutti__side_bytes(a.side));
    CHECK_EQ(tutti__side_hi(b.side), tutti__side_hi(a.side));
    CHECK_EQ(tutti__side_bytes(c.side), tutti__side_bytes(a.side));
    CHECK_EQ(2 * tutti__side_bytes(d.side), tutti__side_bytes(a.side));
    tutti__layout_free(&a);
    tutti__layout_free(&b);
    tutti__layout_free(&c);
    tutti__layout_free(&d);
}

static void access_whole_tiles(void) {
    MPI_Datatype type = list_of(LONG, -1, MPI_DOUBLE);
    tutti_view *view = NULL;
    tutti_access *a = NULL, *b = NULL, *part = NULL;
    int bytes;
    MPI_Type_size(type, &bytes);
    CHECK_OK(tutti_view_make(64, type, &view));
    CHECK_OK(tutti_view_access(view, 0, bytes, MPI_BYTE, &a));
    CHECK_OK(tutti_view_access(view, bytes, bytes, MPI_BYTE, &b));
    CHECK_OK(tutti_view_access(view, 8, bytes - 8, MPI_BYTE, &part));
    CHECK(a->file.node == b->file.node, "two accesses of whole tiles have lists of their own");
    CHECK(a->file.node != part->file.node, "an access of a part has the list of the whole tile");
    CHECK_EQ(tutti_access_bytes(part), bytes - 8);
    tutti_access_free(&a);
    tutti_access_free(&b);
    tutti_access_free(&part);
    tutti_view_free(&view);
    MPI_Type_free(&type);
}

int main(int argc, char **argv) {
    tutti_view *view = NULL;
    MPI_Init(&argc, &argv);
    compare_lists(LONG, 0); /* without a view nothing is cached */
    CHECK_OK(tutti_view_make(0, MPI_BYTE, &view));
    compare_lists(LONG, 1);
    compare_lists(SHORT, 0);
    compare_lists(LONG, 1);
    tutti_view_free(&view);
    compare_lists(LONG, 0);
    access_whole_tiles();
    MPI_Finalize();
    return check_done();
}
