# Sourced by tests: run a program unmodified, and again with libtutti-mpiio.so preloaded.
#
#   find_program NAME PACKAGE   sets $program to a program of the build, or skips the test
#   need COMMAND PACKAGE        skips the test if a command is not installed
#   both RANKS COMMAND...       runs COMMAND... $TUTTI_TEST_DIR/native, and preloaded COMMAND... $TUTTI_TEST_DIR/ours
#   same COMMAND...             checks that COMMAND... prints the same for both files (except for the first
#                               line, which has the file name)
#   $failed                     0, or 1 after a failure
#
# The summary that the drop-in prints when a file is closed shows whether a run used the drop-in.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
set -u
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
export TUTTI_STATS=1
failed=0

skip() {
    [ $failed = 0 ] || exit 1
    echo "$1 is not there (Debian: $2)"
    exit 77
}

# shellcheck disable=SC2034 # for the test
find_program() {
    program=$TUTTI_BUILD_DIR/tests/mpiio/$1
    [ -x "$program" ] || skip "$1" "$2"
}

need() {
    command -v "$1" >/dev/null 2>&1 || skip "$1" "$2"
}

# went NAME RANKS: print the number of files that the drop-in has closed in the run NAME
went() {
    grep -c "tutti: '.*': $2 ranks, open for " "$1.out"
}

# go native|ours RANKS COMMAND...: run the command with the drop-in (ours) or without
go() {
    name=$1
    shift
    "$scripts/mpirun.sh" "$TUTTI_MPI" "$@" "$TUTTI_TEST_DIR/$name" >"$name.out" 2>&1 || {
        echo "$name, $1 ranks: exit code $?"
        head -n 30 "$name.out"
        failed=1
        return
    }
    case $name:$(went "$name" "$1") in
    native:0 | ours:[1-9]*) return ;;
    native:*) echo "native, $1 ranks: went through the drop-in" ;;
    *) echo "ours, $1 ranks: did not go through the drop-in" ;;
    esac
    failed=1
}

both() {
    ranks=$1
    shift
    rm -f native ours
    go native "$ranks" "$@"
    go ours "$ranks" "$scripts/preload.sh" "$TUTTI_BUILD_DIR/libtutti-mpiio.so" "$@"
}

same() {
    for name in native ours; do
        "$@" $name >"$name.said" 2>&1 || { echo "$* $name: exit code $?"; failed=1; }
        tail -n +2 "$name.said" >"$name.text"
    done
    cmp native.text ours.text && return
    echo "$* says something else of them ($ranks ranks):"
    diff native.text ours.text | head -n 10
    failed=1
}
