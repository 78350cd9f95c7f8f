/* base: trace events.  A ring buffer that drops the oldest events, protected by one mutex: an event
 * is a cycle or a file access and takes much longer than an uncontended lock, and background
 * threads may record events during enabling, disabling and reading.  When tracing is off, an event
 * is one relaxed load.
 *
 * Times are integers in nanoseconds, printed without floating point, so that the JSON never
 * contains the decimal comma of a locale.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_MAX = 1 << 16, FILES_MAX = 256 };

typedef struct event {
    const char *category, *name;
    int64_t start_ns, length_ns;
    tutti_off bytes;
    tutti_count cycle;
    int file; /* index in file_name; -1: none */
} event;

/* protects all variables below except `on` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int on;
static event *ring;
static int64_t events_seen; /* events recorded so far; event i is in ring[i % EVENTS_MAX] */
static int row;
static char *file_name[FILES_MAX];
static int files;

static int64_t to_nanoseconds(double seconds) {
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
    while (files > 0) tutti__free(file_name[--files]);
    pthread_mutex_unlock(&lock);
}

int tutti__trace_file(const char *path) {
    int found = -1;
    if (!tutti__trace_on()) return -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < files; i++)
        if (strcmp(file_name[i], path) == 0) found = i;
    if (found < 0 && ring && files < FILES_MAX && (file_name[files] = tutti__strdup(path)) != NULL)
        found = files++;
    pthread_mutex_unlock(&lock);
    return found;
}

int tutti__trace_on(void) {
    return atomic_load_explicit(&on, memory_order_relaxed);
}

void tutti__trace_event(const char *category, const char *name, double start, tutti_off bytes,
                        tutti_count cycle) {
    if (tutti__trace_on()) tutti__trace_span(category, name, start, tutti__now(), bytes, cycle);
}

static void record_event(const event *e) {
    pthread_mutex_lock(&lock);
    if (ring) ring[events_seen++ % EVENTS_MAX] = *e;
    pthread_mutex_unlock(&lock);
}

static event event_of(const char *category, const char *name, double start, double end) {
    const int64_t start_ns = to_nanoseconds(start);
    return (event){.category = category,
                   .name = name,
                   .start_ns = start_ns,
                   .length_ns = tutti__max(to_nanoseconds(end) - start_ns, 0),
                   .bytes = -1,
                   .cycle = -1,
                   .file = -1};
}

void tutti__trace_span(const char *category, const char *name, double start, double end,
                       tutti_off bytes, tutti_count cycle) {
    if (!tutti__trace_on()) return;
    event e = event_of(category, name, start, end);
    e.bytes = bytes;
    e.cycle = cycle;
    record_event(&e);
}

