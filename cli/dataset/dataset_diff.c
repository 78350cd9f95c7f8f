/* tutti diff: compare two datasets value by value.  Segments are matched by kind and time index, variables by
 * name, entries by position or, with --by id, entries of lists by id.  cli_numbers_differ defines a
 * difference.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences of one variable in all segments. */
typedef struct {
    const char *name;
    tutti_count numbers, different;
    long double absolute, relative; /* largest differences */
    char *place;                    /* location of the first difference */
} outcome;

typedef struct {
    const data_config *config;
    dataset_catalogue a, b;
    outcome *variable; /* [a.variables] result for each variable of a */
    char **only; /* [onlys] differences other than of values, such as items in one dataset only */
    int onlys;
    dataset_ids ids[2]; /* ids of the list used last, in a and b */
} comparison;

static void add_difference(comparison *k, char *text) {
    k->only = cli_realloc(k->only, (size_t)(k->onlys + 1) * sizeof *k->only);
    k->only[k->onlys++] = text;
}

/* ---- values */

/* Compare value i of two views. */
static int values_differ(const dataset_view *a, const dataset_view *b, tutti_count i,
                         const double *limit, outcome *o) {
    const char *x = a->buffer + i * a->number.element_size;
    const char *y = b->buffer + i * b->number.element_size;
    long double one[2], two[2], by[2];
    for (int part = 0; part < 2; part++) {
        one[part] = array_element_value(a->number.type, x, part);
        two[part] = array_element_value(b->number.type, y, part);
    }
    if (!cli_numbers_differ(one, two, limit, by)) return 0;
    o->absolute = fmaxl(o->absolute, by[0]);
    o->relative = fmaxl(o->relative, by[1]);
    return 1;
}

static char *place_text(const dataset_view *a, const dataset_view *b, tutti_count i) {
    tutti_count at[TUTTI_MAX_DIMS];
    char where[ARRAY_TEXT];
    dataset_view_index(a, i, at);
    array_shape_text(a->ndims, at, where, sizeof where);
    return cli_format("at %s of segment %lld (%s, time index %lld): %.10g and %.10g", where,
                      (long long)a->segment.number, dataset_kind_name(a->segment.kind),
                      (long long)a->segment.index, dataset_view_value(a, i),
                      dataset_view_value(b, i));
}

/* ---- entries by their ids */

/* Read all values of a view.  Returns NULL and a message on failure; the result must be freed. */
static char *numbers_read(dataset_view *v) {
    const size_t size = (size_t)v->number.element_size;
    char *all = cli_array(v->count, (tutti_count)size, 1);
    int more;
    while ((more = dataset_view_next(v)) > 0)
        memcpy(all + (size_t)v->done * size, v->buffer, (size_t)v->n * size);
    if (more == 0) return all;
    free(all);
    return NULL;
}

/* A view, and all its values. */
typedef struct {
    const dataset_view *view;
    char *numbers; /* all values of the view */
} side;

/* Return a copy of the view whose buffer contains only entry `at`. */
static dataset_view entry_view(const side *s, tutti_count at) {
    dataset_view v = *s->view;
    const tutti_count first = at * v.row->values_per_item;
    v.buffer = s->numbers + first * v.number.element_size;
    v.done = first;
    return v;
}

static void only_ids(comparison *k, const dataset_catalogue *c, const dataset_view *v,
                     tutti_count n, int64_t first) {
    char *text = cli_format("space '%s', topology of segment %lld: %lld %s only in %s, the first "
                            "has id %lld",
                            v->row->spec.space, (long long)v->segment.topology, (long long)n,
                            n == 1 ? "entry" : "entries", c->path, (long long)first);
    for (int i = 0; n > 0 && i < k->onlys; i++)
        if (strcmp(k->only[i], text) == 0) n = 0; /* already reported for another variable */
    if (n > 0)
        add_difference(k, text);
    else
        free(text);
}

static int compare_by_id(comparison *k, dataset_view *a, dataset_view *b, const double *limit,
                         outcome *o) {
    const char *space = a->row->spec.space;
    if (dataset_ids_read(&k->a, space, a->segment.number, &k->ids[0]) ||
        dataset_ids_read(&k->b, b->row->spec.space, b->segment.number, &k->ids[1]))
        return 1;
    const dataset_ids *x = &k->ids[0], *y = &k->ids[1];
    side one = {a, numbers_read(a)}, two = {b, NULL};
    if (one.numbers) two.numbers = numbers_read(b);
    tutti_count i = 0, j = 0, only_a = 0, only_b = 0;
    int64_t first_a = 0, first_b = 0;
    while (two.numbers && (i < x->n || j < y->n)) {
        if (j == y->n || (i < x->n && x->v[i].id < y->v[j].id)) {
            if (only_a++ == 0) first_a = x->v[i].id;
            i++;
        } else if (i == x->n || y->v[j].id < x->v[i].id) {
            if (only_b++ == 0) first_b = y->v[j].id;
            j++;
        } else {
            const dataset_view in_a = entry_view(&one, x->v[i++].position);
            const dataset_view in_b = entry_view(&two, y->v[j++].position);
            for (tutti_count n = 0; n < a->row->values_per_item; n++)
                if (values_differ(&in_a, &in_b, n, limit, o) && o->different++ == 0 && !o->place)
                    o->place = place_text(&in_a, &in_b, n);
            o->numbers += a->row->values_per_item;
        }
    }
    const int failed = !two.numbers;
    if (!failed) only_ids(k, &k->a, a, only_a, first_a);
    if (!failed) only_ids(k, &k->b, b, only_b, first_b);
    free(one.numbers);
    free(two.numbers);
    return failed;
}

