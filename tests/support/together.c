/* Runs several tests of one module in one launch, because starting the ranks takes longer than most tests.
 *
 *   together NAME...    with the number of ranks that the tests require
 *
 * Each test is the main() of its file under another name (cmake/TuttiTests.cmake lists the tests).  MPI is
 * initialized once by this program; the functions below replace MPI_Init and MPI_Finalize in the tests.
 * Each test starts with the initial environment and writes its output to a separate file; after each test
 * the library must have freed all its memory on every rank.  Rank 0 writes "@begin NAME ." and "@end NAME
 * CODE SECONDS ." to the pipe $TUTTI_TEST_NEWS, which scripts/run_together.sh reads, or, if unset, to
 * standard output.
 *
 * A test that needs a separate process (a thread level, effects of MPI_Finalize, symbols or a
 * namespace of its own) has own=1 in its TEST line and is not run here.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/together.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

long tutti__memory_live(void) __attribute__((weak)); /* of the library, if linked */
void __lsan_disable(void) __attribute__((weak));     /* of LeakSanitizer, as in keep_plugins.c */
void __lsan_enable(void) __attribute__((weak));

static MPI_Comm everybody; /* duplicate of MPI_COMM_WORLD that tests do not use */
static int rank;

static void fatal(const char *what, const char *name) {
    fprintf(stderr, "together: %s: %s\n", what, name);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- MPI_Init and MPI_Finalize as seen by tests */

static int inits, finalizes; /* numbers of calls by the current test */

int MPI_Init(int *argc, char ***argv) {
    (void)argc, (void)argv;
    inits++;
    return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    (void)argc, (void)argv;
    inits++;
    PMPI_Query_thread(provided);
    if (required > *provided) fatal("this thread level wants own=1", "MPI_Init_thread");
    return MPI_SUCCESS;
}

/* Keys that have not been freed.  MPI_Finalize deletes the attributes with these keys on MPI_COMM_SELF and
 * MPI_COMM_WORLD, as that of MPI does; the library keeps its pools there. */
enum { KEYS = 64 };
static int keys[KEYS], n_keys;

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *drop,
                           int *key, void *extra) {
    const int code = PMPI_Comm_create_keyval(copy, drop, key, extra);
    if (code == MPI_SUCCESS && n_keys == KEYS) fatal("too many keys", "MPI_Comm_create_keyval");
    if (code == MPI_SUCCESS) keys[n_keys++] = *key;
    return code;
}

int MPI_Comm_free_keyval(int *key) {
    for (int i = 0; i < n_keys; i++)
        if (keys[i] == *key) {
            keys[i] = keys[--n_keys];
            break;
        }
    return PMPI_Comm_free_keyval(key);
}

int MPI_Finalize(void) {
    const MPI_Comm comm[2] = {MPI_COMM_SELF, MPI_COMM_WORLD};
    finalizes++;
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < n_keys; i++) {
            void *value;
            int found = 0;
            PMPI_Comm_get_attr(comm[c], keys[i], &value, &found);
            if (found) PMPI_Comm_delete_attr(comm[c], keys[i]);
        }
    return MPI_SUCCESS;
}

/* Call the functions of MPI, or of a preloaded library. */
static void real_init(int *argc, char ***argv) {
    int (*init)(int *, char ***);
    *(void **)&init = dlsym(RTLD_NEXT, "MPI_Init");
    if (__lsan_disable) __lsan_disable();
    if (!init || init(argc, argv) != MPI_SUCCESS) abort();
    if (__lsan_enable) __lsan_enable();
    PMPI_Comm_dup(MPI_COMM_WORLD, &everybody);
    PMPI_Comm_rank(everybody, &rank);
}

static void real_finalize(void) {
    int (*finalize)(void);
    *(void **)&finalize = dlsym(RTLD_NEXT, "MPI_Finalize");
    PMPI_Comm_free(&everybody);
    if (!finalize || finalize() != MPI_SUCCESS) abort();
}

/* ---- environment, signals, limits and output */

enum { SIGNALS = 32 };
static const int limit_of[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS};
enum { LIMITS = sizeof limit_of / sizeof limit_of[0] };

static struct {
    char **environment;
    struct sigaction action[SIGNALS];
    struct rlimit limit[LIMITS];
    mode_t umask;
    int out, err, news; /* descriptors of the initial outputs and of the pipe */
} start;

extern char **environ;

