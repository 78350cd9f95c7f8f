#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# SIGINT, SIGTERM and SIGKILL for mpirun, or for one process, while a command has temporary files: none is left, and the command can be repeated.
# The launchers end ranks with SIGKILL when they do not end by themselves.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
temporary() { find . -name '*.tmp*' -print -quit; }

# until_is WANTED PID: wait until there are temporary files (1), none (0); no longer than process PID, or 30 s without one
until_is() {
    for _ in $(seq 3000); do
        [ "$(temporary | wc -l)" -ne "$1" ] || return 0
        [ -z "$2" ] || kill -0 "$2" 2>/dev/null || return 1
        sleep 0.01
    done
    return 1
}

# interrupt SIGNAL COMMAND...: send it as soon as the command has a temporary file
interrupt() {
    signal=$1
    shift
    env --default-signal=INT "$@" >out 2>err </dev/null &
    pid=$!
    until_is 1 $pid || fail "$*: ended without a temporary file"
    kill -"$signal" $pid
    wait $pid 2>/dev/null
    until_is 0 '' || { fail "$*, SIG$signal: left behind: $(find . -name '*.tmp*')" && rm -rf ./*.tmp*; }
}
mpirun="$here/scripts/mpirun.sh $mpi 2 $TUTTI_COMMAND"
many='--size 4m --rounds 10000 --pattern strided --op write --method two-phase --plan fresh'
for signal in INT TERM KILL; do
    # shellcheck disable=SC2086 # lists of words
    interrupt $signal $mpirun bench $many
done
# shellcheck disable=SC2086
interrupt INT $mpirun bench exodus --rounds 10000
# shellcheck disable=SC2086
interrupt TERM $mpirun bench dataset --rounds 10000
# shellcheck disable=SC2086
interrupt KILL "$TUTTI_COMMAND" bench $many
mkdir d
interrupt KILL "$TUTTI_COMMAND" tune --dry-run --out never d
finish
