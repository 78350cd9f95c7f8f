/* mesh: the part of each rank: the nodes of its partition, the neighbours of these nodes, and their
 * elements.
 *
 * A part is made by three exchanges.  The rank whose slice contains a node determines the
 * partitions that hold the node (mesh_classify.c), and sends the node and the list of holders to
 * each of these partitions.  The rank whose slice contains an element sends it to the partitions of
 * all its nodes.  From the lists of holders every rank derives the nodes that it sends and receives
 * in later exchanges; sender and receiver order nodes by number.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

#include <string.h>

#include "base/sorted.h"

typedef struct {
    tutti_count number;
    int64_t tag;
    double x[3];
    int owner;
    int holders; /* number of holders of the node */
} node_record;

typedef struct {
    tutti_count number; /* node number */
    int holder;
    int rank; /* index of `holder` in the list of holders */
} holder_record;

typedef struct {
    tutti_count position;
    tutti_count node[TUTTI_MESH_MAX_NODES]; /* -1 after the last node */
    int32_t physical, entity;
    int32_t type, own; /* own: partition of the lowest node, which owns the element */
} element_record;

/* ---- sending */

static tutti_err send_elements_to_parts(tutti_mesh *m, const int *of, tutti_count *n_out,
                                        element_record **out) {
    const tutti__mesh_data *d = &m->own;
    tutti__share_values part = {.item = 0};
    const tutti__share_request q = {.all = m->all_nodes,
                                    .item = sizeof *of,
                                    .own = of,
                                    .n = d->start[d->elements],
                                    .number = d->node};
    TUTTI_TRY(tutti__share_fetch(m->team, TUTTI_OK, &q, &part));
    element_record *v = NULL;
    int *to = NULL;
    tutti_count n = 0;
    for (int pass = 0; pass < 2; pass++) { /* first count, then fill */
        n = 0;
        for (tutti_count e = 0; e < d->elements; e++) {
            const tutti_count *node = d->node + d->start[e];
            const int nodes = (int)(d->start[e + 1] - d->start[e]);
            int seen[TUTTI_MESH_MAX_NODES], k = 0, lowest = 0;
            for (int i = 0; i < nodes; i++) {
                const int p = *(const int *)tutti__share_value(&part, node[i]);
                int known = 0;
                for (int j = 0; j < k; j++) known |= seen[j] == p;
                if (!known) seen[k++] = p;
                if (node[i] < node[lowest]) lowest = i;
            }
            for (int i = 0; i < k && pass; i++) {
                element_record *r = &v[n + i];
                memset(r, -1, sizeof *r);
                memcpy(r->node, node, (size_t)nodes * sizeof *node);
                r->position = m->first_element + e;
                r->physical = d->physical[e];
                r->entity = d->entity[e];
                r->type = d->type[e];
                r->own = *(const int *)tutti__share_value(&part, node[lowest]);
                to[n + i] = seen[i];
            }
            n += k;
        }
        if (pass) break;
        v = tutti__malloc(((size_t)n + 1) * sizeof *v);
        to = tutti__malloc(((size_t)n + 1) * sizeof *to);
        if (!v || !to) break;
    }
    tutti__share_values_free(&part);
    const tutti_err err = tutti__send_records(m->team, v && to ? TUTTI_OK : TUTTI_ERR_NOMEM,
                                              sizeof *v, n, v, to, n_out, (void **)out);
    tutti__free(v);
    tutti__free(to);
    return err;
}

/* ---- building the part from received records */

/* The received records, and the part under construction.  Records are sorted by sender, and slices
 * of higher ranks have higher numbers, so nodes and elements are sorted. */
typedef struct {
    int me;
    tutti_count nodes, holders, elements;
    node_record *node;
    holder_record *holder;
    element_record *element;
    tutti_mesh_part *part;
} assembly;

/* Return the local number of a node.  Own nodes come first, then copies; both have ascending
 * numbers. */
static int local_number(const tutti_mesh_part_view *v, tutti_count number) {
    for (int copies = 0; copies < 2; copies++) {
        const tutti_count lo = copies ? v->own_nodes : 0, hi = copies ? v->nodes : v->own_nodes;
        const tutti_count at = tutti__sorted_find(v->number + lo, hi - lo, number);
        if (at >= 0) return (int)(lo + at);
    }
    return -1;
}

