/* tutti run --compare: run the program with and without the library, interleaved; the order
 * alternates from round to round.  The output of the first run is shown; of later runs, only the
 * standard error of failed ones.
 *
 * A signal from the terminal reaches the program directly; a signal sent to this process only is
 * forwarded to the program.  In both cases this process ends by the same signal after the program
 * has ended.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "run/run.h"
#include "measure/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- signals */

static volatile sig_atomic_t child, caught;
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDING = sizeof ending / sizeof *ending };

static void forward_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    const int from_process = info->si_code == SI_USER || info->si_code == SI_QUEUE;
    caught = number;
    if (from_process && child > 0) kill((pid_t)child, number);
}

/* ---- one run */

static void redirect_stream(int to, int fd) {
    if (fd >= 0) dup2(fd, to);
}

/* Run a command; out, err: file descriptors for its output, -1: those of this process.  Return its exit code,
 * or 128 + signal if a signal ended it. */
static int run_once(const run_command *c, int out, int err, double *seconds) {
    const double start_time = cli_now();
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < ENDING; i++) signal(ending[i], SIG_DFL);
        /* Rewind standard input if it is seekable; otherwise replace it by /dev/null. */
        const int none = lseek(STDIN_FILENO, 0, SEEK_SET) == 0 ? -1 : open("/dev/null", O_RDONLY);
        redirect_stream(STDIN_FILENO, none);
        if (none >= 0) close(none);
        redirect_stream(STDOUT_FILENO, out);
        redirect_stream(STDERR_FILENO, err);
        const int code = run_command_become(c);
        fprintf(stderr, "tutti run: %s\n", cli_message());
        fflush(stderr);
        _exit(code);
    }
    child = pid;
    int status = 0, failed = pid < 0;
    while (!failed && waitpid(pid, &status, 0) < 0) failed = errno != EINTR;
    child = 0;
    *seconds = cli_now() - start_time;
    if (failed) return CLI_FAILED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_quietly(const run_command *c, double *seconds) {
    /* Write standard error to an unnamed file. */
    char name[] = "/tmp/tutti-run.XXXXXX";
    const int fd = mkstemp(name);
    if (fd >= 0) (void)unlink(name);
    const int out = open("/dev/null", O_WRONLY), err = fd;
    const int code = run_once(c, out, err, seconds);
    char text[4096];
    if (code != 0 && err >= 0 && lseek(err, 0, SEEK_SET) == 0)
        for (ssize_t n; (n = read(err, text, sizeof text)) > 0;) fwrite(text, 1, (size_t)n, stderr);
    if (out >= 0) close(out);
    if (err >= 0) close(err);
    return code;
}

/* ---- seconds in calls of MPI_File_ */

/* Return the maximum of the seconds that the ranks of a run have written to a file; -1: none. */
static double most_seconds(const char *times) {
    double most = -1, seconds;
    long long files;
    FILE *f = fopen(times, "r");
    while (f && fscanf(f, "%lf %lld", &seconds, &files) == 2)
        if (seconds > most) most = seconds;
    if (f) fclose(f);
    return most;
}

/* ---- all runs */

/* Times per round: total, and in MPI_File_ calls of the slowest rank. */
typedef struct {
    double *whole, *calls;
} run_seconds;

static void print_times(const char *name, const double *seconds, int n) {
    double q[3];
    for (int i = 0; i < 3; i++) q[i] = measure_quantile(seconds, n, 0.5 * i);
    printf("  %-16s %9.3f s    %.3f ... %.3f\n", name, q[1], q[0], q[2]);
}

static void report_kind(const char *what, int rounds, const double *with, const double *without) {
    double *ratio = cli_malloc((size_t)rounds * sizeof *ratio);
    for (int i = 0; i < rounds; i++) ratio[i] = without[i] / with[i];
    printf("%s\n", what);
    print_times("with Tutti", with, rounds);
    print_times("without", without, rounds);
    double lo, hi;
    printf("  %-16s %9.2f      ", "without / with", measure_quantile(ratio, rounds, 0.5));
    if (measure_median_bounds(ratio, rounds, 0.025, &lo, &hi))
        printf("%.2f ... %.2f (95 %% interval of the median)\n", lo, hi);
    else
        printf("(too few rounds for an interval)\n");
    free(ratio);
}

/* Run all rounds; times are stored in seconds[with or without].  Returns the exit code of the first
 * run that fails, or 0. */
static int run_rounds(const run_command *const command[2], int rounds, const char *times,
                      const run_seconds seconds[2]) {
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < 2; k++) {
            const int which = (i + k) % 2;
            double *time = &seconds[which].whole[i];
            if (truncate(times, 0) != 0) errno = 0; /* the times of calls are then not reported */
            const int code = i + k == 0 ? run_once(command[which], -1, -1, time)
                                        : run_quietly(command[which], time);
            if (caught) return 128 + caught;
            seconds[which].calls[i] = most_seconds(times);
            if (code == 0) continue;
            fprintf(stderr, "tutti run: round %d, %s Tutti: exit code %d\n", i + 1,
                    which ? "without" : "with", code);
            return code;
        }
    return CLI_OK;
}

int run_compare(const run_command *with, const run_command *without, int rounds,
                const char *times) {
    const run_command *const command[2] = {with, without};
    double *all = cli_malloc(4 * (size_t)rounds * sizeof *all);
    const run_seconds seconds[2] = {{all, all + rounds}, {all + 2 * rounds, all + 3 * rounds}};
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = forward_signal;
    for (int i = 0; i < ENDING; i++) sigaction(ending[i], &action, NULL);
    const int code = run_rounds(command, rounds, times, seconds);
    if (code == CLI_OK) {
        int has_calls = 1;
        for (int i = 0; i < rounds; i++)
            has_calls &= seconds[0].calls[i] > 0 && seconds[1].calls[i] > 0;
        printf("tutti run: %d interleaved rounds; median, minimum and maximum\n", rounds);
        if (has_calls)
            report_kind("in MPI_File_ calls, slowest rank:", rounds, seconds[0].calls,
                        seconds[1].calls);
        else
            printf(
                "no rank reported MPI_File_ calls: the program makes none, is linked statically or "
                "runs on another host\n");
        report_kind("whole program, including startup:", rounds, seconds[0].whole,
                    seconds[1].whole);
    }
    free(all);
    fflush(NULL);
    if (caught) {
        signal(caught, SIG_DFL);
        raise(caught);
    }
    return code;
}
