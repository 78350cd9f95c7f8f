/* tutti import of a Gmsh mesh.  Physical groups of the highest dimension become blocks (one for each type of
 * elements); those of one dimension less become side sets and node sets; all others node sets.  An element of
 * several groups is in the block of its first group.  A group of the highest dimension that is not the first
 * group of all its elements also becomes an element set with all of them.
 *
 * Every rank has all elements of its own nodes (mesh.h: parts).  A boundary element belongs to the rank that
 * owns its first node.  That rank has all elements of the node, so that the adjacent element is found without
 * communication.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

/* Exodus topologies of element types: [0] if the space has the dimension of the element, [1] if it
 * has more. */
static const char *const topology_table[TUTTI_MESH_TYPES][2] = {
    [TUTTI_MESH_POINT] = {"SPHERE", "SPHERE"},     [TUTTI_MESH_LINE] = {"BAR2", "BAR2"},
    [TUTTI_MESH_TRIANGLE] = {"TRI3", "TRISHELL3"}, [TUTTI_MESH_QUAD] = {"QUAD4", "SHELL4"},
    [TUTTI_MESH_TET] = {"TETRA4", "TETRA4"},       [TUTTI_MESH_HEX] = {"HEX8", "HEX8"},
    [TUTTI_MESH_PRISM] = {"WEDGE6", "WEDGE6"},     [TUTTI_MESH_PYRAMID] = {"PYRAMID5", "PYRAMID5"},
};

enum { CORNERS = 4 }; /* maximum corners of a side */

/* The group that a new block or set is made from. */
typedef struct {
    int dim, physical, type; /* type: element type, for blocks only */
    int further;             /* groups_gather: 1: not the first group of an element */
    int64_t id;
} group;

/* The groups of an element: `first`, and n further ones. */
typedef struct {
    int first;
    tutti_count n; /* number of further groups */
    const tutti_mesh_membership *more;
} group_list;

/* A boundary element; `node`: its node numbers in ascending order. */
typedef struct {
    tutti_count node[CORNERS];
    tutti_count element; /* local index of the adjacent element; -1: none yet */
    int side;            /* side of the adjacent element; 0: none found yet */
    int set;
} facet;

typedef struct {
    const cli_world *world;
    tutti_mesh *mesh;
    tutti_mesh_part *part;
    tutti_mesh_part_view v;
    int dim, dims; /* dimension of the elements; dimension of space */
    int blocks_n, sides_n, nodes_n, elements_n;
    group *block, *side, *node, *element; /* groups of blocks and sets */
    tutti_count memberships;
    const tutti_mesh_membership *membership;
    /* number of runs of consecutive elements of the highest dimension, in the order of the file */
    tutti_count runs;
    tutti_count (*run)[3]; /* [runs] first element, count, count in all previous runs */
    /* the mesh of this rank.  place: [elements] index among the elements of all blocks; -1:
     * boundary element */
    tutti_count *place;
    exodus_outline o;
    int name_length; /* length of the longest name */
    tutti_exodus_mesh m;
    void **kept;
    int keeps;
} gmsh;

/* ---- the groups of an element */

static int by_membership(const tutti_mesh_membership *x, int dim, int entity, int physical) {
    if (x->dim != dim) return x->dim < dim ? -1 : 1;
    if (x->entity != entity) return x->entity < entity ? -1 : 1;
    return (x->physical > physical) - (x->physical < physical);
}

