/* The log of powercut_record.so: records, each followed by its bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_POWERCUT_H
#define TUTTI_TESTS_POWERCUT_H

#include <stdint.h>

enum {
    POWERCUT_CREATE = 'c', /* bytes: the name, from the root on */
    POWERCUT_MKDIR = 'd',
    POWERCUT_UNLINK = 'u', /* bytes: the name, 0 */
    POWERCUT_RENAME = 'r', /* bytes: a name, 0, the other */
    POWERCUT_WRITE = 'w',  /* bytes, at `at` */
    POWERCUT_LENGTH = 'l', /* `at`: of the file from now on */
    POWERCUT_SYNC = 's',   /* a file or a directory is on the device */
    POWERCUT_MARK = 'm'    /* bytes: what the dataset is like from now on */
};

typedef struct powercut_record {
    char what;
    uint64_t object; /* the inode's number */
    int64_t at, bytes;
} powercut_record;

#endif
