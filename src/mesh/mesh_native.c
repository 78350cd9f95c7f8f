/* mesh: the Tutti mesh format: a header and consecutive raw arrays.  Every rank reads and writes
 * its slice of each array by collective calls.  docs/reference/meshes.md is the specification.  The
 * offsets of the arrays follow from the counts; reading fails if the header has other offsets, or
 * if the checksum differs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(tutti_mesh_membership) == 16, "as in the file");

const unsigned char tutti__mesh_magic[TUTTI__MESH_MAGIC_BYTES] = {0x89, 'T',  'T',  'M',
                                                                  '\r', '\n', 0x1a, '\n'};

enum { WORDS = 64, FIRST = 4096, ALIGN = 64, NAME = 128, GROUP = 8 + NAME, MEMBER = 16 };

/* Format 2 adds memberships, described in words of the header that are 0 in format 1.  Meshes
 * without memberships are written in format 1. */
enum { FORMAT = 1, FORMAT_MEMBERS = 2 };

/* Arrays, in the order of the file. */
enum { COORDINATES, TAG, START, PHYSICAL, ENTITY, TYPE, NODE, GROUPS, MEMBERS, ARRAYS };

/* Indices of the 64-bit words of the header. */
enum {
    W_MAGIC,
    W_FORMAT,
    W_NODES,
    W_ELEMENTS,
    W_ENTRIES,
    W_GROUPS,
    W_ARRAYS,
    W_BYTES = W_ARRAYS + MEMBERS,
    W_SUM,
    W_MEMBERS, /* number of memberships; the next word is their offset */
    W_MEMBERS_AT,
    W_CHECK = WORDS - 1
};

typedef struct {
    tutti_count nodes, elements, entries, groups, members;
    tutti_off at[ARRAYS], bytes;
    uint64_t sum;
} layout;

