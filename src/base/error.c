/* base: the last error of each thread.  The code that detects an error records code and text; the
 * layers above add operation, file and rank, and the message is composed when it is requested.
 * No function here prints, allocates or changes errno.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/error_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tutti_error_info no_error = {.rank = -1, .offset = -1};
static _Thread_local tutti_error_info last = {.rank = -1, .offset = -1};
static _Thread_local char line[1024];
/* the error that tutti_set_local_error has set; code TUTTI_OK: none */
static _Thread_local tutti_error_info refusal;

/* ---- names and texts of codes ---------------------------------------------------------------- */

const char *tutti_strerror(tutti_err code) {
    switch (code) {
#define ERROR_TEXT(name, value, text) \
    case TUTTI_##name:                \
        return text;
        TUTTI_ERROR_TABLE(ERROR_TEXT)
#undef ERROR_TEXT
    }
    return "unknown error code";
}

const char *tutti_error_name(tutti_err code) {
    switch (code) {
#define ERROR_NAME(name, value, text) \
    case TUTTI_##name:                \
        return "TUTTI_" #name;
        TUTTI_ERROR_TABLE(ERROR_NAME)
#undef ERROR_NAME
    }
    return "TUTTI_ERR_?";
}

tutti_err tutti__error_from_errno(int sys_errno) {
    static const struct {
        int sys_errno;
        tutti_err code;
    } table[] = {
        {ENOSPC, TUTTI_ERR_NO_SPACE},
        {EDQUOT, TUTTI_ERR_QUOTA},
        {EFBIG, TUTTI_ERR_TOO_BIG},
        {EACCES, TUTTI_ERR_PERMISSION},
        {EPERM, TUTTI_ERR_PERMISSION},
        {EROFS, TUTTI_ERR_READ_ONLY},
        {ENOENT, TUTTI_ERR_NOT_FOUND},
        {ENOTDIR, TUTTI_ERR_NOT_FOUND},
        {EEXIST, TUTTI_ERR_EXISTS},
        {EISDIR, TUTTI_ERR_IS_DIRECTORY},
        {ENOMEM, TUTTI_ERR_NOMEM},
        {EOVERFLOW, TUTTI_ERR_OVERFLOW},
        {EOPNOTSUPP, TUTTI_ERR_UNSUPPORTED},
        {ENOSYS, TUTTI_ERR_UNSUPPORTED},
        {EMFILE, TUTTI_ERR_OPEN},
        {ENFILE, TUTTI_ERR_OPEN},
        {ELOOP, TUTTI_ERR_OPEN},
        {ENAMETOOLONG, TUTTI_ERR_OPEN},
        {ETXTBSY, TUTTI_ERR_OPEN},
        {ECANCELED, TUTTI_ERR_CANCELLED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (table[i].sys_errno == sys_errno) return table[i].code;
    return TUTTI_ERR_IO;
}

static const char *errno_name(int sys_errno) {
    const char *name = strerrorname_np(sys_errno);
    return name ? name : "unknown errno";
}

/* ---- recording ------------------------------------------------------------------------------- */

void tutti__error_record(tutti_err code, int sys_errno, tutti_off offset, const char *fmt, ...) {
    const int saved_errno = errno;
    tutti_error_info info = no_error; /* not `last`: the arguments may point into it */
    va_list args;
    info.code = code;
    info.sys_errno = sys_errno;
    info.offset = offset;
    va_start(args, fmt);
    vsnprintf(info.text, sizeof info.text, fmt, args);
    va_end(args);
    last = info;
    errno = saved_errno;
}

tutti_err tutti__error_sys(int sys_errno, tutti_off offset, const char *what) {
    const char *text = strerrordesc_np(sys_errno);
    return tutti__error_set(tutti__error_from_errno(sys_errno), sys_errno, offset, "%s: %s (%s)",
                            what, text ? text : "unknown error", errno_name(sys_errno));
}

void tutti__copy_path_end(char *to, size_t size, const char *from) {
    const size_t n = strlen(from);
    if (n < size) {
        memcpy(to, from, n + 1);
        return;
    }
    const char *tail = from + n - (size - 1 - 3);
    while ((*tail & 0xc0) == 0x80) ++tail; /* do not split a UTF-8 character */
    snprintf(to, size, "...%s", tail);
}

void tutti__error_context(const char *operation, const char *path, int rank) {
    const int saved_errno = errno;
    if (last.code == TUTTI_OK) return;
    if (operation && !last.operation[0])
        snprintf(last.operation, sizeof last.operation, "%s", operation);
    if (path && !last.path[0]) tutti__copy_path_end(last.path, sizeof last.path, path);
    if (rank >= 0 && last.rank < 0) last.rank = rank;
    errno = saved_errno;
}

void tutti__error_assign(const tutti_error_info *info) {
    const tutti_error_info copy = *info; /* `info` may point to `last` */
    last = copy;
    last.operation[sizeof last.operation - 1] = '\0';
    last.path[sizeof last.path - 1] = '\0';
    last.text[sizeof last.text - 1] = '\0';
}

void tutti_set_local_error(tutti_err code, int detail, const char *text) {
    refusal = no_error;
    refusal.code = code;
    refusal.detail = detail;
    snprintf(refusal.text, sizeof refusal.text, "%s", text ? text : tutti_strerror(code));
}

tutti_err tutti__error_refusal(void) {
    const tutti_error_info why = refusal;
    char text[sizeof last.text];
    memcpy(text, last.text, sizeof text); /* tutti__error_set overwrites last.text */
    refusal.code = TUTTI_OK;
    /* an earlier error may be the reason for the missing access */
    if (why.code == TUTTI_OK && last.code != TUTTI_OK)
        return tutti__error_set(TUTTI_ERR_ARG, 0, -1,
                                "argument access is NULL; the last error of this rank: %.300s",
                                text);
    if (why.code == TUTTI_OK)
        return tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument access is NULL");
    tutti__error_assign(&why);
    return why.code;
}

tutti_err tutti__error_refused(void) {
    return refusal.code == TUTTI_OK ? TUTTI_OK : tutti__error_refusal();
}

void tutti__error_clear(void) {
    last = no_error;
}

/* ---- reporting ------------------------------------------------------------------------------- */

const tutti_error_info *tutti_last_error(void) {
    return &last;
}

static size_t append_text(size_t at, const char *fmt, ...) TUTTI_PRINTF(2, 3);
static size_t append_text(size_t at, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(line + at, sizeof line - at, fmt, args);
    va_end(args);
    if (n < 0) return at;
    return at + (size_t)n < sizeof line ? at + (size_t)n : sizeof line - 1;
}

const char *tutti_last_message(void) {
    const int saved_errno = errno;
    line[0] = '\0';
    if (last.code == TUTTI_OK) return line;
    /* "OPERATION of 'PATH' at offset N, rank R: TEXT", where unknown parts are omitted */
    size_t at = 0;
    if (last.operation[0]) at = append_text(at, "%s", last.operation);
    if (last.path[0]) at = append_text(at, "%s'%s'", at ? " of " : "", last.path);
    if (last.offset >= 0)
        at = append_text(at, "%sat offset %lld", at ? " " : "", (long long)last.offset);
    if (last.rank >= 0) at = append_text(at, "%srank %d", at ? ", " : "", last.rank);
    at = append_text(at, "%s%s", at ? ": " : "",
                     last.text[0] ? last.text : tutti_strerror(last.code));
    if (last.sys_errno && !strstr(last.text, errno_name(last.sys_errno)))
        append_text(at, " (%s)", errno_name(last.sys_errno));
    errno = saved_errno;
    return line;
}

void tutti__assert_failed(const char *cond, const char *file, int at_line) {
    fprintf(stderr, "tutti: %s:%d: the assertion %s does not hold\n", file, at_line, cond);
    abort();
}
