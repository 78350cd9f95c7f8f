/* TEST ranks=1 timeout=60 */
/* Random nested datatypes as memory types: the memory side of the access has the offsets of the type map,
 * also with negative strides, extents and bounds, overlaps and empty blocks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mpitype.h>
#include "base/memory.h"
#include "mpitype/random_type.h"

static void compare_values(const tutti_access *a, const mapped_type *t, int count) {
    tutti_access_iter *it;
    tutti_piece p;
    int64_t done = 0, wrong = 0;
    CHECK_EQ(tutti_access_bytes(a), count * t->n);
    CHECK_OK(tutti_access_iter_start(a, 0, &it));
    while (tutti_access_iter_next(it, &p)) {
        CHECK_EQ(p.file, done);
        for (int64_t i = 0; i < p.bytes; i++, done++)
            wrong += p.memory + i != done / t->n * t->extent + t->at[done % t->n];
    }
    CHECK_EQ(done, count * t->n);
    CHECK(wrong == 0, "%lld bytes differ", (long long)wrong);
    tutti_access_iter_free(&it);
}

static void one_type(int depth, int up) {
    mapped_type t = random_type(depth, up);
    const int count = (int)rnd(4);
    tutti_access *a = NULL;
    CHECK_OK(tutti_access_from_view(0, MPI_BYTE, 0, count, t.type, &a));
    if (a) compare_values(a, &t, count);
    tutti_access_free(&a);
    check_map(&t);
    free_mapped(&t);
}

int main(int argc, char **argv) {
    char where[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_seed(300);
    const long live = tutti__memory_live();
    for (int i = 0; i < 4000; i++) {
        snprintf(where, sizeof where, "type %d", i);
        check_where(where);
        one_type(i % 5, i % 3 == 0);
    }
    check_where("end");
    CHECK_EQ(tutti__memory_live(), live);
    MPI_Finalize();
    return check_done();
}
