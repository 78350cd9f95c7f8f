/* base: trace events.  A ring in memory that forgets the oldest events, under one mutex: an event
 * is a cycle or a file access, thousands of times dearer than an uncontended lock, and a lock makes
 * enabling, disabling and reading safe against events of background threads.  When tracing is off
 * an event costs one relaxed load.
 *
 * Times become whole nanoseconds here and text without floating point, so that the decimal comma of
 * a locale never gets into the JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { EVENTS_MAX = 1 << 16 };

typedef struct event {
    const char *category, *name;
    int64_t start_ns, length_ns;
    tutti_off bytes;
    tutti_count cycle;
} event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all but `on` */
static atomic_int on;
static event *ring;
static int64_t events_seen; /* event i is in ring[i % EVENTS_MAX] */
static int row;

static int64_t nanoseconds(double seconds) {
    return seconds > 0 ? (int64_t)(seconds * 1e9) : 0;
}

double tutti__now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tutti_err tutti__trace_enable(int rank) {
    tutti_err err = TUTTI_OK;
    pthread_mutex_lock(&lock);
    if (!ring) {
        ring = tutti__malloc(EVENTS_MAX * sizeof *ring);
        events_seen = 0;
        row = rank;
        atomic_store(&on, ring != NULL);
        if (!ring) err = TUTTI_ERR_NOMEM;
    }
    pthread_mutex_unlock(&lock);
    return err;
}

void tutti__trace_disable(void) {
    pthread_mutex_lock(&lock);
    atomic_store(&on, 0);
    tutti__free(ring);
    ring = NULL;
    pthread_mutex_unlock(&lock);
}

int tutti__trace_on(void) {
    return atomic_load_explicit(&on, memory_order_relaxed);
}

void tutti__trace_event(const char *category, const char *name, double start, tutti_off bytes,
                        tutti_count cycle) {
    if (tutti__trace_on()) tutti__trace_span(category, name, start, tutti__now(), bytes, cycle);
}

void tutti__trace_span(const char *category, const char *name, double start, double end,
                       tutti_off bytes, tutti_count cycle) {
    if (!tutti__trace_on()) return;
    const int64_t start_ns = nanoseconds(start);
    const int64_t length_ns = tutti__max(nanoseconds(end) - start_ns, 0);
    pthread_mutex_lock(&lock);
    if (ring)
        ring[events_seen++ % EVENTS_MAX] =
            (event){category, name, start_ns, length_ns, bytes, cycle};
    pthread_mutex_unlock(&lock);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Text that grows; once memory has run out it stays NULL. */
typedef struct text {
    char *at;
    size_t length, room;
    int failed;
} text;

static void grow(text *t, size_t more) {
    if (t->failed || t->length + more <= t->room) return;
    const size_t room = 2 * (t->length + more) + 4096;
    char *bigger = tutti__realloc(t->at, room);
    t->failed = !bigger;
    if (!bigger) tutti__free(t->at);
    t->at = bigger;
    t->room = room;
}

static void put(text *t, const char *fmt, ...) TUTTI_PRINTF(2, 3);
static void put(text *t, const char *fmt, ...) {
    enum { PIECE = 160 };
    va_list args;
    grow(t, PIECE);
    if (t->failed) return;
    va_start(args, fmt);
    const int n = vsnprintf(t->at + t->length, PIECE, fmt, args);
    va_end(args);
    TUTTI_ASSERT(n >= 0 && n < PIECE);
    t->length += (size_t)n;
}

static void put_string(text *t, const char *s) {
    put(t, "\"");
    while (*s) {
        const int n = (int)tutti__min((tutti_off)strcspn(s, "\"\\"), 100);
        put(t, "%.*s", n, s);
        s += n;
        if (*s == '"' || *s == '\\') put(t, "\\%c", *s++);
    }
    put(t, "\"");
}

static void put_event(text *t, const event *e) {
    put(t, ",\n{\"name\":");
    put_string(t, e->name);
    put(t, ",\"cat\":");
    put_string(t, e->category);
    put(t, ",\"ph\":\"X\",\"ts\":%lld.%03d,\"dur\":%lld.%03d", (long long)(e->start_ns / 1000),
        (int)(e->start_ns % 1000), (long long)(e->length_ns / 1000), (int)(e->length_ns % 1000));
    put(t, ",\"pid\":0,\"tid\":%d,\"args\":{", row);
    if (e->bytes >= 0) put(t, "\"bytes\":%lld", (long long)e->bytes);
    if (e->cycle >= 0) put(t, "%s\"cycle\":%lld", e->bytes >= 0 ? "," : "", (long long)e->cycle);
    put(t, "}}");
}

/* The name of the row, and how many events it has forgotten. */
static void put_row(text *t, int64_t dropped) {
    put(t, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":%d", row);
    put(t, ",\"args\":{\"name\":\"rank %d\"}}", row);
    if (dropped == 0) return;
    const event *oldest = &ring[events_seen % EVENTS_MAX];
    put(t, ",\n{\"name\":\"older events dropped\",\"cat\":\"trace\",\"ph\":\"i\",\"s\":\"t\"");
    put(t, ",\"ts\":%lld,\"pid\":0,\"tid\":%d", (long long)(oldest->start_ns / 1000), row);
    put(t, ",\"args\":{\"events\":%lld}}", (long long)dropped);
}

char *tutti__trace_json(void) {
    text t = {0};
    pthread_mutex_lock(&lock);
    if (ring) {
        const int64_t dropped = tutti__max(events_seen - EVENTS_MAX, 0);
        put_row(&t, dropped);
        for (int64_t i = dropped; i < events_seen; ++i) put_event(&t, &ring[i % EVENTS_MAX]);
    }
    pthread_mutex_unlock(&lock);
    return t.at;
}
