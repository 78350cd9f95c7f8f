/* mesh: writing of the Gmsh formats 4.1 and 2.2, text and binary, by one rank.
 *
 * Nodes and elements keep their order: in 4.1 a block of elements ends where the type or the entity
 * changes.  All elements of an entity have the same first physical group; elements with another
 * first group, or without an entity, get new entities.  In 2.2 an element is repeated for each
 * further group.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 20, LINE = 512 };

/* An entity: elements of one dimension, entity and physical group. */
typedef struct {
    int dim;
    int32_t entity, physical; /* values of the elements */
    int32_t tag;              /* entity tag in the file */
    double low[3], high[3];
} entity;

typedef struct {
    tutti_file *file;
    const tutti__mesh_data *d;
    tutti_mesh_format format;
    int binary;
    char *buf;
    size_t n;
    tutti_off at;
    entity *entities;
    int n_entities;
    tutti_err err; /* first error; afterwards no data is written */
} writer;

static void flush_buffer(writer *w) {
    tutti_access *a = NULL;
    if (w->n == 0 || w->err != TUTTI_OK) return;
    w->err = tutti_access_contiguous(w->at, (tutti_off)w->n, &a);
    if (w->err == TUTTI_OK) w->err = tutti_file_write_independent(w->file, a, w->buf, NULL);
    tutti_access_free(&a);
    w->at += (tutti_off)w->n;
    w->n = 0;
}

static void append_bytes(writer *w, const void *data, size_t bytes) {
    if (w->n + bytes > BUFFER) flush_buffer(w);
    memcpy(w->buf + w->n, data, bytes);
    w->n += bytes;
}

static void put_text(writer *w, const char *fmt, ...) TUTTI_PRINTF(2, 3);
static void put_text(writer *w, const char *fmt, ...) {
    va_list args;
    if (w->n + LINE > BUFFER) flush_buffer(w);
    va_start(args, fmt);
    const int n = vsnprintf(w->buf + w->n, LINE, fmt, args);
    va_end(args);
    TUTTI_ASSERT(n >= 0 && n < LINE);
    w->n += (size_t)n;
}

/* Write a number as text or binary, depending on the file. */
static void put_i32(writer *w, int32_t v) {
    if (w->binary)
        append_bytes(w, &v, sizeof v);
    else
        put_text(w, "%d ", (int)v);
}

static void put_i64(writer *w, int64_t v) {
    if (w->binary)
        append_bytes(w, &v, sizeof v);
    else
        put_text(w, "%lld ", (long long)v);
}

static void put_f64(writer *w, int n, const double *v) {
    for (int i = 0; i < n && !w->binary; i++) put_text(w, "%.17g ", v[i]);
    if (w->binary) append_bytes(w, v, (size_t)n * sizeof *v);
}

static void put_line(writer *w) {
    if (!w->binary) put_text(w, "\n");
}

static int gmsh_type(int type) {
    static const int number[TUTTI_MESH_TYPES] = {
#define GMSH_NUMBER(name, dim, nodes, gmsh, text) gmsh,
        TUTTI_ELEMENT_TABLE(GMSH_NUMBER)
#undef GMSH_NUMBER
    };
    return number[type];
}

/* ---- entities */

static int compare_element_kinds(const void *a, const void *b) {
    const entity *x = a, *y = b;
    if (x->dim != y->dim) return x->dim < y->dim ? -1 : 1;
    if (x->entity != y->entity) return x->entity < y->entity ? -1 : 1;
    return (x->physical > y->physical) - (x->physical < y->physical);
}

static entity kind_of_element(const tutti__mesh_data *d, tutti_count e) {
    return (entity){
        .dim = tutti_mesh_type_dim(d->type[e]), .entity = d->entity[e], .physical = d->physical[e]};
}

static entity *find_kind_index(const writer *w, tutti_count e) {
    const entity key = kind_of_element(w->d, e);
    return bsearch(&key, w->entities, (size_t)w->n_entities, sizeof key, compare_element_kinds);
}

/* Collect the different kinds of elements, sorted.  Consecutive elements mostly have the same kind,
 * so the list is short even before duplicates are removed. */
static tutti_err collect_kinds(writer *w) {
    const tutti__mesh_data *d = w->d;
    size_t n = 0, capacity = 0;
    for (tutti_count e = 0; e < d->elements; e++) {
        const entity one = kind_of_element(d, e);
        if (n > 0 && compare_element_kinds(&w->entities[n - 1], &one) == 0) continue;
        TUTTI_TRY(tutti__grow(&w->entities, n + 1, &capacity, sizeof *w->entities));
        w->entities[n++] = one;
    }
    if (n > 0) qsort(w->entities, n, sizeof *w->entities, compare_element_kinds);
    for (size_t i = 0; i < n; i++)
        if (w->n_entities == 0 ||
            compare_element_kinds(&w->entities[w->n_entities - 1], &w->entities[i]) != 0)
            w->entities[w->n_entities++] = w->entities[i];
    return TUTTI_OK;
}