void tutti__trace_call(const char *name, int file, double start, tutti_off bytes) {
    if (!tutti__trace_on()) return;
    event e = event_of("operation", name, start, tutti__now());
    e.bytes = bytes;
    e.file = file;
    record_event(&e);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A growing text; after an allocation failure `failed` is 1 and nothing more is added. */
typedef struct text {
    char *at;
    size_t length, capacity;
    int failed;
} text;

static void grow_text(text *t, size_t more) {
    if (t->failed || t->length + more <= t->capacity) return;
    const size_t capacity = 2 * (t->length + more) + 4096;
    char *bigger = tutti__realloc(t->at, capacity);
    t->failed = !bigger; /* tutti__trace_json frees the existing text */
    if (!bigger) return;
    t->at = bigger;
    t->capacity = capacity;
}

static void print_json(text *t, const char *fmt, ...) TUTTI_PRINTF(2, 3);
static void print_json(text *t, const char *fmt, ...) {
    enum { PIECE = 160 };
    va_list args;
    grow_text(t, PIECE);
    if (t->failed) return;
    va_start(args, fmt);
    const int n = vsnprintf(t->at + t->length, PIECE, fmt, args);
    va_end(args);
    TUTTI_ASSERT(n >= 0 && n < PIECE);
    t->length += (size_t)n;
}

static void print_string(text *t, const char *s) {
    print_json(t, "\"");
    while (*s) {
        int n = 0;
        while (n < 100 && (unsigned char)s[n] >= ' ' && s[n] != '"' && s[n] != '\\') n++;
        print_json(t, "%.*s", n, s);
        s += n;
        if (*s == '"' || *s == '\\')
            print_json(t, "\\%c", *s++);
        else if (*s && (unsigned char)*s < ' ')
            print_json(t, "\\u%04x", (unsigned)*s++);
    }
    print_json(t, "\"");
}

static void print_event(text *t, const event *e, int lane) {
    print_json(t, ",\n{\"name\":");
    print_string(t, e->name);
    print_json(t, ",\"cat\":");
    print_string(t, e->category);
    print_json(t, ",\"ph\":\"X\",\"ts\":%lld.%03d,\"dur\":%lld.%03d",
               (long long)(e->start_ns / 1000), (int)(e->start_ns % 1000),
               (long long)(e->length_ns / 1000), (int)(e->length_ns % 1000));
    print_json(t, ",\"pid\":%d,\"tid\":%d,\"args\":{", row, lane);
    const char *comma = "";
    if (e->bytes >= 0) print_json(t, "\"bytes\":%lld", (long long)e->bytes), comma = ",";
    if (e->cycle >= 0) print_json(t, "%s\"cycle\":%lld", comma, (long long)e->cycle), comma = ",";
    if (e->file >= 0 && e->file < files) {
        print_json(t, "%s\"file\":", comma);
        print_string(t, file_name[e->file]);
    }
    print_json(t, "}}");
}

/* Print the name of the process, and the number of dropped events. */
static void print_process(text *t, int64_t dropped) {
    char host[64] = "";
    if (gethostname(host, sizeof host - 1) != 0) *host = '\0';
    print_json(t, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d", row);
    print_json(t, ",\"args\":{\"name\":\"rank %d, %.60s\"}}", row, host);
    if (dropped == 0) return;
    const event *oldest = &ring[events_seen % EVENTS_MAX];
    print_json(t,
               ",\n{\"name\":\"older events dropped\",\"cat\":\"trace\",\"ph\":\"i\",\"s\":\"t\"");
    print_json(t, ",\"ts\":%lld,\"pid\":%d,\"tid\":0", (long long)(oldest->start_ns / 1000), row);
    print_json(t, ",\"args\":{\"events\":%lld}}", (long long)dropped);
}

/* ---- lanes: rows of the viewer in which any two events are nested or disjoint */

enum { LANES = 64, DEPTH = 32 };

typedef struct lane {
    int depth;
    /* [depth]: ends of the events that a new event could be nested in, the innermost last */
    int64_t end_ns[DEPTH];
} lane;

static int earlier_then_longer(const void *a, const void *b) {
    const event *const *x = a, *const *y = b;
    if ((*x)->start_ns != (*y)->start_ns) return (*x)->start_ns < (*y)->start_ns ? -1 : 1;
    return ((*x)->length_ns < (*y)->length_ns) - ((*x)->length_ns > (*y)->length_ns);
}

/* Return the first lane in which the event overlaps no other or is nested; the last lane if there
 * is none. */
static int lane_of(lane *lanes, int *used, const event *e) {
    const int64_t end_ns = e->start_ns + e->length_ns;
    for (int i = 0; i < LANES; i++) {
        lane *l = &lanes[i];
        while (l->depth > 0 && l->end_ns[l->depth - 1] <= e->start_ns) l->depth--;
        if (l->depth == DEPTH || (l->depth > 0 && l->end_ns[l->depth - 1] < end_ns)) continue;
        l->end_ns[l->depth++] = end_ns;
        *used = i + 1 > *used ? i + 1 : *used;
        return i;
    }
    return LANES - 1;
}

char *tutti__trace_json(void) {
    text t = {0};
    pthread_mutex_lock(&lock);
    if (ring) {
        const int64_t dropped = tutti__max(events_seen - EVENTS_MAX, 0);
        print_process(&t, dropped);
        if (!t.failed) {
            const int64_t n = events_seen - dropped;
            const event **sorted = tutti__malloc((size_t)tutti__max(n, 1) * sizeof *sorted);
            lane *lanes = tutti__calloc(LANES, sizeof *lanes);
            int used = 0;
            t.failed |= !sorted || !lanes;
            for (int64_t i = 0; i < n && !t.failed; i++)
                sorted[i] = &ring[(dropped + i) % EVENTS_MAX];
            if (!t.failed) qsort(sorted, (size_t)n, sizeof *sorted, earlier_then_longer);
            for (int64_t i = 0; i < n && !t.failed; i++)
                print_event(&t, sorted[i], lane_of(lanes, &used, sorted[i]));
            for (int i = 1; i < used && !t.failed; i++) {
                print_json(&t, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d",
                           row, i);
                print_json(&t, ",\"args\":{\"name\":\"meanwhile %d\"}}", i);
            }
            tutti__free(lanes);
            tutti__free(sorted);
        }
    }
    pthread_mutex_unlock(&lock);
    if (!t.failed) return t.at;
    tutti__free(t.at);
    return NULL;
}
