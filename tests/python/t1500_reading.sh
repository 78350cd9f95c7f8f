#!/bin/sh
# TEST ranks=0 timeout=240 cores=2
# The Python readers of datasets, arrays and netCDF files, compared with `tutti dump` and NumPy: types, byte orders,
# layouts, compression, placements, all NumPy indices; damage is detected; the journal of a killed writer is rolled
# back in a copy.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
cd "$TUTTI_TEST_DIR"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in dataset_writer zarr_writer; do
    "$mpicc" -std=gnu11 -I"$top/include" "$top/tests/cli/$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -lm -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./dataset_writer small.tutti >/dev/null
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./zarr_writer types.tutti >/dev/null
TUTTI_LIBRARY=$TUTTI_BUILD_DIR/libtutti.so "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 "$python" "$top/tests/python/local_arrays.py" .
export TUTTI_TEST_DATASETS=small.tutti:types.tutti TUTTI_TEST_ARRAYS=cyclic.tta:blocks.tta:ragged.tta
here=$top/tests/python
exec "$python" "$here/run.py" "$here/test_reading.py" "$here/test_hostile.py"
