/* access: type conversion.  There is one loop per pair of types, over native values; bytes are
 * swapped before or after the loop, block by block, so that the intermediate values stay in the
 * first-level cache.  For equal types, bytes are swapped directly from source to destination, with
 * AVX2 if the processor supports it; float64 to float32 and int32 to int64 also use AVX2.  float16
 * is converted from the file via float32, which is exact, and to the file via float64, because with
 * a shorter type values would be rounded twice.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = 512 }; /* values per block: at most 4 KiB each before and after conversion */

static const int size_of[TUTTI__NUMBERS] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 8, 16};
static const char *const names[TUTTI__NUMBERS] = {
    "int8",   "uint8",   "int16",   "uint16",  "int32",     "uint32",    "int64",
    "uint64", "float32", "float64", "float16", "complex64", "complex128"};

/* The tutti__number of each tutti_type; -1: not numeric. */
static const int number_of[] = {
    [TUTTI_BYTES] = -1,
    [TUTTI_INT8] = TUTTI__I8,
    [TUTTI_INT16] = TUTTI__I16,
    [TUTTI_INT32] = TUTTI__I32,
    [TUTTI_INT64] = TUTTI__I64,
    [TUTTI_UINT8] = TUTTI__U8,
    [TUTTI_UINT16] = TUTTI__U16,
    [TUTTI_UINT32] = TUTTI__U32,
    [TUTTI_UINT64] = TUTTI__U64,
    [TUTTI_FLOAT32] = TUTTI__F32,
    [TUTTI_FLOAT64] = TUTTI__F64,
    [TUTTI_COMPLEX64] = TUTTI__C32,
    [TUTTI_COMPLEX128] = TUTTI__C64,
    [TUTTI_FLOAT16] = TUTTI__F16,
};

static int number_type(tutti_type type) {
    return (unsigned)type < sizeof number_of / sizeof number_of[0] ? number_of[type] : -1;
}

/* ---- swapping bytes; `to` may be `from` */

static uint64_t swap_bytes(uint64_t v, int size) {
    const uint64_t low = 0x00ff00ff00ff00ffu;
    if (size == 2) return (v >> 8 & low) | (v & low) << 8;
    v = __builtin_bswap64(v);
    return size == 4 ? v >> 32 | v << 32 : v;
}

static void swap_words_scalar(char *to, const char *from, size_t bytes, int size) {
    uint64_t v = 0;
    for (; bytes >= sizeof v; bytes -= sizeof v, to += sizeof v, from += sizeof v) {
        memcpy(&v, from, sizeof v);
        v = swap_bytes(v, size);
        memcpy(to, &v, sizeof v);
    }
    for (; bytes > 0; bytes -= (size_t)size, to += size, from += size) {
        char one[8] = {0};
        for (int i = 0; i < size; i++) one[i] = from[size - 1 - i];
        memcpy(to, one, (size_t)size);
    }
}

#if defined(__x86_64__)
/* Swap the bytes of words of `size` bytes in complete groups of 128 bytes; returns the number of
 * bytes done. */
__attribute__((target("avx2"))) static size_t swap_words_avx2(char *to, const char *from,
                                                              size_t bytes, int size) {
    char order[32];
    const size_t whole = bytes & ~(size_t)127;
    for (int i = 0; i < 32; i++) order[i] = (char)((i & 15 & -size) + size - 1 - (i & (size - 1)));
    const __m256i mask = _mm256_loadu_si256((const __m256i *)order);
    for (size_t i = 0; i < whole; i += 128) {
        const __m256i *in = (const __m256i *)(from + i);
        __m256i *out = (__m256i *)(to + i);
        const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
        const __m256i c = _mm256_loadu_si256(in + 2), d = _mm256_loadu_si256(in + 3);
        _mm256_storeu_si256(out, _mm256_shuffle_epi8(a, mask));
        _mm256_storeu_si256(out + 1, _mm256_shuffle_epi8(b, mask));
        _mm256_storeu_si256(out + 2, _mm256_shuffle_epi8(c, mask));
        _mm256_storeu_si256(out + 3, _mm256_shuffle_epi8(d, mask));
    }
    return whole;
}
#endif

