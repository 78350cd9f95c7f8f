#!/bin/sh
# sources.sh   lists the C sources and headers of the tree, one per line.
# SPDX-License-Identifier: BSD-3-Clause
cd "$(dirname "$0")/.." && find include src simulated bindings mpiio cli experiments examples tests scripts -name '*.[ch]' 2>/dev/null | sort
