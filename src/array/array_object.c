/* array: the array object: validity, publication, errors, release.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/tile_transfer.h"

#include <string.h>
#include <sys/stat.h>

const tutti__class tutti__array_class = {"array", "array", "closed"};

tutti_err tutti__array_error(const tutti_file *f, const char *operation, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context(operation, tutti__file_path(f), -1);
    return err;
}

int tutti__array_is_valid(const tutti_array *a) {
    const tutti_array_spec *s = &a->spec, *l = &a->local;
    const tutti_distribution *d = a->dist;
    tutti_off bytes = l->element_size;
    if (a->handle.class != &tutti__array_class || !a->file || !d != !a->head) return 0;
    if (a->team != tutti__array_team(a)) return 0;
    if (a->path != tutti__file_path(d ? a->head : a->file)) return 0;
    if (a->mode == 0 || (a->mode & ~(TUTTI_READ | TUTTI_WRITE)) != 0) return 0;
    if (d ? a->raw || a->part : a->raw && (a->part || a->version > 0)) return 0;
    if (s->ndims < 1 || s->ndims > TUTTI_MAX_DIMS || l->ndims != s->ndims) return 0;
    if (l->type != s->type || l->order != s->order) return 0;
    if (s->element_size < 1 || l->element_size != s->element_size) return 0;
    if (l->offset < (a->raw ? 0 : TUTTI__HEADER_BYTES) || (!d && l->offset != s->offset)) return 0;
    if (d && (d->ndims != s->ndims || d->ranks != a->team->size)) return 0;
    for (int i = 0; i < s->ndims; i++) {
        if (l->shape[i] < 0 || s->shape[i] != (d ? d->shape[i] : l->shape[i])) return 0;
        bytes *= l->shape[i];
    }
    int tile_writes = 0;
    for (const tutti__tile_transfer *t = a->tile_writes; t; t = t->next, tile_writes++)
        if (t->array != a || !t->is_write) return 0;
    return a->bytes == bytes && tile_writes <= a->iterations;
}

tutti_err tutti__array_live(const tutti_array *a) {
    TUTTI_TRY(tutti__handle_check(a, &tutti__array_class));
    if (a->head) TUTTI_TRY(tutti__file_live(a->head));
    TUTTI_TRY(tutti__file_live(a->file));
    TUTTI_ASSERT(tutti__array_is_valid(a));
    return TUTTI_OK;
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
    const tutti_array_spec *s = &a->local;
    const tutti_count n = s->shape[tutti__spec_dim(s, 0)];
    tutti__file_slabs(a->file, s->offset, a->bytes > 0 ? a->bytes / n : 0, a->bytes > 0 ? n : 0);
}

tutti_err tutti__array_publish(tutti_array *a, const char *operation, const char *path,
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
    TUTTI_ASSERT(tutti__array_is_valid(a));
    *a_out = a;
    return TUTTI_OK;
}

/* ---- two arrays */

tutti_err tutti__array_pair_check(const tutti_array *a, const tutti_array *b) {
    int compared = 0;
    TUTTI_MPI(MPI_Comm_compare(tutti__array_team(a)->comm, tutti__array_team(b)->comm, &compared));
    TUTTI_CHECK(compared == MPI_IDENT || compared == MPI_CONGRUENT, TUTTI_ERR_ARG,
                "the communicators of the arrays differ in their ranks or in the rank order");
    /* Compare the paths, then device and inode, since a file may have several names. */
    struct stat x, y;
    const char *p = tutti__file_path(a->file), *q = tutti__file_path(b->file);
    const int same_file = strcmp(p, q) == 0 || (stat(p, &x) == 0 && stat(q, &y) == 0 &&
                                                x.st_dev == y.st_dev && x.st_ino == y.st_ino);
    TUTTI_CHECK(!same_file || a->local.offset >= b->local.offset + b->bytes ||
                    b->local.offset >= a->local.offset + a->bytes,
                TUTTI_ERR_ARG, "both arrays use the same bytes of '%s'", p);
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
