#!/bin/sh
# TEST ranks=0 timeout=120 cores=2
# The example program resumes on another number of ranks; Python reads the files with sqlite3 and NumPy alone.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
for python in python3 /usr/bin/python3 none; do # find an interpreter that has NumPy
    $python -c 'import numpy, sqlite3' 2>/dev/null && break
done
[ "$python" != none ] || exit 77
cd "$TUTTI_TEST_DIR"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
for program in "$top/examples/step6_dataset.c" "$top/tests/dataset/crash_writer.c"; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$program" -o "$(basename "$program" .c)" \
        -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
run() {
    n=$1
    shift
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" "$n" "$@"
}
run 3 ./step6_dataset a.tutti 20 >/dev/null
run 2 ./step6_dataset a.tutti 30 >a.out
run 1 ./step6_dataset b.tutti 50 >b.out
test "$(sed 's/.*; //' a.out)" = "$(sed 's/.*; //' b.out)"
read="$python $top/tests/dataset/reader.py"
$read a.tutti >a.ls
test "$(tail -1 a.ls)" = "4 state 50 5.0 temperature"
$read a.tutti 4 temperature >a.txt
$read b.tutti 4 temperature >b.txt
test "$(wc -l <a.txt)" -eq 9216
cmp a.txt b.txt

run 3 ./crash_writer c.tutti 0 >/dev/null # u is global, w is ranked; both have the same values
$read c.tutti 2 u >u.txt
$read c.tutti 2 w >w.txt
cmp u.txt w.txt
test "$(sed -n 123p u.txt)" = 60122

# ---- every version of the format
for version in golden golden_v1/archive golden_v2; do
    mkdir old
    cp "$top/tests/dataset/$version/data-000001.tutti" old
    $python -c 'import sqlite3, sys; sqlite3.connect("old/metadata.sqlite").executescript(sys.stdin.read())' \
        <"$top/tests/dataset/$version/metadata.sql"
    $read old infos >old.infos
    case $version in
    golden_v1/archive)
        grep -q "^title 'a tiny archive'" old.infos
        grep -q "^raw '.*xff" old.infos
        $read old 2 heat >old.txt
        test "$(tail -1 old.txt)" = 3.25
        ;;
    *)
        test "$(cat old.infos)" = "title 'a tiny dataset'"
        $read old 1 heat >old.txt
        test "$(tail -1 old.txt)" = 1.25
        ;;
    esac
    rm -r old
done
