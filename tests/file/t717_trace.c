/* TEST ranks=1,3 timeout=60 */
/* Diagnostic output: the trace file, the explanation, progress; and the sources of options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "base/trace.h"
#include "harness.h"

static char path[512];
static const char trace[] = "trace.json"; /* in the scratch directory */
enum { MODE = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE };

/* ---- a JSON parser: each function returns the end of the value, or NULL if it is invalid */

static const char *space(const char *s) {
    while (*s == ' ' || *s == '\n' || *s == '\t' || *s == '\r') s++;
    return s;
}

static const char *json_string(const char *s) {
    if (*s++ != '"') return NULL;
    for (; *s && *s != '"'; s++) {
        if ((unsigned char)*s < 32) return NULL;
        if (*s == '\\' && !*++s) return NULL;
    }
    return *s ? s + 1 : NULL;
}

static const char *json(const char *s);

static const char *json_members(const char *s, char end, int named) {
    s = space(s + 1);
    if (*s == end) return s + 1;
    for (;;) {
        if (named) {
            s = json_string(space(s));
            if (!s || *(s = space(s)) != ':') return NULL;
            s++;
        }
        s = json(s);
        if (!s) return NULL;
        s = space(s);
        if (*s == end) return s + 1;
        if (*s++ != ',') return NULL;
    }
}

static const char *json(const char *s) {
    char *end;
    s = space(s);
    if (*s == '{') return json_members(s, '}', 1);
    if (*s == '[') return json_members(s, ']', 0);
    if (*s == '"') return json_string(s);
    if (*s != '-' && !isdigit((unsigned char)*s)) return NULL;
    (void)strtod(s, &end);
    return end;
}

/* ---- operations that are traced, explained and counted */

static void do_work(tutti_file *f) {
    request q = request_make(CYCLIC, rank, ranks, 31, 200000);
    request_fill(&q, 1);
    CHECK_SAME(tutti_file_write(f, q.access, q.base, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_read(f, q.access, q.base, NULL), TUTTI_OK);
    CHECK_SAME(tutti_file_sync(f), TUTTI_OK);
    request_free(&q);
}

static tutti_file *open_file(const tutti_options *opt) {
    tutti_file *f = NULL;
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, opt, &f), TUTTI_OK);
    return f;
}

static void test_traces(void) {
    static const char *const texts[] = {
        "method=two-phase cb_buffer_size=64k", "method=two-phase exchange=two-sided",
        "method=two-phase nodes=2 store=uring", "method=list", "method=sieve rmw=1"};
    check_where("trace");
    for (int i = 0; i < 5; i++) {
        tutti_options opt = options_of(texts[i]);
        snprintf(opt.trace, sizeof opt.trace, "%.100s", trace);
        tutti_file *f = open_file(&opt);
        do_work(f);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        int64_t n = 0;
        char *text = (char *)file_get(trace, &n), row[40], named[sizeof path + 16];
        const char *end = json(text);
        CHECK(end && *space(end) == '\0', "not JSON from byte %ld on",
              end ? (long)(end - text) : -1L);
        for (int r = 0; r < ranks; r++) {
            snprintf(row, sizeof row, "\"name\":\"rank %d, ", r);
            CHECK(strstr(text, row), "rank %d has no row", r);
            snprintf(row, sizeof row, "\"pid\":%d,\"tid\":0,\"args\"", r);
            CHECK(strstr(text, row), "rank %d has no event", r);
        }
        CHECK(strstr(text, "\"cat\":\"plan\"") && strstr(text, "\"cat\":\"store\""),
              "no plan or store");
        CHECK(strstr(text, "\"cat\":\"operation\""), "no operation");
        snprintf(named, sizeof named, "\"file\":\"%s\"", path);
        CHECK(strstr(text, named), "no file has a name");
        if (i == 0)
            CHECK(strstr(text, "\"cat\":\"exchange\"") && strstr(text, "\"cycle\":1"),
                  "no exchange, no cycles");
        free(text);
        file_remove(trace);
    }
}

/* Check that the bytes of a file are equal to `expected`. */
static void unchanged(const char *name, const char *expected) {
    int64_t n = 0;
    char *text = (char *)file_get(name, &n);
    CHECK(n == (int64_t)strlen(expected) && memcmp(text, expected, (size_t)n) == 0,
          "%s has changed: %lld bytes", name, (long long)n);
    free(text);
}

static void close_file(const tutti_options *opt, int works) {
    tutti_file *f = open_file(opt);
    if (works) do_work(f);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK(f == NULL, "not closed");
}

/* If a trace cannot be written, results and other files are unchanged; if closing fails while a trace is
 * written, all ranks return the error. */