static tutti_err put_nodes(assembly *a) {
    tutti_mesh_part_view *v = &a->part->view;
    const size_t n = (size_t)a->nodes;
    TUTTI_CHECK(a->nodes < INT32_MAX, TUTTI_ERR_OVERFLOW,
                "part has %lld nodes: at most %d are supported", (long long)a->nodes,
                INT32_MAX - 1);
    tutti_count *number = tutti__malloc((n + 1) * sizeof *number);
    unsigned char *own = tutti__malloc(n + 1);
    int *owner = tutti__malloc((n + 1) * sizeof *owner);
    double *x = tutti__malloc((n + 1) * 3 * sizeof *x);
    int64_t *tag = tutti__malloc((n + 1) * sizeof *tag);
    tutti_count *start = tutti__malloc((n + 1) * sizeof *start);
    v->number = number;
    v->own = own;
    v->owner = owner;
    v->coordinates = x;
    v->tag = tag;
    v->holder_start = start;
    if (!number || !own || !owner || !x || !tag || !start) return TUTTI_ERR_NOMEM;
    start[0] = 0;
    tutti_count at = 0;
    for (int copies = 0; copies < 2; copies++) {
        for (size_t i = 0; i < n; i++) {
            const node_record *r = &a->node[i];
            TUTTI_ASSERT(i == 0 || r[-1].number < r->number);
            if ((r->owner != a->me) != copies) continue;
            number[at] = r->number;
            own[at] = !copies;
            owner[at] = r->owner;
            memcpy(x + 3 * at, r->x, sizeof r->x);
            tag[at] = r->tag;
            start[at + 1] = start[at] + r->holders;
            at++;
        }
        if (!copies) v->own_nodes = at;
    }
    v->nodes = at;
    return TUTTI_OK;
}

static tutti_err put_holders(assembly *a) {
    tutti_mesh_part_view *v = &a->part->view;
    int *holder = tutti__malloc(((size_t)v->holder_start[v->nodes] + 1) * sizeof *holder);
    v->holder = holder;
    if (!holder) return TUTTI_ERR_NOMEM;
    /* the owner is the first holder; records overwrite the list if there are others */
    for (tutti_count i = 0; i < v->nodes; i++) holder[v->holder_start[i]] = v->owner[i];
    for (tutti_count i = 0; i < a->holders; i++) {
        const holder_record *r = &a->holder[i];
        const int at = local_number(v, r->number);
        TUTTI_ASSERT(at >= 0 && v->holder_start[at] + r->rank < v->holder_start[at + 1]);
        holder[v->holder_start[at] + r->rank] = r->holder;
    }
    return TUTTI_OK;
}

static tutti_err put_elements(assembly *a) {
    tutti_mesh_part_view *v = &a->part->view;
    const size_t n = (size_t)a->elements;
    tutti_count *position = tutti__malloc((n + 1) * sizeof *position);
    unsigned char *own = tutti__malloc(n + 1);
    uint8_t *type = tutti__malloc(n + 1);
    int32_t *physical = tutti__malloc((n + 1) * sizeof *physical);
    int32_t *entity = tutti__malloc((n + 1) * sizeof *entity);
    tutti_count *start = tutti__malloc((n + 1) * sizeof *start), entries = 0;
    v->element = position;
    v->element_own = own;
    v->type = type;
    v->physical = physical;
    v->entity = entity;
    v->start = start;
    if (!position || !own || !type || !physical || !entity || !start) return TUTTI_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) entries += tutti_mesh_type_nodes(a->element[i].type);
    int *node = tutti__malloc(((size_t)entries + 1) * sizeof *node);
    v->node = node;
    if (!node) return TUTTI_ERR_NOMEM;
    start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const element_record *r = &a->element[i];
        TUTTI_ASSERT(i == 0 || r[-1].position < r->position);
        position[i] = r->position;
        own[i] = r->own == a->me;
        v->own_elements += own[i];
        type[i] = (uint8_t)r->type;
        physical[i] = r->physical;
        entity[i] = r->entity;
        start[i + 1] = start[i] + tutti_mesh_type_nodes(r->type);
        for (tutti_count j = start[i]; j < start[i + 1]; j++) {
            node[j] = local_number(v, r->node[j - start[i]]);
            TUTTI_ASSERT(node[j] >= 0);
        }
    }
    v->elements = a->elements;
    return TUTTI_OK;
}

