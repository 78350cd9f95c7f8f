/* Fuzz target: the metadata of a dataset, an untrusted SQLite database.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include "metadata/meta.h"
#include "metadata/trailer.h"

static void infos(tutti__meta *m, const tutti__model *model) {
    tutti__info info = {.name = "title"};
    if (tutti__meta_info_get(m, &info) == TUTTI_OK) tutti__free(info.value);
    info = (tutti__info){.name = "seven", .variable = 1};
    if (tutti__meta_info_get(m, &info) == TUTTI_OK) tutti__free(info.value);
    if (model->segments_n == 0) return;
    info = (tutti__info){.name = "dt", .segment = model->segments[model->segments_n - 1].id};
    if (tutti__meta_info_get(m, &info) == TUTTI_OK) tutti__free(info.value);
}

static void check_contents(tutti__meta *m) {
    tutti__model model;
    if (tutti__meta_load(m, &model) != TUTTI_OK) return;
    for (int64_t i = 0; i < model.segments_n && i < 50; i++) {
        tutti__section *sections = NULL;
        int64_t n = 0;
        char *rows = NULL;
        size_t bytes = 0;
        if (tutti__meta_sections(m, &model, &model.segments[i], &sections, &n) == TUTTI_OK)
            tutti__free(sections);
        if (tutti__meta_rows(m, model.segments[i].id, TUTTI__ROW_TABLES, &rows, &bytes) == TUTTI_OK)
            tutti__free(rows);
    }
    int64_t *lists = NULL, n = 0;
    if (tutti__meta_lists_shared(m, &lists, &n) == TUTTI_OK) tutti__free(lists);
    tutti__list_use *uses = NULL;
    if (tutti__meta_list_uses(m, &uses, &n) == TUTTI_OK) tutti__free(uses);
    infos(m, &model);
    tutti__model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char path[700];
    tutti__meta *m = NULL;
    const tutti__meta_options opt = {.mode = TUTTI_READ};
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, fuzz_directory());
    fuzz_write(path, data, n);
    if (tutti__meta_open(fuzz_directory(), &opt, &m) == TUTTI_OK) {
        check_contents(m);
        tutti__meta_close(&m);
    }
    fuzz_nothing_left();
    return 0;
}
