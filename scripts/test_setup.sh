# shellcheck shell=bash disable=SC2034,SC2154 # variables of run_test.sh and run_together.sh
# Common part of run_test.sh and run_together.sh (both source it): sanitizers, the processes of a
# test, stacks, and results of tests that ran together with others.
#
#   TUTTI_TEST_DIR    directory for files (default: scratch/ in the build tree)
#   TUTTI_TEST_KEEP   set: do not remove the files afterwards
# SPDX-License-Identifier: BSD-3-Clause
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A program that a script starts without mpirun is one rank with the settings of mpirun.sh: no
# daemon, no use of networks.
export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx OMPI_MCA_btl=self,vader

# results: print the directory of the results of this run of ctest, which is identified by its process id and start time
results() {
    local stat
    stat=$(cat "/proc/$PPID/stat" 2>/dev/null)
    # shellcheck disable=SC2086 # the words of the line, without the name of the program
    set -- ${stat##*) }
    echo "$TUTTI_BUILD_DIR/results/$PPID.${20:-0}"
}

# sanitizers RANKS: set their options, and `prefix`, the prefix of the command
sanitizers() {
    local support=$here/../tests/support leaks=1
    prefix=()
    case ${TUTTI_SANITIZE:-} in
    address)
        # Leaks of an MPI are distinguished from those of Tutti by the caller of malloc (lsan.supp,
        # support/keep_plugins.c), without slow unwinding.  The check takes a fifth of a second per rank.  Programs
        # that count the memory of the library (support/count_memory.c) do not need it; launches of several tests
        # and programs with the drop-in library do.
        case $1.${TUTTI_TEST_COUNTS:-} in
        0.*) ;;
        *.1) leaks=0 ;;
        esac
        export ASAN_OPTIONS="detect_leaks=$leaks:fast_unwind_on_malloc=1:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
        export LSAN_OPTIONS="suppressions=$support/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
        export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
        ;;
    thread)
        export TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=1:${TSAN_OPTIONS:-}"
        # The runtime of gcc 12 cannot map its shadow memory where recent kernels place libraries.
        prefix=(setarch -R)
        ;;
    esac
}

# directories NAME: create TUTTI_TEST_DIR and TUTTI_TEST_SHM, private to this test.  Temporary files are created there,
# too, because programs without mpirun remove each other's session directories of Open MPI.
directories() {
    TUTTI_TEST_DIR=${TUTTI_TEST_DIR:-$TUTTI_BUILD_DIR/scratch}/$1
    rm -rf "$TUTTI_TEST_DIR"
    mkdir -p "$TUTTI_TEST_DIR" || exit 1
    export TUTTI_TEST_DIR
    unset TUTTI_TEST_SHM
    if [ -w /dev/shm ] && shm=$(mktemp -d /dev/shm/tutti-test.XXXXXX); then
        export TUTTI_TEST_SHM="$shm" TMPDIR="$shm"
    fi
    export TUTTI_MPICH_YIELD="$TUTTI_BUILD_DIR/libmpich_yield.so"
    names_before=$(names_left)
}

# Print the processes of the test: all that inherited its mark, in all sessions that a launcher creates.
test_pids() {
    grep -lsazxF "$mark" /proc/[0-9]*/environ | cut -d/ -f3
}

# Print the stacks of all processes, except launchers and threads that belong to MPI only.
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

# end_late NAME SECONDS: report the timeout and the stacks; end the test
end_late() {
    echo "$1: not finished after $2 s; ended"
    show_where
    for pid in $(test_pids); do
        kill -TERM "$pid" 2>/dev/null
    done
    for _ in 1 2 3 4 5 6; do
        sleep 0.5
        [ -n "$(test_pids)" ] || break
    done
    kill_all
}

# Print names of shared memory (src/base/shared_memory.c) created by processes that have ended.
names_left() {
    local name pid
    for name in /dev/shm/tutti-shm-*; do
        pid=${name#/dev/shm/tutti-shm-}
        [ ! -e "$name" ] || [ -d "/proc/${pid%%-*}" ] || echo "$name"
    done
}

# finish: end the processes of the test, remove its directories, and set `left` to 1 if it has left shared memory
finish() {
    kill_all
    left=0
    for name in $(names_left); do
        case " $names_before " in *[[:space:]]"$name"[[:space:]]*) continue ;; esac
        echo "left in /dev/shm: $name"
        rm -f "$name"
        left=1
    done
    [ -z "${TUTTI_TEST_SHM:-}" ] || rm -rf "$TUTTI_TEST_SHM"
    [ -n "${TUTTI_TEST_KEEP:-}" ] || rm -rf "$TUTTI_TEST_DIR"
}
