#!/bin/sh
# TEST ranks=0 timeout=120
# Exodus files with wrong counts: diff, cp and export report an error within seconds, and allocate no memory for counts
# that only the header states.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
craft() { python3 "$here/tests/cli/crafted.py" "$@"; }

xyz='x coordx d num_nodes;x coordy d num_nodes;x coordz d num_nodes'
ones='s connect1 0 1;s connect1 1 2;s connect1 2 3;s connect1 3 4;s connect1 4 5;s connect1 5 6;s connect1 6 7;s connect1 7 8'
hex="d n8 8;d num_dim 3;d num_nodes 8;d num_elem 1;d num_el_blk 1;d num_el_in_blk1 1;d num_nod_per_el1 8;$xyz;
x connect1 i num_el_in_blk1 num_nod_per_el1;a connect1 elem_type HEX8;$ones"
polygons="d num_dim 3;d num_nodes 8;d num_elem 2;d num_el_blk 1;d num_el_in_blk1 2;d num_nod_per_el1 8;$xyz;
x connect1 i num_nod_per_el1;a connect1 elem_type nsided;x ebepecnt1 l num_el_in_blk1;$ones"
craft right.e "$hex"
craft polygons.e "$polygons" 's ebepecnt1 0 3;s ebepecnt1 1 5'
expect 0 '' diff right.e right.e
expect 0 '' diff polygons.e polygons.e
expect 0 '' cp right.e copy.e

craft nodes.e 'd n8 8;d num_dim 3;d num_nodes 4611686018427387904;x coordx d n8;x coordy d n8;x coordz d n8'
craft product.e "d n8 8;d num_dim 3;d num_nodes 8;d num_elem 2305843009213693953;d num_el_blk 1
;d num_el_in_blk1 2305843009213693953;d num_nod_per_el1 8;$xyz;x connect1 i n8"
craft attributes.e "$hex" 'd num_att_in_blk1 16777216'
craft negative.e "$polygons" 's ebepecnt1 0 -4;s ebepecnt1 1 12'
craft large.e "$polygons" 's ebepecnt1 0 4611686018427387904;s ebepecnt1 1 4611686018427387904'
craft node.e "$hex" 's connect1 3 2147483647'
# missing names of variables are empty, so that several variables have equal names
craft names.e "$hex" 'd num_glo_var 2;d time_step 1;x time_whole d time_step;x vals_glo_var d time_step num_glo_var'
expect 0 '' export names.e --vtk -o vtk
# A file has many variables, or many sets with one id: the time must not grow with the square of their number.
craft variables.e 'd num_dim 3;d one 1;d num_glo_var 524288;x name_glo_var c num_glo_var one'
expect 0 '' diff variables.e variables.e
craft ids.e 'd num_dim 3;d num_node_sets 524288;x ns_prop1 b num_node_sets'
expect 0 '' diff ids.e ids.e
# The set has a member that is not a node, in a file with an id map.
craft member.e "$hex" 'd num_node_sets 1;d num_nod_ns1 1;x node_ns1 i num_nod_ns1;x node_num_map i num_nodes;s node_ns1 0 2147483647'
expect 1 'tutti import: ' import member.e other.tutti
for file in nodes product attributes negative large node; do
    right=right.e wrong=1
    case $file in negative | large) right=polygons.e ;; node) wrong=1 ;; esac
    expect "$wrong" '' diff "$file.e" "$right"
    expect "$wrong" '' diff "$right" "$file.e"
    expect 1 'tutti cp: ' cp "$file.e" other.e
    expect 1 'tutti export: ' export "$file.e" --vtk -o vtk
    rm -rf vtk* other.e*
done
exit "$bad"
