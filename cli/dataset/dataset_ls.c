/* tutti ls: variables and segments of a dataset, from its metadata only.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If there are more than MOST segments, only the first and last SHOWN segments are listed. */
enum { MOST = 40, SHOWN = 10 };

static const char *size_text(tutti_off bytes, char *out, size_t size) {
    cli_format_size(bytes, out, size);
    return out;
}

/* Get the current size of the space of a variable; items of several values add a dimension. */
static void shape_now(const dataset_catalogue *c, const tutti_variable_row *v, int *ndims_out,
                      tutti_count *shape_out) {
    *ndims_out = 0;
    for (tutti_count s = 0; s < tutti_dataset_spaces(c->d); s++) {
        tutti_space_row row;
        if (tutti_dataset_space_row(c->d, s, &row) != TUTTI_OK) return;
        if (strcmp(row.name, v->spec.space) != 0) continue;
        *ndims_out = row.ndims;
        memcpy(shape_out, row.shape, sizeof row.shape);
    }
}

/* Find minimum and maximum in the last segment that has the variable; this reads data. */
static int find_range(const dataset_catalogue *c, dataset_total *t) {
    dataset_view view;
    double of[3] = {NAN, NAN, NAN};
    tutti_segment g = {.archived = NULL};
    if (t->last < 0) return 0;
    /* archived: the data is not in the dataset */
    if (tutti_dataset_segment(c->d, t->last, &g) == TUTTI_OK && g.archived) return 0;
    const int failed =
        dataset_view_open(c, &t->row, t->last, NULL, &view) || dataset_view_extremes(&view, of);
    dataset_view_close(&view);
    t->range[0] = of[0];
    t->range[1] = of[2];
    return failed;
}

static int print_segments(const dataset_catalogue *c, int all) {
    char size[32];
    if (c->segments > 0)
        printf("\n%8s  %-8s %12s %15s %9s %10s\n", "segment", "kind", "index", "time", "sections",
               "bytes");
    for (tutti_count i = 0; i < c->segments; i++) {
        tutti_segment g;
        if (!all && c->segments > MOST && i == SHOWN) {
            printf("%8s  %lld more (--all)\n", "...", (long long)(c->segments - 2 * SHOWN));
            i = c->segments - SHOWN;
        }
        if (tutti_dataset_segment(c->d, i, &g) != TUTTI_OK) return cli_error_tutti();
        printf("%8lld  %-8s %12lld %15.8g %9d %10s%s\n", (long long)i, dataset_kind_name(g.kind),
               (long long)g.index, g.time, g.sections, size_text(g.bytes, size, sizeof size),
               g.archived ? " archived" : "");
    }
    /* Combine consecutive segments with the same archive location. */
    tutti_segment g = {.archived = NULL};
    for (tutti_count i = 0, n = 0; i < c->segments; i += n + 1, n = 0) {
        char *place = NULL;
        if (tutti_dataset_segment(c->d, i, &g) != TUTTI_OK) return cli_error_tutti();
        if (!g.archived) continue;
        place = cli_strdup(g.archived);
        while (i + n + 1 < c->segments && tutti_dataset_segment(c->d, i + n + 1, &g) == TUTTI_OK &&
               g.archived && strcmp(g.archived, place) == 0)
            n++;
        if (n)
            printf("segments %lld to %lld are archived in '%s'\n", (long long)i, (long long)(i + n),
                   cli_shown(place));
        else
            printf("segment %lld is archived in '%s'\n", (long long)i, cli_shown(place));
        free(place);
    }
    return 0;
}

static int list_text(const dataset_catalogue *c, const data_config *config) {
    char size[32];
    printf("%s: %lld segment%s, %lld variable%s, %s\n", c->path, (long long)c->segments,
           c->segments == 1 ? "" : "s", (long long)c->variables, c->variables == 1 ? "" : "s",
           size_text(c->bytes, size, sizeof size));
    if (c->variables > 0) {
        printf("\n%-18s %-10s %-12s %-18s %8s %9s\n", "variable", "type", "space", "shape",
               "segments", "bytes");
        for (tutti_count i = 0; i < c->variables; i++) {
            const tutti_variable_row *v = &c->total[i].row;
            tutti_count shape[TUTTI_MAX_DIMS];
            char text[ARRAY_TEXT];
            int ndims;
            shape_now(c, v, &ndims, shape);
            dataset_shape_text(ndims, shape, text, sizeof text);
            const size_t n = strlen(text);
            if (v->values_per_item > 1)
                snprintf(text + n, sizeof text - n, ", %lld each", (long long)v->values_per_item);
            const char *name = cli_shown(v->name);
            printf("%-18s ", name);
            if ((int)strlen(name) > 18) printf("\n%-18s ", "");
            printf("%-10s %-12s %-18s %8lld %9s\n", tutti_type_name(v->spec.type),
                   cli_shown(v->spec.space), text, (long long)c->total[i].segments,
                   size_text(c->total[i].bytes, size, sizeof size));
            if (v->spec.compress && c->total[i].bytes > 0)
                printf("%-18s compressed, level %d: %s as numbers, %.2f : 1\n", "",
                       v->spec.compress, size_text(c->total[i].raw, size, sizeof size),
                       (double)c->total[i].raw / (double)c->total[i].bytes);
            if (!isnan(c->total[i].range[0]))
                printf("%-18s %.8g to %.8g in segment %lld\n", "", c->total[i].range[0],
                       c->total[i].range[1], (long long)c->total[i].last);
        }
    }
    return print_segments(c, config->all);
}

