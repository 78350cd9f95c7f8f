/* decomposition: partitioning by METIS, on one rank.
 *
 * If METIS has integers of 32 bits, weights are scaled so that their sum fits.  With one part METIS
 * 5.1 divides by zero.  If a bisection leaves fewer nodes than parts on one side, METIS prints
 * "Cannot bisect a graph with 0 vertices!" to standard output.  This occurs with few nodes per part
 * and with nodes that are heavier than a part, so METIS is not called for such graphs.  While METIS
 * runs, it handles SIGTERM and SIGABRT to return from its own errors.  METIS restores the handlers
 * of the program without their flags, so this file restores them completely.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/partition.h"

int tutti__has_metis(void) {
#ifdef TUTTI_HAVE_METIS
    return 1;
#else
    return 0;
#endif
}

#ifdef TUTTI_HAVE_METIS
#include <limits.h>
#include <metis.h>
#include <signal.h>

#define IDX_MOST (sizeof(idx_t) == 4 ? (int64_t)INT32_MAX : INT64_MAX)

static tutti_err run_metis(const tutti__graph *g, idx_t *weight, idx_t *start, idx_t *to,
                           idx_t *part, int parts) {
    idx_t n = (idx_t)g->nodes, constraints = 1, k = parts, cut = 0;
    idx_t options[METIS_NOPTIONS];
    struct sigaction term, abrt;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1; /* makes results reproducible */
    sigaction(SIGTERM, NULL, &term);
    sigaction(SIGABRT, NULL, &abrt);
    const int code = METIS_PartGraphKway(&n, &constraints, start, to, weight, NULL, NULL, &k, NULL,
                                         NULL, options, &cut, part);
    sigaction(SIGTERM, &term, NULL);
    sigaction(SIGABRT, &abrt, NULL);
    TUTTI_CHECK(code != METIS_ERROR_MEMORY, TUTTI_ERR_NOMEM, "METIS ran out of memory");
    TUTTI_CHECK(code == METIS_OK, TUTTI_ERR_CANCELLED,
                "METIS failed with code %d: invalid input or SIGTERM", code);
    return TUTTI_OK;
}

/* Minimal number of nodes with a weight above 0 per part; a node may have at most 1 / SHARE_OF_PART
 * of the mean weight of a part. */
enum { NODES_PER_PART = 16, SHARE_OF_PART = 4 };

int tutti__metis_suits(const tutti__graph *g, const tutti_count *weight, int parts) {
    const tutti_count n = g->nodes;
    tutti_count weighted = 0, most = 0;
    double sum = 0;
    for (tutti_count i = 0; i < n; i++) {
        weighted += weight[i] > 0;
        most = tutti__max(most, weight[i]);
        sum += (double)weight[i];
    }
    if (weighted == 0) weighted = n; /* all weights are 0 and count as 1 */
    return parts > 1 && weighted / parts >= NODES_PER_PART && g->start[n] >= n &&
           (double)most * SHARE_OF_PART * parts <= sum;
}

tutti_err tutti__metis(const tutti__graph *g, const tutti_count *weight, int parts, int *part_out) {
    const tutti_count n = g->nodes, entries = g->start[n];
    TUTTI_CHECK(
        n < IDX_MOST && entries < IDX_MOST, TUTTI_ERR_OVERFLOW,
        "%lld nodes with %lld neighbours exceed the %d-bit integers of this METIS: partition by "
        "the curve or by rcb",
        (long long)n, (long long)entries, (int)(8 * sizeof(idx_t)));
    idx_t *v = tutti__malloc((3 * (size_t)n + (size_t)entries + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    idx_t *start = v, *scaled = start + n + 1, *part = scaled + n, *to = part + n;
    for (tutti_count i = 0; i <= n; i++) start[i] = (idx_t)g->start[i];
    for (tutti_count i = 0; i < entries; i++) to[i] = (idx_t)g->to[i];
    tutti_count sum = 0;
    for (tutti_count i = 0; i < n && weight; i++) sum |= weight[i];
    /* Weights for METIS are unchanged if their sum fits, otherwise scaled; positive weights remain
     * positive. */
    if (sum != 0) {
        const double most = (double)IDX_MOST / 4;
        double total = 0;
        for (tutti_count i = 0; i < n; i++) total += (double)weight[i];
        const double by = total > most ? most / (total + (double)n) : 1;
        for (tutti_count i = 0; i < n; i++) {
            scaled[i] = (idx_t)((double)weight[i] * by);
            if (scaled[i] == 0 && weight[i] > 0) scaled[i] = 1;
        }
    }
    const tutti_err err = run_metis(g, sum != 0 ? scaled : NULL, start, to, part, parts);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) part_out[i] = (int)part[i];
    tutti__free(v);
    return err;
}

#else

int tutti__metis_suits(const tutti__graph *g, const tutti_count *weight, int parts) {
    (void)g;
    (void)weight;
    (void)parts;
    return 0;
}

tutti_err tutti__metis(const tutti__graph *g, const tutti_count *weight, int parts, int *part_out) {
    (void)g;
    (void)weight;
    (void)parts;
    (void)part_out;
    TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED, "METIS is not built in (Debian: libmetis-dev)");
}

#endif
