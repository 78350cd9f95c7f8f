/* The command `tutti`.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"

#include <locale.h>

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    cli_command_remember("tutti", argc, argv);
    return cli_dispatch(argc - 1, argv + 1);
}
