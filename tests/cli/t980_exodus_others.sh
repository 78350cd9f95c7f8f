#!/bin/sh
# TEST ranks=0 timeout=60
# Files written by Debian's libexodusii, in all classic formats and with integers of 32 and 64 bits: tutti exodus info,
# ls and show print their contents, diff finds no difference between them, and tutti cp writes copies from which
# libexodusii reads the same.  netCDF-4 is refused with a hint to use nccopy.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
writer=$TUTTI_BUILD_DIR/tests/exodus/exodus_writer
reader=$TUTTI_BUILD_DIR/tests/exodus/exodus_reader
for tool in "$writer" "$reader" nccopy ncvalidator; do
    command -v "$tool" >/dev/null || { echo "no $tool (Debian: libexodusii-dev, netcdf-bin, pnetcdf-bin)"; exit 77; }
done
"$writer" two.e && "$writer" --classic one.e && "$writer" --real 4 short.e && "$writer" --netcdf4 four.e || exit 1
"$writer" --netcdf4 --int64 wide.nc && nccopy -k cdf5 two.e five.e && nccopy -k cdf5 wide.nc wide.e || exit 1

# ---- contents
expect 0 'two.e: Exodus II in netCDF classic (CDF-2)' exodus info two.e
has 'title         everything an Exodus file can have' 'reals of 64 bits, integers of 32 bits' 'dimensions    3: x y zed' \
    "10 'block_0': HEX8, 2 elements of 8 nodes, 2 edges each, 2 attributes, density 3" 'attributes: attribute_0, attribute_1' \
    "30 'block_3': nfaced, 2 elements, 7 faces in all" '42: nsided, 6 faces, 19 nodes in all' \
    "200 'set_3': 2 members, 8 distribution factors" "62 'map_62'" 'variable_21: of 10, 20' '3 steps, time 0.1, 0.2, 0.3' \
    'made by       writer 6.02, 2000/01/01 00:00:00' 'info          the third' 'two.e.tutti'
expect 0 '(CDF-1)' show one.e
expect 0 '(CDF-5)' ls five.e
expect 0 'reals of 32 bits' ls short.e
expect 0 'integers of 64 bits' ls wide.e
expect 0 '' exodus info two.e --json
json 'o["files"][0]["format"] == "CDF-2" and o["files"][0]["nodes"] == 16 and o["files"][0]["times"] == [0.1, 0.2, 0.30000000000000004]'
json 'o["files"][0]["element blocks"][0]["variables"] == ["variable_20", "variable_21"] and not o["files"][0]["checksums"]'
json 'o["files"][0]["side sets"][0] == {"id": 200, "name": "set_3", "entries": 2, "factors": 8, "attributes": [], "properties": {}, "variables": ["variable_60"]}'
expect 1 'nccopy -k cdf5' exodus info four.e
expect 1 'nccopy -k cdf5' diff four.e two.e
expect 1 '' exodus info nothing.e
printf 'CDF\002' >cut.e
expect 1 '' exodus info cut.e
expect 1 'damaged' verify cut.e

# ---- files of different formats are equal
for file in one five short; do
    expect 0 '' diff two.e $file.e --rel 1e-6
done
expect 1 'edge set 400: 1 member only in two.e' diff two.e wide.e # version 6.02 loses signs, and writes wrong names
[ "$(wc -l <out)" -eq 5 ] || { echo 'more differs'; cat out; bad=1; }

# ---- libexodusii reads the same from copies as from the originals, except for coordinate frames
"$reader" two.e | grep -v '^frame' >want
expect 0 '' cp two.e new.e
"$reader" new.e >got || bad=1
cmp want got || { diff want got | head -5; bad=1; }
ncvalidator -q new.e || bad=1
expect 0 'ok; 3 steps in 1 file' verify new.e
expect 0 '' cp wide.e wide2.e --integers 8
expect 0 'integers of 64 bits' ls wide2.e
"$reader" wide.e | grep -v '^frame' >want
"$reader" wide2.e >got || bad=1
cmp want got || { diff want got | head -5; bad=1; }
expect 0 '' cp two.e small.e --real 4 --steps 2:3
expect 0 'reals of 32 bits' ls small.e
has '2 steps, time 0.2'
finish
