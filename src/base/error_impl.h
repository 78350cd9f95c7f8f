/* base: how errors are raised and forwarded.  The function that detects an error records it,
 * callers forward it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ERROR_IMPL_H
#define TUTTI_ERROR_IMPL_H

#include <errno.h>
#include <tutti/error.h>

/* Raise: record code and text once, and return it. */
#define TUTTI_FAIL(code, ...) return tutti__error_set((code), 0, -1, __VA_ARGS__)
#define TUTTI_CHECK(cond, code, ...)                \
    do {                                            \
        if (!(cond)) TUTTI_FAIL(code, __VA_ARGS__); \
    } while (0)

/* Forward what a callee has already recorded. */
#define TUTTI_TRY(call)                    \
    do {                                   \
        const tutti_err err_ = (call);     \
        if (err_ != TUTTI_OK) return err_; \
    } while (0)

/* A library call does not change errno: the first line of every public call that may make system calls. */
static inline void tutti__errno_restore(const int *saved) {
    errno = *saved;
}
#define TUTTI_KEEP_ERRNO \
    __attribute__((cleanup(tutti__errno_restore), unused)) const int saved_errno_ = errno

/* Internal errors: checked in debug builds, where it prints and aborts.  Static analysers treat it
 * as an assumption. */
#if defined(TUTTI_DEBUG) || defined(__clang_analyzer__)
#define TUTTI_ASSERT(cond) ((cond) ? (void)0 : tutti__assert_failed(#cond, __FILE__, __LINE__))
#else
#define TUTTI_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#endif
void tutti__assert_failed(const char *cond, const char *file, int line) __attribute__((noreturn));

/* Record an error of this thread (rank, operation and path are cleared). */
void tutti__error_record(tutti_err code, int sys_errno, tutti_off offset, const char *fmt, ...)
    TUTTI_PRINTF(4, 5);

/* The same, with value `code`.  A macro, so that compilers and analysers can see the code,
 * and that it is not TUTTI_OK. */
#define tutti__error_set(code, ...)             \
    ({                                          \
        const tutti_err set_ = (code);          \
        tutti__error_record(set_, __VA_ARGS__); \
        set_;                                   \
    })

/* The code for an errno of a file system call: ENOSPC -> TUTTI_ERR_NO_SPACE, ... default
 * TUTTI_ERR_IO. */
tutti_err tutti__error_from_errno(int sys_errno);

/* Record a failed system call: code from errno, text "what: strerror (ENAME)". */
tutti_err tutti__error_sys(int sys_errno, tutti_off offset, const char *what);

/* Copy a path for a message: if it does not fit, "..." and its end, which distinguishes it from others. */
void tutti__copy_path_end(char *to, size_t size, const char *from);

/* Add the context of the caller's layer; values that are set already are kept.  NULL or -1:
 * unknown. */
void tutti__error_context(const char *operation, const char *path, int rank);

/* Replace the error of the thread (by that of another rank); clear it. */
void tutti__error_assign(const tutti_error_info *info);
void tutti__error_clear(void);

/* ---- cleanup never changes the last error */

typedef struct tutti__kept_error {
    int is_kept;
    tutti_error_info info;
} tutti__kept_error;
static inline void tutti__error_keep(tutti__kept_error *kept, int is_kept) {
    kept->is_kept = is_kept;
    if (is_kept) kept->info = *tutti_last_error();
}
static inline void tutti__error_restore(const tutti__kept_error *kept) {
    if (kept->is_kept) tutti__error_assign(&kept->info);
}

/* Restore the last error at the end of the scope to that of this line: always, or if `cond` is true here. */
#define TUTTI_KEEP_LAST_ERROR TUTTI_KEEP_LAST_ERROR_IF(1)
#define TUTTI_KEEP_LAST_ERROR_IF(cond)                                            \
    __attribute__((cleanup(tutti__error_restore))) tutti__kept_error kept_error_; \
    tutti__error_keep(&kept_error_, (cond))
/* A step that must always be done, after an outcome `err`: the value is the first error of both, and
 * the last error belongs to it. */
#define TUTTI_ALSO(err, step)                          \
    ({                                                 \
        const tutti_err before_ = (err);               \
        TUTTI_KEEP_LAST_ERROR_IF(before_ != TUTTI_OK); \
        const tutti_err step_ = (step);                \
        before_ != TUTTI_OK ? before_ : step_;         \
    })
/* The error that the caller has set by tutti_set_local_error, once; otherwise that argument access is NULL. */
tutti_err tutti__error_refusal(void);
/* The same for another argument that is NULL: TUTTI_OK if the caller has set none. */
tutti_err tutti__error_refused(void);

#endif
