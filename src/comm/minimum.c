/* comm: the minimum over all ranks by MPI_Iallreduce.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/minimum.h"

tutti_err tutti__minimum_begin(tutti__team *t, int64_t local, tutti__minimum *m) {
    m->local = m->least = local;
    m->active = 0;
    TUTTI_MPI(MPI_Iallreduce(&m->local, &m->least, 1, MPI_INT64_T, MPI_MIN, t->comm, &m->request));
    m->active = 1;
    return TUTTI_OK;
}

tutti_err tutti__minimum_test(tutti__minimum *m, int *done_out) {
    *done_out = 1;
    if (!m->active) return TUTTI_OK;
    const int code = MPI_Test(&m->request, done_out, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        m->active = 0;
        m->least = m->local;
        *done_out = 1;
        return tutti__error_mpi(code, "MPI_Test");
    }
    if (*done_out) m->active = 0;
    return TUTTI_OK;
}