static void swap_words(char *to, const char *from, size_t bytes, int size) {
    size_t done = 0;
#if defined(__x86_64__)
    if (bytes >= 128 && __builtin_cpu_supports("avx2"))
        done = swap_words_avx2(to, from, bytes, size);
#endif
    swap_words_scalar(to + done, from + done, bytes - done, size);
}

/* ---- float16 */

static float half_value(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, rest = h & 0x3ff;
    uint32_t bits = sign;
    float v;
    if (exponent == 0) {
        v = (float)rest * 0x1p-24f;
        return sign ? -v : v;
    }
    bits |= exponent == 31 ? 0x7f800000u : (exponent + 112) << 23;
    bits |= rest << 13;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Convert to float16, rounding to nearest, ties to even; values that are too large become
 * infinities. */
static uint16_t half_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t rest = bits & (((uint64_t)1 << 52) - 1), kept;
    int cut = 42; /* number of low bits of `rest` that do not fit into a float16 */
    if (exponent == 1024 && rest) return (uint16_t)(sign | 0x7e00 | rest >> 42);
    if (exponent >= 16) return sign | 0x7c00;
    if (exponent < -25) return sign;
    if (exponent >= -14) {
        kept = (uint64_t)(exponent + 15) << 10 | rest >> 42;
    } else {
        rest |= (uint64_t)1 << 52;
        cut += -14 - exponent;
        kept = rest >> cut;
    }
    const uint64_t lost = rest & (((uint64_t)1 << cut) - 1), middle = (uint64_t)1 << (cut - 1);
    kept += lost > middle || (lost == middle && (kept & 1)); /* may carry into the exponent */
    return (uint16_t)(sign | kept);
}

/* ---- range checks and conversions, with suffix s from signed, u from unsigned, f from
 * floating-point values.  `below` and `above` are the float64 values nearest to the range that do
 * not fit. */

#define INTEGER(name, type, least, most, below, above)                             \
    static inline int name##_fits_s(int64_t v) {                                   \
        return v < 0 ? v >= (int64_t)(least) : !((uint64_t)v & ~(uint64_t)(most)); \
    }                                                                              \
    static inline type name##_of_s(int64_t v) {                                    \
        return name##_fits_s(v) ? (type)v : v < 0 ? (type)(least) : (type)(most);  \
    }                                                                              \
    static inline int name##_fits_u(uint64_t v) {                                  \
        return !(v & ~(uint64_t)(most));                                           \
    }                                                                              \
    static inline type name##_of_u(uint64_t v) {                                   \
        return name##_fits_u(v) ? (type)v : (type)(most);                          \
    }                                                                              \
    static inline int name##_fits_f(double v) {                                    \
        return v > (below) && v < (above);                                         \
    }                                                                              \
    static inline type name##_of_f(double v) {                                     \
        if (name##_fits_f(v)) return (type)v;                                      \
        return v < 0 ? (type)(least) : v > 0 ? (type)(most) : (type)0;             \
    }

INTEGER(i8, int8_t, INT8_MIN, INT8_MAX, -129.0, 128.0)
INTEGER(u8, uint8_t, 0, UINT8_MAX, -1.0, 256.0)
INTEGER(i16, int16_t, INT16_MIN, INT16_MAX, -32769.0, 32768.0)
INTEGER(u16, uint16_t, 0, UINT16_MAX, -1.0, 65536.0)
INTEGER(i32, int32_t, INT32_MIN, INT32_MAX, -2147483649.0, 2147483648.0)
INTEGER(u32, uint32_t, 0, UINT32_MAX, -1.0, 4294967296.0)
INTEGER(i64, int64_t, INT64_MIN, INT64_MAX, -0x1.0000000000001p63, 0x1p63)
INTEGER(u64, uint64_t, 0, UINT64_MAX, -1.0, 0x1p64)

