#!/bin/sh
# TEST ranks=1,2,3 timeout=60 builds=openmpi,mpich
# Python refuses arrays of another shape than the entries have, and all ranks raise a message with the reason.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy"
[ "$TUTTI_MPI" != openmpi ] || needs="numpy mpi4py"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
export TUTTI_LIBRARY="$TUTTI_BUILD_DIR/libtutti.so"
exec "$python" -X faulthandler "$top/tests/python/run.py" --mpi "$top/tests/python/test_shapes.py"
