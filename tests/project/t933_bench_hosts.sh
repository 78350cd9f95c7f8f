#!/bin/sh
# TEST ranks=0 timeout=60 cores=0
# scripts/bench_hosts.sh returns the exit code of the program and kills a run that exceeds the time limit; nothing remains,
# also after an interruption.  The state directory has a long path behind a symbolic link.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
real=$TUTTI_TEST_DIR/$(printf '%0120d' 0)
mkdir "$real" && ln -s "$real" "$TUTTI_TEST_DIR/link"
state=$TUTTI_TEST_DIR/link/state
log=$TUTTI_TEST_DIR/log
runner=
failed=0
fail() {
    echo "$*"
    [ ! -e "$log" ] || cat "$log"
    failed=1
}
# shellcheck disable=SC2317 # called by the trap
finish() {
    trap '' INT TERM HUP
    [ -z "$runner" ] || kill "$runner" 2>/dev/null
    wait
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# bench SECONDS command...: run a command on two hosts with one brick
bench() {
    seconds=$1
    shift
    sh "$top/scripts/bench_hosts.sh" --hosts 2 --bricks 1 --time "$seconds" --state "$state" -- "$@" \
        >"$log" 2>&1
}

nothing_left() {
    if [ -e "$state" ] || grep -lsazE "^(HOSTS|GLUSTER)_MARK=$state/" /proc/[0-9]*/environ ||
        grep -F -e " $state" -e " $real" /proc/mounts; then
        fail "$1: something is left"
    fi
}

# shellcheck disable=SC2016 # for the shells on the hosts
bench 20 sh -c 'test -d "$0" && : >"$1" && test "$2" = MOUNTAIN && exit 7' MOUNT MOUNT/x MOUNTAIN
code=$?
if [ $code = 77 ]; then
    cat "$log"
    exit 77
fi
[ $code = 7 ] || fail "exit code $code, not 7"
nothing_left "after a run"

bench 2 sleep 4245
code=$?
[ $code = 124 ] || fail "exit code $code, not 124, after too long a run"
nothing_left "after too long a run"

for delay in 0.3 1.5; do
    sh "$top/scripts/bench_hosts.sh" --hosts 2 --state "$state" -- sleep 4246 >"$log" 2>&1 &
    runner=$!
    sleep $delay
    kill $runner
    wait $runner 2>/dev/null
    runner=
    nothing_left "interrupted after $delay s"
done
sh "$top/scripts/bench_hosts.sh" --hosts none -- true 2>/dev/null
[ $? = 2 ] || fail "none is a number?"
exit $failed
