/* mesh: sequential reading of a file by one rank: words of text, and binary numbers.  Error
 * messages contain the line or the byte offset.  Counts in the file are checked against the
 * remaining bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MESH_SCAN_H
#define TUTTI_MESH_SCAN_H

#include <locale.h>
#include <tutti/file.h>
#include "base/memory.h"

enum { TUTTI__SCAN_WORD = 64 }; /* size of a word buffer, including the final 0 */

typedef struct tutti__scan {
    tutti_file *file;
    tutti_off size; /* size of the file */
    tutti_off at;   /* offset of the buffer in the file */
    char *buf;
    size_t n, pos; /* number of bytes in `buf`; index of the next byte */
    long line;     /* number of the current line, from 1 */
    int binary;    /* numbers are binary, and errors contain byte offsets */
    locale_t c;    /* "C" locale, for decimal points */
} tutti__scan;

tutti_err tutti__scan_open(tutti__scan *s, const char *path,
                           const tutti_options *opt) TUTTI_MUST_USE;
void tutti__scan_close(tutti__scan *s);

/* Return TUTTI_ERR_FORMAT with a message and the current position. */
#define TUTTI_SCAN_FAIL(s, ...) return tutti__scan_bad((s), TUTTI_ERR_FORMAT, __VA_ARGS__)
tutti_err tutti__scan_bad(const tutti__scan *s, tutti_err code, const char *fmt, ...)
    TUTTI_PRINTF(3, 4);

/* ---- text */
/* Skip blanks; *end_out: the file ends after them. */
tutti_err tutti__scan_end(tutti__scan *s, int *end_out) TUTTI_MUST_USE;
tutti_err tutti__scan_word(tutti__scan *s, char word[TUTTI__SCAN_WORD]) TUTTI_MUST_USE;
tutti_err tutti__scan_int(tutti__scan *s, int64_t *out) TUTTI_MUST_USE;
/* Read a name in quotation marks; more than size - 1 characters are an error. */
tutti_err tutti__scan_quoted(tutti__scan *s, char *out, size_t size) TUTTI_MUST_USE;
/* Skip the rest of this line. */
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
