/* timestep: variables of a call (step_items.h).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "timestep/step_items.h"

#include "access/convert.h"
#include "base/hash.h"

tutti_err tutti__item_types_check(const char *variable, tutti_type memory, tutti_type file) {
    const tutti_conversion in = {.file_type = file, .memory_type = memory};
    tutti__conversion c;
    if (memory != TUTTI_BYTES && file != TUTTI_BYTES && tutti__conversion_make(&in, &c) == TUTTI_OK)
        return TUTTI_OK;
    TUTTI_FAIL(TUTTI_ERR_ARG, "variable '%.60s': cannot convert %s (memory) to %s (file)",
               variable ? variable : "",
               tutti_type_name(memory)[0] ? tutti_type_name(memory) : "unknown type",
               tutti_type_name(file));
}

uint64_t tutti__item_hash(uint64_t h, const char *name, tutti_type type, int64_t decomposition) {
    const int64_t words[] = {(int64_t)type, decomposition};
    return tutti__hash(tutti__hash_text(h, name), words, sizeof words);
}

tutti_err tutti__item_extent(tutti_decomposition *entries, tutti_count *out) {
    tutti__decomposition_facts facts;
    tutti__decomposition_facts_of(entries, &facts);
    const tutti_section *around = &entries->memory; /* section in memory, for a slice */
    tutti_count most = facts.entries, least = 0;
    if (around->ndims > 0 && !tutti_size_product(around->ndims, around->shape, &most))
        return TUTTI_ERR_OVERFLOW;
    tutti_count *memory = tutti__malloc((size_t)facts.entries * sizeof *memory);
    if (!memory) return TUTTI_ERR_NOMEM;
    const tutti_err err = tutti__decomposition_list(entries, NULL, memory, NULL);
    for (tutti_count i = 0; i < facts.entries && err == TUTTI_OK; i++) {
        most = tutti__max(most, memory[i] + 1);
        least = tutti__min(least, memory[i]);
    }
    tutti__free(memory);
    *out = most - least;
    return err;
}