static group_list groups_of(const gmsh *g, int dim, int entity, int physical) {
    tutti_count lo = 0, hi = g->memberships;
    while (lo < hi) {
        const tutti_count mid = (lo + hi) / 2;
        if (by_membership(&g->membership[mid], dim, entity, physical) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (hi < g->memberships && by_membership(&g->membership[hi], dim, entity, physical) == 0)
        hi++;
    return (group_list){.first = physical, .n = hi - lo, .more = g->membership + lo};
}

/* Return group k of an element; 0 is the first. */
static int group_at(const group_list *l, tutti_count k) {
    return k == 0 ? l->first : l->more[k - 1].tag;
}

/* Return whether element i of the part has the dimension and group x. */
static int is_in(const gmsh *g, tutti_count i, const group *x) {
    const tutti_mesh_part_view *v = &g->v;
    if (tutti_mesh_type_dim(v->type[i]) != x->dim) return 0;
    const group_list l = groups_of(g, x->dim, v->entity[i], v->physical[i]);
    for (tutti_count k = 0; k <= l.n; k++)
        if (group_at(&l, k) == x->physical) return 1;
    return 0;
}

/* ---- the groups of all ranks, in the same order on all ranks */

static int compare_groups(const void *a, const void *b) {
    const group *x = a, *y = b;
    if (x->dim != y->dim) return y->dim - x->dim;
    if (x->physical != y->physical) return x->physical < y->physical ? -1 : 1;
    if (x->type != y->type) return x->type - y->type;
    return x->further - y->further;
}

static int groups_unite(group *v, int n) {
    int m = 0;
    if (n > 0) qsort(v, (size_t)n, sizeof *v, compare_groups);
    for (int i = 0; i < n; i++)
        if (m == 0 || compare_groups(&v[m - 1], &v[i]) != 0) v[m++] = v[i];
    return m;
}

/* A list of groups; duplicates are removed when the list is full. */
typedef struct {
    group *v;
    int n, capacity;
} group_set;

/* Gather all combinations (dimension, group, type, first or further) of elements, on all ranks. */
static group *groups_gather(gmsh *g, int *n_out) {
    tutti_mesh_view v = {.elements = 0};
    if (tutti_mesh_view_get(g->mesh, &v) != TUTTI_OK) return NULL;
    group_set s = {.n = 0};
    g->memberships = v.memberships;
    g->membership = v.membership;
    for (tutti_count i = 0; i < v.elements; i++) {
        const int dim = tutti_mesh_type_dim(v.type[i]);
        /* Skip an element that has the type, entity and group of the previous element. */
        if (i > 0 && v.type[i] == v.type[i - 1] && v.entity[i] == v.entity[i - 1] &&
            v.physical[i] == v.physical[i - 1])
            continue;
        const group_list l = groups_of(g, dim, v.entity[i], v.physical[i]);
        for (tutti_count k = 0; k <= l.n; k++) {
            group x = (group){
                .dim = dim, .physical = group_at(&l, k), .type = v.type[i], .further = k > 0};
            if (!(s.n > 0 && compare_groups(&s.v[s.n - 1], &x) == 0)) {
                if (s.n == s.capacity) {
                    s.n = groups_unite(s.v, s.n);
                    s.capacity = 2 * s.n + 64;
                    s.v = cli_realloc(s.v, (size_t)s.capacity * sizeof *s.v);
                }
                s.v[s.n++] = x;
            }
        }
    }
    int all = 0;
    group *out = cli_gather(g->world, s.v, groups_unite(s.v, s.n), sizeof *out, &all);
    *n_out = groups_unite(out, all);
    free(s.v);
    return out;
}

/* Add a block or set.  In pass 0, the first group with each positive tag gets the tag as id; in
 * pass 1, the other groups get higher ids. */
static void group_add(group **v, int *n, group x, int pass) {
    int64_t most = 0;
    int is_taken = x.physical < 1;
    for (int i = 0; i < *n; i++) {
        is_taken |= (*v)[i].id == x.physical;
        if ((*v)[i].dim == x.dim && (*v)[i].physical == x.physical && (*v)[i].type == x.type)
            return;
        if ((*v)[i].id > most) most = (*v)[i].id;
    }
    if (is_taken != pass) return;
    *v = cli_realloc(*v, ((size_t)*n + 1) * sizeof **v);
    x.id = pass ? most + 1 : x.physical;
    (*v)[(*n)++] = x;
}

static int groups_make(gmsh *g) {
    int n = 0;
    group *all = groups_gather(g, &n);
    if (!all) return cli_error_tutti();
    g->dim = n > 0 ? all[0].dim : 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            group x = all[i];
            if (x.dim == g->dim && !x.further) group_add(&g->block, &g->blocks_n, x, pass);
            x.type = 0;
            if (x.dim == g->dim && x.further) group_add(&g->element, &g->elements_n, x, pass);
            if (x.dim == g->dim || x.physical < 1) continue;
            if (x.dim == g->dim - 1) group_add(&g->side, &g->sides_n, x, pass);
            group_add(&g->node, &g->nodes_n, x, pass);
        }
    free(all);
    if (g->blocks_n == 0) return cli_error("mesh has no elements");
    return 0;
}

static int group_of(const group *v, int n, int dim, int physical, int type) {
    for (int i = 0; i < n; i++)
        if (v[i].dim == dim && v[i].physical == physical && v[i].type == type) return i;
    return -1;
}

/* ---- the outline */

static int is_used(const gmsh *g, tutti_exodus_kind kind, const char *name) {
    const exodus_table *t = &g->o.of[kind];
    for (tutti_count i = 0; i < t->n; i++)
        if (strcmp(t->entity[i].name, name) == 0) return 1;
    return 0;
}

/* Return the name of a group, made unique among entities of this kind by the type of the elements, or a
 * number. */
static char *unique_name(const gmsh *g, tutti_exodus_kind kind, const group *x) {
    const tutti_mesh_group *named;
    const char *name = "";
    for (int i = tutti_mesh_groups(g->mesh, &named) - 1; i >= 0; i--)
        if (named[i].dim == x->dim && named[i].tag == x->physical) name = named[i].name;
    char *out = cli_strdup(name);
    for (int i = 1; out[0] && is_used(g, kind, out); i++) {
        free(out);
        out = i == 1 && exodus_is_block(kind)
                  ? cli_format("%s_%s", name, tutti_mesh_type_name(x->type))
                  : cli_format("%s_%d", name, i + 1);
    }
    return out;
}

static void entities_make(gmsh *g, tutti_exodus_kind kind, const group *v, int n) {
    const int in_space = g->dims > g->dim;
    for (int i = 0; i < n; i++) {
        char *name = unique_name(g, kind, &v[i]);
        if ((int)strlen(name) > g->name_length) g->name_length = (int)strlen(name);
        const tutti_exodus_entity e = {
            .kind = kind,
            .id = v[i].id,
            .name = name,
            .topology = exodus_is_block(kind) ? topology_table[v[i].type][in_space] : "",
            .nodes = exodus_is_block(kind) ? tutti_mesh_type_nodes(v[i].type) : 0};
        (void)exodus_outline_add(&g->o, &e);
        free(name);
    }
}

/* ---- ids of elements: elements of the highest dimension are numbered from 1, in the order of the file */

static int runs_make(gmsh *g) {
    tutti_mesh_view v = {.elements = 0};
    if (tutti_mesh_view_get(g->mesh, &v) != TUTTI_OK) return cli_error_tutti();
    tutti_count n = 0, (*local)[3] = NULL;
    for (tutti_count i = 0; v.type && i < v.elements; i++) {
        if (tutti_mesh_type_dim(v.type[i]) != g->dim) continue;
        const tutti_count at = v.first_element + i;
        if (n > 0 && local[n - 1][0] + local[n - 1][1] == at) {
            local[n - 1][1]++;
            continue;
        }
        if ((n & (n + 1)) == 0) local = cli_realloc(local, 2 * ((size_t)n + 1) * sizeof *local);
        local[n][0] = at;
        local[n][1] = 1;
        local[n++][2] = 0;
    }
    int all = 0;
    g->run = cli_gather(g->world, local, (int)n, sizeof *g->run, &all);
    g->runs = all;
    tutti_count before = 0;
    for (tutti_count i = 0; i < g->runs; before += g->run[i++][1]) g->run[i][2] = before;
    free(local);
    return 0;
}

/* ---- this rank's mesh */

static int assign_block(const gmsh *g, tutti_count i) {
    return group_of(g->block, g->blocks_n, g->dim, g->v.physical[i], g->v.type[i]);
}

static void make_element_blocks(gmsh *g) {
    const tutti_mesh_part_view *v = &g->v;
    tutti_exodus_elements *b = cli_keep(&g->kept, &g->keeps, (size_t)g->blocks_n * sizeof *b);
    tutti_count place = 0;
    g->place = cli_keep(&g->kept, &g->keeps, (size_t)v->elements * sizeof *g->place);
    for (tutti_count i = 0; i < v->elements; i++) g->place[i] = -1;
    for (int k = 0; k < g->blocks_n; k++) {
        const int wide = tutti_mesh_type_nodes(g->block[k].type);
        tutti_count n = 0;
        for (tutti_count i = 0; i < v->elements; i++)
            n += tutti_mesh_type_dim(v->type[i]) == g->dim && assign_block(g, i) == k;
        int64_t *id = cli_keep(&g->kept, &g->keeps, (size_t)n * sizeof *id);
        tutti_count *node = cli_keep(&g->kept, &g->keeps, (size_t)(n * wide) * sizeof *node);
        n = 0;
        for (tutti_count i = 0; i < v->elements; i++) {
            if (tutti_mesh_type_dim(v->type[i]) != g->dim || assign_block(g, i) != k) continue;
            for (int j = 0; j < wide; j++) node[n * wide + j] = v->node[v->start[i] + j];
            tutti_count lo = 0, hi = g->runs;
            while (hi - lo > 1) {
                const tutti_count mid = (lo + hi) / 2;
                if (g->run[mid][0] <= v->element[i])
                    lo = mid;
                else
                    hi = mid;
            }
            id[n++] = g->run[lo][2] + v->element[i] - g->run[lo][0] + 1;
            g->place[i] = place++;
        }
        b[k] = (tutti_exodus_elements){.n = n, .ids = id, .nodes = node};
    }
    g->m.blocks = b;
}

/* ---- side sets */

static int by_nodes(const void *a, const void *b) {
    const facet *x = a, *y = b;
    for (int i = 0; i < CORNERS; i++)
        if (x->node[i] != y->node[i]) return x->node[i] < y->node[i] ? -1 : 1;
    return 0;
}

static void facet_nodes(facet *f, int n) {
    for (int i = n; i < CORNERS; i++) f->node[i] = -1;
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && f->node[j - 1] > f->node[j]; j--) {
            const tutti_count t = f->node[j];
            f->node[j] = f->node[j - 1];
            f->node[j - 1] = t;
        }
}

