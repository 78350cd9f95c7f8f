#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# A Python script that only uses sqlite3 and libxxhash compares files with the checksums of their sidecars: stored files
# with every version of the sidecar, and a new file.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
golden=$top/tests/exodus/golden
read="python3 $top/tests/exodus/sidecar_reader.py"
python3 -c 'import sqlite3' 2>/dev/null || exit 77
cd "$TUTTI_TEST_DIR"
expect() {
    want=$1
    shift
    got=$($read "$@") || { echo "$* differs: $got"; exit 1; }
    case $got in
    "$want"*) ;;
    *)
        echo "$*: $got"
        exit 1
        ;;
    esac
}
expect 'version 1: 3 blocks' "$golden/plate.e"
expect 'version 2: 5 blocks' "$golden/blocks.e" "$golden/blocks_v2.e.tutti"
expect 'version 3: 4 blocks' "$golden/blocks.e" "$golden/blocks_v3.e.tutti"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$golden/blocks_writer.c" -o writer \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 ./writer blocks.e
expect 'version 3: 4 blocks' blocks.e
cmp blocks.e "$golden/blocks.e"
printf '\377' | dd of=blocks.e bs=1 seek=65600 conv=notrunc 2>/dev/null
if $read blocks.e >out; then
    echo 'damage was not found'
    exit 1
fi
grep -q 'step 2: bytes' out
