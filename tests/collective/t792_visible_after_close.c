/* TEST ranks=2,3 timeout=60 own=1 */
/* Data of all ranks is visible to every rank after close: each rank opens the file without the library
 * and compares every byte.  Every file has a different name, so that caches of network file system
 * clients have no effect.  t793_gluster.sh runs this test across hosts, on a file system whose clients
 * have caches; otherwise it runs on one machine.  Options come from the environment.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"
#include "collective/model.h"

static const char *const methods[] = {"two-phase", "list", "independent", "auto"};
static const int64_t bytes[] = {100000, 10000, 10000, 100000}; /* fewer if pieces are small */
/* In this order: interleaved pieces, columns of an array, random items without holes, and with
 * holes. */
static const int kinds[] = {CYCLIC, COLUMNS, SCATTER, SPARSE};
enum { METHODS = sizeof methods / sizeof methods[0], KINDS = sizeof kinds / sizeof kinds[0] };

static int rank, ranks, seen;

/* Apply the requests of all ranks to the model; write the request of this rank to the file. */
static void write_one(tutti_file *f, model *m, int kind, int64_t scale) {
    const uint64_t salt = rnd64() >> 8;
    tutti_off count = -1;
    for (int r = 0; r < ranks; r++) {
        request q = request_make(kind, r, ranks, salt, scale);
        request_fill(&q, salt + (uint64_t)r);
        model_write(m, &q, 0);
        if (r == rank) {
            CHECK_OK(tutti_file_write(f, q.access, q.base, &count));
            CHECK_EQ(count, tutti_access_bytes(q.access));
        }
        request_free(&q);
    }
}

static void combination(const tutti_options *opt, int kind, int64_t scale, const char *path) {
    const int mode = TUTTI_WRITE | TUTTI_CREATE | TUTTI_EXCLUSIVE;
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    CHECK_OK(tutti_file_open(MPI_COMM_WORLD, path, mode, opt, &f));
    if (!f) return;
    write_one(f, &m, kind, scale + rnd(scale));
    write_one(f, &m, kind, scale / 2 + rnd(scale / 2)); /* overwrite a part */
    CHECK_OK(tutti_file_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    file_compare(path, &m, "after close");
    seen++;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    free(m.v);
}

/* ---- overwritten holes, with a separate simulated cache per rank */

enum { PIECE = 40, PIECES = 1000, EXTENT = 2 * PIECE * PIECES };

static const tutti_store_ops *real;
static unsigned char cache[EXTENT];

static tutti_err cached_refresh(tutti_store *s) {
    const tutti_io_run all = {0, cache, sizeof cache};
    tutti_off done = 0;
    return real->read(s, &all, 1, &done);
}

static tutti_err cached_read(tutti_store *s, const tutti_io_run *runs, int n, tutti_off *done_out) {
    (void)s;
    *done_out = 0;
    for (int i = 0; i < n; i++) {
        memcpy(runs[i].memory, cache + runs[i].offset, runs[i].bytes);
        *done_out += (tutti_off)runs[i].bytes;
    }
    return TUTTI_OK;
}

static tutti_err cached_write(tutti_store *s, const tutti_io_run *runs, int n) {
    for (int i = 0; i < n; i++) memcpy(cache + runs[i].offset, runs[i].memory, runs[i].bytes);
    return real->write(s, runs, n);
}

/* Write n pieces, every second one from number `first` on, distributed cyclically over the ranks. */
static void write_pieces(tutti_file *f, model *m, int first, int n, uint64_t key) {
    for (int r = 0; r < ranks; r++) {
        request q = {NULL, NULL, NULL, 0};
        const tutti_off step = 2 * PIECE;
        CHECK_OK(tutti_access_vector(first * PIECE + r * step, n / ranks, PIECE, step * ranks,
                                     &q.access));
        request_memory(&q);
        request_fill(&q, key + (uint64_t)r);
        model_write(m, &q, 0);
        if (r == rank) CHECK_OK(tutti_file_write(f, q.access, q.base, NULL));
        request_free(&q);
    }
}

static void holes_are_fresh(const char *method, const char *path) {
    tutti_options opt;
    tutti_file *f = NULL;
    model m = {NULL, 0, 0};
    check_where(method);
    tutti_options_defaults(&opt);
    opt.rmw = 1;
    opt.cb_nodes = ranks;
    opt.store = TUTTI_STORE_POSIX;
    CHECK_OK(tutti_options_set(&opt, "nodes", "single"));
    CHECK_OK(tutti_options_set(&opt, "method", method));
    CHECK_OK(
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    if (!f) return;
    tutti_store_ops cached = *f->store->ops;
    real = f->store->ops;
    cached.refresh = cached_refresh;
    cached.read = cached_read;
    cached.write = cached_write;
    f->store->ops = &cached;
    f->layout.incoherent = 1;
    memset(cache, 0, sizeof cache);
    for (int round = 0; round < 3; round++) {
        write_pieces(f, &m, 0, PIECES, 10 + (uint64_t)round);
        write_pieces(f, &m, 1, PIECES / 2, 50 + (uint64_t)round); /* the windows are different */
    }
    write_pieces(f, &m, 0, PIECES, 99);
    f->store->ops = real;
    CHECK_OK(tutti_file_close(&f));
    MPI_Barrier(MPI_COMM_WORLD);
    file_compare(path, &m, "holes");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    free(m.v);
}

int main(int argc, char **argv) {
    char dir[512], path[600], where[64];
    tutti_options opt;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(20261121u + (unsigned)ranks);
    snprintf(dir, sizeof dir, "%s", scratch_path("seen"));
    CHECK_OK(tutti_options_init(&opt));
    for (int i = 0; i < METHODS; i++)
        for (int k = 0; k < KINDS; k++) {
            snprintf(where, sizeof where, "%s, shape %d", methods[i], kinds[k]);
            snprintf(path, sizeof path, "%s.%d.%d", dir, i, k);
            check_where(where);
            CHECK_OK(tutti_options_set(&opt, "method", methods[i]));
            combination(&opt, kinds[k], bytes[i], path);
        }
    holes_are_fresh("two-phase", dir);
    holes_are_fresh("sieve", dir);
    check_where("");
    const int rc = check_done_all();
    if (rank == 0 && argc > 1)
        printf("seen: %s: %d files by %d ranks\n", rc ? "failed" : "passed", seen, ranks);
    fflush(stdout);
    MPI_Finalize();
    return rc;
}
