/* Memory allocation that never returns NULL.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"

#include <stdlib.h>
#include <string.h>

static void *check_memory(void *p, size_t bytes) {
    if (p) return p;
    fprintf(stderr, "tutti: cannot allocate %zu bytes\n", bytes);
    int running = 0;
    MPI_Initialized(&running);
    if (running) MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
    exit(CLI_FAILED);
}

void *cli_malloc(size_t bytes) {
    return check_memory(malloc(bytes ? bytes : 1), bytes);
}

void *cli_zeros(size_t bytes) {
    return check_memory(calloc(bytes ? bytes : 1, 1), bytes);
}

void *cli_array(tutti_count n, tutti_count each, size_t size) {
    tutti_count bytes;
    const int fits = tutti_size_product(3, (tutti_count[]){n, each, (tutti_count)size}, &bytes);
    return fits ? cli_malloc((size_t)bytes) : check_memory(NULL, SIZE_MAX);
}

void *cli_realloc(void *p, size_t bytes) {
    return check_memory(realloc(p, bytes ? bytes : 1), bytes);
}

char *cli_strdup(const char *s) {
    const size_t n = strlen(s) + 1;
    return memcpy(cli_malloc(n), s, n);
}

void *cli_keep(void ***kept, int *keeps, size_t bytes) {
    *kept = cli_realloc(*kept, ((size_t)*keeps + 1) * sizeof **kept);
    return (*kept)[(*keeps)++] = cli_malloc(bytes);
}
