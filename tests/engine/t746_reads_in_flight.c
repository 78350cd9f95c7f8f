/* TEST ranks=1,2 timeout=60 */
/* Overlap in the trace: the pipelines of the engine that handles windows as they become ready
 * (aggregator.c) and of the cyclic engine (cycles.h), for writes and reads, on a slow store with
 * background I/O.
 *
 *   write    fill k (cyclic: shuffle): ranks copy to window k         write k: the file write of window k
 *   read     read k: the file read of window k                        serve k (cyclic: scatter): ranks
 *                                                                     copy from window k
 *
 * An overlap that a pipeline forbids must never occur.  An allowed overlap occurs only if the store is slow
 * enough, so the test repeats with slower stores before the overlap counts as missing.  If a pipeline allows
 * file accesses of all sub-buffers at a time, exactly that many must occur.  On two ranks the store is fast
 * and the second rank slow, so that windows stay open.
 *
 * Two aggregators with a blocking pipeline must write at the same time if file access takes long enough.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"
#include "harness.h"

enum { WINDOW = 4096, CYCLES = 6, BYTES = WINDOW * CYCLES, SUBS = 3 };

static char path[512], trace[520];
static unsigned char buffer[BYTES];

/* ---- events */

typedef struct {
    double start, end; /* microseconds; end is 0 if the event has not occurred */
} span;

typedef struct {
    span fill[CYCLES], write[CYCLES], read[CYCLES], serve[CYCLES];
    span write_begin, write_end;
} events;

static span *place_of(events *e, const char *name, int cycle) {
    if (!strcmp(name, "write_begin")) return &e->write_begin;
    if (!strcmp(name, "write_end")) return &e->write_end;
    if (cycle < 0 || cycle >= CYCLES) return NULL;
    if (!strcmp(name, "fill") || !strcmp(name, "shuffle")) return &e->fill[cycle];
    if (!strcmp(name, "write")) return &e->write[cycle];
    if (!strcmp(name, "read")) return &e->read[cycle];
    return strcmp(name, "serve") && strcmp(name, "scatter") ? NULL : &e->serve[cycle];
}

/* Return the number after `key` in a line, or -1. */
static double number(const char *line, const char *key) {
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

/* Store the event of one line of the trace file if it is an event of rank 0, which has all windows. */
static void event_take(events *e, const char *line) {
    static const char begins[] = "{\"name\":\"";
    char name[32];
    if (strncmp(line, begins, strlen(begins)) != 0) return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line + strlen(begins), "\""),
             line + strlen(begins));
    const double start = number(line, "\"ts\":"), length = number(line, "\"dur\":");
    const int cycle = (int)number(line, "\"cycle\":");
    if (length < 0 || number(line, "\"pid\":") > 0) return;
    span *s = place_of(e, name, cycle);
    if (!s) return;
    CHECK(s->end == 0, "%s of cycle %d happens twice", name, cycle);
    *s = (span){start, start + length};
}

static events events_read(void) {
    events e;
    int64_t n = 0;
    char *text = (char *)file_get(trace, &n), *at = text, *line;
    memset(&e, 0, sizeof e);
    while ((line = strsep(&at, "\n"))) event_take(&e, line);
    free(text);
    return e;
}

/* Check that the events of all cycles have occurred. */
static void complete_request(const span *s, const char *what) {
    for (int k = 0; k < CYCLES; k++) CHECK(s[k].end > 0, "cycle %d has no %s", k, what);
}

/* ---- rules.  Times in the trace are rounded to nanoseconds; SLACK is in microseconds. */

#define SLACK 0.002

/* Check that `later` of each cycle begins after `earlier` of the previous cycle has ended. */
static void after(const span *later, const span *earlier, const char *what) {
    for (int k = 1; k < CYCLES; k++)
        CHECK(later[k].start >= earlier[k - 1].end - SLACK, "%s: cycle %d is %.3f us too early",
              what, k, earlier[k - 1].end - later[k].start);
}

/* Return the number of cycles in which `later` begins before `earlier` of the previous cycle has ended. */
static int overlaps(const span *later, const span *earlier) {
    int n = 0;
    for (int k = 1; k < CYCLES; k++) n += later[k].start < earlier[k - 1].end - SLACK;
    return n;
}

/* Return the maximum number of simultaneous spans. */
static int most(const span *s) {
    int n = 0;
    for (int k = 0; k < CYCLES; k++) {
        int now = 0;
        for (int i = 0; i < CYCLES; i++)
            now += s[i].start <= s[k].start && s[k].start < s[i].end - SLACK;
        n = now > n ? now : n;
    }
    return n;
}

/* Check that at most SUBS spans overlap; return 1 if fewer do. */
static int fewer(const span *s, const char *what) {
    const int n = most(s);
    CHECK(n <= SUBS, "%d %ss at a time in %d sub-buffers", n, what, SUBS);
    return n < SUBS;
}

