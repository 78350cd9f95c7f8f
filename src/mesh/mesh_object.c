/* mesh: the object: creation from slices, validity, views, release.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

#include "base/sorted.h"

/* ---- types of elements */

static const struct {
    int dim, nodes;
    const char *text;
} type_table[TUTTI_MESH_TYPES] = {
#define TYPE_ROW(name, dim, nodes, gmsh, text) {dim, nodes, text},
    TUTTI_ELEMENT_TABLE(TYPE_ROW)
#undef TYPE_ROW
};

static int is_element_type(int type) {
    return type >= 0 && type < TUTTI_MESH_TYPES;
}

int tutti_mesh_type_nodes(int type) {
    return is_element_type(type) ? type_table[type].nodes : 0;
}

int tutti_mesh_type_dim(int type) {
    return is_element_type(type) ? type_table[type].dim : -1;
}

const char *tutti_mesh_type_name(int type) {
    return is_element_type(type) ? type_table[type].text : "";
}

/* ---- data */

tutti_count tutti__mesh_members_of(const tutti__mesh_data *d, const tutti_mesh_membership *key,
                                   tutti_count *n_out) {
    const tutti_count lo = tutti__lower_bound_by(d->member, d->members, sizeof *d->member, key,
                                                 tutti__mesh_by_membership);
    tutti_count hi = lo;
    while (hi < d->members && tutti__mesh_by_membership(&d->member[hi], key) == 0) hi++;
    *n_out = hi - lo;
    return lo;
}

void tutti__mesh_data_free(tutti__mesh_data *d) {
    tutti__free(d->coordinates);
    tutti__free(d->tag);
    tutti__free(d->type);
    tutti__free(d->physical);
    tutti__free(d->entity);
    tutti__free(d->start);
    tutti__free(d->node);
    tutti__free(d->group);
    tutti__free(d->member);
    memset(d, 0, sizeof *d);
}

tutti_err tutti__mesh_data_make(tutti__mesh_data *d, tutti_count nodes, tutti_count elements,
                                tutti_count entries) {
    const size_t n = (size_t)nodes, e = (size_t)elements;
    d->coordinates = tutti__malloc(n * 3 * sizeof *d->coordinates);
    d->tag = tutti__malloc(n * sizeof *d->tag);
    d->type = tutti__malloc(e * sizeof *d->type);
    d->physical = tutti__malloc(e * sizeof *d->physical);
    d->entity = tutti__malloc(e * sizeof *d->entity);
    d->start = tutti__malloc((e + 1) * sizeof *d->start);
    d->node = tutti__malloc((size_t)entries * sizeof *d->node);
    if (!d->coordinates || !d->tag || !d->type || !d->physical || !d->entity || !d->start ||
        !d->node)
        return TUTTI_ERR_NOMEM;
    d->start[0] = 0;
    d->nodes = nodes;
    d->elements = elements;
    return TUTTI_OK;
}

tutti_err tutti__mesh_data_check(const tutti__mesh_data *d, tutti_count first,
                                 tutti_count all_nodes) {
    for (tutti_count e = 0; e < d->elements; e++) {
        TUTTI_CHECK(is_element_type(d->type[e]), TUTTI_ERR_ARG, "element %lld has unknown type %d",
                    (long long)(first + e), d->type[e]);
        TUTTI_CHECK(tutti__follows(d->start[e], type_table[d->type[e]].nodes, d->start[e + 1]),
                    TUTTI_ERR_ARG,
                    "element %lld has type %s, but its node list has the range [%lld, %lld)",
                    (long long)(first + e), type_table[d->type[e]].text, (long long)d->start[e],
                    (long long)d->start[e + 1]);
        for (tutti_count i = d->start[e]; i < d->start[e + 1]; i++)
            TUTTI_CHECK(d->node[i] >= 0 && d->node[i] < all_nodes, TUTTI_ERR_ARG,
                        "element %lld refers to node %lld, but the mesh has %lld nodes",
                        (long long)(first + e), (long long)d->node[i], (long long)all_nodes);
    }
    return TUTTI_OK;
}

