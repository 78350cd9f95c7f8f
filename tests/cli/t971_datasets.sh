#!/bin/sh
# TEST ranks=0 timeout=180
# tutti ls, show, verify, dump, diff, plot, cp, export: the examples of the manual page; output for a dataset with all
# features; a killed writer, damage and wrong usage of each kind; every argument of the page is used.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
page=$TUTTI_BUILD_DIR/generated/man/tutti-dataset.1
compile cli/dataset_writer.c writer || exit 1

./writer run </dev/null || exit 1
./writer other 1.001 </dev/null || exit 1
(./writer killed 1 2 </dev/null; [ $? -gt 128 ]) 2>/dev/null || { echo 'the writer was not killed'; bad=1; }

# ---- the examples
sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/{s/\\-/-/g; /^tutti \|^mpirun /p}' "$page" | sed 's|\.tutti\>||g' |
    sed "s|mpirun -n 4|$here/scripts/mpirun.sh $TUTTI_MPI 2|; s|tutti |$TUTTI_COMMAND |" >examples
while read -r line; do
    sh -c "$line" >out 2>&1 </dev/null || { echo "$line: exit code $?"; cat out; bad=1; }
done <examples
[ "$(wc -l <examples)" -eq 17 ] || { echo "not 17 examples"; cat examples; bad=1; }
for file in heat.npy heat.svg heat.png small/metadata.sqlite packed/metadata.sqlite run.xmf run.json; do
    [ -s "$file" ] || { echo "the examples have not made $file"; bad=1; }
done

# ---- contents
expect 0 'run: 6 segments, 5 variables' ls run --all
has '10, 3 each' 'complex128 nodes'
awk 'length > 80 { print "wide: " $0; wide = 1 } END { exit wide }' out || bad=1
expect 0 '300 to 323 in segment 5' ls run --range
has '0.5 to 4.0311289 in segment 2' # absolute values
expect 0 '' ls --json run --range
json 'o["variables"][0]["min"] == 300 and o["variables"][0]["max"] == 323'
json 'len(o["segments"]) == 6 and len(o["variables"]) == 5 and o["segments"][3]["kind"] == "topology"'
json 'o["segments"][2]["variables"] == ["heat", "half", "velocity", "count", "wave"] and o["segments"][2]["time"] == 0.5'
json 'o["variables"][2]["shape"] == [10] and o["variables"][2]["numbers"] == 3 and o["spaces"][0]["shape"] == [4, 6]'
expect 0 'heat:units = "K" ;' show run
has 'float32 velocity(nodes, 3) ; // vector' 'heat:answer = 1, 2, 42 ; // int32' ':title = "a \"test\"\n' 'segment 5:step = 0.375' '_FillValue = 7'
expect 0 '' show run --json
json 'o["variables"][0]["infos"]["answer"] == [1, 2, 42] and o["segments"][5]["infos"]["step"] == [0.375]'
mkdir alone empty
cp run/metadata.sqlite alone
expect 0 '6 segments' ls alone/metadata.sqlite
expect 1 'data-000001.tutti' verify alone
: >empty/metadata.sqlite
expect 0 '0 segments' ls empty # as if its first writer had been killed early

