/* Tests with all kinds of failures for t909_runner.sh, linked with tests/support/together.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "support/together.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long live;

long tutti__memory_live(void);
long tutti__memory_live(void) {
    return live;
}

static int begin_case(void) {
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int end(int code) {
    MPI_Finalize();
    return code;
}

/* Change environment, umask, signal handlers and directory, as a test may do. */
static int untidy(int argc, char **argv) {
    begin_case();
    printf("untidy says %s\n", argc == 3 ? argv[2] : "?");
    setenv("TUTTI_UNTIDY", "1", 1);
    umask(0777);
    signal(SIGXFSZ, SIG_IGN);
    return end(chdir("/"));
}

/* Check that untidy() has had no effect on the environment, umask, signals and directory of this
 * test. */
static int tidy(int argc, char **argv) {
    (void)argc, (void)argv;
    char here[4096];
    const mode_t mask = umask(022);
    const char *dir = getenv("TUTTI_TEST_DIR");
    begin_case();
    const int same = !getenv("TUTTI_UNTIDY") && mask != 0777 && signal(SIGXFSZ, SIG_DFL) == SIG_DFL;
    return end(!(same && dir && getcwd(here, sizeof here) && strstr(here, "/tidy")));
}

static int skipped(int argc, char **argv) {
    (void)argc, (void)argv;
    begin_case();
    return end(77);
}

static int fails(int argc, char **argv) {
    (void)argc, (void)argv;
    return end(begin_case() == 1 ? 1 : 0); /* only rank 1 fails */
}

static int leaks(int argc, char **argv) {
    (void)argc, (void)argv;
    begin_case();
    live = 3;
    return end(0);
}

static int freed(int argc, char **argv) {
    (void)argc, (void)argv;
    live = 0;
    begin_case();
    return end(0);
}

static int dies(int argc, char **argv) {
    (void)argc, (void)argv;
    if (begin_case() == 1) abort();
    MPI_Barrier(MPI_COMM_WORLD);
    return end(0);
}

static int hangs(int argc, char **argv) {
    (void)argc, (void)argv;
    if (begin_case() == 0)
        for (;;) pause();
    return end(0);
}

static int last(int argc, char **argv) {
    return freed(argc, argv);
}

const together_test together_tests[] = {
    {"untidy", untidy, "first,second"},
    {"tidy", tidy, ""},
    {"skipped", skipped, ""},
    {"fails", fails, ""},
    {"leaks", leaks, ""},
    {"freed", freed, ""},
    {"dies", dies, ""},
    {"hangs", hangs, ""},
    {"last", last, ""},
    {NULL, NULL, NULL},
};