/* ---- distributing, gathering */

/* Determine which of the n items of this rank, whose numbers begin with `first`, go to the slice of
 * each rank.  to_root: all items go to rank 0. */
static void find_bounds(const tutti__team *t, tutti_count n, tutti_count first, tutti_count all,
                        int to_root, tutti_count *bound) {
    bound[0] = 0;
    for (int r = 1; r <= t->size; r++) {
        const tutti_count b = tutti_size_share(all, t->size, r) - first;
        bound[r] = to_root ? n : tutti__max(0, tutti__min(n, b));
    }
}

/* Send nodes and elements to their slices, or all of them to rank 0 (to_root).
 * first: numbers of the first node and the first element of this rank */
static tutti_err move_data(tutti_mesh *m, tutti_err local_err, const tutti__mesh_data *from,
                           const tutti_count first[2], int to_root, tutti__mesh_data *to) {
    tutti__team *t = m->team;
    const size_t bytes = ((size_t)t->size + 1) * sizeof(tutti_count);
    tutti_count *nodes = tutti__malloc(bytes), *elements = tutti__malloc(bytes), entries = 0;
    const struct {
        tutti__outgoing out;
        tutti_count *n;
        void **to;
    } arrays[] = {
        {{3 * sizeof(double), from->coordinates, nodes, 0, NULL},
         &to->nodes,
         (void **)&to->coordinates},
        {{sizeof *from->tag, from->tag, nodes, 0, NULL}, &to->nodes, (void **)&to->tag},
        {{sizeof *from->type, from->type, elements, 0, NULL}, &to->elements, (void **)&to->type},
        {{sizeof *from->physical, from->physical, elements, 0, NULL},
         &to->elements,
         (void **)&to->physical},
        {{sizeof *from->entity, from->entity, elements, 0, NULL},
         &to->elements,
         (void **)&to->entity}};
    if (nodes && elements) {
        find_bounds(t, from->nodes, first[0], m->all_nodes, to_root, nodes);
        find_bounds(t, from->elements, first[1], m->all_elements, to_root, elements);
    } else {
        local_err = TUTTI_ERR_NOMEM;
    }
    tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && err == TUTTI_OK; i++)
        err = tutti__ranges_send(t, local_err, &arrays[i].out, arrays[i].n, arrays[i].to);
    if (err == TUTTI_OK) {
        to->start = tutti__malloc(((size_t)to->elements + 1) * sizeof *to->start);
        if (to->start) to->start[0] = 0;
        for (tutti_count e = 0; e < to->elements && to->start; e++)
            to->start[e + 1] = to->start[e] + tutti_mesh_type_nodes(to->type[e]);
        /* convert the bounds to entries of the node lists */
        for (int r = 0; r <= t->size; r++)
            elements[r] = from->elements > 0 ? from->start[elements[r]] : 0;
        const tutti__outgoing lists = {sizeof *from->node, from->node, elements, 0, NULL};
        err = tutti__ranges_send(t, to->start ? TUTTI_OK : TUTTI_ERR_NOMEM, &lists, &entries,
                                 (void **)&to->node);
    }
    tutti__free(nodes);
    tutti__free(elements);
    return err;
}

tutti_err tutti__mesh_distribute(tutti_mesh *m, tutti_err local_err,
                                 const tutti__mesh_data *given) {
    tutti__team *t = m->team;
    tutti_count all[2] = {given->nodes, given->elements}, first[2] = {0, 0};
    TUTTI_TRY(tutti__checksums_before(t, local_err, 2, all, first));
    m->all_nodes = all[0];
    m->all_elements = all[1];
    m->first_node = tutti_size_share(m->all_nodes, t->size, t->rank);
    m->first_element = tutti_size_share(m->all_elements, t->size, t->rank);
    return move_data(m, tutti__mesh_data_check(given, 0, m->all_nodes), given, first, 0, &m->own);
}

