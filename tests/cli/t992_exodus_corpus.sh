#!/bin/sh
# TEST ranks=0 timeout=120
# tutti cp, diff, split and join of files like those of libMesh, MOOSE, Cubit and IOSS: ids 0 are kept; names longer than
# 32 bytes, times that do not ascend, fixed time dimensions, series with several meshes and repeated members are copied;
# options before file names.  libexodusii reads the same from copies and joined pieces as from the originals.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
writer=$TUTTI_BUILD_DIR/tests/exodus/corpus_writer
[ -x "$writer" ] || { echo "no $writer"; exit 77; }
mkdir corpus
"$writer" corpus >list || exit 1
# same_text A B: check that libexodusii reads the same from both files
reader=$TUTTI_BUILD_DIR/tests/exodus/exodus_reader
same_text() {
    [ -x "$reader" ] || return 0
    "$reader" "$1" >theirs && "$reader" "$2" >ours || bad=1
    [ "$(wc -l <theirs)" -gt 10 ] || { echo "$1: libexodusii reads nothing"; bad=1; }
    cmp theirs ours || { echo "$1 and $2:"; diff theirs ours | cut -c1-200 | head -6; bad=1; }
}
for file in moose.e cubit.e fixed_time.e fixed_time_old.e one_fixed_time.e long_names.e nodes_only.e libmesh.e-s003; do
    expect 0 '' cp corpus/$file $file
    expect 0 '' diff corpus/$file $file
    [ ! -s out ] || { echo "$file"; cat out; bad=1; }
    [ $file = cubit.e ] || same_text corpus/$file $file # copies have sets in the order of ids
done
for file in moose.e long_names.e fixed_time.e; do
    expect 0 '' exodus split corpus/$file -n 3 --by order -o p-$file
    expect 0 '3 pieces' exodus join p-$file.3.0 -o joined-$file
    same_text corpus/$file joined-$file
done
expect 0 '' cp corpus/libmesh.e libmesh.e
expect 0 '' exodus info corpus/libmesh.e --json
steps=$(python3 -c 'import json; print(sum(len(f["times"]) for f in json.load(open("out"))["files"]))')
expect 0 'repeated members are written once' cp corpus/repeated.e repeated.e
expect 0 '' exodus info libmesh.e --json
json "sum(len(f['times']) for f in o['files']) == $steps"
json '[b["id"] for b in o["files"][0]["element blocks"]] == [0, 7] and o["files"][0]["side sets"][0]["id"] == 0'

# ---- wrong numbers of distribution factors
expect 0 'side set 2 has 3 distribution factors, its members need 12' diff corpus/factors.e corpus/factors.e
expect 0 'side set 2 has 3 distribution factors' cp corpus/factors.e factors.e
expect 0 'side set 2 has 3 distribution factors' exodus split corpus/factors.e -n 2 --by order -o f.e

# ---- id 0 in split and join
expect 0 '' cp corpus/libmesh.e-s003 single.e
expect 0 '' exodus split single.e -n 2 --by order -o p.e
expect 0 '2 pieces' exodus join p.e.2.0 -o back.e
expect 0 '' diff single.e back.e
expect 0 '' exodus info back.e --json
json 'any(b["id"] == 0 for b in o["files"][0]["element blocks"])'

# ---- options before operands; VTK files have the values that netCDF readers return
expect 0 '' export --vtk -o v moose.e
expect 0 '' export --xdmf moose.e
/usr/bin/python3 - <<'END' || bad=1
import glob
try:
    import meshio, netCDF4, numpy as np
except ImportError as missing:
    raise SystemExit(print("not compared:", missing))
names = sorted(glob.glob("v-*.vtu"))
with netCDF4.Dataset("corpus/moose.e") as e:
    variables = netCDF4.chartostring(e["name_nod_var"][:])
    assert len(names) == len(e["time_whole"]) > 0, names
    for step, name in enumerate(names):
        mesh = meshio.read(name)
        for k, axis in enumerate("xyz"[: len(e.dimensions["num_dim"])]):
            assert np.array_equal(mesh.points[:, k], e["coord" + axis][:]), name
        for k, variable in enumerate(variables, 1):
            assert np.array_equal(mesh.point_data[str(variable).strip()], e[f"vals_nod_var{k}"][step]), (name, variable)
END
expect 0 '' diff --json --abs 0 moose.e corpus/moose.e
expect 1 'exists' cp moose.e cubit.e
expect 0 '' cp --force moose.e cubit.e
finish
