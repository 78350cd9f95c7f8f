/* Node sets by Debian's libexodusii, in a serial program: N sets are defined and written, and read, by the
 * bulk calls (ex_put_sets, ex_get_sets) or, with --single, one by one.  exodus_peers --sets N writes the same
 * sets by Tutti.
 *
 * usage: exodus_sets DIRECTORY [--sets N] [--rounds N] [--single]
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "measure/standalone.h"

enum { MEMBERS = 8 };
static char path[4096];
static long n = 26000, rounds = 5;
static int single;

static void check_call(int status, const char *what) {
    if (status < 0) standalone_fail("%s: %d", what, status);
}

static void put_all(const ex_set *sets, char **names, const double *x) {
    int eight = 8, file_bytes = 8;
    const int file = ex_create(path, EX_CLOBBER | EX_LARGE_MODEL, &eight, &file_bytes);
    check_call(file, "ex_create");
    check_call(ex_put_init(file, "sets", 1, (int)(4 * n), 0, 0, (int)n, 0), "ex_put_init");
    check_call(ex_put_coord(file, x, NULL, NULL), "ex_put_coord");
    if (!single) check_call(ex_put_sets(file, (size_t)n, sets), "ex_put_sets");
    for (long k = 0; k < n && single; k++) {
        check_call(ex_put_set_param(file, EX_NODE_SET, sets[k].id, MEMBERS, 0), "ex_put_set_param");
        check_call(ex_put_set(file, EX_NODE_SET, sets[k].id, sets[k].entry_list, NULL),
                   "ex_put_set");
    }
    check_call(ex_put_names(file, EX_NODE_SET, names), "ex_put_names");
    check_call(ex_close(file), "ex_close");
}

static void get_all(ex_set *sets) {
    int eight = 8, file_bytes = 0;
    float version = 0;
    const int file = ex_open(path, EX_READ, &eight, &file_bytes, &version);
    check_call(file, "ex_open");
    if (!single) check_call(ex_get_sets(file, (size_t)n, sets), "ex_get_sets");
    for (long k = 0; k < n && single; k++)
        check_call(ex_get_set(file, EX_NODE_SET, sets[k].id, sets[k].entry_list, NULL),
                   "ex_get_set");
    check_call(ex_close(file), "ex_close");
}

typedef struct {
    ex_set *sets, *got;
    int *list, *read;
    char **names;
    double *x;
} scene;

static void run_case(measure *m, measure_variant *v, double *value) {
    const scene *s = m->data;
    (void)v;
    const double start = measure_now();
    put_all(s->sets, s->names, s->x);
    const double put = measure_now();
    get_all(s->got);
    value[0] = put - start;
    value[1] = measure_now() - put;
    standalone_check(memcmp(s->list, s->read, (size_t)n * MEMBERS * sizeof *s->list) == 0,
                     "wrong members were read");
    unlink(path);
}

int main(int argc, char **argv) {
    static const char *const values[] = {"seconds", "read_seconds", NULL};
    const standalone_option options[] = {{"--sets", OPTION_NUMBER, &n, 1, 1 << 24},
                                         {"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--single", OPTION_FLAG, &single, 0, 0},
                                         {0}};
    const standalone program = {"exodus_sets", "DIRECTORY", options, 1};
    standalone_start(&program, argc, argv);
    snprintf(path, sizeof path, "%s/exodus_sets.e", argv[0]);
    const size_t sets = (size_t)n;
    scene s = {standalone_alloc(sets, sizeof *s.sets),
               standalone_alloc(sets, sizeof *s.got),
               standalone_alloc(sets * MEMBERS, sizeof *s.list),
               standalone_alloc(sets * MEMBERS, sizeof *s.read),
               standalone_alloc(sets, sizeof *s.names),
               standalone_alloc(4 * sets, sizeof *s.x)};
    for (long k = 0; k < n; k++) {
        s.names[k] = standalone_alloc(1, 32);
        snprintf(s.names[k], 32, "set_%ld", k);
        for (int i = 0; i < MEMBERS; i++)
            s.list[k * MEMBERS + i] = (int)((4 * k + i) % (4 * n) + 1);
        s.sets[k] = (ex_set){.id = 10 + 3 * k,
                             .type = EX_NODE_SET,
                             .num_entry = MEMBERS,
                             .entry_list = s.list + k * MEMBERS};
        s.got[k] = s.sets[k];
        s.got[k].entry_list = s.read + k * MEMBERS;
    }
    measure m = {
        .title = "node sets", .values = values, .rounds = (int)rounds, .data = &s, .run = run_case};
    measure_add(&m, single ? "libexodusii, one by one" : "libexodusii, in bulk", NULL);
    measure_rounds(&m);
    standalone_report(&m, "");
    for (long k = 0; k < n; k++) free(s.names[k]);
    free(s.sets), free(s.got), free(s.list), free(s.read), free(s.names), free(s.x);
    return standalone_end();
}
