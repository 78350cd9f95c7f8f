#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi
# The C code of the reference pages compiles without a warning, and the Python code of docs/reference/python.md reads the
# files of the tutorial programs.  (Other tests run the functions of arrays.md (t1009), tiles.md (t1026), replicas.md
# (t1104) and errors.md (t920), and the program of fortran.md (t1406).)
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
bad=0
fail() {
    echo "$*"
    bad=1
}
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")

# code PAGE N LANGUAGE: print the N-th block (from 1) of a page in a language
code() {
    awk -v n="$2" -v fence="\`\`\`$3" '/^```/ { on = $0 == fence && ++k == n; if ($0 == "```") on = 0; next } on' "$top/docs/reference/$1.md"
}
# compiled NAME: compile the C code on standard input
compiled() {
    { printf '#include <stdio.h>\n#include <stdlib.h>\n#include <tutti/tutti.h>\n' && cat; } >"$1.c"
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" -c "$1.c" || fail "the C of $1.md does not compile"
}
# inside SIGNATURE: print a function whose body is standard input, which must declare err
inside() {
    echo "tutti_err $1; tutti_err $1 {"
    cat
    echo 'return err; }'
}
code datasets 1 c | inside 'f(MPI_Comm comm, tutti_count n, int steps, double dt, double *t, tutti_decomposition_spec mine)' | compiled datasets
code decompositions 1 c |
    inside 'f(tutti_dataset *d, tutti_count nodes, const int64_t *global_id, const unsigned char *mine, double *u)' | compiled decompositions
code exodus 1 c | inside 'f(MPI_Comm comm, int steps, double dt, double *t, tutti_exodus_mesh mine)' | compiled exodus
{
    echo 'tutti_err err = TUTTI_OK;'
    code exodus 2 c
} | inside 'f(tutti_exodus *x, tutti_count elements, const int64_t *element_id, const int64_t *corners, tutti_count sides,
    const int64_t *element_index, const int *side, tutti_count nodes, const int64_t *node_id, double *x0, double *y, double *z)' |
    sed 's/\.coordinates = {x, y, z}/.coordinates = {x0, y, z}/' | compiled exodus_mesh
{
    echo 'tutti_err err = TUTTI_OK; tutti_exodus *x = NULL;'
    code exodus 3 c
} | inside 'f(MPI_Comm comm)' | compiled exodus_get
{
    echo 'tutti_err take(const char *path, int ranks, tutti_mesh_part **part);'
    echo 'tutti_err put(tutti_file *f, tutti_mesh_part *part, double *u);'
    code meshes 1 c
} | compiled meshes

# ---- Python reads a dataset and an array of the tutorial
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo 'skipped: no Python module numpy'; [ $bad = 0 ] && exit 77; exit 1; }
for step in step5_array step6_dataset; do
    "$mpicc" -std=gnu11 -I"$top/include" "$top/examples/$step.c" -o $step -L"$TUTTI_BUILD_DIR" -ltutti -lm -Wl,-rpath,"$TUTTI_BUILD_DIR" ||
        fail "$step does not compile"
done
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./step5_array a.tta >log 2>&1 || fail "step5_array failed: $(cat log)"
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 2 ./step6_dataset run.tutti 80 >log 2>&1 || fail "step6_dataset failed: $(cat log)"
code python 1 python >read.py
grep -q 'tutti.open("run.tutti")' read.py || fail 'python.md does not read run.tutti'
PYTHONPATH=$TUTTI_BUILD_DIR/python /usr/bin/python3 read.py >log 2>&1 || fail "the first program of python.md failed: $(cat log)"
exit $bad