static int is_little_endian(void) {
    const uint32_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Compute the offsets of all arrays. */
static void compute_offsets(layout *l) {
    const tutti_off size[ARRAYS] = {24 * l->nodes,   8 * l->nodes,      8 * (l->elements + 1),
                                    4 * l->elements, 4 * l->elements,   l->elements,
                                    8 * l->entries,  GROUP * l->groups, MEMBER * l->members};
    tutti_off at = FIRST;
    for (int i = 0; i < ARRAYS; i++) {
        l->at[i] = at;
        at = tutti__align_up(at + size[i], ALIGN);
    }
    l->bytes = at;
}

/* ---- the header */

static void encode_header(const layout *l, uint64_t word[WORDS]) {
    memset(word, 0, WORDS * sizeof *word);
    memcpy(word, tutti__mesh_magic, sizeof tutti__mesh_magic);
    word[W_FORMAT] = l->members > 0 ? FORMAT_MEMBERS : FORMAT;
    word[W_NODES] = (uint64_t)l->nodes;
    word[W_ELEMENTS] = (uint64_t)l->elements;
    word[W_ENTRIES] = (uint64_t)l->entries;
    word[W_GROUPS] = (uint64_t)l->groups;
    for (int i = 0; i < MEMBERS; i++) word[W_ARRAYS + i] = (uint64_t)l->at[i];
    word[W_MEMBERS] = (uint64_t)l->members;
    word[W_MEMBERS_AT] = l->members > 0 ? (uint64_t)l->at[MEMBERS] : 0;
    word[W_BYTES] = (uint64_t)l->bytes;
    word[W_SUM] = l->sum;
    word[W_CHECK] = tutti__hash(TUTTI__HASH_START, word, W_CHECK * sizeof *word);
}

static tutti_err decode_mesh_header(const uint64_t word[WORDS], tutti_off file_bytes, layout *l) {
    const uint64_t most = (uint64_t)1 << 48;
    TUTTI_CHECK(memcmp(word, tutti__mesh_magic, sizeof tutti__mesh_magic) == 0, TUTTI_ERR_FORMAT,
                "byte 0: the file is not a Tutti mesh file: wrong signature");
    TUTTI_CHECK(word[W_CHECK] == tutti__hash(TUTTI__HASH_START, word, W_CHECK * sizeof *word),
                TUTTI_ERR_FORMAT, "byte 504: the header is damaged: checksum mismatch");
    TUTTI_CHECK(word[W_FORMAT] == FORMAT || word[W_FORMAT] == FORMAT_MEMBERS, TUTTI_ERR_UNSUPPORTED,
                "unknown mesh format %llu: must be %d or %d", (unsigned long long)word[W_FORMAT],
                FORMAT, FORMAT_MEMBERS);
    TUTTI_CHECK(
        word[W_NODES] < most && word[W_ELEMENTS] < most && word[W_ENTRIES] < most &&
            word[W_GROUPS] < INT32_MAX / GROUP && word[W_MEMBERS] <= 1 << 20 &&
            (word[W_FORMAT] == FORMAT) == (word[W_MEMBERS] == 0),
        TUTTI_ERR_FORMAT,
        "byte 16: invalid counts: %llu nodes, %llu elements, %llu entries of node lists, %llu "
        "groups, %llu memberships",
        (unsigned long long)word[W_NODES], (unsigned long long)word[W_ELEMENTS],
        (unsigned long long)word[W_ENTRIES], (unsigned long long)word[W_GROUPS],
        (unsigned long long)word[W_MEMBERS]);
    *l = (layout){.nodes = (tutti_count)word[W_NODES],
                  .elements = (tutti_count)word[W_ELEMENTS],
                  .entries = (tutti_count)word[W_ENTRIES],
                  .groups = (tutti_count)word[W_GROUPS],
                  .members = (tutti_count)word[W_MEMBERS],
                  .sum = word[W_SUM]};
    compute_offsets(l);
    TUTTI_CHECK(l->members == 0 || word[W_MEMBERS_AT] == (uint64_t)l->at[MEMBERS], TUTTI_ERR_FORMAT,
                "byte %d: memberships start at offset %llu, expected %lld", 8 * W_MEMBERS_AT,
                (unsigned long long)word[W_MEMBERS_AT], (long long)l->at[MEMBERS]);
    for (int i = 0; i < MEMBERS; i++)
        TUTTI_CHECK(word[W_ARRAYS + i] == (uint64_t)l->at[i], TUTTI_ERR_FORMAT,
                    "byte %d: array %d starts at offset %llu, expected %lld", 8 * (W_ARRAYS + i), i,
                    (unsigned long long)word[W_ARRAYS + i], (long long)l->at[i]);
    TUTTI_CHECK(word[W_BYTES] == (uint64_t)l->bytes, TUTTI_ERR_FORMAT,
                "byte %d: mesh has %llu bytes, but its arrays end at %lld", 8 * W_BYTES,
                (unsigned long long)word[W_BYTES], (long long)l->bytes);
    TUTTI_CHECK(file_bytes >= l->bytes, TUTTI_ERR_FORMAT,
                "byte %d: mesh has %lld bytes, but the file has %lld", 8 * W_BYTES,
                (long long)l->bytes, (long long)file_bytes);
    return TUTTI_OK;
}

/* ---- the checksum: the sum over all values of a word that depends on value, array and index, so
 * that it does not depend on the order of ranks */

static uint64_t mix_value(int array, tutti_count index, uint64_t bits) {
    uint64_t h = bits ^ ((uint64_t)index * 0x9e3779b97f4a7c15u) ^ ((uint64_t)array << 56);
    h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    return h ^ (h >> 32);
}

/* Compute the sum of the slice of this rank, whose node lists start at entry `entry` of the
 * file. */
static uint64_t sum_slice(const tutti_mesh *m, tutti_count entry) {
    const tutti__mesh_data *d = &m->own;
    uint64_t sum = 0, bits = 0;
    for (tutti_count i = 0; i < 3 * d->nodes; i++) {
        memcpy(&bits, &d->coordinates[i], sizeof bits);
        sum += mix_value(COORDINATES, 3 * m->first_node + i, bits);
    }
    for (tutti_count i = 0; i < d->nodes; i++)
        sum += mix_value(TAG, m->first_node + i, (uint64_t)d->tag[i]);
    for (tutti_count e = 0; e < d->elements; e++) {
        const tutti_count at = m->first_element + e;
        sum += mix_value(PHYSICAL, at, (uint32_t)d->physical[e]);
        sum += mix_value(ENTITY, at, (uint32_t)d->entity[e]);
        sum += mix_value(TYPE, at, d->type[e]);
    }
    for (tutti_count i = 0; i < d->start[d->elements]; i++)
        sum += mix_value(NODE, entry + i, (uint64_t)d->node[i]);
    return sum;
}

static uint64_t sum_groups(tutti_count n, const unsigned char *table, const tutti__mesh_data *d) {
    uint64_t sum = 0;
    for (tutti_count i = 0; i < n * GROUP; i++) sum += mix_value(GROUPS, i, table[i]);
    for (tutti_count i = 0; i < d->members; i++) {
        const int word[] = {d->member[i].dim, d->member[i].entity, d->member[i].physical,
                            d->member[i].tag};
        for (int k = 0; k < 4; k++) sum += mix_value(MEMBERS, 4 * i + k, (uint32_t)word[k]);
    }
    return sum;
}

/* ---- transfer of slices */

/* Ranges of bytes in the file and in memory, relative to `base`. */
typedef struct {
    tutti_off file[ARRAYS], memory[ARRAYS], bytes[ARRAYS];
    int n;
    char *base;
} pieces;

static void add_piece(pieces *p, tutti_off file, const void *memory, tutti_off bytes) {
    if (bytes == 0) return;
    if (p->n == 0) p->base = (char *)memory;
    p->file[p->n] = file;
    p->memory[p->n] = (tutti_off)((intptr_t)memory - (intptr_t)p->base);
    p->bytes[p->n++] = bytes;
}

/* Transfer the pieces of all ranks; a rank that has failed passes its error.   Collective. */
static tutti_err transfer_pieces(tutti_file *f, tutti_err local_err, const pieces *p,
                                 int is_write) {
    tutti_access *a = NULL;
    if (local_err == TUTTI_OK)
        local_err = tutti_access_pieces(p->n, p->file, p->memory, p->bytes, &a);
    /* With a NULL access, the transfer fails on all ranks with this error. */
    if (local_err != TUTTI_OK) tutti_set_local_error(local_err, 0, tutti_last_error()->text);
    static char nothing; /* buffer of a rank without bytes */
    char *base = p->n > 0 ? p->base : &nothing;
    const tutti_err err =
        is_write ? tutti_file_write(f, a, base, NULL) : tutti_file_read(f, a, base, NULL);
    tutti_access_free(&a);
    return err;
}

static pieces add_slice_pieces(const tutti_mesh *m, const layout *l, const tutti_count *start,
                               tutti_count starts) {
    const tutti__mesh_data *d = &m->own;
    const tutti_count n = m->first_node, e = m->first_element;
    pieces p = {.n = 0};
    add_piece(&p, l->at[COORDINATES] + 24 * n, d->coordinates, 24 * d->nodes);
    add_piece(&p, l->at[TAG] + 8 * n, d->tag, 8 * d->nodes);
    add_piece(&p, l->at[START] + 8 * e, start, 8 * starts);
    add_piece(&p, l->at[PHYSICAL] + 4 * e, d->physical, 4 * d->elements);
    add_piece(&p, l->at[ENTITY] + 4 * e, d->entity, 4 * d->elements);
    add_piece(&p, l->at[TYPE] + e, d->type, d->elements);
    return p;
}

/* ---- reading */

typedef struct {
    tutti_file *file;
    uint64_t word[WORDS];
} header_buffer;

static tutti_err fetch_header(header_buffer *h) {
    tutti_access *a = NULL;
    tutti_off got = 0;
    TUTTI_TRY(tutti_access_contiguous(0, sizeof h->word, &a));
    const tutti_err err = tutti_file_read_independent(h->file, a, h->word, &got);
    tutti_access_free(&a);
    TUTTI_TRY(err);
    TUTTI_CHECK(got == (tutti_off)sizeof h->word, TUTTI_ERR_FORMAT,
                "byte %lld: file ends inside the header", (long long)got);
    return TUTTI_OK;
}

/* Check that node lists have the lengths of their element types and are inside the array; then
 * shift d->start to begin with 0.  *entry_out: former d->start[0]. */
static tutti_err check_lists(tutti_mesh *m, const layout *l, tutti_count *entry_out) {
    tutti__mesh_data *d = &m->own;
    const tutti_count first = d->start[0];
    TUTTI_CHECK(first >= 0 && first <= l->entries && (m->first_element > 0 || first == 0),
                TUTTI_ERR_FORMAT, "node list of element %lld starts at entry %lld: must be %s%lld",
                (long long)m->first_element, (long long)first, m->first_element > 0 ? "0 to " : "",
                m->first_element > 0 ? (long long)l->entries : 0LL);
    for (tutti_count e = 0; e < d->elements; e++) {
        const int n = tutti_mesh_type_nodes(d->type[e]);
        TUTTI_CHECK(n > 0, TUTTI_ERR_FORMAT, "element %lld has unknown type %d",
                    (long long)(m->first_element + e), d->type[e]);
        TUTTI_CHECK(d->start[e + 1] == d->start[e] + n && d->start[e + 1] <= l->entries,
                    TUTTI_ERR_FORMAT,
                    "element %lld of type %d has node entries [%lld, %lld): must be %d entries in "
                    "[0, %lld)",
                    (long long)(m->first_element + e), d->type[e], (long long)d->start[e],
                    (long long)d->start[e + 1], n, (long long)l->entries);
    }
    TUTTI_CHECK(m->first_element + d->elements < m->all_elements ||
                    d->start[d->elements] == l->entries,
                TUTTI_ERR_FORMAT, "node list of the last element ends at entry %lld, expected %lld",
                (long long)d->start[d->elements], (long long)l->entries);
    for (tutti_count e = 0; e <= d->elements; e++) d->start[e] -= first;
    *entry_out = first;
    return TUTTI_OK;
}

static tutti_err decode_groups(tutti_mesh *m, const layout *l, const unsigned char *table) {
    TUTTI_ASSERT(table != NULL); /* after a failed allocation all ranks have returned */
    m->own.group = tutti__calloc((size_t)l->groups + 1, sizeof *m->own.group);
    if (!m->own.group) return TUTTI_ERR_NOMEM;
    m->own.groups = (int)l->groups;
    for (tutti_count i = 0; i < l->groups; i++) {
        tutti_mesh_group *g = &m->own.group[i];
        int32_t number[2];
        memcpy(number, table + i * GROUP, sizeof number);
        memcpy(g->name, table + i * GROUP + 8, NAME);
        g->dim = number[0];
        g->tag = number[1];
        TUTTI_CHECK(g->dim >= 0 && g->dim <= 3, TUTTI_ERR_FORMAT,
                    "physical group %lld has dimension %d: must be 0 to 3", (long long)i, g->dim);
        TUTTI_CHECK(memchr(g->name, '\0', NAME), TUTTI_ERR_FORMAT,
                    "name of physical group %lld is not terminated", (long long)i);
    }
    return TUTTI_OK;
}

/* Check the order of memberships, on which searches rely. */
static tutti_err check_members(const tutti__mesh_data *d) {
    for (tutti_count i = 0; i < d->members; i++) {
        const tutti_mesh_membership *x = &d->member[i];
        const int order = i > 0 ? tutti__mesh_by_membership(x - 1, x) : -1;
        TUTTI_CHECK(x->dim >= 0 && x->dim <= 3, TUTTI_ERR_FORMAT,
                    "membership %lld has dimension %d: must be 0 to 3", (long long)i, (int)x->dim);
        TUTTI_CHECK(order < 0 || (order == 0 && x[-1].tag < x->tag), TUTTI_ERR_FORMAT,
                    "memberships %lld and %lld are out of order", (long long)i - 1, (long long)i);
    }
    return TUTTI_OK;
}

/* Read the slice of this rank: first without node lists, then the node lists.   Collective. */
static tutti_err read_slice(tutti_mesh *m, tutti_file *f, const layout *l, unsigned char *table) {
    tutti__team *t = m->team;
    tutti__mesh_data *d = &m->own;
    tutti_count entry = 0;
    tutti_err err = table ? TUTTI_OK : TUTTI_ERR_NOMEM;
    const tutti_count nodes = tutti_size_share(l->nodes, t->size, t->rank + 1) - m->first_node;
    const tutti_count elements =
        tutti_size_share(l->elements, t->size, t->rank + 1) - m->first_element;
    if (err == TUTTI_OK) err = tutti__mesh_data_make(d, nodes, elements, 1);
    if (err == TUTTI_OK && !(d->member = tutti__calloc((size_t)l->members + 1, MEMBER)))
        err = TUTTI_ERR_NOMEM;
    pieces p = {.n = 0};
    if (err == TUTTI_OK) {
        p = add_slice_pieces(m, l, d->start, elements + 1);
        add_piece(&p, l->at[GROUPS], table, GROUP * l->groups);
        add_piece(&p, l->at[MEMBERS], d->member, MEMBER * l->members);
        d->members = l->members;
    }
    TUTTI_TRY(transfer_pieces(f, err, &p, 0));
    err = check_lists(m, l, &entry);
    if (err == TUTTI_OK) err = check_members(d);
    if (err == TUTTI_OK) err = decode_groups(m, l, table);
    p.n = 0;
    if (err == TUTTI_OK) {
        tutti__free(d->node);
        d->node = tutti__malloc(((size_t)d->start[elements] + 1) * sizeof *d->node);
        if (!d->node) err = TUTTI_ERR_NOMEM;
        add_piece(&p, l->at[NODE] + 8 * entry, d->node, 8 * d->start[elements]);
    }
    TUTTI_TRY(transfer_pieces(f, err, &p, 0));
    int64_t sum =
        (int64_t)(sum_slice(m, entry) + (t->rank == 0 ? sum_groups(l->groups, table, d) : 0));
    err = tutti__team_sum(t, &sum, 1);
    if (err == TUTTI_OK && (uint64_t)sum != l->sum)
        err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "mesh is damaged: checksum mismatch");
    if (err == TUTTI_OK) {
        err = tutti__mesh_data_check(d, m->first_element, l->nodes);
        if (err != TUTTI_OK)
            tutti__error_set(err = TUTTI_ERR_FORMAT, 0, -1, "%.300s", tutti_last_error()->text);
    }
    for (tutti_count i = 0; i < 3 * d->nodes && err == TUTTI_OK; i++)
        if (!__builtin_isfinite(d->coordinates[i]))
            err = tutti__error_set(TUTTI_ERR_FORMAT, 0, -1,
                                   "node %lld has a coordinate that is not finite",
                                   (long long)(m->first_node + i / 3));
    return tutti__team_agree(t, err);
}

