/* Program of t605_kills.sh, which preloads the drop-in: creates and releases all kinds of shared memory of
 * Tutti: staging and consensus of collective writes, and the page of a shared file pointer.
 *
 *   kill_target FILE ROUNDS   run ROUNDS rounds; fail if names of Tutti appear in /dev/shm
 *   kill_target FILE          run until killed; each rank writes its process id to FILE.RANK
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static int rank;

static void write_pid(const char *path) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, rank);
    FILE *pid = fopen(name, "w");
    fprintf(pid, "%ld\n", (long)getpid());
    fclose(pid);
}

static void use_shared_memory(const char *path) {
    static char data[100000];
    MPI_Comm comm;
    MPI_File file;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_shared(file, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_File_write_at_all(file, (MPI_Offset)rank * 100, data, i % 2 ? 100 : (int)sizeof data,
                              MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
}

static int names_seen(int watch) {
    _Alignas(struct inotify_event) static char events[1 << 16];
    int seen = 0;
    const ssize_t n = read(watch, events, sizeof events);
    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const struct inotify_event *)(const void *)(events + at);
        if (e->len > 0 && strstr(e->name, "tutti")) {
            printf("/dev/shm/%s was created\n", e->name);
            seen++;
        }
        at += (ssize_t)sizeof *e + e->len;
    }
    return seen;
}

int main(int argc, char **argv) {
    const int rounds = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int watch = inotify_init1(IN_NONBLOCK);
    if (inotify_add_watch(watch, "/dev/shm", IN_CREATE | IN_MOVED_TO) < 0) return 1;
    if (rounds == 0) write_pid(argv[1]);
    for (int i = 0; rounds == 0 || i < rounds; i++) use_shared_memory(argv[1]);
    const int seen = names_seen(watch);
    MPI_Finalize();
    return seen != 0;
}
