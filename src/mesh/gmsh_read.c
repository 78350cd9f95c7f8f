/* mesh: reading of the Gmsh formats 4.1 and 2.2, text and binary, by one rank.
 *
 * A file is a sequence of sections, $Name ... $EndName.  The reader uses MeshFormat (first),
 * PhysicalNames, Entities and PartitionedEntities (4.1: the physical groups), Nodes and Elements
 * (which must follow Nodes, so that missing nodes are reported with their position), and skips
 * other sections.  Arrays grow with the data that has been read, so that an invalid count allocates
 * no memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/gmsh_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node tag with the index of the node.  Nodes are found in a table if tags are dense, otherwise
 * in sorted pairs. */
typedef struct {
    int64_t tag;
    tutti_count at;
} tagged;

typedef struct {
    tutti__scan scan;
    int version; /* 41 or 22 */
    int seen_nodes, seen_elements;
    tutti__mesh_data d;
    size_t nodes_capacity, elements_capacity, entries_capacity;
    size_t groups_capacity;
    int seen_entities[2]; /* $Entities, $PartitionedEntities */
    tutti__gmsh_entities entities;
    tutti__gmsh_repeats repeats;
    size_t members_capacity;
    int64_t low;        /* tag of the first entry of `table` */
    tutti_count *table; /* [n_table] index of each node by tag, or -1; NULL: use `sorted` */
    tutti_count n_table;
    tagged *sorted; /* [d.nodes] pairs sorted by tag */
} reader;

/* Ensure capacity for another node in all arrays of nodes, which have the same capacity. */
static tutti_err grow_nodes(reader *r) {
    tutti__mesh_data *d = &r->d;
    size_t capacity = r->nodes_capacity;
    TUTTI_TRY(tutti__grow(&d->coordinates, (size_t)(d->nodes + 1), &capacity,
                          3 * sizeof *d->coordinates));
    return tutti__grow(&d->tag, (size_t)(d->nodes + 1), &r->nodes_capacity, sizeof *d->tag);
}

static tutti_err grow_elements(reader *r, int nodes) {
    tutti__mesh_data *d = &r->d;
    size_t a = r->elements_capacity, b = a, c = a;
    const tutti_count n = d->elements + 2;
    const tutti_count used = d->elements > 0 ? d->start[d->elements] : 0;
    TUTTI_TRY(tutti__grow(&d->type, (size_t)(n), &a, sizeof *d->type));
    TUTTI_TRY(tutti__grow(&d->physical, (size_t)(n), &b, sizeof *d->physical));
    TUTTI_TRY(tutti__grow(&d->entity, (size_t)(n), &c, sizeof *d->entity));
    TUTTI_TRY(tutti__grow(&d->start, (size_t)(n), &r->elements_capacity, sizeof *d->start));
    return tutti__grow(&d->node, (size_t)(used + nodes), &r->entries_capacity, sizeof *d->node);
}

/* ---- tags */

static int compare_tags(const void *a, const void *b) {
    const tagged *x = a, *y = b;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static tutti_err index_nodes(reader *r) {
    const tutti__mesh_data *d = &r->d;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (tutti_count i = 0; i < d->nodes; i++) {
        low = tutti__min(low, d->tag[i]);
        high = tutti__max(high, d->tag[i]);
    }
    if (d->nodes > 0 && high - low < 4 * d->nodes + 1024) {
        r->low = low;
        r->n_table = high - low + 1;
        r->table = tutti__malloc((size_t)r->n_table * sizeof *r->table);
        if (!r->table) return TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < r->n_table; i++) r->table[i] = -1;
        for (tutti_count i = 0; i < d->nodes; i++) {
            tutti_count *at = &r->table[d->tag[i] - low];
            if (*at >= 0)
                TUTTI_SCAN_FAIL(&r->scan, "duplicate node tag %lld", (long long)d->tag[i]);
            *at = i;
        }
        return TUTTI_OK;
    }
    r->sorted = tutti__malloc((size_t)d->nodes * sizeof *r->sorted);
    if (!r->sorted) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < d->nodes; i++) r->sorted[i] = (tagged){d->tag[i], i};
    qsort(r->sorted, (size_t)d->nodes, sizeof *r->sorted, compare_tags);
    for (tutti_count i = 1; i < d->nodes; i++)
        if (r->sorted[i].tag == r->sorted[i - 1].tag)
            TUTTI_SCAN_FAIL(&r->scan, "duplicate node tag %lld", (long long)r->sorted[i].tag);
    return TUTTI_OK;
}