static tutti_err read_opened(tutti_mesh *m, tutti_file *f) {
    tutti__team *t = m->team;
    header_buffer h = {.file = f};
    layout l = {.nodes = 0};
    tutti_off bytes = 0;
    TUTTI_TRY(tutti_file_size(f, &bytes));
    TUTTI_TRY(tutti__team_agree(t, t->rank == 0 ? fetch_header(&h) : TUTTI_OK));
    TUTTI_TRY(tutti__team_broadcast(t, h.word, (int)sizeof h.word));
    TUTTI_TRY(tutti__team_agree(t, decode_mesh_header(h.word, bytes, &l)));
    m->all_nodes = l.nodes;
    m->all_elements = l.elements;
    m->first_node = tutti_size_share(l.nodes, t->size, t->rank);
    m->first_element = tutti_size_share(l.elements, t->size, t->rank);
    unsigned char *table = tutti__calloc((size_t)l.groups + 1, GROUP);
    const tutti_err err = read_slice(m, f, &l, table);
    tutti__free(table);
    return err;
}

tutti_err tutti__native_read(tutti_mesh *m, MPI_Comm comm, const char *path,
                             const tutti_options *opt) {
    tutti_file *f = NULL;
    TUTTI_TRY(tutti__team_agree(
        m->team, is_little_endian()
                     ? TUTTI_OK
                     : tutti__error_set(TUTTI_ERR_UNSUPPORTED, 0, -1,
                                        "cannot use Tutti mesh files on a big-endian machine")));
    TUTTI_TRY(tutti_file_open(comm, path, TUTTI_READ, opt, &f));
    return TUTTI_ALSO(read_opened(m, f), tutti_file_close(&f));
}

