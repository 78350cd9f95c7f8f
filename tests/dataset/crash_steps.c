/* crash_steps DIRECTORY ROUNDS SEED [repair]   runs rounds on one dataset, each in a new process that
 * is killed at a random time: during open (create, truncate, recovery), commit, setting infos,
 * removing segments.  Each process first records its next operation in DIRECTORY.steps; the next process
 * must find the dataset in the state before or after this operation, with all values.  The last round is
 * not killed.  With "repair", repairs of a dataset without metadata are killed, and the next repair must
 * restore the dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "powercut_steps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATE = 2000, MOST = 40 };
static const char *path;
static uint64_t chance;
static int steps; /* file descriptor of DIRECTORY.steps */
static tutti_dataset *d;
static tutti_dataset_options opt;

static int luck(int n) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (int)((chance >> 33) % (uint64_t)n);
}

static void check_expected(int right, const char *what) {
    if (right) return;
    fprintf(stderr, "%s: %s\n", what, tutti_last_message());
    _exit(3);
}

/* ---- the previous and the intended state */

static void write_down(const char *was, const char *will) {
    char both[2 * STATE] = "";
    snprintf(both, STATE, "%s", was);
    snprintf(both + STATE, STATE, "%s", will);
    check_expected(pwrite(steps, both, sizeof both, 0) == (ssize_t)sizeof both, "steps");
}

static void read_back(char *was, char *will) {
    char both[2 * STATE] = "";
    if (pread(steps, both, sizeof both, 0) != (ssize_t)sizeof both) snprintf(both, STATE, "| -1");
    memcpy(was, both, STATE);
    memcpy(will, both + STATE, STATE);
}

/* Return whether `state` is `was` without some segments but with the last: the expected state "~" after
 * dropping the oldest files, which keeps segments that others need. */
static int is_after_drop(const char *state, const char *was) {
    while (*state) {
        const char *end = strchrnul(state, ' '), *other = strchrnul(was, ' ');
        if (!*was) return 0;
        if (end - state == other - was && strncmp(state, was, (size_t)(end - state)) == 0)
            state = *end ? end + 1 : end;
        was = *other ? other + 1 : other;
    }
    return !*was;
}

static void check_values(void) {
    char state[STATE], was[STATE], will[STATE];
    static double buf[POWERCUT_N];
    tutti_count lo, n;
    read_back(was, will);
    check_expected(powercut_state(d, state, sizeof state), "state");
    if (strcmp(state, was) != 0 && strcmp(state, will) != 0 &&
        !(will[0] == '~' && is_after_drop(state, was))) {
        fprintf(stderr, "it is '%s', not '%s' nor '%s'\n", state, was, will);
        _exit(4);
    }
    write_down(state, state);
    check_expected(powercut_valid(path), "netCDF");
    check_expected(tutti_dataset_verify(d, NULL) == TUTTI_OK, "verify");
    powercut_describe(d);
    tutti_decomposition *p = powercut_local_block(d, &lo, &n);
    for (tutti_count s = 0; s < tutti_dataset_segments(d); s++) {
        tutti_segment g;
        check_expected(tutti_dataset_segment(d, s, &g) == TUTTI_OK, "segment");
        for (int k = 0; k < 2; k++) {
            const tutti_get get = {k ? "w" : "u", p, TUTTI_FLOAT64, buf};
            check_expected(tutti_dataset_get(d, s, 1, &get) == TUTTI_OK, "get");
            for (tutti_count i = 0; i < n; i++)
                check_expected(buf[i] == powercut_value(g.time, lo + i), "a value");
        }
    }
    tutti_decomposition_free(&p);
}

/* ---- steps */

static void state_now(char *to) {
    check_expected(powercut_state(d, to, STATE), "state");
}

/* Record that the state changes from `was` to its first `keep` characters, followed by `more` and the info
 * `number`. */
static void record_intent(const char *was, size_t keep, const char *more, int64_t number) {
    char will[STATE];
    snprintf(will, sizeof will, "%.*s%s| %lld", (int)keep, was, more, (long long)number);
    write_down(was, will);
}

static void open_dataset(int more) {
    opt.level = luck(4) ? TUTTI_VISIBLE : TUTTI_DURABLE;
    opt.indices_per_file = luck(3);
    opt.container = powercut_container();
    check_expected(tutti_dataset_open(MPI_COMM_WORLD, path,
                                      TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | more, &opt,
                                      &d) == TUTTI_OK,
                   "open");
    powercut_describe(d);
}