/* ---- sections */

static int compare_views(comparison *k, dataset_view *a, dataset_view *b, outcome *o) {
    double limit[2];
    char one[ARRAY_TEXT], two[ARRAY_TEXT];
    data_tolerance(k->config, o->name, limit);
    if (k->config->diff_by == BY_ID && a->row->values_per_item == b->row->values_per_item &&
        dataset_is_list(&k->a, a->row->spec.space) && dataset_is_list(&k->b, b->row->spec.space))
        return compare_by_id(k, a, b, limit, o);
    if (a->ndims == b->ndims &&
        memcmp(a->shape, b->shape, (size_t)a->ndims * sizeof *a->shape) == 0) {
        int more, other;
        /* Buffers of the views contain different numbers of values if item sizes differ: compare the values
         * that both buffers have. */
        tutti_count i = 0, j = 0;
        more = dataset_view_next(a);
        other = dataset_view_next(b);
        while (more > 0 && other > 0) {
            dataset_view x = *a, y = *b;
            const tutti_count left = a->n - i < b->n - j ? a->n - i : b->n - j;
            x.buffer += i * x.number.element_size;
            y.buffer += j * y.number.element_size;
            x.done += i;
            for (tutti_count n = 0; n < left; n++) {
                if (!values_differ(&x, &y, n, limit, o)) continue;
                if (o->different++ == 0 && !o->place) o->place = place_text(&x, &y, n);
            }
            o->numbers += left;
            i += left;
            j += left;
            if (i == a->n && (more = dataset_view_next(a)) >= 0) i = 0;
            if (j == b->n && (other = dataset_view_next(b)) >= 0) j = 0;
        }
        return more < 0 || other < 0;
    }
    add_difference(k,
                   cli_format("%s, segment %lld: %s and %s", o->name, (long long)a->segment.number,
                              dataset_shape_text(a->ndims, a->shape, one, sizeof one),
                              dataset_shape_text(b->ndims, b->shape, two, sizeof two)));
    return 0;
}

static int compare_section(comparison *k, tutti_count v, tutti_count ga, tutti_count gb) {
    outcome *o = &k->variable[v];
    tutti_section_row row;
    dataset_view a = {.count = 0}, b = {.count = 0};
    const int in_a = dataset_has(&k->a, ga, o->name, &row);
    const int in_b = dataset_has(&k->b, gb, o->name, &row);
    if (in_a < 0 || in_b < 0) return 1;
    if (in_a != in_b)
        add_difference(k, cli_format("%s, segment %lld: only in %s", o->name,
                                     (long long)(in_a ? ga : gb), in_a ? k->a.path : k->b.path));
    if (!in_a || !in_b) return 0;
    const tutti_variable_row *other = dataset_variable(&k->b, o->name);
    const int failed = !other || dataset_view_open(&k->a, &k->a.total[v].row, ga, NULL, &a) ||
                       dataset_view_open(&k->b, other, gb, NULL, &b) || compare_views(k, &a, &b, o);
    dataset_view_close(&a);
    dataset_view_close(&b);
    return failed;
}

/* ---- segments */

