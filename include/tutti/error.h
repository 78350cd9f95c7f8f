/* Tutti: error codes and messages.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ERROR_H
#define TUTTI_ERROR_H

#include <tutti/types.h>

TUTTI_BEGIN_DECLS

/* X(name, value, text).  Positive: the call was refused, and nothing has changed.  Negative:
 * the call failed while it was running; the bytes it named are undefined, all others are
 * unchanged, and the handle stays usable.  Values never change. */
#define TUTTI_ERROR_TABLE(X)                                             \
    X(OK, 0, "success")                                                  \
    X(ERR_ARG, 1, "invalid argument")                                    \
    X(ERR_MODE, 2, "the file was not opened for this operation")         \
    X(ERR_NOMEM, 3, "out of memory")                                     \
    X(ERR_UNSUPPORTED, 4, "not supported here")                          \
    X(ERR_OVERFLOW, 5, "a size or an offset is too large")               \
    X(ERR_NOT_FOUND, 6, "no such file, variable, segment or info")       \
    X(ERR_EXISTS, 7, "the file or a different definition exists")        \
    X(ERR_PERMISSION, 8, "permission denied")                            \
    X(ERR_IS_DIRECTORY, 9, "the path is a directory")                    \
    X(ERR_READ_ONLY, 10, "read-only file system")                        \
    X(ERR_STATE, 11, "not possible in this state")                       \
    X(ERR_FORMAT, 12, "malformed or damaged data")                       \
    X(ERR_OVERLAP, 13, "two ranks write the same bytes")                 \
    X(ERR_OPTION, 14, "unknown option or value")                         \
    X(ERR_MISMATCH, 15, "ranks disagree on a call, an argument or data") \
    X(ERR_OPEN, 16, "the file cannot be opened")                         \
    X(ERR_IO, -1, "input/output error")                                  \
    X(ERR_NO_SPACE, -2, "no space left on the device")                   \
    X(ERR_QUOTA, -3, "disk quota exceeded")                              \
    X(ERR_TOO_BIG, -4, "file size limit reached")                        \
    X(ERR_TRUNCATED, -5, "the file is shorter than the data to be read") \
    X(ERR_MPI, -6, "an MPI call failed")                                 \
    X(ERR_CANCELLED, -7, "abandoned")                                    \
    X(ERR_VALUE, -8, "a value does not fit its type")

/** The result of every call that can fail: TUTTI_OK or one of TUTTI_ERR_*. */
typedef enum tutti_err {
#define TUTTI_ERROR_ENUM(name, value, text) TUTTI_##name = (value),
    TUTTI_ERROR_TABLE(TUTTI_ERROR_ENUM)
#undef TUTTI_ERROR_ENUM
} tutti_err;

/** Details of the last error of this thread. */
typedef struct tutti_error_info {
    tutti_err code;
    int rank;           /* rank that failed, -1: unknown or no rank involved */
    int sys_errno;      /* errno of the failed system call, 0: none */
    tutti_off offset;   /* position in the file, -1: none */
    char operation[32]; /* "write", "open", ... or empty */
    char path[256];     /* path of the file (its end if it is too long), or empty */
    char text[512];     /* reason, one sentence */
    int detail;         /* detail passed to tutti_set_local_error, 0: none */
} tutti_error_info;

/** Return a short text for a code.
 *  Not collective.
 *  @return a constant string, even for unknown codes. */
TUTTI_API const char *tutti_strerror(tutti_err code);

/** Return the name of a code as it is written in C, for example "TUTTI_ERR_NO_SPACE".
 *  Not collective. */
TUTTI_API const char *tutti_error_name(tutti_err code);

/** Return the last error of the calling thread.
 *  Not collective.
 *  After a failed collective call all fields are the same on all ranks, except after a call with
 *  a NULL or stale handle, which the other ranks cannot detect.
 *  @return never NULL; `code` is TUTTI_OK if there was no error; valid until the next call of
 *      this thread. */
TUTTI_API const tutti_error_info *tutti_last_error(void);

/** Return the last error of the calling thread as one line, for example "write of 'out.dat' at
 *  offset 4096, rank 3: no space left on the device (ENOSPC)".
 *  Not collective.
 *  @return never NULL, empty if there was no error; valid until the next call of this thread. */
TUTTI_API const char *tutti_last_message(void);

/** Set the reason why this rank has no valid arguments for the next collective call.
 *  Not collective.
 *  A rank that fails locally must still make the call: with NULL as the access, slice,
 *  distribution, inspector, decomposition, list or name.  The next collective call of this thread
 *  that this rank refuses with TUTTI_ERR_ARG then fails on all ranks with this error instead.
 *  @param[in] code    TUTTI_OK: cancel.
 *  @param[in] detail  a number chosen by the caller, returned on all ranks.
 *  @param[in] text    one sentence, or NULL. */
TUTTI_API void tutti_set_local_error(tutti_err code, int detail, const char *text);

TUTTI_END_DECLS
#endif
