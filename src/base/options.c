/* base: options, defined by the table in tutti/options.h.  The table is converted to rows (type,
 * offset in the struct, choices).  A text is parsed into a number according to the type of the row,
 * checked against the range of the option, and then stored, so an invalid text has no effect.
 * Names are compared case-insensitively with - equal to _, independently of the locale.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/options_impl.h"
#include "base/error_impl.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table as rows ----------------------------------------------------------------------- */

enum { TYPE_CHOICE, TYPE_BOOL, TYPE_INT, TYPE_SIZE, TYPE_TEXT };

typedef struct option_row {
    int type;
    size_t place; /* offset in tutti_options */
    const char *name, *choices, *alias;
} option_row;

#define ROW_CHOICES_CHOICE(name) TUTTI_CHOICES_##name
#define ROW_CHOICES_BOOL(name) ""
#define ROW_CHOICES_INT(name) ""
#define ROW_CHOICES_SIZE(name) ""
#define ROW_CHOICES_TEXT(name) ""
#define ROW(type, name, def, alias, help) \
    {TYPE_##type, offsetof(tutti_options, name), #name, ROW_CHOICES_##type(name), alias},
static const option_row rows[] = {TUTTI_OPTION_TABLE(ROW)};
#undef ROW

/* Bytes of tutti_options: in its first version, and the maximum that is accepted from newer
 * programs. */
enum {
    FIRST_SIZE = offsetof(tutti_options, sieve_gap) + sizeof(tutti_off),
    LARGEST_SIZE = 1 << 16
};
enum { ROWS = sizeof rows / sizeof *rows, TEXT_SIZE = sizeof(((tutti_options *)0)->trace) };

/* Options whose range is narrower than that of their type. */
static const struct {
    const char *name;
    tutti_off lo, hi;
    int power_of_two; /* 1: only powers of two and 0 are allowed */
} limits[] = {
    {"cb_buffer_size", 64 << 10, (tutti_off)1 << 40, 0},
    {"step", 0, 5, 0},
    {"sub_buffers", 1, 16, 0},
    {"striping_unit", 0, (tutti_off)1 << 40, 0},
    {"domain_block", 0, (tutti_off)1 << 40, 0},
    {"direct_align", 0, (tutti_off)1 << 30, 1},
    {"sieve_size", 1, (tutti_off)1 << 40, 0},
    {"queue_depth", 1, INT_MAX, 0},
    {"io_threads", 1, 256, 0},
};
enum { LIMITS = sizeof limits / sizeof *limits };

/* ROMIO hints whose values enable and disable correspond to values of the option `name`. */
static const struct {
    const char *key, *name;
} switches[] = {{"romio_cb_write", "method"}, {"romio_cb_read", "method_read"}};
enum { SWITCHES = sizeof switches / sizeof *switches };
#define SWITCH_CHOICES "enable|disable|automatic"
static const int switch_methods[] = {TUTTI_METHOD_TWO_PHASE, TUTTI_METHOD_INDEPENDENT,
                                     TUTTI_METHOD_AUTO};

/* ---- names ----------------------------------------------------------------------------------- */

static char normalize_char(char c) {
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

static int names_are_equal(const char *a, size_t na, const char *b, size_t nb) {
    if (na != nb) return 0;
    while (na > 0 && normalize_char(a[na - 1]) == normalize_char(b[na - 1])) --na;
    return na == 0;
}

/* Return the index of `text` (n bytes) in a list "one|two|three"; -1: not found. */
static int find_choice(const char *list, const char *text, size_t n) {
    for (int i = 0;; ++i) {
        const size_t item = strcspn(list, "|");
        if (item > 0 && names_are_equal(list, item, text, n)) return i;
        if (list[item] == '\0') return -1;
        list += item + 1;
    }
}

void tutti__options_choice(const char *list, int i, char *out, size_t size) {
    for (; i > 0; --i) list += strcspn(list, "|") + 1;
    snprintf(out, size, "%.*s", (int)strcspn(list, "|"), list);
}

static const option_row *find_row(const char *key) {
    static const char prefix[] = "tutti_";
    const size_t n = strlen(key), skip = sizeof prefix - 1;
    for (int i = 0; i < ROWS; ++i) {
        const char *name = rows[i].name;
        if (names_are_equal(key, n, name, strlen(name)) || find_choice(rows[i].alias, key, n) >= 0)
            return &rows[i];
        if (n > skip && names_are_equal(key, skip, prefix, skip) &&
            names_are_equal(key + skip, n - skip, name, strlen(name)))
            return &rows[i];
    }
    return NULL;
}

static int find_switch(const char *key) {
    for (int i = 0; i < SWITCHES; ++i)
        if (names_are_equal(key, strlen(key), switches[i].key, strlen(switches[i].key))) return i;
    return -1;
}

/* ---- structs of other versions --------------------------------------------------------------- */

static int is_size(size_t n) {
    return n >= FIRST_SIZE && n <= LARGEST_SIZE && n % sizeof(tutti_off) == 0;
}

tutti_err tutti__options_begun(const tutti_options *opt) {
    TUTTI_CHECK(opt->struct_size != 0, TUTTI_ERR_ARG,
                "options are not initialised (struct_size is 0): call tutti_options_init first");
    TUTTI_CHECK(is_size(opt->struct_size), TUTTI_ERR_ARG,
                "struct_size is %zu: must be sizeof(tutti_options), as set by tutti_options_init",
                opt->struct_size);
    return TUTTI_OK;
}

/* Copy the first `size` bytes of `full` to the program's struct; fields that `full` does not have
 * are 0. */
static void copy_options(const tutti_options *full, tutti_options *opt, size_t size) {
    memset(opt, 0, size);
    memcpy(opt, full, size < sizeof *full ? size : sizeof *full);
    opt->struct_size = size;
}

tutti_err tutti__options_give(const tutti_options *full, tutti_options *opt, size_t size) {
    TUTTI_CHECK(opt != NULL, TUTTI_ERR_ARG, "argument opt is NULL");
    TUTTI_CHECK(is_size(size), TUTTI_ERR_ARG, "struct_size is %zu: must be sizeof(tutti_options)",
                size);
    copy_options(full, opt, size);
    return TUTTI_OK;
}

tutti_err tutti__options_take(const tutti_options *opt, tutti_options *full_out) {
    TUTTI_TRY(tutti__options_begun(opt));
    const size_t size = opt->struct_size;
    const char *bytes = (const char *)opt;
    for (size_t i = sizeof *full_out; i < size; ++i)
        TUTTI_CHECK(bytes[i] == 0, TUTTI_ERR_UNSUPPORTED,
                    "the program sets an option (byte %zu of tutti_options) that this library (%s) "
                    "does not support",
                    i, TUTTI_VERSION_STRING);
    tutti_options_defaults(full_out);
    memcpy(full_out, opt, size < sizeof *full_out ? size : sizeof *full_out);
    full_out->struct_size = sizeof *full_out;
    return TUTTI_OK;
}

/* Check that the program's struct is large enough to have the field of the row. */
static tutti_err has_row(const tutti_options *opt, const option_row *row) {
    TUTTI_TRY(tutti__options_begun(opt));
    const size_t bytes = row->type == TYPE_TEXT   ? TEXT_SIZE
                         : row->type == TYPE_SIZE ? sizeof(tutti_off)
                                                  : sizeof(int);
    TUTTI_CHECK(row->place + bytes <= opt->struct_size, TUTTI_ERR_OPTION,
                "option %s is newer than the program's tutti_options: recompile the program",
                row->name);
    return TUTTI_OK;
}

/* ---- fields and their limits ----------------------------------------------------------------- */

static tutti_off load_number(const tutti_options *opt, const option_row *row) {
    const char *field = (const char *)opt + row->place;
    if (row->type == TYPE_SIZE) return *(const tutti_off *)(const void *)field;
    return *(const int *)(const void *)field;
}

static void store_number(tutti_options *opt, const option_row *row, tutti_off number) {
    char *field = (char *)opt + row->place;
    if (row->type == TYPE_SIZE)
        *(tutti_off *)(void *)field = number;
    else
        *(int *)(void *)field = (int)number;
}

/* Find the allowed range of the row; returns 1 if only powers of two and 0 are allowed. */
static int find_range(const option_row *row, tutti_off *lo_out, tutti_off *hi_out) {
    for (int i = 0; i < LIMITS; ++i) {
        if (strcmp(row->name, limits[i].name) != 0) continue;
        *lo_out = limits[i].lo;
        *hi_out = limits[i].hi;
        return limits[i].power_of_two;
    }
    int choices = 1;
    for (const char *c = row->choices; *c; ++c) choices += *c == '|';
    *lo_out = 0;
    *hi_out = row->type == TYPE_CHOICE ? choices - 1
              : row->type == TYPE_BOOL ? 1
              : row->type == TYPE_INT  ? INT_MAX
                                       : INT64_MAX;
    return 0;
}

static int option_fits(const option_row *row, tutti_off number) {
    tutti_off lo, hi;
    const int power = find_range(row, &lo, &hi);
    return number >= lo && number <= hi && (!power || (number & (number - 1)) == 0);
}

/* ---- text to number; return 1, or 0 if invalid ----------------------------------------------- */

/* Parse leading decimal digits; returns how many, or 0 if there are none or the value is too
 * large. */
static size_t parse_digits(const char *text, size_t n, tutti_off *number_out) {
    tutti_off number = 0;
    size_t i = 0;
    for (; i < n && text[i] >= '0' && text[i] <= '9'; ++i)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text[i] - '0', &number))
            return 0;
    *number_out = number;
    return i;
}

