#!/bin/sh
# TEST ranks=0 timeout=60
# If standard output is full, commands report the reason and exit with status 1; tune of a directory that does not
# exist fails before anything is measured; a refused or failed cp or export leaves no files that prevent its
# repetition.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/dataset_writer.c dataset_writer && compile cli/exodus_pair.c pair || exit 1
./dataset_writer g </dev/null && ./pair run.e </dev/null || exit 1
"$TUTTI_COMMAND" array create a --shape 3,4 --type int16 || exit 1
cp "$here/tests/cli/mixed.msh" m.msh
cells='bench --size 4k --rounds 1 --pattern strided --op write --method list --plan fresh --reference none'
for words in 'ls g' 'show g' 'ls run.e' 'exodus info run.e' 'exodus info run.e --json' 'verify run.e' 'diff g g --json' help options version \
    'completion bash' 'help --json' 'array info a' 'array read a' 'array read a --csv --out -' 'array stat a --json' 'mesh info m.msh' \
    'mesh partition m.msh --out -' 'mesh owners m.msh --json' 'dump g -v heat' 'repair g' 'run --dry-run true' "$cells" "$cells --json -"; do
    # shellcheck disable=SC2086
    "$TUTTI_COMMAND" $words >/dev/full 2>err </dev/null
    code=$?
    if [ $code -ne 1 ] || ! grep -q 'No space left on device' err; then
        echo "tutti $words >/dev/full: exit status $code"
        cat err
        bad=1
    fi
done
expect 1 '/nope' tune /nope
expect 1 '' cp g copy -v nosuch
expect 1 '' cp run.e copy.e --steps 7
if [ -e copy ] || [ -e copy.e ]; then
    echo 'a failed cp leaves an output'
    bad=1
fi
expect 0 '' cp g copy
expect 0 '' cp run.e copy.e
expect 0 '' cp g ranked --layout ranked
expect 1 'has no variable that XDMF can represent' export ranked --xdmf -o none.xmf
[ ! -e none.xmf ] || { echo 'an export of nothing leaves a file'; bad=1; }
finish
