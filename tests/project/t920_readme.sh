#!/bin/sh
# TEST ranks=0 timeout=120 cores=2 builds=openmpi,mpich
# README, CONTRIBUTING and docs/ refer to existing names, links and targets (scripts/check_docs.py).  README has at most
# 150 lines, with the most important information in its first 45 lines.  The chart shows the table of
# docs/performance.md.  The program of docs/reference/errors.md compiles without a warning, writes its file on four
# ranks, and reports the error of one rank once; its table of codes is that of the header.  (t910 and t917 run the
# installation commands, t919 the tutorial and the how-to guides.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
fail() {
    echo "$*"
    bad=1
}

python3 "$top/scripts/check_docs.py" || bad=1

# ---- README: length and first lines
[ "$(wc -l <"$top/README.md")" -le 150 ] || fail "README.md has more than 150 lines"
for part in 'Status:' 'Licence:' 'Open MPI' 'Tutti is for you if' '## Installation' 'make run' 'make install' '```python' 'tutti run --compare -- mpirun -n 4 ./your_program' \
    'without / with'; do
    grep -qF -e "$part" "$top/README.md" || fail "README.md has no '$part'"
    sed -n 1,45p "$top/README.md" | grep -qF -e "$part" || fail "'$part' is not in the first 45 lines of README.md"
done
[ "$(wc -l <"$top/docs/performance.md")" -le 80 ] || fail "docs/performance.md has more than 80 lines"
python3 "$top/scripts/chart.py" --check || bad=1

# ---- the codes of docs/reference/errors.md
sed -n 's/^ *X(\([A-Z_]*\), \(-*[0-9]*\), "\(.*\)").*/TUTTI_\1 \2 \3/p' "$top/include/tutti/error.h" >"$TUTTI_TEST_DIR/codes"
# shellcheck disable=SC2016 # marks of code
sed -n 's/^| `\(TUTTI_[A-Z_]*\)` | \(-*[0-9]*\) | \([^|]*\) |.*/\1 \2 \3/p' "$top/docs/reference/errors.md" | diff - "$TUTTI_TEST_DIR/codes" ||
    fail "docs/reference/errors.md has other codes or texts than error.h"

# ---- the program of docs/reference/errors.md, with the rank and its part of the array
cd "$TUTTI_TEST_DIR" || exit 1
awk '/^```/ { on = $0 == "```c"; next } on' "$top/docs/reference/errors.md" >block.c
{
    echo '#include <stdio.h>'
    grep '^#include' block.c
    echo 'static double mine[256 * 256];'
    echo 'int main(int argc, char **argv) {'
    echo '    int rank;'
    echo '    MPI_Init(&argc, &argv);'
    echo '    MPI_Comm_rank(MPI_COMM_WORLD, &rank);'
    echo '    for (int i = 0; i < 256 * 256; i++) mine[i] = rank + 1;'
    grep -v '^#include' block.c
    echo '    MPI_Finalize();'
    echo '    return err != TUTTI_OK;'
    echo '}'
} >readme.c
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
if "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" readme.c -o readme \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR"; then
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 ./readme || fail "the program of errors.md failed"
    # Each rank has written one of the four elements in the corners of the array.
    corners=$(for at in 0 511 261632 262143; do od -An -tf8 -j $((at * 8)) -N8 out.dat; done | tr -d '\n ')
    [ "$corners" = 1234 ] || fail "the program of errors.md wrote $corners into the corners, not 1234"
    # If an error occurs on one rank only, all ranks return it.
    sed 's|.hi = {256 \* (rank / 2 + 1)|.hi = {(rank == 1) * 1000 + 256 * (rank / 2 + 1)|' readme.c >bad.c
    cmp -s readme.c bad.c && fail "the bound of the program was not found"
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" bad.c -o bad -L"$TUTTI_BUILD_DIR" -ltutti \
        -Wl,-rpath,"$TUTTI_BUILD_DIR" || fail "it does not compile with a wrong bound"
    timeout 30 "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 ./bad >bad.out 2>&1
    code=$?
    [ $code -eq 1 ] || fail "with a wrong bound on one rank: exit code $code" # and no rank waits
    told=$(grep -c 'rank 1.*argument access is NULL.*exceeds the extent' bad.out)
    [ "$told" = 1 ] || fail "reported $told times, not once: $(cat bad.out)"
else
    fail "the program of errors.md does not compile"
fi
exit $bad