/* Parse a size such as 4096, 64k, 16m, 16MB, 16MiB, 1g, 1t or 512B; units are powers of 1024. */
static int parse_size(const char *text, size_t n, tutti_off *number_out) {
    static const char *const units[] = {"b", "k|kb|kib", "m|mb|mib", "g|gb|gib", "t|tb|tib"};
    tutti_off number = 0;
    const size_t used = parse_digits(text, n, &number);
    if (used == 0) return 0;
    for (int i = 0; i < 5; ++i) {
        const int plain_bytes = i == 0 && used == n;
        if (!plain_bytes && find_choice(units[i], text + used, n - used) < 0) continue;
        return !__builtin_mul_overflow(number, (tutti_off)1 << (10 * i), number_out);
    }
    return 0;
}

/* "auto" and "automatic", which other MPI-IO libraries accept, mean the default value. */
static int parse_bool(const option_row *row, const char *text, size_t n, tutti_off *number_out) {
    const int word = find_choice("false|true|0|1|no|yes|off|on|disable|enable", text, n);
    tutti_options defaults;
    if (word >= 0) {
        *number_out = word % 2;
        return 1;
    }
    if (find_choice("auto|automatic", text, n) < 0) return 0;
    tutti_options_defaults(&defaults);
    *number_out = load_number(&defaults, row);
    return 1;
}

