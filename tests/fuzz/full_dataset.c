/* Fuzz target: opens a dataset, reads all sections, and verifies them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/tutti.h>
#include "dataset_text.h"

static void read_section(tutti_dataset *d, tutti_count segment, const tutti_variable_row *v) {
    enum { MOST = 1 << 20 };
    tutti_section_row row;
    tutti_decomposition *own_part = NULL;
    tutti_count shape[TUTTI_MAX_DIMS], all = 0;
    int ndims = 0;
    if (tutti_dataset_section_row(d, segment, v->name, &row) != TUTTI_OK) return;
    if (tutti_dataset_shape(d, v->spec.space, segment, &ndims, shape) != TUTTI_OK) return;
    if (!tutti_size_product(ndims, shape, &all) ||
        !tutti_size_fits(all, 8 * v->values_per_item, 8 * MOST))
        return; /* the section is too large to allocate */
    tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE,
                                     .slice = tutti_slice_all(ndims, shape)};
    if (tutti_decomposition_create_at(d, v->spec.space, segment, &spec, &own_part) == TUTTI_OK) {
        void *buf = malloc((size_t)(all * v->values_per_item) * 8 + 8);
        (void)!tutti_dataset_get(d, segment, 1, &(tutti_get){v->name, own_part, row.type, buf});
        free(buf);
    }
    tutti_decomposition_free(&own_part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    tutti_dataset *d = NULL;
    tutti_variable_row v;
    char name[128];
    text_to_dataset("d", data, n);
    if (tutti_dataset_open(MPI_COMM_SELF, "d", TUTTI_READ, NULL, &d) == TUTTI_OK) {
        for (tutti_count s = 0; s < tutti_dataset_segments(d) && s < 8; s++)
            for (tutti_count i = 0; i < tutti_dataset_variables(d) && i < 12; i++)
                if (tutti_dataset_variable_row(d, i, &v) == TUTTI_OK) read_section(d, s, &v);
        for (tutti_count i = 0; i < 4; i++)
            (void)!tutti_dataset_info_name(d, &(tutti_info_owner){.segment = -1}, i, name);
        (void)!tutti_dataset_verify(d, NULL);
        (void)!tutti_dataset_close(&d);
    }
    fuzz_clean();
    return 0;
}
