/* The part of the mesh on this rank.
 *
 * Each rank has its own elements and one layer of ghost elements, so all elements at a computed
 * node are local.  The lowest rank with an own element at a node computes the node.  A distributed
 * directory stores that rank: rank (id modulo ranks) has the entry of node id.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *room(int64_t n, size_t size) {
    void *p = calloc((size_t)(n > 0 ? n : 1), size);
    if (!p) give_up("cannot allocate %lld times %zu bytes", (long long)n, size);
    return p;
}

void must(tutti_err err) {
    if (err) give_up("%s", tutti_last_message());
}

_Noreturn void give_up(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "heat: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Integers sent to, or received from, each rank, in rank order. */
typedef struct post {
    int *count, *start; /* [ranks] number of integers, [ranks + 1] offsets in `data` */
    int64_t *data;
} post;

static post post_make(int ranks) {
    return (post){room(ranks, sizeof(int)), room(ranks + 1, sizeof(int)), NULL};
}

static void post_free(post *p) {
    free(p->count);
    free(p->start);
    free(p->data);
}

static void post_starts(post *p, int ranks) {
    for (int r = 0; r < ranks; r++) p->start[r + 1] = p->start[r] + p->count[r];
}

/* Exchange messages between all ranks; returns the received integers. */
static post post_send(const domain *d, const post *out) {
    post in = post_make(d->ranks);
    MPI_Alltoall(out->count, 1, MPI_INT, in.count, 1, MPI_INT, d->comm);
    post_starts(&in, d->ranks);
    in.data = room(in.start[d->ranks], sizeof *in.data);
    MPI_Alltoallv(out->data, out->count, out->start, MPI_INT64_T, in.data, in.count, in.start,
                  MPI_INT64_T, d->comm);
    return in;
}

typedef struct entry {
    int64_t id;
    int from, at;
} entry;

static int by_id_and_rank(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : x->from - y->from;
}

/* Look up nodes in the directory: replace each received node by the rank that computes it. */
static void look_up(const domain *d, post *told) {
    const int n = told->start[d->ranks];
    entry *all = room(n, sizeof *all);
    for (int r = 0; r < d->ranks; r++)
        for (int i = told->start[r]; i < told->start[r + 1]; i++)
            all[i] = (entry){told->data[i] / 2, told->data[i] % 2 ? r : d->ranks, i};
    qsort(all, (size_t)n, sizeof *all, by_id_and_rank);
    for (int i = 0, first = 0; i < n; i++) {
        if (all[i].id != all[first].id) first = i;
        told->data[all[i].at] = all[first].from;
    }
    free(all);
}

/* Determine the rank that computes each node.  near: nodes of the own elements of this rank. */
static int *find_owners(const domain *d, const unsigned char *near) {
    post out = post_make(d->ranks);
    for (int i = 0; i < d->nodes; i++) out.count[d->id[i] % d->ranks]++;
    post_starts(&out, d->ranks);
    out.data = room(d->nodes, sizeof *out.data);
    int *next = room(d->ranks, sizeof *next), *place = room(d->nodes, sizeof *place);
    for (int i = 0; i < d->nodes; i++) {
        const int to = (int)(d->id[i] % d->ranks);
        place[i] = out.start[to] + next[to]++;
        out.data[place[i]] = 2 * d->id[i] + near[i];
    }
    post told = post_send(d, &out);
    look_up(d, &told);
    post answer = post_send(d, &told);
    int *owner = room(d->nodes, sizeof *owner);
    for (int i = 0; i < d->nodes; i++) owner[i] = (int)answer.data[place[i]];
    post_free(&out);
    post_free(&told);
    post_free(&answer);
    free(next);
    free(place);
    return owner;
}

static int find_node(const domain *d, const entry *sorted, int64_t id) {
    const entry key = {.id = id};
    const entry *e = bsearch(&key, sorted, (size_t)d->nodes, sizeof key, by_id_and_rank);
    return e ? e->at : -1;
}

/* Create the lists of nodes to receive from each rank, and send them to these ranks, which thus get
 * their lists of nodes to send. */
static void make_exchange(domain *d, const int *owner) {
    post ask = post_make(d->ranks);
    for (int i = 0; i < d->nodes; i++)
        if (owner[i] != d->rank) ask.count[owner[i]]++;
    post_starts(&ask, d->ranks);
    ask.data = room(ask.start[d->ranks], sizeof *ask.data);
    d->take_start = ask.start;
    d->take = room(ask.start[d->ranks], sizeof *d->take);
    int *next = room(d->ranks, sizeof *next);
    for (int i = 0; i < d->nodes; i++) {
        d->own[i] = owner[i] == d->rank;
        if (d->own[i]) continue;
        const int at = ask.start[owner[i]] + next[owner[i]]++;
        d->take[at] = i;
        ask.data[at] = d->id[i];
    }
    post asked = post_send(d, &ask);
    entry *sorted = room(d->nodes, sizeof *sorted);
    for (int i = 0; i < d->nodes; i++) sorted[i] = (entry){.id = d->id[i], .at = i};
    qsort(sorted, (size_t)d->nodes, sizeof *sorted, by_id_and_rank);
    d->give_start = asked.start;
    d->give = room(asked.start[d->ranks], sizeof *d->give);
    for (int i = 0; i < asked.start[d->ranks]; i++) {
        d->give[i] = find_node(d, sorted, asked.data[i]);
        if (d->give[i] < 0) give_up("node %lld is not here", (long long)asked.data[i]);
    }
    d->given = room(asked.start[d->ranks], sizeof *d->given);
    d->taken = room(ask.start[d->ranks], sizeof *d->taken);
    free(ask.count);
    free(ask.data);
    free(asked.count);
    free(asked.data);
    free(sorted);
    free(next);
}

