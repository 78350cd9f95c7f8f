#!/bin/sh
# TEST ranks=0 timeout=60 builds=openmpi,mpich cores=2
# compare_builds.py runs small_steps with the libraries of two builds (here twice the same build) and prints a ratio for
# each series; small_steps fails if it reads other values than it has written.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

compare=$here/experiments/tutti_experiments/compare_builds.py
"$compare" "$TUTTI_BUILD_DIR" "$TUTTI_BUILD_DIR" --mpi "$mpi" --ranks 3 --pairs 2 --dir . --json ratios.json -- \
    "$TUTTI_BUILD_DIR/experiments/small_steps" '{}' --variables 3 --steps 2 --rounds 2 >out 2>err || fail "compare_builds.py: exit code $?"
python3 - <<'END' || bad=1
import json
rows = json.load(open("ratios.json", encoding="utf-8"))["rows"]
assert [(r["series"], r["variant"]) for r in rows] == [("dataset", "write"), ("dataset", "read"), ("Exodus", "write")], rows
assert all(len(r["old"]) == len(r["new"]) == 2 and r["low"] <= r["ratio"] <= r["high"] and r["ratio"] > 0 for r in rows), rows
END
grep -q '^dataset write .* - ' out || fail 'no table'
[ -z "$(find . -name 'tutti-compare.*')" ] || fail 'directories remain'
finish
