/* The test harness: silent = pass, exit 0 pass, 1 fail, 77 skip.  A failed check prints location and
 * reason, and the program continues; check_done() ends it.  Random numbers come from a printed seed
 * (set TUTTI_TEST_SEED to repeat a run).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_CHECK_H
#define TUTTI_TESTS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/error.h>

static int check_failures_;
static const char *check_where_ = "";
static uint64_t check_seed_, check_state_;

/* Set the text printed with failed checks, e.g. the rank or the combination under test. */
static inline void check_where(const char *text) {
    check_where_ = text;
}

#define CHECK(cond, ...)                                                                          \
    do {                                                                                          \
        if (!(cond)) {                                                                            \
            if (++check_failures_ <= 20) {                                                        \
                fprintf(stderr, "%s:%d: %s: CHECK(%s)", __FILE__, __LINE__, check_where_, #cond); \
                fprintf(stderr, " " __VA_ARGS__);                                                 \
                fprintf(stderr, " [seed %llu]\n", (unsigned long long)check_seed_);               \
            }                                                                                     \
        }                                                                                         \
    } while (0)

#define CHECK_ERR(call, code)                                                           \
    do {                                                                                \
        const tutti_err check_e_ = (call);                                              \
        CHECK(check_e_ == (code), "%s gave %s (%s)", #call, tutti_error_name(check_e_), \
              tutti_last_message());                                                    \
    } while (0)
#define CHECK_OK(call) CHECK_ERR(call, TUTTI_OK)

#define CHECK_EQ(a, b)                                                        \
    do {                                                                      \
        const long long check_a_ = (long long)(a), check_b_ = (long long)(b); \
        CHECK(check_a_ == check_b_, "%lld != %lld", check_a_, check_b_);      \
    } while (0)

/* Set the seed of rnd64() and rnd(): TUTTI_TEST_SEED, or `def` if it is not set.  rnd(n) is uniform in [0, n). */
static inline void check_seed(uint64_t def) {
    const char *s = getenv("TUTTI_TEST_SEED");
    check_seed_ = s ? strtoull(s, NULL, 10) : def;
    check_state_ = check_seed_ * 2654435769u + 88172645463325252u;
}
static inline uint64_t rnd64(void) {
    uint64_t z = (check_state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static inline int64_t rnd(int64_t n) {
    return n > 0 ? (int64_t)(rnd64() % (uint64_t)n) : 0;
}

/* Return the directory for files of a test; never the current directory, because interrupted runs leave files. */
static inline const char *check_dir(void) {
    const char *const given[] = {getenv("TUTTI_TEST_DIR"), getenv("TMPDIR")};
    for (int i = 0; i < 2; i++)
        if (given[i] && *given[i]) return given[i];
    return "/tmp";
}

static inline int check_done(void) {
    if (check_failures_)
        fprintf(stderr, "%d checks failed, seed %llu\n", check_failures_,
                (unsigned long long)check_seed_);
    return check_failures_ ? 1 : 0;
}

#endif
