#!/bin/sh
# TEST ranks=0 timeout=60
# A Python program that follows docs/reference/format.md reads header and elements of an array file.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR"
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 "$TUTTI_BUILD_DIR/tests/examples/step5_array" a.tta >/dev/null
python3 - a.tta <<'PYTHON'
import struct
import sys

data = open(sys.argv[1], "rb").read()


def checksum(slot):
    h = 0xcbf29ce484222325
    for byte in slot[:2040]:
        h = (h ^ byte) * 1099511628211 % 2**64
    return h


for at in (0, 2048):
    slot = data[at:at + 2048]
    magic, form, placement, version, kind, order, ends, ndims = struct.unpack("<8sIIQIIII", slot[:40])
    size, offset, length, ident, ranks, rank = struct.unpack("<QQQQII", slot[40:80])
    extents = struct.unpack("<16Q", slot[80:208])
    assert magic == bytes.fromhex("895454410d0a1a0a")
    assert (form, placement, version, kind, order, ndims) == (1, 0, 1, 10, 1, 2)
    assert ends == (1 if sys.byteorder == "little" else 2)
    assert (size, offset, length) == (8, 4096, 8 * 500 * 300)
    assert extents == (500, 300) + 14 * (0,)
    assert (ident, ranks, rank) == (0, 0, 0) and not any(slot[208:2040])
    assert struct.unpack("<Q", slot[2040:])[0] == checksum(slot)
assert len(data) == offset + length
values = struct.unpack("=150000d", data[offset:])
for j in range(300):
    for i in range(500):
        assert values[j * 500 + i] == i * 300 + j
PYTHON
