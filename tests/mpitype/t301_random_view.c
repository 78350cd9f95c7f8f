/* TEST ranks=1 timeout=60 */
/* Random nested datatypes as filetypes, with random displacement, skip and length: the file offsets
 * are those of the type map, tiled by the extent; types that go backwards, overlap or start below
 * zero are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mpitype.h>
#include "base/memory.h"
#include "mpitype/random_type.h"

/* Return whether the filetype obeys the rules of MPI in the tiles from `first` to `last`. */
static int is_legal(const mapped_type *m, int64_t displacement, int64_t first, int64_t last) {
    if (m->at[0] < 0 || displacement + first * m->extent + m->at[0] < 0) return 0;
    for (int64_t i = 1; i < m->n; i++)
        if (m->at[i] <= m->at[i - 1]) return 0;
    return first == last || m->at[m->n - 1] < m->at[0] + m->extent;
}

static void compare_values(const tutti_access *a, const mapped_type *m, int64_t displacement,
                           int64_t skip) {
    tutti_access_iter *it;
    tutti_piece p;
    int64_t done = 0, wrong = 0;
    CHECK_OK(tutti_access_iter_start(a, 0, &it));
    while (tutti_access_iter_next(it, &p)) {
        CHECK_EQ(p.memory, done);
        for (int64_t i = 0; i < p.bytes; i++, done++) {
            const int64_t s = skip + done;
            wrong += p.file + i != displacement + s / m->n * m->extent + m->at[s % m->n];
        }
    }
    CHECK_EQ(done, tutti_access_bytes(a));
    CHECK(wrong == 0, "%lld bytes differ", (long long)wrong);
    tutti_access_iter_free(&it);
}

/* Check that a stored view gives the expected access. */
static void kept_view(const mapped_type *m, int64_t displacement, int64_t skip, int64_t bytes,
                      const tutti_access *expected) {
    tutti_view *v = NULL;
    tutti_access *a = NULL;
    const int sound = m->n == 0 || is_legal(m, displacement, 0, 0);
    CHECK_ERR(tutti_view_make(displacement, m->type, &v), sound ? TUTTI_OK : TUTTI_ERR_ARG);
    if (v)
        CHECK_ERR(tutti_view_access(v, skip, bytes, MPI_BYTE, &a),
                  expected ? TUTTI_OK : TUTTI_ERR_ARG);
    if (a) CHECK(expected && tutti_access_equal(a, expected), "another access");
    tutti_access_free(&a);
    tutti_view_free(&v);
}

static int one_window(const mapped_type *m) {
    const int64_t displacement = rnd(1000), skip = rnd(3 * m->n + 2);
    const int64_t bytes = rnd(2) ? rnd(4 * m->n + 2) : 1 + rnd(m->n + 1);
    const int64_t first = m->n ? skip / m->n : 0, last = m->n ? (skip + bytes - 1) / m->n : 0;
    const int legal = bytes == 0 || (m->n && is_legal(m, displacement, first, last));
    tutti_access *a = NULL;
    CHECK_ERR(tutti_access_from_view(displacement, m->type, skip, bytes, MPI_BYTE, &a),
              legal ? TUTTI_OK : TUTTI_ERR_ARG);
    if (a) {
        CHECK_EQ(tutti_access_bytes(a), bytes);
        compare_values(a, m, displacement, skip);
    }
    if (rnd(4) == 0) kept_view(m, displacement, skip, bytes, a);
    tutti_access_free(&a);
    return legal && last > first;
}

static int one_type(int depth, int up) {
    mapped_type t = random_type(depth, up);
    int tiled = 0;
    for (int i = 0; i < 4; i++) tiled += one_window(&t);
    check_map(&t);
    free_mapped(&t);
    return tiled;
}

int main(int argc, char **argv) {
    char where[32];
    int tiled = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_seed(301);
    const long live = tutti__memory_live();
    for (int i = 0; i < 3000; i++) {
        snprintf(where, sizeof where, "type %d", i);
        check_where(where);
        tiled += one_type(i % 5, i % 4 != 0);
    }
    check_where("end");
    CHECK(tiled > 1000, "only %d windows were legal and had several tiles", tiled);
    CHECK_EQ(tutti__memory_live(), live);
    MPI_Finalize();
    return check_done();
}
