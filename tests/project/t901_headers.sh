#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich
# Every public header compiles alone, as C and as C++.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2046 # flags are words
exec "$(dirname "$0")/../../scripts/check_headers.sh" -- $(cat "$TUTTI_BUILD_DIR/mpi.flags")
