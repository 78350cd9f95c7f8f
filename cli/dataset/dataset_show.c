/* tutti show: print the header of a dataset, similar to ncdump -h.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 40 }; /* maximum number of values of an array that are printed as text */

static void print_string_value(const char *text, tutti_count n) {
    putchar('"');
    for (tutti_count i = 0; i < n;) {
        int printable;
        const tutti_count next =
            i + (tutti_count)cli_text_next(text + i, (size_t)(n - i), &printable);
        for (; i < next; i++) {
            if (text[i] == '"' || text[i] == '\\')
                printf("\\%c", text[i]);
            else if (text[i] == '\n')
                printf("\\n");
            else if (!printable)
                printf("\\x%02x", (unsigned char)text[i]);
            else
                putchar(text[i]);
        }
    }
    putchar('"');
}

static void print_value(const dataset_info *info, int json) {
    /* float16: only the bits are printed */
    const tutti_type type = info->type == TUTTI_FLOAT16 ? TUTTI_UINT16 : info->type;
    const tutti_array_spec spec = (tutti_array_spec){
        .ndims = 1, .shape = {1}, .type = type, .element_size = tutti_type_size(type)};
    if (info->type == TUTTI_BYTES) {
        if (json)
            cli_json_bytes(stdout, info->value, (size_t)info->count);
        else
            print_string_value(info->value, info->count);
        return;
    }
    if (json) putchar('[');
    for (tutti_count i = 0; i < info->count; i++) {
        if (!json && i == LONG) {
            printf(", ... (%lld)", (long long)info->count);
            break;
        }
        if (i) printf(", ");
        const char *at = info->value + i * spec.element_size;
        if (json && array_type_is_complex(spec.type)) {
            putchar('[');
            cli_json_number(stdout, (double)array_element_value(spec.type, at, 0));
            printf(", ");
            cli_json_number(stdout, (double)array_element_value(spec.type, at, 1));
            putchar(']');
        } else if (json && !array_type_is_integer(spec.type)) {
            cli_json_number(stdout, (double)array_element_value(spec.type, at, 0));
        } else {
            array_element_print(stdout, &spec, 0, 0, at);
        }
    }
    if (json) putchar(']');
}

/* ---- text */

static int print_infos(const dataset_catalogue *c, const tutti_info_owner *owner,
                       const char *prefix) {
    dataset_info info;
    int more;
    for (tutti_count i = 0; (more = dataset_info_read(c, owner, i, &info)) > 0; i++) {
        printf("\t\t%s:%s = ", cli_shown(prefix), cli_shown(info.name));
        print_value(&info, 0);
        printf(" ;");
        if (info.type != TUTTI_BYTES) printf(" // %s", tutti_type_name(info.type));
        putchar('\n');
        free(info.value);
    }
    return more < 0;
}

static int print_variable(const dataset_catalogue *c, const dataset_total *t) {
    const tutti_variable_row *v = &t->row;
    const tutti_variable_spec *s = &v->spec;
    const char *name = cli_shown(v->name);
    printf("\t%s %s(%s", tutti_type_name(s->type), name, cli_shown(s->space));
    if (v->values_per_item > 1) printf(", %lld", (long long)v->values_per_item);
    printf(") ;");
    if (s->item != TUTTI_SCALAR) printf(" // %s", dataset_item_name(s->item));
    putchar('\n');
    if (s->units[0]) {
        printf("\t\t%s:units = ", name);
        print_string_value(s->units, (tutti_count)strlen(s->units));
        printf(" ;\n");
    }
    if (s->long_name[0]) {
        printf("\t\t%s:long_name = ", name);
        print_string_value(s->long_name, (tutti_count)strlen(s->long_name));
        printf(" ;\n");
    }
    if (s->fill != 0) printf("\t\t%s:_FillValue = %.17g ;\n", name, s->fill);
    if (s->layout == TUTTI_RANKED) printf("\t\t%s:_Layout = \"ranked\" ;\n", name);
    if (s->order == TUTTI_BIG_ENDIAN) printf("\t\t%s:_Endianness = \"big\" ;\n", name);
    if (s->compress) printf("\t\t%s:_Compress = %d ;", name, s->compress);
    if (s->compress && t->bytes > 0) printf(" // %.2f : 1", (double)t->raw / (double)t->bytes);
    if (s->compress) putchar('\n');
    return print_infos(c, &(tutti_info_owner){v->name, -1}, v->name);
}

