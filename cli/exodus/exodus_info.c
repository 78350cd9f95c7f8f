/* tutti exodus info: print the contents of a file in finite-element terms.  tutti ls: print a summary.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MANY = 12 }; /* maximum number of entities or steps that ls lists individually */

typedef struct {
    const data_config *config;
    tutti_exodus *x;
    exodus_outline o;
    int format;     /* n of CDF-n */
    int real, ints; /* bits of floating-point numbers and integers; 0: the file has none */
    int has_sidecar;
    tutti_off bytes;
    tutti_count steps;
    double *time;
    int processors; /* number of processors in Nemesis data; 0: none */
} look;

/* ---- properties of the file other than definitions */

static int bits_of(const tutti_exodus *x, const tutti_exodus_array *a) {
    tutti_count entries, numbers;
    tutti_type type;
    if (tutti_exodus_array_size(x, a, &entries, &numbers, &type) != TUTTI_OK) return 0;
    return 8 * (int)tutti_type_size(type);
}

/* Return the bits of integers: those of the first connectivity, map or set in the file. */
static int integer_bits(const look *k) {
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++)
        for (tutti_count i = 0; i < k->o.of[kind].n; i++) {
            const tutti_exodus_array a = {.array_kind = exodus_is_block(kind)
                                                            ? TUTTI_EXODUS_CONNECTIVITY
                                                        : exodus_is_set(kind) ? TUTTI_EXODUS_MEMBERS
                                                                              : TUTTI_EXODUS_MAP,
                                          .kind = (tutti_exodus_kind)kind,
                                          .id = k->o.of[kind].entity[i].id};
            const int bits = bits_of(k->x, &a);
            if (bits) return bits;
        }
    return 0;
}

static int look_at(look *k) {
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_COORDINATES,
                                  .kind = TUTTI_EXODUS_NODAL};
    const char *path = tutti_exodus_path(k->x);
    char *sidecar = cli_format("%s.tutti", path);
    struct stat st = {.st_size = 0};
    exodus_outline_free(&k->o);
    if (exodus_outline_read(k->x, &k->o)) return free(sidecar), 1;
    k->has_sidecar = stat(sidecar, &st) == 0;
    k->bytes = stat(path, &st) == 0 ? st.st_size : 0;
    free(sidecar);
    k->format = cli_netcdf_format(path);
    k->real = bits_of(k->x, &a);
    k->ints = integer_bits(k);
    k->steps = tutti_exodus_steps(k->x);
    k->time = cli_realloc(k->time, (size_t)k->steps * sizeof *k->time);
    if (k->steps > 0 && tutti_exodus_times(k->x, 1, k->steps, k->time) != TUTTI_OK)
        return cli_error_tutti();
    tutti_exodus_nemesis n = {.processors = 0};
    const tutti_err err = tutti_exodus_nemesis_get(k->x, 0, &n);
    if (err == TUTTI_OK) k->processors = n.processors;
    return err == TUTTI_OK || err == TUTTI_ERR_NOT_FOUND ? 0 : cli_error_tutti();
}

/* Return the path of the sidecar, or the reason why it is not used, or "none". */
static char *sidecar_text(const look *k) {
    const char *warning = tutti_exodus_warning(k->x);
    if (warning[0]) return cli_strdup(warning);
    return k->has_sidecar ? cli_format("%s.tutti", tutti_exodus_path(k->x)) : cli_strdup("none");
}

/* ---- text */

static const char *count_text(tutti_count n, const char *what, char out[64]) {
    snprintf(out, 64, "%lld %s%s", (long long)n, what, n == 1 ? "" : "s");
    return out;
}

static void print_names(const char *what, int n, char **names) {
    int some = 0;
    for (int i = 0; names && i < n; i++) some |= names[i][0] != '\0';
    if (!some) return;
    printf("      %s:", what);
    for (int i = 0; i < n; i++)
        printf("%s %s", i ? "," : "", names[i][0] ? cli_shown(names[i]) : "-");
    putchar('\n');
}

