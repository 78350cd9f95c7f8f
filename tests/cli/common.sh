# shellcheck shell=sh
# What the tests of the command begin with: `here` (the tree), `mpi` (openmpi or mpich), a current directory
# of their own, `bad` (the exit code), and the functions below.  Sourced, not run.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
mpi=$(sed -n 's/^TUTTI_MPI:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
bad=0
seen=
cd "$TUTTI_TEST_DIR" || exit 1

# leaks COMMAND ARGUMENT: looked for once for each command and experiment of a test, all else in every call
leaks() {
    case " $seen " in
    *" $1.$2 "*) echo detect_leaks=0 ;;
    *) echo detect_leaks=1 ;;
    esac
}

# tutti RANKS arguments...: the command; what it says is in the files out and err
tutti() {
    ranks=$1
    shift
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:$(leaks "${1:-}" "${2:-}") \
        LC_ALL=C.UTF-8 COLUMNS=100 "$here/scripts/mpirun.sh" "$mpi" "$ranks" "$TUTTI_COMMAND" "$@" >out 2>err
    set -- $? "${1:-}.${2:-}"
    seen="$seen $2"
    return "$1"
}

# bench RANKS arguments...
bench() {
    ranks=$1
    shift
    tutti "$ranks" bench "$@"
}

# fail TEXT: what went wrong, with what the command said
fail() {
    echo "$1"
    cat out err
    bad=1
}

# finish: no temporary file is there; the end of the test
finish() {
    left=$(find . -name '*.tmp')
    [ -z "$left" ] || fail "left behind: $left"
    exit $bad
}
