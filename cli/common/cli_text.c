/* Text: lists, sizes, width and character set of the terminal, JSON strings.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void cli_list_free(cli_list *l) {
    free(l->copy);
    free(l->item);
    *l = (cli_list){0};
}

void cli_list_split(cli_list *l, const char *text) {
    int items = 1;
    for (const char *s = text; *s; s++) items += *s == ',';
    cli_list_free(l);
    l->copy = cli_strdup(text);
    l->item = cli_malloc((size_t)items * sizeof *l->item);
    char *rest = NULL;
    for (char *s = strtok_r(l->copy, ",", &rest); s; s = strtok_r(NULL, ",", &rest))
        l->item[l->n++] = s;
}

void cli_list_append(cli_list *l, const char *text) {
    char *all = cli_strdup(text);
    for (int i = l->n - 1; i >= 0; i--) {
        char *longer = cli_format("%s,%s", l->item[i], all);
        free(all);
        all = longer;
    }
    cli_list_split(l, all);
    free(all);
}

int cli_list_has(const cli_list *l, const char *item) {
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->item[i], item) == 0) return 1;
    return 0;
}

int cli_parse_size(const char *text, tutti_off *out) {
    static const char suffix[] = "kmgt";
    char *end;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    if (end == text || errno || n < 0) return 0;
    tutti_off bytes = n;
    if (*end) {
        const char *s = strchr(suffix, *end | 32);
        if (!s || end[1]) return 0;
        if (__builtin_mul_overflow(bytes, (tutti_off)1 << (10 * (s - suffix + 1)), &bytes))
            return 0;
    }
    *out = bytes;
    return 1;
}

int cli_parse_count(const char *text, long max, long *out) {
    char *end;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < 0 || n > max) return 0;
    *out = n;
    return 1;
}

void cli_format_size(tutti_off bytes, char *out, size_t size) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)bytes;
    int u = 0;
    for (; n >= 1024 && u < 4; u++) n /= 1024;
    const int whole = n == (double)(long long)n || n >= 100;
    snprintf(out, size, "%.*f %s", whole ? 0 : 1, n, unit[u]);
}

char *cli_format(const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const size_t size = (size_t)vsnprintf(NULL, 0, fmt, args) + 1;
    char *text = cli_malloc(size);
    vsnprintf(text, size, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

void cli_env_name(const char *option, char *out, size_t size) {
    snprintf(out, size, "TUTTI_%s", option);
    for (char *s = out; *s; s++) *s = (char)toupper((unsigned char)*s);
}

int cli_is_utf8(void) {
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int cli_width(void) {
    struct winsize ws;
    long columns = 0;
    const char *env = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
        columns = ws.ws_col;
    else if (!env || !cli_parse_count(env, 10000, &columns) || columns == 0)
        columns = 80;
    return columns < 40 ? 40 : (int)columns;
}

void cli_print_wrapped(FILE *f, const char *text, int column, int indent) {
    const int width = cli_width();
    int empty = 1; /* the current line has no word */
    if (column < indent) fprintf(f, "%*s", indent - column, "");
    if (column < indent) column = indent;
    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (!empty && column + 1 + word > width) {
            fprintf(f, "\n%*s", indent, "");
            column = indent;
            empty = 1;
        }
        column += fprintf(f, "%s%.*s", empty ? "" : " ", word, text);
        empty = 0;
        text += word;
        text += strspn(text, " ");
    }
    putc('\n', f);
}

/* ---- texts from files: names and infos should be UTF-8, but may contain any bytes */

/* Decode the next character and return its bytes; 1 and *code -1 for a byte that is not UTF-8. */
static size_t next_character(const char *text, size_t n, int32_t *code) {
    const unsigned char *s = (const unsigned char *)text;
    const int more = s[0] < 0x80       ? 0
                     : s[0] >> 5 == 6  ? 1
                     : s[0] >> 4 == 14 ? 2
                     : s[0] >> 3 == 30 ? 3
                                       : -1;
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    *code = -1;
    if (more < 0 || n < (size_t)more + 1) return 1;
    int32_t c = more ? s[0] & (0x3f >> more) : s[0];
    for (int i = 1; i <= more; i++) {
        if (s[i] >> 6 != 2) return 1;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 1;
    *code = c;
    return (size_t)more + 1;
}

static int is_control(int32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0); /* also -1: not UTF-8 */
}

size_t cli_text_next(const char *text, size_t n, int *printable_out) {
    int32_t code;
    const size_t bytes = next_character(text, n, &code);
    *printable_out = !is_control(code);
    return bytes;
}

const char *cli_shown(const char *text) {
    static char *ring[16];
    static unsigned at;
    const size_t n = strlen(text);
    char *out = cli_malloc(4 * n + 1), *to = out;
    for (size_t i = 0; i < n;) {
        int printable;
        const size_t bytes = cli_text_next(text + i, n - i, &printable);
        for (size_t k = 0; k < bytes; k++, i++)
            if (printable)
                *to++ = text[i];
            else
                to += snprintf(to, 5, "\\x%02x", (unsigned char)text[i]);
    }
    *to = '\0';
    char **slot = &ring[at++ % 16];
    free(*slot);
    return *slot = out;
}

void cli_json_bytes(FILE *f, const char *text, size_t n) {
    putc('"', f);
    for (size_t i = 0; i < n;) {
        int32_t code;
        const size_t bytes = next_character(text + i, n - i, &code);
        if (code == '"' || code == '\\')
            fprintf(f, "\\%c", (char)code);
        else if (code < 0)
            fputs("\\ufffd", f);
        else if (is_control(code))
            fprintf(f, "\\u%04x", (unsigned)code);
        else
            fwrite(text + i, 1, bytes, f);
        i += bytes;
    }
    putc('"', f);
}

void cli_json_string(FILE *f, const char *text) {
    if (text)
        cli_json_bytes(f, text, strlen(text));
    else
        fputs("null", f);
}

void cli_json_strings(FILE *f, int n, char *const *texts) {
    putc('[', f);
    for (int i = 0; texts && i < n; i++) {
        if (i) fputs(", ", f);
        cli_json_string(f, texts[i]);
    }
    putc(']', f);
}

void cli_json_pair(FILE *f, const char *before, const char *key, const char *text) {
    fprintf(f, "%s\"%s\": ", before, key);
    cli_json_string(f, text);
}

void cli_json_number_pair(FILE *f, const char *before, const char *key, double value) {
    fprintf(f, "%s\"%s\": ", before, key);
    cli_json_number(f, value);
}

void cli_json_number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, "%.17g", value);
    else
        fputs("null", f);
}

void cli_xml_text(FILE *f, const char *text) {
    for (size_t i = 0, n = strlen(text); i < n;) {
        int32_t code;
        const size_t bytes = next_character(text + i, n - i, &code);
        if (code == '<' || code == '>' || code == '&' || code == '"' || code == '\t' ||
            code == '\n' || code == '\r')
            fprintf(f, "&#%d;", (int)code);
        else if (is_control(code) || code == 0xfffe || code == 0xffff)
            fputs("&#65533;", f);
        else
            fwrite(text + i, 1, bytes, f);
        i += bytes;
    }
}

int cli_ends_in(const char *path, const char *ending) {
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}