/* ---- JSON */

static int json_segment(const dataset_catalogue *c, tutti_count i) {
    tutti_segment g;
    int n = 0;
    if (tutti_dataset_segment(c->d, i, &g) != TUTTI_OK) return cli_error_tutti();
    printf("%s\n  {\"number\": %lld, \"kind\": \"%s\", \"index\": %lld, \"time\": ", i ? "," : "",
           (long long)i, dataset_kind_name(g.kind), (long long)g.index);
    cli_json_number(stdout, g.time);
    printf(", \"topology\": ");
    if (g.topology >= 0)
        printf("%lld", (long long)g.topology);
    else
        printf("null");
    printf(", \"sections\": %d, \"bytes\": %lld, \"variables\": [", g.sections, (long long)g.bytes);
    for (tutti_count v = 0; v < c->variables; v++) {
        tutti_section_row row;
        const int has = dataset_has(c, i, c->total[v].row.name, &row);
        if (has < 0) return 1;
        if (!has) continue;
        if (n++) printf(", ");
        cli_json_string(stdout, c->total[v].row.name);
    }
    cli_json_pair(stdout, "], ", "archived", g.archived);
    printf("}");
    return 0;
}

static int list_json(const dataset_catalogue *c) {
    int failed = 0;
    cli_json_pair(stdout, "{", "path", c->path);
    printf(", \"bytes\": %lld,\n \"segments\": [", (long long)c->bytes);
    for (tutti_count i = 0; i < c->segments && !failed; i++) failed = json_segment(c, i);
    printf("],\n \"variables\": [");
    for (tutti_count i = 0; i < c->variables; i++) {
        const tutti_variable_row *v = &c->total[i].row;
        tutti_count shape[TUTTI_MAX_DIMS];
        int ndims;
        shape_now(c, v, &ndims, shape);
        printf("%s\n  {\"name\": ", i ? "," : "");
        cli_json_string(stdout, v->name);
        cli_json_pair(stdout, ", ", "space", v->spec.space);
        printf(", \"shape\": ");
        dataset_json_shape(stdout, ndims, shape);
        printf(", \"item\": \"%s\", \"numbers\": %lld, \"type\": \"%s\", \"layout\": \"%s\"",
               dataset_item_name(v->spec.item), (long long)v->values_per_item,
               tutti_type_name(v->spec.type), v->spec.layout == TUTTI_RANKED ? "ranked" : "global");
        printf(", \"compress\": %d, \"units\": ", v->spec.compress);
        cli_json_string(stdout, v->spec.units);
        cli_json_pair(stdout, ", ", "long_name", v->spec.long_name);
        printf(", \"segments\": %lld, \"bytes\": %lld, \"raw_bytes\": %lld",
               (long long)c->total[i].segments, (long long)c->total[i].bytes,
               (long long)c->total[i].raw);
        if (!isnan(c->total[i].range[0])) {
            cli_json_number_pair(stdout, ", ", "min", c->total[i].range[0]);
            cli_json_number_pair(stdout, ", ", "max", c->total[i].range[1]);
        }
        putchar('}');
    }
    printf("],\n \"spaces\": [");
    for (tutti_count i = 0; i < tutti_dataset_spaces(c->d) && !failed; i++) {
        tutti_space_row row;
        failed = tutti_dataset_space_row(c->d, i, &row) != TUTTI_OK && cli_error_tutti();
        if (!failed) {
            printf("%s\n  {\"name\": ", i ? "," : "");
            cli_json_string(stdout, row.name);
            printf(", \"kind\": \"%s\", \"has_ids\": %s, \"shape\": ",
                   row.is_list ? "list" : "grid", row.has_ids ? "true" : "false");
            dataset_json_shape(stdout, row.ndims, row.shape);
            putchar('}');
        }
    }
    printf("]}\n");
    return failed;
}

static int list_dataset(dataset_catalogue *c, const data_config *config) {
    int failed = dataset_count(c);
    for (tutti_count v = 0; v < c->variables && config->range && !failed; v++)
        failed = find_range(c, &c->total[v]);
    return failed || (config->json ? list_json(c) : list_text(c, config));
}

int dataset_ls(const cli_world *w, const data_config *config) {
    (void)w;
    return dataset_run(config, list_dataset);
}
