#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=2
# tutti bench --pattern with each application kernel and small sizes: every method, and the MPI library with
# datatypes, writes and reads the correct bytes; mpiio_patterns supports the kernels too.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

kernels=e3sm-f,e3sm-g,e3sm-i,btio,s3d,wrf
bench 4 --pattern $kernels --size 64k --rounds 1 --method all --plan fresh,reused --peers --json bench.json || fail "bench: exit code $?"
python3 - <<'END' || bad=1
import json
r = json.load(open("bench.json", encoding="utf-8"))
assert r["failures"] == 0 and len(r["cells"]) == 12
for c in r["cells"]:
    assert 0.5 < c["bytes"] / (4 << 16) < 2, (c["pattern"], c["bytes"])
    for e in c["entries"]:
        assert not e["available"] or (e["verified"] and len(e["seconds"]) == 1), (c["pattern"], e)
runs = {c["pattern"]: c["runs"] for c in r["cells"]}
assert runs["e3sm-f"] > 10000 and runs["e3sm-i"] > 10000 > runs["e3sm-g"] > 20, runs
END
"$here/scripts/mpirun.sh" "$mpi" 3 "$TUTTI_BUILD_DIR/experiments/mpiio_patterns" data --size 65536 --verify --pattern $kernels >out 2>err ||
    fail "mpiio_patterns: exit code $?"
"$report" out | grep -q 'e3sm-g | read' || fail 'no table'
finish
