/* mesh: METIS, on one rank.
 *
 * Its numbers may have only 32 bits: then loads are scaled so that their sum fits.  With one part
 * METIS 5.1 divides by zero.  Where a bisection leaves fewer nodes than parts on one side, it prints
 * "Cannot bisect a graph with 0 vertices!" to standard output.  That happens with few nodes per part
 * and with nodes that are heavier than a part: METIS is called for neither.  While it runs it has handlers of SIGTERM and SIGABRT of its own, by which
 * it leaves its own errors; what it puts back afterwards has lost its flags, so that we put the program's back.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_impl.h"

int tutti_mesh_has_metis(void) {
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

/* Loads for METIS: as they are if their sum fits, else scaled; those above 0 stay above 0. */
static void scale(tutti_count n, const tutti_count *load, idx_t *out) {
    const double most = (double)IDX_MOST / 4;
    double sum = 0;
    for (tutti_count i = 0; i < n; i++) sum += (double)load[i];
    const double by = sum > most ? most / (sum + (double)n) : 1;
    for (tutti_count i = 0; i < n; i++) {
        out[i] = (idx_t)((double)load[i] * by);
        if (out[i] == 0 && load[i] > 0) out[i] = 1;
    }
}

static tutti_err run(const tutti__mesh_graph *g, idx_t *weight, idx_t *start, idx_t *to,
                     idx_t *part, int parts) {
    idx_t n = (idx_t)g->nodes, constraints = 1, k = parts, cut = 0;
    idx_t options[METIS_NOPTIONS];
    struct sigaction term, abrt;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1; /* the same graph always gives the same */
    sigaction(SIGTERM, NULL, &term);
    sigaction(SIGABRT, NULL, &abrt);
    const int code = METIS_PartGraphKway(&n, &constraints, start, to, weight, NULL, NULL, &k, NULL,
                                         NULL, options, &cut, part);
    sigaction(SIGTERM, &term, NULL);
    sigaction(SIGABRT, &abrt, NULL);
    TUTTI_CHECK(code != METIS_ERROR_MEMORY, TUTTI_ERR_NOMEM, "METIS has not enough memory");
    TUTTI_CHECK(code == METIS_OK, TUTTI_ERR_CANCELLED,
                "METIS has given up (code %d), as it also does if a SIGTERM comes", code);
    return TUTTI_OK;
}

/* At least so many nodes with load per part, none heavier than this share of a part, and as many
 * neighbours as nodes. */
enum { NODES_PER_PART = 16, SHARE_OF_PART = 4 };

int tutti__metis_suits(const tutti__mesh_graph *g, const tutti_count *load, int parts) {
    const tutti_count n = g->nodes;
    tutti_count loaded = 0, most = 0;
    double sum = 0;
    for (tutti_count i = 0; i < n; i++) {
        loaded += load[i] > 0;
        most = tutti__max(most, load[i]);
        sum += (double)load[i];
    }
    if (loaded == 0) loaded = n; /* all are 1 then */
    return parts > 1 && loaded / parts >= NODES_PER_PART && g->start[n] >= n &&
           (double)most * SHARE_OF_PART * parts <= sum;
}

tutti_err tutti__metis(const tutti__mesh_graph *g, const tutti_count *load, int parts,
                       int *of_out) {
    const tutti_count n = g->nodes, entries = g->start[n];
    TUTTI_CHECK(n < IDX_MOST && entries < IDX_MOST, TUTTI_ERR_OVERFLOW,
                "%lld nodes with %lld neighbours: too many for the %d-bit numbers of this METIS; "
                "partition by the curve or by rcb",
                (long long)n, (long long)entries, (int)(8 * sizeof(idx_t)));
    idx_t *v = tutti__malloc((3 * (size_t)n + (size_t)entries + 1) * sizeof *v);
    if (!v) return TUTTI_ERR_NOMEM;
    idx_t *start = v, *weight = start + n + 1, *part = weight + n, *to = part + n;
    for (tutti_count i = 0; i <= n; i++) start[i] = (idx_t)g->start[i];
    for (tutti_count i = 0; i < entries; i++) to[i] = (idx_t)g->to[i];
    tutti_count sum = 0;
    for (tutti_count i = 0; i < n && load; i++) sum |= load[i];
    if (sum != 0) scale(n, load, weight);
    const tutti_err err = run(g, sum != 0 ? weight : NULL, start, to, part, parts);
    for (tutti_count i = 0; i < n && err == TUTTI_OK; i++) of_out[i] = (int)part[i];
    tutti__free(v);
    return err;
}

#else

int tutti__metis_suits(const tutti__mesh_graph *g, const tutti_count *load, int parts) {
    (void)g;
    (void)load;
    (void)parts;
    return 0;
}

tutti_err tutti__metis(const tutti__mesh_graph *g, const tutti_count *load, int parts,
                       int *of_out) {
    (void)g;
    (void)load;
    (void)parts;
    (void)of_out;
    TUTTI_FAIL(TUTTI_ERR_UNSUPPORTED, "METIS is not built in (Debian: libmetis-dev)");
}

#endif