static tutti_err make_entities(writer *w) {
    const tutti__mesh_data *d = w->d;
    TUTTI_TRY(collect_kinds(w));
    int32_t next[4] = {0, 0, 0, 0};
    for (int i = 0; i < w->n_entities; i++)
        if (w->entities[i].entity > next[w->entities[i].dim])
            next[w->entities[i].dim] = w->entities[i].entity;
    for (int i = 0; i < w->n_entities; i++) {
        entity *e = &w->entities[i];
        const int again = i > 0 && e[-1].dim == e->dim && e[-1].entity == e->entity;
        TUTTI_CHECK(
            next[e->dim] < INT32_MAX, TUTTI_ERR_OVERFLOW,
            "cannot assign entity tags of dimension %d: the largest tag is already 2^31 - 1",
            e->dim);
        e->tag = again || e->entity <= 0 ? ++next[e->dim] : e->entity;
        for (int k = 0; k < 3; k++) {
            e->low[k] = 1e300;
            e->high[k] = -1e300;
        }
    }
    for (tutti_count i = 0; i < d->elements; i++) {
        entity *e = find_kind_index(w, i);
        for (tutti_count j = d->start[i]; j < d->start[i + 1]; j++)
            for (int k = 0; k < 3; k++) {
                const double x = d->coordinates[3 * d->node[j] + k];
                if (x < e->low[k]) e->low[k] = x;
                if (x > e->high[k]) e->high[k] = x;
            }
    }
    return TUTTI_OK;
}

/* ---- 4.1 */

static void put_nodes_41(writer *w) {
    const tutti__mesh_data *d = w->d;
    const entity *last = w->n_entities > 0 ? &w->entities[w->n_entities - 1] : NULL;
    put_text(w, "$Nodes\n");
    put_i64(w, d->nodes > 0);
    put_i64(w, d->nodes);
    put_i64(w, d->nodes > 0);
    put_i64(w, d->nodes);
    put_line(w);
    if (d->nodes > 0) { /* all nodes are in one block, of an entity of the highest dimension */
        put_i32(w, last ? last->dim : 3);
        put_i32(w, last ? last->tag : 1);
        put_i32(w, 0);
        put_i64(w, d->nodes);
        put_line(w);
    }
    for (tutti_count i = 0; i < d->nodes; i++) {
        put_i64(w, i + 1);
        put_line(w);
    }
    for (tutti_count i = 0; i < d->nodes; i++) {
        put_f64(w, 3, d->coordinates + 3 * i);
        put_line(w);
    }
    put_text(w, "%s$EndNodes\n", w->binary ? "\n" : "");
}

/* Return the end of the block that begins with element e. */
static tutti_count find_block_end(const tutti__mesh_data *d, tutti_count e) {
    tutti_count end = e + 1;
    while (end < d->elements && d->type[end] == d->type[e] && d->entity[end] == d->entity[e] &&
           d->physical[end] == d->physical[e])
        end++;
    return end;
}

static void put_elements_41(writer *w) {
    const tutti__mesh_data *d = w->d;
    tutti_count blocks = 0;
    for (tutti_count e = 0; e < d->elements; e = find_block_end(d, e)) blocks++;
    put_text(w, "$Elements\n");
    put_i64(w, blocks);
    put_i64(w, d->elements);
    put_i64(w, d->elements > 0);
    put_i64(w, d->elements);
    put_line(w);
    for (tutti_count e = 0; e < d->elements;) {
        const entity *of = find_kind_index(w, e);
        const tutti_count end = find_block_end(d, e);
        put_i32(w, of->dim);
        put_i32(w, of->tag);
        put_i32(w, gmsh_type(d->type[e]));
        put_i64(w, end - e);
        put_line(w);
        for (; e < end; e++) {
            put_i64(w, e + 1);
            for (tutti_count j = d->start[e]; j < d->start[e + 1]; j++) put_i64(w, d->node[j] + 1);
            put_line(w);
        }
    }
    put_text(w, "%s$EndElements\n", w->binary ? "\n" : "");
}

/* ---- 2.2 */

static void put_nodes_22(writer *w) {
    const tutti__mesh_data *d = w->d;
    put_text(w, "$Nodes\n%lld\n", (long long)d->nodes);
    for (tutti_count i = 0; i < d->nodes; i++) {
        put_i32(w, (int32_t)(i + 1));
        put_f64(w, 3, d->coordinates + 3 * i);
        put_line(w);
    }
    put_text(w, "%s$EndNodes\n", w->binary ? "\n" : "");
}

static void put_element_22(writer *w, tutti_count e, tutti_count number, int32_t physical) {
    const tutti__mesh_data *d = w->d;
    const int32_t type = gmsh_type(d->type[e]);
    if (w->binary) { /* every element has its own header: type, one element, two tags */
        const int32_t head[4] = {type, 1, 2, (int32_t)number};
        append_bytes(w, head, sizeof head);
    } else {
        put_text(w, "%lld %d 2 ", (long long)number, (int)type);
    }
    put_i32(w, physical);
    put_i32(w, d->entity[e]);
    for (tutti_count j = d->start[e]; j < d->start[e + 1]; j++)
        put_i32(w, (int32_t)(d->node[j] + 1));
    put_line(w);
}

