/* Tutti: element types and their conversion between memory and file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_ELEMENT_TYPES_H
#define TUTTI_ELEMENT_TYPES_H

#include <tutti/types.h>
#include <tutti/error.h>

TUTTI_BEGIN_DECLS

/** @name Element types */
/**@{*/
/* X(name, size, text).  Values are stored in files and never change. */
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

/** The type of an element.  TUTTI_BYTES stands for elements that only the caller interprets. */
typedef enum tutti_type {
#define TUTTI_TYPE_ENUM(name, size, text) TUTTI_##name,
    TUTTI_TYPE_TABLE(TUTTI_TYPE_ENUM)
#undef TUTTI_TYPE_ENUM
} tutti_type;

/** Return the size of an element in bytes; 0 for TUTTI_BYTES and for unknown types.
 *  Not collective. */
TUTTI_API tutti_off tutti_type_size(tutti_type type);

/** Return the name of a type, for example "float64"; "" for unknown types.
 *  Not collective. */
TUTTI_API const char *tutti_type_name(tutti_type type);

/** Find a type by its name.
 *  Not collective.
 *  @return TUTTI_ERR_ARG if the name is unknown. */
TUTTI_API tutti_err tutti_type_parse(const char *name, tutti_type *out) TUTTI_MUST_USE;
/**@}*/

/** @name Conversions */
/**@{*/
/** The byte order of an element. */
typedef enum tutti_byte_order {
    TUTTI_NATIVE_ENDIAN, /* the order of this machine */
    TUTTI_LITTLE_ENDIAN,
    TUTTI_BIG_ENDIAN
} tutti_byte_order;

/** Types of elements in the file and in memory.  All zeros: bytes, not converted.
 *
 *  Conversions between floating-point types, and from integers to them, round to nearest even;
 *  conversions to integers truncate towards zero.  A value that does not fit (too large, or not a
 *  number for an integer type) fails with TUTTI_ERR_VALUE; all other values are converted
 *  nevertheless.  Complex values are converted to complex values only. */
typedef struct tutti_conversion {
    tutti_type file_type, memory_type; /* TUTTI_BYTES for both or for none */
    tutti_byte_order file_order;       /* memory has the order of the machine */
    int ieee; /* 1: finite values too large for a floating-point type become infinities */
    int64_t reserved[2]; /* 0: for later versions */
} tutti_conversion;
/**@}*/

TUTTI_END_DECLS
#endif
