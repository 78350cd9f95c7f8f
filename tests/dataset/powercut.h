/* The log of powercut_record.so: a sequence of records, each followed by its payload.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_POWERCUT_H
#define TUTTI_TESTS_POWERCUT_H

#include <stdint.h>

enum {
    POWERCUT_CREATE = 'c', /* payload: path relative to the root */
    POWERCUT_MKDIR = 'd',
    POWERCUT_UNLINK = 'u', /* payload: path, 0 */
    POWERCUT_RENAME = 'r', /* payload: old path, 0, new path */
    POWERCUT_LINK = 'k',   /* payload: existing path, 0, new path */
    POWERCUT_WRITE = 'w',  /* payload: bytes written at offset `at` */
    POWERCUT_PUNCH = 'h',  /* payload: int64_t, length of the hole at offset `at` */
    POWERCUT_LENGTH = 'l', /* `at`: new length of the file */
    POWERCUT_SYNC = 's',   /* `at`: call site; the file or directory was synced to the device */
    POWERCUT_SITE = 'n',   /* `at`: call site; payload: its return addresses as text */
    POWERCUT_MARK = 'm'    /* payload: the state that readers must find from now on */
};

enum { POWERCUT_SQLITE = 1 }; /* the call site of all syncs of SQLite */

typedef struct powercut_record {
    char what;
    uint64_t object; /* inode number */
    int64_t at, bytes;
} powercut_record;

#endif
