/* TEST ranks=0 timeout=60 */
/* The trace: its text is well-formed JSON in every locale, the buffer is bounded, threads may record
 * events at the same time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include "base/memory.h"
#include "base/trace.h"
#include "check.h"

/* A JSON parser without output: each function returns the rest of the text, or NULL. */
static const char *skip_value(const char *s);

static const char *skip_string(const char *s) {
    if (*s != '"') return NULL;
    for (++s; *s != '"'; ++s) {
        if ((unsigned char)*s < ' ') return NULL;
        if (*s == '\\' && !strchr("\"\\", *++s)) return NULL;
    }
    return s + 1;
}

static const char *skip_object(const char *s) {
    if (*++s == '}') return s + 1;
    for (;; ++s) {
        s = skip_string(s);
        if (!s || *s != ':') return NULL;
        s = skip_value(s + 1);
        if (!s || (*s != ',' && *s != '}')) return NULL;
        if (*s == '}') return s + 1;
    }
}

static const char *skip_value(const char *s) {
    if (*s == '{') return skip_object(s);
    if (*s == '"') return skip_string(s);
    if (!isdigit((unsigned char)*s)) return NULL;
    while (isdigit((unsigned char)*s)) ++s;
    if (*s == '.' && !isdigit((unsigned char)*++s)) return NULL;
    while (isdigit((unsigned char)*s)) ++s;
    return s;
}

/* Return the number of objects in "{...},\n{...}", or -1 if the text is malformed. */
static long count_objects(const char *s) {
    for (long n = 1;; ++n) {
        s = *s == '{' ? skip_value(s) : NULL;
        if (!s) return -1;
        if (*s == '\0') return n;
        if (*s++ != ',') return -1;
        while (*s == '\n') ++s;
    }
}

static void test_off(void) {
    CHECK_EQ(tutti__trace_on(), 0);
    tutti__trace_event("c", "n", tutti__now(), 1, 1);
    CHECK(tutti__trace_json() == NULL);
    tutti__trace_disable();
}

static void test_text(void) {
    CHECK_OK(tutti__trace_enable(3));
    CHECK_OK(tutti__trace_enable(4)); /* no effect: already enabled */
    CHECK_EQ(tutti__trace_on(), 1);
    char *text = tutti__trace_json();
    CHECK(text && count_objects(text) == 1);
    tutti__free(text);
    const double start = tutti__now();
    tutti__trace_event("store", "write", start, 4096, 7);
    tutti__trace_event("plan", "a \"quoted\" \\ name", start, -1, 2);
    tutti__trace_event("plan", "neither", start, -1, -1);
    tutti__trace_event("plan", "from the future", start + 1e6, 5, -1);
    text = tutti__trace_json();
    CHECK_EQ(text ? count_objects(text) : -1, 5);
    CHECK(strstr(text, "\"args\":{\"name\":\"rank 3, "), "%s", text);
    CHECK(strstr(text, "{\"name\":\"write\",\"cat\":\"store\",\"ph\":\"X\",\"ts\":"), "%s", text);
    CHECK(strstr(text, "\"pid\":3,\"tid\":0,\"args\":{\"bytes\":4096,\"cycle\":7}}"), "%s", text);
    CHECK(strstr(text, "\"args\":{\"cycle\":2}}"), "%s", text);
    CHECK(strstr(text, "\"args\":{}}"), "%s", text);
    CHECK(strstr(text, "\"dur\":0.000,\"pid\":3,\"tid\":0,\"args\":{\"bytes\":5}}"), "%s", text);
    tutti__free(text);
    tutti__trace_disable();
    CHECK_EQ(tutti__trace_on(), 0);
}

static void test_times(void) {
    double a = tutti__now(), ts = -1, dur = -1;
    CHECK_OK(tutti__trace_enable(0));
    while (tutti__now() < a + 0.002) {
    }
    tutti__trace_event("c", "n", a, -1, -1);
    const double b = tutti__now();
    char *text = tutti__trace_json();
    const char *at = text ? strstr(text, "\"ts\":") : NULL;
    CHECK(at && sscanf(at, "\"ts\":%lf,\"dur\":%lf", &ts, &dur) == 2);
    CHECK(ts > a * 1e6 - 1 && ts < a * 1e6 + 1, "%f %f", ts, a * 1e6);
    CHECK(dur >= 1999 && dur <= (b - a) * 1e6 + 1, "%f", dur);
    tutti__free(text);
    tutti__trace_disable();
}