static void make_step(int64_t *attempt) {
    char was[STATE], more[64];
    state_now(was);
    const char *bar = strchr(was, '|');
    const size_t all = (size_t)(bar - was);
    const int64_t number = atoll(bar + 1);
    const tutti_count n = tutti_dataset_segments(d);
    tutti_segment g = {.index = -1};
    if (n > 0) check_expected(tutti_dataset_segment(d, n - 1, &g) == TUTTI_OK, "segment");
    const int which = n > MOST ? 7 : luck(12);
    if (which == 7 || which == 8) { /* erase segments */
        tutti_count left = n > MOST ? 1 : luck((int)n + 1);
        size_t keep = 0;
        for (tutti_count i = 0; i < left; i++) keep = (size_t)(strchr(was + keep, ' ') - was) + 1;
        record_intent(was, keep, "", number);
        check_expected(tutti_dataset_erase_after(d, left - 1) == TUTTI_OK, "erase");
    } else if (which == 9) {
        write_down(was, "~");
        check_expected(tutti_dataset_drop_oldest(d, 1 + luck(3)) == TUTTI_OK, "drop");
    } else if (which == 10) {
        record_intent(was, all, "", number + 1);
        const int64_t next = number + 1;
        check_expected(tutti_dataset_info_set(d, NULL, "number", TUTTI_INT64, 1, &next) == TUTTI_OK,
                       "info");
    } else if (which == 11) {
        const int empties = luck(4) == 0;
        if (empties) record_intent(was, 0, "", -1);
        check_expected(tutti_dataset_close(&d) == TUTTI_OK, "close");
        open_dataset(empties ? TUTTI_TRUNCATE : 0);
    } else {
        const double time = (double)(g.index + 1) + (double)(++*attempt % 1000) / 1024;
        snprintf(more, sizeof more, "%lld:%g ", (long long)g.index + 1, time);
        record_intent(was, all, more, number);
        check_expected(powercut_put(d, g.index + 1, time) == TUTTI_OK, "put");
    }
    state_now(was);
    write_down(was, was);
}

static void kill_process(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void start_timer(long after) {
    const struct itimerval when = {.it_value = {after / 1000000, after % 1000000 + 1}};
    signal(SIGALRM, kill_process);
    setitimer(ITIMER_REAL, &when, NULL);
}

/* Run one process: the timer kills it after `after` microseconds, or it completes (after = 0). */
static void run_process(long after, int early) {
    int64_t attempt = (int64_t)(chance >> 40);
    MPI_Init(NULL, NULL);
    tutti_dataset_options_init(&opt);
    if (after && early) start_timer(after / 4);
    open_dataset(0);
    check_values();
    if (after && !early) start_timer(after);
    for (int i = 0; after || i < 5; i++) make_step(&attempt);
    check_values();
    check_expected(tutti_dataset_close(&d) == TUTTI_OK, "close");
    MPI_Finalize();
    fflush(NULL);
    _exit(0);
}

/* ---- repairs */

/* Remove the metadata (spoil = 1) or truncate it to zero bytes (spoil = 2); then repair the dataset, which is
 * killed unless `after` is 0. */
static void repair_dataset(long after, int spoil) {
    char name[1000];
    tutti_repair_report report;
    MPI_Init(NULL, NULL);
    tutti_dataset_options_init(&opt);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (spoil == 1) (void)unlink(name);
    if (spoil == 2) check_expected(truncate(name, 0) == 0, name);
    if (after) start_timer(after);
    check_expected(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, &report) == TUTTI_OK, "repair");
    if (after) {
        pause(); /* the repair has finished before the timer */
        _exit(5);
    }
    check_expected(report.lost == 0, report.first_lost);
    open_dataset(0);
    check_values();
    check_expected(tutti_dataset_close(&d) == TUTTI_OK, "close");
    MPI_Finalize();
    fflush(NULL);
    _exit(0);
}

static void prepare_case(void) {
    char state[STATE];
    const int64_t one = 1;
    MPI_Init(NULL, NULL);
    tutti_dataset_options_init(&opt);
    open_dataset(TUTTI_TRUNCATE);
    for (int i = 0; i < 6; i++) {
        if (i == 3)
            check_expected(tutti_dataset_info_set(d, NULL, "number", TUTTI_INT64, 1, &one) ==
                               TUTTI_OK,
                           "info");
        check_expected(powercut_put(d, i, i) == TUTTI_OK, "put");
    }
    state_now(state);
    write_down(state, state);
    check_expected(tutti_dataset_close(&d) == TUTTI_OK, "close");
    MPI_Finalize();
    _exit(0);
}

static int repairs(int rounds) {
    for (int i = -1; i < 2 * rounds; i++) {
        int status = 0;
        const long after = i % 2 ? 0 : 1 + luck(12000);
        const int spoil = i % 2 ? 0 : 1 + luck(2);
        const pid_t pid = fork();
        if (pid == 0 && i < 0) prepare_case();
        if (pid == 0) repair_dataset(after, spoil);
        if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
        if (after ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status != 0) {
            fprintf(stderr, "repair %d: status %x\n", i, (unsigned)status);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    char name[1000];
    path = argv[1];
    const int rounds = atoi(argv[2]);
    chance = strtoull(argv[3], NULL, 10);
    snprintf(name, sizeof name, "%s.steps", path);
    steps = open(name, O_RDWR | O_CREAT, 0666);
    if (argc > 4) return repairs(rounds);
    for (int i = 0; i <= rounds; i++) {
        int status = 0;
        const long after = i == rounds ? 0 : 1 + luck(40000) / (1 + luck(6));
        const int early = luck(3) == 0;
        if (i % 40 == 39) { /* start again without a dataset, so that its creation is killed, too */
            char command[1100];
            snprintf(command, sizeof command, "rm -rf '%s'", path);
            if (system(command) != 0) return 1;
            if (ftruncate(steps, 0) != 0) return 1;
        }
        luck(2);
        const pid_t pid = fork();
        if (pid == 0) run_process(after, early || i % 40 == 39 || i == 0);
        if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
        if (after ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status != 0) {
            fprintf(stderr, "round %d: status %x\n", i, (unsigned)status);
            return 1;
        }
    }
    return 0;
}