/* Make the lists of nodes to send to and to receive from each rank.  Lists are counted, then filled
 * in local order, in which node numbers ascend. */
static tutti_err put_halo(assembly *a, int ranks) {
    tutti_mesh_part_view *v = &a->part->view;
    tutti_count *sends = tutti__calloc((size_t)ranks + 1, sizeof *sends);
    tutti_count *gets = tutti__calloc((size_t)ranks + 1, sizeof *gets);
    int *peer = tutti__malloc(((size_t)ranks + 1) * sizeof *peer);
    tutti_count *send_start = tutti__calloc((size_t)ranks + 2, sizeof *send_start);
    tutti_count *get_start = tutti__calloc((size_t)ranks + 2, sizeof *get_start);
    int *send = NULL, *get = NULL;
    v->peer = peer;
    v->send_start = send_start;
    v->receive_start = get_start;
    tutti_err err = TUTTI_ERR_NOMEM;
    if (!sends || !gets || !peer || !send_start || !get_start) goto done;
    for (tutti_count i = 0; i < v->own_nodes; i++)
        for (tutti_count j = v->holder_start[i] + 1; j < v->holder_start[i + 1]; j++)
            sends[v->holder[j]]++;
    for (tutti_count i = v->own_nodes; i < v->nodes; i++) gets[v->owner[i]]++;
    for (int r = 0; r < ranks; r++) {
        if (sends[r] == 0 && gets[r] == 0) continue;
        send_start[v->peers + 1] = send_start[v->peers] + sends[r];
        get_start[v->peers + 1] = get_start[v->peers] + gets[r];
        sends[r] = send_start[v->peers]; /* from now on: index of the next free entry */
        gets[r] = get_start[v->peers];
        peer[v->peers++] = r;
    }
    v->send = send = tutti__malloc(((size_t)send_start[v->peers] + 1) * sizeof *send);
    v->receive = get = tutti__malloc(((size_t)get_start[v->peers] + 1) * sizeof *get);
    if (!send || !get) goto done;
    for (tutti_count i = 0; i < v->own_nodes; i++)
        for (tutti_count j = v->holder_start[i] + 1; j < v->holder_start[i + 1]; j++)
            send[sends[v->holder[j]]++] = (int)i;
    for (tutti_count i = v->own_nodes; i < v->nodes; i++) get[gets[v->owner[i]]++] = (int)i;
    err = TUTTI_OK;
done:
    tutti__free(sends);
    tutti__free(gets);
    return err;
}

const tutti__class tutti__mesh_part_class = {"mesh_part", "mesh part", "freed"};

static void free_part(tutti_mesh_part *p) {
    tutti_mesh_part_view *v = &p->view;
    const void *const all[] = {v->number,      v->own,           v->owner,    v->coordinates,
                               v->tag,         v->holder_start,  v->holder,   v->element,
                               v->element_own, v->type,          v->physical, v->entity,
                               v->start,       v->node,          v->peer,     v->send_start,
                               v->send,        v->receive_start, v->receive,  p->box};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tutti__free((void *)all[i]);
    tutti__handle_remove(&p->handle);
    if (p->team) tutti__mesh_team_leave(&p->team, &p->uses);
    tutti__free(p);
}

