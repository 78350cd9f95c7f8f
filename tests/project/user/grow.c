/* Checks every struct that callers allocate and the library fills or reads.  t941_growing_structs.sh compiles
 * this program with the headers of one version and runs it with the library of another; its argument is
 *   (nothing)   both have this version
 *   older       the structs of the library have one more field (the program is older)
 *   newer       the structs of the program have one more field (TUTTI_TEST_GROWN is defined)
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

static int failures;
#define CHECK(cond)                                                                               \
    do {                                                                                          \
        if (!(cond)) {                                                                            \
            failures++;                                                                           \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #cond, tutti_last_message()); \
        }                                                                                         \
    } while (0)

/* Allocate a struct followed by GUARD bytes, which the library must not change. */
enum { GUARD = 4096 };
static void *guarded(size_t size) {
    char *p = malloc(size + GUARD);
    memset(p, 0x5a, size + GUARD);
    return p;
}
static int untouched(const void *p, size_t size) {
    const char *at = (const char *)p + size;
    for (int i = 0; i < GUARD; i++)
        if (at[i] != 0x5a) return 0;
    return 1;
}
#define WHOLE(p) CHECK(untouched((p), sizeof *(p)))

static const char *path, *version;

static void test_options(void) {
    tutti_options *opt = guarded(sizeof *opt), *seen = guarded(sizeof *seen), none;
    tutti_file *f = NULL;
    char value[160];
    memset(&none, 0, sizeof none);
    CHECK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, &none, &f) ==
          TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), "tutti_options_init"));
    CHECK(tutti_options_set(&none, "method", "list") == TUTTI_ERR_ARG);
    CHECK(tutti_options_init_sized(opt, 12) == TUTTI_ERR_ARG);

    tutti_options_defaults(opt);
    WHOLE(opt);
    CHECK(opt->struct_size == sizeof *opt && opt->sub_buffers == 2);
    setenv("TUTTI_CB_NODES", "3", 1);
    CHECK(tutti_options_init(opt) == TUTTI_OK && opt->cb_nodes == 3);
    unsetenv("TUTTI_CB_NODES");
    WHOLE(opt);
    CHECK(tutti_options_set(opt, "method", "list") == TUTTI_OK);
    CHECK(tutti_options_get(opt, "method", value, sizeof value) == TUTTI_OK &&
          strcmp(value, "list") == 0);
    CHECK(tutti_options_from_info(opt, MPI_INFO_NULL) == TUTTI_OK);
    opt->sieve_gap = 12345;
    CHECK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, opt, &f) == TUTTI_OK);
    CHECK(tutti_file_options(f, seen) == TUTTI_OK);
    WHOLE(seen);
    CHECK(seen->method == TUTTI_METHOD_LIST && seen->sieve_gap == 12345 && seen->cb_nodes == 3);
    CHECK(seen->struct_size == sizeof *seen);
    opt->method = TUTTI_METHOD_TWO_PHASE;
    CHECK(tutti_file_change(f, opt) == TUTTI_OK);
    CHECK(tutti_file_close(&f) == TUTTI_OK);
    CHECK(tutti_file_delete(path, opt) == TUTTI_OK);
    if (strcmp(version, "older") == 0) { /* this struct lacks the option `later` */
        CHECK(tutti_options_set(opt, "later", "3") == TUTTI_ERR_OPTION);
        CHECK(strstr(tutti_last_message(), "newer than the program's tutti_options"));
        CHECK(tutti_options_get(opt, "later", value, sizeof value) == TUTTI_ERR_OPTION);
    }
#ifdef TUTTI_TEST_GROWN
    const int newer = strcmp(version, "newer") == 0;
    CHECK(opt->later == (newer ? 0 : 7));
    opt->later = 9;
    CHECK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, opt, &f) ==
          (newer ? TUTTI_ERR_UNSUPPORTED : TUTTI_OK));
    if (f) CHECK(tutti_file_close(&f) == TUTTI_OK);
#endif
    WHOLE(opt);
    free(opt);
    free(seen);
}

static void test_stats(void) {
    tutti_stats *last = guarded(sizeof *last), *all = guarded(sizeof *all);
    tutti_access *a = NULL;
    tutti_file *f = NULL;
    static char buf[5000];
    CHECK(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_WRITE | TUTTI_CREATE, NULL, &f) == TUTTI_OK);
    CHECK(tutti_access_contiguous(0, sizeof buf, &a) == TUTTI_OK);
    CHECK(tutti_file_write(f, a, buf, NULL) == TUTTI_OK);
    CHECK(tutti_file_write(f, a, buf, NULL) == TUTTI_OK);
    tutti_file_stats(f, last, all);
    WHOLE(last);
    WHOLE(all);
    CHECK(last->bytes == 5000 && all->bytes == 10000 && all->operations == 2);
    CHECK(all->seconds_total > 0 && all->seconds_total < 3600);
