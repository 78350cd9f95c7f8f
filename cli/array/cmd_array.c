/* tutti array: create and inspect arrays in files.  The commands that transfer elements are in separate
 * files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"
#include "array/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- array_side: an open array and a section of it */

void array_side_plan(array_side *s, const tutti_array_spec *spec) {
    *s = (array_side){.spec = *spec};
    if (spec->type != TUTTI_BYTES) s->spec.element_size = tutti_type_size(spec->type);
    s->slice = tutti_slice_all(spec->ndims, spec->shape);
    s->count = tutti_slice_count(spec->ndims, &s->slice, s->shape);
}

void array_side_take(array_side *s, tutti_array *a) {
    tutti_array_spec spec;
    tutti_array_describe(a, &spec);
    array_side_plan(s, &spec);
    s->array = a;
}

int array_side_select(array_side *s, const array_config *c) {
    if (array_section_parse(c->section, c->fortran, &s->spec, &s->slice)) return 1;
    s->count = tutti_slice_count(s->spec.ndims, &s->slice, s->shape);
    return 0;
}

int array_side_is_global(const array_side *s, const char *path) {
    if (!tutti_array_distribution(s->array)) return 1;
    cli_error("'%s' has local placement: copy it into one file first with 'tutti array transpose "
              "--axes', on as many ranks as it was written with",
              path);
    return 0;
}

int array_side_close(array_side *s, int failed) {
    if (!s->array) return failed;
    if (tutti_array_close(&s->array) != TUTTI_OK && !failed) return cli_error_tutti();
    return failed;
}

/* Check that shape, type and order, if given as options, match those of the array. */
static int check_options_match(const array_config *c, const tutti_array_spec *spec) {
    char actual[ARRAY_TEXT], given[ARRAY_TEXT];
    int same = !c->has_shape || spec->ndims == c->spec.ndims;
    for (int d = 0; c->has_shape && same && d < spec->ndims; d++)
        same = spec->shape[d] == c->spec.shape[d];
    if (!same)
        return cli_error("'%s' has shape %s, expected %s", c->path,
                         array_shape_text(spec->ndims, spec->shape, actual, sizeof actual),
                         array_shape_text(c->spec.ndims, c->spec.shape, given, sizeof given));
    if (c->has_type && (spec->type != c->spec.type || spec->element_size != c->spec.element_size))
        return cli_error("'%s' has elements of type %s (%lld bytes), expected %s (%lld bytes)",
                         c->path, tutti_type_name(spec->type), (long long)spec->element_size,
                         tutti_type_name(c->spec.type), (long long)c->spec.element_size);
    if (c->has_order && spec->order != c->spec.order)
        return cli_error("'%s' is stored in %s order, expected %s", c->path,
                         spec->order == TUTTI_ROW_MAJOR ? "row" : "column",
                         c->spec.order == TUTTI_ROW_MAJOR ? "row" : "column");
    return 0;
}

int array_side_open_raw(const cli_world *w, const array_config *c, const char *path, int mode,
                        const tutti_array_spec *spec, array_side *out) {
    tutti_array *a;
    if (tutti_array_open_raw(w->comm, path, mode, spec, &c->options, &a) != TUTTI_OK)
        return cli_error_tutti();
    array_side_take(out, a);
    return 0;
}

int array_side_open(const cli_world *w, const array_config *c, int mode, array_side *out) {
    tutti_array *a;
    if (c->raw) return array_side_open_raw(w, c, c->path, mode, &c->spec, out);
    if (npy_is_name(c->path)) {
        /* The elements of a NumPy file are opened as a raw array. */
        npy_header h;
        if (npy_read_for_all(w, c->path, &h)) return 1;
        if (h.swapped)
            return cli_error("the elements of '%s' have the other byte order: convert the file "
                             "with 'tutti array write --create'",
                             c->path);
        if (array_side_open_raw(w, c, c->path, mode, &h.spec, out)) return 1;
        return check_options_match(c, &out->spec) ? array_side_close(out, 1) : 0;
    }
    if (tutti_array_open(w->comm, c->path, mode, NULL, &c->options, &a) != TUTTI_OK)
        return cli_error_open(c->path, "array");
    array_side_take(out, a);
    return check_options_match(c, &out->spec) ? array_side_close(out, 1) : 0;
}

int array_side_create(const cli_world *w, const array_config *c, const char *path,
                      const tutti_array_spec *spec, array_side *out) {
    tutti_array *a;
    tutti_array_spec flat = *spec;
    int failed;
    if (npy_is_name(path)) {
        failed =
            npy_create_for_all(w, path, &flat) ||
            array_side_open_raw(w, c, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &flat, out);
    } else {
        failed = tutti_array_create(w->comm, path, spec, &c->options, &a) != TUTTI_OK;
        if (failed)
            cli_error_tutti();
        else
            array_side_take(out, a);
    }
    /* remove the incomplete file; without --force no file of this name existed before */
    if (failed && !c->force) array_discard(w, c, path);
    return failed;
}

int array_may_replace(const cli_world *w, const array_config *c, const char *path) {
    struct stat st;
    int refused = 0;
    if (w->rank == 0 && !c->force && (lstat(path, &st) == 0 || errno != ENOENT))
        refused = cli_error("'%s' exists; --force replaces it", path);
    return cli_agree(w, refused);
}

