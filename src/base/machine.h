/* base: what does not change about the machine, asked for once.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_MACHINE_H
#define TUTTI_MACHINE_H

/* Cores that were online when somebody first asked, at least 1.  The C library reads a file for it
 * every time. */
int tutti__cores(void);

#endif
