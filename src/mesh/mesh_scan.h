/* mesh: sequential reading of a file by one rank: words of text and binary numbers; errors name
 * the line or byte.  Counts in the file are checked against the remaining bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_SCAN_H
#define TUTTI_MESH_SCAN_H

#include <locale.h>
#include <tutti/file.h>
#include "base/memory.h"

enum { TUTTI__SCAN_WORD = 64 }; /* longest word, with its end */

typedef struct tutti__scan {
    tutti_file *file;
    tutti_off size; /* of the file */
    tutti_off at;   /* offset of the buffer in the file */
    char *buf;
    size_t n, pos; /* bytes in the buffer; index of the next one */
    long line;     /* from 1 */
    int binary;    /* numbers are binary, and errors name bytes */
    locale_t c;    /* the decimal point does not depend on the locale */
} tutti__scan;

tutti_err tutti__scan_open(tutti__scan *s, const char *path,
                           const tutti_options *opt) TUTTI_MUST_USE;
void tutti__scan_close(tutti__scan *s);

/* Fail: the file is invalid at the current position. */
#define TUTTI_SCAN_FAIL(s, ...) return tutti__scan_bad((s), TUTTI_ERR_FORMAT, __VA_ARGS__)
tutti_err tutti__scan_bad(const tutti__scan *s, tutti_err code, const char *fmt, ...)
    TUTTI_PRINTF(3, 4);

/* ---- text */
/* Skip blanks; whether the file ends after them. */
tutti_err tutti__scan_end(tutti__scan *s, int *end_out) TUTTI_MUST_USE;
tutti_err tutti__scan_word(tutti__scan *s, char word[TUTTI__SCAN_WORD]) TUTTI_MUST_USE;
tutti_err tutti__scan_int(tutti__scan *s, int64_t *out) TUTTI_MUST_USE;
/* A name in quotation marks; one of more than size - 1 characters is an error. */
tutti_err tutti__scan_quoted(tutti__scan *s, char *out, size_t size) TUTTI_MUST_USE;
/* The rest of this line. */
tutti_err tutti__scan_skip_line(tutti__scan *s) TUTTI_MUST_USE;
/* Skip everything up to and including this word. */
tutti_err tutti__scan_skip_to(tutti__scan *s, const char *text) TUTTI_MUST_USE;

/* ---- binary */
tutti_err tutti__scan_bytes(tutti__scan *s, void *out, size_t bytes) TUTTI_MUST_USE;

/* ---- text or binary, by s->binary */
tutti_err tutti__scan_i32(tutti__scan *s, int32_t *out) TUTTI_MUST_USE;
tutti_err tutti__scan_i64(tutti__scan *s, int64_t *out) TUTTI_MUST_USE;
tutti_err tutti__scan_f64(tutti__scan *s, int n, double *out) TUTTI_MUST_USE;
/* Check a count of items of at least `least` bytes against the remaining bytes. */
tutti_err tutti__scan_fits(const tutti__scan *s, int64_t n, int least,
                           const char *what) TUTTI_MUST_USE;

#endif
