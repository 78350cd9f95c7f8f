/* TEST ranks=1,3 timeout=120 */
/* Failures in all operations on arrays: each file access and each allocation of one rank fails once.
 * All ranks return the same error, nothing hangs or leaks, and an incomplete new file is not a valid
 * array.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "array/arrays.h"

static char path[512], second[520];
static const tutti_array_spec spec = {.ndims = 2, .shape = {40, 30}, .type = TUTTI_INT16};
enum { MOST = 400 };

enum { CREATE, OPEN, WRITE, READ, FILL, RESIZE, SYNC, AHEAD, COPY, LOCAL, LOCAL_WRITE, DEEDS };
static const char *const names[] = {"create", "open",  "write", "read",  "fill",       "resize",
                                    "sync",   "ahead", "copy",  "local", "local write"};

static tutti_distribution *rows(void) {
    tutti_distribution *d = NULL;
    const tutti_dist_dim dims[2] = {{TUTTI_DIST_CYCLIC, ranks, 0, NULL},
                                    {TUTTI_DIST_NONE, 1, 0, NULL}};
    CHECK_OK(tutti_distribution_make(2, spec.shape, dims, &d));
    return d;
}

/* The objects that an operation uses. */
typedef struct {
    tutti_array *a, *b;
    tutti_distribution *d;
    int16_t *v;
    tutti_slice s;
} scene;

static int is_local(int deed) {
    return deed == LOCAL || deed == LOCAL_WRITE;
}

static scene scene_make(int deed, const tutti_options *opt) {
    scene s = {.d = rows(), .v = calloc(40 * 30, sizeof *s.v)};
    s.s = tutti_slice_all(2, spec.shape);
    s.s.lo[0] = is_local(deed) ? 0 : rank;
    s.s.stride[0] = is_local(deed) ? 1 : ranks;
    if (is_local(deed)) s.s.hi[0] = (40 - rank + ranks - 1) / ranks;
    for (int i = 0; i < 40 * 30; i++) s.v[i] = (int16_t)(i + rank);
    const tutti_options none = options_of("");
    if (deed == COPY)
        CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, second, &spec, &none, &s.b), TUTTI_OK);
    if (deed == CREATE || deed == LOCAL) return s;
    if (deed == LOCAL_WRITE) {
        CHECK_SAME(tutti_array_create_local(MPI_COMM_WORLD, path, &spec, s.d, &none, &s.a),
                   TUTTI_OK);
    } else {
        CHECK_SAME(tutti_array_create(MPI_COMM_WORLD, path, &spec, &none, &s.a), TUTTI_OK);
    }
    CHECK_SAME(tutti_array_write(s.a, &s.s, NULL, s.v), TUTTI_OK);
    CHECK_SAME(tutti_array_close(&s.a), TUTTI_OK);
    if (deed == OPEN) return s;
    (void)same_everywhere(
        tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, opt, &s.a));
    return s;
}

static tutti_err make_step(scene *s, int deed, const tutti_options *opt) {
    tutti_err err;
    switch (deed) {
    case CREATE:
        return tutti_array_create(MPI_COMM_WORLD, path, &spec, opt, &s->a);
    case OPEN:
        return tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, opt, &s->a);
    case WRITE:
    case LOCAL_WRITE:
        return tutti_array_write(s->a, &s->s, NULL, s->v);
    case READ:
        return tutti_array_read(s->a, &s->s, NULL, s->v);
    case FILL: {
        const int16_t one = 1;
        return tutti_array_fill(s->a, &one);
    }
    case RESIZE:
        err = same_everywhere(tutti_array_resize(s->a, 50));
        return err == TUTTI_OK ? tutti_array_resize(s->a, 20) : err;
    case SYNC:
        return tutti_array_sync(s->a);
    case AHEAD:
        err = same_everywhere(tutti_array_prefetch(s->a, &s->s));
        return err == TUTTI_OK ? tutti_array_read(s->a, &s->s, NULL, s->v) : err;
    case COPY:
        return tutti_array_copy(s->a, s->b, 500, NULL, NULL);
    default:
        return tutti_array_create_local(MPI_COMM_WORLD, path, &spec, s->d, opt, &s->a);
    }
}

/* Check that the handle still works after a failure, and that the array can be opened again unchanged;
 * a failed creation may leave no array. */
