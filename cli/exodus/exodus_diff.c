/* tutti exodus diff: compare two files by ids, for any order of nodes and elements.  Each rank compares a
 * range of ids.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/diff.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- definitions */

static void number_compare(exodus_comparison *k, const char *what, long long a, long long b) {
    if (a != b)
        exodus_only(k, cli_format("%s: %lld in %s, %lld in %s", what, a, k->config->path[0], b,
                                  k->config->path[1]));
}

static void text_compare(exodus_comparison *k, const char *what, const char *a, const char *b) {
    if (strcasecmp(a, b) != 0)
        exodus_only(k, cli_format("%s: '%s' in %s, '%s' in %s", what, a, k->config->path[0], b,
                                  k->config->path[1]));
}

static void entity_compare(exodus_comparison *k, const tutti_exodus_entity *a,
                           const tutti_exodus_entity *b) {
    char what[100];
    const char *kind = tutti_exodus_kind_name(a->kind);
    const long long id = a->id;
    snprintf(what, sizeof what, "%s %lld, name", kind, id);
    text_compare(k, what, a->name, b->name);
    if (exodus_is_block(a->kind)) {
        snprintf(what, sizeof what, "%s %lld, topology", kind, id);
        const int both = a->entries > 0 && b->entries > 0; /* empty blocks may lack a topology */
        if (both) text_compare(k, what, a->topology, b->topology);
        snprintf(what, sizeof what, "%s %lld, nodes of an entry", kind, id);
        if (both) number_compare(k, what, a->nodes, b->nodes);
        snprintf(what, sizeof what, "%s %lld, edges of an entry", kind, id);
        if (both) number_compare(k, what, a->edges, b->edges);
        snprintf(what, sizeof what, "%s %lld, faces of an entry", kind, id);
        if (both) number_compare(k, what, a->faces, b->faces);
    }
    snprintf(what, sizeof what, "%s %lld, entries", kind, id);
    if (!exodus_is_map(a->kind)) number_compare(k, what, a->entries, b->entries);
    snprintf(what, sizeof what, "%s %lld, attributes", kind, id);
    number_compare(k, what, a->attributes, b->attributes);
    snprintf(what, sizeof what, "%s %lld, distribution factors", kind, id);
    if (exodus_is_set(a->kind)) number_compare(k, what, a->factors, b->factors);
}

/* ---- the command */

static int files_compare(exodus_comparison *k) {
    int failed = exodus_outline_read(k->x[0], &k->o[0]) || exodus_outline_read(k->x[1], &k->o[1]);
    if (!failed) failed = exodus_variables_known(k->config, 2, k->o);
    if (!failed) {
        const tutti_exodus_parameters *a = &k->o[0].p, *b = &k->o[1].p;
        number_compare(k, "dimensions", a->dims, b->dims);
        number_compare(k, "attributes of nodes", a->node_attributes, b->node_attributes);
        for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++) {
            for (tutti_count i = 0; i < k->o[0].of[kind].n; i++) {
                const tutti_exodus_entity *e = &k->o[0].of[kind].entity[i];
                const tutti_count other = exodus_other(k, kind, i);
                if (other >= 0)
                    entity_compare(k, e, &k->o[1].of[kind].entity[other]);
                else
                    exodus_only(k, cli_format("%s %lld: only in %s", tutti_exodus_kind_name(kind),
                                              (long long)e->id, k->config->path[0]));
            }
            for (tutti_count i = 0; i < k->o[1].of[kind].n; i++) {
                const tutti_exodus_entity *e = &k->o[1].of[kind].entity[i];
                tutti_count at;
                if (tutti_exodus_find(k->x[0], e->kind, e->id, &at) != TUTTI_OK)
                    exodus_only(k, cli_format("%s %lld: only in %s", tutti_exodus_kind_name(kind),
                                              (long long)e->id, k->config->path[1]));
            }
        }
    }
    if (!failed) failed = exodus_diff_mesh(k) || exodus_diff_sets(k) || exodus_diff_steps(k);
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        for (tutti_count i = 0; i < k->commons[kind]; i++) {
            exodus_common *c = &k->common[kind][i];
            for (int f = 0; f < 2; f++) tutti_decomposition_free(&c->entries[f]);
            free(c->id);
            free(c->side);
        }
        free(k->common[kind]);
        k->common[kind] = NULL;
        k->commons[kind] = 0;
    }
    for (int f = 0; f < 2; f++) exodus_outline_free(&k->o[f]);
    return failed;
}

