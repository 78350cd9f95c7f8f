#!/bin/sh
# TEST ranks=1,2,3 timeout=60 builds=openmpi,mpich
# The Python binding refuses arrays whose shape differs from the shape of the entries, and all ranks raise an error with
# the reason.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy"
[ "$TUTTI_MPI" != openmpi ] || needs="numpy mpi4py"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
export TUTTI_LIBRARY="$TUTTI_BUILD_DIR/libtutti.so"
exec "$python" -X faulthandler "$top/tests/python/run.py" --mpi "$top/tests/python/test_shapes.py"
