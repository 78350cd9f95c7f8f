#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich
# The library exports exactly the symbols that the public headers declare.
# SPDX-License-Identifier: BSD-3-Clause
exec python3 "$(dirname "$0")/../../scripts/check_symbols.py" "$TUTTI_BUILD_DIR"