#define FLOATING(name, type)                      \
    static inline int name##_fits_s(int64_t v) {  \
        (void)v;                                  \
        return 1;                                 \
    }                                             \
    static inline type name##_of_s(int64_t v) {   \
        return (type)v;                           \
    }                                             \
    static inline int name##_fits_u(uint64_t v) { \
        (void)v;                                  \
        return 1;                                 \
    }                                             \
    static inline type name##_of_u(uint64_t v) {  \
        return (type)v;                           \
    }                                             \
    static inline int name##_fits_f(double v) {   \
        return !isinf((type)v) || isinf(v);       \
    }                                             \
    static inline type name##_of_f(double v) {    \
        return (type)v;                           \
    }

FLOATING(f32, float)
FLOATING(f64, double)

/* ---- a loop for each pair of types; returns the index of the first value that does not fit, or
 * n */

typedef tutti_count kernel(char *to, const char *from, tutti_count n);

#define PAIR(from_name, from_type, kind, to_name, to_type)                                   \
    static tutti_count from_name##_to_##to_name(char *to, const char *from, tutti_count n) { \
        from_type v;                                                                         \
        int fits = 1;                                                                        \
        for (tutti_count i = 0; i < n; i++) {                                                \
            memcpy(&v, from + i * (tutti_count)sizeof v, sizeof v);                          \
            const to_type w = to_name##_of_##kind(v);                                        \
            fits &= to_name##_fits_##kind(v);                                                \
            memcpy(to + i * (tutti_count)sizeof w, &w, sizeof w);                            \
        }                                                                                    \
        if (fits) return n;                                                                  \
        for (tutti_count i = 0;; i++) {                                                      \
            memcpy(&v, from + i * (tutti_count)sizeof v, sizeof v);                          \
            if (!to_name##_fits_##kind(v)) return i;                                         \
        }                                                                                    \
    }

#define ROW(to_name, to_type)                \
    PAIR(i8, int8_t, s, to_name, to_type)    \
    PAIR(u8, uint8_t, u, to_name, to_type)   \
    PAIR(i16, int16_t, s, to_name, to_type)  \
    PAIR(u16, uint16_t, u, to_name, to_type) \
    PAIR(i32, int32_t, s, to_name, to_type)  \
    PAIR(u32, uint32_t, u, to_name, to_type) \
    PAIR(i64, int64_t, s, to_name, to_type)  \
    PAIR(u64, uint64_t, u, to_name, to_type) \
    PAIR(f32, float, f, to_name, to_type)    \
    PAIR(f64, double, f, to_name, to_type)

ROW(i8, int8_t)
ROW(u8, uint8_t)
ROW(i16, int16_t)
ROW(u16, uint16_t)
ROW(i32, int32_t)
ROW(u32, uint32_t)
ROW(i64, int64_t)
ROW(u64, uint64_t)
ROW(f32, float)
ROW(f64, double)

#define KERNELS(to)                                                                              \
    {                                                                                            \
        i8_to_##to, u8_to_##to, i16_to_##to, u16_to_##to, i32_to_##to, u32_to_##to, i64_to_##to, \
            u64_to_##to, f32_to_##to, f64_to_##to                                                \
    }
enum { KERNEL_TYPES = TUTTI__F64 + 1 };
static kernel *const kernels[KERNEL_TYPES][KERNEL_TYPES] = {
    KERNELS(i8),  KERNELS(u8),  KERNELS(i16), KERNELS(u16), KERNELS(i32),
    KERNELS(u32), KERNELS(i64), KERNELS(u64), KERNELS(f32), KERNELS(f64)};

#if defined(__x86_64__)
/* Convert float64 to float32, the most common pair, eight values at a time.  Finite values >=
 * `least` become infinities. */
