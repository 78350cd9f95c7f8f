#!/bin/sh
# TEST ranks=0 timeout=120 cores=2 builds=openmpi,mpich
# The Python examples run and write the expected files: steps 1, 3 and 5 the same files as the C examples; steps 6 and 9
# the same files on any number of ranks, step 9 with the same values as in C.  Also the Python program in the README,
# which has at most ten lines, the command that reads its dataset, and the script that plots a dataset.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy"
[ "$TUTTI_MPI" != openmpi ] || needs="numpy mpi4py"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
cd "$TUTTI_TEST_DIR"
export TUTTI_LIBRARY="$TUTTI_BUILD_DIR/libtutti.so"
bad=0
fail() {
    echo "$*"
    bad=1
}
run() {
    n=$1 program=$2
    shift 2
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$n" "$python" "$top/examples/python/$program.py" "$@" || fail "$program failed on $n ranks"
}
steps="1_first 3_checkpoint_loop 5_array 8_mesh 10_block"
[ "$TUTTI_MPI" != openmpi ] || steps="$steps 2_ghost_cells 4_meanwhile 7_replicas" # to save time, with one MPI only
for step in $steps; do
    run 4 "step$step" "step$step.4" >out
done
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for step in 1_first 3_checkpoint_loop 5_array; do
    "$mpicc" -std=gnu11 -I"$top/include" "$top/examples/step$step.c" -o step$step -L"$TUTTI_BUILD_DIR" -ltutti \
        -Wl,-rpath,"$TUTTI_BUILD_DIR"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 ./step$step c.$step >/dev/null
    cmp c.$step step$step.4 || fail "step $step in Python and in C wrote different files"
done
run 3 step6_dataset a.tutti 20 >/dev/null # resumes, on another number of ranks
run 2 step6_dataset a.tutti 30 >a.out
run 1 step6_dataset b.tutti 50 >b.out
test "$(sed 's/.*; //' a.out)" = "$(sed 's/.*; //' b.out)" || fail "step 6: $(cat a.out b.out)"

run 4 step9_exodus a.e >/dev/null
if [ "$TUTTI_MPI" = openmpi ]; then # to save time, with one MPI only
    run 3 step9_exodus b.e >/dev/null
    cmp a.e b.e || fail "step 9 wrote different files on 4 and on 3 ranks"
    "$mpicc" -std=gnu11 -I"$top/include" "$top/examples/step9_exodus.c" -o step9_exodus -L"$TUTTI_BUILD_DIR" -ltutti -lm \
        -Wl,-rpath,"$TUTTI_BUILD_DIR"
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./step9_exodus >/dev/null
    "$TUTTI_COMMAND" diff --rel 1e-14 step9.e a.e || fail "step 9 in Python and in C wrote different files"
fi

# Run the Python program in the README.
awk '/^```/ { on = $0 == "```python"; next } on' "$top/README.md" >first.py
lines=$(wc -l <first.py)
if [ "$lines" -lt 5 ] || [ "$lines" -gt 10 ]; then
    fail "the README's program in Python has $lines lines"
fi
if [ "$TUTTI_MPI" = openmpi ]; then # the program uses mpi4py
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 "$python" first.py >first.out || fail "the README's program in Python failed"
    reader=$(sed -n 's/^    python3 -c .\(.*\).$/\1/p' "$top/README.md")
    env -u TUTTI_LIBRARY "$python" -c "$reader" >first.out || fail "the command of the README that reads run.tutti failed"
    [ "$(cat first.out)" = "[1. 2.]" ] || fail "the command of the README that reads run.tutti printed: $(cat first.out)"
fi
if "$python" -c 'import matplotlib' 2>/dev/null; then
    env -u TUTTI_LIBRARY "$python" "$top/examples/python/plot.py" a.tutti plot.png >/dev/null || fail "plot.py failed"
    [ "$(head -c 4 plot.png | od -An -tx1 | tr -d ' ')" = 89504e47 ] || fail "plot.py drew no picture"
else
    echo "plot.py was not tried: python3-matplotlib is not installed"
fi
exit $bad
