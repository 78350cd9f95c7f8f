#!/bin/sh
# build.sh NAME [TARGET...]   configures and builds a standard configuration in build/NAME.
#
#   openmpi, mpich   the library, the command and the tests for this MPI
#   asan             with Open MPI, AddressSanitizer, UBSan and debug checks; tests on fewer numbers of ranks
#   tsan             with ThreadSanitizer: the tests that use threads as ranks; without liburing,
#                    so that this configuration is also tested
#   smpi             for simulated machines (SimGrid): the library and the simulated programs
#
# Targets: all (default), tests, or any other.  Variables: TIER=full adds the long tests, WERROR=ON|OFF
# sets whether warnings are errors (default: ON with supported compilers), V=1 shows the commands,
# JOBS=N is the number of parallel jobs.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
name=$1
shift
[ $# -gt 0 ] || set -- all
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$top/build/$name
unset MAKEFLAGS MFLAGS MAKELEVEL || true

case $name in
openmpi | mpich | smpi) flags="-DTUTTI_MPI=$name" ;;
asan) flags="-DTUTTI_SANITIZE=address -DTUTTI_RANKS=1;3" ;;
tsan) flags="-DTUTTI_SANITIZE=thread -DTUTTI_URING=OFF -DTUTTI_RANKS=3" ;;
*)
    echo "build.sh: unknown build '$name': must be openmpi, mpich, asan, tsan or smpi" >&2
    exit 2
    ;;
esac
generator=
if [ ! -f "$dir/CMakeCache.txt" ] && command -v ninja >/dev/null 2>&1; then
    generator=-GNinja
fi
verbose=
[ "${V:-0}" = 0 ] || verbose=--verbose

mkdir -p "$top/build"
log=$top/build/configure-$name.log
# shellcheck disable=SC2086 # lists of words
cmake --log-level=NOTICE -S "$top" -B "$dir" $generator $flags \
    -DTUTTI_TIER="${TIER:-quick}" ${WERROR:+-DTUTTI_WERROR=$WERROR} >"$log" || {
    cat "$log" >&2
    exit 1
}
exec cmake --build "$dir" --parallel "${JOBS:-$(nproc)}" $verbose --target "$@"