static tutti_err find_node(const reader *r, int64_t tag, tutti_count *out) {
    tutti_count at = -1;
    if (r->table) {
        if (tag >= r->low && tag - r->low < r->n_table) at = r->table[tag - r->low];
    } else {
        const tagged key = {tag, 0};
        const tagged *found =
            bsearch(&key, r->sorted, (size_t)r->d.nodes, sizeof *r->sorted, compare_tags);
        if (found) at = found->at;
    }
    if (at < 0)
        TUTTI_SCAN_FAIL(&r->scan, "element refers to node %lld, which does not exist",
                        (long long)tag);
    *out = at;
    return TUTTI_OK;
}

/* ---- parts of a section */

static tutti_err put_node(reader *r, int64_t tag, const double *x) {
    tutti__mesh_data *d = &r->d;
    if (tag < 0) TUTTI_SCAN_FAIL(&r->scan, "node tag is %lld: must be >= 1", (long long)tag);
    TUTTI_TRY(grow_nodes(r));
    d->tag[d->nodes] = tag;
    if (x) memcpy(d->coordinates + 3 * d->nodes, x, 3 * sizeof *x);
    d->nodes++;
    return TUTTI_OK;
}

/* Convert an element type of Gmsh to TUTTI_MESH_*. */
static tutti_err find_type(const reader *r, int32_t gmsh, int *type_out) {
    static const int number[TUTTI_MESH_TYPES] = {
#define GMSH_NUMBER(name, dim, nodes, gmsh, text) gmsh,
        TUTTI_ELEMENT_TABLE(GMSH_NUMBER)
#undef GMSH_NUMBER
    };
    for (int t = 0; t < TUTTI_MESH_TYPES; t++)
        if (number[t] == gmsh) {
            *type_out = t;
            return TUTTI_OK;
        }
    return tutti__scan_bad(&r->scan,
                           gmsh > 0 && gmsh < 200 ? TUTTI_ERR_UNSUPPORTED : TUTTI_ERR_FORMAT,
                           "unsupported element type %d: only linear elements are read", (int)gmsh);
}

static tutti_err put_element(reader *r, int type, int32_t physical, int32_t entity_tag,
                             const int64_t *tags) {
    tutti__mesh_data *d = &r->d;
    const int n = tutti_mesh_type_nodes(type);
    TUTTI_TRY(grow_elements(r, n));
    const tutti_count e = d->elements;
    if (e == 0) d->start[0] = 0;
    d->type[e] = (uint8_t)type;
    d->physical[e] = physical < 0 && physical > INT32_MIN ? -physical : physical;
    d->entity[e] = entity_tag;
    d->start[e + 1] = d->start[e] + n;
    for (int i = 0; i < n; i++) TUTTI_TRY(find_node(r, tags[i], &d->node[d->start[e] + i]));
    d->elements++;
    return TUTTI_OK;
}