static void print_entities(const look *k, int kind, int brief) {
    const exodus_table *t = &k->o.of[kind];
    const tutti_count shown = brief && t->n > MANY ? MANY : t->n;
    char text[64];
    if (t->n == 0) return;
    printf("  %s\n", count_text(t->n, tutti_exodus_kind_name(kind), text));
    for (tutti_count i = 0; i < shown; i++) {
        const tutti_exodus_entity *e = &t->entity[i];
        printf("    %lld", (long long)e->id);
        if (e->name[0]) printf(" '%s'", cli_shown(e->name));
        if (exodus_is_block(kind)) {
            printf(": %s, %s", e->topology[0] ? cli_shown(e->topology) : "no topology",
                   count_text(e->entries,
                              kind == TUTTI_EXODUS_ELEMENT_BLOCK ? "element"
                              : kind == TUTTI_EXODUS_EDGE_BLOCK  ? "edge"
                                                                 : "face",
                              text));
            if (e->nodes > 0) printf(" of %s", count_text(e->nodes, "node", text));
            if (e->list_length > 0)
                printf(", %s in all",
                       count_text(e->list_length,
                                  exodus_topology_is(e->topology, "nfaced") ? "face" : "node",
                                  text));
            if (e->edges > 0) printf(", %s each", count_text(e->edges, "edge", text));
            if (e->faces > 0) printf(", %s each", count_text(e->faces, "face", text));
        } else if (exodus_is_set(kind)) {
            printf(": %s", count_text(e->entries, "member", text));
            if (e->factors > 0) printf(", %s", count_text(e->factors, "distribution factor", text));
        }
        if (e->attributes > 0) printf(", %s", count_text(e->attributes, "attribute", text));
        for (int p = 0; p < t->properties; p++)
            printf(", %s %lld", cli_shown(t->property[p]), (long long)t->value[p][i]);
        putchar('\n');
        print_names("attributes", e->attributes, t->attribute[i]);
    }
    if (shown < t->n)
        printf("    ... and %lld more: tutti exodus info\n", (long long)(t->n - shown));
}

static void print_variables(const look *k, int kind) {
    const exodus_table *t = &k->o.of[kind];
    const char *name = kind == TUTTI_EXODUS_GLOBAL  ? "global"
                       : kind == TUTTI_EXODUS_NODAL ? "nodal"
                                                    : tutti_exodus_kind_name(kind);
    if (t->variables == 0) return;
    printf("  %d %s variable%s\n", t->variables, name, t->variables == 1 ? "" : "s");
    for (int v = 0; v < t->variables; v++)
        if (kind == TUTTI_EXODUS_GLOBAL)
            printf("    %s\n", cli_shown(t->variable[v]));
        else {
            /* A variable, and the entities that have it, unless all have it. */
            tutti_count has = 0;
            for (tutti_count i = 0; i < t->n; i++) has += t->has[i * t->variables + v];
            printf("    %s", cli_shown(t->variable[v]));
            if (has < t->n) {
                int first = 1;
                printf(has ? ": of" : ": of none");
                for (tutti_count i = 0; i < t->n; i++)
                    if (t->has[i * t->variables + v]) {
                        printf("%s %lld", first ? "" : ",", (long long)t->entity[i].id);
                        first = 0;
                    }
            }
            putchar('\n');
        }
}

