/* tutti export --zarr: write a JSON file of references (version 1 of kerchunk's format), by which Zarr and
 * xarray read the values in the data files.
 *
 * A variable is exported as an array with time as its first dimension if its sections have one shape and
 * type.  A section is a chunk; a compressed section is a grid of chunks.  If sizes change, every topology
 * becomes a group.  Variables that exist in the same segments share a time axis; a variable that exists only
 * in a topology has no time axis.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of the export. */
typedef struct {
    const dataset_catalogue *c;
    const data_config *config;
    FILE *f;
    const char *prefix; /* path of the data files, relative to the JSON file */
    int refs, arrays;
} zarr;

/* A variable in a group. */
typedef struct {
    const tutti_variable_row *row;
    tutti_section_row section; /* section of the variable in its first segment */
    tutti_count *on;           /* [segments] numbers of the segments with this variable */
    tutti_count segments, written;
    int differs; /* sections have different shapes, types or chunks: the variable is not exported */
    int fixed;   /* whether the array has no time axis */
    int axis;    /* number of the time axis, unless `fixed` */
    int ndims;
    tutti_count shape[TUTTI_MAX_DIMS], chunk[TUTTI_MAX_DIMS]; /* extents in entries of the space */
} array;

/* A group: segments first ... last, of one topology or of the whole dataset. */
typedef struct {
    tutti_count first, last;
    char name[32]; /* "", or the name of the group with a '/' at the end */
    array *arrays; /* [variables]; row NULL: not exported */
    int axes;
} group;

static void warn_omitted(const tutti_variable_row *v, const char *why) {
    fprintf(stderr, "tutti export: '%s' is left out: %s\n", cli_shown(v->name), why);
}

/* ---- JSON in JSON */

static void ref_begin(zarr *z, const char *in, const char *name, const char *what) {
    char *key = cli_format("%s%s%s%s", in, name, name[0] ? "/" : "", what);
    fputs(z->refs++ ? ",\n  " : "\n  ", z->f);
    cli_json_string(z->f, key);
    fputs(": ", z->f);
    free(key);
}

static void counts_write(FILE *f, const char *first, int n, const tutti_count *v,
                         tutti_count last) {
    fprintf(f, "[%s", first);
    for (int k = 0; k < n; k++) fprintf(f, "%s%lld", k || first[0] ? ", " : "", (long long)v[k]);
    if (last > 1) fprintf(f, "%s%lld", n || first[0] ? ", " : "", (long long)last);
    putc(']', f);
}

static void fill_write(FILE *f, double fill, tutti_type type) {
    const char *name = tutti_type_name(type);
    if (name[0] == 'i' || name[0] == 'u' || type == TUTTI_BYTES) {
        fprintf(f, "%.0f", fill);
        return;
    }
    if (array_type_is_complex(type)) putc('[', f);
    if (isnan(fill))
        fputs("\"NaN\"", f);
    else if (isinf(fill))
        fputs(fill > 0 ? "\"Infinity\"" : "\"-Infinity\"", f);
    else
        fprintf(f, "%.17g", fill);
    if (array_type_is_complex(type)) fputs(", 0.0]", f);
}

/* Write a text that is itself JSON as a string; close `inner` and free the text. */
static int ref_text(zarr *z, FILE *inner, char **text) {
    const int failed = fclose(inner) != 0;
    if (!failed) cli_json_string(z->f, *text);
    free(*text);
    return failed ? cli_error("cannot allocate memory for the Zarr metadata") : 0;
}

static FILE *inner_open(char **text, size_t *bytes) {
    FILE *f = open_memstream(text, bytes);
    if (!f) cli_error("cannot allocate memory for the Zarr metadata");
    return f;
}

/* Format the name of an axis: "time", "time_1" ... */
static const char *axis_name(const char *what, int axis, char out[24]) {
    if (axis == 0)
        snprintf(out, 24, "%s", what);
    else
        snprintf(out, 24, "%s_%d", what, axis);
    return out;
}

/* ---- one array */