static int parse_value(const option_row *row, const char *text, size_t n, tutti_off *number_out) {
    switch (row->type) {
    case TYPE_CHOICE:
        *number_out = find_choice(row->choices, text, n);
        return *number_out >= 0;
    case TYPE_BOOL:
        return parse_bool(row, text, n, number_out);
    case TYPE_INT:
        return n > 0 && parse_digits(text, n, number_out) == n;
    default:
        return parse_size(text, n, number_out);
    }
}

/* ---- setting --------------------------------------------------------------------------------- */

/* Print a size with the largest unit that divides it: 16777216 is 16m. */
static void format_size(tutti_off number, char *out, size_t size) {
    static const char *const units[] = {"", "k", "m", "g", "t"};
    int unit = 0;
    for (; unit < 4 && number > 0 && number % 1024 == 0; ++unit) number /= 1024;
    snprintf(out, size, "%lld%s", (long long)number, units[unit]);
}

static void format_limit(const option_row *row, tutti_off limit, char *out, size_t size) {
    if (row->type == TYPE_SIZE)
        format_size(limit, out, size);
    else
        snprintf(out, size, "%lld", (long long)limit);
}

static void describe_values(const option_row *row, char *out, size_t size) {
    if (row->type == TYPE_CHOICE)
        snprintf(out, size, "one of %s", row->choices);
    else if (row->type == TYPE_BOOL)
        snprintf(out, size, "true or false");
    else if (row->type == TYPE_TEXT)
        snprintf(out, size, "a text of at most %d bytes", TEXT_SIZE - 1);
    else {
        const char *kind = row->type == TYPE_SIZE ? "size" : "number";
        tutti_off lo, hi;
        char lo_text[32], hi_text[32];
        const int power = find_range(row, &lo, &hi);
        format_limit(row, lo, lo_text, sizeof lo_text);
        format_limit(row, hi, hi_text, sizeof hi_text);
        if (hi == (row->type == TYPE_SIZE ? INT64_MAX : INT_MAX))
            snprintf(out, size, "a %s of at least %s", kind, lo_text);
        else if (power)
            snprintf(out, size, "0 or a power of two up to %s", hi_text);
        else
            snprintf(out, size, "a %s from %s to %s", kind, lo_text, hi_text);
    }
}