static void test_bound(void) {
    const long bound = 1 << 16, extra = 1000;
    const long start = tutti__memory_live();
    char expected[64];
    CHECK_OK(tutti__trace_enable(0));
    for (long i = 0; i < bound + extra; ++i) tutti__trace_event("c", "n", tutti__now(), -1, i);
    CHECK_EQ(tutti__memory_live(), start + 1);
    char *text = tutti__trace_json();
    /* two more objects are the name of the row and the number of dropped events */
    CHECK_EQ(text ? count_objects(text) : -1, bound + 2);
    snprintf(expected, sizeof expected, "\"args\":{\"events\":%ld}}", extra);
    CHECK(text && strstr(text, expected));
    snprintf(expected, sizeof expected, "{\"cycle\":%ld}}", extra);
    CHECK(text && strstr(text, expected), "the oldest one kept is missing");
    snprintf(expected, sizeof expected, "{\"cycle\":%ld}}", extra - 1);
    CHECK(text && !strstr(text, expected), "a dropped one is there");
    tutti__free(text);
    tutti__trace_disable();
    CHECK_EQ(tutti__memory_live(), start);
}

/* Trace viewers require that two events of a row are nested or disjoint. */
static void test_rows_nest(void) {
    enum { N = 300 };
    double begin[N], end[N];
    int row[N], n = 0, rows = 0;
    unsigned seed = 12345;
    CHECK_OK(tutti__trace_enable(2));
    for (int i = 0; i < N; i++) {
        seed = seed * 1103515245 + 12345;
        const double start = 1 + (seed >> 16) % 1000 / 1e6;
        seed = seed * 1103515245 + 12345;
        tutti__trace_span("c", "n", start, start + (seed >> 16) % 60 / 1e6, i, -1);
    }
    char *text = tutti__trace_json();
    for (char *at = text; at && (at = strstr(at, "\"ts\":")) && n < N; at++, n++) {
        double length;
        CHECK_EQ(
            sscanf(at, "\"ts\":%lf,\"dur\":%lf,\"pid\":2,\"tid\":%d", &begin[n], &length, &row[n]),
            3);
        end[n] = begin[n] + length;
        if (row[n] >= rows) rows = row[n] + 1;
    }
    CHECK_EQ(n, N);
    CHECK(rows > 1, "nothing overlaps: this shows nothing");
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++) {
            const int apart = end[i] <= begin[k] + 1e-4 || end[k] <= begin[i] + 1e-4;
            const int within = (begin[i] >= begin[k] - 1e-4 && end[i] <= end[k] + 1e-4) ||
                               (begin[k] >= begin[i] - 1e-4 && end[k] <= end[i] + 1e-4);
            CHECK(row[i] != row[k] || apart || within, "events %d and %d of row %d", k, i, row[i]);
        }
    tutti__free(text);
    tutti__trace_disable();
}

static void test_no_memory(void) {
    const long start = tutti__memory_live();
    tutti__memory_fail_after(1);
    CHECK_ERR(tutti__trace_enable(0), TUTTI_ERR_NOMEM);
    CHECK_EQ(tutti__trace_on(), 0);
    CHECK_OK(tutti__trace_enable(0));
    for (int i = 0; i < 200; ++i) tutti__trace_event("c", "n", tutti__now(), -1, i);
    for (long n = 1; n < 4; ++n) {
        tutti__memory_fail_after(n);
        CHECK(tutti__trace_json() == NULL, "%ld", n);
    }
    tutti__memory_fail_after(0);
    tutti__trace_disable();
    CHECK_EQ(tutti__memory_live(), start);
}

static void *record_event(void *unused) {
    (void)unused;
    for (int i = 0; i < 2000; ++i) tutti__trace_event("thread", "n", tutti__now(), i, -1);
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[4];
    CHECK_OK(tutti__trace_enable(1));
    for (int i = 0; i < 4; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, record_event, NULL), 0);
    char *early = tutti__trace_json();
    CHECK(early && count_objects(early) >= 1);
    tutti__free(early);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    char *text = tutti__trace_json();
    CHECK(text && count_objects(text) >= 8001); /* objects are events and names of rows */
    tutti__free(text);
    tutti__trace_disable();
}

int main(void) {
    test_off();
    test_times();
    setlocale(LC_ALL, "de_DE.UTF-8"); /* use a decimal comma, if this locale is installed */
    test_text();
    test_bound();
    test_rows_nest();
    test_no_memory();
    test_threads();
    CHECK_EQ(tutti__memory_live(), 0);
    return check_done();
}