static int compare_segments(comparison *k) {
    const cli_world alone = {.comm = MPI_COMM_SELF, .ranks = 1};
    cli_progress progress;
    tutti_count i = 0, j = 0;
    int failed = 0;
    progress_start(&progress, &alone, 0);
    while (!failed && (i < k->a.segments || j < k->b.segments)) {
        tutti_segment a = {.index = 0}, b = {.index = 0};
        if ((i < k->a.segments && tutti_dataset_segment(k->a.d, i, &a) != TUTTI_OK) ||
            (j < k->b.segments && tutti_dataset_segment(k->b.d, j, &b) != TUTTI_OK)) {
            failed = cli_error_tutti();
            break;
        }
        /* Segments are ordered by time index; a topology precedes the state of the same index. */
        const int order = i == k->a.segments         ? 1
                          : j == k->b.segments       ? -1
                          : a.index != b.index       ? (a.index < b.index ? -1 : 1)
                          : a.kind == b.kind         ? 0
                          : a.kind == TUTTI_TOPOLOGY ? -1
                                                     : 1;
        if (order) {
            const dataset_catalogue *c = order < 0 ? &k->a : &k->b;
            const tutti_segment *g = order < 0 ? &a : &b;
            add_difference(k, cli_format("%s with time index %lld: only in %s",
                                         dataset_kind_name(g->kind), (long long)g->index, c->path));
        }
        if (order == 0 && !(a.time == b.time || (isnan(a.time) && isnan(b.time))))
            add_difference(
                k, cli_format("segment %lld: times %.17g and %.17g", (long long)i, a.time, b.time));
        for (tutti_count v = 0; v < k->a.variables && order == 0 && !failed; v++)
            failed = data_wanted(k->config, k->variable[v].name) && compare_section(k, v, i, j);
        i += order <= 0;
        j += order >= 0;
        progress_work(&progress, "comparing", i + j, k->a.segments + k->b.segments);
    }
    progress_end(&progress);
    return failed;
}

/* ---- reports */

static void print_differences_json(const comparison *k, int different) {
    printf("{\"same\": %s, \"others\": ", different ? "false" : "true");
    cli_json_strings(stdout, k->onlys, k->only);
    printf(",\n \"variables\": [");
    int n = 0;
    for (tutti_count v = 0; v < k->a.variables; v++) {
        const outcome *o = &k->variable[v];
        if (!data_wanted(k->config, o->name)) continue;
        printf("%s\n  {\"name\": ", n++ ? "," : "");
        cli_json_string(stdout, o->name);
        printf(", \"numbers\": %lld, \"different\": %lld, \"absolute\": ", (long long)o->numbers,
               (long long)o->different);
        cli_json_number(stdout, (double)o->absolute);
        cli_json_number_pair(stdout, ", ", "relative", (double)o->relative);
        cli_json_pair(stdout, ", ", "first", o->place);
        putchar('}');
    }
    printf("]}\n");
}

int dataset_diff(const cli_world *w, const data_config *config) {
    (void)w;
    comparison k = {.config = config};
    int code = CLI_FAILED;
    if (!dataset_open(MPI_COMM_SELF, config->path[0], &k.a) &&
        !dataset_open(MPI_COMM_SELF, config->path[1], &k.b)) {
        int different = 0;
        k.variable = cli_malloc((size_t)k.a.variables * sizeof *k.variable);
        for (tutti_count v = 0; v < k.a.variables; v++)
            k.variable[v] = (outcome){.name = k.a.total[v].row.name};
        /* A variable named on the command line must exist in at least one dataset. */
        int failed = 0;
        for (int i = 0; i < config->variables.n && !failed; i++)
            failed = !dataset_variable(&k.a, config->variables.item[i]) &&
                     !dataset_variable(&k.b, config->variables.item[i]);
        if (!failed) {
            for (int i = 0; i < 2; i++) {
                const dataset_catalogue *c = i ? &k.b : &k.a, *other = i ? &k.a : &k.b;
                for (tutti_count v = 0; v < c->variables; v++) {
                    const char *name = c->total[v].row.name;
                    int there = 0;
                    for (tutti_count u = 0; u < other->variables; u++)
                        there |= strcmp(other->total[u].row.name, name) == 0;
                    if (!there && data_wanted(k.config, name))
                        add_difference(&k, cli_format("variable %s: only in %s", name, c->path));
                }
            }
        }
        if (!failed) failed = compare_segments(&k);
        different = k.onlys > 0;
        for (tutti_count v = 0; v < k.a.variables; v++) different |= k.variable[v].different > 0;
        if (!failed && k.config->json)
            print_differences_json(&k, different);
        else if (!failed && !k.config->quiet) {
            for (int i = 0; i < k.onlys; i++) printf("%s\n", cli_shown(k.only[i]));
            for (tutti_count v = 0; v < k.a.variables; v++) {
                const outcome *o = &k.variable[v];
                if (o->different == 0) continue;
                printf("%s: %lld of %lld numbers differ, by at most %.4Lg (relative %.4Lg)\n",
                       cli_shown(o->name), (long long)o->different, (long long)o->numbers,
                       o->absolute, o->relative);
                printf("  first %s\n", cli_shown(o->place));
            }
        }
        for (tutti_count v = 0; v < k.a.variables; v++) free(k.variable[v].place);
        for (int i = 0; i < k.onlys; i++) free(k.only[i]);
        for (int i = 0; i < 2; i++) dataset_ids_free(&k.ids[i]);
        free(k.variable);
        free(k.only);
        code = failed ? CLI_FAILED : different ? CLI_DIFFERS : CLI_OK;
    }
    dataset_close(&k.a);
    dataset_close(&k.b);
    return code;
}
