/* tutti archive, restore, export and repair of a dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "common/cli.h"
#include "dataset_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    text_to_dataset("d", data, n);
    FUZZ_RUN(cmd_dataset, "archive", "d", "--to", "away");
    FUZZ_RUN(cmd_dataset, "restore", "d", "--from", "away");
    FUZZ_RUN(cmd_dataset, "archive", "d", "--tar", "d.tar");
    FUZZ_RUN(cmd_dataset, "restore", "d", "--tar", "d.tar");
    FUZZ_RUN(cmd_dataset, "repair", "d");
    FUZZ_RUN(cmd_dataset, "verify", "d");
    fuzz_clean();
    return 0;
}
