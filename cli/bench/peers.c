/* Peers: collective calls of the MPI library on the same pattern, described by datatypes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

static int mpi_failed(const bench_job *job, const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return cli_error("%s of '%s' failed: %s", what, job->path, text);
}

int peer_open(const bench_job *job, MPI_File *out) {
    const int mode = job->is_write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    const int code = MPI_File_open(job->world->comm, job->path, mode, MPI_INFO_NULL, out);
    if (code != MPI_SUCCESS) return mpi_failed(job, "MPI_File_open", code);
    const int viewed =
        MPI_File_set_view(*out, 0, MPI_BYTE, job->pattern->file_type, "native", MPI_INFO_NULL);
    if (viewed == MPI_SUCCESS) return 0;
    MPI_File_close(out);
    return mpi_failed(job, "MPI_File_set_view", viewed);
}

int peer_close(const bench_job *job, MPI_File *file, int code) {
    const int closed = MPI_File_close(file);
    if (code != MPI_SUCCESS) return mpi_failed(job, "collective access", code);
    return closed == MPI_SUCCESS ? 0 : mpi_failed(job, "MPI_File_close", closed);
}

static int run_peer(bench_job *job, bench_entry *e) {
    (void)e;
    MPI_File file;
    MPI_Status status;
    const MPI_Datatype type = job->pattern->memory_type;
    if (peer_open(job, &file)) return 1;
    int code = job->is_write ? MPI_File_write_all(file, job->user, 1, type, &status)
                             : MPI_File_read_all(file, job->user, 1, type, &status);
    if (code == MPI_SUCCESS && job->is_write && job->config->fsync) code = MPI_File_sync(file);
    return peer_close(job, &file, code);
}

const bench_runner bench_peer = {.run = run_peer};
