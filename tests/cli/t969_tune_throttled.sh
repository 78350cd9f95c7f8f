#!/bin/sh
# TEST ranks=0 timeout=240 builds=openmpi cores=0
# tutti tune on a throttled device: the profile has the sustained rates, not those of the initial burst, and the burst
# is reported.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"

slow=$PWD/slow
"$here/scripts/throttle.sh" up "$slow" 32m 400m >out 2>&1
case $? in
0) ;;
77) cat out; exit 77 ;;
*) fail 'throttle.sh up failed'; exit 1 ;;
esac
trap '"$here/scripts/throttle.sh" down "$slow" >/dev/null 2>&1' EXIT
"$here/scripts/throttle.sh" run "$slow" "$here/scripts/mpirun.sh" "$mpi" 2 "$TUTTI_COMMAND" tune --quick --out profile "$slow" >out 2>err ||
    fail "tune: exit code $?"
grep -q 'has a burst budget' out || fail 'no burst is reported'
grep -q 'initially, then' out || fail 'no rates of the burst'
# the limit is 33.6 MB/s each for reads and writes; any burst is at least four times faster
python3 - <<'END' || { bad=1; cat out; }
import re
text = open("profile", encoding="utf-8").read()
for name in ("direct_write_all_1m", "direct_read_all_1m", "direct_write_all_64k", "direct_read_all_64k"):
    rate = float(re.search(rf"^{name}\s*=\s*(\S+)", text, re.M).group(1))
    assert 0.3 * 33.6e6 < rate < 4 * 33.6e6, (name, rate)
END
finish
