/* A program of a user in C++: the destructor of an object closes a file, also after MPI_Finalize.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <tutti/tutti.h>
#include <vector>

class File {
  public:
    File(MPI_Comm comm, const char *path) {
        tutti_options opt;
        if (tutti_options_init(&opt)) throw std::runtime_error(tutti_last_message());
        if (tutti_file_open(comm, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE, &opt, &file))
            throw std::runtime_error(tutti_last_message());
    }
    ~File() {
        if (file && tutti_file_close(&file) == TUTTI_ERR_STATE) std::puts("closed too late");
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    tutti_off write(const tutti_access *a, const void *bytes) {
        tutti_off count = 0;
        if (tutti_file_write(file, a, bytes, &count))
            throw std::runtime_error(tutti_last_message());
        return count;
    }

  private:
    tutti_file *file = nullptr;
};

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::vector<double> local(1000, rank);
    const tutti_off bytes = static_cast<tutti_off>(local.size() * sizeof(double));
    tutti_access *a = nullptr;
    if (tutti_access_contiguous(rank * bytes, bytes, &a)) a = nullptr;
    File late(MPI_COMM_WORLD, argv[1]);
    const bool good = late.write(a, local.data()) == bytes;
    tutti_access_free(&a);
    MPI_Finalize();
    return good ? 0 : 1;
}
