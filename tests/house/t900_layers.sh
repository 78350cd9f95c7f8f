#!/bin/sh
# TEST ranks=0 timeout=60
# Folders are the architecture: a room includes only rooms above it.
# SPDX-License-Identifier: BSD-3-Clause
exec python3 "$(dirname "$0")/../../scripts/check_layers.py"
