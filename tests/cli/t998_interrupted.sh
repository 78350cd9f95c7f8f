#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# SIGINT, SIGTERM and SIGKILL to mpirun or to a single process while a command has temporary files: no file remains, and
# the command can be repeated.  Launchers kill ranks that do not end.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
temporary() { find . -name '*.tmp*' -print -quit; }

# until_is WANTED PID: wait until temporary files exist (1) or not (0), while process PID runs or, without PID, for at
# most 30 s
until_is() {
    for _ in $(seq 3000); do
        [ "$(temporary | wc -l)" -ne "$1" ] || return 0
        [ -z "$2" ] || kill -0 "$2" 2>/dev/null || return 1
        sleep 0.01
    done
    return 1
}

# interrupt SIGNAL COMMAND...: run a command and send it the signal as soon as a temporary file exists
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
interrupt INT $mpirun-experiments exodus --rounds 10000
# shellcheck disable=SC2086
interrupt TERM $mpirun-experiments dataset --rounds 10000
# shellcheck disable=SC2086
interrupt KILL "$TUTTI_COMMAND" bench $many
mkdir d
interrupt KILL "$TUTTI_COMMAND" tune --dry-run --out never d

# ---- cp and import leave neither the output nor a part of it
craft() { python3 "$here/tests/cli/crafted.py" "$@"; }
craft steps.e 'd num_dim 1;d num_nodes 1;d time_step 30000;x coordx d num_nodes;x time_whole d time_step'
craft short.e 'd num_dim 1;d num_nodes 1;d time_step 2;x coordx d num_nodes;x time_whole d time_step'
for signal in INT TERM KILL; do
    # shellcheck disable=SC2086
    interrupt $signal $mpirun cp steps.e copy.e
    [ -z "$(find . -name 'copy.e*')" ] || fail "cp, SIG$signal: $(find . -name 'copy.e*')"
done
interrupt KILL "$TUTTI_COMMAND" import steps.e copy.tutti
[ ! -e copy.tutti ] || fail 'a part of a dataset'
expect 0 '' cp short.e copy.e
expect 0 '' import short.e copy.tutti
finish
