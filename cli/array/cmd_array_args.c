/* tutti array: its commands and options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    WITH_SECTION = ARRAY_READ | ARRAY_WRITE | ARRAY_STAT,
    WITH_BUDGET = WITH_SECTION | ARRAY_TRANSPOSE,
    WITH_FORCE = ARRAY_CREATE | ARRAY_WRITE | ARRAY_TRANSPOSE
};

static int parse_extent(const char *text, tutti_count least, tutti_count *out, const char **end) {
    char *after;
    errno = 0;
    const long long n = strtoll(text, &after, 10);
    if (after == text || errno || n < least) return 0;
    *out = n;
    *end = after;
    return 1;
}

static int set_shape(void *config, const char *value) {
    tutti_array_spec *spec = &((array_config *)config)->spec;
    const char *at = value;
    ((array_config *)config)->has_shape = 1;
    for (spec->ndims = 0;; at++) {
        if (spec->ndims == TUTTI_MAX_DIMS || !parse_extent(at, 0, &spec->shape[spec->ndims], &at))
            return cli_error("must be 1 to 16 extents >= 0, for example 100,200");
        spec->ndims++;
        if (*at != ',' && *at != 'x') break;
    }
    return *at ? cli_error("extents must be separated by commas") : 0;
}

/* Parse --type: the name of a type, or bytes:24 for elements of 24 bytes. */
static int set_type(void *config, const char *value) {
    tutti_array_spec *spec = &((array_config *)config)->spec;
    ((array_config *)config)->has_type = 1;
    if (strncmp(value, "bytes:", 6) == 0) {
        const char *end = "";
        spec->type = TUTTI_BYTES;
        if (parse_extent(value + 6, 1, &spec->element_size, &end) && !*end) return 0;
    } else if (tutti_type_parse(value, &spec->type) == TUTTI_OK && spec->type != TUTTI_BYTES) {
        spec->element_size = tutti_type_size(spec->type);
        return 0;
    }
    return cli_error("must be int8 to int64, uint8 to uint64, float16 to float64, complex64, "
                     "complex128 or bytes:N");
}

static int parse_order(const char *value, tutti_order *out, int *given) {
    const int is_row = strcmp(value, "row") == 0 || strcmp(value, "C") == 0;
    *out = is_row ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
    *given = 1;
    if (is_row || strcmp(value, "column") == 0 || strcmp(value, "F") == 0) return 0;
    return cli_error("must be row or column");
}

static int set_order(void *config, const char *value) {
    array_config *c = config;
    return parse_order(value, &c->spec.order, &c->has_order);
}

static int set_to_order(void *config, const char *value) {
    array_config *c = config;
    return parse_order(value, &c->to_order, &c->has_to_order);
}

static int set_range(void *config, const char *value) {
    array_config *c = config;
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
    return cli_error("must be two numbers LO,HI with LO < HI");
}

#define AT(field) .at = offsetof(array_config, field)
static const cli_option option_table[] = {
    {0, "raw", NULL, NULL, "FILE has no header: --shape, --type, --order and --offset describe it",
     0, CLI_FLAG, AT(raw)},
    {0, "shape", "N,...", NULL,
     "extents, the first dimension first; without --raw, what FILE must have", 0, CLI_CUSTOM,
     .set = set_shape},
    {0, "type", "TYPE", NULL,
     "type of elements: int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, "
     "bytes:N",
     0, CLI_CUSTOM, .set = set_type},
    {0, "order", "row|column", NULL,
     "dimension that varies fastest in the file: the last (row) or the first (column) (default: "
     "row)",
     0, CLI_CUSTOM, .set = set_order},
    {0, "offset", "BYTES", "0", "position of the first element of a --raw file", 0, CLI_SIZE,
     AT(spec.offset)},
    {0, "fill", "VALUE", NULL, "value of all elements (default: 0)", ARRAY_CREATE, CLI_TEXT,
     AT(fill)},
    {'f', "force", NULL, NULL, "replace an existing file", WITH_FORCE, CLI_FLAG, AT(force)},
    {0, "json", NULL, NULL, "print JSON", ARRAY_INFO | ARRAY_STAT, CLI_FLAG, AT(json)},
    {0, "fortran", NULL, NULL, "indices of sections start at 1 and HI is included", WITH_SECTION,
     CLI_FLAG, AT(fortran)},
    {0, "budget", "BYTES", "64m", "memory for elements per rank", WITH_BUDGET, CLI_SIZE, AT(budget),
     4096, 1ULL << 40},
    {0, "csv", NULL, NULL, "print all digits, separated by commas (default: aligned columns)",
     ARRAY_READ, CLI_FLAG, AT(csv)},
    {0, "digits", "N", NULL, "significant digits of aligned columns (default: 6)", ARRAY_READ,
     CLI_COUNT, AT(digits), 1, 17},
    {'o', "out", "FILE", NULL, "write the text to FILE ('-': standard output)", ARRAY_READ,
     CLI_TEXT, AT(out)},
    {0, "npy", "FILE", NULL, "write a NumPy file", ARRAY_READ, CLI_TEXT, AT(npy)},
    {0, "png", "FILE", NULL, "draw a section of two dimensions as a heat map; NaN is red",
     ARRAY_READ, CLI_TEXT, AT(png)},
    {0, "range", "LO,HI", NULL,
     "values of the first and the last color of --png (default: minimum and maximum)", ARRAY_READ,
     CLI_CUSTOM, .set = set_range},
    {0, "legend", NULL, NULL, "add a color bar and the range to --png", ARRAY_READ, CLI_FLAG,
     AT(legend)},
    {0, "zoom", "N", NULL, "draw each element as N x N pixels (default: 1)", ARRAY_READ, CLI_COUNT,
     AT(zoom), 1, 64},
    {0, "pixels", "N", NULL,
     "reduce larger sections to N pixels per dimension, by means (default: 4096)", ARRAY_READ,
     CLI_COUNT, AT(pixels), 1, 32768},
    {0, "from", "FILE", NULL,
     "the new elements: a NumPy file (.npy), or numbers as text ('-': standard input)", ARRAY_WRITE,
     CLI_TEXT, AT(from)},
    {0, "create", NULL, NULL,
     "create FILE with the shape and type of the NumPy file, or of --shape and --type", ARRAY_WRITE,
     CLI_FLAG, AT(create)},
    {0, "axes", "LIST", NULL, "dimension d of NEW is dimension LIST[d] of FILE (default: reversed)",
     ARRAY_TRANSPOSE, CLI_TEXT, AT(axes)},
    {0, "to-order", "row|column", NULL, "order of NEW (default: that of FILE)", ARRAY_TRANSPOSE,
     CLI_CUSTOM, .set = set_to_order},
    {0, "to-raw", NULL, NULL, "write NEW without a header", ARRAY_TRANSPOSE, CLI_FLAG, AT(to_raw)},
};

