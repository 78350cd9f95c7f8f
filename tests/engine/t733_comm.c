/* TEST ranks=2 timeout=120 own=1 */
/* The pipeline comm: each window is one request, as without overlap, and while the request blocks, the
 * exchange of the next window continues.  The test needs no timing: no write of the aggregator ends before
 * the other rank has sent its last message, which it delays until the aggregator should be in its first
 * write.  If the aggregator is slower, the test checks less but does not fail.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <fcntl.h>
#include <sys/stat.h>

/* WINDOW: bytes, so large that messages of half a window exceed MPI's eager limit; GATE: descriptor of a
 * FIFO. */
enum { WINDOW = 1 << 20, GATE = 199 };

static char path[512], gate[520];
static unsigned char *buffer;

/* ---- the second message of a window is late, and the write is released when it has been sent */

static int messages = -1; /* sent so far; -1: do not delay any */
static MPI_Request late = MPI_REQUEST_NULL;

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    const int is_late = messages >= 0 && count == WINDOW / 2 && ++messages == 2;
    for (int i = 0, flag; is_late && i < 100; i++) {
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    const int code = PMPI_Isend(buf, count, type, to, tag, comm, request);
    if (is_late) late = *request;
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    const int is_late = late != MPI_REQUEST_NULL && *request == late;
    const int code = PMPI_Test(request, flag, status);
    if (is_late && *flag) {
        late = MPI_REQUEST_NULL;
        messages++;
        CHECK(write(GATE, "", 1) == 1, "no gate");
    }
    return code;
}

static tutti_file *open_file(const char *exchange, const char *pipeline, const char *fault) {
    char all[300];
    tutti_file *f = NULL;
    snprintf(all, sizeof all,
             "method=two-phase cb_nodes=1 store=posix window_size=%d %s pipeline=%s fault=%s",
             WINDOW, exchange, pipeline, fault);
    tutti_options opt = options_of(all);
    CHECK_OK(
        tutti_file_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &f));
    return f;
}

/* Make an access to this rank's share of each window. */
static tutti_access *shares(int windows) {
    tutti_access *a = NULL;
    const tutti_off share = WINDOW / ranks;
    CHECK_OK(tutti_access_vector(rank * share, windows, share, WINDOW, &a));
    return a;
}

static void one_request(const char *exchange, const char *pipeline) {
    tutti_stats s;
    tutti_access *a = shares(3);
    tutti_file *f = open_file(exchange, pipeline, "");
    for (int is_write = 1; is_write >= 0; is_write--) {
        CHECK_OK(is_write ? tutti_file_write(f, a, buffer, NULL)
                          : tutti_file_read(f, a, buffer, NULL));
        tutti_file_stats(f, &s, NULL);
        CHECK_EQ(s.windows, rank == 0 ? 3 : 0);
        CHECK_EQ(is_write ? s.file_writes : s.file_reads, s.windows);
        CHECK_EQ(is_write ? s.file_write_bytes : s.file_read_bytes, s.windows * WINDOW);
    }
    CHECK_OK(tutti_file_close(&f));
    tutti_access_free(&a);
}

static void check_overlap(const char *exchange) {
    char byte;
    tutti_access *a = shares(2);
    tutti_file *f = open_file(exchange, "comm", "*:held:199");
    messages = rank == 1 ? 0 : -1;
    CHECK_SAME(tutti_file_write(f, a, buffer, NULL), TUTTI_OK);
    CHECK_EQ(messages, rank == 1 ? 3 : -1);
    messages = -1;
    CHECK_OK(tutti_file_close(&f));
    if (rank == 0) CHECK(read(GATE, &byte, 1) == 1, "the gate does not shut");
    MPI_Barrier(MPI_COMM_WORLD);
    tutti_access_free(&a);
}

/* Open a FIFO as descriptor GATE on both ranks. */
static void gate_make(void) {
    snprintf(gate, sizeof gate, "%s.gate", path);
    if (rank == 0) CHECK(mkfifo(gate, 0600) == 0, "no fifo");
    MPI_Barrier(MPI_COMM_WORLD);
    const int fd = open(gate, O_RDWR);
    CHECK(fd >= 0 && dup2(fd, GATE) == GATE && close(fd) == 0, "no gate");
    MPI_Barrier(MPI_COMM_WORLD);
    file_remove(gate);
}

int main(int argc, char **argv) {
    static const char *const exchanges[] = {"exchange=two-sided step=4",
                                            "exchange=two-sided step=5", "exchange=fence",
                                            "exchange=lock"};
    harness_begin(&argc, &argv, 733);
    buffer = calloc(3, WINDOW);
    snprintf(path, sizeof path, "%s", scratch_path("comm"));
    gate_make();
    for (int i = 0; i < 4; i++) {
        check_where(exchanges[i]);
        one_request(exchanges[i], "none");
        one_request(exchanges[i], "comm");
    }
    check_where("");
    check_overlap("exchange=two-sided step=3");
    check_overlap("exchange=two-sided step=4");
    close(GATE);
    free(buffer);
    file_remove(path);
    return harness_end();
}