/* List the boundary elements that this rank owns. */
static tutti_count facets_find(gmsh *g, facet **out) {
    const tutti_mesh_part_view *v = &g->v;
    tutti_count n = 0, capacity = v->elements;
    *out = cli_malloc((size_t)capacity * sizeof **out);
    for (tutti_count i = 0; i < v->elements; i++) {
        const int dim = tutti_mesh_type_dim(v->type[i]), nodes = tutti_mesh_type_nodes(v->type[i]);
        if (dim != g->dim - 1 || !v->element_own[i]) continue;
        const group_list l = groups_of(g, dim, v->entity[i], v->physical[i]);
        for (tutti_count j = 0; j <= l.n; j++) {
            const int set = group_of(g->side, g->sides_n, dim, group_at(&l, j), 0);
            if (set < 0) continue;
            if (n == capacity)
                *out = cli_realloc(*out, (size_t)(capacity = 2 * capacity + 64) * sizeof **out);
            facet *f = &(*out)[n++];
            *f = (facet){.element = -1, .set = set};
            for (int k = 0; k < nodes; k++) f->node[k] = v->number[v->node[v->start[i] + k]];
            facet_nodes(f, nodes);
        }
    }
    if (n > 0) qsort(*out, (size_t)n, sizeof **out, by_nodes);
    return n;
}