static int zarray_write(zarr *z, const group *g, const array *a) {
    char *text = NULL, time[32] = "";
    size_t bytes = 0;
    FILE *f = inner_open(&text, &bytes);
    if (!f) return 1;
    const tutti_variable_spec *spec = &a->row->spec;
    const tutti_type type = a->section.type;
    const int size = type == TUTTI_BYTES ? 1 : (int)tutti_type_size(type);
    const int is_big = spec->order == TUTTI_BIG_ENDIAN ||
                       (spec->order == TUTTI_NATIVE_ENDIAN && !CLI_IS_LITTLE_ENDIAN);
    const char kind = type == TUTTI_BYTES ? 'u' : tutti_type_name(type)[0];
    if (!a->fixed) snprintf(time, sizeof time, "%lld", (long long)a->segments);
    fputs("{\"zarr_format\": 2, \"shape\": ", f);
    counts_write(f, time, a->ndims, a->shape, a->row->values_per_item);
    fputs(", \"chunks\": ", f);
    counts_write(f, a->fixed ? "" : "1", a->ndims, a->chunk, a->row->values_per_item);
    fprintf(f, ", \"dtype\": \"%c%c%d\", \"order\": \"C\", \"fill_value\": ",
            size == 1 ? '|'
            : is_big  ? '>'
                      : '<',
            kind, size);
    /* With a fill value of 0, xarray would treat every 0 as a missing value. */
    if (spec->fill == 0)
        fputs("null", f);
    else
        fill_write(f, spec->fill, type);
    if (spec->compress && size > 1)
        fprintf(f, ", \"filters\": [{\"id\": \"shuffle\", \"elementsize\": %d}]", size);
    else
        fputs(", \"filters\": null", f);
    if (spec->compress)
        fprintf(f, ", \"compressor\": {\"id\": \"zstd\", \"level\": %d}}", spec->compress);
    else
        fputs(", \"compressor\": null}", f);
    ref_begin(z, g->name, a->row->name, ".zarray");
    return ref_text(z, f, &text);
}

/* A chunk: its indices in the array, and its byte range in a file. */
typedef struct {
    tutti_count time, index; /* time -1: the array has no time axis */
    const char *file;
    tutti_off from, to;
} chunk_ref;

static void chunk_write(zarr *z, const group *g, const array *a, const chunk_ref *r) {
    char key[24 * (TUTTI_MAX_DIMS + 2)], *to = key, *url = cli_format("%s%s", z->prefix, r->file);
    tutti_count place[TUTTI_MAX_DIMS] = {0}, index = r->index;
    for (int k = a->ndims - 1; k >= 0; k--) {
        const tutti_count chunks = (a->shape[k] + a->chunk[k] - 1) / a->chunk[k];
        place[k] = index % chunks;
        index /= chunks;
    }
    if (r->time >= 0) to += sprintf(to, "%lld.", (long long)r->time);
    for (int k = 0; k < a->ndims; k++)
        to += sprintf(to, "%s%lld", k ? "." : "", (long long)place[k]);
    if (a->row->values_per_item > 1) sprintf(to, ".0");
    ref_begin(z, g->name, a->row->name, key);
    putc('[', z->f);
    cli_json_string(z->f, url);
    fprintf(z->f, ", %lld, %lld]", (long long)r->from, (long long)(r->to - r->from));
    free(url);
}

