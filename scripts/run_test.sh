#!/usr/bin/env bash
# run_test.sh NAME SECONDS MPI RANKS command...   called by ctest for each test.
#
# If this run of ctest has already run the test together with others (run_together.sh), prints its
# result.  Otherwise creates directories for it (TUTTI_TEST_DIR on a disk, TUTTI_TEST_SHM in
# memory), sets sanitizer options, and starts it (RANKS=0: without mpirun).  If it takes longer than
# SECONDS, prints the stacks of its processes and ends all its ranks.
#
#   TUTTI_TEST_DIR, TUTTI_TEST_KEEP   see test_setup.sh
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=scripts/test_setup.sh
. "$(dirname "$0")/test_setup.sh"
name=$1 seconds=$2 mpi=$3 ranks=$4
shift 4

done=$(results)/$name
if [ -f "$done.code" ]; then
    [ ! -s "$done.out" ] || cat "$done.out"
    read -r code took <"$done.code"
    rm -f "$done.out" "$done.code"
    echo "ran together with others: exit code $code, $took s"
    exit "$code"
fi

directories "$name"
sanitizers "$ranks"
mark=TUTTI_TEST_MARK=$name.$$
set -- ${prefix[@]+"${prefix[@]}"} "$@"
if [ "$ranks" != 0 ]; then
    set -- "$here/mpirun.sh" "$mpi" "$ranks" "$@"
fi
trap 'finish; exit 130' INT TERM HUP
# once COMMAND...: run the command; set `code`, and `first` to the process that ended first, the command or the timer
once() {
    env "$mark" "$@" </dev/null &
    child=$!
    sleep "$seconds" >/dev/null 2>&1 &
    timer=$!
    wait -n -p first "$child" "$timer"
    code=$?
    kill "$timer" 2>/dev/null
}
once "$@"
# With ThreadSanitizer of gcc 12, about one in ten runs of programs with many threads and stacks ends with a
# segmentation fault.  A data race gives another exit code, and other builds run the same tests.
if [ "${TUTTI_SANITIZE:-}" = thread ] && [ $code = 139 ]; then
    echo "ThreadSanitizer's runtime ended by a segmentation fault: once more"
    once "$@"
fi
if [ "$first" = "$timer" ]; then
    code=124
    end_late "$name" "$seconds" >&2
fi
finish
[ $left = 0 ] || code=1
exit $code
