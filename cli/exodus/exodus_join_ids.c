/* tutti exodus join: check that entries of several pieces with the same id are the same entry.
 *
 * The id range of each kind is divided among the ranks.  Every rank sends id and hash of the contents of each
 * of its entries to the rank responsible for the id, which searches for ids with different hashes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/join.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 4 };
static const int entry_kinds[KINDS] = {TUTTI_EXODUS_NODAL, TUTTI_EXODUS_ELEMENT_BLOCK,
                                       TUTTI_EXODUS_EDGE_BLOCK, TUTTI_EXODUS_FACE_BLOCK};

/* An entry of a piece; hash: of its contents, never 0. */
typedef struct {
    int64_t id;
    uint64_t hash;
} entry;

/* ---- hashes */

static uint64_t hash_word(uint64_t h, uint64_t bits) {
    h = (h ^ bits) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_node(const exodus_whole *w, const tutti_exodus_mesh *m, tutti_count i) {
    uint64_t h = 1469598103934665603u;
    for (int d = 0; d < w->o.p.dims; d++) {
        const double v = exodus_coordinate(m, d, i) + 0.0; /* makes -0 equal to 0 */
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        h = hash_word(h, bits);
    }
    return h | 1;
}

/* Return the id of the face at position `place` among all faces of the piece. */
static int64_t face_id(const exodus_piece *q, tutti_count place) {
    const tutti_exodus_elements *e = exodus_blocks(q->mesh, TUTTI_EXODUS_FACE_BLOCK);
    tutti_count b = 0;
    while (e && b < q->o.of[TUTTI_EXODUS_FACE_BLOCK].n - 1 && place >= e[b].n) place -= e[b++].n;
    return e ? exodus_entry_id(q, TUTTI_EXODUS_FACE_BLOCK, b, place) : place;
}

static uint64_t hash_entry(const exodus_piece *q, const tutti_exodus_entity *row, int of_faces,
                           const tutti_exodus_elements *e, tutti_count i) {
    const tutti_count first = e->start ? e->start[i] : i * row->nodes;
    const tutti_count end = e->start ? e->start[i + 1] : first + row->nodes;
    uint64_t h = hash_word(1469598103934665603u, (uint64_t)row->id);
    for (tutti_count k = first; k < end; k++)
        h = hash_word(h, (uint64_t)(of_faces ? face_id(q, e->nodes[k])
                                             : exodus_node_id(q->mesh, e->nodes[k])));
    return h | 1;
}

static tutti_count count_entries(const exodus_piece *q, int kind) {
    tutti_count n = 0;
    if (kind == TUTTI_EXODUS_NODAL) return q->mesh->nodes;
    for (tutti_count b = 0; b < q->o.of[kind].n; b++) n += exodus_entries(q->mesh, kind, b);
    return n;
}

/* List the entries of a piece; return their number. */
static tutti_count list_entries(const exodus_whole *w, const exodus_piece *q, int kind,
                                entry *out) {
    tutti_count n = 0;
    for (tutti_count i = 0; kind == TUTTI_EXODUS_NODAL && i < q->mesh->nodes; i++)
        out[n++] = (entry){exodus_node_id(q->mesh, i), hash_node(w, q->mesh, i)};
    for (tutti_count b = 0; kind != TUTTI_EXODUS_NODAL && b < q->o.of[kind].n; b++) {
        const tutti_exodus_entity *row = &q->o.of[kind].entity[b];
        const int of_faces = exodus_topology_is(row->topology, "nfaced");
        const tutti_exodus_elements *e = &exodus_blocks(q->mesh, kind)[b];
        for (tutti_count i = 0; i < exodus_entries(q->mesh, kind, b); i++)
            out[n++] = (entry){exodus_entry_id(q, kind, b, i), hash_entry(q, row, of_faces, e, i)};
    }
    return n;
}

/* ---- exchange */

/* Division of the id range: rank r is responsible for ids low + r * width ... */
typedef struct {
    int64_t low;
    uint64_t width; /* ids per rank */
} division;

static int rank_of(const division *d, int64_t id) {
    return (int)(((uint64_t)id - (uint64_t)d->low) / d->width);
}

/* Send the entries to the ranks responsible for their ids; *v and *n become those that this rank receives. */
static void exchange_entries(const cli_world *w, const division *d, entry **v, tutti_count *n) {
    const int ranks = w->ranks;
    int *send = cli_array(5, ranks, sizeof *send), *send_at = send + ranks,
        *next = send + 2 * ranks, *get = send + 3 * ranks, *get_at = send + 4 * ranks;
    MPI_Datatype type;
    entry *out = cli_malloc((size_t)*n * sizeof *out);
    memset(send, 0, (size_t)ranks * sizeof *send);
    for (tutti_count i = 0; i < *n; i++) send[rank_of(d, (*v)[i].id)]++;
    MPI_Alltoall(send, 1, MPI_INT, get, 1, MPI_INT, w->comm);
    for (int r = 0, to = 0, from = 0; r < ranks; to += send[r], from += get[r], r++) {
        next[r] = send_at[r] = to;
        get_at[r] = from;
    }
    for (tutti_count i = 0; i < *n; i++) out[next[rank_of(d, (*v)[i].id)]++] = (*v)[i];
    *n = get_at[ranks - 1] + get[ranks - 1];
    free(*v);
    *v = cli_malloc((size_t)*n * sizeof **v);
    MPI_Type_contiguous((int)sizeof **v, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(out, send, send_at, type, *v, get, get_at, type, w->comm);
    MPI_Type_free(&type);
    free(out);
    free(send);
}

/* ---- comparison */

static int by_id(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Return the smallest id >= low that has different hashes; INT64_MAX: none. */
static int64_t find_conflict(const entry *v, tutti_count n, int64_t low, uint64_t width) {
    int64_t least = INT64_MAX;
    if (width <= 4 * (uint64_t)n + 1024) {
        uint64_t *hash = cli_array((tutti_count)width, 1, sizeof *hash);
        memset(hash, 0, (size_t)width * sizeof *hash);
        for (tutti_count i = 0; i < n; i++) {
            uint64_t *first = &hash[(uint64_t)v[i].id - (uint64_t)low];
            if (*first == 0) *first = v[i].hash;
            if (*first != v[i].hash && v[i].id < least) least = v[i].id;
        }
        free(hash);
        return least;
    }
    const void **sorted = exodus_sort_runs(v, n, sizeof *v, by_id);
    for (tutti_count i = 1; i < n && least == INT64_MAX; i++) {
        const entry *x = sorted[i - 1], *y = sorted[i];
        if (x->id == y->id && x->hash != y->hash) least = y->id;
    }
    free(sorted);
    return least;
}

/* ---- error message */

/* For one id, per piece: the smallest hash, and the complement of the largest; maps: whether the piece has an
 * id map. */
typedef struct {
    uint64_t *least, *largest;
    int *maps;
} holders;

/* Report the first piece that has the id, and the first piece that has different contents for it.  Collective */
static void report_conflict(const exodus_whole *w, int pieces, int k, int64_t id) {
    static const struct {
        const char *entry, *made_of, *map;
    } text[KINDS] = {{"node", "coordinates", "node_num_map"},
                     {"element", "nodes", "elem_num_map"},
                     {"edge", "nodes", "edge_num_map"},
                     {"face", "nodes", "face_num_map"}};
    uint64_t *hash = cli_array(2, pieces, sizeof *hash);
    holders h = {hash, hash + pieces, cli_array(pieces, 1, sizeof *h.maps)};
    for (int p = 0; p < 2 * pieces; p++) hash[p] = UINT64_MAX;
    memset(h.maps, 0, (size_t)pieces * sizeof *h.maps);
    const int kind = entry_kinds[k];
    for (int p = 0; p < w->pieces; p++) {
        const exodus_piece *q = &w->piece[p];
        entry *v = cli_malloc((size_t)count_entries(q, kind) * sizeof *v);
        const tutti_count n = list_entries(w, q, kind, v);
        for (tutti_count i = 0; i < n; i++) {
            if (v[i].id != id) continue;
            if (v[i].hash < h.least[q->position]) h.least[q->position] = v[i].hash;
            if (~v[i].hash < h.largest[q->position]) h.largest[q->position] = ~v[i].hash;
        }
        h.maps[q->position] = exodus_has_ids(&q->o.p, kind);
        free(v);
    }
    MPI_Allreduce(MPI_IN_PLACE, hash, 2 * pieces, MPI_UINT64_T, MPI_MIN, w->world->comm);
    MPI_Allreduce(MPI_IN_PLACE, h.maps, pieces, MPI_INT, MPI_MAX, w->world->comm);
    int a = 0, b;
    while (a < pieces - 1 && h.least[a] == UINT64_MAX) a++;
    for (b = a; b < pieces - 1; b++)
        if (h.least[b] != UINT64_MAX && (h.least[b] != h.least[a] || ~h.largest[b] != h.least[a]))
            break;
    if (w->world->rank == 0) {
        const char *without = !h.maps[a] ? w->paths[a] : !h.maps[b] ? w->paths[b] : NULL;
        (void)cli_error("%s %lld has different %s in '%s' and '%s'%s%s%s%s", text[k].entry,
                        (long long)id, text[k].made_of, w->paths[a], w->paths[b],
                        without ? ": '" : "", without ? without : "", without ? "' has no " : "",
                        without ? text[k].map : "");
    }
    free(h.maps);
    free(hash);
}

/* ---- the check */

static int check_kind(const exodus_whole *w, int pieces, int k) {
    const int kind = entry_kinds[k];
    int64_t least;
    tutti_count n = 0, at = 0;
    for (int p = 0; p < w->pieces; p++) n += count_entries(&w->piece[p], kind);
    if (cli_max(w->world, n > 0) == 0) return 0;
    if (cli_agree(
            w->world,
            n > INT_MAX &&
                cli_error("one rank has %lld entries: at most %d are supported; use more ranks",
                          (long long)n, INT_MAX)))
        return 1;
    entry *v = cli_malloc((size_t)n * sizeof *v);
    for (int p = 0; p < w->pieces; p++) at += list_entries(w, &w->piece[p], kind, v + at);
    /* the smallest id, and the complement of the largest */
    int64_t range[2] = {INT64_MAX, INT64_MAX};
    for (tutti_count i = 0; i < n; i++) {
        if (v[i].id < range[0]) range[0] = v[i].id;
        if (~v[i].id < range[1]) range[1] = ~v[i].id;
    }
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MIN, w->world->comm);
    const division d = {range[0],
                        ((uint64_t)~range[1] - (uint64_t)range[0]) / (uint64_t)w->world->ranks + 1};
    if (w->world->ranks > 1) exchange_entries(w->world, &d, &v, &n);
    least = find_conflict(v, n, (int64_t)((uint64_t)d.low + d.width * (uint64_t)w->world->rank),
                          d.width);
    free(v);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, w->world->comm);
    if (least == INT64_MAX) return 0;
    report_conflict(w, pieces, k, least);
    return 1;
}

int exodus_join_check_ids(const exodus_whole *w, int pieces) {
    for (int k = 0; k < KINDS; k++)
        if (check_kind(w, pieces, k)) return 1;
    return 0;
}