/* Write references to the chunks of one segment, which must have the variable. */
static int chunks_write(zarr *z, const group *g, const array *a, tutti_count segment) {
    const tutti_count time = a->fixed ? -1 : a->written;
    tutti_section_row s;
    tutti_chunks c;
    const char *name = a->row->name;
    if (tutti_dataset_section_row(z->c->d, segment, name, &s) != TUTTI_OK) return cli_error_tutti();
    if (s.raw_bytes == 0) return 0;
    if (a->row->spec.compress == 0) {
        chunk_write(z, g, a, &(chunk_ref){time, 0, s.file, s.start, s.start + s.bytes});
        return 0;
    }
    if (tutti_dataset_chunks(z->c->d, segment, name, &c) != TUTTI_OK) return cli_error_tutti();
    tutti_off *bounds = cli_malloc((size_t)(c.count + 1) * sizeof *bounds);
    const tutti_err err = tutti_dataset_chunk_bounds(z->c->d, segment, name, 0, c.count, bounds);
    for (tutti_count i = 0; i < c.count && err == TUTTI_OK; i++)
        chunk_write(z, g, a, &(chunk_ref){time, i, s.file, bounds[i], bounds[i + 1]});
    free(bounds);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

/* ---- selection of arrays */

/* Return whether `name` is reserved for an axis. */
static int is_axis(const char *name) {
    const char *const end = name + strcspn(name, "_");
    const size_t n = (size_t)(end - name);
    const int word =
        (n == 4 && strncmp(name, "time", n) == 0) || (n == 5 && strncmp(name, "index", n) == 0);
    return word && (!*end || (end[1] && strspn(end + 1, "0123456789") == strlen(end + 1)));
}

static int is_exportable(const zarr *z, const tutti_variable_row *v) {
    return data_wanted(z->config, v->name) && v->spec.layout == TUTTI_GLOBAL && v->name[0] != '.' &&
           !strchr(v->name, '/') && !is_axis(v->name);
}

/* Append a section to an array. */
static int array_add(const zarr *z, array *a, const tutti_segment *segment,
                     const tutti_section_row *s) {
    tutti_count shape[TUTTI_MAX_DIMS] = {0}, chunk[TUTTI_MAX_DIMS] = {0};
    int ndims = 0;
    const int is_cut = a->row->spec.compress > 0;
    tutti_chunks c;
    if (tutti_dataset_shape(z->c->d, a->row->spec.space, segment->number, &ndims, shape) !=
            TUTTI_OK ||
        (is_cut && tutti_dataset_chunks(z->c->d, segment->number, a->row->name, &c) != TUTTI_OK))
        return cli_error_tutti();
    for (int k = 0; k < ndims; k++) {
        const tutti_count n = is_cut ? c.shape[k] : shape[k];
        chunk[k] = n > 0 ? n : 1;
    }
    if (a->segments == 0) {
        a->section = *s;
        a->ndims = ndims;
        a->fixed = segment->kind == TUTTI_TOPOLOGY;
        memcpy(a->shape, shape, sizeof shape);
        memcpy(a->chunk, chunk, sizeof chunk);
    } else {
        a->fixed = 0;
        a->differs |= ndims != a->ndims || s->type != a->section.type ||
                      memcmp(shape, a->shape, sizeof shape) != 0 ||
                      memcmp(chunk, a->chunk, sizeof chunk) != 0;
    }
    a->on[a->segments++] = segment->number;
    return 0;
}

static int is_exported(const group *g, tutti_count v) {
    return g->arrays[v].row && g->arrays[v].segments > 0 && !g->arrays[v].differs;
}

static void group_free(const zarr *z, group *g) {
    for (tutti_count v = 0; v < z->c->variables; v++) free(g->arrays[v].on);
    free(g->arrays);
}

/* Assign arrays to axes; the axis with the most segments is first. */
static void axes_find(const zarr *z, group *g) {
    for (tutti_count v = 0; v < z->c->variables; v++) g->arrays[v].axis = -1;
    for (;;) {
        const array *most = NULL;
        for (tutti_count v = 0; v < z->c->variables; v++) {
            const array *a = &g->arrays[v];
            if (is_exported(g, v) && !a->fixed && a->axis < 0 &&
                (!most || a->segments > most->segments))
                most = a;
        }
        if (!most) return;
        for (tutti_count v = 0; v < z->c->variables; v++) {
            array *a = &g->arrays[v];
            if (is_exported(g, v) && !a->fixed && a->axis < 0 && a->segments == most->segments &&
                memcmp(a->on, most->on, (size_t)a->segments * sizeof *a->on) == 0)
                a->axis = g->axes;
        }
        g->axes++;
    }
}

/* Collect the arrays segment by segment.  The group must be freed even after an error. */
static int group_find(const zarr *z, group *g) {
    const size_t capacity = (size_t)(g->last - g->first + 2);
    g->arrays = cli_malloc((size_t)(z->c->variables + 1) * sizeof *g->arrays);
    for (tutti_count v = 0; v < z->c->variables; v++) {
        const tutti_variable_row *row = &z->c->total[v].row;
        g->arrays[v] = (array){.row = is_exportable(z, row) ? row : NULL,
                               .on = cli_malloc(capacity * sizeof *g->arrays[v].on)};
    }
    for (tutti_count i = g->first; i <= g->last; i++) {
        tutti_segment segment;
        if (tutti_dataset_segment(z->c->d, i, &segment) != TUTTI_OK) return cli_error_tutti();
        for (tutti_count v = 0; v < z->c->variables; v++) {
            array *a = &g->arrays[v];
            tutti_section_row s;
            const int has = a->row ? dataset_has(z->c, i, a->row->name, &s) : 0;
            if (has < 0 || (has > 0 && array_add(z, a, &segment, &s))) return 1;
        }
    }
    axes_find(z, g);
    return 0;
}

/* ---- times and indices: stored in the JSON file itself */

/* Write the times or indices of the segments with an array. */
static int axis_write(zarr *z, const group *g, const array *a, int is_time) {
    unsigned char *v = cli_malloc((size_t)a->segments * 8 + 1);
    char name[24], axis[24];
    axis_name(is_time ? "time" : "index", a->axis, name);
    for (tutti_count i = 0; i < a->segments; i++) {
        tutti_segment s;
        uint64_t word;
        if (tutti_dataset_segment(z->c->d, a->on[i], &s) != TUTTI_OK) {
            free(v);
            return cli_error_tutti();
        }
        memcpy(&word, is_time ? (const void *)&s.time : (const void *)&s.index, sizeof word);
        for (int k = 0; k < 8; k++) v[8 * i + k] = (unsigned char)(word >> 8 * k);
    }
    char *text =
        cli_format("{\"zarr_format\": 2, \"shape\": [%lld], \"chunks\": [%lld], \"dtype\": "
                   "\"<%s8\", \"order\": \"C\", \"fill_value\": null, \"filters\": null, "
                   "\"compressor\": null}",
                   (long long)a->segments, (long long)a->segments, is_time ? "f" : "i");
    ref_begin(z, g->name, name, ".zarray");
    cli_json_string(z->f, text);
    free(text);
    text = cli_format("{\"_ARRAY_DIMENSIONS\": [\"%s\"]}", axis_name("time", a->axis, axis));
    ref_begin(z, g->name, name, ".zattrs");
    cli_json_string(z->f, text);
    free(text);
    ref_begin(z, g->name, name, "0");
    fputs("\"base64:", z->f);
    FILE *f = z->f;
    const size_t n = (size_t)a->segments * 8;
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const unsigned word = (unsigned)v[i] << 16 | (left > 1 ? (unsigned)v[i + 1] << 8 : 0) |
                              (left > 2 ? v[i + 2] : 0U);
        putc(digit[word >> 18], f);
        putc(digit[word >> 12 & 63], f);
        putc(left > 1 ? digit[word >> 6 & 63] : '=', f);
        putc(left > 2 ? digit[word & 63] : '=', f);
    }
    putc('"', z->f);
    free(v);
    return 0;
}

