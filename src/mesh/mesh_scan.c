/* mesh: sequential reading of a file.  The buffer is filled before each word, so that the buffer
 * contains the whole word unless the file ends.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/mesh_scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 20 };

tutti_err tutti__scan_open(tutti__scan *s, const char *path, const tutti_options *opt) {
    tutti_options alone = *opt;
    memset(s, 0, sizeof *s);
    alone.nodes[0] = '\0'; /* this option is only valid for the communicator of all ranks */
    TUTTI_TRY(tutti_file_open(MPI_COMM_SELF, path, TUTTI_READ, &alone, &s->file));
    s->line = 1;
    s->buf = tutti__malloc(BUFFER + 1);
    s->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!s->buf) return TUTTI_ERR_NOMEM;
    TUTTI_CHECK(s->c != (locale_t)0, TUTTI_ERR_NOMEM, "cannot allocate a locale");
    return tutti_file_size(s->file, &s->size);
}

void tutti__scan_close(tutti__scan *s) {
    TUTTI_KEEP_LAST_ERROR;
    if (s->file) (void)!tutti_file_close(&s->file);
    if (s->c) freelocale(s->c);
    tutti__free(s->buf);
    memset(s, 0, sizeof *s);
}

static tutti_off describe_position(const tutti__scan *s) {
    return s->at + (tutti_off)s->pos;
}

tutti_err tutti__scan_bad(const tutti__scan *s, tutti_err code, const char *fmt, ...) {
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (s->binary)
        return tutti__error_set(code, 0, describe_position(s), "byte %lld: %s",
                                (long long)describe_position(s), text);
    return tutti__error_set(code, 0, describe_position(s), "line %ld: %s", s->line, text);
}

/* Make at least `want` bytes, or all remaining bytes, available at s->pos. */
static tutti_err fill_buffer(tutti__scan *s, size_t want) {
    if (s->n - s->pos >= want || s->at + (tutti_off)s->n >= s->size) return TUTTI_OK;
    memmove(s->buf, s->buf + s->pos, s->n - s->pos);
    s->at += (tutti_off)s->pos;
    s->n -= s->pos;
    s->pos = 0;
    const tutti_off from = s->at + (tutti_off)s->n;
    const tutti_off n = tutti__min(BUFFER - (tutti_off)s->n, s->size - from);
    tutti_access *a = NULL;
    tutti_off got = 0;
    TUTTI_TRY(tutti_access_contiguous(from, n, &a));
    const tutti_err err = tutti_file_read_independent(s->file, a, s->buf + s->n, &got);
    tutti_access_free(&a);
    TUTTI_TRY(err);
    TUTTI_CHECK(got == n, TUTTI_ERR_TRUNCATED, "file was truncated while it was read");
    s->n += (size_t)n;
    s->buf[s->n] = '\0';
    return TUTTI_OK;
}

static int is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static tutti_err skip_blanks(tutti__scan *s) {
    do {
        TUTTI_TRY(fill_buffer(s, TUTTI__SCAN_WORD));
        while (s->pos < s->n && is_blank(s->buf[s->pos])) s->line += s->buf[s->pos++] == '\n';
    } while (s->pos == s->n && s->at + (tutti_off)s->n < s->size);
    return fill_buffer(s, TUTTI__SCAN_WORD);
}

tutti_err tutti__scan_end(tutti__scan *s, int *end_out) {
    TUTTI_TRY(skip_blanks(s));
    *end_out = s->pos == s->n;
    return TUTTI_OK;
}

tutti_err tutti__scan_word(tutti__scan *s, char word[TUTTI__SCAN_WORD]) {
    size_t n = 0;
    TUTTI_TRY(skip_blanks(s));
    while (s->pos + n < s->n && !is_blank(s->buf[s->pos + n])) {
        if (n == TUTTI__SCAN_WORD - 1)
            TUTTI_SCAN_FAIL(s, "word has more than %d characters", (int)n);
        word[n] = s->buf[s->pos + n];
        n++;
    }
    word[n] = '\0';
    if (n == 0) TUTTI_SCAN_FAIL(s, "file ends unexpectedly");
    s->pos += n;
    return TUTTI_OK;
}

tutti_err tutti__scan_int(tutti__scan *s, int64_t *out) {
    char word[TUTTI__SCAN_WORD], *end = NULL;
    TUTTI_TRY(tutti__scan_word(s, word));
    const char *p = word + (word[0] == '-' || word[0] == '+');
    int64_t v = 0;
    for (; *p >= '0' && *p <= '9'; p++, end = word)
        if (!tutti__mul_ok(v, 10, &v) || !tutti__add_ok(v, *p - '0', &v))
            TUTTI_SCAN_FAIL(s, "number %s exceeds 64 bits", word);
    if (!end || *p) TUTTI_SCAN_FAIL(s, "expected an integer, found '%s'", word);
    *out = word[0] == '-' ? -v : v;
    return TUTTI_OK;
}

