#!/bin/sh
# TEST ranks=0 timeout=60
# Folders are the architecture: a room includes and calls only rooms above it, and the files of a room
# form no cycle.
# SPDX-License-Identifier: BSD-3-Clause
scripts=$(dirname "$0")/../../scripts
python3 "$scripts/check_layers.py" && python3 "$scripts/check_cycles.py" "$TUTTI_BUILD_DIR"