/* ---- groups */

static int group_write(zarr *z, group *g) {
    int failed = 0, axes = 0;
    ref_begin(z, g->name, "", ".zgroup");
    cli_json_string(z->f, "{\"zarr_format\": 2}");
    for (int k = 0; k < g->axes; k++, axes = 0)
        for (tutti_count v = 0; v < z->c->variables && !failed; v++) {
            const array *a = &g->arrays[v];
            if (!is_exported(g, v) || a->fixed || a->axis != k || axes++) continue;
            failed = axis_write(z, g, a, 1) || axis_write(z, g, a, 0);
        }
    for (tutti_count v = 0; v < z->c->variables && !failed; v++) {
        const array *a = &g->arrays[v];
        if (a->row && a->differs)
            warn_omitted(a->row, "its sections have different types or chunks");
        if (!is_exported(g, v)) continue;
        failed = zarray_write(z, g, a);
        if (!failed) {
            char *text = NULL;
            size_t bytes = 0;
            FILE *f = inner_open(&text, &bytes);
            failed = !f;
            if (!failed) {
                const tutti_variable_spec *spec = &a->row->spec;
                char axis[24];
                fputs("{\"_ARRAY_DIMENSIONS\": [", f);
                if (!a->fixed) fprintf(f, "\"%s\"", axis_name("time", a->axis, axis));
                for (int k = 0; k < a->ndims; k++) {
                    char *name = a->ndims == 1 ? cli_strdup(spec->space)
                                               : cli_format("%s_%d", spec->space, k);
                    fputs(k || !a->fixed ? ", " : "", f);
                    cli_json_string(f, name);
                    free(name);
                }
                if (a->row->values_per_item > 1)
                    fprintf(f, ", \"component_%lld\"", (long long)a->row->values_per_item);
                putc(']', f);
                if (spec->units[0]) {
                    cli_json_pair(f, ", ", "units", spec->units);
                }
                if (spec->long_name[0]) {
                    cli_json_pair(f, ", ", "long_name", spec->long_name);
                }
                putc('}', f);
                ref_begin(z, g->name, a->row->name, ".zattrs");
                failed = ref_text(z, f, &text);
            }
        }
        z->arrays++;
    }
    for (tutti_count i = g->first; i <= g->last; i++)
        for (tutti_count v = 0; v < z->c->variables && !failed; v++) {
            array *a = &g->arrays[v];
            if (!is_exported(g, v) || a->written == a->segments || a->on[a->written] != i) continue;
            failed = chunks_write(z, g, a, i);
            a->written++;
        }
    return failed;
}