static tutti_err read_names(reader *r) {
    tutti__scan *s = &r->scan;
    tutti__mesh_data *d = &r->d;
    int64_t n = 0;
    TUTTI_TRY(tutti__scan_int(s, &n));
    TUTTI_TRY(tutti__scan_fits(s, n, 7, "names"));
    for (int64_t i = 0; i < n; i++) {
        int64_t dim = 0, tag = 0;
        TUTTI_TRY(
            tutti__grow(&d->group, (size_t)d->groups + 1, &r->groups_capacity, sizeof *d->group));
        tutti_mesh_group *g = &d->group[d->groups];
        memset(g, 0, sizeof *g);
        TUTTI_TRY(tutti__scan_int(s, &dim));
        TUTTI_TRY(tutti__scan_int(s, &tag));
        if (dim < 0 || dim > 3)
            TUTTI_SCAN_FAIL(s, "physical group %lld has dimension %lld: must be 0 to 3",
                            (long long)tag, (long long)dim);
        if (tag < INT32_MIN || tag > INT32_MAX)
            TUTTI_SCAN_FAIL(s, "physical group has tag %lld: exceeds 32 bits", (long long)tag);
        g->dim = (int)dim;
        g->tag = (int)tag;
        TUTTI_TRY(tutti__scan_quoted(s, g->name, sizeof g->name));
        d->groups++;
    }
    return TUTTI_OK;
}

/* ---- 4.1 */

/* Header of a block of nodes or elements: dimension and tag of the entity, a number (nodes:
 * parametric, elements: type), number of items. */
typedef struct {
    int32_t dim, tag, third;
    int64_t n;
} block;

static tutti_err read_block(reader *r, int64_t left, int least, const char *what, block *b) {
    tutti__scan *s = &r->scan;
    TUTTI_TRY(tutti__scan_i32(s, &b->dim));
    TUTTI_TRY(tutti__scan_i32(s, &b->tag));
    TUTTI_TRY(tutti__scan_i32(s, &b->third));
    TUTTI_TRY(tutti__scan_i64(s, &b->n));
    if (b->dim < 0 || b->dim > 3)
        TUTTI_SCAN_FAIL(s, "entity has dimension %d: must be 0 to 3", (int)b->dim);
    if (b->n < 0 || b->n > left)
        TUTTI_SCAN_FAIL(s, "block has %lld %s, but only %lld are left in the section",
                        (long long)b->n, what, (long long)left);
    return tutti__scan_fits(s, b->n, least, what);
}

/* Read the header of a section: number of blocks, number of items, lowest and highest tag. */
static tutti_err read_counts(reader *r, int least, const char *what, int64_t *blocks, int64_t *n) {
    tutti__scan *s = &r->scan;
    int64_t ignored = 0;
    TUTTI_TRY(tutti__scan_i64(s, blocks));
    TUTTI_TRY(tutti__scan_i64(s, n));
    TUTTI_TRY(tutti__scan_i64(s, &ignored));
    TUTTI_TRY(tutti__scan_i64(s, &ignored));
    TUTTI_TRY(tutti__scan_fits(s, *blocks, 8, "blocks"));
    return tutti__scan_fits(s, *n, least, what);
}

static tutti_err read_nodes_41(reader *r) {
    tutti__scan *s = &r->scan;
    int64_t blocks = 0, n = 0;
    TUTTI_TRY(read_counts(r, 8, "nodes", &blocks, &n));
    for (int64_t k = 0; k < blocks; k++) {
        block b;
        const tutti_count first = r->d.nodes;
        TUTTI_TRY(read_block(r, n - first, 8, "nodes", &b));
        for (int64_t i = 0; i < b.n; i++) {
            int64_t tag = 0;
            TUTTI_TRY(tutti__scan_i64(s, &tag));
            TUTTI_TRY(put_node(r, tag, NULL));
        }
        /* number of parametric coordinates, which are ignored */
        const int more = b.third ? b.dim : 0;
        for (int64_t i = 0; i < b.n; i++) {
            double x[6];
            TUTTI_TRY(tutti__scan_f64(s, 3 + more, x));
            memcpy(r->d.coordinates + 3 * (first + i), x, 3 * sizeof *x);
        }
    }
    if (r->d.nodes != n)
        TUTTI_SCAN_FAIL(s, "section declares %lld nodes, but has %lld", (long long)n,
                        (long long)r->d.nodes);
    return TUTTI_OK;
}

