/* The results file: for every bias point the voltages, the currents, and nine values per node.
 *
 *   header    64 bytes   "BIPOLAR1", nodes, values per node, points, fingerprint of the mesh
 *   point 0   64 bytes   voltages of four contacts (V), currents into them (A)
 *             72 bytes   for each node, in the order of node numbers: psi, n, p; J_n (x, y, z);
 *                        J_p (x, y, z).  psi, n and p are scaled as in equations.c, so that a
 *                        resumed run has identical values; J is in A/cm^2
 *   point 1   ...
 *
 * Border nodes are on several ranks.  An inspector chooses their writers once for all points.
 * Copies are updated from their owners before writing: two ranks may compute slightly different
 * values, and the file must not depend on the choice of writers.  A file can be read by any number
 * of ranks.  The number of points is written last, after all other data is on the disk, so that an
 * interrupted run leaves all previous points.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bipolar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 9, BLOCK = 64 };

typedef struct header {
    char magic[8];
    int64_t nodes, values, points;
    uint64_t mesh;
    int64_t unused[3];
} header;

struct results {
    const domain *d;
    tutti_file *file;
    tutti_replicas *nodes;
    double (*value)[VALUES]; /* [held] */
    header head;
};

static const char magic[8] = "BIPOLAR1";

/* Return a hash of the coordinates of all nodes, independent of their distribution. */
static uint64_t fingerprint(const domain *d) {
    uint64_t sum = 0;
    for (int i = 0; i < d->own; i++) {
        uint64_t h = (uint64_t)d->number[i] + 1, bits[3];
        memcpy(bits, d->at[i], sizeof bits);
        for (int x = 0; x < 3; x++) h = (h ^ bits[x]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
        sum += h;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, d->comm);
    return sum;
}

static tutti_off place_of(const results *r, int64_t point) {
    return BLOCK + point * (BLOCK + r->head.nodes * (tutti_off)sizeof *r->value);
}

/* Write a block of the file from rank 0, or read it on all ranks. */
static void block(const results *r, tutti_off offset, void *bytes, int write) {
    tutti_access *access = NULL;
    tutti_off count = 0;
    must(tutti_access_contiguous(offset, !write || r->d->rank == 0 ? BLOCK : 0, &access));
    if (write)
        must(tutti_file_write(r->file, access, bytes, NULL));
    else
        must(tutti_file_read(r->file, access, bytes, &count));
    tutti_access_free(&access);
    if (!write && count < BLOCK) memset(bytes, 0, BLOCK);
}

static results *open_file(const char *path, const domain *d, int mode) {
    results *r = room(1, sizeof *r);
    r->d = d;
    r->value = room(d->held, sizeof *r->value);
    memcpy(r->head.magic, magic, sizeof magic);
    r->head.nodes = d->nodes;
    r->head.values = VALUES;
    r->head.mesh = fingerprint(d);
    must(tutti_file_open(d->comm, path, mode, NULL, &r->file));
    must(tutti_replicas_create(d->comm,
                               &(tutti_replicas_spec){.n = d->held,
                                                      .numbers = d->number,
                                                      .own = d->view.own,
                                                      .load = VALUES,
                                                      .value_bytes = sizeof(double)},
                               &r->nodes));
    return r;
}

results *results_create(const char *path, const domain *d) {
    results *r = open_file(path, d, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE);
    block(r, 0, &r->head, 1);
    return r;
}

results *results_continue(const char *path, state *s) {
    const domain *d = s->d;
    results *r = open_file(path, d, TUTTI_READ | TUTTI_WRITE);
    double bias[2][CONTACTS];
    header found;
    block(r, 0, &found, 0);
    r->head.points = found.points;
    if (memcmp(&found, &r->head, sizeof found) != 0 || found.points < 1)
        give_up(d, "there are no results for this mesh in", path);
    const tutti_off place = place_of(r, found.points - 1);
    block(r, place, bias, 0);
    must(tutti_replicas_read(r->file, place + BLOCK, r->nodes, r->value));
    memcpy(s->volts, bias[0], sizeof s->volts);
    for (int i = 0; i < d->held; i++) {
        s->psi[i] = r->value[i][0];
        s->carrier[ELECTRONS][i] = r->value[i][1];
        s->carrier[HOLES][i] = r->value[i][2];
    }
    return r;
}

void results_write(results *r, const state *s) {
    const tutti_off place = place_of(r, r->head.points);
    double bias[2][CONTACTS];
    memcpy(bias[0], s->volts, sizeof bias[0]);
    terminal_currents(s, bias[1]);
    for (int i = 0; i < r->d->own; i++) {
        r->value[i][0] = s->psi[i];
        for (int c = 0; c < 2; c++) {
            r->value[i][1 + c] = s->carrier[c][i];
            current_density(s, c, i, &r->value[i][3 + 3 * c]);
        }
    }
    domain_refresh(r->d, VALUES, r->value[0]);
    block(r, place, bias, 1);
    must(tutti_replicas_write(r->file, place + BLOCK, r->nodes, r->value, TUTTI_REPLICAS_CHECK));
    must(tutti_file_sync(r->file));
    r->head.points++;
    block(r, 0, &r->head, 1);
}

void results_describe(const results *r, char *text, size_t size) {
    tutti_replicas_stats stats;
    must(tutti_replicas_stats_get(r->nodes, &stats));
    snprintf(text, size,
             "%lld bytes a point, %.1f %% of the nodes on several ranks, %lld intervals",
             (long long)stats.bytes, stats.replication, (long long)stats.intervals);
}

void results_close(results *r) {
    tutti_replicas_free(&r->nodes);
    must(tutti_file_close(&r->file));
    free(r->value);
    free(r);
}
