/* The MPI library's own collective calls on the same pattern, said as datatypes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

static int mpi_failed(const bench_job *job, const char *what, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return cli_error("%s of '%s': %s", what, job->path, text);
}

static int run_peer(bench_job *job, bench_entry *e) {
    (void)e;
    const bench_pattern *p = job->pattern;
    const int mode = job->is_write ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    MPI_File file;
    MPI_Status status;
    int code = MPI_File_open(job->world->comm, job->path, mode, MPI_INFO_NULL, &file);
    if (code != MPI_SUCCESS) return mpi_failed(job, "MPI_File_open", code);
    code = MPI_File_set_view(file, 0, MPI_BYTE, p->file_type, "native", MPI_INFO_NULL);
    if (code == MPI_SUCCESS)
        code = job->is_write ? MPI_File_write_all(file, job->user, 1, p->memory_type, &status)
                             : MPI_File_read_all(file, job->user, 1, p->memory_type, &status);
    const int closed = MPI_File_close(&file);
    if (code != MPI_SUCCESS) return mpi_failed(job, "collective access", code);
    return closed == MPI_SUCCESS ? 0 : mpi_failed(job, "MPI_File_close", closed);
}

const bench_runner bench_peer = {.run = run_peer};
