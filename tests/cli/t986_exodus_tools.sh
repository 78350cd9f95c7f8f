#!/bin/sh
# TEST ranks=0 timeout=120
# The commands of docs/reference/exodus-tools.md in order, and their output; damage that verify and archive detect;
# every argument of the manual page is used.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/exodus_cells.c cells || exit 1
./cells run.e </dev/null && cp "$here/tests/cli/mixed.msh" mesh.msh || exit 1

sed -n 's/^    \(\(mpirun -n 4 \)*tutti .*\)/\1/p' "$here/docs/reference/exodus-tools.md" |
    sed "s|mpirun -n 4|$here/scripts/mpirun.sh $mpi 3|; s|tutti |$TUTTI_COMMAND |" >lines
while read -r line; do
    sh -c "$line" >out 2>&1 </dev/null || { echo "$line: exit code $?"; cat out; bad=1; }
done <lines
[ "$(wc -l <lines)" -eq 22 ] || { echo "not 22 lines"; cat lines; bad=1; }
for file in archived/run.e archived/run.e.tutti run.tar small.e series.e-s0003 pieces.e.3.2 many.e.16.15 run-dataset/metadata.sqlite \
    run.e.xmf.bin vtk-0003.vtu vtk.pvd vtk-sets.vtu; do
    [ -s "$file" ] || { echo "there is no $file"; bad=1; }
done
cmp run.e archived/run.e && cmp run.e one.e && cmp run.e whole.e || bad=1
mkdir unpacked && tar xf run.tar -C unpacked && cmp run.e unpacked/run.e && cmp run.e.tutti unpacked/run.e.tutti || bad=1
expect 0 'Nemesis: 3 processors' exodus info parts.e
expect 0 '' exodus info parts.e --json
json 'len(o["files"][0]["nemesis"]) == 3 and sum(n["internal_elements"] + n["border_elements"] for n in o["files"][0]["nemesis"]) == 16'
expect 0 '' exodus info series.e --json
json '[f["times"] for f in o["files"]] == [[0.0], [0.5], [1.0]]'
expect 0 '3 steps in 3 files' exodus verify series.e

# ---- archives
expect 1 'cannot create' archive run.e --to archived
expect 1 'cannot create' archive run.e --tar run.tar
expect 0 '' exodus archive series.e --to all --json
json 'o["files"] == 6 and o["checked"] > 0 and o["place"] == "all"'
expect 2 'exactly one of --to DIR and --tar FILE' archive run.e
mv run.e.tutti away
expect 0 'bytes were compared' archive run.e --to bare
expect 0 'has no checksums' verify run.e
has 'is missing'
mv away run.e.tutti

# ---- damage
cp run.e hurt.e && cp run.e.tutti hurt.e.tutti
size=$(wc -c <hurt.e)
printf 'X' | dd of=hurt.e bs=1 seek=$((size - 9)) conv=notrunc 2>dd.log || { cat dd.log; bad=1; }
expect 1 'hurt.e' verify hurt.e --quiet
[ "$(wc -l <out)" -eq 1 ] || { cat out; bad=1; }
expect 1 '' verify hurt.e --json
tail -1 out >json && mv json out
json 'not o["ok"]'
expect 1 'hurt.e' archive hurt.e --to nowhere
[ ! -e nowhere/hurt.e ] || { echo 'damage was archived'; bad=1; }

# ---- wrong usage
expect 2 "unknown command 'sing'" exodus sing
expect 2 'missing command' exodus
expect 2 'missing operand FILE' exodus info
expect 0 'Usage: tutti exodus info' exodus --help
expect 0 'Usage: tutti exodus info' help exodus
expect 0 'tutti cp [OPTION]' cp run.e --help

# ---- every argument of the page is used
sed 's/\\-/-/g' "$TUTTI_BUILD_DIR/generated/man/tutti-exodus.1" | grep -o -e '--[a-z][a-z-]*' | sort -u >flags
while read -r flag; do
    grep -q -e "$flag\b" "$here"/docs/reference/exodus-tools.md "$here"/tests/cli/t98[0-6]*.sh "$here"/tests/cli/t9[57]*.sh || { echo "$flag is not tested"; bad=1; }
    "$TUTTI_COMMAND" help exodus | grep -q -e "$flag\b" || [ "$flag" = --parts ] || [ "$flag" = --variable ] ||
        [ "$flag" = --out ] || { echo "$flag is not in the help"; bad=1; }
done <flags
[ "$(wc -l <flags)" -gt 15 ] || { echo 'the page has few arguments'; bad=1; }
finish
