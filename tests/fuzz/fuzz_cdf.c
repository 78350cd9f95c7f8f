/* Fuzz target: headers of netCDF files.  An accepted header is written again and must describe the same
 * variables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include "cdf/cdf.h"

/* Check that variables are inside the file and do not overlap. */
static void sound(const tutti__cdf *c, tutti_off file_bytes) {
    for (tutti_count i = 0; i < c->vars_n; i++) {
        const tutti__cdf_var *v = &c->vars[i];
        const tutti_off raw = v->numbers * tutti__cdf_size(v->type);
        if (v->begin < c->header_bytes || raw > v->bytes || raw < 1) abort();
        if (!v->is_record && v->begin + raw > file_bytes) abort();
        if (v->is_record &&
            (v->begin < c->record_begin || v->begin + v->bytes > c->record_begin + c->record_bytes))
            abort();
        if (tutti__cdf_find_var(c, v->name) != i) abort();
        for (int d = 0; d < v->ndims; d++)
            if (v->dim[d] < 0 || v->dim[d] >= c->dims_n) abort();
        for (tutti_count a = 0; a < v->atts.n; a++)
            if (tutti__cdf_find_att(c, i, v->atts.v[a].name) != &v->atts.v[a]) abort();
    }
    if (tutti__cdf_records_in(c, file_bytes) < 0) abort();
}

static void again(const tutti__cdf *c, tutti_off file_bytes) {
    tutti__cdf back;
    void *bytes = NULL, *twice = NULL;
    if (tutti__cdf_encode(c, &bytes) != TUTTI_OK) abort();
    if (tutti__cdf_decode(bytes, (size_t)c->header_bytes, file_bytes, &back) != TUTTI_OK) abort();
    if (tutti__cdf_encode(&back, &twice) != TUTTI_OK) abort();
    if (memcmp(bytes, twice, (size_t)c->header_bytes) != 0) abort();
    tutti__free(bytes);
    tutti__free(twice);
    tutti__cdf_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static const tutti_off more[] = {0, 4096, INT64_MAX / 2};
    for (int i = 0; i < 3; i++) {
        tutti__cdf c;
        const tutti_off file_bytes = (tutti_off)n + more[i];
        if (tutti__cdf_decode(data, n, file_bytes, &c) != TUTTI_OK) continue;
        sound(&c, file_bytes);
        again(&c, file_bytes);
        tutti__cdf_free(&c);
    }
    fuzz_nothing_left();
    return 0;
}
