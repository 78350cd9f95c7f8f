#!/usr/bin/env bash
# run_together.sh PREFIX MPI RANKS NAME:SECONDS... -- command...   runs the tests of a module in one launch.
#
# The command is a program of tests/support/together.c.  Its arguments are the names of tests; it
# reports progress by lines "@begin NAME ." and "@end NAME CODE SECONDS .".  Results are stored for the
# ctest entries of the tests, PREFIX.NAME.nRANKS, which find them by their run of ctest (run_test.sh).
# A test that exceeds its time limit is ended, after the stacks of all processes have been printed.  A
# test that crashes has failed.  The remaining tests continue in a new launch.  The exit status is
# nonzero only for errors that do not belong to a test: leaks found at the end, names left in /dev/shm, or
# a program that does not start its tests.
# SPDX-License-Identifier: BSD-3-Clause
set -u
# shellcheck source=scripts/test_setup.sh
. "$(dirname "$0")/test_setup.sh"
launch=$1 mpi=$2 ranks=$3
shift 3
names=()
declare -A limit
while [ "$1" != -- ]; do
    names+=("${1%:*}")
    limit[${1%:*}]=${1##*:}
    shift
done
shift

results=$(results)
mkdir -p "$results" || exit 1
# Remove results of ctest runs that have ended.
for old in "$TUTTI_BUILD_DIR"/results/*; do
    pid=${old##*/}
    [ -d "/proc/${pid%.*}" ] || rm -rf "$old"
done
directories "$launch.together.n$ranks"
export TUTTI_TEST_OUTPUT=$TUTTI_TEST_DIR/output
mkdir "$TUTTI_TEST_OUTPUT"
export TUTTI_TEST_NEWS=$TUTTI_TEST_DIR/news
mkfifo "$TUTTI_TEST_NEWS" || exit 1
exec 3<>"$TUTTI_TEST_NEWS"
sanitizers "$ranks"
mark=TUTTI_TEST_MARK=$launch.together.n$ranks.$$
trap 'finish; exit 130' INT TERM HUP

# result NAME CODE SECONDS: store the result of one test
result() {
    local at=$results/$launch.$1.n$ranks
    [ ! -f "$TUTTI_TEST_OUTPUT/$1" ] || mv "$TUTTI_TEST_OUTPUT/$1" "$at.out"
    echo "$2 $3" >"$at.code"
    printf '%-32s exit code %3s %8s s\n' "$1" "$2" "$3"
    [ -n "${TUTTI_TEST_KEEP:-}" ] || rm -rf "${TUTTI_TEST_DIR:?}/$1" ${TUTTI_TEST_SHM:+"${TUTTI_TEST_SHM:?}/$1"}
}

# news: read a line from the launch into `line`; fails after a second without a line, so that signals are
# handled in time
news() {
    local more
    line=
    while IFS= read -r -t 1 more <&3 || [ -n "$more" ]; do
        line+=$more
        [[ $line != *. ]] || return 0
    done
    return 1
}

trouble=0
while [ ${#names[@]} -gt 0 ]; do
    now='' failed=0 late=0 wait=60 began=$SECONDS
    {
        env "$mark" "$here/mpirun.sh" "$mpi" "$ranks" ${prefix[@]+"${prefix[@]}"} "$@" "${names[@]}" </dev/null 2>&1 3<&-
        echo "@over $? ." >&3
    } &
    while :; do
        if ! news; then
            if [ $late = 1 ] || [ $((SECONDS - began)) -le "$wait" ]; then continue; fi
            late=1
            end_late "${now:-the beginning or end of the launch}" "$wait" | tee -a "$TUTTI_TEST_OUTPUT/${now:-launch}"
            continue
        fi
        read -r what name code took _ <<<"$line"
        case $what in
        @begin) now=$name wait=${limit[$name]} ;;
        @end)
            result "$name" "$code" "$took"
            [ "$code" != 1 ] || failed=1
            names=("${names[@]:1}")
            now='' wait=60
            ;;
        @over)
            code=$name
            break
            ;;
        esac
        began=$SECONDS
    done
    wait
    if [ -n "$now" ]; then
        [ $late = 0 ] || code=124
        [ $late = 1 ] || echo "the launch ended here with code $code" >>"$TUTTI_TEST_OUTPUT/$now"
        case $code in 0 | 77) code=1 ;; esac
        result "$now" "$code" $((SECONDS - began))
        names=("${names[@]:1}")
    elif [ ${#names[@]} -gt 0 ] || [ $late = 1 ] || { [ "$code" != 0 ] && [ "$code" != 77 ] && [ "$code" != $failed ]; }; then
        echo "the launch ended with code $code, ${#names[@]} tests not run"
        trouble=1
        break
    fi
done
finish
[ $left = 0 ] || trouble=1
exit $trouble
