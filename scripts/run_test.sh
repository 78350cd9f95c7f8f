#!/usr/bin/env bash
# run_test.sh NAME SECONDS MPI RANKS command...   what ctest calls for each test.
#
# Gives the test directories of its own (TUTTI_TEST_DIR on a disk, TUTTI_TEST_SHM in memory), sets
# the sanitizers up, starts it (RANKS=0: without mpirun), and ends it with all its ranks if it takes
# longer than SECONDS, showing first where every process hangs.
#
#   TUTTI_TEST_DIR    where to put files (default: scratch/ in the build tree)
#   TUTTI_TEST_KEEP   set: do not remove them afterwards
# SPDX-License-Identifier: BSD-3-Clause
set -u
name=$1 seconds=$2 mpi=$3 ranks=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
support=$here/../tests/support

TUTTI_TEST_DIR=${TUTTI_TEST_DIR:-$TUTTI_BUILD_DIR/scratch}/$name
rm -rf "$TUTTI_TEST_DIR"
mkdir -p "$TUTTI_TEST_DIR" || exit 1
export TUTTI_TEST_DIR
unset TUTTI_TEST_SHM
if [ -w /dev/shm ] && shm=$(mktemp -d /dev/shm/tutti-test.XXXXXX); then
    export TUTTI_TEST_SHM="$shm"
fi
export TUTTI_MPICH_YIELD="$TUTTI_BUILD_DIR/libmpich_yield.so"

case ${TUTTI_SANITIZE:-} in
address)
    # Leaks of an MPI are told from ours by their stacks, which only the slow way of unwinding finds.
    unwind=fast_unwind_on_malloc=0
    [ "$ranks" != 0 ] || unwind=fast_unwind_on_malloc=1
    export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1:$unwind:${ASAN_OPTIONS:-}"
    export LSAN_OPTIONS="suppressions=$support/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
    export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
    ;;
thread)
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=1:${TSAN_OPTIONS:-}"
    # The runtime of gcc 12 cannot place its shadow where recent kernels put libraries at random.
    set -- setarch -R "$@"
    ;;
esac

# The processes of the test: all that inherited its mark, whatever sessions a launcher makes.
mark=TUTTI_TEST_MARK=$name.$$
test_pids() {
    grep -lsazxF "$mark" /proc/[0-9]*/environ | cut -d/ -f3
}

# Where each process is, without the launchers and without threads that are all the MPI's own.
show_where() {
    for pid in $(test_pids); do
        case $(cat "/proc/$pid/comm" 2>/dev/null) in mpirun*|mpiexec*|hydra*) continue ;; esac
        echo "--- $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
        if command -v gdb >/dev/null 2>&1; then
            timeout 20 gdb -p "$pid" -batch -nx -ex 'thread apply all bt 24' </dev/null 2>/dev/null | awk '
                function flush() { if (block ~ / at [^.]*\/(src|tests|cli|examples)\//) printf "%s", block }
                /^Thread / { flush(); block = "" }
                /^[#T]/ { block = block $0 "\n" }
                END { flush() }'
        else
            cat "/proc/$pid/wchan" "/proc/$pid/syscall" 2>/dev/null
            echo
        fi
    done
}

kill_all() {
    for pid in $(test_pids); do
        kill -KILL "$pid" 2>/dev/null
    done
}

finish() {
    kill_all
    [ -z "${TUTTI_TEST_SHM:-}" ] || rm -rf "$TUTTI_TEST_SHM"
    [ -n "${TUTTI_TEST_KEEP:-}" ] || rm -rf "$TUTTI_TEST_DIR"
}

if [ "$ranks" != 0 ]; then
    set -- "$here/mpirun.sh" "$mpi" "$ranks" "$@"
fi
trap 'finish; exit 130' INT TERM HUP
env "$mark" "$@" </dev/null &
child=$!
sleep "$seconds" >/dev/null 2>&1 &
timer=$!
wait -n -p first "$child" "$timer"
code=$?
kill "$timer" 2>/dev/null
if [ "$first" = "$timer" ]; then
    code=124
    echo "$name: not finished after $seconds s; ended" >&2
    show_where >&2
    kill -TERM "$child" 2>/dev/null
    for _ in 1 2 3 4 5 6; do
        sleep 0.5
        [ -n "$(test_pids)" ] || break
    done
fi
finish
exit $code