static int describe_text(const look *k) {
    const int brief = k->config->call.bits == EXODUS_LS;
    char size[32], *sidecar = sidecar_text(k);
    cli_format_size(k->bytes, size, sizeof size);
    printf("%s: Exodus II in netCDF classic (CDF-%d), %s\n", tutti_exodus_path(k->x), k->format,
           size);
    if (k->o.title[0]) printf("  title         %s\n", cli_shown(k->o.title));
    printf("  numbers       ");
    if (k->real) printf("reals of %d bits", k->real);
    if (k->ints) printf("%sintegers of %d bits", k->real ? ", " : "", k->ints);
    printf("%s\n  checksums     %s\n", k->real || k->ints ? "" : "none", sidecar);
    printf("  dimensions    %d:", k->o.p.dims);
    for (int d = 0; d < k->o.p.dims && d < 3; d++) printf(" %s", cli_shown(k->o.coordinate[d]));
    printf("\n  nodes         %lld%s\n  elements      %lld%s%s\n", (long long)k->o.p.nodes,
           k->o.p.has_node_ids ? ", with an id map" : "", (long long)k->o.p.elements,
           k->o.p.has_element_ids ? ", with an id map" : "",
           k->o.p.has_order ? ", with an order map" : "");
    if (k->o.p.edges) printf("  edges         %lld\n", (long long)k->o.p.edges);
    if (k->o.p.faces) printf("  faces         %lld\n", (long long)k->o.p.faces);
    free(sidecar);
    if (k->o.p.node_attributes)
        print_names("attributes of nodes", k->o.p.node_attributes,
                    k->o.of[TUTTI_EXODUS_NODAL].attribute[0]);
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++)
        print_entities(k, kind, brief);
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) print_variables(k, kind);
    char text[64];
    printf("  %s", count_text(k->steps, "step", text));
    if (k->steps > 0) printf(", time");
    for (tutti_count i = 0; i < k->steps; i++) {
        if (brief && k->steps > MANY && i == 3) {
            printf(", ...");
            i = k->steps - 2;
        } else {
            printf("%s %.10g", i ? "," : "", k->time[i]);
        }
    }
    putchar('\n');
    if (brief) return 0;
    for (int i = 0; i < k->o.qas; i++)
        printf("  made by       %s %s, %s %s\n", cli_shown(k->o.qa[i][0]), cli_shown(k->o.qa[i][1]),
               cli_shown(k->o.qa[i][2]), cli_shown(k->o.qa[i][3]));
    for (int i = 0; i < k->o.lines; i++) printf("  info          %s\n", cli_shown(k->o.line[i]));
    if (k->processors == 0) return 0;
    printf("  Nemesis: %d processor%s\n    %5s %10s %10s %10s %10s %10s %6s %6s\n", k->processors,
           k->processors == 1 ? "" : "s", "", "internal", "border", "external", "internal",
           "border", "node", "elem");
    printf("    %5s %10s %10s %10s %10s %10s %6s %6s\n", "", "nodes", "nodes", "nodes", "elements",
           "elements", "maps", "maps");
    for (int p = 0; p < k->processors; p++) {
        tutti_exodus_nemesis n;
        if (tutti_exodus_nemesis_get(k->x, p, &n) != TUTTI_OK) return cli_error_tutti();
        printf("    %5d %10lld %10lld %10lld %10lld %10lld %6d %6d\n", p,
               (long long)n.internal_nodes, (long long)n.border_nodes, (long long)n.external_nodes,
               (long long)n.internal_elements, (long long)n.border_elements, n.node_maps,
               n.element_maps);
    }
    return 0;
}

/* ---- JSON */

static void json_kinds(const look *k) {
    for (int kind = TUTTI_EXODUS_ELEMENT_BLOCK; kind < TUTTI_EXODUS_KINDS; kind++) {
        printf(",\n   \"%ss\": [", tutti_exodus_kind_name(kind));
        for (tutti_count i = 0; i < k->o.of[kind].n; i++) {
            if (i) putchar(',');
            const exodus_table *t = &k->o.of[kind];
            const tutti_exodus_entity *e = &t->entity[i];
            printf("\n    {\"id\": %lld, \"name\": ", (long long)e->id);
            cli_json_string(stdout, e->name);
            if (exodus_is_block(e->kind)) {
                cli_json_pair(stdout, ", ", "topology", e->topology);
                printf(", \"nodes\": %d, \"edges\": %d, \"faces\": %d, \"list\": %lld", e->nodes,
                       e->edges, e->faces, (long long)e->list_length);
            }
            if (!exodus_is_map(e->kind)) printf(", \"entries\": %lld", (long long)e->entries);
            if (exodus_is_set(e->kind)) printf(", \"factors\": %lld", (long long)e->factors);
            printf(", \"attributes\": ");
            cli_json_strings(stdout, e->attributes, t->attribute[i]);
            printf(", \"properties\": {");
            for (int p = 0; p < t->properties; p++) {
                if (p) printf(", ");
                cli_json_string(stdout, t->property[p]);
                printf(": %lld", (long long)t->value[p][i]);
            }
            printf("}, \"variables\": [");
            for (int v = 0, n = 0; v < t->variables; v++)
                if (t->has[i * t->variables + v]) {
                    if (n++) printf(", ");
                    cli_json_string(stdout, t->variable[v]);
                }
            printf("]}");
        }
        putchar(']');
    }
    printf(",\n   \"variables\": {");
    for (int kind = 0; kind < TUTTI_EXODUS_KINDS; kind++) {
        printf("%s\"%s\": ", kind ? ", " : "",
               kind == TUTTI_EXODUS_GLOBAL  ? "global"
               : kind == TUTTI_EXODUS_NODAL ? "nodal"
                                            : tutti_exodus_kind_name(kind));
        cli_json_strings(stdout, k->o.of[kind].variables, k->o.of[kind].variable);
    }
    putchar('}');
}

