/* The cost of writing the same bytes on several ranks: items of a mesh in one file, each with a
 * random owner, and some of them also on its neighbour.  Variants: only the owners write; the
 * neighbours write, too; of the ranks that share an item, only the highest writes, which gives the
 * same file as the second variant.
 *
 *   first   without a plan: decide, describe, find overlaps, trim, write
 *   again   the same write by the cached plan
 *
 * usage: overlaps DIRECTORY [--items N] [--bytes N] [--shared N] [--rounds N]
 *   --bytes    bytes per item
 *   --shared   one in N items is on two ranks
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "measure/standalone.h"

static void check_call(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

enum { OWNERS, ALL, WINNERS, KINDS };

/* Create the access to this rank's items. */
static tutti_access *create_items_access(tutti_count n, tutti_off bytes, int shared, int kind) {
    tutti_count *index = standalone_alloc((size_t)n, sizeof *index), kept = 0;
    tutti_access *a = NULL;
    for (tutti_count i = 0; i < n; i++) {
        const int owner = (int)(measure_hash((uint64_t)i / 3 + 1) % (uint64_t)standalone_ranks);
        const int both = kind != OWNERS && measure_hash((uint64_t)(n + i)) % (uint64_t)shared == 0;
        const int second = both ? (owner + 1) % standalone_ranks : owner;
        const int best = owner > second ? owner : second;
        if (kind == WINNERS ? best == standalone_rank
                            : owner == standalone_rank || second == standalone_rank)
            index[kept++] = i;
    }
    check_call(tutti_access_indices(0, bytes, kept, index, &a));
    free(index);
    return a;
}

typedef struct {
    tutti_access *access[KINDS];
    char *buf, path[512];
} scene;

static void run_case(measure *m, measure_variant *v, double *value) {
    const scene *s = m->data;
    tutti_options opt;
    tutti_file *f = NULL;
    check_call(tutti_options_init(&opt));
    check_call(tutti_options_set(&opt, "method", "two-phase"));
    check_call(tutti_file_open(MPI_COMM_WORLD, s->path, TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    for (int i = 0; i < 2; i++) {
        const double start = standalone_together();
        check_call(tutti_file_write(f, v->what, s->buf, NULL));
        value[i] = standalone_slowest(measure_now() - start);
    }
    check_call(tutti_file_close(&f));
}

int main(int argc, char **argv) {
    static const char *const values[] = {"first", "again", NULL};
    static const char *const names[KINDS] = {"owners", "all that share", "highest rank"};
    long n = 1 << 19, bytes = 64, shared = 16, rounds = 9;
    const standalone_option options[] = {{"--items", OPTION_NUMBER, &n, 1, 0},
                                         {"--bytes", OPTION_NUMBER, &bytes, 1, 0},
                                         {"--shared", OPTION_NUMBER, &shared, 1, 0},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {0}};
    const standalone program = {"overlaps", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    scene s;
    measure m = {
        .title = "writes", .values = values, .rounds = (int)rounds, .data = &s, .run = run_case};
    snprintf(s.path, sizeof s.path, "%s/overlaps", argv[0]);
    for (int k = 0; k < KINDS; k++) {
        s.access[k] = create_items_access(n, bytes, (int)shared, k);
        measure_add(&m, names[k], s.access[k]);
    }
    const size_t size = (size_t)tutti_access_bytes(s.access[ALL]);
    s.buf = standalone_alloc(size, 1);
    memset(s.buf, standalone_rank, size);
    measure_rounds(&m);
    standalone_report(&m, "");
    for (int k = 0; k < KINDS; k++) tutti_access_free(&s.access[k]);
    if (standalone_rank == 0) unlink(s.path);
    free(s.buf);
    return standalone_end_mpi();
}
