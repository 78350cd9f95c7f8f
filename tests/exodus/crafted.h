/* Valid and invalid netCDF files described by a text, whose statements end with ';' or a newline:
 *
 *     v 5                   CDF version 1, 2 or 5 (the default)
 *     d NAME N              a dimension; 0: the record dimension
 *     x VAR TYPE [DIM...]   a variable of previously defined dimensions; TYPE: b c s i f d (types
 *                           of netCDF) or l (int64)
 *     a VAR NAME TEXT       an attribute of the variable, or of the file (VAR is -)
 *     s VAR INDEX VALUE     a value of a variable (characters: the bytes of a text)
 *     R N                   the number of records that are stored in the file
 *
 * These statements change the header after offsets have been assigned, so that it contradicts the
 * contents:
 *
 *     l DIM N               change the length of a dimension
 *     t VAR TYPE            change the type of a variable
 *     b VAR N               change the offset of a variable
 *     r N                   change the number of records
 *     e N                   make the file N bytes longer (or shorter if N is negative)
 *
 * Invalid statements are skipped, so that the text can come from a fuzzer.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_EXODUS_CRAFTED_H
#define TUTTI_TESTS_EXODUS_CRAFTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cdf/cdf.h"

enum { CRAFTED_MOST = 1 << 20 }; /* maximum file size in bytes */

static inline int crafted_type(const char *t) {
    const char *at = t && t[0] ? strchr(" bcsifd   l", t[0]) : NULL;
    return at && t[0] != ' ' ? (int)(at - " bcsifd   l") : 0;
}

typedef struct {
    int n;
    char *word[12];
} crafted_statement;

/* Read the next statement, split into words; return 0 at the end of the text. */
static inline int crafted_next(char **text, crafted_statement *s) {
    char *line = *text, *rest = NULL;
    if (!*line) return 0;
    const size_t k = strcspn(line, ";\n");
    *text = line + k + (line[k] != 0);
    line[k] = 0;
    s->n = 0;
    for (char *w = strtok_r(line, " \t", &rest); w && s->n < 12; w = strtok_r(NULL, " \t", &rest))
        s->word[s->n++] = w;
    return 1;
}

static inline void crafted_define(tutti__cdf *c, const crafted_statement *s) {
    const char *w = s->n > 0 ? s->word[0] : "";
    tutti_count dims[8];
    int n = 0;
    if (strcmp(w, "v") == 0 && s->n > 1) {
        const int version = atoi(s->word[1]);
        if (c->dims_n == 0 && (version == 1 || version == 2)) c->version = version;
    } else if (strcmp(w, "d") == 0 && s->n > 2) {
        const long long length = atoll(s->word[2]);
        if (length >= 0) (void)!tutti__cdf_add_dim(c, s->word[1], length, NULL);
    } else if (strcmp(w, "x") == 0 && s->n > 2) {
        for (int i = 3; i < s->n && n < 8; i++)
            if ((dims[n++] = tutti__cdf_find_dim(c, s->word[i])) < 0) return;
        const int type = crafted_type(s->word[2]);
        if (type) (void)!tutti__cdf_add_var(c, s->word[1], type, n, dims, NULL);
    } else if (strcmp(w, "a") == 0 && s->n > 3) {
        const tutti_count var =
            strcmp(s->word[1], "-") == 0 ? -1 : tutti__cdf_find_var(c, s->word[1]);
        if (var >= 0 || s->word[1][0] == '-')
            (void)!tutti__cdf_put_text(c, var, s->word[2], s->word[3]);
    }
}

