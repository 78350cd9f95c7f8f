#!/bin/sh
# TEST ranks=0 timeout=300 cores=2
# Tests, examples and benchmarks compile with clang without a warning.  (t924 builds the other sources with clang.)
# SPDX-License-Identifier: BSD-3-Clause
exec python3 "$(dirname "$0")/../../scripts/check_clang.py" "$TUTTI_BUILD_DIR" clang --not-installed