tutti_err tutti__mesh_gather(tutti_mesh *m, tutti__mesh_data *all_out) {
    const tutti_count first[2] = {m->first_node, m->first_element};
    tutti__mesh_data all = {.nodes = 0};
    const tutti_err err = move_data(m, TUTTI_OK, &m->own, first, 1, &all);
    if (err != TUTTI_OK) {
        tutti__mesh_data_free(&all);
        return err;
    }
    *all_out = all;
    return TUTTI_OK;
}

/* ---- the object */

const tutti__class tutti__mesh_class = {"mesh", "mesh", "freed"};

tutti_err tutti__mesh_begin(MPI_Comm comm, const tutti__call *c, const char *path,
                            tutti_err local_err, tutti_mesh **m_out) {
    tutti_mesh *m = NULL;
    int *uses = NULL;
    tutti__team *team = NULL;
    if (local_err == TUTTI_OK) {
        m = tutti__calloc(1, sizeof *m);
        uses = tutti__calloc(1, sizeof *uses);
        if (!m || !uses) local_err = TUTTI_ERR_NOMEM;
    }
    const tutti_err err = tutti__object_begin(comm, &tutti__mesh_class, c, path, local_err, &team);
    if (err != TUTTI_OK) {
        tutti__free(m);
        tutti__free(uses);
        return err;
    }
    TUTTI_ASSERT(m && uses);
    m->handle.class = &tutti__mesh_class;
    m->team = team;
    m->partitioned_by = -1;
    m->uses = uses;
    *uses = 1;
    *m_out = m;
    return TUTTI_OK;
}

void tutti__mesh_team_leave(tutti__team **t, int **uses) {
    if (--**uses > 0) return;
    tutti__free(*uses);
    tutti__team_give(t);
}

static void free_mesh(tutti_mesh *m) {
    tutti__handle_remove(&m->handle);
    tutti__mesh_data_free(&m->own);
    tutti__graph_free(&m->graph);
    tutti__mesh_team_leave(&m->team, &m->uses);
    tutti__free(m);
}

/* Only relations between fields are checked; node numbers and types were checked when the mesh was
 * made. */
int tutti__mesh_is_valid(const tutti_mesh *m) {
    const tutti__mesh_data *d = &m->own;
    const tutti__team *t = m->team;
    if (m->handle.class != &tutti__mesh_class || !t || !m->uses || *m->uses < 1) return 0;
    if (m->first_node != tutti_size_share(m->all_nodes, t->size, t->rank)) return 0;
    if (m->first_node + d->nodes != tutti_size_share(m->all_nodes, t->size, t->rank + 1)) return 0;
    if (m->first_element != tutti_size_share(m->all_elements, t->size, t->rank)) return 0;
    if (m->first_element + d->elements != tutti_size_share(m->all_elements, t->size, t->rank + 1))
        return 0;
    if (d->nodes > 0 && (!d->coordinates || !d->tag)) return 0;
    if (d->elements > 0 && (!d->type || !d->physical || !d->entity || !d->start || !d->node))
        return 0;
    for (tutti_count e = 0; e < d->elements; e++)
        if (d->start[e + 1] - d->start[e] != tutti_mesh_type_nodes(d->type[e])) return 0;
    if (d->groups < 0 || (d->groups > 0 && !d->group)) return 0;
    for (tutti_count i = 1; i < d->members; i++)
        if (tutti__mesh_by_membership(&d->member[i - 1], &d->member[i]) > 0) return 0;
    return !m->graph.start || m->graph.nodes == d->nodes;
}

tutti_err tutti__mesh_live(const tutti_mesh *m) {
    TUTTI_TRY(tutti__object_live(m, &tutti__mesh_class));
    TUTTI_ASSERT(tutti__mesh_is_valid(m));
    return TUTTI_OK;
}

