/* The ids of a list that are valid in a segment: those of the last topology with ids up to the segment.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <stdlib.h>
#include <string.h>

int dataset_is_list(const dataset_catalogue *c, const char *space) {
    tutti_space_row row;
    for (tutti_count i = 0; i < tutti_dataset_spaces(c->d); i++)
        if (tutti_dataset_space_row(c->d, i, &row) == TUTTI_OK && strcmp(row.name, space) == 0)
            return row.is_list;
    return 0;
}

void dataset_ids_free(dataset_ids *ids) {
    free(ids->space);
    free(ids->v);
    *ids = (dataset_ids){.topology = -1};
}

/* Find the topology that defines the ids; *out -1: positions are ids.  A topology that changes the size
 * without ids invalidates earlier ids. */
static int topology_find(const dataset_catalogue *c, const char *space, tutti_count segment,
                         tutti_count n, tutti_count *out) {
    char *name = cli_format("%s:ids", space);
    int found = 0;
    *out = -1;
    for (tutti_count g = segment; g >= 0 && !found; g--) {
        tutti_segment s;
        tutti_section_row row;
        int ndims = 0;
        tutti_count shape[TUTTI_MAX_DIMS] = {0};
        if (tutti_dataset_segment(c->d, g, &s) != TUTTI_OK ||
            tutti_dataset_shape(c->d, space, g, &ndims, shape) != TUTTI_OK || shape[0] != n)
            break;
        if (s.kind == TUTTI_TOPOLOGY) found = dataset_has(c, g, name, &row);
        if (found > 0) *out = g;
    }
    free(name);
    return found < 0;
}

static int compare_list_ids(const void *a, const void *b) {
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

int dataset_ids_get(const dataset_catalogue *c, const char *space, tutti_count topology,
                    tutti_count n, int64_t *id) {
    const tutti_decomposition_spec all = {.kind = TUTTI_BY_RANK_ORDER, .n = n};
    char *name = cli_format("%s:ids", space);
    tutti_decomposition *entries = NULL;
    tutti_err err = tutti_decomposition_create_at(c->d, space, topology, &all, &entries);
    if (err == TUTTI_OK)
        err = tutti_dataset_get(c->d, topology, 1, &(tutti_get){name, entries, TUTTI_INT64, id});
    if (err != TUTTI_OK) cli_error_tutti();
    tutti_decomposition_free(&entries);
    free(name);
    return err != TUTTI_OK;
}

int dataset_ids_read(const dataset_catalogue *c, const char *space, tutti_count segment,
                     dataset_ids *io) {
    int ndims = 0;
    tutti_count shape[TUTTI_MAX_DIMS] = {0}, topology = -1;
    if (tutti_dataset_shape(c->d, space, segment, &ndims, shape) != TUTTI_OK)
        return cli_error_tutti();
    const tutti_count n = shape[0];
    if (topology_find(c, space, segment, n, &topology)) return 1;
    if (io->space && strcmp(io->space, space) == 0 && io->topology == topology && io->n == n)
        return 0;
    dataset_ids_free(io);
    int64_t *id = cli_malloc((size_t)n * sizeof *id + 1);
    const int failed = topology >= 0 && dataset_ids_get(c, space, topology, n, id);
    if (!failed) {
        io->space = cli_strdup(space);
        io->topology = topology;
        io->n = n;
        io->v = cli_malloc((size_t)n * sizeof *io->v + 1);
        for (tutti_count i = 0; i < n; i++) {
            io->v[i].id = topology >= 0 ? id[i] : i;
            io->v[i].position = i;
        }
        qsort(io->v, (size_t)n, sizeof *io->v, compare_list_ids);
    }
    free(id);
    return failed;
}
