/* TEST ranks=1 timeout=60 */
/* Distributed arrays: every distribution (block, cyclic, none, default and given arguments), both orders
 * and every rank of the grid are compared with a loop over all elements.  The shares of all ranks together
 * contain each element once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mpitype.h>
#include "base/memory.h"
#include "mpitype/random_type.h"

/* Check the access of one rank to two consecutive arrays; return its number of elements. */
static int one_rank(const random_array *r) {
    mapped_type element, t = {.type = MPI_DATATYPE_NULL};
    tutti_access *a = NULL;
    tutti_access_iter *it;
    tutti_piece p;
    int64_t done = 0, wrong = 0;
    map_named(&element, MPI_INT);
    MPI_OK(make_darray(r, &element, &t));
    CHECK_OK(tutti_access_from_view(8, t.type, 0, 2 * t.n, MPI_BYTE, &a));
    CHECK_OK(tutti_access_iter_start(a, 0, &it));
    while (tutti_access_iter_next(it, &p))
        for (int64_t i = 0; i < p.bytes; i++, done++)
            wrong += p.file + i != 8 + done / t.n * 4 * array_elements(r) + t.at[done % t.n];
    CHECK_EQ(done, 2 * t.n);
    CHECK_EQ(wrong, 0);
    const int elements = (int)(t.n / 4);
    tutti_access_iter_free(&it);
    tutti_access_free(&a);
    free_mapped(&t);
    free_mapped(&element);
    return elements;
}

static void one_array(void) {
    random_array a = make_array();
    int elements = 0;
    for (a.rank = 0; a.rank < a.procs; a.rank++) elements += one_rank(&a);
    CHECK_EQ(elements, array_elements(&a));
}

int main(int argc, char **argv) {
    char where[32];
    MPI_Init(&argc, &argv);
    check_seed(302);
    const long live = tutti__memory_live();
    for (int i = 0; i < 600; i++) {
        snprintf(where, sizeof where, "array %d", i);
        check_where(where);
        one_array();
    }
    check_where("end");
    CHECK_EQ(tutti__memory_live(), live);
    MPI_Finalize();
    return check_done();
}
