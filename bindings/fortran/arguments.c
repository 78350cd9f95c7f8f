/* fortran: errors, texts and lists of integers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors */

void tutti__f_end(tutti_err err, int *ierr) {
    if (ierr) {
        *ierr = (int)err;
        return;
    }
    if (err == TUTTI_OK) return;
    int begun = 0, ended = 0;
    fflush(stdout);
    fprintf(stderr, "%s\n", tutti_last_message());
    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (begun && !ended) MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void tutti__f_set_local_error(tutti_err code, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_set_local_error(code, 0, text);
}

void tutti__f_settled(void) {
    tutti_set_local_error(TUTTI_OK, 0, NULL);
}

/* Errors can be set only by a failing call: copying a NULL access fails with the error set here. */
tutti_err tutti__f_error(tutti_err code, const char *format, ...) {
    tutti_access *none = NULL;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_set_local_error(code, 0, text);
    return tutti_access_copy(NULL, &none);
}

/* ---- texts */

static char *text_of(const char *from, size_t n) {
    while (n > 0 && from[n - 1] == ' ') n--;
    char *copy = malloc(n + 1);
    if (!copy) return NULL;
    memcpy(copy, from, n);
    copy[n] = '\0';
    return copy;
}

char *tutti__f_text(const CFI_cdesc_t *text) {
    return text && text->base_addr ? text_of(text->base_addr, text->elem_len) : NULL;
}

int tutti__f_name(const CFI_cdesc_t *text, char *out, size_t size) {
    char *name = tutti__f_text(text);
    const int fits = !name || strlen(name) < size;
    memset(out, 0, size);
    if (name && fits) memcpy(out, name, strlen(name));
    free(name);
    return fits;
}

char **tutti__f_texts(const CFI_cdesc_t *texts) {
    const int64_t n = tutti__f_length(texts);
    char **c = texts ? calloc((size_t)n + 1, sizeof *c) : NULL;
    for (int64_t i = 0; c && i < n; i++)
        c[i] = text_of((const char *)texts->base_addr + i * texts->dim[0].sm, texts->elem_len);
    return c;
}

void tutti__f_texts_free(const CFI_cdesc_t *texts, char **c) {
    for (int64_t i = 0; c && i < tutti__f_length(texts); i++) free(c[i]);
    free(c);
}

void tutti__f_put_text(const CFI_cdesc_t *out, const char *text) {
    if (!out || !out->base_addr) return;
    const size_t n = strlen(text), room = out->elem_len;
    memset(out->base_addr, ' ', room);
    memcpy(out->base_addr, text, n < room ? n : room);
}

/* ---- lists */

int64_t tutti__f_length(const CFI_cdesc_t *list) {
    int64_t n = 1;
    if (!list || !list->base_addr) return 0;
    for (int d = 0; d < list->rank; d++) n *= list->dim[d].extent > 0 ? list->dim[d].extent : 0;
    return n;
}

void *tutti__f_list(const CFI_cdesc_t *list) {
    return list ? list->base_addr : NULL;
}

int tutti__f_fits(const CFI_cdesc_t *list, int64_t need) {
    return !list || tutti__f_length(list) >= need;
}

void tutti__f_counts_of(const CFI_cdesc_t *list, tutti__f_counts *out) {
    memset(out, 0, sizeof *out);
    if (!list || list->rank != 1) return;
    const tutti__f_array v = tutti__f_array_of(list);
    if (v.extent[0] < 1 || v.extent[0] > TUTTI_MAX_DIMS) return;
    if (v.type < TUTTI_INT16 || v.type > TUTTI_INT64) return;
    for (int64_t i = 0; i < v.extent[0]; i++) {
        const char *at = v.base + i * v.step[0];
        int16_t small;
        int32_t middle;
        if (v.type == TUTTI_INT64) {
            memcpy(&out->value[i], at, sizeof out->value[i]);
        } else if (v.type == TUTTI_INT32) {
            memcpy(&middle, at, sizeof middle);
            out->value[i] = middle;
        } else {
            memcpy(&small, at, sizeof small);
            out->value[i] = small;
        }
    }
    out->n = (int)v.extent[0];
    out->list = out->value;
}

void tutti__f_put_counts(const CFI_cdesc_t *out, int n, const tutti_count *value) {
    const int64_t room = tutti__f_length(out);
    for (int64_t i = 0; i < n && i < room; i++) ((tutti_count *)out->base_addr)[i] = value[i];
}

void tutti__f_turn(int n, tutti_count *value) {
    for (int i = 0; i < n - 1 - i; i++) {
        const tutti_count first = value[i];
        value[i] = value[n - 1 - i];
        value[n - 1 - i] = first;
    }
}
