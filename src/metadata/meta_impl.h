/* metadata: the connection to the database, for the source files of this module.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_META_IMPL_H
#define TUTTI_META_IMPL_H

#include <sqlite3.h>
#include <sys/types.h>
#include "metadata/meta.h"

enum { TUTTI__PATH = 4096, TUTTI__STATEMENTS = 31 };

struct tutti__meta {
    sqlite3 *db;
    int writes;
    int64_t version; /* version of the format; writers upgrade to the newest */
    int empty;       /* readers: the database has no tables, because its first writer was killed */
    int lock;        /* descriptor of the writer's lock, or -1 */
    int limited;     /* whether the last call exceeded the file size limit */
    double busy;
    char directory[TUTTI__PATH];
    char path[TUTTI__PATH + 32]; /* path of the database */
    char own[TUTTI__PATH];       /* path of a directory with a private copy, or "" */
    /* readers: device and inode of the opened database, which may have been replaced or removed
     * since */
    dev_t device;
    ino_t inode;
    sqlite3_stmt *statement[TUTTI__STATEMENTS];
};

tutti_err tutti__sql_error(const tutti__meta *m, const char *what) TUTTI_MUST_USE;
tutti_err tutti__sql(tutti__meta *m, const char *text) TUTTI_MUST_USE;
tutti_err tutti__sql_prepare(tutti__meta *m, const char *text, sqlite3_stmt **out) TUTTI_MUST_USE;
tutti_err tutti__sql_step(tutti__meta *m, sqlite3_stmt *s, int *row_out) TUTTI_MUST_USE;
/* Get the number that a statement returns; 0 if it returns no row. */
tutti_err tutti__sql_int(tutti__meta *m, const char *text, int64_t *out) TUTTI_MUST_USE;
/* Get rows of numbers: *table is an array of [*n_out] rows with one int64_t per column of the
 * statement.  The caller frees it with tutti__free, also after an error. */
tutti_err tutti__sql_numbers(tutti__meta *m, const char *text, void *table,
                             int64_t *n_out) TUTTI_MUST_USE;
/* Set a new random id of the dataset. */
tutti_err tutti__meta_id_make(tutti__meta *m) TUTTI_MUST_USE;
/* Open m->db; the file is not trusted. */
tutti_err tutti__sql_open(tutti__meta *m, const char *path, int flags) TUTTI_MUST_USE;
void tutti__sql_close(tutti__meta *m);
/* Return whether the last statement failed because a killed writer left a journal.  A reader then
 * opens a copy of m->path in which the journal is rolled back; this fails with TUTTI_ERR_STATE if a
 * writer rolls it back at the same time, and can be repeated. */
int tutti__sql_journal_hot(const tutti__meta *m);
tutti_err tutti__sql_private_open(tutti__meta *m) TUTTI_MUST_USE;
void tutti__sql_private_remove(tutti__meta *m);

/* For readers: return whether the database at the path is not the one that was opened; open it
 * again. */
int tutti__meta_replaced(const tutti__meta *m);
tutti_err tutti__meta_reopen(tutti__meta *m) TUTTI_MUST_USE;

/* Enumerations as stored in the database. */
typedef enum tutti__meta_words {
    TUTTI__WORD_ITEM,
    TUTTI__WORD_LAYOUT,
    TUTTI__WORD_ORDER,
    TUTTI__WORD_SPACE,
    TUTTI__WORD_KIND
} tutti__meta_words;
const char *tutti__meta_word(tutti__meta_words which, int value);

#endif