__attribute__((target("avx2"))) static tutti_count narrow_wide(char *to, const char *from,
                                                               tutti_count n) {
    const __m256d sign = _mm256_set1_pd(-0.0), least = _mm256_set1_pd(0x1.ffffffp127);
    const __m256d infinity = _mm256_set1_pd(INFINITY);
    __m256d misfit = _mm256_setzero_pd();
    tutti_count i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256d a = _mm256_loadu_pd((const double *)(from + 8 * i));
        const __m256d b = _mm256_loadu_pd((const double *)(from + 8 * i + 32));
        const __m256d x = _mm256_andnot_pd(sign, a), y = _mm256_andnot_pd(sign, b);
        _mm_storeu_ps((float *)(to + 4 * i), _mm256_cvtpd_ps(a));
        _mm_storeu_ps((float *)(to + 4 * i + 16), _mm256_cvtpd_ps(b));
        misfit = _mm256_or_pd(misfit, _mm256_and_pd(_mm256_cmp_pd(x, least, _CMP_GE_OQ),
                                                    _mm256_cmp_pd(x, infinity, _CMP_LT_OQ)));
        misfit = _mm256_or_pd(misfit, _mm256_and_pd(_mm256_cmp_pd(y, least, _CMP_GE_OQ),
                                                    _mm256_cmp_pd(y, infinity, _CMP_LT_OQ)));
    }
    /* repeat all, to find the first value that does not fit */
    if (_mm256_movemask_pd(misfit)) i = 0;
    return i + f64_to_f32(to + i * 4, from + i * 8, n - i);
}

/* Convert int32 to int64, eight values at a time; this pair is used when node lists of meshes are
 * read. */
__attribute__((target("avx2"))) static tutti_count extend_wide(char *to, const char *from,
                                                               tutti_count n) {
    tutti_count i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i *in = (const __m128i *)(from + 4 * i);
        __m256i *out = (__m256i *)(to + 8 * i);
        _mm256_storeu_si256(out, _mm256_cvtepi32_epi64(_mm_loadu_si128(in)));
        _mm256_storeu_si256(out + 1, _mm256_cvtepi32_epi64(_mm_loadu_si128(in + 1)));
    }
    return i + i32_to_i64(to + i * 8, from + i * 4, n - i);
}
#endif

static tutti_count from_half(char *to, const char *from, tutti_count n, tutti__number type) {
    float v[BLOCK];
    for (tutti_count i = 0; i < n; i++) {
        uint16_t h;
        memcpy(&h, from + i * (tutti_count)sizeof h, sizeof h);
        v[i] = half_value(h);
    }
    return kernels[type][TUTTI__F32](to, (const char *)v, n);
}

static tutti_count convert_block(tutti__number to_type, char *to, tutti__number from_type,
                                 const char *from, tutti_count n) {
    /* conversions to and from float16 require n <= BLOCK */
    if (to_type == TUTTI__F16) {
        double v[BLOCK];
        tutti_count bad = n;
        (void)kernels[TUTTI__F64][from_type]((char *)v, from, n);
        for (tutti_count i = 0; i < n; i++) {
            const uint16_t h = half_of(v[i]);
            if ((h & 0x7fff) == 0x7c00 && !isinf(v[i]) && bad == n) bad = i;
            memcpy(to + i * (tutti_count)sizeof h, &h, sizeof h);
        }
        return bad;
    }
    if (from_type == TUTTI__F16) return from_half(to, from, n, to_type);
#if defined(__x86_64__)
    if (to_type == TUTTI__F32 && from_type == TUTTI__F64 && __builtin_cpu_supports("avx2"))
        return narrow_wide(to, from, n);
    if (to_type == TUTTI__I64 && from_type == TUTTI__I32 && __builtin_cpu_supports("avx2"))
        return extend_wide(to, from, n);
#endif
    return kernels[to_type][from_type](to, from, n);
}

/* ---- elements */

static tutti__number half_type(tutti__number type) {
    return type == TUTTI__C32 ? TUTTI__F32 : type == TUTTI__C64 ? TUTTI__F64 : type;
}

static int is_complex(tutti__number type) {
    return type == TUTTI__C32 || type == TUTTI__C64;
}

