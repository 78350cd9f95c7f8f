# shellcheck shell=sh
# Common part of the tests of commands, to be sourced: sets `here` (the source tree), `mpi` (openmpi or mpich) and
# `bad` (the exit code), changes to the directory of the test, and defines the functions below.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
mpi=$(sed -n 's/^TUTTI_MPI:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
bad=0
seen=
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
cd "$TUTTI_TEST_DIR" || exit 1

# leaks COMMAND ARGUMENT: print an option of ASan: detect leaks only in the first run of each command and argument
leaks() {
    case " $seen " in
    *" $1.$2 "*) echo detect_leaks=0 ;;
    *) echo detect_leaks=1 ;;
    esac
}

# tutti RANKS arguments...: run the command; its output is in the files out and err
tutti() {
    ranks=$1
    shift
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:$(leaks "${1:-}" "${2:-}") \
        LC_ALL=C.UTF-8 COLUMNS=100 "$here/scripts/mpirun.sh" "$mpi" "$ranks" "${program:-$TUTTI_COMMAND}" "$@" >out 2>err
    set -- $? "${1:-}.${2:-}"
    seen="$seen $2"
    return "$1"
}

# bench RANKS arguments...: run tutti bench
bench() {
    ranks=$1
    shift
    tutti "$ranks" bench "$@"
}

report=$here/experiments/tutti_experiments/__main__.py

# experiment RANKS arguments...: run tutti-experiments, then tutti-report, which gets --json, --csv and --html
experiment() {
    ranks=$1 asked=
    shift
    left=$#
    while [ "$left" -gt 0 ]; do
        case $1 in
        --json | --csv | --html) asked="$asked $1 $2" left=$((left - 2)); shift 2 ;;
        *) set -- "$@" "$1"; shift; left=$((left - 1)) ;;
        esac
    done
    program=$TUTTI_COMMAND-experiments
    tutti "$ranks" "$@" --json measured.json
    code=$?
    program=
    [ $code -ne 2 ] && [ -s measured.json ] || return $code
    # shellcheck disable=SC2086 # words
    COLUMNS=100 "$report" measured.json $asked >out 2>>err || code=$?
    rm -f measured.json
    return $code
}

# fail TEXT: report a failure with the output of the command
fail() {
    echo "$1"
    cat out err
    bad=1
}

# expect CODE TEXT arguments...: run the command as one process; check its exit code and that its output (in the
# file out) contains TEXT
expect() {
    code=$1 text=$2
    shift 2
    "$TUTTI_COMMAND" "$@" >out 2>&1 </dev/null
    got=$?
    if [ $got -ne "$code" ] || { [ -n "$text" ] && ! grep -qF -e "$text" out; }; then
        echo "tutti $*: exit code $got (expected $code), without '$text':"
        cat out
        bad=1
    fi
}

# has TEXT...: check that the output of the last command contains each TEXT
has() {
    for text in "$@"; do
        grep -qF -e "$text" out || { echo "without '$text':"; cat out; bad=1; }
    done
}

# json CONDITION: check that the output of the last command is JSON for which the condition holds
json() {
    python3 -c "import json, sys; o = json.load(open('out')); sys.exit(not ($1))" || { echo "not so: $1"; cat out; bad=1; }
}

# compile SOURCE PROGRAM: compile a program of the tests and link it with the library
compile() {
    "$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")" -std=gnu11 -Wall -Wextra -Werror -I"$here/include" \
        "$here/tests/$1" -o "$2" -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
}

# finish: check that no temporary file remains; end the test
finish() {
    left=$(find . -name '*.tmp')
    [ -z "$left" ] || fail "left behind: $left"
    exit $bad
}
