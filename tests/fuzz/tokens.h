/* A mutator for text inputs: replaces words and numbers; repeats, moves and removes statements, and
 * inserts statements from the list of the target.  libFuzzer itself performs one of eight mutations.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FUZZ_TOKENS_H
#define TUTTI_TESTS_FUZZ_TOKENS_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed);

/* Statements of the target that may be inserted, terminated by NULL. */
extern const char *const fuzz_statements[];

static uint64_t token_state;
static size_t token_random(size_t below) {
    token_state = token_state * 6364136223846793005u + 1442695040888963407u;
    return below ? (size_t)(token_state >> 33) % below : 0;
}

static int is_word(uint8_t c) {
    return isalnum(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '$';
}
static int is_end(uint8_t c) {
    return c == '\n' || c == ';';
}

/* Find the word (or statement with its end) at a random position; set *from to its start, return its
 * length. */
static size_t token_find(const uint8_t *data, size_t n, int statement, size_t *from) {
    size_t lo = token_random(n), hi;
    for (size_t i = 0; i < n && !statement && !is_word(data[lo]); i++) lo = (lo + 1) % n;
    hi = lo;
    while (lo > 0 && (statement ? !is_end(data[lo - 1]) : is_word(data[lo - 1]))) lo--;
    while (hi < n && (statement ? !is_end(data[hi]) : is_word(data[hi]))) hi++;
    if (statement && hi < n) hi++;
    *from = lo;
    return hi - lo;
}

/* Replace `length` bytes at `at` by `bytes` bytes at `text`. */
static size_t token_replace(uint8_t *data, size_t n, size_t most, size_t at, size_t length,
                            const void *text, size_t bytes) {
    if (n - length + bytes > most) return n;
    memmove(data + at + bytes, data + at + length, n - at - length);
    memcpy(data + at, text, bytes);
    return n - length + bytes;
}

static size_t token_number(uint8_t *data, size_t n, size_t most) {
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "3",
                                          "7",
                                          "255",
                                          "256",
                                          "65535",
                                          "65537",
                                          "1048576",
                                          "2147483647",
                                          "2147483648",
                                          "4294967295",
                                          "4294967297",
                                          "2305843009213693953",
                                          "4611686018427387904",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "1e308",
                                          "nan"};
    char text[32];
    size_t at = 0, length = 0;
    for (int i = 0; i < 16; i++) {
        length = token_find(data, n, 0, &at);
        if (length > 0 && length < 30 && (isdigit(data[at]) || data[at] == '-')) break;
    }
    if (length == 0 || length > 30) return n;
    const char *with = numbers[token_random(sizeof numbers / sizeof *numbers)];
    if (token_random(3) == 0) {
        memcpy(text, data + at, length);
        text[length] = 0;
        const long long old = strtoll(text, NULL, 10);
        const unsigned long long changed = (unsigned long long)old + token_random(5) - 2;
        snprintf(text, sizeof text, "%lld", (long long)changed);
        with = text;
    }
    return token_replace(data, n, most, at, length, with, strlen(with));
}

static size_t token_mutate(uint8_t *data, size_t n, size_t most) {
    static uint8_t copy[1 << 14];
    size_t a = 0, b = 0, k = 0;
    while (fuzz_statements[k]) k++;
    switch (token_random(8)) {
    case 0:
    case 1:
    case 2:
        return token_number(data, n, most);
    case 3: { /* replace a word by another word of the input */
        const size_t length = token_find(data, n, 0, &a), other = token_find(data, n, 0, &b);
        if (other == 0 || other > sizeof copy) return n;
        memcpy(copy, data + b, other);
        return token_replace(data, n, most, a, length, copy, other);
    }
    case 4: { /* remove a statement */
        const size_t length = token_find(data, n, 1, &a);
        return token_replace(data, n, most, a, length, "", 0);
    }
    case 5: { /* repeat a statement elsewhere */
        const size_t length = token_find(data, n, 1, &a);
        if (length > sizeof copy) return n;
        memcpy(copy, data + a, length);
        (void)token_find(data, n, 1, &b);
        return token_replace(data, n, most, b, 0, copy, length);
    }
    default: { /* insert a statement of the target */
        if (k == 0) return n;
        const char *text = fuzz_statements[token_random(k)];
        (void)token_find(data, n, 1, &a);
        n = token_replace(data, n, most, a, 0, "\n", 1);
        return token_replace(data, n, most, a, 0, text, strlen(text));
    }
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t most, unsigned seed) {
    token_state = seed * 0x9e3779b97f4a7c15u + 1;
    if (n == 0 || token_random(8) == 0) return LLVMFuzzerMutate(data, n, most);
    for (size_t times = 1 + token_random(3); times > 0 && n > 0; times--)
        n = token_mutate(data, n, most);
    return n > 0 ? n : LLVMFuzzerMutate(data, n, most);
}

#endif