tutti_err tutti__conversion_make(const tutti_conversion *in, tutti__conversion *out) {
    const int little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const int file = number_type(in->file_type), memory = number_type(in->memory_type);
    TUTTI_CHECK(file >= 0, TUTTI_ERR_ARG, "file_type is %d: must be a numeric type",
                (int)in->file_type);
    TUTTI_CHECK(memory >= 0, TUTTI_ERR_ARG, "memory_type is %d: must be a numeric type",
                (int)in->memory_type);
    TUTTI_CHECK((unsigned)in->file_order <= TUTTI_BIG_ENDIAN, TUTTI_ERR_ARG,
                "unknown byte order %d", (int)in->file_order);
    tutti__conversion c = {.file = (tutti__number)file, .memory = (tutti__number)memory};
    TUTTI_CHECK(is_complex(c.file) == is_complex(c.memory), TUTTI_ERR_ARG,
                "cannot convert %s (memory) to %s (file)", names[memory], names[file]);
    c.ieee = in->ieee != 0;
    c.file_size = size_of[file];
    c.memory_size = size_of[memory];
    const int common = (int)tutti__min(c.file_size, c.memory_size); /* sizes are powers of two */
    c.scale = (tutti__scale){c.file_size / common, c.memory_size / common};
    c.halves = is_complex(c.file) ? 2 : 1;
    const int bytes = c.file_size / c.halves;
    const int native =
        in->file_order == TUTTI_NATIVE_ENDIAN || (in->file_order == TUTTI_LITTLE_ENDIAN) == little;
    c.swap = native || bytes == 1 ? 1 : bytes;
    c.identity = file == memory && c.swap == 1;
    *out = c;
    return TUTTI_OK;
}

/* Return whether a value that is too large for type `to` is allowed to become an infinity. */
static int is_infinity_allowed(const tutti__conversion *c, tutti__number to) {
    return c->ieee && (to == TUTTI__F16 || to == TUTTI__F32 || to == TUTTI__F64);
}

/* Convert n values from memory to the file format; returns the index of the first that does not
 * fit, or n. */
static tutti_count numbers_out(const tutti__conversion *c, char *file, const char *memory,
                               tutti_count n) {
    const tutti__number to = half_type(c->file), from = half_type(c->memory);
    const int to_size = size_of[to], from_size = size_of[from];
    tutti_count bad = n;
    for (tutti_count i = 0; i < n; i += BLOCK) {
        const tutti_count some = tutti__min(BLOCK, n - i);
        char *at = file + i * to_size;
        const tutti_count fit = convert_block(to, at, from, memory + i * from_size, some);
        if (fit < some && bad == n && !is_infinity_allowed(c, to)) bad = i + fit;
        if (c->swap > 1) swap_words(at, at, (size_t)(some * to_size), c->swap);
    }
    return bad;
}

static tutti_count numbers_in(const tutti__conversion *c, char *memory, const char *file,
                              tutti_count n) {
    const tutti__number to = half_type(c->memory), from = half_type(c->file);
    const int to_size = size_of[to], from_size = size_of[from];
    char block[BLOCK * 8];
    tutti_count bad = n;
    for (tutti_count i = 0; i < n; i += BLOCK) {
        const tutti_count some = tutti__min(BLOCK, n - i);
        const char *at = file + i * from_size;
        if (c->swap > 1) {
            swap_words(block, at, (size_t)(some * from_size), c->swap);
            at = block;
        }
        const tutti_count fit = convert_block(to, memory + i * to_size, from, at, some);
        if (fit < some && bad == n && !is_infinity_allowed(c, to)) bad = i + fit;
    }
    return bad;
}

/* Convert n elements between equal types: copy, or swap bytes. */
static void copy_same_type(const tutti__conversion *c, char *to, const char *from, tutti_count n) {
    const size_t bytes = (size_t)n * (size_t)c->file_size;
    if (c->identity)
        memcpy(to, from, bytes);
    else
        swap_words(to, from, bytes, c->swap);
}

/* Convert n elements to the file format; returns the index of the first that does not fit, or n. */
static tutti_count elements_out(const tutti__conversion *c, char *file, const char *memory,
                                tutti_count n) {
    if (c->file != c->memory) return numbers_out(c, file, memory, n * c->halves) / c->halves;
    copy_same_type(c, file, memory, n);
    return n;
}

