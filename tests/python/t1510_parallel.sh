#!/bin/sh
# TEST ranks=1,2,3,5 timeout=90 builds=openmpi,mpich
# The Python binding in parallel programs: files, arrays, replicas, meshes, datasets, Exodus files; random slices,
# distributions, decompositions and conversions, compared with NumPy; wrong use on one rank.  Communicators are those of
# mpi4py with Open MPI, and integer handles with MPICH.  With Open MPI on one rank, every public function must be called
# or be listed in unbound.txt with a reason.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy"
[ "$TUTTI_MPI" != openmpi ] || needs="numpy mpi4py"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
here=$top/tests/python
export TUTTI_LIBRARY="$TUTTI_BUILD_DIR/libtutti.so"
all="$here/test_files.py $here/test_arrays.py $here/test_meshes.py $here/test_datasets.py $here/test_exodus.py $here/test_random.py $here/test_wrong.py"
case ${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-1}}.$TUTTI_MPI in
1.openmpi) all="--reach $here/unbound.txt $all" ;;
1.* | 3.*) ;;
5.*) all="$here/test_exodus.py $here/test_random.py" ;;
*) all="$here/test_exodus.py $here/test_random.py $here/test_wrong.py" ;;
esac
# shellcheck disable=SC2086 # a list of words
exec "$python" -X faulthandler "$here/run.py" --mpi $all
