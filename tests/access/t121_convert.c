/* TEST ranks=0 timeout=120 */
/* Conversions of numbers compared with a slow reference: all values of small types, boundaries and
 * random values of large types, both byte orders, any alignment, buffers split at any position.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "access/convert.h"
#include "check.h"

/* ---- the reference: exact values of numbers of any type */

typedef struct {
    enum { INTEGER, REAL } kind;
    __int128 integer;
    double real;
} value;

static const struct {
    int bits, is_signed;
} integers[] = {{8, 1}, {8, 0}, {16, 1}, {16, 0}, {32, 1}, {32, 0}, {64, 1}, {64, 0}};

static const tutti_type type_of[TUTTI__NUMBERS] = {
    TUTTI_INT8,    TUTTI_UINT8,     TUTTI_INT16,     TUTTI_UINT16,  TUTTI_INT32,
    TUTTI_UINT32,  TUTTI_INT64,     TUTTI_UINT64,    TUTTI_FLOAT32, TUTTI_FLOAT64,
    TUTTI_FLOAT16, TUTTI_COMPLEX64, TUTTI_COMPLEX128};

static int is_integer(tutti__number t) {
    return t <= TUTTI__U64;
}
static int is_floating(tutti__number t) {
    return t == TUTTI__F16 || t == TUTTI__F32 || t == TUTTI__F64;
}

static double half_to_double(unsigned h) {
    const int exponent = h >> 10 & 31, rest = h & 0x3ff;
    double v = exponent == 0 ? ldexp(rest, -24) : ldexp(1024 + rest, exponent - 25);
    if (exponent == 31) v = rest ? NAN : INFINITY;
    return h & 0x8000 ? -v : v;
}

/* Return the float16 nearest to v, found by bisection. */
static unsigned double_to_half(double v) {
    const unsigned sign = signbit(v) ? 0x8000 : 0;
    unsigned lo = 0, hi = 0x7c00; /* half(lo) <= |v| < half(hi), as if infinity were 65536 */
    v = fabs(v);
    if (isnan(v)) return sign | 0x7e00;
    if (v >= 65520) return sign | 0x7c00;
    while (hi - lo > 1) {
        const unsigned mid = (lo + hi) / 2;
        if (half_to_double(mid) <= v)
            lo = mid;
        else
            hi = mid;
    }
    const double below = v - half_to_double(lo);
    const double above = (hi == 0x7c00 ? 65536 : half_to_double(hi)) - v;
    return sign | (below < above || (below == above && lo % 2 == 0) ? lo : hi);
}

static value load_file(tutti__number t, const void *p) {
    value v = {INTEGER, 0, 0};
    uint64_t bits = 0;
    float f;
    memcpy(&bits, p, (size_t)(int)tutti_type_size(type_of[t]));
    if (is_integer(t)) {
        const int spare = 64 - integers[t].bits;
        v.integer = integers[t].is_signed ? (__int128)((int64_t)(bits << spare) >> spare) : bits;
        return v;
    }
    v.kind = REAL;
    if (t == TUTTI__F16) v.real = half_to_double((unsigned)bits);
    if (t == TUTTI__F32) {
        memcpy(&f, p, sizeof f);
        v.real = f;
    }
    if (t == TUTTI__F64) memcpy(&v.real, p, sizeof v.real);
    return v;
}

/* Store `v` as an integer of type `t`, clamped to its range; return whether the value fits. */
static int store_integer(tutti__number t, value v, void *p) {
    const __int128 one = 1;
    const __int128 least = integers[t].is_signed ? -(one << (integers[t].bits - 1)) : 0;
    const __int128 most = (one << (integers[t].bits - integers[t].is_signed)) - 1;
    __int128 n = v.integer;
    int fits = 1;
    if (v.kind == REAL) {
        fits = !isnan(v.real);
        n = isnan(v.real)    ? 0
            : v.real > 1e30  ? most + 1
            : v.real < -1e30 ? least - 1
                             : (__int128)v.real;
    }
    if (n < least || n > most) fits = 0;
    n = n < least ? least : n > most ? most : n;
    const uint64_t bits = (uint64_t)n;
    memcpy(p, &bits, (size_t)(int)tutti_type_size(type_of[t]));
    return fits;
}

