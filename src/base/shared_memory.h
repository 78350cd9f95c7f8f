/* base: memory that processes of one machine share.  It is a file of /dev/shm without a name, so
 * that the kernel releases it with the last process that maps it, also after kill -9.
 *
 * One process creates it and sends the description to the others, which open it through
 * /proc/PID/fd.  If they have no permission (another PID namespace, a process that is not
 * dumpable), the creator links it to a random name until they have opened it.
 *
 * Uses the C library only: the drop-in compiles this file too.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SHARED_MEMORY_H
#define TUTTI_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* The data that another process needs to open it; may be sent as bytes. */
typedef struct tutti__shared_memory {
    int64_t pid, fd; /* of the creator, which must keep fd open until all others have opened it */
    uint64_t device, inode; /* identify the file */
    uint64_t random;        /* part of the name, if it is linked */
} tutti__shared_memory;

/* Create `bytes` zeroed bytes.  The pages are allocated: a full /dev/shm is an error here, not a SIGBUS later.  Returns a
 * file descriptor to map and close, or -1 with errno set. */
int tutti__shared_memory_create(size_t bytes, tutti__shared_memory *out);

/* Open the memory that another process has created: through /proc, or by its name if it is linked.  A file descriptor that
 * refers to any other file is never returned.  Returns -1 with errno set if it cannot be opened. */
int tutti__shared_memory_open(const tutti__shared_memory *memory, int linked);

/* Link it to a name, for processes that cannot open it through /proc; called by the creator, which
 * unlinks it as soon as all others have opened it or failed.  Returns 0, or -1 with errno set. */
int tutti__shared_memory_link(const tutti__shared_memory *memory);
void tutti__shared_memory_unlink(const tutti__shared_memory *memory);

#endif
