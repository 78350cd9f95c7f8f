#!/bin/sh
# TEST ranks=0 timeout=60 cores=2
# Unmodified PnetCDF: the same file with and without the drop-in, byte for byte.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/mpiio/with_and_without.sh
. "$(dirname "$0")/with_and_without.sh"
find_program pnetcdf_shapes libpnetcdf-dev
for ranks in 1 3 5; do
    both $ranks "$program"
    cmp native ours || failed=1
done
need ncvalidator pnetcdf-bin
need ncdump netcdf-bin
ncvalidator -q ours || failed=1
same ncdump
exit "$failed"