static int topology_of(const zarr *z, tutti_count segment, tutti_count *out) {
    tutti_segment s;
    if (tutti_dataset_segment(z->c->d, segment, &s) != TUTTI_OK) return cli_error_tutti();
    *out = s.topology;
    return 0;
}

/* Write one group per topology, with the segments up to the next topology. */
static int topologies_write(zarr *z) {
    ref_begin(z, "", "", ".zgroup");
    cli_json_string(z->f, "{\"zarr_format\": 2}");
    for (tutti_count i = 0; i < z->c->segments;) {
        tutti_count is = -1, next = -1;
        group g = {.first = i};
        if (topology_of(z, i, &is)) return 1;
        for (next = is; next == is && ++i < z->c->segments;)
            if (topology_of(z, i, &next)) return 1;
        g.last = i - 1;
        snprintf(g.name, sizeof g.name, is < 0 ? "begin/" : "topology_%lld/", (long long)is);
        const int failed = group_find(z, &g) || group_write(z, &g);
        group_free(z, &g);
        if (failed) return 1;
    }
    return 0;
}

int dataset_export_zarr(const dataset_catalogue *c, const data_config *config, FILE *f,
                        const char *prefix) {
    zarr z = {.c = c, .config = config, .f = f, .prefix = prefix};
    for (tutti_count v = 0; v < z.c->variables; v++) {
        const tutti_variable_row *row = &z.c->total[v].row;
        if (!data_wanted(z.config, row->name) || is_exportable(&z, row)) continue;
        warn_omitted(row, row->spec.layout == TUTTI_RANKED
                              ? "it has layout ranked (tutti cp --layout global)"
                              : "Zarr does not support this name");
    }
    fputs("{\"version\": 1, \"refs\": {", f);
    group all = {.last = z.c->segments - 1};
    int failed = group_find(&z, &all);
    int one = !failed; /* whether one group is enough */
    for (tutti_count v = 0; v < c->variables && one; v++) one = !all.arrays[v].differs;
    if (one) failed = group_write(&z, &all);
    group_free(&z, &all);
    if (failed || (!one && topologies_write(&z))) return 1;
    fputs("\n}}\n", f);
    if (z.arrays > 0) return 0;
    return cli_error("'%s' has no variable that Zarr can represent: the layout must be global",
                     c->path);
}
