/* TEST ranks=1,5 timeout=60 preload=mpiio */
/* The shared file pointer: no two ranks get the same offset, ordered calls follow the rank order, a new position is
 * valid on all ranks, and no files remain, even if a program is killed.  The tests run in shared memory, and with every
 * rank on a separate simulated node.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi_check.h"

enum { ROUNDS = 40 };

static int remains(const char *dir, const char *part) {
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) n += strstr(e->d_name, part) != NULL;
    if (d) closedir(d);
    return n;
}

/* Count the files of shared pointers that this process has mapped or open: files with a name, and unlinked files. */
static void count_pointers(int *named, int *nameless) {
    char line[4096], link[64];
    *named = *nameless = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "/dev/shm/#") || strstr(line, "/dev/shm/tutti-shm-"))
            ++*(strstr(line, "(deleted)") ? nameless : named);
    if (maps) fclose(maps);
    for (int fd = 3; fd < 256; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, line, sizeof line - 1);
        if (n > 0) line[n] = '\0';
        if (n > 0 && strstr(line, "/.shared.tutti-"))
            ++*(strstr(line, "(deleted)") ? nameless : named);
    }
}

/* Write records of varying length on every rank: (rank, round, length), followed by padding. */
static void write_all_shared(MPI_File fh, int *total) {
    int record[8], sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int n = 3 + (int)rnd(6);
        record[0] = rank, record[1] = round, record[2] = n;
        for (int i = 3; i < n; i++) record[i] = -1;
        if (round % 3 == 2) {
            MPI_Request r;
            CHECK_MPI(MPI_File_iwrite_shared(fh, record, n, MPI_INT, &r));
            CHECK_MPI(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else {
            CHECK_MPI(MPI_File_write_shared(fh, record, n, MPI_INT, MPI_STATUS_IGNORE));
        }
        sum += n;
    }
    MPI_Allreduce(&sum, total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Check that there are no gaps between records, and that the records of each rank are in order. */
static void records_check(MPI_File fh, int total) {
    int *all = calloc((size_t)total + 1, sizeof *all), next[64] = {0}, found = 0;
    MPI_Status status;
    CHECK_MPI(MPI_File_read_at_all(fh, 0, all, total + 1, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), total);
    for (int at = 0; at < total && all[at + 2] >= 3; at += all[at + 2], found++) {
        CHECK(all[at] >= 0 && all[at] < size, "rank %d", all[at]);
        CHECK_EQ(all[at + 1], next[all[at] % 64]++);
    }
    CHECK_EQ(found, ROUNDS * size);
    free(all);
}

static void check_reads(MPI_File fh, int total) {
    int n_local = 0, sum = 0, word;
    MPI_Status status;
    CHECK_MPI(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    for (;;) {
        CHECK_MPI(MPI_File_read_shared(fh, &word, 1, MPI_INT, &status));
        if (count_of(&status, MPI_INT) == 0) break;
        n_local++;
    }
    MPI_Allreduce(&n_local, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, total);
}

static void check_orders(MPI_File fh) {
    int out[5], in[5];
    for (int i = 0; i < 5; i++) out[i] = 10 * rank + i;
    const int n = rank % 3 + (rank == 1 ? 0 : 1);
    int before = 0, all = 0;
    MPI_Exscan(&n, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) before = 0;
    MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_seek_shared(fh, 7, MPI_SEEK_SET));
    CHECK_EQ(shared_of(fh), 7);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_write_ordered(fh, out, n, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write_ordered_begin(fh, out, n, MPI_INT));
    CHECK_MPI(MPI_File_write_ordered_end(fh, out, MPI_STATUS_IGNORE));
    CHECK_EQ(shared_of(fh), 7 + 2 * all);
    for (int k = 0; k < 2; k++) {
        CHECK_MPI(MPI_File_read_at(fh, 7 + k * all + before, in, n, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++) CHECK_EQ(in[i], out[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_seek_shared(fh, -2 * all, MPI_SEEK_CUR));
    CHECK_MPI(MPI_File_read_ordered(fh, in, n, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], out[i]);
}

/* Set the shared pointer `n` times: each setting uses a new word of shared memory, also after the end of a page. */
static void set_pointer_often(MPI_File fh, int n) {
    const char byte = 0;
    for (int i = 0; i < n; i++) {
        CHECK_MPI(MPI_File_seek_shared(fh, i, MPI_SEEK_SET));
        if (i % 100 > 2) continue;
        if (rank == 0) CHECK_MPI(MPI_File_write_shared(fh, &byte, 0, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_EQ(shared_of(fh), i);
    }
}

static void check_all(const char *nodes) {
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    int total = 0, named, nameless;
    MPI_Info_create(&info);
    if (nodes[0]) MPI_Info_set(info, "tutti_nodes", nodes);
    check_where(nodes);
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, test_path("shared"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                            info, &fh));
    CHECK_MPI(MPI_File_set_size(fh, 0));
    CHECK_MPI(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    write_all_shared(fh, &total);
    records_check(fh, total);
    check_reads(fh, total);
    check_orders(fh);
    MPI_Barrier(MPI_COMM_WORLD);
    count_pointers(&named, &nameless);
    CHECK_EQ(named, 0);
    CHECK(nameless > 0, "there is no pointer");
    set_pointer_often(fh, nodes[0] ? 110 : 600);
    CHECK_MPI(MPI_File_close(&fh));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(remains(getenv("TUTTI_TEST_DIR"), ".tutti-"), 0);
    MPI_Info_free(&info);
}

static MPI_File open_as(MPI_Comm comm, const char *name, const char *nodes) {
    MPI_File fh = MPI_FILE_NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    if (nodes[0]) MPI_Info_set(info, "tutti_nodes", nodes);
    CHECK_MPI(MPI_File_open(comm, test_path(name), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh));
    MPI_Info_free(&info);
    return fh;
}

static rlim_t limit(int resource, rlim_t value) {
    struct rlimit now;
    getrlimit(resource, &now);
    const rlim_t before = now.rlim_cur;
    now.rlim_cur = value < now.rlim_max ? value : now.rlim_max;
    setrlimit(resource, &now);
    return before;
}

/* With only ordered calls, a single rank accesses the pointer; the name of its file is removed nevertheless. */
static void check_ordered_only(void) {
    const char byte = (char)rank;
    int named, nameless;
    check_where("ordered");
    MPI_File fh = open_as(MPI_COMM_WORLD, "shared", "single");
    CHECK_MPI(MPI_File_write_ordered(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    count_pointers(&named, &nameless);
    CHECK(named == 0 && nameless > 0, "%d with a name, %d without", named, nameless);
    CHECK_MPI(MPI_File_close(&fh));
}

/* One rank cannot access the shared pointer: it is not moved on any rank, and afterwards all ranks have the same
 * pointer. */
static void check_one_rank_failing(void) {
    const int last = rank == size - 1;
    MPI_Offset at = -1;
    char out[10], in[10];
    check_where("one rank has no descriptors");
    MPI_File fh = open_as(MPI_COMM_WORLD, "cannot", "single");
    const rlim_t before = last ? limit(RLIMIT_NOFILE, 0) : 0;
    CHECK_CLASS(MPI_File_seek_shared(fh, 10, MPI_SEEK_CUR), MPI_ERR_IO);
    if (last) limit(RLIMIT_NOFILE, before);
    memset(out, 'a' + rank, sizeof out);
    CHECK_MPI(MPI_File_write_shared(fh, out, 10, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_get_position_shared(fh, &at));
    CHECK_EQ(at, 10 * size);
    CHECK_EQ(size_of(fh), 10 * size);
    for (int i = 0, found = 0; i < size; i++) {
        CHECK_MPI(MPI_File_read_at(fh, 10 * i, in, 10, MPI_BYTE, MPI_STATUS_IGNORE));
        found += memcmp(in, out, 10) == 0;
        if (i == size - 1) CHECK_EQ(found, 1);
    }
    CHECK_MPI(MPI_File_close(&fh));
}

/* With a limit on file sizes, the file of the shared pointer is smaller, or calls with the shared pointer fail, but no
 * rank is killed.  Uses a new communicator, for which nothing is cached. */
static void check_size_limit(const char *nodes, rlim_t most) {
    MPI_Comm turned;
    char byte = 0;
    check_where(nodes[0] ? "small files on many machines" : "small files");
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
    const rlim_t before = limit(RLIMIT_FSIZE, most);
    MPI_File fh = open_as(turned, "small", nodes);
    const int code = MPI_File_write_shared(fh, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK_EQ(class_of(code), most < 8 ? MPI_ERR_IO : MPI_SUCCESS);
    CHECK_MPI(MPI_File_close(&fh));
    limit(RLIMIT_FSIZE, before);
    MPI_Comm_free(&turned);
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    check_seed(5 + (uint64_t)rank);
    check_all("");
    check_all("single");
    check_ordered_only();
    check_one_rank_failing();
    check_size_limit("", 1000);
    check_size_limit("single", 1000);
    if (size > 1)
        check_size_limit("", 4); /* not with one rank, for which the pointer may be cached */
    return test_end();
}
