#!/bin/sh
# TEST ranks=0 timeout=180 builds=openmpi tier=full
# The two Exodus readers of ParaView read the files of examples/apps/heat: blocks, sets, variables
# by name, times, and every value of the temperature and of the fluxes, compared with libexodusii.
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
if ! command -v pvpython >/dev/null; then
    echo "ParaView is not installed (Debian: apt-get install python3-paraview)"
    exit 77
fi
reader=$TUTTI_BUILD_DIR/tests/exodus/exodus_reader
[ -x "$reader" ] || {
    echo "no libexodusii (Debian: apt-get install libexodusii-dev)"
    exit 77
}
"$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 "$TUTTI_BUILD_DIR/tests/examples/heat" -n 3 -p -s 2 heat.e >out 2>&1 || {
    cat out
    exit 1
}
"$reader" heat.e >text || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
cat >look.py <<'END'
import shlex
from paraview.simple import ExodusIIReader, IOSSReader
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet

# output of exodus_reader: values of each line by its first words
text = {}
for line in open("text", encoding="utf-8"):
    words = shlex.split(line)
    if words[0] == "times":
        times = [float(w) for w in words[1:]]
    elif len(words) > 6 and words[2] == "variable":
        text[words[0], int(words[1]), int(words[3]), int(words[5])] = [float(w) for w in words[6:]]
    elif words[:2] == ["coordinates", "0"]:
        nodes = len(words) - 2
assert len(times) == 3 and nodes == 7 * 4 * 4, (times, nodes)


def leaves(data):
    """Return every grid with its name."""
    if data.IsA("vtkPartitionedDataSetCollection"):
        for i in range(data.GetNumberOfPartitionedDataSets()):
            for j in range(data.GetNumberOfPartitions(i)):
                yield data.GetMetaData(i).Get(vtkCompositeDataSet.NAME()), data.GetPartition(i, j)
        return
    it = data.NewIterator()
    it.InitTraversal()
    while not it.IsDoneWithTraversal():
        yield it.GetCurrentMetaData().Get(vtkCompositeDataSet.NAME()), it.GetCurrentDataObject()
        it.GoToNextItem()


def array(attributes, name):
    a = attributes.GetArray(name)
    assert a is not None, (name, [attributes.GetArrayName(i) for i in range(attributes.GetNumberOfArrays())])
    return vtk_to_numpy(a)


def check(reader, what):
    reader.UpdatePipelineInformation()
    assert list(reader.TimestepValues) == times, (what, list(reader.TimestepValues))
    for step, time in enumerate(times, 1):
        reader.UpdatePipeline(time)
        found = {}
        for name, grid in leaves(reader.GetClientSideObject().GetOutputDataObject(0)):
            for key in ("steel", "copper", "heated", "cold"):
                if key in (name or ""):
                    found[key] = grid
        assert set(found) == {"steel", "copper", "heated", "cold"}, (what, found.keys())
        temperature = text["nodal", 0, 1, step]
        for block, (key, cells) in enumerate((("steel", 27), ("copper", 162)), 1):
            grid = found[key]
            assert grid.GetNumberOfCells() == cells, (what, key, grid.GetNumberOfCells())
            # Get the number of each point in the file.
            points = grid.GetPointData()
            ids = None
            for candidate in ("GlobalNodeId", "ids"):
                if points.GetArray(candidate) is not None:
                    ids = vtk_to_numpy(points.GetArray(candidate))
            assert ids is not None, what
            values = array(points, "temperature")
            assert all(values[i] == temperature[ids[i] - 1] for i in range(len(ids))), (what, key, step)
            fluxes = grid.GetCellData()
            for c, direction in enumerate("xyz"):
                want = text["element_block", block, c + 1, step]
                if fluxes.GetArray("flux_" + direction) is not None:
                    got = list(array(fluxes, "flux_" + direction))
                else:  # three variables form a vector
                    got = [v[c] for v in array(fluxes, "flux" if fluxes.GetArray("flux") else "flux_")]
                assert got == want, (what, key, direction, step)
        assert found["heated"].GetNumberOfCells() > 0
        assert list(array(found["heated"].GetCellData(), "inflow")) == text["side_set", 20, 1, step], what
        assert found["cold"].GetNumberOfPoints() == 16, (what, found["cold"].GetNumberOfPoints())


exodus = ExodusIIReader(FileName=["heat.e"])
exodus.GenerateGlobalNodeIdArray = 1
for name in ("SideSetArrayStatus", "NodeSetArrayStatus"):
    setattr(exodus, name, list(exodus.GetProperty(name).Available))
for name in ("SideSetResultArrayStatus", "PointVariables", "ElementVariables"):
    setattr(exodus, name, list(exodus.GetProperty(name).Available))
check(exodus, "ExodusIIReader")

ioss = IOSSReader(FileName=["heat.e"])
ioss.UpdatePipelineInformation()
ioss.ReadIds = 1
for name in ("ElementBlocks", "NodeSets", "SideSets", "NodeBlockFields", "ElementBlockFields", "SideSetFields"):
    setattr(ioss, name, list(ioss.GetProperty(name).Available))
check(ioss, "IOSSReader")
END
timeout 150 pvpython --force-offscreen-rendering look.py >out 2>&1 </dev/null || {
    cat out
    exit 1
}
