#!/bin/sh
# TEST ranks=0 timeout=240
# pip installs the package from a clone without a network (t944: from the archive, without a compiler); then xarray
# finds its engine for datasets, arrays and Exodus files.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy xarray pip setuptools wheel"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
cd "$TUTTI_TEST_DIR"
here=$top/tests/python
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in dataset_writer zarr_writer; do
    "$mpicc" -std=gnu11 -I"$top/include" "$top/tests/cli/$program.c" -o $program \
        -L"$TUTTI_BUILD_DIR" -ltutti -lm -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./dataset_writer small.tutti >/dev/null
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./zarr_writer types.tutti >/dev/null
"$python" -m pip install --quiet --no-deps --no-build-isolation --no-index --target installed "$top/bindings/python" 2>pip.log ||
    { cat pip.log; exit 1; }
export PYTHONPATH="$PWD/installed" TUTTI_TEST_DATASETS=small.tutti:types.tutti
exec "$python" -W ignore::RuntimeWarning "$here/run.py" --installed "$here/test_xarray.py"