/* A function that checks the rules of one pipeline and returns how many of the allowed overlaps did
 * not occur. */
typedef int rules(const events *e);

static int write_none(const events *e) {
    after(e->fill, e->write, "fill after write");
    return 0;
}

static int write_comm_only(const events *e) {
    after(e->write, e->write, "write after write");
    CHECK_EQ(overlaps(e->fill, e->write), CYCLES - 1);
    return 0;
}

static int write_write(const events *e) {
    after(e->fill, e->fill, "fill after fill");
    return fewer(e->write, "write");
}

static int write_write_comm(const events *e) {
    after(e->fill, e->fill, "fill after fill");
    after(e->write, e->write, "write after write");
    return !overlaps(e->fill, e->write);
}

static int write_write_comm_2(const events *e) {
    CHECK(e->fill[1].start < e->fill[0].end, "the second window opens late");
    return fewer(e->write, "write");
}

static int read_none(const events *e) {
    after(e->read, e->serve, "read after serve");
    return 0;
}

static int read_comm(const events *e) {
    after(e->read, e->read, "read after read");
    CHECK_EQ(overlaps(e->read, e->serve), CYCLES - 1);
    return 0;
}

static int read_write(const events *e) {
    after(e->serve, e->serve, "serve after serve");
    return fewer(e->read, "read");
}

static int read_write_comm(const events *e) {
    after(e->read, e->read, "read after read");
    after(e->serve, e->serve, "serve after serve");
    return !overlaps(e->read, e->serve);
}

static int read_write_comm_2(const events *e) {
    return fewer(e->read, "read");
}

/* ---- operations with traces */