tutti_err tutti__mesh_hand_over(tutti_mesh *m, tutti_err err, tutti_mesh **m_out) {
    if (err != TUTTI_OK) {
        if (m) free_mesh(m);
        return err;
    }
    tutti__handle_add(&m->handle, &tutti__mesh_class);
    TUTTI_ASSERT(tutti__mesh_is_valid(m));
    *m_out = m;
    return TUTTI_OK;
}

/* Check the arrays of the caller, and refer to them in `given`; omitted arrays get default values
 * in `extra`, which the caller frees. */
static tutti_err read_view(const tutti_mesh_view *v, tutti__mesh_data *given,
                           tutti__mesh_data *extra) {
    TUTTI_CHECK(v != NULL, TUTTI_ERR_ARG, "argument local is NULL");
    TUTTI_CHECK(v->nodes >= 0, TUTTI_ERR_ARG, "nodes is %lld: must be >= 0", (long long)v->nodes);
    TUTTI_CHECK(v->elements >= 0, TUTTI_ERR_ARG, "elements is %lld: must be >= 0",
                (long long)v->elements);
    TUTTI_CHECK(v->nodes == 0 || v->coordinates, TUTTI_ERR_ARG, "field coordinates is NULL");
    TUTTI_CHECK(v->elements == 0 || (v->type && v->start && v->node), TUTTI_ERR_ARG,
                "field %s is NULL",
                !v->type   ? "type"
                : v->start ? "node"
                           : "start");
    TUTTI_CHECK(v->elements == 0 || v->start[0] == 0, TUTTI_ERR_ARG, "start[0] is %lld: must be 0",
                (long long)v->start[0]);
    TUTTI_CHECK(tutti_size_fits(v->nodes, 3 * sizeof *v->coordinates, PTRDIFF_MAX), TUTTI_ERR_ARG,
                "nodes is %lld: coordinates do not fit in memory", (long long)v->nodes);
    TUTTI_CHECK(tutti_size_fits(v->elements, sizeof *v->start, PTRDIFF_MAX - 64), TUTTI_ERR_ARG,
                "elements is %lld: node lists do not fit in memory", (long long)v->elements);
    /* allocate first: if this fails, the caller's arrays are not read */
    extra->physical = tutti__calloc((size_t)v->elements + 1, sizeof *extra->physical);
    extra->tag = tutti__malloc((size_t)v->nodes * sizeof *extra->tag);
    if (!extra->physical || !extra->tag) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < 3 * v->nodes; i++)
        TUTTI_CHECK(__builtin_isfinite(v->coordinates[i]), TUTTI_ERR_ARG,
                    "node %lld of this rank has a coordinate that is not finite",
                    (long long)(i / 3));
    *given = (tutti__mesh_data){.nodes = v->nodes,
                                .elements = v->elements,
                                .coordinates = (double *)v->coordinates,
                                .tag = v->tag ? (int64_t *)v->tag : extra->tag,
                                .type = (uint8_t *)v->type,
                                .physical = v->physical ? (int32_t *)v->physical : extra->physical,
                                .entity = v->entity ? (int32_t *)v->entity : extra->physical,
                                .start = (tutti_count *)v->start,
                                .node = (tutti_count *)v->node};
    return TUTTI_OK;
}

tutti_err tutti_mesh_make(MPI_Comm comm, const tutti_mesh_view *local, tutti_mesh **m_out) {
    TUTTI_KEEP_ERRNO;
    tutti_mesh *m = NULL;
    tutti__mesh_data given = {.nodes = 0}, extra = given;
    tutti_count before = 0;
    tutti_err err = read_view(local, &given, &extra);
    tutti_count all = given.nodes;
    if (err == TUTTI_OK && !m_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument m_out is NULL");
    err = tutti__mesh_begin(comm, &(tutti__call){.name = "make"}, NULL, err, &m);
    if (err == TUTTI_OK) err = tutti__checksums_before(m->team, TUTTI_OK, 1, &all, &before);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(extra.tag || given.nodes == 0);
        for (tutti_count i = 0; i < given.nodes; i++) extra.tag[i] = before + i + 1;
        err = tutti__mesh_distribute(m, TUTTI_OK, &given);
    }
    tutti__mesh_data_free(&extra);
    return tutti__mesh_hand_over(m, err, m_out);
}