static int store_value(tutti__number t, value v, void *p) {
    if (is_integer(t)) return store_integer(t, v, p);
    /* an integer is converted directly, so that it is rounded only once */
    const double d = v.kind == INTEGER ? (double)v.integer : v.real;
    const float f = v.kind == INTEGER ? (float)v.integer : (float)v.real;
    const uint16_t h = (uint16_t)double_to_half(d);
    if (t == TUTTI__F64) memcpy(p, &d, sizeof d);
    if (t == TUTTI__F32) memcpy(p, &f, sizeof f);
    if (t == TUTTI__F16) memcpy(p, &h, sizeof h);
    if (isinf(d)) return 1;
    return t == TUTTI__F64 || (t == TUTTI__F32 ? !isinf(f) : (h & 0x7fff) != 0x7c00);
}

static int same(tutti__number t, const void *a, const void *b) {
    if (is_floating(t) && isnan(load_file(t, a).real)) return isnan(load_file(t, b).real);
    return memcmp(a, b, (size_t)(int)tutti_type_size(type_of[t])) == 0;
}

static void reverse_bytes(unsigned char *p, int size) {
    for (int i = 0; i < size / 2; i++) {
        const unsigned char c = p[i];
        p[i] = p[size - 1 - i];
        p[size - 1 - i] = c;
    }
}

/* ---- whole arrays */

static tutti__conversion conversion(tutti__number file, tutti_byte_order order,
                                    tutti__number memory, int ieee) {
    tutti__conversion c;
    const tutti_conversion in = {type_of[file], type_of[memory], order, ieee, {0, 0}};
    CHECK_OK(tutti__conversion_make(&in, &c));
    return c;
}

/* Convert n values `from`, at odd addresses, to `to`, which is the type in the file if `out`. */
static void array(tutti__number from, tutti__number to, const unsigned char *v, int64_t n,
                  int out) {
    const int fs = (int)tutti_type_size(type_of[from]), ts = (int)tutti_type_size(type_of[to]);
    for (int k = 0; k < 4; k++) {
        const tutti_byte_order order = k % 2 ? TUTTI_BIG_ENDIAN : TUTTI_LITTLE_ENDIAN;
        const int ieee = k / 2;
        const tutti__conversion c = conversion(out ? to : from, order, out ? from : to, ieee);
        const int skew = (int)rnd(9), skew_to = (int)rnd(9);
        unsigned char *in = malloc((size_t)(n * fs) + 9), *got = malloc((size_t)(n * ts) + 9);
        int64_t bad = -1, expect = -1;
        memcpy(in + skew, v, (size_t)(n * fs));
        for (int64_t i = 0; i < n && order == TUTTI_BIG_ENDIAN && !out; i++)
            reverse_bytes(in + skew + i * fs, fs);
        const tutti_err err = out ? tutti__convert_out(&c, got + skew_to, in + skew, n, &bad)
                                  : tutti__convert_in(&c, got + skew_to, in + skew, n, &bad);
        for (int64_t i = 0; i < n; i++) {
            unsigned char right[16], *converted = got + skew_to + i * ts;
            int fits = 1;
            if (from == to)
                memcpy(right, v + i * fs, (size_t)fs);
            else
                fits = store_value(to, load_file(from, v + i * fs), right);
            if (ieee && is_floating(to)) fits = 1;
            if (!fits && expect < 0) expect = i;
            if (order == TUTTI_BIG_ENDIAN && out) reverse_bytes(converted, ts);
            if (from == to ? memcmp(converted, right, (size_t)ts) == 0 : same(to, converted, right))
                continue;
            CHECK(0, "type %d to %d, order %d, out %d: number %lld", from, to, order, out,
                  (long long)i);
            break;
        }
        CHECK_EQ(bad, expect);
        CHECK_EQ(err, expect < 0 ? TUTTI_OK : TUTTI_ERR_VALUE);
        free(in);
        free(got);
    }
}

