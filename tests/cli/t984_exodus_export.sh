#!/bin/sh
# TEST ranks=0 timeout=120
# tutti export of an Exodus file with cells of every kind, on one rank and on three: VTK and XDMF files have the correct
# offsets of all values; if ParaView is installed, both readers return the cells, points and results of its Exodus
# reader.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck source=tests/cli/common.sh
. "$(dirname "$0")/common.sh"
compile cli/exodus_cells.c cells || exit 1
./cells cells.e </dev/null || exit 1
expect 0 'cells.pvd' export cells.e --vtk --sets
has cells-0001.vtu cells-0003.vtu cells-sets.vtu
expect 0 '' export cells.e --vtk -v stress --steps 2 -o some --json
json 'o == {"files": ["some-0002.vtu", "some.pvd"]}'
grep -q temperature some-0002.vtu && { echo 'a variable too many'; bad=1; }
expect 0 'cells.e.xmf' export cells.e --xdmf
mkdir elsewhere
expect 0 '' export cells.e --xdmf --steps none -o elsewhere/mesh.xmf --json
json 'o == {"files": ["elsewhere/mesh.xmf", "elsewhere/mesh.xmf.bin"]}'
tutti 3 export cells.e --vtk -o three || fail 'export on three ranks'
for file in three-0002.pvtu three-0002-p2.vtu; do
    [ -s $file ] || { echo "there is no $file"; bad=1; }
done
expect 2 "'--csv' does not apply to 'tutti export' of an Exodus file" export cells.e --csv
expect 2 'exactly one of --xdmf and --vtk' export cells.e

# ---- contents of the files
python3 - <<'END' || bad=1
import struct
import xml.etree.ElementTree as xml

def vtu(path):
    """Return the arrays of a VTK file by name."""
    text = open(path, "rb").read()
    head, _, data = text.partition(b'<AppendedData encoding="raw">\n_')
    root = xml.fromstring(head + b"</VTKFile>")
    out = {}
    for a in root.iter("DataArray"):
        at = int(a.get("offset"))
        n = struct.unpack_from("<Q", data, at)[0]
        letter = {"Float64": "d", "Int64": "q", "Int32": "i", "UInt8": "B"}[a.get("type")]
        out[a.get("Name")] = struct.unpack_from("<%d%s" % (n // struct.calcsize(letter), letter), data, at + 8)
    return out

v = vtu("cells-0002.vtu")
assert len(v["types"]) == 16 and v["types"][2] == 29 and v["GlobalElementId"] == tuple(10 * s + 7 for s in range(16))
assert v["temperature"] == tuple(1000.0 + i for i in range(143)), v["temperature"]
assert v["stress"] == tuple(100.0 + s for s in range(16))
assert [x == x for x in v["load & <more>"]] == [s % 3 == 0 for s in range(16)]
hex20 = v["connectivity"][8:28]
assert hex20[12:] == (24, 25, 26, 27, 20, 21, 22, 23), hex20
sets = vtu("cells-sets.vtu")
assert sets["SetId"] == (5, 5, 5, 6, 6, 6, 6) and sets["types"] == (1, 1, 1, 9, 23, 22, 22), sets
assert sets["SourceElementId"] == (0, 0, 0, 7, 17, 47, 67) and sets["connectivity"][3:7] == (0, 1, 5, 4), sets
pieces = [vtu("three-0003-p%d.vtu" % r) for r in range(3)]
assert sorted(sum((p["GlobalElementId"] for p in pieces), ())) == list(v["GlobalElementId"])
assert sum((p["stress"] for p in pieces), ()) == tuple(200.0 + s for s in range(16))

items = {}
for grid in [g for g in xml.parse("cells.e.xmf").iter("Grid") if g.get("Name", "").startswith("step ")]:
    for block in grid.findall("Grid"):
        for a in block.findall("Attribute"):
            item = a.find("DataItem")
            letter = {"Float": "d", "Int": "i" if item.get("Precision") == "4" else "q"}[item.get("NumberType")]
            n = int(item.get("Dimensions"))
            with open(item.text, "rb") as f:
                f.seek(int(item.get("Seek")))
                order = ">" if item.get("Endian") == "Big" else "<"
                items[grid.get("Name"), block.get("Name"), a.get("Name")] = struct.unpack(
                    "%s%d%s" % (order, n, letter), f.read(n * int(item.get("Precision"))))
assert items["step 3", "WEDGE15", "temperature"] == tuple(2000.0 + i for i in range(143))
assert items["step 2", "WEDGE15", "stress"] == (106.0,) and items["step 3", "HEX8", "load & <more>"] == (-200.0,)
assert items["step 1", "BAR2", "GlobalNodeId"] == tuple(2 * i + 1 for i in range(143))
assert xml.parse("elsewhere/mesh.xmf").find(".//Attribute/DataItem").text.endswith("/cells.e")
END

# ---- ParaView
command -v pvpython >/dev/null || { echo 'ParaView is not installed: its readers are not tried (Debian: python3-paraview)'; finish; }
cat >look.py <<'END'
from paraview.simple import ExodusIIReader, PVDReader, XDMFReader
from paraview import servermanager

def leaves(d):
    if d.IsA("vtkMultiBlockDataSet"):
        for i in range(d.GetNumberOfBlocks()):
            if d.GetBlock(i) is not None:
                yield from leaves(d.GetBlock(i))
    elif d.GetNumberOfCells():
        yield d

def cells(reader, time):
    """Return type, points and results of every cell."""
    reader.UpdatePipeline(time)
    out = {}
    for grid in leaves(servermanager.Fetch(reader)):
        t, s = grid.GetPointData().GetArray("temperature"), grid.GetCellData().GetArray("stress")
        for i in range(grid.GetNumberOfCells()):
            cell = grid.GetCell(i)
            n = cell.GetNumberOfPoints()
            kind = cell.GetCellType()
            if (kind, n) == (28, 9):  # the Exodus reader omits the centre of shells of 9 nodes
                kind, n = 23, 8
            p = [cell.GetPointId(k) for k in range(n)]
            key = (3 if kind == 4 else kind, tuple(grid.GetPoint(q) for q in p), tuple(t.GetValue(q) for q in p))
            out[key] = s.GetValue(i)
    return out

exodus = ExodusIIReader(FileName=["cells.e"])
exodus.UpdatePipelineInformation()
exodus.ElementBlocks = exodus.ElementBlocks.Available
exodus.PointVariables = exodus.PointVariables.Available
exodus.ElementVariables = exodus.ElementVariables.Available
times = list(exodus.TimestepValues)
assert times == [0.0, 0.5, 1.0], times
for reader in (PVDReader(FileName="cells.pvd"), PVDReader(FileName="three.pvd"), XDMFReader(FileNames=["./cells.e.xmf"])):
    reader.UpdatePipelineInformation()
    assert list(reader.TimestepValues) == times, list(reader.TimestepValues)
    for time in times:
        want, got = cells(exodus, time), cells(reader, time)
        assert len(want) == 16 and want == got, (time, want.keys() ^ got.keys())
END
timeout 100 pvpython --force-offscreen-rendering look.py >out 2>&1 </dev/null || { cat out; bad=1; }
finish