void tutti_mesh_free(tutti_mesh **m) {
    if (!m || !*m) return;
    if (tutti__handle_alive(&(*m)->handle, &tutti__mesh_class)) free_mesh(*m);
    *m = NULL;
}

tutti_err tutti_mesh_view_sized(const tutti_mesh *m, tutti_mesh_view *out, size_t struct_size) {
    TUTTI_TRY(tutti__mesh_live(m));
    TUTTI_CHECK(out != NULL, TUTTI_ERR_ARG, "argument out is NULL");
    const tutti__mesh_data *d = &m->own;
    const tutti_mesh_view v = {.nodes = d->nodes,
                               .first_node = m->first_node,
                               .coordinates = d->coordinates,
                               .tag = d->tag,
                               .elements = d->elements,
                               .first_element = m->first_element,
                               .type = d->type,
                               .physical = d->physical,
                               .entity = d->entity,
                               .start = d->start,
                               .node = d->node,
                               .all_nodes = m->all_nodes,
                               .all_elements = m->all_elements,
                               .memberships = d->members,
                               .membership = d->member};
    tutti__struct_copy(out, struct_size, &v, sizeof v);
    return TUTTI_OK;
}

int tutti_mesh_groups(const tutti_mesh *m, const tutti_mesh_group **groups_out) {
    if (tutti__mesh_live(m) != TUTTI_OK) return 0;
    if (groups_out) *groups_out = m->own.group;
    return m->own.groups;
}

static tutti_err check_groups(int n, const tutti_mesh_group *g) {
    TUTTI_CHECK(n >= 0, TUTTI_ERR_ARG, "n is %d: must be >= 0", n);
    TUTTI_CHECK(n == 0 || g, TUTTI_ERR_ARG, "argument groups is NULL, but n is %d", n);
    for (int i = 0; i < n; i++) {
        TUTTI_CHECK(g[i].dim >= 0 && g[i].dim <= 3, TUTTI_ERR_ARG,
                    "group %d has dimension %d: must be 0 to 3", i, g[i].dim);
        TUTTI_CHECK(memchr(g[i].name, '\0', sizeof g[i].name), TUTTI_ERR_ARG,
                    "name of group %d is not terminated", i);
        TUTTI_CHECK(!strpbrk(g[i].name, "\"\n\r"), TUTTI_ERR_ARG,
                    "name of group %d contains a quotation mark or a line break", i);
    }
    return TUTTI_OK;
}

tutti_err tutti_mesh_set_groups(tutti_mesh *m, int n, const tutti_mesh_group *groups) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    tutti_mesh_group *copy = NULL;
    tutti_err err = check_groups(n, groups);
    uint64_t h = tutti__hash(TUTTI__HASH_START, &n, sizeof n);
    if (err == TUTTI_OK) {
        copy = tutti__calloc((size_t)n + 1, sizeof *copy);
        if (!copy) err = TUTTI_ERR_NOMEM;
    }
    for (int i = 0; i < n && err == TUTTI_OK; i++) {
        copy[i].dim = groups[i].dim;
        copy[i].tag = groups[i].tag;
        memcpy(copy[i].name, groups[i].name, strlen(groups[i].name) + 1);
        h = tutti__hash(h, &copy[i], sizeof copy[i]);
    }
    err = tutti__object_call(
        &m->object, &(tutti__call){.name = "set_groups", .what = "the groups", .hash = h}, err);
    if (err != TUTTI_OK) {
        tutti__free(copy);
        return err;
    }
    tutti__free(m->own.group);
    m->own.group = copy;
    m->own.groups = n;
    return TUTTI_OK;
}
