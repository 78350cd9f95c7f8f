/* TEST ranks=1,3 timeout=60 */
/* A file that shrinks while it is read, by every method: all ranks return the error, and the
 * handle stays usable.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

enum { PIECE = 100, PIECES = 6000, LEFT = 10 }; /* LEFT: pieces per rank after truncation */

static char path[512];

/* Truncate the file to LEFT pieces per rank after the first bytes have been read. */
static void truncate_file(void *context, tutti_off done, tutti_off total, const char *phase) {
    int *shrunk = context;
    (void)total, (void)phase;
    if (done == 0 || *shrunk) return;
    CHECK(truncate(path, (off_t)LEFT * PIECE * (ranks + 1)) == 0, "truncate");
    *shrunk = 1;
}

static void combination(const char *text) {
    const tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    tutti_access *a = NULL;
    tutti_off count = -7;
    int shrunk = 0;
    /* there is a gap after the pieces of all ranks */
    const int64_t size = (int64_t)PIECE * PIECES * (ranks + 1);
    unsigned char *v = calloc(1, (size_t)size), *got = calloc(PIECES, PIECE);
    check_where(text);
    file_put(path, v, size);
    CHECK_OK(tutti_access_vector((tutti_off)rank * PIECE, PIECES, PIECE,
                                 (tutti_off)PIECE * (ranks + 1), &a));
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &f), TUTTI_OK);
    tutti_file_on_progress(f, truncate_file, &shrunk);
    CHECK_SAME(tutti_file_read(f, a, got, &count), TUTTI_ERR_TRUNCATED);
    CHECK_EQ(count, -7);
    tutti_file_on_progress(f, NULL, NULL);
    CHECK_SAME(tutti_file_read(f, a, got, &count), TUTTI_OK);
    CHECK_EQ(count, LEFT * PIECE);
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    tutti_access_free(&a);
    free(v);
    free(got);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 732);
    snprintf(path, sizeof path, "%s", scratch_path("shrinks"));
    combination("method=two-phase cb_buffer_size=64k window_size=4k cb_nodes=1");
    combination("method=two-phase cb_buffer_size=64k window_size=4k exchange=two-sided step=4");
    combination("method=two-phase cb_buffer_size=64k window_size=4k nodes=single store=threads");
    combination("method=list");
    combination("method=independent");
    combination("method=sieve sieve_size=4k");
    file_remove(path);
    return harness_end();
}
