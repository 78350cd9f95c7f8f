/* base: reading and printing the text of a profile:
 *
 *   version = 1
 *   [machine]
 *   cores = 2                      # a comment
 *   [filesystem /mount/point]
 *   type = ext
 *   device = 254:0
 *   write_one_64 = 1.1e8
 *
 * An invalid line is an error that names the line.  Numbers are read and printed independently of
 * the locale and printed with six digits.  Values that a section does not set have the defaults of
 * its file system type.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/profile.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------- */

enum { SECTION_MACHINE, SECTION_FILES };
enum { UNIT_COUNT, UNIT_RATE, UNIT_SECONDS, UNIT_SHARE, UNIT_MAYBE, UNIT_FLAG };

#define ROW(section, name, unit, local, remote, help) \
    {#section, #name, #unit, help, offsetof(tutti_profile, name)},
static const tutti_profile_info rows[] = {TUTTI_PROFILE_TABLE(ROW)};
#undef ROW
#define ROW(section, name, unit, local, remote, help) \
    {SECTION_##section, UNIT_##unit, {local, remote}},
static const struct {
    int section, unit;
    double usual[2]; /* default value for local and for remote file systems */
} facts[] = {TUTTI_PROFILE_TABLE(ROW)};
#undef ROW
enum { ROWS = sizeof rows / sizeof *rows };

const tutti_profile_info *tutti_profile_row(int i) {
    return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

static double *field_of_row(tutti_profile *p, int i) {
    return (double *)(void *)((char *)p + rows[i].field);
}

static double value_of_row(const tutti_profile *p, int i) {
    return *(const double *)(const void *)((const char *)p + rows[i].field);
}

void tutti_profile_defaults_sized(tutti_profile *p, const char *type, size_t struct_size) {
    static const char *const elsewhere[] = {"nfs",    "lustre", "gpfs", "fuse", "ceph",
                                            "beegfs", "afs",    "9p",   "smb",  "orangefs"};
    tutti_profile full = {.measured = 0};
    int remote = 0;
    if (!p) return;
    for (size_t i = 0; type && i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(type, elsewhere[i]) == 0) remote = 1;
    for (int i = 0; i < ROWS; i++) *field_of_row(&full, i) = facts[i].usual[remote];
    tutti__struct_copy(p, struct_size, &full, sizeof full);
}

static void copy_section(tutti_profile *to, const tutti_profile *from, int section) {
    for (int i = 0; i < ROWS; i++)
        if (facts[i].section == section) *field_of_row(to, i) = value_of_row(from, i);
}

/* Smallest and largest values, by unit; a flag has one of the two. */
static const double ranges[][2] = {
    [UNIT_COUNT] = {1, 1e7}, [UNIT_RATE] = {1, 1e15},  [UNIT_SECONDS] = {1e-12, 1e4},
    [UNIT_SHARE] = {0, 1},   [UNIT_MAYBE] = {0, 1e15}, [UNIT_FLAG] = {0, 1}};

static int is_in_range(int i, double x) {
    const double *range = ranges[facts[i].unit];
    if (facts[i].unit == UNIT_FLAG) return x == range[0] || x == range[1];
    return x >= range[0] && x <= range[1];
}

/* ---- numbers --------------------------------------------------------------------------------- */

static double ten_to(int exponent) {
    double x = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--) x *= 10;
    return x;
}

static double scale_by_ten(double x, int exponent) {
    return exponent < 0 ? x / ten_to(exponent) : x * ten_to(exponent);
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Parse a number such as 12, 1.5, 3.2e9 or 2e-05; returns 0 if `s` is not a number. */
static int parse_decimal(const char *s, double *out) {
    double mantissa = 0;
    int digits = 0, exponent = 0, more = 0;
    for (; is_digit(*s); s++, digits++) mantissa = 10 * mantissa + (*s - '0');
    if (digits == 0 || digits > 15) return 0;
    if (*s == '.') {
        for (s++; is_digit(*s); s++, digits++, exponent--) mantissa = 10 * mantissa + (*s - '0');
        if (exponent == 0 || digits > 15) return 0;
    }
    if (*s == 'e' || *s == 'E') {
        /* an exponent of one or two digits ends the text */
        const int negative = *++s == '-';
        int n = 0;
        if (*s == '-' || *s == '+') s++;
        for (; n < 3 && is_digit(s[n]); n++) more = 10 * more + (s[n] - '0');
        if (n < 1 || n > 2 || s[n]) return 0;
        if (negative) more = -more;
    } else if (*s) {
        return 0;
    }
    *out = scale_by_ten(mantissa, exponent + more);
    return 1;
}

/* Print `digits` / 10^`places` without trailing zeros; returns the length. */
static int format_decimal(long digits, int places, char *out, size_t size) {
    long one = 1;
    for (; places > 0 && digits % 10 == 0; places--) digits /= 10;
    for (int i = 0; i < places; i++) one *= 10;
    if (places == 0) return snprintf(out, size, "%ld", digits);
    return snprintf(out, size, "%ld.%0*ld", digits / one, places, digits % one);
}

/* Print x with at most six significant digits: 0, 2, 1234.5, 0.25, 1.25e9, 3e-5. */
static void format_number(double x, char *out, size_t size) {
    int exponent = 0;
    if (!(x > 0)) {
        snprintf(out, size, "0");
        return;
    }
    while (scale_by_ten(x, -exponent) >= 10) exponent++;
    while (scale_by_ten(x, -exponent) < 1) exponent--;
    long digits = (long)(scale_by_ten(x, 5 - exponent) + 0.5);
    if (digits >= 1000000) {
        digits /= 10;
        exponent++;
    }
    if (exponent >= -2 && exponent <= 5) {
        (void)format_decimal(digits, 5 - exponent, out, size);
    } else {
        const int n = format_decimal(digits, 5, out, size);
        snprintf(out + n, size - (size_t)n, "e%d", exponent);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { IN_HEAD, IN_MACHINE, IN_FILES };

typedef struct {
    tutti__profile_set *set;
    int line, where;              /* number of the current line; IN_HEAD, ... */
    int version, machine;         /* whether the version and [machine] have been read */
    int typed, on_device;         /* whether type and device of this section have been read */
    unsigned char set_here[ROWS]; /* whether this section has set value i */
} reader;

#define REFUSE(r, ...) return refuse_line((r)->line, __VA_ARGS__)

static tutti_err refuse_line(int line, const char *what, const char *text) {
    return tutti__error_set(TUTTI_ERR_FORMAT, 0, -1, "line %d of the profile: %s '%.60s'", line,
                            what, text);
}

static tutti_profile *current_profile(const reader *r) {
    return r->where == IN_MACHINE ? &r->set->machine : &r->set->files[r->set->n - 1].p;
}

/* Set the values that the section omits to their defaults. */
static void section_end(reader *r) {
    tutti_profile usual;
    if (r->where == IN_HEAD) return;
    tutti_profile *p = current_profile(r);
    tutti_profile_defaults(&usual,
                           r->where == IN_FILES ? r->set->files[r->set->n - 1].place.type : NULL);
    for (int i = 0; i < ROWS; i++)
        if (!r->set_here[i]) *field_of_row(p, i) = value_of_row(&usual, i);
}

static void section_begin(reader *r, int where) {
    r->where = where;
    r->typed = r->on_device = 0;
    memset(r->set_here, 0, sizeof r->set_here);
}

static tutti_err files_begin(reader *r, const char *mount) {
    tutti__profile_set *s = r->set;
    if (mount[0] != '/' || strlen(mount) >= sizeof s->files->place.mount)
        REFUSE(r, "invalid mount point:", mount);
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->files[i].place.mount, mount) == 0) REFUSE(r, "duplicate section for", mount);
    if (s->n == TUTTI__PROFILE_SECTIONS) REFUSE(r, "too many sections, from", mount);
    tutti__profile_files *more = tutti__realloc(s->files, (size_t)(s->n + 1) * sizeof *more);
    if (!more) return TUTTI_ERR_NOMEM;
    s->files = more;
    tutti__profile_files *f = &s->files[s->n++];
    memset(f, 0, sizeof *f);
    f->line = r->line;
    snprintf(f->place.mount, sizeof f->place.mount, "%s", mount);
    snprintf(f->place.type, sizeof f->place.type, "other");
    section_begin(r, IN_FILES);
    return TUTTI_OK;
}

static tutti_err read_heading(reader *r, char *s) {
    static const char files[] = "[filesystem ";
    const size_t n = strlen(s), skip = sizeof files - 1;
    if (!r->version) REFUSE(r, "the version is missing before", s);
    section_end(r);
    r->where = IN_HEAD;
    if (strcmp(s, "[machine]") == 0) {
        if (r->machine++) REFUSE(r, "duplicate section", s);
        section_begin(r, IN_MACHINE);
        return TUTTI_OK;
    }
    if (n < skip + 2 || strncmp(s, files, skip) != 0 || s[n - 1] != ']')
        REFUSE(r, "unknown section:", s);
    s[n - 1] = '\0';
    return files_begin(r, s + skip);
}

/* Parse MAJOR:MINOR; returns 0 if `s` has another form. */
static int parse_device(const char *s, unsigned *major, unsigned *minor) {
    unsigned long v[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        int digits = 0;
        for (; is_digit(*s); s++, digits++) v[i] = 10 * v[i] + (unsigned long)(*s - '0');
        if (digits < 1 || digits > 9 || *s != (i ? '\0' : ':')) return 0;
        s++;
    }
    *major = (unsigned)v[0];
    *minor = (unsigned)v[1];
    return 1;
}

/* Read an entry with the key `type` or `device`; returns 0 for another key. */
static int read_place(reader *r, const char *key, const char *text, tutti_err *err_out) {
    tutti_filesystem *p = &r->set->files[r->set->n - 1].place;
    int good;
    if (strcmp(key, "type") == 0) {
        good = !r->typed++ && strlen(text) < sizeof p->type;
        if (good) snprintf(p->type, sizeof p->type, "%s", text);
    } else if (strcmp(key, "device") == 0) {
        good = !r->on_device++ && parse_device(text, &p->major, &p->minor);
    } else {
        return 0;
    }
    *err_out = good ? TUTTI_OK : refuse_line(r->line, "invalid or duplicate entry", key);
    return 1;
}

static char *strip_blanks(char *s) {
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r", s[n - 1])) n--;
    s[n] = '\0';
    return s;
}

/* A # begins a comment, except in section headings, since a mount point may contain #. */
static tutti_err read_line(reader *r, char *line) {
    for (const char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t' && *c != '\r')
            REFUSE(r, "there is a control character in", line);
    char *s = strip_blanks(line);
    if (*s == '[') return read_heading(r, s);
    s[strcspn(s, "#")] = '\0';
    s = strip_blanks(s);
    if (!*s) return TUTTI_OK;
    char *equals = strchr(s, '=');
    if (!equals) REFUSE(r, "expected a section or name = number, found", s);
    *equals = '\0';
    const char *key = strip_blanks(s), *text = strip_blanks(equals + 1);
    tutti_err err = TUTTI_OK;
    if (r->where == IN_HEAD) {
        if (strcmp(key, "version") != 0) REFUSE(r, "entry must be in a section:", key);
        if (r->version++ || strcmp(text, "1") != 0) REFUSE(r, "version must be 1, not", text);
        return TUTTI_OK;
    }
    if (r->where == IN_FILES && read_place(r, key, text, &err)) return err;
    const int section = r->where == IN_MACHINE ? SECTION_MACHINE : SECTION_FILES;
    double x = 0;
    int i = 0;
    while (i < ROWS && (facts[i].section != section || strcmp(key, rows[i].name) != 0)) i++;
    if (i == ROWS) REFUSE(r, "unknown key in this section:", key);
    if (r->set_here[i]) REFUSE(r, "duplicate key", key);
    if (!parse_decimal(text, &x) || !is_in_range(i, x))
        REFUSE(r, "value is invalid or out of range:", text);
    *field_of_row(current_profile(r), i) = x;
    r->set_here[i] = 1;
    return TUTTI_OK;
}

static tutti_err read_lines(reader *r, const char *text, size_t n) {
    char line[1024];
    for (size_t at = 0; at < n; r->line++) {
        const char *end = memchr(text + at, '\n', n - at);
        const size_t length = end ? (size_t)(end - text) - at : n - at;
        TUTTI_CHECK(length < sizeof line, TUTTI_ERR_FORMAT,
                    "line %d of the profile has %zu bytes: at most %zu are supported", r->line,
                    length, sizeof line - 1);
        TUTTI_CHECK(!memchr(text + at, '\0', length), TUTTI_ERR_FORMAT,
                    "line %d of the profile contains a null byte", r->line);
        memcpy(line, text + at, length);
        line[length] = '\0';
        TUTTI_TRY(read_line(r, line));
        at += length + 1;
    }
    if (!r->version) REFUSE(r, "the profile lacks the line", "version = 1");
    section_end(r);
    return TUTTI_OK;
}

tutti_err tutti__profile_parse(const char *text, size_t n, tutti__profile_set *set_out) {
    tutti__profile_set set = {.n = 0};
    reader r = {.set = &set, .line = 1};
    TUTTI_CHECK(n <= TUTTI__PROFILE_BYTES, TUTTI_ERR_FORMAT,
                "profile has %zu bytes: at most %d are supported", n, (int)TUTTI__PROFILE_BYTES);
    tutti_profile_defaults(&set.machine, NULL);
    const tutti_err err = read_lines(&r, text, n);
    if (err != TUTTI_OK) {
        tutti__profile_set_free(&set);
        return err;
    }
    *set_out = set;
    return TUTTI_OK;
}

void tutti__profile_set_free(tutti__profile_set *s) {
    tutti__free(s->files);
    s->files = NULL;
    s->n = 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *const unit_text[] = {[UNIT_COUNT] = "",
                                        [UNIT_RATE] = "B/s: ",
                                        [UNIT_SECONDS] = "s: ",
                                        [UNIT_SHARE] = "share: ",
                                        [UNIT_MAYBE] = "B/s or s, 0: unknown: ",
                                        [UNIT_FLAG] = ""};

static void print_numbers(FILE *f, const tutti_profile *p, int section) {
    char number[64];
    for (int i = 0; i < ROWS; i++) {
        if (facts[i].section != section) continue;
        format_number(value_of_row(p, i), number, sizeof number);
        fprintf(f, "%-24s = %-12s # %s%s\n", rows[i].name, number, unit_text[facts[i].unit],
                rows[i].help);
    }
}

char *tutti__profile_print(const tutti__profile_set *s) {
    const size_t capacity = 256 + (size_t)(s->n + 1) * (512 + (size_t)ROWS * 160);
    char *text = tutti__malloc(capacity);
    FILE *f = text ? fmemopen(text, capacity, "w") : NULL;
    if (f) {
        fputs("# Tutti: what this machine and its file systems can do, measured by 'tutti tune'.\n"
              "version = 1\n\n[machine]\n",
              f);
        print_numbers(f, &s->machine, SECTION_MACHINE);
        for (int i = 0; i < s->n; i++) {
            const tutti_filesystem *p = &s->files[i].place;
            fprintf(f, "\n[filesystem %s]\n%-24s = %s\n%-24s = %u:%u\n", p->mount, "type", p->type,
                    "device", p->major, p->minor);
            print_numbers(f, &s->files[i].p, SECTION_FILES);
        }
        const int failed = ferror(f);
        if (fclose(f) == 0 && !failed) return text;
    }
    if (text) tutti__error_record(TUTTI_ERR_NOMEM, 0, -1, "cannot allocate the text of a profile");
    tutti__free(text);
    return NULL;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

static int find_place(const tutti__profile_set *s, const tutti_filesystem *place) {
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->files[i].place.type, place->type) == 0 &&
            strcmp(s->files[i].place.mount, place->mount) == 0)
            return i;
    /* devices without a fixed number (major 0) get a different one at every mount */
    for (int i = 0; i < s->n && place->major != 0; i++)
        if (strcmp(s->files[i].place.type, place->type) == 0 &&
            s->files[i].place.major == place->major && s->files[i].place.minor == place->minor)
            return i;
    return -1;
}

void tutti__profile_pick(const tutti__profile_set *s, const tutti_filesystem *place,
                         tutti_profile *p_out) {
    const int i = find_place(s, place);
    tutti_profile_defaults(p_out, place->type);
    copy_section(p_out, &s->machine, SECTION_MACHINE);
    if (i >= 0) {
        copy_section(p_out, &s->files[i].p, SECTION_FILES);
        p_out->measured = 1;
        return;
    }
    /* these values were not measured; a network file system is no faster than the network */
    for (int k = 0; k < ROWS && p_out->remote > 0; k++) {
        const int one = strstr(rows[k].name, "_one_") != NULL;
        const double most = p_out->net_bandwidth * (one ? 1 : p_out->nodes);
        if (facts[k].section == SECTION_FILES && facts[k].unit == UNIT_RATE &&
            value_of_row(p_out, k) > most)
            *field_of_row(p_out, k) = most;
    }
}

static tutti_err check_place_and_numbers(const tutti_filesystem *place, const tutti_profile *p) {
    for (const char *c = place->mount; *c; c++)
        TUTTI_CHECK((unsigned char)*c >= ' ', TUTTI_ERR_ARG,
                    "mount point contains control character %d", *c);
    for (int i = 0; i < ROWS; i++)
        TUTTI_CHECK(is_in_range(i, value_of_row(p, i)), TUTTI_ERR_ARG, "%s is %g: must be %g %s %g",
                    rows[i].name, value_of_row(p, i), ranges[facts[i].unit][0],
                    facts[i].unit == UNIT_FLAG ? "or" : "to", ranges[facts[i].unit][1]);
    return TUTTI_OK;
}

tutti_err tutti__profile_put(tutti__profile_set *s, const tutti_filesystem *place,
                             const tutti_profile *p) {
    int i = 0;
    TUTTI_TRY(check_place_and_numbers(place, p));
    /* replace the section with this mount point, even if it is for another file system type */
    while (i < s->n && strcmp(s->files[i].place.mount, place->mount) != 0) i++;
    if (i == s->n) i = find_place(s, place);
    if (i < 0) {
        TUTTI_CHECK(s->n < TUTTI__PROFILE_SECTIONS, TUTTI_ERR_FORMAT,
                    "profile already has %d file systems: no more are supported", s->n);
        tutti__profile_files *more = tutti__realloc(s->files, (size_t)(s->n + 1) * sizeof *more);
        if (!more) return TUTTI_ERR_NOMEM;
        s->files = more;
        s->n++;
        i = s->n - 1;
    }
    memset(&s->files[i], 0, sizeof s->files[i]);
    s->files[i].place = *place;
    tutti_profile_defaults(&s->files[i].p, place->type);
    copy_section(&s->files[i].p, p, SECTION_FILES);
    copy_section(&s->machine, p, SECTION_MACHINE);
    return TUTTI_OK;
}
