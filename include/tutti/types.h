/* Tutti: integer types and export macros that all headers use.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TYPES_H
#define TUTTI_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TUTTI_BEGIN_DECLS extern "C" {
#define TUTTI_END_DECLS }
#else
#define TUTTI_BEGIN_DECLS
#define TUTTI_END_DECLS
#endif

#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#define TUTTI_MUST_USE __attribute__((warn_unused_result))
#define TUTTI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TUTTI_API
#define TUTTI_MUST_USE
#define TUTTI_PRINTF(fmt, args)
#endif

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0
#define TUTTI_VERSION_STRING "0.1.0"
#define TUTTI_VERSION \
    (TUTTI_VERSION_MAJOR * 10000 + TUTTI_VERSION_MINOR * 100 + TUTTI_VERSION_PATCH)

TUTTI_BEGIN_DECLS

/** A position or a length in bytes, in a file or in memory. */
typedef int64_t tutti_off;

/** A number of elements, runs or pieces. */
typedef int64_t tutti_count;

/** Return the version of the library that is running.
 *  Not collective.
 *  The macros contain the version of the headers.
 *  @return TUTTI_VERSION of the library. */
TUTTI_API int tutti_version(void);

/** Return the version of the library as text, for example "0.1.0".
 *  Not collective.
 *  @return a string that is valid as long as the program runs. */
TUTTI_API const char *tutti_version_string(void);

TUTTI_END_DECLS
#endif
