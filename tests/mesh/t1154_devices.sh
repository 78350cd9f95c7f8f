#!/bin/sh
# TEST ranks=0 timeout=300
# Meshes of semiconductor devices, created by gmsh and kept in the build tree, are partitioned by METIS into 8 to 64
# parts and numbered along the Hilbert curve: rule idg has less than a quarter of the intervals of rule own, and idg2 not
# more than idg.  gmsh creates a slightly different mesh in every run; therefore the limit applies to the sum over all
# numbers of partitions.  gmsh reads the files that Tutti writes.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || exit 77
meshes=$TUTTI_BUILD_DIR/meshes
names="mesa bjt"
[ "${TUTTI_TEST_TIER:-quick}" = full ] && names="mesa bjt fingers power"
# shellcheck disable=SC2086
"$top/scripts/meshes.sh" "$meshes" $names || exit $?
cd "$TUTTI_TEST_DIR"

for name in $names; do
    # renumber the mesh once for all numbers of partitions
    "$TUTTI_COMMAND" mesh convert "$meshes/$name.msh" "$name.mesh" --order curve
    for parts in 8 16 32 64; do
        "$TUTTI_COMMAND" mesh owners "$name.mesh" --parts $parts --rule own,idg,idg2 --json
    done >"$name.json"
done
# shellcheck disable=SC2086
python3 - $names <<'END'
import json, sys
nodes = {"mesa": 33000, "bjt": 47000, "fingers": 73000, "power": 290000}
wrong = 0
for name in sys.argv[1:]:
    total = {"own": 0, "idg": 0}
    for line in open(name + ".json"):
        d = json.loads(line)
        own, idg, idg2 = (d["rules"][k]["intervals"] for k in ("own", "idg", "idg2"))
        if d["by"] != "metis":
            sys.exit(77)  # without METIS the partition follows the same curve as the numbering
        total["own"] += own
        total["idg"] += idg
        if own < 3.5 * idg or idg2 > idg or d["empty"] or abs(d["nodes"] / nodes[name] - 1) > 0.05:
            print(name, d["nodes"], d["parts"], own, idg, idg2)
            wrong = 1
    if total["own"] < 4.0 * total["idg"]:
        print(name, total)
        wrong = 1
sys.exit(wrong)
END

# gmsh reads each format written by Tutti with the same numbers of nodes and elements
gmsh -3 -algo hxt -nt 1 -v 1 -setnumber lc 0.25 "$top/experiments/meshes/mesa.geo" -o small.msh >log 2>&1
count() { "$TUTTI_COMMAND" mesh info "$1" --json | sed 's/.*"nodes": \([0-9]*\), "elements": \([0-9]*\),.*/\1 \2/'; }
for format in gmsh41 gmsh41-binary gmsh22 gmsh22-binary; do
    "$TUTTI_COMMAND" mesh convert small.msh ours.msh --format $format --force
    for again in msh41 msh22; do
        gmsh ours.msh -save -v 2 -format $again -o theirs.msh >log 2>&1 || { cat log; exit 1; }
        if grep -i 'error' log; then exit 1; fi
        [ "$(count small.msh)" = "$(count theirs.msh)" ] || { echo "$format, $again: $(count small.msh), $(count theirs.msh)"; exit 1; }
    done
done
