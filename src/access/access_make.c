/* access: two sides become an access, the file side in order (by transposing loops if that is
 * enough, by sorting pieces if not).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

static tutti_err sides_check(tutti__side file, tutti__side memory) {
    const tutti_off bytes = tutti__side_bytes(file), lo = tutti__side_lo(file);
    TUTTI_CHECK(bytes == tutti__side_bytes(memory), TUTTI_ERR_ARG,
                "%lld bytes in the file, but %lld in memory", (long long)bytes,
                (long long)tutti__side_bytes(memory));
    TUTTI_CHECK(tutti__side_fits(file) && tutti__side_fits(memory), TUTTI_ERR_OVERFLOW,
                "an offset is beyond 2^62");
    TUTTI_CHECK(lo >= 0, TUTTI_ERR_ARG, "file offset %lld is negative", (long long)lo);
    return TUTTI_OK;
}

static tutti_err sides_order(tutti__side *file, tutti__side *memory) {
    int done = tutti__side_monotone(*file);
    if (!done) TUTTI_TRY(tutti__loops_sort(file, memory, &done));
    return done ? TUTTI_OK : tutti__pieces_sort(file, memory);
}

tutti_err tutti__access_make(tutti__side file, tutti__side memory, tutti_access **out) {
    tutti_err err = sides_check(file, memory);
    if (err == TUTTI_OK) err = sides_order(&file, &memory);
    if (err != TUTTI_OK) goto undo_sides;
    tutti_access *a = tutti__malloc(sizeof *a);
    err = TUTTI_ERR_NOMEM;
    if (!a) goto undo_sides;
    a->file = file;
    a->memory = memory;
    a->handle = (tutti__handle){.kind = TUTTI__NO_HANDLE};
    tutti__handle_add(&a->handle, TUTTI__ACCESS);
    *out = a;
    return TUTTI_OK;
undo_sides:
    tutti__side_free(&file);
    tutti__side_free(&memory);
    return err;
}
