/* access: sections of n-dimensional arrays.  Each dimension is a loop.  The loops of the file side
 * are nested with the fastest dimension innermost, and those of the memory side in the same order
 * of dimensions, whatever the order of the memory array, so that both sides visit the elements in
 * the same order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/node.h"

/* The loops of a section, indexed by dimension. */
typedef struct {
    tutti_off first;                   /* offset of the first element */
    tutti_off step[TUTTI_MAX_DIMS];    /* bytes between selected elements */
    tutti_count count[TUTTI_MAX_DIMS]; /* number of selected elements */
    int empty;                         /* whether no elements are selected */
} loops;

/* Return the dimension with position k, counted from the fastest. */
static int fast_dimension(const tutti_section *s, int k) {
    return s->order == TUTTI_ROW_MAJOR ? s->ndims - 1 - k : k;
}

/* Return whether the section selects no elements; its bounds are then not checked, as in
 * Fortran. */
static int section_is_empty(const tutti_section *s) {
    int empty = 0;
    for (int d = 0; d < s->ndims; d++) empty |= s->hi[d] <= s->lo[d];
    return empty;
}

static tutti_err section_check_dim(const tutti_section *s, const char *what, int d, int empty) {
    const long long lo = s->lo[d], hi = s->hi[d], shape = s->shape[d], stride = s->stride[d];
    TUTTI_CHECK(shape >= 0, TUTTI_ERR_ARG, "%s section, dimension %d: extent is %lld: must be >= 0",
                what, d, shape);
    TUTTI_CHECK(empty || lo >= 0, TUTTI_ERR_ARG,
                "%s section, dimension %d: lo is %lld: must be >= 0", what, d, lo);
    TUTTI_CHECK(empty || hi <= shape, TUTTI_ERR_ARG,
                "%s section, dimension %d: hi is %lld: exceeds the extent %lld", what, d, hi,
                shape);
    TUTTI_CHECK(stride >= 0, TUTTI_ERR_ARG,
                "%s section, dimension %d: stride is %lld: must be >= 0", what, d, stride);
    return TUTTI_OK;
}

/* Set the loop of dimension d, and add the offset of index lo[d] to l->first; `size` is the
 * distance in bytes of neighbours in dimension d.  Returns 0 on overflow. */
static int dim_loop(const tutti_section *s, int d, tutti_off size, loops *l) {
    const tutti_count stride = s->stride[d] ? s->stride[d] : 1;
    const tutti_count width = s->hi[d] - s->lo[d];
    tutti_off skip;
    l->count[d] = width / stride + (width % stride != 0);
    if (!tutti__mul_ok(s->lo[d], size, &skip) || !tutti__add_ok(l->first, skip, &l->first))
        return 0;
    if (l->count[d] > 1) return tutti__mul_ok(stride, size, &l->step[d]);
    l->step[d] = 0;
    return 1;
}

static tutti_err section_loops(const tutti_section *s, const char *what, loops *l) {
    TUTTI_CHECK(s->ndims >= 1 && s->ndims <= TUTTI_MAX_DIMS, TUTTI_ERR_ARG,
                "%s section: ndims is %d: must be 1 to 16", what, s->ndims);
    TUTTI_CHECK(s->order == TUTTI_ROW_MAJOR || s->order == TUTTI_COL_MAJOR, TUTTI_ERR_ARG,
                "%s section: unknown order %d", what, (int)s->order);
    TUTTI_CHECK(s->element_size > 0, TUTTI_ERR_ARG,
                "%s section: element_size is %lld: must be >= 1", what, (long long)s->element_size);
    TUTTI_CHECK_RESERVED(s, "tutti_section");
    const int empty = section_is_empty(s);
    for (int d = 0; d < s->ndims; d++) TUTTI_TRY(section_check_dim(s, what, d, empty));
    *l = (loops){.first = s->offset, .empty = section_is_empty(s)};
    if (l->empty) return TUTTI_OK; /* counts and steps are not needed */
    tutti_off size = s->element_size;
    for (int k = 0; k < s->ndims; k++) {
        const int d = fast_dimension(s, k);
        const int fits = dim_loop(s, d, size, l) && tutti__mul_ok(size, s->shape[d], &size) &&
                         size <= TUTTI__OFF_LIMIT;
        TUTTI_CHECK(fits, TUTTI_ERR_OVERFLOW,
                    "%s section, dimension %d: size and offsets of the array must be < 2^62", what,
                    d);
    }
    return TUTTI_OK;
}

/* Make a side of the loops, nested in the order of `file`. */
static tutti_err section_side(const loops *l, const tutti_section *file, tutti__side *out) {
    tutti__side s = {0, NULL};
    TUTTI_TRY(tutti__side_run(l->first, file->element_size, &s));
    for (int k = 0; k < file->ndims; k++) {
        const int d = fast_dimension(file, k);
        TUTTI_TRY(tutti__side_vec(s, l->count[d], l->step[d], &s));
    }
    *out = s;
    return TUTTI_OK;
}

static tutti_err section_memory(const tutti_section *file, const tutti_section *memory,
                                const loops *f, tutti_off bytes, tutti__side *out) {
    loops m;
    if (!memory) return tutti__side_run(0, bytes, out);
    TUTTI_TRY(section_loops(memory, "memory", &m));
    TUTTI_CHECK(file->ndims == memory->ndims, TUTTI_ERR_ARG,
                "the file section has %d dimensions, the memory section %d: must be equal",
                file->ndims, memory->ndims);
    TUTTI_CHECK(file->element_size == memory->element_size, TUTTI_ERR_ARG,
                "element_size differs: %lld in the file, %lld in memory",
                (long long)file->element_size, (long long)memory->element_size);
    TUTTI_CHECK(f->empty == m.empty, TUTTI_ERR_ARG, "the %s section is empty, the other is not",
                f->empty ? "file" : "memory");
    for (int d = 0; d < file->ndims; d++)
        TUTTI_CHECK(f->count[d] == m.count[d], TUTTI_ERR_ARG,
                    "dimension %d: the file section has %lld elements, the memory section %lld: "
                    "must be equal",
                    d, (long long)f->count[d], (long long)m.count[d]);
    if (!m.empty) return section_side(&m, file, out);
    *out = (tutti__side){0, NULL};
    return TUTTI_OK;
}

tutti_err tutti_access_section(const tutti_section *file, const tutti_section *memory,
                               tutti_access **out) {
    loops f;
    tutti__side fs = {0, NULL}, ms = {0, NULL};
    TUTTI_CHECK(file, TUTTI_ERR_ARG, "argument file is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_TRY(section_loops(file, "file", &f));
    TUTTI_CHECK(file->offset >= 0, TUTTI_ERR_ARG, "file section: offset is %lld: must be >= 0",
                (long long)file->offset);
    if (!f.empty) TUTTI_TRY(section_side(&f, file, &fs));
    const tutti_err err = section_memory(file, memory, &f, tutti__side_bytes(fs), &ms);
    if (err != TUTTI_OK) {
        tutti__side_free(&fs);
        return err;
    }
    return tutti__access_make(fs, ms, out);
}
