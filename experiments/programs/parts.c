/* Many variables in one operation, compared with one call per variable and with one call for a
 * single access; and conversion of values, compared with unconverted values.
 *
 *   small     32 variables of 4 KiB per rank, each a block of the variable
 *   shapes    32 variables of 64 KiB per rank, each of another shape: blocks, strides, short runs
 *   convert   one variable of doubles: unconverted, big-endian, from int64; and unconverted with checksums of
 *             blocks of 64 KiB
 *
 * Reported: seconds per operation.
 *
 * usage: parts DIRECTORY [--rounds N] [--operations N] [--mebibytes N]
 *   --operations   operations per round
 *   --mebibytes    MiB of doubles per rank
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include "collective/layer.h"
#include "measure/standalone.h"

enum { VARIABLES = 32 };

static long rounds = 9, operations = 20, mebibytes = 16;
static char path[512];
static tutti_file *file;

static void check_call(tutti_err err) {
    standalone_check(err == TUTTI_OK, tutti_last_message());
}

/* ---- the data */

typedef struct {
    int n;
    tutti_part part[VARIABLES];
    tutti_access *access[VARIABLES], *all;
    char *memory;
    tutti_off bytes;
} variables;

/* Create the access to variable i, which begins at *at and has `bytes` bytes per rank; i selects
 * the shape.  *at becomes the end of the variable. */
static tutti_access *make_shape(int i, tutti_off bytes, tutti_off *at) {
    static const tutti_off runs[] = {0, 64, 512, 4096, 24, 8, 1024, 256};
    tutti_access *a = NULL;
    const tutti_off run = runs[i % 8];
    if (run == 0) {
        check_call(tutti_access_contiguous(*at + standalone_rank * bytes, bytes, &a));
    } else {
        const tutti_off count = bytes / run + 5 * i;
        check_call(tutti_access_vector(*at + standalone_rank * run, count, run,
                                       run * standalone_ranks, &a));
        bytes = count * run;
    }
    *at += bytes * standalone_ranks;
    return a;
}

static void variables_make(tutti_off bytes, int shapes, variables *v) {
    tutti_off at = 0, memory = 0;
    *v = (variables){.n = VARIABLES};
    for (int i = 0; i < v->n; i++) {
        v->access[i] = make_shape(shapes ? i : 0, bytes, &at);
        v->bytes += tutti_access_bytes(v->access[i]);
    }
    v->memory = standalone_alloc((size_t)v->bytes, 1);
    memset(v->memory, 'a' + standalone_rank, (size_t)v->bytes);
    for (int i = 0; i < v->n; i++) {
        v->part[i] = (tutti_part){.access = v->access[i], .buf = v->memory + memory};
        memory += tutti_access_bytes(v->access[i]);
    }
    check_call(tutti_access_concat(v->n, (const tutti_access *const *)v->access, NULL, &v->all));
}

static void variables_free(variables *v) {
    for (int i = 0; i < v->n; i++) tutti_access_free(&v->access[i]);
    tutti_access_free(&v->all);
    free(v->memory);
}

/* ---- methods */

typedef struct {
    const char *name;
    void (*move)(const variables *v, int is_write);
    tutti_conversion convert; /* conversion of the part `convert` */
} method;

static void in_parts(const variables *v, int is_write) {
    check_call(is_write ? tutti_file_write_parts(file, v->n, v->part, NULL)
                        : tutti_file_read_parts(file, v->n, v->part, NULL));
}

/* Write with checksums, as higher layers do; reads have none. */
static void with_sums(const variables *v, int is_write) {
    tutti__checksums sums = {.bytes = 64 << 10};
    const tutti__transfer t = {.name = "write",
                               .file = file,
                               .is_write = is_write,
                               .access = v->access[0],
                               .buf = v->memory,
                               .checksums = is_write ? &sums : NULL};
    check_call(tutti__transfer_run(&t, NULL));
    tutti__checksums_free(&sums);
}

static void one_by_one(const variables *v, int is_write) {
    for (int i = 0; i < v->n; i++)
        check_call(is_write ? tutti_file_write(file, v->access[i], v->part[i].buf, NULL)
                            : tutti_file_read(file, v->access[i], v->part[i].buf, NULL));
}

