/* access: the public constructors.  Each creates the two sides and passes them to
 * tutti__access_make.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

/* Make an access with packed memory; takes ownership of `file`. */
static tutti_err make_packed(tutti__side file, tutti_access **out) {
    tutti__side memory = {0, NULL};
    if (file.node && file.node->kind == TUTTI__RUN) { /* both sides share the node */
        memory.node = tutti__node_ref(file.node);
        return tutti__access_make(file, memory, out);
    }
    const tutti_err err = tutti__side_run(0, tutti__side_bytes(file), &memory);
    if (err != TUTTI_OK) {
        tutti__side_free(&file);
        return err;
    }
    return tutti__access_make(file, memory, out);
}

tutti_err tutti_access_contiguous(tutti_off offset, tutti_off bytes, tutti_access **out) {
    tutti__side file = {0, NULL};
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(bytes >= 0, TUTTI_ERR_ARG, "bytes is %lld: must be >= 0", (long long)bytes);
    TUTTI_CHECK(offset >= 0, TUTTI_ERR_ARG, "file offset is %lld: must be >= 0", (long long)offset);
    TUTTI_TRY(tutti__side_run(offset, bytes, &file));
    return make_packed(file, out);
}

tutti_err tutti_access_vector(tutti_off offset, tutti_count count, tutti_off block,
                              tutti_off stride, tutti_access **out) {
    tutti__side file = {0, NULL};
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(offset >= 0, TUTTI_ERR_ARG, "file offset is %lld: must be >= 0", (long long)offset);
    TUTTI_CHECK(count >= 0, TUTTI_ERR_ARG, "count is %lld: must be >= 0", (long long)count);
    TUTTI_CHECK(block >= 0, TUTTI_ERR_ARG, "block is %lld: must be >= 0", (long long)block);
    TUTTI_TRY(tutti__side_run(offset, block, &file));
    TUTTI_TRY(tutti__side_vec(file, count, stride, &file));
    return make_packed(file, out);
}

tutti_err tutti_access_pieces(tutti_count n, const tutti_off *file_offsets,
                              const tutti_off *memory_offsets, const tutti_off *lengths,
                              tutti_access **out) {
    tutti__mapping m = {{0, NULL}, {0, NULL}};
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "n is %lld: must be >= 0", (long long)n);
    TUTTI_CHECK(n == 0 || (file_offsets && lengths), TUTTI_ERR_ARG, "argument %s is NULL",
                file_offsets ? "lengths" : "file_offsets");
    for (tutti_count i = 0; i < n; i++)
        TUTTI_CHECK(file_offsets[i] >= 0, TUTTI_ERR_ARG,
                    "piece %lld: file offset is %lld: must be >= 0", (long long)i,
                    (long long)file_offsets[i]);
    if (!memory_offsets) {
        TUTTI_TRY(tutti__side_list(n, file_offsets, lengths, 0, &m.file));
        return make_packed(m.file, out);
    }
    TUTTI_TRY(tutti__mapping_list(n, file_offsets, memory_offsets, lengths, &m));
    return tutti__access_make(m.file, m.memory, out);
}

tutti_err tutti_access_runs(tutti_count n, const tutti_off *offsets, const tutti_off *lengths,
                            tutti_access **out) {
    return tutti_access_pieces(n, offsets, NULL, lengths, out);
}

/* Compute offsets[i] = offset + index[i] * size. */
static tutti_err indices_offsets(tutti_off offset, tutti_off size, tutti_count n,
                                 const tutti_count *index, tutti_off *offsets) {
    for (tutti_count i = 0; i < n; i++) {
        TUTTI_CHECK(tutti__mul_ok(index[i], size, &offsets[i]) &&
                        tutti__add_ok(offset, offsets[i], &offsets[i]),
                    TUTTI_ERR_OVERFLOW,
                    "index[%lld] is %lld: its file offset does not fit in 64 bits", (long long)i,
                    (long long)index[i]);
        TUTTI_CHECK(offsets[i] >= 0, TUTTI_ERR_ARG,
                    "index[%lld] is %lld: its file offset is %lld: must be >= 0", (long long)i,
                    (long long)index[i], (long long)offsets[i]);
    }
    return TUTTI_OK;
}

