/* base: constant properties of the machine, determined once.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MACHINE_H
#define TUTTI_MACHINE_H

/* Return the number of cores that were online at the first call, at least 1.  The value is cached,
 * since sysconf reads a file on every call. */
int tutti__cores(void);

#endif
