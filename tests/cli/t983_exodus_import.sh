#!/bin/sh
# TEST ranks=0 timeout=90
# tutti import: a Gmsh mesh with hexahedra, a pyramid, and groups of every dimension or none, is imported into an
# Exodus file and a dataset, with the same result on one rank and on three; a plane mesh; Exodus files into datasets;
# comparison with the output of meshio.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
cp "$here/tests/cli/mixed.msh" .
compile cli/exodus_pair.c pair || exit 1

# ---- Gmsh
expect 0 '' import mixed.msh m.e
expect 0 '14' ls m.e
has "1 'solid': HEX8, 1 element of 8 nodes" '2: HEX8, 1 element' "3 'solid_pyramid': PYRAMID5" "1 'wall': 8 members" "4: 3 members" \
    "7 'edge': 2 members" "3 'corner': 1 member" "1 'wall': 3 members" '4: 1 member'
expect 0 '' exodus info m.e --json
json '[s["id"] for s in o["files"][0]["side sets"]] == [1, 4] and o["files"][0]["dimensions"] == 3'
tutti 3 import mixed.msh m3.e || fail 'import on three ranks'
cmp m.e m3.e || bad=1
# Expected sides: 5 (bottom), 4 (left) and 2 (right, beside element 2) of element 1, and side 1 of the pyramid.
"$TUTTI_COMMAND" import m.e sides </dev/null && "$TUTTI_COMMAND" dump sides -v side-set-1.sides </dev/null | sed 1d | tr '\n' ' ' >got
[ "$(cat got)" = '2 4 5 ' ] || { echo "sides $(cat got)"; bad=1; }
"$TUTTI_COMMAND" dump sides -v side-set-4.members </dev/null | sed 1d >got
[ "$(cat got)" = 3 ] || { echo "the pyramid is $(cat got)"; bad=1; }
if command -v ncvalidator >/dev/null; then ncvalidator -q m.e || bad=1; fi
cat >plane.msh <<'END'
$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 2 0 0
$EndNodes
$Elements
4
1 3 2 9 1 1 2 3 4
2 2 2 8 1 2 5 3
3 1 2 4 1 1 2
4 1 2 4 1 4 4
$EndElements
END
expect 0 'ignored 1 boundary elements that match no side of an element' import plane.msh plane.e
sed -i 's/^4 1 2 4 1 4 4/4 1 2 4 1 5 3/' plane.msh
expect 0 '' import plane.msh plane.e --force --real 4 --integers 8 --nemesis
expect 0 'dimensions    2: x y' ls plane.e
has '8: TRI3, 1 element' '9: QUAD4' '4: 2 members' 'reals of 32 bits, integers of 64 bits'

# ---- datasets
expect 0 '' import mixed.msh ds --json
json 'o == {"path": "ds"}'
tutti 3 import mixed.msh ds3 || fail 'import into a dataset on three ranks'
expect 0 '' diff ds ds3
expect 0 'ok; 1 segment' verify ds
expect 0 'block-3.nodes' ls ds
expect 0 'topology = "PYRAMID5"' show ds
./pair cube.e </dev/null || exit 1
expect 0 '' import cube.e cube --steps 2
expect 0 'cube: 2 segments' ls cube
expect 0 '' dump cube -v temperature -s latest --slice 0:3
[ "$(sed 1d out | tr '\n' ' ')" = '20 20.125 20.25 ' ] || { cat out; bad=1; }
expect 0 '201 202 205 204 210 211 214 213' dump cube -v block-1.nodes -s 0
expect 0 '' dump cube -v global.energy
has '14'
expect 1 'already contains a dataset' import cube.e cube
expect 0 '' import cube.e cube --force
expect 0 '' import cube.e copy.e
expect 0 '' diff cube.e copy.e
expect 1 '' import nothing.msh x.e
expect 1 '' import pair x.e
expect 2 'missing operand NEW' import mixed.msh
expect 0 'Usage: [mpirun -n N] tutti import' help import

# ---- meshio
if /usr/bin/python3 -c 'import meshio, netCDF4' 2>/dev/null && command -v nccopy >/dev/null; then
    /usr/bin/python3 - >out 2>&1 <<'END' || { cat out; bad=1; }
import meshio, numpy
m = meshio.read("mixed.msh")
m = meshio.Mesh(m.points, m.cells, point_data={"height": m.points[:, 2].copy()}, point_sets={"two": numpy.array([0, 4])})
meshio.write("meshio.nc", m, file_format="exodus")
END
    nccopy -k cdf5 meshio.nc meshio.e || bad=1
    expect 1 'nccopy' ls meshio.nc
    expect 0 '7 element blocks' ls meshio.e
    has '3: HEX8, 2 elements of 8 nodes' '4: PYRAMID, 1 element of 5 nodes' 'height'
    expect 0 '' diff meshio.e meshio.e
    expect 0 '' cp meshio.e positive.e
    expect 0 '3: HEX8, 2 elements of 8 nodes' ls positive.e
    expect 0 '' export positive.e --vtk -o positive
    /usr/bin/python3 - >out 2>&1 <<'END' || { cat out; bad=1; }
import meshio
a, b = meshio.read("mixed.msh"), meshio.read("positive-0001.vtu")
assert (a.points == b.points).all() and (b.point_data["height"] == a.points[:, 2]).all()
same = [(x.type, x.data.tolist()) for x in a.cells] == [(x.type, x.data.tolist()) for x in b.cells]
assert same, (a.cells, b.cells)
END
else
    echo 'python3-meshio is not installed: its files are not tried (Debian: python3-meshio, python3-netcdf4, netcdf-bin)'
fi
finish
