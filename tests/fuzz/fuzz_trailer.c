/* Fuzz target: rebuilds metadata from the trailers of an untrusted data file.  Checksums are not verified,
 * because a fuzzer cannot guess them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include <sys/mman.h>
#include "archive/repair_impl.h"

static int newest_first(const void *a, const void *b) {
    const int64_t x = ((const tutti__found *)a)->segment.id,
                  y = ((const tutti__found *)b)->segment.id;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void rebuild_metadata(tutti__repair *r) {
    tutti__meta *m = NULL;
    tutti__model model;
    const tutti__meta_options opt = {.mode = TUTTI_READ};
    char path[700];
    qsort(r->found, (size_t)r->found_n, sizeof *r->found, newest_first);
    (void)tutti__repair_sums_right(&r->files[0], &r->found[0]);
    if (tutti__rebuild(r, TUTTI__META_NAME, 5) != TUTTI_OK) return;
    /* the rebuilt metadata must be valid */
    if (tutti__meta_open(r->directory, &opt, &m) != TUTTI_OK) abort();
    if (tutti__meta_load(m, &model) != TUTTI_OK) abort();
    for (int64_t i = 0; i < model.segments_n; i++) {
        tutti__section *sections = NULL;
        int64_t n = 0;
        if (tutti__meta_sections(m, &model, &model.segments[i], &sections, &n) != TUTTI_OK) abort();
        tutti__free(sections);
    }
    tutti__model_free(&model);
    tutti__meta_close(&m);
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, r->directory);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    tutti__listed_file file = {.fd = memfd_create("data", MFD_CLOEXEC), .size = (tutti_off)n};
    tutti__repair r = {.directory = fuzz_directory(),
                       .options = {.mode = TUTTI_READ | TUTTI_WRITE, .locked = 1},
                       .files = &file,
                       .files_n = 1};
    int torn = 0;
    snprintf(file.name, sizeof file.name, "data-000001.tutti");
    if (file.fd < 0 || (n && write(file.fd, data, n) != (ssize_t)n)) abort();
    if (tutti__trailers_find(file.fd, &r.found, &r.found_n, &torn) == TUTTI_OK && r.found_n > 0)
        rebuild_metadata(&r);
    tutti__found_free(r.found, r.found_n);
    close(file.fd);
    fuzz_nothing_left();
    return 0;
}
