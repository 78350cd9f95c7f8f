/* fortran: tiles, replicas, meshes: fields of specs are arguments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <string.h>

int tutti__f_rank(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int64_t tutti__f_element(const tutti_array *a, const tutti__f_array *v) {
    tutti_array_spec spec = {0};
    tutti_array_describe(a, &spec);
    return tutti__f_holds(v, spec.type, spec.element_size) ? spec.element_size : INT64_MAX;
}

/* ---- tiles */

TUTTI_API void tutti_f_tiles_begin(tutti__f_handle *t, tutti_off budget, int *ierr,
                                   const tutti__f_array_handle *from,
                                   const tutti__f_array_handle *to, const tutti_slice *of,
                                   const CFI_cdesc_t *tile, const CFI_cdesc_t *halo,
                                   const int *order, const int *sequential) {
    const tutti__f_array_handle *first = from ? from : to;
    tutti_tiles_spec spec = {.budget = budget, .region = of};
    tutti_array_spec array = {.order = TUTTI_COL_MAJOR};
    tutti_tiles *made = NULL;
    tutti__f_counts c;
    if (first) tutti_array_describe(first->p, &array);
    spec.order = order ? (tutti_order)*order : array.order;
    spec.sequential = sequential ? *sequential : 0;
    tutti__f_counts_of(tile, &c);
    memcpy(spec.tile, c.value, sizeof spec.tile);
    /* not a list of integers: the call fails on all ranks */
    if (tile && c.n == 0) spec.tile[0] = -1;
    tutti__f_counts_of(halo, &c);
    memcpy(spec.halo, c.value, sizeof spec.halo);
    if (halo && c.n == 0) spec.halo[0] = -1;
    const tutti_err err = tutti_tiles_begin(from ? from->p : NULL, to ? to->p : NULL, &spec, &made);
    t->p = made;
    tutti__f_end(err, ierr);
}

/* ---- replicas */

TUTTI_API void tutti_f_replicas_create(const int *comm, const CFI_cdesc_t *numbers,
                                       tutti_off value_bytes, tutti__f_replicas *r, int *ierr,
                                       const CFI_cdesc_t *own, const CFI_cdesc_t *loads,
                                       const tutti_count *load, const CFI_cdesc_t *memory_offsets,
                                       const tutti_replicas_choice *choice,
                                       const tutti_count *items, const CFI_cdesc_t *positions) {
    const int64_t n = tutti__f_length(numbers);
    tutti_replicas *made = NULL;
    tutti_replicas_spec spec = {.n = n,
                                .numbers = tutti__f_list(numbers),
                                .own = tutti__f_list(own),
                                .loads = tutti__f_list(loads),
                                .load = load ? *load : 1,
                                .value_bytes = value_bytes,
                                .memory_offsets = tutti__f_list(memory_offsets),
                                .items = items ? *items : 0,
                                .positions = tutti__f_list(positions)};
    if (choice) spec.choice = *choice;
    if (!tutti__f_fits(own, n) || !tutti__f_fits(loads, n) || !tutti__f_fits(memory_offsets, n) ||
        !tutti__f_fits(positions, n))
        spec.n = -1; /* a list is too short: the call fails on all ranks */
    const tutti_err err = tutti_replicas_create(tutti_comm_f2c(*comm), &spec, &made);
    *r = (tutti__f_replicas){made, n, loads || memory_offsets ? 0 : spec.load * value_bytes};
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_replicas_create)

TUTTI_API const tutti_off *tutti_f_replicas_positions(const tutti__f_replicas *r) {
    return tutti_replicas_positions(r->p);
}

TUTTI_API const int *tutti_f_replicas_writers(const tutti__f_replicas *r) {
    return tutti_replicas_writers(r->p);
}

/* The inspector of a call and the buffer of its items. */
typedef struct items {
    tutti__f_array v;
    void *base, *copy;
    tutti_replicas *use; /* NULL: the arguments are invalid */
} items;

static items items_begin(const tutti__f_replicas *r, const CFI_cdesc_t *buf) {
    items i = {.v = tutti__f_array_of(buf), .use = r->p};
    const tutti_access *all = tutti_replicas_read_access(r->p);
    tutti_off lo = 0, hi = 0;
    if (all) tutti_access_memory_bounds(all, &lo, &hi);
    const tutti__f_shape shape = {.item = r->item, .entries = r->item > 0 ? r->n : hi};
    i.base = tutti__f_copy_begin(&i.v, hi > 0 ? &shape : NULL, &i.copy);
    if (lo < 0)
        tutti__f_set_local_error(TUTTI_ERR_ARG, "memory_offsets has the minimum %lld: must be >= 0",
                                 (long long)lo);
    if ((lo < 0 || !i.base) && hi > lo) i.use = NULL;
    return i;
}

static void items_end(items *i, int back, tutti_err err, int *ierr) {
    tutti__f_copy_end(&i->v, i->copy, back);
    tutti__f_settled();
    tutti__f_end(err, ierr);
}

