#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi cores=2
# Ranks on one machine in separate PID namespaces (containers that share /dev/shm) cannot open shared memory of other
# ranks through /proc: they open the memory by a name, share it (t610), and leave no name.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
unshare -pf --mount-proc true 2>/dev/null || { echo "skipped: PID namespaces are not available"; exit 77; }
program=$TUTTI_BUILD_DIR/tests/exchange/together
before=$(ls /dev/shm)
# Open MPI's own shared memory does not work in PID namespaces.
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 env OMPI_MCA_btl=self,tcp unshare -pf --mount-proc "$program" t610_segment || exit 1
for name in /dev/shm/tutti-shm-*; do
    case $before in
    *"${name##*/}"*) ;;
    *) [ ! -e "$name" ] || { echo "left: $name"; exit 1; } ;;
    esac
done
