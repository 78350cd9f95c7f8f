/* Fuzz target: tutti export (VTK, XDMF) and cp of an Exodus file, to a file and to a dataset.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "exodus_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (!text_to_file("in.e", data, n)) return 0;
    FUZZ_RUN(cli_dispatch, "export", "in.e", "--vtk", "--sets", "-o", "out");
    FUZZ_RUN(cli_dispatch, "export", "in.e", "--xdmf", "-o", "out.xdmf");
    FUZZ_RUN(cli_dispatch, "cp", "in.e", "out.e");
    FUZZ_RUN(cli_dispatch, "import", "in.e", "out.tutti");
    fuzz_clean();
    return 0;
}
