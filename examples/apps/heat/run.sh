#!/bin/sh
# run.sh PROGRAM DIRECTORY   compares the program with the exact solution, starts a run on 2 ranks, resumes it on 4, and draws
# pictures if ParaView is installed.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
program=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
run() {
    echo "mpirun -n $*"
    "$here/../../../scripts/mpirun.sh" openmpi "$@"
}
mkdir -p "$out"
run 4 "$program" -c -n 6 -s 10 "$out/check.e"
run 2 "$program" -n 10 -p -s 12 "$out/heat.e"
run 4 "$program" -r -s 12 "$out/heat.e"
rm -f "$out/check.e" "$out/check.e.tutti"
if command -v pvpython >/dev/null 2>&1 && command -v xvfb-run >/dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_ess_singleton_isolated=1
    if timeout 120 xvfb-run -a -s '-screen 0 1280x1024x24' pvpython --force-offscreen-rendering "$here/pictures.py" \
        "$out/heat.e" "$out" >"$out/pvpython.log" 2>&1 </dev/null; then
        echo "pictures: $out/heat-temperature.png $out/heat-inside.png"
    else
        echo "no pictures: $out/pvpython.log says why"
    fi
else
    echo "no pictures without ParaView (Debian: apt-get install python3-paraview xvfb xauth)"
fi
echo "to open in ParaView: $out/heat.e"
