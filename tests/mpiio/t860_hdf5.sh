#!/bin/sh
# TEST ranks=0 timeout=90 builds=openmpi,mpich cores=2
# Unmodified parallel HDF5 writes all kinds of datasets; their contents are the same with and without the drop-in.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpiio/with_and_without.sh
. "$(dirname "$0")/with_and_without.sh"
find_program hdf5_shapes "libhdf5-$TUTTI_MPI-dev"
need h5dump hdf5-tools
for ranks in 1 4; do
    both $ranks "$program"
    same h5dump -p
done
exit "$failed"