# ---- a killed writer, damage
expect 0 'killed: ok; 4 segments' verify killed
expect 0 '' ls killed --json
json 'len(o["segments"]) == 4'
expect 0 '' verify run --json
json 'o["ok"] and o["places"] == [] and o["bytes"] > 1000'
cp -r run damaged
offset=$(python3 -c "
import sqlite3
d = sqlite3.connect('run/metadata.sqlite')
print(*d.execute('SELECT start FROM sections, variables WHERE variable = id AND name = \"velocity\" AND segment = 5').fetchone())")
printf 'X' | dd of=damaged/data-000001.tutti bs=1 seek="$offset" conv=notrunc 2>dd.log || { cat dd.log; bad=1; }
expect 1 "variable 'velocity' in segment 4 (time index 2): block 0 is damaged" verify damaged --quiet
[ "$(wc -l <out)" -eq 1 ] || { echo 'not one place'; cat out; bad=1; }
expect 1 'is damaged' cp damaged new
printf 'garbage' | dd of=alone/metadata.sqlite bs=1 seek=4096 conv=notrunc 2>dd.log || { cat dd.log; bad=1; }
expect 1 'metadata' verify alone -q
expect 1 'does not contain a dataset' verify nowhere
expect 1 'does not contain a dataset' verify writer

# ---- numbers
cat >want <<'END'
# velocity, segment 1, time index 0, time 0: 2 x 2, float32
0 2
6 8
END
expect 0 '' dump run --variable velocity --segment index:0 --slice 0:3:2,::2
cmp want out || { cat out; bad=1; }
expect 0 '2,1,0.5,3,3-0.5j' dump run -v wave -s all --as csv
expect 0 '7 7 7 7 7 7' dump run -v half -s time:0.7
has '100 101 102 103 104 105'
expect 0 '' dump run -v count -s 5 --as text --out count.txt
[ "$(sed 1d count.txt | tr '\n' ' ')" = '30 31 32 33 34 35 36 37 38 39 ' ] || { cat count.txt; bad=1; }
[ "$(wc -c <heat.npy)" -eq $((128 + 4 * 24 * 8)) ] || { echo 'heat.npy is wrong'; bad=1; }
expect 1 'another shape' dump run -v count -s all --as npy -o x.npy
expect 1 "no variable 'nothing'" dump run -v nothing
expect 1 'segment 6 does not exist' dump run -v heat -s 6
expect 1 "has no variable 'wave'" dump run -v wave -s 1
expect 1 'indices exceed the extent 4' dump run -v heat --slice 0:5,0

# ---- comparing
expect 1 'heat: 95 of 96 numbers differ, by at most 0.323 (relative 0.000999)' diff run other
has 'first at (0, 1) of segment 1 (state, time index 0): 1 and 1.001'
expect 0 '' diff run other --tolerance heat=0/0.01,half=0.3
expect 1 '' diff run other --tolerance heat=0.3 -v heat -q
expect 1 'state with time index 3: only in run' diff run killed --json
json 'not o["same"] and len(o["others"]) == 2 and o["variables"][0]["different"] == 0'
expect 1 'nowhere' diff run nowhere
expect 1 "no variable 'nothing'" diff run other -v nothing --abs 1

# ---- copies
expect 0 '' cp run ranked --layout ranked --indices-per-file 1
expect 0 '' diff run ranked
[ "$(find ranked -name 'data-*' | wc -l)" -eq 4 ] || { echo 'not 4 data files'; bad=1; }
expect 0 '' cp ranked again --layout global --type velocity=float64 -v velocity,count
expect 0 '' diff run again -v velocity,count
expect 0 'float64 velocity(nodes, 3)' show again
expect 1 'already contains a dataset' cp run again
expect 0 '' cp run nc --container netcdf -v velocity,count,heat
expect 0 '' diff run nc -v velocity,count,heat
expect 0 '' verify nc -q
expect 1 'netCDF cannot store type float16' cp run other_nc --container netcdf
expect 1 'netCDF classic files cannot be compressed' cp run other_nc2 --container netcdf -v heat --compress 3
expect 2 'native|netcdf' cp run x --container hdf5
expect 1 'cannot be archived' archive nc --to there --segments 1
for of in run ranked; do # both have the ids of the original
    python3 - $of <<'END'
import sqlite3, struct, sys
d = sqlite3.connect(sys.argv[1] + "/metadata.sqlite")
for start, name, n in d.execute("""SELECT sections.start, files.name, bytes / 8 FROM sections, variables, segments, files
        WHERE variable = variables.id AND segment = segments.id AND file = files.id AND variables.name = 'nodes:ids'
        ORDER BY segment"""):
    with open(sys.argv[1] + "/" + name, "rb") as f:
        f.seek(start)
        print(struct.unpack("<%dq" % n, f.read(8 * n)))
END
done >ids
[ "$(sort ids | uniq -c | grep -c '^ *2 (100, 97, 94')" -eq 2 ] || { echo 'the ids are wrong'; cat ids; bad=1; }

# ---- pictures and formats of other programs
[ "$(head -c 4 heat.png | tail -c 3)" = PNG ] || { echo 'heat.png is none'; bad=1; }
python3 - <<'END' || bad=1
import struct
import xml.etree.ElementTree as xml
picture = xml.parse("heat.svg")
lines = [e for e in picture.iter() if e.tag.endswith("polyline")]
assert len(lines) == 3 and all(len(e.get("points").split()) == 4 for e in lines), "lines of heat.svg"
assert any(e.text and e.text.startswith("Heat & <cold> [K]") for e in picture.iter()), "title of heat.svg"
items = [e for e in xml.parse("run.xmf").iter("DataItem") if e.get("Format") == "Binary"]
assert len(items) == 4, items
for step, item in enumerate(items):
    with open(item.text, "rb") as f:
        f.seek(int(item.get("Seek")))
        assert struct.unpack("<24d", f.read(192)) == tuple(100.0 * step + i for i in range(24)), step
END
expect 0 'all-count.csv' export run --csv -v count -o all
[ "$(sed -n '2p;$p' all-count.csv | tr '\n' ' ')" = '1,0,0,0,0 5,3,1.5,9,39 ' ] || { cat all-count.csv; bad=1; }
expect 1 'no variable that XDMF can represent' export again --xdmf -o again.xmf
expect 1 'two dimensions' plot run -v count -s latest
expect 1 'must end in .svg' plot run -v count -o picture
[ ! -e count.png.tmp.npy ] || { echo 'count.png.tmp.npy was left'; bad=1; }

# ---- wrong usage
expect 2 'missing operand DIR' ls
expect 2 'missing operand B' diff run
expect 2 'exactly one variable is required' dump run
expect 2 'text|csv|npy' dump run -v heat --as xml
expect 2 "'--slice' does not apply to 'tutti ls'" ls run --slice 1
expect 2 'exactly one of --xdmf, --zarr and --csv' export run --xdmf --zarr
expect 2 'from 0 to 19' cp run new --compress 20
expect 2 'NAME=ABS' diff run other --tolerance 3
expect 0 'tutti cp [OPTION]' cp --help

# ---- every argument of the page is used
sed 's/\\-/-/g' "$page" | grep -o -e '--[a-z][a-z-]*' | sort -u >flags
while read -r flag; do
    grep -q -e "$flag\b" examples "$0" "$here"/tests/cli/t97[2-9]*.sh "$here"/tests/cli/t98*.sh || { echo "$flag is not tested"; bad=1; }
done <flags
[ "$(wc -l <flags)" -gt 12 ] || { echo 'the page has few arguments'; bad=1; }
exit $bad
