/* tutti cp: copy a dataset with other element types, layout, compression or data files, or only some of its
 * variables.  Every segment is verified before it is copied.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <stdlib.h>
#include <string.h>

/* ---- definitions of the copy */

/* Determine the type of a variable in the copy: the type given by --type, or its own type. */
static int type_in_copy(const data_config *config, const tutti_variable_row *v, tutti_type *out) {
    cli_list list = {.n = 0};
    const tutti_type is = v->spec.type;
    const int real = is == TUTTI_FLOAT16 || is == TUTTI_FLOAT32 || is == TUTTI_FLOAT64;
    int failed = 0;
    *out = is;
    if (!config->type) return 0;
    cli_list_split(&list, config->type);
    for (int i = 0; i < list.n && !failed; i++) {
        char *sign = strchr(list.item[i], '=');
        tutti_type type;
        failed = tutti_type_parse(sign ? sign + 1 : list.item[i], &type) != TUTTI_OK ||
                 type == TUTTI_BYTES;
        if (failed) cli_error("--type '%s': must be a numeric type", list.item[i]);
        if (sign) *sign = '\0';
        if (!failed && (sign ? strcmp(list.item[i], v->name) == 0 : real)) *out = type;
    }
    cli_list_free(&list);
    return failed;
}

static tutti_layout layout_of(const data_config *config, const tutti_variable_row *v) {
    if (config->layout >= 0) return (tutti_layout)config->layout;
    return config->container == TUTTI_CONTAINER_NETCDF ? TUTTI_GLOBAL : v->spec.layout;
}

/* Return the compression level of the copy; only variables with layout global can be compressed. */
static int compression_of(const data_config *config, const tutti_variable_row *v) {
    if (layout_of(config, v) == TUTTI_RANKED) return 0;
    if (config->compress >= 0) return config->compress;
    return config->container == TUTTI_CONTAINER_NETCDF ? 0 : v->spec.compress;
}

static int define_copy(const data_config *config, const dataset_catalogue *from,
                       tutti_dataset *to) {
    const tutti_count begin = from->segments > 0 ? 0 : -1;
    for (tutti_count i = 0; i < tutti_dataset_spaces(from->d); i++) {
        tutti_space_row row;
        tutti_err err = tutti_dataset_space_row(from->d, i, &row);
        if (err == TUTTI_OK && !row.is_list)
            err = tutti_dataset_shape(from->d, row.name, begin, &row.ndims, row.shape);
        if (err == TUTTI_OK)
            err = row.is_list ? tutti_dataset_list(to, row.name)
                              : tutti_dataset_grid(to, row.name, row.ndims, row.shape);
        if (err != TUTTI_OK) return cli_error_tutti();
    }
    for (tutti_count i = 0; i < from->variables; i++) {
        const tutti_variable_row *v = &from->total[i].row;
        tutti_variable_spec spec = v->spec;
        if (!data_wanted(config, v->name)) continue;
        if (type_in_copy(config, v, &spec.type)) return 1;
        spec.layout = layout_of(config, v);
        if (config->container == TUTTI_CONTAINER_NETCDF) spec.order = TUTTI_NATIVE_ENDIAN;
        spec.compress = compression_of(config, v);
        if (tutti_dataset_variable(to, v->name, &spec) != TUTTI_OK) return cli_error_tutti();
    }
    return 0;
}

/* ---- segments */

static int shape_changed(const dataset_catalogue *from, tutti_count g, const tutti_space_row *row) {
    tutti_count before[TUTTI_MAX_DIMS];
    int ndims = 0;
    if (g == 0 || tutti_dataset_shape(from->d, row->name, g - 1, &ndims, before) != TUTTI_OK)
        return row->is_list;
    return memcmp(before, row->shape, (size_t)ndims * sizeof *before) != 0;
}

/* Copy sizes and ids of a topology. */
static int sizes_copy(const dataset_catalogue *from, tutti_count g, tutti_dataset *to) {
    for (tutti_count i = 0; i < tutti_dataset_spaces(from->d); i++) {
        tutti_space_row row;
        tutti_section_row section;
        if (tutti_dataset_space_row(from->d, i, &row) != TUTTI_OK) return cli_error_tutti();
        if (tutti_dataset_shape(from->d, row.name, g, &row.ndims, row.shape) != TUTTI_OK)
            continue; /* the space has no size yet */
        char *ids = cli_format("%s:ids", row.name);
        const int mapped = row.is_list ? dataset_has(from, g, ids, &section) : 0;
        int failed = mapped < 0;
        if (mapped > 0) {
            const tutti_count n = row.shape[0];
            int64_t *id = cli_malloc((size_t)n * sizeof *id);
            failed = dataset_ids_get(from, row.name, g, n, id);
            if (!failed && tutti_dataset_ids(to, row.name, n, id) != TUTTI_OK)
                failed = cli_error_tutti();
            free(id);
        } else if (!failed && shape_changed(from, g, &row) &&
                   tutti_dataset_resize(to, row.name, row.ndims, row.shape) != TUTTI_OK)
            failed = cli_error_tutti();
        free(ids);
        if (failed) return 1;
    }
    return 0;
}

static tutti_err put_slice(tutti_dataset *to, const dataset_view *v, const tutti_slice *slice,
                           const void *buf) {
    const tutti_decomposition_spec spec = {.kind = TUTTI_BY_SLICE, .slice = *slice};
    tutti_decomposition *share = NULL;
    tutti_err err = tutti_decomposition_create(to, v->row->spec.space, &spec, &share);
    if (err == TUTTI_OK)
        err = tutti_dataset_put(to, 1, &(tutti_put){v->row->name, share, v->get_type, buf});
    if (err != TUTTI_OK) cli_error_tutti();
    tutti_decomposition_free(&share);
    return err;
}

