/* base: validation of UTF-8 text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_UTF8_H
#define TUTTI_UTF8_H

#include <stddef.h>

/* Return whether the n bytes are UTF-8 as RFC 3629 defines it (no overlong forms, no surrogates),
 * without zero bytes. */
int tutti__utf8_valid(const void *bytes, size_t n);

#endif
