#!/bin/sh
# TEST ranks=0 timeout=120 cores=2 builds=openmpi,mpich
# What README, CONTRIBUTING and docs/ say is so: names, links, targets (scripts/check_docs.py); the
# program of the README compiles without a warning and writes its file on four ranks; the line that
# explains the third example does explain it.  (t910_install.sh tries the lines about installing.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
fail() {
    echo "$*"
    bad=1
}

python3 "$top/scripts/check_docs.py" || bad=1

# The block of C, with what it takes for granted: the rank, and its part of the array.
cd "$TUTTI_TEST_DIR" || exit 1
awk '/^```/ { on = $0 == "```c"; next } on' "$top/README.md" >block.c
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
    "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 ./readme || fail "the program of the README failed"
    # rows 0 and 511, columns 0 and 511: the four ranks' corners
    corners=$(for at in 0 511 261632 262143; do od -An -tf8 -j $((at * 8)) -N8 out.dat; done | tr -d '\n ')
    [ "$corners" = 1234 ] || fail "the program of the README wrote $corners into the corners, not 1234"
    # trouble of one rank alone: all refuse, nobody waits
    sed 's|.hi = {256 \* (rank / 2 + 1)|.hi = {(rank == 1) * 1000 + 256 * (rank / 2 + 1)|' readme.c >bad.c
    cmp -s readme.c bad.c && fail "the bound of the README's program was not found"
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" bad.c -o bad -L"$TUTTI_BUILD_DIR" -ltutti \
        -Wl,-rpath,"$TUTTI_BUILD_DIR" || fail "it does not compile with a wrong bound"
    timeout 30 "$top/scripts/mpirun.sh" "$TUTTI_MPI" 4 ./bad >bad.out 2>&1
    code=$?
    [ $code -eq 0 ] || fail "with a wrong bound on one rank: exit code $code" # the array is written all the same
    told=$(grep -c 'rank 1.*the access is NULL.*beyond its shape' bad.out)
    [ "$told" = 1 ] || fail "told $told times, not once: $(cat bad.out)"
else
    fail "the program of the README does not compile"
fi

line=$(grep '^    TUTTI_EXPLAIN=1 ' "$top/README.md" | sed "s|build/openmpi|$TUTTI_BUILD_DIR|; s|mpirun.sh openmpi|mpirun.sh $TUTTI_MPI|; s|scripts/|$top/scripts/|")
said=$(sh -c "$line" 2>&1) || fail "this failed: $line"
case $said in
*"tutti: write of "*two-phase*) ;;
*) fail "the third example is not explained: $said" ;;
esac
exit $bad