tutti_err tutti_access_indices(tutti_off offset, tutti_off item_size, tutti_count n,
                               const tutti_count *index, tutti_access **out) {
    tutti__side file = {0, NULL};
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "n is %lld: must be >= 0", (long long)n);
    TUTTI_CHECK(n == 0 || index, TUTTI_ERR_ARG, "argument index is NULL");
    TUTTI_CHECK(item_size > 0, TUTTI_ERR_ARG, "item_size is %lld: must be >= 1",
                (long long)item_size);
    TUTTI_CHECK((size_t)n <= SIZE_MAX / sizeof(tutti_off), TUTTI_ERR_OVERFLOW,
                "n is %lld: must be <= %lld", (long long)n,
                (long long)(SIZE_MAX / sizeof(tutti_off)));
    tutti_off *offsets = tutti__malloc((size_t)n * sizeof *offsets);
    if (!offsets) return TUTTI_ERR_NOMEM;
    tutti_err err = indices_offsets(offset, item_size, n, index, offsets);
    if (err == TUTTI_OK) err = tutti__side_list(n, offsets, NULL, item_size, &file);
    tutti__free(offsets);
    return err == TUTTI_OK ? make_packed(file, out) : err;
}

/* ---- constructors from other accesses */

/* Indices of the four sides of a part; sides[k * n + i] is side k of part i. */
enum { FILE_SIDE, MEMORY_SIDE, REPEATED_FILE, REPEATED_MEMORY, SIDES };

/* Set `sides` to the sides of all parts, with new references, and shift the memory of each part to
 * its offset. */
static tutti_err concatenate_sides(int n, const tutti_access *const *parts,
                                   const tutti_off *offsets, tutti__side *sides) {
    tutti_off end = 0;
    for (int i = 0; i < n; i++) {
        const tutti_off at = offsets ? offsets[i] : end;
        const tutti_access a = tutti__access_share(parts[i]);
        tutti__side *memory = &sides[MEMORY_SIDE * n + i];
        tutti__side *repeated = &sides[REPEATED_MEMORY * n + i];
        tutti_off own_end;
        sides[FILE_SIDE * n + i] = a.file;
        *memory = a.memory;
        sides[REPEATED_FILE * n + i] = a.repeats.file;
        *repeated = a.repeats.memory;
        TUTTI_CHECK(
            tutti__add_ok(memory->disp, at, &memory->disp) && tutti__side_fits(*memory) &&
                tutti__add_ok(repeated->disp, at, &repeated->disp) && tutti__side_fits(*repeated),
            TUTTI_ERR_OVERFLOW, "part %d at memory offset %lld exceeds the range (-2^62, 2^62)", i,
            (long long)at);
        tutti_access_memory_bounds(parts[i], NULL, &own_end);
        if (memory->node) end = tutti__max(end, at + own_end);
    }
    return TUTTI_OK;
}

static tutti_err concatenate_accesses(int n, const tutti_access *const *parts,
                                      const tutti_off *offsets, tutti__side *sides,
                                      tutti_access **out) {
    tutti__side all[SIDES] = {{0, NULL}};
    tutti_err err = concatenate_sides(n, parts, offsets, sides);
    if (err != TUTTI_OK) {
        for (int i = 0; i < SIDES * n; i++) tutti__side_free(&sides[i]);
        return err;
    }
    for (int k = 0; k < SIDES; k++) {
        const tutti_err side_err = tutti__side_cat(n, sides + k * n, &all[k]);
        if (err == TUTTI_OK) err = side_err;
    }
    tutti_access joined = {.file = all[FILE_SIDE],
                           .memory = all[MEMORY_SIDE],
                           .repeats = {all[REPEATED_FILE], all[REPEATED_MEMORY]}};
    if (err == TUTTI_OK) return tutti__access_make_all(joined, out);
    tutti__access_drop(&joined);
    return err;
}

