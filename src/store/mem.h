/* store: location of the files of the store mem.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MEM_H
#define TUTTI_MEM_H

#include "base/error_impl.h"

/* The file that holds the bytes of `path`; free the text with tutti__free. */
tutti_err tutti__mem_path(const char *path, char **path_out) TUTTI_MUST_USE;

#endif
