#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi,mpich cores=2
# The fourth tutorial program, which computes while it writes, writes the same bytes with every value of TUTTI_BACKGROUND,
# because it does not use the buffer between begin and end.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
bad=0
cd "$TUTTI_TEST_DIR" || exit 1
for way in none io-only all auto; do
    TUTTI_BACKGROUND=$way "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 \
        "$TUTTI_BUILD_DIR/tests/examples/step4_meanwhile" "$way.dat" >out 2>&1 || { cat out; bad=1; }
    python3 - "$way.dat" <<'END' || bad=1
import array, sys
N, STEPS, RANKS, PIECE = 1 << 18, 4, 3, 1024
data = array.array("d")
with open(sys.argv[1], "rb") as file:
    data.frombytes(file.read())
expected = [[float(i) for i in range(N)]]
for step in range(1, STEPS):
    expected.append([step + 0.5 * x for x in expected[-1]])
expected.append([STEPS + 0.5 * x for x in expected[-1]])  # contents of the first buffer after the last step
wrong = len(data) != N * RANKS * (STEPS + 1)
for step, state in enumerate(expected):
    for piece in range(0 if wrong else N // PIECE):
        for rank in range(RANKS):
            at = step * N * RANKS + (piece * RANKS + rank) * PIECE
            wrong += data[at:at + PIECE].tolist() != state[piece * PIECE:(piece + 1) * PIECE]
if wrong:
    sys.exit(f"{sys.argv[1]}: {wrong} pieces are wrong, {len(data)} numbers")
END
done
exit $bad
