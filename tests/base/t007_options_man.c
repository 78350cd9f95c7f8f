/* TEST ranks=0 timeout=60 */
/* The manual page in docs/man is the one that the table of options gives.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../scripts/options_man.h"
#include "check.h"

static const char page[] = TUTTI_SOURCE_DIR "/docs/man/tutti-options.7";

/* Compare line by line, so that the first difference can be shown. */
static void compare(FILE *expected, FILE *found) {
    char a[1024], b[1024];
    for (int line = 1;; ++line) {
        const char *x = fgets(a, sizeof a, expected), *y = fgets(b, sizeof b, found);
        if (!x && !y) return;
        CHECK(x && y && strcmp(a, b) == 0,
              "line %d of %s is\n%snot\n%sRun gen_options_man > docs/man/tutti-options.7", line,
              page, y ? b : "(end)\n", x ? a : "(end)\n");
        if (!x || !y || strcmp(a, b) != 0) return;
    }
}

int main(void) {
    FILE *expected = tmpfile(), *found = fopen(page, "r");
    CHECK(expected && found, "%s", page);
    if (expected && found) {
        options_man(expected);
        rewind(expected);
        compare(expected, found);
    }
    if (found) fclose(found);
    if (expected) fclose(expected);
    return check_done();
}