void tutti__options_takes(int i, char *out, size_t size) {
    TUTTI_ASSERT(i >= 0 && i < ROWS);
    describe_values(&rows[i], out, size);
}

static tutti_err refuse_value(const option_row *row, const char *what, const char *value) {
    char takes[160];
    describe_values(row, takes, sizeof takes);
    return tutti__error_set(TUTTI_ERR_OPTION, 0, -1, "%s is '%.100s': must be %s", what, value,
                            takes);
}

/* Return `text` without leading blanks; *n_out is its length without trailing blanks. */
static const char *trim_blanks(const char *text, size_t *n_out) {
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) --n;
    *n_out = n;
    return text;
}

/* Set the option of the row; `what` is its name in the error message. */
static tutti_err set_row(tutti_options *opt, const option_row *row, const char *what,
                         const char *value) {
    tutti_off number = 0;
    if (row->type == TYPE_TEXT) {
        char *field = (char *)opt + row->place;
        if (strlen(value) >= TEXT_SIZE) return refuse_value(row, what, value);
        memset(field, 0, TEXT_SIZE);
        memcpy(field, value, strlen(value) + 1);
        return TUTTI_OK;
    }
    size_t n;
    const char *text = trim_blanks(value, &n);
    if (!parse_value(row, text, n, &number) || !option_fits(row, number))
        return refuse_value(row, what, value);
    store_number(opt, row, number);
    return TUTTI_OK;
}

tutti_err tutti_options_set(tutti_options *opt, const char *key, const char *value) {
    char what[64];
    TUTTI_CHECK(opt && key && value, TUTTI_ERR_ARG, "argument %s is NULL",
                !opt  ? "opt"
                : key ? "value"
                      : "key");
    TUTTI_TRY(tutti__options_begun(opt));
    if (find_switch(key) >= 0) {
        const int i = find_switch(key);
        size_t n;
        const char *text = trim_blanks(value, &n);
        const int word = find_choice(SWITCH_CHOICES, text, n);
        TUTTI_CHECK(word >= 0, TUTTI_ERR_OPTION, "option %s is '%.100s': must be one of %s",
                    switches[i].key, value, SWITCH_CHOICES);
        store_number(opt, find_row(switches[i].name), switch_methods[word]);
        return TUTTI_OK;
    }
    const option_row *row = find_row(key);
    TUTTI_CHECK(row, TUTTI_ERR_OPTION, "unknown option '%.100s'", key);
    TUTTI_TRY(has_row(opt, row));
    snprintf(what, sizeof what, "option %.50s", key);
    return set_row(opt, row, what, value);
}

