/* powercut_writer DIRECTORY durable|visible   makes a dataset and does everything to it that a writer can do, telling powercut_record.so
 * what it is like after each step.
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "powercut_steps.h"

#include <dlfcn.h>

static tutti_dataset *d;
static void (*mark)(const char *);
static const char *path;
static tutti_dataset_options opt;

static void expect(tutti_err err, const char *what) {
    if (err == TUTTI_OK) return;
    fprintf(stderr, "%s: %s\n", what, tutti_last_message());
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* It is like this from now on. */
static void done(void) {
    char state[2000];
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!powercut_state(d, state, sizeof state)) expect(TUTTI_ERR_STATE, "state");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && mark) mark(state);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void reopen(int more, int per_file) {
    if (d) expect(tutti_dataset_close(&d), "close");
    opt.indices_per_file = per_file;
    expect(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | more, &opt, &d),
           "open");
    powercut_describe(d);
    done();
}

static void put(int64_t index, double time) {
    expect(powercut_put(d, index, time), "put");
    done();
}

static void number(int64_t n) {
    expect(tutti_dataset_info_set(d, NULL, "number", TUTTI_INT64, 1, &n), "info");
    done();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    path = argv[1];
    mark = (void (*)(const char *))dlsym(RTLD_DEFAULT, "powercut_mark");
    tutti_dataset_options_init(&opt);
    opt.container = powercut_container();
    opt.level = strcmp(argv[2], "durable") == 0 ? TUTTI_DURABLE : TUTTI_VISIBLE;
    reopen(TUTTI_CREATE, 0);
    put(0, 0);
    number(1);
    put(1, 1);
    put(2, 2);
    expect(tutti_dataset_begin(d, TUTTI_STATE, 3, 3), "begin"); /* given up */
    expect(tutti_dataset_discard(d), "discard");
    done();
    reopen(0, 2); /* now two indices per file */
    put(4, 4);
    put(5, 5);
    number(2);
    put(6, 6);
    expect(tutti_dataset_erase_after(d, 3), "erase");
    done();
    put(5, 5.5);
    put(6, 6.5);
    put(8, 8);
    expect(tutti_dataset_drop_oldest(d, 2), "drop");
    done();
    put(9, 9);
    expect(tutti_dataset_erase_after(d, -1), "erase all");
    done();
    put(0, 0.25);
    reopen(TUTTI_CREATE | TUTTI_TRUNCATE, 0);
    put(3, 3.25);
    put(4, 4.25);
    expect(tutti_dataset_close(&d), "close");
    MPI_Finalize();
    return 0;
}
