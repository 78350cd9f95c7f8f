/* base: memory shared by processes of one machine.  It is an unnamed file in /dev/shm, so
 * that the kernel releases it when the last process that maps it ends, even after SIGKILL.
 *
 * One process creates the file and sends its description to the others, which open it through
 * /proc/PID/fd.  If they have no permission (another PID namespace, a process that is not
 * dumpable), the creator links the file to a random name until they have opened it.
 *
 * Uses the C library only, because the drop-in MPI-IO library compiles this file, too.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SHARED_MEMORY_H
#define TUTTI_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Data that another process needs to open the memory; may be sent as bytes. */
typedef struct tutti__shared_memory {
    /* creator, and its descriptor, which stays open until all others have opened the file */
    int64_t pid, fd;
    uint64_t device, inode; /* identity of the file */
    uint64_t random;        /* part of the file name after tutti__shared_memory_link */
} tutti__shared_memory;

/* Create `bytes` zeroed bytes.  The pages are allocated, so a full /dev/shm is an error here, not a
 * SIGBUS later.  Returns a file descriptor to map and close, or -1 with errno set. */
int tutti__shared_memory_create(size_t bytes, tutti__shared_memory *out);

/* Open memory that another process has created: through /proc, or by its name if `linked`.  A
 * descriptor of any other file is never returned.  Returns -1 with errno set if the memory cannot
 * be opened. */
int tutti__shared_memory_open(const tutti__shared_memory *memory, int linked);

/* Link the file to a name, for processes that cannot open it through /proc.  The creator calls
 * this, and unlinks the name when all others have opened the file or failed.  Returns 0, or -1 with
 * errno set. */
int tutti__shared_memory_link(const tutti__shared_memory *memory);
void tutti__shared_memory_unlink(const tutti__shared_memory *memory);

#endif
