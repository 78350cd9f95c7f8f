#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=0
# Runs t791_real_nodes on 2 and 4 simulated hosts (namespaces, see scripts/hosts.sh) that share no memory and
# communicate over TCP, with equal and different numbers of ranks per host, placed by host and cyclically.  The program
# checks the number of hosts and that messages are sent between hosts.
#
# Debian's MPICH 4.0 often hangs across hosts, mostly in MPI_Finalize: a run that must be ended is only reported, while other
# errors fail the test.  With Open MPI every error fails the test.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
hosts=$top/scripts/hosts.sh
program=$TUTTI_BUILD_DIR/tests/collective/t791_real_nodes
out=$TUTTI_TEST_DIR/out
dir=$TUTTI_TEST_DIR/hosts.$$
runner=
failed=0
if [ ! -x "$program" ]; then
    echo "$program is not built"
    exit 1
fi

# shellcheck disable=SC2317 # called by the trap
finish() {
    trap '' INT TERM HUP
    [ -z "$runner" ] || kill "$runner" 2>/dev/null
    wait
    sh "$hosts" down "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
sh "$hosts" up "$dir" 4 || exit

# across COUNTS SECONDS [MAP]: run across hosts and report the result
across() {
    n=$(echo "$1" | tr , '\n' | wc -l)
    map=${3:-slot}
    HOSTS_MAP=$map timeout -k 5 "$2" sh "$hosts" run "$dir" "$TUTTI_MPI" "$1" "$program" "$n" >"$out" 2>&1 &
    runner=$!
    wait $runner
    code=$?
    runner=
    echo "$TUTTI_MPI, ranks on hosts $1 by $map: exit code $code: $(grep '^across:' "$out")"
    if [ $code = 0 ] && grep -q "^across: passed: .* on $n hosts" "$out"; then
        return
    fi
    if [ "$TUTTI_MPI" = mpich ] && [ $code = 124 ] && ! grep -qE '^across: failed|CHECK\(' "$out"; then
        echo "... had to be ended after $2 s; not counted"
        return
    fi
    cat "$out"
    failed=1
}

if [ "$TUTTI_MPI" = mpich ]; then
    across 2,2 12
    across 1,1,1,1 12
    across 1,3 12
else
    across 2,2 60
    across 1,1,1,1 60
    across 2,1,3,1 60
    across 3,2 60 node
    across 2,2,2,2 60
fi

sh "$hosts" down "$dir" || failed=1
if [ -e "$dir" ] || grep -lsazxF "HOSTS_MARK=$dir" /proc/[0-9]*/environ; then
    echo "something is left"
    failed=1
fi
exit $failed