static void surroundings_note(void) {
    size_t n = 0;
    while (environ[n]) n++;
    start.environment = calloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) start.environment[i] = strdup(environ[i]);
    for (int s = 1; s < SIGNALS; s++) sigaction(s, NULL, &start.action[s]);
    for (int i = 0; i < LIMITS; i++) getrlimit((__rlimit_resource_t)limit_of[i], &start.limit[i]);
    start.umask = umask(0);
    umask(start.umask);
    start.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    start.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    const char *news = getenv("TUTTI_TEST_NEWS");
    start.news = news ? open(news, O_WRONLY | O_CLOEXEC) : start.out;
}

static void surroundings_restore(void) {
    clearenv();
    for (char **e = start.environment; *e; e++) {
        char *equals = strchr(*e, '=');
        *equals = '\0';
        setenv(*e, equals + 1, 1);
        *equals = '=';
    }
    for (int s = 1; s < SIGNALS; s++)
        if (s != SIGKILL && s != SIGSTOP) sigaction(s, &start.action[s], NULL);
    for (int i = 0; i < LIMITS; i++) setrlimit((__rlimit_resource_t)limit_of[i], &start.limit[i]);
    umask(start.umask);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    optind = 1;
}

/* Create a directory for the test in the directory $variable; set the variable to the new path. */
static void directory_enter(const char *variable, const char *name) {
    const char *all = getenv(variable);
    char path[4096];
    if (!all) return;
    snprintf(path, sizeof path, "%s/%s", all, name);
    mkdir(path, 0777);
    setenv(variable, path, 1);
    if (strcmp(variable, "TUTTI_TEST_DIR") == 0 && chdir(path) != 0) fatal("no directory", path);
}

static void output_to(const char *name) {
    char path[4096];
    const char *dir = getenv("TUTTI_TEST_OUTPUT");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : ".", name);
    const int fd = dir ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (dir && fd < 0) fatal("cannot write", path);
    if (fd < 0) return;
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static void output_back(void) {
    fflush(stdout);
    fflush(stderr);
    dup2(start.out, STDOUT_FILENO);
    dup2(start.err, STDERR_FILENO);
}

/* ---- the tests */

static int make_call(const together_test *t) {
    char words[1024], *argv[32], *at = words;
    int argc = 0;
    snprintf(words, sizeof words, "%s,%s", t->name, t->args);
    for (char *word; argc < 31 && (word = strsep(&at, ",")) && *word;) argv[argc++] = word;
    argv[argc] = NULL;
    return t->main(argc, argv);
}

/* Return the result of this rank: 0 passed, 77 skipped, anything else failed. */
static int run_here(const together_test *t) {
    inits = finalizes = 0;
    int code = make_call(t);
    if (code != 77 && (inits != 1 || finalizes != 1)) {
        fprintf(stderr, "rank %d: MPI_Init called %d times, MPI_Finalize %d\n", rank, inits,
                finalizes);
        code = 1;
    }
    if (tutti__memory_live && tutti__memory_live() != 0) {
        fprintf(stderr, "rank %d: %ld blocks of memory were not freed\n", rank,
                tutti__memory_live());
        code = 1;
    }
    return code;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_case(const together_test *t) {
    surroundings_restore();
    directory_enter("TUTTI_TEST_DIR", t->name);
    directory_enter("TUTTI_TEST_SHM", t->name);
    const double begin = seconds_now();
    if (rank == 0) dprintf(start.news, "@begin %s .\n", t->name);
    output_to(t->name);
    PMPI_Barrier(everybody);
    const int code = run_here(t);
    int worst[2] = {code != 0 && code != 77, code == 77};
    PMPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, everybody);
    output_back();
    const int all = worst[0] ? 1 : worst[1] ? 77 : 0;
    if (rank == 0) dprintf(start.news, "@end %s %d %.2f .\n", t->name, all, seconds_now() - begin);
    return all;
}

static const together_test *test_named(const char *name) {
    for (const together_test *t = together_tests; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    fatal("there is no test of this name", name);
    return NULL;
}

int main(int argc, char **argv) {
    int failed = 0, skipped = 0;
    real_init(&argc, &argv);
    surroundings_note();
    for (int i = 1; i < argc; i++) {
        const int code = run_case(test_named(argv[i]));
        failed += code == 1;
        skipped += code == 77;
    }
    surroundings_restore();
    real_finalize();
    for (char **e = start.environment; *e; e++) free(*e);
    free(start.environment);
    return failed ? 1 : skipped == argc - 1 ? 77 : 0;
}
