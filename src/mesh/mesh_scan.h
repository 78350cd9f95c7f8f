/* mesh: a file read from front to back by one rank: words of text and binary numbers, with the place
 * (line or byte) in every complaint.  Nothing that the file says is believed: counts are held
 * against the bytes that are left.
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
    tutti_off at;   /* where the buffer begins in it */
    char *buf;
    size_t n, pos; /* bytes in the buffer; the next one */
    long line;     /* from 1 */
    int binary;    /* numbers are; complaints name bytes */
    locale_t c;    /* numbers have points, whatever the program's language */
} tutti__scan;

tutti_err tutti__scan_open(tutti__scan *s, const char *path,
                           const tutti_options *opt) TUTTI_MUST_USE;
void tutti__scan_close(tutti__scan *s);

/* Raise: the file is wrong here. */
#define TUTTI_SCAN_FAIL(s, ...) return tutti__scan_bad((s), TUTTI_ERR_FORMAT, __VA_ARGS__)
tutti_err tutti__scan_bad(const tutti__scan *s, tutti_err code, const char *fmt, ...)
    TUTTI_PRINTF(3, 4);

/* ---- text */
/* Is nothing left but blanks?  They are passed over. */
tutti_err tutti__scan_end(tutti__scan *s, int *end_out) TUTTI_MUST_USE;
tutti_err tutti__scan_word(tutti__scan *s, char word[TUTTI__SCAN_WORD]) TUTTI_MUST_USE;
tutti_err tutti__scan_int(tutti__scan *s, int64_t *out) TUTTI_MUST_USE;
tutti_err tutti__scan_double(tutti__scan *s, double *out) TUTTI_MUST_USE;
/* "..." with everything in it, cut by nothing: longer than size - 1 is an error. */
tutti_err tutti__scan_quoted(tutti__scan *s, char *out, size_t size) TUTTI_MUST_USE;
/* The rest of this line. */
tutti_err tutti__scan_skip_line(tutti__scan *s) TUTTI_MUST_USE;
/* Up to this word and behind it. */
tutti_err tutti__scan_skip_to(tutti__scan *s, const char *text) TUTTI_MUST_USE;

/* ---- binary */
tutti_err tutti__scan_bytes(tutti__scan *s, void *out, size_t bytes) TUTTI_MUST_USE;

/* ---- either: as s->binary says */
tutti_err tutti__scan_i32(tutti__scan *s, int32_t *out) TUTTI_MUST_USE;
tutti_err tutti__scan_i64(tutti__scan *s, int64_t *out) TUTTI_MUST_USE;
tutti_err tutti__scan_f64(tutti__scan *s, int n, double *out) TUTTI_MUST_USE;
/* Items that follow, each of at least `least` bytes: as many as could be there. */
tutti_err tutti__scan_fits(const tutti__scan *s, int64_t n, int least,
                           const char *what) TUTTI_MUST_USE;

#endif