static void as_one(const variables *v, int is_write) {
    check_call(is_write ? tutti_file_write(file, v->all, v->memory, NULL)
                        : tutti_file_read(file, v->all, v->memory, NULL));
}

typedef struct {
    variables *v;
    int is_write, operations;
} operation;

static void run_method(measure *m, measure_variant *variant, double *value) {
    const operation *o = m->data;
    const method *w = variant->what;
    if (o->v->n == 1) o->v->part[0].convert = w->convert;
    const double start = standalone_together();
    for (int k = 0; k < o->operations; k++) w->move(o->v, o->is_write);
    value[0] = standalone_slowest((measure_now() - start) / o->operations);
}

static void compare_values(const char *name, int n, const method *methods, operation o) {
    static const char *const values[] = {"seconds", NULL};
    for (o.is_write = 1; o.is_write >= 0; o.is_write--) {
        char title[32];
        snprintf(title, sizeof title, "%s %s", name, o.is_write ? "write" : "read");
        measure m = {.title = title,
                     .values = values,
                     .rounds = (int)rounds,
                     .warmup = 1, /* the warm-up round creates the plans */
                     .data = &o,
                     .run = run_method};
        for (int i = 0; i < n; i++) measure_add(&m, methods[i].name, &methods[i]);
        measure_rounds(&m);
        standalone_report(&m, "");
    }
}

static void open_file(const char *how) {
    tutti_options opt;
    check_call(tutti_options_init(&opt));
    check_call(tutti_options_set(&opt, "method", how));
    check_call(tutti_file_open(MPI_COMM_WORLD, path,
                               TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE, &opt,
                               &file));
}

static void compare_many(const char *name, tutti_off bytes, int shapes) {
    static const method methods[] = {
        {"parts", in_parts, {0}}, {"one access", as_one, {0}}, {"32 calls", one_by_one, {0}}};
    variables v;
    open_file("auto");
    variables_make(bytes, shapes, &v);
    compare_values(name, 3, methods, (operation){.v = &v, .operations = (int)operations});
    check_call(tutti_file_close(&file));
    variables_free(&v);
}

/* Compare conversions of one variable in the file; all variants use staging. */
static void compare_conversions(void) {
    static const method methods[] = {
        {"as it is", in_parts, {0}},
        {"big-endian", in_parts, {TUTTI_FLOAT64, TUTTI_FLOAT64, TUTTI_BIG_ENDIAN, 0, {0, 0}}},
        {"from int64", in_parts, {TUTTI_FLOAT64, TUTTI_INT64, TUTTI_NATIVE_ENDIAN, 0, {0, 0}}},
        {"with checksums", with_sums, {0}}};
    variables v = {.n = 1, .bytes = (tutti_off)mebibytes << 20};
    open_file("two-phase");
    check_call(tutti_access_contiguous(standalone_rank * v.bytes, v.bytes, &v.access[0]));
    v.memory = standalone_alloc((size_t)v.bytes, 1);
    for (tutti_off i = 0; i < v.bytes / 8; i++) ((double *)(void *)v.memory)[i] = (double)i;
    v.part[0] = (tutti_part){.access = v.access[0], .buf = v.memory};
    compare_values("convert", 4, methods, (operation){.v = &v, .operations = 1});
    check_call(tutti_file_close(&file));
    variables_free(&v);
}

int main(int argc, char **argv) {
    const standalone_option options[] = {{"--rounds", OPTION_NUMBER, &rounds, 1, 0},
                                         {"--operations", OPTION_NUMBER, &operations, 1, 0},
                                         {"--mebibytes", OPTION_NUMBER, &mebibytes, 1, 1024},
                                         {0}};
    const standalone program = {"parts", "DIRECTORY", options, 1};
    standalone_start_mpi(&program, &argc, &argv);
    snprintf(path, sizeof path, "%s/tutti-parts", argv[0]);
    compare_many("small", 4096, 0);
    compare_many("shapes", 65536, 1);
    compare_conversions();
    if (standalone_rank == 0) (void)unlink(path);
    return standalone_end_mpi();
}