static tutti_err read_elements_41(reader *r) {
    tutti__scan *s = &r->scan;
    int64_t blocks = 0, n = 0;
    tutti__gmsh_entities_finish(&r->entities, &r->d);
    TUTTI_TRY(read_counts(r, 4, "elements", &blocks, &n));
    for (int64_t k = 0; k < blocks; k++) {
        block b;
        int type = 0;
        int64_t tags[1 + TUTTI_MESH_MAX_NODES] = {0};
        TUTTI_TRY(read_block(r, n - r->d.elements, 4, "elements", &b));
        TUTTI_TRY(find_type(r, b.third, &type));
        int32_t physical = 0;
        /* Elements get the first group of the entity of the block; further groups become
         * memberships. */
        const tutti__gmsh_entity *e = tutti__gmsh_entity_find(&r->entities, b.dim, b.tag);
        const int32_t *group = e && e->n > 0 ? r->entities.group + e->first : NULL;
        if (group) physical = group[0];
        for (tutti_count i = 1; group && i < e->n && b.n > 0; i++)
            if (group[i] != group[0])
                TUTTI_TRY(tutti__gmsh_member_add(
                    &r->d, &r->members_capacity,
                    (tutti_mesh_membership){b.dim, b.tag, group[0], group[i]}));
        for (int64_t i = 0; i < b.n; i++) {
            for (int j = 0; j <= tutti_mesh_type_nodes(type); j++)
                TUTTI_TRY(tutti__scan_i64(s, &tags[j]));
            TUTTI_TRY(put_element(r, type, physical, b.tag, tags + 1));
        }
    }
    if (r->d.elements != n)
        TUTTI_SCAN_FAIL(s, "section declares %lld elements, but has %lld", (long long)n,
                        (long long)r->d.elements);
    return TUTTI_OK;
}

/* ---- 2.2 */

static tutti_err read_nodes_22(reader *r) {
    tutti__scan *s = &r->scan;
    int64_t n = 0;
    TUTTI_TRY(tutti__scan_int(s, &n)); /* text in both variants */
    TUTTI_TRY(tutti__scan_fits(s, n, s->binary ? 28 : 8, "nodes"));
    if (s->binary) TUTTI_TRY(tutti__scan_skip_line(s));
    for (int64_t i = 0; i < n; i++) {
        int32_t small = 0;
        int64_t tag = 0;
        double x[3];
        if (s->binary)
            TUTTI_TRY(tutti__scan_i32(s, &small));
        else
            TUTTI_TRY(tutti__scan_int(s, &tag));
        TUTTI_TRY(tutti__scan_f64(s, 3, x));
        TUTTI_TRY(put_node(r, s->binary ? small : tag, x));
    }
    return TUTTI_OK;
}

/* Read the tags of an element, of which the first two are physical group and entity, and its
 * nodes. */
static tutti_err read_element_22(reader *r, int type, int32_t n_tags) {
    tutti__scan *s = &r->scan;
    int32_t tag[2] = {0, 0}, one = 0;
    int64_t nodes[TUTTI_MESH_MAX_NODES] = {0};
    for (int32_t i = 0; i < n_tags; i++) TUTTI_TRY(tutti__scan_i32(s, i < 2 ? &tag[i] : &one));
    for (int i = 0; i < tutti_mesh_type_nodes(type); i++) {
        if (s->binary) {
            TUTTI_TRY(tutti__scan_i32(s, &one));
            nodes[i] = one;
        } else {
            TUTTI_TRY(tutti__scan_int(s, &nodes[i]));
        }
    }
    TUTTI_TRY(put_element(r, type, tag[0], tag[1], nodes));
    return tutti__gmsh_repeat_merge(&r->repeats, &r->d);
}

