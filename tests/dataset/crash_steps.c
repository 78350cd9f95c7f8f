/* crash_steps DIRECTORY ROUNDS SEED [repair]   rounds on one dataset, each in a new process that
 * is killed at a random instant: during open (create, truncate, recovery), commit, setting infos,
 * removing segments.  Each process first records its operation
 * in DIRECTORY.steps; the next process finds the dataset in the state before or after it, with all
 * values.  A round that is not
 * killed ends by itself.   With "repair" repairs of a dataset without metadata are killed: the
 * next repair restores it.
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
static int steps; /* the file */
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

/* "~": dropping files removes segments, but not the last, and not those that others need. */
static int dropped(const char *state, const char *was) {
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
        !(will[0] == '~' && dropped(state, was))) {
        fprintf(stderr, "it is '%s', not '%s' nor '%s'\n", state, was, will);
        _exit(4);
    }
    write_down(state, state);
    check_expected(powercut_valid(path), "netCDF");
    check_expected(tutti_dataset_verify(d, NULL) == TUTTI_OK, "verify");
    powercut_describe(d);
    tutti_decomposition *p = powercut_mine(d, &lo, &n);
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

/* Everything before '|' of `was`, and `more`, and the info. */
static void going_to(const char *was, size_t keep, const char *more, int64_t number) {
    char will[STATE];
    snprintf(will, sizeof will, "%.*s%s| %lld", (int)keep, was, more, (long long)number);
    write_down(was, will);
}

static void open_it(int more) {
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
    if (which == 7 || which == 8) { /* erase */
        tutti_count left = n > MOST ? 1 : luck((int)n + 1);
        size_t keep = 0;
        for (tutti_count i = 0; i < left; i++) keep = (size_t)(strchr(was + keep, ' ') - was) + 1;
        going_to(was, keep, "", number);
        check_expected(tutti_dataset_erase_after(d, left - 1) == TUTTI_OK, "erase");
    } else if (which == 9) {
        write_down(was, "~");
        check_expected(tutti_dataset_drop_oldest(d, 1 + luck(3)) == TUTTI_OK, "drop");
    } else if (which == 10) {
        going_to(was, all, "", number + 1);
        const int64_t next = number + 1;
        check_expected(tutti_dataset_info_set(d, NULL, "number", TUTTI_INT64, 1, &next) == TUTTI_OK,
                       "info");
    } else if (which == 11) {
        const int empties = luck(4) == 0;
        if (empties) going_to(was, 0, "", -1);
        check_expected(tutti_dataset_close(&d) == TUTTI_OK, "close");
        open_it(empties ? TUTTI_TRUNCATE : 0);
    } else {
        const double time = (double)(g.index + 1) + (double)(++*attempt % 1000) / 1024;
        snprintf(more, sizeof more, "%lld:%g ", (long long)g.index + 1, time);
        going_to(was, all, more, number);
        check_expected(powercut_put(d, g.index + 1, time) == TUTTI_OK, "put");
    }
    state_now(was);
    write_down(was, was);
}

static void killed(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void arm(long after) {
    const struct itimerval when = {.it_value = {after / 1000000, after % 1000000 + 1}};
    signal(SIGALRM, killed);
    setitimer(ITIMER_REAL, &when, NULL);
}

/* One process: it is ended by the timer, or (after 0) completes. */
static void live(long after, int early) {
    int64_t attempt = (int64_t)(chance >> 40);
    MPI_Init(NULL, NULL);
    tutti_dataset_options_init(&opt);
    if (after && early) arm(after / 4);
    open_it(0);
    check_values();
    if (after && !early) arm(after);
    for (int i = 0; after || i < 5; i++) make_step(&attempt);
    check_values();
    check_expected(tutti_dataset_close(&d) == TUTTI_OK, "close");
    MPI_Finalize();
    fflush(NULL);
    _exit(0);
}

/* ---- repairs */

/* Remove the metadata or overwrite it with zeros; then repair, which is killed unless `after` is 0. */
static void repair_dataset(long after, int spoil) {
    char name[1000];
    tutti_repair_report report;
    MPI_Init(NULL, NULL);
    tutti_dataset_options_init(&opt);
    snprintf(name, sizeof name, "%s/metadata.sqlite", path);
    if (spoil == 1) (void)unlink(name);
    if (spoil == 2) check_expected(truncate(name, 0) == 0, name);
    if (after) arm(after);
    check_expected(tutti_dataset_repair(MPI_COMM_WORLD, path, NULL, &report) == TUTTI_OK, "repair");
    if (after) {
        pause(); /* it was faster */
        _exit(5);
    }
    check_expected(report.lost == 0, report.first_lost);
    open_it(0);
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
    open_it(TUTTI_TRUNCATE);
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
        if (i % 40 == 39) { /* start again without a dataset: its creation is killed, too */
            char command[1100];
            snprintf(command, sizeof command, "rm -rf '%s'", path);
            if (system(command) != 0) return 1;
            if (ftruncate(steps, 0) != 0) return 1;
        }
        luck(2);
        const pid_t pid = fork();
        if (pid == 0) live(after, early || i % 40 == 39 || i == 0);
        if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
        if (after ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status != 0) {
            fprintf(stderr, "round %d: status %x\n", i, (unsigned)status);
            return 1;
        }
    }
    return 0;
}