#ifdef TUTTI_TEST_GROWN
    CHECK(all->later == 0);
#endif
    tutti_access_free(&a);
    CHECK(tutti_file_close(&f) == TUTTI_OK);
    free(last);
    free(all);
}

static void test_profile(void) {
    tutti_profile *p = guarded(sizeof *p), *q = guarded(sizeof *q);
    tutti_filesystem *place = guarded(sizeof *place);
    char file[600];
    snprintf(file, sizeof file, "%s.profile", path);
    CHECK(tutti_profile_filesystem(path, place) == TUTTI_OK);
    tutti_profile_defaults(p, place->type);
    WHOLE(p);
    WHOLE(place);
    p->copy_64 = 1234;
    p->direct_overlap_threads = 0.25;
    CHECK(tutti_profile_save(file, place, p) == TUTTI_OK);
    CHECK(tutti_profile_load(file, place, q) == TUTTI_OK);
    WHOLE(q);
    CHECK(q->copy_64 == 1234 && q->direct_overlap_threads == 0.25 && q->measured == 1);
    remove(file);
    free(p);
    free(q);
    free(place);
}

static void test_arrays(void) {
    tutti_array_spec spec = {.ndims = 2, .shape = {8, 8}, .type = TUTTI_FLOAT64},
                     *seen = guarded(sizeof *seen);
    tutti_slice all = tutti_slice_all(2, spec.shape);
    tutti_section memory = {.shape = {10, 10}, .lo = {1, 1}, .hi = {9, 9}};
    tutti_tiles_spec walk = {.budget = 1 << 20};
    tutti_tile *tile = guarded(sizeof *tile);
    tutti_tiles_stats *walked = guarded(sizeof *walked);
    tutti_array *a = NULL;
    tutti_tiles *t = NULL;
    double in[8][8], frame[10][10] = {{0}};
    char file[600];
    snprintf(file, sizeof file, "%s.tutti", path);
    for (int i = 0; i < 64; i++) in[i / 8][i % 8] = i;
    CHECK(tutti_array_create(MPI_COMM_WORLD, file, &spec, NULL, &a) == TUTTI_OK);
    CHECK(tutti_array_write(a, &all, NULL, in) == TUTTI_OK);
    CHECK(tutti_array_read(a, &all, &memory, frame) == TUTTI_OK && frame[8][8] == 63);
    tutti_array_describe(a, seen);
    WHOLE(seen);
    CHECK(seen->ndims == 2 && seen->shape[1] == 8);
    CHECK(tutti_tiles_begin(a, NULL, &walk, &t) == TUTTI_OK);
    CHECK(tutti_tiles_next(t, tile) == TUTTI_OK && tile->more && tile->in);
    WHOLE(tile);
    tutti_tiles_stats_get(t, walked);
    WHOLE(walked);
    CHECK(walked->tiles == 1 && walked->read_bytes == 512 && walked->seconds_waiting >= 0);
    CHECK(tutti_tiles_end(&t) == TUTTI_OK);

#ifndef TUTTI_TEST_GROWN
    /* reserved fields must be 0 */
    const int last = 1;
    tutti_array *b = NULL;
    tutti_access *access = NULL;
    all.reserved[last] = 1;
    CHECK(tutti_array_write(a, &all, NULL, in) == TUTTI_ERR_ARG);
    CHECK(strstr(tutti_last_message(), "reserved"));
    walk.region = &all;
    CHECK(tutti_tiles_begin(a, NULL, &walk, &t) == TUTTI_ERR_ARG);
    all.reserved[last] = 0;
    walk.reserved[last] = 1;
    CHECK(tutti_tiles_begin(a, NULL, &walk, &t) == TUTTI_ERR_ARG);
    memory.reserved[last] = 1;
    CHECK(tutti_array_read(a, &all, &memory, frame) == TUTTI_ERR_ARG);
    memory.ndims = 2, memory.element_size = 8;
    CHECK(tutti_access_section(&memory, NULL, &access) == TUTTI_ERR_ARG);
    spec.reserved[last] = 1;
    CHECK(tutti_array_create(MPI_COMM_WORLD, file, &spec, NULL, &b) == TUTTI_ERR_ARG);
    CHECK(tutti_array_open(MPI_COMM_WORLD, file, TUTTI_READ, &spec, NULL, &b) == TUTTI_ERR_ARG);
#endif
    CHECK(tutti_array_close(&a) == TUTTI_OK);
    remove(file);
    free(seen);
    free(tile);
    free(walked);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    path = argc > 1 ? argv[1] : "grow.dat";
    version = argc > 2 ? argv[2] : "";
    test_options();
    test_stats();
    test_profile();
    test_arrays();
    remove(path);
    MPI_Finalize();
    return failures != 0;
}
