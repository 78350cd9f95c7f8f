#!/bin/sh
# TEST ranks=0 timeout=90 cores=2
# Unmodified mpi4py and parallel h5py write the same files with and without the drop-in.
# SPDX-License-Identifier: BSD-3-Clause
programs=$(cd "$(dirname "$0")/programs" && pwd)
# shellcheck source=tests/mpiio/with_and_without.sh
. "$(dirname "$0")/with_and_without.sh"

# Debian's mpi4py package only works with Debian's Python.
for python in /usr/bin/python3 python3; do
    "$python" -c 'import mpi4py' 2>/dev/null && break
    python=
done
[ -n "$python" ] || skip mpi4py python3-mpi4py
both 3 "$python" "$programs/mpi4py_files.py"
cmp native ours || failed=1
"$python" -c 'import h5py._debian_h5py_mpi' 2>/dev/null || skip "parallel h5py" python3-h5py-mpi
need h5dump hdf5-tools
both 3 "$python" "$programs/h5py_shapes.py"
same h5dump -p
exit "$failed"
