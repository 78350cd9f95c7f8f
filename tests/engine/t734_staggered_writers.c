/* TEST ranks=3 timeout=60 */
/* The option stagger: the first file access of aggregator n is delayed by n times this number of
 * microseconds, in both engines, for writes and reads, as the trace shows.  Later accesses are not
 * delayed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/trace.h"
#include "harness.h"

enum { WINDOW = 4096, CYCLES = 3, APART = 20000, RANKS = 3 };

static char path[512], trace[520];
static unsigned char buffer[WINDOW * CYCLES];

/* Return the number after `key` in a line, or -1. */
static double number(const char *line, const char *key) {
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

/* Start of each rank's operation and of its first and last file access, in microseconds. */
typedef struct {
    double called[RANKS], first[RANKS], last[RANKS];
    int accesses[RANKS];
} times;

static times times_read(const char *access, const char *operation) {
    times t = {{0}, {0}, {0}, {0}};
    int64_t n = 0;
    char *text = (char *)file_get(trace, &n), *at = text, *line;
    while ((line = strsep(&at, "\n"))) {
        const int who = (int)number(line, "\"pid\":");
        const double start = number(line, "\"ts\":");
        if (number(line, "\"dur\":") < 0 || who < 0 || who >= RANKS) continue;
        if (strstr(line, operation)) t.called[who] = start;
        if (!strstr(line, access)) continue;
        if (t.accesses[who] == 0 || start < t.first[who]) t.first[who] = start;
        if (start > t.last[who]) t.last[who] = start;
        t.accesses[who]++;
    }
    free(text);
    return t;
}

static void one_after_the_other(const char *text, int is_write) {
    char all[256], where[300];
    tutti_access *a = NULL;
    tutti_file *f = NULL;
    const tutti_off share = WINDOW / 4;
    snprintf(where, sizeof where, "%s, %s", is_write ? "write" : "read", text);
    check_where(where);
    tutti__trace_disable(); /* ends the previous recording */
    snprintf(all, sizeof all,
             "method=two-phase cb_nodes=3 window_size=%d striping_unit=%d stagger=%d %s", WINDOW,
             WINDOW, APART, text);
    tutti_options opt = options_of(all);
    snprintf(opt.trace, sizeof opt.trace, "%.100s", trace);
    CHECK_OK(
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    CHECK_OK(tutti_access_vector(rank * share, RANKS * CYCLES, share, WINDOW, &a));
    CHECK_OK(is_write ? tutti_file_write(f, a, buffer, NULL) : tutti_file_read(f, a, buffer, NULL));
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
    const times t = is_write ? times_read("\"name\":\"write\",\"cat\":\"store\"",
                                          "\"name\":\"write\",\"cat\":\"operation\"")
                             : times_read("\"name\":\"read\",\"cat\":\"store\"",
                                          "\"name\":\"read\",\"cat\":\"operation\"");
    for (int i = 0; i < RANKS; i++) {
        CHECK_EQ(t.accesses[i], CYCLES);
        CHECK(t.called[i] > 0 && t.first[i] - t.called[i] >= APART * i,
              "aggregator %d begins after %g us", i, t.first[i] - t.called[i]);
    }
    check_where("");
}

int main(int argc, char **argv) {
    static const char *const ways[] = {"exchange=shm pipeline=none",
                                       "exchange=shm pipeline=write-comm-2 store=threads",
                                       "exchange=two-sided step=4", "exchange=fence pipeline=comm",
                                       "exchange=lock pipeline=write-comm-2 store=threads"};
    harness_begin(&argc, &argv, 734);
    snprintf(path, sizeof path, "%s", scratch_path("stagger"));
    snprintf(trace, sizeof trace, "%s.json", strrchr(path, '/') + 1); /* paths must be short */
    CHECK(chdir(check_dir()) == 0, "no scratch directory");
    for (int i = 0; i < 5; i++)
        for (int is_write = 1; is_write >= 0; is_write--) one_after_the_other(ways[i], is_write);
    tutti__trace_disable();
    file_remove(trace);
    file_remove(path);
    return harness_end();
}
