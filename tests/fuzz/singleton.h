/* MPI in a fuzz target: initialized once and never finalized, although commands call MPI_Init and
 * MPI_Finalize repeatedly.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FUZZ_SINGLETON_H
#define TUTTI_TESTS_FUZZ_SINGLETON_H

#include <ftw.h>
#include <mpi.h>
#include "fuzz.h"
#include "tokens.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

int MPI_Init(int *argc, char ***argv) {
    int done = 0;
    PMPI_Initialized(&done);
    return done ? MPI_SUCCESS : PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
    return MPI_SUCCESS;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS || chdir(fuzz_directory()) != 0) abort();
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    return ftw->level > 0 ? remove(path) : 0;
}

/* Remove all files in fuzz_directory(). */
static inline void fuzz_clean(void) {
    (void)!nftw(fuzz_directory(), remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Call the function of a command with the given words, as main does. */
#define FUZZ_RUN(function, ...)                                            \
    do {                                                                   \
        char *words_[] = {__VA_ARGS__, NULL};                              \
        (void)function((int)(sizeof words_ / sizeof *words_) - 1, words_); \
    } while (0)

#endif