tutti_err tutti__scan_quoted(tutti__scan *s, char *out, size_t size) {
    size_t n = 0;
    TUTTI_TRY(skip_blanks(s));
    if (s->pos == s->n || s->buf[s->pos] != '"')
        TUTTI_SCAN_FAIL(s, "expected a name in quotation marks");
    s->pos++;
    for (;;) {
        TUTTI_TRY(fill_buffer(s, 1));
        if (s->pos == s->n || s->buf[s->pos] == '\n')
            TUTTI_SCAN_FAIL(s, "name has no closing quotation mark");
        const char c = s->buf[s->pos++];
        if (c == '"') break;
        if (n + 1 >= size) TUTTI_SCAN_FAIL(s, "name has more than %zu characters", size - 1);
        if (c == '\0') TUTTI_SCAN_FAIL(s, "name contains a zero byte");
        out[n++] = c;
    }
    out[n] = '\0';
    return TUTTI_OK;
}

tutti_err tutti__scan_skip_line(tutti__scan *s) {
    for (;;) {
        TUTTI_TRY(fill_buffer(s, 1));
        if (s->pos == s->n) return TUTTI_OK;
        if (s->buf[s->pos++] == '\n') break;
    }
    s->line++;
    return TUTTI_OK;
}

tutti_err tutti__scan_skip_to(tutti__scan *s, const char *text) {
    const size_t k = strlen(text);
    for (;;) {
        TUTTI_TRY(fill_buffer(s, k + 1));
        if (s->n - s->pos < k) TUTTI_SCAN_FAIL(s, "file ends before %s", text);
        if (memcmp(s->buf + s->pos, text, k) == 0 &&
            (s->n - s->pos == k || is_blank(s->buf[s->pos + k])))
            break;
        s->line += s->buf[s->pos++] == '\n';
    }
    s->pos += k;
    return TUTTI_OK;
}

tutti_err tutti__scan_bytes(tutti__scan *s, void *out, size_t bytes) {
    char *to = out;
    if (bytes > (size_t)(s->size - describe_position(s)))
        TUTTI_SCAN_FAIL(s, "file ends unexpectedly");
    while (bytes > 0) {
        TUTTI_TRY(fill_buffer(s, bytes < BUFFER ? bytes : BUFFER));
        const size_t n = (size_t)tutti__min((tutti_off)bytes, (tutti_off)(s->n - s->pos));
        memcpy(to, s->buf + s->pos, n);
        s->pos += n;
        to += n;
        bytes -= n;
    }
    return TUTTI_OK;
}

tutti_err tutti__scan_i32(tutti__scan *s, int32_t *out) {
    int64_t v = 0;
    if (s->binary) return tutti__scan_bytes(s, out, sizeof *out);
    TUTTI_TRY(tutti__scan_int(s, &v));
    if (v < INT32_MIN || v > INT32_MAX)
        TUTTI_SCAN_FAIL(s, "number %lld exceeds 32 bits", (long long)v);
    *out = (int32_t)v;
    return TUTTI_OK;
}

tutti_err tutti__scan_i64(tutti__scan *s, int64_t *out) {
    return s->binary ? tutti__scan_bytes(s, out, sizeof *out) : tutti__scan_int(s, out);
}

tutti_err tutti__scan_f64(tutti__scan *s, int n, double *out) {
    for (int i = 0; i < n && !s->binary; i++) {
        char word[TUTTI__SCAN_WORD], *end = NULL;
        TUTTI_TRY(tutti__scan_word(s, word));
        out[i] = strtod_l(word, &end, s->c);
        if (*end || !isfinite(out[i]))
            TUTTI_SCAN_FAIL(s, "expected a finite number, found '%s'", word);
    }
    if (!s->binary) return TUTTI_OK;
    TUTTI_TRY(tutti__scan_bytes(s, out, (size_t)n * sizeof *out));
    for (int i = 0; i < n; i++)
        if (!isfinite(out[i])) TUTTI_SCAN_FAIL(s, "number is %g: must be finite", out[i]);
    return TUTTI_OK;
}

tutti_err tutti__scan_fits(const tutti__scan *s, int64_t n, int least, const char *what) {
    const tutti_off left = s->size - describe_position(s);
    if (!tutti_size_fits(n, least, left))
        return tutti__scan_bad(s, TUTTI_ERR_FORMAT,
                               "header declares %lld %s, but only %lld bytes remain", (long long)n,
                               what, (long long)left);
    return TUTTI_OK;
}
