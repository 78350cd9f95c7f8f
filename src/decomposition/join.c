/* decomposition: records of all ranks joined by number.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "decomposition/join.h"

#include <string.h>

void tutti__join_free(tutti__join *j) {
    tutti__directory_free(&j->directory);
    tutti__free(j->record);
    tutti__free(j->sorted);
    *j = (tutti__join){.record = NULL};
}

static int64_t record_number(const void *records, int bytes, tutti_count i) {
    int64_t number;
    memcpy(&number, (const char *)records + i * bytes, sizeof number);
    return number;
}

tutti_err tutti__join_make(tutti__team *t, tutti_err local_err, int bytes, tutti_count n,
                           const void *records, tutti__join *out) {
    tutti__join j = {.record = NULL};
    int64_t *number = NULL;
    if (local_err == TUTTI_OK && !(number = tutti__malloc((size_t)n * sizeof *number)))
        local_err = TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < n && local_err == TUTTI_OK; i++)
        number[i] = record_number(records, bytes, i);
    const tutti_err made = tutti__directory_make(t, local_err, n, number, &j.directory, &local_err);
    tutti__free(number);
    TUTTI_TRY(made);
    const size_t m = (size_t)j.directory.m;
    tutti__numbered *spare = tutti__malloc(m * sizeof *spare);
    j.record = tutti__malloc(m * (size_t)bytes);
    j.sorted = tutti__malloc(m * sizeof *j.sorted);
    if (local_err == TUTTI_OK)
        local_err =
            spare && j.record && j.sorted ? tutti__directory_fits(&j.directory) : TUTTI_ERR_NOMEM;
    tutti_err err = tutti__team_agree(t, local_err);
    if (err == TUTTI_OK) err = tutti__directory_send(t, &j.directory, bytes, records, j.record);
    /* Equal numbers remain in rank order. */
    if (err == TUTTI_OK) {
        for (tutti_count i = 0; i < j.directory.m; i++)
            j.sorted[i] = (tutti__numbered){record_number(j.record, bytes, i), i};
        tutti__numbered *sorted = tutti__numbered_sort(j.sorted, j.directory.m, spare);
        if (sorted != j.sorted) {
            spare = j.sorted;
            j.sorted = sorted;
        }
    }
    tutti__free(spare);
    if (err == TUTTI_OK)
        *out = j;
    else
        tutti__join_free(&j);
    return err;
}

tutti_err tutti__join_answer(tutti__team *t, tutti_err local_err, const tutti__join *j, int bytes,
                             const void *answers, void **out) {
    void *in = tutti__malloc((size_t)j->directory.n * (size_t)bytes);
    if (local_err == TUTTI_OK && !in) local_err = TUTTI_ERR_NOMEM;
    tutti_err err = tutti__team_agree(t, local_err);
    if (err == TUTTI_OK) err = tutti__directory_reply(t, &j->directory, bytes, answers, in);
    if (err == TUTTI_OK)
        *out = in;
    else
        tutti__free(in);
    return err;
}
