/* mesh: physical groups in Gmsh files, read from entities (format 4.1) or repeated elements (format
 * 2.2).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/gmsh_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

/* ---- memberships */

tutti_err tutti__gmsh_member_add(tutti__mesh_data *d, size_t *capacity, tutti_mesh_membership x) {
    TUTTI_TRY(tutti__grow(&d->member, (size_t)(d->members + 1), capacity, sizeof *d->member));
    d->member[d->members++] = x;
    return TUTTI_OK;
}

static int compare_members(const void *a, const void *b) {
    const tutti_mesh_membership *x = a, *y = b;
    const int order = tutti__mesh_by_membership(x, y);
    return order != 0 ? order : (x->tag > y->tag) - (x->tag < y->tag);
}

tutti_err tutti__gmsh_members_finish(tutti__mesh_data *d) {
    tutti_count n = 0;
    if (d->members > 1) qsort(d->member, (size_t)d->members, sizeof *d->member, compare_members);
    for (tutti_count i = 0; i < d->members; i++)
        if (n == 0 || compare_members(&d->member[n - 1], &d->member[i]) != 0)
            d->member[n++] = d->member[i];
    d->members = n;
    TUTTI_CHECK(n < (1 << 20), TUTTI_ERR_OVERFLOW,
                "entities have %lld additional physical groups: at most 2^20 - 1 are supported",
                (long long)n);
    return TUTTI_OK;
}

/* ---- 4.1 */

static int32_t group_number(int32_t tag) { /* a negative tag reverses the orientation */
    return tag < 0 && tag > INT32_MIN ? -tag : tag;
}

static tutti_err skip_numbers(tutti__scan *s, const char *what) {
    int64_t n = 0;
    int32_t tag = 0;
    TUTTI_TRY(tutti__scan_i64(s, &n));
    TUTTI_TRY(tutti__scan_fits(s, n, s->binary ? 4 : 2, what));
    for (int64_t i = 0; i < n; i++) TUTTI_TRY(tutti__scan_i32(s, &tag));
    return TUTTI_OK;
}

static tutti_err read_entity(tutti__scan *s, int dim, int partitioned, tutti__gmsh_entities *all) {
    tutti__gmsh_entity e = {.dim = dim, .parent_dim = -1, .first = all->groups};
    double box[6];
    int32_t parent_dim = 0, tag = 0;
    TUTTI_TRY(tutti__scan_i32(s, &e.tag));
    if (partitioned) {
        TUTTI_TRY(tutti__scan_i32(s, &parent_dim));
        TUTTI_TRY(tutti__scan_i32(s, &e.parent));
        if (parent_dim < 0 || parent_dim > 3)
            TUTTI_SCAN_FAIL(s, "the parent of entity %d has dimension %d: must be 0 to 3",
                            (int)e.tag, (int)parent_dim);
        e.parent_dim = parent_dim;
        TUTTI_TRY(skip_numbers(s, "partitions"));
    }
    TUTTI_TRY(tutti__scan_f64(s, dim == 0 ? 3 : 6, box));
    TUTTI_TRY(tutti__scan_i64(s, &e.n));
    TUTTI_TRY(tutti__scan_fits(s, e.n, s->binary ? 4 : 2, "physical groups"));
    for (int64_t i = 0; i < e.n; i++) {
        TUTTI_TRY(tutti__scan_i32(s, &tag));
        TUTTI_TRY(
            tutti__grow(&all->group, (size_t)(all->groups + 1), &all->groups_capacity, sizeof tag));
        all->group[all->groups++] = group_number(tag);
    }
    if (dim > 0) TUTTI_TRY(skip_numbers(s, "bounding entities"));
    TUTTI_TRY(tutti__grow(&all->entity, (size_t)(all->n + 1), &all->capacity, sizeof e));
    all->entity[all->n++] = e;
    return TUTTI_OK;
}

