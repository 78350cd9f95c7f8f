/* Fuzz target: rebuilds metadata from the header of an untrusted netCDF data file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include "netcdf/netcdf.h"
#include "archive/repair_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    char path[700];
    tutti__listed_file file = {.name = "data-000001.nc", .size = (tutti_off)n};
    tutti__repair r = {.directory = fuzz_directory(),
                       .options = {.mode = TUTTI_READ | TUTTI_WRITE, .locked = 1},
                       .files = &file,
                       .files_n = 1};
    tutti__meta *m = NULL;
    tutti__model model;
    const tutti__meta_options opt = {.mode = TUTTI_READ | TUTTI_WRITE, .locked = 1};
    snprintf(path, sizeof path, "%s/%s", r.directory, file.name);
    fuzz_write(path, data, n);
    file.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file.fd < 0) abort();
    if (tutti__netcdf_rebuild(&r, TUTTI__META_NAME, 5) == TUTTI_OK) {
        /* the rebuilt metadata can be read, and an equal header can be written */
        if (tutti__meta_open(r.directory, &opt, &m) != TUTTI_OK) abort();
        if (tutti__meta_load(m, &model) != TUTTI_OK) abort();
        if (model.files_n == 1) {
            const tutti_err err = tutti__netcdf_correct(r.directory, m, &model, &model.files[0]);
            if (err == TUTTI_OK &&
                tutti__netcdf_compare(r.directory, m, &model, &model.files[0], NULL) != TUTTI_OK)
                abort();
        }
        tutti__model_free(&model);
        tutti__meta_close(&m);
    }
    close(file.fd);
    snprintf(path, sizeof path, "%s/" TUTTI__META_NAME, r.directory);
    unlink(path);
    fuzz_nothing_left();
    return 0;
}
