/* file: options from an MPI_Info.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/file.h>

#include "base/memory.h"
#include "base/options_impl.h"
#include "comm/mpi_error.h"
#include "comm/which_mpi.h"

static tutti_err info_key(tutti_options *opt, MPI_Info info, const char *key) {
    char old[256];
    int length = 0, found = 0;
    TUTTI_MPI(MPI_Info_get_valuelen(info, key, &length, &found));
    if (!found || tutti_options_get(opt, key, old, sizeof old) != TUTTI_OK) return TUTTI_OK;
    char *value = tutti__calloc((size_t)length + 1, 1);
    if (!value) return TUTTI_ERR_NOMEM;
    const int code = MPI_Info_get(info, key, length, value, &found);
    tutti_err err = code == MPI_SUCCESS ? TUTTI_OK : tutti__error_mpi(code, "MPI_Info_get");
    if (err == TUTTI_OK) err = tutti_options_set(opt, key, value);
    tutti__free(value);
    return err;
}

tutti_err tutti_options_from_info(tutti_options *opt, MPI_Info info) {
    int n = 0;
    TUTTI_CHECK(opt != NULL, TUTTI_ERR_ARG, "argument opt is NULL");
    TUTTI_TRY(tutti__options_begun(opt));
    TUTTI_TRY(tutti__which_mpi());
    if (info == MPI_INFO_NULL) return TUTTI_OK;
    TUTTI_MPI(MPI_Info_get_nkeys(info, &n));
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        TUTTI_MPI(MPI_Info_get_nthkey(info, i, key));
        TUTTI_TRY(info_key(opt, info, key));
    }
    return TUTTI_OK;
}