tutti_err tutti__gmsh_entities_read(tutti__scan *s, int partitioned, tutti__gmsh_entities *e) {
    int64_t n[4];
    if (partitioned) { /* skip the number of partitions, and the ghost entities */
        int64_t ghosts = 0;
        int32_t word = 0;
        TUTTI_TRY(tutti__scan_i64(s, &ghosts));
        TUTTI_TRY(tutti__scan_i64(s, &ghosts));
        TUTTI_TRY(tutti__scan_fits(s, ghosts, s->binary ? 8 : 4, "ghost entities"));
        for (int64_t i = 0; i < 2 * ghosts; i++) TUTTI_TRY(tutti__scan_i32(s, &word));
    }
    for (int dim = 0; dim < 4; dim++) {
        TUTTI_TRY(tutti__scan_i64(s, &n[dim]));
        TUTTI_TRY(tutti__scan_fits(s, n[dim], 10, "entities"));
    }
    for (int dim = 0; dim < 4; dim++)
        for (int64_t i = 0; i < n[dim]; i++) TUTTI_TRY(read_entity(s, dim, partitioned, e));
    return TUTTI_OK;
}

/* Compare by dimension and tag; a partitioned entity precedes an entity with the same tag. */
static int compare_entities(const void *a, const void *b) {
    const tutti__gmsh_entity *x = a, *y = b;
    if (x->dim != y->dim) return (x->dim > y->dim) - (x->dim < y->dim);
    if (x->tag != y->tag) return (x->tag > y->tag) - (x->tag < y->tag);
    return (x->parent_dim < 0) - (y->parent_dim < 0);
}

/* Find an entity by dimension and tag; with `partitioned` a partitioned entity is preferred,
 * otherwise partitioned entities are skipped. */
static const tutti__gmsh_entity *find_first_entity(const tutti__gmsh_entities *e, int dim,
                                                   int32_t tag, int partitioned) {
    const tutti__gmsh_entity key = {.dim = dim, .tag = tag, .parent_dim = partitioned ? 0 : -1};
    const tutti_count at =
        tutti__lower_bound_by(e->entity, e->n, sizeof key, &key, compare_entities);
    return at < e->n && e->entity[at].dim == dim && e->entity[at].tag == tag ? &e->entity[at]
                                                                             : NULL;
}

const tutti__gmsh_entity *tutti__gmsh_entity_find(const tutti__gmsh_entities *e, int dim,
                                                  int32_t tag) {
    return find_first_entity(e, dim, tag, 1);
}

static int is_named_group(const tutti__mesh_data *d, int dim, int32_t tag) {
    for (int i = 0; i < d->groups; i++)
        if (d->group[i].dim == dim && group_number(d->group[i].tag) == tag) return 1;
    return 0;
}

void tutti__gmsh_entities_finish(tutti__gmsh_entities *e, const tutti__mesh_data *d) {
    if (e->n > 1) qsort(e->entity, (size_t)e->n, sizeof *e->entity, compare_entities);
    for (tutti_count i = 0; i < e->n; i++) {
        tutti__gmsh_entity *x = &e->entity[i];
        if (x->parent_dim < 0) continue;
        if (x->parent_dim == x->dim && x->n == 0) {
            const tutti__gmsh_entity *parent = find_first_entity(e, x->dim, x->parent, 0);
            x->first = parent ? parent->first : 0;
            x->n = parent ? parent->n : 0;
        } else if (x->parent_dim != x->dim) {
            int32_t *group = e->group + x->first;
            tutti_count n = 0;
            for (tutti_count k = 0; k < x->n; k++)
                if (is_named_group(d, x->dim, group[k])) group[n++] = group[k];
            x->n = n;
        }
    }
}

void tutti__gmsh_entities_free(tutti__gmsh_entities *e) {
    tutti__free(e->entity);
    tutti__free(e->group);
}

/* ---- 2.2 */

tutti_err tutti__gmsh_repeat_merge(tutti__gmsh_repeats *r, tutti__mesh_data *d) {
    const tutti_count e = d->elements - 1, b = e - 1;
    if (b < 0 || d->type[b] != d->type[e] || d->entity[b] != d->entity[e]) return TUTTI_OK;
    if (d->physical[b] == 0 || d->physical[e] == 0 || d->physical[b] == d->physical[e])
        return TUTTI_OK;
    const size_t bytes = (size_t)(d->start[e + 1] - d->start[e]) * sizeof *d->node;
    if (memcmp(d->node + d->start[b], d->node + d->start[e], bytes) != 0) return TUTTI_OK;
    TUTTI_TRY(tutti__grow(&r->repeat, (size_t)(r->n + 1), &r->capacity, sizeof *r->repeat));
    r->repeat[r->n++] = (struct tutti__gmsh_repeat){b, d->physical[e]};
    d->elements--;
    return TUTTI_OK;
}

