/* Fuzz target: tutti exodus diff of two files, and tutti exodus join of the files as pieces.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "exodus_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    const uint8_t *half[2];
    size_t bytes[2];
    text_halves(data, n, half, bytes);
    if (text_to_file("p.e.2.0", half[0], bytes[0]) && text_to_file("p.e.2.1", half[1], bytes[1])) {
        FUZZ_RUN(cli_dispatch, "exodus", "diff", "p.e.2.0", "p.e.2.1");
        FUZZ_RUN(cli_dispatch, "exodus", "join", "p.e.2.0", "p.e.2.1", "-o", "whole.e");
    }
    fuzz_clean();
    return 0;
}
