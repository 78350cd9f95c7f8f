/* mpiio: properties of datatypes of the program: committed, predefined.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpiio.h"

/* Predefined types are never freed, so a handle always refers to the same type. */
int mpiio_type_is_named(MPI_Datatype type) {
    int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
    MPI_Count n[4];
    PMPI_Type_get_envelope_c(type, &n[0], &n[1], &n[2], &n[3], &combiner);
#else
    int n[3];
    PMPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner);
#endif
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* MPI_Pack fails for a datatype that has not been committed, even with a count of 0. */
int mpiio_type_check(const mpiio_file *f, MPI_Datatype type) {
    char from = 0, to = 0;
    int at = 0;
    if (type == MPI_BYTE) return MPI_SUCCESS;
    if (type == MPI_DATATYPE_NULL)
        return mpiio_complain(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
    if (PMPI_Pack(&from, 0, type, &to, 1, &at, f->ranks->comm) == MPI_SUCCESS) return MPI_SUCCESS;
    return mpiio_complain(MPI_ERR_TYPE, "the datatype is invalid or has not been committed");
}