#define SET_DEFAULT_CHOICE(name, def) opt->name = (def);
#define SET_DEFAULT_BOOL(name, def) opt->name = (def);
#define SET_DEFAULT_INT(name, def) opt->name = (def);
#define SET_DEFAULT_SIZE(name, def) opt->name = (def);
#define SET_DEFAULT_TEXT(name, def) memcpy(opt->name, def, sizeof def);

static void set_defaults(tutti_options *opt) {
    /* set the padding, too, since options are compared and sent as bytes */
    memset(opt, 0, sizeof *opt);
    opt->struct_size = sizeof *opt;
#define SET_DEFAULT(type, name, def, alias, help) SET_DEFAULT_##type(name, def)
    TUTTI_OPTION_TABLE(SET_DEFAULT)
#undef SET_DEFAULT
}

void tutti_options_defaults_sized(tutti_options *opt, size_t struct_size) {
    tutti_options full;
    if (!opt || !is_size(struct_size)) return;
    set_defaults(&full);
    copy_options(&full, opt, struct_size);
}

/* Set the option from its environment variable TUTTI_NAME; an empty variable is ignored. */
static tutti_err set_from_environment(tutti_options *opt, const option_row *row) {
    char variable[64], what[96];
    int n = snprintf(variable, sizeof variable, "TUTTI_%s", row->name);
    while (n-- > 0)
        if (variable[n] >= 'a' && variable[n] <= 'z') variable[n] = (char)(variable[n] - 'a' + 'A');
    const char *value = secure_getenv(variable);
    if (!value || !*value) return TUTTI_OK;
    snprintf(what, sizeof what, "environment variable %s", variable);
    return set_row(opt, row, what, value);
}

static pthread_mutex_t ignored_lock = PTHREAD_MUTEX_INITIALIZER;
static char ignored_text[512];

int tutti__options_ignored(char *out, size_t size) {
    pthread_mutex_lock(&ignored_lock);
    const int some = ignored_text[0] != '\0';
    if (some) snprintf(out, size, "%s", ignored_text);
    ignored_text[0] = '\0';
    pthread_mutex_unlock(&ignored_lock);
    return some;
}

tutti_err tutti_options_init_sized(tutti_options *opt, size_t struct_size) {
    const tutti_error_info before = *tutti_last_error();
    tutti_error_info first = {.code = TUTTI_OK};
    tutti_options full;
    TUTTI_CHECK(opt, TUTTI_ERR_ARG, "argument opt is NULL");
    TUTTI_CHECK(is_size(struct_size), TUTTI_ERR_ARG,
                "struct_size is %zu: must be sizeof(tutti_options)", struct_size);
    set_defaults(&full);
    for (int i = 0; i < ROWS; ++i) {
        if (set_from_environment(&full, &rows[i]) == TUTTI_OK) continue;
        /* An invalid variable for an option that does not affect results is ignored, so that
         * a program does not fail because of diagnostics. */
        const char *name = rows[i].name;
        if (strcmp(name, "explain") == 0 || strcmp(name, "trace") == 0 ||
            strcmp(name, "profile") == 0) {
            pthread_mutex_lock(&ignored_lock);
            snprintf(ignored_text, sizeof ignored_text, "%s", tutti_last_error()->text);
            pthread_mutex_unlock(&ignored_lock);
        } else if (first.code == TUTTI_OK) {
            first = *tutti_last_error();
        }
    }
    copy_options(&full, opt, struct_size);
    tutti__error_assign(first.code != TUTTI_OK ? &first : &before);
    return first.code;
}

/* ---- queries --------------------------------------------------------------------------------- */