/* Return test values of a type: all if it has at most 16 bits, otherwise boundaries and random ones. */
static unsigned char *values(tutti__number t, int64_t *n_out) {
    const int size = (int)tutti_type_size(type_of[t]);
    const int64_t random = 3000, n = size <= 2 ? (int64_t)1 << 8 * size : random + 64 * 6 + 40;
    unsigned char *v = calloc((size_t)n, (size_t)size);
    int64_t k = 0;
    for (; size <= 2 && k < n; k++) memcpy(v + k * size, &k, (size_t)size);
    for (int bit = 0; bit < 64 && size > 2; bit++) /* values around powers of two */
        for (int d = -1; d <= 1; d++)
            for (int sign = -1; sign <= 1; sign += 2, k++) {
                const value x = {INTEGER, sign * (((__int128)1 << bit) + d), 0};
                (void)store_value(t, x, v + k * size);
            }
    const double special[] = {
        0.0,      -0.0,   NAN,     INFINITY, -INFINITY,    65504.0, 65519.99, 65520.0,
        -65520.0, 1e-8,   -5.9e-8, 2.98e-8,  2.99e-8,      1e300,   -1e300,   1e-320,
        0.999,    -0.999, 127.999, 128.0,    -128.999,     255.999, 256.0,    3.4028235677973366e38,
        3.5e38,   -1.0,   1.5,     2.5,      -0.5,         6.1e-5,  6.097e-5, 1023.75,
        2049.0,   2051.0, 32767.5, -32768.5, 4294967295.5, 9.3e18,  1.9e19,   -9.3e18};
    for (int i = 0; i < 40 && size > 2; i++, k++)
        (void)store_value(t, (value){REAL, 0, special[i]}, v + k * size);
    for (; k < n; k++) {
        uint64_t bits = rnd64() >> rnd(64);
        if (t == TUTTI__F64 && rnd(2)) { /* values near those of float16 */
            const double d = ldexp((double)rnd(1 << 13), (int)rnd(40) - 32);
            memcpy(&bits, &d, sizeof bits);
        }
        memcpy(v + k * size, &bits, (size_t)size);
    }
    *n_out = n;
    return v;
}

static void all_pairs(void) {
    for (int from = 0; from <= TUTTI__F16; from++) {
        int64_t n = 0;
        unsigned char *v = values((tutti__number)from, &n);
        for (int to = 0; to <= TUTTI__F16; to++) {
            array((tutti__number)from, (tutti__number)to, v, n, 0);
            array((tutti__number)from, (tutti__number)to, v, n, 1);
            array((tutti__number)from, (tutti__number)to,
                  v + 3 * (int)tutti_type_size(type_of[from]), rnd(40), rnd(2) != 0);
        }
        free(v);
    }
}

/* Convert boundary values at every position of an array, since groups of values are converted at once. */
static void test_edges(void) {
    const double edge[] = {
        0x1.fffffep127, 0x1.fffffefffffffp127, 0x1.ffffffp127, 0x1p128, INFINITY, NAN, 1e300,
        0x1p-150};
    for (int i = 0; i < 16; i++)
        for (int place = 0; place < 20; place++) {
            double v[20] = {0};
            v[place] = i % 2 ? -edge[i / 2] : edge[i / 2];
            array(TUTTI__F64, TUTTI__F32, (const unsigned char *)v, 20, place % 2);
        }
}

/* ---- images in pieces */

