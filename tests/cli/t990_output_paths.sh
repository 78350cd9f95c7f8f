#!/bin/sh
# TEST ranks=0 timeout=120
# A command refuses an output that is one of its inputs or located inside an input, under any name (path, symbolic link,
# hard link, parent directory), and leaves the input unchanged; variables cannot be written outside the output
# directory by their names; an unknown variable is an error.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/dataset_writer.c dataset_writer && compile cli/exodus_pair.c pair || exit 1
./dataset_writer g.tutti </dev/null && ./pair run.e </dev/null || exit 1
variable=$("$TUTTI_COMMAND" ls g.tutti --json </dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["variables"][0]["name"])')
data=$(basename "$(find g.tutti -name 'data-*' | sort | head -1)")
ln -s g.tutti link
ln g.tutti/"$data" hard.tutti
ln run.e hard.e
ln -s run.e soft.e
mkdir sub
sums() { find g.tutti run.e run.e.tutti -type f -exec sha256sum {} + | sort; }
sums >before

# refused arguments...: check exit status 1, a reason, and that no file has changed
refused() {
    expect 1 'the input' "$@"
    sums >after
    cmp -s before after || { echo "tutti $*: the input has changed"; bad=1; exit 1; }
}
# ---- datasets
for to in "g.tutti/$data" g.tutti/new.xmf g.tutti/../g.tutti/new.xmf link/new.xmf sub/../g.tutti/new.xmf hard.tutti "$PWD/link/$data"; do
    refused export g.tutti --xdmf -o "$to"
    refused export g.tutti --zarr -o "$to"
    refused dump g.tutti -v "$variable" -o "$to"
    refused dump link -v "$variable" --as npy -o "$to"
done
refused export --csv -o g.tutti/x g.tutti
refused plot g.tutti -v "$variable" -o g.tutti/x.svg
refused plot g.tutti -v "$variable" -o link/x.png
refused cp g.tutti g.tutti/copy
refused cp g.tutti link/copy
refused archive g.tutti --to g.tutti/away
refused archive g.tutti --to link
refused archive g.tutti --tar g.tutti/away.tar
(cd g.tutti && "$TUTTI_COMMAND" plot . -v "$variable") >out 2>&1 </dev/null && fail 'a picture in the dataset'
[ -z "$(find g.tutti -name '*.svg')" ] || fail 'a picture in the dataset'

# ---- Exodus files
for to in run.e hard.e soft.e ./run.e run.e.tutti run.e-s0002 run.e-s.0002 sub/../run.e; do
    refused export run.e --xdmf -o "$to"
    refused cp run.e "$to" --force
    refused import run.e "$to" --force
    refused exodus join run.e -o "$to" --force
done
refused archive run.e --tar run.e.tutti
ln run.e piece.e.1.0
refused exodus split run.e -n 1 -o piece --force
expect 0 '' cp run.e run.e-small.e

# ---- names
expect 1 'nosuch' export g.tutti --csv -v nosuch
expect 1 'nosuch' export g.tutti --xdmf -v nosuch
expect 1 'nosuch' export run.e --vtk -v nosuch
expect 1 'nosuch' export run.e --xdmf -v nosuch
expect 1 'x' plot g.tutti -v ../../etc/x
cp -r g.tutti sub/named # rename a variable to a path outside the directory
python3 - "$variable" <<'END' || exit 1
import sqlite3, sys
db = sqlite3.connect("sub/named/metadata.sqlite")
db.execute("UPDATE variables SET name = '../../out' WHERE name = ?", sys.argv[1:])
db.commit()
END
mkdir sub/plots
(cd sub/plots && "$TUTTI_COMMAND" plot ../named -v ../../out && "$TUTTI_COMMAND" export ../named --csv -o t -v ../../out) >out 2>&1 </dev/null || fail 'a name with slashes'
[ "$(find . -name '*out.csv' -o -name '*out.svg' | sort | tr '\n' ' ')" = './sub/plots/%2E.%2F..%2Fout.svg ./sub/plots/t-%2E.%2F..%2Fout.csv ' ] ||
    { find . -name '*out.*'; fail 'other names'; }
finish
