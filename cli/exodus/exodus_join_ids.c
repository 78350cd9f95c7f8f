/* tutti exodus join: check that entries of several pieces with the same id are the same entry.
 *
 * All ranks mark their ids in a bit map, from which they find the ids that occur more than once.
 * If the bit map would be larger than the ids, all ids are treated as repeated.  The id range of
 * each kind is divided among the ranks.  Every rank sends the id, and a hash of the contents, of
 * each entry with a repeated id to the rank responsible for the id, which searches for ids with
 * different hashes.
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

/* ---- ids */

/* The ids of block b, or of the nodes, of a piece: v[0] ..., or first, first + 1 ... without an id map. */
typedef struct {
    tutti_count n;
    const int64_t *v;
    int64_t first;
} id_list;

static tutti_count count_lists(const exodus_piece *q, int kind) {
    return kind == TUTTI_EXODUS_NODAL ? 1 : q->o.of[kind].n;
}

static id_list list_ids(const exodus_piece *q, int kind, tutti_count b) {
    if (kind == TUTTI_EXODUS_NODAL) return (id_list){q->mesh->nodes, q->mesh->node_ids, 1};
    const tutti_exodus_elements *e = exodus_blocks(q->mesh, kind);
    const tutti_count n = exodus_entries(q->mesh, kind, b);
    return (id_list){n, n > 0 ? e[b].ids : NULL, n > 0 ? exodus_entry_id(q, kind, b, 0) : 1};
}

static int64_t id_of(const id_list *l, tutti_count i) {
    return l->v ? l->v[i] : l->first + i;
}

/* One bit each for 64 consecutive ids, those of the first word beginning with `low`: whether the id
 * occurs, and whether it occurs more than once. */
typedef struct {
    uint64_t once, twice;
} mark;
typedef struct {
    int64_t low;
    uint64_t words;
    mark *word; /* [words]; NULL: no bit map */
} marks;

static void merge_marks(void *from, void *io, int *n, MPI_Datatype *type) {
    const mark *x = from;
    mark *y = io;
    (void)type;
    for (int i = 0; i < *n; i++) {
        y[i].twice |= x[i].twice | (x[i].once & y[i].once);
        y[i].once |= x[i].once;
    }
}

/* Mark the ids of all pieces of all ranks: `all` entries with ids low ... high.  Return whether any
 * id may occur more than once.  The caller frees m->word.  Collective. */
static int mark_ids(const exodus_whole *w, int kind, tutti_count all, int64_t low, int64_t high,
                    marks *m) {
    MPI_Datatype type;
    MPI_Op op;
    *m = (marks){.low = low, .words = ((uint64_t)high - (uint64_t)low) / 64 + 1};
    if (m->words > 1024 + (uint64_t)(all / w->world->ranks) || m->words > INT_MAX) return 1;
    m->word = cli_zeros((size_t)m->words * sizeof *m->word);
    for (int p = 0; p < w->pieces; p++)
        for (tutti_count b = 0; b < count_lists(&w->piece[p], kind); b++) {
            const id_list l = list_ids(&w->piece[p], kind, b);
            for (tutti_count i = 0; i < l.n; i++) {
                const uint64_t bit = (uint64_t)id_of(&l, i) - (uint64_t)low;
                mark *v = &m->word[bit / 64];
                v->twice |= v->once & (uint64_t)1 << bit % 64;
                v->once |= (uint64_t)1 << bit % 64;
            }
        }
    MPI_Type_contiguous(2, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(merge_marks, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, m->word, (int)m->words, type, op, w->world->comm);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    uint64_t any = 0;
    for (uint64_t i = 0; i < m->words; i++) any |= m->word[i].twice;
    return any != 0;
}

/* Count the entries of a piece whose ids are repeated, and list them; out NULL: count them only. */
static tutti_count list_entries(const exodus_whole *w, const exodus_piece *q, int kind,
                                const marks *m, entry *out) {
    tutti_count n = 0;
    for (tutti_count b = 0; b < count_lists(q, kind); b++) {
        const id_list l = list_ids(q, kind, b);
        const int nodal = kind == TUTTI_EXODUS_NODAL;
        const tutti_exodus_entity *row = nodal ? NULL : &q->o.of[kind].entity[b];
        const int of_faces = !nodal && exodus_topology_is(row->topology, "nfaced");
        for (tutti_count i = 0; i < l.n; i++) {
            const uint64_t bit = (uint64_t)id_of(&l, i) - (uint64_t)m->low;
            if (m->word && !(m->word[bit / 64].twice >> bit % 64 & 1)) continue;
            if (out)
                out[n] =
                    (entry){id_of(&l, i), nodal ? hash_node(w, q->mesh, i)
                                                : hash_entry(q, row, of_faces,
                                                             &exodus_blocks(q->mesh, kind)[b], i)};
            n++;
        }
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

/* Report the first piece that has the id, and the first piece that has different contents for it.
 * Collective. */
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
    const marks all = {.word = NULL};
    for (int p = 0; p < w->pieces; p++) {
        const exodus_piece *q = &w->piece[p];
        entry *v = cli_malloc((size_t)list_entries(w, q, kind, &all, NULL) * sizeof *v);
        const tutti_count n = list_entries(w, q, kind, &all, v);
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
    int64_t least = INT64_MAX;
    tutti_count n = 0, at = 0, all = 0;
    /* the smallest id, and the complement of the largest */
    int64_t range[2] = {INT64_MAX, INT64_MAX};
    for (int p = 0; p < w->pieces; p++)
        for (tutti_count b = 0; b < count_lists(&w->piece[p], kind); b++) {
            const id_list l = list_ids(&w->piece[p], kind, b);
            for (tutti_count i = 0; i < l.n; i++) {
                const int64_t id = id_of(&l, i);
                range[0] = id < range[0] ? id : range[0];
                range[1] = ~id < range[1] ? ~id : range[1];
            }
            all += l.n;
        }
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, w->world->comm);
    if (all == 0) return 0;
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MIN, w->world->comm);
    marks m;
    if (!mark_ids(w, kind, all, range[0], ~range[1], &m)) return free(m.word), 0;
    for (int p = 0; p < w->pieces; p++) n += list_entries(w, &w->piece[p], kind, &m, NULL);
    if (cli_agree(w->world,
                  n > INT_MAX &&
                      cli_error("rank %d has %lld entries of pieces: at most %d are supported; use "
                                "more ranks",
                                w->world->rank, (long long)n, INT_MAX)))
        return free(m.word), 1;
    entry *v = cli_malloc((size_t)n * sizeof *v);
    for (int p = 0; p < w->pieces; p++) at += list_entries(w, &w->piece[p], kind, &m, v + at);
    free(m.word);
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
