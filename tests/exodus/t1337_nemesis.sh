#!/bin/sh
# TEST ranks=0 timeout=120 cores=2 builds=openmpi,mpich
# Nemesis data of a partition: libexodusii reads the same data as tutti_exodus_nemesis_get for all processors, and
# ncvalidator accepts the file.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
reader=$TUTTI_BUILD_DIR/tests/exodus/exodus_nemesis
[ -x "$reader" ] || {
    echo "no libexodusii (Debian: apt-get install libexodusii-dev)"
    exit 77
}
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$top/tests/exodus/nemesis_writer.c" -o writer \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
for ranks in 1 3 5; do
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" $ranks ./writer n.e >ours || {
        cat ours
        exit 1
    }
    OMPI_MCA_ess_singleton_isolated=1 "$reader" n.e >theirs
    [ "$(wc -l <theirs)" -gt $((ranks * 6)) ] || {
        echo "libexodusii has found too little"
        exit 1
    }
    diff ours theirs
    if command -v ncvalidator >/dev/null; then ncvalidator -q n.e; fi
done
