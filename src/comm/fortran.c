/* comm: conversion of MPI handles from Fortran integers.  Open MPI converts an unknown integer to
 * NULL, which is replaced here; MPICH's integers are its handles, which its functions validate.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <tutti/fortran.h>

static int mpi_is_up(void) {
    int begun = 0, ended = 0;
    if (MPI_Initialized(&begun) != MPI_SUCCESS || MPI_Finalized(&ended) != MPI_SUCCESS) return 0;
    return begun && !ended;
}

MPI_Comm tutti_comm_f2c(int handle) {
    const MPI_Comm comm = mpi_is_up() ? MPI_Comm_f2c((MPI_Fint)handle) : MPI_COMM_NULL;
    return comm ? comm : MPI_COMM_NULL;
}

MPI_Datatype tutti_datatype_f2c(int handle) {
    const MPI_Datatype type = mpi_is_up() ? MPI_Type_f2c((MPI_Fint)handle) : MPI_DATATYPE_NULL;
    return type ? type : MPI_DATATYPE_NULL;
}

MPI_Info tutti_info_f2c(int handle) {
    const MPI_Info info = mpi_is_up() ? MPI_Info_f2c((MPI_Fint)handle) : MPI_INFO_NULL;
    return info ? info : MPI_INFO_NULL;
}
