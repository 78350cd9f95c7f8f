#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich
# tutti exodus split and join: pieces by METIS, by the curve and by the order of the file have the same bytes on one
# rank and on three; joining the pieces, on one rank and on three, restores the original file.  Pieces of different
# files are refused.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/exodus_pair.c pair && compile cli/exodus_cells.c cells || exit 1
./pair turned.e turned </dev/null && ./cells cells.e </dev/null || exit 1
expect 0 '' cp turned.e cube.e # cp sorts by id

# pieces FILE N BY: split a file into N pieces, join the pieces, and compare
pieces() {
    rm -f p.e.* q.e.* back.e* again.e*
    expect 0 "p.e.$2." exodus split "$1" -n "$2" --by "$3" -o p.e
    tutti 3 exodus split "$1" --parts "$2" --by "$3" -o q || fail "split of $1 by $3 on three ranks"
    [ "$(find . -name 'p.e.*' | wc -l)" -eq "$2" ] || { echo "not $2 pieces"; bad=1; }
    for piece in p.e.*; do
        cmp "$piece" "q${piece#p}" || bad=1
    done
    expect 0 "back.e: $2 pieces" exodus join p.e."$2".* -o back.e
    cmp "$1" back.e || { echo "$1 by $3 into $2"; bad=1; }
    first=$(find . -name 'q.e.*' | sort | head -1)
    tutti 3 exodus join "$first" -o again.e || fail "join of $1 by $3 on three ranks"
    cmp "$1" again.e || { echo "$1 by $3 into $2, three ranks"; bad=1; }
}
pieces cube.e 1 order
pieces cube.e 4 metis
pieces cube.e 10 curve # more pieces than elements: some are empty
pieces cells.e 3 metis
pieces cells.e 5 order
[ -e p.e.5.4 ] || bad=1
expect 0 'with an id map' ls p.e.5.4

# ---- Nemesis data of the ranks that write the complete file
tutti 3 exodus join p.e.5.0 -o n.e --nemesis || fail 'join --nemesis'
expect 0 'Nemesis: 3 processors' exodus info n.e
expect 0 '' diff cells.e n.e

# ---- numbers of pieces, and steps
expect 0 '' exodus join p.e.5.0 -o short.e --real 4 --integers 8 --steps 2:3 --steps-per-file 1 --json
json 'o["steps"] == 2 and o["pieces"] == 5'
expect 0 'reals of 32 bits, integers of 64 bits' ls short.e
has 'short.e-s0002'
expect 0 'ok; 2 steps in 2 files' verify short.e

# ---- pieces of different files
expect 1 "'short.e' exists" exodus join p.e.5.0 -o short.e
expect 0 '' exodus join p.e.5.0 -o short.e --force
mv p.e.5.3 aside
expect 1 'piece 3 of 5 of ' exodus join p.e.5.* -o x.e
expect 1 'p.e.5.3' exodus join p.e.5.0 -o x.e
expect 0 '' exodus split turned.e -n 5 -o t.e --by order
cp t.e.5.3 p.e.5.3
expect 1 'in other pieces' exodus join p.e.5.0 -o x.e
mv aside p.e.5.3
expect 0 '' exodus split cells.e -n 5 -o s.e --by order --steps 1:2
cp s.e.5.3 p.e.5.3
expect 1 'has 2 steps, the first piece 3' exodus join p.e.5.0 -o x.e
expect 0 '' exodus join p.e.5.0 -o x.e --steps 1:2
expect 1 'is not a piece of the same file as' exodus join p.e.5.0 t.e.5.1 -o y.e
expect 0 '' import "$here/tests/cli/mixed.msh" m.e
cp m.e m2.e
expect 1 'no piece has an id map' exodus join m.e m2.e -o y.e
expect 2 'missing --parts N' exodus split cells.e
expect 2 'metis|curve|order' exodus split cells.e -n 2 --by chance
expect 2 'missing --out FILE' exodus join p.e.5.0
expect 2 '4|8' exodus join p.e.5.0 -o y.e --real 5
finish
