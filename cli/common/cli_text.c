/* Small things about text: lists, sizes, the terminal's width and character set, JSON
 * strings.
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

void cli_print_wrapped(FILE *f, const char *text, int indent) {
    const int width = cli_width() - indent;
    int column = 0;
    while (*text) {
        const int word = (int)strcspn(text, " ");
        if (column == 0 || column + 1 + word > width) {
            fprintf(f, "%s%*s", column ? "\n" : "", indent, "");
            column = 0;
        } else {
            putc(' ', f);
            column++;
        }
        fprintf(f, "%.*s", word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    putc('\n', f);
}

void cli_json_string(FILE *f, const char *text) {
    putc('"', f);
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(f, "\\u%04x", *s);
        else
            putc(*s, f);
    }
    putc('"', f);
}

void cli_json_number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, "%.17g", value);
    else
        fputs("null", f);
}

void cli_xml_text(FILE *f, const char *text) {
    for (; *text; text++) switch (*text) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            putc(*text, f);
        }
}
