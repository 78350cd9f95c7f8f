/* dataset: the connection to the database, for the files that use it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_META_IMPL_H
#define TUTTI_META_IMPL_H

#include <sqlite3.h>
#include "dataset/meta.h"

enum { TUTTI__PATH = 4096, TUTTI__STATEMENTS = 17 };

struct tutti__meta {
    sqlite3 *db;
    int writes;
    int empty; /* readers: no table yet, its first writer was killed before it made them */
    int lock;  /* of the writer, or -1 */
    double busy;
    char directory[TUTTI__PATH];
    char path[TUTTI__PATH + 32]; /* of the database */
    char own[TUTTI__PATH];       /* a directory with a private copy, or "" */
    sqlite3_stmt *statement[TUTTI__STATEMENTS];
};

tutti_err tutti__sql_error(const tutti__meta *m, const char *what) TUTTI_MUST_USE;
tutti_err tutti__sql(tutti__meta *m, const char *text) TUTTI_MUST_USE;
tutti_err tutti__sql_prepare(tutti__meta *m, const char *text, sqlite3_stmt **out) TUTTI_MUST_USE;
tutti_err tutti__sql_step(tutti__meta *m, sqlite3_stmt *s, int *row_out) TUTTI_MUST_USE;

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