static tutti_count elements_in(const tutti__conversion *c, char *memory, const char *file,
                               tutti_count n) {
    if (c->file != c->memory) return numbers_in(c, memory, file, n * c->halves) / c->halves;
    copy_same_type(c, memory, file, n);
    return n;
}

/* ---- values that do not fit */

/* The first element whose value does not fit (-1: none so far), and its value before conversion. */
typedef struct {
    tutti_count element;
    unsigned char value[16];
} misfit;

/* Record that element first + fit does not fit; `fit` is the result of converting n elements,
 * starting with element `first`, that were read from `source`.  No effect if fit == n. */
static void record_misfit(misfit *m, tutti_count first, tutti_count n, tutti_count fit,
                          const void *source, int size) {
    if (fit == n || m->element >= 0) return;
    m->element = first + fit;
    memcpy(m->value, (const char *)source + fit * size, (size_t)size);
}

static void number_text(tutti__number type, const unsigned char *at, char *text, size_t size) {
    const int is_signed =
        type == TUTTI__I8 || type == TUTTI__I16 || type == TUTTI__I32 || type == TUTTI__I64;
    double real[1] = {0};
    int64_t integer[1] = {0};
    uint64_t positive[1] = {0};
    if (type >= TUTTI__F32) {
        (void)convert_block(TUTTI__F64, (char *)real, type, (const char *)at, 1);
        snprintf(text, size, "%.17g", real[0]);
    } else if (is_signed) {
        (void)convert_block(TUTTI__I64, (char *)integer, type, (const char *)at, 1);
        snprintf(text, size, "%lld", (long long)integer[0]);
    } else {
        (void)convert_block(TUTTI__U64, (char *)positive, type, (const char *)at, 1);
        snprintf(text, size, "%llu", (unsigned long long)positive[0]);
    }
}

static tutti_err report_misfit(const tutti__conversion *c, misfit *m, int is_out,
                               tutti_count *first_bad_out) {
    const tutti__number from = half_type(is_out ? c->memory : c->file);
    const int size = size_of[from];
    char text[2][40] = {"", ""};
    if (m->element < 0) return TUTTI_OK;
    if (!is_out && c->swap > 1)
        swap_words((char *)m->value, (char *)m->value, (size_t)c->file_size, c->swap);
    for (int i = 0; i < c->halves; i++)
        number_text(from, m->value + i * size, text[i], sizeof text[i]);
    if (first_bad_out) *first_bad_out = m->element;
    TUTTI_FAIL(TUTTI_ERR_VALUE, "%s%s%s does not fit %s", text[0], text[1][0] ? " + i " : "",
               text[1], names[is_out ? c->file : c->memory]);
}

tutti_err tutti__convert_out(const tutti__conversion *c, void *file, const void *memory,
                             tutti_count n, tutti_count *first_bad_out) {
    misfit m = {.element = -1};
    record_misfit(&m, 0, n, elements_out(c, file, memory, n), memory, c->memory_size);
    return report_misfit(c, &m, 1, first_bad_out);
}

tutti_err tutti__convert_in(const tutti__conversion *c, void *memory, const void *file,
                            tutti_count n, tutti_count *first_bad_out) {
    misfit m = {.element = -1};
    record_misfit(&m, 0, n, elements_in(c, memory, file, n), file, c->file_size);
    return report_misfit(c, &m, 0, first_bad_out);
}

/* ---- pieces of an image: [end of an element | complete elements | start of an element] */

typedef struct {
    tutti_count first; /* index of the element of byte lo */
    /* bytes of the divided elements; a piece within one element is only head */
    tutti_off head, tail;
    tutti_off inside;  /* offset of the head in its element */
    tutti_count whole; /* number of complete elements */
} division;

