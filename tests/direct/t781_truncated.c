/* TEST ranks=1,4 timeout=120 own=1 */
/* Reads, by every method, of a file that another process truncates and extends: the result is an exact
 * short count, or an error that is the same on all ranks; never a signal, and never a byte that is
 * neither zero nor in the original file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <sys/wait.h>
#include "harness.h"

enum { PIECE = 512, PIECES = 2048, UNTOUCHED = 0xee, ROUNDS = 12 };

static char path[512];
static tutti_off size;
static int short_counts, errors;

/* Return the byte of the file at an offset, which is neither zero nor UNTOUCHED. */
static unsigned char content(tutti_off at) {
    return (unsigned char)(1 + at % 200);
}

static void fill_file(void) {
    if (rank == 0) {
        unsigned char *v = malloc((size_t)size);
        for (tutti_off i = 0; i < size; i++) v[i] = content(i);
        FILE *f = fopen(path, "w");
        CHECK(f && fwrite(v, 1, (size_t)size, f) == (size_t)size, "%s", path);
        if (f) fclose(f);
        free(v);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Truncate and extend the file in a child process, because a thread would compete with its rank. */
static pid_t truncate_forever(void) {
    const pid_t child = fork();
    if (child != 0) return child;
    uint64_t x = 88172645463325252u;
    for (;;) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const off_t to = (off_t)((x >> 33) % (uint64_t)size);
        if (truncate(path, to) != 0 || truncate(path, (off_t)size) != 0) _exit(1);
        if ((x >> 20) % 4 == 0) usleep(200); /* the file has its full size for a while */
        if ((x >> 22) % 8 == 0 && truncate(path, to) == 0) usleep(1000);
    }
}

/* Make an access of the given kind: contiguous, interleaved, or scattered in memory. */
static tutti_access *access_of(int kind) {
    tutti_access *a = NULL;
    tutti_off *file = NULL, *memory = NULL, *bytes = NULL;
    const tutti_off own_bytes = (tutti_off)PIECE * PIECES;
    if (kind == 0) { /* contiguous */
        CHECK_OK(tutti_access_contiguous(own_bytes * rank, own_bytes, &a));
    } else if (kind == 1) { /* interleaved with other ranks */
        CHECK_OK(tutti_access_vector((tutti_off)PIECE * rank, PIECES, PIECE,
                                     (tutti_off)PIECE * ranks, &a));
    } else { /* scattered in memory only */
        const tutti_count n = own_bytes / 64;
        file = malloc((size_t)n * sizeof *file);
        memory = malloc((size_t)n * sizeof *memory);
        bytes = malloc((size_t)n * sizeof *bytes);
        for (tutti_count i = 0; i < n; i++) {
            file[i] = own_bytes * rank + 64 * i;
            memory[i] = 128 * i;
            bytes[i] = 64;
        }
        CHECK_OK(tutti_access_pieces(n, file, memory, bytes, &a));
    }
    free(file);
    free(memory);
    free(bytes);
    return a;
}

/* Set the offsets in the file and in memory of stream byte i of an access of the given kind. */
static void place_of(int kind, tutti_off i, tutti_off *file, tutti_off *memory) {
    const tutti_off own_bytes = (tutti_off)PIECE * PIECES;
    *file = kind == 1 ? (i / PIECE * ranks + rank) * PIECE + i % PIECE : own_bytes * rank + i;
    *memory = kind == 2 ? i / 64 * 128 + i % 64 : i;
}

static void check_result(int kind, tutti_err err, tutti_off count, const unsigned char *buf) {
    int least = err, most = err;
    const tutti_off own_bytes = (tutti_off)PIECE * PIECES;
    tutti_off wrong = 0;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least == most, "codes from %d to %d", least, most);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_TRUNCATED, "%s", tutti_last_error()->text);
    errors += err != TUTTI_OK;
    if (err != TUTTI_OK) return;
    CHECK(count >= 0 && count <= own_bytes, "%lld bytes", (long long)count);
    short_counts += count < own_bytes;
    for (tutti_off i = 0; i < own_bytes; i++) {
        tutti_off file, memory;
        place_of(kind, i, &file, &memory);
        const unsigned char got = buf[memory];
        wrong += i < count ? got != content(file) && got != 0 : got != UNTOUCHED;
    }
    CHECK(wrong == 0, "%lld of %lld bytes are wrong", (long long)wrong, (long long)count);
}

static void combination(const char *text) {
    const tutti_options opt = options_of(text);
    tutti_file *f = NULL;
    unsigned char *buf = malloc((size_t)2 * PIECE * PIECES);
    check_where(text);
    CHECK_SAME(tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ, &opt, &f), TUTTI_OK);
    for (int kind = 0; kind < 3; kind++) {
        tutti_access *a = access_of(kind);
        fill_file();
        const pid_t child = rank == 0 ? truncate_forever() : 0;
        for (int round = 0; round < ROUNDS; round++) {
            tutti_off count = 0;
            memset(buf, UNTOUCHED, (size_t)2 * PIECE * PIECES);
            const tutti_err err = tutti_file_read(f, a, buf, &count);
            check_result(kind, err, count, buf);
        }
        if (child > 0) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        tutti_access_free(&a);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_SAME(tutti_file_close(&f), TUTTI_OK);
    free(buf);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 781);
    size = (tutti_off)PIECE * PIECES * ranks;
    snprintf(path, sizeof path, "%s", scratch_path("truncated"));
    fill_file();
    combination("");
    combination("method=list");
    combination("method=independent");
    combination("method=sieve");
    combination("method=two-phase");
    combination("method=two-phase exchange=two-sided step=4");
    combination("method=two-phase exchange=two-sided nodes=single");
    combination("method=root");
    combination("method=two-phase store=threads");
    CHECK(short_counts + errors > 0, "no read has met a short file");
    file_remove(path);
    return harness_end();
}
