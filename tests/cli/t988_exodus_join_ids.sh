#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich
# tutti exodus join identifies entries by id, with the same result on any number of ranks: pieces without id maps whose
# elements differ are refused with the names of the piece and of the missing map; pieces that each have all nodes can
# be joined.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
command -v ncgen >/dev/null || { echo "no ncgen (Debian: netcdf-bin)"; exit 77; }
compile cli/exodus_pair.c pair && ./pair turned.e turned </dev/null || exit 1
expect 0 '' cp turned.e cube.e

# joined NAME CODE TEXT PIECES...: join on 1, 2 and 4 ranks; check exit status and output
joined() {
    name=$1 code=$2 text=$3
    shift 3
    for n in 1 2 4; do
        tutti $n exodus join "$@" -o "$name.$n.e"
        got=$?
        cat err >>out
        [ $got -eq "$code" ] || fail "join of $name on $n ranks: exit status $got, expected $code"
        has "$text"
        [ "$code" -eq 0 ] || [ ! -e "$name.$n.e" ] || fail "$name.$n.e exists"
    done
}

# ---- four pieces with two elements each
expect 0 '' exodus split cube.e -n 4 --by order -o p.e
joined whole 0 '27 nodes, 8 elements' p.e.4.0
for piece in 0 1 2 3; do # rename maps, so that they are not found
    LC_ALL=C sed 's/elem_num_map/elem_num_mop/' p.e.4.$piece >e.e.4.$piece
    LC_ALL=C sed 's/node_num_map/node_num_mop/' p.e.4.$piece >n.e.4.$piece
    cp p.e.4.$piece one.e.4.$piece
done
cp e.e.4.2 one.e.4.2
joined elements 1 'has no elem_num_map' e.e.4.0
joined nodes 1 'no piece has an id map of its nodes' n.e.4.0
joined one 0 '27 nodes, 8 elements' one.e.4.0 # ids 1 and 2 are not used by other pieces
cp e.e.4.1 one.e.4.1
joined two 1 "has different nodes in 'one.e.4" one.e.4.0
cp p.e.4.1 one.e.4.1
cp n.e.4.3 one.e.4.3
joined single 0 "one.e.4.3 has no node_num_map: its node ids are 1, 2, 3 ..." one.e.4.0
cp n.e.4.0 one.e.4.0
joined coordinates 1 'has no node_num_map' one.e.4.0

# ---- every piece has all nodes, with the ids 1, 2
cat >bars.cdl <<'CDL'
netcdf bars {
dimensions: len_string = 33; len_line = 81; four = 4; time_step = UNLIMITED; num_dim = 3; num_nodes = 2; num_elem = 2;
    num_el_blk = 1; num_el_in_blk1 = 2; num_nod_per_el1 = 2;
variables: double time_whole(time_step); int eb_status(num_el_blk); int eb_prop1(num_el_blk); eb_prop1:name = "ID";
    double coordx(num_nodes); double coordy(num_nodes); double coordz(num_nodes);
    int connect1(num_el_in_blk1, num_nod_per_el1); connect1:elem_type = "BAR2";
    :api_version = 5.14f; :version = 5.14f; :floating_point_word_size = 8; :file_size = 1; :title = "two bars";
data: eb_status = 1; eb_prop1 = 7; coordx = 0, 1; coordy = 0, 0; coordz = 0, 0; connect1 = 1, 2, 2, 1;
}
CDL
ncgen -5 -o bars.e bars.cdl || exit 1
expect 0 '' exodus split bars.e -n 2 --by order -o b.e
joined bars 0 '2 nodes, 2 elements' b.e.2.0
expect 0 '' diff bars.e bars.1.e
finish
