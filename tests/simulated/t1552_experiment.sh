#!/bin/sh
# TEST ranks=0 timeout=60
# The experiment `simulated` on 4 and 16 hosts: table, JSON and page agree, two runs give the same values, a machine with too
# many ranks is skipped, and a run that fails gives exit status 1.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
simulated() {
    python3 -B "$top/experiments/tutti_experiments/simulated.py" --build "$TUTTI_BUILD_DIR" "$@"
}
bad=0
simulated --hosts 4,16 --per-host 1,2 --most 16 --topology fat-tree,dragonfly --json a.json --page a.md >a 2>err ||
    { echo "exit status $?"; cat err; bad=1; }
[ "$(grep -c 'skipped, more than --most 16 ranks' err)" = 2 ] || { echo "skipped machines:"; cat err; bad=1; }
simulated --hosts 4,16 --topology dragonfly --per-host 1 --json b.json >b 2>err || { echo "exit status $?"; cat err; bad=1; }
simulated --read a.json --page c.md >c || bad=1
cmp a c || bad=1
cmp a.md c.md || bad=1
python3 - <<'END' || bad=1
import json
a, b = (json.load(open(name, encoding="utf-8"))["runs"] for name in ("a.json", "b.json"))
assert len(a) == 6 and all(run["complete"] for run in a), a
assert [run for run in a if run["topology"] == "dragonfly" and run["ranks_per_host"] == 1] == b
calls = [call["call"] for call in a[0]["calls"]]
for name in ("open first", "write cached", "read cached", "close", "dataset open", "decomposition slice", "step", "put_mesh",
             "bare two-phase", "two allreduces"):
    assert name in calls, name
    assert f"| {name} |" in open("a.md", encoding="utf-8").read(), name
END
simulated --hosts 4 --per-host 1 --topology torus >out 2>err
[ $? = 1 ] || { echo "an unknown topology does not fail"; cat out err; bad=1; }
simulated --source "$PWD" >out 2>err
[ $? = 2 ] || { echo "a missing source tree does not fail"; cat out err; bad=1; }
grep -q "simulate.sh' does not exist; name a source tree with --source" err || { cat err; bad=1; }
exit $bad
