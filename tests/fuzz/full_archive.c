/* Fuzz target: tutti archive, restore, export and repair of a dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "dataset_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    text_to_dataset("d", data, n);
    FUZZ_RUN(cli_dispatch, "archive", "d", "--to", "away");
    FUZZ_RUN(cli_dispatch, "restore", "d", "--from", "away");
    FUZZ_RUN(cli_dispatch, "archive", "d", "--tar", "d.tar");
    FUZZ_RUN(cli_dispatch, "restore", "d", "--tar", "d.tar");
    FUZZ_RUN(cli_dispatch, "repair", "d");
    FUZZ_RUN(cli_dispatch, "verify", "d");
    fuzz_clean();
    return 0;
}
