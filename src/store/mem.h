/* store: location of the files of the store mem.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MEM_H
#define TUTTI_MEM_H

#include "base/error_impl.h"

/* Return the path of the file that has the bytes of the mem file `path`; free it with
 * tutti__free. */
tutti_err tutti__mem_path(const char *path, char **path_out) TUTTI_MUST_USE;

#endif
