#!/bin/sh
# TEST ranks=1,3 timeout=180 builds=asan
# Wrong use from Python with a library built with AddressSanitizer: refused buffers are not
# accessed, freed handles are not used, and no write exceeds a buffer.  Python itself is not
# instrumented; therefore the sanitizer is preloaded.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
needs="numpy mpi4py"
# shellcheck source=tests/python/python.sh
. "$(dirname "$0")/python.sh"
here=$top/tests/python
cd "$TUTTI_TEST_DIR"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")
asan=$("$compiler" -print-file-name=libasan.so)
[ -f "$asan" ] || { echo "skipped: the sanitizer of $compiler is not a shared library"; exit 77; }
export TUTTI_LIBRARY="$TUTTI_BUILD_DIR/libtutti.so" LD_PRELOAD="$asan"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Python and its modules do not free all memory

# check that the sanitizer watches Python's memory: pass an array of two values with a count of 1000
if [ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] && "$python" -c 'import ctypes, numpy, tutti
two, out = numpy.ones(2, numpy.int64), ctypes.c_void_p()
tutti.lib.tutti_access_runs(1000, two.ctypes.data, two.ctypes.data, ctypes.byref(out))' 2>said; then
    echo "a read beyond the end of a NumPy array was not detected"
    exit 1
fi
[ "${OMPI_COMM_WORLD_RANK:-0}" != 0 ] || grep -q heap-buffer-overflow said || { cat said; exit 1; }

exec "$python" -X faulthandler "$here/run.py" --mpi "$here/test_wrong.py" "$here/test_exodus.py"
