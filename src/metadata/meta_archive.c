/* metadata: the table of archived segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/meta_impl.h"

static tutti_err run_for_rows(tutti__meta *m, const char *text, const tutti__archived *rows,
                              int64_t n) {
    sqlite3_stmt *s = NULL;
    int row = 0;
    TUTTI_TRY(tutti__sql_prepare(m, text, &s));
    tutti_err err = TUTTI_OK;
    for (int64_t i = 0; i < n && err == TUTTI_OK; i++) {
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, rows[i].segment);
        if (sqlite3_bind_parameter_count(s) > 1) {
            sqlite3_bind_text(s, 2, rows[i].place, -1, SQLITE_STATIC);
            sqlite3_bind_int64(s, 3, (int64_t)rows[i].sum);
        }
        err = tutti__sql_step(m, s, &row);
    }
    sqlite3_finalize(s);
    return err;
}

/* The transaction is synced even with level TUTTI_VISIBLE, since data is removed after it. */
static tutti_err change_archived(tutti__meta *m, const char *text, const tutti__archived *rows,
                                 int64_t n, int64_t generation, const tutti__meta_step *also) {
    sqlite3_stmt *s = NULL;
    int before = 2;
    TUTTI_TRY(tutti__sql_prepare(m, "PRAGMA synchronous", &s));
    if (sqlite3_step(s) == SQLITE_ROW) before = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    TUTTI_TRY(tutti__sql(m, "PRAGMA synchronous=FULL"));
    tutti_err err = tutti__meta_begin(m);
    if (err == TUTTI_OK) err = run_for_rows(m, text, rows, n);
    if (err == TUTTI_OK) err = tutti__meta_set(m, "generation", generation);
    if (err == TUTTI_OK && also) err = also->run(also->context);
    err = tutti__meta_end(m, err);
    return TUTTI_ALSO(err, before == 0 ? tutti__sql(m, "PRAGMA synchronous=OFF") : TUTTI_OK);
}

tutti_err tutti__meta_archive(tutti__meta *m, const tutti__archived *rows, int64_t n,
                              int64_t generation, const tutti__meta_step *also) {
    return change_archived(m, "INSERT OR REPLACE INTO archived VALUES(?, ?, ?)", rows, n,
                           generation, also);
}

tutti_err tutti__meta_restore(tutti__meta *m, const tutti__archived *rows, int64_t n,
                              int64_t generation) {
    return change_archived(m, "DELETE FROM archived WHERE segment = ?", rows, n, generation, NULL);
}

tutti_err tutti__meta_lists_shared(tutti__meta *m, int64_t **out, int64_t *n_out) {
    return tutti__sql_numbers(m,
                              "SELECT DISTINCT list_segment FROM sections"
                              " WHERE list_segment IS NOT NULL AND list_segment <> segment"
                              " ORDER BY 1",
                              out, n_out);
}
