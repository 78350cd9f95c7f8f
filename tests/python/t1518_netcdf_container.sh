#!/bin/sh
# TEST ranks=1,2,3 timeout=60 builds=openmpi,mpich
# tutti.open and the engine for xarray read datasets with netCDF data files: all types, fill values, lists with ids,
# several files; damaged files and unfinished commits.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy"
[ "$TUTTI_MPI" != openmpi ] || needs="numpy mpi4py"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
export TUTTI_LIBRARY="$TUTTI_BUILD_DIR/libtutti.so"
exec "$python" -X faulthandler -W ignore::UserWarning -W ignore::RuntimeWarning "$top/tests/python/run.py" --mpi "$top/tests/python/test_netcdf_container.py"
