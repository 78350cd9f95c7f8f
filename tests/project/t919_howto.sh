#!/bin/sh
# TEST ranks=0 timeout=180 builds=openmpi cores=2
# The commands and programs of the tutorial and of the how-to guides work, page by page, with Tutti in a new prefix and an
# empty environment.  (Other tests: install.md: t917 and t927, storage.md: t932, simulate.md: t1551, heat.md and
# bipolar.md: tests/apps.)
# SPDX-License-Identifier: BSD-3-Clause
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/project/user/shell.sh
. "$top/tests/project/user/shell.sh"
for module in pip setuptools wheel numpy; do
    /usr/bin/python3 -c "import $module" 2>/dev/null || { echo "skipped: no Python module $module"; exit 77; }
done
cat >>"$TUTTI_TEST_DIR/profile" <<END
export PATH=$prefix/bin:\$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib PYTHONPATH=$TUTTI_TEST_DIR/python
END

# ---- files that the pages name
user "python3 -m pip install --no-index --no-deps --no-build-isolation --target $TUTTI_TEST_DIR/python $top/bindings/python" || { cat out; exit 1; }
make_program
cat >part.geo <<'END'
SetFactory("Built-in");
Point(1) = {0, 0, 0, 0.5}; Point(2) = {1, 0, 0, 0.5}; Point(3) = {0, 1, 0, 0.5};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 1};
Curve Loop(1) = {1, 2, 3}; Plane Surface(1) = {1};
Extrude {0, 0, 1} { Surface{1}; }
Physical Volume("solid", 1) = {1};
Physical Surface("base", 2) = {1};
END
command -v gmsh >/dev/null || cp "$top/tests/cli/mixed.msh" part.msh
mkdir -p "$TUTTI_TEST_DIR/opt/darshan/lib"
cat >wrapper.c <<'END'
#include <mpi.h>
#include <stdio.h>
int MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *buf, int n, MPI_Datatype type, MPI_Status *status) {
    fprintf(stderr, "wrapped MPI_File_write_at_all\n");
    return PMPI_File_write_at_all(f, at, buf, n, type, status);
}
END
"mpicc.$mpi" -shared -fPIC -o "$TUTTI_TEST_DIR/opt/darshan/lib/libdarshan.so" wrapper.c || fail 'the wrapper does not compile'

# ---- the pages
# here: replace paths of the pages by those of the test, and omit commands of programs that are not installed
here() {
    places | shorter | sed "s|/opt/darshan|$TUTTI_TEST_DIR/opt/darshan|" | while IFS= read -r line; do
        case $line in
        gmsh\ * | ncdump\ *) command -v "${line%% *}" >/dev/null || continue ;;
        "python3 read_without_mpi_1.py") /usr/bin/python3 -c 'import xarray' 2>/dev/null || continue ;;
        esac
        echo "$line"
    done
}
for page in tutorial/index tutorial/lesson01 tutorial/lesson02 tutorial/lesson03 tutorial/lesson04 tutorial/lesson05 tutorial/lesson06 \
    tutorial/lesson07 tutorial/lesson08 tutorial/lesson09 tutorial/lesson10; do
    # shellcheck disable=SC2016 # marks of code; check_docs.py compares code with the programs
    sed '/^```/,/^```/d' "$top/docs/$page.md" >plain.md
    python3 "$top/tests/project/user/page_commands.py" plain.md . | here | sed 's|cmake --build steps|& -j2|' | follow "docs/$page.md"
    case $page in
    */lesson03) grep -q 'tutti: write of .*two-phase' out || { fail 'TUTTI_EXPLAIN does not explain the third program'; cat out; } ;;
    esac
done
[ "$(grep -c '^\(TUTTI_EXPLAIN=1 \)*mpirun .*steps/step' followed)" -ge 11 ] || { fail 'not every lesson runs its program:'; cat followed; }
for page in restart layout archive read-without-mpi hdf5 tune gmsh-paraview imported-mesh darshan; do
    before=$(wc -l <followed)
    case $page in
    imported-mesh) user 'rm -f mesh.e*' ;;
    gmsh-paraview) python3 "$top/tests/project/user/page_commands.py" "$top/docs/howto/imported-mesh.md" . >/dev/null ;;
    darshan) echo 'export TUTTI_STATS=1' >>"$TUTTI_TEST_DIR/profile" ;;
    esac
    python3 "$top/tests/project/user/page_commands.py" "$top/docs/howto/$page.md" . | here | follow "docs/howto/$page.md"
    [ "$(wc -l <followed)" -gt "$before" ] || fail "docs/howto/$page.md has no command"
done
# the last page: the wrapper and Tutti have both counted the calls of both ranks
[ "$(grep -c '^wrapped' out)" = 2 ] || { fail 'the wrapper was not called on both ranks'; cat out; }
grep -q "tutti.*program.dat" out || { fail 'Tutti was not called behind the wrapper'; cat out; }

# ---- install-without-root.md: its commands configure a build; t924 builds one
line=$(grep '^    cmake -S . -B build/mine ' "$top/docs/howto/install-without-root.md" | sed "s|-S . -B build/mine|-S $top -B mine|")
user "$line" || { fail "this failed: $line"; cat out; }
for page in "$top"/docs/howto/*.md; do
    grep -q "$(basename "$page" .md)" "$top/tests/project/t919_howto.sh" || fail "$page is not tested"
done
[ ! -s stumbled ] || { head -100 stumbled; bad=1; }
exit $bad
