/* Record the functions that one call of the library enters, for scripts/call_graph.py.  The library is
 * compiled so that every function reports its entry and exit to this program; rank 0 prints those of the
 * requested call.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#define UNWATCHED __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void *function, void *site) UNWATCHED;
void __cyg_profile_func_exit(void *function, void *site) UNWATCHED;

enum { MOST = 1 << 20 };
static struct {
    void *function;
    char kind;
} event[MOST];
static int events, watching;
static _Thread_local int main_thread;

UNWATCHED static void record_call(void *function, char kind) {
    if (!watching || !main_thread || events == MOST) return;
    event[events].function = function;
    event[events++].kind = kind;
}

UNWATCHED void __cyg_profile_func_enter(void *function, void *site) {
    (void)site;
    record_call(function, '>');
}

UNWATCHED void __cyg_profile_func_exit(void *function, void *site) {
    (void)site;
    record_call(function, '<');
}

UNWATCHED static void check_call(tutti_err err) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "%s\n", tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Create a quarter of an array of doubles in short rows, as in the first example of README. */
UNWATCHED static tutti_access *make_quarter(int rank) {
    tutti_access *a = NULL;
    const tutti_section block = {.ndims = 2,
                                 .element_size = sizeof(double),
                                 .shape = {512, 512},
                                 .lo = {256 * (rank / 2), 256 * (rank % 2)},
                                 .hi = {256 * (rank / 2 + 1), 256 * (rank % 2 + 1)}};
    check_call(tutti_access_section(&block, NULL, &a));
    return a;
}

UNWATCHED int main(int argc, char **argv) {
    int rank = 0;
    tutti_file *f = NULL;
    tutti_request *r = NULL;
    static double data[256 * 256];
    main_thread = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) return 2;
    const char *what = argv[1];
    tutti_access *a = make_quarter(rank);
    check_call(tutti_file_open(MPI_COMM_WORLD, argv[2], TUTTI_WRITE | TUTTI_CREATE, NULL, &f));
    if (strcmp(what, "cached") == 0) check_call(tutti_file_write(f, a, data, NULL));
    watching = rank == 0;
    if (strcmp(what, "start") == 0) {
        check_call(tutti_file_write_start(f, a, data, &r));
        check_call(tutti_request_wait(&r, NULL));
    } else if (strcmp(what, "independent") == 0)
        check_call(tutti_file_write_independent(f, a, data, NULL));
    else
        check_call(tutti_file_write(f, a, data, NULL));
    watching = 0;
    for (int i = 0; i < events; i++) printf("%c %p\n", event[i].kind, event[i].function);
    check_call(tutti_file_close(&f));
    tutti_access_free(&a);
    MPI_Finalize();
    return 0;
}
