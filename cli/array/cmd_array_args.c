/* tutti array: arguments.  A table says which command takes which; whatever is not in it is an option of
 * the library.  Every rank gets the same arguments and decides the same.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WITH_SECTION = ARRAY_READ | ARRAY_WRITE | ARRAY_STAT,
    WITH_BUDGET = WITH_SECTION | ARRAY_TRANSPOSE,
    EVERYWHERE = 63
};

static const tutti_off budget_max = (tutti_off)1 << 40;

static int wrong_value(const char *name, const char *value, const char *wanted) {
    return cli_error("--%s '%s': %s", name, value, wanted);
}

/* ---- one function an argument: 0, or 1 and a message */

static int parse_number(const char *text, tutti_count least, tutti_count *out, const char **end) {
    char *after;
    errno = 0;
    const long long n = strtoll(text, &after, 10);
    if (after == text || errno || n < least) return 0;
    *out = n;
    *end = after;
    return 1;
}

static int set_shape(array_config *c, const char *value) {
    const char *at = value;
    c->spec.ndims = 0;
    for (;; at++) {
        const int d = c->spec.ndims;
        if (d == TUTTI_MAX_DIMS || !parse_number(at, 0, &c->spec.shape[d], &at))
            return wrong_value("shape", value, "up to 16 extents are needed, like 100,200");
        c->spec.ndims++;
        if (*at != ',' && *at != 'x') break;
    }
    c->has_shape = 1;
    return *at ? wrong_value("shape", value, "extents are separated by commas") : 0;
}

/* A name, or bytes:24 for elements of 24 bytes. */
static int set_type(array_config *c, const char *value) {
    c->has_type = 1;
    if (strncmp(value, "bytes:", 6) == 0) {
        const char *end = "";
        c->spec.type = TUTTI_BYTES;
        if (parse_number(value + 6, 1, &c->spec.element_size, &end) && !*end) return 0;
    } else if (tutti_type_parse(value, &c->spec.type) == TUTTI_OK && c->spec.type != TUTTI_BYTES) {
        c->spec.element_size = tutti_type_size(c->spec.type);
        return 0;
    }
    return wrong_value("type", value,
                       "int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128 "
                       "or bytes:N is needed");
}

static int parse_order(const char *name, const char *value, tutti_order *out) {
    if (strcmp(value, "row") == 0 || strcmp(value, "C") == 0)
        *out = TUTTI_ROW_MAJOR;
    else if (strcmp(value, "column") == 0 || strcmp(value, "F") == 0)
        *out = TUTTI_COL_MAJOR;
    else
        return wrong_value(name, value, "row or column is needed");
    return 0;
}

static int set_order(array_config *c, const char *value) {
    c->has_order = 1;
    return parse_order("order", value, &c->spec.order);
}

static int set_to_order(array_config *c, const char *value) {
    c->has_to_order = 1;
    return parse_order("to-order", value, &c->to_order);
}

static int set_offset(array_config *c, const char *value) {
    if (cli_parse_size(value, &c->spec.offset)) return 0;
    return wrong_value("offset", value, "a number of bytes is needed");
}

static int set_budget(array_config *c, const char *value) {
    if (cli_parse_size(value, &c->budget) && c->budget >= 4096 && c->budget <= budget_max) return 0;
    return wrong_value("budget", value, "bytes, 4k to 1t, are needed");
}

static int set_digits(array_config *c, const char *value) {
    long n = 0;
    if (!cli_parse_count(value, 17, &n) || n == 0)
        return wrong_value("digits", value, "a number from 1 to 17 is needed");
    return c->digits = (int)n, 0;
}

static int set_zoom(array_config *c, const char *value) {
    long n = 0;
    if (!cli_parse_count(value, 64, &n) || n == 0)
        return wrong_value("zoom", value, "a number from 1 to 64 is needed");
    return c->zoom = (int)n, 0;
}

