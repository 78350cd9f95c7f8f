/* exodus: values of many arrays, collected by type.  Consecutive pieces that are adjacent in the
 * file are merged.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/array_values.h"

static int is_real(tutti_type t) {
    return t == TUTTI_FLOAT32 || t == TUTTI_FLOAT64;
}

static tutti__values_part *part_of(tutti__values *b, tutti_type type) {
    int k = 0;
    while (k < b->n && b->of[k].file_type != type) k++;
    TUTTI_ASSERT(k < TUTTI__VALUE_TYPES);
    if (k == b->n) b->of[b->n++] = (tutti__values_part){.file_type = type};
    return &b->of[k];
}

void tutti__values_expect(tutti__values *b, tutti_type file_type, tutti_count n) {
    part_of(b, file_type)->expected += (size_t)n;
}

tutti_err tutti__values_add(tutti__values *b, const tutti__exodus_place *place, tutti_count first,
                            tutti_count n, tutti_count *index_out, void **data_out) {
    tutti__values_part *p = part_of(b, place->type);
    const tutti_off size = tutti_type_size(place->type);
    const tutti_count all = place->entries * place->numbers; /* number of values in the file */
    TUTTI_CHECK(first >= 0 && n >= 0 && first <= all && n <= all - first, TUTTI_ERR_FORMAT,
                "%lld values at position %lld are outside the array, which has %lld", (long long)n,
                (long long)first, (long long)all);
    TUTTI_CHECK(n <= PTRDIFF_MAX / 32 - p->numbers, TUTTI_ERR_NOMEM,
                "%lld values do not fit into memory", (long long)n);
    if (data_out && !p->data && p->expected > 0) {
        p->data = tutti__malloc_large(p->expected * sizeof(int64_t));
        if (!p->data) return TUTTI_ERR_NOMEM;
        p->numbers_capacity = p->expected;
    }
    if (data_out)
        TUTTI_TRY(
            tutti__grow(&p->data, (size_t)(p->numbers + n), &p->numbers_capacity, sizeof(int64_t)));
    const tutti_off at = place->at + first * size;
    if (n > 0 && p->n > 0 && p->at[p->n - 1] + p->length[p->n - 1] == at) {
        p->length[p->n - 1] += n * size;
    } else if (n > 0) {
        TUTTI_TRY(tutti__grow(&p->at, (size_t)p->n + 1, &p->at_capacity, sizeof *p->at));
        TUTTI_TRY(
            tutti__grow(&p->length, (size_t)p->n + 1, &p->length_capacity, sizeof *p->length));
        p->at[p->n] = at;
        p->length[p->n++] = n * size;
    }
    if (index_out) *index_out = p->numbers;
    if (data_out) *data_out = (int64_t *)p->data + p->numbers;
    p->numbers += n;
    return TUTTI_OK;
}

static const void *find_values_of_type(const tutti__values *b, tutti_type type) {
    for (int i = 0; i < b->n; i++)
        if (b->of[i].file_type == type) return b->of[i].data;
    return NULL;
}

const int64_t *tutti__values_ints(const tutti__values *b, tutti_type file_type) {
    TUTTI_ASSERT(!is_real(file_type));
    return find_values_of_type(b, file_type);
}

const double *tutti__values_reals(const tutti__values *b, tutti_type file_type) {
    TUTTI_ASSERT(is_real(file_type));
    return find_values_of_type(b, file_type);
}

static tutti_err make_part(tutti__values_part *p, tutti_access **access, tutti_part *out) {
    /* memory for values to be read has not been allocated yet */
    if (!p->data || (size_t)p->numbers > p->numbers_capacity) {
        tutti__free(p->data);
        p->data = tutti__malloc_large(((size_t)p->numbers + 1) * sizeof(int64_t));
        p->numbers_capacity = p->data ? (size_t)p->numbers + 1 : 0;
        if (!p->data) return TUTTI_ERR_NOMEM;
    }
    TUTTI_TRY(tutti_access_runs(p->n, p->at, p->length, access));
    *out =
        (tutti_part){.access = *access,
                     .buf = p->data,
                     .convert = {.file_type = p->file_type,
                                 .memory_type = is_real(p->file_type) ? TUTTI_FLOAT64 : TUTTI_INT64,
                                 .file_order = TUTTI_BIG_ENDIAN}};
    return TUTTI_OK;
}

tutti_err tutti__values_move(tutti_exodus *x, tutti__values *b, int is_write, int n,
                             const tutti_part *more, tutti_err local_err) {
    tutti_access *access[TUTTI__VALUE_TYPES] = {NULL};
    tutti_part *parts = NULL;
    int all = 0;
    if (local_err == TUTTI_OK) {
        parts = tutti__malloc((size_t)(b->n + n + 1) * sizeof *parts);
        if (!parts) local_err = TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < n && local_err == TUTTI_OK; i++) parts[all++] = more[i];
    for (int i = 0; i < b->n && local_err == TUTTI_OK; i++)
        if (b->of[i].n > 0) local_err = make_part(&b->of[i], &access[i], &parts[all++]);
    const tutti_err err =
        tutti__exodus_transfer(x, is_write, local_err == TUTTI_OK ? all : 0, parts, local_err);
    for (int i = 0; i < b->n; i++) tutti_access_free(&access[i]);
    tutti__free(parts);
    return err;
}

void tutti__values_free(tutti__values *b) {
    for (int i = 0; i < b->n; i++) {
        tutti__free(b->of[i].at);
        tutti__free(b->of[i].length);
        tutti__free(b->of[i].data);
    }
    *b = (tutti__values){.n = 0};
}