/* Assign an element to the boundary elements with the nodes of `key`.  If two elements share a facet, that
 * with the lower id is chosen on all ranks. */
static void assign_facet(gmsh *g, facet *f, tutti_count n, const facet *key, tutti_count element,
                         int side) {
    facet *at = n > 0 ? bsearch(key, f, (size_t)n, sizeof *f, by_nodes) : NULL;
    if (!at) return;
    /* a facet in several groups occurs several times */
    while (at > f && by_nodes(at - 1, key) == 0) at--;
    for (; at < f + n && by_nodes(at, key) == 0; at++) {
        if (at->side > 0 && g->v.element[at->element] <= g->v.element[element]) continue;
        at->element = element;
        at->side = side;
    }
}

static void sides_make(gmsh *g) {
    facet *f = NULL;
    const tutti_count n = facets_find(g, &f);
    tutti_exodus_members *sets = cli_keep(&g->kept, &g->keeps, (size_t)g->sides_n * sizeof *sets);
    double lost = 0;
    const tutti_mesh_part_view *v = &g->v;
    for (tutti_count i = 0; i < v->elements; i++) {
        if (g->place[i] < 0) continue;
        const char *topology = topology_table[v->type[i]][g->dims > g->dim];
        const int nodes = tutti_mesh_type_nodes(v->type[i]);
        const int sides = tutti_exodus_topology_sides(topology, nodes, g->dims);
        for (int s = 1; s <= sides; s++) {
            int which[9];
            facet key = {.side = 0};
            const int wide = tutti_exodus_side_nodes(topology, nodes, g->dims, s, which);
            if (wide < 1 || wide > CORNERS) continue;
            for (int k = 0; k < wide; k++) key.node[k] = v->number[v->node[v->start[i] + which[k]]];
            facet_nodes(&key, wide);
            assign_facet(g, f, n, &key, i, s);
        }
    }
    for (int k = 0; k < g->sides_n; k++) {
        tutti_count *member = cli_keep(&g->kept, &g->keeps, (size_t)n * sizeof *member), count = 0;
        int *side = cli_keep(&g->kept, &g->keeps, (size_t)n * sizeof *side);
        for (tutti_count i = 0; i < n; i++) {
            if (f[i].set != k) continue;
            lost += f[i].side == 0;
            if (f[i].side == 0) continue;
            member[count] = g->place[f[i].element];
            side[count++] = f[i].side;
        }
        sets[k] = (tutti_exodus_members){.n = count, .members = member, .sides = side};
    }
    g->m.side_sets = g->sides_n > 0 ? sets : NULL;
    free(f);
    cli_sums(g->world, 1, &lost);
    if (lost > 0 && g->world->rank == 0)
        fprintf(stderr,
                "tutti import: ignored %.0f boundary elements that match no side of an element\n",
                lost);
}