static tutti_err check_row(const tutti_options *opt, const option_row *row) {
    char number[32] = "unterminated";
    if (row->type == TYPE_TEXT) {
        if (memchr((const char *)opt + row->place, '\0', TEXT_SIZE)) return TUTTI_OK;
    } else {
        if (option_fits(row, load_number(opt, row))) return TUTTI_OK;
        snprintf(number, sizeof number, "%lld", (long long)load_number(opt, row));
    }
    return refuse_value(row, row->name, number);
}

tutti_err tutti__options_check(const tutti_options *opt) {
    for (int i = 0; i < ROWS; ++i) TUTTI_TRY(check_row(opt, &rows[i]));
    return TUTTI_OK;
}

/* Sizes are printed in bytes without a unit, since programs parse hints with atoi. */
static void format_row(const tutti_options *opt, const option_row *row, char *out, size_t size) {
    if (row->type == TYPE_TEXT)
        snprintf(out, size, "%s", (const char *)opt + row->place);
    else if (row->type == TYPE_CHOICE)
        tutti__options_choice(row->choices, (int)load_number(opt, row), out, size);
    else if (row->type == TYPE_BOOL)
        snprintf(out, size, "%s", load_number(opt, row) ? "true" : "false");
    else
        snprintf(out, size, "%lld", (long long)load_number(opt, row));
}

tutti_err tutti_options_get(const tutti_options *opt, const char *key, char *value, size_t size) {
    char text[TEXT_SIZE];
    TUTTI_CHECK(value, TUTTI_ERR_ARG, "argument value is NULL");
    TUTTI_CHECK(size > 0, TUTTI_ERR_ARG, "size is 0: must be >= 1");
    value[0] = '\0';
    TUTTI_CHECK(opt && key, TUTTI_ERR_ARG, "argument %s is NULL", opt ? "key" : "opt");
    const int alias = find_switch(key);
    const option_row *row = find_row(alias >= 0 ? switches[alias].name : key);
    TUTTI_CHECK(row, TUTTI_ERR_OPTION, "unknown option '%.100s'", key);
    TUTTI_TRY(has_row(opt, row));
    TUTTI_TRY(check_row(opt, row));
    if (alias >= 0) {
        const tutti_off method = load_number(opt, row);
        const int word = method == TUTTI_METHOD_TWO_PHASE ? 0 : method == TUTTI_METHOD_AUTO ? 2 : 1;
        tutti__options_choice(SWITCH_CHOICES, word, text, sizeof text);
    } else {
        format_row(opt, row, text, sizeof text);
    }
    snprintf(value, size, "%s", text);
    TUTTI_CHECK(strlen(text) < size, TUTTI_ERR_ARG,
                "value of option %s needs %zu bytes: buffer has %zu", row->name, strlen(text) + 1,
                size);
    return TUTTI_OK;
}

/* ---- descriptions of options
 * -------------------------------------------------------------------- */

#define INFO(type, name, def, alias, help) \
    {#name, #type, ROW_CHOICES_##type(name), default_texts[INFO_##name], alias, help},
#define INFO_INDEX(type, name, def, alias, help) INFO_##name,
enum { TUTTI_OPTION_TABLE(INFO_INDEX) };
static char default_texts[ROWS][TEXT_SIZE];
static const tutti_option_info infos[] = {TUTTI_OPTION_TABLE(INFO)};
static pthread_once_t default_texts_once = PTHREAD_ONCE_INIT;

static void write_default_texts(void) {
    tutti_options defaults;
    tutti_options_defaults(&defaults);
    for (int i = 0; i < ROWS; ++i) {
        if (rows[i].type == TYPE_SIZE)
            format_size(load_number(&defaults, &rows[i]), default_texts[i], TEXT_SIZE);
        else
            format_row(&defaults, &rows[i], default_texts[i], TEXT_SIZE);
    }
}

const tutti_option_info *tutti_options_row(int i) {
    if (i < 0 || i >= ROWS) return NULL;
    pthread_once(&default_texts_once, write_default_texts);
    return &infos[i];
}