static int describe_json(const look *k) {
    char *sidecar = sidecar_text(k);
    cli_json_pair(stdout, "{", "path", tutti_exodus_path(k->x));
    cli_json_pair(stdout, ", ", "title", k->o.title);
    printf(", \"format\": \"CDF-%d\", \"bytes\": %lld, \"real_bits\": %d, \"integer_bits\": %d, "
           "\"checksums\": %s, \"sidecar\": ",
           k->format, (long long)k->bytes, k->real, k->ints,
           k->has_sidecar && !tutti_exodus_warning(k->x)[0] ? "true" : "false");
    cli_json_string(stdout, sidecar);
    free(sidecar);
    printf(",\n   \"dimensions\": %d, \"coordinates\": ", k->o.p.dims);
    cli_json_strings(stdout, k->o.p.dims, k->o.coordinate);
    printf(", \"nodes\": %lld, \"elements\": %lld, \"edges\": %lld, \"faces\": %lld, \"node_ids\": "
           "%s, \"element_ids\": %s, \"order\": %s",
           (long long)k->o.p.nodes, (long long)k->o.p.elements, (long long)k->o.p.edges,
           (long long)k->o.p.faces, k->o.p.has_node_ids ? "true" : "false",
           k->o.p.has_element_ids ? "true" : "false", k->o.p.has_order ? "true" : "false");
    printf(", \"node_attributes\": ");
    cli_json_strings(stdout, k->o.p.node_attributes, k->o.of[TUTTI_EXODUS_NODAL].attribute[0]);
    json_kinds(k);
    printf(",\n   \"times\": [");
    for (tutti_count i = 0; i < k->steps; i++) {
        if (i) printf(", ");
        cli_json_number(stdout, k->time[i]);
    }
    printf("],\n   \"qa\": [");
    for (int i = 0; i < k->o.qas; i++) {
        if (i) printf(", ");
        cli_json_strings(stdout, 4, k->o.qa[i]);
    }
    printf("], \"info\": ");
    cli_json_strings(stdout, k->o.lines, k->o.line);
    printf(",\n   \"nemesis\": [");
    for (int p = 0; p < k->processors; p++) {
        tutti_exodus_nemesis n;
        if (tutti_exodus_nemesis_get(k->x, p, &n) != TUTTI_OK) return cli_error_tutti();
        printf("%s{\"internal_nodes\": %lld, \"border_nodes\": %lld, \"external_nodes\": %lld, "
               "\"internal_elements\": %lld, \"border_elements\": %lld, \"node_maps\": %d, "
               "\"element_maps\": %d}",
               p ? ", " : "", (long long)n.internal_nodes, (long long)n.border_nodes,
               (long long)n.external_nodes, (long long)n.internal_elements,
               (long long)n.border_elements, n.node_maps, n.element_maps);
    }
    putchar(']');
    putchar('}');
    return 0;
}

/* ---- all files */

int exodus_info(const cli_world *w, const data_config *config) {
    (void)w;
    look k = {.config = config};
    if (tutti_exodus_open(MPI_COMM_SELF, config->path[0], TUTTI_READ, NULL, &k.x) != TUTTI_OK)
        return cli_error_open(config->path[0], "Exodus file");
    int failed = 0, files = 0;
    if (config->json) printf("{\"files\": [\n  ");
    for (tutti_err err = TUTTI_OK; !failed && err == TUTTI_OK;) {
        if (files++ > 0) printf(config->json ? ",\n  " : "\n");
        failed = look_at(&k) || (config->json ? describe_json : describe_text)(&k);
        if (failed) break;
        err = tutti_exodus_next_file(k.x);
        if (err != TUTTI_OK && err != TUTTI_ERR_NOT_FOUND) failed = cli_error_tutti();
    }
    if (config->json) printf("]}\n");
    exodus_outline_free(&k.o);
    free(k.time);
    (void)tutti_exodus_close(&k.x);
    return failed;
}