static inline void crafted_set(const tutti__cdf *c, const crafted_statement *s, unsigned char *data,
                               tutti_off bytes) {
    const tutti_count var = tutti__cdf_find_var(c, s->word[1]);
    if (var < 0) return;
    const tutti__cdf_var *v = &c->vars[var];
    const tutti_off size = tutti__cdf_size(v->type);
    const long long index = atoll(s->word[2]), value = atoll(s->word[3]);
    if (index < 0 || index >= bytes) return;
    const tutti_off at = v->begin + index * size;
    if (v->type == TUTTI__CDF_CHAR) {
        const tutti_off n = (tutti_off)strlen(s->word[3]);
        if (at + n <= bytes) memcpy(data + at, s->word[3], (size_t)n);
    } else if (at + size <= bytes) {
        double d = (double)value;
        float f = (float)value;
        uint64_t word = (uint64_t)value;
        uint32_t half = 0;
        if (v->type == TUTTI__CDF_DOUBLE) memcpy(&word, &d, sizeof word);
        if (v->type == TUTTI__CDF_FLOAT) {
            memcpy(&half, &f, sizeof half);
            word = half;
        }
        for (tutti_off i = size; i-- > 0; word >>= 8) data[at + i] = (unsigned char)word;
    }
}

static inline void crafted_modify(tutti__cdf *c, const crafted_statement *s, tutti_off *more) {
    const char *w = s->n > 1 ? s->word[0] : "";
    const long long value = s->n > 1 ? atoll(s->word[s->n - 1]) : 0;
    const tutti_count dim = s->n > 2 ? tutti__cdf_find_dim(c, s->word[1]) : -1,
                      var = s->n > 2 ? tutti__cdf_find_var(c, s->word[1]) : -1;
    if (strcmp(w, "l") == 0 && dim >= 0) c->dims[dim].length = value;
    if (strcmp(w, "b") == 0 && var >= 0) c->vars[var].begin = value;
    if (strcmp(w, "t") == 0 && var >= 0 && crafted_type(s->word[2]))
        c->vars[var].type = crafted_type(s->word[2]);
    if (strcmp(w, "r") == 0) c->records = value;
    if (strcmp(w, "e") == 0) *more = value;
}

/* Return the bytes of the described file, to be freed by the caller, and their number; NULL: the text does not
 * describe a file. */
static inline unsigned char *crafted_file(const char *text, size_t text_bytes, size_t *n_out) {
    char *copy[3], *at;
    crafted_statement s;
    tutti__cdf c;
    unsigned char *data = NULL;
    void *head = NULL;
    tutti_off records = 0, bytes = 0, more = 0;
    for (int i = 0; i < 3; i++) {
        copy[i] = malloc(text_bytes + 1);
        memcpy(copy[i], text, text_bytes);
        copy[i][text_bytes] = 0;
    }
    tutti__cdf_init(&c, 5);
    for (at = copy[0]; crafted_next(&at, &s);) {
        crafted_define(&c, &s);
        if (s.n > 1 && strcmp(s.word[0], "R") == 0) records = atoll(s.word[1]);
    }
    if (tutti__cdf_layout(&c, NULL) == TUTTI_OK && c.record_begin <= CRAFTED_MOST && records >= 0 &&
        tutti_size_fits(records, tutti__max(c.record_bytes, 1), CRAFTED_MOST)) {
        c.records = records;
        bytes = c.record_begin + records * c.record_bytes;
        data = calloc(1, (size_t)bytes + 1);
        for (at = copy[1]; crafted_next(&at, &s);)
            if (s.n > 3 && strcmp(s.word[0], "s") == 0) crafted_set(&c, &s, data, bytes);
        for (at = copy[2]; crafted_next(&at, &s);) crafted_modify(&c, &s, &more);
        if (tutti__cdf_encode(&c, &head) == TUTTI_OK && c.header_bytes <= bytes)
            memcpy(data, head, (size_t)c.header_bytes);
        tutti__free(head);
        if (more > -bytes && more < CRAFTED_MOST) {
            data = realloc(data, (size_t)(bytes + (more > 0 ? more : 0)) + 1);
            if (more > 0) memset(data + bytes, 0, (size_t)more);
            *n_out = (size_t)(bytes + more);
        } else {
            *n_out = (size_t)bytes;
        }
    }
    tutti__cdf_free(&c);
    for (int i = 0; i < 3; i++) free(copy[i]);
    return data;
}

#endif