int array_may_write(const cli_world *w, const char *from, const char *to) {
    struct stat a, b;
    int same = 0;
    if (w->rank == 0 && to && strcmp(to, "-") != 0 && stat(from, &a) == 0 && stat(to, &b) == 0)
        same = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return cli_agree(w, same && cli_error("'%s' and '%s' are the same file", from, to));
}

int array_remove(const cli_world *w, const array_config *c, const char *path) {
    int failed = 0;
    if (w->rank == 0 && access(path, F_OK) == 0 && tutti_file_delete(path, &c->options) != TUTTI_OK)
        failed = cli_error_tutti();
    return cli_agree(w, failed);
}

void array_discard(const cli_world *w, const array_config *c, const char *path) {
    char why[512];
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, cli_message());
    (void)array_remove(w, c, path);
    cli_error("%s", why);
}

/* ---- create */

static void show_filling(void *progress, tutti_off done, tutti_off total, const char *phase) {
    (void)phase;
    progress_work(progress, "filling", done, total);
}

static int fill_array(const cli_world *w, tutti_array *a, const void *element) {
    cli_progress progress;
    progress_start(&progress, w, 0);
    tutti_file_on_progress(tutti_array_file(a), show_filling, &progress);
    const tutti_err err = tutti_array_fill(a, element);
    tutti_file_on_progress(tutti_array_file(a), NULL, NULL);
    progress_end(&progress);
    return err == TUTTI_OK ? 0 : cli_error_tutti();
}

static int create_array(const cli_world *w, const array_config *c, const void *element) {
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    array_side s = {.array = NULL};
    if (array_may_replace(w, c, c->path) || (c->raw && array_remove(w, c, c->path))) return 1;
    int failed = c->raw ? array_side_open_raw(w, c, c->path, mode, &c->spec, &s)
                        : array_side_create(w, c, c->path, &c->spec, &s);
    const int made = !failed;
    if (!failed && element) failed = fill_array(w, s.array, element);
    failed = array_side_close(&s, failed);
    if (failed && made) array_discard(w, c, c->path);
    return failed;
}

int array_create(const cli_world *w, const void *config) {
    const array_config *c = config;
    void *element = c->fill ? cli_malloc((size_t)c->spec.element_size) : NULL;
    const int failed =
        (element && array_element_parse(&c->spec, c->fill, element)) || create_array(w, c, element);
    free(element);
    return failed;
}

/* ---- info */

static const char *order_name(tutti_order order) {
    return order == TUTTI_ROW_MAJOR ? "row" : "column";
}

static void print_info(const array_config *c, const array_side *s, const tutti_distribution *d) {
    char shape[ARRAY_TEXT], size[32];
    const tutti_off bytes = s->count * s->spec.element_size;
    cli_format_size(bytes, size, sizeof size);
    printf("%s\n", c->path);
    printf("  shape      %s\n",
           array_shape_text(s->spec.ndims, s->spec.shape, shape, sizeof shape));
    printf("  type       %s, %lld bytes\n", tutti_type_name(s->spec.type),
           (long long)s->spec.element_size);
    printf("  order      %s-major\n", order_name(s->spec.order));
    printf("  elements   %lld, %s\n", (long long)s->count, size);
    if (d)
        printf("  placement  local, %d ranks\n", tutti_distribution_ranks(d));
    else
        printf("  placement  global, elements begin at byte %lld\n", (long long)s->spec.offset);
}

static void print_info_json(const array_config *c, const array_side *s,
                            const tutti_distribution *d) {
    cli_json_pair(stdout, "{", "path", c->path);
    printf(", \"shape\": [");
    for (int i = 0; i < s->spec.ndims; i++)
        printf("%s%lld", i ? ", " : "", (long long)s->spec.shape[i]);
    printf("], \"type\": \"%s\", \"element_size\": %lld, \"order\": \"%s\"",
           tutti_type_name(s->spec.type), (long long)s->spec.element_size,
           order_name(s->spec.order));
    printf(", \"elements\": %lld, \"bytes\": %lld", (long long)s->count,
           (long long)s->count * s->spec.element_size);
    printf(", \"placement\": \"%s\"", d ? "local" : "global");
    if (d)
        printf(", \"ranks\": %d}\n", tutti_distribution_ranks(d));
    else
        printf(", \"offset\": %lld}\n", (long long)s->spec.offset);
}

/* Rank 0 reads the header without opening the array: arrays in local placement can only be opened by as many
 * ranks as created them. */
static int inspect_array(const array_config *c) {
    array_side s;
    tutti_array_spec spec;
    tutti_distribution *d = NULL;
    if (tutti_array_inspect(c->path, &c->options, &spec, &d) != TUTTI_OK)
        return cli_error_open(c->path, "array");
    array_side_plan(&s, &spec);
    const int failed = check_options_match(c, &spec);
    if (!failed) (c->json ? print_info_json : print_info)(c, &s, d);
    tutti_distribution_free(&d);
    return failed;
}

int array_info(const cli_world *w, const void *config) {
    const array_config *c = config;
    array_side s = {.array = NULL};
    if (!c->raw && !npy_is_name(c->path)) return cli_agree(w, w->rank == 0 && inspect_array(c));
    if (array_side_open(w, c, TUTTI_READ, &s)) return 1;
    if (w->rank == 0) (c->json ? print_info_json : print_info)(c, &s, NULL);
    return array_side_close(&s, 0);
}