tutti_err tutti_access_concat(int n, const tutti_access *const *parts,
                              const tutti_off *memory_offsets, tutti_access **out) {
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "n is %d: must be >= 0", n);
    TUTTI_CHECK(n == 0 || parts, TUTTI_ERR_ARG, "argument parts is NULL");
    for (int i = 0; i < n; i++) TUTTI_CHECK(parts[i], TUTTI_ERR_ARG, "parts[%d] is NULL", i);
    tutti__side *sides = tutti__calloc((size_t)n, SIDES * sizeof *sides);
    if (!sides) return TUTTI_ERR_NOMEM;
    const tutti_err err = concatenate_accesses(n, parts, memory_offsets, sides, out);
    tutti__free(sides);
    return err;
}

/* Make `count` copies of a side; the caller still owns `s`. */
static tutti_err repeat_side(tutti__side s, tutti_count count, tutti_off stride, tutti__side *out) {
    return tutti__side_vec(tutti__side_ref(s), count, stride, out);
}

tutti_err tutti_access_tile(const tutti_access *a, tutti_count count, tutti_off file_stride,
                            tutti_off memory_stride, tutti_access **out) {
    tutti_access all = {.file = {0, NULL}};
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    tutti_err err = repeat_side(a->file, count, file_stride, &all.file);
    if (err == TUTTI_OK) err = repeat_side(a->memory, count, memory_stride, &all.memory);
    if (err == TUTTI_OK) err = repeat_side(a->repeats.file, count, file_stride, &all.repeats.file);
    if (err == TUTTI_OK)
        err = repeat_side(a->repeats.memory, count, memory_stride, &all.repeats.memory);
    if (err == TUTTI_OK) return tutti__access_make_all(all, out);
    tutti__access_drop(&all);
    return err;
}

tutti_err tutti_access_join(const tutti_access *file, const tutti_access *memory,
                            tutti_access **out) {
    TUTTI_CHECK(file, TUTTI_ERR_ARG, "argument file is NULL");
    TUTTI_CHECK(memory, TUTTI_ERR_ARG, "argument memory is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    return tutti__access_make(tutti__side_ref(file->file), tutti__side_ref(memory->file), out);
}

tutti_err tutti_access_clip(const tutti_access *a, tutti_off lo, tutti_off hi, tutti_access **out) {
    tutti_access part = {.file = {0, NULL}};
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    const tutti_off from = tutti__side_tell(a->file, lo), to = tutti__side_tell(a->file, hi);
    tutti_err err = tutti__side_slice(a->file, from, to, &part.file);
    if (err == TUTTI_OK) err = tutti__side_slice(a->memory, from, to, &part.memory);
    if (err == TUTTI_OK) err = tutti__repeats_clip(&a->repeats, lo, hi, &part.repeats);
    if (err == TUTTI_OK) return tutti__access_make_all(part, out);
    tutti__access_drop(&part);
    return err;
}

tutti_err tutti_access_shift(const tutti_access *a, tutti_off file, tutti_off memory,
                             tutti_access **out) {
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    tutti_access moved = tutti__access_share(a);
    tutti__side *const sides[] = {&moved.file, &moved.repeats.file, &moved.memory,
                                  &moved.repeats.memory};
    int i = 0;
    while (i < 4 && (!sides[i]->node ||
                     (tutti__add_ok(sides[i]->disp, i < 2 ? file : memory, &sides[i]->disp) &&
                      tutti__side_fits(*sides[i]))))
        i++;
    if (i == 4) return tutti__access_make_all(moved, out);
    tutti__access_drop(&moved);
    TUTTI_FAIL(TUTTI_ERR_OVERFLOW, "%s is %lld: shifted offsets exceed the range (-2^62, 2^62)",
               i < 2 ? "file" : "memory", (long long)(i < 2 ? file : memory));
}

tutti_err tutti_access_copy(const tutti_access *a, tutti_access **out) {
    if (!a) TUTTI_TRY(tutti__error_refused());
    TUTTI_CHECK(a, TUTTI_ERR_ARG, "argument a is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    return tutti__access_make_all(tutti__access_share(a), out);
}

void tutti_access_free(tutti_access **a) {
    if (!a || !*a) return;
    if (!tutti__handle_alive(&(*a)->handle, &tutti__access_class)) {
        *a = NULL;
        return;
    }
    tutti__handle_remove(&(*a)->handle);
    tutti__access_drop(*a);
    tutti__free(*a);
    *a = NULL;
}
