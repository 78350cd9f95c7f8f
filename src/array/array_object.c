/* array: the array object, as all calls see it: may it be used, what is it, which error it names;
 * handed over when it is complete, and freed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <string.h>
#include <sys/stat.h>

const tutti__class tutti__array_class = {"array", "array", "closed"};

tutti_err tutti__array_named(const tutti_file *f, const char *operation, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context(operation, tutti__file_path(f), -1);
    return err;
}

tutti_err tutti__array_live(const tutti_array *a) {
    TUTTI_TRY(tutti__handle_check(a, &tutti__array_class));
    if (a->head) TUTTI_TRY(tutti__file_live(a->head));
    return tutti__file_live(a->file);
}

tutti_err tutti__array_usable(const tutti_array *a, int is_write) {
    TUTTI_CHECK(a->mode & (is_write ? TUTTI_WRITE : TUTTI_READ), TUTTI_ERR_MODE,
                "the array was not opened for %s", is_write ? "writing" : "reading");
    return TUTTI_OK;
}

void tutti__array_free(tutti_array *a) {
    if (!a) return;
    TUTTI_KEEP_LAST_ERROR;
    if (a->file && tutti_file_close(&a->file) != TUTTI_OK) a->file = NULL;
    if (a->head && tutti_file_close(&a->head) != TUTTI_OK) a->head = NULL;
    tutti_distribution_free(&a->dist);
    tutti__handle_remove(&a->handle);
    tutti__free(a);
}

void tutti__array_slabs(tutti_array *a) {
    const tutti_array_spec *s = &a->mine;
    const tutti_count n = s->shape[tutti__spec_dim(s, 0)];
    tutti__file_slabs(a->file, s->offset, a->bytes > 0 ? a->bytes / n : 0, a->bytes > 0 ? n : 0);
}

tutti_err tutti__array_hand_over(tutti_array *a, const char *operation, const char *path,
                                 tutti_err err, tutti_array **a_out) {
    if (err != TUTTI_OK) {
        tutti__error_context(operation, path, -1);
        tutti__array_free(a);
        return err;
    }
    TUTTI_ASSERT(a && a_out);
    a->team = tutti__array_team(a);
    a->path = (char *)tutti__file_path(a->head ? a->head : a->file);
    tutti__array_slabs(a);
    tutti__handle_add(&a->handle, &tutti__array_class);
    *a_out = a;
    return TUTTI_OK;
}

/* ---- two arrays */

/* By name, and by what the names lead to. */
static int same_file(const char *a, const char *b) {
    struct stat x, y;
    if (strcmp(a, b) == 0) return 1;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int share_bytes(const tutti_array *a, const tutti_array *b) {
    const tutti_off a_end = a->mine.offset + a->bytes, b_end = b->mine.offset + b->bytes;
    return a->mine.offset < b_end && b->mine.offset < a_end &&
           same_file(tutti__file_path(a->file), tutti__file_path(b->file));
}

tutti_err tutti__array_pair_check(const tutti_array *a, const tutti_array *b) {
    int same = 0;
    TUTTI_MPI(MPI_Comm_compare(tutti__array_team(a)->comm, tutti__array_team(b)->comm, &same));
    TUTTI_CHECK(same == MPI_IDENT || same == MPI_CONGRUENT, TUTTI_ERR_ARG,
                "the arrays are open on different ranks");
    TUTTI_CHECK(!share_bytes(a, b), TUTTI_ERR_ARG, "both arrays are in the same bytes of one file");
    return TUTTI_OK;
}

/* ---- describe */

void tutti_array_describe(const tutti_array *a, tutti_array_spec *spec_out) {
    if (a && spec_out && tutti__handle_alive(&a->handle, &tutti__array_class)) *spec_out = a->spec;
}

const tutti_distribution *tutti_array_distribution(const tutti_array *a) {
    return a && tutti__handle_alive(&a->handle, &tutti__array_class) ? a->dist : NULL;
}

tutti_file *tutti_array_file(tutti_array *a) {
    return a && tutti__handle_alive(&a->handle, &tutti__array_class) ? a->file : NULL;
}
