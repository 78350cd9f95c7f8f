#!/bin/sh
# TEST ranks=0 timeout=120 builds=openmpi
# Other programs read netCDF data files: ncvalidator and ncdump, netCDF4 and xarray in Python.  The command tutti
# handles them, too: cp to netCDF and back, diff, verify, ls, export.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "${TUTTI_TEST_SHM:-$TUTTI_TEST_DIR}"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
for program in "$top/examples/step6_dataset.c" "$top/tests/dataset/crash_writer.c"; do
    "$mpicc" -std=gnu11 -Wall -Wextra -Werror -I"$top/include" "$program" -o "$(basename "$program" .c)" -L"$TUTTI_BUILD_DIR" -ltutti -lm \
        -Wl,-rpath,"$TUTTI_BUILD_DIR"
done
TEST_CONTAINER=netcdf "$top/scripts/mpirun.sh" "$TUTTI_MPI" 3 ./crash_writer n.tutti 0 >/dev/null
./crash_writer plain.tutti 0 >/dev/null
./step6_dataset heat.tutti >/dev/null

# values are the same in every container
"$TUTTI_COMMAND" diff n.tutti plain.tutti
"$TUTTI_COMMAND" cp heat.tutti c.tutti --container netcdf
"$TUTTI_COMMAND" diff heat.tutti c.tutti
"$TUTTI_COMMAND" cp c.tutti back.tutti --container native --compress 1
"$TUTTI_COMMAND" diff heat.tutti back.tutti
"$TUTTI_COMMAND" cp c.tutti same.tutti --indices-per-file 20
[ -f same.tutti/data-000002.nc ] || { echo 'cp has made no netCDF files'; exit 1; }
for dataset in n c same; do "$TUTTI_COMMAND" verify $dataset.tutti >/dev/null; done
"$TUTTI_COMMAND" ls c.tutti | grep -q 'temperature *float64'
if "$TUTTI_COMMAND" archive c.tutti --to there --segments 0:2 2>err; then echo 'archived'; exit 1; fi
grep -q 'cannot be archived' err

if command -v ncvalidator >/dev/null && command -v ncdump >/dev/null; then
    for file in ./*.tutti/*.nc; do ncvalidator "$file" >said || { cat said; exit 1; }; done
    ncdump -v time,time_index c.tutti/data-000001.nc >cdl
    for line in 'temperature(time, grid_0, grid_1)' 'temperature:units = "K"' 'time = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ;' \
        'time_index = 10, 20, 30'; do
        grep -qF "$line" cdl || { echo "no $line"; cat cdl; exit 1; }
    done
fi

for python in python3 /usr/bin/python3 none; do $python -c 'import numpy' 2>/dev/null && break; done
[ "$python" != none ] || exit 0
"$TUTTI_COMMAND" dump c.tutti -v temperature -s 3 --as npy -o temperature.npy
"$TUTTI_COMMAND" export c.tutti --xdmf -o c.xmf
$python - <<'END'
import numpy as np, xml.etree.ElementTree as xml
item = [e for e in xml.parse("c.xmf").iter("DataItem") if e.get("Format") == "Binary"][3]
assert item.get("Endian") == "Big", item.attrib
shape = [int(n) for n in item.get("Dimensions").split()]
got = np.fromfile(item.text.strip(), ">f8", count=np.prod(shape), offset=int(item.get("Seek")))
assert (got.reshape(shape) == np.load("temperature.npy")).all()
END
for python in python3 /usr/bin/python3 none; do $python -c 'import netCDF4' 2>/dev/null && break; done
[ "$python" = none ] || $python - <<'END'
import netCDF4, numpy as np
d = netCDF4.Dataset("n.tutti/data-000001.nc")
assert d.data_model == "NETCDF3_64BIT_DATA" and d["time"][:].tolist() == [0, 1, 2]
for s in range(3):
    for v in "uw":
        assert (d[v][s] == s * 30000.0 + np.arange(30000)).all()
END
for python in python3 /usr/bin/python3 none; do $python -c 'import xarray, netCDF4' 2>/dev/null && break; done
[ "$python" = none ] || $python - <<'END'
import numpy as np, xarray
d = xarray.open_dataset("c.tutti/data-000001.nc")
assert d.temperature.dims == ("time", "grid_0", "grid_1") and d.temperature.attrs["units"] == "K"
assert (d.temperature.sel(time=4.0).values == np.load("temperature.npy")).all()
END