static tutti_file *slow_file(const char *text, int milliseconds) {
    char all[256];
    tutti__trace_disable(); /* ends the previous recording */
    snprintf(all, sizeof all,
             "method=two-phase exchange=shm store=threads window_size=%d sub_buffers=%d "
             "io_threads=%d fault=*:slow:%d %s",
             WINDOW, SUBS, SUBS, milliseconds, text);
    tutti_options opt = options_of(all);
    snprintf(opt.trace, sizeof opt.trace, "%.100s", trace);
    tutti_file *f = NULL;
    CHECK_OK(
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    return f;
}

static void wait_randomly(void *context, tutti_off done, tutti_off total, const char *phase) {
    (void)context, (void)done, (void)total, (void)phase;
    usleep(3000);
}

/* Run an operation in which every rank has a share of every window; return the events of rank 0. */
static events run_case(const char *text, int milliseconds, int is_write) {
    tutti_access *a = NULL;
    tutti_off count = -1;
    const tutti_off share = WINDOW / ranks;
    tutti_file *f = slow_file(text, milliseconds);
    if (rank == 1 && milliseconds == 1) tutti_file_on_progress(f, wait_randomly, NULL);
    CHECK_OK(tutti_access_vector(rank * share, CYCLES, share, WINDOW, &a));
    CHECK_OK(is_write ? tutti_file_write(f, a, buffer, &count)
                      : tutti_file_read(f, a, buffer, &count));
    CHECK_EQ(count, share * CYCLES);
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
    const events e = events_read();
    complete_request(is_write ? e.fill : e.serve, is_write ? "fill" : "serve");
    complete_request(is_write ? e.write : e.read, is_write ? "write" : "read");
    return e;
}

static const int delays[] = {4, 40, 400, 4000};
enum { DELAYS = sizeof delays / sizeof delays[0] };

static const char *exchange = ""; /* option of the tested exchange; "": shm */

static void gates(const char *pipeline, int is_write, rules *judge) {
    char text[100], where[120];
    snprintf(text, sizeof text, "cb_nodes=1 %s pipeline=%s", exchange, pipeline);
    snprintf(where, sizeof where, "%s, %s", is_write ? "write" : "read", text);
    check_where(where);
    int missing = 1;
    for (int i = 0; i < DELAYS && missing; i++) {
        const events e = run_case(text, delays[i], is_write);
        missing = judge(&e);
    }
    CHECK(!missing, "nothing overlaps");
    check_where("");
}

/* While a slow rank keeps a window open, the next one is not opened. */
static void check_open_windows(const char *pipeline) {
    char text[64];
    snprintf(text, sizeof text, "cb_nodes=1 pipeline=%s", pipeline);
    check_where(text);
    events e = run_case(text, 1, 1);
    after(e.fill, e.fill, "fill after fill");
    e = run_case(text, 1, 0);
    after(e.serve, e.serve, "serve after serve");
    check_where("");
}

/* The file writes of one rank, in the order of the trace. */
typedef struct {
    int n;
    span v[2 * CYCLES];
} spans;

static void writes_take(spans w[2], char *text) {
    for (char *at = text, *line; (line = strsep(&at, "\n"));) {
        const int row = (int)number(line, "\"pid\":");
        const double start = number(line, "\"ts\":"), length = number(line, "\"dur\":");
        if (!strstr(line, "\"name\":\"write\",\"cat\":\"store\"") || row < 0 || row > 1) continue;
        if (w[row].n < 2 * CYCLES) w[row].v[w[row].n++] = (span){start, start + length};
    }
}

/* Return whether writes of the two aggregators overlap. */
static int together(const spans w[2]) {
    int n = 0;
    for (int i = 0; i < w[0].n; i++)
        for (int k = 0; k < w[1].n; k++)
            n += w[0].v[i].start < w[1].v[k].end && w[1].v[k].start < w[0].v[i].end;
    return n;
}

static void beside(const char *pipeline) {
    char text[64];
    int seen = 0;
    snprintf(text, sizeof text, "store=posix striping_unit=%d pipeline=%s", WINDOW, pipeline);
    check_where(text);
    for (int i = 0; i < DELAYS && !seen; i++) {
        tutti_access *a = NULL;
        int64_t n = 0;
        spans w[2] = {{0}, {0}};
        const tutti_off share = WINDOW / ranks;
        tutti_file *f = slow_file(text, delays[i]);
        CHECK_OK(tutti_access_vector(rank * share, CYCLES, share, WINDOW, &a));
        CHECK_OK(tutti_file_write(f, a, buffer, NULL));
        CHECK_OK(tutti_file_close(&f));
        tutti_access_free(&a);
        char *trail = (char *)file_get(trace, &n);
        writes_take(w, trail);
        free(trail);
        CHECK(w[0].n == CYCLES / 2 && w[1].n == CYCLES / 2, "%d and %d writes", w[0].n, w[1].n);
        seen = together(w);
    }
    CHECK(seen, "aggregators wait for each other");
    check_where("");
}

/* By the trace, split writes access the file between begin and end. */
static void begin_returns(void) {
    int late = 1;
    check_where("begin");
    for (int i = 0; i < DELAYS && late; i++) {
        tutti_access *a = NULL;
        double last = 0;
        tutti_file *f = slow_file("background=io-only", delays[i]);
        CHECK_OK(tutti_access_contiguous(0, BYTES, &a));
        CHECK_OK(tutti_file_write_begin(f, a, buffer));
        usleep(2000 * (useconds_t)delays[i]); /* wait longer than the file access takes */
        CHECK_OK(tutti_file_write_end(f, NULL));
        CHECK_OK(tutti_file_close(&f));
        tutti_access_free(&a);
        const events e = events_read();
        complete_request(e.write, "write");
        for (int k = 0; k < CYCLES; k++) last = e.write[k].end > last ? e.write[k].end : last;
        CHECK(e.write_begin.end > 0 && e.write_end.end > 0, "no begin, no end");
        late = e.write_begin.end >= last || last >= e.write_end.start;
    }
    CHECK(!late, "the file access does not end between begin and end");
}

/* Test all pipelines; `in_order`: write-comm-2 has a fixed order, as with fence and lock. */
static void all_of(const char *by, int in_order) {
    exchange = by;
    gates("none", 1, write_none);
    gates("comm", 1, write_comm_only);
    gates("write", 1, write_write);
    gates("write-comm", 1, write_write_comm);
    gates("write-comm-2", 1, in_order ? write_write : write_write_comm_2);
    gates("none", 0, read_none);
    gates("comm", 0, read_comm);
    gates("write", 0, read_write);
    gates("write-comm", 0, read_write_comm);
    gates("write-comm-2", 0, read_write_comm_2);
}

static void test_alone(void) {
    all_of("", 0);
    all_of("exchange=two-sided step=4", 0);
    all_of("exchange=fence", 1);
    all_of("exchange=lock", 1);
    begin_returns();
}

/* Test the exchanges of the cyclic engine with two ranks. */
static void in_company(void) {
    static const char *const ways[] = {"exchange=two-sided step=4", "exchange=fence",
                                       "exchange=lock"};
    for (int i = 0; i < 3; i++) {
        exchange = ways[i];
        gates("comm", 1, write_comm_only);
        gates("write-comm-2", 1, i == 0 ? write_write_comm_2 : write_write);
        gates("write-comm-2", 0, read_write_comm_2);
    }
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 746);
    snprintf(path, sizeof path, "%s", scratch_path("gates"));
    snprintf(trace, sizeof trace, "%s.json", strrchr(path, '/') + 1); /* paths must be short */
    CHECK(chdir(check_dir()) == 0, "no scratch directory");
    if (ranks == 1) test_alone();
    if (ranks == 2) in_company();
    check_open_windows("write");
    check_open_windows("write-comm");
    if (ranks == 2) beside("none");
    if (ranks == 2) beside("comm");
    tutti__trace_disable();
    file_remove(trace);
    file_remove(path);
    return harness_end();
}
