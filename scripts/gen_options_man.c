/* Print the manual page tutti-options(7); docs/man/tutti-options.7 is its output.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options_man.h"

int main(void) {
    options_man(stdout);
    return fflush(stdout) != 0 || ferror(stdout);
}
