#!/bin/sh
# TEST ranks=0 timeout=400 builds=openmpi cores=2
# A clone in a directory called tutti: the library, the command, the drop-in and the Fortran module are built there with clang, without
# a warning, and the tests of installing, uninstalling and of the new user pass.  (They run here instead of in the build openmpi.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=tests/house/clone.sh
. "$(dirname "$0")/clone.sh"
clone_tree "$TUTTI_TEST_DIR/tutti"
clone_try "$TUTTI_TEST_DIR/tutti" t910 t917 t923
