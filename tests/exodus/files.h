/* Functions that write a file of a test mesh with one call, and compare files byte for byte.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_EXODUS_FILES_H
#define TUTTI_TESTS_EXODUS_FILES_H

#include "exodus/world.h"

static inline tutti_err world_write(MPI_Comm comm, const char *path,
                                    const tutti_exodus_options *opt,
                                    const tutti_exodus_mesh *mesh) {
    tutti_exodus *x = NULL;
    TUTTI_TRY(tutti_exodus_create(comm, path, opt, &x));
    tutti_err err = world_define(x);
    if (err == TUTTI_OK) err = tutti_exodus_put_mesh(x, mesh);
    const tutti_error_info why = *tutti_last_error();
    const tutti_err closed = tutti_exodus_close(&x);
    if (err != TUTTI_OK) tutti__error_assign(&why);
    return err == TUTTI_OK ? closed : err;
}

static inline unsigned char *file_all(const char *path, long *n_out) {
    FILE *f = fopen(path, "rb");
    unsigned char *v = NULL;
    *n_out = -1;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n_out = ftell(f);
    rewind(f);
    v = malloc((size_t)*n_out + 1);
    if (fread(v, 1, (size_t)*n_out, f) != (size_t)*n_out) *n_out = -1;
    fclose(f);
    return v;
}

/* Check on rank 0 that two files are equal; collective. */
static inline void files_same(const char *a, const char *b) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        long n = 0, m = 0, at = 0;
        unsigned char *v = file_all(a, &n), *w = file_all(b, &m);
        CHECK(n > 0 && n == m, "%s has %ld bytes, %s %ld", a, n, b, m);
        while (at < n && at < m && v[at] == w[at]) at++;
        CHECK(n != m || at == n, "byte %ld of %ld: %d, %d", at, n, v[at], w[at]);
        free(v);
        free(w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