static void traces_fail(void) {
    static const char other[] = "not a trace\n", note[] = "note.txt";
    tutti_options opt = options_of("");
    tutti_file *f = NULL;
    struct stat st;
    check_where("trace fails");
    snprintf(opt.trace, sizeof opt.trace, "%.100s", "/none/such/trace.json");
    close_file(&opt, 1);
    snprintf(opt.trace, sizeof opt.trace, "%.100s", "/dev/full");
    close_file(&opt, 1);

    check_where("trace over another file");
    file_put(note, (const unsigned char *)other, sizeof other - 1);
    snprintf(opt.trace, sizeof opt.trace, "%.100s", note);
    close_file(&opt, 1);
    unchanged(note, other);
    file_remove(note);

    check_where("trace over the data");
    for (int works = 0; works < 2; works++) { /* an existing empty file is kept too */
        snprintf(opt.trace, sizeof opt.trace, "%.100s", works ? path : "empty.dat");
        char kept[sizeof path];
        memcpy(kept, path, sizeof path);
        if (!works) snprintf(path, sizeof path, "empty.dat");
        close_file(&opt, works);
        CHECK(stat(path, &st) == 0 && (works ? st.st_size > 100000 : st.st_size == 0),
              "the data has %lld bytes", (long long)st.st_size);
        int64_t n = 0;
        char *data = (char *)file_get(path, &n);
        CHECK(!strstr(data, "traceEvents"), "the trace is in the data");
        free(data);
        if (!works) {
            memcpy(path, kept, sizeof path);
            close_file(&opt, 1); /* trace another file after the first is closed */
            unchanged("empty.dat", "");
            file_remove("empty.dat");
        }
    }

    check_where("trace beyond the limit");
    struct rlimit before, limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "no limit known");
    limit = before;
    snprintf(opt.trace, sizeof opt.trace, "%.100s", trace);
    f = open_file(&opt);
    do_work(f);
    limit.rlim_cur = 100;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit set");
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0, "the limit stays");

    check_where("close fails with a trace");
    for (int who = 0; who < ranks; who++) {
        snprintf(opt.fault, sizeof opt.fault, "%d:close:1", who);
        f = open_file(&opt);
        do_work(f);
        CHECK_SAME(tutti_file_close(&f), TUTTI_ERR_IO);
        CHECK(f == NULL && tutti_last_error()->rank == who, "%s", tutti_last_message());
    }
    file_remove(trace);
}

/* Invalid values of variables that only request output or give hints do not make open fail. */
static void test_environment(void) {
    static char long_name[400];
    static const char *const names[] = {"TUTTI_TRACE", "TUTTI_EXPLAIN", "TUTTI_PROFILE",
                                        "TUTTI_PROFILE"};
    const char *const values[] = {long_name, "perhaps", long_name, "/none/such/profile"};
    check_where("environment");
    memset(long_name, 'x', sizeof long_name - 1);
    for (int i = 0; i < 4; i++) {
        setenv(names[i], values[i], 1);
        tutti_file *f = NULL;
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, NULL, &f), TUTTI_OK);
        if (f) {
            do_work(f);
            CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
        }
        unsetenv(names[i]);
    }
}

/* ---- explanation */

/* Perform operations on `f`; return what this rank has written to standard error. */
static char *said(tutti_file *f) {
    int64_t n = 0;
    char name[560];
    snprintf(name, sizeof name, "%s.err%d", path, rank);
    const int keep = dup(2), fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    fflush(stderr);
    dup2(fd, 2);
    do_work(f);
    fflush(stderr);
    dup2(keep, 2);
    close(keep);
    close(fd);
    char *text = (char *)file_get(name, &n);
    (void)unlink(name);
    return text;
}