static division divide_image(const tutti__conversion *c, const tutti__image *p) {
    const tutti_off size = c->file_size, bytes = p->hi - p->lo;
    division d = {.first = p->lo / size, .inside = p->lo % size};
    if (d.inside > 0 || bytes < size) d.head = tutti__min(bytes, size - d.inside);
    d.whole = (bytes - d.head) / size;
    d.tail = bytes - d.head - d.whole * size;
    return d;
}

tutti_err tutti__image_out(const tutti__conversion *c, const tutti__image *p,
                           tutti_count *first_bad_out) {
    const division d = divide_image(c, p);
    char *file = p->file, one[16];
    const char *memory = p->memory;
    tutti_count element = d.first;
    misfit m = {.element = -1};
    if (d.head > 0) {
        record_misfit(&m, element++, 1, elements_out(c, one, memory, 1), memory, c->memory_size);
        memcpy(file, one + d.inside, (size_t)d.head);
        file += d.head;
        memory += c->memory_size;
    }
    record_misfit(&m, element, d.whole, elements_out(c, file, memory, d.whole), memory,
                  c->memory_size);
    if (d.tail > 0) {
        memory += d.whole * c->memory_size;
        record_misfit(&m, element + d.whole, 1, elements_out(c, one, memory, 1), memory,
                      c->memory_size);
        memcpy(file + d.whole * c->file_size, one, (size_t)d.tail);
    }
    return report_misfit(c, &m, 1, first_bad_out);
}

void tutti__cuts_free(tutti__cuts *cuts) {
    tutti__free(cuts->v);
    *cuts = (tutti__cuts){NULL, 0, 0};
}

static tutti_err cut_find(tutti__cuts *cuts, tutti_count element, tutti__cut_element **out) {
    for (size_t i = 0; i < cuts->n; i++)
        if (cuts->v[i].element == element) {
            *out = &cuts->v[i];
            return TUTTI_OK;
        }
    TUTTI_TRY(tutti__grow(&cuts->v, cuts->n + 1, &cuts->capacity, sizeof *cuts->v));
    *out = &cuts->v[cuts->n++];
    **out = (tutti__cut_element){.element = element};
    return TUTTI_OK;
}

/* Add received bytes of a divided element; when it is complete, it is converted. */
static tutti_err cut_add(const tutti__conversion *c, tutti__cuts *cuts, const tutti__image *part,
                         misfit *m) {
    const tutti_off inside = part->lo % c->file_size, bytes = part->hi - part->lo;
    tutti__cut_element *cut = NULL;
    TUTTI_TRY(cut_find(cuts, part->lo / c->file_size, &cut));
    memcpy(cut->bytes + inside, part->file, (size_t)bytes);
    cut->have |= ((1u << bytes) - 1) << inside;
    if (cut->have != (1u << c->file_size) - 1) return TUTTI_OK;
    record_misfit(m, cut->element, 1, elements_in(c, part->memory, (const char *)cut->bytes, 1),
                  cut->bytes, c->file_size);
    *cut = cuts->v[--cuts->n];
    return TUTTI_OK;
}

tutti_err tutti__image_in(const tutti__conversion *c, const tutti__image *p, tutti__cuts *cuts,
                          tutti_count *first_bad_out) {
    const division d = divide_image(c, p);
    char *file = p->file, *memory = p->memory;
    tutti_count element = d.first;
    misfit m = {.element = -1};
    tutti_off at = p->lo;
    if (d.head > 0) {
        const tutti__image part = {at, at + d.head, file, memory};
        TUTTI_TRY(cut_add(c, cuts, &part, &m));
        element++;
        at += d.head;
        file += d.head;
        memory += c->memory_size;
    }
    record_misfit(&m, element, d.whole, elements_in(c, memory, file, d.whole), file, c->file_size);
    if (d.tail > 0) {
        at += d.whole * c->file_size;
        const tutti__image part = {at, at + d.tail, file + d.whole * c->file_size,
                                   memory + d.whole * c->memory_size};
        TUTTI_TRY(cut_add(c, cuts, &part, &m));
    }
    return report_misfit(c, &m, 0, first_bad_out);
}