static int check_config(void *config) {
    array_config *c = config;
    const unsigned command = c->call.bits;
    char **operand = c->call.operand;
    const char *second = c->call.operands > 1 ? operand[1] : NULL;
    c->path = operand[0];
    *(command == ARRAY_TRANSPOSE ? &c->to : &c->section) = second;
    if ((command == ARRAY_CREATE || (c->raw && !c->create)) && !(c->has_shape && c->has_type))
        return cli_error("missing --%s%s", c->has_shape ? "type" : "shape",
                         c->raw ? ": a --raw file has no header" : "");
    if (c->spec.offset && !c->raw) return cli_error("--offset requires --raw");
    if (command == ARRAY_WRITE && !c->from) return cli_error("missing --from FILE");
    if (c->force && command == ARRAY_WRITE && !c->create)
        return cli_error("--force requires --create");
    if (c->create && c->section)
        return cli_error("--create writes the whole array: section '%s' is not allowed",
                         c->section);
    if (!c->png && (c->legend || c->has_range || c->zoom > 0 || c->pixels > 0))
        return cli_error("--legend, --range, --zoom and --pixels require --png");
    if (c->digits > 0 && c->csv)
        return cli_error("--digits and --csv exclude each other: --csv prints all digits");
    return 0;
}

static const cli_command command_table[] = {
    {"create", ARRAY_CREATE, "FILE", "Create an array.", NULL, 0, array_create},
    {"info", ARRAY_INFO, "FILE", "Print shape, type, order, size and placement.", NULL, 0,
     array_info},
    {"read", ARRAY_READ, "FILE [SECTION]",
     "Print a section, or write it to a NumPy file or a picture.", NULL, 0, array_read},
    {"write", ARRAY_WRITE, "FILE [SECTION]", "Write a section from a NumPy file or from text.",
     NULL, 0, array_write},
    {"transpose", ARRAY_TRANSPOSE, "FILE NEW", "Copy an array with its dimensions reordered.", NULL,
     0, array_transpose},
    {"stat", ARRAY_STAT, "FILE [SECTION]",
     "Print minimum, maximum, mean and standard deviation of a section.", NULL, 0, array_stat},
};

const cli_group array_group = {
    .name = "array",
    .title = "Arrays in files: create, info, read, write, transpose, stat.",
    .details =
        "FILE is an array of Tutti, a NumPy file (.npy), or any file (--raw).  Arrays may be "
        "larger than memory.  SECTION is LO:HI:STRIDE,... with one part per dimension; "
        "indices start at 0 and HI is excluded; ':' selects all indices, a single number one "
        "index.",
    .page = "tutti-array(1)",
    .command = command_table,
    .commands = CLI_COUNT_OF(command_table),
    .option = option_table,
    .options = CLI_COUNT_OF(option_table),
    .config_size = sizeof(array_config),
    .library = offsetof(array_config, options),
    .mpi = CLI_MPI,
    .check = check_config,
};