static void test_explanations(void) {
    static const char *const methods[] = {"two-phase", "list", "independent",
                                          "sieve",     "root", "auto"};
    check_where("explain");
    for (int i = 0; i < 6; i++) {
        tutti_options opt = options_of("explain=1 rmw=1");
        CHECK_OK(tutti_options_set(&opt, "method", methods[i]));
        tutti_file *f = open_file(&opt);
        CHECK(!*tutti_file_explain(f), "explained before anything happened");
        char *text = said(f);
        CHECK(*tutti_file_explain(f), "no explanation");
        CHECK(!strchr(tutti_file_explain(f), '\n'), "more than one line");
        if (rank == 0)
            CHECK(strstr(text, tutti_file_explain(f)) && strstr(text, path), "said '%s'", text);
        if (rank != 0) CHECK(!*text, "rank %d talks too: %s", rank, text);
        free(text);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
    tutti_options opt = options_of("");
    tutti_file *f = open_file(&opt);
    char *text = said(f);
    CHECK(!*text, "talks unasked: %s", text);
    free(text);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
}

/* ---- progress */

typedef struct {
    int calls, bad;
    tutti_off done, total;
    tutti_off most; /* largest total after planning, when the end of the file is known */
} progress;

static void on_progress(void *context, tutti_off done, tutti_off total, const char *phase) {
    progress *p = context;
    const int planning = !strcmp(phase, "plan");
    p->calls++;
    p->bad |= strcmp(phase, "plan") && strcmp(phase, "exchange") && strcmp(phase, "file");
    p->bad |= done < 0 || done > total || (planning ? done != 0 : done < p->done);
    p->done = done;
    p->total = total;
    if (!planning && total > p->most) p->most = total;
}

static void test_progresses(void) {
    static const char *const texts[] = {"method=two-phase cb_buffer_size=64k",
                                        "method=two-phase exchange=two-sided",
                                        "method=list",
                                        "method=independent",
                                        "method=sieve rmw=1 sieve_size=4k",
                                        "method=root"};
    for (int i = 0; i < 6; i++) {
        tutti_options opt = options_of(texts[i]);
        tutti_file *f = open_file(&opt);
        request q = request_make(CYCLIC, rank, ranks, 31, 100000);
        const tutti_off bytes = tutti_access_bytes(q.access);
        check_where(texts[i]);
        request_fill(&q, 2);
        for (int k = 0; k < 4; k++) {
            progress p = {0, 0, 0, 0, 0};
            tutti_file_on_progress(f, on_progress, &p);
            if (k == 0) CHECK_SAME(tutti_file_write(f, q.access, q.base, NULL), TUTTI_OK);
            if (k == 1) CHECK_SAME(tutti_file_read(f, q.access, q.base, NULL), TUTTI_OK);
            if (k == 2) CHECK_SAME(tutti_file_resize(f, 1000), TUTTI_OK);
            if (k == 3) CHECK_SAME(tutti_file_read(f, q.access, q.base, NULL), TUTTI_OK);
            const tutti_off end = k == 3 ? tutti_access_bytes_in(q.access, 0, 1000) : bytes;
            CHECK(!p.bad, "progress goes astray");
            if (k != 2)
                CHECK(p.calls > 1 && p.done == end && p.total == end && p.most == end,
                      "ends at %lld of %lld, at most %lld", (long long)p.done, (long long)p.total,
                      (long long)p.most);
        }
        tutti_file_on_progress(f, NULL, NULL);
        CHECK_SAME(tutti_file_read(f, q.access, q.base, NULL), TUTTI_OK);
        request_free(&q);
        CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    }
}

/* ---- options */

static void test_infos(void) {
    MPI_Info info;
    tutti_options opt, was;
    check_where("info");
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_from_info(&opt, MPI_INFO_NULL));
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "128k");
    MPI_Info_set(info, "no_such_key_anywhere", "x");
    MPI_Info_set(info, "access_style", "write_once");
    MPI_Info_set(info, "tutti_method", "list");
    MPI_Info_set(info, "romio_cb_read", "disable");
    MPI_Info_set(info, "striping_unit", "4096");
    CHECK_OK(tutti_options_from_info(&opt, info));
    CHECK_EQ(opt.cb_buffer_size, 128 << 10);
    CHECK_EQ(opt.method, TUTTI_METHOD_LIST);
    CHECK_EQ(opt.method_read, TUTTI_METHOD_INDEPENDENT);
    CHECK_EQ(opt.striping_unit, 4096);
    was = opt;
    MPI_Info_set(info, "cb_buffer_size", "much");
    CHECK_ERR(tutti_options_from_info(&opt, info), TUTTI_ERR_OPTION);
    CHECK_EQ(opt.cb_buffer_size, was.cb_buffer_size);
    CHECK_ERR(tutti_options_from_info(NULL, info), TUTTI_ERR_ARG);
    MPI_Info_free(&info);
}

/* Options of rank 0 are used; an invalid environment on any rank is refused by all ranks. */
static void rank_zero(void) {
    tutti_options opt = options_of(rank == 0 ? "method=list cb_buffer_size=1m"
                                             : "method=two-phase cb_buffer_size=2m");
    tutti_options got;
    tutti_file *f = open_file(&opt);
    check_where("rank 0");
    CHECK_OK(tutti_file_options(f, &got));
    CHECK_EQ(got.method, TUTTI_METHOD_LIST);
    CHECK_EQ(got.cb_buffer_size, 1 << 20);
    CHECK(got.striping_unit > 0, "not completed");
    do_work(f);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    for (int who = 0; who < ranks; who++) {
        if (rank == who) setenv("TUTTI_METHOD", "magic", 1);
        CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, MODE, NULL, &f), TUTTI_ERR_OPTION);
        CHECK(f == NULL && tutti_last_error()->rank == who &&
                  strstr(tutti_last_message(), "TUTTI_METHOD"),
              "%s", tutti_last_message());
        unsetenv("TUTTI_METHOD");
    }
    setenv("TUTTI_METHOD", rank == 0 ? "sieve" : "root", 1);
    f = open_file(NULL);
    CHECK_OK(tutti_file_options(f, &got));
    CHECK_EQ(got.method, TUTTI_METHOD_SIEVE);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    unsetenv("TUTTI_METHOD");
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 717);
    snprintf(path, sizeof path, "%s", scratch_path("t"));
    CHECK(chdir(check_dir()) == 0, "no scratch directory");
    test_progresses();
    test_explanations();
    test_infos();
    rank_zero();
    test_traces();
    traces_fail();
    test_environment();
    tutti__trace_disable();
    file_remove(path);
    return harness_end();
}