/* Elements with the same dimension, entity, first group and further groups. */
typedef struct {
    int dim;
    int32_t entity, physical;
    uint64_t hash;        /* hash of the further groups; 0: no further groups */
    tutti_count from, to; /* range of the repeats of one of these elements */
    int32_t as;           /* tag of the entity to which these elements are assigned */
} element_kind;

static int compare_kinds(const void *a, const void *b) {
    const element_kind *x = a, *y = b;
    if (x->dim != y->dim) return x->dim < y->dim ? -1 : 1;
    if (x->entity != y->entity) return x->entity < y->entity ? -1 : 1;
    if (x->physical != y->physical) return x->physical < y->physical ? -1 : 1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Return the kind of element e.  *at: index of the next repeat; on return, of the first repeat
 * after those of e. */
static element_kind find_kind(const tutti__gmsh_repeats *r, const tutti__mesh_data *d,
                              tutti_count e, tutti_count *at) {
    element_kind x = {.dim = tutti_mesh_type_dim(d->type[e]),
                      .entity = d->entity[e],
                      .physical = d->physical[e],
                      .from = *at};
    for (; *at < r->n && r->repeat[*at].element == e; ++*at)
        x.hash = tutti__hash(x.hash ? x.hash : TUTTI__HASH_START, &r->repeat[*at].group,
                             sizeof r->repeat[*at].group);
    x.to = *at;
    return x;
}

static tutti_count sort_unique(element_kind *v, tutti_count n) {
    tutti_count m = 0;
    if (n > 1) qsort(v, (size_t)n, sizeof *v, compare_kinds);
    for (tutti_count i = 0; i < n; i++)
        if (m == 0 || compare_kinds(&v[m - 1], &v[i]) != 0) v[m++] = v[i];
    return m;
}

/* Assign entity tags; kinds that differ only in their further groups get different entities. */
static tutti_err assign_entities(element_kind *v, tutti_count n) {
    int32_t most[4] = {0, 0, 0, 0};
    for (tutti_count i = 0; i < n; i++)
        if (v[i].entity > most[v[i].dim]) most[v[i].dim] = v[i].entity;
    for (tutti_count i = 0; i < n; i++) {
        const int again = i > 0 && v[i - 1].dim == v[i].dim && v[i - 1].entity == v[i].entity &&
                          v[i - 1].physical == v[i].physical;
        TUTTI_CHECK(
            !again || most[v[i].dim] < INT32_MAX, TUTTI_ERR_OVERFLOW,
            "cannot assign entity tags of dimension %d: the largest tag is already 2^31 - 1",
            v[i].dim);
        v[i].as = again ? ++most[v[i].dim] : v[i].entity;
    }
    return TUTTI_OK;
}

tutti_err tutti__gmsh_repeats_finish(tutti__gmsh_repeats *r, tutti__mesh_data *d,
                                     size_t *capacity) {
    element_kind *v = NULL;
    tutti_count n = 0, at = 0;
    size_t v_capacity = 0;
    tutti_err err = TUTTI_OK;
    if (r->n == 0) return TUTTI_OK;
    for (tutti_count e = 0; e < d->elements && err == TUTTI_OK; e++) {
        const element_kind x = find_kind(r, d, e, &at);
        if (n > 0 && compare_kinds(&v[n - 1], &x) == 0) continue;
        if ((size_t)n == v_capacity && n > 0) n = sort_unique(v, n);
        err = tutti__grow(&v, (size_t)(2 * n + 1), &v_capacity, sizeof *v);
        if (err == TUTTI_OK) v[n++] = x;
    }
    if (err == TUTTI_OK) {
        n = sort_unique(v, n);
        err = assign_entities(v, n);
    }
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++)
        for (tutti_count k = v[i].from; k < v[i].to && err == TUTTI_OK; k++)
            err = tutti__gmsh_member_add(
                d, capacity,
                (tutti_mesh_membership){v[i].dim, v[i].as, v[i].physical, r->repeat[k].group});
    at = 0;
    for (tutti_count e = 0; e < d->elements && err == TUTTI_OK; e++) {
        const element_kind x = find_kind(r, d, e, &at);
        const element_kind *found = bsearch(&x, v, (size_t)n, sizeof x, compare_kinds);
        TUTTI_ASSERT(found != NULL);
        d->entity[e] = found->as;
    }
    tutti__free(v);
    return err;
}