static int set_pixels(array_config *c, const char *value) {
    long n = 0;
    if (!cli_parse_count(value, 32768, &n) || n == 0)
        return wrong_value("pixels", value, "a number from 1 to 32768 is needed");
    return c->pixels = n, 0;
}

static int set_range(array_config *c, const char *value) {
    char *end;
    c->has_range = 1;
    c->range[0] = strtod(value, &end);
    if (end != value && *end == ',') {
        const char *second = end + 1;
        c->range[1] = strtod(second, &end);
        if (end != second && !*end && c->range[0] < c->range[1] &&
            c->range[1] - c->range[0] < HUGE_VAL)
            return 0;
    }
    return wrong_value("range", value, "two numbers, like -1,1, the smaller one first, are needed");
}

#define SET_TEXT(field)                                               \
    static int set_##field(array_config *c, const char *value) {      \
        if (!*value) return wrong_value(#field, value, "is missing"); \
        return c->field = value, 0;                                   \
    }
#define SET_FLAG(field)                                          \
    static int set_##field(array_config *c, const char *value) { \
        return (void)value, c->field = 1, 0;                     \
    }
SET_TEXT(fill)
SET_TEXT(from)
SET_TEXT(axes)
SET_TEXT(out)
SET_TEXT(npy)
SET_TEXT(png)
SET_FLAG(raw)
SET_FLAG(force)
SET_FLAG(create)
SET_FLAG(json)
SET_FLAG(csv)
SET_FLAG(fortran)
SET_FLAG(legend)
SET_FLAG(to_raw)

static const struct argument {
    const char *name;
    int takes_value;
    int commands;
    int (*set)(array_config *c, const char *value);
} argument_table[] = {
    {"raw", 0, EVERYWHERE, set_raw},
    {"shape", 1, EVERYWHERE, set_shape},
    {"type", 1, EVERYWHERE, set_type},
    {"order", 1, EVERYWHERE, set_order},
    {"offset", 1, EVERYWHERE, set_offset},
    {"fill", 1, ARRAY_CREATE, set_fill},
    {"force", 0, ARRAY_CREATE | ARRAY_WRITE | ARRAY_TRANSPOSE, set_force},
    {"json", 0, ARRAY_INFO | ARRAY_STAT, set_json},
    {"fortran", 0, WITH_SECTION, set_fortran},
    {"budget", 1, WITH_BUDGET, set_budget},
    {"csv", 0, ARRAY_READ, set_csv},
    {"digits", 1, ARRAY_READ, set_digits},
    {"out", 1, ARRAY_READ, set_out},
    {"npy", 1, ARRAY_READ, set_npy},
    {"png", 1, ARRAY_READ, set_png},
    {"range", 1, ARRAY_READ, set_range},
    {"legend", 0, ARRAY_READ, set_legend},
    {"zoom", 1, ARRAY_READ, set_zoom},
    {"pixels", 1, ARRAY_READ, set_pixels},
    {"from", 1, ARRAY_WRITE, set_from},
    {"create", 0, ARRAY_WRITE, set_create},
    {"axes", 1, ARRAY_TRANSPOSE, set_axes},
    {"to-order", 1, ARRAY_TRANSPOSE, set_to_order},
    {"to-raw", 0, ARRAY_TRANSPOSE, set_to_raw},
};
enum { ARGUMENTS = sizeof argument_table / sizeof *argument_table };

/* ---- the walk over the arguments */

typedef struct {
    int n, next;
    char **arg;
} arguments;

static const struct argument *find_argument(const char *name, size_t length) {
    for (int i = 0; i < ARGUMENTS; i++)
        if (strlen(argument_table[i].name) == length &&
            strncmp(argument_table[i].name, name, length) == 0)
            return &argument_table[i];
    return NULL;
}

