/* Node sets by Debian's libexodusii, in a serial program: N of them defined and written, and read, by its bulk calls
 * (ex_put_sets, ex_get_sets) and with --single one by one.  Beside bench/exodus_peers.c --sets N: the same sets.
 *
 * usage: exodus_sets DIR [--sets N] [--rounds R] [--single]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 8, MOST_ROUNDS = 101 };
static char path[4096];

static void must(int status, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "exodus_sets: %s: %d\n", what, status);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_all(int n, const ex_set *sets, char **names, const double *x, int single) {
    int eight = 8, file_bytes = 8;
    const int file = ex_create(path, EX_CLOBBER | EX_LARGE_MODEL, &eight, &file_bytes);
    must(file, "ex_create");
    must(ex_put_init(file, "sets", 1, 4 * n, 0, 0, n, 0), "ex_put_init");
    must(ex_put_coord(file, x, NULL, NULL), "ex_put_coord");
    if (!single) must(ex_put_sets(file, (size_t)n, sets), "ex_put_sets");
    for (int k = 0; k < n && single; k++) {
        must(ex_put_set_param(file, EX_NODE_SET, sets[k].id, MEMBERS, 0), "ex_put_set_param");
        must(ex_put_set(file, EX_NODE_SET, sets[k].id, sets[k].entry_list, NULL), "ex_put_set");
    }
    must(ex_put_names(file, EX_NODE_SET, names), "ex_put_names");
    must(ex_close(file), "ex_close");
}

static void get_all(int n, ex_set *sets, int single) {
    int eight = 8, file_bytes = 0;
    float version = 0;
    const int file = ex_open(path, EX_READ, &eight, &file_bytes, &version);
    must(file, "ex_open");
    if (!single) must(ex_get_sets(file, (size_t)n, sets), "ex_get_sets");
    for (int k = 0; k < n && single; k++)
        must(ex_get_set(file, EX_NODE_SET, sets[k].id, sets[k].entry_list, NULL), "ex_get_set");
    must(ex_close(file), "ex_close");
}

int main(int argc, char **argv) {
    int n = 26000, rounds = 5, single = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: exodus_sets DIR [--sets N] [--rounds R] [--single]\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/exodus_sets.e", argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--sets") == 0) n = atoi(value);
        if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(value);
        if (strcmp(argv[i], "--single") == 0) single = 1;
    }
    if (n < 1 || rounds < 1 || rounds >= MOST_ROUNDS) return 2;
    ex_set *sets = calloc((size_t)n, sizeof *sets), *got = calloc((size_t)n, sizeof *got);
    int *list = calloc((size_t)n * MEMBERS, sizeof *list),
        *read = calloc((size_t)n * MEMBERS, sizeof *read);
    char **names = calloc((size_t)n, sizeof *names);
    double *x = calloc(4 * (size_t)n, sizeof *x), put[MOST_ROUNDS], get[MOST_ROUNDS];
    if (!sets || !got || !list || !read || !names || !x) return 1;
    for (int k = 0; k < n; k++) {
        names[k] = calloc(1, 16);
        snprintf(names[k], 16, "set_%d", k);
        for (int i = 0; i < MEMBERS; i++) list[k * MEMBERS + i] = (4 * k + i) % (4 * n) + 1;
        sets[k] = (ex_set){.id = 10 + 3 * k,
                           .type = EX_NODE_SET,
                           .num_entry = MEMBERS,
                           .entry_list = list + k * MEMBERS};
        got[k] = sets[k];
        got[k].entry_list = read + k * MEMBERS;
    }
    for (int r = 0; r < rounds; r++) {
        const double t0 = now();
        put_all(n, sets, names, x, single);
        const double t1 = now();
        get_all(n, got, single);
        put[r] = t1 - t0;
        get[r] = now() - t1;
        if (memcmp(list, read, (size_t)n * MEMBERS * sizeof *list) != 0) return 1;
        unlink(path);
    }
    qsort(put, (size_t)rounds, sizeof *put, by_size);
    qsort(get, (size_t)rounds, sizeof *get, by_size);
    printf("%d node sets of %d, libexodusii, serial, %s, %d rounds: defined and written in %.3f s "
           "(%.3f to %.3f), "
           "read in %.3f s (%.3f to %.3f)\n",
           n, MEMBERS, single ? "one by one" : "in bulk", rounds, put[rounds / 2], put[0],
           put[rounds - 1], get[rounds / 2], get[0], get[rounds - 1]);
    for (int k = 0; k < n; k++) free(names[k]);
    free(sets), free(got), free(list), free(read), free(names), free(x);
    return 0;
}
