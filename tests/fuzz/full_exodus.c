/* Fuzz target: opens an Exodus file and reads mesh, arrays, results and names.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/tutti.h>
#include "exodus_text.h"

static void read_array(tutti_exodus *x, tutti_exodus_array a) {
    enum { MOST = 1 << 20 };
    tutti_count entries = 0, numbers = 0, bytes = 0;
    tutti_type type;
    if (tutti_exodus_array_size(x, &a, &entries, &numbers, &type) != TUTTI_OK) return;
    if (!tutti_size_product(3, (tutti_count[]){entries, numbers, 8}, &bytes) || bytes > 8 * MOST)
        abort();
    a.n = entries;
    a.type = type == TUTTI_FLOAT32 || type == TUTTI_FLOAT64 ? TUTTI_FLOAT64 : TUTTI_INT64;
    a.buf = malloc((size_t)bytes + 1);
    (void)!tutti_exodus_get_arrays(x, 1, &a);
    free(a.buf);
}

static void read_results(tutti_exodus *x, int kind, tutti_count number, int64_t id) {
    for (tutti_count step = 1; step <= tutti_exodus_steps(x) && step < 4; step++)
        for (int v = 0; v < tutti_exodus_variable_count(x, (tutti_exodus_kind)kind) && v < 4; v++) {
            const tutti_count n = tutti_exodus_entries(x, (tutti_exodus_kind)kind, id);
            if (kind != TUTTI_EXODUS_GLOBAL && (n < 0 || n > 1 << 20)) continue;
            if (!tutti_exodus_has(x, (tutti_exodus_kind)kind, number, v)) continue;
            double *buf = malloc((size_t)(n > 0 ? n : 1) * sizeof *buf);
            const tutti_exodus_field f = {
                .kind = (tutti_exodus_kind)kind,
                .id = id,
                .variable = tutti_exodus_variable_name(x, (tutti_exodus_kind)kind, v),
                .type = TUTTI_FLOAT64,
                .buf = buf};
            (void)!tutti_exodus_get(x, step, 1, &f);
            free(buf);
        }
}

static void read_all(tutti_exodus *x) {
    const tutti_exodus_mesh *mesh = NULL;
    tutti_exodus_parameters p;
    double time[4];
    for (int by = TUTTI_EXODUS_BY_ORDER; by <= TUTTI_EXODUS_BY_CURVE; by++)
        (void)!tutti_exodus_get_mesh(
            x, &(tutti_exodus_distribution){.partitioner = (tutti_exodus_partitioner)by, .halo = 2},
            &mesh);
    if (tutti_exodus_parameters_get(x, &p) != TUTTI_OK) abort();
    const tutti_count steps = tutti_exodus_steps(x);
    if (steps > 0) (void)!tutti_exodus_times(x, 1, steps < 4 ? steps : 4, time);
    for (int c = 0; c < p.dims; c++)
        read_array(x, (tutti_exodus_array){.array_kind = TUTTI_EXODUS_COORDINATES,
                                           .kind = TUTTI_EXODUS_NODAL,
                                           .component = c});
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        const int whole = kind == TUTTI_EXODUS_GLOBAL || kind == TUTTI_EXODUS_NODAL;
        const tutti_count n = whole ? 1 : tutti_exodus_entities(x, (tutti_exodus_kind)kind);
        for (tutti_count i = 0; i < n && i < 6; i++) {
            tutti_exodus_entity e = {.id = 0};
            if (!whole && tutti_exodus_entity_get(x, (tutti_exodus_kind)kind, i, &e) != TUTTI_OK)
                abort();
            for (int what = 0; what <= TUTTI_EXODUS_ORDER && kind > 0; what++)
                if (what != TUTTI_EXODUS_COORDINATES)
                    read_array(x, (tutti_exodus_array){.array_kind = (tutti_exodus_array_kind)what,
                                                       .kind = (tutti_exodus_kind)kind,
                                                       .id = e.id});
            read_results(x, kind, i, e.id);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    tutti_exodus *x = NULL;
    if (!text_to_file("in.e", data, n)) return 0;
    if (tutti_exodus_open(MPI_COMM_SELF, "in.e", TUTTI_READ, NULL, &x) == TUTTI_OK) {
        read_all(x);
        (void)!tutti_exodus_close(&x);
    }
    fuzz_clean();
    return 0;
}
