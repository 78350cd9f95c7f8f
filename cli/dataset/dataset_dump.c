/* tutti dump: print the values of a variable as text or as a table (CSV), or write a NumPy file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <string.h>
#include <unistd.h>

/* ---- text in columns */

static int dump_text(dataset_view *v, int before, FILE *f) {
    char shape[ARRAY_TEXT];
    int more;
    if (before) putc('\n', f);
    const tutti_count line = v->count > 0 && v->ndims > 0 ? v->shape[v->ndims - 1] : 1;
    const tutti_count plane = v->count > 0 && v->ndims > 2 ? line * v->shape[v->ndims - 2] : 0;
    fprintf(f, "# %s, segment %lld, time index %lld, time %.10g: %s, %s%s%s\n",
            cli_shown(v->row->name), (long long)v->segment.number, (long long)v->segment.index,
            v->segment.time, dataset_shape_text(v->ndims, v->shape, shape, sizeof shape),
            tutti_type_name(v->number.type), v->row->spec.units[0] ? ", " : "",
            cli_shown(v->row->spec.units));
    while ((more = dataset_view_next(v)) > 0)
        for (tutti_count i = 0; i < v->n; i++) {
            const tutti_count at = v->done + i;
            if (at > 0 && plane > 0 && at % plane == 0) putc('\n', f);
            array_element_print(f, &v->number, 0, 0, v->buffer + i * v->number.element_size);
            /* lists of scalars: one value per line */
            putc((at + 1) % line == 0 || v->ndims == 1 ? '\n' : ' ', f);
        }
    return more < 0;
}

/* ---- CSV: one line per entry, one column per value */

/* Print the name of a column, quoted if necessary (RFC 4180). */
static void csv_name(FILE *f, const char *name, const char *end) {
    const char *text = cli_shown(name);
    const int quoted = strpbrk(text, ",\"") != NULL;
    fputs(quoted ? ",\"" : ",", f);
    for (; *text; text++) fprintf(f, *text == '"' ? "\"%c" : "%c", *text);
    fprintf(f, quoted ? "%s\"" : "%s", end);
}

static int dump_csv(dataset_view *v, int before, FILE *f) {
    const int dims = v->ndims - (v->row->values_per_item > 1);
    const tutti_count columns = dims < v->ndims ? v->shape[dims] : 1;
    int more;
    if (!before) {
        fputs("segment,time_index,time", f);
        for (int d = 0; d < dims; d++) fprintf(f, ",i%d", d);
        if (dims == v->ndims)
            csv_name(f, v->row->name, "");
        else
            for (tutti_count k = 0; k < v->shape[dims]; k++) {
                char number[32];
                snprintf(number, sizeof number, ".%lld",
                         (long long)(v->lo[dims] + k * v->stride[dims]));
                csv_name(f, v->row->name, number);
            }
        putc('\n', f);
    }
    while ((more = dataset_view_next(v)) > 0)
        for (tutti_count i = 0; i < v->n; i++) {
            tutti_count at[TUTTI_MAX_DIMS];
            if ((v->done + i) % columns == 0) {
                dataset_view_index(v, i, at);
                fprintf(f, "%lld,%lld,%.17g", (long long)v->segment.number,
                        (long long)v->segment.index, v->segment.time);
                for (int d = 0; d < dims; d++) fprintf(f, ",%lld", (long long)at[d]);
            }
            putc(',', f);
            array_element_print(f, &v->number, 0, 0, v->buffer + i * v->number.element_size);
            if ((v->done + i + 1) % columns == 0) putc('\n', f);
        }
    return more < 0;
}

/* ---- JSON: one object per segment */

static int dump_json(dataset_view *v, int before, FILE *f) {
    int more;
    fprintf(f, "%s\n {\"variable\": ", before ? "," : "");
    cli_json_string(f, v->row->name);
    fprintf(f, ", \"segment\": %lld, \"index\": %lld, \"time\": ", (long long)v->segment.number,
            (long long)v->segment.index);
    cli_json_number(f, v->segment.time);
    fprintf(f, ", \"type\": \"%s\", \"shape\": ", tutti_type_name(v->number.type));
    dataset_json_shape(f, v->ndims, v->shape);
    fputs(",\n  \"values\": [", f);
    while ((more = dataset_view_next(v)) > 0)
        for (tutti_count i = 0; i < v->n; i++) {
            if (v->done + i > 0) fputs(", ", f);
            const char *at = v->buffer + i * v->number.element_size;
            const tutti_type t = v->number.type;
            const int real = t == TUTTI_FLOAT16 || t == TUTTI_FLOAT32 || t == TUTTI_FLOAT64;
            if (t == TUTTI_COMPLEX64 || t == TUTTI_COMPLEX128) {
                putc('[', f);
                cli_json_number(f, (double)array_element_value(t, at, 0));
                fputs(", ", f);
                cli_json_number(f, (double)array_element_value(t, at, 1));
                putc(']', f);
            } else if (real) {
                cli_json_number(f, (double)array_element_value(t, at, 0));
            } else {
                fprintf(f, "%.0Lf", array_element_value(t, at, 0));
            }
        }
    fputs("]}", f);
    return more < 0;
}

/* Determine the selected segments; by default the latest segment that has the variable. */
static int segments_take(const dataset_catalogue *c, const data_config *config, tutti_count *first,
                         tutti_count *last) {
    const char *text = config->segment ? config->segment : "latest";
    tutti_section_row row;
    int has = 0;
    if (strcmp(text, "latest") != 0) return dataset_select(c, text, first, last);
    tutti_count g = c->segments;
    while (g > 0 && (has = dataset_has(c, g - 1, config->variables.item[0], &row)) == 0) g--;
    if (has < 0) return 1;
    if (g == 0)
        return cli_error("no segment of '%s' has the variable '%s'", c->path,
                         config->variables.item[0]);
    *first = *last = g - 1;
    return 0;
}

static int dump_variable(dataset_catalogue *c, const data_config *config) {
    const tutti_variable_row *row = dataset_variable(c, config->variables.item[0]);
    tutti_count first = 0, last = 0;
    if (!row || segments_take(c, config, &first, &last)) return 1;
    if (config->as != DUMP_NPY) {
        const char *path = config->out ? config->out : "-";
        int (*dump_view)(dataset_view *, int, FILE *) = config->json             ? dump_json
                                                        : config->as == DUMP_CSV ? dump_csv
                                                                                 : dump_text;
        FILE *f = cli_output_open(path);
        int failed = f == NULL, n = 0;
        if (f && config->json) putc('[', f);
        for (tutti_count g = first; g <= last && !failed; g++) {
            tutti_section_row section;
            dataset_view v;
            if (first != last) {
                const int has = dataset_has(c, g, row->name, &section);
                failed = has < 0;
                if (has <= 0) continue;
            }
            failed = dataset_view_open(c, row, g, config->slice, &v);
            if (!failed) failed = dump_view(&v, n, f);
            dataset_view_close(&v);
            n++;
        }
        if (f && config->json) fputs("]\n", f);
        return f ? cli_output_close(f, path, failed) : 1;
    }
    if (!config->out && isatty(STDOUT_FILENO))
        return cli_error("cannot write a NumPy file to a terminal; use -o FILE");
    return dataset_npy_write(c, row, first, last, config->slice, config->out ? config->out : "-");
}

int dataset_dump(const cli_world *w, const data_config *config) {
    (void)w;
    return dataset_run(config, dump_variable);
}
