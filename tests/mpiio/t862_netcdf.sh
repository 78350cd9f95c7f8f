#!/bin/sh
# TEST ranks=0 timeout=60 cores=2
# Unmodified parallel netCDF-4: the same values with and without the drop-in.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpiio/with_and_without.sh
. "$(dirname "$0")/with_and_without.sh"
find_program netcdf_shapes libnetcdf-mpi-dev
need ncdump netcdf-bin
for ranks in 1 4; do
    both $ranks "$program"
    same ncdump
done
exit "$failed"
