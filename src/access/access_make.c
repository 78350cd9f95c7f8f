/* access: combining two sides into an access with a sorted file side, by transposing loops if that
 * is sufficient, else by sorting pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

const tutti__class tutti__access_class = {"access", "access", "freed"};

static tutti_err sides_check(tutti__side file, tutti__side memory) {
    const tutti_off bytes = tutti__side_bytes(file), lo = tutti__side_lo(file);
    TUTTI_CHECK(bytes == tutti__side_bytes(memory), TUTTI_ERR_ARG,
                "access has %lld bytes in the file, but %lld in memory", (long long)bytes,
                (long long)tutti__side_bytes(memory));
    TUTTI_CHECK(tutti__side_fits(file) && tutti__side_fits(memory), TUTTI_ERR_OVERFLOW,
                "offsets in %s exceed the range (-2^62, 2^62)",
                tutti__side_fits(file) ? "memory" : "the file");
    TUTTI_CHECK(lo >= 0, TUTTI_ERR_ARG, "file offset is %lld: must be >= 0", (long long)lo);
    return TUTTI_OK;
}

static tutti_err repeats_check(const tutti_access *a) {
    const tutti__mapping *r = &a->repeats;
    TUTTI_TRY(sides_check(r->file, r->memory));
    TUTTI_CHECK(!r->file.node ||
                    (a->file.node && tutti__side_lo(r->file) >= tutti__side_lo(a->file) &&
                     tutti__side_hi(r->file) <= tutti__side_hi(a->file)),
                TUTTI_ERR_ARG,
                "the repeated bytes have the range [%lld, %lld), which is outside the access",
                (long long)tutti__side_lo(r->file), (long long)tutti__side_hi(r->file));
    return TUTTI_OK;
}

/* Sort the file side.  Occurrences of bytes that are replaced by a later occurrence are added to
 * the repeats; existing repeats remain valid, since they define only further destinations of a
 * byte. */
static tutti_err sides_order(tutti_access *a) {
    tutti__mapping all = {a->file, a->memory}, lost = {{0, NULL}, {0, NULL}};
    int done = 0;
    if (tutti__side_monotone(a->file)) return TUTTI_OK;
    TUTTI_TRY(tutti__loops_sort(&all, &lost, &done));
    if (!done) TUTTI_TRY(tutti__pieces_sort(&all, &lost));
    a->file = all.file;
    a->memory = all.memory;
    if (!lost.file.node) return TUTTI_OK;
    const tutti__mapping known = a->repeats;
    a->repeats = (tutti__mapping){{0, NULL}, {0, NULL}};
    return tutti__mapping_cat(known, lost, &a->repeats);
}

tutti_err tutti__access_make_all(tutti_access sides, tutti_access **out) {
    tutti_err err = sides_check(sides.file, sides.memory);
    if (err == TUTTI_OK) err = repeats_check(&sides);
    if (err == TUTTI_OK) err = sides_order(&sides);
    tutti_access *a = NULL;
    if (err == TUTTI_OK) {
        a = tutti__malloc(sizeof *a);
        if (!a) err = TUTTI_ERR_NOMEM;
    }
    if (err != TUTTI_OK) {
        tutti__access_drop(&sides);
        return err;
    }
    *a = sides;
    a->handle = (tutti__handle){.class = NULL};
    TUTTI_ASSERT(tutti__access_is_valid(a));
    tutti__handle_add(&a->handle, &tutti__access_class);
    *out = a;
    return TUTTI_OK;
}

tutti_err tutti__access_make(tutti__side file, tutti__side memory, tutti_access **out) {
    return tutti__access_make_all((tutti_access){.file = file, .memory = memory}, out);
}

tutti_access tutti__access_share(const tutti_access *a) {
    return (tutti_access){
        .file = tutti__side_ref(a->file),
        .memory = tutti__side_ref(a->memory),
        .repeats = {tutti__side_ref(a->repeats.file), tutti__side_ref(a->repeats.memory)}};
}

void tutti__access_drop(tutti_access *a) {
    tutti__side_free(&a->file);
    tutti__side_free(&a->memory);
    tutti__mapping_free(&a->repeats);
}