/* Open the next file of both series; *more_out: whether there is one. */
static int next_files(exodus_comparison *k, int *more_out) {
    tutti_err err[2];
    for (int f = 0; f < 2; f++) {
        err[f] = tutti_exodus_next_file(k->x[f]);
        if (err[f] != TUTTI_OK && err[f] != TUTTI_ERR_NOT_FOUND) return cli_error_tutti();
    }
    *more_out = err[0] == TUTTI_OK && err[1] == TUTTI_OK;
    for (int f = 0; f < 2; f++)
        if (err[f] == TUTTI_OK && !*more_out)
            exodus_only(
                k, cli_format("%s: the other one has no such file", tutti_exodus_path(k->x[f])));
    return 0;
}

int exodus_diff(const cli_world *w, const data_config *config) {
    exodus_comparison k = {.world = w, .config = config};
    int failed = 0, more = 1;
    for (int f = 0; f < 2 && !failed; f++)
        if (tutti_exodus_open(w->comm, config->path[f], TUTTI_READ, NULL, &k.x[f]) != TUTTI_OK)
            failed = cli_error_open(config->path[f], "Exodus file");
    while (!failed && more) {
        failed = files_compare(&k);
        if (!failed) failed = next_files(&k, &more);
    }
    int different = k.onlys > 0;
    if (!failed) exodus_outcomes_sum(&k);
    for (int i = 0; i < k.outcomes; i++) different |= k.outcome[i].different > 0;
    if (!failed && k.world->rank == 0) {
        if (k.config->json) {
            int n = 0;
            printf("{\"same\": %s, \"others\": ", different ? "false" : "true");
            cli_json_strings(stdout, k.onlys, k.only);
            printf(",\n \"numbers\": [");
            for (int i = 0; i < k.outcomes; i++) {
                const exodus_outcome *o = &k.outcome[i];
                if (!(o->numbers > 0)) continue;
                printf("%s\n  {\"name\": ", n++ ? "," : "");
                cli_json_string(stdout, o->name);
                printf(", \"of\": \"%s\", \"numbers\": %lld, \"different\": %lld, \"absolute\": ",
                       o->of, (long long)o->numbers, (long long)o->different);
                cli_json_number(stdout, o->absolute);
                cli_json_number_pair(stdout, ", ", "relative", o->relative);
                cli_json_pair(stdout, ", ", "place", o->place);
                putchar('}');
            }
            printf("]}\n");
        } else if (!k.config->quiet) {
            for (int i = 0; i < k.onlys; i++) printf("%s\n", cli_shown(k.only[i]));
            for (int i = 0; i < k.outcomes; i++) {
                const exodus_outcome *o = &k.outcome[i];
                if (o->different == 0) continue;
                printf("%s (%s): %lld of %lld differ", cli_shown(o->name), o->of,
                       (long long)o->different, (long long)o->numbers);
                if (o->absolute > 0)
                    printf(", by at most %.4g (relative %.4g)", o->absolute, o->relative);
                printf("\n  %s %s\n", o->absolute > 0 ? "most" : "first", cli_shown(o->place));
            }
        }
    }
    for (int i = 0; i < k.outcomes; i++) free(k.outcome[i].name);
    for (int i = 0; i < k.onlys; i++) free(k.only[i]);
    free(k.outcome);
    free(k.only);
    const int code = failed ? CLI_FAILED : different ? CLI_DIFFERS : CLI_OK;
    for (int f = 0; f < 2; f++)
        if (k.x[f]) (void)tutti_exodus_close(&k.x[f]);
    return code;
}
