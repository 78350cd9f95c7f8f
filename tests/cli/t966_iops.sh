#!/bin/sh
# TEST ranks=0 timeout=110 cores=0
# On a disk with limited operations per second, dd is throttled, and tutti-experiments sections reports a verdict on
# times (by the commands of docs/appendix/experiments.md, with less data).  Since the machine may be busy, the test
# checks only that there is a verdict and that the exit code agrees; counts have the expected values.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
throttle=$top/scripts/throttle.sh
disk=$TUTTI_TEST_DIR/disk
trap 'trap "" INT TERM HUP; sh "$throttle" down "$disk"' EXIT
trap 'exit 130' INT TERM HUP
cd "$TUTTI_TEST_DIR" || exit 1

sh "$throttle" up "$disk" 1g 64m x 2>/dev/null && exit 1
sh "$throttle" up "$disk" 1g 64m 1000 || exit
dd if=/dev/zero of="$disk/a" bs=4k count=600 2>log || cat log
start=$(date +%s%N)
sh "$throttle" run "$disk" dd if="$disk/a" of=/dev/null bs=4k iflag=direct 2>log || cat log
took=$((($(date +%s%N) - start) / 1000000))
if [ $took -lt 400 ]; then
    echo "600 reads at 1000 a second took $took ms"
    exit 1
fi

COLUMNS=400 sh "$throttle" run "$disk" "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 "$TUTTI_COMMAND-experiments" sections --part common \
    --op read --array 8m --rounds 1 --direct-io 1 --iops 1000 --dir "$disk" --json measured.json >out 2>&1 || { cat out; exit 1; }
COLUMNS=400 "$top/experiments/tutti_experiments/__main__.py" measured.json >out 2>&1
code=$?
times='at 1000 operations a second, times fall at least'
met=$(grep -c "goal met: .*$times" out)
missed=$(grep -ic "goal missed: .*$times" out)
if [ $((met + missed)) != 1 ] || grep -i "goal missed" out | grep -vq "$times" || [ $((code != 0)) != "$missed" ]; then
    echo "exit code $code"
    cat out
    exit 1
fi
