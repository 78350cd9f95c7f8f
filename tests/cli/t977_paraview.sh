#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi
# The "XDMF Reader" of ParaView reads the output of tutti export --xdmf: steps, times and all values, which it reads from
# the data files of the dataset; two and three dimensions, several types, both byte orders.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$TUTTI_TEST_DIR" || exit 1
if ! command -v pvpython >/dev/null; then
    echo "ParaView is not installed (Debian: apt-get install python3-paraview)"
    exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
"$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$here/include" "$here/tests/cli/grid_writer.c" -o writer \
    -L"$TUTTI_BUILD_DIR" -ltutti -Wl,-rpath,"$TUTTI_BUILD_DIR" || exit 1
./writer run </dev/null || exit 1
"$TUTTI_COMMAND" export run --xdmf -o run.xmf </dev/null || exit 1
cat >look.py <<'END'
import sys
from paraview.simple import XDMFReader
from paraview import servermanager
from vtkmodules.util.numpy_support import vtk_to_numpy

reader = XDMFReader(FileNames=["./run.xmf"])
reader.UpdatePipelineInformation()
assert list(reader.TimestepValues) == [0.0, 0.5, 1.0], list(reader.TimestepValues)
shapes = {"plane": (5, 7), "box": (3, 4, 5)}
numbers = {"heat": ("plane", 1), "count": ("plane", 1), "flow": ("box", 3), "big": ("box", 1)}
seen = 0
for step, time in enumerate(reader.TimestepValues):
    reader.UpdatePipeline(time)
    data = servermanager.Fetch(reader)
    for i in range(data.GetNumberOfBlocks()):
        block = data.GetBlock(i)
        points = block.GetPointData()
        for k in range(points.GetNumberOfArrays()):
            name = points.GetArrayName(k)
            space, width = numbers[name]
            shape = shapes[space]
            n = 1
            for extent in shape:
                n *= extent
            layers = (1,) * (3 - len(shape)) + shape
            assert tuple(reversed(block.GetDimensions())) == layers, (name, block.GetDimensions())
            values = vtk_to_numpy(points.GetArray(k)).reshape(-1)
            assert values.size == n * width, (name, values.size)
            for j in range(values.size):
                assert values[j] == 1000 * step + j % 997, (name, step, j, values[j])
            seen += 1
assert seen == 12, seen
END
timeout 100 pvpython --force-offscreen-rendering look.py >out 2>&1 </dev/null || { cat out; exit 1; }
