#!/bin/sh
# TEST ranks=0 timeout=300 cores=2
# Everything compiles under clang too, without a warning.
# SPDX-License-Identifier: BSD-3-Clause
exec python3 "$(dirname "$0")/../../scripts/check_clang.py" "$TUTTI_BUILD_DIR"
