/* Contents of a dataset, for all commands that read datasets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int dataset_open(MPI_Comm comm, const char *path, dataset_catalogue *out) {
    *out = (dataset_catalogue){.path = path};
    if (tutti_dataset_open(comm, path, TUTTI_READ, NULL, &out->d) != TUTTI_OK)
        return cli_error_open(path, "dataset");
    out->segments = tutti_dataset_segments(out->d);
    out->variables = tutti_dataset_variables(out->d);
    out->total = cli_malloc((size_t)out->variables * sizeof *out->total);
    for (tutti_count v = 0; v < out->variables; v++) {
        out->total[v] = (dataset_total){.last = -1, .range = {NAN, NAN}};
        if (tutti_dataset_variable_row(out->d, v, &out->total[v].row) != TUTTI_OK)
            return cli_error_tutti();
    }
    return 0;
}

int dataset_count(dataset_catalogue *c) {
    for (tutti_count g = 0; g < c->segments; g++) {
        tutti_segment segment;
        if (tutti_dataset_segment(c->d, g, &segment) != TUTTI_OK) return cli_error_tutti();
        c->bytes += segment.bytes;
        for (tutti_count v = 0; v < c->variables; v++) {
            tutti_section_row row;
            const int has = dataset_has(c, g, c->total[v].row.name, &row);
            if (has < 0) return 1;
            c->total[v].segments += has;
            if (has) c->total[v].last = g;
            c->total[v].bytes += has ? row.bytes : 0;
            c->total[v].raw += has ? row.raw_bytes : 0;
        }
    }
    return 0;
}

void dataset_close(dataset_catalogue *c) {
    free(c->total);
    c->total = NULL;
    /* the dataset was only read: errors of close do not matter */
    if (c->d && tutti_dataset_close(&c->d) != TUTTI_OK) c->d = NULL;
}

int dataset_run(const data_config *config, int (*run)(dataset_catalogue *, const data_config *)) {
    dataset_catalogue c;
    const int failed = dataset_open(MPI_COMM_SELF, config->path[0], &c) || run(&c, config);
    dataset_close(&c);
    return failed;
}

const tutti_variable_row *dataset_variable(const dataset_catalogue *c, const char *name) {
    for (tutti_count v = 0; v < c->variables; v++)
        if (strcmp(c->total[v].row.name, name) == 0) return &c->total[v].row;
    cli_error("'%s' has no variable '%s'", c->path, name);
    return NULL;
}

int dataset_has(const dataset_catalogue *c, tutti_count segment, const char *variable,
                tutti_section_row *out) {
    const tutti_err err = tutti_dataset_section_row(c->d, segment, variable, out);
    if (err == TUTTI_OK) return 1;
    if (err == TUTTI_ERR_NOT_FOUND) return 0;
    cli_error_tutti();
    return -1;
}

const char *dataset_kind_name(tutti_segment_kind kind) {
    return kind == TUTTI_TOPOLOGY ? "topology" : "state";
}

const char *dataset_item_name(tutti_item item) {
    static const char *const name[] = {"scalar", "vector", "sym_tensor", "tensor", "values"};
    return (size_t)item < sizeof name / sizeof *name ? name[item] : "?";
}

const char *dataset_shape_text(int ndims, const tutti_count *shape, char *out, size_t size) {
    size_t n = 0;
    snprintf(out, size, "none yet");
    for (int d = 0; d < ndims && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? " x " : "", (long long)shape[d]);
    return out;
}

void dataset_json_shape(FILE *f, int ndims, const tutti_count *shape) {
    putc('[', f);
    for (int d = 0; d < ndims; d++) fprintf(f, "%s%lld", d ? ", " : "", (long long)shape[d]);
    putc(']', f);
}

/* ---- segments */

static int select_one(const dataset_catalogue *c, const char *text, tutti_count *out) {
    char *end;
    errno = 0;
    if (strncmp(text, "time:", 5) == 0) {
        const double time = strtod(text + 5, &end);
        if (end == text + 5 || *end || isnan(time))
            return cli_error("segment '%s': time:T requires a number", text);
        return tutti_dataset_find_time(c->d, TUTTI_STATE, time, out) ? cli_error_tutti() : 0;
    }
    const int by_index = strncmp(text, "index:", 6) == 0;
    const char *from = by_index ? text + 6 : text;
    const long long n = strtoll(from, &end, 10);
    if (end == from || *end || errno)
        return cli_error("segment '%s': must be a number, index:N, time:T, latest or all", text);
    if (by_index)
        return tutti_dataset_find_index(c->d, TUTTI_STATE, n, out) ? cli_error_tutti() : 0;
    if (n < 0 || n >= c->segments)
        return cli_error("segment %lld does not exist ('%s' has %lld)", n, c->path,
                         (long long)c->segments);
    *out = n;
    return 0;
}

int dataset_select(const dataset_catalogue *c, const char *text, tutti_count *first_out,
                   tutti_count *last_out) {
    if (c->segments == 0) return cli_error("'%s' has no segments", c->path);
    *first_out = 0;
    *last_out = c->segments - 1;
    if (strcmp(text, "all") == 0) return 0;
    if (select_one(c, text, first_out)) return 1;
    *last_out = *first_out;
    return 0;
}

/* ---- infos */

int dataset_info_read(const dataset_catalogue *c, const tutti_info_owner *owner, tutti_count number,
                      dataset_info *out) {
    out->value = NULL;
    tutti_err err = tutti_dataset_info_name(c->d, owner, number, out->name);
    if (err == TUTTI_ERR_NOT_FOUND) return 0;
    if (err == TUTTI_OK)
        err = tutti_dataset_info_get(c->d, owner, out->name, &out->type, &out->count, NULL);
    if (err == TUTTI_OK) {
        const tutti_off size = out->type == TUTTI_BYTES ? 1 : tutti_type_size(out->type);
        const size_t bytes = (size_t)(out->count * size);
        out->value = cli_malloc(bytes + 1);
        out->value[bytes] = '\0';
        err = tutti_dataset_info_get(c->d, owner, out->name, &out->type, &out->count, out->value);
    }
    if (err == TUTTI_OK) return 1;
    free(out->value);
    out->value = NULL;
    cli_error_tutti();
    return -1;
}
