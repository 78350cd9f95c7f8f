/* tutti array: conversion of elements to text and back.  Floating-point values are printed with the fewest
 * digits from which the same value is read back.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 96 }; /* maximum bytes of the text of one value */

int array_type_is_complex(tutti_type type) {
    return type == TUTTI_COMPLEX64 || type == TUTTI_COMPLEX128;
}

int array_type_is_integer(tutti_type type) {
    return type >= TUTTI_INT8 && type <= TUTTI_UINT64;
}

static int is_unsigned(tutti_type type) {
    return type >= TUTTI_UINT8 && type <= TUTTI_UINT64;
}

/* ---- integers */

static uint64_t get_unsigned(tutti_off size, const void *p) {
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (size) {
    case 1:
        return memcpy(&a, p, 1), a;
    case 2:
        return memcpy(&b, p, 2), b;
    case 4:
        return memcpy(&c, p, 4), c;
    default:
        return memcpy(&d, p, 8), d;
    }
}

static int64_t get_signed(tutti_off size, const void *p) {
    const int above = 64 - 8 * (int)size; /* number of high bits to fill with the sign */
    return (int64_t)(get_unsigned(size, p) << above) >> above;
}

/* Store the low `size` bytes of n; negative values are in two's complement. */
static void put_integer(tutti_off size, uint64_t n, void *out) {
    const uint8_t a = (uint8_t)n;
    const uint16_t b = (uint16_t)n;
    const uint32_t c = (uint32_t)n;
    switch (size) {
    case 1:
        memcpy(out, &a, 1);
        break;
    case 2:
        memcpy(out, &b, 2);
        break;
    case 4:
        memcpy(out, &c, 4);
        break;
    default:
        memcpy(out, &n, 8);
    }
}

static int parse_integer(const tutti_array_spec *spec, const char *word, void *out) {
    const tutti_off size = tutti_type_size(spec->type);
    const int bits = 8 * (int)size;
    char *end;
    errno = 0;
    if (is_unsigned(spec->type)) {
        const unsigned long long n = strtoull(word, &end, 10); /* strtoull accepts -1, too */
        if (strchr(word, '-') || end == word || *end || errno || (bits < 64 && n >> bits)) return 1;
        put_integer(size, n, out);
    } else {
        const long long n = strtoll(word, &end, 10), most = INT64_MAX >> (64 - bits);
        if (end == word || *end || errno || n > most || n < -most - 1) return 1;
        put_integer(size, (uint64_t)n, out);
    }
    return 0;
}

/* ---- floating-point numbers */

/* Convert a float16: one sign bit, five bits of exponent, ten bits of fraction. */
static double half_value(uint16_t h) {
    const int exponent = h >> 10 & 31, rest = h & 0x3ff;
    const double v = exponent == 31  ? (rest ? NAN : INFINITY)
                     : exponent == 0 ? ldexp(rest, -24)
                                     : ldexp(1024 + rest, exponent - 25);
    return h & 0x8000 ? -v : v;
}

/* Round to the nearest float16; ties to even. */
static uint16_t half_of(double v) {
    const int sign = signbit(v) ? 0x8000 : 0;
    int exponent = 0;
    if (isnan(v)) return 0x7e00;
    if (fabs(v) >= 65520) return (uint16_t)(sign | 0x7c00);
    if (fabs(v) < 0x1p-14) return (uint16_t)(sign | (int)nearbyint(ldexp(fabs(v), 24)));
    const double mantissa = frexp(fabs(v), &exponent); /* 0.5 <= mantissa < 1 */
    return (uint16_t)(sign | (((exponent + 13) << 10) + (int)nearbyint(ldexp(mantissa, 11))));
}

static int part_size(tutti_type type) {
    if (type == TUTTI_FLOAT16) return 2;
    return type == TUTTI_FLOAT32 || type == TUTTI_COMPLEX64 ? 4 : 8;
}

static double get_part(tutti_type type, const void *p, int imaginary) {
    uint16_t h;
    float f;
    double d;
    const char *at = (const char *)p + (imaginary ? part_size(type) : 0);
    if (part_size(type) == 2) return memcpy(&h, at, 2), half_value(h);
    if (part_size(type) == 4) return memcpy(&f, at, 4), (double)f;
    return memcpy(&d, at, 8), d;
}

static void put_part(tutti_type type, double value, int imaginary, void *out) {
    const int size = part_size(type);
    const float f = (float)value;
    const uint16_t h = half_of(value);
    memcpy((char *)out + (imaginary ? size : 0),
           size == 2   ? (const void *)&h
           : size == 4 ? (const void *)&f
                       : (const void *)&value,
           (size_t)size);
}