/* Convert an array to the file and back in pieces, in any order; compare with a conversion of the whole. */
static void pieces(tutti__number file, tutti__number memory, tutti_byte_order order) {
    enum { MOST = 80 };
    const tutti__conversion c = conversion(file, order, memory, 0);
    const int64_t n = 1 + rnd(MOST), bytes = n * c.file_size;
    unsigned char in[MOST * 16], whole[MOST * 16], image[MOST * 16], back[MOST * 16],
        once[MOST * 16];
    tutti_off cut[MOST * 16 + 2];
    int order_of[MOST * 16 + 2], count = 0;
    tutti__cuts cuts = {NULL, 0, 0};
    tutti_count bad[4] = {-1, -1, -1, -1}, first;
    for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(rnd(3) ? rnd(256) : 0);
    (void)!tutti__convert_out(&c, whole, in, n, &bad[0]);
    (void)!tutti__convert_in(&c, once, whole, n, &bad[1]);
    for (tutti_off at = 0; at < bytes; at += 1 + rnd(rnd(2) ? 5 : 60)) cut[count++] = at;
    cut[count] = bytes;
    for (int i = 0; i < count; i++) order_of[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int k = (int)rnd(i + 1), o = order_of[i];
        order_of[i] = order_of[k];
        order_of[k] = o;
    }
    for (int i = 0; i < count; i++) {
        const tutti_off lo = cut[order_of[i]], hi = cut[order_of[i] + 1];
        const tutti__image p = {lo, hi, image + lo, in + lo / c.file_size * c.memory_size};
        if (tutti__image_out(&c, &p, &first) != TUTTI_OK && (bad[2] < 0 || first < bad[2]))
            bad[2] = first;
    }
    CHECK(memcmp(image, whole, (size_t)bytes) == 0, "types %d, %d: out", file, memory);
    CHECK_EQ(bad[2], bad[0]);
    memset(back, 0x55, sizeof back);
    for (int i = 0; i < count; i++) {
        const tutti_off lo = cut[order_of[i]], hi = cut[order_of[i] + 1];
        const tutti__image p = {lo, hi, image + lo, back + lo / c.file_size * c.memory_size};
        if (tutti__image_in(&c, &p, &cuts, &first) != TUTTI_OK && (bad[3] < 0 || first < bad[3]))
            bad[3] = first;
    }
    CHECK(memcmp(back, once, (size_t)(n * c.memory_size)) == 0, "types %d, %d: in", file, memory);
    CHECK_EQ(bad[3], bad[1]);
    CHECK_EQ(cuts.n, 0);
    tutti__cuts_free(&cuts);
}

/* A complex value consists of two numbers and is counted as one element. */
static void complex_numbers(void) {
    const double v[] = {1, 2, 3, 1e300, 5, 6};
    unsigned char out[24], back[24];
    double d[6];
    float f[6];
    tutti_count bad = -1;
    tutti__conversion c = conversion(TUTTI__C32, TUTTI_BIG_ENDIAN, TUTTI__C64, 0);
    CHECK_EQ(c.file_size, 8);
    CHECK_ERR(tutti__convert_out(&c, out, v, 3, &bad), TUTTI_ERR_VALUE);
    CHECK_EQ(bad, 1);
    memcpy(back, out, sizeof out);
    for (int i = 0; i < 6; i++) reverse_bytes(back + 4 * i, 4);
    memcpy(f, back, sizeof f);
    for (int i = 0; i < 6; i++) CHECK(f[i] == (float)v[i], "%d", i);
    CHECK_OK(tutti__convert_in(&c, d, out, 3, &bad));
    CHECK(d[0] == 1 && d[5] == 6 && isinf(d[3]), " ");
    c = conversion(TUTTI__C64, TUTTI_LITTLE_ENDIAN, TUTTI__C64, 0);
    CHECK_EQ(c.identity, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    const tutti_conversion mixed = {.file_type = TUTTI_COMPLEX64, .memory_type = TUTTI_FLOAT32};
    const tutti_conversion none = {.file_type = TUTTI_FLOAT16 + 1, .memory_type = TUTTI_FLOAT32};
    const tutti_conversion order = {TUTTI_INT8, TUTTI_INT8, TUTTI_BIG_ENDIAN + 1, 0, {0, 0}};
    CHECK_ERR(tutti__conversion_make(&mixed, &c), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__conversion_make(&none, &c), TUTTI_ERR_ARG);
    CHECK_ERR(tutti__conversion_make(&order, &c), TUTTI_ERR_ARG);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20261117);
    all_pairs();
    test_edges();
    complex_numbers();
    for (int i = 0; i < 4000 && check_failures_ < 10; i++) {
        const int both = rnd(6) == 0;
        const tutti__number file =
            (tutti__number)(both ? TUTTI__C32 + rnd(2) : rnd(TUTTI__F16 + 1));
        const tutti__number memory =
            (tutti__number)(both ? TUTTI__C32 + rnd(2) : rnd(TUTTI__F16 + 1));
        pieces(file, memory, rnd(2) ? TUTTI_BIG_ENDIAN : TUTTI_LITTLE_ENDIAN);
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
