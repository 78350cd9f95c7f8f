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
    int64_t version; /* of the format; writers upgrade to the newest */
    int empty;       /* readers: it has no tables, because its first writer was killed */
    int lock;        /* of the writer, or -1 */
    int limited;     /* the last call exceeded the file size limit */
    double busy;
    char directory[TUTTI__PATH];
    char path[TUTTI__PATH + 32]; /* of the database */
    char own[TUTTI__PATH];       /* a directory with a private copy, or "" */
    dev_t device;                /* readers: of the database that was opened, */
    ino_t inode;                 /* which may have been replaced or removed since */
    sqlite3_stmt *statement[TUTTI__STATEMENTS];
};

tutti_err tutti__sql_error(const tutti__meta *m, const char *what) TUTTI_MUST_USE;
tutti_err tutti__sql(tutti__meta *m, const char *text) TUTTI_MUST_USE;
tutti_err tutti__sql_prepare(tutti__meta *m, const char *text, sqlite3_stmt **out) TUTTI_MUST_USE;
tutti_err tutti__sql_step(tutti__meta *m, sqlite3_stmt *s, int *row_out) TUTTI_MUST_USE;
/* The number that a statement returns; 0: no row. */
tutti_err tutti__sql_int(tutti__meta *m, const char *text, int64_t *out) TUTTI_MUST_USE;
/* Rows of numbers: *table is [*n_out] rows of as many int64_t as the statement has columns; tutti__free it, also on an
 * error. */
tutti_err tutti__sql_numbers(tutti__meta *m, const char *text, void *table,
                             int64_t *n_out) TUTTI_MUST_USE;
/* A new random id of the dataset. */
tutti_err tutti__meta_id_make(tutti__meta *m) TUTTI_MUST_USE;
/* Open m->db; the file is not trusted. */
tutti_err tutti__sql_open(tutti__meta *m, const char *path, int flags) TUTTI_MUST_USE;
void tutti__sql_close(tutti__meta *m);
/* Return whether the last statement failed because a killed writer left a journal. Then a reader
 * opens a copy of m->path in which the journal is rolled back. TUTTI_ERR_STATE: a writer rolls it
 * back at the same time; try again. */
int tutti__sql_journal_hot(const tutti__meta *m);
tutti_err tutti__sql_private_open(tutti__meta *m) TUTTI_MUST_USE;
void tutti__sql_private_remove(tutti__meta *m);

/* Readers: the database at the path is not the one that was opened; open it again. */
int tutti__meta_replaced(const tutti__meta *m);
tutti_err tutti__meta_reopen(tutti__meta *m) TUTTI_MUST_USE;

/* Enumerations as the database spells them. */
typedef enum tutti__meta_words {
    TUTTI__WORD_ITEM,
    TUTTI__WORD_LAYOUT,
    TUTTI__WORD_ORDER,
    TUTTI__WORD_SPACE,
    TUTTI__WORD_KIND
} tutti__meta_words;
const char *tutti__meta_word(tutti__meta_words which, int value);

#endif