static int format_part(tutti_type type, int digits, double value, char *out, size_t size) {
    const int bytes = part_size(type), enough = bytes == 2 ? 5 : bytes == 4 ? 9 : 17;
    if (isnan(value)) return snprintf(out, size, "nan");
    if (digits) return snprintf(out, size, "%.*g", digits, value);
    int same = 0; /* whether reading the text gives the value again */
    for (int d = bytes == 2 ? 3 : bytes == 4 ? 6 : 15; d <= enough && !same; d++) {
        snprintf(out, size, "%.*g", d, value);
        same = bytes == 2   ? half_of(strtod(out, NULL)) == half_of(value)
               : bytes == 4 ? strtof(out, NULL) == (float)value
                            : strtod(out, NULL) == value;
    }
    return (int)strlen(out);
}

/* Parse the real or imaginary part of an element; values too large for the type are refused. */
static int parse_part(tutti_type type, const char *word, char **end, double *out) {
    const int size = part_size(type);
    errno = 0;
    *out = size == 4 ? (double)strtof(word, end) : strtod(word, end);
    if (size == 2 && isfinite(*out) && isinf(half_value(half_of(*out)))) return 1;
    return *end == word || (errno == ERANGE && isinf(*out));
}

/* Parse 1.5 or, for complex types, also 1.5+2j or 2j. */
static int parse_floating(const tutti_array_spec *spec, const char *word, void *out) {
    const tutti_type type = spec->type;
    double part[2] = {0, 0};
    char *end;
    if (parse_part(type, word, &end, &part[0])) return 1;
    if (array_type_is_complex(type) && (*end == 'j' || *end == 'J')) {
        part[1] = part[0];
        part[0] = 0;
        end++;
    } else if (array_type_is_complex(type) && (*end == '+' || *end == '-')) {
        if (parse_part(type, end, &end, &part[1]) || (*end != 'j' && *end != 'J')) return 1;
        end++;
    }
    if (*end) return 1;
    put_part(type, part[0], 0, out);
    if (array_type_is_complex(type)) put_part(type, part[1], 1, out);
    return 0;
}

/* ---- bytes */

static int digit_of(char c) {
    if (isdigit((unsigned char)c)) return c - '0';
    return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

static int parse_bytes(const tutti_array_spec *spec, const char *word, void *out) {
    const tutti_off size = spec->element_size;
    unsigned char *byte = out;
    if (strlen(word) != 2 * (size_t)size) return 1;
    for (tutti_off i = 0; i < size; i++) {
        const int high = digit_of(word[2 * i]), low = digit_of(word[2 * i + 1]);
        if (high < 0 || low < 0) return 1;
        byte[i] = (unsigned char)(16 * high + low);
    }
    return 0;
}

/* ---- all types */

static int format_number(const tutti_array_spec *spec, int digits, const void *element,
                         char out[2 * NUMBER]) {
    const tutti_type type = spec->type;
    if (is_unsigned(type))
        return snprintf(out, NUMBER, "%llu",
                        (unsigned long long)get_unsigned(spec->element_size, element));
    if (array_type_is_integer(type))
        return snprintf(out, NUMBER, "%lld", (long long)get_signed(spec->element_size, element));
    int n = format_part(type, digits, get_part(type, element, 0), out, NUMBER);
    if (!array_type_is_complex(type)) return n;
    char *imaginary = out + n + 1;
    out[n] = '+';
    const int m = format_part(type, digits, get_part(type, element, 1), imaginary, NUMBER);
    if (*imaginary == '-')
        memmove(imaginary - 1, imaginary, (size_t)m + 1);
    else
        n++;
    n += m;
    out[n++] = 'j';
    out[n] = '\0';
    return n;
}

void array_element_print(FILE *f, const tutti_array_spec *spec, int digits, int width,
                         const void *element) {
    char text[2 * NUMBER];
    if (spec->type == TUTTI_BYTES) {
        for (tutti_off i = 0; i < spec->element_size; i++)
            fprintf(f, "%02x", ((const unsigned char *)element)[i]);
        return;
    }
    format_number(spec, digits, element, text);
    fprintf(f, "%*s", width, text);
}

int array_element_width(const tutti_array_spec *spec, int digits, const void *element) {
    char text[2 * NUMBER];
    return spec->type == TUTTI_BYTES ? 0 : format_number(spec, digits, element, text);
}

int array_element_parse(const tutti_array_spec *spec, const char *word, void *out) {
    const int wrong = (spec->type == TUTTI_BYTES           ? parse_bytes
                       : array_type_is_integer(spec->type) ? parse_integer
                                                           : parse_floating)(spec, word, out);
    return wrong ? cli_error("'%.60s' is not a valid %s", word, tutti_type_name(spec->type)) : 0;
}

long double array_element_value(tutti_type type, const void *element, int imaginary) {
    if (is_unsigned(type)) return imaginary ? 0 : get_unsigned(tutti_type_size(type), element);
    if (array_type_is_integer(type))
        return imaginary ? 0 : get_signed(tutti_type_size(type), element);
    return imaginary && !array_type_is_complex(type) ? 0 : get_part(type, element, imaginary);
}