TUTTI_API void tutti_f_replicas_check(const tutti__f_replicas *r, const CFI_cdesc_t *buf,
                                      int *ierr) {
    items i = items_begin(r, buf);
    /* the ranks of the inspector must take part */
    const tutti_err err = tutti_replicas_check(r->p, i.use ? i.base : NULL);
    items_end(&i, 0, err, ierr);
}

TUTTI_API void tutti_f_replicas_write(const tutti__f_handle *f, tutti_off offset,
                                      const tutti__f_replicas *r, const CFI_cdesc_t *buf, int *ierr,
                                      const int *check) {
    items i = items_begin(r, buf);
    const int flags = check && *check ? TUTTI_REPLICAS_CHECK : 0;
    const tutti_err err = tutti_replicas_write(f->p, offset, i.use, i.base, flags);
    items_end(&i, 0, err, ierr);
}

TUTTI_API void tutti_f_replicas_read(const tutti__f_handle *f, tutti_off offset,
                                     const tutti__f_replicas *r, const CFI_cdesc_t *buf,
                                     int *ierr) {
    items i = items_begin(r, buf);
    const tutti_err err = tutti_replicas_read(f->p, offset, i.use, i.base);
    items_end(&i, 1, err, ierr);
}

/* ---- meshes */

int64_t tutti__f_mesh_nodes(const tutti_mesh *m) {
    tutti_mesh_view view = {0};
    return tutti_mesh_view_get(m, &view) == TUTTI_OK ? view.nodes : 0;
}

int64_t tutti__f_part_nodes(const tutti_mesh_part *p) {
    tutti_mesh_part_view view = {0};
    return tutti_mesh_part_get(p, &view) == TUTTI_OK ? view.nodes : 0;
}

TUTTI_API void tutti_f_mesh_make(const int *comm, const CFI_cdesc_t *coordinates,
                                 const CFI_cdesc_t *type, const CFI_cdesc_t *start,
                                 const CFI_cdesc_t *node, tutti__f_handle *m, int *ierr,
                                 const CFI_cdesc_t *tag, const CFI_cdesc_t *physical,
                                 const CFI_cdesc_t *entity) {
    static const tutti_count none = 0;
    const int64_t nodes = tutti__f_length(coordinates) / 3, elements = tutti__f_length(type);
    const tutti_count *begins = tutti__f_list(start);
    tutti_mesh *made = NULL;
    tutti_mesh_view mine = {.nodes = nodes,
                            .coordinates = tutti__f_list(coordinates),
                            .tag = tutti__f_list(tag),
                            .elements = elements,
                            .type = tutti__f_list(type),
                            .physical = tutti__f_list(physical),
                            .entity = tutti__f_list(entity),
                            .start = elements > 0 ? begins : &none,
                            .node = tutti__f_list(node)};
    int fits = coordinates->dim[0].extent == 3 || nodes == 0;
    fits = fits && tutti__f_fits(tag, nodes) && tutti__f_fits(physical, elements) &&
           tutti__f_fits(entity, elements);
    fits = fits && (elements == 0 || (tutti__f_length(start) > elements && begins[0] == 0 &&
                                      begins[elements] <= tutti__f_length(node)));
    /* the lengths of the lists do not match: the call fails on all ranks */
    if (!fits) mine.nodes = -1;
    const tutti_err err = tutti_mesh_make(tutti_comm_f2c(*comm), &mine, &made);
    m->p = made;
    tutti__f_end(err, ierr);
}
TUTTI__F_TYPED(tutti_f_mesh_make)

TUTTI_API void tutti_f_mesh_view_get(const tutti__f_handle *m, tutti_mesh_view *out, int *ierr) {
    memset(out, 0, sizeof *out);
    tutti__f_end(tutti_mesh_view_get(m->p, out), ierr);
}

TUTTI_API void tutti_f_mesh_part_get(const tutti__f_handle *p, tutti_mesh_part_view *out,
                                     int *ierr) {
    memset(out, 0, sizeof *out);
    tutti__f_end(tutti_mesh_part_get(p->p, out), ierr);
}

TUTTI_API int tutti_f_mesh_groups(const tutti__f_handle *m, const tutti_mesh_group **out) {
    *out = NULL;
    return tutti_mesh_groups(m->p, out);
}

TUTTI_API void tutti_f_mesh_classify(const tutti__f_handle *m, const CFI_cdesc_t *of,
                                     tutti_count **start, int **holder, int *ierr) {
    const int fits = tutti__f_fits(of, tutti__f_mesh_nodes(m->p));
    *start = NULL;
    *holder = NULL;
    tutti__f_end(tutti_mesh_classify(m->p, fits ? tutti__f_list(of) : NULL, start, holder), ierr);
}

TUTTI_API void tutti_f_mesh_lists_free(tutti_count **start, int **holder) {
    tutti_mesh_lists_free(start, holder);
}