/* ---- writing */

static tutti_err write_opened(tutti_mesh *m, tutti_file *f) {
    tutti__team *t = m->team;
    const tutti__mesh_data *d = &m->own;
    layout l = {.nodes = m->all_nodes,
                .elements = m->all_elements,
                .groups = d->groups,
                .members = d->members};
    tutti_count entry = 0;
    l.entries = d->start[d->elements];
    TUTTI_TRY(tutti__checksums_before(t, TUTTI_OK, 1, &l.entries, &entry));
    compute_offsets(&l);
    /* rank 0 writes the groups and, at the end, the header; the last rank writes the end of
     * START */
    const int last = t->rank == t->size - 1;
    tutti_count *start = tutti__malloc(((size_t)d->elements + 1) * sizeof *start);
    unsigned char *table = tutti__calloc((size_t)d->groups + 1, GROUP);
    tutti_err err = start && table ? TUTTI_OK : TUTTI_ERR_NOMEM;
    pieces p = {.n = 0};
    if (err == TUTTI_OK) {
        for (tutti_count e = 0; e <= d->elements; e++) start[e] = entry + d->start[e];
        for (int i = 0; i < d->groups; i++) {
            const int32_t number[2] = {d->group[i].dim, d->group[i].tag};
            memcpy(table + (size_t)i * GROUP, number, sizeof number);
            memcpy(table + (size_t)i * GROUP + 8, d->group[i].name, strlen(d->group[i].name));
        }
        p = add_slice_pieces(m, &l, start, d->elements + last);
        add_piece(&p, l.at[NODE] + 8 * entry, d->node, 8 * d->start[d->elements]);
        if (t->rank == 0) {
            add_piece(&p, l.at[GROUPS], table, GROUP * l.groups);
            add_piece(&p, l.at[MEMBERS], d->member, MEMBER * l.members);
        }
    }
    err = transfer_pieces(f, err, &p, 1);
    if (err == TUTTI_OK) {
        uint64_t word[WORDS];
        int64_t sum =
            (int64_t)(sum_slice(m, entry) + (t->rank == 0 ? sum_groups(l.groups, table, d) : 0));
        err = tutti__team_sum(t, &sum, 1);
        if (err == TUTTI_OK) err = tutti_file_resize(f, l.bytes);
        l.sum = (uint64_t)sum;
        encode_header(&l, word);
        pieces head = {.n = 0};
        if (t->rank == 0) add_piece(&head, 0, word, sizeof word);
        if (err == TUTTI_OK) err = transfer_pieces(f, TUTTI_OK, &head, 1);
    }
    tutti__free(start);
    tutti__free(table);
    return err;
}

tutti_err tutti__native_write(tutti_mesh *m, const char *path, const tutti_options *opt) {
    tutti_file *f = NULL;
    TUTTI_TRY(tutti__team_agree(
        m->team, is_little_endian()
                     ? TUTTI_OK
                     : tutti__error_set(TUTTI_ERR_UNSUPPORTED, 0, -1,
                                        "cannot use Tutti mesh files on a big-endian machine")));
    TUTTI_TRY(tutti_file_open(m->team->comm, path,
                              TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, opt, &f));
    return TUTTI_ALSO(write_opened(m, f), tutti_file_close(&f));
}
