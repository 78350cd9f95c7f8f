/* fortran: plans, parts, packing: calls with additional checks of buffers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

/* ---- accesses */

/* Combine an access whose memory is the elements of an array with the memory layout of the
 * array. */
TUTTI_API void tutti_f_access_for(const tutti__f_handle *a, const CFI_cdesc_t *array,
                                  tutti__f_handle *out, int *ierr) {
    tutti__f_memory m = tutti__f_memory_begin(a->p, array);
    tutti_access *made = NULL;
    const tutti_err err = tutti_access_copy(m.access, &made);
    out->p = made;
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

/* Check that [from, to) are bytes of the access, and that they fit. */
static tutti_err pack_check(const tutti_access *a, tutti_off from, tutti_off to,
                            const tutti__f_array *packed) {
    if (!a) return tutti__f_error(TUTTI_ERR_ARG, "argument access is NULL");
    if (from < 0 || from > to || to > tutti_access_bytes(a))
        return tutti__f_error(TUTTI_ERR_ARG,
                              "range [%lld, %lld) is outside the %lld bytes of the access",
                              (long long)from, (long long)to, (long long)tutti_access_bytes(a));
    if (!tutti__f_plain(packed, to - from, 0) && to > from)
        return tutti__f_error(
            TUTTI_ERR_ARG,
            "argument packed has %lld bytes: must be contiguous and have at least %lld",
            (long long)packed->bytes, (long long)(to - from));
    return TUTTI_OK;
}

/* Begin a pack or unpack call: get the access for the array, or an error. */
static tutti_err pack_begin(const tutti__f_handle *a, const CFI_cdesc_t *user, tutti_off from,
                            tutti_off to, const tutti__f_array *packed, tutti__f_memory *m) {
    tutti_access *copy = NULL;
    *m = (tutti__f_memory){0};
    tutti_err err = pack_check(a->p, from, to, packed);
    if (err != TUTTI_OK) return err;
    *m = tutti__f_memory_begin(a->p, user);
    err = tutti_access_copy(m->access, &copy);
    tutti_access_free(&copy);
    return err;
}

TUTTI_API void tutti_f_access_pack(const tutti__f_handle *a, const CFI_cdesc_t *user,
                                   tutti_off from, tutti_off to, const CFI_cdesc_t *packed,
                                   int *ierr) {
    const tutti__f_array v = tutti__f_array_of(packed);
    tutti__f_memory m;
    const tutti_err err = pack_begin(a, user, from, to, &v, &m);
    if (err == TUTTI_OK && to > from) tutti_access_pack(m.access, m.base, from, to, v.base);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_access_unpack(const tutti__f_handle *a, const CFI_cdesc_t *user,
                                     tutti_off from, tutti_off to, const CFI_cdesc_t *packed,
                                     int *ierr) {
    const tutti__f_array v = tutti__f_array_of(packed);
    tutti__f_memory m;
    const tutti_err err = pack_begin(a, user, from, to, &v, &m);
    if (err == TUTTI_OK && to > from) tutti_access_unpack(m.access, m.base, from, to, v.base);
    tutti__f_memory_end(&m);
    tutti__f_end(err, ierr);
}

/* ---- plans */

typedef tutti_err plan_fn(tutti_file *f, const tutti_access *a, tutti_plan **p_out);

/* Make a plan.  `like`: an array with the shape and strides of the arrays with which the plan will
 * be run; NULL: contiguous arrays. */
static tutti_err make_plan(plan_fn *make, const tutti__f_handle *f, const tutti__f_handle *a,
                           tutti__f_plan *p, const CFI_cdesc_t *like) {
    const tutti__f_array v = tutti__f_array_of(like);
    tutti__f_memory m = {.access = a->p};
    tutti_plan *made = NULL;
    tutti_off lo = 0, hi = 0;
    *p = (tutti__f_plan){0};
    if (like) m = tutti__f_memory_begin(a->p, like);
    if (a->p) tutti_access_memory_bounds(a->p, &lo, &hi);
    if (lo < 0) {
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "lowest memory offset of the access is %lld: must be >= 0",
                                 (long long)lo);
        m.access = NULL;
    }
    const tutti_err err = make(f->p, m.access, &made);
    tutti__f_memory_end(&m);
    *p = (tutti__f_plan){made, hi, tutti__f_layout(&v)};
    return err;
}

TUTTI_API void tutti_f_plan_write(const tutti__f_handle *f, const tutti__f_handle *a,
                                  tutti__f_plan *p, int *ierr, const CFI_cdesc_t *like) {
    tutti__f_end(make_plan(tutti_plan_write, f, a, p, like), ierr);
}

TUTTI_API void tutti_f_plan_read(const tutti__f_handle *f, const tutti__f_handle *a,
                                 tutti__f_plan *p, int *ierr, const CFI_cdesc_t *like) {
    tutti__f_end(make_plan(tutti_plan_read, f, a, p, like), ierr);
}

enum { OF_PARTS = -2 };

/* Return the buffer of a run, or NULL and set the error. */
static void *run_buffer(const tutti__f_plan *p, const CFI_cdesc_t *buf) {
    const tutti__f_array v = tutti__f_array_of(buf);
    if (p->reach == OF_PARTS)
        tutti__f_set_local_error(TUTTI_ERR_ARG,
                                 "the plan was created for parts: run it with parts");
    else if (v.bytes >= 0 && v.bytes < p->reach)
        tutti__f_set_local_error(TUTTI_ERR_ARG, "array has %lld bytes: %lld are required",
                                 (long long)v.bytes, (long long)p->reach);
    else if (p->reach > 0 && tutti__f_layout(&v) != p->layout)
        tutti__f_set_local_error(
            TUTTI_ERR_ARG, "strides of array differ from those for which the plan was created");
    else
        return v.base;
    return NULL;
}

TUTTI_API void tutti_f_plan_run(const tutti__f_plan *p, const CFI_cdesc_t *buf, int *ierr,
                                const tutti_off *displacement, tutti_off *count) {
    void *base = run_buffer(p, buf);
    const tutti_err err = tutti_plan_run(p->p, base, displacement ? *displacement : 0, count);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_plan_start(const tutti__f_plan *p, const CFI_cdesc_t *buf, int *ierr,
                                  const tutti_off *displacement) {
    void *base = run_buffer(p, buf);
    const tutti_err err = tutti_plan_start(p->p, base, displacement ? *displacement : 0);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

/* ---- parts */

typedef struct part {
    const tutti_access *access;
    tutti_conversion convert;
    tutti__f_array array;
} part;

enum { PART_BYTES = 64 * 8 }; /* size of the derived type */
_Static_assert(sizeof(part) <= PART_BYTES, "tutti_part of the module is too small");

static const part *part_at(const CFI_cdesc_t *parts, int i) {
    return (const part *)((const char *)parts->base_addr + (ptrdiff_t)i * PART_BYTES);
}

TUTTI_API void tutti_f_part_make(part *out, const tutti__f_handle *a, const CFI_cdesc_t *buf,
                                 int *ierr, const int *file_type, const int *file_order,
                                 const int *ieee) {
    tutti_err err = TUTTI_OK;
    memset(out, 0, PART_BYTES);
    out->access = a->p;
    out->array = tutti__f_array_of(buf);
    if (file_type) {
        out->convert.file_type = (tutti_type)*file_type;
        out->convert.memory_type = (tutti_type)out->array.type;
        out->convert.file_order =
            (tutti_byte_order)(file_order ? *file_order : TUTTI_NATIVE_ENDIAN);
        out->convert.ieee = ieee ? *ieee : 0;
        if (tutti__f_holds(&out->array, (tutti_type)*file_type, 0) && *file_type != TUTTI_BYTES)
            out->convert.memory_type = (tutti_type)*file_type; /* unsigned integers */
        if (out->convert.memory_type == TUTTI_BYTES && *file_type != TUTTI_BYTES) {
            err =
                tutti__f_error(TUTTI_ERR_ARG, "array must have integer, real or complex elements");
            out->access = NULL;
        }
    }
    tutti__f_end(err, ierr);
}

/* The parts of a call, converted to C. */
typedef struct {
    int n;
    tutti_part *part;
    tutti_access **made;
    void **buf;
    int64_t layout; /* layout of all arrays */
} batch;

static void part_take(batch *b, int i, const part *from) {
    const tutti__f_array *v = &from->array;
    const tutti_off wide = tutti_type_size(from->convert.file_type);
    const int64_t element = wide > 0 ? wide : v->element;
    tutti_off lo = 0, hi = 0;
    b->part[i] = (tutti_part){.access = from->access, .buf = v->base, .convert = from->convert};
    b->buf[i] = v->base;
    b->layout = (b->layout ^ tutti__f_layout(v) ^ v->bytes * 31) * 1099511627 + v->type;
    if (!from->access) return;
    tutti_access_memory_bounds(from->access, &lo, &hi);
    const int64_t bytes = v->element > 0 ? v->bytes / v->element * element : 0;
    if (lo < 0 || (v->bytes >= 0 && hi > bytes)) {
        tutti__f_set_local_error(
            TUTTI_ERR_ARG, "part %d: array has %lld bytes: the access needs bytes [%lld, %lld)",
            i + 1, (long long)bytes, (long long)lo, (long long)hi);
        b->part[i].access = NULL;
    } else if (!v->contiguous && hi > lo) {
        const tutti_err err = tutti__f_compose(from->access, v, element, &b->made[i]);
        if (err != TUTTI_OK) tutti__f_set_local_error(err, "%s", tutti_last_error()->text);
        b->part[i].access = b->made[i];
    }
}

static batch parts_begin(const CFI_cdesc_t *parts) {
    batch b = {.n = (int)tutti__f_length(parts)};
    const size_t n = (size_t)b.n + 1;
    b.part = calloc(n, sizeof *b.part);
    b.made = calloc(n, sizeof *b.made);
    b.buf = calloc(n, sizeof *b.buf);
    if (b.part && b.made && b.buf)
        for (int i = 0; i < b.n; i++) part_take(&b, i, part_at(parts, i));
    else
        b.n = -1; /* -1 makes the call fail on all ranks */
    return b;
}

static void parts_end(batch *b, tutti_err err, int *ierr) {
    for (int i = 0; b->made && i < b->n; i++) tutti_access_free(&b->made[i]);
    free(b->part);
    free(b->made);
    free(b->buf);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

/* The calls have four forms: blocking (also independent), split, non-blocking, planned. */
#define BLOCKING(name)                                                                           \
    TUTTI_API void tutti_f_##name(const tutti__f_handle *f, const CFI_cdesc_t *parts, int *ierr, \
                                  tutti_off *count) {                                            \
        batch b = parts_begin(parts);                                                            \
        parts_end(&b, tutti_##name(f->p, b.n, b.part, count), ierr);                             \
    }
#define BEGUN(name)                                                                                \
    TUTTI_API void tutti_f_##name(const tutti__f_handle *f, const CFI_cdesc_t *parts, int *ierr) { \
        batch b = parts_begin(parts);                                                              \
        parts_end(&b, tutti_##name(f->p, b.n, b.part), ierr);                                      \
    }
#define STARTED(name)                                                                 \
    TUTTI_API void tutti_f_##name(const tutti__f_handle *f, const CFI_cdesc_t *parts, \
                                  tutti__f_handle *r, int *ierr) {                    \
        batch b = parts_begin(parts);                                                 \
        tutti_request *made = NULL;                                                   \
        const tutti_err err = tutti_##name(f->p, b.n, b.part, &made);                 \
        r->p = made;                                                                  \
        parts_end(&b, err, ierr);                                                     \
    }
#define PLANNED(name)                                                                 \
    TUTTI_API void tutti_f_##name(const tutti__f_handle *f, const CFI_cdesc_t *parts, \
                                  tutti__f_plan *p, int *ierr) {                      \
        batch b = parts_begin(parts);                                                 \
        tutti_plan *made = NULL;                                                      \
        const tutti_err err = tutti_##name(f->p, b.n, b.part, &made);                 \
        *p = (tutti__f_plan){made, OF_PARTS, b.layout};                               \
        parts_end(&b, err, ierr);                                                     \
    }
BLOCKING(file_write_parts)
BLOCKING(file_read_parts)
BLOCKING(file_write_parts_independent)
BLOCKING(file_read_parts_independent)
BEGUN(file_write_parts_begin)
BEGUN(file_read_parts_begin)
STARTED(file_write_parts_start)
STARTED(file_read_parts_start)
PLANNED(plan_write_parts)
PLANNED(plan_read_parts)

/* Return the buffers of the parts if their layout is the planned one; otherwise NULL, so that the
 * call fails. */
static void **run_buffers(const tutti__f_plan *p, const batch *b) {
    if (p->reach == OF_PARTS && p->layout == b->layout) return b->buf;
    return NULL;
}

TUTTI_API void tutti_f_plan_run_parts(const tutti__f_plan *p, const CFI_cdesc_t *parts, int *ierr,
                                      const tutti_off *displacement, tutti_off *count) {
    batch b = parts_begin(parts);
    void **bufs = run_buffers(p, &b);
    parts_end(&b, tutti_plan_run_parts(p->p, b.n, bufs, displacement ? *displacement : 0, count),
              ierr);
}

TUTTI_API void tutti_f_plan_start_parts(const tutti__f_plan *p, const CFI_cdesc_t *parts, int *ierr,
                                        const tutti_off *displacement) {
    batch b = parts_begin(parts);
    void **bufs = run_buffers(p, &b);
    parts_end(&b, tutti_plan_start_parts(p->p, b.n, bufs, displacement ? *displacement : 0), ierr);
}
