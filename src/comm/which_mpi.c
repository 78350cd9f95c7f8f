/* comm: two MPIs in one process.  A program that was compiled by one MPI's compiler and linked with
 * a Tutti that was built for another has both, and its communicators mean nothing to us.  Each is
 * known by a symbol that its mpi.h makes programs refer to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/which_mpi.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef OPEN_MPI
static const char ours[] = "Open MPI", other[] = "MPICH", symbol_of_other[] = "MPIR_Dup_fn";
#else
static const char ours[] = "MPICH", other[] = "Open MPI", symbol_of_other[] = "ompi_mpi_comm_world";
#endif

tutti_err tutti__which_mpi(void) {
    static atomic_int found = -1;
    if (found < 0) found = dlsym(RTLD_DEFAULT, symbol_of_other) != NULL;
    TUTTI_CHECK(
        !found, TUTTI_ERR_UNSUPPORTED,
        "this Tutti was built for %s, but the program uses %s: link it with a Tutti that was "
        "built for %s (TUTTI_MPI)",
        ours, other, other);
    return TUTTI_OK;
}
