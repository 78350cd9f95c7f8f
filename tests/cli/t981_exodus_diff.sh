#!/bin/sh
# TEST ranks=0 timeout=60
# tutti exodus diff: files that differ only in the order of nodes and elements are equal; every kind of difference is
# reported with its location; tolerances for all and for some variables; steps; exit codes; the same under mpirun.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/exodus_pair.c pair || exit 1
./pair a.e && ./pair b.e turned && ./pair value.e value && ./pair mesh.e mesh && ./pair less.e less || exit 1

expect 0 '' exodus diff a.e b.e
[ ! -s out ] || { cat out; bad=1; }
cmp -s a.e b.e && { echo 'their order is the same'; bad=1; }
expect 0 '' diff a.e b.e --json
json 'o["same"] and o["others"] == [] and all(n["different"] == 0 for n in o["numbers"])'
json '{n["name"]: n["numbers"] for n in o["numbers"]}["temperature"] == 2 * 27'

# ---- values
expect 1 'temperature (nodal): 2 of 54 differ, by at most 0.5 (relative 0.02439)' exodus diff a.e value.e
has '  most at node 205, step 2: 20.5 and 20' 'stress (element block): 1 of 16 differ, by at most 0.001' \
    '  most at element 1010, step 1: 1 and 1.001' 'energy (global): 1 of 2 differ'
expect 0 '' exodus diff a.e value.e --abs 1
expect 0 '' exodus diff a.e value.e --rel 0.1
expect 1 'energy' exodus diff a.e value.e --tolerance temperature=0.5,stress=0/0.01
expect 0 '' exodus diff a.e value.e --tolerance temperature=0.5 --tolerance stress=0/0.01 --tolerance energy=1
expect 0 '' exodus diff a.e value.e -v stress --steps 2
expect 0 '' exodus diff a.e value.e -v temperature --steps 1:1
expect 1 '' exodus diff a.e value.e -v temperature --steps last -q
[ ! -s out ] || { cat out; bad=1; }
expect 1 '' exodus diff a.e value.e --json
json '[n for n in o["numbers"] if n["name"] == "temperature"][0]["place"].startswith("at node 205")'

# ---- the mesh
expect 1 'coordinates (nodal): 1 of 81 differ, by at most 0.125' exodus diff a.e mesh.e
has 'most at node 201: 0 and 0.125' 'connectivity (element block): 1 of 8 differ' 'at element 1070: its 1. is 214 and 213' \
    'node set 3: 1 member only in a.e, the first is node 201' 'node set 3: 1 member only in mesh.e, the first is node 202' \
    'factors (side set): 1 of 8 differ, by at most 1' 'most at element 1000, side 5 of set 4: 2 and 3'

# ---- entities in one file only
expect 1 'nodal variable temperature: only in a.e' exodus diff a.e less.e
has 'steps: 2 in a.e, 1 in less.e' "element block 1, name: 'cube' in a.e, '' in less.e" 'side set 4: only in a.e'
expect 1 "unknown variable 'nothing'" exodus diff a.e b.e -v nothing
expect 1 'of the 2 steps, which count from 1' exodus diff a.e b.e --steps 3
expect 1 '' exodus diff a.e nowhere.e
expect 2 'missing operand B' exodus diff a.e
expect 2 'must be NAME=ABS' exodus diff a.e b.e --tolerance 3
expect 2 "does not apply to 'tutti exodus diff'" exodus diff a.e b.e --nemesis

# ---- on several ranks
tutti 3 exodus diff a.e b.e || fail 'they differ on three ranks'
"$TUTTI_COMMAND" exodus diff a.e mesh.e >want </dev/null
tutti 3 exodus diff a.e mesh.e
[ $? -eq 1 ] || fail 'they do not differ on three ranks'
grep -v -e '^-----' -e mpirun -e '^$' out >got
cmp want got || fail 'three ranks find something else'
finish
