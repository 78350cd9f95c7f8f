/* TEST ranks=1,3,8 timeout=60 */
/* An array in one file does not depend on the number of ranks: any number reads it, and any number
 * writes the same bytes; an array in local placement requires the number of ranks that created it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/arrays.h"

static char path[512];

/* Return a communicator of the first n ranks; MPI_COMM_NULL on the others. */
static MPI_Comm first_ranks(int n) {
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &c);
    return c;
}

static tutti_distribution *spread_items(const tutti_array_spec *s, int many) {
    tutti_distribution *d = NULL;
    scheme k;
    random_scheme(&k, s->ndims, s->shape, many);
    CHECK_OK(tutti_distribution_make(s->ndims, s->shape, k.dim, &d));
    return d;
}

/* Fill the part of rank `who`, in the order of the array: each value is the number of its element. */
static void part_values(const tutti_array_spec *s, const tutti_distribution *d, int who,
                        int32_t *v) {
    tutti_count shape[TUTTI_MAX_DIMS], at[TUTTI_MAX_DIMS] = {0}, g[TUTTI_MAX_DIMS];
    if (tutti_distribution_part(d, who, shape) == 0) return;
    do {
        CHECK_OK(tutti_distribution_global(d, who, at, g));
        v[place_of(s->ndims, s->order, shape, at)] =
            (int32_t)place_of(s->ndims, TUTTI_ROW_MAJOR, s->shape, g);
    } while (index_next(s->ndims, shape, at));
}

static void written_by(const tutti_array_spec *s, int n) {
    tutti_array *a = NULL;
    MPI_Comm c = first_ranks(n);
    tutti_distribution *d = spread_items(s, n);
    if (c != MPI_COMM_NULL) {
        int32_t *v = calloc((size_t)tutti_distribution_part(d, rank, NULL) + 1, sizeof *v);
        part_values(s, d, rank, v);
        CHECK_OK(tutti_array_create(c, path, s, NULL, &a));
        CHECK_OK(tutti_array_write_part(a, d, NULL, NULL, v));
        CHECK_OK(tutti_array_close(&a));
        free(v);
        MPI_Comm_free(&c);
    }
    tutti_distribution_free(&d);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_by(const tutti_array_spec *s, int n) {
    tutti_array *a = NULL;
    MPI_Comm c = first_ranks(n);
    tutti_distribution *d = spread_items(s, n);
    if (c != MPI_COMM_NULL) {
        const tutti_count many = tutti_distribution_part(d, rank, NULL);
        int32_t *v = calloc((size_t)many + 1, sizeof *v), *w = calloc((size_t)many + 1, sizeof *v);
        part_values(s, d, rank, v);
        CHECK_OK(tutti_array_open(c, path, TUTTI_READ, s, NULL, &a));
        CHECK_OK(tutti_array_read_part(a, d, NULL, NULL, w));
        CHECK(memcmp(v, w, (size_t)many * sizeof *v) == 0, "read by %d", n);
        CHECK_OK(tutti_array_close(&a));
        free(v);
        free(w);
        MPI_Comm_free(&c);
    }
    tutti_distribution_free(&d);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void local_by(const tutti_array_spec *s, int n) {
    tutti_array *a = NULL;
    char own_path[600];
    MPI_Comm c = first_ranks(n);
    tutti_distribution *d = spread_items(s, n);
    if (c != MPI_COMM_NULL) {
        CHECK_OK(tutti_array_create_local(c, path, s, d, NULL, &a));
        CHECK_OK(tutti_array_close(&a));
        CHECK_OK(tutti_array_open(c, path, TUTTI_READ, s, NULL, &a));
        CHECK_OK(tutti_array_close(&a));
        MPI_Comm_free(&c);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (n != ranks) {
        CHECK_SAME(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, s, NULL, &a),
                   TUTTI_ERR_MISMATCH);
        CHECK(strstr(tutti_last_message(), "ranks"), "%s", tutti_last_message());
        CHECK(a == NULL, "an array after an error");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own_path, sizeof own_path, "%s.%d", path, rank);
    (void)unlink(own_path);
    tutti_distribution_free(&d);
    file_remove(path);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 853);
    snprintf(path, sizeof path, "%s", scratch_path("counts"));
    for (int round = 0; round < 6; round++) {
        tutti_array_spec s = random_spec(1 + round % DIMS, 2000);
        int64_t n = 0, first = 0;
        unsigned char *v = NULL, *w = NULL;
        s.type = TUTTI_INT32;
        s.element_size = 0;
        for (int i = 0; i < 3; i++) {
            written_by(&s, i == 0 ? ranks : 1 + (int)rnd(ranks));
            v = file_get(path, &n);
            CHECK(!w || (n == first && memcmp(v, w, (size_t)n) == 0), "another file");
            free(w);
            w = v;
            first = n;
            read_by(&s, 1 + (int)rnd(ranks));
            read_by(&s, ranks);
        }
        free(w);
        file_remove(path);
        local_by(&s, 1 + (int)rnd(ranks));
    }
    return harness_end();
}