static tutti_err read_elements_22(reader *r) {
    tutti__scan *s = &r->scan;
    int64_t n = 0, count = 0;
    TUTTI_TRY(tutti__scan_int(s, &n));
    TUTTI_TRY(tutti__scan_fits(s, n, s->binary ? 8 : 6, "elements"));
    if (s->binary) TUTTI_TRY(tutti__scan_skip_line(s));
    while (count < n) {
        /* element type, number of elements, number of tags per element */
        int32_t head[3] = {0, 1, 0};
        int64_t number = 0;
        int type = 0;
        if (!s->binary) TUTTI_TRY(tutti__scan_int(s, &number));
        TUTTI_TRY(tutti__scan_i32(s, &head[0]));
        if (s->binary) TUTTI_TRY(tutti__scan_i32(s, &head[1]));
        TUTTI_TRY(tutti__scan_i32(s, &head[2]));
        TUTTI_TRY(find_type(r, head[0], &type));
        TUTTI_TRY(tutti__scan_fits(s, head[2], s->binary ? 4 : 2, "tags"));
        if (head[1] < 1 || head[1] > n - count)
            TUTTI_SCAN_FAIL(s, "block has %d elements, but only %lld are left in the section",
                            (int)head[1], (long long)(n - count));
        count += head[1];
        for (int32_t i = 0; i < head[1]; i++) {
            int32_t ignored = 0;
            if (s->binary) TUTTI_TRY(tutti__scan_i32(s, &ignored));
            TUTTI_TRY(read_element_22(r, type, head[2]));
        }
    }
    return tutti__gmsh_repeats_finish(&r->repeats, &r->d, &r->members_capacity);
}

/* ---- the file */

static tutti_err read_format(reader *r) {
    tutti__scan *s = &r->scan;
    char version[TUTTI__SCAN_WORD];
    int64_t binary = 0, size = 0;
    int32_t one = 0;
    TUTTI_TRY(tutti__scan_word(s, version));
    TUTTI_TRY(tutti__scan_int(s, &binary));
    TUTTI_TRY(tutti__scan_int(s, &size));
    r->version = strcmp(version, "4.1") == 0 ? 41 : strcmp(version, "2.2") == 0 ? 22 : 0;
    if (r->version == 0)
        return tutti__scan_bad(s, TUTTI_ERR_UNSUPPORTED,
                               "unsupported Gmsh format version %s: must be 4.1 or 2.2", version);
    if (binary < 0 || binary > 1 || size != 8)
        return tutti__scan_bad(s, TUTTI_ERR_UNSUPPORTED,
                               "unsupported file type %lld with values of %lld bytes",
                               (long long)binary, (long long)size);
    if (binary == 0) return TUTTI_OK;
    TUTTI_TRY(tutti__scan_skip_line(s));
    s->binary = 1;
    TUTTI_TRY(tutti__scan_bytes(s, &one, sizeof one));
    if (one != 1)
        return tutti__scan_bad(s, one == 0x01000000 ? TUTTI_ERR_UNSUPPORTED : TUTTI_ERR_FORMAT,
                               "the byte order of the file differs from that of this machine");
    return TUTTI_OK;
}

