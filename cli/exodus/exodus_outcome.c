/* tutti exodus diff: results of comparisons, on one rank and on all ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/diff.h"

#include <stdlib.h>
#include <string.h>

int exodus_outcome_of(exodus_comparison *k, const char *name, const char *of) {
    for (int i = 0; i < k->outcomes; i++)
        if (strcmp(k->outcome[i].name, name) == 0 && strcmp(k->outcome[i].of, of) == 0) return i;
    k->outcome = cli_realloc(k->outcome, ((size_t)k->outcomes + 1) * sizeof *k->outcome);
    exodus_outcome *o = &k->outcome[k->outcomes];
    *o = (exodus_outcome){.name = cli_strdup(name), .of = of};
    data_tolerance(k->config, name, o->limit);
    return k->outcomes++;
}

int exodus_outcome_add(exodus_outcome *o, double a, double b) {
    o->numbers++;
    if (a == b) return 0;
    long double by[2];
    if (!cli_numbers_differ((const long double[2]){a, 0}, (const long double[2]){b, 0}, o->limit,
                            by))
        return 0;
    const double absolute = (double)by[0], relative = (double)by[1];
    const int largest = o->different++ == 0 || absolute > o->absolute;
    if (absolute > o->absolute) o->absolute = absolute;
    if (relative > o->relative) o->relative = relative;
    return largest;
}

void exodus_only(exodus_comparison *k, char *text) {
    const size_t n = (size_t)k->onlys + 1;
    if ((n & (n - 1)) == 0) k->only = cli_realloc(k->only, 2 * n * sizeof *k->only);
    k->only[k->onlys++] = text;
}

void exodus_outcomes_sum(exodus_comparison *k) {
    for (int i = 0; i < k->outcomes; i++) {
        exodus_outcome *o = &k->outcome[i];
        const double none = -1;
        struct {
            double value;
            int rank;
        } local = {o->different ? o->absolute : none, k->world->rank}, all;
        int64_t totals[2] = {o->numbers, o->different};
        MPI_Allreduce(MPI_IN_PLACE, totals, 2, MPI_INT64_T, MPI_SUM, k->world->comm);
        MPI_Allreduce(&local, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, k->world->comm);
        o->numbers = totals[0];
        o->different = totals[1];
        o->absolute = all.value < 0 ? 0 : all.value;
        o->relative = cli_max(k->world, o->relative);
        MPI_Bcast(o->place, sizeof o->place, MPI_CHAR, all.rank, k->world->comm);
    }
}

tutti_count exodus_other(const exodus_comparison *k, int kind, tutti_count number) {
    tutti_count other = -1;
    if (kind == TUTTI_EXODUS_NODAL) return 0;
    const int64_t id = k->o[0].of[kind].entity[number].id;
    if (tutti_exodus_find(k->x[1], (tutti_exodus_kind)kind, id, &other) != TUTTI_OK) return -1;
    return other;
}

void exodus_place_text(int kind, int64_t id, int64_t side, char *out, size_t size) {
    const char *what = kind == TUTTI_EXODUS_NODAL || kind == TUTTI_EXODUS_NODE_SET        ? "node"
                       : kind == TUTTI_EXODUS_EDGE_BLOCK || kind == TUTTI_EXODUS_EDGE_SET ? "edge"
                       : kind == TUTTI_EXODUS_FACE_BLOCK || kind == TUTTI_EXODUS_FACE_SET
                           ? "face"
                           : "element";
    if (kind == TUTTI_EXODUS_SIDE_SET)
        snprintf(out, size, "%s %lld, side %lld", what, (long long)id, (long long)side);
    else
        snprintf(out, size, "%s %lld", what, (long long)id);
}