static tutti_err assemble_part(tutti_mesh *m, const int *of, assembly *a) {
    tutti_count *start = NULL;
    int *holder = NULL;
    TUTTI_TRY(tutti__mesh_classify(m, of, &start, &holder));
    const tutti__mesh_data *d = &m->own;
    const tutti_count n = start[d->nodes];
    node_record *v = tutti__malloc(((size_t)n + 1) * sizeof *v);
    for (tutti_count i = 0; i < d->nodes && v; i++) {
        const double *x = d->coordinates + 3 * i;
        for (tutti_count j = start[i]; j < start[i + 1]; j++)
            v[j] = (node_record){m->first_node + i,
                                 d->tag[i],
                                 {x[0], x[1], x[2]},
                                 holder[start[i]],
                                 (int)(start[i + 1] - start[i])};
    }
    tutti_err err = tutti__send_records(m->team, v ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *v, n, v,
                                        holder, &a->nodes, (void **)&a->node);
    tutti__free(v);
    /* Send the list of holders of a node to each holder; a node with one holder needs no list. */
    if (err == TUTTI_OK) {
        tutti_count sent = 0;
        for (tutti_count i = 0; i < m->own.nodes; i++) {
            const tutti_count k = start[i + 1] - start[i];
            sent += k > 1 ? k * k : 0;
        }
        holder_record *holders = tutti__malloc(((size_t)sent + 1) * sizeof *holders);
        int *to = tutti__malloc(((size_t)sent + 1) * sizeof *to);
        sent = 0;
        for (tutti_count i = 0; i < m->own.nodes && holders && to; i++) {
            if (start[i + 1] - start[i] == 1) continue;
            for (tutti_count j = start[i]; j < start[i + 1]; j++)
                for (tutti_count k = start[i]; k < start[i + 1]; k++) {
                    holders[sent] =
                        (holder_record){m->first_node + i, holder[k], (int)(k - start[i])};
                    to[sent++] = holder[j];
                }
        }
        const tutti_err sent_err = tutti__send_records(
            m->team, holders && to ? TUTTI_OK : TUTTI_ERR_NOMEM, sizeof *holders, sent, holders, to,
            &a->holders, (void **)&a->holder);
        tutti__free(holders);
        tutti__free(to);
        err = sent_err;
    }
    tutti_mesh_lists_free(&start, &holder);
    if (err == TUTTI_OK) err = send_elements_to_parts(m, of, &a->elements, &a->element);
    TUTTI_TRY(err);
    a->part->view.all_nodes = m->all_nodes;
    a->part->view.all_elements = m->all_elements;
    err = put_nodes(a);
    if (err == TUTTI_OK) err = put_holders(a);
    if (err == TUTTI_OK) err = put_elements(a);
    if (err == TUTTI_OK) err = put_halo(a, m->team->size);
    return tutti__team_agree(m->team, err);
}