static tutti_count find_further_groups(const tutti__mesh_data *d, tutti_count e,
                                       tutti_count *n_out) {
    *n_out = 0;
    if (d->members == 0) return 0;
    const tutti_mesh_membership key = {tutti_mesh_type_dim(d->type[e]), d->entity[e],
                                       d->physical[e], 0};
    return tutti__mesh_members_of(d, &key, n_out);
}

/* Count the elements in the file, including repeated elements. */
static tutti_count count_elements_22(const tutti__mesh_data *d) {
    tutti_count n = d->elements, more = 0;
    for (tutti_count e = 0; e < d->elements && d->members > 0; e++) {
        (void)find_further_groups(d, e, &more);
        n += more;
    }
    return n;
}

static void put_elements_22(writer *w) {
    const tutti__mesh_data *d = w->d;
    tutti_count number = 0;
    put_text(w, "$Elements\n%lld\n", (long long)count_elements_22(d));
    for (tutti_count e = 0; e < d->elements; e++) {
        tutti_count more = 0;
        const tutti_count first = find_further_groups(d, e, &more);
        put_element_22(w, e, ++number, d->physical[e]);
        for (tutti_count k = 0; k < more; k++)
            put_element_22(w, e, ++number, d->member[first + k].tag);
    }
    put_text(w, "%s$EndElements\n", w->binary ? "\n" : "");
}

/* ---- the file */

static tutti_err put_all(writer *w) {
    const tutti__mesh_data *d = w->d;
    const int new = w->format == TUTTI_MESH_GMSH_41 || w->format == TUTTI_MESH_GMSH_41_BINARY;
    const int32_t one = 1;
    if (new) TUTTI_TRY(make_entities(w));
    TUTTI_CHECK(new || (d->nodes < INT32_MAX && count_elements_22(d) < INT32_MAX),
                TUTTI_ERR_OVERFLOW,
                "%lld nodes and %lld elements exceed the 32-bit numbers of Gmsh format 2.2",
                (long long)d->nodes, (long long)d->elements);
    put_text(w, "$MeshFormat\n%s %d 8\n", new ? "4.1" : "2.2", w->binary);
    if (w->binary) {
        append_bytes(w, &one, sizeof one);
        put_text(w, "\n");
    }
    put_text(w, "$EndMeshFormat\n");
    if (d->groups > 0) {
        put_text(w, "$PhysicalNames\n%d\n", d->groups);
        for (int i = 0; i < d->groups; i++)
            put_text(w, "%d %d \"%s\"\n", d->group[i].dim, d->group[i].tag, d->group[i].name);
        put_text(w, "$EndPhysicalNames\n");
    }
    if (new) {
        int64_t n[4] = {0, 0, 0, 0};
        for (int i = 0; i < w->n_entities; i++) n[w->entities[i].dim]++;
        put_text(w, "$Entities\n");
        for (int dim = 0; dim < 4; dim++) put_i64(w, n[dim]);
        put_line(w);
        for (int i = 0; i < w->n_entities; i++) {
            const entity *e = &w->entities[i];
            put_i32(w, e->tag);
            put_f64(w, 3, e->low);
            if (e->dim > 0) put_f64(w, 3, e->high);
            tutti_count more = 0;
            const tutti_count first = tutti__mesh_members_of(
                w->d, &(tutti_mesh_membership){e->dim, e->entity, e->physical, 0}, &more);
            put_i64(w, (e->physical != 0) + more);
            if (e->physical != 0) put_i32(w, e->physical);
            for (tutti_count k = 0; k < more; k++) put_i32(w, w->d->member[first + k].tag);
            if (e->dim > 0) put_i64(w, 0); /* bounding entities are not known */
            put_line(w);
        }
        put_text(w, "%s$EndEntities\n", w->binary ? "\n" : "");
        put_nodes_41(w);
        put_elements_41(w);
    } else {
        put_nodes_22(w);
        put_elements_22(w);
    }
    flush_buffer(w);
    return w->err;
}

tutti_err tutti__gmsh_write(const char *path, tutti_mesh_format format, const tutti_options *opt,
                            const tutti__mesh_data *d) {
    writer w = {.d = d,
                .format = format,
                .binary =
                    format == TUTTI_MESH_GMSH_41_BINARY || format == TUTTI_MESH_GMSH_22_BINARY,
                .buf = tutti__malloc(BUFFER)};
    tutti_options alone = *opt;
    alone.nodes[0] = '\0'; /* this option is only valid for the communicator of all ranks */
    if (!w.buf) return TUTTI_ERR_NOMEM;
    /* use the "C" locale for decimal points */
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = c ? uselocale(c) : (locale_t)0;
    tutti_err err = tutti_file_open(MPI_COMM_SELF, path,
                                    TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &alone, &w.file);
    if (err == TUTTI_OK) err = put_all(&w);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    if (w.file) err = TUTTI_ALSO(err, tutti_file_close(&w.file));
    tutti__free(w.buf);
    tutti__free(w.entities);
    if (err != TUTTI_OK) tutti__error_context("write", path, -1);
    return err;
}