static void check_contents(scene *s, int deed, tutti_err err, tutti_err fault) {
    tutti_array *a = NULL;
    tutti_array_spec seen;
    if (s->a && deed != CREATE && deed != LOCAL && deed != OPEN) {
        const tutti_slice none = {.stride = {1, 1}};
        const tutti_err still = same_everywhere(tutti_array_read(s->a, &none, NULL, NULL));
        CHECK(still == TUTTI_OK || still == fault, "%s", tutti_last_message());
    }
    if (s->a) (void)same_everywhere(tutti_array_close(&s->a));
    if (s->b) (void)same_everywhere(tutti_array_close(&s->b));
    MPI_Barrier(MPI_COMM_WORLD);
    const tutti_err again =
        same_everywhere(tutti_array_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, NULL, &a));
    if (deed != CREATE && deed != LOCAL) CHECK(again == TUTTI_OK, "%s", tutti_last_message());
    if (err == TUTTI_OK) CHECK(again == TUTTI_OK, "%s", tutti_last_message());
    if (!a) return;
    tutti_array_describe(a, &seen);
    CHECK(seen.shape[0] == 40 || deed == RESIZE, "%lld rows", (long long)seen.shape[0]);
    if (deed == READ || deed == SYNC || deed == OPEN) { /* no element was written */
        int16_t *v = calloc(40 * 30, sizeof *v);
        CHECK_SAME(tutti_array_read(a, &s->s, NULL, v), TUTTI_OK);
        CHECK(v[7] == 7 + rank, "changed");
        free(v);
    }
    CHECK_SAME(tutti_array_close(&a), TUTTI_OK);
}

static void scene_end(scene *s) {
    char own_path[600];
    tutti_distribution_free(&s->d);
    free(s->v);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own_path, sizeof own_path, "%s.%d", path, rank);
    (void)unlink(own_path);
    file_remove(path);
    file_remove(second);
}

/* ---- files */

static int file_trouble(int deed, const char *what, int n, const char *error, tutti_err code) {
    const int who = n % ranks;
    char text[100], where[160];
    snprintf(text, sizeof text, "method=%s fault=%d:%s:%d:%s", n % 2 ? "two-phase" : "list", who,
             what, n / ranks + 1, error);
    snprintf(where, sizeof where, "%s, %s", names[deed], text);
    check_where(where);
    const tutti_options opt = options_of(text);
    scene s = scene_make(deed, &opt);
    tutti_err err = TUTTI_OK;
    if (s.a || deed == OPEN || deed == CREATE || deed == LOCAL)
        err = same_everywhere(make_step(&s, deed, &opt));
    else
        err = code; /* opening the array has already failed with the expected error */
    CHECK(err == TUTTI_OK || err == code, "%s", tutti_last_message());
    if (err != TUTTI_OK && s.a) CHECK_EQ(tutti_last_error()->rank, who);
    check_contents(&s, deed, err, code);
    scene_end(&s);
    return err != TUTTI_OK;
}

static void test_files(void) {
    static const struct {
        const char *what, *error;
        tutti_err code;
    } troubles[] = {{"write", "ENOSPC", TUTTI_ERR_NO_SPACE}, {"read", "EIO", TUTTI_ERR_IO},
                    {"resize", "EFBIG", TUTTI_ERR_TOO_BIG},  {"size", "EIO", TUTTI_ERR_IO},
                    {"sync", "EIO", TUTTI_ERR_IO},           {"open", "EIO", TUTTI_ERR_OPEN}};
    int failed[DEEDS] = {0};
    for (int deed = 0; deed < DEEDS; deed++)
        for (size_t t = 0; t < sizeof troubles / sizeof troubles[0]; t++)
            for (int n = 0, quiet = 0; n < MOST && quiet < ranks; n++) {
                const int start_err =
                    file_trouble(deed, troubles[t].what, n, troubles[t].error, troubles[t].code);
                quiet = start_err ? 0 : quiet + 1;
                failed[deed] += start_err;
                if (check_failures_) return;
            }
    for (int deed = 0; deed < DEEDS; deed++)
        CHECK(failed[deed] > 0, "%s never failed", names[deed]);
}

/* ---- memory */

static int still_pending(int k) {
    int pending = 0;
    for (int i = 0; i < k && !pending; i++) {
        void *p = tutti__malloc(1);
        pending = p == NULL;
        tutti__free(p);
    }
    tutti__memory_fail_after(0);
    return pending;
}

/* Let the n-th allocation of rank `who` fail; return 0 if this rank makes fewer than n. */
static int memory_trouble(int deed, int n, int who) {
    char where[100];
    int more = 0;
    snprintf(where, sizeof where, "%s, allocation %d of rank %d", names[deed], n, who);
    check_where(where);
    const tutti_options opt = options_of(n % 2 ? "method=two-phase" : "method=list");
    scene s = scene_make(deed, &opt);
    if (rank == who) tutti__memory_fail_after(n);
    const tutti_err err = same_everywhere(make_step(&s, deed, &opt));
    if (rank == who) more = !still_pending(n);
    MPI_Bcast(&more, 1, MPI_INT, who, MPI_COMM_WORLD);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_NOMEM || err < 0, "%s", tutti_last_message());
    check_contents(&s, deed, err, TUTTI_OK);
    scene_end(&s);
    return more;
}

static void test_memory(void) {
    for (int deed = 0; deed < DEEDS; deed++)
        for (int n = 1; n < MOST && memory_trouble(deed, n, n % ranks); n++)
            if (check_failures_) return;
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 857);
    snprintf(path, sizeof path, "%s", scratch_path("trouble"));
    snprintf(second, sizeof second, "%s.b", path);
    test_memory();
    const account start = account_now();
    test_files();
    if (!check_failures_) account_check(start);
    return harness_end();
}
