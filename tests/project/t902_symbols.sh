#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# The library exports what the public headers declare, no more and no less.
# SPDX-License-Identifier: BSD-3-Clause
exec python3 "$(dirname "$0")/../../scripts/check_symbols.py" "$TUTTI_BUILD_DIR"