static tutti_err read_gmsh_section(reader *r, const char *name) {
    tutti__scan *s = &r->scan;
    /* names and, in 2.2, counts are text, whose readers skip the line break */
    const int text = r->version == 22 || strcmp(name, "$PhysicalNames") == 0;
    if (s->binary && !text) TUTTI_TRY(tutti__scan_skip_line(s));
    if (strcmp(name, "$PhysicalNames") == 0) return read_names(r);
    if (strcmp(name, "$Entities") == 0 || strcmp(name, "$PartitionedEntities") == 0) {
        const int partitioned = name[1] == 'P';
        if (r->seen_entities[partitioned]++) TUTTI_SCAN_FAIL(s, "duplicate section %s", name);
        if (r->seen_elements)
            TUTTI_SCAN_FAIL(s, "section %s follows $Elements: must precede it", name);
        return tutti__gmsh_entities_read(s, partitioned, &r->entities);
    }
    if (strcmp(name, "$Nodes") == 0) {
        if (r->seen_nodes++) TUTTI_SCAN_FAIL(s, "duplicate section $Nodes");
        TUTTI_TRY(r->version == 41 ? read_nodes_41(r) : read_nodes_22(r));
        return index_nodes(r);
    }
    if (r->seen_elements++) TUTTI_SCAN_FAIL(s, "duplicate section $Elements");
    if (!r->seen_nodes) TUTTI_SCAN_FAIL(s, "section $Elements precedes $Nodes");
    return r->version == 41 ? read_elements_41(r) : read_elements_22(r);
}

static tutti_err read_sections(reader *r) {
    tutti__scan *s = &r->scan;
    char name[TUTTI__SCAN_WORD], end[TUTTI__SCAN_WORD + 4], word[TUTTI__SCAN_WORD];
    int over = 0;
    TUTTI_TRY(tutti__scan_word(s, name));
    if (strcmp(name, "$MeshFormat") != 0)
        TUTTI_SCAN_FAIL(s, "unknown mesh format: file starts with '%s'", name);
    TUTTI_TRY(read_format(r));
    TUTTI_TRY(tutti__scan_word(s, word));
    if (strcmp(word, "$EndMeshFormat") != 0)
        TUTTI_SCAN_FAIL(s, "expected $EndMeshFormat, found '%s'", word);
    for (;;) {
        TUTTI_TRY(tutti__scan_end(s, &over));
        if (over) break;
        TUTTI_TRY(tutti__scan_word(s, name));
        if (name[0] != '$') TUTTI_SCAN_FAIL(s, "expected a section, found '%s'", name);
        snprintf(end, sizeof end, "$End%s", name + 1);
        if (!(strcmp(name, "$PhysicalNames") == 0 || strcmp(name, "$Nodes") == 0 ||
              strcmp(name, "$Elements") == 0 ||
              (r->version == 41 &&
               (strcmp(name, "$Entities") == 0 || strcmp(name, "$PartitionedEntities") == 0)))) {
            TUTTI_TRY(tutti__scan_skip_to(s, end));
            continue;
        }
        TUTTI_TRY(read_gmsh_section(r, name));
        TUTTI_TRY(tutti__scan_word(s, word));
        if (strcmp(word, end) != 0) TUTTI_SCAN_FAIL(s, "expected %s, found '%s'", end, word);
    }
    if (!r->seen_nodes) TUTTI_SCAN_FAIL(s, "file has no section $Nodes");
    return TUTTI_OK;
}

tutti_err tutti__gmsh_read(const char *path, const tutti_options *opt, tutti__mesh_data *out) {
    reader r;
    memset(&r, 0, sizeof r);
    tutti_err err = tutti__scan_open(&r.scan, path, opt);
    if (err == TUTTI_OK) err = read_sections(&r);
    if (err == TUTTI_OK) err = tutti__gmsh_members_finish(&r.d);
    if (err == TUTTI_OK) { /* allocate the arrays even if there are no nodes or elements */
        err = grow_nodes(&r);
        if (err == TUTTI_OK) err = grow_elements(&r, 0);
        if (err == TUTTI_OK && r.d.elements == 0) r.d.start[0] = 0;
    }
    tutti__scan_close(&r.scan);
    tutti__gmsh_entities_free(&r.entities);
    tutti__free(r.repeats.repeat);
    tutti__free(r.table);
    tutti__free(r.sorted);
    if (err != TUTTI_OK) {
        tutti__mesh_data_free(&r.d);
        tutti__error_context("open", path, -1);
        return err;
    }
    *out = r.d;
    return TUTTI_OK;
}