static int show_text(const dataset_catalogue *c) {
    printf("dataset %s {\n", c->path);
    char text[ARRAY_TEXT];
    printf("spaces:\n");
    for (tutti_count i = 0; i < tutti_dataset_spaces(c->d); i++) {
        tutti_space_row row;
        if (tutti_dataset_space_row(c->d, i, &row) != TUTTI_OK) return cli_error_tutti();
        printf("\t%s = %s ;", cli_shown(row.name),
               dataset_shape_text(row.ndims, row.shape, text, sizeof text));
        printf(" // %s%s\n", row.is_list ? "list" : "grid", row.has_ids ? ", with ids" : "");
    }
    printf("variables:\n");
    for (tutti_count v = 0; v < c->variables; v++)
        if (print_variable(c, &c->total[v])) return 1;
    /* Count the segments, and print the infos of each. */
    char prefix[64];
    int failed = 0;
    tutti_count states = 0, archived = 0;
    for (tutti_count i = 0; i < c->segments; i++) {
        tutti_segment g;
        if (tutti_dataset_segment(c->d, i, &g) != TUTTI_OK) return cli_error_tutti();
        states += g.kind == TUTTI_STATE;
        archived += g.archived != NULL;
    }
    printf("segments:\n\tstate = %lld ;\n\ttopology = %lld ;\n", (long long)states,
           (long long)(c->segments - states));
    if (archived) printf("\tarchived = %lld ;\n", (long long)archived);
    for (tutti_count i = 0; i < c->segments && !failed; i++) {
        snprintf(prefix, sizeof prefix, "segment %lld", (long long)i);
        failed = print_infos(c, &(tutti_info_owner){NULL, i}, prefix);
    }
    if (failed) return 1;
    printf("infos:\n");
    if (print_infos(c, NULL, "")) return 1;
    printf("}\n");
    return 0;
}

/* ---- JSON */

static int json_infos(const dataset_catalogue *c, const tutti_info_owner *owner) {
    dataset_info info;
    int more;
    putchar('{');
    for (tutti_count i = 0; (more = dataset_info_read(c, owner, i, &info)) > 0; i++) {
        if (i) printf(", ");
        cli_json_string(stdout, info.name);
        printf(": ");
        print_value(&info, 1);
        free(info.value);
    }
    putchar('}');
    return more < 0;
}

static int show_json(const dataset_catalogue *c) {
    int failed = 0;
    cli_json_pair(stdout, "{", "path", c->path);
    printf(",\n \"infos\": ");
    failed = json_infos(c, NULL);
    printf(",\n \"variables\": [");
    for (tutti_count v = 0; v < c->variables && !failed; v++) {
        const tutti_variable_row *row = &c->total[v].row;
        printf("%s\n  {\"name\": ", v ? "," : "");
        cli_json_string(stdout, row->name);
        printf(", \"type\": \"%s\", \"space\": ", tutti_type_name(row->spec.type));
        cli_json_string(stdout, row->spec.space);
        printf(", \"item\": \"%s\", \"numbers\": %lld, \"units\": ",
               dataset_item_name(row->spec.item), (long long)row->values_per_item);
        cli_json_string(stdout, row->spec.units);
        cli_json_pair(stdout, ", ", "long_name", row->spec.long_name);
        cli_json_number_pair(stdout, ", ", "fill", row->spec.fill);
        printf(", \"compress\": %d", row->spec.compress);
        printf(", \"infos\": ");
        failed = json_infos(c, &(tutti_info_owner){row->name, -1});
        putchar('}');
    }
    printf("],\n \"segments\": [");
    for (tutti_count i = 0; i < c->segments && !failed; i++) {
        tutti_segment g;
        if (tutti_dataset_segment(c->d, i, &g) != TUTTI_OK) return cli_error_tutti();
        printf("%s\n  {\"number\": %lld, \"kind\": \"%s\", \"index\": %lld, \"time\": ",
               i ? "," : "", (long long)i, dataset_kind_name(g.kind), (long long)g.index);
        cli_json_number(stdout, g.time);
        cli_json_pair(stdout, ", ", "archived", g.archived);
        printf(", \"infos\": ");
        failed = json_infos(c, &(tutti_info_owner){NULL, i});
        putchar('}');
    }
    printf("]}\n");
    return failed;
}

static int show_dataset(dataset_catalogue *c, const data_config *config) {
    int is_compressed = 0; /* compression ratios need the rows of all sections */
    for (tutti_count v = 0; v < c->variables; v++) is_compressed |= c->total[v].row.spec.compress;
    if (is_compressed && dataset_count(c)) return 1;
    return (config->json ? show_json : show_text)(c);
}

int dataset_show(const cli_world *w, const data_config *config) {
    (void)w;
    return dataset_run(config, show_dataset);
}
