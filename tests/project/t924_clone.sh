#!/bin/sh
# TEST ranks=0 timeout=400 builds=openmpi cores=2
# The archive of `make dist` is unpacked into a directory named tutti: library, command, drop-in and Fortran module are
# built there with clang, without a warning and without Python, and the tests of installation, uninstallation and first
# use pass.  (Those tests run here instead of in the build openmpi.  t925 builds clones.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/project/clone.sh
. "$(dirname "$0")/clone.sh"
clone_archive "$TUTTI_TEST_DIR/tutti"
mkdir "$TUTTI_TEST_DIR/bin"
printf '#!/bin/sh\necho "$*" >>"%s/called"\nexit 1\n' "$TUTTI_TEST_DIR" >"$TUTTI_TEST_DIR/bin/python3"
chmod +x "$TUTTI_TEST_DIR/bin/python3"
(
    export PATH="$TUTTI_TEST_DIR/bin:$PATH"
    clone_build "$TUTTI_TEST_DIR/tutti" installed
) || exit 1
[ ! -e "$TUTTI_TEST_DIR/called" ] || { echo "the build of the archive runs python3:"; cat "$TUTTI_TEST_DIR/called"; exit 1; }
clone_try "$TUTTI_TEST_DIR/tutti" t910 t917 t923
grep -q Generating "$TUTTI_TEST_DIR/log" && { echo "the build of the archive generates files:"; cat "$TUTTI_TEST_DIR/log"; exit 1; }
exit 0
