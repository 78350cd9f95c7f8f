/* base: recording and returning errors.  The function that detects an error records it; its callers
 * return the same code.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ERROR_IMPL_H
#define TUTTI_ERROR_IMPL_H

#include <errno.h>
#include <tutti/error.h>

/* Record an error with this code and text, and return the code from the calling function. */
#define TUTTI_FAIL(code, ...) return tutti__error_set((code), 0, -1, __VA_ARGS__)
#define TUTTI_CHECK(cond, code, ...)                \
    do {                                            \
        if (!(cond)) TUTTI_FAIL(code, __VA_ARGS__); \
    } while (0)

/* Return from the calling function with the error code of `call`, which has recorded its error. */
#define TUTTI_TRY(call)                    \
    do {                                   \
        const tutti_err err_ = (call);     \
        if (err_ != TUTTI_OK) return err_; \
    } while (0)

/* TUTTI_KEEP_ERRNO restores errno when the enclosing function returns.  It is the first line of
 * every public function that may make system calls. */
static inline void tutti__errno_restore(const int *saved) {
    errno = *saved;
}
#define TUTTI_KEEP_ERRNO \
    __attribute__((cleanup(tutti__errno_restore), unused)) const int saved_errno_ = errno

/* Internal consistency: in debug builds, a false condition is printed and the program aborts.
 * Static analysers treat the condition as an assumption. */
#if defined(TUTTI_DEBUG) || defined(__clang_analyzer__)
#define TUTTI_ASSERT(cond) ((cond) ? (void)0 : tutti__assert_failed(#cond, __FILE__, __LINE__))
#else
#define TUTTI_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#endif
void tutti__assert_failed(const char *cond, const char *file, int line) __attribute__((noreturn));

/* Set the last error of this thread; its rank, operation and path are cleared. */
void tutti__error_record(tutti_err code, int sys_errno, tutti_off offset, const char *fmt, ...)
    TUTTI_PRINTF(4, 5);

/* Call tutti__error_record; the value of the expression is `code`.  A macro, so that compilers and
 * analysers can see that the value is not TUTTI_OK. */
#define tutti__error_set(code, ...)             \
    ({                                          \
        const tutti_err set_ = (code);          \
        tutti__error_record(set_, __VA_ARGS__); \
        set_;                                   \
    })

/* Return the code for an errno of a file system call, for example TUTTI_ERR_NO_SPACE for ENOSPC;
 * TUTTI_ERR_IO for all others. */
tutti_err tutti__error_from_errno(int sys_errno);

/* Record a failed system call and return its code; the text is "WHAT: DESCRIPTION (ENAME)". */
tutti_err tutti__error_sys(int sys_errno, tutti_off offset, const char *what);

/* Copy a path for a message; a path that does not fit is shortened to "..." and its last
 * characters. */
void tutti__copy_path_end(char *to, size_t size, const char *from);

/* Add operation, path and rank to the last error where they are not set yet.  NULL or -1:
 * unknown. */
void tutti__error_context(const char *operation, const char *path, int rank);

/* Set the last error of this thread to *info, for example to the error of another rank. */
void tutti__error_assign(const tutti_error_info *info);
void tutti__error_clear(void);

/* ---- preserving the last error during cleanup */

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

/* Save the last error here and restore it at the end of the scope: always, or only if `cond` is
 * true. */
#define TUTTI_KEEP_LAST_ERROR TUTTI_KEEP_LAST_ERROR_IF(1)
#define TUTTI_KEEP_LAST_ERROR_IF(cond)                                            \
    __attribute__((cleanup(tutti__error_restore))) tutti__kept_error kept_error_; \
    tutti__error_keep(&kept_error_, (cond))
/* Execute `step` regardless of the earlier result `err`.  The value is `err` if it is an error,
 * else the result of `step`; the last error is that of the value. */
#define TUTTI_ALSO(err, step)                          \
    ({                                                 \
        const tutti_err before_ = (err);               \
        TUTTI_KEEP_LAST_ERROR_IF(before_ != TUTTI_OK); \
        const tutti_err step_ = (step);                \
        before_ != TUTTI_OK ? before_ : step_;         \
    })
/* Record and return the error that tutti_set_local_error has set, and clear it; if there is none,
 * record that argument access is NULL. */
tutti_err tutti__error_refusal(void);
/* Record and return the error that tutti_set_local_error has set; TUTTI_OK if there is none. */
tutti_err tutti__error_refused(void);

#endif
