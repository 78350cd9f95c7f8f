/* Datasets as text: SQL statements define the metadata, "w OFFSET HEX" changes bytes of the data file of
 * the reference dataset, "c BYTES" truncates that file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_FUZZ_DATASET_TEXT_H
#define TUTTI_TESTS_FUZZ_DATASET_TEXT_H

#include <sqlite3.h>
#include "singleton.h"

const char *const fuzz_statements[] = {
    "INSERT INTO segments VALUES(4,'state',2,1.0,1,16384,20480,16512,1);",
    "INSERT INTO segments VALUES(4,'topology',2,1.0,1,8192,12288,8512,4);",
    "INSERT INTO sections VALUES(3,3,0,8384,84,'int32',0,2,1);",
    "INSERT INTO sections VALUES(3,5,1,8320,40,'int64',0,NULL,NULL);",
    "INSERT INTO sections VALUES(4,1,0,12288,48,'float64',NULL,NULL,NULL);",
    "INSERT INTO sizes VALUES(2,2,'7',0);",
    "INSERT INTO sizes VALUES(1,1,'4611686018427387904,4',0);",
    "INSERT INTO variables VALUES(6,'z',2,'values',3,'float32','ranked','little','','',x'00',3);",
    "INSERT INTO variables VALUES(7,'m',1,'matrix',3,'int8','global','little','','',x'00',0);",
    "INSERT INTO archived VALUES(2,'away',5);",
    "INSERT INTO files VALUES(2,'data-000002.tutti','tutti');",
    "UPDATE variables SET compression=3;",
    "UPDATE sections SET bytes=9223372036854775807;",
    "UPDATE sections SET start=-1;",
    "UPDATE segments SET end=4611686018427387904;",
    "DELETE FROM sections;",
    "DELETE FROM archived;",
    "w 4096 ffffffffffffff7f",
    "w 8384 0000000000000040",
    "w 8392 ffffffffffffffff",
    "w 16300 00",
    "c 12288",
    NULL};

static int no_other_files(void *context, int action, const char *a, const char *b, const char *c,
                          const char *d) {
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static int too_long(void *context) {
    return ++*(int *)context > 200;
}

static inline void data_change(unsigned char *data, size_t *n, const char *line) {
    char hex[256];
    long long at = 0;
    if (sscanf(line, "c %lld", &at) == 1 && at >= 0 && (size_t)at < *n) *n = (size_t)at;
    if (sscanf(line, "w %lld %255[0-9a-f]", &at, hex) != 2 || at < 0) return;
    for (size_t i = 0; hex[2 * i] && hex[2 * i + 1]; i++) {
        unsigned byte = 0;
        if (sscanf(hex + 2 * i, "%2x", &byte) == 1 && (size_t)at + i < *n)
            data[(size_t)at + i] = (unsigned char)byte;
    }
}

/* Create the dataset of a text in the directory `to`; $TUTTI_FUZZ_DATA is the reference data file. */
static inline void text_to_dataset(const char *to, const uint8_t *text, size_t n) {
    static unsigned char golden[1 << 16];
    static size_t golden_bytes;
    unsigned char data[1 << 16];
    char path[100], *copy = malloc(n + 1), *rest = NULL;
    sqlite3 *db = NULL;
    int steps = 0;
    if (golden_bytes == 0) {
        FILE *f = fopen(getenv("TUTTI_FUZZ_DATA"), "rb");
        if (!f) abort();
        golden_bytes = fread(golden, 1, sizeof golden, f);
        fclose(f);
    }
    size_t bytes = golden_bytes;
    memcpy(data, golden, bytes);
    memcpy(copy, text, n);
    copy[n] = 0;
    mkdir(to, 0777);
    snprintf(path, sizeof path, "%s/metadata.sqlite", to);
    if (sqlite3_open(path, &db) != SQLITE_OK) abort();
    sqlite3_exec(db,
                 "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;PRAGMA page_size=512;"
                 "PRAGMA application_id=1414878292;PRAGMA user_version=1;BEGIN",
                 NULL, NULL, NULL);
    sqlite3_set_authorizer(db, no_other_files, NULL);
    sqlite3_progress_handler(db, 1000, too_long, &steps);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == 'w' || line[0] == 'c')
            data_change(data, &bytes, line);
        else
            sqlite3_exec(db, line, NULL, NULL, NULL);
    }
    sqlite3_set_authorizer(db, NULL, NULL);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
    snprintf(path, sizeof path, "%s/data-000001.tutti", to);
    fuzz_write(path, data, bytes);
    free(copy);
}

#endif