static int section_copy(const data_config *config, const dataset_catalogue *from, tutti_count g,
                        const tutti_variable_row *row, tutti_dataset *to) {
    tutti_section_row section;
    dataset_view v = {.count = 0};
    tutti_type type;
    const int has = dataset_has(from, g, row->name, &section);
    if (has <= 0) return has < 0;
    int failed = type_in_copy(config, row, &type);
    /* In netCDF files, the type of a variable cannot change. */
    if (!failed && type == row->spec.type && section.type != type &&
        config->container == TUTTI_CONTAINER_NATIVE &&
        tutti_dataset_put_type(to, row->name, section.type) != TUTTI_OK)
        failed = cli_error_tutti();
    const int ranked = layout_of(config, row) == TUTTI_RANKED;
    if (!failed) failed = dataset_view_open(from, row, g, NULL, &v);
    if (!failed) {
        /* Copy in pieces; ranked and compressed sections must be written in one put. */
        const int at_once = ranked || compression_of(config, row) > 0;
        const size_t size = (size_t)v.number.element_size;
        char *whole = at_once ? cli_array(v.count, (tutti_count)size, 1) : NULL;
        int more;
        while ((more = dataset_view_next(&v)) > 0) {
            if (at_once)
                memcpy(whole + (size_t)v.done * size, v.buffer, (size_t)v.n * size);
            else if (put_slice(to, &v, &v.piece, v.buffer) != TUTTI_OK)
                more = -1;
            if (more < 0) break;
        }
        if (more == 0 && at_once && put_slice(to, &v, &v.entries.slice, whole) != TUTTI_OK)
            more = -1;
        free(whole);
        failed = more < 0;
    }
    dataset_view_close(&v);
    return failed;
}

static int infos_copy(const dataset_catalogue *from, const tutti_info_owner *owner,
                      tutti_dataset *to, tutti_count segment) {
    const tutti_info_owner there = {owner ? owner->variable : NULL, segment};
    dataset_info info;
    int more;
    for (tutti_count i = 0; (more = dataset_info_read(from, owner, i, &info)) > 0; i++) {
        const tutti_err err =
            tutti_dataset_info_set(to, &there, info.name, info.type, info.count, info.value);
        free(info.value);
        if (err != TUTTI_OK) return cli_error_tutti();
    }
    return more < 0;
}

static int segment_copy(const data_config *config, const dataset_catalogue *from, tutti_count g,
                        tutti_dataset *to) {
    tutti_segment s;
    if (tutti_dataset_verify_segment(from->d, g, NULL) != TUTTI_OK ||
        tutti_dataset_segment(from->d, g, &s) != TUTTI_OK ||
        tutti_dataset_begin(to, s.kind, s.index, s.time) != TUTTI_OK)
        return cli_error_tutti();
    if (s.kind == TUTTI_TOPOLOGY && sizes_copy(from, g, to)) return 1;
    for (tutti_count i = 0; i < from->variables; i++)
        if (data_wanted(config, from->total[i].row.name) &&
            section_copy(config, from, g, &from->total[i].row, to))
            return 1;
    if (infos_copy(from, &(tutti_info_owner){NULL, g}, to, tutti_dataset_segments(to))) return 1;
    return tutti_dataset_commit(to) == TUTTI_OK ? 0 : cli_error_tutti();
}

int dataset_cp(const cli_world *w, const data_config *asked) {
    (void)w;
    data_config as = *asked;
    const data_config *config = &as;
    dataset_catalogue from;
    tutti_dataset *to = NULL;
    tutti_dataset_options opt;
    int failed = dataset_open(MPI_COMM_SELF, config->path[0], &from);
    for (int i = 0; i < config->variables.n && !failed; i++)
        failed = !dataset_variable(&from, config->variables.item[i]);
    tutti_dataset_options_init(&opt);
    if (!failed && as.container < 0) as.container = tutti_dataset_container(from.d);
    opt.container = as.container;
    if (config->indices >= 0) opt.indices_per_file = config->indices;
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_EXCLUSIVE;
    const cli_world alone = {.comm = MPI_COMM_SELF, .ranks = 1};
    cli_staged staged = {.path = NULL};
    if (!failed) failed = cli_stage_begin(&alone, config->path[1], 0, &staged);
    if (!failed && tutti_dataset_open(MPI_COMM_SELF, staged.write_to, mode, &opt, &to) != TUTTI_OK)
        failed = cli_error_tutti();
    if (!failed) {
        cli_progress progress;
        failed = define_copy(config, &from, to) || infos_copy(&from, NULL, to, -1);
        for (tutti_count i = 0; i < from.variables && !failed; i++) {
            const char *name = from.total[i].row.name;
            if (data_wanted(config, name))
                failed = infos_copy(&from, &(tutti_info_owner){name, -1}, to, -1);
        }
        progress_start(&progress, &alone, 0);
        for (tutti_count g = 0; g < from.segments && !failed; g++) {
            failed = cli_interrupted(&alone) || segment_copy(config, &from, g, to);
            progress_work(&progress, "copying", g + 1, from.segments);
        }
        progress_end(&progress);
    }
    const tutti_count segments = to ? tutti_dataset_segments(to) : 0;
    const tutti_count variables = to ? tutti_dataset_variables(to) : 0;
    if (to && tutti_dataset_close(&to) != TUTTI_OK && !failed) failed = cli_error_tutti();
    if (staged.path) failed = cli_stage_end(&alone, &staged, failed);
    dataset_close(&from);
    if (!failed && config->json) {
        cli_json_pair(stdout, "{", "path", config->path[1]);
        printf(", \"segments\": %lld, \"variables\": %lld}\n", (long long)segments,
               (long long)variables);
    }
    return failed;
}
