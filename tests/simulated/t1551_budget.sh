#!/bin/sh
# TEST ranks=0 timeout=90
# Simulated time, messages and collective operations of each call on 64 hosts of a fat tree, and on 16 hosts with 4 ranks
# each, do not exceed tests/simulated/budget.txt.  TUTTI_TEST_MEASURE=1 prints a new budget instead.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
exec python3 "$top/tests/simulated/budget.py" "$top" "$TUTTI_BUILD_DIR"