static int by_element_id(const void *a, const void *b) {
    const element *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void read_elements(domain *d, const tutti_exodus_mesh *m) {
    for (int k = 0; k < 2; k++) d->in_block[k] = (int)m->blocks[k].n;
    d->elements = d->in_block[0] + d->in_block[1];
    d->element = room(d->elements, sizeof *d->element);
    for (int k = 0, n = 0; k < 2; k++)
        for (int e = 0; e < d->in_block[k]; e++, n++) {
            d->element[n] = (element){.id = m->blocks[k].ids[e], .block = k, .place = e};
            const int width = k == 0 ? 8 : 4;
            for (int a = 0; a < width; a++)
                d->element[n].node[a] = (int)m->blocks[k].nodes[(int64_t)e * width + a];
        }
    qsort(d->element, (size_t)d->elements, sizeof *d->element, by_element_id);
}

static int by_element_and_number(const void *a, const void *b) {
    const side *x = a, *y = b;
    return x->element != y->element ? x->element - y->element : x->number - y->number;
}

static void read_sides(domain *d, const tutti_exodus_members *set) {
    int *now = room(d->elements, sizeof *now); /* index of the element by its position */
    for (int e = 0; e < d->elements; e++)
        now[d->element[e].place + (d->element[e].block ? d->in_block[0] : 0)] = e;
    d->sides = (int)set->n;
    d->side = room(d->sides, sizeof *d->side);
    const double *factor = set->factors;
    for (int i = 0; i < d->sides; i++) {
        side *s = &d->side[i];
        *s = (side){.element = now[set->members[i]], .number = set->sides[i]};
        const char *topology = d->element[s->element].block == 0 ? "HEX8" : "TET4";
        const int corners = tutti_exodus_side_nodes(topology, 0, 3, s->number, NULL);
        for (int a = 0; a < corners; a++) s->factor[a] = factor ? *factor++ : 1;
    }
    qsort(d->side, (size_t)d->sides, sizeof *d->side, by_element_and_number);
    free(now);
}

domain *domain_make(MPI_Comm comm, const tutti_exodus_mesh *m, const tutti_count own[2]) {
    domain *d = room(1, sizeof *d);
    d->comm = comm;
    MPI_Comm_rank(comm, &d->rank);
    MPI_Comm_size(comm, &d->ranks);
    d->nodes = (int)m->nodes;
    d->id = room(d->nodes, sizeof *d->id);
    d->at = room(d->nodes, sizeof *d->at);
    d->own = room(d->nodes, 1);
    d->cold = room(d->nodes, 1);
    for (int i = 0; i < d->nodes; i++) {
        d->id[i] = m->node_ids[i];
        for (int c = 0; c < 3; c++) d->at[i][c] = ((const double *)m->coordinates[c])[i];
    }
    for (tutti_count i = 0; i < m->node_sets[0].n; i++) d->cold[m->node_sets[0].members[i]] = 1;
    read_elements(d, m);
    read_sides(d, &m->side_sets[0]);
    unsigned char *near = room(d->nodes, 1);
    for (int e = 0; e < d->elements; e++)
        for (int a = 0; a < (d->element[e].block == 0 ? 8 : 4); a++)
            if (d->element[e].place < own[d->element[e].block]) near[d->element[e].node[a]] = 1;
    int *owner = find_owners(d, near);
    make_exchange(d, owner);
    free(near);
    free(owner);
    long long mine = 0, all = 0;
    for (int i = 0; i < d->nodes; i++) mine += d->own[i];
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, comm);
    d->all_nodes = all;
    return d;
}

void domain_free(domain *d) {
    if (!d) return;
    void *all[] = {d->id,         d->at,   d->own,        d->cold, d->element, d->side,
                   d->give_start, d->give, d->take_start, d->take, d->given,   d->taken};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(d);
}

void domain_exchange(const domain *d, double *values) {
    int *counts = room(2 * d->ranks, sizeof *counts);
    for (int r = 0; r < d->ranks; r++) {
        counts[r] = d->give_start[r + 1] - d->give_start[r];
        counts[d->ranks + r] = d->take_start[r + 1] - d->take_start[r];
    }
    for (int i = 0; i < d->give_start[d->ranks]; i++) d->given[i] = values[d->give[i]];
    MPI_Alltoallv(d->given, counts, d->give_start, MPI_DOUBLE, d->taken, counts + d->ranks,
                  d->take_start, MPI_DOUBLE, d->comm);
    for (int i = 0; i < d->take_start[d->ranks]; i++) values[d->take[i]] = d->taken[i];
    free(counts);
}

/* Sum values that are truncated to integer multiples of 2^-62 of the largest value, so that the sum
 * does not depend on the order.  Each integer is divided into two halves, since a sum of up to 2^31
 * of them does not fit into 64 bits. */
double domain_sum(const domain *d, int n, const double *values) {
    double largest = 0, all = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(values[i]));
    MPI_Allreduce(&largest, &all, 1, MPI_DOUBLE, MPI_MAX, d->comm);
    if (all == 0 || !isfinite(all)) return all;
    int exponent;
    (void)frexp(all, &exponent);
    int64_t sum[2] = {0, 0}, total[2];
    for (int i = 0; i < n; i++) {
        const double v = ldexp(values[i], 30 - exponent), high = floor(v);
        sum[0] += (int64_t)high;
        sum[1] += (int64_t)ldexp(v - high, 32);
    }
    MPI_Allreduce(sum, total, 2, MPI_INT64_T, MPI_SUM, d->comm);
    return ldexp((double)total[0] + ldexp((double)total[1], -32), exponent - 30);
}