tutti_err tutti_mesh_part_make(tutti_mesh *m, const int *of, tutti_mesh_part **p_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__mesh_live(m));
    assembly a = {.me = m->team->rank};
    tutti_err err = tutti__mesh_of_check(m, of, m->team->size);
    if (err == TUTTI_OK && !p_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument p_out is NULL");
    if (err == TUTTI_OK) {
        a.part = tutti__calloc(1, sizeof *a.part);
        if (!a.part) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__object_call(&m->object, &(tutti__call){.name = "part_make"}, err);
    if (err == TUTTI_OK) err = assemble_part(m, of, &a);
    tutti__free(a.node);
    tutti__free(a.holder);
    tutti__free(a.element);
    if (err != TUTTI_OK) {
        if (a.part) free_part(a.part);
        return err;
    }
    a.part->team = m->team;
    a.part->uses = m->uses;
    ++*m->uses;
    tutti__handle_add(&a.part->handle, &tutti__mesh_part_class);
    TUTTI_ASSERT(tutti__mesh_part_is_valid(a.part));
    *p_out = a.part;
    return TUTTI_OK;
}

void tutti_mesh_part_free(tutti_mesh_part **p) {
    if (!p || !*p) return;
    if (tutti__handle_alive(&(*p)->handle, &tutti__mesh_part_class)) free_part(*p);
    *p = NULL;
}

int tutti__mesh_part_is_valid(const tutti_mesh_part *p) {
    const tutti_mesh_part_view *v = &p->view;
    tutti_count own = 0;
    if (p->handle.class != &tutti__mesh_part_class || !p->team || !p->uses || *p->uses < 1)
        return 0;
    if (v->own_nodes < 0 || v->own_nodes > v->nodes || v->nodes > v->all_nodes) return 0;
    if (v->own_elements < 0 || v->own_elements > v->elements) return 0;
    for (tutti_count i = 0; i < v->nodes; i++) {
        if (v->own[i] != (v->owner[i] == p->team->rank)) return 0;
        if (v->holder_start[i] >= v->holder_start[i + 1]) return 0;
        if (v->holder[v->holder_start[i]] != v->owner[i]) return 0;
        own += v->own[i];
    }
    for (tutti_count e = 0; e < v->elements; e++)
        if (v->start[e + 1] - v->start[e] != tutti_mesh_type_nodes(v->type[e])) return 0;
    for (int k = 0; k < v->peers; k++) {
        if (v->peer[k] < 0 || v->peer[k] >= p->team->size || v->peer[k] == p->team->rank) return 0;
        if (v->send_start[k] > v->send_start[k + 1] ||
            v->receive_start[k] > v->receive_start[k + 1])
            return 0;
    }
    return own == v->own_nodes && (p->box_n == 0 || p->box);
}

static tutti_err check_part_live(const tutti_mesh_part *p) {
    TUTTI_TRY(tutti__object_live(p, &tutti__mesh_part_class));
    TUTTI_ASSERT(tutti__mesh_part_is_valid(p));
    return TUTTI_OK;
}

tutti_err tutti_mesh_part_sized(const tutti_mesh_part *p, tutti_mesh_part_view *out,
                                size_t struct_size) {
    TUTTI_TRY(check_part_live(p));
    TUTTI_CHECK(out != NULL, TUTTI_ERR_ARG, "argument out is NULL");
    tutti__struct_copy(out, struct_size, &p->view, sizeof p->view);
    return TUTTI_OK;
}

/* ---- exchange */

static tutti_err check_values(tutti_mesh_part *p, const double *values, int per) {
    const tutti_mesh_part_view *v = &p->view;
    TUTTI_CHECK(per >= 1, TUTTI_ERR_ARG, "per_node is %d: must be >= 1", per);
    TUTTI_CHECK(values || v->nodes == 0, TUTTI_ERR_ARG, "argument values is NULL");
    const tutti_count n = v->send_start[v->peers] + v->receive_start[v->peers];
    TUTTI_CHECK(
        n < INT32_MAX / ((tutti_count)per * (tutti_count)sizeof *values), TUTTI_ERR_OVERFLOW,
        "exchanged values of %lld nodes, %d per node, exceed 2^31 bytes", (long long)n, per);
    if (n * per <= p->box_n && p->box) return TUTTI_OK;
    double *box = tutti__realloc(p->box, ((size_t)(n * per) + 1) * sizeof *box);
    if (!box) return TUTTI_ERR_NOMEM;
    p->box = box;
    p->box_n = n * per;
    return TUTTI_OK;
}

/* Send the values of own nodes to the ranks with copies, and receive the values of copies. */
static tutti_err exchange_values(tutti_mesh_part *p, double *values, int per, MPI_Request *r) {
    const tutti_mesh_part_view *v = &p->view;
    const size_t item = (size_t)per * sizeof *values;
    const int tag = tutti__team_tag(p->team);
    double *out = p->box, *in = p->box + v->send_start[v->peers] * per;
    for (int i = 0; i < v->peers; i++) {
        const tutti_count n = v->receive_start[i + 1] - v->receive_start[i];
        TUTTI_MPI(MPI_Irecv(in + v->receive_start[i] * per, (int)n * per, MPI_DOUBLE, v->peer[i],
                            tag, p->team->comm, &r[i]));
    }
    for (tutti_count i = 0; i < v->send_start[v->peers]; i++)
        memcpy(out + i * per, values + (tutti_count)v->send[i] * per, item);
    for (int i = 0; i < v->peers; i++) {
        const tutti_count n = v->send_start[i + 1] - v->send_start[i];
        TUTTI_MPI(MPI_Isend(out + v->send_start[i] * per, (int)n * per, MPI_DOUBLE, v->peer[i], tag,
                            p->team->comm, &r[v->peers + i]));
    }
    TUTTI_TRY(tutti__team_finish(2 * v->peers, r));
    for (tutti_count i = 0; i < v->receive_start[v->peers]; i++)
        memcpy(values + (tutti_count)v->receive[i] * per, in + i * per, item);
    return TUTTI_OK;
}

tutti_err tutti_mesh_part_exchange(tutti_mesh_part *p, double *values, int per_node) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(check_part_live(p));
    const tutti__call o = {.name = "exchange",
                           .what = "the number of values per node",
                           .hash = tutti__hash(TUTTI__HASH_START, &per_node, sizeof per_node)};
    tutti_err err = check_values(p, values, per_node);
    MPI_Request *r = NULL;
    if (err == TUTTI_OK) {
        r = tutti__malloc((2 * (size_t)p->view.peers + 1) * sizeof *r);
        if (!r) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__object_call(&p->object, &o, err);
    if (err == TUTTI_OK) err = exchange_values(p, values, per_node, r);
    tutti__free(r);
    return err;
}
