#!/bin/sh
# TEST ranks=0 timeout=240 cores=2
# Structs can grow: a program compiled with the current headers runs with a library that has one more field at the end of
# each struct which callers allocate, and a program compiled with the headers of that library runs with the current
# library.  The other library is built here from a copy of the sources, up to the modules whose structs grow.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$TUTTI_TEST_DIR"
mpicc=$(sed -n 's/^TUTTI_MPICC:[^=]*=//p' "$TUTTI_BUILD_DIR/CMakeCache.txt")

mkdir grown lib
cp -r "$top/include" "$top/src" grown/
python3 - <<'END'
import pathlib, re
include = pathlib.Path("grown/include/tutti")


def edit(name, pattern, text, count=1):
    file = include / name
    new, n = re.subn(pattern, text, file.read_text(), flags=re.M)
    assert n == count, (name, pattern, n)
    file.write_text(new)


def more_rows(name, table, row):
    edit(name, rf"(#define {table}\(X\)(?:.*\\\n)+.*)$", rf"\1 \\\n    {row}")


more_rows("options.h", "TUTTI_OPTION_TABLE", 'X(SIZE, later, 7, "", "of a later version")')
more_rows("stats.h", "TUTTI_STATS_TABLE", 'X(tutti_count, later, "of a later version")')
more_rows("profile.h", "TUTTI_PROFILE_TABLE", 'X(FILES, later, RATE, 5, 6, "of a later version")')
edit("array.h", r"^\} tutti_tiles_stats;", "    double later;\n} tutti_tiles_stats;")
for name, structs in (("access.h", 1), ("array.h", 4), ("profile.h", 2), ("element_types.h", 1), ("parts.h", 1),
                      ("replicas.h", 3)):
    edit(name, r"int64_t reserved\[(\d)\];", lambda m: f"int64_t later, reserved[{int(m[1]) - 1}];", structs)
END
for module in cdf mesh timestep metadata netcdf compression segments dataset archive exodus_model exodus nemesis exodus_mesh; do
    rm -r "grown/src/$module"
done
(cd lib && printf '%s\n' ../grown/src/*/*.c | xargs -P 2 -n 20 "$mpicc" -std=gnu11 -O0 -w -fPIC -fvisibility=hidden -D_GNU_SOURCE \
    -I../grown/include -I../grown/src -c) # compile many files per call, since the wrapper of Open MPI is slow
"$mpicc" -shared -o "lib/libtutti_$TUTTI_MPI.so.1" -Wl,-soname,"libtutti_$TUTTI_MPI.so.1" -Wl,--version-script=grown/src/tutti.map lib/*.o \
    -lsqlite3 -lzstd -lrt -ldl -lpthread
ln -s "libtutti_$TUTTI_MPI.so.1" "lib/libtutti_$TUTTI_MPI.so"

"$mpicc" -Wall -Wextra -Werror -I"$top/include" "$here/user/grow.c" -o now -L"$TUTTI_BUILD_DIR" "-ltutti_$TUTTI_MPI"
"$mpicc" -DTUTTI_TEST_GROWN -Igrown/include "$here/user/grow.c" -o later -Llib "-ltutti_$TUTTI_MPI"
bad=0
# run PROGRAM LIBRARY-FOLDER WHAT: run the program with the library of a folder
run() {
    LD_LIBRARY_PATH=$2 "$top/scripts/mpirun.sh" "$TUTTI_MPI" 1 "./$1" "$PWD/data" "$3" || {
        echo "program '$1' with the library of $2 failed"
        bad=1
    }
}
run now "$TUTTI_BUILD_DIR" same
run now "$PWD/lib" older
run later "$TUTTI_BUILD_DIR" newer
run later "$PWD/lib" same
exit $bad
