#!/bin/sh
# TEST ranks=0 timeout=60
# A module includes headers and calls functions of lower modules only, and the files of a module have no cyclic
# dependencies.
# SPDX-License-Identifier: BSD-3-Clause
scripts=$(dirname "$0")/../../scripts
python3 "$scripts/check_layers.py" && python3 "$scripts/check_cycles.py" "$TUTTI_BUILD_DIR"
