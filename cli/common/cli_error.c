/* Messages of the command, and agreement of ranks on failures and signals.  A step that may fail on
 * some ranks only must end with cli_agree, so that all ranks take the same branch and rank 0 can
 * print the errors of other ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"
#include "measure/measure.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char message[1024];

int cli_error(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char text[sizeof message];
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(message, sizeof message, "%s", cli_shown(text)); /* the text may contain file names */
    return 1;
}

int cli_error_errno(const char *what, const char *path) {
    return cli_error("%s '%s': %s", what, path, strerror(errno));
}

static int world_ranks;

int cli_error_tutti(void) {
    static const char prefix[] = "rank 0: ";
    char *text = cli_strdup(tutti_last_message()), *at = strstr(text, prefix);
    /* With one rank, the number of the rank is removed from the message. */
    if (at && world_ranks == 1 && (at == text || at[-1] == ' ')) {
        const char *rest = at + strlen(prefix);
        if (at - text >= 2 && strncmp(at - 2, ", ", 2) == 0) at[-2] = ':', at[-1] = ' ';
        memmove(at, rest, strlen(rest) + 1);
    }
    cli_error("%s", text);
    free(text);
    return 1;
}

const char *cli_message(void) {
    return message;
}

/* Wait for a request: test a few times, then sleep between tests, with increasing intervals. */
static void wait_politely(MPI_Request *request) {
    struct timespec nap = {0, 50000};
    int done = 0;
    for (int looks = 0; MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;
         looks++) {
        if (looks < 4)
            sched_yield();
        else
            nanosleep(&nap, NULL);
        if (looks > 20 && nap.tv_nsec < 3000000) nap.tv_nsec += nap.tv_nsec / 16;
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

double cli_now(void) {
    return measure_now();
}

/* Determine the ranks of w->comm, and whether they share a node. */
static void find_ranks(cli_world *w) {
    MPI_Comm node;
    int ranks;
    MPI_Comm_rank(w->comm, &w->rank);
    MPI_Comm_size(w->comm, &w->ranks);
    MPI_Comm_split_type(w->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    w->one_node = !cli_agree(w, ranks != w->ranks);
}

void cli_world_init(cli_world *w) {
    w->comm = MPI_COMM_WORLD;
    find_ranks(w);
    world_ranks = w->ranks;
}

void cli_world_first(const cli_world *all, int ranks, cli_world *out) {
    *out = (cli_world){.comm = MPI_COMM_NULL, .ranks = ranks, .rank = -1};
    MPI_Comm_split(all->comm, all->rank < ranks ? 0 : MPI_UNDEFINED, all->rank, &out->comm);
    if (out->comm != MPI_COMM_NULL) find_ranks(out);
}

void cli_world_free(cli_world *w) {
    if (w->comm != MPI_COMM_NULL) MPI_Comm_free(&w->comm);
}

int cli_agree(const cli_world *w, int failed) {
    int local = failed ? w->rank : w->ranks, first = 0;
    MPI_Request request;
    MPI_Iallreduce(&local, &first, 1, MPI_INT, MPI_MIN, w->comm, &request);
    wait_politely(&request);
    if (first == w->ranks) return 0;
    MPI_Bcast(message, sizeof message, MPI_CHAR, first, w->comm);
    return 1;
}

void cli_barrier(const cli_world *w) {
    MPI_Request request;
    MPI_Ibarrier(w->comm, &request);
    wait_politely(&request);
}

double cli_max(const cli_world *w, double value) {
    double max = 0;
    MPI_Request request;
    MPI_Iallreduce(&value, &max, 1, MPI_DOUBLE, MPI_MAX, w->comm, &request);
    wait_politely(&request);
    return max;
}

void *cli_gather(const cli_world *w, const void *items, int n, size_t size, int *n_out) {
    int *counts = cli_malloc(2 * (size_t)w->ranks * sizeof *counts), *at = counts + w->ranks;
    MPI_Datatype type;
    MPI_Type_contiguous((int)size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Allgather(&n, 1, MPI_INT, counts, 1, MPI_INT, w->comm);
    *n_out = 0;
    for (int r = 0; r < w->ranks; *n_out += counts[r++]) at[r] = *n_out;
    void *all = cli_malloc((size_t)*n_out * size);
    MPI_Allgatherv(items, n, type, all, counts, at, type, w->comm);
    MPI_Type_free(&type);
    free(counts);
    return all;
}

void cli_sums(const cli_world *w, int n, double *values) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, w->comm, &request);
    wait_politely(&request);
}