static void node_sets_make(gmsh *g) {
    const tutti_mesh_part_view *v = &g->v;
    tutti_exodus_members *sets = cli_keep(&g->kept, &g->keeps, (size_t)g->nodes_n * sizeof *sets);
    unsigned char *in = cli_malloc((size_t)v->nodes);
    for (int k = 0; k < g->nodes_n; k++) {
        tutti_count *member = cli_keep(&g->kept, &g->keeps, (size_t)v->nodes * sizeof *member),
                    n = 0;
        memset(in, 0, (size_t)v->nodes);
        for (tutti_count i = 0; i < v->elements; i++)
            if (is_in(g, i, &g->node[k]))
                for (tutti_count j = v->start[i]; j < v->start[i + 1]; j++) in[v->node[j]] = 1;
        for (tutti_count i = 0; i < v->nodes; i++)
            if (in[i]) member[n++] = i;
        sets[k] = (tutti_exodus_members){.n = n, .members = member};
    }
    g->m.node_sets = g->nodes_n > 0 ? sets : NULL;
    free(in);
}

/* ---- import */

static int hand_out(gmsh *g) {
    tutti_mesh_view v = {.elements = 0};
    if (tutti_mesh_view_get(g->mesh, &v) != TUTTI_OK) return cli_error_tutti();
    int *of = cli_malloc((size_t)v.nodes * sizeof *of);
    tutti_err err = tutti_mesh_partition(g->mesh, g->world->ranks, TUTTI_MESH_BY_CURVE, NULL, of);
    if (err == TUTTI_OK) err = tutti_mesh_part_make(g->mesh, of, &g->part);
    if (err == TUTTI_OK) err = tutti_mesh_part_get(g->part, &g->v);
    free(of);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static int write_file(gmsh *g, const data_config *c, const char *path) {
    tutti_exodus_options opt;
    tutti_exodus *x = NULL;
    cli_staged staged;
    exodus_options_of(c, &opt);
    if (g->name_length > opt.name_length) opt.name_length = g->name_length;
    if (cli_stage_begin(g->world, path, c->force, &staged)) return 1;
    int failed = exodus_file_make(g->world->comm, staged.write_to, &opt, &g->o, &g->m, &x);
    if (x && tutti_exodus_close(&x) != TUTTI_OK && !failed) failed = cli_error_tutti();
    return cli_stage_end(g->world, &staged, failed);
}

int exodus_from_gmsh(const cli_world *w, const data_config *c, const char *from, const char *to) {
    gmsh g = {.world = w};
    if (tutti_mesh_open(w->comm, from, NULL, &g.mesh) != TUTTI_OK) return cli_error_tutti();
    int failed = groups_make(&g) || runs_make(&g) || hand_out(&g);
    if (!failed) {
        /* Trailing dimensions whose coordinates are all 0 are omitted, but not below the dimension of the
         * elements. */
        int used = g.dim > 0 ? g.dim : 1;
        for (tutti_count i = 0; i < g.v.nodes; i++)
            for (int d = used; d < 3; d++)
                if (g.v.coordinates[3 * i + d] != 0 && d + 1 > used) used = d + 1;
        MPI_Allreduce(&used, &g.dims, 1, MPI_INT, MPI_MAX, g.world->comm);
        static const char *const names[3] = {"x", "y", "z"};
        g.o.title = cli_format("%.80s", cli_base_name(from));
        g.o.p = (tutti_exodus_parameters){.title = g.o.title, .dims = g.dims};
        for (int d = 0; d < g.dims && d < 3; d++) g.o.coordinate[d] = cli_strdup(names[d]);
        entities_make(&g, TUTTI_EXODUS_ELEMENT_BLOCK, g.block, g.blocks_n);
        entities_make(&g, TUTTI_EXODUS_SIDE_SET, g.side, g.sides_n);
        entities_make(&g, TUTTI_EXODUS_NODE_SET, g.node, g.nodes_n);
        entities_make(&g, TUTTI_EXODUS_ELEMENT_SET, g.element, g.elements_n);
        {
            const tutti_mesh_part_view *v = &g.v;
            g.m.nodes = v->nodes;
            g.m.node_ids = v->tag;
            g.m.own = v->own;
            g.m.type = TUTTI_FLOAT64;
            for (int d = 0; d < g.dims; d++) {
                double *x = cli_keep(&g.kept, &g.keeps, (size_t)v->nodes * sizeof *x);
                for (tutti_count i = 0; i < v->nodes; i++) x[i] = v->coordinates[3 * i + d];
                g.m.coordinates[d] = x;
            }
        }
        make_element_blocks(&g);
        sides_make(&g);
        node_sets_make(&g);
        const tutti_mesh_part_view *v = &g.v;
        tutti_exodus_members *sets =
            cli_keep(&g.kept, &g.keeps, (size_t)g.elements_n * sizeof *sets);
        for (int k = 0; k < g.elements_n; k++) {
            tutti_count *member = cli_keep(&g.kept, &g.keeps, (size_t)v->elements * sizeof *member),
                        n = 0;
            for (tutti_count i = 0; i < v->elements; i++)
                if (v->element_own[i] && is_in(&g, i, &g.element[k])) member[n++] = g.place[i];
            sets[k] = (tutti_exodus_members){.n = n, .members = member};
        }
        g.m.element_sets = g.elements_n > 0 ? sets : NULL;
        failed = write_file(&g, c, to);
    }
    for (int i = 0; i < g.keeps; i++) free(g.kept[i]);
    free(g.kept);
    free(g.run);
    free(g.block);
    free(g.side);
    free(g.node);
    free(g.element);
    exodus_outline_free(&g.o);
    tutti_mesh_part_free(&g.part);
    tutti_mesh_free(&g.mesh);
    return failed;
}
