/* base: the version of the library that is running.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/types.h>

int tutti_version(void) {
    return TUTTI_VERSION;
}

const char *tutti_version_string(void) {
    return TUTTI_VERSION_STRING;
}
