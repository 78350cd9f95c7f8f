#!/bin/sh
# TEST ranks=0 timeout=120
# The subcommands of tutti mesh, their JSON output, and wrong usage.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
command -v python3 >/dev/null || exit 77
cd "$TUTTI_TEST_DIR"
t() { "$TUTTI_COMMAND" mesh "$@"; }
# a strip of triangles: even nodes are in the lower row, odd nodes in the upper row
python3 - >strip.msh <<'END'
n = 400
print("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 5 \"strip\"\n$EndPhysicalNames\n$Nodes\n%d" % n)
for i in range(n): print(i + 1, i // 2, i % 2, 0)
print("$EndNodes\n$Elements\n%d" % (n - 2))
for i in range(n - 2): print(i + 1, 2, 2, 5, 1, i + 1, i + 2, i + 3)
print("$EndElements")
END
t info strip.msh | grep -q 'triangle *398'
t info strip.msh --json >info.json
t owners strip.msh --parts 8 --order curve --by curve --json >curve.json
t owners strip.msh --parts 8 --json >file.json
t owners strip.msh --parts 8 --rule idg2 --balance 1.1 | grep -q '^idg2 '
t partition strip.msh --parts 4 --json >cut.json
t partition strip.msh --parts 4 --out parts.txt | grep -q 'parted neighbours'
t partition strip.msh --parts 1000 | grep -q 'without a node'
t tree strip.msh --json >tree.json
t tree strip.msh | grep -q 'load'
t plot strip.msh --rule own,idg2 --out strip.svg
t plot strip.msh --rule own --out strip.png
t convert strip.msh strip.mesh
t convert strip.mesh back.msh --format gmsh41
t info back.msh --json >back.json
python3 - <<'END'
import json, xml.dom.minidom
load = lambda name: json.load(open(name + ".json"))
info, back = load("info"), load("back")
assert info["nodes"] == 400 and info["elements"] == 398 and info["edges"] == 797 and info["dim"] == 2, info
assert info["groups"] == [{"dim": 2, "tag": 5, "name": "strip"}], info
assert {k: v for k, v in info.items() if k != "file"} == {k: v for k, v in back.items() if k != "file"}, back
rules = load("curve")["rules"]
assert set(rules) == {"own", "random", "first", "idg", "idg2"}
assert rules["own"]["intervals"] == 8 and rules["idg2"]["intervals"] <= 8, rules
rules = load("file")["rules"]
assert rules["idg2"]["intervals"] <= rules["idg"]["intervals"] <= rules["own"]["intervals"], rules
assert load("cut")["parts"] == 4 and load("cut")["empty"] == 0
parts = [int(x) for x in open("parts.txt")]
assert len(parts) == 400 and set(parts) == {0, 1, 2, 3}
tree = load("tree")
assert len(tree["networks"]) == 4 and all(n["sizes"][0]["loads"][0]["from"] == 1 for n in tree["networks"])
svg = xml.dom.minidom.parse("strip.svg")
assert len(svg.getElementsByTagName("text")) == 3 and svg.getElementsByTagName("path")
assert open("strip.png", "rb").read(4) == b"\x89PNG"
END
# expect CODE WORDS ARGUMENTS...: check the exit status (2: wrong usage, 1: failure) and words of the error message
expect() {
    code=$1
    words=$2
    shift 2
    set +e
    t "$@" >out 2>err
    got=$?
    set -e
    if [ "$got" != "$code" ] || ! grep -q -e "$words" err; then
        echo "tutti mesh $*: $got"
        cat out err
        exit 1
    fi
}
expect 2 'missing command'
expect 2 "unknown command 'fly'" fly
expect 2 'file|curve|rcm' info a --order random
expect 2 'own, random' owners a --rule best
expect 2 'does not apply' info a --rule own
expect 2 'unknown option' info a --nonsense 1
expect 1 'No such' info missing.msh
expect 1 'exists; --force' convert strip.msh back.msh
echo nonsense >bad.msh
expect 1 'line 1' info bad.msh
t --help | grep -q 'Usage: tutti mesh'