static int set_library_option(array_config *c, const char *name, size_t length, const char *value) {
    char key[64];
    if (length >= sizeof key) return cli_error("unknown argument --%.80s", name);
    memcpy(key, name, length);
    key[length] = '\0';
    if (!value) return cli_error("--%s: unknown, or its value is missing", key);
    return tutti_options_set(&c->options, key, value) == TUTTI_OK ? 0 : cli_error_tutti();
}

/* --name, --name value, --name=value */
static int take_named(array_config *c, arguments *all) {
    const char *name = all->arg[all->next++] + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct argument *a = find_argument(name, length);
    const char *value = equals ? equals + 1 : NULL;
    if (a && !(a->commands & c->command))
        return cli_error("--%s is not for 'tutti array %s'", a->name, c->name);
    if (a && !a->takes_value)
        return value ? cli_error("--%s takes no value", a->name) : a->set(c, NULL);
    if (!value && all->next < all->n) value = all->arg[all->next++];
    if (!a) return set_library_option(c, name, length, value);
    return value ? a->set(c, value) : cli_error("--%s needs a value", a->name);
}

static int take_place(array_config *c, const char *arg) {
    if (!c->path)
        c->path = arg;
    else if (c->command == ARRAY_TRANSPOSE && !c->to)
        c->to = arg;
    else if ((c->command & WITH_SECTION) && !c->section)
        c->section = arg;
    else
        return cli_error("what is '%s'?", arg);
    return 0;
}

/* What must be said, and what cannot be said together. */
static int check_config(const array_config *c) {
    const int whole = c->has_shape && c->has_type;
    if (!c->path || !*c->path) return cli_error("which file?");
    if (c->command == ARRAY_TRANSPOSE && !c->to) return cli_error("into which file?");
    if ((c->command == ARRAY_CREATE || (c->raw && !c->create)) && !whole)
        return cli_error("--shape and --type are needed%s",
                         c->raw ? ", since the file does not tell them" : "");
    if (c->spec.offset && !c->raw) return cli_error("--offset is for --raw files");
    if (c->command == ARRAY_WRITE && !c->from) return cli_error("--from is needed");
    if (c->force && c->command == ARRAY_WRITE && !c->create)
        return cli_error("--force is for --create");
    if (c->create && c->section) return cli_error("--create writes the whole array: no section");
    if (!c->png && (c->legend || c->has_range || c->zoom || c->pixels))
        return cli_error("--legend, --range, --zoom and --pixels are for --png");
    if (c->digits && c->csv) return cli_error("--digits is not for --csv, which has them all");
    return 0;
}

static int find_command(array_config *c, const char *name) {
    static const struct {
        const char *name;
        int command;
    } table[] = {{"create", ARRAY_CREATE}, {"info", ARRAY_INFO},           {"read", ARRAY_READ},
                 {"write", ARRAY_WRITE},   {"transpose", ARRAY_TRANSPOSE}, {"stat", ARRAY_STAT}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            c->name = table[i].name;
            c->command = table[i].command;
            return 0;
        }
    return cli_error("there is no 'tutti array %s'", name);
}

static int parse(int argc, char **argv, array_config *c) {
    *c = (array_config){.budget = 64 << 20, .name = ""};
    if (argc < 2) return cli_error("what is to be done?");
    if (find_command(c, argv[1])) return 1;
    if (tutti_options_init(&c->options) != TUTTI_OK) return cli_error_tutti();
    for (arguments all = {argc, 2, argv}; all.next < all.n;) {
        const char *arg = all.arg[all.next];
        if (strncmp(arg, "--", 2) == 0 && arg[2]) {
            if (take_named(c, &all)) return 1;
        } else if (take_place(c, all.arg[all.next++])) {
            return 1;
        }
    }
    return check_config(c);
}

int array_config_parse(int argc, char **argv, array_config *out) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return ARRAY_ARGS_HELP;
    return parse(argc, argv, out) ? ARRAY_ARGS_WRONG : ARRAY_ARGS_OK;
}
