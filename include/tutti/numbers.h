/* Tutti: types of numbers, and how they change between memory and file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_NUMBERS_H
#define TUTTI_NUMBERS_H

#include <tutti/types.h>
#include <tutti/error.h>

TUTTI_BEGIN_DECLS

/** @name Number types */
/**@{*/
/* X(name, size, text).  Values are never renumbered: they stand in files. */
#define TUTTI_TYPE_TABLE(X)         \
    X(BYTES, 0, "bytes")            \
    X(INT8, 1, "int8")              \
    X(INT16, 2, "int16")            \
    X(INT32, 4, "int32")            \
    X(INT64, 8, "int64")            \
    X(UINT8, 1, "uint8")            \
    X(UINT16, 2, "uint16")          \
    X(UINT32, 4, "uint32")          \
    X(UINT64, 8, "uint64")          \
    X(FLOAT32, 4, "float32")        \
    X(FLOAT64, 8, "float64")        \
    X(COMPLEX64, 8, "complex64")    \
    X(COMPLEX128, 16, "complex128") \
    X(FLOAT16, 2, "float16")

/** What an element is; TUTTI_BYTES: a number of bytes that only the caller understands. */
typedef enum tutti_type {
#define TUTTI_TYPE_ENUM(name, size, text) TUTTI_##name,
    TUTTI_TYPE_TABLE(TUTTI_TYPE_ENUM)
#undef TUTTI_TYPE_ENUM
} tutti_type;

/** Bytes of an element; 0 for TUTTI_BYTES and for unknown types.   Local. */
TUTTI_API tutti_off tutti_type_size(tutti_type type);

/** "float64" and so on; "" for unknown types.   Local. */
TUTTI_API const char *tutti_type_name(tutti_type type);

/** The type of that name.   Local.   @return TUTTI_ERR_ARG if there is none */
TUTTI_API tutti_err tutti_type_parse(const char *name, tutti_type *out) TUTTI_MUST_USE;
/**@}*/

/** @name Conversions */
/**@{*/
/** The order of the bytes of a number. */
typedef enum tutti_byte_order {
    TUTTI_NATIVE_ENDIAN, /* this machine's */
    TUTTI_LITTLE_ENDIAN,
    TUTTI_BIG_ENDIAN
} tutti_byte_order;

/** What numbers are in the file and in memory.  All zeros: bytes, moved as they are.
 *
 *  Values are rounded to nearest even between floating-point types and from integers to them, and
 *  towards zero to integers.  A value that does not fit (a finite one that is too large, or anything
 *  but a number for an integer type) is TUTTI_ERR_VALUE; all others are converted nevertheless.
 *  Complex numbers become complex numbers, half by half. */
typedef struct tutti_conversion {
    tutti_type file_type, memory_type; /* TUTTI_BYTES: both */
    tutti_byte_order file_order;       /* that of memory is the machine's */
    int ieee; /* 1: finite values too large for a floating-point type become infinities, no error */
    int64_t reserved[2]; /* 0: for later versions */
} tutti_conversion;
/**@}*/

TUTTI_END_DECLS
#endif
