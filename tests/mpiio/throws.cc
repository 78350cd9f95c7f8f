// Program of t830_fatal.sh: errors on files of a C++ program throw exceptions.
// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstdio>

static int caught(int wanted, MPI::Exception &e) {
    if (e.Get_error_class() == wanted) return 1;
    std::printf("class %d, not %d\n", e.Get_error_class(), wanted);
    return 0;
}

int main(int argc, char **argv) {
    int n = 0;
    char byte = 0;
    MPI::Init(argc, argv);
    MPI::FILE_NULL.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        MPI::File::Open(MPI::COMM_WORLD, argv[2], MPI::MODE_RDONLY, MPI::INFO_NULL);
    } catch (MPI::Exception &e) {
        n += caught(MPI::ERR_NO_SUCH_FILE, e);
    }
    MPI::File f = MPI::File::Open(MPI::COMM_WORLD, argv[1], MPI::MODE_WRONLY | MPI::MODE_CREATE,
                                  MPI::INFO_NULL);
    f.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        f.Read_at(0, &byte, 1, MPI::BYTE);
    } catch (MPI::Exception &e) {
        n += caught(MPI::ERR_ACCESS, e);
    }
    try {
        f.Write_at_all(-1, &byte, 1, MPI::BYTE);
    } catch (MPI::Exception &e) {
        n += caught(MPI::ERR_ARG, e);
    }
    f.Write_at_all(MPI::COMM_WORLD.Get_rank(), &byte, 1, MPI::BYTE);
    f.Close();
    if (n == 3) std::printf("caught all\n");
    MPI::Finalize();
    return n == 3 ? 0 : 1;
}
