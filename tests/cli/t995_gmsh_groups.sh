#!/bin/sh
# TEST ranks=0 timeout=120
# tutti import of meshes that gmsh creates from one geometry, in formats 4.1 and 2.2, text and binary, whole and
# partitioned: blocks and sets have the sizes and the full names of the groups of gmsh.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
command -v gmsh >/dev/null && command -v ncdump >/dev/null || exit 77
cat >plate.geo <<'END'
Point(1)={0,0,0,0.25}; Point(2)={1,0,0,0.25}; Point(3)={1,1,0,0.25}; Point(4)={0,1,0,0.25};
Point(5)={2,0,0,0.25}; Point(6)={2,1,0,0.25};
Line(1)={1,2}; Line(2)={2,3}; Line(3)={3,4}; Line(4)={4,1}; Line(5)={2,5}; Line(6)={5,6}; Line(7)={6,3};
Line Loop(1)={1,2,3,4}; Plane Surface(1)={1};
Line Loop(2)={5,6,7,-2}; Plane Surface(2)={2};
Physical Surface("a rather long name of a part of a plate: left", 11) = {1};
Physical Surface("a rather long name of a part of a plate: right", 12) = {2};
Physical Surface("everything", 13) = {1,2};
Physical Surface("right again", 14) = {2};
Physical Curve("bottom", 21) = {1,5};
Physical Curve("outside", 22) = {1,5,6,7,3,4};
Physical Point("corner", 31) = {1};
END

# Count the elements of each group: format 2.2 lists every element once for each of its groups.
gmsh -2 plate.geo -format msh22 -o gmsh.msh >log 2>&1 || { cat log; exit 1; }
of_gmsh() { awk -v type="$1" -v tag="$2" '/^\$Elements/ { on = 1 } on && $2 == type && $4 == tag { n++ } END { print n }' gmsh.msh; }
{
    echo "num_el_blk = 2" # groups 11 and 12
    echo "num_el_in_blk1 = $(of_gmsh 2 11)"
    echo "num_el_in_blk2 = $(of_gmsh 2 12)"
    echo "num_ele_els1 = $(of_gmsh 2 13)"
    echo "num_ele_els2 = $(of_gmsh 2 14)"
    echo "num_elem = $(of_gmsh 2 13)"
    echo "num_elem_sets = 2"
    echo "num_nod_ns1 = $(($(of_gmsh 1 21) + 1))" # an open line has one node more than edges; group 22 is a loop
    echo "num_nod_ns2 = $(of_gmsh 1 22)"
    echo "num_nod_ns3 = 1"
    echo "num_node_sets = 3"
    echo "num_side_sets = 2"
    echo "num_side_ss1 = $(of_gmsh 1 21)"
    echo "num_side_ss2 = $(of_gmsh 1 22)"
} | sort >want

for format in msh41 msh22; do
    for how in '' '-bin' '-part 3' '-part 3 -bin' '-part 3 -part_topo'; do
        rm -f made.msh made.e made3.e
        # shellcheck disable=SC2086
        gmsh -2 plate.geo -format $format $how -o made.msh >log 2>&1 || { cat log; exit 1; }
        expect 0 '' import made.msh made.e
        ncdump -h made.e | sed -n 's/^\t\(num_[^ ]* = [0-9]*\) ;.*/\1/p' | grep -v -e num_dim -e num_nodes -e num_nod_per | sort >got
        cmp -s want got || { echo "$format $how:"; diff want got; bad=1; }
        for name in 'plate: left"' 'plate: right"' '"everything"' '"right again"' '"bottom"' '"outside"' '"corner"'; do
            ncdump -v eb_names,ns_names,ss_names,els_names made.e | grep -q "$name" || { echo "$format $how: no $name"; bad=1; }
        done
        tutti 3 import made.msh made3.e || fail 'import on three ranks'
        cmp made.e made3.e || { echo "$format $how: three ranks write another file"; bad=1; }
    done
done

# Several blocks of the same name: with different element types, and of different groups.
cat >names.msh <<'END'
$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 8 "sheet"
2 9 "sheet"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 2 0 0
$EndNodes
$Elements
3
1 3 2 9 1 1 2 3 4
2 2 2 9 1 2 5 3
3 2 2 8 2 1 2 5
$EndElements
END
expect 0 '' import names.msh names.e
ncdump -v eb_names names.e | sed -n '/^ eb_names/,/;/p' | grep -o '"[^"]*"' | sort >got
printf '"sheet"\n"sheet_quadrangle"\n"sheet_triangle"\n' | sort | cmp -s - got || { cat got; bad=1; }
finish
